"""The models that tests run on, and the obvious slow ways that judge the fast ones."""

import dataclasses
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlparse

import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from playwright.sync_api import Page as BrowserPage
from torch import Tensor

from playground.engine.generation import Request, Step
from playground.engine.model import ModelConfig, Transformer
from playground.engine.params import SamplingParams
from playground.engine.sampling import Distributions, row_seed
from playground.engine.trace import Trace
from playground.models.loading import load_model
from playground.models.text import LoadedModel
from playground.page.bar import first_prompt, load_examples
from playground.tabs.thirty_answers import kept_answers

torch.set_num_threads(1)  # the tests share the machine; small models gain nothing from more
settings.register_profile("same cases each run", derandomize=True, deadline=None)
settings.load_profile("same cases each run")
PATIENCE = 60_000  # milliseconds; a busy machine is slow, not wrong
expect.set_options(timeout=PATIENCE)

TINY = ModelConfig(
    vocab_size=61,
    hidden_size=64,
    num_layers=2,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    intermediate_size=96,
    max_positions=128,
)


def tiny_model(config: ModelConfig = TINY, std: float = 0.1) -> Transformer:
    """Random weights, gradients off. At the usual std of 0.02 one token would hold all the probability."""
    model = Transformer(config)
    model.initialise(std=std, seed=0)
    return model.requires_grad_(False).eval()


def recorded(
    logits: Tensor, token_ids: Sequence[int], uniforms: Sequence[float], prompt_ids: Sequence[int] = ()
) -> Trace:
    """A trace with these logits (N, V), as if a model had given them."""
    request = Request(list(prompt_ids), SamplingParams())
    steps = [
        Step(index, token_id, Distributions(row[None], request.params)[0], uniform, 1, [0], None, request)
        for index, (row, token_id, uniform) in enumerate(zip(logits, token_ids, uniforms, strict=True))
    ]
    return Trace(steps)


def answer_params(params: SamplingParams, n: int) -> list[SamplingParams]:
    """The settings with which a run alone writes each of n answers."""
    return [dataclasses.replace(params, seed=row_seed(params.seed, row)) for row in range(n)]


@pytest.fixture(scope="session")
def model() -> Transformer:
    return tiny_model()


@pytest.fixture(scope="session")
def chat() -> LoadedModel:
    """The embedded model that answers."""
    return load_model("minimind-chat")


@pytest.fixture(scope="session")
def base() -> LoadedModel:
    """The embedded model that goes on writing."""
    return load_model("minimind-base")


@pytest.fixture(scope="session")
def page_url() -> Iterator[str]:
    """The whole page, served from this process on a free port; the model whose stories go on stands first."""
    from playground.__main__ import build, launch_options

    demo = build(first="minimind-base")
    # _frontend: or Gradio asks for the page itself, and gives up after three seconds, which a busy machine needs.
    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **launch_options())
    yield url
    demo.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    # Each new window would load the address bar's list of suggestions, a page of its own: a second of the processor.
    quiet.append("--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup")
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        if path is None:
            pytest.fail("these tests drive Debian's chromium: apt-get install chromium")
        browser = playwright.chromium.launch(executable_path=path, args=quiet)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def window(chromium: Browser) -> Iterator[BrowserContext]:
    """What the pages of all tests share is the cache: Gradio's own scripts are fetched and compiled once."""
    context = chromium.new_context(viewport={"width": 1920, "height": 1080})
    context.set_default_timeout(PATIENCE)
    yield context
    context.close()


# A page that is left in the middle of an answer ends its own requests, and Gradio calls that an error.
SILENT_WHEN_LEFT = "addEventListener('beforeunload', () => { console.error = () => {}; })"


@contextmanager
def opened(window: BrowserContext, url: str) -> Iterator[BrowserPage]:
    """Fails on an error in the console and on a request that leaves the machine."""
    page = window.new_page()
    page.add_init_script(SILENT_WHEN_LEFT)
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(error.stack or str(error)))
    page.on("request", lambda request: None if _is_local(request.url) else troubles.append(f"left: {request.url}"))
    page.goto(url)
    page.wait_for_selector(".area-tokens .token")  # the answer that the page opens with
    yield page
    page.close()
    assert not troubles


@pytest.fixture
def browser_page(window: BrowserContext, page_url: str) -> Iterator[BrowserPage]:
    """The page, freshly loaded."""
    with opened(window, page_url) as page:
        yield page


@pytest.fixture(scope="module")
def shared_page(window: BrowserContext, page_url: str) -> Iterator[BrowserPage]:
    """Loaded once for a file, for tests that begin by setting all that they look at. To load it takes seconds."""
    with opened(window, page_url) as page:
        yield page


def go_to(page: BrowserPage, address: str) -> None:
    """As a link leads there, without another load: model, prompt, all sliders, tab and view are as a new page has them,
    but for what the address names. What stands in the boxes of the tabs' own experiments stays."""
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.evaluate(
        """async (address) => {
          const main = document.querySelector("script[type=module][src*='main.js']").src;
          const refused = await (await import(main.replace("main.js", "links.js"))).openAddress(address);
          if (refused.length) throw new Error(refused.join(", "));
        }""",
        address,
    )


def generate(page: BrowserPage, prompt: str | None = None) -> None:
    """Types the prompt, if one is given, presses Generate and waits for the pictures of that run."""
    if prompt is not None:
        page.get_by_label("Prompt", exact=True).fill(prompt)
    answer = page.locator(".panel-tokens:visible")  # the tab in sight has one, if it shows the answer
    with new_run(page):
        page.locator("#generate").click()
    expect(answer.locator(".note").first).to_contain_text(re.compile(" m?s,"))  # 250 ms, or 1.25 s on a busy machine
    if prompt is not None:
        expect(answer.locator(".token-prompt")).to_have_text(prompt)
    expect(page.locator(".bar-row:visible").first).to_be_visible()


@contextmanager
def new_run(page: BrowserPage) -> Iterator[None]:
    """Waits until a run that was asked for inside is there, whole."""
    before = page.locator("#run .panel-body").get_attribute("data-complete")
    yield
    expect(page.locator(f'#run [data-complete]:not([data-complete="{before}"])')).to_have_count(1)
    drawn(page)


def choose_model(page: BrowserPage, name: str) -> None:
    """Waits until the prompt, an example of the other model, has become one of this model."""
    page.get_by_label("Model", exact=True).click()
    page.get_by_role("option", name=name).click()
    expect(page.get_by_label("Prompt", exact=True)).to_have_value(first_prompt(load_examples(), name))


def more_settings(page: BrowserPage) -> None:
    """Opens what stands behind the button, or closes it."""
    page.locator(".controls-open").click()


def set_new_tokens(page: BrowserPage, number: int) -> None:
    more_settings(page)
    page.get_by_label("New tokens", exact=True).fill(str(number))
    page.get_by_label("New tokens", exact=True).press("Enter")
    more_settings(page)


def slide(page: BrowserPage, name: str, value: float) -> None:
    """Moves a slider as a hand does: input events on the range."""
    page.locator(f"#slider-{name}").evaluate(
        "(range, value) => { range.value = value; range.dispatchEvent(new Event('input', { bubbles: true })); }", value
    )


def sample_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was sampled for an earlier test is not given again."""
    monkeypatch.setattr(kept_answers, "_key", lambda *question: (None, secrets.token_hex(), None))


UNREADABLE = """async (root) => {
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  // The lines of all texts: where their letters stand, as far as nothing cuts them off.
  function linesOf() {
    const lines = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent.trim(), parent = walker.currentNode.parentElement;
      if (!text || !isShown(parent) || parent.closest("title, option, .only-heard, .sr-only")) continue;
      const range = document.createRange();
      range.selectNodeContents(walker.currentNode);
      for (const { left, right, top, bottom, height } of range.getClientRects()) {
        const line = { text: text.slice(0, 40), parent, left, right };
        Object.assign(line, { top: top + 0.22 * height, bottom: bottom - 0.22 * height });
        for (let above = parent; above !== root.parentElement; above = above.parentElement)
          if (getComputedStyle(above).overflow !== "visible") cut(line, above.getBoundingClientRect());
        lines.push(line);
      }
    }
    return lines;
  }

  function cut(line, box) {
    for (const side of ["left", "top"]) line[side] = Math.max(line[side], box[side]);
    for (const side of ["right", "bottom"]) line[side] = Math.min(line[side], box[side]);
  }

  function meet(one, other) {
    const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return one.parent !== other.parent && wide > 3 && high > 2;
  }

  function look() {
    const lines = linesOf(), sizeOf = ({ parent }) => parseFloat(getComputedStyle(parent).fontSize);
    const small = lines.filter((line) => sizeOf(line) < 18).map((line) => `${sizeOf(line)} px: ${line.text}`);
    const on = (one, place) => lines.slice(place + 1).filter((other) => meet(one, other));
    return [...small, ...lines.flatMap((one, place) => on(one, place).map((other) => `${one.text} on ${other.text}`))];
  }

  const until = performance.now() + 5000; // what is just being laid out may stand anywhere
  while (look().length && performance.now() < until) await new Promise(requestAnimationFrame);
  return look();
}"""


def unreadable(page: BrowserPage, root: str) -> list[str]:
    """The texts in an element that are smaller than what the last row can read, or that stand on another one."""
    return page.locator(root).evaluate(UNREADABLE)


def drawn(page: BrowserPage) -> None:
    """Waits until a change shows: pictures follow it in the next frame, and their widths in the one after."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def _is_local(url: str) -> bool:
    return url.startswith(("data:", "blob:")) or urlparse(url).hostname in ("127.0.0.1", "localhost")

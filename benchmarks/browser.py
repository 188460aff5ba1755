"""How much a first visit fetches, and how soon a slider is seen: from its event to the paint, in Chromium.

Only the clock on the wall tells how long a person waits, so a wait has a peer in the same browser, measured in the same
rounds: what slows the machine slows both. A drag is smooth when the page needs little of the processor for each event.
"""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from statistics import mean, median

import gradio as gr
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.against_transformers import NEW_TOKENS, generate_in, in_transformers
from benchmarks.measure import Figure, Goal, Took, Way, compare
from playground.models.loading import LoadedModel, load_model

MOVES, PAUSE_MS = 6, 120  # in a round
DRAG_EVENTS, DRAG_EVERY_MS = 120, 25  # 40 events a second for three seconds, as a hand makes them
LIVE_PAUSE_MS = 800
PROMPT = "Tell me a story about a dragon."
READY, HELLO_READY = "#slider-temperature", "textarea"  # what a visitor waits for
FIRST_PICTURE = ".area-distribution .bar-row.is-chosen"
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

# From the event to the task after the frame in which `seen()` is new: by then the frame is painted.
MEASURE = """
async ({ range, seen, values, pause }) => {
  const slider = document.querySelector(range), look = new Function("return " + seen);
  const afterPaint = () => new Promise((done) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done(performance.now());
    port2.postMessage(0);
  }));
  const times = [];
  for (const value of values) {
    await new Promise((done) => setTimeout(done, pause));
    const before = look(), start = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    let end = await afterPaint();
    while (look() === before) {
      if (end - start > 10000) throw new Error(`${range} moved to ${value} and nothing new was seen: ${seen}`);
      end = await afterPaint();
    }
    times.push(end - start);
  }
  return times;
}
"""

# How many frames of a drag show something new.
DRAG = """
async ({ range, seen, values, every }) => {
  const slider = document.querySelector(range), look = new Function("return " + seen);
  let shown = look(), pictures = 0, dragging = true;
  const count = () => {
    const now = look();
    if (now !== shown) { pictures += 1; shown = now; }
    if (dragging) requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
  const start = performance.now();
  for (const [index, value] of values.entries()) {
    const wait = start + index * every - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    slider.value = value;
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const seconds = (performance.now() - start) / 1000;
  dragging = false;
  return pictures / seconds;
}
"""

TABS = {  # tab -> the card whose words and numbers are new after every move: the setting stands in its head
    "Playground": "document.querySelector('.area-distribution').textContent",
    "One answer": "document.querySelector('.area-candidates').textContent",
}
LIVE_TAB, LIVE_TEXT = "One answer", "document.querySelector('.answer-text').textContent"
ECHO = "document.querySelector('#out input').value"
OURS, ANY = "#slider-temperature", "input[type=range]"


def figures() -> Iterator[Figure]:
    path = shutil.which("chromium")
    if path is None:
        print("the browser is not measured: chromium is not installed", file=sys.stderr)
        return
    from playground.__main__ import OPENS_WITH, build

    loaded = load_model(OPENS_WITH)
    with (
        sync_playwright() as playwright,
        served(build()) as page_url,
        served(smallest_round_trip()) as number_url,
        served(transformers_writes(loaded)) as writing_url,
        served(hello_world(), {}) as hello_url,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield from first_visit(browser, page_url, hello_url)
        for tab, seen in TABS.items():
            page = opened(browser, page_url)
            record_a_run(page, tab)
            gradio = opened(browser, number_url)
            yield one_move(page, tab, seen, gradio)
            yield drag(page, tab, seen, gradio)
            if tab == LIVE_TAB:
                yield live_text(page, opened(browser, writing_url))
            for window in browser.contexts:
                window.close()
        browser.close()


def smallest_round_trip() -> gr.Blocks:
    """A number that repeats what the slider says."""
    with gr.Blocks() as demo:
        slider, number = gr.Slider(0, 2, step=0.01), gr.Number(elem_id="out")
        slider.input(
            lambda value: value, slider, number, queue=False, show_progress="hidden", trigger_mode="always_last"
        )
    return demo


def transformers_writes(loaded: LoadedModel) -> gr.Blocks:
    """A box in which transformers writes its answer again at the slider's temperature."""
    theirs, prompt = in_transformers(loaded.model), loaded.prompt_ids(PROMPT)

    def write(temperature: float) -> str:
        settings = {"do_sample": True, "temperature": float(temperature), "top_k": 50, "top_p": 0.85}
        chosen = settings if temperature else {"do_sample": False}
        ids = generate_in(theirs, prompt, NEW_TOKENS, eos_token_id=list(loaded.stop_ids), **chosen)
        return loaded.tokenizer.decode(ids[0, len(prompt) :].tolist())

    with gr.Blocks() as demo:
        slider, box = gr.Slider(0, 2, step=0.01), gr.Textbox(elem_id="out")
        slider.input(write, slider, box, show_progress="hidden", trigger_mode="always_last")
    return demo


def hello_world() -> gr.Interface:
    """The first example of Gradio's guide."""
    return gr.Interface(lambda name: f"Hello {name}!", "textbox", "textbox")


@contextmanager
def served(demo: gr.Blocks, options: dict | None = None) -> Iterator[str]:
    """`options` of launch: those of our page, unless others are given."""
    from playground.__main__ import launch_options

    options = launch_options() if options is None else options
    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, **options)
    try:
        yield url
    finally:
        demo.close()


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport={"width": 1920, "height": 1080}).new_page()
    page.goto(url)
    page.wait_for_selector("input[type=range]")
    return page


def first_visit(browser: Browser, page_url: str, hello_url: str) -> Iterator[Figure]:
    """What comes from the server until a visitor with an empty cache can do something."""
    measures = (
        ("KiB", 0, Goal(0.5, remark="at most twice as many")),
        ("requests", 1, Goal(0.33, remark="at most three times as many")),
    )
    for name, which, goal in measures:
        yield compare(
            f"First visit: {name} until the sliders are there, against Gradio's hello world until its box is",
            lambda which=which: Took(fetched(browser, page_url, READY)[which]),
            lambda which=which: Took(fetched(browser, hello_url, HELLO_READY)[which]),
            goal,
            f"headless Chromium, empty cache, as sent over the wire, Gradio {gr.__version__}",
            rounds=3,
        )

    yield compare(
        "First visit: ms until the first finished picture, against Gradio's hello world until its box is there",
        lambda: Took(waited(browser, page_url, FIRST_PICTURE)),
        lambda: Took(waited(browser, hello_url, HELLO_READY)),
        Goal(0.33, remark="at most three times as long"),
        conditions("empty cache; the picture is of the run that was made when the server started"),
        rounds=5,
    )


def waited(browser: Browser, url: str, ready: str) -> float:
    """Milliseconds of the clock, from the address to what a first visit waits for."""
    page = browser.new_context().new_page()
    start = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector(ready)
    took = time.perf_counter() - start
    page.context.close()
    return 1000 * took


def fetched(browser: Browser, url: str, ready: str) -> tuple[float, int]:
    """KiB of the answers, and how many there were, of a first visit."""
    page = browser.new_context().new_page()
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    sizes, answers = [], []
    devtools.on("Network.dataReceived", lambda event: sizes.append(event["encodedDataLength"]))
    devtools.on("Network.responseReceived", lambda event: answers.append(event["requestId"]))
    page.goto(url)
    page.wait_for_selector(ready)
    page.context.close()
    return sum(sizes) / 1024, len(answers)


def record_a_run(page: Page, tab: str) -> None:
    """Of NEW_TOKENS tokens; live writing is off, so that what is measured is the drawing and not the model."""
    page.get_by_label("Prompt", exact=True).fill(PROMPT)
    before = page.locator("#run .panel-body").get_attribute("data-complete")
    page.locator("#generate").click()
    page.locator(f'#run [data-complete]:not([data-complete="{before}"])').wait_for(state="attached")
    page.locator(".area-answers .panel-body:not(.is-stale) .dots-words").wait_for()
    page.get_by_role("tab", name=tab).click()
    if tab == LIVE_TAB:
        page.locator("#live").uncheck()


def moves(page: Page, slider: str, seen: str, values: list[float], pause: int = PAUSE_MS) -> list[float]:
    """Milliseconds of each single move."""
    return page.evaluate(MEASURE, {"range": slider, "seen": seen, "values": values, "pause": pause})


def one_move(page: Page, tab: str, seen: str, gradio: Page) -> Figure:
    def moved(page: Page, slider: str, seen: str) -> Way:
        values = [round(0.3 + (0.37 * move) % 1.4, 2) for move in range(MOVES)]
        return lambda: Took(median(moves(page, slider, seen, values)))

    return compare(
        f"{tab}: slider event to painted pictures, against the smallest Gradio round trip, ms",
        moved(page, OURS, seen),
        moved(gradio, ANY, ECHO),
        Goal(0.67, remark="at most one and a half times as long"),
        conditions(
            f"temperature over a run of {NEW_TOKENS} steps against slider to number without queue, {MOVES} moves"
        ),
    )


def drag(page: Page, tab: str, seen: str, gradio: Page) -> Figure:
    pictures: dict[Page, list[float]] = {page: [], gradio: []}  # a second
    values = [round(0.3 + 1.4 * abs(((event / 30) % 2) - 1), 2) for event in range(DRAG_EVENTS)]

    def dragged(page: Page, slider: str, seen: str) -> Took:
        before = processor_seconds(page)
        request = {"range": slider, "seen": seen, "values": values, "every": DRAG_EVERY_MS}
        pictures[page].append(page.evaluate(DRAG, request))
        return Took(1000 * (processor_seconds(page) - before) / DRAG_EVENTS)

    node = page.evaluate_handle("document.querySelector('.bars')")
    figure = compare(
        f"{tab}: one event of a drag, against the smallest Gradio page, ms of the processor in the browser",
        lambda: dragged(page, OURS, seen),
        lambda: dragged(gradio, ANY, ECHO),
        Goal(0.5, remark="at most twice as much"),
        conditions(f"temperature dragged by {DRAG_EVENTS} events, {DRAG_EVERY_MS} ms apart, over {NEW_TOKENS} steps"),
        rounds=3,
    )
    assert page.evaluate("(node) => node.isConnected", node), "a drag must not build the picture anew"
    return replace(figure, conditions=f"{figure.conditions}; {median(pictures[page]):.0f} pictures a second")


def processor_seconds(page: Page) -> float:
    """Of the process that draws this page, all its threads, so far. A page of another window has its own process."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")
    metrics = {metric["name"]: metric["value"] for metric in devtools.send("Performance.getMetrics")["metrics"]}
    devtools.detach()
    return metrics["ProcessTime"]


def live_text(page: Page, writing: Page) -> Figure:
    """From hot to greedy and back: the model writes the answer again after each move."""

    def written(page: Page, slider: str, seen: str) -> Way:
        return lambda: Took(mean(moves(page, slider, seen, [2, 0], LIVE_PAUSE_MS)))

    page.locator("#live").check()
    return compare(
        "One answer, live: slider event to a text written again by the model, against transformers behind a slider, ms",
        written(page, OURS, LIVE_TEXT),
        written(writing, ANY, "document.querySelector('#out textarea').value"),
        Goal(1),
        conditions(f"moves between T = 0 and T = 2, up to {NEW_TOKENS} tokens each, mean of both"),
    )


def conditions(more: str) -> str:
    return f"headless Chromium, software rendering, 1920 x 1080, server in the same machine; {more}"

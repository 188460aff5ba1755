"""How soon a slider is seen: from its event to the paint, in Chromium, beside the smallest round trip of Gradio."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from statistics import median, quantiles

import gradio as gr
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.measure import Figure, rounded

ROUNDS, MOVES, PAUSE_MS = 8, 6, 120  # both in turn, so that what slows the machine slows both; the first round warms up
DRAGS, DRAG_EVENTS, DRAG_EVERY_MS = 3, 120, 25  # 40 events a second for three seconds, as a hand makes them
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
    while (look() === before && end - start < 3000) end = await afterPaint();
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

LIVE_TEXT = "document.querySelector('.answer-text').textContent"
TABS = {  # tab -> the card whose words and numbers are new after every move: the setting stands in its head
    "Playground": "document.querySelector('.area-distribution').textContent",
    "One answer": "document.querySelector('.area-candidates').textContent",
}


def figures() -> Iterator[Figure]:
    path = shutil.which("chromium")
    if path is None:
        print("the browser is not measured: chromium is not installed", file=sys.stderr)
        return
    from app import build  # loads the models

    with sync_playwright() as playwright, served(build()) as page_url, served(smallest_round_trip()) as gradio_url:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        gradio = opened(browser, gradio_url)
        for tab, seen in TABS.items():
            page = opened(browser, page_url)
            record_a_run(page, tab)
            yield one_move(page, tab, seen, gradio)
            yield drag(page, tab, seen)
            if page.locator("#live").is_visible():
                yield live_text(page)
            page.context.close()
        browser.close()


def smallest_round_trip() -> gr.Blocks:
    with gr.Blocks() as demo:
        slider, number = gr.Slider(0, 2, step=0.01), gr.Number(elem_id="out")
        slider.input(
            lambda value: value, slider, number, queue=False, show_progress="hidden", trigger_mode="always_last"
        )
    return demo


@contextmanager
def served(demo: gr.Blocks) -> Iterator[str]:
    from app import launch_options

    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, **launch_options())
    try:
        yield url
    finally:
        demo.close()


def opened(browser: Browser, url: str) -> Page:
    page = browser.new_context(viewport={"width": 1920, "height": 1080}).new_page()
    page.goto(url)
    page.wait_for_selector("input[type=range]")
    return page


def record_a_run(page: Page, tab: str) -> None:
    """64 tokens; live writing is off, so that what is measured is the drawing and not the model."""
    page.get_by_role("tab", name=tab).click()
    page.locator("#generate").click()
    page.wait_for_function(
        "[...document.querySelectorAll('.panel-tokens .note')].some((e) => e.textContent.includes(' ms'))"
    )
    page.wait_for_timeout(3000)  # the thirty answers of the first tab
    if page.locator("#live").is_visible():
        page.locator("#live").uncheck()


def moves(page: Page, slider: str, seen: str, values: list[float], pause: int = PAUSE_MS) -> list[float]:
    """Milliseconds of each single move."""
    return page.evaluate(MEASURE, {"range": slider, "seen": seen, "values": values, "pause": pause})


def one_move(page: Page, tab: str, seen: str, gradio: Page) -> Figure:
    ours, theirs = [], []
    for number in range(ROUNDS):
        values = [round(0.3 + (0.37 * (number * MOVES + move)) % 1.4, 2) for move in range(MOVES)]
        ours.append(moves(page, "#slider-temperature", seen, values))
        theirs.append(moves(gradio, "input[type=range]", "document.querySelector('#out input').value", values))
    ratio = median(median(a) / median(b) for a, b in zip(ours[1:], theirs[1:], strict=True))
    ours, theirs = list(chain(*ours[1:])), list(chain(*theirs[1:]))
    return Figure(
        f"{tab}: slider event to painted pictures, against the smallest Gradio round trip, median ms",
        rounded(median(ours)),
        rounded(median(theirs)),
        rounded(ratio),
        "ratio (ours / Gradio) <= 1.5",
        ratio <= 1.5,
        conditions(
            f"temperature over a run of 64 steps against slider to number without queue, {len(ours)} moves each, "
            f"in turn; p95 {p95(ours):.0f} against {p95(theirs):.0f} ms"
        ),
    )


def live_text(page: Page) -> Figure:
    """From greedy to hot and back: the model writes up to 64 tokens again for each move."""
    page.locator("#live").check()
    times = moves(page, "#slider-temperature", LIVE_TEXT, [2, 0] * 12, 800)[4:]
    return Figure(
        "One answer, live: slider event to another text written by the model, median and (as peer) p95, ms",
        rounded(median(times)),
        rounded(p95(times)),
        rounded(p95(times) / median(times)),
        "the text follows within a second",
        median(times) <= 1000,
        conditions("20 moves between T = 0 and T = 2, up to 64 tokens each"),
    )


def drag(page: Page, tab: str, seen: str) -> Figure:
    values = [round(0.3 + 1.4 * abs(((event / 30) % 2) - 1), 2) for event in range(DRAG_EVENTS)]
    request = {"range": "#slider-temperature", "seen": seen, "values": values, "every": DRAG_EVERY_MS}
    node = page.evaluate_handle("document.querySelector('.bars')")
    pictures = median(page.evaluate(DRAG, request) for _ in range(DRAGS))
    kept = page.evaluate("(node) => node.isConnected", node)
    return Figure(
        f"{tab}: pictures a second while temperature is dragged (peer: slider events a second)",
        rounded(pictures),
        1000 / DRAG_EVERY_MS,
        rounded(pictures * DRAG_EVERY_MS / 1000),
        "at least 25 pictures a second, in the same nodes",
        pictures >= 25 and kept,
        conditions(
            f"median of {DRAGS} drags of {DRAG_EVENTS} events, run of 64 steps, "
            f"DOM nodes {'kept' if kept else 'replaced'}"
        ),
    )


def p95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def conditions(more: str) -> str:
    return f"headless Chromium, software rendering, 1920 x 1080, server in the same machine; {more}"

"""Makes the pictures of the README from the page itself: python docs/pictures.py, from the top folder."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playground.__main__ import build, launch_options  # noqa: E402  the files beside this one, not an installed copy

SIZE = {"width": 1366, "height": 768}
DRAG = ((0.3, 1), (1, 17), (2, 30))  # temperature, and how many of the thirty answers are then different


def main() -> None:
    demo = build()
    _app, url, _share = demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, **launch_options())
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(f"{url}?__theme=light")
        page.wait_for_selector(".area-tokens .token")
        growing = page.locator(".area-cache .is-growing")
        expect(growing).to_be_visible()
        growing.evaluate("one => Promise.all(one.getAnimations().map((each) => each.finished))")
        page.screenshot(path=ROOT / "assets" / "playground.png")
        for temperature, different in DRAG:
            still(page, temperature, different)
        browser.close()
    demo.close()


def still(page: Page, temperature: float, different: int) -> None:
    """The bars and small pictures with the slider of temperature there."""
    page.locator("#slider-temperature").evaluate(
        "(range, value) => { range.value = value; range.dispatchEvent(new Event('input', { bubbles: true })); }",
        temperature,
    )
    expect(page.locator(".area-answers .key-number")).to_have_text(str(different))
    expect(page.locator(".area-answers .is-stale")).to_have_count(0)
    page.locator(".board").screenshot(path=ROOT / "assets" / f"temperature-{temperature}.png")


if __name__ == "__main__":
    main()

"""The loop of the engine as it stands: the lines that loop.js shows and lights, read from the source."""

import inspect
from textwrap import dedent

from playground.engine.generation import feed_unseen, generate

# The lines that are lit, in the order in which they run, each by a piece that only it holds.
LIT = {
    "call": "feed_unseen(",
    "slice": "text[cache.position :]",
    "forward": "model(unseen",
    "distribution": "request.distributions(",
    "choose": ".choose(",
    "append": "text.append(",
}
# A piece of the first line that is shown, and one of the last.
LOOP = " in range(", "return"
FEED = "torch.tensor(", "logits.clone()"


def loop_lines() -> list[dict]:
    """{text, part, lit} of each line: of the loop itself, then of what it calls. `lit` is a key of LIT, or None."""
    shown = [("loop", line) for line in _between(generate, *LOOP)]
    shown += [("feed", line) for line in _between(feed_unseen, *FEED)]
    return [{"text": line, "part": part, "lit": _lit(line)} for part, line in shown]


def _between(function, first: str, last: str) -> list[str]:
    """The lines of a function from the one that holds `first` to the next that holds `last`, comments left out.
    Raises StopIteration where there is none."""
    lines = inspect.getsource(function).splitlines()
    start = next(place for place, line in enumerate(lines) if first in line)
    end = next(place for place in range(start, len(lines)) if last in lines[place])
    code = [line for line in lines[start : end + 1] if not line.strip().startswith("#")]
    return dedent("\n".join(code)).splitlines()


def _lit(line: str) -> str | None:
    return next((name for name, piece in LIT.items() if piece in line), None)

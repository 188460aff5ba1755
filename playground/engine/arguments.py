"""Numbers and vectors as they come, of Python, numpy or torch: taken, or refused in one sentence."""

from numbers import Integral, Real
from typing import Any

from playground.words import say, told

MOST_SHOWN = 200  # letters of a refused value: a list of a million ids is not read


def number(name: str, value: Any, low: float | None = None, high: float | None = None, off: Any = None) -> float:
    """`value` as a Python number. off: the value that turns a setting off. Raises ValueError naming it and the rule."""
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, Real) or not abs(plain) < 1e308:  # NaN is not
        wanted = told("engine.argument.wanted.number")
        raise ValueError(say("engine.argument.refused", name=name, wanted=wanted, value=shown(value)))
    if _is_outside(plain, low, high):
        raise _refused("number", name, value, low, high, off)
    return plain if isinstance(plain, int) and abs(plain) <= 2**53 else float(plain)  # JSON carries no longer ones


def whole_number(name: str, value: Any, low: int = 0, high: int | None = None, off: Any = None) -> int:
    plain = _plain(value)
    if not isinstance(plain, Integral) or isinstance(plain, bool) or _is_outside(plain, low, high):
        raise _refused("whole", name, value, low, high, off)
    return int(plain)


def whole_numbers(name: str, values: Any, low: int = 0, high: int | None = None) -> list[int]:
    """A vector of ids as a list: of Python, numpy or torch. Raises ValueError naming the first that can't be."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(listed, str | bytes) or not hasattr(listed, "__iter__"):
        wanted = told("engine.argument.wanted.token_ids")
        raise ValueError(say("engine.argument.refused", name=name, wanted=wanted, value=shown(values)))
    return [whole_number(name, value, low, high) for value in listed]


def shown(value: Any) -> str:
    """How an error quotes what was given: a thousand digits, or a matrix, can't be read."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        text = f"<{type(value).__name__}>"
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _plain(value: Any) -> Any:
    """A number of numpy or torch as one of Python; anything else as it is."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _is_outside(value: Any, low: float | None, high: float | None) -> bool:
    return (low is not None and value < low) or (high is not None and value > high)


def _refused(kind: str, name: str, value: Any, low: Any, high: Any, off: Any) -> ValueError:
    if high is None:
        wanted = told(f"engine.argument.wanted.{kind}_from", low=low)
    else:
        wanted = told(f"engine.argument.wanted.{kind}_between", low=low, high=high)
    if off is None:
        return ValueError(say("engine.argument.refused", name=name, wanted=wanted, value=shown(value)))
    return ValueError(say("engine.argument.refused_setting", name=name, wanted=wanted, off=off, value=shown(value)))

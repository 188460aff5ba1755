"""Numbers and vectors as they come, of Python, numpy or torch: taken, or refused in one sentence."""

from numbers import Integral, Real
from typing import Any


def number(name: str, value: Any, low: float | None = None, high: float | None = None, hint: str = "") -> float:
    """`value` as a Python number. Raises ValueError naming it and what it must be."""
    plain = _plain(value)
    if isinstance(plain, bool) or not isinstance(plain, Real) or not abs(plain) < 1e308:  # NaN is not
        raise ValueError(f"{name} must be a number, got {value!r}")
    _refuse_outside(f"{name} must be", plain, low, high, f"{hint}, got {value!r}")
    return plain if isinstance(plain, int) else float(plain)


def whole_number(name: str, value: Any, low: int = 0, high: int | None = None, hint: str = "") -> int:
    plain = _plain(value)
    is_whole = isinstance(plain, Integral) and not isinstance(plain, bool)
    _refuse_outside(f"{name} must be a whole number", plain if is_whole else None, low, high, f"{hint}, got {value!r}")
    return int(plain)


def whole_numbers(name: str, values: Any, low: int = 0, high: int | None = None) -> list[int]:
    """A vector of ids as a list: of Python, numpy or torch. Raises ValueError naming the first that can't be."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(listed, str | bytes) or not hasattr(listed, "__iter__"):
        raise ValueError(f"{name} must be a list of token ids, got {values!r}")
    return [whole_number(name, value, low, high) for value in listed]


def _plain(value: Any) -> Any:
    """A number of numpy or torch as one of Python; anything else as it is."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _refuse_outside(must_be: str, value: Any, low: float | None, high: float | None, rest: str) -> None:
    if value is None or (low is not None and value < low) or (high is not None and value > high):
        raise ValueError(f"{must_be} from {low} " + ("up" if high is None else f"to {high}") + rest)

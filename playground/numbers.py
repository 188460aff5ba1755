"""How a number is spelled for a person, the same as in page/js/numbers.js: 1,234 and 97.3 % and 2.0 · 10⁻⁵.

A number is rounded from the digits that it is usually written with (1.005 to 1.01), halves away from zero, as the
browser's Intl does. A minus is "−"; what rounds to zero has none.
"""

import math
import sys
from decimal import ROUND_HALF_UP, Context, Decimal

_EXACT = Context(prec=700, rounding=ROUND_HALF_UP)  # as many digits as a float can have before and after the point
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_UNITS = ((1024**3, "GiB"), (1024**2, "MiB"), (1024, "KiB"))


def count(value: float) -> str:
    """A whole number with groups of three, 1,234; another one as it is, with at most four digits after the point."""
    if 0 < abs(value) < 0.0001:
        return small(value)
    return _spelled(value, 0, 4)


def plain(value: float) -> str:
    """Without groups, for what is a name and not an amount: a seed, a port, an id."""
    return count(value).replace(",", "")


def decimals(value: float, digits: int) -> str:
    """With exactly so many digits after the point."""
    return _spelled(value, digits, digits)


def percent(share: float) -> str:
    """97.3 %, 0.05 %. What is neither nothing nor everything is never spelled as if it were."""
    if not math.isfinite(share):
        return f"{_spelled(share, 0, 0)} %"
    value, below, above = abs(100 * share), *("<>" if share >= 0 else "><")
    sign = "−" if share < 0 else ""
    if value == 0:
        return "0 %"
    if value < 0.01:
        return f"{below} {sign}0.01 %"
    if value >= 99.95 and abs(share) < 1:
        return f"{above} {sign}99.9 %"
    return f"{sign}{decimals(value, 1 if value >= 10 else 2)} %"


def bytes_(number: float) -> str:
    """512 B, 2.25 KiB, 200 KiB, 1.5 MiB."""
    size, unit = unit_of(number)
    return f"{_spelled(number / size, 0, 2 if size == 1 or abs(number / size) < 10 else 1)} {unit}"


def unit_of(number: float) -> tuple[int, str]:
    """The unit in which a number of bytes reads well: (1024, "KiB") for 20,480."""
    return next(((size, unit) for size, unit in _UNITS if abs(number) >= size), (1, "B"))


def milliseconds(seconds: float) -> str:
    """Takes seconds: 4.21 ms, 250 ms, and from a second on 1.25 s."""
    value = 1000 * seconds
    if abs(value) >= 1000:
        return f"{decimals(seconds, 2)} s"
    return f"{decimals(value, 2 if abs(value) < 10 else 0)} ms"


def seconds(value: float) -> str:
    """1.25 s"""
    return f"{decimals(value, 2)} s"


def ratio(factor: float) -> str:
    """How many times: 55.8 ×"""
    if 0 < abs(factor) < 0.1:
        return f"{small(factor)} ×"
    return f"{decimals(factor, 0 if abs(factor) >= 1000 else 1)} ×"


def small(value: float) -> str:
    """Two digits that count, of a number that may be tiny or huge: 0.25, 2.0 · 10⁻⁵."""
    if value == 0 or not (_is_huge(value) or math.isfinite(value)):
        return _spelled(value, 0, 0)
    digits = _written(value)
    power = digits.adjusted()
    mantissa = digits.scaleb(-power, _EXACT).quantize(Decimal("0.1"), context=_EXACT)
    if mantissa == 10:
        mantissa, power = Decimal("1.0"), power + 1
    sign = "−" if value < 0 else ""
    if -4 < power < 6:
        return sign + _grouped(digits, max(0, 1 - power), max(0, 1 - power))
    return f"{sign}{mantissa} · 10{str(power).translate(_RAISED)}"


def _spelled(value: float, fewest: int, most: int) -> str:
    """With `fewest` to `most` digits after the point."""
    if _is_huge(value):
        return small(value)
    if math.isnan(value):
        return "NaN"
    sign = "−" if value < 0 else ""
    if math.isinf(value):
        return f"{sign}∞"
    text = _grouped(_written(value), fewest, most)
    return text if not text.strip("0.") else sign + text


def _is_huge(value: float) -> bool:
    """A whole number that no float, and no browser, can hold."""
    return isinstance(value, int) and abs(value) > sys.float_info.max


def _written(value: float) -> Decimal:
    """The digits of its amount; a float's are the fewest that name it."""
    return _EXACT.create_decimal(value if isinstance(value, int) else repr(float(value))).copy_abs()


def _grouped(digits: Decimal, fewest: int, most: int) -> str:
    whole, _, fraction = f"{digits.quantize(Decimal(1).scaleb(-most), context=_EXACT):,f}".partition(".")
    fraction = fraction.rstrip("0").ljust(fewest, "0")
    return f"{whole}.{fraction}" if fraction else whole

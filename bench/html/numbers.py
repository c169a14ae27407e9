"""Numbers as a page shows them: few digits, units that fit, and a dash for what is not known."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, isfinite, log10

__all__ = [
    "FORMATS",
    "DASH",
    "count",
    "interval",
    "plain",
    "power",
    "scientific",
    "seconds",
    "size",
]

DASH = "–"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def plain(value: float | None, digits: int = 4) -> str:
    """Return `value` with a few digits, whole numbers in full."""
    if value is None or not isfinite(value):
        return DASH
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.{digits}g}" if 1e-3 <= abs(value) < 1e5 else scientific(value)


def scientific(value: float | None) -> str:
    """Return `value` with three digits, as 3.96·10⁻⁴."""
    if value is None or not isfinite(value):
        return DASH
    if value == 0:
        return "0"
    if 0.1 <= abs(value) < 1000:
        return f"{value:.3g}"
    digits, _, exponent = f"{value:.2e}".partition("e")
    return f"{digits}·10{str(int(exponent)).translate(RAISED)}"


def power(value: float) -> str:
    """Return what stands at a tick of an axis: 10⁻³, 2·10⁻³, 0.1, 1, 500, 10⁴."""
    if value == 0 or 0.01 <= abs(value) < 1e4:
        return f"{value:g}"
    exponent = floor(log10(abs(value)) + 1e-9)
    digits, raised = f"{value / 10.0**exponent:.3g}", str(exponent).translate(RAISED)
    return f"10{raised}" if digits == "1" else f"{digits}·10{raised}"


def count(value: float | None, thing: str) -> str:
    """Return `value` and `thing`, in the plural where it must be."""
    return f"{plain(value)} {thing}{'' if value == 1 else 's'}"


def size(value: float | None, digits: int = 3) -> str:
    """Return bytes with a unit: 12.3 kB."""
    return _with_unit(value, SIZES, digits)


def seconds(value: float | None, digits: int = 3) -> str:
    """Return seconds with a unit: 4.5 ms."""
    return _with_unit(value, TIMES, digits)


def interval(low: float | None, high: float | None, show: Callable[[float | None], str]) -> str:
    """Return [low, high], or nothing where there is none."""
    if low is None or high is None or low == high:
        return ""
    return f"[{show(low)}, {show(high)}]"


def _with_unit(value: float | None, units: tuple[tuple[float, str], ...], digits: int) -> str:
    if value is None or not isfinite(value):
        return DASH
    if value == 0:
        return f"0 {units[-1][1] if units is SIZES else units[0][1]}"
    unit, name = next((pair for pair in units if abs(value) >= pair[0]), units[-1])
    rounded = float(f"{value / unit:.{digits}g}")  # 1e+03 is 1000
    return f"{rounded:g} {name}"


FORMATS: dict[str, Callable[[float], str]] = {"plain": power, "bytes": size, "seconds": seconds}

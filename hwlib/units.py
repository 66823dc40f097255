"""Units at the edges, SI floats inside: write `450*GB`, read `parse("31.9 us")`, print `show(t, "s")`.

Dimensions are bytes, seconds, joules and money; the byte is one (a bit is 1/8 of it). FLOP, tokens, ranks and their
like are counts, of dimension one: they are carried as *labels*, printed and compared, never in arithmetic.
Bandwidth is bytes per second in one direction; GB is 1e9 bytes and GiB is 2^30.
"""

import math
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple

B, KB, MB, GB, TB, PB, EB = 1.0, 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
KiB, MiB, GiB, TiB, PiB = 2.0**10, 2.0**20, 2.0**30, 2.0**40, 2.0**50
bit, kbit, Mbit, Gbit, Tbit = 1 / 8, 1e3 / 8, 1e6 / 8, 1e9 / 8, 1e12 / 8
ns, us, ms, s, minute, hour, day = 1e-9, 1e-6, 1e-3, 1.0, 60.0, 3600.0, 86400.0
FLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP = 1.0, 1e6, 1e9, 1e12, 1e15, 1e18
kHz, MHz, GHz = 1e3, 1e6, 1e9
J, W, kW, MW, USD = 1.0, 1.0, 1e3, 1e6, 1.0

MAX_LENGTH = 80
MAX_POWER = 12
DIMENSIONS = ("B", "J", "USD", "s")
COUNTS = (
    "FLOP OP token param element rank GPU chip SM core thread warp block node link layer expert head sequence sample "
    "request batch microbatch step message packet hop cycle instruction"
).split()

_UP = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_DOWN = {"m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
_BINARY = {"Ki": KiB, "Mi": MiB, "Gi": GiB, "Ti": TiB, "Pi": PiB, "Ei": 2.0**60}


class UnitError(ValueError):
    """A text that is no number with a unit of this book."""


class Measure(NamedTuple):
    """A value in SI base units and the name of that unit: `Measure(5e10, "B/s")`."""

    value: float
    unit: str


class _Base(NamedTuple):
    """A unit without its prefix: how many SI units it is, which, and the prefixes it takes."""

    scale: float
    powers: dict[str, int]
    prefixes: dict[str, float]


_BASES = {
    "1": _Base(1, {}, {}),
    "%": _Base(0.01, {}, {}),
    "B": _Base(1, {"B": 1}, {**_UP, "K": 1e3, **_BINARY}),
    "bit": _Base(1 / 8, {"B": 1}, {**_UP, "K": 1e3, **_BINARY}),
    "bps": _Base(1 / 8, {"B": 1, "s": -1}, {**_UP, "K": 1e3}),
    "Bps": _Base(1, {"B": 1, "s": -1}, {**_UP, "K": 1e3}),
    "s": _Base(1, {"s": 1}, _DOWN),
    "min": _Base(minute, {"s": 1}, {}),
    "h": _Base(hour, {"s": 1}, {}),
    "day": _Base(day, {"s": 1}, {}),
    "year": _Base(365.25 * day, {"s": 1}, {}),
    "Hz": _Base(1, {"s": -1}, _UP),
    "J": _Base(1, {"J": 1}, {**_UP, **_DOWN}),
    "Wh": _Base(hour, {"J": 1}, _UP),
    "W": _Base(1, {"J": 1, "s": -1}, {**_UP, **_DOWN}),
    "USD": _Base(1, {"USD": 1}, _UP),
    "FLOPS": _Base(1, {"FLOP": 1, "s": -1}, {**_UP, "K": 1e3}),
    "OPS": _Base(1, {"OP": 1, "s": -1}, {**_UP, "K": 1e3}),
    **{count: _Base(1, {count: 1}, {**_UP, "K": 1e3}) for count in COUNTS},
}
_WORDS = {
    "byte": "B", "b": "bit", "sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h", "joule": "J",
    "watt": "W", "hertz": "Hz", "dollar": "USD", "$": "USD", "flop": "FLOP", "op": "OP", "gpu": "GPU",
    "parameter": "param", "percent": "%",
}  # fmt: skip
# Plurals end in s; "FLOPs" is a count, "FLOPS" the rate, as vendors write it.
_PLURAL = {name + "s": name for name in (*COUNTS, *_WORDS, "bit", "min", "day", "year") if name not in ("b", "$")}
_PLURAL["batches"] = "batch"


def parse(text: str) -> Measure:
    """A number with a unit, in SI base units.

    >>> parse("400 Gbit/s")
    Measure(value=50000000000.0, unit='B/s')
    >>> parse("31.9 µs").unit, parse("295 FLOP/B").unit, parse("0.5").unit
    ('s', 'FLOP/B', '1')

    Raises UnitError, with a sentence that a learner can act on, for anything else. Never evaluates the text.
    """
    if not isinstance(text, str):
        raise UnitError(f"expected a text such as '31.9 us', got {type(text).__name__}")
    if len(text) > MAX_LENGTH:
        raise UnitError(f"expected a number with a unit, got {len(text)} characters")
    match = re.fullmatch(r"([-+−]?(?:[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+−]?[0-9]+)?)\s*(.*)", text.strip())
    if not match or match[2][:1] in (",", ".", "_"):
        raise UnitError(f"expected a number and then a unit, such as '31.9 us', got {text!r}")
    number, unit = match.groups()
    scale, powers = _read(unit or "1")
    value = float(number.replace("−", "-").replace("_", "")) * scale
    if math.isinf(value) or (value == 0 and re.search("[1-9]", re.split("[eE]", number)[0])):
        raise UnitError(f"{text!r} is beyond the range of a float")
    return Measure(value, spell(powers))


def show(x: float, unit: str = "1", digits: int = 4) -> str:
    """`x`, in the SI base of `unit`, as a person writes it: with a prefix, to `digits` digits.

    >>> show(3.35e12, "B/s"), show(295.32, "FLOP/B"), show(16384), show(3.19e-5, "s")
    ('3.35 TB/s', '295.3 FLOP/B', '16384', '31.9 us')

    A unit that has its prefix already, or is no base, is kept: `show(85.9e9, "GiB")` is '80 GiB'. The inverse of
    `parse`, but for rounding. Raises UnitError for a unit this book does not have.
    """
    scale, _ = _read(unit)
    x = float(x)
    if not math.isfinite(x):
        return f"{x} {unit}".removesuffix(" 1")
    first, slash, rest = unit.partition("/")
    if unit == "s":
        first, scale = _clock(x, digits)
    elif first in _BASES and scale == 1 and "/B" not in unit and first not in ("1", *COUNTS[2:]):
        first, scale = _prefixed(x, first, digits)
    number = _number(x / scale, digits)
    if first in COUNTS and first.islower() and number != "1":
        first = "batches" if first == "batch" else first + "s"
    return f"{number} {first}{slash}{rest}".removesuffix(" 1").replace(" %", "%")


def dimension(unit: str) -> dict[str, int]:
    """The powers of B, J, USD and s in a unit; counts drop out: `dimension("FLOP/B") == {"B": -1}`."""
    return {k: p for k, p in _read(unit)[1].items() if k in DIMENSIONS}


def labels(unit: str) -> dict[str, int]:
    """The powers of the counts in a unit: `labels("FLOP/B") == {"FLOP": 1}`."""
    return {k: p for k, p in _read(unit)[1].items() if k not in DIMENSIONS}


def scale(unit: str) -> float:
    """How many SI base units one `unit` is: `scale("GiB") == 2**30`."""
    return _read(unit)[0]


@lru_cache(4096)
def _read(unit: str) -> tuple[float, dict[str, int]]:
    """A unit's scale and the powers of its base units. Factors are joined by `*`, `·`, a space or `/`."""
    if not isinstance(unit, str) or len(unit) > MAX_LENGTH:
        raise UnitError("a unit is a short text such as 'B/s'")
    scale, powers = 1.0, dict[str, int]()
    text = re.sub(r"\s*(/|\*|·|\bper\b)\s*", lambda m: "/" if m[1] in ("/", "per") else "*", unit.strip())
    for sign, factor in re.findall(r"([/*\s]?)([^/*\s]*)", text):
        if not factor and not sign:
            continue
        match = re.fullmatch(r"(.+?)(?:\^(-?\d{1,2}))?", factor)
        if not match:
            raise UnitError(f"{unit!r} is no unit: there is nothing after {sign!r}")
        power = int(match[2] or 1) * (-1 if sign == "/" else 1)
        if abs(power) > MAX_POWER:
            raise UnitError(f"{unit!r}: a power is at most {MAX_POWER}")
        factor_scale, factor_powers = _factor(match[1], unit)
        scale *= factor_scale**power
        for name, p in factor_powers.items():
            powers[name] = powers.get(name, 0) + p * power
    return scale, {name: p for name, p in powers.items() if p}


def _factor(name: str, unit: str) -> tuple[float, dict[str, int]]:
    """One factor of a unit, such as `GB`, `tokens`, `us` or `Gbit`."""
    name = name.replace("µ", "u").replace("μ", "u")
    for cut in range(min(3, len(name))):
        prefix, word = name[:cut], name[cut:]
        word = _PLURAL.get(word, word)
        base = _BASES.get(_WORDS.get(word, word))
        if base and not prefix:
            return base.scale, base.powers
        if base and prefix in base.prefixes:
            return base.scale * base.prefixes[prefix], base.powers
    known = [*_BASES, *_WORDS, "GB", "GiB", "Gbit", "us", "ms", "ns", "TFLOP"]
    close = get_close_matches(name, known, 3, 0.5) or ["B", "bit", "s", "FLOP", "token", "J", "W", "USD"]
    raise UnitError(f"unknown unit {name!r} in {unit!r}; there is {', '.join(close)}")


def spell(powers: Mapping[str, Any]) -> str:
    """The name of a product of base units, counts first: `spell({"B": 1, "s": -1}) == "B/s"`."""
    ordered = sorted(powers.items(), key=lambda kp: (kp[0] in DIMENSIONS, kp[0]))
    over = "*".join(k + (f"^{p}" if p > 1 else "") for k, p in ordered if p > 0)
    under = "".join("/" + k + (f"^{-p}" if p < -1 else "") for k, p in ordered if p < 0)
    return (over or "1") + under


def _prefixed(x: float, base: str, digits: int) -> tuple[str, float]:
    """The prefix that leaves between 1 and 1000 of the base unit, once rounded."""
    size = abs(float(f"{x:.{digits}g}"))
    steps = {"": 1.0} | {p: v for p, v in _BASES[base].prefixes.items() if p not in _BINARY and p != "K"}
    fitting = [p for p, v in steps.items() if v <= size] if size else [""]
    prefix = max(fitting, key=steps.__getitem__) if fitting else min(steps, key=steps.__getitem__)
    return ("K" if prefix == "k" and base == "B" else prefix) + base, steps[prefix]


def _clock(x: float, digits: int) -> tuple[str, float]:
    """Seconds and below in SI; from two minutes, two hours, two days and two years on in those."""
    for name in ("year", "day", "h", "min"):
        if abs(x) >= 2 * _BASES[name].scale:
            return name + ("s" if name in ("year", "day") else ""), _BASES[name].scale
    return _prefixed(x, "s", digits)


def _number(x: float, digits: int) -> str:
    """Whole numbers in full below a million; otherwise `digits` digits, but never fewer than the whole part has."""
    if x == 0:
        return "0"
    if not 1e-3 <= abs(x) < 1e6:
        mantissa, exponent = f"{x:.{max(digits - 1, 0)}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
    decimals = 0 if x == int(x) else max(0, digits - 1 - math.floor(math.log10(abs(x))))
    text = f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text

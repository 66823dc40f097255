"""Units at the edges, SI floats inside: write `450*GB`, read `parse("31.9 us")`, print `show(t, "s")`.

Dimensions are bytes (a bit is 1/8 byte), seconds, joules and money. FLOP, tokens, ranks and other counts have
dimension one: they are *labels*, printed and compared, but never used in arithmetic.
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
OPERATIONS = ("FLOP", "OP")
THINGS = (
    "token", "param", "element", "sequence", "sample", "request", "batch", "microbatch", "layer", "expert",
    "head", "rank", "GPU", "chip", "SM", "core", "thread", "warp", "block", "cycle", "instruction", "kernel",
    "node", "link", "hop", "message", "packet", "step",
)  # fmt: skip
COUNTS = OPERATIONS + THINGS


class UnitError(ValueError):
    """A text that is not a number with a unit of this book.

    `fault` is what is wrong with it: "type", "length", "comma", "number" (there is none), "calculation", "range",
    "factor" (one is missing), "power", or else "unit".
    """

    def __init__(self, message: str, fault: str = "unit"):
        super().__init__(message)
        self.fault = fault


class Measure(NamedTuple):
    """A value in SI base units and the name of that unit: `Measure(5e10, "B/s")`."""

    value: float
    unit: str


class _Base(NamedTuple):
    """A unit without a prefix: its size in SI base units, the powers of these, and the prefixes it takes."""

    size: float
    powers: dict[str, int]
    prefixes: dict[str, float]


_UP = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "Z": 1e21, "Y": 1e24}
_DOWN = {"m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}
_BINARY = {"Ki": KiB, "Mi": MiB, "Gi": GiB, "Ti": TiB, "Pi": PiB, "Ei": 2.0**60}
_BASES = {
    "1": _Base(1, {}, {}),
    "%": _Base(0.01, {}, {}),
    "B": _Base(1, {"B": 1}, _UP | _BINARY),
    "Bps": _Base(1, {"B": 1, "s": -1}, _UP),
    "bit": _Base(1 / 8, {"B": 1}, _UP | _BINARY),
    "bps": _Base(1 / 8, {"B": 1, "s": -1}, _UP),
    "s": _Base(1, {"s": 1}, _DOWN),
    "min": _Base(minute, {"s": 1}, {}),
    "h": _Base(hour, {"s": 1}, {}),
    "day": _Base(day, {"s": 1}, {}),
    "year": _Base(365.25 * day, {"s": 1}, {}),
    "Hz": _Base(1, {"s": -1}, _UP),
    "J": _Base(1, {"J": 1}, _UP | _DOWN),
    "Wh": _Base(hour, {"J": 1}, _UP),
    "W": _Base(1, {"J": 1, "s": -1}, _UP | _DOWN),
    "USD": _Base(1, {"USD": 1}, _UP),
    **{f"{op}S": _Base(1, {op: 1, "s": -1}, _UP) for op in OPERATIONS},  # as vendors write the rate
    **{count: _Base(1, {count: 1}, _UP) for count in COUNTS},
}
_WORDS = {
    "byte": "B", "b": "bit", "sec": "s", "second": "s", "minute": "min", "hour": "h", "hr": "h", "joule": "J",
    "watt": "W", "hertz": "Hz", "dollar": "USD", "$": "USD", "flop": "FLOP", "op": "OP", "gpu": "GPU",
    "parameter": "param", "percent": "%", "Byte": "B", "Bit": "bit", "hz": "Hz",
}  # fmt: skip
_LONG = {"nano": "n", "micro": "u", "milli": "m", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P"}
_SPELLED = {  # written out: milliseconds, gigabytes
    long + word: _Base(_BASES[base].size * _BASES[base].prefixes[short], _BASES[base].powers, {})
    for word, base in (("second", "s"), ("byte", "B"), ("bit", "bit"), ("joule", "J"), ("watt", "W"), ("flop", "FLOP"))
    for long, short in _LONG.items()
    if short in _BASES[base].prefixes
}
_BASES |= _SPELLED
_PLURALS = {word + "s": word for word in (*COUNTS, *_WORDS, *_SPELLED, "bit", "min", "day", "year") if word not in "b$"}
_PLURALS |= {"batches": "batch", "microbatches": "microbatch"}
_CAPITALS = {
    word.capitalize(): one
    for word, one in (*_PLURALS.items(), *zip(THINGS, THINGS, strict=True))
    if one in THINGS and word.islower() and word not in ("batchs", "microbatchs")
}
_SINGULARS = {_WORDS.get(one, one): many for many, one in _PLURALS.items() if one in THINGS}
# Groups of three digits are read where no comma can be a decimal one: 450,000,000, or 1,024.5.
_GROUPS = r"[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){2,}(?:\.[0-9]*)?|,[0-9]{3}\.[0-9]*)(?![0-9,])"
_NUMBER = rf"[-+−]?(?:{_GROUPS}|[0-9][0-9_]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+−]?[0-9]+)?"
_RATIO = r":\s*1|x|×|times"  # 7:1, 2.29x, 2.29 times
# What is counted has no decimals, so there one group is enough: 38,087 tokens.
_SAME = {**{one: one for one in THINGS}, **_WORDS, **{many: _WORDS.get(one, one) for many, one in _PLURALS.items()}}
_SAME |= {word: _SAME[one] for word, one in _CAPITALS.items()}
_THINGS = {word: one for word, one in _SAME.items() if one in THINGS}
_COUNTED = re.compile(rf"([-+−]?[1-9][0-9]{{0,2}}),([0-9]{{3}})(?=\s*(?:{'|'.join(_THINGS)})$)")


def parse(text: str) -> Measure:
    """A number with a unit, in SI base units.

    >>> parse("400 Gbit/s")
    Measure(value=50000000000.0, unit='B/s')
    >>> parse("31.9 µs").unit, parse("295 FLOP/B").unit, parse("0.5").unit
    ('s', 'FLOP/B', '1')

    Never evaluates the text. Raises UnitError, with a sentence that a learner can act on, for anything else.
    """
    if not isinstance(text, str):
        raise UnitError(f"expected a text such as '31.9 us', got {type(text).__name__}", "type")
    if len(text) > MAX_LENGTH:
        raise UnitError(f"expected a number with a unit, got {len(text)} characters", "length")
    match = re.fullmatch(rf"({_NUMBER})\s*(.*)", _COUNTED.sub(r"\1\2", text.strip()))
    if match and re.match(r",[0-9]", match[2]):
        raise UnitError(f"a comma may be read in two ways: write {text!r} with a point, or without one", "comma")
    if not match or match[2].startswith((".", "_")):
        raise UnitError(f"expected a number and then a unit, such as '31.9 us', got {text!r}", "number")
    number = match[1].replace("−", "-").replace("_", "").replace(",", "")
    try:
        size, powers = _read("" if re.fullmatch(_RATIO, match[2]) else match[2])
    except UnitError:
        if re.match(r"(?:[-+*/×·^]+\s*|x\s+)[0-9(.]", match[2]):
            what = f"{text!r} is a calculation; write one number, such as 3.85e-3, then its unit"
            raise UnitError(what, "calculation") from None
        raise
    value = float(number) * size
    if math.isinf(value) or (value == 0 and re.search("[1-9]", re.split("[eE]", number)[0])):
        raise UnitError(f"{text!r} is beyond the range of a float", "range")
    return Measure(value, spell(powers))


def show(x: float, unit: str = "1", digits: int = 4) -> str:
    """`x`, in the SI base of `unit`, as text with a suitable prefix, to `digits` digits.

    >>> show(3.35e12, "B/s"), show(295.32, "FLOP/B"), show(16384), show(3.19e-5, "s"), show(8, "GPU")
    ('3.35 TB/s', '295.3 FLOP/B', '16384', '31.9 us', '8 GPUs')

    A unit that has a prefix keeps it: `show(80*GiB, "GiB")` is '80 GiB'. Whole numbers below a million are
    never rounded. `parse` reads the text back. Raises UnitError for an unknown unit.
    """
    x = float(x) / scale(unit)
    if not math.isfinite(x):
        return f"{x} {unit}".removesuffix(" 1")
    first, slash, rest = unit.partition("/")
    if unit == "s" and abs(x) >= 2 * minute:
        first = next(name for name in ("year", "day", "h", "min") if abs(x) >= 2 * _BASES[name].size)
        x /= _BASES[first].size
        first += "s" if first in ("year", "day") else ""
    elif first in _BASES and first not in THINGS and not (first in OPERATIONS and rest.startswith("B")):
        prefix, size = _prefix(x, first, digits)
        first, x = prefix + first, x / size
    number = _digits(x, digits)
    if number != "1":
        first = _SINGULARS.get(first, first)
    return f"{number} {first}{slash}{rest}".removesuffix(" 1").replace(" %", "%")


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "sequence"), plural(2048, "sequence")
    ('1 sequence', '2,048 sequences')
    """
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{ending}"


def scale(unit: str) -> float:
    """The size of one `unit` in SI base units: `scale("GiB") == 2**30`."""
    return _read(unit)[0]


def dimension(unit: str) -> dict[str, int]:
    """The powers of B, J, USD and s in a unit; counts drop out: `dimension("FLOP/B") == {"B": -1}`."""
    return {name: power for name, power in _read(unit)[1].items() if name in DIMENSIONS}


def labels(unit: str) -> dict[str, int]:
    """The powers of the counts in a unit: `labels("FLOP/B") == {"FLOP": 1}`."""
    return {name: power for name, power in _read(unit)[1].items() if name not in DIMENSIONS}


def known_units() -> dict[str, tuple[float, dict[str, int]]]:
    """Every unit of one word that is read, by its name: how many SI base units it is, and their powers.

    >>> known_units()["TFLOP"], known_units()["GiB"]
    ((1000000000000.0, {'FLOP': 1}), (1073741824.0, {'B': 1}))
    """
    words = [*_BASES, *_WORDS, *_PLURALS, *_CAPITALS]
    prefixes = {prefix for base in _BASES.values() for prefix in base.prefixes}
    units = {}
    for name in sorted({prefix + word for prefix in ("", *prefixes) for word in words}):
        try:
            units[name] = scale(name), dimension(name) | labels(name)
        except UnitError:
            continue
    return units


def words_of(thing: str) -> list[str]:
    """Every way to write a thing that is counted.

    >>> words_of("param")
    ['param', 'parameter', 'params', 'parameters', 'Params', 'Param']
    """
    return [word for word, one in _THINGS.items() if one == _THINGS.get(thing)]


def spell(powers: Mapping[str, Any]) -> str:
    """The name of a product of base units, counts first: `spell({"B": 1, "s": -1}) == "B/s"`."""
    ordered = sorted(powers.items(), key=lambda item: (item[0] in DIMENSIONS, item[0]))
    over = "*".join(name + (f"^{p}" if p != 1 else "") for name, p in ordered if p > 0)
    under = "".join("/" + name + (f"^{-p}" if p != -1 else "") for name, p in ordered if p < 0)
    return (over or "1") + under


@lru_cache(4096)
def _read(unit: str) -> tuple[float, dict[str, int]]:
    """A unit's size and the powers of its base units. Factors are joined by `*`, `·`, a space or `/`."""
    if not isinstance(unit, str) or len(unit) > MAX_LENGTH:
        raise UnitError(f"a unit is a short text such as 'B/s', not {str(unit)[:20]!r}")
    size, powers = 1.0, dict[str, int]()
    if not unit:
        return size, powers
    text = re.sub(r"(?:(?<!\s)\s+)?(?:/|\bper\b)\s*", "/", unit.strip())
    for sign, factor in re.findall(r"(/|\s*[*·]\s*|\s+|^)([^/*·\s]*)", text):
        match = re.fullmatch(r"(.+?)(?:\^(-?[0-9]{1,2}))?", factor)
        if not match:
            raise UnitError(f"{unit!r} is not a unit: something is missing after {sign.strip()!r}", "factor")
        base_size, base_powers = _factor(match[1], unit)
        power = int(match[2] or 1) * (-1 if sign == "/" else 1)
        if abs(power) > MAX_POWER:
            raise UnitError(f"{unit!r}: a power is at most {MAX_POWER}", "power")
        size *= base_size**power
        for name, p in base_powers.items():
            powers[name] = powers.get(name, 0) + p * power
    return size, {name: power for name, power in powers.items() if power}


def _factor(text: str, unit: str) -> tuple[float, dict[str, int]]:
    """One factor of a unit, such as `GB`, `tokens`, `us` or `Gbit`: the shortest prefix that fits."""
    name = text.replace("µ", "u").replace("μ", "u")
    name = _CAPITALS.get(name, name)
    for cut in range(min(3, len(name))):
        prefix, word = name[:cut], _PLURALS.get(name[cut:], name[cut:])
        base = _BASES.get(_WORDS.get(word, word))
        if base and (not prefix or prefix in base.prefixes):
            return base.size * base.prefixes.get(prefix, 1.0), base.powers
    prefixed = ("kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "Gbit", "MHz", "GHz", "us", "ms", "ns", "TFLOP")
    known = [*_BASES, *_WORDS, *prefixed]
    same = [one for one in known if one.lower() == name.lower()]
    close = " or ".join(same or get_close_matches(name, known, 3, 0.6))
    say = f"did you mean {close}?" if close else "known: B, bit, s, min, h, day, FLOP, token, J, W, USD"
    raise UnitError(f"unknown unit {text!r}" + f" in {unit!r}" * (text != unit) + f"; {say}")


def _prefix(x: float, base: str, digits: int) -> tuple[str, float]:
    """The decimal prefix that leaves 1 to 1000 base units after rounding; bytes take KB, bits kbit."""
    size = abs(float(f"{x:.{digits}g}"))
    other = "k" if base == "B" else "K"
    prefixes = _BASES[base].prefixes.items()
    steps = [(1.0, "")] + [(value, p) for p, value in prefixes if p not in _BINARY and p != other]
    step, prefix = max((step for step in steps if step[0] <= size), default=min(steps)) if size else steps[0]
    return prefix, step


def _digits(x: float, digits: int) -> str:
    """`x` to `digits` digits, but never fewer than its integer part has; from a million on, as 15e12."""
    if x == 0:
        return "0"
    exponent = 0
    if not 1e-3 <= abs(x) < 1e6:
        number, _, power = f"{x:.{max(digits - 1, 0)}e}".partition("e")
        exponent = 3 * (int(power) // 3)
        x = float(f"{number}e{int(power) - exponent}")
    decimals = 0 if x == int(x) else max(0, digits - 1 - math.floor(math.log10(abs(x))))
    text = f"{x:.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + (f"e{exponent}" if exponent else "")

"""Slips: wrong numbers common to all topics, recognised by their ratio to the right one.

Reasons: sign, sparse, bits, factor-two, percent, prefix, gib, tib, kib-for-bytes, mib-for-bytes, gib-for-bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple


class Slip(NamedTuple):
    """A ratio that identifies a mistake; the sentence names the cause and leaves the correction to the
    learner. Several ratios may have one reason."""

    ratio: Fraction
    reason: str
    say: str
    of: str = ""  # looked for only where the exercise has these: B for bytes, FLOP for operations, 1 for a pure number
    below: str = ""  # what is told of the inverse ratio, where that is something else


SLIPS = (
    Slip(Fraction(-1), "sign", "The size is right, the sign is not."),
    Slip(Fraction(2), "sparse", "", "FLOP"),  # what is told of a factor of 2 depends on the exercise
    Slip(
        Fraction(8),
        "bits",
        "You are off by a factor of 8: are bits taken for bytes, or is one counted for eight, or eight for one?",
        "B",
    ),
    Slip(Fraction(2), "factor-two", ""),
    Slip(
        Fraction(100),
        "percent",
        "Yours is 100 times what was expected: is it in per cent, without its sign?",
        "1",
        "Yours is a hundredth of what was expected: is a share written with a per cent sign?",
    ),
    Slip(Fraction(1000), "prefix", "You are off by a factor of 1000: a prefix (k, M, G, T; m, u, n) slipped."),
    Slip(
        Fraction(1000**2),
        "prefix",
        "You are off by a factor of 1000 twice over: a prefix slipped (G for k, or u for s).",
    ),
    Slip(Fraction(1000**3), "prefix", "You are off by a factor of 1e9: a number typed without its prefix (G, or n)?"),
    Slip(Fraction(1000**4), "prefix", "You are off by a factor of 1e12: a number typed without its prefix (T, or p)?"),
    Slip(
        Fraction(2**30, 10**9),
        "gib",
        "Yours is as far off as a GiB (2^30 bytes) is from a GB (1e9): is one taken for the other?",
        "B",
    ),
    Slip(
        Fraction(2**40, 10**12),
        "tib",
        "Yours is as far off as a TiB (2^40 bytes) is from a TB (1e12): is one taken for the other?",
        "B",
    ),
    *(
        Slip(
            Fraction(1024**n),
            f"{unit.lower()}-for-bytes",
            f"You are off by {told}: are {unit} taken for bytes, or bytes for {unit}?",
            "B",
        )
        for n, told, unit in (
            (1, "a factor of 1024", "KiB"),
            (2, "1024 twice over", "MiB"),
            (3, "1024 three times over", "GiB"),
        )
    ),
    Slip(Fraction(1000**5), "prefix", "You are off by a factor of 1e15: a number typed without its prefix (P)?"),
)

SPARSE = "sparse for dense FLOP/s, or a multiply-add counted as one operation"
# What a factor of 2 may come from, and the words of an exercise that has it.
TWICE = (
    (
        "both directions for one",
        r"direction|both ways|(?:each|one) way|duplex|links?\b|ports?\b|nvlink|cables?\b|nics?\b",
    ),
    ("the bytes of an element", r"\b(?:bf|fp|int)\d+|float|elements?\b|precision|weights|parameters|gradients"),
    ("one phase of two", r"all-?reduce|phases?\b|there and back|round trip"),
    ("what is read without what is written", r"\bread(?:s|ing)?\b.*\bwrit(?:es?|ten|ing)\b"),
    (SPARSE, r"FLOP|tensor core|sparse"),
)
# The misconceptions, keys of docs/misconceptions.toml, of the reasons that are not one themselves.
NAMES = {
    "bits": "bits-for-bytes",
    "sparse": "factor-two",
    **dict.fromkeys(("gib", "tib"), "gib-for-gb"),
    **dict.fromkeys(("kib-for-bytes", "mib-for-bytes", "gib-for-bytes"), "prefix"),
}
# In what else than its unit a number is measured, and how many of that unit each is.
SECONDS = {"ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "ms": Fraction(1, 1000), "s": Fraction(1)}
SECONDS |= {"min": Fraction(60), "h": Fraction(3600), "day": Fraction(86400), "year": Fraction(365 * 86400)}
TIMES = {"min": "minutes", "h": "hours", "day": "days", "year": "years"}  # as a sentence names them
IN_TURN = {24: "hours of a day", 60: "minutes of an hour", 3600: "seconds of an hour", 365: "days of a year"}
SCALES = {
    "1": {"per cent": Fraction(1, 100)},
    "USD": {"cents": Fraction(1, 100), "thousands of dollars": Fraction(1000), "millions of dollars": Fraction(10**6)},
}
NARROWER = 0.1  # tolerances
NARROW = ("gib", "tib")  # ratios near to 1, like those of a few things more or less: 15/14 is no GiB
ANY_TWICE = "one thing counted twice"
USUAL = 3  # causes that are told where the words name none
BYTES = re.compile(r"\d ?B\b|\b[kKMGTPE]i?B\b|\bB/s|\b[kKMGT]?bits?\b|\bbytes?\b|\{\w+:\w*B\b")
THINGS = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+|\d+)(?![.,]?\d)(?! ?[kKMGTP]?i?(?:B|bits?)\b)")  # no bytes


def slip_name(reason: str) -> str:
    """The misconception that a slip is counted under."""
    return NAMES.get(reason, reason)


def close(a: float | Fraction, b: float | Fraction, rtol: float) -> bool:
    """Whether `a` lies within `rtol` of `b`; zero is matched by zero only. Exact, so no number is too large
    for it."""
    a, b = Fraction(a), Fraction(b)
    return abs(a - b) <= Fraction(rtol) * abs(b)


def find(
    answer: float | Fraction, want: float | Fraction, rtol: float, unit: str = "B", about: str = ""
) -> Slip | None:
    """The slip that turns `want`, in `unit`, into `answer`, or None; a slip no wider than the tolerance is not
    looked for. `about` is the prompt: it tells what a factor may come from, and that a time is one of bytes."""
    answer, want = Fraction(answer), Fraction(want)
    if not answer or not want:
        return None
    for slip in SLIPS:
        if slip.of and not _has(unit, about, slip.of):
            continue
        for ratio in (slip.ratio, 1 / slip.ratio):
            near = NARROWER * rtol if slip.reason in NARROW else rtol
            if abs(ratio - 1) > 3 * Fraction(rtol) and close(answer, want * ratio, near):
                say = slip.below if slip.below and ratio < 1 else _say(slip, about)
                return slip._replace(say=say)
    return None


def scale(answer: float, want: float, rtol: float, unit: str) -> Slip | None:
    """The slip of a number that is right if it is read in another unit than its own; of hours and days, also one by a
    factor that two such units are apart."""
    ratio = Fraction(want) / Fraction(answer) if answer else Fraction(0)
    for other, size in _scales(unit).items():
        if close(ratio, size, rtol):
            say = f"looks like a number in {other}; it is read in {TIMES.get(unit, unit)}."
            return Slip(
                size,
                "percent" if other == "per cent" else "prefix",
                say if unit != "1" else "looks like a number in per cent; it is a share.",
            )
    for times, words in IN_TURN.items() if unit in TIMES else ():
        if close(ratio, times, rtol) or close(ratio, Fraction(1, times), rtol):
            say = f"is off by a factor of {times}: are the {times:,} {words} counted once too often, or not at all?"
            return Slip(Fraction(times), "prefix", say)
    return None


def _scales(unit: str) -> dict[str, Fraction]:
    """The other units, and how many of its own one of each is."""
    if unit not in SECONDS:
        return SCALES.get(unit, {})
    return {TIMES.get(other, other): size / SECONDS[unit] for other, size in SECONDS.items() if other != unit}


def _has(unit: str, about: str, what: str) -> bool:
    if what == "1":
        return unit in ("", "1")
    if what == "FLOP":
        return what in unit  # a count, so it has no dimension
    from hwlib.units import dimension

    return (unit != "1" and what in dimension(unit)) or bool(BYTES.search(about))


def _say(slip: Slip, about: str) -> str:
    if slip.ratio == 1024 and thousand(about) and "iB" not in about:
        return (
            "You are off by a factor of 1024: is one counted for 1,024, or 1,024 for one, or are KiB taken for bytes?"
        )
    if slip.ratio != 2:
        return slip.say
    return twice(about, [SPARSE] if slip.reason == "sparse" else [])


def thousand(about: str) -> bool:
    """Whether there are 1,024 things, or so many of so many, as 256 in each of 4."""
    counts = [int(one.replace(",", "")) for one in THINGS.findall(about)]
    return 1024 in counts or any(one * other == 1024 for one, other in combinations(counts, 2))


def causes_of_two(about: str, first: Sequence[str] = ()) -> list[str]:
    """What a factor of 2 is blamed on: `first`, then what the words of the exercise name, or else what is usual."""
    named = [cause for cause, words in TWICE if re.search(words, about, re.I | re.S)]
    causes = list(dict.fromkeys([*first, *named])) or [cause for cause, _ in TWICE[:USUAL]]
    return causes if ANY_TWICE in causes else [*causes, ANY_TWICE]


def speaks_of(cause: str, say: str) -> bool:
    """Whether a sentence has words of a cause of a factor of 2."""
    return any(re.search(words, say, re.I | re.S) for name, words in TWICE if name == cause)


def twice(about: str, first: Sequence[str] = ()) -> str:
    """What is told of a factor of 2."""
    causes = causes_of_two(about, first)
    return f"You are off by a factor of 2. Is it {'; '.join(causes[:-1])}; or {causes[-1]}?"

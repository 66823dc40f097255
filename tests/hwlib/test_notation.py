import math
import re

import pytest

from hwlib.formula.javascript import VEGA_CONSTANTS
from hwlib.formula.ops import OPS
from hwlib.notation import NOTATION, ONE_OR_MORE, Domain
from hwlib.units import scale

JAVASCRIPT_KEYWORDS = set(
    re.findall(
        r"\w+",
        """arguments await case catch const debugger default delete do enum eval export extends function
        implements instanceof interface let new null package private protected public static super switch this
        throw typeof var void""",
    )
)


@pytest.mark.parametrize("letter", NOTATION)
def test_a_letter_can_be_written_printed_and_measured(letter):
    tex, unit, meaning, domain = NOTATION[letter]
    assert letter.isidentifier()
    assert letter not in JAVASCRIPT_KEYWORDS | set(OPS)
    assert scale(unit) == 1, "the unit of a letter is of the SI base"
    assert tex.count("{") == tex.count("}")
    assert meaning
    assert meaning[0].islower() or meaning.startswith(("SM", "HBM", "GPU"))
    assert not meaning.endswith(".")
    assert domain.low < domain.high
    assert domain.has(1), "one of anything is allowed"
    assert not domain.has(math.nan)


@pytest.mark.parametrize("letter", NOTATION)
def test_a_rate_is_divided_by_and_a_group_has_a_member(letter):
    _, unit, _, domain = NOTATION[letter]
    if unit.endswith("/s"):
        assert not domain.has(0)
    if unit == "rank":
        assert domain == ONE_OR_MORE


@pytest.mark.parametrize(
    ("domain", "text", "inside", "outside"),
    [
        (Domain(0), "at least 0", [0, 0.0, 1e30, math.inf], [-1e-30, -math.inf, math.nan]),
        (Domain(0, above=True), "above 0", [1e-30, math.inf], [0, -0.0, -1]),
        (Domain(1), "at least 1", [1, 1.5], [0, 0.999]),
        (Domain(0, above=True, high=1), "above 0 and at most 1", [1e-9, 1], [0, 1.001, math.inf]),
        (Domain(-math.inf), "any number", [-math.inf, 0, math.inf], [math.nan]),
    ],
)
def test_a_domain_says_what_it_holds(domain, text, inside, outside):
    assert str(domain) == text
    assert all(map(domain.has, inside))
    assert not any(map(domain.has, outside))


def test_no_two_letters_print_alike():
    by_tex: dict[str, list[str]] = {}
    for letter, symbol in NOTATION.items():
        by_tex.setdefault(re.sub(r"\s", "", symbol.tex), []).append(letter)
    assert [letters for letters in by_tex.values() if len(letters) > 1] == []


@pytest.mark.parametrize(
    ("letter", "unit"),
    [("n", "rank"), ("S", "B"), ("W", "B/s"), ("alpha", "s"), ("C", "FLOP/s"), ("I", "FLOP/B"), ("t", "s")],
)
def test_the_letters_of_the_book(letter, unit):
    assert NOTATION[letter].unit == unit


def test_vega_reads_only_the_letter_of_experts_as_its_own():
    assert VEGA_CONSTANTS & set(NOTATION) == {"E"}

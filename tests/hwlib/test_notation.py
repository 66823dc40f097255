import math
import re

import pytest

from hwlib.formula.javascript import VEGA_CONSTANTS
from hwlib.formula.ops import OPS
from hwlib.notation import NOTATION, ONE_OR_MORE, SymbolDomain
from hwlib.units import scale

JAVASCRIPT_KEYWORDS = set(
    re.findall(
        r"\w+",
        """arguments await case catch const debugger default delete do enum eval export extends function
        implements instanceof interface let new null package private protected public static super switch this
        throw typeof var void""",
    )
)


def faults(letter):
    """What is wrong with a letter, in words."""
    tex, unit, meaning, domain = NOTATION[letter]
    rules = {
        "is an identifier": letter.isidentifier(),
        "is no word of JavaScript or of an operation": letter not in JAVASCRIPT_KEYWORDS | set(OPS),
        "has a unit of the SI base": scale(unit) == 1,
        "prints with as many braces opened as closed": tex.count("{") == tex.count("}"),
        "has a meaning": bool(meaning),
        "begins its meaning small": meaning[:1].islower() or meaning.startswith(("SM", "HBM", "GPU")),
        "ends its meaning without a full stop": not meaning.endswith("."),
        "has a domain": domain.low < domain.high,
        "may be one, as one of anything may": domain.has(1),
        "is never NaN": not domain.has(math.nan),
        "is above 0 where it is a rate, which is divided by": not (unit.endswith("/s") and domain.has(0)),
        "has a member where it is a group": unit != "rank" or domain == ONE_OR_MORE,
    }
    return [rule for rule, kept in rules.items() if not kept]


def test_every_letter_can_be_written_printed_measured_and_divided_by():
    assert {letter: wrong for letter in NOTATION if (wrong := faults(letter))} == {}


def test_a_letter_that_is_none_is_found(monkeypatch):
    monkeypatch.setitem(
        NOTATION, "x y", NOTATION["W"]._replace(tex="{", unit="GB/s", meaning="", domain=SymbolDomain(0))
    )
    assert len(faults("x y")) == 6


@pytest.mark.parametrize(
    ("domain", "text", "inside", "outside"),
    [
        (SymbolDomain(0), "at least 0", [0, 0.0, 1e30, math.inf], [-1e-30, -math.inf, math.nan]),
        (SymbolDomain(0, above=True), "above 0", [1e-30, math.inf], [0, -0.0, -1]),
        (SymbolDomain(1), "at least 1", [1, 1.5], [0, 0.999]),
        (SymbolDomain(0, above=True, high=1), "above 0 and at most 1", [1e-9, 1], [0, 1.001, math.inf]),
        (SymbolDomain(-math.inf), "any number", [-math.inf, 0, math.inf], [math.nan]),
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

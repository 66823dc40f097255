import re

import pytest

from hwlib.formula.javascript import VEGA_CONSTANTS
from hwlib.formula.ops import OPS
from hwlib.notation import NOTATION
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
    tex, unit, meaning = NOTATION[letter]
    assert letter.isidentifier()
    assert letter not in JAVASCRIPT_KEYWORDS | set(OPS)
    assert scale(unit) == 1, "the unit of a letter is of the SI base"
    assert tex.count("{") == tex.count("}")
    assert meaning
    assert meaning[0].islower() or meaning.startswith(("SM", "HBM", "GPU"))
    assert not meaning.endswith(".")


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

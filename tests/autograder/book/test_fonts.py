"""The parts of fonts that the pages bring: what is asked for, and the same bytes each time."""

import pytest

from autograder.book.finishing import fonts
from autograder.book.site import vendor
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def whole():
    fetched = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["@fontsource/stix-two-math"])
    return fetched / "@fontsource" / "stix-two-math" / "whole.woff"


def test_the_mathematical_font_has_what_formulas_need_and_is_small(whole, tmp_path):
    from fontTools.ttLib import TTFont

    made = fonts.write_part(whole, fonts.MATHEMATICS, tmp_path / "math.woff")
    with TTFont(made) as font:
        assert "MATH" in font  # how far an index is from its letter, and what a large bracket is built from
        points = set(font.getBestCmap())
    asked = {ord(letter) for letter in "aN𝑡𝛼Σ∑√×−≤⌈⌊(|→∞"}
    assert asked <= points
    assert made.stat().st_size < 100_000
    again = fonts.write_part(whole, fonts.MATHEMATICS, tmp_path / "again.woff")
    assert again.read_bytes() == made.read_bytes()

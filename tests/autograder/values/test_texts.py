import pytest

from autograder.values.texts import fill, letter, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{n} GPUs", "8 GPUs"),
        ("over {S:B}", "over 100 MB"),
        ("a step of {alpha:s}.", "a step of 2 us."),
        (r"$\frac{n}{S}$ and $x_{n}$ and $y^{n}$", r"$\frac{n}{S}$ and $x_{n}$ and $y^{n}$"),
        ("$n={n}$", "$n=8$"),
        ("{unknown:B}", "{unknown:B}"),
        ("{chip} it is", "H100 it is"),
    ],
)
def test_fields_show_numbers_in_their_unit_and_leave_latex_alone(text, shown):
    assert fill(text, {"n": 8, "S": 1e8, "alpha": 2e-6, "chip": "H100"}) == shown


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", "a`b`c", "&lt;", "x\n\n# heading", "y" * 500])
def test_a_quoted_text_is_one_inert_span(hostile):
    span = quoted(hostile)
    assert span[0] == span[-1] == "`"
    assert not set("<>&`\n") & set(span[1:-1])
    assert len(span) < 70


@pytest.mark.parametrize(
    ("text", "limit", "span"),
    [
        ("abc", 3, "`abc`"),
        ("abcd", 3, "`abc…`"),
        ("x" * 60, None, f"`{'x' * 60}`"),
        ("x" * 61, None, f"`{'x' * 60}…`"),
        ("a\tb", None, "`a b`"),
        ("`<>&", None, "`'‹›+`"),
    ],
)
def test_a_quoted_text_is_cut_behind_its_limit(text, limit, span):
    assert (quoted(text) if limit is None else quoted(text, limit)) == span


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1234, "1,234"),
        (1234.0, "1,234"),
        (True, "True"),
        (-(10**14), "-100,000,000,000,000"),
        (10**15 - 1, "999,999,999,999,999"),
        (0.5, "0.5"),
    ],
)
def test_a_number_without_a_unit_is_whole_where_it_can_be(value, shown):
    assert fill("{x}", {"x": value}) == shown
    assert (fill("{x}", {"x": 1e15}), fill("{x}", {"x": -1e15})) != ("1,000,000,000,000,000", "-1,000,000,000,000,000")


def test_a_given_of_the_notation_is_its_symbol():
    assert letter("alpha") == r"$\alpha$"
    assert letter("chip_name") == "`chip_name`"

import pytest

from autograder.values.texts import fill, quoted


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

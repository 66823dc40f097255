"""HTML of sentences: what of a stranger's is kept, and formulas that a browser draws by itself."""

import pytest

from autograder.values.inline_html import harmless, inline_html
from autograder.values.mathml import with_mathml


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('It is <code class="a" onclick="x()">b &lt; c</code>.', "It is <code>b &lt; c</code>."),
        ("<img src=x onerror=x()><svg/onload=x()>a<br/>b", "a<br>b"),
        ("<script>x()</script><a href='javascript:x()'>y</a>", "x()y"),
        ('<td style="text-align:right">a</td>', '<td style="text-align:right">a</td>'),
        ('<td style="color:red">b</td>', "<td>b</td>"),
        ('<span class="math inline">a</span><p class="math inline">b', '<span class="math inline">a</span><p>b'),
        ('<span class="math inline&quot; onclick=&quot;x()">a</span>', "<span>a</span>"),
        ("&lt;img src=x&gt;", "&lt;img src=x&gt;"),
        (r"\(n &lt; 3\)", r"\(n &lt; 3\)"),
    ],
)
def test_of_strange_html_a_sentence_is_left(text, kept):
    assert harmless(text) == kept


def test_formulas_are_drawn_and_one_that_cannot_be_stays():
    drawn = with_mathml(inline_html(r"Below $n < 3$ it is $\frac{S}{W}$, and $\href{javascript:x()}{y}$ stays."))
    assert drawn.count("<math") == 2
    assert "<mfrac>" in drawn
    assert r"\(\href" in drawn

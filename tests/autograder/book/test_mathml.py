"""Formulas of a page become MathML, and what only looks like one stays."""

import re
import shutil
from xml.etree import ElementTree

import pytest

from autograder.book.finishing.mathml import MathError, converted, with_mathml
from autograder.book.site import vendor
from tests.conftest import ROOT
from tests.kept import built

MATHML = "{http://www.w3.org/1998/Math/MathML}"
PARTS = {"mfrac": 2, "mover": 2, "mroot": 2, "msub": 2, "msubsup": 3, "msup": 2, "munder": 2, "munderover": 3}


@pytest.mark.slow
def test_every_part_of_the_books_formulas_is_there():
    seen = 0
    for page in sorted(built(ROOT).glob("*.html")):
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL):
            for part in ElementTree.fromstring(re.sub(r"&(?!amp;|lt;|gt;|quot;|#)\w+;", "?", formula)).iter():
                wanted = PARTS.get(part.tag.removeprefix(MATHML), len(part))
                assert len(part) == wanted, f"{page.name}: {formula}"
                seen += 1
    assert seen > 1000


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    """The folder of the pages' scripts, as far as formulas need it."""
    folder = tmp_path_factory.mktemp("static")
    fetched = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["temml"])
    shutil.copytree(fetched / "temml", folder / "vendor" / "temml")
    shutil.copy(ROOT / "docs" / "_static" / "math.js", folder)
    return folder


def test_a_formula_in_a_line_and_one_of_its_own_are_converted(static):
    page = r'<p title="\(a\)">\(a &lt; b\)</p><div class="math">\[\frac{a}{b}\]</div>'
    text = with_mathml({"one.html": page}, static)["one.html"]
    assert text.startswith(r'<p title="\(a\)"><math xmlns="http://www.w3.org/1998/Math/MathML"><mrow>')
    assert text.count("<math") == 2
    assert "&lt;" in text
    assert 'display="block"' in text.partition("<div")[2]


@pytest.mark.parametrize("name", ["script", "pre", "code", "style", "textarea", "title"])
def test_what_is_no_text_keeps_its_brackets(static, name):
    page = rf"<{name}>\(a\)</{name}><!-- \(b\) -->"
    assert with_mathml({"one.html": page}, static) == {"one.html": page}


def test_all_formulas_that_cannot_be_read_are_listed_with_their_pages(static):
    with pytest.raises(MathError) as caught:
        with_mathml({"one.html": r"\(\frac{a\) \(x\)", "two.html": r"\[\nosuch\]"}, static)
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == ["one.html", "two.html"]
    assert [r"$\frac{a$" in lines[0], r"$\nosuch$" in lines[1]] == [True, True]


@pytest.mark.parametrize(
    ("tex", "stretches"),
    [
        (r"2 \left(n - 1\right)", ["false", "false"]),
        (r"\left(\frac{a}{b}\right)", ["true", "true"]),
        (r"\left(f\left(x\right) + \frac{a}{b}\right)", ["true", "false", "false", "true"]),
    ],
)
def test_brackets_stretch_around_what_is_tall_only(static, tex, stretches):
    made = converted([(tex, False)], static)[tex, False]
    fences = [mo for mo in ElementTree.fromstring(made).iter(f"{MATHML}mo") if mo.get("fence")]
    assert [mo.get("stretchy") for mo in fences] == stretches


def test_no_formula_needs_no_program(tmp_path):
    assert with_mathml({"one.html": "<p>text</p>"}, tmp_path) == {"one.html": "<p>text</p>"}

"""Numbers, equations and citations in prose: plain Markdown for learners, spans for the page."""

import re

import pytest

from autograder.book.bibliography import Bibliography
from autograder.book.source.contents import IN_WORK, PLANNED, WRITTEN, ContentsEntry
from autograder.book.source.notebook import ChapterError, ChapterSource
from autograder.book.source.roles import Roles
from hwlib import roofline
from hwlib.units import GB, show
from tests.autograder.small_book import BIBLIOGRAPHY


@pytest.fixture
def roles(tmp_path):
    (tmp_path / "references.bib").write_text(BIBLIOGRAPHY)
    names = {"W": 50 * GB, "show": show, "ridge": roofline.ridge, "roofline": roofline}

    def made(text, **about):
        source = ChapterSource(tmp_path / "07-links.md", text)
        return Roles(names, source, Bibliography(tmp_path / "references.bib"), **about)

    return made


@pytest.mark.parametrize(
    ("expression", "text"),
    [('show(W, "B/s")', "50 GB/s"), ("W*16384", "8.192e+14"), ("ridge(6*W, W)", "6"), ("f'{W/2:.1e}'", "2.5e+10")],
)
def test_a_number_is_text_for_learners_and_a_span_in_the_page(roles, expression, text):
    source = f"It is {{n}}`{expression}`."
    assert roles(source).learner(source) == f"It is {text}."
    assert roles(source).page(source) == f'It is <span class="n" data-n="0">{text}</span>.'


def test_the_same_number_has_one_id_and_a_typed_one_none(roles):
    source = "{n}`W` {n}`1024*16` {n}`1/3` {n}`W` {n}`2*W` {n}`f'{7:,}'` {n}`show(3e9, 'B')`"
    spans = re.findall(r'data-n="(\d+)"', roles(source).page(source))
    assert spans == ["0", "0", "1"]
    assert roles(source).page(source) == roles(source).page(source)
    assert roles(source).quoted(source) == roles(source).learner(source)


def test_a_number_in_a_formula_is_plain_in_both(roles):
    source = "$W = {n}`7`\\,s$ and $${n}`8`$$"
    assert roles(source).learner(source) == roles(source).page(source) == "$W = 7\\,s$ and $$8$$"


def test_code_is_left_alone(roles):
    source = "`{n}` and ``{n}`1` `` and\n\n```python\n{n}`2`\n```\n"
    assert roles(source).learner(source) == roles(source).page(source) == source


def test_what_markdown_would_read_is_escaped(roles):
    source = "{n}`'*a_b* | $5 <i>'`"
    assert roles(source).learner(source) == r"\*a\_b\* \| \$5 \<i\>"


def test_an_equation_comes_from_its_formula_with_its_source(roles, tmp_path):
    with (tmp_path / "references.bib").open("a") as file:
        file.write(
            f"@misc{{{roofline.ridge.cite}, author={{Sam Williams}}, title={{R}}, year={{2009}}, url={{https://x.org}}}}"
        )
    text = "{f}`ridge`"
    assert roofline.ridge.tex in roles(text).learner(text)
    assert "([Williams, 2009](https://x.org))" in roles(text).learner(text)
    assert f"{{cite:alp}}`{roofline.ridge.cite}`" in roles(text).page(text)
    assert roles(text).equation("roofline.ridge") == roles(text).equation("ridge")


def test_a_citation_reads_in_both(roles):
    source = "{cite}`hill1990` and {cite}`hill1990,scaling-book`"
    learner = roles(source).learner(source)
    assert learner.startswith("([Hill et al., 1990](https://doi.org/10.1000/182)) and ")
    assert learner.endswith("[Writer and Reader, 2025](https://example.org/scaling))")
    assert roles(source).page(source) == source


def test_an_admonition_is_a_quotation_for_learners(roles):
    source = "A.\n\n:::{warning} Mind\nOne {n}`ridge(6, 3)`.\n\nTwo.\n:::\n\nB.\n"
    assert roles(source).learner(source) == "A.\n\n> **Mind.** One 2.\n>\n> Two.\n\nB.\n"
    assert roles(source).page(source).startswith("A.\n\n:::{admonition} Mind\n:class: warning\nOne <span")


def test_a_target_is_for_the_page_alone(roles):
    source = "(later)=\n## Later\n"
    assert roles(source).learner(source) == "## Later\n"
    assert roles(source).page(source) == source


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x\n\n{n}`W/0`", r"07-links.md:3: .*fails with ZeroDivisionError"),
        ("{n}`nothing`", "NameError"),
        ("{n}`[1]`", "gives list; "),
        ("{n}`True`", "gives bool"),
        ("a\n{f}`W`", r"07-links.md:2: .*formula"),
        ("{cite}`hill1991`", r"references.bib; .*hill1990"),
        ("{ref}`x`", r"role \{ref\} "),
        ("```{figure} a.png\n```", r"directive \{figure\} a.png "),
        (":::{dropdown} a\nb\n:::\n", r"the directive \{dropdown\} would show"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(roles, text, says):
    with pytest.raises(ChapterError, match=says):
        roles(text).learner(text)
    if not text.startswith(":::"):
        with pytest.raises(ChapterError, match=says):
            roles(text).page(text)


def test_a_section_explains_a_symbol_once(roles):
    text = "{f}`ridge`\n\n{f}`ridge`\n\n{f}`roofline.memory_time`\n\n## The next section\n\n{f}`ridge`"
    made = roles(text)
    for read in (made.learner, made.page):
        first, second, third, fourth = read(text).split("$$\n\n")[1:]
        assert first.startswith("where ")
        assert "where" not in second
        assert "bandwidth" in first
        assert "bandwidth" not in third
        assert fourth.startswith("where ")


CONTENTS = (
    ContentsEntry("06-collectives", "Collectives", "rings", WRITTEN),
    ContentsEntry("07-collectives-at-scale", "Collectives at scale", "levels", IN_WORK),
    ContentsEntry("13-expert-parallelism", "Expert parallelism", "routers", PLANNED),
)


@pytest.mark.parametrize(
    ("text", "learner", "page"),
    [
        (
            "see {chapter}`6`",
            'see [chapter 6](../06-collectives/06-collectives.ipynb "Collectives")',
            'see [chapter 6](06-collectives.ipynb "Collectives")',
        ),
        (
            "{Chapter}`collectives` has",
            '[Chapter 6](../06-collectives/06-collectives.ipynb "Collectives") has',
            '[Chapter 6](06-collectives.ipynb "Collectives") has',
        ),
        ("{chapter}`07-collectives-at-scale`", "chapter 7 (*Collectives at scale*, in work)", None),
        ("{chapter}`experts`", "chapter 13 (*Expert parallelism*, not written yet)", None),
    ],
)
def test_a_chapter_is_a_link_where_it_exists(roles, text, learner, page):
    made = roles(text, contents=CONTENTS)
    assert made.learner(text) == learner
    assert made.page(text) == (page or learner)


def test_a_course_has_no_other_chapter_to_link_to(roles):
    text = "{chapter}`6`"
    assert roles(text, contents=CONTENTS, linked=False).learner(text) == "chapter 6 (*Collectives*)"


@pytest.mark.parametrize("key", ["19", "parallel", "0"])
def test_an_unknown_chapter_is_rejected_with_the_known_ones(roles, key):
    text = f"\n{{chapter}}`{key}`"
    with pytest.raises(ChapterError, match=r"07-links.md:2: .*06-collectives"):
        roles(text, contents=CONTENTS[:1]).learner(text)


def test_a_word_of_two_chapters_is_rejected_with_both(roles):
    text = "{chapter}`collective`"
    with pytest.raises(ChapterError, match="may be any of: 06-collectives, 07-collectives-at-scale"):
        roles(text, contents=CONTENTS).learner(text)

"""What goes into a page's HTML is escaped, unless it is markup already."""

import pytest
from bs4 import BeautifulSoup
from jinja2 import UndefinedError
from markupsafe import Markup

from autograder.answers import Choice, Written
from autograder.book.render import markdown, render
from autograder.book.site import answer_box
from autograder.book.site.page import card
from autograder.declaration import Exercise, Mistake

HOSTILE = '"><script>alert(1)</script>'


def soup(text):
    return BeautifulSoup(text, "html.parser")


def test_a_label_is_text_and_a_caption_is_markup():
    made = render("live_figure.html.j2", kind="vega", data=Markup("{}"), label=HOSTILE, caption=Markup("<b>x</b>"))
    figure = soup(made).figure
    assert figure["aria-label"] == HOSTILE
    assert figure.figcaption.b.get_text() == "x"
    assert len(figure.find_all("script")) == 1
    bare = soup(render("live_figure.html.j2", kind="vega", data=Markup("{}"), label="", caption="")).figure
    assert (bare.figcaption, bare.get("role")) == (None, None)


def test_the_key_of_an_option_is_text():
    one = Exercise(
        id="page-option",
        prompt="?",
        answer=Choice({HOSTILE: "A", "b": "B"}),
        solution="b",
        mistakes=(Mistake(HOSTILE, "No."),),
    )
    form = soup(answer_box.form(one, "01-x")).form
    assert [field["value"] for field in form.select("input")] == [HOSTILE, "b"]
    assert form.find_all("script") == []


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError):
        render("folded.md.j2", kind="hint", summary="Hint", body="x")


def test_markdown_is_left_to_sphinx():
    assert markdown("a < b", "", "`c`") == "a < b\n\n`c`"


def test_a_card_shows_the_rubric_with_the_solution_only_where_the_prompt_does_not():
    for criteria in (True, False):
        answer = Written((("Names it.", 1),), criteria=criteria)
        why = Exercise(id="page-why", prompt="Why?", answer=answer, solution="So.")
        made = card(why, "1.1", "So.", "01-x", course=False)
        question, _, solution = made.partition('<details class="solution">')
        assert ("Names it." in question, "Names it." in solution) == (criteria, not criteria)
        assert "\n\nSo.\n\n" in solution

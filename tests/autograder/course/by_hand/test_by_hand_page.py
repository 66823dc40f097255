"""The page for grading one question, and the list of all: what stands in them, of answers that are made up."""

import json
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from autograder.answers import Written
from autograder.course.by_hand import page
from autograder.course.by_hand.answers import Conflict, HandGradedAnswer, LearnerText
from autograder.course.by_hand.marks import Mark
from autograder.course.by_hand.questions import WrittenQuestion
from autograder.course.by_hand.shares import GraderProgress
from autograder.course.by_hand.together import SharedDecision
from autograder.declaration import Exercise

RUBRIC = (("Names *it*.", 2.0), ("Says why.", 1.5))
ROOT = "/user/t/gpubook/by_hand"
HERE = f"{ROOT}/hw/t-why"


def question(**changes):
    declared = Exercise(id="t-why", prompt="Why?", answer=Written(rubric=RUBRIC), solution="Since *it* is.")
    fields = {
        "assignment": "hw",
        "exercise": "t-why",
        "cell": "t-why",
        "title": "1 · Why",
        "prompt": "Why is it *slow*?",
        "rubric": RUBRIC,
        "max_score": 3.5,
        "shown": frozenset(("Names *it*.", "Says why.")),
        "declared": declared,
    }
    return WrittenQuestion(**(fields | changes))


def answer(learner="ann", number=1, source="Because.", score=None, waits=True, mark=None, pictures=()):
    text = LearnerText(source, pictures, f"digest of {learner}")
    return HandGradedAnswer(learner, learner.title(), f"s-{learner}", number, text, score, waits, "Well.", mark)


def shown(asked, *answers):
    return BeautifulSoup(page.page("/user/t/", ROOT, HERE, asked, answers), "html.parser")


def test_a_page_has_the_question_its_criteria_by_number_and_each_answer():
    soup = shown(question(), answer(), answer("bob", 2, "Since."))
    assert soup.find(id="asked").em.text == "slow"
    criteria = [item.text.strip() for item in soup.find(id="rubric").find_all("li")]
    assert criteria == ["Names it. (2)", "Says why. (1.5)"]
    assert [article["data-learner"] for article in soup.find_all("article")] == ["ann", "bob"]
    buttons = soup.article.find_all("button", {"aria-pressed": True})
    assert [button["aria-keyshortcuts"] for button in buttons] == ["1", "2"]
    assert [(button.kbd.text, button.span.text) for button in buttons] == [("1", "Names it."), ("2", "Says why.")]
    assert soup.find(id="model").em.text == "it"
    assert "In this assignment" not in soup.text
    assert "Because." in soup.article.find(class_="text").text
    assert soup.find("script", type="module")["src"] == f"{ROOT}/_static/by_hand.js"
    assert (page.STATIC / "by_hand.js").is_file()
    assert soup.article.header.a["href"] == "/user/t/formgrader/submissions/s-ann/"


def test_where_the_assignment_gives_other_points_the_page_says_what_they_come_to():
    assert "the exercise counts 7 points" in shown(question(max_score=7.0), answer()).text


def test_learners_with_numbers_of_their_own_have_a_model_answer_each():
    declared = Exercise(
        id="t-why", prompt="Why {n}?", answer=Written(rubric=RUBRIC), solution="Since {n}.", given={"n": [3]}
    )
    assert shown(question(declared=declared), answer()).find(id="model") is not None
    soup = shown(question(declared=declared, variants=True), answer())
    assert soup.find(id="model") is None
    assert "Since 3." in soup.article.find(class_="own").text


@pytest.mark.parametrize(
    ("criterion", "html"),
    [
        ("Names it.", "Names it."),
        ("Names\n  *it*.", "Names <em>it</em>."),
        ("Has a <b>.", "Has a &lt;b&gt;."),
        ("See [here](https://host/).", "See [here](https://host/)."),  # a button holds no link
        ("- a list", "- a list"),
        ("# A head", "# A head"),
        ("> <p>", "&gt; &lt;p&gt;"),
    ],
)
def test_a_criterion_is_a_line_without_links_or_blocks(criterion, html):
    assert page._inline(criterion) == html


def test_what_begins_or_ends_as_a_paragraph_and_holds_more_is_shown_as_it_is_typed(monkeypatch):
    for html in ("<p>a</p>\n<ul></ul>", "<ul></ul><p>a</p>", "<p>a</p><p>b</p>", "<div>a</div>"):
        monkeypatch.setattr(page, "inert_markdown", lambda text, html=html: html)
        assert page._inline("a *b*") == "a *b*"


def test_texts_are_rendered_until_a_page_has_had_enough_of_them(monkeypatch):
    monkeypatch.setattr(page, "PAGE_MARKDOWN", 3**2 + 4**2)
    texts = [answer("long", source="*abc*"[:5]), answer("ann", source="*a*"), answer("bob", source="*ab*")]
    made = page.shown_texts(texts, "/p")
    assert "<em>a</em>" in made["ann"]
    assert "<em>ab</em>" in made["bob"]  # as much as a page may have
    assert made["long"] == "<pre>*abc*</pre>"
    monkeypatch.setattr(page, "PAGE_MARKDOWN", 3**2 + 4**2 - 1)
    assert page.shown_texts(texts, "/p")["bob"] == "<pre>*ab*</pre>"


def test_a_text_that_is_typed_anyway_costs_no_more_than_the_longest_that_is_not(monkeypatch):
    monkeypatch.setattr(page, "PAGE_MARKDOWN", 10**2)
    monkeypatch.setattr(page, "MAX_MARKDOWN", 5)
    texts = [answer("ann", source="x" * 50), answer("bob", source="y" * 60)]
    assert page.shown_texts(texts, "/p").keys() == {"ann", "bob"}
    monkeypatch.setattr(page, "_text", lambda answer, pictures, typed: typed)
    assert page.shown_texts(texts, "/p") == {"ann": False, "bob": False}


def test_pictures_are_fetched_as_they_come_into_view_and_each_once():
    source = "![a](attachment:x.png) and <img>"
    html = page.shown_texts([answer("a b", source=source, pictures=("x.png", "y.png"))], f"{HERE}/picture")["a b"]
    pictures = BeautifulSoup(html, "html.parser").find_all("img")
    assert [(img["src"], img["loading"]) for img in pictures] == [
        (f"{HERE}/picture?learner=a+b&name=x.png", "lazy"),
        (f"{HERE}/picture?learner=a+b&name=y.png", "lazy"),
    ]


def test_what_is_typed_as_a_pictures_text_is_no_second_picture():
    source = "![<img](attachment:x.png)"
    html = page.shown_texts([answer(source=source, pictures=("x.png",))], "/p")["ann"]
    assert html.count('loading="lazy"') == 1


DECIDED = Mark((2.0, 1.0), RUBRIC, 3.0, "tina", "2030-01-01")


@pytest.mark.parametrize(
    ("score", "mark", "given", "by"),
    [
        (3.0, DECIDED, (2.0, 1.0), "tina"),
        (2.0, DECIDED, None, ""),  # formgrader gave that since
        (2.0, None, None, ""),
        (None, Mark((2.0, None), RUBRIC, None, "tom", "2030-01-01"), (2.0, None), "tom"),
    ],
)
def test_the_script_knows_who_gave_which_points_as_long_as_they_are_the_grade(score, mark, given, by):
    state = page.as_state(answer(score=score, waits=score is None, mark=mark))
    assert (state["given"], state["by"], state["at"]) == (given, by, "2030-01-01" if by else "")
    assert (state["learner"], state["score"], state["comment"]) == ("ann", score, "Well.")
    assert state["text"] == "digest of ann"
    in_page = json.loads(shown(question(), answer(score=score, mark=mark)).find(id="start").string)
    assert in_page[0]["by"] == by


@pytest.mark.parametrize(
    ("score", "waits", "state"),
    [(None, True, "waiting"), (1.0, True, "review"), (None, False, "empty"), (0.0, False, "graded")],
)
def test_an_answer_waits_is_to_be_reviewed_empty_or_graded(score, waits, state):
    assert answer(score=score, waits=waits).state == state


@pytest.mark.parametrize(
    ("score", "mark", "words"),
    [
        (None, None, "no points"),
        (2.0, None, "2 points, not by criterion"),
        (1.0, None, "1 point, not by criterion"),
        (3.0, DECIDED, "3 points (2 + 1)"),
        (None, Mark((2.0, None), RUBRIC), "a draft with 2 points so far (2 + –)"),
        (1.5, Mark((0.0, None), RUBRIC), "a draft with 0 points so far (0 + –); until it is decided 1.5 count"),
    ],
)
def test_who_is_told_of_an_answers_points_is_told_of_a_drafts_too(score, mark, words):
    made = replace(answer(score=score, mark=mark), rubric=RUBRIC)
    assert made.in_words == words
    assert words in str(Conflict(made, "tina", "2030-01-01"))


def test_points_by_an_earlier_rubric_are_shown_in_the_rubric_as_it_is_now():
    made = replace(answer(score=3.0, waits=False, mark=DECIDED), rubric=(("New.", 1.0), ("Names *it*.", 4.0)))
    assert (made.state, made.given) == ("rubric", (None, 4.0))
    assert "a draft with 4 points so far" in made.in_words
    assert replace(made, rubric=RUBRIC).state == "graded"
    assert replace(made, rubric=RUBRIC, scale=2.0).state == "rubric"
    assert replace(made, score=1.0).state == "graded"  # given in formgrader: no rubric is behind it


def test_a_revision_is_another_as_soon_as_anything_changes():
    made = [
        answer(),
        answer(source="Other.", learner="bob"),
        answer(score=1.0),
        answer(waits=False),
        answer(mark=DECIDED),
        answer(mark=Mark((2.0, 0.5), RUBRIC, 3.0, "tina", "2030-01-01")),
        answer(mark=Mark((2.0, 1.0), RUBRIC, 2.0)),
        answer(mark=Mark((2.0, 1.0), (*RUBRIC[:1], ("Other.", 1.5)), 3.0)),
    ]
    assert len({each.revision for each in made}) == len(made)
    assert answer(mark=DECIDED).revision == answer(mark=Mark((2.0, 1.0), RUBRIC, 3.0, "tom", "later")).revision


def test_the_list_says_of_each_question_how_many_wait_and_what_is_wrong():
    counts = [page.QuestionCounts(question(), 3, 2, 1), page.QuestionCounts(question(title="2"), 1, 0)]
    rows = [
        page.AssignmentOverview("hw", counts, [GraderProgress("<tina>", 3, 2, 1)]),
        page.AssignmentOverview("bad", [], problem="NameError: x"),
        page.AssignmentOverview("none", []),
    ]
    html = page.overview("/user/t/", ROOT, rows)
    soup = BeautifulSoup(html, "html.parser")
    assert [head.text for head in soup.find_all("h2")] == ["hw", "bad"]
    first, second = soup.find_all("li")
    assert "2 of 3 to be graded, 1 of them yours" in first.text
    assert [cell.text for cell in soup.tbody.find_all(["th", "td"])] == ["<tina>", "3", "2", "1"]
    assert first.a["href"] == HERE
    assert "1 answer, none waits" in " ".join(second.text.split())
    assert soup.find(class_="problem").text == "NameError: x"
    assert "No assignment asks" in page.overview("/", ROOT, [])


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (2.5, "2.5"), (0.3333, "0.3333"), (10.0, "10")])
def test_points_are_written_without_a_fraction_that_is_nothing(value, text):
    assert page.points(value) == text


def test_a_page_has_the_queues_what_is_alike_and_the_decisions_that_can_be_undone():
    beside = page.BesideAnswers(
        graders=["tina", "tom"],
        grader_of={"ann": "tina", "bob": "tom"},
        me="tom",
        equal={"ann": 0, "bob": 29},
        decisions=[SharedDecision(4, "<tina>", "2030-01-01 10:00:00", {"ann": None, "bob": None})],
    )
    html = page.page("/user/t/", ROOT, HERE, question(), [answer(), answer("bob", 2)], beside)
    soup = BeautifulSoup(html, "html.parser")
    assert [article["data-grader"] for article in soup.find_all("article")] == ["tina", "tom"]
    assert [option.text for option in soup.find(id="queue").find_all("option")] == ["everybody", "tina", "tom"]
    assert soup.find("option", {"data-me": True}).text == "tom"
    assert [button.text for button in soup.find_all(class_="alike")] == ["Alike answers", "29 others wrote the same"]
    assert soup.find(id="together").li.span.text == "2 answers by <tina>, 2030-01-01 10:00 UTC"
    assert soup.find(id="together").button["data-number"] == "4"
    plain = BeautifulSoup(page.page("/user/t/", ROOT, HERE, question(), [answer()]), "html.parser")
    assert (plain.find(id="queue"), plain.article.get("data-grader")) == (None, None)
    assert plain.find(id="together").has_attr("hidden")


def test_the_page_of_a_second_grader_has_neither_comments_nor_decisions():
    html = page.page("/", ROOT, HERE, question(), [answer()], page.BesideAnswers(second=True))
    soup = BeautifulSoup(html, "html.parser")
    assert soup.find(id="answers")["data-base"] == f"{HERE}/second"
    assert soup.find(class_="comment").has_attr("hidden")
    assert soup.find(id="together") is soup.find(id="alike") is None
    assert "second time" in soup.find(id="second").text

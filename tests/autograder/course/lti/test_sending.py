"""Grades into a platform's column: each there once, whatever is lost, and nothing but what is to be sent."""

from datetime import datetime

import pytest

from autograder.course import gradebook
from autograder.course.gradebook import AssignmentScore, GradebookLearner
from autograder.course.gradebook.question_points import QuestionPoints
from autograder.course.lti import columns, sending, sent_scores
from autograder.course.lti.connection import RESULTS, TRIES, Lost
from autograder.course.lti.sending import CHANGED, COMMENT, IN_A_ROW, KEPT, NEW, SAME, SendOptions
from tests.autograder.course.lti.loopback_platform import DROP, LOSE

CLASS, FEW = 300, 8
USERS = {f"u{n:03}": f"s{n:03}" for n in range(CLASS)}


@pytest.fixture
def graded(folder, monkeypatch, request):
    """A gradebook of learners, each with other points of 20, by learner; to be changed."""
    ids = list(USERS.values())[: getattr(request, "param", FEW)]
    rows = {
        who: AssignmentScore(GradebookLearner(who), "hw", 20.0, graded=True, raw=n % 41 / 2)
        for n, who in enumerate(ids)
    }
    monkeypatch.setattr(sending.gradebook, "scores", lambda *_: {"hw": list(rows.values())})
    questions = {who: {"q": score.raw} for who, score in rows.items()}
    monkeypatch.setattr(sending, "by_question", lambda *_: QuestionPoints({"q": 20.0}, questions))
    monkeypatch.setattr(sending, "sentences_of", lambda *_: {who: {"q": "Right."} for who in rows})
    return rows


def plan(folder, joined, name="hw", users=USERS, **options):
    return sending.planned(folder, name, joined, users, SendOptions(**options))


def send(folder, joined, **options):
    made = plan(folder, joined, **options)
    return sending.send(folder, made, joined, lambda _: None)


def there(platform, column="items/1"):
    return {user: score["scoreGiven"] for user, score in platform.scores[column].items()}


def expected(graded):
    return {user: graded[learner].raw for user, learner in USERS.items() if learner in graded}


@pytest.mark.parametrize("graded", [CLASS], indirect=True)
def test_three_hundred_grades_are_there_once_after_a_lost_connection_and_a_repeated_send(
    platform, folder, joined, graded
):
    platform.faults["POST", "scores"] = [None] * 150 + [DROP] * (TRIES + 1)
    with pytest.raises(Lost):
        send(folder, joined)
    assert len(platform.posts) == 150
    assert plan(folder, joined).counts == {SAME: 150, NEW: 150}
    assert send(folder, joined) == []
    assert there(platform) == expected(graded)
    assert len(platform.posts) == len(set(platform.posts)) == CLASS
    assert len(platform.items) == 1
    assert send(folder, joined) == []
    assert len(platform.posts) == CLASS


@pytest.mark.parametrize("comments", [True, False])
def test_a_grade_whose_answer_was_lost_is_not_sent_again(platform, folder, joined, graded, comments):
    platform.says_comments = comments
    platform.faults["POST", "scores"] = [None, *[LOSE] * (TRIES + 1)]  # the second arrives, and nobody knows
    with pytest.raises(Lost):
        send(folder, joined)
    assert plan(folder, joined).counts == {SAME: 2, NEW: FEW - 2}


def test_a_repeated_request_that_had_arrived_is_no_fault(platform, folder, joined, graded):
    platform.faults["POST", "scores"] = [LOSE, None]
    assert send(folder, joined) == []
    assert there(platform) == expected(graded)


def test_a_grade_that_has_changed_replaces_the_one_that_was_sent(platform, folder, joined, graded):
    send(folder, joined)
    graded["s000"] = AssignmentScore(GradebookLearner("s000"), "hw", 20.0, graded=True, raw=13.0)
    made = plan(folder, joined)
    assert made.counts == {CHANGED: 1, SAME: FEW - 1}
    assert "13 of 20 (changed; there 0 of 20)" in sending.shown(made.to_send[0])
    sending.send(folder, made, joined, lambda _: None)
    assert there(platform)["u000"] == 13.0


def test_what_was_entered_in_the_platform_stays_unless_it_is_to_be_replaced(platform, folder, joined, graded):
    send(folder, joined)
    platform.enter("items/1", "u001", 19.0)
    made = plan(folder, joined)
    assert made.counts == {KEPT: 1, SAME: FEW - 1}
    sending.send(folder, made, joined, lambda _: None)
    assert there(platform)["u001"] == 19.0
    assert "--replace" in sending.shown(made.steps[1])
    assert send(folder, joined, replace=True) == []
    assert there(platform)["u001"] == graded["s001"].raw


@pytest.mark.parametrize(("entered", "kind"), [(10.004, SAME), (10.006, KEPT)])
def test_a_platforms_rounding_is_no_other_grade(platform, folder, joined, graded, entered, kind):
    graded["s001"] = AssignmentScore(GradebookLearner("s001"), "hw", 20.0, graded=True, raw=10.0)
    send(folder, joined)
    platform.enter("items/1", "u001", entered, comment="q (0.5 of 20): Right.")
    assert plan(folder, joined).steps[1].kind == kind


def test_a_comment_has_the_points_of_each_question_and_follows_a_change(platform, folder, joined, graded, monkeypatch):
    send(folder, joined)
    score = platform.scores["items/1"]["u004"]
    assert score["comment"] == "q (2 of 20): Right."
    assert (score["scoreMaximum"], score["gradingProgress"]) == (20.0, "FullyGraded")
    monkeypatch.setattr(sending, "sentences_of", lambda *_: {})
    assert plan(folder, joined).counts == {COMMENT: FEW}


def test_a_column_of_another_maximum_is_told_and_the_platform_scales(platform, folder, joined, graded):
    column = columns.made(joined, "hw", 40.0)
    made = plan(folder, joined)
    assert ["40" in note and "20" in note for note in made.notes] == [True]
    assert sending.send(folder, made, joined, lambda _: None) == []
    assert platform.results("items/1")[3]["resultScore"] == 2 * graded["s003"].raw
    assert columns.with_maximum(joined, column, 20.0).maximum == platform.items["items/1"]["scoreMaximum"] == 20.0
    assert plan(folder, joined).notes == []
    assert plan(folder, joined).counts == {SAME: FEW}


def test_a_column_of_another_make_is_filled_only_where_it_is_named(platform, folder, joined, graded):
    platform.items["items/7"] = {"id": f"{platform.url}/items/7", "label": "HW", "scoreMaximum": 20.0}
    made = plan(folder, joined)
    assert made.column is None
    assert f"--item {platform.url}/items/7" in made.notes[0]
    assert send(folder, joined, item=f"{platform.url}/items/7") == []
    assert there(platform, "items/7") == expected(graded)
    with pytest.raises(ValueError, match="HW"):
        plan(folder, joined, item=f"{platform.url}/items/8")
    for name in ("items/8", "items/9"):
        platform.items[name] = {"id": f"{platform.url}/{name}", "tag": columns.TAG, "resourceId": "hw"}
    with pytest.raises(ValueError, match="--item"):
        plan(folder, joined)


def test_without_the_right_to_read_results_what_was_sent_is_compared(platform, folder, at, key, graded, joined):
    platform.granted = platform.granted - {RESULTS}
    made = sending.planned(folder, "hw", joined_without(joined), USERS, SendOptions())
    assert made.counts == {NEW: FEW}
    assert sending.send(folder, made, joined, lambda _: None) == []
    made = plan(folder, joined)
    assert made.counts == {SAME: FEW}
    assert "results" in made.notes[0]


def joined_without(joined):
    """The connection, which asks for no right to read results."""
    joined.scopes = tuple(scope for scope in joined.scopes if scope != RESULTS)
    return joined


def test_the_gradebooks_own_scores_go_out_with_what_is_missing_or_waits(platform, folder, joined):
    users = {"u-ann": "ann", "u-bob": "bob", "u-dee": "dee"}
    made = plan(folder, joined, "week1", users)
    assert [step.grade.learner for step in made.steps] == ["ann"]
    assert [note.rpartition(": ")[2] for note in made.notes] == ["cy", "bob"]
    (ann,) = [score for score in gradebook.scores(folder, ["week1"])["week1"] if score.person.id == "ann"]
    assert made.steps[0].grade.points == ann.score
    body = made.steps[0].grade.body("other", datetime(2030, 1, 3).astimezone())
    assert "Good <b>essay</b>" in body["comment"]
    assert "Late: 1.3" in body["comment"]
    assert body["submission"] == {"submittedAt": "2030-01-02T09:30:00.000+00:00"}
    assert sending.CANVAS_SUBMISSION not in body
    assert made.steps[0].grade.body("canvas", datetime.now().astimezone())[sending.CANVAS_SUBMISSION]
    made = plan(folder, joined, "week1", users, partial=True, missing_as_zero=True)
    assert {step.grade.learner: step.grade.points for step in made.steps}["dee"] == 0.0
    sending.send(folder, made, joined, lambda _: None)
    assert platform.scores["items/1"]["u-bob"]["gradingProgress"] == "PendingManual"
    assert plan(folder, joined, "week1", users, partial=True, missing_as_zero=True).counts == {SAME: 3}


def test_a_grade_that_the_platform_shows_otherwise_is_told(platform, folder, joined, graded, monkeypatch):
    monkeypatch.setattr(platform, "results", lambda _: [{"userId": "u003", "resultScore": 9, "resultMaximum": 20}])
    notes = send(folder, joined)
    assert len(notes) == FEW
    assert any("s003" in note and "9 of 20" in note for note in notes)


def test_what_was_sent_to_another_column_says_nothing_and_a_broken_record_is_named(platform, folder, joined, graded):
    send(folder, joined)
    assert len(sent_scores.load(folder, "hw", f"{platform.url}/items/1").learners) == FEW
    assert sent_scores.load(folder, "hw", "another").learners == {}
    path = sent_scores.load(folder, "hw", "x").path
    path.write_text('{"column": "x", "learners": {"ann": {"share": "1", "digest": "", "earlier": []}}}')
    with pytest.raises(ValueError, match=path.name):
        plan(folder, joined)


GONE = (400, {}, {"message": "not in this course"})


def test_a_score_that_is_not_taken_is_told_and_the_others_are_sent(platform, folder, joined, graded):
    platform.faults["POST", "scores"] = [None, GONE]
    notes = send(folder, joined)
    assert notes == ["s001: not taken by the platform (400: not in this course)"]
    assert len(platform.posts) == FEW - 1
    assert plan(folder, joined).counts == {NEW: 1, SAME: FEW - 1}


@pytest.mark.parametrize("count", [IN_A_ROW - 1, IN_A_ROW])
def test_a_platform_that_takes_no_score_is_not_asked_for_all(platform, folder, joined, graded, count):
    platform.faults["POST", "scores"] = [None, *[GONE] * count]
    if count < IN_A_ROW:
        assert len(send(folder, joined)) == count
        return
    with pytest.raises(ValueError, match="in a row"):
        send(folder, joined)
    assert len(platform.posts) == 1

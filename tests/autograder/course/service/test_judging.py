"""Values without a sandbox: a judge that dies is replaced, and what no judge can decide is told to the teacher."""

from types import SimpleNamespace

import pytest
from nbformat import from_dict, validate

from autograder.answers import Quantity
from autograder.course.banks import CourseBank
from autograder.course.service import judging as module
from autograder.course.service.judging import SOON, Code, Judging, NotJudged
from autograder.course.service.served_assignments import Catalogue, Served
from autograder.declaration import Exercise, Verdict
from autograder.grading.judge import JudgeFailed, JudgeGone
from autograder.grading.results import Result
from autograder.grading.submission import RunSettings
from autograder.grading.worker import JobOutcome

STUB = "def answer(x):\n    ..."
RELEASE = SimpleNamespace(cells=({"id": "answer", "source": STUB}, {"id": "grade", "source": "grade()"}))
TIME = Served(Exercise(id="mine-time", prompt="?", answer=Quantity("s"), solution=2.0), 5, "key")


class Judge:
    """Says what it was made to say: a verdict, or an error."""

    def __init__(self, says):
        self.says, self.closed, self.asked = says, False, []

    def ask(self, question):
        self.asked.append(question)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says

    def close(self):
        self.closed = True


@pytest.fixture
def judging(monkeypatch):
    """One whose judges say, one after the other, what is in its list."""
    said, judges = [], []

    def new(_):
        judges.append(Judge(said.pop(0)))
        return judges[-1]

    monkeypatch.setattr(Judging, "_new_judge", new)

    def made(*says, variants=False):
        said[:] = says
        return Judging(Catalogue({"w": {"mine-time": TIME}}, CourseBank([]), None, RunSettings(variants=variants)))

    made.judges = judges
    return made


def test_a_judge_that_dies_is_replaced_and_the_answer_judged(judging):
    right = Verdict(1.0, "Right.", "right")
    with judging(JudgeGone(""), right) as made:
        assert made.value(TIME, "ann", 2.0).verdict == right
        assert [judge.closed for judge in judging.judges] == [True, False]
    assert judging.judges[1].closed


def test_judges_that_all_die_are_told_and_not_for_ever_replaced(judging):
    with judging(*[JudgeGone("")] * 9) as made, pytest.raises(NotJudged):
        made.value(TIME, "ann", 2.0)
    assert len(judging.judges) < 9


def test_a_key_that_fails_is_the_teachers(judging):
    with judging(JudgeFailed("mine.py: division by zero")) as made, pytest.raises(NotJudged, match="division"):
        made.value(TIME, "ann", 2.0)


@pytest.mark.parametrize(
    ("verdict", "counts"),
    [
        (Verdict(0.0, "No answer yet.", "empty"), False),
        (Verdict(0.0, "?", "unreadable"), False),
        (Verdict(0.0, "In B.", "unit"), False),
        (Verdict(0.0, "Too large.", "unreadable", "too-slow"), True),  # it has used the judge's time
        (Verdict(0.0, "Not yet.", "wrong"), True),
        (Verdict(0.0, "Other numbers.", "variant"), True),
    ],
)
def test_what_is_no_answer_costs_nothing(judging, verdict, counts):
    with judging(verdict) as made:
        assert made.value(TIME, "ann", 2.0).counts is counts


@pytest.mark.parametrize(("variants", "owner"), [(True, "ann"), (False, None)])
def test_numbers_are_the_learners_where_the_course_has_variants(judging, variants, owner):
    with judging(Verdict(0.0, "x"), variants=variants) as made:
        made.value(TIME, "ann", 2.0)
    assert judging.judges[-1].asked[0].owner == owner


def test_code_is_not_judged_where_nothing_runs_it(judging):
    with judging(Verdict(0.0, "x")) as made, pytest.raises(NotJudged):
        made.code(TIME, "ann", Code(["x"], 0))


class Grader:
    """Says of every job what it was made to say, after as long as it was made to take."""

    def __init__(self, outcome, clock, seconds):
        self.outcome, self.clock, self.seconds = outcome, clock, seconds

    def grade(self, job):
        self.clock.append(self.clock[-1] + self.seconds)
        return self.outcome


@pytest.mark.parametrize(
    ("kind", "reason", "seconds", "counts"),
    [
        ("empty", "", SOON - 0.1, False),
        ("empty", "", SOON, True),
        ("empty", "cell-failed", SOON - 0.1, False),  # it ended before there was anything to call
        ("empty", "cell-failed", SOON, True),
        ("empty", "returns-nothing", 0.0, True),  # it was called, and has seen what with
        ("empty", "stores-nothing", 0.0, True),
        ("empty", "out-of-time", 0.0, True),
        ("unreadable", "raises", 0.0, True),
        ("wrong", "", 0.0, True),
        ("right", "", 0.0, True),
    ],
)
def test_an_answer_in_code_counts_unless_nothing_was_called_and_it_took_no_time(
    judging, monkeypatch, kind, reason, seconds, counts
):
    clock, result = [100.0], Result("mine-time", 1.5, 3.0, "Say.", kind=kind, reason=reason)
    monkeypatch.setattr(module, "only", lambda *_: RELEASE)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock[-1]))
    with judging(Verdict(0.0, "")) as made:
        made._grader = Grader(JobOutcome(results=[result]), clock, seconds)
        judged = made.code(TIME, "ann", Code(["answer = 2.0"], 0))
        made._grader = None
    assert (judged.verdict.score, judged.verdict.kind, judged.counts) == (0.5, kind, counts)


@pytest.mark.parametrize("source", [STUB, f"{STUB}\n", STUB.replace("    ", "\t")])
def test_the_answer_as_it_was_released_runs_nowhere_and_costs_nothing(judging, monkeypatch, source):
    monkeypatch.setattr(module, "only", lambda *_: RELEASE)
    with judging(Verdict(0.0, "")) as made:
        made._grader = SimpleNamespace(stop=lambda: None, close=lambda: None)  # which grades nothing
        judged = made.code(TIME, "ann", Code(["import sys; sys.settrace(print)", source], 1))
        made._grader = None
    assert (judged.verdict.kind, judged.counts) == ("empty", False)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (JobOutcome(problem="no sandbox"), "no sandbox"),
        (JobOutcome(problems=["mine.py: fails"]), "mine.py: fails"),
        (JobOutcome(), "mine-time: no result"),
        (JobOutcome(results=[Result("mine-time", 0.0, 3.0, "?", kind="failed")]), "mine-time: no result"),
    ],
)
def test_an_answer_in_code_that_no_grader_judges_is_told(judging, monkeypatch, outcome, said):
    monkeypatch.setattr(module, "only", lambda *_: RELEASE)
    with judging(Verdict(0.0, "")) as made:
        made._grader = Grader(outcome, [0.0], 0.0)
        with pytest.raises(NotJudged, match=said):
            made.code(TIME, "ann", Code(["answer = 2.0"], 0))
        made._grader = None


def test_an_answer_whose_exercise_has_no_points_has_no_score(judging, monkeypatch):
    monkeypatch.setattr(module, "only", lambda *_: RELEASE)
    with judging(Verdict(0.0, "")) as made:
        made._grader = Grader(JobOutcome(results=[Result("mine-time", 0.0, 0.0, "Say.", kind="right")]), [0.0], 0.0)
        assert made.code(TIME, "ann", Code(["x"], 0)).verdict.score == 0.0
        made._grader = None


def test_after_its_end_no_judge_is_asked_or_made(judging):
    made = judging(Verdict(1.0, "Right.", "right"))
    (judge,) = judging.judges
    made.close()
    assert judge.closed
    with pytest.raises(NotJudged):
        made.value(TIME, "ann", 2.0)
    assert judge.asked == []
    made._replace(judge)
    assert judging.judges == [judge]


def test_a_judge_that_another_thread_has_replaced_is_not_replaced_again(judging):
    with judging(Verdict(1.0, "Right.", "right")) as made:
        made._replace("an earlier one")
        assert len(judging.judges) == 1


@pytest.mark.parametrize(
    ("by_assignment", "parts"),
    [
        ({}, (False, False)),
        ({"w": {"mine-time": TIME}}, (True, False)),
        ({"w": {"mine-twice": SimpleNamespace(is_code=True)}}, (False, True)),
    ],
)
def test_a_judge_and_a_sandbox_are_there_for_what_is_asked(monkeypatch, by_assignment, parts):
    ends = []
    fake = SimpleNamespace(close=lambda: ends.append("close"), stop=lambda: ends.append("stop"), ask=lambda _: "asked")
    monkeypatch.setattr(Judging, "_new_judge", lambda _: fake)
    monkeypatch.setattr(module, "Grader", lambda *_: fake)
    with Judging(Catalogue(by_assignment, CourseBank([]), None, RunSettings())) as made:
        assert (made._judge is not None, made._grader is not None) == parts
        if parts != (False, False):
            assert made._ask("question") == "asked"
        else:
            with pytest.raises(NotJudged):
                made._ask("question")
    assert ends == {(False, False): [], (True, False): ["close"], (False, True): ["stop", "close"]}[parts]


def test_what_is_sent_stands_between_the_cells_of_the_release(monkeypatch):
    release = SimpleNamespace(cells=({"id": "answer", "source": "..."}, {"id": "grade", "source": "grade()"}))
    monkeypatch.setattr(module, "only", lambda *_: release)
    made = from_dict(module._notebook(None, "mine-time", Code(["a = 1", "answer = a", "b"], 1)))
    assert (made.nbformat, made.nbformat_minor) == (4, 5)
    assert [cell.id for cell in made.cells] == ["learner-0", "answer", "learner-2", "grade"]
    assert [cell.source for cell in made.cells] == ["a = 1", "answer = a", "b", "grade()"]
    made.cells = [made.cells[0], made.cells[2]]
    validate(made)


def test_soon_is_within_five_seconds():
    assert SOON == 5.0

"""Which cells a submission's process runs and what it is asked for, with a process and a judge that are this one."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.answers import Function, Quantity
from autograder.declaration import Exercise, Mistake
from autograder.declaration.bank import Bank
from autograder.declaration.verdict import Verdict
from autograder.grading import submission
from autograder.grading.judge import JudgeFailed, judge_answer
from autograder.grading.results import FAILED, Result
from autograder.grading.submission import OUT_OF_TIME, OUTPUT_OVERHEAD, RunSettings, grade_notebook
from autograder.sandbox import ChildLost, Limits
from autograder.values import encoding


def number(name, solution):
    return Exercise(
        id=name, prompt="?", answer=Quantity("1"), solution=lambda: solution, mistakes=(Mistake(lambda: 5.0, "Five."),)
    )


TWICE = Exercise(
    id="t-twice", prompt="?", answer=Function("double", "double(x)", cases=[(1.0,)]), solution=lambda x: 2 * x
)
BANK = Bank([number("t-first", 1.0), number("t-second", 2.0), TWICE])


class OwnChild:
    """A process of a submission, which is this one; `os._exit` in a cell ends it, and `late` takes too long."""

    def __init__(self, zygote):
        self.zygote, self.alive, self.waited = zygote, True, False
        self.names, self.ran = {}, []

    def run(self, source):
        self.ran.append(source)
        self.zygote.ran.append(source)
        if "os._exit" in source:
            raise ChildLost("it ended its Python process")
        if "late" in source:
            return {"outputs": [], "expired": True, "error": "CellTimeout"}
        try:
            exec(source, self.names)
        except Exception as error:
            return {"outputs": [], "error": type(error).__name__, "message": str(error)}
        text = self.names.pop("shown", "")
        return {"outputs": [{"output_type": "stream", "name": "stdout", "text": text}] if text else []}

    def answer(self, key, name, reset):
        self.zygote.asked.append((key, name, reset))
        value = self.names.get(name, ...)
        if reset:
            self.names[name] = ...
        return {"value": encoding.encode(value)}

    def call(self, key, arguments, limit, withholds=(), plays=""):
        return {"value": encoding.encode(self.names["double"](*encoding.decode(arguments)))}

    def forget(self, name):
        self.zygote.forgot.append(name)
        self.names[name] = ...

    def kill(self):
        self.alive = False


@dataclass
class OwnZygote:
    """What starts them, and what all of them were told."""

    spawned: list = field(default_factory=list)
    ran: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    forgot: list = field(default_factory=list)

    def spawn(self, limits, **settings):
        self.spawned.append(settings)
        return OwnChild(self)


class OwnJudge:
    """The judge without a process."""

    def session(self):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def ask(self, question, call=None, patience=0.0):
        answered = (
            None if call is None else lambda arguments: encoding.decode(call(encoding.encode(arguments))["value"])
        )
        told = judge_answer(BANK, question, answered)
        if "failed" in told:
            raise JudgeFailed(told["failed"])
        return Verdict(**told)


def cell(name, part, source="", points=0):
    own = {"grade_id": f"{name}-{part}", "grade": part == "grade", "solution": part == "answer", "points": points}
    metadata = {"nbgrader": own | {"locked": part != "answer"}, "gpubook": {"exercise": name, "part": part}}
    return new_code_cell(source, metadata=metadata, id=f"{name}-{part}")


def released(*names, measured=""):
    """The release of these exercises, each with 2 points, after a cell of the chapter."""
    cells = [new_code_cell("base = 10", id="chapter"), new_markdown_cell("A text.", id="text")]
    if measured:
        cells.append(new_code_cell(measured, metadata={"tags": ["measured"]}, id="measured"))
    for name in names:
        cells += [cell(name, "answer", "answer = ..."), cell(name, "grade", f"grade({name!r})", points=2)]
    return new_notebook(cells=cells)


def graded(
    answers, names=("t-first", "t-second"), *, limits=None, kept=(), saved=None, changed=None, measured="", zygote=None
):
    """What comes of a submission with these answers: the results, and the process's side of it."""
    release, zygote = released(*names, measured=measured), zygote or OwnZygote()
    submitted = new_notebook(cells=[c.copy() for c in release.cells])
    for one in submitted.cells:
        one.source = answers.get(one.id.removesuffix("-answer"), one.source)
    if changed is not None:
        changed(submitted)
    settings = RunSettings(limits=limits or Limits())
    done = grade_notebook(
        submitted, release, BANK, "ann", settings, zygote=zygote, judge=OwnJudge(), kept=kept, answers=saved or {}
    )
    return done, zygote


def points(done):
    return {result.exercise: result.points for result in done.results}


def kinds(done):
    return {result.exercise: (result.kind, result.reason) for result in done.results}


def test_right_answers_earn_their_points():
    done, zygote = graded({"t-first": "answer = base/10", "t-second": "answer = 2.0"})
    assert points(done) == {"t-first": 2.0, "t-second": 2.0}
    assert done.problems == []
    assert len(zygote.spawned) == 1
    assert [c.execution_count for c in done.nb.cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]
    assert sorted(done.answers) == sorted(done.verdicts) == ["t-first", "t-second"]


@pytest.mark.parametrize("nothing", ["", "   \n", "pass"])
def test_an_answer_to_one_exercise_is_not_the_answer_to_the_next(nothing):
    """`answer` is the name of several: what an exercise left in it is forgotten."""
    done, zygote = graded({"t-first": "answer = 2.0", "t-second": nothing})
    assert kinds(done)["t-second"] == ("empty", "")
    assert points(done)["t-second"] == 0.0
    assert zygote.asked == [("t-first", "answer", True), ("t-second", "answer", True)]


@pytest.mark.parametrize(
    ("answers", "exercise", "others"),
    [
        ({"t-first": "ans = 1.0"}, "t-first", "`ans`"),
        ({"t-twice": "import math\ndef twice(x): return 2*x\nn = 1"}, "t-twice", "`n`, `twice`"),
    ],
)
def test_an_answer_of_another_name_is_not_one_that_was_left_empty(answers, exercise, others):
    done, _ = graded(answers, (exercise,))
    assert kinds(done)[exercise] == ("empty", "other-name")
    assert f"your cell sets {others}," in done.results[0].say


def test_a_cell_without_a_name_of_its_own_has_no_other_name():
    for source in ("import math", "answer = ...", "answer = ans = ...", "1 + 1", "x ="):
        assert kinds(graded({"t-first": source}, ("t-first",))[0])["t-first"][1] != "other-name", source


def test_a_name_that_one_exercise_asks_for_stays():
    done, zygote = graded(
        {"t-twice": "def double(x): return 2*x", "t-first": "answer = double(0.5)"}, ("t-twice", "t-first")
    )
    assert points(done) == {"t-twice": 2.0, "t-first": 2.0}
    assert zygote.asked == [("t-twice", "double", False), ("t-first", "answer", True)]


def test_an_answer_is_not_that_of_an_exercise_whose_result_stays():
    kept = Result("t-first", 1.0, 2.0, "As before.", kind="partial")
    done, zygote = graded({"t-first": "answer = 2.0", "t-second": ""}, kept=[kept], saved={"t-first": 7, "t-second": 8})
    assert done.results[0] is kept
    assert zygote.forgot == ["answer"]
    assert kinds(done)["t-second"] == ("empty", "")
    assert done.answers["t-first"] == 7
    assert list(done.verdicts) == ["t-second"]


def test_a_kept_result_of_a_name_of_its_own_forgets_nothing():
    kept = Result("t-twice", 2.0, 2.0, "Right.", kind="right")
    answers = {"t-twice": "def double(x): return 2*x", "t-first": "answer = double(0.5)"}
    done, zygote = graded(answers, ("t-twice", "t-first"), kept=[kept])
    assert (zygote.forgot, points(done)) == ([], {"t-twice": 2.0, "t-first": 2.0})


def test_answers_are_forgotten_when_cells_run_again():
    """A cell ends the process after an answer was read: a new one runs those before it, and forgets as the first."""
    done, zygote = graded({"t-first": "answer = 2.0", "t-second": "import os; os._exit(0)"})
    assert len(zygote.spawned) == 2
    assert zygote.forgot == ["answer"]
    assert kinds(done)["t-second"] == ("empty", "cell-failed")
    assert "stopped" in done.results[1].say


def test_a_cell_that_ends_the_process_costs_itself_alone():
    done, zygote = graded({"t-first": "import os; os._exit(0)", "t-second": "answer = base/5"})
    assert points(done) == {"t-first": 0.0, "t-second": 2.0}
    assert zygote.ran.count("import os; os._exit(0)") == 1
    assert zygote.ran.count("base = 10") == 2


def test_a_cell_that_ran_out_of_its_time_is_not_run_again():
    done, zygote = graded({"t-first": "late = 1", "t-second": "import os; os._exit(0)"})
    assert "ran longer than" in done.results[0].say
    assert zygote.ran.count("late = 1") == 1
    assert len(zygote.spawned) == 2


def test_a_cell_that_failed_says_so_to_its_own_exercise_only():
    done, _ = graded({"t-first": "1/0", "t-second": ""})
    assert "ZeroDivisionError" in done.results[0].say
    assert "ZeroDivisionError" not in done.results[1].say


# What an exercise's answer cell has, and a cell of the learner's own above it and below it; whether there is an answer.
FAILED_CELLS = {
    "another exercise's answer": (None, "1/0", None, False),
    "one's own, from above": ("answer = 2.0", "1/0", None, False),
    "behind the answer": (None, "answer = 2.0\n1/0", None, False),
    "a syntax error": ("answer = 2.0", "answer = (", None, False),
    "a cell that sets it again": (None, "answer = 2.0", "answer = 1/0", False),
    "a line with a magic": (None, "answer = 2.0", "%time answer = 1/0", False),
    "a cell for something else": (None, "answer = 2.0", "the_answer = answer/0", True),
    "a function's own variable": (None, "answer = 2.0", "def f():\n    answer = 1\n1/0", True),
    "set below": (None, "1/0", "answer = 2.0", True),
    "set above, without the answer cell": ("answer = 2.0", "", None, True),
}


@pytest.mark.parametrize("name", FAILED_CELLS)
def test_an_answer_is_not_what_it_was_before_its_cell_failed(name):
    above, source, below, has_answer = FAILED_CELLS[name]

    def changed(nb):
        at = [cell.id for cell in nb.cells].index("t-second-answer")
        for place, text in ((at + 1, below), (at, above)):
            if text is not None:
                nb.cells.insert(place, new_code_cell(text, id=f"mine-{place}"))

    done, _ = graded({"t-first": "answer = 1.0", "t-second": source}, changed=changed)
    expected = ("right", "") if has_answer else ("empty", "cell-failed")
    assert kinds(done) == {"t-first": ("right", ""), "t-second": expected}
    assert has_answer or "raised" in done.results[-1].say


def test_a_function_is_not_what_it_was_before_its_cell_failed():
    def changed(nb):
        nb.cells.insert(0, new_code_cell("def double(x): return 2*x", id="mine"))

    answers = {"t-twice": "def double(x): return 3*x\n1/0", "t-first": "answer = 1.0"}
    done, _ = graded(answers, ("t-twice", "t-first"), changed=changed)
    assert kinds(done) == {"t-twice": ("empty", "cell-failed"), "t-first": ("right", "")}


def test_a_cell_that_failed_in_another_exercises_place_is_told():
    def changed(nb):
        nb.cells.insert(2, new_code_cell("def double(x): return 3*x\n1/0", id="mine"))

    done, _ = graded({"t-first": "answer = 1.0", "t-twice": ""}, ("t-first", "t-twice"), changed=changed)
    assert kinds(done) == {"t-first": ("right", ""), "t-twice": ("empty", "cell-failed")}
    assert "ZeroDivisionError" in done.results[1].say


def test_a_failed_cell_of_ones_own_is_told_with_the_next_exercise():
    def changed(nb):
        nb.cells.insert(4, new_code_cell("undefined_name", id="mine"))

    done, _ = graded({"t-first": "answer = 1.0", "t-second": ""}, changed=changed)
    assert "undefined_name" not in done.results[0].say + done.results[0].note
    assert "cell that you added above raised" in done.results[1].say
    assert "undefined_name" in done.results[1].say


@pytest.mark.parametrize(("source", "runs"), [("slow = 1", False), ("slow = 2", True)])
def test_a_cell_that_times_the_machine_is_left_out_unless_it_was_changed(source, runs):
    def changed(nb):
        nb.cells[2].source = source

    _, zygote = graded({}, measured="slow = 1", changed=changed)
    assert (source in zygote.ran) is runs


def test_a_submission_that_used_up_its_time_is_judged_as_far_as_it_came():
    done, zygote = graded({"t-first": "answer = 1.0", "t-second": "answer = 2.0"}, limits=Limits(total=-1.0))
    assert kinds(done) == dict.fromkeys(("t-first", "t-second"), ("empty", "out-of-time"))
    assert all(OUT_OF_TIME in result.say for result in done.results)
    assert zygote.spawned == []


@pytest.mark.parametrize(("total", "judged"), [(1, []), (2, ["t-first"]), (3, ["t-first", "t-second"])])
def test_time_that_runs_out_in_a_cell_stops_what_comes_after_it(monkeypatch, total, judged):
    """A clock that goes on by one with each cell: the chapter's, and an answer each."""
    zygote = OwnZygote()
    monkeypatch.setattr(submission, "time", SimpleNamespace(monotonic=lambda: float(len(zygote.ran))))
    answers = {"t-first": "answer = 1.0", "t-second": "answer = 2.0"}
    done, _ = graded(answers, limits=Limits(total=total), zygote=zygote)
    assert [name for name, earned in points(done).items() if earned] == judged
    assert {kind for name, kind in kinds(done).items() if name not in judged} <= {("empty", "out-of-time")}


def test_an_undeclared_exercise_is_the_teachers_problem_and_scores_nothing():
    done, _ = graded({}, ("t-third",))
    assert done.results[0] == Result("t-third", 0.0, 2.0, FAILED, kind="failed")
    assert "t-third" in done.problems[0]
    assert "t-first, t-second, t-twice" in done.problems[0]


@pytest.mark.parametrize(
    ("shown", "outputs"),
    [
        (10**6, ["abcd", "efgh"]),
        (4 + OUTPUT_OVERHEAD + 1, ["abcd", "e\n[output cut"]),
        (4 + OUTPUT_OVERHEAD, ["abcd\n[output cut"]),
        (3, ["abc\n[output cut"]),
    ],
)
def test_a_submission_shows_so_many_characters_in_all(shown, outputs):
    done, _ = graded({"t-first": "shown = 'abcd'", "t-second": "shown = 'efgh'"}, limits=Limits(shown=shown))
    texts = [o.text for c in done.nb.cells if c.id.endswith("-answer") for o in c.outputs]
    assert len(texts) == len(outputs)
    assert all(text == want or text.startswith(want) for text, want in zip(texts, outputs, strict=True))
    assert ["[output cut" in text for text in texts] == ["[output cut" in want for want in outputs]


def test_a_learner_has_a_seed_and_the_released_exercises_of_the_assignment():
    _, zygote = graded({}, ("t-second",))
    (settings,) = zygote.spawned
    assert settings["environment"] == {"GPUBOOK_OWNER": "ann", "GPUBOOK_GRADING": "1"}
    assert "t-second" in settings["files"]["exercises.json"]
    assert "t-first" not in settings["files"]["exercises.json"]
    assert 0 < settings["seed"] < 2**56
    assert not settings["alone"]
    assert not settings["unsafe"]


@dataclass
class Noting(OwnJudge):
    """A judge that notes what it is asked, and how patiently."""

    questions: list = field(default_factory=list)
    patience: list = field(default_factory=list)

    def ask(self, question, call=None, patience=0.0):
        self.questions.append(question)
        self.patience.append(patience)
        return super().ask(question, call, patience)


def run(release, submitted, bank=BANK, zygote=None, judge=None, **settings):
    zygote, judge = zygote or OwnZygote(), judge or Noting()
    done = grade_notebook(submitted, release, bank, "ann", RunSettings(**settings), zygote=zygote, judge=judge)
    return done, zygote, judge


def test_a_bank_without_a_file_needs_a_judge_of_the_callers():
    release = released("t-first")
    with pytest.raises(ValueError, match="load_bank"):
        grade_notebook(release, release, BANK, "ann", zygote=OwnZygote())


@pytest.mark.parametrize(("changed", "same"), [("prompt", True), ("text", False), ("answer", False)])
def test_the_numbers_that_a_submission_is_asked_with_are_those_of_its_program(changed, same):
    """A prompt may be worded anew."""

    def seed(word):
        release = released("t-first")
        release.cells.insert(2, cell("t-first", "prompt", "**Exercise**"))
        sources = {"prompt": 2, "text": 1, "answer": 3}
        release.cells[sources[changed]].source += word
        _, _, judge = run(release, new_notebook(cells=[c.copy() for c in release.cells]), secret="s")
        return judge.questions[0].seed

    assert (seed("") == seed("  # anew")) == same


def test_what_is_withheld_is_called_in_a_process_of_its_own():
    without = replace(TWICE, id="t-without", withholds=("numpy.sort",))
    bank, release = Bank([without]), released("t-without")
    submitted = new_notebook(cells=[c.copy() for c in release.cells])
    submitted.cells[2].source = "def double(x): return 2*x"
    zygote = OwnZygote()
    limits = Limits(cell=3.0, grace=0.5, total=100.0)
    started = []
    zygote.spawn = lambda limits, **about: started.append((limits, about)) or OwnChild(zygote)

    class Judge(Noting):
        def ask(self, question, call=None, patience=0.0):
            self.patience.append(patience)
            assert call(encoding.encode((1.0,))) == {"value": encoding.encode(2.0)}
            return Verdict(1.0, "Right.", "right")

    done, _, judge = run(release, submitted, bank, zygote, Judge(), limits=limits)
    assert points(done) == {"t-without": 2.0}
    assert [(about["withholds"], about["alone"], limited) for limited, about in started] == [
        ((), False, limits),
        (("numpy.sort",), False, limits),
    ]
    assert 3.5 < judge.patience[0] <= 103.5
    _, _, judge = run(released("t-first"), released("t-first"), limits=limits)
    assert judge.patience == [3.5]


class Flaky(OwnZygote):
    """Its processes end at a cell called so, but for the first of them."""

    def spawn(self, limits, **settings):
        self.spawned.append(settings)
        child, first = OwnChild(self), len(self.spawned) == 1
        runs = child.run

        def run(source):
            if "flaky" in source and not first:
                self.ran.append(source)
                raise ChildLost("it ended its Python process")
            return runs(source)

        child.run = run
        return child


def test_a_cell_that_ends_the_process_when_it_runs_again_costs_itself_alone():
    zygote = Flaky()
    answers = {"t-first": "flaky = 1; answer = 1.0", "t-second": "import os; os._exit(0)"}
    done, _ = graded(answers, ("t-first", "t-second", "t-twice"), zygote=zygote)
    assert points(done) == {"t-first": 2.0, "t-second": 0.0, "t-twice": 0.0}
    assert zygote.ran.count("flaky = 1; answer = 1.0") == 2
    assert len(zygote.spawned) == 3
    assert "stopped" in done.results[1].say


def test_time_that_runs_out_while_cells_run_again_stops_them(monkeypatch):
    """The chapter's cell, an answer and one that ends the process; then the chapter's cell again."""
    zygote = OwnZygote()
    monkeypatch.setattr(submission, "time", SimpleNamespace(monotonic=lambda: float(len(zygote.ran))))
    answers = {"t-first": "answer = 1.0", "t-second": "import os; os._exit(0)"}
    graded(answers, limits=Limits(total=3), zygote=zygote)
    assert zygote.ran == ["base = 10", "answer = 1.0", "import os; os._exit(0)", "base = 10"]


@pytest.mark.parametrize(
    ("reply", "say", "reason"),
    [
        (ChildLost("it stopped answering", "forged-reply"), "it stopped answering", "forged-reply"),
        ({"problem": "NotEncodable", "message": "`a set`"}, "a set", "no-plain-data"),
        ({"problem": "Odd"}, "Odd", ""),
        ({"problem": "Odd", "message": "m" * 400}, "m" * 290, ""),
    ],
)
def test_an_answer_that_cannot_be_read_is_worth_nothing(monkeypatch, reply, say, reason):
    def answer(*_):
        if isinstance(reply, Exception):
            raise reply
        return reply

    monkeypatch.setattr(OwnChild, "answer", answer)
    done, _ = graded({"t-first": "answer = 1.0"}, ("t-first",))
    (result,) = done.results
    assert (result.points, result.kind, result.reason) == (0.0, "unreadable", reason)
    assert say in result.say
    assert len(result.say) < 400


def test_an_exercise_that_fails_is_the_teachers_problem(monkeypatch):
    def fails(*_, **__):
        raise JudgeFailed("mine.py: by zero")

    monkeypatch.setattr(OwnJudge, "ask", fails)
    done, _ = graded({"t-first": "answer = 1.0"}, ("t-first",))
    assert (done.results[0].kind, done.results[0].points) == ("failed", 0.0)
    assert done.problems == ["mine.py: by zero"]


def test_a_test_in_code_is_not_run_and_told():
    release = released("t-first")
    own = {"grade_id": "mine", "grade": True, "solution": False, "points": 1, "locked": True}
    release.cells.append(new_code_cell("assert True", metadata={"nbgrader": own}, id="mine"))
    done, zygote, _ = run(release, new_notebook(cells=[c.copy() for c in release.cells]))
    assert "test in code" in done.problems[0]
    assert "assert True" not in zygote.ran
    assert done.results[-1].exercise == "mine"


def test_an_output_counts_for_a_hundred_characters_beside_its_text():
    assert OUTPUT_OVERHEAD == 100


def test_a_rank_runs_its_answer_and_the_learners_own_cells_and_what_these_need():
    cells = [
        new_code_cell("base = 10", id="chapter"),
        new_code_cell("unused = 1", id="other"),
        new_code_cell("mine = base + 1", id="mine"),
        cell("t-first", "answer", "answer = 1"),
        cell("t-second", "answer", "answer = mine"),
    ]
    made = SimpleNamespace(
        nb=SimpleNamespace(cells=cells),
        _chapter_cell=lambda one: one if one.id in ("chapter", "other") else None,
        _runs=lambda one: True,
    )
    assert submission.SubmissionRun._needed(made, 5, "t-second") == {0, 2, 4}
    assert submission.SubmissionRun._needed(made, 2, "t-second") == set()

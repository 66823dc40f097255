"""Designs: records with bounded fields, judged by models and scored against pars that the build has computed."""

import json
import math
import os
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup

from autograder import check, exercise, grade
from autograder.answers import Condition, Design, Field, Known, Par, answer_from
from autograder.answers.selftest import selftest
from autograder.book.site.page import card
from autograder.course.banks import CourseBank
from autograder.course.run import dask_cluster
from autograder.declaration import DeclarationError, Exercise, Mistake, load_bank
from autograder.declaration.bank import bank_files, built_file
from autograder.declaration.renewal import current, renew
from autograder.grading.judge import JudgeRequest, judge_answer
from autograder.grading.results import result_of, verdict_outputs
from autograder.grading.submission import RunSettings
from autograder.values import encoding
from autograder.values.numbers import Unreadable
from autograder.values.step_limit import TooManySteps, limited
from hwlib.units import GB

EXERCISES = """
from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB, us


def seconds(S, ranks, order):
    if order == "tree" and ranks & (ranks - 1):
        raise ValueError(f"a tree has a power of two of ranks, this one {ranks}")
    return Breakdown(S/ranks/1e12 + (ranks - 1)*us, {"work": S/ranks/1e12, "links": (ranks - 1)*us})


def best(S):
    return min(seconds(S, ranks, "ring").total for ranks in range(1, 65))


PLAN = Exercise(
    id="own-plan", title="A plan", prompt="Add {S:B} up on some ranks.", given=dict(S=[1e8, 4e8]),
    hints=("Both terms.",),
    answer=Design(
        fields={
            "ranks": Field("the ranks of the group", 1, 64, whole=True),
            "chunk": Field("the bytes of a chunk", 1e3, 1e12, unit="B"),
            "order": Field("the order of the ranks", options=("ring", "tree")),
            "splits": Field("chunks in flight, for each stage", 1, 8, whole=True, items=4),
        },
        objective=seconds, measure="the time", unit="s",
        conditions=[Condition("the memory", lambda chunk, splits: Breakdown(
            chunk*sum(splits), {"first stage": chunk*splits[0]}), at_most=40*GB, unit="B")],
        pars=[Par(1, lambda S: S/2.5e12, "a report"), Par(2, lambda best: 1.2*best), Par(3, lambda best: best)],
        known=[Known(best, "a search of all ranks"), Known(1.0, "somebody else")],
    ),
    solution=lambda S: dict(ranks=10 if S < 2e8 else 20, chunk=1*GB, order="ring", splits=[1, 2]),
    mistakes=(
        Mistake(dict(ranks=1, chunk=1*GB, order="ring", splits=[1]), "One rank: mistake-sentence-one."),
        Mistake(dict(ranks=8, chunk=30*GB, order="tree", splits=[2]), "Two in flight: mistake-sentence-two."),
        Mistake(dict(ranks=16, chunk=1*GB, order="tree", splits=[1]), "A tree: mistake-sentence-three."),
    ),
    explain="The explanation-of-plan.")
"""
GOOD = {"ranks": 10, "chunk": 1 * GB, "order": "ring", "splits": [1, 2]}
DEEP = [[[[[[[[1]]]]]]]]
BAD = [  # what is changed in a good record, and the reason of the verdict
    ({"ranks": 10**9}, "out-of-range"),
    ({"ranks": 10**5000}, "out-of-range"),
    ({"ranks": -1}, "out-of-range"),
    ({"ranks": 1e300}, "out-of-range"),
    ({"ranks": 8.5}, "not-whole"),
    ({"ranks": math.nan}, "not-finite"),
    ({"ranks": -math.inf}, "not-finite"),
    ({"ranks": np.float64("nan")}, "not-finite"),
    ({"ranks": True}, "truth-value"),
    ({"ranks": np.True_}, "truth-value"),
    ({"ranks": 1 + 2j}, "complex"),
    ({"ranks": DEEP}, "not-a-number"),
    ({"ranks": GOOD}, "not-a-number"),
    ({"ranks": np.arange(3)}, "several-numbers"),
    ({"ranks": len}, "function"),
    ({"ranks": "10**10**10"}, "not-a-number"),
    ({"ranks": "8 GB"}, "other-unit"),
    ({"chunk": "1 s"}, "other-unit"),
    ({"chunk": "x" * 100_000}, "not-a-number"),
    ({"order": "star"}, "not-an-option"),
    ({"order": "TREE"}, "not-an-option"),
    ({"order": 3}, "not-an-option"),
    ({"order": ["ring"]}, "not-an-option"),
    ({"splits": 7}, "not-a-list"),
    ({"splits": "12"}, "not-a-list"),
    ({"splits": []}, "no-items"),
    ({"splits": np.zeros((2, 2))}, "not-a-list"),
    ({"splits": [1] * 100_000}, "too-many-items"),
    ({"splits": np.ones(10**6)}, "too-many-items"),
    ({"splits": [1, True]}, "truth-value"),
    ({"splits": [DEEP]}, "not-a-number"),
    ({"ranks": ...}, "missing-field"),
    ({"ranks": None}, "missing-field"),
    ({"speed": 3}, "unknown-field"),
    ({10**1500: 3}, "unknown-field"),
    ({(1, 2): 3}, "unknown-field"),
    ({f"f{i}": i for i in range(20_000)}, "unknown-field"),
]


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solutions") / "01-own"
    folder.mkdir()
    (folder / "exercises.py").write_text(EXERCISES)
    assert renew(folder) == folder / "built.json"
    return load_bank(folder)


@pytest.fixture
def plan(bank):
    return bank["own-plan"]


def judged(plan, value):
    return plan.judge_message(json.loads(json.dumps(encoding.encode(value))))


def test_the_exercise_tests_itself(plan):
    assert plan.points == 3
    assert selftest(plan) == []


@pytest.mark.parametrize(
    ("ranks", "points", "kind"),
    [(10, 3, "right"), (8, 2, "partial"), (4, 1, "partial"), (2, 0, "wrong"), (64, 0, "wrong")],
)
def test_the_best_par_that_is_reached_gives_the_points(plan, ranks, points, kind):
    verdict = judged(plan, {**GOOD, "ranks": ranks})
    assert (verdict.score, verdict.kind) == (points / 3, kind)
    assert verdict.reason == {"right": "", "partial": "some-points", "wrong": "misses-pars"}[kind]
    assert verdict.sign == {"right": "✓", "partial": "◐", "wrong": "✗"}[kind]


def test_a_whole_field_may_be_a_power_as_a_count_may(plan):
    assert judged(plan, {**GOOD, "ranks": "2^3"}) == judged(plan, {**GOOD, "ranks": 8})
    assert judged(plan, {**GOOD, "splits": ["1^1", "2^1"]}).kind == "right"
    assert judged(plan, {**GOOD, "ranks": "10^10"}).reason == "out-of-range"


@pytest.mark.parametrize("ranks", ["10 ranks", "10 Ranks", "1e1 rank"])
def test_behind_a_number_may_stand_the_name_of_its_field(plan, ranks):
    assert judged(plan, {**GOOD, "ranks": ranks}) == judged(plan, GOOD)
    for wrong, reason in ({"ranks": "10 GPUs"}, "other-unit"), ({"chunk": "1 chunk"}, "not-a-number"):
        assert judged(plan, {**GOOD, **wrong}).reason == reason


def test_a_whole_field_may_have_commas_between_groups_as_a_count_may():
    field = Field("the chips", 1, 10**7, whole=True)
    for text, chips in ("2,520", 2520), ("1,234,560", 1234560), ("+2,520 chips", 2520), ("2,520 Chip", 2520):
        assert field.read(text, "chips") == chips
    for text in "2,52", "2,5200", "25,20 chips", "2,520.5":
        with pytest.raises(Unreadable):
            field.read(text, "chips")
    assert Field("the hours", 1, 1000).read("700.4 hours", "hours") == 700.4


def test_a_field_may_have_a_unit_other_than_si():
    hours, days, short = (
        Field("hours", 1, 500, unit="h"),
        Field("days", 1, 400, unit="day"),
        Field("t", 0, 9, unit="ms"),
    )
    for text in 12, 12.0, "12", "1.2e1", "12 h", "12 hours", "720 min", "43200 s", "0.5 day":
        assert hours.read(text, "hours") == 12
    assert (days.read("20 days"), days.read("480 h"), days.read(20)) == (20, 20, 20)
    assert short.read("7.8 ms") == short.read("7800 us") == short.read(7.8) == 7.8
    assert (hours.shown(12.0), days.allowed, days.shown(1.0)) == ("12 h", "1 day to 400 days", "1 day")
    for field, text, reason in (
        (hours, "12 GB", "other-unit"),
        (days, "9601 h", "out-of-range"),
        (hours, "501 h", "out-of-range"),
    ):
        with pytest.raises(Unreadable) as raised:
            field.read(text)
        assert raised.value.reason == reason


def test_a_record_that_breaks_a_condition_may_be_told_its_measure(plan):
    full = {**GOOD, "chunk": 30 * GB}
    priced = replace(plan, answer=replace(plan.answer, priced=True))
    assert judged(plan, full).reason == judged(priced, full).reason == "over-limit"
    assert "19 us" in judged(priced, full).say
    assert "19 us" not in judged(plan, full).say


def test_the_verdict_names_the_next_par_the_best_known_value_and_where_the_time_goes(plan):
    say = judged(plan, {**GOOD, "ranks": 4}).say
    for part in ("1 of 3", "28 us", "2 points at 22.8 us", "19 us (a search of all ranks)", "work 25 us (89.3 %)"):
        assert part in say
    assert plan.explain not in say
    assert plan.explain in judged(plan, GOOD).say


def test_an_infeasible_record_is_told_which_limit_it_breaks_and_by_how_much(plan):
    verdict = judged(plan, {**GOOD, "chunk": "20 GB"})
    assert (verdict.score, verdict.reason) == (0, "over-limit")
    for part in ("the memory is 60 GB", "at most 40 GB", "20 GB (50 % of the limit)", "first stage 20 GB (33.3 %)"):
        assert part in verdict.say


def test_many_times_a_limit_is_no_percentage(plan):
    assert "too much" in (say := judged(plan, {**GOOD, "chunk": "200 GB"}).say)
    assert "560 GB (14 times the limit)" in say


def test_what_a_model_cannot_build_is_told_in_its_own_words(plan):
    verdict = judged(plan, {**GOOD, "order": "tree"})
    assert (verdict.score, verdict.reason) == (0, "infeasible")
    assert "this one 10" in verdict.say


@pytest.mark.parametrize("ranks", [10, 10.0, "10", np.int64(10), np.float32(10), np.array([10])])
def test_forms_of_one_number_are_read_alike(plan, ranks):
    value = {**GOOD, "ranks": ranks, "chunk": "1 GB", "splits": np.array([1, 2])}
    assert judged(plan, value).score == 1
    assert plan.answer.readable(encoding.decode(encoding.encode(value))) == plan.answer.readable(GOOD)


@pytest.mark.parametrize(("changed", "reason"), BAD, ids=range(len(BAD)))
def test_a_hostile_record_is_told_what_is_wrong_with_it(plan, changed, reason):
    verdict = judged(plan, {**GOOD, **changed})
    assert (verdict.score, verdict.kind, verdict.reason) == (0, "unreadable", reason), verdict.say
    assert len(verdict.say) < 1000
    if reason != "unknown-field":
        assert f"`{next(iter(changed))}`" in verdict.say


def test_names_of_another_record_are_told_beside_what_is_missing(plan):
    with pytest.raises(Unreadable) as found:
        plan.answer.read({"rank": 8, "chunks": 3})
    assert found.value.reason == "missing-field"
    assert all(name in str(found.value) for name in ("rank", "chunks", *plan.answer.fields))


def test_every_field_at_fault_is_named(plan):
    with pytest.raises(Unreadable) as found:
        plan.answer.read({"ranks": 0, "chunk": "3 apples", "order": "star", "foo": 1})
    assert all(f"`{name}`" in str(found.value) for name in plan.answer.fields)
    assert "1 more" in str(found.value)


@pytest.mark.parametrize("value", [None, ..., "", dict.fromkeys(GOOD, ...), dict.fromkeys(GOOD)])
def test_a_record_that_nobody_filled_in_is_no_answer(plan, value):
    assert judged(plan, value).kind == "empty"
    assert answer_from(plan.public()).recorded(encoding.encode(value)).kind == "empty"


@pytest.mark.parametrize("value", [[1, 2], "ring", 3, {}, {"$": "tree"}, np.zeros(4), len])
def test_what_is_not_a_record_is_unreadable(plan, value):
    assert judged(plan, value).kind == "unreadable"


def test_a_mistake_gets_its_sentence_and_the_points_that_it_reaches(plan):
    ring, memory, tree = (judged(plan, m.value) for m in plan.mistakes)
    assert [(v.kind, v.reason) for v in (ring, memory, tree)] == [
        ("mistake", "misses-pars"),
        ("mistake", "over-limit"),
        ("mistake", "some-points"),
    ]
    assert [round(3 * v.score) for v in (ring, memory, tree)] == [0, 0, 2]
    assert all(m.say in v.say for m, v in zip(plan.mistakes, (ring, memory, tree), strict=True))


def test_the_stub_runs_and_is_no_answer(plan):
    scope = {}
    exec(plan.stub(), scope)
    assert list(scope["answer"]) == list(GOOD)
    assert judged(plan, scope["answer"]).kind == "empty"


# Built


def test_learners_have_the_goals_and_not_the_record(plan):
    record = json.loads(json.dumps(plan.public()))
    kind = answer_from(record)
    assert isinstance(kind, Design)
    assert kind.built[0] == {
        "given": {"S": 1e8},
        "pars": [[1, 4e-5, "a report"], [2, 2.28e-5, ""], [3, 1.9e-5, ""]],
        "limits": [["the memory", "at most", 4e10, "B"]],
        "best": 1.9e-5,
        "holder": "a search of all ranks",
    }
    assert kind.asked_of(plan.variant()) == plan.answer.asked_of(plan.variant())
    assert kind.recorded(encoding.encode(GOOD)).kind == "recorded"
    assert "mistake-sentence" not in json.dumps(record)


def test_each_learner_has_the_pars_of_their_own_numbers(plan):
    first, other = plan.variants()
    assert plan.judge({**GOOD, "ranks": 20}, other).score == 1
    assert plan.judge({**GOOD, "ranks": 20}, first).score == 1 / 3
    assert "19 us" in plan.answer.asked_of(first)
    assert "39 us" in plan.answer.asked_of(other)
    assert " us" not in plan.answer.asked_of(None)


def test_no_search_runs_in_the_judge(bank, monkeypatch):
    monkeypatch.setitem(bank.namespace, "best", None)
    for owner in (None, "ann"):
        assert judge_answer(bank, JudgeRequest("own-plan", owner, encoding.encode(GOOD)))["score"] > 0


def test_what_was_not_built_is_the_declarations_fault_and_nobodys_zero(tmp_path):
    (tmp_path / "exercises.py").write_text(EXERCISES)
    bank = load_bank(tmp_path)
    with pytest.raises(DeclarationError):
        judged(bank["own-plan"], GOOD)
    assert "failed" in judge_answer(bank, JudgeRequest("own-plan", None, encoding.encode(GOOD)))
    assert selftest(bank["own-plan"]) == [], "it builds what it tests"


def test_what_the_build_computes_is_renewed_with_the_model(tmp_path):
    (tmp_path / "exercises.py").write_text(EXERCISES)
    renew(tmp_path)
    assert renew(tmp_path) is None
    (tmp_path / "exercises.py").write_text(EXERCISES.replace("/1e12", "/4e12").replace("ranks=10 if", "ranks=5 if"))
    stale = load_bank(tmp_path)["own-plan"]
    assert len([line for line in selftest(stale) if "build again" in line]) == 1
    before = (tmp_path / "built.json").read_text()
    assert renew(tmp_path, write=False) == tmp_path / "built.json"
    assert (tmp_path / "built.json").read_text() == before
    renew(tmp_path)
    assert load_bank(tmp_path)["own-plan"].answer.built[0]["best"] == pytest.approx(9e-6)
    (tmp_path / "exercises.py").write_text("")
    renew(tmp_path)
    assert not (tmp_path / "built.json").exists()


def test_a_course_renews_what_is_older_than_its_declaration(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(EXERCISES)
    assert current(file)["own-plan"].answer.built is not None
    kept = built_file(file)
    assert [path.name for path in bank_files(file)] == ["own.py", "own.built.json"]
    kept.write_text(kept.read_text().replace("1.9e-05", "1.8e-05"))
    assert current(file)["own-plan"].answer.built[0]["best"] == 1.8e-5, "it is younger"
    os.utime(kept, ns=(0, 0))
    assert current(file)["own-plan"].answer.built[0]["best"] == 1.9e-5


def test_a_worker_elsewhere_gets_what_was_built(bank):
    assignment = SimpleNamespace(bank=CourseBank([bank]), release={}, settings=RunSettings())
    with dask_cluster._key(dask_cluster.task_spec(assignment)) as (path,):
        assert load_bank(path)["own-plan"].answer.built == bank["own-plan"].answer.built


@pytest.mark.parametrize("text", ["[", "[]", '{"own-plan": 3}', '{"own-plan": [{"best": 1}]}'])
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "exercises.py").write_text(EXERCISES)
    (tmp_path / "built.json").write_text(text)
    if text != "[]":
        with pytest.raises(DeclarationError, match=r"built\.json"):
            load_bank(tmp_path)


# Declared


def made(**changes):
    """An exercise on one number, with changes to its answer."""
    answer = {
        "fields": {"n": Field("ranks", 1, 100, whole=True)},
        "objective": lambda n: 100 / n,
        "measure": "the rounds",
        "conditions": [Condition("the price", lambda n: n, at_most=50)],
        "pars": [Par(1, 10), Par(2, 2)],
        "known": [Known(2, "the limit")],
    }
    own = {key: changes.pop(key) for key in ("solution", "points", "given", "mistakes") if key in changes}
    mistakes = (Mistake({"n": 1}, "One."), Mistake({"n": 100}, "All."))
    fields = {"solution": {"n": 50}, "mistakes": mistakes} | own
    return Exercise(id="t-rounds", prompt="How many ranks?", answer=Design(**{**answer, **changes}), **fields)


def test_more_may_be_better():
    more = made(objective=lambda n: n, most=True, pars=[Par(1, 10), Par(2, 50)], known=[Known(50, "the limit")])
    assert selftest(more) == []
    assert [round(2 * more.built().judge({"n": n}).score) for n in (9, 10, 49, 50, 51)] == [0, 1, 1, 2, 0]


def test_a_limit_may_be_a_least():
    least = made(conditions=[Condition("the speed", lambda n: 51 - n, at_least=1, unit="B/s")])
    assert selftest(least) == []
    verdict = least.built().judge({"n": 100})
    assert verdict.reason == "over-limit"
    assert "too little" in verdict.say


FAULTY = [
    ({"pars": [Par(1, 2), Par(2, 10)]}, "does not ask for more"),
    ({"pars": [Par(1, 2), Par(2, 2)]}, "does not ask for more"),
    ({"known": []}, "no value is known"),
    ({"known": [Known(2.5, "half")]}, "does not reach the last par"),
    ({"known": [Known(2.5, "half")], "pars": [Par(1, 10), Par(2, 3)]}, "better than the best known"),
    ({"solution": {"n": 49}}, "the solution scores 0.5"),
    ({"solution": {"n": 51}}, "the solution is told"),
    ({"solution": {"n": 51, "m": 1}}, "Unreadable"),
    ({"mistakes": (Mistake({"n": 50}, "Half."), Mistake({"n": 1}, "One."))}, "scores 1.0"),
    ({"mistakes": (Mistake({"n": 1}, "One."), Mistake({"n": 1.0}, "A float."))}, "are the same"),
    ({"mistakes": ()}, "0 mistakes"),
    ({"steps": 1}, "more than 1 steps"),
    ({"objective": lambda n: 100 / (n - 50)}, "divides by zero"),
    ({"objective": lambda n: math.inf}, "no finite value"),
    ({"pars": [Par(1, math.nan)]}, "finite number"),
    ({"conditions": [Condition("the price", lambda n: [3, 1][n > 99][0], at_most=50)]}, "TypeError"),
    (
        {"conditions": [Condition("the price", lambda n: {50: 1, 1: 2, 100: 3}[n], at_most=50)]},
        "a model raises KeyError",
    ),
]


@pytest.mark.parametrize(("changes", "say"), FAULTY, ids=range(len(FAULTY)))
def test_a_faulty_declaration_fails_its_own_test(changes, say):
    found = selftest(made(**changes))
    assert any(say in line for line in found), found


REJECTED = [
    {"fields": {}},
    {"fields": {"n": 3}},
    {"fields": {"a b": Field("x", 0, 1)}},
    {"fields": {"lambda": Field("x", 0, 1)}},
    {"fields": {"n": Field("x\ny", 0, 1)}},
    {"fields": {"n": Field("x | y", 0, 1)}},
    {"fields": {"n": Field("ranks", 1, math.inf)}},
    {"fields": {"n": Field("ranks", 2, 1)}},
    {"fields": {"n": Field("", 1, 2)}},
    {"fields": {"n": Field("ranks", options="ring")}},
    {"fields": {"n": Field("ranks", 1, 2, items=10**6)}},
    {"fields": {"best": Field("ranks", 1, 2)}},
    {"given": {"n": [1]}},
    {"given": {"best": [1]}},
    {"given": {"m": list(range(21))}},
    {"objective": None},
    {"conditions": [Condition("the price", 3, at_most=1)]},
    {"conditions": [Condition("the price", lambda n: n)]},
    {"conditions": [Condition("the price", lambda n: n, at_most=1, at_least=0)]},
    {"pars": []},
    {"pars": [3]},
    {"pars": [Par(0, 3)]},
    {"points": 7},
]


@pytest.mark.parametrize("changes", REJECTED, ids=range(len(REJECTED)))
def test_a_declaration_that_cannot_be_is_refused(changes):
    with pytest.raises(DeclarationError, match="t-rounds"):
        made(**changes)


# Bounded


def count_down(n):
    while n > 0:
        n -= 1
    return n


def test_a_model_has_a_limit_of_steps():
    endless = made(fields={"n": Field("ranks", 1, 10**12, whole=True)}, objective=count_down, conditions=[]).built()
    before = time.process_time()
    verdict = endless.judge({"n": 10**12})
    assert verdict.reason == "too-involved"
    assert time.process_time() - before < 60
    assert endless.judge({"n": 1000}).reason != "too-involved"


def test_no_model_catches_its_limit():
    def stubborn():
        while True:
            try:
                count_down(100)
            except Exception:
                continue

    with pytest.raises(TooManySteps):
        limited(stubborn, 10_000)
    assert limited(lambda: 7, 10) == 7


# Shown


def test_points_in_parts_are_written_as_nbgrader_reads_them(plan):
    result = result_of("own-plan", 3.0, judged(plan, {**GOOD, "ranks": 8}), "")
    assert (result.points, result.kind) == (2.0, "partial")
    shown, points = verdict_outputs(result)
    assert points.data["text/plain"] == "2.0"
    assert shown.data["text/plain"].startswith("◐ 2 of 3 points")
    thirds = replace(judged(plan, GOOD), score=49 / 49 / 3)
    assert result_of("t", 3.0, thirds, "").points == 1.0


def test_check_and_grade_say_the_points(bank, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(bank.path.parent.parent))
    monkeypatch.chdir(tmp_path)
    verdict = check("own-plan", {**GOOD, "ranks": 8})
    assert (verdict.kind, str(verdict)[0]) == ("partial", "◐")
    assert grade("own-plan", {**GOOD, "ranks": 8}) == 2.0
    assert "19 us (a search of all ranks)" in str(exercise("own-plan"))


def test_without_a_key_a_record_is_said_back(bank, tmp_path, monkeypatch):
    (tmp_path / "none").mkdir()
    (tmp_path / "exercises.json").write_text(json.dumps(bank.public(variants=True)))
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(tmp_path / "none"))
    monkeypatch.setenv("GPUBOOK_OWNER", "ann")
    monkeypatch.chdir(tmp_path)
    verdict = check("own-plan", GOOD)
    assert (verdict.kind, grade("own-plan", GOOD)) == ("recorded", 0.0)
    assert "chunk = 1 GB, order = ring, splits = [1, 2]" in verdict.say
    assert check("own-plan", {**GOOD, "ranks": 0}).reason == "out-of-range"
    assert "a search of all ranks" in str(exercise("own-plan"))


def test_the_page_shows_fields_pars_and_in_the_open_edition_the_solution(plan):
    open_text, course = (card(plan, "1.1", "answer = 1", "01-x", course=one) for one in (False, True))
    for text in (open_text, course):
        assert "the bytes of a chunk" in text
        assert "22.8 us" in text
    assert "ranks=..." in course
    fields = BeautifulSoup(open_text, "html.parser").select("form.answer-box [name]")
    assert [field["name"] for field in fields] == list(GOOD)
    assert "ranks = 10, chunk = 1 GB" in open_text
    assert "ranks = 10, chunk" not in course
    assert "infeasible" in open_text, "what a mistake comes to"


def test_a_better_record_than_the_best_known_is_right():
    beaten = made(known=[Known(2.5, "half")], pars=[Par(1, 10), Par(2, 3)]).built()
    first, second = beaten.judge({"n": 40}), beaten.judge({"n": 50})
    assert (first.kind, second.kind) == ("right", "right")
    assert "until now" in second.say
    assert "until now" not in first.say


@pytest.mark.parametrize("text", ["1, 2; 3", "[1, 2, 3]", '["1", "2", "3"]', "'1'\n'2'\n'3'"])
def test_a_list_is_typed_with_or_without_quotes(text):
    kind = Design(
        fields={"at": Field("places", 1, 8, whole=True, items=4)}, objective=lambda at: sum(at), pars={1: 100}
    )
    assert kind.typed({"at": text}) == {"at": ["1", "2", "3"]}

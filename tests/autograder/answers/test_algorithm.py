"""Algorithm answers in this process: what is right, and what a wrong one is told."""

import re
from dataclasses import replace

import numpy as np
import pytest

from autograder.answers import Function, answer_from, at_most, exactly
from autograder.answers.algorithm import MAX_CASES, direct
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.declaration import DeclarationError, Mistake
from autograder.ranks.generators import Rank
from autograder.values import encoding
from hwlib.algorithms import ALGORITHMS, Step, ring_allreduce
from tests.autograder import lab
from tests.autograder.lab import CASES, judge, make

RING = make()
BARE = make(mistakes=())


def test_it_tests_itself():
    assert selftest(RING) == []
    assert "scores" in " ".join(selftest(make(mistakes=(Mistake(lab.copying, "Right, but copies."),))))


@pytest.mark.parametrize(
    "function", [lab.ring, lab.copying, lab.two_shot, ring_allreduce, ALGORITHMS["ring_allreduce"]]
)
def test_right_is_the_result_and_its_bytes_however_written(function):
    verdict = judge(RING, function)
    assert verdict.kind == "right", verdict


def test_a_stub_is_no_answer_yet():
    scope = {}
    exec(RING.stub(), scope)
    assert judge(RING, scope["ring"]).kind == "empty"
    assert RING.answer_name == "ring"


WRONG = [
    (lab.nothing, "rank 0 has 1.", "it still has only what it began with"),
    (lab.scattered, "only block 0 of 2 is right"),
    (lab.names_anew, "only what it began with, though messages came in.", "`block[i][:] = got` writes into x."),
    (lab.forgets_yield, "rank 0 fails before it sends anything, and without a `yield`", "It says: `"),
    (lab.leaves_out_zero, "the share of rank 0 is missing from the sum"),
    (lab.counts_itself_twice, "the share of rank 0 is counted twice in the sum"),
    (lab.rolls, "block 1 stands where block 0 belongs"),
    (lab.forgets_return, "rank 0 returns nothing: is there a `return`?"),
    (lab.too_short, "returns 7 elements, not 8."),
    (lab.a_word, "returns a text; an array was expected"),
    (lab.a_class, "returns something that is not an answer: `a class cannot be graded"),
    (lab.whole_ring, "The result is right, but with 4 ranks of 16 elements (128 B), rank 0 sends 384 B",
     "192 B was expected: that is (n - 1)S: the whole array goes to every other rank."),
    (lab.twice, "that is twice as many: is everything sent twice?"),
    (lab.through_root, "one rank carries the messages of the others."),
    (lab.halves, "result and the bytes are right, but with 4 ranks of 16 elements it takes 12 rounds; "
     "at most 6 were expected", "one `Step` can do both."),
    (lab.plain_sum, "`ring` returns an array without a `yield`", "`got = yield Step(send, to, frm)`"),
    (lab.receive_first, "deadlock: rank 0, step 0, waits for rank 1; rank 1, step 0, waits for rank 0."),
    (lab.off_the_end, "rank 0, step 0: `frm` is another rank, 0 to 1, got -1.", "`% n`"),
    (lab.to_nobody, "sent but never received: one message from rank 0 to rank 1", "must be a `frm` of the other"),
    (lab.no_step, "rank 0 yields an array; a `Step(send, to, frm)` was expected"),
    (lab.without_from, "rank 0 yields a `generator`; a `Step(send, to, frm)` was expected", "`yield from`"),
    (lab.no_value, "rank 0 yields nothing (`None`); a `Step(send, to, frm)` was expected"),
    (lab.a_number, "rank 0 sends a number; an array like x was expected"),
    (lab.narrow, "sends numbers of type `float32`; those of x are of type `float64`"),
    (lab.breaks, "rank 0 fails: `IndexError: ", "return x[len(x)]"),
    (lab.idles, "many times the steps that it takes: does a loop never end?"),
    (lab.talks, "does a loop never end?"),
    (lab.floods, "many times the bytes that it takes"),
    (lab.hangs, "rank 0 does not end."),
    (lab.ends_python, "it ends Python (sys.exit)"),
    (lambda rank, n: 1, "takes 2 positional arguments but 3 were given"),
]  # fmt: skip


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row[0].__name__.strip("<>"))
def test_a_wrong_one_is_told_how(row):
    function, *says = row
    verdict = judge(BARE, function, 0.3)
    assert (verdict.score, verdict.kind) == (0.0, "wrong")
    for say in says:
        assert say in verdict.say
    assert "<" not in verdict.say


def test_a_hint_follows_what_went_wrong_and_not_what_never_ran():
    hinted = replace(BARE, hints=("Which block came last?",))
    assert judge(hinted, lab.rolls).say.endswith(" A hint: Which block came last?")
    assert "hint" not in judge(hinted, lab.breaks).say
    assert "hint" not in judge(hinted, lab.receive_first).say


def test_a_mistake_is_known_by_what_it_does():
    assert judge(RING, lambda rank, n, x: lab.scattered(rank, n, x)).say == "Every rank has its own block only."
    assert judge(RING, lab.whole_ring).kind == "mistake"
    stuck = make(mistakes=(Mistake(lab.receive_first, "All wait."), Mistake(lab.off_the_end, "Past the end.")))
    assert judge(stuck, lab.receive_first).say == "All wait."
    assert judge(stuck, lab.off_the_end).say == "Past the end."
    assert judge(stuck, lab.to_nobody).kind == "wrong"
    assert "deadlock" not in judge(stuck, lab.halves).say


def test_what_is_right_once_only_is_wrong():
    count = []

    def first_time(rank, n, x):
        count.append(1)
        return (yield from (lab.ring if len(count) < 2 else lab.whole_ring)(rank, n, x))

    again = make({"cases": [(4, 16), (4, 16)]}, mistakes=())
    assert "(n - 1)S" in judge(again, first_time).say


def test_the_numbers_are_new_at_every_run_and_differ_between_ranks():
    seen = []

    def keep(rank, n, x):
        seen.append(x.tobytes())
        return (yield from lab.ring(rank, n, x))

    for _ in range(2):
        assert BARE.judge(encoding.Callable("ring"), call=direct(keep)).score == 1
    assert len(set(seen)) == len(seen) == 2 * sum(n for n, _ in CASES)


@pytest.mark.parametrize("function", [lab.ring, lab.two_shot])
def test_one_rank_and_no_elements_are_cases_too(function):
    small = make({"cases": [(1, 8), (1, 0), (2, 0), (2, 1), (3, 1), (7, 5)]}, mistakes=())
    assert judge(small, function).kind == "right"
    assert judge(small, lab.nothing).say.startswith("With 2 ranks of 1 element, rank 0 has 1.")
    assert ": one rank carries" in judge(small, lab.through_root).say


def test_the_solution_must_be_the_collective_it_is_said_to_be():
    wrong = make({"collective": "all_gather"}, mistakes=())
    with pytest.raises(DeclarationError, match=r"solution .* all_gather: .* 2 ranks"):
        wrong.judge(encoding.Callable("ring"), call=direct(lab.ring))
    with pytest.raises(DeclarationError, match=r"solution .* 2 ranks of 8 elements: deadlock"):
        make(solution=lab.receive_first).judge(encoding.Callable("ring"), call=direct(lab.ring))


def test_limits_are_the_solutions_or_ones_own():
    assert judge(make({"rounds": at_most(lambda n, S: 2)}), lab.ring).say.startswith("The result and the bytes ")
    assert judge(make({"rounds": None}, mistakes=()), lab.halves).kind == "right"
    assert judge(make({"rank_bytes": None, "total_bytes": None}, mistakes=()), lab.whole_ring).kind == "right"
    total = make({"rank_bytes": None, "total_bytes": at_most(), "rounds": None}, mistakes=())
    assert re.search(r"\b1\.536 KB .* 768 B\b", judge(total, lab.twice).say)
    generous = make({"rank_bytes": at_most(lambda n, S: n * S), "total_bytes": None, "rounds": None}, mistakes=())
    assert judge(generous, lab.whole_ring).kind == "right"
    slow = make({"rounds": exactly()}, mistakes=())
    assert "it takes 2 rounds; 6 were expected" in judge(slow, lab.two_shot).say


def test_without_a_collective_the_solution_says_what_is_right():
    def shift(rank, n, x):
        return (yield Step(x, (rank + 1) % n, (rank - 1) % n))

    exercise = make(
        {"collective": "", "cases": [(3, 4)], "inputs": lambda case, _: [np.full(4, float(r)) for r in range(case.n)]},
        solution=shift,
        mistakes=(),
    )
    assert judge(exercise, lambda rank, n, x: shift(rank, n, x)).kind == "right"
    assert "rank 0 has 0 in element 0, where 2 was expected" in judge(exercise, lab.nothing).say


def test_x_may_have_to_stay_as_it_was():
    kept = make({"in_place": False}, solution=lab.copying, mistakes=())
    assert judge(kept, lab.copying).kind == "right"
    assert re.search("rank 0 .* x .*copy", judge(kept, lab.ring).say)


def test_cases_may_be_drawn_and_are_the_same_each_time():
    drawn = make({"cases": lambda rng: [(n, rng.randint(1, 40)) for n in (2, 3, 4)]}, mistakes=())
    assert judge(drawn, lab.ring).kind == "right"
    again = make({"cases": lambda rng: [(n, rng.randint(1, 40)) for n in (2, 3, 4)]}, mistakes=())
    assert drawn.answer.runs(drawn) == again.answer.runs(again)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"cases": []}, "needs cases"),
        ({"cases": [(0, 8)]}, "n of .* 0; 1 to 64"),
        ({"cases": [(True, 8)]}, "n of .* True"),
        ({"cases": [(2, -1)]}, "length of .* -1"),
        ({"cases": [(2, 8, "float8")]}, "dtype of .* 'float8'; .*float64"),
        ({"cases": [(2,)]}, "t-ring: "),
        ({"cases": [(2, 8)] * (MAX_CASES + 1)}, "41 cases; 1 to 40"),
        ({"signature": "ring(x)"}, r"'ring\(rank, n, x\)' was expected"),
        ({"name": "2"}, "was expected"),
        ({"collective": "allreduce"}, "'allreduce'.*all_reduce"),
        ({"inputs": lambda case, rng: []}, "inputs .*collective"),
    ],
)
def test_a_declaration_is_checked(kind, said):
    with pytest.raises(DeclarationError, match=said):
        make(kind)


def test_a_solution_is_a_generator():
    with pytest.raises(DeclarationError, match="generator function"):
        make(solution=lab.plain_sum)
    with pytest.raises(DeclarationError, match="generator functions"):
        make(mistakes=(Mistake(3, "three"),))
    with pytest.raises(DeclarationError, match=r"answer is 3; .*Algorithm"):
        make(answer=3)


@pytest.mark.parametrize("value", [5, "ring", [1], float("nan"), None])
def test_what_is_no_function_scores_nothing(value):
    verdict = RING.judge_message(encoding.encode(value), None, None)
    assert verdict.score == 0
    assert verdict.kind == ("empty" if value is None else "unreadable")
    assert RING.judge(encoding.Callable("ring")).kind == "unreadable"


def test_the_public_record_has_a_signature_and_no_limit():
    public = RING.public()
    assert public["signature"] == "ring(rank, n, x)"
    assert not {"cases", "rounds", "rank_bytes"} & set(public)
    assert answer_from(public).readable(encoding.Callable("ring")) == "the algorithm `ring`"


def uses_the_library(rank, n, x):
    return (yield from ring_allreduce(rank, n, x))


def test_what_the_library_hands_over_is_withheld():
    assert [line for line in library_overlap(RING) if "t-ring" in line and "hwlib.algorithms.ring_allreduce" in line]
    assert judge(RING, uses_the_library).kind == "right"
    for names in (("hwlib.algorithms",), ("hwlib.algorithms.ring",), ("hwlib.algorithms.ring_allreduce",)):
        withheld = make(withholds=names)
        verdict = judge(withheld, uses_the_library)
        assert verdict.kind != "right"
        assert names[0] in verdict.say
        assert judge(withheld, ring_allreduce).score == 0
        assert judge(withheld, lab.ring).kind == "right"
        assert judge(RING, uses_the_library).kind == "right"
    assert library_overlap(make(withholds=("hwlib.algorithms",))) == []
    assert library_overlap(make(answer=Function("f", cases=[(1,)]), solution=lambda x: x, mistakes=())) == []


def test_it_is_checked_in_the_notebook_and_has_no_answer_box():
    from autograder.book.answerbox import form
    from autograder.book.notebook import how_to_answer

    assert form(RING) == ""
    assert how_to_answer(RING).startswith("write `ring(rank, n, x)`, a generator that plays one rank")


def test_whatever_the_library_registers_can_be_withheld():
    withholds = ("hwlib.algorithms",)
    for name, record in ALGORITHMS.items():

        def uses(rank, n, x, function=record.function):
            return (yield from function(rank, n, x))

        for answer in (uses, record.function):
            reply = Rank(answer, withholds)("start", 0, 2, np.ones(4), {})
            assert reply == ("failed", "withheld", "hwlib.algorithms"), name


def test_a_function_of_a_closure_can_be_withheld(monkeypatch):
    times, over = 1, 1

    def made(rank, n, x):
        return (yield Step(x * times, (rank + over) % n, (rank - over) % n))

    made.__module__ = "hwlib.algorithms.made"
    record = replace(ALGORITHMS["ring_allreduce"], name="made", function=made)
    monkeypatch.setitem(ALGORITHMS, "made", record)
    assert Rank(made, ("hwlib.algorithms",))("start", 0, 2, np.ones(4), {})[0] == "failed"
    assert Rank(made)("start", 0, 2, np.ones(4), {})[0] == "steps"

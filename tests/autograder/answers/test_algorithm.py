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
from autograder.declaration.withholding import write_it_yourself
from autograder.ranks import seeds
from autograder.ranks.generators import Rank
from autograder.values import encoding
from hwlib.algorithms import ALGORITHMS, Step, blocks, ring_allreduce
from tests.autograder import lab
from tests.autograder.lab import CASES, judge, make

RING = make()
BARE = make(mistakes=())


def test_it_tests_itself():
    assert selftest(RING) == []
    assert any(
        "Right, but copies." in line for line in selftest(make(mistakes=(Mistake(lab.copying, "Right, but copies."),)))
    )


@pytest.mark.parametrize(
    "function", [lab.ring, lab.copying, lab.two_shot, ring_allreduce, ALGORITHMS["ring_allreduce"]]
)
def test_right_is_the_result_and_its_bytes_however_written(function):
    verdict = judge(RING, function)
    assert verdict.kind == "right", verdict


@pytest.mark.parametrize(("sends", "reason"), [("zeros", "empty-messages"), ("two numbers", ""), ("x", "")])
def test_messages_that_hold_no_number_of_x_earn_nothing(sends, reason):
    """Whatever the ranks have met by: here they lie in one process."""
    given = {}

    def ring(rank, n, x):
        given[rank] = x.copy()
        for block in [(rank - k) % n for k in (*range(1, n), *range(n - 1))]:
            message = {"zeros": 0 * x, "two numbers": 0 * x, "x": x}[sends][: len(blocks(x, n)[block])]
            message = message + rank * (sends == "two numbers")
            yield Step(message, (rank + 1) % n, (rank - 1) % n)
        return sum(given[r] for r in range(n))

    verdict = BARE.judge(encoding.Callable("ring"), call=direct(ring))
    assert (verdict.score, verdict.reason) == (0.0 if reason else 1.0, reason)


def test_a_stub_is_no_answer_yet():
    scope = {}
    exec(RING.stub(), scope)
    verdict = judge(RING, scope["ring"])
    assert (verdict.kind, verdict.reason) == ("empty", "returns-nothing")
    assert RING.answer_name == "ring"


def test_a_rank_that_sends_to_itself_is_told_so():
    def own(rank, n, x):
        yield Step(x, to=rank)

    verdict = judge(RING, own)
    assert verdict.reason == "no-such-rank"
    assert "`to` is 0, so the rank sends to itself" in verdict.say


# What is wrong, and the ranks, numbers and code that the sentence names, in their order; most cases are "2 ranks of 8".
TWO, FOUR = "2 8", "4 16"
WRONG = [
    (lab.nothing, "untouched", TWO, "rank 0 ", "element 0,"),
    (lab.scattered, "only-some-blocks", TWO, "rank 0 ", "element 4,", "block 0 of 2"),
    (lab.names_anew, "untouched-though-received", TWO, "rank 0 ", "`block[i][:] = got`"),
    (lab.forgets_yield, "no-yield-and-raises", TWO, "rank 0 ", "`yield`", "`got = yield Step(send, to, frm)`"),
    (lab.leaves_out_zero, "share-missing", TWO, "rank 0 ", "share of rank 0 "),
    (lab.counts_itself_twice, "share-twice", TWO, "rank 0 ", "share of rank 0 "),
    (lab.rolls, "other-block", TWO, "rank 0 ", "block 1 ", "block 0 "),
    (lab.forgets_return, "returns-nothing", TWO, "rank 0 ", "`return`"),
    (lab.too_short, "wrong-length", TWO, "7 ", " 8."),
    (lab.a_word, "not-an-array", TWO, "rank 0 "),
    (lab.a_class, "no-plain-data", TWO, "rank 0 "),
    (lab.whole_ring, "sent-whole-array-to-all", FOUR, "(128 B)", "rank 0 ", "384 B", "192 B", "(n - 1)S"),
    (lab.twice, "sent-twice", FOUR, "384 B", "192 B"),
    (lab.through_root, "one-rank-carries", FOUR, "rank 0 "),
    (lab.halves, "send-and-receive-apart", FOUR, "12 rounds", " 6 ", "`Step`"),
    (lab.plain_sum, "no-yield", "", "`ring`", "`yield`", "`got = yield Step(send, to, frm)`"),
    (lab.receive_first, "deadlock", TWO, "rank 0, step 0,", "rank 1; rank 1, step 0,", "rank 0.", "`frm`", "`to`"),
    (lab.off_the_end, "no-such-rank", TWO, "rank 0, step 0: `frm` is -1,", "ranks are 0 to 1.", "`% n`"),
    (lab.to_nobody, "unreceived", TWO, "rank 0 to rank 1", "`to`", "`frm`"),
    (lab.no_step, "not-a-step", TWO, "rank 0 ", "array", "`Step(send, to, frm)`"),
    (lab.without_from, "not-a-step", TWO, "rank 0 ", "`generator`", "`Step(send, to, frm)`", "`yield from`"),
    (lab.no_value, "not-a-step", TWO, "rank 0 ", "`None`", "`Step(send, to, frm)`"),
    (lab.a_number, "sends-no-array", TWO, "rank 0 ", "number"),
    (lab.narrow, "sends-another-type", TWO, "`float32`", "`float64`"),
    (lab.breaks, "raises", TWO, "rank 0 ", "`IndexError: ", "return x[len(x)]"),
    (lab.idles, "endless-steps", TWO),
    (lab.talks, "endless-bytes", TWO),
    (lab.floods, "endless-bytes", TWO),
    (lab.hangs, "time-limit", TWO, "rank 0 "),
    (lab.ends_python, "rank-lost", TWO, "sys.exit"),
    (lambda rank, n: 1, "no-yield-and-raises", TWO, "TypeError: "),
]


@pytest.mark.parametrize("row", WRONG, ids=lambda row: row[0].__name__.strip("<>"))
def test_a_wrong_one_is_told_what_and_where(row):
    function, reason, run, *named = row
    verdict = judge(BARE, function, 0.3)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "wrong", reason)
    assert " ".join(re.findall(r"(\d+) ranks of (\d+)", verdict.say)[0]) == run if run else "ranks" not in verdict.say
    at = 0
    for text in named:
        assert text in verdict.say[at:]
        at = verdict.say.index(text, at) + len(text)
    assert "<" not in verdict.say


@pytest.mark.parametrize(
    ("function", "say"),
    [
        (lab.leaves_out_zero, "the share of rank 0 is missing from the sum."),
        (lab.whole_ring, "192 B was expected: that is (n - 1)S: the whole array goes to every other rank."),
        (
            lab.halves,
            "a step that only sends and one that only receives take a round each, and one `Step` can do both.",
        ),
        (lab.receive_first, "waits for rank 0. For every `frm` of one rank there must be a `to` of the other."),
    ],
)
def test_the_words_for_a_result_bytes_rounds_and_a_deadlock(function, say):
    assert judge(BARE, function).say.endswith(say)


def test_a_hint_is_offered_for_what_went_wrong_and_not_what_never_ran():
    hinted = replace(BARE, hints=("Which block came last?",))
    assert judge(hinted, lab.rolls).wants_hint
    assert not judge(hinted, lab.breaks).wants_hint
    assert not judge(hinted, lab.receive_first).wants_hint
    assert "Which block" not in judge(hinted, lab.rolls).say


def test_a_mistake_is_known_by_what_it_does():
    assert judge(RING, lambda rank, n, x: lab.scattered(rank, n, x)).say == "Every rank has its own block only."
    assert judge(RING, lab.whole_ring).kind == "mistake"
    stuck = make(mistakes=(Mistake(lab.receive_first, "All wait."), Mistake(lab.off_the_end, "Past the end.")))
    assert judge(stuck, lab.receive_first).say == "All wait."
    assert judge(stuck, lab.off_the_end).say == "Past the end."
    assert judge(stuck, lab.to_nobody).kind == "wrong"
    assert judge(stuck, lab.halves).reason == "send-and-receive-apart"


def test_what_is_right_once_only_is_wrong():
    count = []

    def first_time(rank, n, x):
        count.append(1)
        return (yield from (lab.ring if len(count) < 2 else lab.whole_ring)(rank, n, x))

    again = make({"cases": [(4, 16), (4, 16)]}, mistakes=())
    assert judge(again, first_time).reason == "sent-whole-array-to-all"


def test_the_numbers_are_new_at_every_run_and_differ_between_ranks():
    seen = []

    def keep(rank, n, x):
        seen.append(x.tobytes())
        return (yield from lab.ring(rank, n, x))

    for _ in range(2):
        assert BARE.judge(encoding.Callable("ring"), call=direct(keep)).score == 1
    assert len(set(seen)) == len(seen) == 2 * sum(n for n, _ in CASES)


def test_on_the_same_numbers_the_declarations_own_functions_run_once():
    ran = []

    def counted(function):
        def ring(rank, n, x):
            ran.append(function)
            return (yield from function(rank, n, x))

        return ring

    ranks, said = sum(n for n, _ in CASES), "The whole array in every step."
    exercise = make(solution=counted(lab.ring), mistakes=(Mistake(counted(lab.whole_ring), said),))
    for numbers in ("a", "b"):
        with seeds.repeated(numbers):
            for _ in range(3):
                assert judge(exercise, lab.whole_ring).say == said
    assert ran.count(lab.ring) == ran.count(lab.whole_ring) == 2 * ranks
    assert judge(exercise, lab.whole_ring).say == said
    assert ran.count(lab.ring) == 3 * ranks  # without, the numbers are new
    other = replace(exercise, solution=lab.ring, mistakes=())  # another exercise of the same kind
    with seeds.repeated("b"):
        assert judge(other, lab.ring).score == 1
        assert judge(other, lab.whole_ring).kind == "wrong"


@pytest.mark.parametrize("function", [lab.ring, lab.two_shot])
def test_one_rank_and_no_elements_are_cases_too(function):
    small = make({"cases": [(1, 8), (1, 0), (2, 0), (2, 1), (3, 1), (7, 5)]}, mistakes=())
    assert judge(small, function).kind == "right"
    untouched = judge(small, lab.nothing)
    assert untouched.reason == "untouched"
    assert untouched.say.startswith("With 2 ranks of 1 element, rank 0 has 1.")
    assert judge(small, lab.through_root).reason == "one-rank-carries"


def test_the_solution_must_be_the_collective_it_is_said_to_be():
    wrong = make({"collective": "all_gather"}, mistakes=())
    with pytest.raises(DeclarationError, match=r"solution .* all_gather: .* 2 ranks"):
        wrong.judge(encoding.Callable("ring"), call=direct(lab.ring))
    with pytest.raises(DeclarationError, match=r"solution .* 2 ranks of 8 elements: deadlock"):
        make(solution=lab.receive_first).judge(encoding.Callable("ring"), call=direct(lab.ring))


def test_limits_are_the_solutions_or_ones_own():
    assert judge(make({"rounds": at_most(lambda n, S: 2)}), lab.ring).reason == "rounds-one-after-another"
    assert judge(make({"rounds": None}, mistakes=()), lab.halves).kind == "right"
    assert judge(make({"rank_bytes": None, "total_bytes": None}, mistakes=()), lab.whole_ring).kind == "right"
    total = make({"rank_bytes": None, "total_bytes": at_most(), "rounds": None}, mistakes=())
    assert judge(total, lab.twice).reason == "sent-twice"
    assert re.search(r"\b1\.536 KB .* 768 B\b", judge(total, lab.twice).say)
    generous = make({"rank_bytes": at_most(lambda n, S: n * S), "total_bytes": None, "rounds": None}, mistakes=())
    assert judge(generous, lab.whole_ring).kind == "right"
    slow = make({"rounds": exactly()}, mistakes=())
    fast = judge(slow, lab.two_shot)
    assert fast.reason == "rounds"
    assert re.search(r"\b2 rounds; 6 ", fast.say)


def test_a_rank_may_have_to_talk_to_its_neighbours_only():
    ring = make({"neighbours": True, "rounds": None}, mistakes=())
    assert judge(ring, lab.ring).kind == "right"
    far = judge(ring, lab.two_shot)
    assert (far.kind, far.reason) == ("wrong", "not-a-neighbour")
    assert re.search(r"4 ranks .*rank 0 sends to rank 2\b", far.say)
    assert judge(make({"rounds": None}, mistakes=()), lab.two_shot).kind == "right"
    with pytest.raises(DeclarationError, match=r"t-ring: .*rank 0 to 2"):
        judge(make({"neighbours": True}, solution=lab.two_shot, mistakes=()), lab.ring)


def test_a_message_of_no_bytes_is_one_to_a_neighbour_too():
    def whispers(rank, n, x):
        yield Step(x[:0], (rank + 2) % n, (rank - 2) % n) if n > 2 else Step()
        return (yield from lab.ring(rank, n, x))

    ring = make({"neighbours": True, "rounds": None}, mistakes=())
    assert judge(ring, whispers).reason == "not-a-neighbour"


def test_without_a_collective_the_solution_says_what_is_right():
    def shift(rank, n, x):
        return (yield Step(x, (rank + 1) % n, (rank - 1) % n))

    exercise = make(
        {"collective": "", "cases": [(3, 4)], "inputs": lambda case, _: [np.full(4, float(r)) for r in range(case.n)]},
        solution=shift,
        mistakes=(),
    )
    assert judge(exercise, lambda rank, n, x: shift(rank, n, x)).kind == "right"
    wrong = judge(exercise, lab.nothing)
    assert wrong.reason == "untouched"
    assert re.search(r"rank 0 has 0 .* element 0, .*\b2\b", wrong.say)


def test_x_may_have_to_stay_as_it_was():
    kept = make({"in_place": False}, solution=lab.copying, mistakes=())
    assert judge(kept, lab.copying).kind == "right"
    changed = judge(kept, lab.ring)
    assert changed.reason == "changes-input"
    assert "rank 0 " in changed.say


def test_cases_may_be_drawn_and_are_the_same_each_time():
    drawn = make({"cases": lambda rng: [(n, rng.randint(1, 40)) for n in (2, 3, 4)]}, mistakes=())
    assert judge(drawn, lab.ring).kind == "right"
    again = make({"cases": lambda rng: [(n, rng.randint(1, 40)) for n in (2, 3, 4)]}, mistakes=())
    assert drawn.answer.runs(drawn) == again.answer.runs(again)


def test_a_mistake_that_the_numbers_of_some_submission_do_not_tell_is_named():
    def shift(rank, n, x):
        return (yield Step(x, (rank + 1) % n, (rank - 1) % n))

    def forgets_ones(rank, n, x):
        return np.minimum((yield Step(x, (rank + 1) % n, (rank - 1) % n)), 1.0)

    mistakes = (Mistake(forgets_ones, "More than one."), Mistake(lab.nothing, "Nothing."))
    named = {}
    for most in (2, 3):  # of the integers that are drawn, 2 lets the mistake be right always, 3 sometimes
        inputs = lambda case, rng, most=most: [rng.integers(most, size=1).astype(float) for _ in range(case.n)]
        answer = {"collective": "", "cases": [(2, 1)], "inputs": inputs}
        problems = make(answer, solution=shift, mistakes=mistakes).answer.problems
        named[most] = [one for one in problems(make(answer, solution=shift, mistakes=mistakes)) if "of sub" in one]
    assert len(named[2]) == 5
    assert 0 < len(named[3]) < 5
    assert all("More than one." in problem for problem in (*named[2], *named[3]))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"cases": []}, "t-ring: .*cases"),
        ({"cases": [(0, 8)]}, "n of .* 0; 1 to 64"),
        ({"cases": [(True, 8)]}, "n of .* True"),
        ({"cases": [(2, -1)]}, "length of .* -1"),
        ({"cases": [(2, 8, "float8")]}, "dtype of .* 'float8'; .*float64"),
        ({"cases": [(2,)]}, "t-ring: "),
        ({"cases": [(2, 8)] * (MAX_CASES + 1)}, "41 cases; 1 to 40"),
        ({"signature": "ring(x)"}, r"'ring\(rank, n, x\)'"),
        ({"name": "2"}, r"'2\(rank, n, x\)'"),
        ({"collective": "allreduce"}, "'allreduce'.*all_reduce"),
        ({"inputs": lambda case, rng: []}, "inputs .*collective"),
    ],
)
def test_a_declaration_is_checked(kind, said):
    with pytest.raises(DeclarationError, match=said):
        make(kind)


def test_a_solution_is_a_generator():
    with pytest.raises(DeclarationError, match=r"t-ring: .*solution"):
        make(solution=lab.plain_sum)
    with pytest.raises(DeclarationError, match=r"t-ring: .*mistakes"):
        make(mistakes=(Mistake(3, "three"),))
    with pytest.raises(DeclarationError, match=r"answer is 3; .*Algorithm"):
        make(answer=3)


@pytest.mark.parametrize("value", [5, "ring", [1], float("nan"), None])
def test_what_is_no_function_scores_nothing(value):
    verdict = RING.judge_message(encoding.encode(value), None, None)
    assert verdict.score == 0
    found = (verdict.kind, verdict.reason)
    assert found == (("empty", "") if value is None else ("unreadable", "not-a-function"))
    assert RING.judge(encoding.Callable("ring")).reason == "cannot-be-run"


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
        assert (verdict.kind, verdict.reason) == ("wrong", "withheld")
        assert any(write_it_yourself(name) in verdict.say for name in names)
        assert names[0] in verdict.say
        assert judge(withheld, ring_allreduce).score == 0
        assert judge(withheld, lab.ring).kind == "right"
        assert judge(RING, uses_the_library).kind == "right"
    assert library_overlap(make(withholds=("hwlib.algorithms",))) == []
    assert library_overlap(make(answer=Function("f", cases=[(1,)]), solution=lambda x: x, mistakes=())) == []


def test_it_is_answered_in_an_editor_that_holds_its_stub():
    from autograder.book.site.answer_box import form
    from autograder.book.source.notebook import how_to_answer

    assert RING.stub() in form(RING, "06-collectives").unescape()
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

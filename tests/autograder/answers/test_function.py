import re
import sys
import time

import numpy as np
import pytest

from autograder.answers import Function, answer_from
from autograder.answers.selftest import Liar, selftest
from autograder.declaration import AnswerError, DeclarationError, Exercise, Mistake
from autograder.declaration.bank import Bank
from autograder.declaration.calling import failure, local_call
from autograder.grading.judge import JudgeRequest, judge_answer
from autograder.ranks import seeds
from autograder.values import encoding


def scale(xs, k):
    return [x * k for x in xs]


def make(**changes):
    fields = {
        "id": "t-scale",
        "prompt": "Scale.",
        "solution": scale,
        "hints": ("Multiply.",),
        "answer": Function(
            "scale",
            "scale(xs, k)",
            cases=lambda rng: [([rng.random() for _ in range(3)], rng.randint(2, 9)) for _ in range(20)],
        ),
        "mistakes": (Mistake(lambda xs, k: [x + k for x in xs], "Scaling multiplies."),),
    }
    return Exercise(**(fields | changes))


HIDDEN = make()
SHOWN = make(answer=Function("scale", "scale(xs, k)", cases=[([1.0, 2.0], 3), ([], 2)]))
RATE = make(
    id="t-rate",
    answer=Function("rate", "rate(S, t)", cases=[(1e9, 2.0), (3e12, 1.5)], unit="B/s"),
    solution=lambda S, t: S / t,
    mistakes=(),
)


def judge(exercise, function, seconds=0.5):
    return exercise.judge_message(encoding.encode(function), None, local_call(function, exercise.withholds, seconds))


def divides(xs, k):
    return [x / 0 for x in xs]


def loops(xs, k):
    while True:
        pass


def swallows(xs, k):
    while True:
        try:
            time.sleep(10)
        except Exception:
            continue


def changes_its_input(xs, k):
    for i in range(len(xs)):
        xs[i] *= k
    return xs


def imports_hwlib(xs, k):
    from hwlib.roofline import ridge

    return ridge(1.0, 2.0)


def lies(xs, k):
    return [Liar(x) for x in xs]


def exits(xs, k):
    raise ValueError("<b>no</b>")


@pytest.mark.parametrize(
    "function",
    [
        scale,
        changes_its_input,
        lambda xs, k: tuple(x * k for x in xs),
        lambda xs, k: np.array(xs) * k,
        lambda xs, k: [np.float64(x) * k for x in xs],
    ],
)
def test_a_right_function_is_right_whatever_it_returns_its_numbers_in(function):
    assert judge(HIDDEN, function).kind == "right", judge(HIDDEN, function)
    assert judge(SHOWN, function).score == 1


@pytest.mark.parametrize(
    ("function", "reason", "named"),
    [
        (divides, "raises", "ZeroDivisionError: "),
        (divides, "raises", "return [x / 0 for x in xs]"),
        (loops, "time-limit", " 0.2 s"),
        (swallows, "time-limit", " 0.2 s"),
        (lambda xs: xs, "raises", "TypeError: "),
        (lies, "no-plain-data", "Liar"),
        (lambda xs, k: "x", "other-type", "`'x'`"),
        (lambda xs, k: xs * 2, "other-length", " 6; "),
        (lambda xs, k: 5, "other-type", "`5`"),
        (exits, "raises", "ValueError"),
        (lambda xs, k: object(), "no-plain-data", "object"),
        (lambda xs, k: [x * k * 1.001 for x in xs], "wrong-value", "[0] is `"),
        (lambda xs, k: scale(xs, k) if k < 5 else xs, "wrong-value", " of 20 "),
    ],
)
def test_a_wrong_function_is_told_the_input_and_what_came(function, reason, named):
    verdict = judge(HIDDEN, function, 0.2)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, "wrong", reason)
    assert named in verdict.say
    assert "`scale([" in verdict.say
    assert "<" not in verdict.say


def test_a_mistake_of_a_function_gets_its_sentence():
    assert judge(HIDDEN, lambda xs, k: [x + k for x in xs]).say == "Scaling multiplies."


def test_expected_values_are_shown_for_public_cases_only():
    wrong = lambda xs, k: [x * k + 0.5 for x in xs]
    shown = judge(SHOWN, wrong).say
    assert "`[3.5, 6.5]`" in shown
    assert "[0] is `3.5`; `3` " in shown
    hidden = judge(HIDDEN, wrong).say
    shortest = min(HIDDEN.answer.inputs(HIDDEN), key=lambda args: len(HIDDEN.answer._called(args, None)))
    assert "[0] is `" in hidden
    assert HIDDEN.answer._called(shortest) in hidden  # which a learner can work out by hand
    assert not [want for want in HIDDEN.answer.outputs(HIDDEN, scale) if f"{want[0]:.10g}" in hidden]
    assert judge(HIDDEN, wrong).wants_hint
    assert "Multiply." not in hidden


RECORD = make(
    id="t-record",
    answer=Function("constants", "constants(S, t)", cases=lambda rng: [(rng.uniform(1e6, 1e9), 2.0) for _ in range(9)]),
    solution=lambda S, t: (t * 1e-6, S / t),
    mistakes=(),
)


@pytest.mark.parametrize("made", [tuple, list, np.array])
@pytest.mark.parametrize(
    ("wrong", "kind", "reason", "named"),
    [
        (lambda S, t: (0.5, S / t), "wrong", "wrong-value", "[0] is `0.5`, more than 10^5 times "),
        (lambda S, t: (t * 1e-6, S), "slip", "factor-two", "[1]: "),
        (lambda S, t: (t * 1e-6, S / t / 1e9), "slip", "prefix", "[1]: "),
        (lambda S, t: (t * 1e-6, 8 * S / t), "slip", "bits", "[1]: "),
        (lambda S, t: (t, S / t), "slip", "prefix", "[0]: "),
        (lambda S, t: (t * 1e-6, S / t + 3e9), "wrong", "wrong-value", "[1] is `"),
        (lambda S, t: (t * 1e-6, -S / t), "slip", "sign", "[1]: "),
        (lambda S, t: (t * 1e-6,), "wrong", "other-length", " 1; "),
    ],
)
def test_the_element_that_differs_is_named(made, wrong, kind, reason, named):
    verdict = judge(RECORD, lambda S, t: made(wrong(S, t)))
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, kind, reason)
    assert named in verdict.say


def of_whole_numbers(**changes):
    answer = Function("worst", "worst(k)", cases=lambda rng: [(rng.randint(4, 9),) for _ in range(9)], **changes)
    return make(id="t-worst", answer=answer, solution=lambda k: [k, "a", [k + 0.5]], mistakes=())


@pytest.mark.parametrize(("changes", "sized"), [({}, False), ({"counts": True}, True), ({"unit": "s"}, True)])
def test_a_label_is_not_too_small(changes, sized):
    exercise = of_whole_numbers(**changes)
    say = judge(exercise, lambda k: [k - 3, "a", [k + 0.5]]).say
    assert (say.endswith("which is not right."), "too small" in say) == (not sized, sized), say
    assert "which is not right" in judge(exercise, lambda k: [k, "b", [k + 0.5]]).say  # nor is a letter
    assert "too large" in judge(exercise, lambda k: [k, "a", [k + 0.9]]).say


@pytest.mark.parametrize("off", [1e-5, 3e-11, 1e-15])
@pytest.mark.parametrize("unit", [None, "s"])
def test_two_numbers_that_differ_are_shown_with_digits_that_do(unit, off):
    answer = Function("scale", "scale(x)", cases=[(0.37,)], rtol=1e-16, unit=unit)
    close = make(answer=answer, solution=lambda x: 3 * x, mistakes=())
    mine, right = re.findall(r"[\d.]+", judge(close, lambda x: 3 * x * (1 + off)).say.split("gives ", 1)[1])[:2]
    assert mine != right


def test_the_smallest_case_that_fails_is_shown():
    cases = [([1.0] * 50, 7), ([1.0, 2.0], 30), ([1.0, 2.0], 3), ([1.0], 2), ([], 2)]
    exercise = make(id="t-small", answer=Function("scale", "scale(xs, k)", cases=cases), mistakes=())
    assert "`scale([1, 2], 3)`" in judge(exercise, lambda xs, k: [x * k for x in xs[:1]] + [0] * (len(xs) - 1)).say


@pytest.mark.parametrize(
    ("right", "wrong", "shown"),
    [
        (list(range(200)), [*range(150), -1, *range(151, 200)], "`[…, 148, 149, -1, 151, 152, …]`; element [150] is "),
        ("a" * 300, "a" * 200 + "b" * 100, "…`"),
        ([[1] * 40] * 9, [[1] * 40] * 8 + [[1] * 39 + [2]], "[8][39] is `2`; `1` "),
        ([1, 2] * 70, [1, 2] * 60, "of length 120"),
    ],
)
def test_a_long_result_is_cut_around_the_first_difference(right, wrong, shown):
    answer = Function("f", "f(x)", cases=[(1,), (2,)])
    exercise = make(id="t-long", answer=answer, solution=lambda x: right, mistakes=())
    say = judge(exercise, lambda x: wrong).say
    assert shown in say
    assert len(say) < 400


def test_a_stub_is_no_answer_yet():
    scope = {}
    exec(HIDDEN.stub(), scope)
    assert judge(HIDDEN, scope["scale"]).kind == "empty"
    assert HIDDEN.answer_name == "scale"


@pytest.mark.parametrize("value", [5, "scale", [1], float("nan"), {"a": 1}])
def test_what_is_no_function_is_told_so(value):
    verdict = HIDDEN.judge_message(encoding.encode(value), None, None)
    assert (verdict.kind, verdict.reason) == ("unreadable", "not-a-function")


def test_without_a_way_to_call_it_scores_nothing():
    verdict = HIDDEN.judge(encoding.Callable("scale"))
    assert (verdict.score, verdict.reason) == (0.0, "cannot-be-called")


def test_replies_come_from_the_call_not_from_the_marker():
    asked = []

    def call(args):
        asked.append(args)
        if len(asked) > 3:
            raise AnswerError("the process is gone", "process-ended")
        return scale(*args)

    verdict = HIDDEN.judge(encoding.Callable("anything"), None, call)
    assert (verdict.score, verdict.reason) == (0.0, "process-ended")
    assert "the process is gone" in verdict.say
    assert len(asked) == 4
    assert asked == HIDDEN.answer.inputs(HIDDEN)[:4]


def test_a_slip_in_every_case_is_told():
    slip = judge(RATE, lambda S, t: 8 * S / t)
    assert (slip.kind, slip.reason) == ("slip", "bits")
    once = judge(RATE, lambda S, t: S / t if S > 1e10 else S / t + 1)
    assert (once.kind, once.reason) == ("wrong", "wrong-value")
    assert "500 MB/s" in once.say


def test_numbers_that_print_alike_get_more_digits():
    say = judge(RATE, lambda S, t: S / t * 1.00003).say
    assert "gives `2.0001 TB/s`; `2 TB/s` was expected" in say


@pytest.mark.parametrize("huge", [10**4000, {"a": 10**4000}, [10**4000], 1e308, float("nan"), -(10**400)])
def test_a_huge_reply_is_wrong_and_no_more(huge):
    verdict = judge(RATE, lambda S, t: huge)
    assert (verdict.score, verdict.kind) == (0.0, "wrong")
    assert len(verdict.say) < 400


def names(verdict, module):
    """Whether it is wrong for a module that is withheld, and says which."""
    return (verdict.kind, verdict.reason) == ("wrong", "withheld") and module in verdict.say


def test_what_algorithms_are_written_with_is_not_withheld():
    from hwlib.algorithms import blocks, ring_allgather

    withheld = make(withholds=("hwlib.algorithms",))
    cuts = eval("lambda xs, k: [x * k for part in blocks(xs, 2) for x in part]", {"blocks": blocks})
    assert judge(withheld, cuts).score == 1
    rings = eval("lambda xs, k: ring_allgather(0, 1, xs)", {"ring_allgather": ring_allgather})
    assert names(judge(withheld, rings), "hwlib.algorithms")


def test_withheld_modules_are_written_by_oneself():
    withheld = make(withholds=("hwlib.roofline",))
    assert judge(withheld, scale).score == 1
    assert names(judge(withheld, imports_hwlib), "hwlib.roofline")
    import hwlib.roofline

    uses = eval("lambda xs, k: library.ridge(1.0, 2.0)", {"library": hwlib.roofline})
    assert names(judge(withheld, uses), "hwlib.roofline")
    assert names(judge(withheld, hwlib.roofline.ridge), "hwlib.roofline")
    package = eval("lambda xs, k: hwlib.roofline.ridge(1.0, 2.0)", {"hwlib": hwlib})
    assert names(judge(withheld, package), "hwlib.roofline")
    assert sys.modules["hwlib.roofline"] is hwlib.roofline


@pytest.mark.parametrize(
    "answer",
    [
        lambda: Function("f", "g(x)", cases=[(1,)]),
        lambda: Function("f", "f(x): import os", cases=[(1,)]),
        lambda: Function("2f"),
    ],
)
def test_a_signature_must_be_one(answer):
    with pytest.raises(DeclarationError, match=r"\(a, b\)"):
        answer()


def test_a_function_needs_functions_and_cases():
    with pytest.raises(DeclarationError, match=r"t-scale: .*Function"):
        make(solution=3)
    with pytest.raises(DeclarationError, match=r"t-scale: .*cases"):
        make(answer=Function("f", "f(x)"))


def test_the_public_record_names_the_function():
    kind = answer_from(HIDDEN.public())
    assert kind.readable(encoding.Callable("scale")) == "the function `scale`"


def test_failure_names_the_learners_line():
    with pytest.raises(ZeroDivisionError) as raised:
        divides([1], 2)
    assert failure(raised.value, divides).endswith(": return [x / 0 for x in xs]")


@pytest.mark.parametrize(
    ("function", "kind", "reason", "named"),
    [
        (lambda xs, k: [round(x * k, 6) for x in xs], "wrong", "nearly-right", ""),
        (lambda xs, k: [round(x * k, 1) for x in xs], "wrong", "wrong-value", ""),
        (lambda xs, k: sys.exit(3), "wrong", "exits-python", "sys.exit"),
        (lambda xs, k: (x * k for x in xs), "wrong", "no-plain-data", "generator"),
        (lambda xs, k: np.float64(k), "wrong", "other-type", ""),
        (lambda xs, k: (k,), "wrong", "other-length", ",)`, of length 1; "),
        (lambda xs, k: None, "empty", "returns-nothing", "`return`"),
    ],
)
def test_what_a_wrong_function_is_told(function, kind, reason, named):
    verdict = judge(HIDDEN, function)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, kind, reason)
    assert named in verdict.say


def test_the_words_for_a_value_of_another_type():
    assert "a text; a list was expected" in judge(HIDDEN, lambda xs, k: "x").say


def test_the_alarm_is_given_back():
    import signal

    before = signal.getsignal(signal.SIGALRM)
    local_call(scale)(([1.0], 2))
    assert signal.getsignal(signal.SIGALRM) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


TIME = make(
    id="t-time",
    answer=Function(
        "t",
        "t(n, S, alpha, W)",
        unit="s",
        units={"n": "1", "S": "B", "alpha": "s", "W": "B/s"},
        cases=lambda rng: [(rng.randint(2, 64), rng.uniform(1e6, 1e9), 2e-6, 5e10) for _ in range(9)],
    ),
    solution=lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / n / W),
    mistakes=(),
)


@pytest.mark.parametrize(
    ("function", "kind", "reason", "named"),
    [
        (lambda n, S, alpha, W: 2 * (n - 1) * S * W, "unit", "other-unit", " B^2/s."),
        (lambda n, S, alpha, W: S / n, "unit", "other-unit", " B."),
        (lambda n, S, alpha, W: S / W + n, "unit", "mixed-units", " s, "),
        (lambda n, S, alpha, W: (n - 1) * (alpha + S / W), "wrong", "wrong-value", "`t("),
        (lambda n, S, alpha, W: "soon", "wrong", "other-type", "`'soon'`"),
    ],
)
def test_a_function_of_the_wrong_dimension_is_told_so(function, kind, reason, named):
    verdict = judge(TIME, function)
    assert (verdict.score, verdict.kind, verdict.reason) == (0.0, kind, reason)
    assert named in verdict.say


def by_table(inputs, exercise):
    """A function that has learned the results of some cases by heart."""
    table = {repr(args): exercise.solution(*args) for args in inputs}
    return lambda *args: table.get(repr(args), 0)


DRAWS = {
    "all": Function("half", "half(n)", cases=lambda rng: [(rng.randint(1, 10**6),) for _ in range(8)]),
    "more": Function("half", "half(n)", cases=[(1,), (7,)], drawn=lambda rng: [(rng.randint(1, 10**6),)]),
    "none": Function("half", "half(n)", cases=[(1,), (7,)]),
}


@pytest.mark.parametrize("draws", DRAWS)
def test_a_table_of_results_does_not_pass_in_another_submission(draws):
    exercise = make(answer=DRAWS[draws], solution=lambda n: n // 2, mistakes=())

    def inputs(seed):
        with seeds.seeded(seed):
            return exercise.answer.inputs(exercise)

    def graded(function, seed):
        with seeds.seeded(seed):
            return judge(exercise, function)

    learned = by_table(inputs("first"), exercise)
    assert graded(learned, "first").score == 1
    assert graded(learned, "second").score == (draws == "none")
    assert graded(learned, "second") == graded(learned, "second")
    assert graded(exercise.solution, "second").score == 1
    assert (inputs("first") == inputs("second")) == (draws == "none")
    alone = by_table(inputs(""), exercise)
    assert judge(exercise, alone).score == 1
    assert inputs("") == inputs("")


def test_drawn_cases_of_a_list_show_their_expected_values():
    exercise = make(answer=DRAWS["more"], solution=lambda n: n // 2, mistakes=())
    with seeds.seeded("first"):
        ((n,),) = set(exercise.answer.inputs(exercise)) - {(1,), (7,)}
        verdict = judge(exercise, by_table([(1,), (7,)], exercise))
    assert verdict.score == 0
    assert f"`{n // 2}` was expected" in verdict.say


def test_the_judge_draws_by_the_submission():
    exercise = make(answer=DRAWS["more"], solution=lambda n: n // 2, mistakes=())
    with seeds.seeded("first"):
        learned = by_table(exercise.answer.inputs(exercise), exercise)
    bank = Bank([exercise])
    score = {
        seed: judge_answer(bank, JudgeRequest(exercise.id, None, encoding.encode(learned), seed), local_call(learned))[
            "score"
        ]
        for seed in ("first", "second", "")
    }
    assert score == {"first": 1, "second": 0, "": 0}


@pytest.mark.parametrize(
    ("cases", "ways"),
    [
        ([(1, 2.0), (7, 3.0), (8, 1.0)], set()),
        ([(1, 2.0), (9, 3.0), (8, 1.0)], {"no odd prime for n"}),
        ([(2, 2.0), (7, 3.0), (8, 1.0)], {"no 1 for n"}),
        ([(2, 2.0), (4, 3.0)], {"no 1 for n", "no odd prime for n"}),
        ([(4, 2.0), (4, 3.0)], set()),
        ([(2, 2), (4, 3.0)], {"no 1 for n", "no odd prime for n"}),
    ],
)
def test_cases_hold_the_whole_numbers_that_tell(cases, ways):
    exercise = make(answer=Function("f", "f(n, x)", cases=cases), solution=lambda n, x: n * x)
    assert {weak.way for weak in exercise.answer.weaknesses(exercise, [])} == ways


@pytest.mark.parametrize(
    ("cases", "ways"),
    [
        ([(2e-6,), (3e-4,)], {"results rounded to six digits"}),
        ([(2.3e-6,), (3e-4,)], set()),
        ([(2.0,), (3.0,)], set()),
    ],
)
def test_results_are_not_all_whole_microseconds(cases, ways):
    exercise = make(answer=Function("f", "f(t)", cases=cases), solution=lambda t: (t, 7))
    assert {weak.way for weak in exercise.answer.weaknesses(exercise, [])} == ways


def test_one_is_not_asked_for_where_the_function_does_not_take_it():
    exercise = make(answer=Function("f", "f(n)", cases=[(2,), (7,), (8,)]), solution=lambda n: 1 / (n - 1))
    assert exercise.answer.weaknesses(exercise, []) == []


def test_a_mistake_that_other_submissions_do_not_tell_is_reported():
    def cases(rng):
        return [(1,), (7,), (rng.randint(0, 10**9),)] if seeds.current() else [(1,), (7,), (10,)]

    kept = Mistake(lambda n: 0 if n == 10 else 2 * n, "Ten, too.")
    exercise = make(
        prompt="?", answer=Function("f", "f(n)", cases=cases), solution=lambda n: 2 * n, mistakes=(kept, kept)
    )
    assert any("submission 0" in problem for problem in exercise.answer.problems(exercise))


def test_units_name_every_argument():
    with pytest.raises(DeclarationError, match=r"units has S; .*S, t "):
        make(id="t-x", answer=Function("f", "f(S, t=1)", cases=[(1.0, 2.0)], unit="B/s", units={"S": "B"}), mistakes=())


def lengths(rng):
    return [([1.0] * rng.choice((1, 1, 1, 2)), 1) for _ in range(2)]


SEEDS = ["", *(f"any text {i}" for i in range(20))]


@pytest.mark.parametrize("declared", ["mistake", "mutant"])
@pytest.mark.parametrize("cases", [{"cases": lengths}, {"cases": [([1.0], 1)], "drawn": lengths}], ids=["all", "more"])
def test_every_draw_tells_each_mistake_and_mutant_from_the_solution(declared, cases):
    first = lambda xs, k: [xs[0] * k]  # right for a list of one
    exercise = make(
        answer=Function("scale", "scale(xs, k)", mutants={"all": first} if declared == "mutant" else {}, **cases),
        mistakes=(Mistake(first, "All of them."),) if declared == "mistake" else (),
    )
    for seed in SEEDS:
        with seeds.seeded(seed):
            assert judge(exercise, first).score == 0, seed
            assert judge(exercise, scale).score == 1, seed


def test_two_mutants_that_no_draw_tells_both_are_told():
    first, ones = lambda xs, k: [xs[0] * k], lambda xs, k: list(xs)
    kinds = ([1.0, 2.0], 1), ([1.0], 2)  # each tells only one of the two
    drawn = lambda rng: [rng.choice(kinds)] * 2
    answer = Function("scale", "scale(xs, k)", cases=drawn, mutants={"all of them": first, "times k": ones})
    exercise = make(answer=answer, mistakes=())
    for seed in SEEDS:
        with seeds.seeded(seed):
            assert len(answer.inputs(exercise)) == 3, "the draw, and a case of another that tells"
            assert [judge(exercise, one).score for one in (scale, first, ones)] == [1, 0, 0], seed


def test_a_function_without_a_program_that_forgets_something_is_named():
    says = "forgets a clause"
    cases = [([1.0], 1), ([1.0, 2.0], 3)]
    bare, full = Function("scale", "scale(xs, k)", cases=cases), Function("scale", "scale(xs, k)", cases=cases)
    assert any(says in problem for problem in bare.problems(make(answer=bare, mistakes=())))
    assert not any(says in problem for problem in full.problems(make(answer=full)))


def test_a_mutant_that_fails_in_a_case_is_told_apart():
    crashes = lambda xs, k: [xs[0] * k / (2 - len(xs))]  # right for a list of one, and fails for one of two
    answer = Function("scale", "scale(xs, k)", cases=lengths, mutants={"two": crashes})
    exercise = make(answer=answer, mistakes=())
    for seed in SEEDS:
        with seeds.seeded(seed):
            assert max(len(xs) for xs, _ in answer.inputs(exercise)) == 2
    assert not [one for one in answer.problems(exercise) if "mutant" in one]


@pytest.mark.parametrize("cases", [[([1.0], 1)], lambda rng: [([rng.random()], 1)]], ids=["fixed", "drawn"])
def test_the_self_test_names_a_mutant_that_no_case_tells(cases):
    first = lambda xs, k: [xs[0] * k]
    answer = Function("scale", "scale(xs, k)", cases=cases, mutants={"all but the first": first})
    problems = " ".join(selftest(make(answer=answer)))
    assert "'all but the first' is right" in problems
    told = Function("scale", "scale(xs, k)", cases=[([1.0], 1), ([1.0, 2.0], 3)], mutants={"all but the first": first})
    assert "is right" not in " ".join(selftest(make(answer=told)))

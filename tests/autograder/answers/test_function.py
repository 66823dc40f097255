import sys
import time

import numpy as np
import pytest

from autograder.answers import Function, answer_from
from autograder.answers.selftest import Liar
from autograder.declaration import AnswerError, DeclarationError, Exercise, Mistake
from autograder.declaration.calling import failure, local_call
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
    ("function", "say"),
    [
        (divides, "ZeroDivisionError: "),
        (divides, "return [x / 0 for x in xs]"),
        (loops, "more than 0.2 s"),
        (swallows, "more than 0.2 s"),
        (lambda xs: xs, "takes 1 positional argument"),
        (lies, "Liar cannot be graded"),
        (lambda xs, k: "x", "a text; a list "),
        (lambda xs, k: xs * 2, "length 6; "),
        (lambda xs, k: 5, "a number; a list "),
        (exits, "ValueError"),
        (lambda xs, k: object(), "cannot be graded"),
        (lambda xs, k: [x * k * 1.001 for x in xs], "which is not right"),
        (lambda xs, k: scale(xs, k) if k < 5 else xs, "cases are right"),
    ],
)
def test_a_wrong_function_is_told_the_input_and_what_came(function, say):
    verdict = judge(HIDDEN, function, 0.2)
    assert verdict.score == 0
    assert say in verdict.say
    assert "`scale([" in verdict.say
    assert "<" not in verdict.say


def test_a_mistake_of_a_function_gets_its_sentence():
    assert judge(HIDDEN, lambda xs, k: [x + k for x in xs]).say == "Scaling multiplies."


def test_expected_values_are_shown_for_public_cases_only():
    wrong = lambda xs, k: [x * k + 0.5 for x in xs]
    assert "`[3, 6]` was expected" in judge(SHOWN, wrong).say
    hidden = judge(HIDDEN, wrong).say
    assert "expected" not in hidden
    assert "A hint: Multiply." in hidden


def test_a_stub_is_no_answer_yet():
    scope = {}
    exec(HIDDEN.stub(), scope)
    assert judge(HIDDEN, scope["scale"]).kind == "empty"
    assert HIDDEN.answer_name == "scale"


@pytest.mark.parametrize("value", [5, "scale", [1], float("nan"), {"a": 1}])
def test_what_is_no_function_is_told_so(value):
    verdict = HIDDEN.judge_message(encoding.encode(value), None, None)
    assert verdict.kind == "unreadable"


def test_without_a_way_to_call_it_scores_nothing():
    assert HIDDEN.judge(encoding.Callable("scale")).score == 0


def test_replies_come_from_the_call_not_from_the_marker():
    asked = []

    def call(args):
        asked.append(args)
        if len(asked) > 3:
            raise AnswerError("the process is gone")
        return scale(*args)

    verdict = HIDDEN.judge(encoding.Callable("anything"), None, call)
    assert verdict.score == 0
    assert "the process is gone" in verdict.say
    assert len(asked) == 4
    assert asked == HIDDEN.answer.inputs(HIDDEN)[:4]


def test_a_slip_in_every_case_is_told():
    assert "bits" in judge(RATE, lambda S, t: 8 * S / t).say
    assert "500 MB/s" in judge(RATE, lambda S, t: S / t if S > 1e10 else S / t + 1).say


@pytest.mark.parametrize("huge", [10**4000, {"a": 10**4000}, [10**4000], 1e308, float("nan"), -(10**400)])
def test_a_huge_reply_is_wrong_and_no_more(huge):
    verdict = judge(RATE, lambda S, t: huge)
    assert (verdict.score, verdict.kind) == (0.0, "wrong")
    assert len(verdict.say) < 400


def names(verdict, module):
    """Whether it is wrong for a module that is withheld, and says which."""
    return verdict.kind == "wrong" and module in verdict.say


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
    with pytest.raises(DeclarationError, match="was expected"):
        answer()


def test_a_function_needs_functions_and_cases():
    with pytest.raises(DeclarationError, match="functions"):
        make(solution=3)
    with pytest.raises(DeclarationError, match="needs cases"):
        make(answer=Function("f", "f(x)"))


def test_the_public_record_names_the_function():
    kind = answer_from(HIDDEN.public())
    assert kind.readable(encoding.Callable("scale")) == "the function `scale`"


def test_failure_names_the_learners_line():
    with pytest.raises(ZeroDivisionError) as raised:
        divides([1], 2)
    assert failure(raised.value, divides).endswith(": return [x / 0 for x in xs]")


@pytest.mark.parametrize(
    ("function", "say"),
    [
        (lambda xs, k: [round(x * k, 6) for x in xs], "rounded"),
        (lambda xs, k: [round(x * k, 1) for x in xs], "which is not right"),
        (lambda xs, k: sys.exit(3), "it ends Python (sys.exit)"),
        (lambda xs, k: (x * k for x in xs), "type generator"),
        (lambda xs, k: np.float64(k), "a number; a list "),
        (lambda xs, k: (k,), ",)`, of length 1; "),
    ],
)
def test_what_a_wrong_function_is_told(function, say):
    verdict = judge(HIDDEN, function)
    assert verdict.score == 0
    assert say in verdict.say


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
    ("function", "say"),
    [
        (lambda n, S, alpha, W: 2 * (n - 1) * S * W, " s, yours is in B^2/s."),
        (lambda n, S, alpha, W: S / n, " s, yours is in B."),
        (lambda n, S, alpha, W: S / W + n, "different units"),
        (lambda n, S, alpha, W: (n - 1) * (alpha + S / W), "which is not right"),
        (lambda n, S, alpha, W: "soon", "a text; a number "),
    ],
)
def test_a_function_of_the_wrong_dimension_is_told_so(function, say):
    verdict = judge(TIME, function)
    assert verdict.score == 0
    assert say in verdict.say


def test_units_name_every_argument():
    with pytest.raises(DeclarationError, match=r"units has S; .*S, t "):
        make(id="t-x", answer=Function("f", "f(S, t=1)", cases=[(1.0, 2.0)], unit="B/s", units={"S": "B"}), mistakes=())

"""Every exercise of the book tests itself, and none asks for what the library hands over."""

import json
import random
import re
from collections import Counter
from math import floor, sqrt

import pytest

from autograder.answers import Algorithm, Choice, Design, Distributed, Function, Kernel
from autograder.answers.algorithm import direct
from autograder.answers.code import Coded
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.declaration import AnswerError
from autograder.values import encoding
from hwlib.algorithms import Step, blocks
from tests.autograder.messages import message
from tests.banks import banks
from tests.each import each

BANKS = list(banks().values())
EXERCISES = [exercise for bank in BANKS for exercise in bank.values()]
DEAR = Design, Distributed, Kernel  # whose self-test takes a second and more
CODED = [exercise for exercise in EXERCISES if isinstance(exercise.answer, Coded)]
EACH = 4  # of the other self-tests the fast tests run one in so many


def is_dear(exercise):
    """Whether its self-test takes long: that of a lab, too, and of a program on ranks, of which it runs hundreds."""
    return isinstance(exercise.answer, DEAR) or "-lab-" in exercise.id or bool(exercise.answer.loads(exercise))


@pytest.mark.parametrize(
    "exercise",
    [pytest.param(e, marks=pytest.mark.slow if k % EACH or is_dear(e) else ()) for k, e in enumerate(EXERCISES)],
    ids=lambda e: e.id,
)
def test_the_exercise_tests_itself(exercise):
    assert selftest(exercise) == []


CHOICES = [exercise for exercise in EXERCISES if isinstance(exercise.answer, Choice)]
SIZE = re.compile(r"(?:about |between )?(\d+(?:[.,]\d+)*)")  # of an option, where that is what it begins with


def sizes(exercise):
    """The numbers with which the options of a choice begin; [] unless all do."""
    begins = [SIZE.match(text or key) for key, text in exercise.answer.options.items()]
    return [float(begin[1].replace(",", "")) for begin in begins if begin] if all(begins) else []


def test_choices_of_sizes_keep_their_order_and_of_no_other_the_places_tell_the_right_option():
    of_sizes = [exercise for exercise in CHOICES if sizes(exercise)]
    assert len(of_sizes) > 10
    assert [exercise.id for exercise in of_sizes if not exercise.answer.ordered] == []
    for exercise in of_sizes:
        assert sizes(exercise) in (sorted(sizes(exercise)), sorted(sizes(exercise), reverse=True)), exercise.id
    shuffled = [exercise for exercise in CHOICES if not exercise.answer.ordered]
    places = [list(one.answer.options).index(one.expected(one.variant())) for one in shuffled]
    assert len(places) >= 30
    assert max(Counter(places).values()) < 0.45 * len(places)


@pytest.mark.slow
@each("exercise", EXERCISES)
def test_the_library_is_not_the_answer(exercise):
    assert library_overlap(exercise) == []


@pytest.mark.slow
@pytest.mark.parametrize("messages", [16, pytest.param(100, marks=pytest.mark.nightly)])
@each("exercise", EXERCISES)
def test_no_message_raises_and_none_scores_but_a_lucky_number(exercise, messages):
    rng = random.Random(exercise.id)
    lucky = []
    names = list(getattr(exercise.answer, "symbols", {"n": None}))

    def call(args):
        try:
            return encoding.decode(message(rng, names))
        except encoding.BadMessage as error:
            raise AnswerError(str(error)) from None

    for _ in range(messages):
        function = exercise.kind == "Function" and rng.random() < 0.8
        sent = json.dumps({"$": "callable", "v": "f"} if function else message(rng, names))
        verdict = exercise.judge_message(json.loads(sent), None, call)
        assert verdict.score == 0 or exercise.predict or exercise.kind in ("Choice", "Count", "Quantity"), sent
        lucky += [sent] if verdict.score and exercise.kind in ("Count", "Quantity") and not exercise.predict else []
    assert len(set(lucky)) <= 2, lucky  # a small number, or a probability, is met once in a while


@pytest.mark.nightly
@pytest.mark.parametrize("exercise", CODED, ids=lambda e: e.id)
def test_every_submission_is_asked_what_tells(exercise, monkeypatch):
    monkeypatch.setattr("autograder.answers.code.SUBMISSIONS", [f"another {i}" for i in range(50)])
    assert exercise.answer.problems(exercise) == []


def test_no_exercise_is_without_a_program_that_forgets_a_clause():
    assert {type(e.answer) for e in CODED} == {Function, Algorithm, Distributed, Kernel}
    assert [e.id for e in CODED if not e.answer.wrong_programs(e)] == []


def straight(rank, n, x):
    """Every block to its owner: a reduce-scatter of as many bytes and rounds as the ring's."""
    block = blocks(x, n)
    for k in range(1, n):
        block[rank][:] += yield Step(block[(rank + k) % n], (rank + k) % n, (rank - k) % n)
    return block[rank]


def straight_gather(rank, n, x):
    """A rank's own block to each other one, in as many rounds as around the ring."""
    block = blocks(x, n)
    for k in range(1, n):
        block[(rank - k) % n][:] = yield Step(block[rank], (rank + k) % n, (rank - k) % n)
    return x


def straight_allreduce(rank, n, x):
    yield from straight(rank, n, x)
    return (yield from straight_gather(rank, n, x))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("collectives-ring-reduce-scatter", straight),
        ("collectives-ring-allgather", straight_gather),
        ("collectives-ring-allreduce", straight_allreduce),
    ],
)
def test_a_ring_that_talks_to_neighbours_only_is_held_to_them(name, answer):
    exercise = next(e for e in EXERCISES if e.id == name)
    verdict = exercise.judge(encoding.Callable(exercise.answer_name), call=direct(answer))
    assert (verdict.score, verdict.reason) == (0.0, "not-a-neighbour"), verdict.say


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("node-networking-both-ways", "r/(r + h*ceil(r/p) + h)"),
        ("node-networking-both-ways", "r/(r + h*(r//p) + h)"),
        ("node-networking-mesh-bisection", "(n//2)**2*W/(n - 1)"),
        ("node-networking-mesh-bisection", "floor(n/2)*ceil(n/2)*W/(n - 1)"),
        ("cluster-networking-switches-per-gpu", "(p + p//(1 + r))/(p*(p*r//(1 + r)))"),
        ("collectives-erratum-ragged", "min(k, n)/n/(1 - (1 - 1/n)**k)"),
    ],
)
def test_a_condition_in_a_prompt_may_be_relied_on(name, answer):
    verdict = next(e for e in EXERCISES if e.id == name).judge(answer)
    assert verdict.score == 1, verdict.say


WRONG = {  # what the numbers of the book once took for right
    "gpu-architecture-vector-flops": lambda n, lanes, f, share, **_: n * lanes * f * (2 - share),
    "memory-hierarchy-largest-tile": lambda kb, b, **_: floor(sqrt(kb * 1024 / (2 * b + 4))),
    "rooflines-vector-add": lambda b, N, C, W, **_: 3 * b * N / W + N / C,
    "collectives-at-scale-oversubscribed": lambda g, p, W, low: (g + 1) / g * p * W / low,
    "cluster-networking-torus": lambda W_link, W: floor(4 * W_link / W) + 1,
    "collectives-one-shot": lambda n, alpha, W: alpha * W / (n - 3),
}


@pytest.mark.parametrize("name", WRONG)
def test_no_learners_numbers_take_a_wrong_way_for_the_right_one(name):
    exercise = next(e for e in EXERCISES if e.id == name)
    assert [row for row in exercise.drawn() if exercise.judge(WRONG[name](**row), row).score] == []


def test_the_switches_of_a_node_decide_in_some_learners_numbers():
    exercise = next(e for e in EXERCISES if e.id == "node-networking-node-bandwidth")
    links = [exercise.judge(row["n"] * row["paths"] * row["W_link"], row).score for row in exercise.drawn()]
    assert links[0] == 0  # in the book's
    assert set(links) == {0, 1}


def test_ids_are_one_of_a_kind_in_the_whole_book():
    assert len({e.id for e in EXERCISES}) == len(EXERCISES) > 0

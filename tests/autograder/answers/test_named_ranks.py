"""Ranks with tensors by name: the labs of training judge themselves, their mistakes and what they take; the same
functions run on real ranks."""

import json
from dataclasses import replace

import numpy as np
import pytest

from autograder.answers import Case, Distributed, answer_from, at_most, exactly
from autograder.answers.distributed import Process
from autograder.answers.selftest import judged, selftest
from autograder.declaration import DeclarationError, Exercise, Mistake
from autograder.ranks.generators import Budget
from autograder.values import encoding
from tests.autograder import training_labs as labs

torch = pytest.importorskip("torch")
dist = torch.distributed


@pytest.mark.parametrize("exercise", labs.LABS, ids=lambda exercise: exercise.id)
def test_the_exercise_tests_itself(exercise):
    assert selftest(exercise) == []


def test_a_generator_and_a_torch_function_are_held_to_the_same():
    assert judged(labs.MLP_GENERATOR, labs.tp_mlp, {}).kind == "right"
    assert judged(labs.MLP, labs.mlp_generator, {}).kind == "right"
    forgetful = labs.MLP_GENERATOR.mistakes[0]
    assert judged(labs.MLP, forgetful.value, {}).say == forgetful.say


# What a learner is told


def transposed(rank, n, x, A, B, dy):
    y, dx, da, db = labs.tp_mlp(rank, n, x, A, B, dy)
    return y, dx, da.T, db


def share(rank, n, x, A, B, dy):
    _, dx, da, db = labs.tp_mlp(rank, n, x, A, B, dy)
    return torch.relu(x @ A) @ B, dx, da, db


def fewer(rank, n, x, A, B, dy):
    return labs.tp_mlp(rank, n, x, A, B, dy)[:3]


def with_ints(rank, n, x, A, B, dy):
    got = torch.zeros(3, dtype=torch.int64)
    dist.all_reduce(got)
    return labs.tp_mlp(rank, n, x, A, B, dy)


def with_bits(rank, n, x, A, B, dy):
    got = torch.zeros(3, dtype=torch.uint8)
    dist.all_reduce(got)
    return labs.tp_mlp(rank, n, x, A, B, dy)


def other_call(rank, n, x, A, B, dy):
    dist.barrier()
    return labs.tp_mlp(rank, n, x, A, B, dy)


def fails(rank, n, x, A, B, dy):
    return A @ A


def stuck(rank, n, x, A, B, dy):
    if rank:
        dist.all_reduce(x)
    return x, x, x, x


def in_a_dict(rank, n, x, A, B, dy):
    return dict(zip(("y", "dx", "dA", "dB"), labs.tp_mlp(rank, n, x, A, B, dy), strict=True))


def in_reverse(rank, n, x, A, B, dy):
    """dx first, by hand, in groups of its own, without waiting."""
    with torch.no_grad():
        h = x @ A
        dh = (dy @ B.T) * (h > 0)
        dx, y = dh @ A.T, torch.relu(h) @ B
    group = dist.new_group(range(n))
    works = [dist.all_reduce(tensor, group=group, async_op=True) for tensor in (dx, y)]
    for work in works:
        work.wait()
    return y, dx, torch.nn.Parameter(x.T @ dh), torch.relu(h).T @ dy


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        dist.all_reduce(total := x.clone())
        return total

    @staticmethod
    def backward(ctx, dy):
        return dy


class Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        dist.all_reduce(total := dy.clone())
        return total


def by_autograd(rank, n, x, A, B, dy):
    """Megatron's f and g."""
    for tensor in (x, A, B):
        tensor.requires_grad_()
    y = Summed.apply(torch.nn.functional.relu(Copied.apply(x) @ A) @ B)
    return (y, *torch.autograd.grad(y, (x, A, B), dy))


@pytest.mark.parametrize(
    ("function", "kind", "reason", "said"),
    [
        (in_a_dict, "right", "", ""),
        (in_reverse, "right", "", ""),
        (by_autograd, "right", "", ""),
        (lambda rank, n, x, A, B, dy: None, "empty", "returns-nothing", "`tp_mlp`"),
        (transposed, "wrong", "transposed", "rank 0 returns dA of shape (4, 6), where (6, 4) was expected"),
        (share, "wrong", "own-share", "rank 0 has "),
        (fewer, "wrong", "wrong-names", "3 results, where y, dx, dA, dB"),
        (with_ints, "wrong", "sends-another-type", "`int64`"),
        (with_bits, "wrong", "sends-another-type", "`uint8`"),
        (other_call, "wrong", "call-not-allowed", "barrier"),
        (fails, "wrong", "raises", "rank 0 fails"),
        (stuck, "wrong", "left-alone", "rank 1 waits in all_reduce for rank 0"),
        (lambda rank, n, x, A, B: x, "wrong", "raises", "TypeError"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_learner_is_told(function, kind, reason, said):
    verdict = judged(labs.MLP, function, {})
    assert (verdict.kind, verdict.reason, verdict.score) == (kind, reason, float(kind == "right")), verdict.say
    assert said in verdict.say


def test_a_group_of_another_rank_is_refused():
    """What torch keeps of the rank that came first: threads of one process would wait for each other for ever."""
    kept = []

    def borrows(rank, n, x, A, B, dy):
        kept.append(dist.group.WORLD)
        kept[0].allreduce([x.clone()])

    assert "another rank's" in judged(labs.MLP, borrows, {}).say


def test_forms_of_zero():
    def with_all_gather(rank, n, w, g, m):
        parts = [torch.empty_like(m) for _ in range(n)]
        dist.reduce_scatter(mine := torch.empty_like(m), list(g.chunk(n)))
        m.mul_(0.9).add_(mine / n)
        dist.all_gather(parts, w.chunk(n)[rank] - 0.1 * m)
        return torch.cat(parts), m

    assert judged(labs.ZERO1, with_all_gather, {}).kind == "right"
    assert judged(labs.ZERO3, labs.zero3_resized, {}).kind == "right"


# Memory


def test_too_much_memory_names_rank_bytes_and_line():
    def hungry(rank, n, x, shards):
        y = labs.zero3(rank, n, x, shards)
        scratch = y.new_zeros(10_000 * (rank + 1))
        return y + scratch[0]

    verdict = judged(labs.ZERO3, hungry, {})
    assert verdict.reason == "too-much-memory"
    assert "rank 3 hold 320." in verdict.say
    assert "at `return y + scratch[0]`, beside those that it was given; at most 3.84 KB were" in verdict.say


def test_a_mistake_of_memory_is_known_by_about_its_peak():
    def keeps(rank, n, x, shards):
        whole = []
        for shard in shards:
            parts = [torch.empty_like(shard) for _ in range(n)]
            dist.all_gather(parts, shard)
            whole.append(torch.cat(parts))
        for w in whole:
            x = torch.tanh(x @ w)
        return x

    mistake = labs.ZERO3.mistakes[0]
    assert judged(labs.ZERO3, keeps, {}).say == mistake.say

    def thrice(rank, n, x, shards):
        y = keeps(rank, n, x, shards)
        return y + x.new_zeros(100_000)[0]

    assert judged(labs.ZERO3, thrice, {}).reason == "too-much-memory"


@pytest.mark.parametrize(
    ("told", "peak"),
    [(True, -1), ({}, -1), ({"peak": -1}, -1), ({"peak": True}, -1), ({"peak": "90"}, -1), ({"peak": 59}, -1),
     ({"peak": 60, "line": 5}, 60), (None, -1)],
)  # fmt: skip
def test_a_peak_below_what_arrived_is_not_believed(told, peak):
    rank = Process(None, 0, 2, {"x": np.zeros(5)}, {}, Budget(9, 9), "float64", measures=True)
    rank.arrived = 100
    rank.told(told)
    assert rank.peak.bytes == peak


def test_a_limit_may_be_of_the_case_or_of_a_rank():
    case = Case(3, sizes={"d": 5}, options={"inner": 2})
    assert (case["d"], case["inner"], case.size, str(case)) == (5, 2, 0, "3 ranks, d = 5, inner = 2")
    with pytest.raises(KeyError, match="has no 'f': it has d, inner"):
        case["f"]
    assert at_most(lambda case: case["d"]).allowed(case, 0) == 5
    assert at_most(times=1.5).allowed(case, 4) == 6
    assert exactly(lambda n, S: n * S).allowed(Case(2, 3), 0) == 48
    stairs = at_most(lambda case, rank: case["d"] - rank)
    assert stairs.busiest(case, [5, 5, 1], [0, 0, 0], max) == (1, 5, 4)
    assert stairs.busiest(case, [5, 4, 3], [0, 0, 0], max)[0] == 0


# Declarations


def declared(solution=labs.product, **kind):
    answer = Distributed(
        "product",
        **{
            "signature": "product(rank, n, A, B)",
            "inputs": labs.product_inputs,
            "calls": ("reduce_scatter", "all_reduce"),
            "cases": [Case(2, sizes={"I": 4, "J": 6, "K": 3})],
            **kind,
        },
    )
    mistakes = Mistake(lambda rank, n, A, B: A, "A."), Mistake(lambda rank, n, A, B: B, "B.")
    return Exercise(id="t-own", points=1, prompt="C.", solution=solution, answer=answer, mistakes=mistakes)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ({"inputs": None, "memory": None}, r"'product\(rank, n, x\)' was expected"),
        ({"rank_bytes": exactly(lambda n, S: S)}, "no S: let it take the case"),
        ({"solution": labs.mlp_generator, "memory": at_most()}, "memory needs a function"),
        ({"solution": 3}, "the solution is a torch.distributed function"),
    ],
)
def test_a_declaration_is_checked(kind, said):
    with pytest.raises(DeclarationError, match=said):
        declared(**kind)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (lambda case, rng: [{"B": np.ones(2), "A": np.ones(2)}] * 2, "the signature has A, B, but inputs gives B, A"),
        (lambda case, rng: [(np.ones(2),)] * 2, "inputs gives another number of arrays"),
    ],
)
def test_arrays_are_those_of_the_signature(inputs, said):
    exercise = declared(inputs=inputs)
    with pytest.raises(DeclarationError, match=said):
        exercise.answer.begin(exercise.answer.runs(exercise)[0], np.random.default_rng(0))


def test_what_is_public_makes_the_answer_again():
    public = labs.MLP.public(variants=True)
    again = answer_from(json.loads(json.dumps(public)))
    assert again.how == labs.MLP.answer.how
    assert "which returns y, dx, dA, dB in this order" in again.how
    assert "limit" not in json.dumps(public)
    assert labs.MLP.answer.box(labs.MLP) is None


def test_numbers_and_options_go_with_the_tensors():
    def scaled(rank, n, x, factor, shift):
        dist.all_reduce(x)
        return x * factor + shift

    exercise = Exercise(
        id="t-scaled",
        points=1,
        prompt="Scale.",
        solution=scaled,
        answer=Distributed(
            "scaled",
            signature="scaled(rank, n, x, factor, shift)",
            calls=("all_reduce",),
            in_place=False,
            inputs=lambda case, rng: [{"x": rng.normal(size=(2, 2)), "factor": 3} for _ in range(case.n)],
            cases=[Case(2, sizes={"d": 2}, options={"shift": 1.5})],
        ),
        mistakes=(
            Mistake(lambda rank, n, x, factor, shift: x, "Nothing."),
            Mistake(lambda rank, n, x, factor, shift: x * factor, "Not all."),
        ),
    )
    assert judged(exercise, scaled, {}).reason == "changes-input"
    assert judged(exercise, lambda rank, n, x, factor, shift: scaled(rank, n, x + 0, factor, shift), {}).kind == "right"


# Where a learner is


def checked(exercise, function):
    call = exercise.answer.local_call(function, exercise.withholds)
    return exercise.judge_message(encoding.encode(function), {}, call)


@pytest.mark.parametrize("exercise", [labs.ZERO3, labs.DDP], ids=lambda exercise: exercise.id)
def test_a_check_in_a_notebook(exercise):
    assert checked(exercise, exercise.solution).kind == "right"


@pytest.mark.slow
def test_a_check_in_a_notebook_measures_memory():
    def hungry(rank, n, w, g, m):
        scratch = torch.zeros(5000, dtype=w.dtype)
        return (*labs.zero1(rank, n, w, g, m), scratch)[:2]

    verdict = checked(labs.ZERO1, hungry)
    assert verdict.reason == "too-much-memory"

    def forged(rank, n, x, shards):
        from autograder.ranks import memory_meter

        memory_meter.Storages.bytes = lambda self: 0
        return labs.zero3(rank, n, torch.ones(2, x.shape[1], dtype=x.dtype) * x, [shard[:] for shard in shards])

    one_layer = replace(labs.ZERO3.answer, cases=[Case(4, sizes={"b": 2, "d": 16, "layers": 1})])
    assert checked(replace(labs.ZERO3, answer=one_layer), forged).reason == "memory-not-told"

    def hidden(rank, n, w, g, m):
        torch.zeros(1000).numpy()

    assert "takes numbers out of their tensor" in checked(labs.ZERO1, hidden).say


@pytest.mark.slow
@pytest.mark.parametrize("exercise", labs.LABS, ids=lambda exercise: exercise.id)
def test_the_same_function_runs_on_real_ranks(exercise):
    """On gloo, with the tensors that the judge draws and the results that it expects."""
    from autograder.ranks.arguments import each, positional
    from autograder.ranks.named_results import same_named
    from autograder.ranks.process_group import plainly
    from hwlib.labs import run_ranks

    if exercise is labs.MLP_GENERATOR:
        pytest.skip("a generator")
    answer = exercise.answer
    case = answer.runs(exercise)[-1]
    inputs = answer.begin(case, np.random.default_rng(1))
    wanted = answer.declared(exercise.solution, case, inputs, Budget(10**6, 1 << 30)).outputs
    given, function, options = list(inputs), exercise.solution, case.options

    def play(rank, n):
        tensors = each(given[rank], lambda array: torch.from_numpy(np.array(array, order="C")))
        return plainly(function(rank, n, *positional(tensors), **options))

    results = run_ranks(play, case.n).results
    for got, want in zip(results, wanted, strict=True):
        assert same_named(case, answer.formed(got, inputs), want, 1e-12)

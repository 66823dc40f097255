"""The exercises of the grading benchmark, as a teacher declares them.

`benchmarks.grading.classroom` copies this file into its course, and asks the same questions in an ordinary nbgrader
notebook.
"""

import random

from autograder.answers import Choice, Count, Distributed, Expression, Function, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import Step, blocks
from hwlib.units import GB

SECONDS = Exercise(
    id="bench-seconds",
    points=2,
    prompt="8 GPUs all-reduce {S:B} around a ring whose links carry {W:B/s} each way. How long, without latency?",
    given={"S": [4 * GB], "W": [100 * GB]},
    answer=Quantity("s"),
    solution=lambda S, W: 2 * 7 / 8 * S / W,
    mistakes=(
        Mistake(lambda S, W: S / W, "Each byte crosses a link about twice."),
        Mistake(lambda S, W: 7 / 8 * S / W, "That is one of its two phases."),
    ),
)
STEPS = Exercise(
    id="bench-steps",
    points=1,
    prompt="How many steps does that ring take?",
    answer=Count(of="step"),
    solution=14,
    mistakes=(Mistake(8, "A step is not a GPU."), Mistake(7, "There are two phases.")),
)
BOUND = Exercise(
    id="bench-bound",
    points=1,
    prompt="A kernel of 2 FLOP/B on a chip whose ridge is at 300 FLOP/B: what bounds it?",
    answer=Choice({"memory": "memory bandwidth", "compute": "arithmetic", "latency": "latency"}),
    solution="memory",
    mistakes=(Mistake("compute", "It would need 150 times the intensity."), Mistake("latency", "Not of a full chip.")),
)
FORMULA = Exercise(
    id="bench-formula",
    points=3,
    prompt="The time of a ring all-reduce over n GPUs, with latency alpha a step?",
    answer=Expression({"n": integers(2, 64), "S": positive("B"), "alpha": positive("s"), "W": positive("B/s")}, "s"),
    solution=lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / (n * W)),
    mistakes=(
        Mistake(lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / W), "A step moves S/n bytes."),
        Mistake(lambda n, S, alpha, W: (n - 1) * (alpha + S / (n * W)), "There are two phases."),
    ),
)


def bubbles(rng: random.Random) -> list[tuple[int, int]]:
    """Stages and microbatches."""
    return [(1, 7), (5, 1)] + [(rng.randint(1, 32), rng.randint(1, 256)) for _ in range(20)]


BUBBLE = Exercise(
    id="bench-bubble",
    points=2,
    prompt="The idle part of a pipeline of p stages and m microbatches.",
    answer=Function("bubble", "bubble(p, m)", cases=bubbles),
    solution=lambda p, m: (p - 1) / (m + p - 1),
    mistakes=(
        Mistake(lambda p, m: (p - 1) / m, "That is idle over busy time."),
        Mistake(lambda p, m: p / (m + p), "The first stage does not wait."),
    ),
)


def softmax(row: list[float]) -> list[float]:
    """The solution, without torch."""
    import math

    weights = [math.exp(x - max(row)) for x in row]
    return [w / sum(weights) for w in weights]


def rows(rng: random.Random) -> list[tuple[list[float]]]:
    """Logits, some of them large."""
    return [([rng.uniform(-3, 3) + shift for _ in range(16)],) for shift in (0, 0, 0, 1000, -1000)]


TORCH = Exercise(
    id="bench-torch",
    points=3,
    prompt="A softmax in torch that survives logits of 1000: a list in, a list out.",
    answer=Function("softmax", "softmax(row)", cases=rows, rtol=1e-6),
    solution=softmax,
    mistakes=(
        Mistake(lambda row: [x / sum(row) for x in row], "Where is the exponential?"),
        Mistake(lambda row: [p / 2 for p in softmax(row)], "They must add up to 1."),
    ),
    harmless={f"side {i} of the max alone": "near the largest, any keeps the exponentials finite" for i in (1, 2)},
)


def ring(rank, n, x):
    """The solution of the lab."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)
    for k in range(n - 1):
        block[(rank - k - 1) % n][:] = yield Step(block[(rank - k) % n], after, before)
    return x


def scattered(rank, n, x):
    """Its first half."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)
    return x


def averaged(rank, n, x):
    """Too small by n."""
    return (yield from ring(rank, n, x)) / n


LAB = Exercise(
    id="bench-allreduce",
    points=4,
    prompt="An all-reduce between two ranks, with send and recv.",
    answer=Distributed("allreduce", cases=[(2, 8), (2, 1000)], collective="all_reduce"),
    solution=ring,
    mistakes=(Mistake(scattered, "Half of it is summed."), Mistake(averaged, "The sum was asked for.")),
)


def parts(rng: random.Random) -> list[tuple[list[list[float]]]]:
    """What two ranks begin with, a short and a long one."""
    return [([[rng.random() for _ in range(length)] for _ in range(2)],) for length in (8, 1000)]


def total(parts: list[list[float]]) -> list[list[float]]:
    """The solution of the lab with run_ranks, without ranks."""
    return [[sum(numbers) for numbers in zip(*parts, strict=True)] for _ in parts]


RANKS = Exercise(
    id="bench-total",
    points=4,
    prompt="Start two ranks with run_ranks, rank r with the numbers parts[r]. All-reduce with send and recv, "
    "and return what each rank has then.",
    answer=Function("total", "total(parts)", cases=parts),
    solution=total,
    mistakes=(
        Mistake(lambda parts: [[x / 2 for x in row] for row in total(parts)], "The sum was asked for."),
        Mistake(lambda parts: parts[::-1], "What came in is to be added."),
    ),
)

"""The exercises that the teacher of the simulated term declares: `benchmarks.term` copies this file into its course,
first with the key of mine-copy that a tired teacher wrote, see `WRONG_KEY` there."""

import random

from autograder.answers import Choice, Count, Expression, Function, Quantity, Written, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB, MB, TB

COPY = Exercise(
    id="mine-copy",
    points=2,
    title="A copy",
    prompt="{S:B} are copied from one GPU to its neighbour at {W:B/s}. How long does it take, to first order?",
    given={"S": [90 * MB, 170 * MB, 410 * MB], "W": [50 * GB, 370 * GB]},
    answer=Quantity("s"),
    solution=lambda S, W: S / W,
    mistakes=(
        Mistake(lambda S, W: W / S, "That is copies per second: turn the quotient over."),
        Mistake(lambda S, W: 2 * S / W, "Each byte crosses the link once."),
    ),
)
STEPS = Exercise(
    id="mine-steps",
    points=1.5,
    title="Steps of a ring",
    prompt="A ring of {n} GPUs all-reduces. How many steps does it take?",
    given={"n": [8, 13, 21, 34]},
    answer=Count(of="step"),
    solution=lambda n: 2 * (n - 1),
    mistakes=(
        Mistake(lambda n: n - 1, "That is one of its two phases."),
        Mistake(lambda n: 2 * n, "The last step of a phase is not needed."),
    ),
)
BOUND = Exercise(
    id="mine-bound",
    points=1,
    title="What bounds it",
    prompt="A kernel of 2 FLOP/B on a chip whose ridge is at 300 FLOP/B: what bounds it?",
    answer=Choice({"memory": "memory bandwidth", "compute": "arithmetic", "latency": "latency"}),
    solution="memory",
    mistakes=(Mistake("compute", "It would need 150 times the intensity."), Mistake("latency", "Not of a full chip.")),
)
RING = Exercise(
    id="mine-ring",
    points=3,
    title="The time of a ring",
    prompt="The time of a ring all-reduce of S bytes over n GPUs, with latency alpha a step and bandwidth W?",
    answer=Expression({"n": integers(2, 64), "S": positive("B"), "alpha": positive("s"), "W": positive("B/s")}, "s"),
    solution=lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / (n * W)),
    mistakes=(
        Mistake(lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / W), "A step moves S/n bytes."),
        Mistake(lambda n, S, alpha, W: (n - 1) * (alpha + S / (n * W)), "There are two phases."),
    ),
)


def pipelines(rng: random.Random) -> list[tuple[int, int]]:
    """Stages and microbatches."""
    return [(1, 7), (5, 1)] + [(rng.randint(2, 32), rng.randint(2, 256)) for _ in range(12)]


BUBBLE = Exercise(
    id="mine-bubble",
    points=2,
    title="A bubble",
    prompt="Write the idle share of a pipeline of p stages and m microbatches.",
    answer=Function("bubble", "bubble(p, m)", cases=pipelines),
    solution=lambda p, m: (p - 1) / (m + p - 1),
    mistakes=(
        Mistake(lambda p, m: (p - 1) / m, "That is idle over busy time."),
        Mistake(lambda p, m: p / (m + p), "The first stage does not wait."),
    ),
)
SLOWER = Exercise(
    id="mine-slower",
    title="Slower on twice the GPUs",
    prompt="Your job got slower on twice the GPUs. Name two causes, and how you would tell them apart.",
    answer=Written(
        rubric=(("Names two causes.", 2), ("Has a measurement that tells them apart.", 2.5)), criteria=False
    ),
    solution="The all-reduce takes more steps, or the batch of each GPU is too small: profile one step, and compare.",
)
RATE = Exercise(
    id="mine-rate",
    points=2,
    title="A rate",
    prompt="A kernel reads {N:B} and writes half as much in {t:s}. Which bandwidth is that?",
    given={"N": [3 * GB, 5 * GB, 7 * GB], "t": [1.1e-3, 1.7e-3]},
    answer=Quantity("B/s"),
    solution=lambda N, t: 1.5 * N / t,
    mistakes=(
        Mistake(lambda N, t: N / t, "And what is written?"),
        Mistake(lambda N, t: 3 * N / t, "Each of the arrays crosses once."),
    ),
)
STAGES = Exercise(
    id="mine-stages",
    points=2.5,
    title="Stages in flight",
    prompt="A pipeline of {p} stages runs {m} microbatches. How many slots does it take?",
    given={"p": [4, 9], "m": [17, 30, 51]},
    answer=Count(of="slot"),
    solution=lambda p, m: m + p - 1,
    mistakes=(
        Mistake(lambda p, m: m * p, "The stages work at the same time."),
        Mistake(lambda m: m, "The last microbatch has still to pass the other stages."),
    ),
)
WHERE = Exercise(
    id="mine-where",
    points=1,
    title="Where it waits",
    prompt="A warp waits for memory. What does its scheduler do?",
    answer=Choice({"next": "issues another warp", "stall": "waits too", "swap": "swaps registers out"}),
    solution="next",
    mistakes=(Mistake("stall", "Then nothing would be hidden."), Mistake("swap", "Registers stay where they are.")),
)
SHARE = Exercise(
    id="mine-share",
    points=2,
    title="A share",
    prompt="Of a step of compute time c and exposed communication x, which share is compute?",
    answer=Expression({"c": positive("s"), "x": positive("s")}, "1"),
    solution=lambda c, x: c / (c + x),
    mistakes=(
        Mistake(lambda c, x: x / (c + x), "That is the other share."),
        Mistake(lambda c, x: c / x, "A share is of the whole step."),
    ),
)


def spans(rng: random.Random) -> list[tuple[int, int]]:
    """Bytes and sectors."""
    return [(1, 32), (32, 32), (5, 1), (29, 7), (31, 13)] + [
        (rng.randint(2, 10**6), rng.choice((32, 64))) for _ in range(12)
    ]


SECTORS = Exercise(
    id="mine-sectors",
    points=1,
    title="Sectors",
    prompt="Write how many sectors of s bytes hold n bytes that begin at a sector's start.",
    answer=Function("sectors", "sectors(n, s)", cases=spans),
    solution=lambda n, s: -(-n // s),
    mistakes=(
        Mistake(lambda n, s: n // s, "The last sector may be begun only."),
        Mistake(lambda n, s: n // s + 1, "Where it fits, no further sector is needed."),
    ),
)
FEED = Exercise(
    id="mine-feed",
    points=3,
    title="Fed by memory",
    prompt="Which intensity keeps {C:FLOP/s} busy at {W:B/s}?",
    given=[{"C": 900e12, "W": 3.1 * TB}, {"C": 300e12, "W": 1.9 * TB}, {"C": 2100e12, "W": 7.7 * TB}],
    answer=Quantity("FLOP/B"),
    solution=lambda C, W: C / W,
    mistakes=(
        Mistake(lambda C, W: W / C, "That is bytes for each operation."),
        Mistake(lambda C, W: C / (2 * W), "Bandwidth is meant as it is given."),
    ),
)
WIRE = Exercise(
    id="mine-wire",
    points=2,
    title="On the wire",
    prompt="Each of {n} GPUs gathers from the others a shard of {S:B}. How many bytes does each receive?",
    given={"n": [8, 16], "S": [11 * MB, 70 * MB, 130 * MB]},
    answer=Quantity("B"),
    solution=lambda n, S: (n - 1) * S,
    mistakes=(
        Mistake(lambda n, S: S / n, "S is the shard already."),
        Mistake(lambda n, S: n * (n - 1) * S, "That is what all of them receive."),
    ),
)
PLAN = Exercise(
    id="mine-plan",
    title="A plan",
    prompt="How would you find out whether your job waits for the network?",
    answer=Written(rubric=(("Names a measurement.", 3), ("Says what would refute it.", 1)), words=100),
    solution="Time the collectives alone, and a step without them: if the difference is theirs, they are exposed.",
)

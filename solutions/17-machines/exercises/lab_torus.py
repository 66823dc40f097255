"""The lab on a torus: an all-gather that keeps every link busy, both ways, along all three axes at once."""

from functools import partial

from autograder.answers import Algorithm, Case, exactly
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import Step
from hwlib.algorithms.ring import ring_allgather

AXES = 3


def torus_cases():
    """Cubes of 2, 3 and 4 chips a side, whose arrays cut into three parts of every block."""
    return [
        Case(side**3, AXES * side**3 * each, dtype, options={"side": side}, sizes=dict.fromkeys("xyz", side))
        for side, each, dtype in ((2, 2, "float64"), (3, 1, "float64"), (3, 2, "float32"), (4, 2, "float64"))
    ]


def gather(rank, n, x, side, turned=True, ways=(1, -1), again=False, both=False, late=0):  # noqa: ARG001
    """The all-gather; the flags are for the mistakes: all parts along the same axes in turn, one way only, and what a
    rank had at the beginning of an axis once more.
    """
    X = x.reshape(side, side, side, AXES, -1)
    place = [rank // side**2, rank // side % side, rank % side]

    def chip(axis, by):
        return [(p + by) % side if a == axis else p for a, p in enumerate(place)]

    def bundle(axes, phase, part, by):
        at = [slice(None) if a in axes[:phase] else p for a, p in enumerate(chip(axes[phase], by))]
        return X[(*at, part)]

    for phase in range(AXES):
        for k in range((side + late) // 2 if len(ways) == 2 else side - 1):
            steps, into = [], []
            for part in range(AXES):
                axes = [(part * turned + later) % AXES for later in range(AXES)]
                for way in ways if both or k < (side - 1) // 2 else ways[:1]:
                    to, frm = ((i * side + j) * side + m for i, j, m in (chip(axes[phase], w) for w in (way, -way)))
                    steps.append(Step(bundle(axes, phase, part, 0 if again else -way * k), to, frm))
                    into.append(bundle(axes, phase, part, -way * (k + 1)))
            for view, got in zip(into, (yield steps), strict=True):
                view[:] = got.reshape(view.shape)
    return x


def torus_gather(rank, n, x, side):
    X = x.reshape(side, side, side, 3, -1)
    place = [rank // (n // side), rank // side % side, rank % side]

    def chip(axis, by):
        return [(p + by) % side if a == axis else p for a, p in enumerate(place)]

    def bundle(part, phase, by):
        done = [(part + p) % 3 for p in range(phase)]
        at = chip((part + phase) % 3, by)
        return X[(*(slice(None) if a in done else p for a, p in enumerate(at)), part)]

    for phase in range(3):
        for k in range(side // 2):
            steps, into = [], []
            for part in range(3):
                for way in (1, -1) if k < (side - 1) // 2 else (1,):
                    ends = chip((part + phase) % 3, way), chip((part + phase) % 3, -way)
                    to, frm = (i * side**2 + j * side + m for i, j, m in ends)
                    steps.append(Step(bundle(part, phase, -way * k), to, frm))
                    into.append(bundle(part, phase, -way * (k + 1)))
            for view, got in zip(into, (yield steps), strict=True):
                view[:] = got.reshape(view.shape)
    return x


def flat(rank, n, x, side):  # noqa: ARG001
    return (yield from ring_allgather(rank, n, x))


def switched(rank, n, x, side):  # noqa: ARG001
    """To everybody at once, as through a switch."""
    X = x.reshape(n, -1)
    got = yield [Step(X[rank], (rank + k) % n, (rank - k) % n) for k in range(1, n)]
    for k, data in enumerate(got, 1):
        X[(rank - k) % n] = data
    return x


LAB_TORUS = Exercise(
    id="machines-lab-torus",
    title="Lab: an all-gather on a torus",
    points=4,
    lines=18,
    prompt="The n chips of a torus stand in a cube of `side` by `side` by `side`, every axis closed to a ring: the "
    "chip at (i, j, k) is rank (i·side + j)·side + k, and has six links, to its neighbours on both sides of each axis. "
    "Write an all-gather: of `x`, n blocks, a rank has block `rank` (the rest is nan), and returns x filled. All links "
    "are to work at once. So cut each block into three parts, which go along the three axes in different orders, part "
    "p along p, p + 1 and p + 2 (mod 3) for example, along each axis in both directions round the ring. A block's "
    "length is a multiple of three; `x.reshape(side, side, side, 3, -1)` has the parts of the chip at (i, j, k) at [i, "
    "j, k]. `got = yield [Step(send, to, frm), …]` exchanges up to six messages in one round, and `got` lists what "
    "came in, each as a flat array. Where side is even, the farthest chip of a ring is as far both ways: its bundle "
    "goes one way, say that of the rising coordinate. Judged *exactly* are the values, that every message goes to a "
    "neighbour, the bytes that a rank sends along each of the three axes, and the rounds: half of the side, rounded "
    "down, for each axis.",
    answer=Algorithm(
        "torus_gather",
        signature="torus_gather(rank, n, x, side)",
        collective="all_gather",
        cases=torus_cases(),
        rounds=exactly(),
        rank_bytes=exactly(),
        total_bytes=exactly(),
        axis_bytes=dict.fromkeys("xyz", exactly()),
        neighbours=True,
        mutants={
            "the farthest bundle of an even ring goes one way": partial(gather, both=True),
            "half of an odd side is rounded down": partial(gather, late=1),
        },
    ),
    solution=torus_gather,
    mistakes=(
        Mistake(
            partial(gather, turned=False),
            "The values are right, and two thirds of the links idle: all three parts go along the same axis at the "
            "same time, so the last axis carries most of the bytes. Where should part 1 start?",
        ),
        Mistake(
            partial(gather, ways=(1,)),
            "The values and the bytes are right, and every bundle goes the same way round its ring. How many rounds "
            "does the farthest one need if half of them go the other way?",
        ),
        Mistake(
            flat,
            "One ring through all ranks: right on a line of chips, but it uses one link of six, and many of its "
            "neighbours are not neighbours of the torus. Along which axes do ranks r and r + 1 differ?",
        ),
        Mistake(
            switched,
            "You send to everybody at once, as through a switch. A chip of a torus reaches six others; what goes "
            "farther has to be passed on by them.",
        ),
        Mistake(
            partial(gather, again=True),
            "In each round you send what you had at the beginning of the axis. What came in last has to go on to the "
            "next chip.",
        ),
    ),
    hints=(
        "Take one part alone. On its first axis a rank passes on single blocks; on its second axis, bundles of a "
        "whole line; on its third, bundles of a whole plane.",
        "In round k a rank sends, in the rising direction, what belongs to the chip k places behind it on this axis, "
        "and gets what belongs to the one k + 1 behind. The falling direction is the mirror image.",
        "Of the array with axes (i, j, k, part, …) a bundle is one index: a slice for axes that are done, your own "
        "coordinate for those to come, and a shifted one on the axis of this phase.",
    ),
    explain="Along its first axis a part passes 1 block a message, along the second `side`, along the third `side**2`: "
    "together `side**3 - 1` blocks, so a rank sends as much as in any all-gather. Over its phases each axis is first "
    "for one part, second for another, third for the last, so each carries a third of the bytes, `(n - 1)/n*S/3`, "
    "over two links. All six work at once, and the time is `S/(6*W)` to first order, that of a switch whose port has "
    "six links' bandwidth (`torus_allgather_limit`). The price is rounds: `3*(side//2)` of them, where a switch needs "
    "one, and where a chip has no path but through its neighbours.",
    withholds=("hwlib.algorithms.grid", "hwlib.algorithms.ring", "hwlib.simulate"),
)

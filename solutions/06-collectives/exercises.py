"""Exercises of chapter 6, and the names with which its text computes numbers."""

import re
from dataclasses import replace
from functools import partial
from itertools import dropwhile, pairwise, takewhile
from pathlib import Path
from statistics import fmean

from autograder.answers import (
    Algorithm,
    Choice,
    Count,
    Distributed,
    Expression,
    Function,
    Quantity,
    Written,
    exactly,
    integers,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import Step, blocks
from hwlib.calibrated import fit_alpha_beta, nccl_time
from hwlib.calibrated.nccl_log import read_log as read_table
from hwlib.collectives import (  # noqa: F401  (the text uses all of them)
    NCCL_PROTOCOLS,
    allgather_bytes,
    allreduce_bytes,
    bus_factor,
    channels_bandwidth,
    crossover_bytes,
    destination_fraction,
    destination_fraction_limit,
    direct_allreduce_time,
    direct_alltoall_time,
    halving_doubling_allreduce_time,
    nvls_allreduce_speedup,
    nvls_port_bandwidth,
    one_shot_allreduce_bytes,
    one_shot_allreduce_time,
    paired_allreduce_time,
    ring_allgather_time,
    ring_allreduce_time,
    shared_chip_time,
    switch_allreduce_speedup,
    tree_allreduce_time,
)
from hwlib.specs import accelerators, measured_allreduces
from hwlib.specs.fitted import collective_constants, tree_constants  # noqa: F401
from hwlib.units import GB, GiB, KiB, MiB, show, us  # noqa: F401

h100, h200, b200 = (accelerators[key] for key in ("h100-sxm", "h200-sxm", "b200-sxm"))
W_NVLINK = 450 * GB


def line(chip, how="auto"):
    """One line alpha + S/W through the published all-reduces of eight GPUs, S as a ring would send it."""
    rows = measured_allreduces(chip, 8, how)
    return fit_alpha_beta([1.75 * r.S for r in rows], [r.time for r in rows])


def sweep_error(chip):
    """The mean error of the model of NCCL on the same sweep, which was timed from torch."""
    rows = measured_allreduces(chip, 8, "auto")
    return fmean(abs(nccl_time(chip, "all_reduce", 8, r.S, "torch") / r.time - 1) for r in rows)


def printed(chip, n, how, S=8 * GiB):
    """The bus bandwidth that was printed for one published all-reduce; where there are two, the better."""
    return max(r.bus_bandwidth for r in measured_allreduces(chip, n, how) if r.S == S)


def measured(chip, n, how):
    """Its seconds, for 8 GiB."""
    return 2 * (n - 1) / n * 8 * GiB / printed(chip, n, how)


def port_spread():
    """How far apart the rates of a port are that 5 to 8 H200s reach with NVLS."""
    ports = [nvls_port_bandwidth(n, printed("h200-sxm", n, "auto")) for n in (5, 6, 7, 8)]
    return max(ports) / min(ports) - 1


def published_allreduce(n, S):
    """The published seconds of one all-reduce among n H100s of nodes of eight, and its printed bus bandwidth."""
    (row,) = (r for r in measured_allreduces("h100-sxm", n, "NVLSTree") if r.S == S)
    return row.time, row.bus_bandwidth


def alone(S):
    """The seconds of an all-reduce of S bytes on eight H200s by nccl-tests, and of a call from PyTorch."""
    return [float(nccl_time("h200-sxm", "all_reduce", 8, S, software)) for software in ("nccl-tests", "torch")]


def row_of(log, S):
    """The seconds of one size in one of the chapter's logs."""
    rows = read_table((Path(__file__).parent / "files" / f"{log}.txt").read_text("utf-8")).rows
    return next(row.time for row in rows if row.S == S)


LL, LL128, SIMPLE = (one.alpha for one in NCCL_PROTOCOLS)
NVLS_CHANNELS = 16  # on Hopper, by NCCL's source (nccl-enqueue)
W_CHANNEL = collective_constants()["h100-sxm", "all_reduce", "nccl-tests"].W_switch / NVLS_CHANNELS


# Eight patterns
ERRATUM_ALLGATHER = Exercise(
    id="collectives-erratum-allgather",
    title="Nine microseconds",
    points=2,
    prompt="The draft of *How to Scale Your Model* of July 2025 all-gathers a bf16 array [{D} × {F}], cut along its "
    "rows over the {n} GPUs "
    "of a node, each of which sends and receives at {W:B/s}. It divides the array by the {n} ports' bandwidth "
    "together; for [1,024 × 16,384] on eight H100s that gave its 9 µs. Something is counted once that happens {n} "
    "times. How long does the all-gather take at best? *Exact*, without latency.",
    given=[
        dict(D=D, F=F, n=n, W=chip.scaleup_bandwidth)
        for D, F, n, chip in (
            (1024, 16384, 8, h100),
            (4096, 65536, 8, h100),
            (8192, 8192, 4, h100),
            (4096, 65536, 8, b200),
            (2048, 16384, 4, b200),
        )
    ],
    answer=Quantity("s"),
    solution=lambda D, F, n, W: ring_allgather_time(n, 2 * D * F, 0, W),
    mistakes=(
        Mistake(
            lambda D, F, n, W: 2 * D * F / (n * W),
            "That is the draft's own answer: the whole array through all ports, "
            "once. How much of the array has to come in through *one* port?",
        ),
        Mistake(9 * us, "That is what the draft prints. How many ports does a GPU receive through?"),
        Mistake(
            lambda D, F, W: 2 * D * F / W,
            "To first order. Exactly, a GPU need not receive what it has.",
            name="own-share",
        ),
        Mistake(
            lambda D, F, n, W: (n - 1) / n * D * F / W,
            "Half of the answer: how many bytes has a bf16 element, and how much does a port bring *in*?",
            names_all=True,
        ),
        Mistake(
            lambda D, F, n, W: 2 * D * F * (n - 1) / n**2 / W,
            "That is what one GPU sends if nobody needs it twice. But each of the others needs its block.",
        ),
    ),
    hints=(
        "Look at one GPU. What does it have at the end that it lacked at the beginning?",
        "All of that comes in through one port. And how many bytes has an element?",
    ),
    explain="At the end a GPU has all of D = {D} times F = {F} elements of two bytes, S = `2*D*F`; at the beginning "
    "it has one n-th of them, n = {n}. The rest has to come in through its own port, whoever sends it, at W = "
    "{W:B/s}: `(n - 1)/n*S/W`. The draft let every byte cross one port, and it crosses n − 1. The text has since been "
    "corrected. For [4,096 × 65,536] it reports about 1.5 ms, measured; the bound is "
    f"{show(ring_allgather_time(8, 2 * 4096 * 65536, 0, W_NVLINK), 's', 3)}.",
)

PREDICT_EIGHT = Exercise(
    id="collectives-predict-eight",
    title="Predict: twice the GPUs",
    predict=True,
    prompt="Four H200s of one node all-reduce 8 GiB around a ring, without help from the switch, in "
    f"{measured('h200-sxm', 4, 'ring') * 1e3:.1f} ms (measured). How long do eight take, each again with "
    "8 GiB of its own? *To first order.*",
    answer=Choice(
        {
            "18 ms": "about 18 ms: twice the ports",
            "41 ms": "about 41 ms: a little more",
            "71 ms": "about 71 ms: twice the data",
            "83 ms": "about 83 ms: more than twice the rounds",
        },
        ordered=True,
    ),
    solution="41 ms",
    mistakes=(
        Mistake("18 ms", "Twice the ports, but twice the data too: the four who joined brought 8 GiB each."),
        Mistake("71 ms", "Twice the data in all, but also twice the ports, and every one is busy all the time."),
        Mistake("83 ms", "There are 14 rounds instead of 6, but a round moves an eighth of the array, not a quarter."),
    ),
    hints=("How many bytes does one GPU send?",),
    explain=f"A GPU sends {allreduce_bytes(4, 1):.2f} times its array with four ranks, {allreduce_bytes(8, 1):.2f} "
    "times with eight; the limit is 2. "
    f"The time should grow by {allreduce_bytes(8, 1) / allreduce_bytes(4, 1) - 1:.0%}, and was measured to grow "
    f"by {measured('h200-sxm', 8, 'ring') / measured('h200-sxm', 4, 'ring') - 1:.0%}.",
)


# The ring, written by the learner: lab (a)
def lap(rank, n, block, first, add, same=False):
    """Once around: the first block sent is `first` after the rank's own, and what comes in is added or kept."""
    for k in range(n - 1):
        send, into = block[rank if same else (rank + first - k) % n], block[(rank + first - k - 1) % n]
        got = yield Step(send, (rank + 1) % n, (rank - 1) % n)
        into[:] = into + got if add else got


def reduce_scatter(rank, n, x, first=-1, add=True):
    block = blocks(x, n)
    yield from lap(rank, n, block, first, add)
    return block[rank]


def all_gather(rank, n, x, same=False):
    yield from lap(rank, n, blocks(x, n), 0, False, same)
    return x


def all_reduce(rank, n, x, first=-1, again=False):
    yield from reduce_scatter(rank, n, x, first)
    yield from lap(rank, n, blocks(x, n), 0, again)
    return x


def alternating(rank, n, x, whole=True):
    got = x.copy()
    for _ in range(n - 1):
        got = yield Step(got, (rank + 1) % n, (rank - 1) % n)
        x += got
    return x if whole else blocks(x, n)[rank]


def whole_buffers(rank, n, x):
    for _ in range(n - 1):
        got = yield Step(x, (rank + 1) % n, (rank - 1) % n)
        x[x != x] = got[x != x]  # what is not there yet is nan
    return x


def through_the_root(rank, n, x):
    if rank == 0:
        for got in (yield [Step(frm=other) for other in range(1, n)]):
            x += got
        yield [Step(x, other) for other in range(1, n)]
    else:
        yield Step(x, 0)
        x[:] = yield Step(frm=0)
    return x


CASES = [(2, 8), (4, 16), (5, 20), (3, 7), (4, 3), (6, 24, "float32")]  # of any length: one block has nothing, too


def straight_reduce_scatter(rank, n, x):
    """Every block to its owner, not to a neighbour."""
    block = blocks(x, n)
    for k in range(1, n):
        block[rank][:] += yield Step(block[(rank + k) % n], (rank + k) % n, (rank - k) % n)
    return block[rank]


def straight_all_gather(rank, n, x):
    block = blocks(x, n)
    for k in range(1, n):
        block[(rank - k) % n][:] = yield Step(block[rank], (rank + k) % n, (rank - k) % n)
    return x


def straight_all_reduce(rank, n, x):
    yield from straight_reduce_scatter(rank, n, x)
    return (yield from straight_all_gather(rank, n, x))


def _equal_blocks(program):
    """By one who cuts into n equal blocks, which some lengths do not give."""

    def of_equal(rank, n, x):
        x.reshape(n, -1)
        return (yield from program(rank, n, x))

    return of_equal


def _as_float64(program):
    """By one who sends numbers of eight bytes, whatever came."""

    def of_eight(rank, n, x):
        return (yield from program(rank, n, x.astype("float64")))

    return of_eight


def _in_turn(program):
    """Half of the ranks send while the others receive, so a block takes two rounds."""

    def in_turn(rank, n, x):
        steps, got = program(rank, n, x), None
        while True:
            try:
                step = steps.send(got)
            except StopIteration as done:
                return done.value
            first, then = (Step(step.send, step.to), Step(frm=step.frm))[:: -1 if rank % 2 else 1]
            got = [(yield first), (yield then)][0 if rank % 2 else 1]

    return in_turn


def _forgetful(program, straight):
    """What a program of a ring may forget."""
    return {
        "two neighbours only": straight,
        "x of any length": _equal_blocks(program),
        "numbers of the type of x": _as_float64(program),
        "one block in each round": _in_turn(program),
    }


RING_ALLGATHER = Exercise(
    id="collectives-ring-allgather",
    title="Pass it on",
    points=2,
    lines=4,
    prompt="Write a ring all-gather. Of `x` a rank has block `rank` alone (the rest is nan); it returns the whole, "
    "with all blocks filled. `blocks(x, n)` cuts x, of any length, into n views. A rank talks to its two neighbours "
    "only. The result, the bytes and the rounds are to be *exact*: n − 1 rounds, one block in each.",
    answer=Algorithm(
        "ring_allgather",
        cases=CASES,
        collective="all_gather",
        rounds=exactly(),
        neighbours=True,
        mutants=_forgetful(all_gather, straight_all_gather),
    ),
    solution=all_gather,
    mistakes=(
        Mistake(
            partial(all_gather, same=True),
            "Your neighbour has that block since the first step. Which one came to you last?",
        ),
        Mistake(whole_buffers, "All arrives, and much of it again and again. How much does the neighbour still lack?"),
    ),
    hints=(
        "In the first step you have one block to send. After it, which is the one that your neighbour lacks?",
        "Number the steps and follow one block around: at which rank is it after k steps? So what comes in from before "
        "you in step k?",
    ),
    explain="In step k, from 0 on, a rank passes on what came in the step before, at first its own block: block "
    "`(rank - k) % n`. What comes in is what the rank before it passes on, block `(rank - 1 - k) % n`. After n − 1 "
    "steps every block has been at every rank. Each step sends S/n bytes, so a port carries (n − 1)/n of S in all, "
    "which is the least that a rank lacks.",
    withholds=("hwlib.algorithms", "hwlib.simulate"),
)

RING_REDUCE_SCATTER = Exercise(
    id="collectives-ring-reduce-scatter",
    title="Sum around the ring",
    points=3,
    lines=4,
    prompt="Write a ring reduce-scatter. Every rank begins with an array `x` of its own and returns block `rank` of "
    "the sum over all ranks; the rest of `x` may be overwritten. A rank talks to its two neighbours only. "
    "`blocks(x, n)` cuts x, of any length, into n views. The result, the bytes and the rounds are to be *exact*: "
    "n − 1 rounds, one block in each.",
    answer=Algorithm(
        "ring_reduce_scatter",
        cases=CASES,
        collective="reduce_scatter",
        rounds=exactly(),
        neighbours=True,
        mutants=_forgetful(reduce_scatter, straight_reduce_scatter),
    ),
    solution=reduce_scatter,
    mistakes=(
        Mistake(
            partial(reduce_scatter, first=0),
            "The sums are right, but each is complete at the wrong rank. Start with another block, so that rank r ends "
            "with block r.",
        ),
        Mistake(
            partial(reduce_scatter, add=False), "You pass on what came in. On its way it should collect your share."
        ),
        Mistake(
            partial(alternating, whole=False),
            "Right, but whole arrays go around. Which part of it does the owner of a block need?",
        ),
    ),
    hints=(
        "A partial sum of each block travels once around. The last to add its share is the owner.",
        "So block r starts at the rank after its owner. Which block does rank r send first?",
        "As in the all-gather you then pass on what came in, with your share added.",
    ),
    explain="The sum of block r has to be complete at rank r, so it sets out at the next rank, r + 1: in its first "
    "step, k = 1, a rank sends block `rank - 1`. In step k it sends block `(rank - k) % n` and adds what comes in to "
    "its own share of block `(rank - k - 1) % n`, which it sends next. In the last step, k = n − 1, that is block "
    "`rank`, with the shares of all.",
    withholds=("hwlib.algorithms", "hwlib.simulate"),
)

RING_ALLREDUCE = Exercise(
    id="collectives-ring-allreduce",
    title="Two laps make an all-reduce",
    points=3,
    lines=8,
    prompt="Now an all-reduce around the ring: every rank begins with an `x` of its own, which may be overwritten, and "
    "returns the sum of all. The cut is `blocks(x, n)` again, and a rank talks to its two neighbours only. The result, "
    "the bytes and the rounds are to be *exact*: 2(n − 1) rounds, one block in each. A generator calls another with "
    "`yield from`; write all that you need into this answer.",
    answer=Algorithm(
        "ring_allreduce",
        cases=CASES,
        collective="all_reduce",
        rounds=exactly(),
        neighbours=True,
        mutants=_forgetful(all_reduce, straight_all_reduce),
    ),
    solution=all_reduce,
    mistakes=(
        Mistake(
            alternating,
            "The alternating ring: right, and in half the rounds, but whole arrays go around, n/2 "
            "times the bytes. Sum blocks first, then pass them on.",
        ),
        Mistake(
            through_the_root,
            "Few rounds, and one port that carries everything: rank 0 receives and sends the "
            "array n − 1 times while the others look on.",
        ),
        Mistake(
            partial(all_reduce, first=0),
            "Each lap is right by itself. After the first one a rank has *another* block complete than the one "
            "with which the second begins.",
        ),
        Mistake(
            partial(all_reduce, again=True),
            "The second lap adds what comes in to shares that are in it already. What should become of them?",
        ),
    ),
    hints=(
        "After a reduce-scatter, what does each rank have, and what does it lack?",
        "The second lap begins with the block that the first has completed.",
    ),
    explain="After a reduce-scatter rank r has block r complete, and an all-gather begins with just that. So the two "
    "follow one another: n − 1 steps that add, then n − 1 that only pass on, of S/n bytes each. A port carries "
    "`2*(n - 1)/n*S`, less than twice the array for any n. The second lap starts with block `rank`, the one that the "
    "first has just completed.",
    withholds=("hwlib.algorithms", "hwlib.simulate"),
)

RING_TORCH = replace(
    RING_REDUCE_SCATTER,
    id="collectives-ring-torch",
    title="On real ranks",
    points=3,
    lines=8,
    prompt="Write the ring reduce-scatter once more, for torch.distributed: every rank runs this function with its "
    "own tensor `x`, and returns block `rank` of the sum. The length of x is a multiple of n, and a rank talks to its "
    "two neighbours only. The judge carries the messages, and its `send` waits for the receive, as NCCL's does. Bytes "
    "and rounds are to be *exact*, those of the generator: n − 1 rounds, one block in each. Rounds are the longest "
    "chain of messages of which each waits for the one before.",
    answer=Distributed(
        "ring_reduce_scatter_torch",
        cases=[(2, 8), (3, 12), (4, 16, "float32"), (5, 20)],
        collective="reduce_scatter",
        calls=("send", "recv"),
        rounds=exactly(),
        neighbours=True,
        mutants={
            "two neighbours only": straight_reduce_scatter,
            "numbers of the type of x": _as_float64(reduce_scatter),
            "one block in each round": _in_turn(reduce_scatter),
        },
    ),
    hints=(
        "The indices are those of the generator. What is new is how a message leaves and arrives.",
        "A receive needs somewhere to write: `torch.empty_like` of the block that will come.",
        "A circle in which all wait in `send` never moves. Which calls do not wait, and when may you touch what they "
        "send?",
    ),
    explain="The blocks are those of the generator: in step k, send `(rank - k) % n` and add what comes in to block "
    "`(rank - k - 1) % n`. If all ranks wait in `send`, no one is in `recv`; so start with `isend`, which returns at "
    "once, then `recv`, and `wait()` for what was sent before the next step. What comes in needs a tensor of its own, "
    "since it is added to your share and must not replace it.",
    withholds=("hwlib.algorithms", "hwlib.simulate"),
)

# Rounds against bytes
WHOLE_RING = Exercise(
    id="collectives-whole-ring",
    title="The ring that cuts nothing",
    points=3,
    prompt="The ring that most people write first, the *alternating* one: for n − 1 rounds each rank passes on the "
    "whole array that came last, and adds it to its own. A round takes `alpha` and the time of its bytes at "
    "`W`. From which size `S` on is the proper ring, with 2(n − 1) rounds of S/n, faster? *Exact*, in `n`, "
    "`alpha` and `W`, for n > 2.",
    answer=Expression(
        {"n": integers(3, 1024), "alpha": positive("s", 5e-7, 1e-4), "W": positive("B/s", 1e9, 1e12)}, "B"
    ),
    solution=lambda n, alpha, W: n * alpha * W / (n - 2),
    mistakes=(
        Mistake(lambda alpha, W: alpha * W, "Right for many ranks. Write both times down, with S/n in the proper one."),
        Mistake(
            lambda n, alpha, W: n * alpha * W / (2 * (n - 1)),
            "You set the bytes of the proper ring against a single latency. Both rings have latencies and bytes.",
        ),
        Mistake(
            lambda n, alpha, W: n * alpha * W / (n - 1),
            "The proper ring has two laps: each moves (n − 1)/n of the array.",
        ),
        Mistake(lambda n, alpha, W: 2 * n * alpha * W / (n - 2), "How many rounds does the proper ring take *more*?"),
    ),
    hints=(
        "Write down both times as functions of S: how many rounds, and how many bytes in each?",
        "Set them equal. The number of rounds of a lap cancels, and what is left is linear in S.",
    ),
    explain="The alternating ring takes `(n - 1)*(alpha + S/W)`, the proper one `2*(n - 1)*(alpha + S/(n*W))`. Set "
    "equal and divided by n − 1 that is `alpha + S/W = 2*alpha + 2*S/(n*W)`: a latency more against (n − 2)/n of S "
    "less. So `S = n*alpha*W/(n - 2)`. For many ranks that is about αW: up to some megabytes on NVLink the clumsy "
    "ring is faster. Far above, it is n/2 times slower.",
)

ONE_SHOT = Exercise(
    id="collectives-one-shot",
    title="One shot or two?",
    points=3,
    prompt="In tensor-parallel decoding, every layer all-reduces a few rows of activations over {n} GPUs joined by a "
    "switch. One shot: each GPU reads the whole arrays of all others at once, and adds. Two shots: a direct "
    "reduce-scatter, then a direct all-gather. A shot costs {alpha:s}, a port brings {W:B/s} each way. From which size "
    "of one GPU's array on are two shots faster? *Exact* in this model.",
    given=dict(n=[8, 4, 6], alpha=[3 * us, 2 * us, 5 * us], W=[450 * GB, 300 * GB, 900 * GB]),
    answer=Quantity("B"),
    solution=lambda n, alpha, W: crossover_bytes(one_shot_allreduce_time, direct_allreduce_time, n, alpha, W),
    mistakes=(
        Mistake(
            lambda n, alpha, W: alpha * W / (n - 1),
            "You let two shots cost latencies alone. They move bytes too.",
            name="latency-left-out",
        ),
        Mistake(
            lambda n, alpha, W: alpha * W / ((n - 1) * (1 - 1 / n)),
            "Two shots: the array is cut twice, once when it is summed and once when it is handed out.",
        ),
        Mistake(lambda alpha, W: alpha * W, "The more GPUs, the more whole arrays come in through one port."),
        Mistake(
            lambda n, alpha, W: n * alpha * W / (n - 2),
            "That is for a ring of whole arrays. Here n − 1 of them arrive in a single round.",
        ),
    ),
    hints=(
        "Count what comes in through one port: in one shot, and in both of the other way.",
        "The second shot costs a latency. How many bytes does it save, as a multiple of S?",
    ),
    explain="One shot brings n − 1 whole arrays in through a port, n = {n}: `alpha + (n - 1)*S/W`. Of two shots each "
    "brings (n − 1)/n of one array: `2*alpha + 2*(n - 1)/n*S/W`. They are equal where the bytes saved take as long as "
    "the latency added, `(n - 1)*(1 - 2/n)*S/W = alpha`. So `S = alpha*W/((n - 1)*(1 - 2/n))`, with alpha = {alpha:s} "
    "and W = {W:B/s}.",
)

# What the benchmark prints
H200_RING, H200_AUTO = printed("h200-sxm", 8, "ring"), printed("h200-sxm", 8, "auto")
PORT_AUTO = nvls_port_bandwidth(8, H200_AUTO)
PREDICT_WIRE = Exercise(
    id="collectives-predict-wire",
    title="Predict: what is on the wire?",
    predict=True,
    prompt=f"Around a ring of eight H200s {H200_RING / GB:.0f} GB/s are printed, and as much goes out of each port: "
    f"{H200_RING / W_NVLINK:.0%} of its line rate of {show(W_NVLINK, 'B/s')}. Now the switch adds, and "
    f"{H200_AUTO / GB:.0f} GB/s are printed. How many bytes a second go out of a port now? *To first order.*",
    answer=Choice(
        {
            "printed": f"about {H200_AUTO / GB:.0f} GB/s, as printed: the port gets beyond its line rate",
            "line": f"about {W_NVLINK / GB:.0f} GB/s: the switch fills the line",
            "ring": f"about {H200_RING / GB:.0f} GB/s: as many as around the ring",
            "fewer": f"about {PORT_AUTO / GB:.0f} GB/s: fewer than around the ring",
        },
        ordered=True,
    ),
    solution="fewer",
    mistakes=(
        Mistake("printed", "A line rate is what the wires can carry. By what does the benchmark multiply S/t?"),
        Mistake("line", "Nothing in the printed number says that the line is full. What does the ring reach of it?"),
        Mistake("ring", "A sound guess, and it is less: the all-reduce is faster because a port has less to carry."),
    ),
    hints=("The benchmark multiplies S/t by what a ring sends. Who sends that here?",),
    explain=f"A port carries {PORT_AUTO / GB:.0f} GB/s, {PORT_AUTO / W_NVLINK:.0%} of its line rate, *less* than "
    "around the ring. The all-reduce is faster all the same, because fewer bytes have to cross the port; the printed "
    "number counts a ring's bytes, which were not sent. How many cross it, you count in the next exercise.",
)

# The switch adds
SWITCH_BYTES = Exercise(
    id="collectives-switch-bytes",
    title="Through the switch, exactly",
    points=3,
    prompt="A node of `n` GPUs all-reduces arrays of `S` bytes, and its switch adds. Each GPU owns one of n blocks. "
    "It *pulls* its block's sum: the switch reads the block from every GPU, the owner's too, adds them and "
    "hands over the sum; then the owner sends the finished block back, and the switch copies it to all, the "
    "owner included. How many bytes go *into* the switch, over all ports? *Exact.*",
    answer=Expression({"n": integers(2, 72), "S": positive("B", 1e3, 1e10)}, "B"),
    solution=lambda n, S: (n + 1) * S,
    mistakes=(
        Mistake(
            lambda n, S: n * S,
            "That is one array from each GPU, and no more. What does the switch read of the owner's own block, and "
            "what does it get back after the addition?",
        ),
        Mistake(lambda n, S: (n - 1) * S, "Those are the blocks of others, on the way in. And the finished ones?"),
        Mistake(lambda n, S: 2 * (n - 1) * S, "That is a ring through a switch that only forwards."),
        Mistake(lambda n, S: 2 * n * S, "Finished blocks go in once each: it is the switch that makes the copies."),
    ),
    hints=(
        "Go through one block of S/n bytes: through which ports does it enter the switch?",
        "It enters before the addition and after it, and not equally often. How many blocks are there?",
    ),
    explain="Take one block of S/n bytes. Before the addition it enters from every GPU, n times; after it the owner "
    "sends the finished block in once. That makes n + 1 entries for each of n blocks: `n*(n + 1)*S/n`, which is "
    "`(n + 1)*S`. As many bytes come out: n blocks' sums once, and n copies of each. Per port (n + 1)/n of S each way, "
    "against 2(n − 1)/n around a ring.",
    withholds=("hwlib.collectives",),
)


# Two logs
ELEMENTS = {"float": 4, "half": 2, "double": 8, "bfloat16": 2, "int8": 1}  # their bytes
FROM_BETWEEN = (
    "10.0.0.7:77:90 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read",  # its host is called by its address
    "node0:77:77 [0] NCCL INFO AllReduce: opCount 3 count 32 datatype 7 op 0 root 0",
)


def typeset(rows, n, operation="sum", wrong="0", behind="", between=()):
    """A log of all_reduce_perf on n ranks: (type, bytes, us out of place, us in place) a row, None where there is none.

    `wrong` is its #wrong, N/A where nothing was checked; `behind` ends every row, `between` stands between the rows.
    """
    lines = [
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 5 iters: 20",
        "node0:77:77 [0] NCCL INFO Bootstrap: Using eth0",
        "#",
        "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]
    for k, (kind, S, *halves) in enumerate(rows):
        lines += between if k == 2 else ()
        line = f"{S:>12} {S // ELEMENTS[kind]:>12} {kind:>9} {operation:>7}      -1"
        for t in halves:
            algbw = S / t / 1e3 if t else 0
            line += f" {t:9.2f} {algbw:7.2f} {2 * (n - 1) / n * algbw:7.2f} {wrong:>6}" if t else f"{'N/A':>8}" * 4
        lines.append(line + behind)
    return "\n".join([*lines, "# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 101.7", "#", ""])


def log_cases(rng):
    stamp = "  2025-11-03 14:05:09"
    found = []
    for n, types, twice, more in (
        (8, ["float"], True, {}),
        (2, ["half", "float", "double"], True, dict(operation="max", between=FROM_BETWEEN[1:])),  # as `-d all` prints
        (7, ["int8"], True, dict(wrong="N/A", behind=stamp)),
        (16, ["bfloat16", "float"], False, dict(between=FROM_BETWEEN[:1])),
        (1, ["float"], False, {}),
    ):
        odd = 3 if n == 7 else 1  # sizes that are no power of two
        sizes = sorted(rng.sample([odd * 2**k for k in range(3, 32)], 5 if len(types) == 1 else 3))
        rows = []
        for k, (kind, S) in enumerate((kind, S) for kind in types for S in sizes):
            t = rng.uniform(8, 30) + S / rng.uniform(2e4, 3e5)
            in_place = t * (rng.uniform(0.75, 0.9) if k % 2 else rng.uniform(1.1, 1.3))
            rows.append((kind, S, t, in_place if twice else None))
        found.append((typeset(rows, n, **more), n))
    return found


def read_log(text, n, time=5, scale=1e-6, factor=None, printed=None):
    rows = []
    for words in row_words(text):
        S, t = int(words[0]), float(words[time if words[time] != "N/A" else 5]) * scale
        q = 2 * (n - 1) / n if factor is None else factor
        rows.append((S, t, float(words[printed]) * 1e9 if printed else q * S / t))
    return rows


def row_words(text):
    return [words for words in map(str.split, text.splitlines()) if words and words[0].isdigit()]


def wrong_log(text, n, times=(5,), element=0, once=False):
    """Read otherwise: the least of some times, elements of so many bytes, each size only once."""
    rows = {}
    for k, words in enumerate(row_words(text)):
        S = int(words[1]) * element if element else int(words[0])
        t = min(float(words[time]) for time in times if words[time] != "N/A") * 1e-6
        rows[S if once else k] = (S, t, 2 * (n - 1) / n * S / t)
    return list(rows.values())


def one_block(text, n):
    """Read to the first line behind a row that is not one."""
    lines = [line for line in text.splitlines() if line.strip()]
    table = dropwhile(lambda line: not row_words(line), lines)
    return read_log("\n".join(takewhile(row_words, table)), n)


def _lines(text, pattern):
    return "\n".join(line for line in text.splitlines() if re.match(pattern, line))


def _numbers(text):
    """Every word of every row behind the operation."""
    return [float(word) for words in row_words(text) for word in words[4:]]


READ_LOG = Exercise(
    id="collectives-read-log",
    title="What is in a log",
    points=3,
    lines=7,
    prompt="Write `read_nccl_tests(text, n)`, which reads what `all_reduce_perf` printed on n ranks. A row of its "
    "table is "
    "a line whose first word is a whole number, the bytes S; all other lines are for people. Behind S come the "
    "elements, "
    "the type, the operation and the root, and then time, algbw, busbw and #wrong, once out of place and once in "
    "place; newer versions may print more behind them. One log may hold several types, one after the other, and "
    "messages between its rows. "
    "Return a list with `(S, t, W_bus)` of each row, in their order: bytes, the seconds *out of place*, and the bus "
    "bandwidth in B/s. "
    "Compute that from S and t, since a row of 8 bytes prints 0.00. *Exact.*",
    answer=Function(
        "read_nccl_tests",
        "read_nccl_tests(text, n)",
        counts=True,
        cases=log_cases,
        mutants={
            "any line whose first word is a number": lambda text, n: read_log(_lines(text, r".* float "), n),
            "any operation": lambda text, n: read_log(_lines(text, ".* sum "), n),
            "no other lines": lambda text, n: (
                [(float(line.split()[0]), 0.0, n) for line in text.splitlines() if line[:1] not in "#"]
            ),
            "a word that only begins with a digit": lambda text, n: (
                [(int(line.split()[0]), 0.0, n) for line in text.splitlines() if line.strip()[:1].isdigit()]
                and read_log(text, n)
            ),
            "more may be printed behind": lambda text, n: read_log(_lines(text, r"\s*(\S+\s+){12}\S+$"), n),
            "#wrong may be N/A": lambda text, n: read_log(text, n) if min(_numbers(text)) >= 0 else [],
            "out of place alone": lambda text, n: read_log(text, n, time=5 + 4 * ("N/A" not in text)),
            "n may be 1": lambda text, n: read_log(text, n) if n / (n - 1) else [],
        },
    ),
    solution=read_log,
    mistakes=(
        Mistake(
            lambda text, n: read_log(text, n, factor=1.0),
            "That is the algorithm bandwidth, S/t. By what does the benchmark multiply it for an all-reduce?",
        ),
        Mistake(
            lambda text, n: read_log(text, n, scale=1.0),
            "The benchmark prints microseconds, and the list wants seconds.",
        ),
        Mistake(
            lambda text, n: read_log(text, n, printed=7),
            "Those are the printed digits: two behind the point, which is nothing for a small row. Compute it from S "
            "and t.",
        ),
        Mistake(
            lambda text, n: read_log(text, n, time=9),
            "That is the second half of the row, in place. The first time is the one out of place.",
        ),
        Mistake(
            lambda text, n: read_log(text, n, factor=(n - 1) / n),
            "(n − 1)/n is an all-gather's factor. An all-reduce has two laps.",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda text, n: wrong_log(text, n, times=(5, 9)),
            "The smaller of the two times is not always the one out of place.",
        ),
        Mistake(
            lambda text, n: wrong_log(text, n, element=4),
            "Not every type has elements of four bytes. Does a row say its bytes itself?",
        ),
        Mistake(
            lambda text, n: wrong_log(text, n, once=True),
            "A log of several types has a row of the same size for each: all of them are asked for.",
        ),
        Mistake(
            lambda text, n: sorted(read_log(text, n)),
            "The rows are right and in another order: they are asked for as they stand in the log.",
        ),
        Mistake(
            one_block,
            "Rows are missing: a message of NCCL may stand between two rows and does not end the table.",
        ),
    ),
    hints=(
        "`line.split()` gives the words of a line; `str.isdigit` says of the first one whether it is a whole number.",
        "The time is the sixth word, in microseconds. The factor depends on n alone.",
    ),
    explain="Split each line into words, and keep those lines whose first word is a whole number: headers begin with "
    "#, "
    "NCCL's own messages with the name of a host. The bytes are word 0 and the time out of place word 5, in "
    "microseconds. The bus bandwidth is what each port of a ring would have carried, `2*(n - 1)/n*S/t`; for 8 ranks "
    "1.75 "
    "times the algorithm bandwidth S/t. Turned round, the two printed columns tell the number of ranks of a log whose "
    "header is lost, as the next exercise asks.",
    withholds=("hwlib.calibrated.nccl_log", "hwlib.calibrated.nccl_table"),
)


READ_RANKS = Exercise(
    id="collectives-read-ranks",
    title="A log without its head",
    prompt="Three rows are left of what `all_reduce_perf` printed on nodes of eight GPUs (NVIDIA/nccl-tests, issue "
    "119, November 2022); behind the root come time in us, algbw and busbw in GB/s, and #wrong, out of place only:\n\n"
    "```text\n"
    "127926280  31981570  float  sum  -1  2560.7  49.96  95.75  0\n"
    "128974856  32243714  float  sum  -1  2583.9  49.92  95.67  0\n"
    "133169160  33292290  float  sum  -1  2666.0  49.95  95.74  0\n"
    "```\n\n"
    "On how many ranks did it run? Take the row with an algbw of {algbw} and a busbw of {busbw}. *Exact*: the "
    "bandwidths are rounded, a number of nodes is not.",
    given=[dict(algbw=49.96, busbw=95.75), dict(algbw=49.92, busbw=95.67), dict(algbw=49.95, busbw=95.74)],
    answer=Count(of="rank"),
    solution=lambda algbw, busbw: 8 * round(2 / (2 - busbw / algbw) / 8),
    mistakes=(
        Mistake(
            lambda algbw, busbw: round(1 / (2 - busbw / algbw)),
            "busbw is 2(n − 1)/n of algbw. What is missing to 2 is 2/n of it, and not 1/n.",
        ),
        Mistake(
            lambda algbw, busbw: round(2 / (2 - busbw / algbw) / 8),
            "So many nodes. How many ranks have they?",
        ),
        Mistake(
            lambda algbw, busbw: round(busbw / algbw / (2 - busbw / algbw)),
            "Are those the others with which a rank adds up, or is a number rounded down? And the rank itself?",
        ),
        Mistake(8, "That is one node, and its busbw would be 1.75 times its algbw. What is the ratio here?"),
    ),
    hints=(
        "The benchmark multiplies algbw by a factor that depends on the ranks alone. Which one, for an all-reduce?",
        "Solve 2(n − 1)/n = busbw/algbw for n. Which multiple of 8 is next to it?",
    ),
    explain="For an all-reduce `busbw/algbw = 2*(n - 1)/n`, so `n = 2/(2 - busbw/algbw)`. The printed {busbw} and "
    "{algbw} give a number that is next to 24, three nodes. The more ranks, the nearer the ratio is to 2, and the "
    "less two decimals tell. A maintainer called the rate perfect: four cards of 200 Gbit/s bring 24 GB/s each. "
    "`gpubook bandwidth` finds the ranks of such a log in the same way, and says so.",
    withholds=("hwlib.calibrated.nccl_log", "hwlib.calibrated.nccl_table"),
)

READ_ZERO = Exercise(
    id="collectives-read-zero",
    title="Nothing on the bus",
    prompt="Two nodes of eight H100s shall be measured, with `mpirun -np 16 -N 8 all_reduce_perf -g 1`, and this is "
    "in the output (NVIDIA/nccl-tests, issue 294, March 2025; time in us, algbw, busbw and #wrong, out of place and in "
    "place):\n\n"
    "```text\n"
    "134217728  33554432  float  sum  -1  631.9  212.41  0.00  0  0.51  263017.30  0.00  0\n"
    "134217728  33554432  float  sum  -1  419.3  320.07  0.00  0  0.31  428400.03  0.00  0\n"
    "268435456  67108864  float  sum  -1  822.4  326.41  0.00  0  ...\n"
    "```\n\n"
    "What has been measured? *Exact*: one sentence explains all columns.",
    answer=Choice(
        {
            "down": "an all-reduce whose network is down: no bytes crossed the bus",
            "alone": "sixteen benchmarks of one rank each: the processes do not know of each other",
            "switch": "an all-reduce in the switch: with NVLS no GPU puts anything on the bus",
            "small": "an all-reduce too short for two decimals: larger arrays would print a busbw",
            "wrong": "an all-reduce with wrong results, which count as 0",
        }
    ),
    solution="alone",
    mistakes=(
        Mistake("down", "Then it would hang or end with an error. Here it ended, and in place it took half a us."),
        Mistake(
            "switch", "busbw is computed from algbw and the ranks, whatever the switch does. When is the factor 0?"
        ),
        Mistake("small", "busbw is algbw times a factor, and algbw has five digits. Which factor makes it 0?"),
        Mistake("wrong", "The column #wrong is 0 in both halves. And what would count the busbw down?"),
    ),
    hints=(
        "busbw is 2(n − 1)/n times algbw. For which n is that 0?",
        "Each size is there several times. Who prints a row, and how often should one size be printed?",
    ),
    explain="Only one number of ranks makes 2(n − 1)/n zero, and that is n = 1. Each process ran a test of its own "
    "and printed each size, so all sizes come several times. One rank has nobody to add: out of place it copies its "
    "array, in place it does nothing at all, in the time of a launch. The tests were built without MPI; after `make "
    "clean`, `make MPI=1` with the MPI that `mpirun` belongs to mends it. `gpubook bandwidth` says that of such a "
    "log instead of judging its rows.",
)


# Hundreds of ranks
def told(times):
    return ", ".join(f"{t * 1e6:.0f}" for t in times)


GROUPS = (32, 64, 128, 256, 512)
MEASURED = [published_allreduce(n, 4 * MiB)[0] for n in GROUPS]
AROUND = [ring_allreduce_time(n, 4 * MiB, LL128, 370 * GB) for n in GROUPS]

WHAT_GROWS = Exercise(
    id="collectives-what-grows",
    title="The gap below the ring",
    prompt=f"{', '.join(map(str, GROUPS))} H100s in nodes of eight all-reduce 4 MiB in {told(MEASURED)} us "
    "(published). "
    f"By this chapter's ring, with {show(LL128, 's')} a hop and 370 GB/s a port, it would be {told(AROUND)} us: "
    "nearly right "
    "for the fewest, and five times too much for the most. What does the gap say, *to first order*?",
    answer=Choice(
        {
            "hops": "it is a ring, whose hops take about 0.4 us",
            "doublings": "each doubling of the GPUs adds about the same time: a tree joins the nodes",
            "bytes": "it is the bytes of a port, which grow with the GPUs",
            "nodes": "it is a ring of nodes, in which each node costs what a GPU costs in the model",
        }
    ),
    solution="doublings",
    mistakes=(
        Mistake("hops", "Then 32 GPUs would take 25 us for their hops. What did they take?"),
        Mistake("bytes", "A port carries 1.94 times the array with 32 GPUs, and 2.00 times with 512."),
        Mistake("nodes", "Twice the nodes would then take nearly twice the time. Look at the measured steps."),
    ),
    hints=("Write down by how much the measured time rises from each number of GPUs to the next.",),
    explain=f"The measured time rises by {told([b - a for a, b in pairwise(MEASURED)])} us "
    "from each "
    "number of GPUs to twice as many: roughly a constant. A ring's time doubles with its ranks, and a port's bytes "
    "hardly "
    f"change. What adds a constant with each doubling is a tree; here about "
    f"{(MEASURED[-1] - MEASURED[0]) / 4 * 1e6:.0f} us "
    "a level, up and down again.",
)

# What a collective costs
BESIDE = Exercise(
    id="collectives-beside-matmul",
    title="Not quite hidden",
    points=2,
    prompt="A matmul takes {t_math:s} on all {n_SM} SMs of a GPU. A reduce-scatter starts together with it and runs "
    "for "
    "{t_comm:s} on {n_ch} channels, each of which keeps one SM for as long as the collective lasts. The matmul's rate "
    "is "
    "proportional to the SMs that it has, and it gets the others back when the collective ends. After what time are "
    "both "
    "done? *Exact* in this model.",
    given=dict(
        n_SM=[132, 132, 148, 148, 132],
        n_ch=[32, 24, 32, 40, 28],
        t_math=[4e-3, 7.5e-3, 4.4e-3, 1.5e-3, 7.4e-3],
        t_comm=[2.5e-3, 1.1e-3, 3.8e-3, 1.2e-3, 4.1e-3],
    ),
    answer=Quantity("s", rtol=0.004),
    solution=lambda n_SM, n_ch, t_math, t_comm: shared_chip_time(t_math, t_comm, n_SM, n_ch),
    mistakes=(
        Mistake(lambda t_math: t_math, "So it would be if the collective ran on nothing. Whose SMs does it run on?"),
        Mistake(
            lambda t_math, t_comm: t_math + t_comm,
            "That is one after the other. Both start together.",
            name="times-added",
        ),
        Mistake(
            lambda n_SM, n_ch, t_math: t_math * n_SM / (n_SM - n_ch),
            "The matmul has fewer SMs only until the collective ends, and all of them from then on.",
        ),
        Mistake(
            lambda n_SM, n_ch, t_math: t_math * (1 + n_ch / n_SM),
            "The share of the SMs is right. For how long are they gone: for the matmul's time, or for the "
            "collective's?",
        ),
        Mistake(
            lambda n_SM, n_ch, t_math, t_comm: t_math + n_ch / (n_SM - n_ch) * t_comm,
            "You divide by the SMs that are left beside the collective. It takes no longer than it is said to, and "
            "what the matmul lost it makes up afterwards: on how many SMs?",
        ),
    ),
    hints=(
        "How much of the matmul is done when the collective ends?",
        "Count SM-seconds: what the matmul needs, and what the collective takes away.",
    ),
    explain="The matmul needs {n_SM} times {t_math:s} of SM-seconds. While the collective runs it takes {n_ch} times "
    "{t_comm:s} of them. All SMs are busy to the end, so `n_SM*t = n_SM*t_math + n_ch*t_comm`, and `t = t_math + "
    "n_ch/n_SM*t_comm`. That holds as long as the collective ends first; else it decides alone: `max(t_comm, ...)`. "
    "The collective is hidden, and still not free: you pay its time, times the share of the chip that it runs on.",
)

# All-to-all
ERRATUM_RAGGED = Exercise(
    id="collectives-erratum-ragged",
    title="How close is “very close”?",
    points=3,
    prompt="*How to Scale Your Model* lets a token go to k of n ranks and charges it k copies, *“very close”* to "
    "the truth. But a token whose experts live on the same rank goes there once. Its `k` experts are drawn "
    "independently, each on any of `n` ranks with equal chance. Give the factor by which k copies are too "
    "many: the charge k/n over the expected share of the ranks that the token visits. *Exact*, for k ≤ n.",
    answer=Expression({"n": integers(2, 512), "k": integers(1, 16, most="n")}, "1"),
    solution=lambda n, k: (k / n) / (1 - (1 - 1 / n) ** k),
    mistakes=(
        Mistake(
            lambda n, k: (k / n) / (1 - (1 - k / n)),
            "You took a rank to be missed by k experts at once with chance 1 "
            "− k/n. They are drawn independently of each other.",
        ),
        Mistake(
            lambda n, k: (k / n) * (1 - 1 / n) / (1 - (1 - 1 / n) ** k),
            "Both counts have the same chance of staying at home: that factor cancels.",
        ),
        Mistake(
            lambda n, k: (1 - (1 - 1 / n) ** k) / (k / n), "Upside down: the question is by how much it is too high."
        ),
        Mistake(lambda n, k: (k / n) / (1 - 1 / n) ** k, "(1 − 1/n)^k is the chance that a rank is *not* visited."),
    ),
    hints=(
        "Take one rank. With what chance does the first expert miss it, and then all k?",
        "The expected share of the ranks visited is the chance that one rank is.",
    ),
    explain="One expert misses a given rank with chance `1 - 1/n`, and all k of them do with `(1 - 1/n)**k`. So the "
    "rank is visited with chance `1 - (1 - 1/n)**k`, and since that holds for each rank, it is the expected share of "
    "them. The charge is `k/n` of the ranks, and the factor `(k/n)/(1 - (1 - 1/n)**k)`. It tends to 1 only where n is "
    f"far above k; for n = k = 8 it is {1 / (1 - (1 - 1 / 8) ** 8):.2f}.",
)

# Lab (c)
LAB_FIT = Exercise(
    id="collectives-lab-fit",
    title="Two timings, two constants",
    points=3,
    lines=3,
    prompt="A ring all-reduce over `n` ranks takes `t1` for `S1` bytes and `t2` for `S2` (S is each rank's array, S2 "
    "> S1). Return `(alpha, W)`: the latency of one *round*, and the bytes a second through a port. *Exact* "
    "for a ring of 2(n − 1) equal rounds.",
    answer=Function(
        "constants",
        "constants(n, S1, t1, S2, t2)",
        cases=lambda rng: [
            (n, S1, 2 * (n - 1) * (alpha + S1 / (n * W)), S2, 2 * (n - 1) * (alpha + S2 / (n * W)))
            for n in (2, 3, 8, 61)
            for scale, W in ((2e-6, 4e11), (4e-4, 8e8), (2e-5, 5e10))
            for alpha in (scale * rng.uniform(0.8, 1.2),)  # no whole number of microseconds
            for S1, S2 in ((rng.uniform(64, 1e4), rng.uniform(1e7, 1e9)), (1e6, rng.uniform(2e6, 1e8)))
        ],
        mutants={
            "2(n − 1) rounds, not n − 1": lambda n, S1, t1, S2, t2: (
                (t1 * S2 - t2 * S1) / (S2 - S1) / (n - 1),
                2 * (n - 1) / n * (S2 - S1) / (t2 - t1),
            ),
            "of n ranks, not of very many": lambda n, S1, t1, S2, t2: (
                (t1 * S2 - t2 * S1) / (S2 - S1) / (2 * (n - 1)),
                2 * (S2 - S1) / (t2 - t1),
            ),
            "the small one is not all latency": lambda n, S1, t1, S2, t2: (
                t1 / (2 * (n - 1)),
                2 * (n - 1) / n * (S2 - S1) / (t2 - t1),
            ),
        },
    ),
    solution=lambda n, S1, t1, S2, t2: (
        (t1 * S2 - t2 * S1) / (S2 - S1) / (2 * (n - 1)),
        2 * (n - 1) / n * (S2 - S1) / (t2 - t1),
    ),
    mistakes=(
        Mistake(
            lambda n, S1, t1, S2, t2: ((t1 * S2 - t2 * S1) / (S2 - S1), 2 * (n - 1) / n * (S2 - S1) / (t2 - t1)),
            "The bandwidth is right. The intercept is the latency of *all* rounds.",
            name="latency-left-out",
        ),
        Mistake(
            lambda n, S1, t1, S2, t2: ((t1 * S2 - t2 * S1) / (S2 - S1) / (2 * (n - 1)), (S2 - S1) / (t2 - t1)),
            "The latency is right. Not S goes through a port, but what a ring sends.",
        ),
        Mistake(
            lambda n, S1, t1, S2, t2: ((t1 * S2 - t2 * S1) / (S2 - S1), (S2 - S1) / (t2 - t1)),
            "Those are the line's own. How many rounds are in its intercept, and what goes through a port?",
        ),
        Mistake(
            lambda n, S1, t1, S2, t2: (t1 / (2 * (n - 1)), 2 * (n - 1) / n * S2 / t2),
            "The small one is not all latency, nor the large one all bytes. Which line goes through both?",
            name="latency-left-out",
        ),
    ),
    hints=(
        "Time against size is a straight line. What are its slope and its intercept, in α, W and n?",
        "In all rounds together, how many latencies does a ring pay, and how many bytes does it send through a port?",
    ),
    explain="A ring's time is `2*(n - 1)*alpha + 2*(n - 1)/n*S/W`, a straight line in S. Its slope, `(t2 - t1)/(S2 - "
    "S1)`, is `2*(n - 1)/(n*W)`, so `W = 2*(n - 1)/n/slope`. What is left at S = 0, `t1 - slope*S1`, are the "
    "latencies of all 2(n − 1) rounds: divide by their number.",
)

WRITTEN_FLAT = Exercise(
    id="collectives-written-flat",
    title="A flat line",
    prompt="A colleague shows you an all-reduce of 8 GiB on 8, 64 and 512 GPUs. The bus bandwidth is nearly the same, "
    "and she concludes that the benchmark must be broken: *“sixty-four times the data cannot take the same "
    "time”*. Explain why it can, and name what does get worse with the number of GPUs, and for which sizes "
    "that shows.",
    answer=Written(
        rubric=(
            ("says that each GPU sends 2(n − 1)/n of its own array, which is below twice the array for any n", 2),
            ("says that the ports, and so the bandwidth of all together, grow with the number of GPUs", 1),
            ("says that the number of rounds, and with it the latency, grows with n (or with log n in a tree)", 1),
            ("says that this decides small arrays, and that S/n per round makes the size where it ends grow with n", 1),
        ),
        words=150,
        criteria=False,
    ),
    solution="Nobody sends the data of all. A GPU sends 2(n − 1)/n times its *own* array: 1.75 times with 8, 1.97 "
    "with 64, just under 2 with 512. The data in all is 64 times as much, but so are the ports, and in a "
    "ring each is busy in every round. So the time of a large array tends to 2S/W and stays there, as long "
    "as the network gives every GPU the same W.\n\nWhat grows is the number of rounds: 2(n − 1) around a "
    "ring, about 2 log₂ n in a tree. A round costs a latency, and its message shrinks to S/n. So small "
    "arrays get slower with every GPU that joins, and the size from which on the bandwidth counts moves up, "
    "in proportion to n for a ring.",
    hints=(
        "Count what goes through one GPU's port.",
        "Then count the rounds, and the bytes of one round: what becomes of each when n grows?",
    ),
)

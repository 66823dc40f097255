"""Exercises of chapter 1, and the names with which its text computes numbers."""

from fractions import Fraction
from functools import cache
from math import log
from random import Random

from autograder.answers import Choice, Count, Expression, Function, Quantity, Written, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib import simt
from hwlib.formula import ceil, floor, log2
from hwlib.hierarchy import kernel_timeline, stage_interval  # noqa: F401
from hwlib.power import chip_power  # noqa: F401
from hwlib.roofline import *  # noqa: F403  (the text uses some of them)
from hwlib.roofline import vector_clock, vector_flops
from hwlib.simt import lane_fraction, warp_ways  # noqa: F401
from hwlib.specs import accelerators, measured_powers
from hwlib.units import PFLOP, TFLOP, GHz, ns, show

v100, a100, h100, h100_pcie, h200, b200, mi300x, mi325x, mi355x, v5p = (
    accelerators[key]
    for key in (
        "v100-sxm2",
        "a100-80gb-sxm",
        "h100-sxm",
        "h100-pcie",
        "h200-sxm",
        "b200-sxm",
        "mi300x",
        "mi325x",
        "mi355x",
        "tpu-v5p",
    )
)


def best(chip):
    """The rate of the best bf16 matmul that was measured on a chip."""
    return chip.datum("matmul_bf16_flops").value


# Many small machines
VECTOR = Exercise(
    id="gpu-architecture-vector-flops",
    title="A kernel that is not all multiply-adds",
    prompt="A fused activation kernel does nothing but float32 arithmetic on the lanes of {name}: {n} "
    "multiprocessors of {lanes} lanes, at a clock of {f:Hz}. A share of {share} of its instructions are "
    "fused multiply-adds, the others are single additions and multiplications; every lane issues one "
    "instruction each cycle. How many FLOP/s is that? *Exact.*",
    given=[
        dict(name=name, n=chip.sms, lanes=chip.lanes, f=f, share=share)
        for name, chip, f in (
            ("an H100", h100, 1.59 * GHz),
            ("an H100", h100, 1.98 * GHz),
            ("an A100", a100, 1.41 * GHz),
        )
        for share in (0.25, 0.75, 0.4)  # with a half, 1 + share is 2 - share
    ],
    answer=Quantity("FLOP/s"),
    solution=lambda n, lanes, f, share: vector_flops(n, lanes, f, 1 + share),
    mistakes=(
        Mistake(
            lambda n, lanes, f: vector_flops(n, lanes, f),
            "That is the data sheet's way to count: as if every instruction did two operations.",
        ),
        Mistake(
            lambda n, lanes, f: vector_flops(n, lanes, f, 1),
            "That is one operation an instruction. Some of these do two.",
            name="multiply-add",
        ),
        Mistake(
            lambda n, lanes, f, share: vector_flops(4 * n, lanes, f, 1 + share),
            "Four times too much: the lanes of all four subpartitions are counted already, and FLOP/s have no bytes.",
        ),
        Mistake(
            lambda n, lanes, f, share: vector_flops(n, lanes, f, share),
            "An instruction that is no multiply-add is an operation, too.",
        ),
    ),
    hints=(
        "How many operations does an instruction do, on average?",
        "Then: how many instructions does the chip issue in a second, over all its lanes?",
    ),
    explain="A multiply-add is two operations and every other instruction one, so an instruction is `1 + {share}` "
    "operations on average. {n} multiprocessors issue {lanes} instructions each in a cycle, which makes `{n} * "
    "{lanes} * (1 + {share})` FLOP a cycle; times the clock of {f:Hz} that is the rate.",
)

B200_CLOCK = Exercise(
    id="gpu-architecture-vector-clock",
    title="The clock behind a float32 peak",
    prompt="Data sheets count two operations a lane and cycle. Tables print {C:FLOP/s} of float32 for {name}, "
    "which has {n} multiprocessors of {lanes} lanes. At which clock would it get there? *Exact.*",
    given=[
        dict(name=name, C=chip.fp32_flops, n=chip.sms, lanes=chip.lanes)
        for name, chip in (("a B200", b200), ("an H100", h100), ("an A100", a100), ("a V100", v100))
    ],
    answer=Quantity("Hz"),
    solution=lambda C, n, lanes: vector_clock(C, n, lanes),
    mistakes=(
        Mistake(
            lambda C, n, lanes: vector_clock(C, n, lanes, 1),
            "That is with one operation an instruction. What does a sheet count?",
            name="multiply-add",
        ),
        Mistake(
            lambda C, n, lanes: vector_clock(C, n, lanes / 4),
            "Four times too much: are those the lanes of one of four subpartitions, or did you "
            "multiply by the two operations "
            "of an instruction?",
        ),
    ),
    hints=(
        "Which quantities make a float32 peak? All but one of them stand in the prompt.",
        "How many lanes are there on the whole chip, and what does a sheet count for each of them in a cycle?",
    ),
    explain="A sheet's peak is lanes × 2 operations × clock. The chip has `{n} * {lanes}` lanes, so the clock would "
    "be `C/(2 * {n} * {lanes})` with C = {C:FLOP/s}. A rate that asks for more than the highest clock that a chip "
    "reports was rounded up, or belongs to another chip.",
)

# One instruction, thirty-two threads
WARPS = Exercise(
    id="gpu-architecture-erratum-warps",
    title="Find the error: 16 warps, or 64?",
    prompt="A draft of *How to Scale Your Model* (July 2025) says that a scheduler of an H100 holds up to 16 warps, "
    "and only 2 when a thread uses 256 registers. The published edition says 64, and 8. The register file of a "
    "*subpartition* has 16,384 registers of 32 bits. Which edition is wrong? *Exact*: work out both.",
    answer=Choice(
        {
            "draft": "the draft: the numbers are four times too small",
            "published": "the published one: the numbers are four times too large",
            "neither": "neither: they speak of two different things",
            "both": "both: 256 registers a thread leave room for one warp",
        }
    ),
    solution="neither",
    mistakes=(
        Mistake("draft", "Divide the draft's own register file by what a warp of 256-register threads takes."),
        Mistake("published", "How many such register files has the thing that the published edition speaks of?"),
        Mistake("both", "A warp of such threads takes 32 × 256 registers."),
    ),
    hints=(
        "How many registers does a warp take, if each of its threads has 256?",
        "One text counts for a scheduler. What does the other count for?",
    ),
    explain="A warp with 256 registers a thread takes 32 × 256, that is 8,192, and the 16,384 of a subpartition "
    "hold two of those. The draft counts what one scheduler holds: 16, or 2. A multiprocessor has four schedulers "
    "and holds 64, or 8, and that is what the published edition counts. Before you compare two numbers of a chip, "
    "ask of which part of it they are.",
)


def branch_cycles(p, a, b, w):
    """Cycles that a warp of w threads issues for an if/else; a thread takes the first side (a instructions) with p."""
    return a * (1 - (1 - p) ** w) + b * (1 - p**w)


RARE = branch_cycles(0.01, 1000, 10, 32)
PREDICT_RARE = Exercise(
    id="gpu-architecture-predict-rare",
    title="Predict: a rare slow path",
    predict=True,
    prompt="Nearly every thread of a kernel takes a path of 10 instructions. One of a hundred, at random, takes a "
    "slow path of 1,000 instead, so a thread has about 20 to run on average. How many cycles does a "
    "scheduler need for a warp of 32, on average? *To first order.*",
    answer=Choice({"20": "about 20", "60": "about 60", "285": "about 285", "1010": "about 1,010"}, ordered=True),
    solution=lambda: min(("20", "60", "285", "1010"), key=lambda n: abs(log(float(n) / RARE))),
    mistakes=(
        Mistake("20", "That is the mean of the threads. What does a warp do if just one of its threads is slow?"),
        Mistake("60", "More: work out how likely it is that none of 32 threads is slow."),
        Mistake("1010", "That is a warp with a slow thread in it. Is there one in every warp?"),
    ),
    hints=("With what chance has a warp no slow thread at all?",),
    explain=f"All 32 threads of a warp are fast with probability 0.99³², {0.99**32:.1%}; such a warp issues the 10 "
    "instructions of the fast path alone. Each of the others issues the 1,000 of the slow path as well, for all of "
    f"its threads: 10 + {1 - 0.99**32:.1%} of 1,000 are {RARE:.0f} cycles on average, {RARE / 19.9:.0f} times what "
    "the mean of the threads suggests.",
)

BRANCH = Exercise(
    id="gpu-architecture-divergent-branch",
    title="What an if costs",
    points=2,
    prompt="`if x: A else: B`, where A has `a` instructions and B has `b`. Each of the `w` threads of a warp takes "
    "A with probability `p`, independently of the others. How many cycles does the warp's scheduler issue "
    "for it, *exactly, in expectation*? A side that no thread takes is skipped; the test itself is free.",
    answer=Expression(
        {
            "p": positive("1", 0.001, 0.999),
            "a": positive("1", 1, 1000),
            "b": positive("1", 1, 1000),
            "w": integers(1, 64),
        }
    ),
    solution=branch_cycles,
    mistakes=(
        Mistake(
            lambda p, a, b: p * a + (1 - p) * b,
            "That is the mean of the threads: right for warps of one.",
            name="mean-for-slowest",
        ),
        Mistake(lambda a, b: a + b, "Right for endless warps. What if all threads of a warp agree?"),
        Mistake(lambda p, a, b, w: a * (1 - (1 - p) ** w) + b, "You skip A where nobody wants it. And B?"),
        Mistake(
            lambda p, a, b, w: a * (1 - p**w) + b * (1 - (1 - p) ** w),
            "Which of the two powers is the chance that no thread takes A?",
        ),
    ),
    hints=(
        "For which warps is A issued, and for which is it skipped?",
        "With what probability does no thread of a warp take A? And B?",
    ),
    explain="A side is issued at its full length if at least one thread takes it. No thread takes A with "
    "probability `(1 - p)**w`, so A costs `a*(1 - (1 - p)**w)` on average; no thread takes B with probability "
    "`p**w`, so B costs `b*(1 - p**w)`. Expectations add up even where events depend on each other, so the answer "
    "is the sum. With w = 1 it is the mean of the threads, and for large w it tends to `a + b`.",
)

# Cubes
CLOCK = Exercise(
    id="gpu-architecture-erratum-clock",
    title="Find the error: 7.5e12/1.76e9/4 ≈ 1024",
    prompt="The draft of *How to Scale Your Model* on the H100: 990 TFLOP/s are 7.5 TFLOP/s for each of the 132 SMs; "
    "each has four tensor cores and a peak clock of 1.76 GHz; so a tensor core does `7.5e12 / 1.76e9 / 4 ~ 1024` "
    "FLOP a cycle, an 8 × 8 × 8 product. Check the division. What is wrong with it? *Exact.*",
    answer=Choice(
        {
            "clock": "the clock: the peak is quoted at another one, at which the result is 1,024",
            "sparse": "the rate: 990 TFLOP/s count zeros that are skipped",
            "product": "the last step: an 8 × 8 × 8 product is 512 FLOP",
            "nothing": "nothing: 1,024 is what comes out, up to rounding of the inputs",
        }
    ),
    solution="clock",
    mistakes=(
        Mistake("sparse", "With zeros it would be about 1,979.", name="sparse-for-dense"),
        Mistake("product", "A multiply-add is two operations.", name="multiply-add"),
        Mistake("nothing", "Divide. Can the rounding of 990, 132 and 1.76 make up for what is too much?"),
    ),
    hints=(
        "What is 7.5e12/1.76e9/4, to four digits?",
        "Which of the numbers in the division would have to be wrong by as much as the result is?",
    ),
    explain=f"The division gives {7.5e12 / 1.76e9 / 4:,.0f}, {7.5e12 / 1.76e9 / 4 / 1024 - 1:.0%} more than 1,024, "
    "and rounding cannot do that: each of the inputs is good to half a percent. An 8 × 8 × 8 product is 512 "
    "multiply-adds, 1,024 FLOP, and that is right, by design: hardware comes in powers of two. So it is the clock "
    f"that follows, 990e12/(132 × 4 × 1,024): {show(h100.flops('bf16') / (132 * 4 * 1024), 'Hz', 3)}, which is "
    f"neither this one nor the highest, {show(h100.datum('vector_clock').value, 'Hz', 3)}.",
)

CYCLE = Exercise(
    id="gpu-architecture-cycle-flops",
    title="A power of two",
    prompt="A chip's matrix units each do a power of two of FLOP a cycle. {name} has {n} multiprocessors with {cores} "
    "of these units each; its sheet says {C:FLOP/s} in {dtype}, dense, and its clock never exceeds {f:Hz}. What is "
    "the smallest power of two that gets there? *Exact.*",
    given=[
        dict(name=name, n=chip.sms, cores=4, dtype=dtype, C=chip.flops(dtype), f=chip.vector_clock)
        for name, chip, dtype in (  # formats whose rates no figure of the chapter shows
            ("A B200", b200, "fp8"),
            ("An H100 on a PCIe board", h100_pcie, "fp8"),
            ("An MI325X", mi325x, "bf16"),
            ("An MI355X", mi355x, "bf16"),
        )
    ],
    answer=Count(of="FLOP"),
    solution=lambda n, cores, C, f: 2 ** ceil(log2(C / (n * cores * f))),
    mistakes=(
        Mistake(
            lambda n, cores, C, f: 2 ** floor(log2(C / (n * cores * f))), "At what clock would that reach the sheet?"
        ),
        Mistake(
            lambda n, cores, C, f: 2 ** ceil(log2(C / (n * f))), "That is a whole multiprocessor.", name="one-for-all"
        ),
        Mistake(lambda cores, C, f: 2 ** ceil(log2(C / (cores * f))), "How many matrix units has the whole chip?"),
        Mistake(
            lambda C, f: 2 ** ceil(log2(C / f)),
            "All matrix units of the chip together come to that: is one of them asked for, or has the clock lost its "
            "prefix?",
            name="one-for-all",
        ),
        Mistake(lambda n, cores, C, f: ceil(log2(C / (n * cores * f))), "That is the exponent. Which power is it?"),
        Mistake(
            lambda n, cores, C, f: C / (n * cores * f),
            "At the highest clock this would do. It is no power of two, though.",
        ),
    ),
    hints=(
        "What would a matrix unit have to do in a cycle, if the chip ran at the highest clock that it has?",
        "Would the next lower power of two get there? At which clock would the next higher one?",
    ),
    explain="Even at {f:Hz}, the highest clock, each unit would have to do `C/({n} * {cores} * f)` FLOP a "
    "cycle to get to C = {C:FLOP/s}. The power of two below that number falls short at every clock that the chip "
    "has; the one above it gets there at a lower clock, and that is the answer: `2**ceil(log2(C/({n} * {cores} * "
    "f)))`.",
)

OPERANDS = Exercise(
    id="gpu-architecture-operand-bytes",
    title="Feeding a cube",
    points=2,
    prompt="Every cycle, a tensor core multiplies an `m × m` matrix by an `m × m` matrix and adds the product to "
    "an accumulator that stays inside. It does `f` FLOP a cycle (a multiply-add is two). Both matrices are "
    "new in every cycle, at `b` bytes an element. How many bytes must come in each cycle? *Exact*, in `f` "
    "and `b`.",
    answer=Expression({"f": positive("FLOP", 16, 65536), "b": positive("B", 0.5, 8)}, "B"),
    solution=lambda f, b: 2 * b * (f / 2) ** Fraction(2, 3),
    mistakes=(
        Mistake(
            lambda f, b: 2 * b * f ** (2 / 3),
            "A multiply-add is two FLOP: how many of those has a cube of side m?",
            name="multiply-add",
        ),
        Mistake(lambda f, b: b * (f / 2) ** (2 / 3), "That is one of the two matrices."),
        Mistake(lambda f, b: 3 * b * (f / 2) ** (2 / 3), "The accumulator does not come in anew."),
        Mistake(lambda f, b: b * f, "That is what lanes would need: two fresh operands for each multiply-add."),
    ),
    hints=(
        "Work grows with the volume of a cube, operands with its faces.",
        "How many multiply-adds has the product, in m? And how many numbers are new in a cycle?",
    ),
    explain="The product is `m**3` multiply-adds, so `f = 2*m**3` and the side is `m = (f/2)**(1/3)`. New are two "
    f"matrices of `m**2` numbers of `b` bytes: `2*b*(f/2)**(2/3)`. Twice the work needs only {2 ** (2 / 3):.2f} "
    "times the bytes. That is what a larger cube is for.",
)

# Who issues what
STAGES = Exercise(
    id="gpu-architecture-stages",
    title="How many slots?",
    points=2,
    prompt="Each step of a kernel multiplies operands that a copy has brought into a slot of shared memory. A slot "
    "is full {t_copy:s} after its copy was asked for; the products of a step take {t_mma:s}, and once they are done "
    "the slot's next copy is asked for at once. Copies do not slow one another down. What is the smallest number of "
    "slots with which the tensor cores, once they have begun, never wait? *Exact.*",
    given=[
        dict(t_copy=copy * ns, t_mma=products * ns)
        for copy, products in ((700, 130), (950, 220), (640, 150), (1100, 240))
    ],
    answer=Count(of="slot"),
    solution=lambda t_copy, t_mma: ceil((t_copy + t_mma) / t_mma),
    mistakes=(
        Mistake(
            lambda t_copy, t_mma: ceil(t_copy / t_mma),
            "So many steps pass while a copy is on its way. And the slot that is being multiplied meanwhile?",
        ),
        Mistake(
            lambda t_copy, t_mma: floor(t_copy / t_mma),
            "Those are the whole steps that pass while a copy is on its way. Has it arrived after them? And is the "
            "slot that is being multiplied among them?",
            name="rounded",
        ),
        Mistake(2, "Two slots hide a copy that is no longer than a step's products. This one is longer."),
        Mistake(3, "Three slots hide a copy that is no longer than the products of two steps. This one is longer."),
    ),
    hints=(
        "Follow one slot from one copy to the next: how long does its round take?",
        "While it goes round, every other slot is multiplied once. When is that long enough?",
    ),
    explain="A slot's round is its copy and its products: `t_copy + t_mma`. In that time the tensor cores multiply "
    "each of the s slots once, which keeps them busy for `s*t_mma`. They never wait if this is no less: s is at "
    "least `(t_copy + t_mma)/t_mma`, rounded up, with {t_copy:s} and {t_mma:s}. It is Little's law, counted in "
    "slots: what a step takes, times the steps on the way.",
)


def starts(copies, stages, t_mma):
    """When the products of each step start, if the k-th copy takes copies[k]."""
    begun = []
    for k, copy in enumerate(copies):
        asked = begun[k - stages] + t_mma if k >= stages else 0
        free = begun[-1] + t_mma if begun else 0
        begun.append(max(asked + copy, free))
    return begun


def _starts(copies, stages, t_mma, *, in_order=True, early=False, waits=True, one=False):
    begun = []
    for k, copy in enumerate(copies):
        slot = 1 if one else stages
        asked = begun[k - slot] + (0 if early else t_mma) if k >= slot and waits else 0
        free = max(begun) + t_mma if begun and in_order else 0
        begun.append(max(asked + copy, free))
    return begun


def _fills_all_slots(copies, stages, t_mma):
    """By a program that begins with one copy for each slot, and fails where there are fewer steps."""
    return starts(copies, stages, t_mma) if [copies[k] for k in range(stages)] else []


def _copies(rng):
    """By hand, with equal copies, with one slow copy, in fractions, and at random; fewer steps than slots too."""
    fixed = [
        ([10, 10, 10], 1, 4),
        ([10] * 6, 2, 4),
        ([10] * 8, 4, 4),
        ([5, 5, 60, 5, 5, 5, 5], 3, 9),
        ([7], 3, 2),
        ([4, 9, 2, 6], 2, 1),
        ([1, 1, 1, 1, 30], 1, 10),
        ([2.5, 4.25, 1.75, 6.5, 0.5], 2, 1.5),
    ]
    drawn = [
        ([rng.randint(5, 60) for _ in range(rng.randint(2, 14))], rng.randint(1, 5), rng.randint(3, 25))
        for _ in range(8)
    ]
    return [*fixed, *drawn]


LAB_PIPELINE = Exercise(
    id="gpu-architecture-lab-pipeline",
    title="A producer, a consumer, and a ring",
    points=3,
    lines=6,
    prompt="Step k of a kernel uses slot `k % stages`. A producer asks for its copy as soon as the slot is empty: at "
    "time 0 for the first `stages` steps, later when the products of step k - stages are done. The copy takes "
    "`copies[k]`. A consumer multiplies the steps in order, one at a time, each as soon as its copy has arrived; the "
    "products of a step take `t_mma`. Return the list of the times at which the products of each step start; times "
    "may be fractions. *Exact.*",
    answer=Function(
        "starts",
        "starts(copies, stages, t_mma)",
        cases=_copies,
        counts=True,
        mutants={
            "there may be fewer steps than slots": _fills_all_slots,
            "each copy takes its own time": lambda copies, *a: starts([copies[0]] * len(copies), *a),
            "times may be fractions": lambda *a: [int(start) for start in starts(*a)],
            "products take time as soon as one slot is left": lambda copies, stages, t_mma: starts(
                copies, stages, t_mma if stages > 1 else 0
            ),
        },
    ),
    solution=starts,
    mistakes=(
        Mistake(
            lambda *a: _starts(*a, waits=False),
            "That is as if all copies were asked for at time 0: when is the slot of step k empty, and when does a copy "
            "arrive that is asked for then?",
        ),
        Mistake(
            lambda *a: _starts(*a, early=True),
            "You refill a slot when its products *start*. What would they be computed from?",
        ),
        Mistake(
            lambda *a: _starts(*a, in_order=False),
            "Two steps are multiplied at the same time. There is one consumer, and it takes them in turn.",
        ),
        Mistake(lambda *a: _starts(*a, one=True), "Each copy waits for the step before it, as if there were one slot."),
    ),
    hints=(
        "Two things have to happen before step k can start. Which, and when does each happen?",
        "Keep the list of starts: the start of step k needs that of step k - 1 and that of step k - stages.",
    ),
    withholds=("hwlib.hierarchy.stages",),
    explain="Step k starts when two things have happened. Its copy has arrived, `copies[k]` after it was asked for: "
    "at 0 for the first `stages` steps, and for the others when step k - stages is done, `begun[k - stages] + "
    "t_mma`. And the consumer is free: `begun[k - 1] + t_mma`. The start is the later of the two. These two waits "
    "are the two barriers of a real kernel, *full* and *empty*, of which every slot has one pair.",
)

# Power
LIMIT = h100.datum("tdp").value
P_IDLE = 100.0  # at rest: a guess, which the text says
F_MAX, F_BEST = h100.datum("vector_clock").value, h100.datum("clock").value * best(h100) / h100.flops("bf16")
P_RANDOM = (LIMIT - P_IDLE) * (F_MAX / F_BEST) ** 3  # if all of the gap were clock
ZEROS = (257 / 295) ** 3  # power of zeros over that of random numbers, by the cube and he2024's two rates
P_ZEROS = ZEROS * P_RANDOM
_LEFT = (500 - P_IDLE) / (1400 - P_IDLE)  # of a GB300's switching power, at two published limits
CUBE_GB300, LINE_GB300 = _LEFT ** (1 / 3), _LEFT  # of its rate: by the cube, and if power fell as the clock
P_CHIP_IDLE = 60.0  # of the chip without its memory, at rest: a guess, too
TRAINING, CLOCKS = measured_powers("Llama 3 8B pre-training"), measured_powers("ViT-L/16 inference")


def cube(cap):
    """What the cube of the clock leaves of an H100's rate under a limit."""
    return ((cap - P_IDLE) / (LIMIT - P_IDLE)) ** (1 / 3)


def left(cap):
    """What a limit left of the rate of a published pre-training."""
    return next(row.rate for row in TRAINING if row.cap == cap) / TRAINING[-1].rate


def exponent(below, above):
    """With which power of the clock the power of switching grew between two measurements."""
    low, high = (row.chip_power - P_CHIP_IDLE for row in (below, above))
    return log(high / low) / log(above.clock / below.clock)


CAP = Exercise(
    id="gpu-architecture-power-cap",
    title="A lower limit",
    points=2,
    prompt="At rest a chip takes `P0`. With a limit of `P1` it runs matmuls, which need all of that, at a rate of "
    "`R`, in step with its clock. The power beyond `P0` grows with the cube of the clock. The data centre lowers the "
    "limit to `P2`, which is above `P0`. What is the new rate? *Exact*, in this model.",
    answer=Expression(
        {
            "R": positive("FLOP/s", 1e14, 3e15),
            "P0": positive("W", 50, 150),
            "P1": positive("W", 500, 1200),
            "P2": positive("W", 200, 480),
        },
        "FLOP/s",
    ),
    solution=lambda R, P0, P1, P2: R * ((P2 - P0) / (P1 - P0)) ** Fraction(1, 3),
    mistakes=(
        Mistake(lambda R, P1, P2: R * P2 / P1, "That is as if power grew with the clock. How fast does it grow?"),
        Mistake(
            lambda R, P1, P2: R * (P2 / P1) ** Fraction(1, 3),
            "The cube is there. Does all of the power grow with the clock?",
        ),
        Mistake(
            lambda R, P0, P1, P2: R * (P2 - P0) / (P1 - P0), "You took off what the chip takes at rest. And the cube?"
        ),
        Mistake(
            lambda R, P0, P1, P2: R * ((P2 - P0) / (P1 - P0)) ** 3,
            "Turned round: is the clock the cube of the power?",
            name="upside-down",
        ),
        *(
            Mistake(
                lambda R, P0, P1, P2, third=third: R * ((P2 - P0) / (P1 - P0)) ** third,
                f"All but the exponent: {float(third)} is a rounded number, and it is asked for exactly.",
            )
            for third in (Fraction(33, 100), Fraction(333, 1000), Fraction(3333, 10000))
        ),
    ),
    hints=(
        "How much power is left for switching, before and after?",
        "Switching power goes with the cube of the clock, and the rate with the clock. How does the rate go with the "
        "power?",
    ),
    explain="For switching there was `P1 - P0`, and there is now `P2 - P0`. Switching power grows as the cube of the "
    "clock, so the clock changes by the cube root of their ratio, and the rate with it: `R*((P2 - P0)/(P1 - "
    "P0))**(1/3)`. The cube root is kind: of 700 W with 100 at rest, a limit of 400 W leaves half of the switching "
    "power and 79 % of the rate. That is why operators who pay for power, or have a limited supply of it, cap their "
    "chips.",
)

# The data sheet
HEADLINE = Exercise(
    id="gpu-architecture-headline",
    title="What a headline is worth",
    points=2,
    prompt="A vendor announces {what}: {C:FLOP/s} of fp4, which a footnote calls “with sparsity”. On these chips "
    "every halving of the format doubles the rate. You will train a dense model in bf16. What is the peak "
    "of *one GPU* for you? *Exact.*",
    given=[
        dict(what="a rack of 72 GPUs", C=1440 * PFLOP, n=72),
        dict(what="a server of 8 GPUs", C=144 * PFLOP, n=8),
        dict(what="a board with 2 GPUs", C=40 * PFLOP, n=2),
    ],
    answer=Quantity("FLOP/s"),
    solution=lambda C, n: C / n / 2 / 4,
    mistakes=(
        Mistake(
            lambda C, n: C / n / 4,
            "One of the factors of 2 is still in it. Which belong to the zeros, and which to the formats?",
        ),
        Mistake(lambda C, n: C / n / 2, "That is dense, in fp4. How often is a format halved between bf16 and fp4?"),
        Mistake(lambda C: C / 2 / 4, "That is all of them together.", name="one-for-all"),
        Mistake(
            lambda C, n: C / n,
            "That is one GPU as announced: in fp4, zeros included. Two steps remain.",
            name="sparse-for-dense",
        ),
        Mistake(
            lambda C: C,
            "That is the announcement as it stands: of all GPUs, in fp4, zeros included.",
            name="sparse-for-dense",
        ),
        Mistake(lambda C, n: C / n / 2 / 8, "One halving too many. From bf16 to fp4, how often?"),
        Mistake(lambda C, n: C / n / 2 / 2**12, "A rate doubles with each *halving* of the format, not with each bit."),
        Mistake(
            lambda C, n: C / n / (2 + 4), "You added two factors. What does each of them do to what the other left?"
        ),
    ),
    hints=(
        "The announcement counts what your job does not have, or not in this format. Which things are that?",
        "What does the footnote take away, and how often is a format halved from bf16 to fp4?",
    ),
    explain="Of the {C:FLOP/s} of {what}, one GPU has one part in {n}. “With sparsity” counts products that are "
    "skipped, which a dense model has to do: half is left. From bf16 to fp4 the format is halved twice, and each "
    "time the rate doubled: a quarter is left. So the answer is `C/{n}/2/4`.",
)

_RATES = 2 * h100.flops("bf16") / TFLOP, h100.flops("bf16") / TFLOP, best(h100) / TFLOP, h100.flops("fp32") / TFLOP
_SPARSE, _DENSE, _BEST, _LANES = (f"{rate:,.0f}" for rate in _RATES)
SHEET = Exercise(
    id="gpu-architecture-written-sheet",
    title="Four rates of one chip",
    prompt=f"A planner has read “bf16: {_SPARSE} TFLOP/s” for the H100, multiplied by 1,000 GPUs, and promised a "
    f"date. You know three smaller rates of the same chip: {_DENSE}, {_BEST} and {_LANES} TFLOP/s. Tell the "
    "planner what each of the four is a rate of, which one the promise should have started from, and why that "
    "one too is a bound for the job, not a forecast.",
    answer=Written(
        rubric=(
            (f"says that {_SPARSE} counts products with zeros in a 2:4 pattern, which dense training does not have", 1),
            (f"says that {_DENSE} is tensor cores at full work, at the one clock at which the peak is quoted", 1),
            (f"says that {_BEST} is measured, and names power and clock, or tiles and launches, as what is lost", 1),
            (f"says that {_LANES} is the lanes in float32, where norms and activations run, and no matmul rate", 1),
            (
                "starts from the measured rate, and says that a job also moves bytes, talks, or does more than matmuls",
                1,
            ),
        ),
        words=200,
        criteria=False,
    ),
    solution=f"{_SPARSE} TFLOP/s is bf16 on tensor cores that skip two of every four weights and count them as done; "
    f"a dense model has nothing to skip. {_DENSE} is the same hardware without that: {h100.sms} SMs, 4,096 "
    f"FLOP each a cycle, at {show(h100.datum('clock').value, 'Hz', 3)}. {_BEST} is the best of many large "
    f"matmuls measured on the chip: within {show(h100.datum('tdp').value, 'W')} it does not hold that clock "
    f"while all units switch, and every tile has a start and an end. {_LANES} is float32 on the lanes, two "
    f"operations for each of {vector_lanes(h100.sms, h100.lanes):,} lanes at up to "  # noqa: F405
    f"{show(h100.datum('vector_clock').value, 'Hz', 3)}: norms, activations and optimisers run there."
    f"\n\nStart from {_BEST}, and call it a ceiling. It is one large matmul after another; a job also has "
    "small ones, work on the lanes, bytes to fetch, and messages to wait for.",
    hints=("For each of the four: which units, doing what, at which clock?",),
)

# Other machines
SHARES = {chip.key: best(chip) / chip.flops("bf16") for chip in (a100, h100, b200, mi300x, mi325x, mi355x)}
PREDICT_MEASURED = Exercise(
    id="gpu-architecture-predict-measured",
    title="Predict: the better sheet",
    predict=True,
    prompt=f"By their sheets, an MI300X has {mi300x.flops('bf16') / h100.flops('bf16'):.2f} times the dense bf16 rate "
    "of an H100. The same script looked on both for the shape whose matmul is fastest. What did the MI300X's "
    "best come to, in units of the H100's? *To first order.*",
    answer=Choice(
        {"1.3": "about 1.3 times", "1.1": "about 1.1 times", "0.85": "about 0.85 times", "0.5": "about half"},
        ordered=True,
    ),
    solution=lambda: min(("1.3", "1.1", "0.85", "0.5"), key=lambda r: abs(log(float(r) * best(h100) / best(mi300x)))),
    mistakes=(
        Mistake("1.3", "That is the ratio of the sheets. Both chips fall short of theirs; do they fall equally short?"),
        Mistake("1.1", "The gap is larger, and on the other side."),
        Mistake("0.5", "The MI300X reached about half of *its own* sheet."),
    ),
    hints=("One of the two gets four fifths of its sheet.",),
    explain=f"The H100 reached {SHARES['h100-sxm']:.0%} of its sheet, the MI300X {SHARES['mi300x']:.0%}, and the "
    f"ratio of the sheets shrinks by as much: {mi300x.flops('bf16') / h100.flops('bf16'):.2f} × "
    f"{SHARES['mi300x']:.0%}/{SHARES['h100-sxm']:.0%} is {best(mi300x) / best(h100):.2f}. Its successors reach "
    f"{SHARES['mi325x']:.0%} and {SHARES['mi355x']:.0%} of theirs. Libraries improve: such figures age, and sheets "
    "do not.",
)


# Lab
def _by(choose):
    """A machine that issues the line that `choose` picks, of {line: threads that stand there}."""

    def machine(traces):
        at, schedule = [0] * len(traces), []
        while waiting := [i for i, trace in enumerate(traces) if at[i] < len(trace)]:
            lines: dict[int, list[int]] = {}
            for i in waiting:
                lines.setdefault(traces[i][at[i]], []).append(i)
            line = choose(lines)
            for i in lines[line]:
                at[i] += 1
            schedule.append((line, lines[line]))
        return schedule

    return machine


issue = _by(min)  # the threads furthest behind go first, with all that stand in their line


def _branchy(x):
    yield
    if x % 3 == 0:
        for _ in range(x % 7):
            yield
            if x % 2:
                yield
        if x % 5 == 0:
            return
    elif x % 3 == 1:
        yield
        yield
    yield


def _at_once(traces):
    """Each line once, with all who come to it at all."""
    passing: dict[int, list[int]] = {}
    for i, trace in enumerate(traces):
        for line in dict.fromkeys(trace):
            passing.setdefault(line, []).append(i)
    return sorted(passing.items())


def _cases(rng):
    """Traces of a branchy kernel, of loops and switches, of empty and single threads."""
    cases = [simt.trace(_branchy, [rng.randrange(100) for _ in range(n)])[0] for n in (1, 2, 3, 4, 8, 16, 32, 32, 32)]
    for n in (2, 3, 4, 8, 16, 31, 32):
        cases.append([[1, *[2, 3] * rng.randrange(6), 4] for _ in range(n)])
        cases.append([[0, *range(10 * way, 10 * way + 4), 99] for way in (rng.randrange(1, 5) for _ in range(n))])
        cases.append([sorted(rng.choices(range(9), k=rng.randrange(6))) for _ in range(n)])
    return [(traces,) for traces in [*cases, [[]], [[], [1]], [[5, 6], [5, 6]]]]


LAB_WARP = Exercise(
    id="gpu-architecture-lab-warp",
    title="Build a warp",
    points=4,
    lines=9,
    prompt="`traces` has one list for each thread of a warp: the lines of the kernel that the thread will run, in "
    "order; a list may be empty. Each cycle the warp issues *one* line, to all threads whose next line it is. "
    "Which line? In compiled code, paths that split meet again further down, so the threads that are furthest "
    "*behind*, at the smallest line, go first, and the others wait for them. Return the schedule: a list with one "
    "`(line, threads)` for each cycle, `threads` being the indices that run it, ascending. *Exact.*",
    answer=Function(
        "issue",
        "issue(traces)",
        cases=_cases,
        mutants={
            "a list may be empty": lambda traces: issue(traces) if [trace[0] for trace in traces] else [],
            "a thread may come to a line again": _at_once,
            "the indices are ascending": lambda traces: [(line, threads[::-1]) for line, threads in issue(traces)],
            "threads that are done run nothing": lambda traces: issue(
                [trace + [max(trace)] * (max(map(len, traces)) - len(trace)) if trace else trace for trace in traces]
            ),
        },
    ),
    solution=issue,
    mistakes=(
        Mistake(
            _by(lambda lines: next(iter(lines))),
            "You follow the first thread that is not done. Where do those that wait for it meet it again?",
        ),
        Mistake(_by(max), "The thread furthest ahead runs away, and nobody ever catches up with it."),
        Mistake(
            _by(lambda lines: max(lines, key=lambda line: (len(lines[line]), -line))),
            "You let the majority go first. It may leave a loop that one thread is still in.",
        ),
        Mistake(
            lambda traces: [(line, [i]) for i, trace in enumerate(traces) for line in trace],
            "Each thread runs alone. Threads that stand in the same line share a cycle.",
        ),
    ),
    hints=(
        "Keep, for each thread, how far it has come.",
        "Each cycle: who is not done, which is the smallest next line among them, and who stands there?",
    ),
    explain="Each thread has a place in its list. In a cycle, look at the next line of every thread that is not "
    "done, take the smallest, issue it for all threads that stand there, and move these one place on; repeat until "
    "nobody is left. A thread that is behind thus always catches up, and the others join it in the line where their "
    "ways meet. The schedule is at least as long as the longest trace, and as long as all of them together if no "
    "two ever stand in the same line.",
)

LAB_SORT = Exercise(
    id="gpu-architecture-lab-sort",
    title="Sort, or not?",
    points=2,
    prompt="The threads of a kernel go through a `switch` of {ways} paths, each of L instructions, and all paths are "
    "equally likely and in no order. Sorting the data by path first would cost {c} issued cycles a warp; "
    "after it every warp takes one path (*to first order*: the few at the borders do not count). From which "
    "whole L on is it faster to sort? Warps have 32 threads; take the expected number of paths, *exact*.",
    given=dict(ways=[8, 16, 32, 64], c=[2000, 3000, 4000]),
    answer=Count(of="instruction"),
    solution=lambda ways, c: floor(c / (warp_ways(ways) - 1)) + 1,
    mistakes=(
        Mistake(
            lambda ways, c: floor(c / (ways - 1)) + 1,
            "So it is if each warp executes (nearly) every path. Does it, and how many threads draw one?",
        ),
        Mistake(lambda ways, c: floor(c / warp_ways(ways)) + 1, "Sorted warps have their own path to execute, too."),
        Mistake(
            lambda ways, c: c / (warp_ways(ways) - 1), "There both take equally long. The first whole L beyond it?"
        ),
    ),
    hints=(
        "How many paths does a shuffled warp execute on average, and how many a sorted one?",
        "Write both costs of a warp as functions of L. Where do they cross?",
    ),
    explain="A shuffled warp executes `E = {ways}*(1 - (1 - 1/{ways})**32)` paths on average, which takes `E*L` "
    "cycles. A sorted one executes one path and has paid c = {c} for the sorting: `L + c`. Sorting is faster where "
    "`L + c < E*L`, so for L beyond `c/(E - 1)`; the answer is the next whole number.",
)


# Numbers for the text
@cache
def lengths(n=512):
    """Lengths of sequences: many short ones, a few long."""
    rng = Random(1)
    return [round(rng.lognormvariate(3, 0.8)) for _ in range(n)]


@cache
def ragged(order=False, width=32):
    """The run of one thread a sequence, two instructions a token, shuffled or sorted by length."""
    data = sorted(lengths()) if order else lengths()
    return simt.run(issue, simt.pack([[1, *[3, 4] * length, 5] for length in data], width), width)

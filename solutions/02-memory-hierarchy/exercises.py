"""Exercises of chapter 2, and the names with which its text computes numbers."""

from collections import OrderedDict  # noqa: I001  (one line a topic reads better here)
from functools import partial
from math import ceil, floor, sqrt

from autograder.answers import Choice, Count, Expression, Function, Kernel, Launch, Quantity, at_most, positive
from autograder.declaration import Exercise, Mistake
from autograder.answers import Written
from hwlib import tl
from hwlib.formula import maximum, minimum
from hwlib.hierarchy import *  # noqa: F403  (the text uses many of them)
from hwlib.hierarchy import (
    chip_bytes,
    largest_square_tile,
    latency_warps,
    naive_matmul_trace,
    register_warps,
    tiled_matmul_trace,
)
from hwlib.roofline import *  # noqa: F403
from hwlib.roofline import critical_batch
from hwlib.specs import accelerators, links, measured_memory
from hwlib.units import KiB, MiB, TB, ns, show

v100, a100, h100, pcie, h200, b200, mi300x, v5e = (
    accelerators[key]
    for key in ("v100-sxm2", "a100-80gb-sxm", "h100-sxm", "h100-pcie", "h200-sxm", "b200-sxm", "mi300x", "tpu-v5e")
)
gb200, c2c = accelerators["gb200-nvl72"], links["nvlink-c2c"]


def kib(chip, memory):
    """One of a chip's memories in KiB, a whole number."""
    return int(chip.datum(memory).value / KiB)


def mib(chip, memory="l2_bytes"):
    """One of a chip's memories in MiB, for a sentence."""
    return f"{chip.datum(memory).value / MiB:.0f}"


def sweep(chip, what="read bandwidth"):
    """The published points of one sweep, as pairs."""
    return [(row.at, row.value) for row in measured_memory(chip, what)]


def read_at(chip, size, what="read bandwidth"):
    """The published value at the point nearest to a size."""
    return min(sweep(chip, what), key=lambda point: abs(point[0] - size))[1]


L1_READ = max(value for _, value in sweep("h100-pcie", "shared read"))
L2_SIZE, MEMORY_SIZE = 33152 * KiB, 64000 * KiB  # the two buffers of the opening question
L2_READ, MEMORY_READ = read_at("h100-pcie", L2_SIZE), read_at("h100-pcie", MEMORY_SIZE)
DROP = next(size for size, value in sweep("h100-pcie") if value < (L2_READ + MEMORY_READ) / 2 and size > 8 * MiB)
BANKS = 32 * 4  # bytes a cycle: 32 banks of 4 bytes
L1_SHEET = BANKS * pcie.datum("sms").value * pcie.datum("vector_clock").value
LATENCY = {
    name: read_at("h100-pcie", size, "latency")
    for name, size in (("L1", 62 * KiB), ("L2", 5245 * KiB), ("far L2", 47045 * KiB), ("HBM", 206295 * KiB))
}
ONE_LOAD, TWO_LOADS = (dict(sweep("h100-pcie", what)) for what in ("one load", "two loads"))
SPILL = 63488 * KiB  # a buffer a little larger than the L2 of an H200

PCIE_L2, H200_L2 = (chip.datum("l2_bytes").value for chip in (pcie, h200))
OVER = 52992 * KiB  # a buffer a little larger than that
IF_KEPT = OVER / (PCIE_L2 / L2_READ + (OVER - PCIE_L2) / MEMORY_READ)  # if what fits stayed in the cache
IF_HALF = 2 / (1 / L2_READ + 1 / MEMORY_READ)

# How far away is a byte?
PREDICT_STEP = Exercise(
    id="memory-hierarchy-predict-step",
    title="Predict: a little too large",
    predict=True,
    prompt=f"The L2 cache of this card has {mib(pcie)} MB and reads at {show(L2_READ, 'B/s', 2)}; its memory reads at "
    f"{show(MEMORY_READ, 'B/s', 2)}. The second buffer of the question was a quarter larger than the cache. Now "
    f"take one of {OVER / MiB:.0f} MB, hardly larger at all, and read it from end to end, again and again. How "
    "fast? *To first order.*",
    answer=Choice(
        {
            "most": f"about {show(IF_KEPT, 'B/s', 2)}: all but the little that does not fit comes from the cache",
            "half": f"about {show(IF_HALF, 'B/s', 2)}: about half of the reads find the cache in disorder",
            "none": f"about {show(MEMORY_READ, 'B/s', 2)}: as if there were no cache",
        }
    ),
    solution="none",
    mistakes=(
        Mistake("most", "That assumes that the same part stays. Which line does a cache give up for the next one?"),
        Mistake("half", "Follow one line: what has been read between two visits to it?"),
    ),
    hints=("When the kernel comes round to the first line again, what has it read since?",),
    explain="Such a cache gives up the line that was used longest ago. Between two visits to one line the kernel "
    f"reads all the others, {OVER / MiB:.0f} MB in a cache of {mib(pcie)}, so every line is gone shortly before it "
    "would be read again, however little it is that does not fit. Measured: "
    f"{show(read_at('h100-pcie', OVER), 'B/s', 3)}. Going round is the worst order there is.",
)

ON_CHIP = Exercise(
    id="memory-hierarchy-on-chip",
    title="How much is on the chip?",
    prompt="{name} has {n_SM} SMs, and each of them {rf} KB of registers and {l1} KB of L1 cache and shared memory "
    "together. How much is that on the whole chip, registers and L1 added up? *Exact*: on a chip, a KB is 1024 "
    "bytes.",
    given=[
        dict(name=name, n_SM=chip.sms, rf=kib(chip, "regfile_bytes"), l1=kib(chip, "l1_bytes"))
        for name, chip in (("An H100", h100), ("An A100", a100), ("A B200", b200), ("A V100", v100))
    ],
    answer=Quantity("B"),
    solution=lambda n_SM, rf, l1: chip_bytes(n_SM, (rf + l1) * 1024),
    mistakes=(
        Mistake(lambda n_SM, rf, l1: n_SM * (rf + l1) * 1000, "How many bytes has a KB, where it counts memory cells?"),
        Mistake(
            lambda n_SM, rf, l1: n_SM * (rf + l1) / 1024 * 1e6,
            "In MiB that would be nearly it, and an MB is read as 10⁶ bytes. Or is part of L1 missing?",
        ),
        Mistake(lambda n_SM, l1: n_SM * l1 * 1024, "That is one of the two. Which is missing?"),
        Mistake(lambda rf, l1: (rf + l1) * 1024, "That is one SM."),
    ),
    hints=("How many bytes has one SM, in both of its memories?",),
    explain="One SM has {rf} and {l1} KB, and a KB on a chip is 1024 bytes: `({rf} + {l1}) * 1024` bytes. There are "
    "{n_SM} of them, so the chip has `{n_SM} * ({rf} + {l1}) * 1024` bytes.",
)

TWO_LEVELS = Exercise(
    id="memory-hierarchy-two-levels",
    title="A cache that keeps its part",
    points=3,
    prompt="Suppose a better cache: whatever the order, it keeps the first `Z` bytes of a buffer and passes the rest. "
    "A kernel reads the buffer of `S` bytes over and over. Bytes in the cache come at `W_L2`, the others at "
    "`W`, one after the other. At what bandwidth does the kernel read, *exactly*? One expression, for any `S`.",
    answer=Expression(
        {
            "S": positive("B", 1e5, 1e10),
            "Z": positive("B", 1e6, 1e9),
            "W_L2": positive("B/s", 4e12, 2e13),
            "W": positive("B/s", 1e12, 4e12),
        },
        "B/s",
    ),
    solution=lambda S, Z, W_L2, W: S / (minimum(S, Z) / W_L2 + maximum(S - Z, 0) / W),
    mistakes=(
        Mistake(
            lambda S, Z, W_L2, W: S / (Z / W_L2 + (S - Z) / W),
            "Right for buffers larger than the cache. Which times are negative for a small one?",
        ),
        Mistake(
            lambda S, Z, W_L2, W: minimum(S, Z) / S * W_L2 + maximum(S - Z, 0) / S * W,
            "You averaged the rates by bytes. Over half of the *bytes*, or over half of the *time*?",
        ),
        Mistake(
            lambda S, Z, W_L2, W: Z / S * W_L2 + (S - Z) / S * W,
            "You averaged rates by bytes: is half of the *bytes* half of the *time*? And where all of it fits?",
        ),
        Mistake(
            lambda S, Z, W_L2, W: S / maximum(minimum(S, Z) / W_L2, maximum(S - Z, 0) / W),
            "That lets both come at the same time; here one waits for the other.",
        ),
    ),
    hints=(
        "Bytes over time: how long does one pass take?",
        "How many bytes hit, if S is small, and if it is large?",
        "`minimum` and `maximum` from `hwlib.formula` take symbols.",
    ),
    explain="One pass reads S bytes. `minimum(S, Z)` of them are in the cache and take `minimum(S, Z)/W_L2`; the "
    "rest, `maximum(S - Z, 0)`, takes `maximum(S - Z, 0)/W`. One comes after the other, so the times add up, and "
    "the bandwidth is S over their sum. For S → ∞ it tends to W, and slowly: a buffer of twice the cache would "
    "still read at `2/(1/W_L2 + 1/W)`, well over W.",
)

# Waiting
IN_FLIGHT = Exercise(
    id="memory-hierarchy-in-flight",
    title="How many warps keep a memory busy?",
    points=2,
    prompt="On {name}, with {n_SM} SMs and {W:B/s} of memory bandwidth, a byte arrives {t:s} after it was asked for. "
    "Each thread of a warp has one load of {b} bytes under way. How many warps must an SM have, at least, to "
    "keep the memory busy? *Exact*, by Little's law.",
    given=[
        dict(name=name, n_SM=chip.sms, W=chip.hbm_bandwidth, t=t, b=b)
        for b in (4, 16, 8)
        for name, chip, t in (
            ("an H100 PCIe", pcie, 370 * ns),
            ("an H200", h200, 400 * ns),
            ("an A100", a100, 390 * ns),
        )
    ],
    answer=Count(),
    solution=lambda n_SM, W, t, b: latency_warps(W, t, n_SM, 32 * b),
    mistakes=(
        Mistake(lambda n_SM, W, t, b: ceil(W * t / (n_SM * b)), "Those are the threads that each SM needs."),
        Mistake(lambda W, t, b: ceil(W * t / (32 * b)), "That many are needed on the whole chip."),
        Mistake(lambda n_SM, W, t, b: floor(W * t / (n_SM * 32 * b)), "Nearly: is the memory busy all the time then?"),
    ),
    hints=(
        "By Little's law, how many bytes must be under way on the whole chip?",
        "How many bytes has one warp under way?",
    ),
    explain="By Little's law `W*t` bytes must be under way, with W = {W:B/s} and t = {t:s}. A warp has 32 loads of "
    "{b} bytes under way, and {n_SM} SMs share the work: each needs `W*t/({n_SM} * 32 * {b})` warps, rounded up, "
    "since with one less the memory idles now and then.",
)

RESIDENT_WARPS = Exercise(
    id="memory-hierarchy-resident-warps",
    title="Registers for everybody",
    prompt="Two notes on the H100 differ by a factor of four in how many warps are resident when each thread has "
    "{rho} registers: one counts a sub-partition, the other an SM. How many does an *SM* hold, if its "
    "register file of {kb} KB is all that limits? *Exact*.",
    given=dict(rho=[168, 72, 56], kb=[kib(h100, "regfile_bytes")]),
    answer=Count(),
    solution=lambda rho, kb: register_warps(kb * 1024, rho),
    mistakes=(
        Mistake(
            lambda rho, kb: register_warps(kb * 1024, rho) // 4,
            "That is a sub-partition's share, right in the notes that count those. And an SM's?",
        ),
        Mistake(lambda rho, kb: kb * 1024 // (4 * rho), "Those are threads. How many make a warp?"),
        Mistake(
            lambda rho, kb: kb * 1024 // (32 * rho),
            "Four times too many: is a register four bytes, and whose is the file of {kb} KB?",
        ),
    ),
    hints=("A register is one number of 32 bits; a warp has 32 threads, each with its own.",),
    explain="{kb} KB are `{kb} * 1024/4` registers of 32 bits, and a warp takes `32 * {rho}` of them. As many warps "
    "are resident as fit whole: `{kb} * 1024 // (4 * 32 * {rho})`, a quarter of them in each sub-partition. The "
    "most an SM holds is 64, with at most 32 registers a thread. A thread has 255 at most, which take up 256.",
)

# Tiles
LARGEST_TILE = Exercise(
    id="memory-hierarchy-largest-tile",
    title="Three tiles in shared memory",
    prompt="A kernel keeps three square tiles in shared memory, one of each input and one of the output, all "
    "{dtype}. The SM has {kb} KB of it, of 1,024 bytes each, and the tiles may fill them. What is the largest side "
    "of such a tile, in elements? *Exact*; for the moment any whole number will do.",
    given=[
        dict(dtype=dtype, b=b, kb=kib(chip, "smem_bytes"))
        for dtype, b in (("bf16", 2), ("int8", 1))
        for chip in (h100, a100)
    ],
    answer=Count(),
    solution=lambda kb, b: largest_square_tile(kb * 1024, b),
    mistakes=(
        Mistake(lambda kb, b: floor(sqrt(kb * 1024 / (2 * b))), "Those are the inputs. Where do the sums go?"),
        Mistake(lambda kb, b: floor(sqrt(kb * 1000 / (3 * b))), "How many bytes has a KB on a chip?"),
        Mistake(lambda kb, b: floor(sqrt(kb * 1024 / b)), "That is one tile. How many share the memory?"),
        Mistake(
            lambda kb, b: floor(sqrt(kb * 1024 / (2 * b + 4))),
            "You gave the sums a float32 each. In which format does the prompt keep them?",
        ),
    ),
    hints=(
        "How many bytes do the three tiles take together, if their side is m?",
        "Which whole m is the last one that fits?",
    ),
    explain="Three tiles of side m take `3 * {b} * m**2` bytes, at {b} B an element, and `{kb} * 1024` are there. "
    "So m is `sqrt({kb} * 1024/(3 * {b}))`, rounded down.",
)

SUM_REGISTERS = Exercise(
    id="memory-hierarchy-sum-registers",
    title="Where do the sums go?",
    prompt="On an H100 the sums of an output tile, in float32, live in the registers of the threads that compute it. "
    "The tile has {b_m} × {b_n} elements, {threads} threads share it. How many registers of each thread do the "
    "sums take? *Exact*.",
    given=[
        dict(b_m=128, b_n=192, threads=256),  # no answer is one of its own numbers
        dict(b_m=64, b_n=192, threads=128),
        dict(b_m=192, b_n=160, threads=256),
        dict(b_m=128, b_n=224, threads=256),
    ],
    answer=Count(),
    solution=lambda b_m, b_n, threads: ceil(b_m * b_n / threads),
    mistakes=(
        Mistake(lambda b_m, b_n, threads: 4 * b_m * b_n / threads, "That is in bytes. How many bytes has a register?"),
        Mistake(
            lambda b_m, b_n, threads: b_m * b_n / threads / 2, "Two numbers of 16 bits fit into one. Are sums so short?"
        ),
        Mistake(
            lambda b_m, b_n, threads: b_m * b_n / (threads // 32), "Those are the numbers of a warp. And of a thread?"
        ),
    ),
    hints=("One register holds one float32.",),
    explain="The tile has `{b_m} * {b_n}` sums, and a register holds one of them, in 32 bits. Shared out evenly, "
    "each of the {threads} threads has `{b_m} * {b_n}/{threads}`, rounded up. A thread has 255 registers at most "
    "and needs some for addresses and operands, so the sums limit the tile.",
)


def grouped(rows, columns, g):
    tops = range(0, rows, g)
    return [(row, column) for top in tops for column in range(columns) for row in range(top, min(top + g, rows))]


RASTER = Exercise(
    id="memory-hierarchy-raster",
    title="In which order do tiles run?",
    points=3,
    lines=6,
    prompt="The output has `rows` × `columns` tiles, and a kernel takes them in the order of a list. Return the list "
    "of all `(row, column)` in which the tiles of `g` neighbouring rows go together: within such a group column "
    "by column, and in a column from the top to the bottom; then the next group. *Exact*: the last group has "
    "fewer rows, if g does not divide them, and g may be larger than `rows`.",
    answer=Function(
        "grouped",
        "grouped(rows, columns, g)",
        cases=[(4, 3, 2), (5, 4, 2), (1, 6, 3), (4, 1, 3), (6, 5, 1), (7, 3, 7), (8, 8, 3), (3, 5, 8), (9, 2, 4)],
        drawn=lambda rng: [(rng.randint(5, 13), rng.randint(2, 9), rng.randint(2, 5)) for _ in range(4)],
    ),
    solution=grouped,
    mistakes=(
        Mistake(
            lambda rows, columns, g: [(r, c) for r in range(rows) for c in range(columns)],
            "That goes along one row after another, whatever g is. When is the second row of a group due?",
        ),
        Mistake(
            lambda rows, columns, g: grouped(rows, columns, rows),
            "That goes down all the rows before it takes the next column. How far down does a group go?",
        ),
        Mistake(
            lambda rows, columns, g: grouped(rows // g * g, columns, g),
            "Count the tiles: is every row of the output in a group, when g does not divide them?",
        ),
        Mistake(
            lambda rows, columns, g: [(r, c) for c, r in grouped(columns, rows, g)], "Those are groups of columns."
        ),
    ),
    hints=(
        "Write the first group of a small output down by hand, say of 4 × 3 tiles with g = 2.",
        "What changes slowest in your list, what next, and what fastest?",
        "Where does the last group end?",
    ),
    explain="What changes slowest is the group, whose first rows are 0, g, 2g and so on; next comes the column, and "
    "fastest the row, from the group's first to `min(first + g, rows)`, which cuts the last group short. These are "
    "three loops, one in the other. Triton's tutorial does the same with a handful of divisions, since a GPU's "
    "block knows only its own number.",
)

# Beyond the chip
ERRATUM_B200 = Exercise(
    id="memory-hierarchy-erratum-b200",
    title="Find the error: a B200's memory",
    prompt="A book's prose gives a B200 *“9 TB/s”* of memory bandwidth, and its own table {W:B/s}, as NVIDIA does. "
    "{name} is sold with {label:B} of memory, and `nvidia-smi` lists {listed} MiB. A decode step reads all the "
    "memory that is listed, weights and caches, once. How long does it take at best? *Exact*.",
    given=[
        dict(name="A B200", W=b200.hbm_bandwidth, label=b200.hbm_bytes, listed=183359),
        dict(name="The GPU of a GB200", W=gb200.hbm_bandwidth, label=gb200.hbm_bytes, listed=189471),
    ],
    answer=Quantity("s", rtol=0.005),
    solution=lambda W, listed: listed * 2**20 / W,
    mistakes=(
        Mistake(lambda W, label: label / W, "The rate is right. That is the memory on the label; what is listed?"),
        Mistake(lambda W, listed: listed * 1e6 / W, "The rate is right. How many bytes has a MiB?"),
        Mistake(
            lambda listed: listed * 2**20 / (9 * TB), "The capacity is right. Which rate do table and data sheet give?"
        ),
        Mistake(lambda label: label / (9 * TB), "Two slips: look at the rate and at the memory again."),
    ),
    hints=("Two rates and two sizes: which rate do two sources share, and which size does the step read?",),
    explain="The rate is {W:B/s}, on which the table and NVIDIA agree. The step reads all that is listed, L = "
    "{listed} MiB of 2^20 bytes each, so it takes `L * 2**20/W`. A model that fills the memory thus writes some 40 "
    "tokens a second for one user, if a step yields one.",
)

ERRATUM_C2C = Exercise(
    id="memory-hierarchy-erratum-c2c",
    title="Find the error: as near as a neighbour?",
    prompt="From published notes on chips with a Grace processor, GH200 (a Hopper GPU) and GB200 (two Blackwell GPUs): "
    "*“bandwidth from each GPU to host memory equals bandwidth to another GPU's HBM”*. NVLink-C2C, which joins "
    f"GPU and processor, is sold as {show(2 * c2c.bandwidth, 'B/s')}, both ways together. Hopper's NVLink is sold "
    f"as {h200.datum('scaleup_bandwidth').printed}, Blackwell's as {b200.datum('scaleup_bandwidth').printed}, "
    "both ways together too. For which is the sentence true? *Exact*, by the data sheets.",
    answer=Choice(
        {
            "both": "for both",
            "gh200": "for a GH200 only",
            "gb200": "for a GB200 only",
            "neither": "for neither: C2C is a kind of PCIe",
        }
    ),
    solution="gh200",
    mistakes=(
        Mistake("both", "One of the two networks doubled from one generation to the next. Did the other?"),
        Mistake("gb200", "Compare like with like: all three are printed both ways together."),
        Mistake("neither", "Compare C2C with the PCIe row of the table: are they of one order of magnitude?"),
    ),
    hints=("Chip by chip: hold the link to the host against the link to a neighbour.",),
    explain=f"All three are printed both ways together, so each carries half: C2C {show(c2c.bandwidth, 'B/s')}, "
    f"Hopper's NVLink {show(h200.datum('scaleup_bandwidth').value, 'B/s')}, Blackwell's "
    f"{show(b200.datum('scaleup_bandwidth').value, 'B/s')}. Hopper's equals C2C, so the sentence is true of a GH200. "
    "NVLink doubled with Blackwell and C2C did not: on a GB200 a neighbour's memory is twice as near as the host's.",
)

OFFLOAD_BATCH = Exercise(
    id="memory-hierarchy-offload-batch",
    title="Weights in the host's memory",
    points=2,
    prompt="The weights of wide bf16 layers lie in the host's memory and stream in over {link}, {W:B/s} each way, "
    "while the GPU multiplies at {C:FLOP/s}. Wait for them, or not: from which batch on, in tokens, does the "
    "streaming cost no time? *To first order*: the weights are all the traffic, and overlap is perfect.",
    given=[
        dict(link=link, W=links[key].bandwidth, C=chip.bf16_flops)
        for link, key, chip in (
            ("NVLink-C2C (a GH200)", "nvlink-c2c", h200),
            ("PCIe 5.0", "pcie5-x16", h100),
            ("PCIe 6.0", "pcie6-x16", b200),
            ("NVLink-C2C (a GB200)", "nvlink-c2c", gb200),
        )
    ],
    answer=Quantity("token"),
    solution=lambda C, W: critical_batch(C, W),
    mistakes=(
        Mistake(
            lambda C, W: critical_batch(C, 2 * W), "Half: did you take both ways of the link, or one byte a weight?"
        ),
        Mistake(lambda C: critical_batch(C, h100.hbm_bandwidth), "That is the ridge of the GPU's own memory."),
        Mistake(
            lambda C, W: 2 * C / W,
            "Twice: does a weight count as multiplication *and* addition for a token, and is the peak a dense one?",
        ),
    ),
    hints=(
        "What does one weight cost, in bytes and in FLOPs?",
        "Streaming costs no time once the other clock is the longer. Which bandwidth is the weight's?",
    ),
    explain="A weight has two bytes, which arrive in `2/W`, and costs each of B tokens two FLOPs, which take "
    "`2*B/C`. Streaming is hidden once the second is as long as the first: from B = C/W on, {C:FLOP/s} over "
    "{W:B/s}. That is a ridge, of the link and not of the GPU's own memory. A prefill has such a batch, a decode "
    "step hardly ever. What is kept there is what waits long between its uses: states of an optimizer, KV caches of "
    "users who pause.",
)


# Lab: a cache
def lru(trace, lines, line):
    held: OrderedDict[int, bool] = OrderedDict()
    bytes_in = bytes_out = 0
    for address, write in trace:
        number = address // line
        if number not in held:
            bytes_in += line
            if len(held) == lines:
                bytes_out += line * held.popitem(last=False)[1]
        held[number] = held.pop(number, False) or write
    return bytes_in, bytes_out + line * sum(held.values())


def _cache(trace, lines, line, *, fifo=False, flush=True, through=False, newest=False):
    held: OrderedDict[int, bool] = OrderedDict()
    bytes_in = bytes_out = 0
    for address, write in trace:
        number = address // line
        if number not in held:
            bytes_in += line
            if len(held) == lines:
                bytes_out += line * held.popitem(last=newest)[1]
            held[number] = False
        elif not fifo:
            held.move_to_end(number)
        if through:
            bytes_out += line * write
        else:
            held[number] = held[number] or write
    return bytes_in, bytes_out + line * sum(held.values()) * flush


def _traces(rng):
    """Walks: two to follow by hand, then random ones, round and round, and both matmuls."""
    short = [
        ([[0, False], [1, False]], 1, 8),
        ([[0, True], [0, False], [8, False], [4, False]], 1, 8),
        ([[0, True], [8, False], [0, False], [16, True], [8, False]], 2, 8),
    ]
    walks = [([[rng.randrange(40 * 8), rng.random() < 0.3] for _ in range(150)], lines, 8) for lines in (1, 3, 8)]
    rounds = [([[8 * i, False] for i in range(10)] * 3, lines, 8) for lines in (9, 10)]
    products = [
        ([*map(list, trace)], 8, 16)
        for trace in (naive_matmul_trace(4, 4, 4, 4), tiled_matmul_trace(4, 4, 4, 2, 2, 2, 4))
    ]
    odd = [([[rng.randrange(10 * line), rng.random() < 0.3] for _ in range(60)], 4, line) for line in (1, 7)]
    return short + walks + rounds + products + odd


LRU = Exercise(
    id="memory-hierarchy-lru",
    title="A cache in ten lines",
    points=4,
    lines=10,
    prompt="Simulate a cache that holds `lines` lines of `line` bytes, one or more. `trace` is a list of accesses "
    "`(address, write)`: a byte, counted from 0, and True if it is written. Each touches one line. A line that is not "
    "there is fetched, for a write too; in a full cache the line that was *used* longest ago makes room. A line that "
    "was written since it came goes back to memory when it leaves, or at the end. Return `(bytes_in, bytes_out)`: "
    "fetched, written back. *Exact*.",
    answer=Function("lru", "lru(trace, lines, line)", cases=_traces),
    solution=lru,
    mistakes=(
        Mistake(
            lambda *a: _cache(*a, fifo=True),
            "A line that is used again becomes young again: yours leaves by the order of arrival.",
        ),
        Mistake(
            lambda *a: _cache(*a, flush=False),
            "Nearly: what happens at the end to lines that were written and never left?",
        ),
        Mistake(
            lambda *a: _cache(*a, through=True),
            "You send every write to memory. How often does a line go back that is written ten times?",
        ),
        Mistake(
            lambda *a: _cache(*a, newest=True), "You throw out what came last. Which of them will be missed least?"
        ),
    ),
    hints=(
        "`address//line` is the number of the line, and a dictionary can say whether it was written.",
        "A dictionary keeps its keys in the order in which they came: take one out, put it back, and it is last.",
    ),
    withholds=("hwlib.hierarchy.cache",),
    explain="Keep the lines that are held in order of their last use, each with a mark whether it was written. An "
    "address belongs to line `address//line`. If that is not held, count `line` bytes in, and if the cache is full, "
    "drop the line used longest ago and count it out if it is marked. Held or not, the line is now the youngest, "
    "and a write marks it. At the end the marked lines still held are counted out too. This is LRUCache of hwlib "
    "with one set, and every line in any place of it.",
)


# Lab: a kernel
def transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    tile = tl.load(
        x_ptr + rows[:, None] * N + columns[None, :], mask=(rows[:, None] < M) & (columns[None, :] < N), other=0.0
    )
    tl.store(
        out_ptr + columns[:, None] * M + rows[None, :],
        tl.trans(tile),
        mask=(columns[:, None] < N) & (rows[None, :] < M),
    )


def _row_by_row(x_ptr, out_ptr, M, N, BM, BN):
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    for row in range(tl.program_id(0) * BM, min(tl.program_id(0) * BM + BM, M)):
        x = tl.load(x_ptr + row * N + columns, mask=columns < N)
        tl.store(out_ptr + columns * M + row, x, mask=columns < N)


def _column_by_column(x_ptr, out_ptr, M, N, BM, BN):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    for column in range(tl.program_id(1) * BN, min(tl.program_id(1) * BN + BN, N)):
        x = tl.load(x_ptr + rows * N + column, mask=rows < M)
        tl.store(out_ptr + column * M + rows, x, mask=rows < M)


def _tile(x_ptr, out_ptr, M, N, BM, BN, *, masked=True, turned=True, narrow=False):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (rows[:, None] < M) & (columns[None, :] < N) if masked else None
    tile = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside)
    there = (columns[:, None] < N) & (rows[None, :] < M) if masked else None
    to = out_ptr + columns[:, None] * (N if narrow else M) + rows[None, :]
    tl.store(to, tl.trans(tile) if turned else tile, mask=there)


def _launch(M, N, B=16):
    given = {"x_ptr": (M, N), "out_ptr": tl.empty((N, M)), "M": M, "N": N, "BM": B, "BN": B}
    return Launch((tl.cdiv(M, B), tl.cdiv(N, B)), given)


TRANSPOSE = Exercise(
    id="memory-hierarchy-transpose",
    title="Transpose without waste",
    points=4,
    lines=6,
    prompt="`x` is a matrix of M × N float32, row by row in memory, and `out` one of N × M. Program (i, j) of the grid "
    "transposes one tile of x: rows from i·BM on and columns from j·BN on, BM and BN of them, where there are so "
    "many. Write it so that loads and stores together touch no more sectors than a copy along rows: each "
    "sector of x once, each of out once. BM and BN are 16; M and N are multiples of 8, not always of 16. *Exact*.",
    answer=Kernel(
        "transpose",
        "transpose(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr)",
        cases=[_launch(40, 24), _launch(16, 64), _launch(72, 8)],
        bytes=None,
        sectors=at_most(lambda M, N, BM, BN: 2 * 4 * M * N / tl.SECTOR),
    ),
    solution=transpose,
    mistakes=(
        Mistake(
            _row_by_row,
            "The values are right, and the loads go along rows. Into how many sectors does each store of a row go?",
        ),
        Mistake(
            _column_by_column,
            "The values are right, and the stores go along rows. Out of how many sectors is each column loaded?",
        ),
        Mistake(
            partial(_tile, masked=False),
            "A tile at the edge is larger than what is left of the matrix. What keeps the rest of it away from memory?",
        ),
        Mistake(
            partial(_tile, turned=False),
            "The pointers of the store are those of the transpose. And the values: which element of the tile belongs "
            "to the first of its rows and the second of its columns?",
        ),
        Mistake(
            partial(_tile, narrow=True),
            "How far apart in memory are two rows of `out`? It has as many columns as x has rows.",
        ),
    ),
    hints=(
        "Load the whole tile at once: `rows[:, None]*N + columns[None, :]` are the offsets of BM × BN elements.",
        "`tl.trans(tile)` turns it on the chip, where that costs no sector. What are the offsets of the turned tile "
        "in `out`?",
        "Both need a mask: `(rows[:, None] < M) & (columns[None, :] < N)` for the load, and the turned one for the "
        "store.",
    ),
    explain="A row of the tile is 16 elements of 4 bytes: 2 sectors, all of it used. A turned tile has rows of 16 as "
    "well. So x costs MN/8 sectors and out MN/8, as for a copy: MN/4. Row by row the loads cost MN/8 and the stores "
    "MN, which is 4.5 times as much. The tile must have at least 8 elements each way, or a sector comes in halves.",
)

# Lab: a probe
PROBE_REVIEW = Exercise(
    id="memory-hierarchy-probe-review",
    title="Review: what is wrong with this probe?",
    prompt="A colleague asks you to review the probe above, which is in circulation; it will go into the team's "
    "acceptance test of new nodes. Name four things that are wrong with it. For each, say whether it makes the "
    "printed number larger or smaller, by how much where that can be said, and on which machine you would not "
    "notice.",
    answer=Written(
        rubric=(
            ("Counts the bytes that cross in one copy, and says by what factor the printed number misses them", 2),
            ("Holds the division against the unit that is printed, and says what that takes off", 1),
            (
                "Asks in which memory buffers of this size live, names a chip where it is the wrong one, and says "
                "which way that errs",
                2,
            ),
            ("Says what happens only once, that it is timed too, and how to keep it out", 1),
            ("Says what a single mean hides, and what to measure or print instead", 1),
        ),
        words=200,
    ),
    solution=f"""\
1. *Half the traffic.* `b.copy_(a)` reads `a` and writes `b`; only `nbytes` are counted, so the number is half of what
   crosses. It is no error of the memory: compare with a data sheet, and a good GPU fails the test.
2. *GiB called GB.* It divides by 1024³ and prints GB: {1 - 1e9 / 2**30:.0%} too small.
3. *A size that a cache may hold.* Source and target have {show(2 * 64 * MiB, "B", 3)} together. An H100 does not
   notice: its L2 has {mib(h100)} MiB. The {mib(mi300x, "l3_bytes")} MiB in front of an MI300X's memory
   hold both, a B200's {mib(b200)} MiB nearly: there the number is a cache's, and too large. Sweep the size.
4. *No warm-up.* The first copy loads the kernel, and on a processor gets the pages of `b`, which `empty_like` only
   promised. With few repeats that makes the number too small; one call before the clock starts cures it.
5. *One mean.* A hiccup in a hundred copies is in it, and nobody sees it. Time each copy, on a GPU by its own events,
   and take the median.""",
    hints=("What crosses the memory's edge in one copy?", "Which memories of the table hold both buffers?"),
)

PROBE_PRINTED = Exercise(
    id="memory-hierarchy-probe-printed",
    title="What it prints, and what crossed",
    prompt="On {name} the probe prints *“{printed} GB/s”*, with buffers far larger than any cache and after a warm-up. "
    "How much crossed between chip and memory, read and written together, in bytes per second? *Exact*.",
    given=[
        dict(name=name, printed=printed)
        for name, printed in (("an H100", 1360.0), ("an H200", 1870.0), ("an A100", 790.0), ("a processor", 8.4))
    ],
    answer=Quantity("B/s"),
    solution=lambda printed: 2 * printed * 2**30,
    mistakes=(
        Mistake(lambda printed: 2 * printed * 1e9, "You counted both ways. How many bytes does it call a GB?"),
        Mistake(lambda printed: printed * 2**30, "The unit is right. Does a copy only read?"),
        Mistake(lambda printed: printed * 1e9, "You believe it. Read its last two lines, and its `copy_`."),
    ),
    hints=(
        "Which bytes does it count, and what does it divide them by?",
        "How many buffers does `copy_` touch?",
    ),
    explain="The probe counts the bytes of one buffer and divides by 1024³, so P printed “GB/s” are `P * 2**30` "
    "bytes of one buffer a second. A copy reads one buffer and writes another, so twice as much crossed: `2 * P * "
    "2**30` with P = {printed}.",
)

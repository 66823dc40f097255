"""Exercises of chapter 2, and the names with which its text computes numbers."""

from collections import Counter, OrderedDict  # noqa: I001  (one line a topic reads better here)
from functools import cache, partial
from itertools import pairwise
from math import ceil, floor, sqrt

from autograder.answers import Breakdown, Choice, Condition, Count, Design, Expression, Field, Function, Kernel, Known
from autograder.answers import Launch, Par, Quantity, at_most, positive
from autograder.declaration import Exercise, Mistake
from autograder.answers import Written
from hwlib import tl
from hwlib.formula import maximum, minimum
from hwlib.hierarchy import *  # noqa: F403  (the text uses many of them)
from hwlib.hierarchy import (
    LRUCache,
    largest_square_tile,
    latency_warps,
    memories,
    naive_matmul_trace,
    tile_bytes,
    tiled_matmul_trace,
)
from hwlib.roofline import *  # noqa: F403
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


def show_mib(nbytes):
    """Bytes in MiB, for a sentence."""
    return f"{nbytes / MiB:.1f}".removesuffix(".0") + " MiB"


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
    prompt=f"The L2 cache of this chip has {mib(pcie)} MB and reads at {show(L2_READ, 'B/s', 2)}; its memory reads at "
    f"{show(MEMORY_READ, 'B/s', 2)}. The second buffer of the question was a quarter larger than the cache. Now "
    f"take one of {OVER / MiB:.0f} MB, hardly larger at all, and read it from end to end, again and again. How "
    "fast? *To first order.*",
    answer=Choice(
        {
            "most": f"about {show(IF_KEPT, 'B/s', 2)}: all but the little that does not fit comes from the cache",
            "half": f"about {show(IF_HALF, 'B/s', 2)}: about half of the reads find the cache in disorder",
            "none": f"about {show(MEMORY_READ, 'B/s', 2)}: as if there were no cache",
        },
        ordered=True,
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

ON_CHIP = [memory.bytes for memory in memories(pcie)[:-1]]  # registers, L1 and L2 of the whole chip
PREDICT_ON_CHIP = Exercise(
    id="memory-hierarchy-predict-on-chip",
    title="Predict: three memories, added up",
    predict=True,
    prompt=f"An SM of this chip has {kib(pcie, 'regfile_bytes')} KiB of registers and {kib(pcie, 'l1_bytes')} KiB of "
    "L1 cache, shared memory included; the chip has one L2 cache. Add up each of the three over the whole chip. How "
    "do the sums compare? *To first order.*",
    answer=Choice(
        {
            "tenfold": "as in a CPU: L2 is about ten times all L1 caches, and these ten times all registers",
            "alike": "they are within a factor of two of each other",
            "last": "registers and L1 are small, and L2 is larger by a factor of ten",
            "first": "the registers are the largest, several times the L2 cache",
        }
    ),
    solution="alike",
    mistakes=(
        Mistake("tenfold", "Does one SM have more L1 than registers? And how many SMs are there?"),
        Mistake("last", "Small in one SM. How many SMs does the chip have?"),
        Mistake("first", "Multiply by the number of SMs, and hold the sum against the L2 cache of the figure."),
    ),
    hints=("How many SMs has the chip, and what do all of them have together?",),
    explain=f"{pcie.sms} SMs have {show_mib(ON_CHIP[0])} of registers and as much L1 cache, of which "
    f"{show_mib(ON_CHIP[1])} may be shared memory; the L2 cache has {show_mib(ON_CHIP[2])}. A CPU's core has registers "
    "for one thread or two; here tens of thousands of threads keep theirs at the same time, which takes as much room "
    "as a cache.",
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
            name="times-overlapped",
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
    answer=Count(of="warp"),
    solution=lambda n_SM, W, t, b: latency_warps(W, t, n_SM, 32 * b),
    mistakes=(
        Mistake(lambda n_SM, W, t, b: ceil(W * t / (n_SM * b)), "Those are the threads that each SM needs."),
        Mistake(lambda W, t, b: ceil(W * t / (32 * b)), "That many are needed on the whole chip."),
        Mistake(
            lambda n_SM, W, t, b: floor(W * t / (n_SM * 32 * b)),
            "Nearly: is the memory busy all the time then?",
            name="rounded",
        ),
    ),
    hints=(
        "By Little's law, how many bytes must be under way on the whole chip?",
        "How many bytes has one warp under way?",
    ),
    explain="By Little's law `W*t` bytes must be under way, with W = {W:B/s} and t = {t:s}. A warp has 32 loads of "
    "{b} bytes under way, and {n_SM} SMs share the work: each needs `W*t/({n_SM} * 32 * {b})` warps, rounded up, "
    "since with one less the memory idles now and then.",
)


# What a warp asks for
def request(addresses):
    banks = Counter(word % 32 for word in {address // 4 for address in addresses})
    return len({address // 32 for address in addresses}), max(banks.values())


def _request(addresses, *, again=False, line=32, bank=4, spread=False):
    words = [address // bank for address in addresses] if again else {address // bank for address in addresses}
    banks = Counter(word % 32 for word in words)
    return len({address // line for address in addresses}), len(banks) if spread else max(banks.values())


def _requests(rng):
    """Steps through memory, columns of padded tiles, one word for all, and words at random; some threads are off."""
    steps = [[4 * step * thread for thread in range(32)] for step in (1, 2, 3, 8, 32, 33)]
    shifted = [[16 + 4 * thread for thread in range(32)], [0] * 32, [128 * (thread % 4) for thread in range(32)]]
    shifted += [[0, 128, 256, 4], [0] * 10 + [4, 132]]  # three words of one bank, and a bank that most threads want
    drawn = [[4 * rng.randrange(most) for _ in range(rng.randrange(1, 33))] for most in (40, 200, 2000, 2000)]
    alone = [[4 * rng.randrange(2000)]]  # one thread
    return [(addresses,) for addresses in [*steps, *shifted, *drawn, *alone]]


def request_of_several(addresses):
    """By a program that looks at a second address, which a single thread lacks."""
    return request(addresses) if addresses[1] >= 0 else None


WARP_REQUEST = Exercise(
    id="memory-hierarchy-warp-request",
    title="What one load of a warp costs",
    points=3,
    lines=4,
    prompt="`addresses` has the address in bytes, a multiple of 4, of the one float32 that each thread of a warp "
    "asks for; threads that are switched off have none, so there are 1 to 32. Return `(sectors, cycles)`: the "
    "sectors of 32 bytes that hold what is asked for, if the addresses are in global memory; and the cycles that the "
    "request takes, if they are in shared memory. There, words of 4 bytes go round over 32 banks; in a cycle each "
    "bank gives one word, to every thread that wants this very word. *Exact.*",
    answer=Function(
        "request",
        "request(addresses)",
        counts=True,
        cases=_requests,
        mutants={
            "threads that are switched off have none, so there may be 1": request_of_several,
            "addresses may lie apart": lambda a: (max(a) // 32 - min(a) // 32 + 1, request(a)[1]),
            "they need not begin with a sector": lambda a: (ceil(len({*a}) / 8), request(a)[1]),
            "threads may want the same word": lambda a: (ceil(4 * len(a) / 32), request(a)[1]),
            "they may be in any order": lambda a: (1 + sum(x // 32 != y // 32 for x, y in pairwise(a)), request(a)[1]),
            "a bank gives one word in a cycle": lambda a: (request(a)[0], 1),
        },
    ),
    solution=request,
    mistakes=(
        Mistake(
            partial(_request, again=True),
            "Several threads that want the same word of a bank share it: you let them queue for it.",
        ),
        Mistake(
            partial(_request, line=128),
            "The cycles are right. You count lines of 128 bytes: a quarter of one can cross alone.",
        ),
        Mistake(
            partial(_request, bank=1),
            "The sectors are right. Neighbouring *words* lie in neighbouring banks, not neighbouring bytes.",
        ),
        Mistake(
            partial(_request, spread=True),
            "The sectors are right. You count the banks that are used. Which of them is done last, and when?",
        ),
    ),
    hints=(
        "Which sector holds the byte at an address? Which word is it, and which bank has that word?",
        "All banks work at once, so the request is over when the busiest bank is done. What does a bank have to give?",
    ),
    withholds=("hwlib.hierarchy.requests",),
    explain="The sector of an address is `address//32`, and the request moves each of them once: the size of the set "
    "of these numbers. The word is `address//4` and its bank `word % 32`. Threads with the same word are served "
    "together, so take the set of words first; then count how many of them each bank has. The banks work side by "
    "side, one word a cycle, so the request takes as many cycles as the busiest bank has words: 1 for 32 neighbours, "
    "32 for a column of rows of 32 words.",
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
    answer=Count(of="element"),
    solution=lambda kb, b: largest_square_tile(kb * 1024, b),
    mistakes=(
        Mistake(lambda kb, b: floor(sqrt(kb * 1024 / (2 * b))), "Those are the inputs. Where do the sums go?"),
        Mistake(
            lambda kb, b: floor(sqrt(kb * 1000 / (3 * b))), "How many bytes has a KB on a chip?", name="gib-for-gb"
        ),
        Mistake(lambda kb, b: floor(sqrt(kb * 1024 / b)), "That is one tile. How many share the memory?"),
        Mistake(
            lambda kb, b: floor(sqrt(kb * 1024 / (2 * b + 4))),
            "You gave the sums a float32 each. In which format does the prompt keep them?",
            name="element-bytes",
        ),
    ),
    hints=(
        "How many bytes do the three tiles take together, if their side is m?",
        "Which whole m is the last one that fits?",
    ),
    explain="Three tiles of side m take `3 * {b} * m**2` bytes, at {b} B an element, and `{kb} * 1024` are there. "
    "So m is `sqrt({kb} * 1024/(3 * {b}))`, rounded down.",
)


def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        deep = k + tl.arange(0, BK)
        a = tl.load(a_ptr + rows[:, None] * K + deep[None, :], mask=(rows[:, None] < M) & (deep[None, :] < K))
        b = tl.load(b_ptr + deep[:, None] * N + columns[None, :], mask=(deep[:, None] < K) & (columns[None, :] < N))
        sums = tl.dot(a, b, sums)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums, mask=inside)


def _product(
    a_ptr, b_ptr, c_ptr, M, N, K, BM, BN, BK, *, sides=(), part=1, deep_masked=True, first=False, down=0, wrap=False
):
    """Variants: sides typed in, `part` rows at a time, no mask along the sum, only the first slice, rows of tiles along
    another axis of the grid, rows and columns from the other edge where there are no more."""
    BM, BN, BK = (typed or side for typed, side in zip(sides or (0, 0, 0), (BM, BN, BK), strict=True))
    for top in range(0, BM, BM // part):
        rows = tl.program_id(down) * BM + top + tl.arange(0, BM // part)
        columns = tl.program_id(1 - down) * BN + tl.arange(0, BN)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        to = c_ptr + rows[:, None] * N + columns[None, :]
        if wrap:
            rows, columns = rows % M, columns % N
        sums = tl.zeros((BM // part, BN), tl.float32)
        for k in range(0, BK if first else K, BK):
            deep = k + tl.arange(0, BK)
            left = rows[:, None] < M + 0 * deep[None, :]
            right = columns[None, :] < N + 0 * deep[:, None]
            if deep_masked:
                left, right = left & (deep[None, :] < K), right & (deep[:, None] < K)
            a = tl.load(a_ptr + rows[:, None] * K + deep[None, :], mask=left)
            sums = tl.dot(a, tl.load(b_ptr + deep[:, None] * N + columns[None, :], mask=right), sums)
        tl.store(to, sums, mask=inside)


def _stored_again(a_ptr, b_ptr, c_ptr, M, N, K, BM, BN, BK):
    """The sums go to c after every slice."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        deep = k + tl.arange(0, BK)
        left, right = (rows[:, None] < M) & (deep[None, :] < K), (deep[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + deep[None, :], mask=left)
        sums = tl.dot(a, tl.load(b_ptr + deep[:, None] * N + columns[None, :], mask=right), sums)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(c_ptr + rows[:, None] * N + columns[None, :], sums, mask=inside)


def _matmul_launch(M, N, K, BM=16, BN=32, BK=8):
    arrays = {"a_ptr": (M, K), "b_ptr": (K, N), "c_ptr": tl.empty((M, N))}
    return Launch((tl.cdiv(M, BM), tl.cdiv(N, BN)), {**arrays, "M": M, "N": N, "K": K, "BM": BM, "BN": BN, "BK": BK})


MATMUL = Exercise(
    id="memory-hierarchy-tiled-matmul",
    title="A matmul within its budget",
    points=4,
    lines=11,
    prompt="`a` is a matrix of M × K float32, `b` one of K × N and `c` one of M × N, all row by row. Program (i, j) "
    "of the grid computes one tile of c = a·b: BM rows from i·BM on, BN columns from j·BN on, where there are so "
    "many. With elements of 4 bytes it can do BM·BN/(2(BM + BN)) FLOP for each byte of a and b that it loads: reach "
    "that, which means that a program loads each element of a and b that its tile needs once, and no others, at the "
    "edges neither; each of c is stored once. Fast memory is short, too: a program never holds tiles of more than "
    "12·BM·BN + 4·BK·(BM + BN) bytes at once, of which `tl.launch(...).tile_bytes` is the most, and K may be any "
    "number. BM, BN and BK are powers of two; M, N and K need not be multiples of them. *Exact*; `tl.dot(x, y, "
    "sums)` is x·y + sums.",
    answer=Kernel(
        "matmul",
        "matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr)",
        cases=[
            _matmul_launch(32, 64, 24),
            _matmul_launch(40, 72, 56),
            _matmul_launch(20, 104, 44),
            _matmul_launch(16, 32, 5),
            _matmul_launch(72, 24, 70, 32, 16, 4),
            _matmul_launch(1, 1, 1),
        ],
        mutants={
            "each of c is stored once": _stored_again,
            "K may be less than BK": lambda K, BK, **rest: _product(K=K, BK=BK, deep_masked=K > BK, **rest),
        },
        tile_bytes=at_most(lambda M, N, K, BM, BN, BK: 12 * BM * BN + 4 * BK * (BM + BN)),
    ),
    solution=matmul,
    mistakes=(
        Mistake(
            partial(_product, sides=(0, 0, 64)),
            "The values are right. You hold all of the sum's depth at once: what if K were a thousand times as long?",
        ),
        Mistake(
            partial(_product, part=4),
            "The values are right. You take the tile a few rows at a time: how often does each element of b come in?",
            name="loaded-again",
        ),
        Mistake(
            partial(_product, deep_masked=False),
            "What do the last slices of a and b hold, if BK does not divide K?",
            name="ragged-edge",
        ),
        Mistake(partial(_product, first=True), "That is the first slice of the sum. Where are the others?"),
        Mistake(
            partial(_product, down=1),
            "Right where the grid is a square. Which axis of it counts the tiles downwards, and which across?",
        ),
        Mistake(
            partial(_product, sides=(16, 32, 8)),
            "Right with the sides of some launches. Which of yours are typed in, and which are arguments?",
        ),
        Mistake(
            partial(_product, wrap=True),
            "The values are right. At an edge you load rows or columns that the tile does not need, or again: what "
            "keeps a load from them?",
        ),
    ),
    hints=(
        "Begin with a tile of sums, `tl.zeros((BM, BN), tl.float32)`, and walk along K in steps of BK.",
        "In each step load a slice of a, [BM × BK], and one of b, [BK × BN]: what are their offsets?",
        "Masks have to keep rows below M, columns below N and the depth below K.",
    ),
    explain="A program needs its BM rows of a and its BN columns of b, whatever it does: 4·K·(BM + BN) bytes for "
    "2·BM·BN·K FLOP, which is the intensity of the prompt. It gets there if every element that comes in meets all "
    "that it has to meet before it goes: a slice of a, [BM × BK], and one of b, [BK × BN], give all products of "
    "these BK steps of the sum. The sums stay, the slices change, so fast memory does not grow with K: 4·BK·(BM + "
    "BN) bytes of slices, 4·BM·BN of sums, and as much twice while a product is added to them.",
)

PAIR = Exercise(
    id="memory-hierarchy-pair-feed",
    title="What a CTA pair saves",
    points=2,
    prompt="Two SMs multiply as a pair: each computes `m` rows of the sums, with all `n` columns, and does `o` FLOP "
    "a cycle (a multiply-add is two). An element has `b` bytes. The shared memory of each holds its own rows of the "
    "left operand, and one *half* of the columns of the right one. Each element is read once from where it lies, and "
    "goes to whom it concerns, in both SMs. How many bytes does the shared memory of *one* SM deliver in a cycle? "
    "*Exact*, for a long sum.",
    answer=Expression(
        {
            "m": positive("1", 16, 256),
            "n": positive("1", 16, 512),
            "o": positive("FLOP", 256, 65536),
            "b": positive("B", 0.5, 4),
        },
        "B",
    ),
    solution=lambda m, n, o, b: b * o * (2 * m + n) / (4 * m * n),
    mistakes=(
        Mistake(
            lambda m, n, o, b: b * o * (m + n) / (2 * m * n),
            "That is an SM by itself. What does it hold of the right operand?",
        ),
        Mistake(
            lambda m, n, o, b: b * o * (2 * m + n) / (2 * m * n),
            "Twice: is that both SMs, or is a multiply-add one operation? Or does half of the columns in its memory "
            "make half of its work?",
            names_all=True,
        ),
        Mistake(
            lambda m, n, o, b: b * o * (m + n) / (4 * m * n),
            "Which of the two operands is halved, and which is each SM's own?",
        ),
        Mistake(
            lambda m, n, o, b: b * o * (m + 2 * n) / (4 * m * n),
            "You halved the left operand. Which one do both SMs use?",
        ),
    ),
    hints=(
        "Take one step of the sum, of depth 1: how many elements leave the shared memory of one SM?",
        "How many cycles does an SM need for its part of that step?",
    ),
    explain="A step of depth 1 takes from one SM `m` elements of the left operand and `n/2` of the right one: `b*(m "
    "+ n/2)` bytes. In that step the SM does `m*n` multiply-adds, `2*m*n` FLOP, which take `2*m*n/o` cycles. Bytes "
    "over cycles: `b*o*(m + n/2)/(2*m*n) = b*o*(2*m + n)/(4*m*n)`. It is what one SM would need for a tile of twice "
    "the rows, done at the rate of two and delivered by two.",
)


def grouped(rows, columns, g):
    tops = range(0, rows, g)
    return [(row, column) for top in tops for column in range(columns) for row in range(top, min(top + g, rows))]


def _back_and_forth(rows, columns, g):
    """Down one column and up the next."""
    order = []
    for top in range(0, rows, g):
        group = list(range(top, min(top + g, rows)))
        for column in range(columns):
            order += [(row, column) for row in group[:: -1 if column % 2 else 1]]
    return order


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
        mutants={
            "g may be larger than the rows": lambda rows, columns, g: grouped(rows, columns, g) if g <= rows else [],
            "the last group has fewer rows": lambda rows, columns, g: grouped(-(-rows // g) * g, columns, g),
            "and they come last": lambda rows, columns, g: [(rows - 1 - r, c) for r, c in grouped(rows, columns, g)],
            "each column from the top to the bottom": _back_and_forth,
        },
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
            name="ragged-edge",
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

# A schedule for a part of a GPU
ROWS, COLUMNS, DEPTH = 2112, 4608, 2048
SLICE_SMS, SLICE_L2 = 16, 2 * MiB
UNIT, DEEP = 64, 256  # of the panels that the cache keeps: rows or columns, and steps of the sum
COPY_CYCLES, SM_FLOPS, STEP = 1000, 4096, 64
BLOCK_SMEM, SUM_BYTES = 227 * KiB, 128 * KiB


def _sides(rows, columns):
    if rows % UNIT or columns % UNIT:
        raise ValueError(f"the sides of a tile are multiples of {UNIT}, these are {rows} and {columns}")
    return -(-ROWS // rows), -(-COLUMNS // columns)


def _panels(rows, columns, group):
    """What the waves of a schedule ask of L2: pieces of 64 rows or columns, 256 steps deep."""
    tall, wide = _sides(rows, columns)
    order, left, slices = grouped(tall, wide, group), ROWS // UNIT, DEPTH // DEEP
    m, n = rows // UNIT, columns // UNIT
    for first in range(0, len(order), SLICE_SMS):
        for k in range(slices):
            for row, column in order[first : first + SLICE_SMS]:
                for i in range(row * m, min(row * m + m, left)):
                    yield i * slices + k, False
                for j in range(column * n, min(column * n + n, COLUMNS // UNIT)):
                    yield (left + j) * slices + k, False


@cache
def schedule_bytes(rows, columns, group):
    """Bytes between L2 and HBM of a schedule, counted by an LRU cache."""
    piece = 2 * UNIT * DEEP
    cache = LRUCache(SLICE_L2 // piece, 1).run(_panels(rows, columns, group))
    operands, result = cache.fetches * piece, 2 * ROWS * COLUMNS
    return Breakdown(operands + result, {"operands": operands, "result": result})


def schedule_smem(rows, columns, stages):
    return tile_bytes(rows, columns, STEP, stages=stages)


def schedule_sums(rows, columns):
    return 4 * rows * columns


def schedule_wait(rows, columns, stages):
    products = 2 * rows * columns * STEP / SM_FLOPS
    return max(products, (COPY_CYCLES + products) / stages) / products


def schedule_used(rows, columns):
    tall, wide = _sides(rows, columns)
    waves = ceil(tall * wide / SLICE_SMS)
    return ROWS * COLUMNS / (waves * SLICE_SMS * rows * columns)


BEST = dict(rows=192, columns=128, stages=3, group=4)
WIDER = BEST | dict(columns=256)  # reads less, with more sums than half of the registers hold
TALLER = BEST | dict(rows=256, group=3)  # reads less, and wastes more at the edges
SCHEDULE = Exercise(
    id="memory-hierarchy-schedule",
    title="Design: the least traffic",
    points=4,
    prompt=f"A part of a GPU has {SLICE_SMS} SMs and {SLICE_L2 // MiB} MiB of L2 cache. It multiplies [{ROWS:,} × "
    f"{DEPTH:,}] by [{DEPTH:,} × {COLUMNS:,}] in bf16. Its tiles follow one another in the order of `grouped`, from "
    f"the exercise before; {SLICE_SMS} of them are computed at a time and walk along the sum together, in steps of "
    f"{STEP}. The cache gives up what was used longest ago.\n\n"
    "Choose the sides of the tile, multiples of 64, how many stages it has in flight, and the rows of tiles that go "
    "together, so that HBM moves the fewest bytes. Two conditions beside the memory of an SM:\n\n"
    f"- The tensor cores never wait. They compute {SM_FLOPS:,} FLOP a cycle in each SM. A stage is full "
    f"{COPY_CYCLES:,} cycles after it was asked for, and is asked for again when its products are done.\n"
    "- At least 94 % of their work is useful. Tiles that reach over an edge, and a last wave that does not fill the "
    "SMs, take some of it away.\n\n"
    "*Exact*, by the model.",
    answer=Design(
        fields={
            "rows": Field("rows of the output tile", 64, 256, whole=True),
            "columns": Field("columns of the output tile", 64, 256, whole=True),
            "stages": Field("slices of both operands in flight", 1, 12, whole=True),
            "group": Field("rows of tiles that go together", 1, 40, whole=True),
        },
        objective=schedule_bytes,
        measure="the bytes that pass between L2 and HBM",
        unit="B",
        conditions=[
            Condition(
                "the shared memory of a block", schedule_smem, BLOCK_SMEM, unit="B", without=BEST | dict(stages=6)
            ),
            Condition("the sums, in half of the registers", schedule_sums, SUM_BYTES, unit="B", without=WIDER),
            Condition("the time of a step over that of its products", schedule_wait, 1, without=BEST | dict(stages=1)),
            Condition("the useful part of the tensor cores' work", schedule_used, at_least=0.94, without=TALLER),
        ],
        pars=[
            Par(1, 300e6),
            Par(2, lambda best: 1.5 * best),
            Par(3, lambda best: 1.2 * best),
            Par(4, lambda best: 1.1 * best),
        ],
        known=[Known(lambda: schedule_bytes(192, 128, 4).total, "a search over all tiles and groups")],
        steps=3_000_000,
    ),
    solution=BEST,
    mistakes=(
        Mistake(
            dict(rows=64, columns=64, stages=9, group=4),
            "Small tiles fill the waves and cost traffic: which is the largest that wastes no more than it may?",
        ),
        *(
            Mistake(
                dict(rows=rows, columns=columns, stages=stages, group=group),
                f"With {group} rows of tiles in a group, a wave of {rows} × {columns} tiles, {stages} slices of each "
                "in flight, is a tall column. Which shape of a wave reads least?",
            )
            for rows, columns, group in ((192, 128, 11), (192, 128, 16), (128, 192, 16))
            for stages in (3, 4, 5)
        ),
        *(
            Mistake(
                dict(rows=rows, columns=columns, stages=stages, group=1),
                f"Row by row, a wave of {rows} × {columns} tiles, {stages} slices of each in flight, is one tile high "
                "and sixteen wide. Which shape of a wave reads least?",
            )
            for rows, columns in ((192, 128), (128, 192))
            for stages in (3, 4, 5)
        ),
        Mistake(
            dict(rows=256, columns=128, stages=3, group=4),
            "The largest tile that fits. Count its tiles: how full is the last wave, and how ragged is the edge?",
        ),
    ),
    hints=(
        "Which tiles leave less than 6 % of the work unused? Count tiles, waves of 16 of them, and what hangs over "
        "the edge.",
        "Of those, a larger tile needs fewer stages and less traffic. Is one that is taller than wide the same as "
        "one that is wider than tall?",
        "A wave of 16 tiles is a large tile: for which group is it nearest to a square? And what stays in the cache "
        "from one wave to the next?",
    ),
    explain="First what is allowed. The sums bound the tile's area to 32,768 elements, and the useful part is the "
    "product of two shares: what the tiles cover that exists, and how full the last wave is. 128 × 256 and 256 × 128 "
    "lose too much of both, 192 × 128 hardly anything: 11 × 36 tiles cover the output exactly and fill 24.75 waves. "
    "Its step takes 768 cycles, so (1,000 + 768)/768 asks for 3 stages, 120 KiB. Then the order. A wave of g × 16/g "
    "tiles reads 192·g rows and 128·16/g columns of panels: nearest to a square for g = 3 to 4. With 4, a wave is "
    "768 × 512, and the 16 tiles divide evenly; the cache still has a part of what the next wave needs. Row by row "
    "the same tile moves 1.7 times as much.",
)

# Beyond the chip
ERRATUM_B200 = Exercise(
    id="memory-hierarchy-erratum-b200",
    title="Find the error: a B200's memory",
    prompt="The prose of *How to Scale Your Model* gave a B200 *“9 TB/s”* of memory bandwidth for a while, and its "
    "own table {W:B/s}, as NVIDIA does. {name} is sold with {label:B} of memory, and `nvidia-smi` lists {listed} "
    "MiB. A decode step reads all the memory that is listed, weights and caches, once. How long does it take at "
    "best? *Exact*.",
    given=[
        dict(name="A B200", W=b200.hbm_bandwidth, label=b200.hbm_bytes, listed=183359),
        dict(name="The GPU of a GB200", W=gb200.hbm_bandwidth, label=gb200.hbm_bytes, listed=189471),
    ],
    answer=Quantity("s", rtol=0.005),
    solution=lambda W, listed: listed * 2**20 / W,
    mistakes=(
        Mistake(lambda W, label: label / W, "The rate is right. That is the memory on the label; what is listed?"),
        Mistake(lambda W, listed: listed * 1e6 / W, "The rate is right. How many bytes has a MiB?", name="gib-for-gb"),
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
    prompt=f"Thaki Cloud's *GPU Scaling Guide* of 2025, on chips with a Grace processor, "
    f"GH200 (a Hopper GPU) and GB200 (two Blackwell GPUs): *“bandwidth from each GPU to host memory equals bandwidth "
    f"to another GPU's HBM”*. NVLink-C2C, which joins GPU and processor, is sold as "
    f"{show(2 * c2c.bandwidth, 'B/s')}, both ways together. Hopper's NVLink is sold as "
    f"{h200.datum('scaleup_bandwidth').printed}, Blackwell's as {b200.datum('scaleup_bandwidth').printed}, both ways "
    f"together too. For which is the sentence true? *Exact*, by the data sheets.",
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
    "NVLink doubled with Blackwell and C2C did not: on a GB200 a neighbour's memory is at least twice as near as the "
    "host's, whose two GPUs share one Grace besides.",
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


def _cache(
    trace,
    lines,
    line,
    *,
    fifo=False,
    flush=True,
    through=False,
    newest=False,
    clean_again=False,
    hits=True,
    clean=False,
    allocates=True,
):
    """Variants: a read takes the mark off, a line that was there is not marked, clean lines go back, and what is
    written is not fetched."""
    held: OrderedDict[int, bool] = OrderedDict()
    bytes_in = bytes_out = 0
    for address, write in trace:
        number = address // line
        if number not in held:
            bytes_in += line * (allocates or not write)
            if len(held) == lines:
                bytes_out += line * (held.popitem(last=newest)[1] or clean)
            held[number] = not hits and write
        elif not fifo:
            held.move_to_end(number)
        if through:
            bytes_out += line * write
        elif hits:
            held[number] = write or (held[number] and not clean_again)
    return bytes_in, bytes_out + line * sum(held.values()) * flush


def _unused(trace, lines, line):
    """A hit that writes leaves a line as old as it was."""
    held: OrderedDict[int, bool] = OrderedDict()
    bytes_in = bytes_out = 0
    for address, write in trace:
        number = address // line
        if number not in held:
            bytes_in += line
            bytes_out += line * held.popitem(last=False)[1] if len(held) == lines else 0
        elif not write:
            held.move_to_end(number)
        held[number] = held.get(number, False) or write
    return bytes_in, bytes_out + line * sum(held.values())


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
    answer=Function(
        "lru",
        "lru(trace, lines, line)",
        counts=True,
        cases=_traces,
        mutants={
            "fetched, for a write too": partial(_cache, allocates=False),
            "was written since it came, then read": partial(_cache, clean_again=True),
            "was written after it came": partial(_cache, hits=False),
            "a line that was not written does not go back": partial(_cache, clean=True),
            "there may be one line": lambda trace, lines, line: lru(trace, lines, line) if lines > 1 else (0, 0),
            "a line may have one byte": lambda trace, lines, line: lru(trace, lines, max(line, 2)),
            "a line need not be a power of two": lambda trace, lines, line: lru(
                trace, lines, 1 << (line.bit_length() - 1)
            ),
            "a write is a use": _unused,
        },
    ),
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
        cases=[_launch(40, 24), _launch(16, 64), _launch(72, 8), _launch(8, 40)],
        mutants={
            "rows, where there are so many": lambda x_ptr, out_ptr, M, N, BM, BN: _tile(
                x_ptr, out_ptr, -(-M // BM) * BM, N, BM, BN
            ),
            "a multiple of 8, not always of 16": lambda x_ptr, out_ptr, M, N, BM, BN: _tile(
                x_ptr, out_ptr, M // BM * BM, N // BN * BN, BM, BN
            ),
        },
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
            name="ragged-edge",
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


def softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0) * N
    x = s * tl.load(x_ptr + first + at, mask=at < N, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + first + at, e / tl.sum(e, axis=0), mask=at < N)


def _softmax_by(top, x_ptr, out_ptr, N, s, BLOCK):
    """With what `top` makes of a row and of s taken off; beyond the row's end stands 0, which the sum leaves out."""
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0) * N
    x = tl.load(x_ptr + first + at, mask=at < N, other=0.0)
    e = tl.where(at < N, tl.exp(s * x - top(s * x, s)), 0.0)
    tl.store(out_ptr + first + at, e / tl.sum(e, axis=0), mask=at < N)


def _softmax(x_ptr, out_ptr, N, s, BLOCK, *, shift=True, loads=1, other=-float("inf")):
    at = tl.arange(0, BLOCK)
    first = tl.program_id(0) * N

    def x():
        return s * tl.load(x_ptr + first + at, mask=at < N, other=other)

    if loads == 1:
        one = x()
        e = tl.exp(one - tl.max(one, axis=0)) if shift else tl.exp(one)
        tl.store(out_ptr + first + at, e / tl.sum(e, axis=0), mask=at < N)
        return
    top = tl.max(x(), axis=0)
    total = tl.sum(tl.exp(x() - top), axis=0)
    tl.store(out_ptr + first + at, tl.exp(x() - top) / total, mask=at < N)


def _softmax_launch(rows, N, s, BLOCK):
    arrays = {"x_ptr": (rows, N), "out_ptr": tl.empty((rows, N))}
    return Launch(rows, {**arrays, "N": N, "s": s, "BLOCK": BLOCK})


SOFTMAX = Exercise(
    id="memory-hierarchy-softmax",
    title="Softmax in one pass",
    points=3,
    lines=5,
    prompt="Each row of `x`, of N float32, is to become a row of `out`: the softmax of s·x, that is exp(s·x) divided "
    "by its sum over the row. Program i has row i, and BLOCK, a power of two, is at least N. s is above 0, and in some "
    "launches so large that exp(s·x) is beyond every float32, or 0 for all of a row. Load each element once and store "
    "each once: 8 bytes an element, and not one more. *Exact.*",
    answer=Kernel(
        "softmax",
        "softmax(x_ptr, out_ptr, N, s, BLOCK: tl.constexpr)",
        cases=[
            _softmax_launch(4, 100, 0.5, 128),
            _softmax_launch(3, 64, 1.0, 64),
            _softmax_launch(5, 33, 2.0, 64),
            _softmax_launch(3, 200, 100.0, 256),
            _softmax_launch(2, 5, 0.01, 8),
            _softmax_launch(48, 2, 1000.0, 4),  # all of a row is below 0 in one of five
            _softmax_launch(2, 1, 1.5, 1),
        ],
        mutants={
            "of s·x": lambda x_ptr, out_ptr, N, s, BLOCK: softmax(x_ptr, out_ptr, N, 1.0, BLOCK),
            "the maximum of the scaled row": partial(_softmax_by, lambda y, s: tl.max(y / s, axis=0)),
            "BLOCK may be N": lambda x_ptr, out_ptr, N, s, BLOCK: softmax(x_ptr, out_ptr, min(N, BLOCK - 1), s, BLOCK),
        },
        bytes=at_most(),
    ),
    solution=softmax,
    mistakes=(
        Mistake(
            partial(_softmax, loads=3),
            "The values are right. You go over the row three times, for the maximum, the sum and the quotient: what "
            "could stay on the chip in between?",
            name="loaded-again",
        ),
        Mistake(
            partial(_softmax, shift=False),
            "What is exp(100)? A softmax does not change if the same number is subtracted from all of a row.",
            name="softmax-overflow",
        ),
        Mistake(
            partial(_softmax, other=0.0),
            "Beyond the row's end stands 0, and exp of it is not nothing: what has to stand there so that the sum is "
            "the row's?",
        ),
        Mistake(
            partial(_softmax, other=-100.0),
            "Beyond the row's end stands -100, which is scaled as well: is exp of it nothing when s is small?",
        ),
        Mistake(
            partial(_softmax_by, lambda y, s: tl.max(y, axis=0)),
            "The sum is of the row alone. And the maximum: what is it where all of the row is below 0?",
        ),
        Mistake(
            partial(_softmax_by, lambda y, s: tl.max(tl.maximum(y, -y), axis=0)),
            "You take off the largest size, whatever its sign. If that is a number far below 0, what is the largest "
            "exponent that is left?",
        ),
        Mistake(
            partial(_softmax_by, lambda y, s: 3 * s),
            "You take the same off every row. What is left of one whose largest element is far below that?",
        ),
    ),
    hints=(
        "The row is a tile: load it once, give it a name, and compute with that.",
        "Subtract the row's maximum before the exponential.",
        "`other=` says what stands where the mask is false. Which number has the exponential 0?",
    ),
    explain="A row that fits on the chip needs to come in once: 4 bytes in and 4 out, an element. With m the row's "
    "maximum, exp(s·x) over its sum is exp(s·x - m) over the sum of those, for exp(-m) cancels, and no exponent is "
    "above 0. Where the tile is longer than the row, -inf makes the exponential 0, so neither maximum nor sum sees "
    "it. Written as three operations on arrays, maximum, sum and quotient, it would read the row three times: 16 "
    "bytes an element, twice as many.",
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

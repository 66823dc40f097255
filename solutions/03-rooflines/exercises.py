"""Exercises of chapter 3, and the names with which its text computes numbers."""

from functools import cache, partial
from math import ceil, log
from random import Random
from statistics import fmean

from autograder.answers import (
    Choice,
    Expression,
    Function,
    Kernel,
    Launch,
    Quantity,
    Written,
    at_most,
    integers,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib import tl
from hwlib.calibrated import KernelModel, fit_kernel_model, gemm_samples
from hwlib.formula import maximum
from hwlib.inference import scaled_weight_bytes  # noqa: F401  (the text uses it)
from hwlib.roofline import *  # noqa: F403  (the text uses many of them)
from hwlib.roofline import (
    attention_bytes,
    critical_batch,
    matmul_bytes,
    matmul_flops,
    matmul_time,
    serial_time,
    vector_add_time,
)
from hwlib.specs import accelerators, measured_gemms
from hwlib.units import show

v100, a100, h100, h200, b200, h800, mi300x = (
    accelerators[key]
    for key in ("v100-sxm2", "a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm", "h800-sxm", "mi300x")
)


@cache
def gemm(chip, dtype, B, D, F):
    """The published timing of one product [B, D] x [D, F]; LookupError if the table lacks it."""
    rows = [r for r in measured_gemms(chip, dtype) if (r.M, r.K, r.N) == (B, D, F)]
    if not rows:
        raise LookupError(f"no published timing of [{B}, {D}] x [{D}, {F}] in {dtype} on {chip}")
    return rows[0].time


@cache
def published(chip, dtype):
    """The published products of one chip as samples, and their model by the data sheet."""
    C, W = accelerators[chip].flops(dtype), accelerators[chip].datum("hbm_bandwidth").value
    return gemm_samples(measured_gemms(chip, dtype)), KernelModel(1, 1, 0, C, W)


@cache
def fitted(chip, dtype):
    """The samples, their model by the data sheet, and the fitted one, for which scipy is needed."""
    known, sheet = published(chip, dtype)
    return known, sheet, fit_kernel_model(known, sheet.C, sheet.W)


LAYER = (10, 51200, 16384)  # the layer of the opening question
OPENING = gemm("h100-sxm", "bf16", *LAYER)
OPENING_FLOPS, OPENING_BYTES = matmul_flops(*LAYER), matmul_bytes(*LAYER)

EMPTY, COPY_TIME, PRODUCT_TIME = 4e-6, 20e-6, 60e-6  # three timings, as an example
COPIED, MULTIPLIED = 40e6, 34e9  # what the copy moves, and what the product computes

# Two clocks
VECTOR_ADD = Exercise(
    id="rooflines-vector-add",
    title="The simplest kernel",
    prompt="`c = a + b` on {dtype} vectors of {N} elements, on a chip with {C:FLOP/s} and {W:B/s} of memory "
    "bandwidth. How long does it take at best? *Exact* for the roofline: no array is in a cache, and "
    "starting the kernel costs nothing.",
    given=[
        dict(dtype="bf16", b=2, N=N, C=chip.fp32_flops, W=chip.hbm_bandwidth)
        for chip in (b200, a100)  # where the shorter clock is longest: the sum of both is 1.7 % off
        for N in (2**30, 2**26, 2**28)
    ],
    answer=Quantity("s", rtol=0.003),
    solution=lambda b, N, C, W: max(vector_add_time(N, W, b), N / C),
    harmless={"side 1 of the max alone": "memory decides on every chip that is sold, which is what the exercise shows"},
    mistakes=(
        Mistake(
            lambda b, N, W: 2 * b * N / W,
            "Both inputs are read. And the result: where does it go?",
            name="result-left-out",
        ),
        Mistake(lambda N, C: N / C, "That is the arithmetic clock. Which of the two clocks runs longer here?"),
        Mistake(
            lambda b, N, C, W: vector_add_time(N, W, b) + N / C,
            "You added the two clocks. Does one wait for the other, at best?",
            name="times-added",
        ),
        Mistake(
            lambda N, W: 3 * N / W,
            "Half of it: is a number of elements divided by the bandwidth, which counts bytes, or is half of something "
            "left out?",
            name="element-bytes",
            names_all=True,
        ),
    ),
    hints=(
        "Count the arrays that cross between chip and memory, in either direction.",
        "Hold one addition against the bytes that an element costs: which clock decides?",
    ),
    explain="Three arrays cross between chip and memory, two in and one out: `3*N*b` bytes with N = {N} and b = {b} "
    "B an element, at W = {W:B/s}. The arithmetic is one addition an element, N over {C:FLOP/s}, and by far the "
    "shorter clock. With perfect overlap only the longer one counts: `3*N*b/W`.",
)

DOUBLE_BUFFER = Exercise(
    id="rooflines-double-buffer",
    title="Between sum and maximum",
    points=2,
    prompt="A kernel cuts its work into `n` equal tiles and has two buffers: while it computes on one tile "
    "it loads the next. All loads together take `t_W`, all arithmetic together `t_C`; storing is "
    "free. How long does it take, *exactly*? One expression, for any `n` and for either clock the "
    "longer.",
    answer=Expression({"n": integers(1, 4096), "t_C": positive("s"), "t_W": positive("s")}, "s"),
    solution=lambda n, t_C, t_W: (t_C + t_W) / n + (n - 1) / n * maximum(t_C, t_W),
    mistakes=(
        Mistake(
            lambda t_C, t_W: maximum(t_C, t_W),
            "That is perfect overlap. What can be computed while the first tile is still on its way?",
            name="times-overlapped",
        ),
        Mistake(
            lambda t_C, t_W: t_C + t_W,
            "That is a kernel with one buffer. With two, when are memory and arithmetic both busy?",
        ),
        Mistake(
            lambda n, t_C, t_W: t_W / n + maximum(t_C, t_W),
            "The first load stands alone, and you let the last tile's arithmetic overlap with a load "
            "that does not exist.",
            name="times-overlapped",
        ),
        Mistake(
            lambda n, t_C, t_W: (t_C + t_W) / n + maximum(t_C, t_W),
            "The ends of the pipeline are right. How many steps are left in its middle?",
        ),
    ),
    hints=(
        "Draw three tiles on two lanes, loads above and arithmetic below.",
        "In which steps of your drawing is one lane alone busy, and in how many are both?",
        "`maximum` from `hwlib.formula` takes symbols.",
    ),
    explain="One tile loads in `t_W/n` and computes in `t_C/n`. The first load has no arithmetic beside it and the "
    "last arithmetic no load: `(t_C + t_W)/n`. Between them lie n - 1 steps, each of which computes on one tile and "
    "loads the next, and so takes the longer of the two: `(n - 1)*maximum(t_C, t_W)/n`. One tile gives the sum, "
    "many tend to the maximum: real kernels live in between.",
)


# The ridge
def _ridge_of_another(name):
    chip = h100 if name == "A B200" else b200
    return chip.bf16_flops / chip.hbm_bandwidth


RIDGE = Exercise(
    id="rooflines-ridge",
    title="The ridge of a chip",
    prompt="{name} multiplies {dtype} matrices at {C:FLOP/s}, and its memory moves {W:B/s}. From which arithmetic "
    "intensity on is a product bound by arithmetic? *Exact*, by these two figures.",
    given=[
        dict(name=name, dtype=dtype, C=chip.flops(dtype), W=chip.hbm_bandwidth)
        for name, chip, dtype in (
            ("A B200", b200, "bf16"),
            ("An H100", h100, "bf16"),
            ("An H100", h100, "fp8"),
            ("An H200", h200, "bf16"),
            ("An MI300X", mi300x, "bf16"),
        )
    ],
    answer=Quantity("FLOP/B"),
    solution=lambda C, W: C / W,
    mistakes=(
        Mistake(
            lambda C, W: 2 * C / W,
            "Twice the answer. Is a rate doubled, or is it multiplied by the bytes of an element? Cancel the units.",
            names_all=True,
        ),
        Mistake(
            lambda C, W: C / (2 * W),
            "Half the answer. A multiply-add is two FLOPs, and a batch is a number of tokens: what was asked for "
            "counts FLOPs.",
            name="multiply-add",
            names_all=True,
        ),
        Mistake(_ridge_of_another, "That is the ridge of another chip. Which two figures does the prompt give?"),
        Mistake(lambda C, W: W / C, "That is bytes per FLOP: upside down.", name="upside-down"),
    ),
    hints=("At which intensity do the two clocks of a kernel agree?", "Divide the rates, and look at the unit."),
    explain="A product of intensity I does I FLOPs for each byte, so its arithmetic takes I/C a byte and its traffic "
    "1/W. They agree at `C/W`, {C:FLOP/s} over {W:B/s}; above it arithmetic takes longer. The unit is FLOP/B, whatever "
    "an element has of bytes. An analysis that is in circulation, Thaki Cloud's *GPU Scaling Guide*, multiplies an "
    f"H100's {990 / 3.35:.1f} FLOP/B by “2 bytes/bf16” and prints 591: that is FLOP an *element*, which no intensity "
    "in FLOP/B can be held against.",
)

ERRATUM_LINK = Exercise(
    id="rooflines-erratum-link",
    title="Find the error: half the batch?",
    points=2,
    prompt="Links have a ridge too. The *Abridged notes on the LLM scaling book* say of data parallelism in nodes of "
    "H100s: *“(1979 TFLOPs) / (900 GB/s) ~ 2200 required batch size per GPU to max out compute with sparsity, or ~1100 "
    "without”*. The sheet prints 1,979 TFLOP/s with sparsity, and 900 GB/s with both directions added. Adding up "
    "gradients loads both directions alike. What should the two sizes be? *Exact*: rounding is not the error.",
    answer=Choice(
        {
            "right": "as they stand: a dense job does half the FLOPs, and needs half the batch",
            "double": "2200 for a dense job, and 4400 for one with sparsity",
            "same": "2200 for both: sparsity changes the arithmetic, and not what the links carry",
            "half": "550 for a dense job, and 1100 for one with sparsity",
        }
    ),
    solution="double",
    mistakes=(
        Mistake("right", "Half of the sparse rate is the dense one. And 900 GB/s: is that one direction?"),
        Mistake("same", "The links carry the same. Which rate does the arithmetic have while they do?"),
        Mistake("half", "Do the bytes of one direction find more wires than one direction has, or fewer?"),
    ),
    hints=(
        "What of each of the two numbers can a dense job use?",
        "One number counts products that are skipped. How many directions does the other count, and how many matter?",
    ),
    explain=f"Both directions carry the same bytes at the same time, so the time is that of one, which has "
    f"{show(h100.scaleup_bandwidth, 'B/s')}. A dense job does {show(h100.bf16_flops, 'FLOP/s', 3)}, half of the 1,979. "
    f"Its ridge is {h100.bf16_flops / h100.scaleup_bandwidth:,.0f}, and with sparsity it would be "
    f"{2 * h100.bf16_flops / h100.scaleup_bandwidth:,.0f}. The notes divide two numbers that are both doubled, so the "
    "2200 is right for a dense job, by accident, and what is derived from it, that a dense job needs half of that, is "
    "not. A team that plans for 1100 finds its links busy for twice as long as its tensor cores.",
)

# Matmuls
_LARGER = 769, *LAYER[1:]
_small, _large = OPENING, gemm("h100-sxm", "bf16", *_LARGER)
_clocks = [
    tuple(show(t, "s", 3) for t in (matmul_bytes(*sizes) / h100.hbm_bandwidth, matmul_flops(*sizes) / h100.bf16_flops))
    for sizes in (LAYER, _LARGER)
]
_promised = matmul_time(*_LARGER, h100.bf16_flops, h100.hbm_bandwidth) / matmul_time(
    *LAYER, h100.bf16_flops, h100.hbm_bandwidth
)

PREDICT_BATCH = Exercise(
    id="rooflines-predict-batch",
    title="Predict: a bigger batch",
    predict=True,
    prompt=f"The layer of the opening question, [B × {LAYER[1]:,}] · [{LAYER[1]:,} × {LAYER[2]:,}] on an "
    f"H100, was also timed at batch 769: {769 / LAYER[0]:.0f} times the arithmetic of batch {LAYER[0]}. "
    "How much longer did it take? *To first order.*",
    answer=Choice(
        {
            "1x": "about as long",
            "3x": "about 3 times as long",
            "9x": "about 9 times as long",
            "77x": "about 77 times as long",
        },
        ordered=True,
    ),
    solution=lambda: f"{min((1, 3, 9, 77), key=lambda n: abs(log(n * _small / _large)))}x",
    mistakes=(
        Mistake("1x", "That holds while reading the weights takes longest. Up to which batch is that?"),
        Mistake("9x", "Nothing grows like a root: each clock is linear in the batch, or does not see it."),
        Mistake("77x", "Proportional only if arithmetic decides at both batches. Does it at 10?"),
    ),
    hints=("What share of the bytes depends on B at all?", "Work out both clocks at both batches."),
    explain=f"By the data sheet, batch {LAYER[0]} needs {_clocks[0][0]} for its traffic and {_clocks[0][1]} for its "
    f"arithmetic, batch {_LARGER[0]} needs {_clocks[1][0]} and {_clocks[1][1]}. The weights have to be read at "
    f"either batch: at {LAYER[0]} that is all the time there is, and on the way to {_LARGER[0]} the arithmetic "
    f"overtakes it. The longer clocks differ by a factor of {_promised:.1f}; measured are {show(_small, 's', 3)} and "
    f"{show(_large, 's', 4)}, a factor of {_large / _small:.1f}.",
)

MATMUL_TIME = Exercise(
    id="rooflines-matmul-time",
    title="One layer of a decoder",
    points=2,
    prompt="{name} multiplies bf16 activations [{B} × {D}] by weights [{D} × {F}]. It does {C:FLOP/s}, and its "
    "memory moves {W:B/s}. How long does it take at best, with perfect overlap? *Exact*: all three "
    "arrays count.",
    given=[
        dict(name=name, B=B, D=D, F=F, C=chip.bf16_flops, W=chip.hbm_bandwidth)
        for name, chip in (("A B200", b200), ("An H100", h100), ("An A100", a100))
        for B in (128, 512)  # memory decides, and arithmetic
        for D, F in ((4096, 8192), (2048, 8192), (5120, 5120))
    ],
    answer=Quantity("s"),
    solution=lambda B, D, F, C, W: matmul_time(B, D, F, C, W),
    mistakes=(
        Mistake(
            lambda B, D, F, C, W: min(matmul_flops(B, D, F) / C, matmul_bytes(B, D, F) / W),
            "That is one clock alone. Is it the one that runs longer?",
        ),
        Mistake(lambda D, F, W: 2 * D * F / W, "Those are the weights. Two more arrays are moved."),
        Mistake(
            lambda B, D, F, C, W: serial_time(matmul_flops(B, D, F), matmul_bytes(B, D, F), C, W),
            "You added the two clocks: that is a kernel without any overlap.",
            name="times-added",
        ),
    ),
    hints=(
        "How many FLOPs is the product, and which arrays are moved?",
        "With perfect overlap, which of the two times remains?",
    ),
    explain="With B = {B}, D = {D} and F = {F}, the arithmetic takes `2*B*D*F/C` at C = {C:FLOP/s}. Activations, "
    "weights and result are moved once each, at two bytes an element: `2*(B*D + D*F + B*F)/W` at W = {W:B/s}. With "
    "perfect overlap the longer of the two is the time; for a batch well below the ridge that is the traffic.",
)

CRITICAL_WIDTH = Exercise(
    id="rooflines-critical-width",
    title="How wide must a layer be?",
    points=3,
    prompt="Turn the question round. The batch `B` is given, and the chip, whose ridge is `R` FLOP/B (with "
    "`2*B > R`). Weights [D × rD] are int8, activations in and out bf16, arithmetic bf16. At which "
    "width `D` do both clocks take equally long? *Exact*, in `B`, `R` and the aspect ratio `r`.",
    answer=Expression({"B": integers(1024, 65536), "R": positive("1", 20, 900), "r": positive("1", 0.1, 10)}),
    solution=lambda B, R, r: 2 * B * R * (1 + r) / (r * (2 * B - R)),
    mistakes=(
        Mistake(
            lambda B, R, r: B * R * (1 + r) / (r * (B - R)),
            "That is for weights of two bytes each.",
            name="element-bytes",
        ),
        Mistake(
            lambda B, R, r: 2 * B * R / (r * (2 * B - R)),
            "You counted what is read. And the result?",
            name="result-left-out",
        ),
        Mistake(
            lambda R, r: R * (1 + r) / r,
            "Right for an endless batch only, where the weights no longer count as traffic.",
        ),
        Mistake(lambda B, R: 4 * B * R / (2 * B - R), "That is a square layer. Where does the ratio enter?"),
    ),
    hints=(
        "Count FLOPs and bytes with F = rD.",
        "What is their quotient, where both clocks agree?",
        "A power of D cancels, and what is left is linear in D.",
    ),
    explain="The FLOPs are `2*B*r*D**2`, the bytes `2*B*D + r*D**2 + 2*B*r*D`: what comes in, int8 weights, what "
    "goes out. Where both clocks agree, the FLOPs are R times the bytes. Divided by D that is `2*B*r*D = R*(2*B*(1 "
    "+ r) + r*D)`, so `D = 2*B*R*(1 + r)/(r*(2*B - R))`. As the batch falls towards half the ridge, the width grows "
    "without bound. And however large the batch, a square layer narrower than twice the ridge stays bound by memory.",
)


# What is not a matmul
def add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row, mask = tl.program_id(0) * N, at < N
    h = tl.load(x_ptr + row + at, mask=mask, other=0.0) + tl.load(r_ptr + row + at, mask=mask, other=0.0)
    tl.store(h_ptr + row + at, h, mask=mask)
    tl.store(out_ptr + row + at, h / tl.sqrt(tl.sum(h * h, axis=0) / N), mask=mask)


def _add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK, *, again="", masked=True, wide=False, root=True, of="h"):
    """The kernel with a slip: `again` reads "h", or "x" and "r", a second time."""
    at = tl.program_id(0) * N + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < N if masked else None
    x, r = tl.load(x_ptr + at, mask=mask), tl.load(r_ptr + at, mask=mask)
    tl.store(h_ptr + at, x + r, mask=mask)
    normed = {"h": x + r, "x": x}[of]
    mean = tl.sum(normed * normed, axis=0) / (BLOCK if wide else N)
    if "x" in again:
        normed = tl.load(x_ptr + at, mask=mask) + tl.load(r_ptr + at, mask=mask)
    elif "h" in again:
        normed = tl.load(h_ptr + at, mask=mask)
    tl.store(out_ptr + at, normed / (tl.sqrt(mean) if root else mean), mask=mask)


def _swapped(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    add_norm(x_ptr, r_ptr, out_ptr, h_ptr, N, BLOCK)


def _summed(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    at = tl.arange(0, BLOCK)
    row, mask = tl.program_id(0) * N, at < N
    h = tl.load(x_ptr + row + at, mask=mask, other=0.0) + tl.load(r_ptr + row + at, mask=mask, other=0.0)
    tl.store(h_ptr + row + at, h, mask=mask)
    tl.store(out_ptr + row + at, h / tl.sqrt(tl.sum(h * h, axis=0)), mask=mask)


def _centred(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK):
    at = tl.arange(0, BLOCK)
    row, mask = tl.program_id(0) * N, at < N
    h = tl.load(x_ptr + row + at, mask=mask, other=0.0) + tl.load(r_ptr + row + at, mask=mask, other=0.0)
    tl.store(h_ptr + row + at, h, mask=mask)
    apart = tl.where(mask, h - tl.sum(h, axis=0) / N, 0.0)
    tl.store(out_ptr + row + at, h / tl.sqrt(tl.sum(apart * apart, axis=0) / N), mask=mask)


def _of_rows(rows, N, BLOCK):
    arrays = {"x_ptr": (rows, N), "r_ptr": (rows, N), "h_ptr": tl.empty((rows, N)), "out_ptr": tl.empty((rows, N))}
    return Launch(rows, {**arrays, "N": N, "BLOCK": BLOCK})


FUSED_NORM = Exercise(
    id="rooflines-fused-norm",
    title="A norm that costs nothing more",
    points=4,
    lines=6,
    prompt="Before each of its blocks a decoder adds the last block's output `x` to the residual `r`, keeps the sum "
    "`h = x + r` for later, and normalises it: `out = h/sqrt(m)`, where `m` is the mean of h² along the row. Write "
    "both as one kernel. Each array is a matrix of N columns of float32, row by row in memory; program i does row i; "
    "`BLOCK` is a power of two and at least N. Load and store no more bytes than it takes. *Exact*.",
    answer=Kernel(
        "add_norm",
        "add_norm(x_ptr, r_ptr, h_ptr, out_ptr, N, BLOCK: tl.constexpr)",
        cases=[_of_rows(5, 100, 128), _of_rows(3, 64, 64), _of_rows(4, 9, 32), _of_rows(2, 1, 1)],
        mutants={
            "the mean, not the sum": _summed,
            "BLOCK may be N": lambda N, BLOCK, **arrays: add_norm(N=min(N, BLOCK - 1), BLOCK=BLOCK, **arrays),
            "h is the sum, and out is the norm": _swapped,
            "of h², not of its variance": _centred,
        },
    ),
    solution=add_norm,
    mistakes=(
        Mistake(
            partial(_add_norm, again="h"),
            "The values are right, and `h` crosses twice: it is stored and loaded again. Where is it in between?",
            name="loaded-again",
        ),
        Mistake(
            partial(_add_norm, again="xr"),
            "The values are right, and both inputs are loaded twice: once for the sum of squares, once for the result.",
            name="loaded-again",
        ),
        Mistake(
            partial(_add_norm, masked=False),
            "BLOCK may be larger than N. Whose elements are those behind the end of the row?",
            name="ragged-edge",
        ),
        Mistake(
            partial(_add_norm, wide=True),
            "The lanes beyond the row add nothing to the sum of squares, as they should. By what is it divided?",
        ),
        Mistake(partial(_add_norm, root=False), "You divide by the mean square. And the root?"),
        Mistake(partial(_add_norm, of="x"), "You normalise `x`. Which sum does the next block read?"),
    ),
    hints=(
        "Count the arrays that must cross at least once, in either direction. Which of them are there twice?",
        "`tl.sum(h*h, axis=0)` is one number for the row, and `h` is still a tile: store it, and go on using it.",
        "A mask `tl.arange(0, BLOCK) < N` for both loads and both stores; `other=0.0` makes the lanes beyond it 0.",
    ),
    explain="In come x and r, out go h and the result: four arrays, 16 N bytes a row. Two kernels move five, since the "
    "norm reads h again: 20 N. Both do about 4 N FLOPs, so the intensity rises from 0.2 to 0.25 FLOP/B, "
    "and the time, all of it memory's, falls by a fifth. It works because a row fits on the chip; one that does not "
    "must be read twice, as its mean is known only at its end.",
)


def attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr):
    r, h = tl.arange(0, R)[:, None], tl.arange(0, H)[None, :]
    mine, keys = tl.program_id(0) * R * H, tl.program_id(0) * T * H
    q = tl.load(q_ptr + mine + r * H + h)
    most, total = tl.full((R,), -float("inf"), tl.float32), tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block, inside = keys + at[:, None] * H + h, at[:, None] < T
        k = tl.load(k_ptr + block, mask=inside, other=0.0)
        s = tl.where(at[None, :] < T, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
        larger = tl.maximum(most, tl.max(s, axis=1))
        p, shrink = tl.exp(s - larger[:, None]), tl.exp(most - larger)
        v = tl.load(v_ptr + block, mask=inside, other=0.0)
        total, most = total * shrink + tl.sum(p, axis=1), larger
        acc = acc * shrink[:, None] + tl.dot(p, v)
    tl.store(out_ptr + mine + r * H + h, acc / total[:, None])


def _attend(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    T,
    scale,
    R,
    H,
    BLOCK,
    *,
    shrinks=True,
    sums=True,
    masked=True,
    divides=True,
    scaled=True,
    largest=True,
    shared=False,
    floor=-float("inf"),
    absent=-float("inf"),
):
    """The kernel with a slip: a running result is not corrected, keys beyond the end count, the largest score is that
    of other rows or no less than `floor`, or the end is forgotten."""
    r, h = tl.arange(0, R)[:, None], tl.arange(0, H)[None, :]
    mine, keys = tl.program_id(0) * R * H, tl.program_id(0) * T * H
    q = tl.load(q_ptr + mine + r * H + h)
    most, total = tl.full((R,), floor if largest else 0.0, tl.float32), tl.zeros((R,), tl.float32)
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        at = start + tl.arange(0, BLOCK)
        block, inside = keys + at[:, None] * H + h, at[:, None] < T
        k, v = tl.load(k_ptr + block, mask=inside), tl.load(v_ptr + block, mask=inside)
        s = tl.dot(q, tl.trans(k)) * (scale if scaled else 1.0)
        s = tl.where(at[None, :] < T, s, absent) if masked else s
        here = tl.max(tl.max(s, axis=1), axis=0) if shared else tl.max(s, axis=1)
        larger = tl.maximum(most, here) if largest else tl.zeros((R,), tl.float32)
        p, shrink = tl.exp(s - larger[:, None]), tl.exp(most - larger)
        total = (total * shrink if sums else total) + tl.sum(p, axis=1)
        acc = (acc * shrink[:, None] if shrinks else acc) + tl.dot(p, v)
        most = larger
    tl.store(out_ptr + mine + r * H + h, acc / total[:, None] if divides else acc)


def _in_two_passes(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R, H, BLOCK):
    """The largest score and the sum first, the weighted values in a second walk: the keys cross twice."""
    r, h = tl.arange(0, R)[:, None], tl.arange(0, H)[None, :]
    mine, keys = tl.program_id(0) * R * H, tl.program_id(0) * T * H
    q = tl.load(q_ptr + mine + r * H + h)

    def block_scores(start):
        at = start + tl.arange(0, BLOCK)
        block, inside = keys + at[:, None] * H + h, at[:, None] < T
        k = tl.load(k_ptr + block, mask=inside)
        return tl.where(at[None, :] < T, tl.dot(q, tl.trans(k)) * scale, -float("inf")), block, inside

    most, total = tl.full((R,), -float("inf"), tl.float32), tl.zeros((R,), tl.float32)
    for start in range(0, T, BLOCK):
        s, _, _ = block_scores(start)
        larger = tl.maximum(most, tl.max(s, axis=1))
        total, most = total * tl.exp(most - larger) + tl.sum(tl.exp(s - larger[:, None]), axis=1), larger
    acc = tl.zeros((R, H), tl.float32)
    for start in range(0, T, BLOCK):
        s, block, inside = block_scores(start)
        acc += tl.dot(tl.exp(s - most[:, None]), tl.load(v_ptr + block, mask=inside))
    tl.store(out_ptr + mine + r * H + h, acc / total[:, None])


def _at_once(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R, H, BLOCK):
    """All keys in one tile: the values and the bytes are right, and no chip has the room."""
    return attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R, H, max(BLOCK, 1 << (T - 1).bit_length()))


HEADS = 3  # key-value heads of each run


def _of_heads(R, T, H, BLOCK, scale):
    shapes = {
        "q_ptr": (HEADS, R, H),
        "k_ptr": (HEADS, T, H),
        "v_ptr": (HEADS, T, H),
        "out_ptr": tl.empty((HEADS, R, H)),
    }
    return Launch(HEADS, {**shapes, "T": T, "scale": scale, "R": R, "H": H, "BLOCK": BLOCK})


def _of_extremes(R, T, H, BLOCK):
    """In each head row 0 scores about -200 with every key, and row 1 scores 200 with one in the middle."""
    rng = Random(3)
    q, k, v = ([[[rng.gauss(0, 1) for _ in range(H)] for _ in range(n)] for _ in range(HEADS)] for n in (R, T, T))
    for queries, keys in zip(q, k, strict=True):
        for t, key in enumerate(keys):
            key[:2] = 1.0, float(t == T // 2)
        for r, score in enumerate((-200.0, 200.0)):
            queries[r][:2] = 4 * score * (r == 0), 4 * score * (r == 1)
    launch = _of_heads(R, T, H, BLOCK, 0.25)
    return Launch(HEADS, {**launch.given, "q_ptr": q, "k_ptr": k, "v_ptr": v})


FLASH = Exercise(
    id="rooflines-flash-attention",
    title="Attention that leaves no scores",
    points=4,
    lines=16,
    prompt=f"Write the fused kernel of attention, forward. Program i does key-value head i of {HEADS}: the R rows of "
    "`q_ptr` [heads × R × H] that use it, be they query heads, tokens or both, its T keys and values [heads × T × H], "
    "and R rows of `out_ptr`, all float32, row by row in memory. `out = softmax(scale*q @ kᵀ) @ v` for each head, "
    "without a mask; a score, or all scores of a row, may be so far above or below zero that their exponential is "
    "not a float32. R, H and BLOCK are powers of two, and T any number. It may move 5 % more than the bytes of "
    "`attention_bytes`, and hold 16·BLOCK·(H + R) + 32·R·H bytes on the chip at once: BLOCK keys fit, and not all T. "
    "*Exact*.",
    answer=Kernel(
        "attend",
        "attend(q_ptr, k_ptr, v_ptr, out_ptr, T, scale, R: tl.constexpr, H: tl.constexpr, BLOCK: tl.constexpr)",
        cases=[
            _of_heads(16, 136, 16, 16, 0.25),
            _of_heads(16, 75, 32, 32, 0.2),
            _of_heads(32, 100, 16, 16, 8.0),
            _of_extremes(16, 43, 16, 16),
            _of_heads(16, 5, 16, 16, 0.5),
            _of_heads(16, 1, 32, 16, 0.25),
        ],
        mutants={
            "T may be less than BLOCK": lambda T, BLOCK, **rest: _attend(T=T, BLOCK=BLOCK, masked=T > BLOCK, **rest),
            "whole blocks of T, then the rest": lambda T, BLOCK, **rest: attend(
                T=max(T // BLOCK, 1) * BLOCK, BLOCK=BLOCK, **rest
            ),
        },
        bytes=at_most(lambda T, R, H, **_: 1.05 * attention_bytes(1, 1, T, HEADS, R, H, b=4)),
        tile_bytes=at_most(lambda R, H, BLOCK, **_: 16 * BLOCK * (H + R) + 32 * R * H),
    ),
    solution=attend,
    mistakes=(
        Mistake(
            partial(_attend, shrinks=False),
            "A block with a larger score raises the maximum. The weighted values that you have summed so far are "
            "relative to the old one.",
            name="softmax-in-blocks",
        ),
        Mistake(
            partial(_attend, sums=False),
            "A block with a larger score raises the maximum. The sum so far is relative to the old one.",
            name="softmax-in-blocks",
        ),
        Mistake(
            partial(_attend, masked=False),
            "T is no multiple of BLOCK. A key beyond the end is loaded as zeros: which score does it get, and which "
            "should it get?",
            name="ragged-edge",
        ),
        Mistake(
            partial(_attend, largest=False),
            "A score of 100 is nothing unusual, and `exp(100)` is beyond float32. What may be taken off all scores of "
            "a row "
            "without changing its softmax?",
            name="softmax-overflow",
        ),
        Mistake(
            partial(_attend, shared=True),
            "A row may have no score near the largest one of all rows. Beside that one, what are all of its weights?",
        ),
        Mistake(
            partial(_attend, floor=0.0),
            "All scores of a row may lie far below zero. May your maximum, too? What are all weights of the row "
            "if not?",
        ),
        Mistake(
            partial(_attend, absent=-100.0),
            "All scores of a row may be below the one that you give to keys beyond the end. Which of them weigh most "
            "then?",
        ),
        Mistake(partial(_attend, divides=False), "The weights of a softmax add up to 1. Yours add up to the sum."),
        Mistake(
            partial(_attend, scaled=False),
            "The scores are to be multiplied by `scale` before the exponential.",
            name="score-scale",
        ),
        Mistake(
            _in_two_passes,
            "The values are right, and the keys cross twice. Can the maximum be corrected afterwards instead of known "
            "beforehand?",
            name="loaded-again",
        ),
        Mistake(
            _at_once,
            "The values and the bytes are right, and you hold all keys at once. Take BLOCK of them at a time.",
        ),
    ),
    hints=(
        "Walk over the keys, BLOCK at a time. What must be kept from block to block for each row? Three things.",
        "With a new maximum `larger`, everything so far is too large by `exp(larger - most)`: multiply the sum and the "
        "weighted values by `exp(most - larger)`, then add those of this block.",
        "Scores of keys beyond the end are `-float('inf')`, by `tl.where(at[None, :] < T, …)`. Divide at the end.",
    ),
    explain="A softmax needs the largest score, and that is known at the end only. But `exp(s - larger)` is "
    "`exp(s - most)` times `exp(most - larger)`: sums that were made with an old maximum are put right by one factor a "
    "row. So the kernel keeps the maximum, the sum and the weighted values, multiplies the latter two by that factor "
    "at each block, and divides at the end. Queries and output cross once, keys and values once: `8*heads*H*(R + T)` "
    "bytes, which is `attention_bytes`. Scores that leave the chip and come back are `8*heads*R*T` more: with R = 16 "
    "and H = 128 an eighth, and in prefill, where R is as large as T, nearly all there is.",
)

CHUNKED_PREFILL = Exercise(
    id="rooflines-chunked-prefill",
    title="Attention of a prefill chunk",
    points=3,
    prompt="A server prefills a long prompt in chunks. `S` tokens are in the KV cache, the chunk brings `T` "
    "more. Each KV head serves `G` query heads; everything is bf16. The mask is causal (a new token "
    "sees the cache, the new tokens before it, and itself) and the fused kernel skips what is masked. "
    "What is the intensity of the two products, scores and weighted sum, reading q, k and v (cached and "
    "new) once and writing the output once? *Exact*.",
    answer=Expression({"T": integers(1, 65536), "S": integers(0, 131072), "G": integers(1, 64)}, "FLOP/B"),
    solution=lambda T, S, G: G * (T * S + T * (T + 1) / 2) / (T * G + S + T),
    mistakes=(
        Mistake(
            lambda T, S, G: G * T * (S + T) / (T * G + S + T),
            "You counted pairs that the mask forbids. Which block of the score matrix is a triangle?",
            name="causal-pairs",
        ),
        Mistake(
            lambda T, S, G: G * T * (S + T) / 2 / (T * G + S + T),
            "Half of everything is too little: a new token sees all of the cache.",
        ),
        Mistake(
            lambda T, S, G: G * (T * S + T * T / 2) / (T * G + S + T),
            "Right for long chunks. How many pairs exactly has a triangle with its diagonal?",
        ),
        Mistake(
            lambda T, S, G: G * (T * S + T * (T + 1) / 2) / (T * G + T),
            "The work is right. The cached keys and values have to be read as well.",
        ),
    ),
    hints=(
        "Give the heads H elements and the model K KV heads: both will cancel. What does one query-key pair cost?",
        "Draw the score matrix of the chunk. Which part of it does the mask leave?",
        "Of q, k, v and the output: how many tokens does each hold, in how many heads?",
    ),
    explain="The mask leaves a rectangle of `T*S` pairs with the cache, and among the new tokens a triangle with "
    "its diagonal, `T*(T + 1)/2`. With heads of H elements a pair costs 4H FLOPs, 2H in each product, in each of KG "
    "query heads. q and the output have `T*K*G*H` elements each, k and v `(S + T)*K*H` each, all of two bytes: "
    "`4*K*H*(T*G + S + T)`. H and K cancel, and `G*(T*S + T*(T + 1)/2)/(T*G + S + T)` is left.",
)


# Fewer bytes, more experts
def _weight_bytes(D, F, bits, block, scale_bits, *, up=ceil, ways=2, scales=True):
    groups = up(D / block[0]) * (up(F / block[1]) if ways == 2 else F)
    return (D * F * bits + scales * groups * scale_bits) / 8


BLOCK_SCALES = Exercise(
    id="rooflines-block-scales",
    title="What the scales weigh",
    points=2,
    lines=3,
    prompt="A matrix of D × F weights is stored in `bits` bits a weight, packed without gaps, and cut into blocks of "
    "`block = (along D, along F)` weights; those at the far edges may be smaller. Each block has one scale of "
    "`scale_bits` bits, packed as well. Return the bytes of weights and scales, *exact*. MXFP4 is "
    "`weight_bytes(D, F, 4, (32, 1), 8)`, and fp8 as DeepSeek-V3 stores it `weight_bytes(D, F, 8, (128, 128), 32)`.",
    answer=Function(
        "weight_bytes",
        "weight_bytes(D, F, bits, block, scale_bits)",
        unit="B",
        cases=lambda rng: [
            *(
                (rng.choice((2048, 7168)), rng.choice((512, 2048)), bits, block, scale_bits)
                for bits, block, scale_bits in ((4, (32, 1), 8), (4, (16, 1), 8), (8, (32, 1), 8), (8, (128, 128), 32))
            ),
            (rng.choice((100, 720)), rng.choice((77, 300)), 4, (32, 1), 8),
            (rng.choice((1000, 7000)), rng.choice((500, 1407)), 8, (128, 128), 32),
            (40, 72, 4, (32, 1), 8),
            (64, 48, 8, (1, 32), 8),
            (1, 1, 8, (128, 128), 32),
            (31, 7, 7, (5, 3), 13),
            (64, 5, 1, (8, 1), 1),  # whole bytes in every case: whoever rounds them up is right, too
        ],
        mutants={
            "blocks are (along D, along F)": lambda D, F, bits, block, scale_bits: _weight_bytes(
                D, F, bits, block[::-1], scale_bits
            ),
            "cut along each side": lambda D, F, bits, block, scale_bits: _weight_bytes(
                D * F, 1, bits, (block[0] * block[1], 1), scale_bits
            ),
            "a block may be larger than the matrix": partial(_weight_bytes, up=lambda x: ceil(x) if x >= 1 else 0),
            "scales of scale_bits": lambda D, F, bits, block, _: _weight_bytes(D, F, bits, block, 8),
            "packed without gaps": lambda D, F, bits, block, scale_bits: (
                D * F * ceil(bits / 8) + _weight_bytes(D, F, bits, block, scale_bits) - D * F * bits / 8
            ),
        },
    ),
    solution=_weight_bytes,
    mistakes=(
        Mistake(
            partial(_weight_bytes, up=lambda x: x),
            "Right where the blocks divide the matrix. A block at the edge has a whole scale, too.",
            name="ragged-edge",
        ),
        Mistake(
            partial(_weight_bytes, up=lambda x: int(x)),
            "The blocks at the edges, smaller than the others, have scales as well.",
            name="ragged-edge",
        ),
        Mistake(partial(_weight_bytes, scales=False), "Those are the weights. And their scales?"),
        Mistake(
            partial(_weight_bytes, ways=1),
            "A block may be wider than one weight along F as well: how many of them lie side by side?",
        ),
        Mistake(
            lambda D, F, bits, block, scale_bits: 8 * _weight_bytes(D, F, bits, block, scale_bits),
            "Those are bits. Bytes were asked for.",
            name="bits-for-bytes",
        ),
    ),
    hints=(
        "How many blocks cover D, and how many F? Draw a matrix that is a little too large for whole blocks.",
        "Weights and scales in bits, then a byte has eight.",
    ),
    explain="The weights are `D*F*bits` bits. `ceil(D/block[0])` blocks cover one side, `ceil(F/block[1])` the other, "
    "since a block at an edge is smaller and has a scale all the same. Their product times `scale_bits` is added, and "
    "both divided by 8. Where the blocks divide the matrix, a weight has `bits + scale_bits/(block[0]*block[1])` bits: "
    "4.25 in MXFP4, 4.5 in NVFP4, and hardly more than 8 in blocks of 128 × 128. What small blocks cost in bytes they "
    "give back in accuracy: one large weight spoils the resolution of its own block only.",
)

QUANTISED = Exercise(
    id="rooflines-quantised-crossover",
    title="int4 or fp8?",
    points=2,
    prompt="Two ways to serve a wide linear layer on {name}, which reads {W:B/s}: (a) int4 weights, {b} bytes each "
    "with their scales, widened on the fly, arithmetic in bf16 at {C:FLOP/s}; (b) weights and activations in fp8, "
    "arithmetic in fp8 at {C8:FLOP/s}. At batch 1, (a) is faster. From which batch on is (b)? *To first order*: the "
    "weights are all the traffic, and overlap is perfect.",
    given=[
        dict(name=name, C=chip.bf16_flops, C8=chip.fp8_flops, W=chip.hbm_bandwidth, b=0.5625)
        for name, chip in (("a B200", b200), ("an H100", h100), ("an H200", h200), ("an MI300X", mi300x))
    ],
    answer=Quantity("token"),
    solution=lambda C, W: critical_batch(C, W, b_w=1),
    mistakes=(
        Mistake(
            lambda C, W, b: critical_batch(C, W, b_w=b),
            "There (a) meets the arithmetic, but (b) still reads many more bytes. Who is ahead?",
        ),
        Mistake(
            lambda C, C8, W, b: (1 - b) / W / (2 / C - 2 / C8),
            "You added up the two times of each way. What does perfect overlap leave of that?",
            name="times-added",
        ),
        Mistake(
            lambda C8, W: critical_batch(C8, W, b_w=1),
            "There (b) becomes bound by arithmetic. Was it not ahead before that?",
        ),
    ),
    hints=(
        "Sketch both times against B: each is flat at first, then rises.",
        "On which part of its own line is each of them where they cross?",
    ),
    explain="For each weight, (a) reads {b} bytes and (b) one, and both do two FLOPs for each of B tokens: (a) "
    "takes `max({b}/W, 2*B/C)`, (b) `max(1/W, 2*B/C8)`. Where (a) starts to rise it is still ahead of (b). "
    "It is overtaken where its arithmetic takes as long as (b) reads, `2*B/C = 1/W`; there (b) is still flat, since "
    "C8 is larger than C. So B = C/(2W), with C = {C:FLOP/s} and W = {W:B/s}.",
)


def _expert_bytes(B, E, k, D, F, b):
    return E * (1 - (1 - k / E) ** B) * 3 * D * F * b


MOE_BYTES = Exercise(
    id="rooflines-moe-bytes",
    title="How many experts wake up?",
    points=3,
    prompt="A mixture-of-experts layer has `E` experts, each a gated MLP of three `D × F` matrices at `b` "
    "bytes a weight. A token goes to `k` different experts; every set of k is equally likely, and "
    "tokens are independent. How many bytes of weights does a decode step with `B` tokens read, "
    "*exactly, in expectation*? An expert that no token chose is not read.",
    answer=Function(
        "expert_bytes",
        "expert_bytes(B, E, k, D, F, b)",
        unit="B",
        units=dict(B="token", E="1", k="1", D="1", F="1", b="B"),
        cases=lambda rng: [
            *(
                (B, E, k, rng.choice((2048, 7168)), rng.choice((768, 2048)), b)
                for E, k in ((1, 1), (8, 2), (16, 1), (64, 6), (128, 8), (256, 8))
                for b in (0.5, 1, 2)
                for B in (rng.choice((2, 3, 8, 32, 100, 512)),)
            ),
            (1, 7, 3, rng.randint(2, 99), 1, 2),
            (7, rng.randint(5, 99), 5, 1, 11, 0.5),
            (rng.randint(2, 99), 9, 3, 13, 5, 1),
        ],
        mutants={
            "less than a byte a weight": lambda B, E, k, D, F, b: _expert_bytes(B, E, k, D, F, ceil(b)),
            "k experts a token": lambda B, E, k, D, F, b: _expert_bytes(B, E, 1, D, F, b),
            "all B tokens": lambda B, E, k, D, F, b: _expert_bytes(1, E, k, D, F, b),
            "whole experts": lambda B, E, k, D, F, b: ceil(E * (1 - (1 - k / E) ** B)) * 3 * D * F * b,
        },
    ),
    solution=_expert_bytes,
    mistakes=(
        Mistake(
            lambda B, E, k, D, F, b: E * 3 * D * F * b,
            "That is every expert. With few tokens some sleep.",
            name="experts-all",
        ),
        Mistake(
            lambda B, E, k, D, F, b: min(B * k, E) * 3 * D * F * b,
            "Two tokens may choose the same expert, and it is then read once.",
        ),
        Mistake(
            lambda B, E, k, D, F, b: E * (1 - (1 - 1 / E) ** (B * k)) * 3 * D * F * b,
            "Close, but the k experts of one token differ: they are not k independent draws.",
        ),
        Mistake(
            lambda B, E, k, D, F, b: E * (1 - (1 - k / E) ** B) * 2 * D * F * b,
            "The expectation is right. How many matrices has a gated MLP?",
            name="gated-mlp",
        ),
    ),
    hints=(
        "Take one expert. With what probability does one token pass it by? And all B of them?",
        "The expected number of experts awake is the sum of their probabilities, dependent or not.",
    ),
    explain="A token passes a given expert by with probability `1 - k/E`, and B independent tokens all do with `(1 "
    "- k/E)**B`. So that expert is read with probability `1 - (1 - k/E)**B`, and `E` times that is the expected "
    "number of experts that are read: expectations add up, though the experts depend on each other. Each has three "
    "matrices of `D*F` weights of b bytes: `E*(1 - (1 - k/E)**B)*3*D*F*b`.",
)

# Where the model breaks
_samples, _sheet = published("h100-sxm", "bf16")
_fit = KernelModel(0.7129846376191826, 0.8360529634004209, 2.686775887152814e-06, _sheet.C, _sheet.W)  # see `fitted`
_error, _sheet_error = (fmean(map(abs, model.errors(_samples))) for model in (_fit, _sheet))

PREDICT_ERROR = Exercise(
    id="rooflines-predict-error",
    title="Predict: how good are three constants?",
    predict=True,
    prompt=f"By the data sheet's two rates, the roofline is off by {_sheet_error:.0%} on "
    f"average over these {len(_samples)} products. Now fit the three constants to them. What mean "
    "error is left? *To first order.*",
    answer=Choice({f"{n} %": f"about {n} %" for n in (1, 8, 20, 35)}, ordered=True),
    solution=lambda: f"{min((1, 8, 20, 35), key=lambda n: abs(log(n / 100 / _error)))} %",
    mistakes=(
        Mistake("1 %", "Too good: a library has hundreds of kernels, and this is one set of constants."),
        Mistake("20 %", "Less: the misses have causes in common, and those are what a constant can take up."),
        Mistake("35 %", "All products are slower than the roofline, none is faster: that is no accident."),
    ),
    hints=("All products miss on the same side, many of them by a similar factor.",),
    explain=f"Every product takes longer than the data sheet's roofline says, so most of the {_sheet_error:.0%} has "
    "causes that all of them share: rates that are not reached, and a launch. That is what three constants can take "
    f"up: fitted they are {_fit.eta_C:.0%} of the arithmetic rate, {_fit.eta_W:.0%} of the bandwidth and "
    f"{show(_fit.t0, 's', 2)} a launch. The {_error:.1%} that are left on average differ from product to product.",
)

WORST = max(measured_gemms("h100-sxm", "bf16"), key=lambda g: abs(_fit.errors(gemm_samples([g]))[0]))
DEEP = next(g for g in measured_gemms("h100-sxm", "bf16") if (g.M, g.K, g.N) == (769, 65536, 1536))

_ticket = 33, 16384, 65536
_measured = gemm("h100-sxm", "bf16", *_ticket)
_traffic, _arithmetic = matmul_bytes(*_ticket) / h100.hbm_bandwidth, matmul_flops(*_ticket) / h100.bf16_flops
_twice = matmul_bytes(66, *_ticket[1:]) / matmul_bytes(*_ticket)

TICKET = Exercise(
    id="rooflines-ticket",
    title="Answer the ticket",
    prompt=f"*“Our widest layer, [{_ticket[0]} × {_ticket[1]:,}] · [{_ticket[1]:,} × {_ticket[2]:,}] in bf16, takes "
    f"{show(_measured, 's', 3)} on an H100, and the profiler says that its tensor cores reach "
    f"{matmul_flops(*_ticket) / _measured / h100.bf16_flops:.1%} of their peak. Four proposals are on the table: a "
    "better kernel, a quarter's work; weights and activations in fp8, since that doubles the peak; requests that wait "
    f"until {2 * _ticket[0]} are together; and H200s, which purchasing has struck off because their sheet prints the "
    "same peak. Which do we do first?”* The time is measured and published. Say what each of the four can buy at most, "
    "with numbers, choose an order, and name a measurement that would prove you wrong.",
    answer=Written(
        rubric=(
            ("Works out the intensity or both clocks, and says that the traffic of the weights decides", 1),
            ("Bounds what any kernel can gain by the share of the bandwidth that this one reaches", 1),
            ("Says what fp8 saves, by its bytes and not by its peak", 1),
            ("Says that a larger batch takes as long, what that does to tokens a second and what it costs", 1),
            ("Says what the H200 gains, by its memory, though its peak is the same", 1),
            ("Chooses an order for a stated reason, and names a measurement whose other outcome would refute it", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution=f"The layer moves {show(matmul_bytes(*_ticket), 'B', 3)}, nearly all of it weights, which takes "
    f"{show(_traffic, 's', 3)} at {show(h100.hbm_bandwidth, 'B/s', 3)}; its arithmetic takes "
    f"{show(_arithmetic, 's', 2)} at the peak. So memory decides, and {_traffic / _measured:.0%} of its bandwidth is "
    "reached: the kernel is good, and the percentage in the profiler is that of the wrong clock."
    f"\n\n- *Better kernel*: {_measured / _traffic:.2f} times as fast at the very best."
    "\n- *fp8*: half the bytes, so about twice as fast, as long as conversions are not kernels of their own. The "
    "doubled peak plays no part; int8 weights with arithmetic in bf16 would do as well. It costs accuracy, to be "
    "checked."
    f"\n- *Batch {2 * _ticket[0]}*: {_twice - 1:.1%} more traffic and twice the tokens, so nearly twice the tokens a "
    f"second from the same GPU, up to a ridge of {h100.bf16_flops / h100.hbm_bandwidth:.0f}. Each token waits for the "
    "batch to fill."
    f"\n- *H200*: {h200.hbm_bandwidth / h100.hbm_bandwidth:.2f} times the bandwidth, and here that is the speed."
    "\n\nFirst the batch, if the users can wait: it costs nothing and can be taken back. Then fp8, then H200s, and the "
    f"kernel last. Time the same layer at {2 * _ticket[0]} rows: if it takes clearly longer than at {_ticket[0]}, "
    "traffic was not what took the time, and all of this is wrong.",
    hints=(
        "Which of the two clocks does the profiler's percentage belong to?",
        "What does each proposal change: FLOPs, bytes, or one of the two rates?",
    ),
)


# Lab
def _three_kernels(B, D, F, b, C, W, t0):
    product = max(2 * B * D * F / C, b * (B * D + D * F + B * F) / W)
    return 3 * t0 + 2 * product + max(B * F / C, 3 * b * B * F / W)


LAB_KERNEL = Exercise(
    id="rooflines-lab-kernel",
    title="Predict a new kernel",
    points=3,
    lines=3,
    prompt="`y = (x @ w1) * (x @ w2)`, with x: [B × D], both weights [D × F] and `b` bytes an element, runs "
    "as three kernels: two products and a multiplication, each reading its inputs from memory and "
    "writing its output. A kernel takes a launch `t0` and then the longer of its two clocks, at the "
    "achieved rates `C` and `W`; a multiplication is one FLOP. Return the time of all three, *exact* "
    "in this model.",
    answer=Function(
        "predict_time",
        "predict_time(B, D, F, b, C, W, t0)",
        unit="s",
        units=dict(B="token", D="1", F="1", b="B", C="FLOP/s", W="B/s", t0="s"),
        cases=lambda rng: [
            *(
                (B, rng.choice((256, 1024, 4096)), rng.choice((512, 2048, 16384)), b, C, W, t0 * rng.uniform(0.8, 1.2))
                for B in (1, 16, 300, 8192)
                for b in (2, 4)
                for C, W, t0 in ((7e14, 2.7e12, 4e-6), (9e10, 1.5e10, 5e-6))
            ),
            (7, rng.randint(2, 999), 1, 1, 9e10, 1.5e10, 3.7e-6),
            (rng.randint(2, 99), 1, 97, 3, 9e10, 1.5e10, 4.3e-6),
            (rng.randint(2, 99), 101, 33, 2, 7e14, 2.7e12, 2.9e-6),
            (64, 1, rng.randint(30, 99), 1, 1e9, 1.3e12, 2.1e-6),  # so little arithmetic that it decides everywhere
        ],
        mutants={
            "the longer clock of the multiplication, too": lambda B, D, F, b, C, W, t0: (
                3 * t0 + 2 * max(2 * B * D * F / C, b * (B * D + D * F + B * F) / W) + 3 * b * B * F / W
            ),
            "each reads its inputs": lambda B, D, F, b, C, W, t0: _three_kernels(B, D, F, b, C, W, t0) - b * B * D / W,
            "b bytes an element": lambda B, D, F, b, C, W, t0: _three_kernels(B, D, F, 2, C, W, t0),
            "the longer, not the sum": lambda B, D, F, b, C, W, t0: (
                3 * t0 + (4 * B * D * F + B * F) / C + b * (2 * B * D + 2 * D * F + 5 * B * F) / W
            ),
        },
    ),
    solution=_three_kernels,
    mistakes=(
        Mistake(
            lambda B, D, F, b, C, W, t0: _three_kernels(B, D, F, b, C, W, t0) - 2 * t0,
            "Count the launches.",
        ),
        Mistake(
            lambda B, D, F, b, C, W, t0: 3 * t0 + 2 * max(2 * B * D * F / C, b * (B * D + D * F + B * F) / W),
            "The multiplication hardly computes, but it is not free: it moves three arrays.",
        ),
        Mistake(
            lambda B, D, F, b, C, W, t0: (
                3 * t0 + max((4 * B * D * F + B * F) / C, b * (2 * B * D + 2 * D * F + 5 * B * F) / W)
            ),
            "One maximum over everything: a kernel hides its own traffic, not that of the next one.",
        ),
    ),
    hints=(
        "What are FLOPs and bytes of one product, and of the multiplication?",
        "Which of these clocks can overlap, and which follow one another?",
    ),
    explain="A product has `2*B*D*F` FLOPs and moves `b*(B*D + D*F + B*F)` bytes; the multiplication has `B*F` "
    "FLOPs and moves three arrays, `3*b*B*F` bytes. Each kernel is a launch and then the longer of its clocks, "
    "FLOPs over C and bytes over W. One kernel starts when the one before it has ended, so three launches and three "
    "maxima add up, that of the product twice.",
)

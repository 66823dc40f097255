"""Exercises of chapter 3, and the names with which its text computes numbers."""

from functools import cache, partial
from math import ceil, log
from statistics import fmean

from autograder.answers import Choice, Count, Expression, Function, Kernel, Launch, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib import tl
from hwlib.calibrated import KernelModel, fit_kernel_model, gemm_samples
from hwlib.formula import maximum
from hwlib.roofline import *  # noqa: F403  (the text uses many of them)
from hwlib.roofline import (
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
def fitted(chip, dtype):
    """The published products of one chip as samples; their model by the data sheet, and the fitted one."""
    C, W = accelerators[chip].flops(dtype), accelerators[chip].datum("hbm_bandwidth").value
    samples = gemm_samples(measured_gemms(chip, dtype))
    return samples, KernelModel(1, 1, 0, C, W), fit_kernel_model(samples, C, W)


LAYER = (10, 51200, 16384)  # the layer of the opening question
OPENING = gemm("h100-sxm", "bf16", *LAYER)
OPENING_FLOPS, OPENING_BYTES = matmul_flops(*LAYER), matmul_bytes(*LAYER)

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
        Mistake(lambda b, N, W: 2 * b * N / W, "Both inputs are read. And the result: where does it go?"),
        Mistake(lambda N, C: N / C, "That is the arithmetic clock. Which of the two clocks runs longer here?"),
        Mistake(
            lambda b, N, C, W: vector_add_time(N, W, b) + N / C,
            "You added the two clocks. Does one wait for the other, at best?",
        ),
        Mistake(lambda N, W: 3 * N / W, "Bandwidth counts bytes, and you divided a number of elements by it."),
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
        ),
        Mistake(
            lambda t_C, t_W: t_C + t_W,
            "That is a kernel with one buffer. With two, when are memory and arithmetic both busy?",
        ),
        Mistake(
            lambda n, t_C, t_W: t_W / n + maximum(t_C, t_W),
            "The first load stands alone, and you let the last tile's arithmetic overlap with a load "
            "that does not exist.",
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
ERRATUM_591 = Exercise(
    id="rooflines-erratum-591",
    title="Find the error: 591",
    prompt="From a published set of notes: *“The boundary between memory bound and compute bound on H100 is "
    "calculated approximately as: Peak AI = (990 × 10¹² FLOP/s) / (3.35 × 10¹² B/s) × 2 bytes/bf16 = "
    "591 FLOP/byte”*. What is wrong with it? *Exact*: look at the units, not at rounding.",
    answer=Choice(
        {
            "unit": "the factor 2: with it the result is no longer in FLOP per byte",
            "sparse": "the arithmetic rate: it is the one with structured sparsity, twice the dense one",
            "two-way": "the bandwidth: it adds both directions and should be halved first",
            "nothing": "nothing: a bf16 element has two bytes, so a byte must earn twice the FLOPs",
        }
    ),
    solution="unit",
    mistakes=(
        Mistake("sparse", "The sparse rate is another number. Compare `h100.bf16_flops`."),
        Mistake("two-way", "Links are often printed with both directions added up; memory bandwidth is not."),
        Mistake("nothing", "Write the unit behind each of the three factors and cancel."),
    ),
    hints=("Cancel the units: FLOP/s, B/s, and bytes per element.",),
    explain=f"FLOP/s over B/s is FLOP/B, and 990e12/3.35e12 = {990 / 3.35:.1f} FLOP/B is the ridge already. Times 2 "
    "bytes per element it is FLOP per *element*, which no intensity in FLOP/B can be held against. The same notes "
    "have the right 295 FLOP/B some pages later; and 591 looks familiar because it happens to be the H100's ridge "
    "in fp8.",
)

ERRATUM_LINK = Exercise(
    id="rooflines-erratum-link",
    title="Find the error: half the batch?",
    points=2,
    prompt="Links have a ridge too. Published notes on data parallelism in H100 nodes: *“(1979 TFLOPs) / "
    "(900 GB/s) ~ 2200 required batch size per GPU to max out compute with sparsity, or ~1100 "
    "without”*. Take {name}: its sheet has {C2:FLOP/s} for bf16 *with sparsity*, and its links carry {W:B/s} "
    "*each way*. Adding up gradients loads both directions alike, so one of them sets the "
    "time. Which ridge does a dense job see? *Exact*.",
    given=[
        dict(name=name, C2=2 * chip.flops("bf16"), W=chip.datum("scaleup_bandwidth").value)
        for name, chip in (("a B200", b200), ("an A100", a100), ("an H100", h100), ("an H800", h800))
    ],
    answer=Quantity("FLOP/B"),
    solution=lambda C2, W: C2 / 2 / W,
    mistakes=(
        Mistake(
            lambda C2, W: C2 / 2 / (2 * W),
            "You corrected the arithmetic rate. Do the bytes of one direction have the other's wires too?",
        ),
        Mistake(
            lambda C2, W: C2 / W,
            "Twice the answer. Does a dense product reach the rate as printed; and does a ridge in "
            "FLOP/B count bytes twice?",
        ),
    ),
    hints=(
        "What of each of the two numbers can this job use?",
        "One number counts products that are skipped. How many directions does the other count, and how many matter?",
    ),
    explain="A dense job gets half of the {C2:FLOP/s}, since the rest are products with zeros. Both directions "
    "carry the same bytes at the same time, so the time is that of one direction, which has {W:B/s}. The ridge is "
    "`C2/2/W`. The notes divide two numbers that are both doubled, 1979 TFLOP/s with sparsity by 900 GB/s both ways "
    "together, so 2200 is right for an H100, by accident. The conclusion drawn from it, that a dense job needs half "
    "the batch, is not.",
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
        }
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
        Mistake(lambda B, R, r: B * R * (1 + r) / (r * (B - R)), "That is for weights of two bytes each."),
        Mistake(lambda B, R, r: 2 * B * R / (r * (2 * B - R)), "You counted what is read. And the result?"),
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
        cases=[_of_rows(5, 100, 128), _of_rows(3, 64, 64), _of_rows(4, 9, 32)],
    ),
    solution=add_norm,
    mistakes=(
        Mistake(
            partial(_add_norm, again="h"),
            "The values are right, and `h` crosses twice: it is stored and loaded again. Where is it in between?",
        ),
        Mistake(
            partial(_add_norm, again="xr"),
            "The values are right, and both inputs are loaded twice: once for the sum of squares, once for the result.",
        ),
        Mistake(
            partial(_add_norm, masked=False),
            "BLOCK may be larger than N. Whose elements are those behind the end of the row?",
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

FUSED_MLP = Exercise(
    id="rooflines-fused-mlp",
    title="A fused gated MLP",
    points=2,
    prompt="`y = (silu(x @ W_g) * (x @ W_u)) @ W_d`, with x: [B × D], W_g and W_u: [D × F], W_d: [F × D], "
    "all bf16. One kernel fuses the three products, so that nothing of size [B × F] ever leaves the "
    "chip. What is its intensity, counting the FLOPs of the products only? *Exact*.",
    answer=Expression({"B": integers(1, 65536), "D": integers(64, 32768), "F": integers(64, 9999)}, "FLOP/B"),
    solution=lambda B, F: 3 * B * F / (2 * B + 3 * F),
    mistakes=(
        Mistake(
            lambda B, D, F: B * D * F / (B * D + D * F + 2 * B * F),
            "That is three products and a multiplication, with [B × F] going out and coming back each time.",
        ),
        Mistake(
            lambda B, F: B * F / (B + F),
            "So it is with two matrices, or with `x` read twice. How many has a gated MLP, and how "
            "often does one kernel read x?",
        ),
        Mistake(lambda B: B, "Right for F much larger than B only: x and y are traffic too."),
    ),
    hints=(
        "How many FLOPs has each of the three products?",
        "Which arrays cross between chip and memory, now that none of size [B × F] does?",
    ),
    explain="Each of the three products has `2*B*D*F` FLOPs, so there are `6*B*D*F`. What crosses is x and y, "
    "`2*B*D` elements, and the three weights, `3*D*F`, at two bytes each. The quotient is `6*B*D*F/(2*(2*B*D + "
    "3*D*F))`, which is `3*B*F/(2*B + 3*F)`. D has dropped out: fused, the intensity depends on the batch and on "
    "the hidden width alone.",
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
    ),
    solution=lambda B, E, k, D, F, b: E * (1 - (1 - k / E) ** B) * 3 * D * F * b,
    mistakes=(
        Mistake(lambda B, E, k, D, F, b: E * 3 * D * F * b, "That is every expert. With few tokens some sleep."),
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
_samples, _sheet, _fit = fitted("h100-sxm", "bf16")
_error, _sheet_error = (fmean(map(abs, model.errors(_samples))) for model in (_fit, _sheet))

PREDICT_ERROR = Exercise(
    id="rooflines-predict-error",
    title="Predict: how good are three constants?",
    predict=True,
    prompt=f"By the data sheet's two rates, the roofline is off by {_sheet_error:.0%} on "
    f"average over these {len(_samples)} products. Now fit the three constants to them. What mean "
    "error is left? *To first order.*",
    answer=Choice({f"{n} %": f"about {n} %" for n in (1, 8, 20, 35)}),
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

WAVES = Exercise(
    id="rooflines-waves",
    title="Tiles and waves",
    prompt="A matmul kernel gives each SM one output tile of {m} × {n} at a time. The output is [{M} × {N}], "
    "the chip has {n_SM} SMs. In how many waves does it finish? *Exact.*",
    given=[
        dict(M=M, N=N, m=m, n=n, n_SM=chip.sms)  # neither areas nor tiles that are turned round give as many
        for M, N, m, n, chip in (
            (1300, 19800, 128, 256, h100),
            (800, 17500, 128, 256, a100),
            (1800, 19100, 128, 256, h100),
            (800, 17300, 256, 128, a100),
            (1800, 15500, 128, 256, a100),
            (1800, 19000, 256, 128, h100),
        )
    ],
    answer=Count(),
    solution=lambda M, N, m, n, n_SM: ceil(ceil(M / m) * ceil(N / n) / n_SM),
    mistakes=(
        Mistake(
            lambda M, N, m, n, n_SM: ceil(M * N / (m * n) / n_SM),
            "Too few. Are the tiles counted that stick out over an edge, and the wave that is not full?",
        ),
        Mistake(
            lambda M, N, m, n, n_SM: ceil(ceil(M / n) * ceil(N / m) / n_SM),
            "One too many: is the tile turned round, so that its sides lie along the wrong sides of "
            "the output, or a wave "
            "added?",
        ),
        Mistake(lambda M, N, m, n: ceil(M / m) * ceil(N / n), "Those are the tiles. How many run at a time?"),
        Mistake(
            lambda M, N, m, n, n_SM: ceil(M / m) * ceil(ceil(N / n) / n_SM),
            "A wave takes tiles from several rows: does a row have to wait for the one before?",
        ),
        Mistake(
            lambda M, N, m, n, n_SM: ceil(M * ceil(N / n) / n_SM), "Your tiles are one row high. How high are these?"
        ),
        Mistake(
            lambda M, N, m, n, n_SM: ceil(M * N / (m + n) / n_SM),
            "You divided by the sum of a tile's sides. How many elements has it?",
        ),
    ),
    hints=(
        "How many tiles does it take to cover the output, edges included?",
        "What does a last wave cost that is not full?",
    ),
    explain="The output is M = {M} by N = {N}: `ceil(M/{m})` rows of tiles and `ceil(N/{n})` columns, since what "
    "sticks out over an edge is a tile too. {n_SM} of them run at a time, and a last wave of a few takes as long as "
    "a full one: `ceil(tiles/{n_SM})`.",
)

# Lab
LAB_CONSTANTS = Exercise(
    id="rooflines-lab-constants",
    title="Three timings, three constants",
    points=3,
    lines=3,
    prompt="Three timings give a machine's three constants: an empty kernel takes `t_empty`, a copy that "
    "moves `copy_bytes`, read and written together, takes `t_copy`, a product of `flops` FLOPs far to "
    "the right of the ridge takes `t_mul`. Each is a launch and then the longer of two clocks. Return "
    "`(C, W, t0)`: the achieved FLOP/s, the achieved B/s and the launch in seconds, *exact*.",
    answer=Function(
        "constants",
        "constants(t_empty, copy_bytes, t_copy, flops, t_mul)",
        cases=lambda rng: [
            (t0, Q, t0 + Q / W, A, t0 + A / C)
            for launch, W, C in ((2e-6, 3e12, 7e14), (5e-6, 2e10, 9e10), (4e-6, 6e12, 1.5e15))
            for t0 in (launch * rng.uniform(0.8, 1.2),)  # no whole number of microseconds
            for Q in (rng.uniform(1e6, 4e6), rng.uniform(1e8, 9e9))
            for A in (rng.uniform(1e9, 4e9), rng.uniform(1e11, 1e13))
        ],
    ),
    solution=lambda t0, Q, t_Q, A, t_A: (A / (t_A - t0), Q / (t_Q - t0), t0),
    mistakes=(
        Mistake(
            lambda t0, Q, t_Q, A, t_A: (A / t_A, Q / t_Q, t0),
            "A launch is part of each of these times. Is the memory busy during it?",
        ),
        Mistake(
            lambda t0, Q, t_Q, A, t_A: (Q / (t_Q - t0), A / (t_A - t0), t0),
            "The numbers are right. In which order are they to be returned?",
        ),
        Mistake(
            lambda t0, Q, t_Q, A, t_A: (A / (t_A - t_Q), Q / (t_Q - t0), t0),
            "The product's loads overlap with its arithmetic. Which other time is to be taken off?",
        ),
    ),
    hints=(
        "What does each kernel do once its launch is over?",
        "Which of the two clocks is the longer in the copy, and which in the product?",
    ),
    explain="An empty kernel is a launch and nothing else, so `t0 = t_empty`. Without its launch, the copy is its "
    "traffic and the product its arithmetic, since these are the longer clocks: `W = copy_bytes/(t_copy - t0)` and "
    "`C = flops/(t_mul - t0)`. Divided by the whole time, small kernels would make both rates too low.",
)

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
        ],
    ),
    solution=lambda B, D, F, b, C, W, t0: (
        3 * t0 + 2 * max(2 * B * D * F / C, b * (B * D + D * F + B * F) / W) + max(B * F / C, 3 * b * B * F / W)
    ),
    mistakes=(
        Mistake(
            lambda B, D, F, b, C, W, t0: (
                t0 + 2 * max(2 * B * D * F / C, b * (B * D + D * F + B * F) / W) + 3 * b * B * F / W
            ),
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

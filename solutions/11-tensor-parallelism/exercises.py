"""Exercises of chapter 11, and the names with which its text computes numbers."""

from functools import partial
from math import ceil

from autograder.answers import (
    Breakdown,
    Case,
    Choice,
    Condition,
    Count,
    Design,
    Distributed,
    Expression,
    Field,
    Known,
    Par,
    Quantity,
    Written,
    at_most,
    exactly,
    integers,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.calibrated import nccl_time
from hwlib.parallel import (
    ring_causal_critical_tokens,
    ring_critical_tokens,
    shared_and_fixed_times,
    tp_exact_limit,
    tp_limit,
)
from hwlib.specs import accelerators, measured_requests, measured_splits, models, nodes
from hwlib.transformer import (
    attention_step_flops,
    matmul_parameters,
    parameter_count,
    selective_activation_bytes,
    sequence_activation_bytes,
    tensor_activation_bytes,
    tensor_selective_activation_bytes,
)
from hwlib.units import GB, us

a100, h100, h200, b200 = (accelerators[key] for key in ("a100-80gb-sxm", "h100-sxm", "h200-sxm", "b200-sxm"))
llama8, llama70, llama405 = (models[key] for key in ("llama3-8b", "llama3-70b", "llama3-405b"))
W_NVLINK = h100.scaleup_bandwidth
W_CARD = nodes["dgx-h100"].network_bandwidth / 8
TYPICAL = 0.65  # of the peak that large products reach on an H100, attention and small kernels included (assumed)
STREAM = 0.9  # of the memory's bandwidth that a decode step reaches (assumed)
LAYER = 50 * us  # of a layer beside its products and collectives (assumed; specs/software.toml: 48.5 us, sglang-0.4)
# Forward, one layer, four ranks, 32,768 tokens: Pith-Train, pull request 39 (pith-train-39), as printed
IN_ORDER, ZIGZAG = 4.14e-3, 2.47e-3  # s


# The opening: one model, two phases
def prefill_time(model, tokens, tp, C=h100.bf16_flops, eta=TYPICAL):
    """Products and attention of a prompt on tp GPUs, and two all-reduces a layer."""
    math = (2 * matmul_parameters(model) * tokens + attention_step_flops(model, tokens, tokens)) / (tp * eta * C)
    return math + collectives_time("h100-sxm", model.layers, tp, 2 * tokens * model.width)


def decode_parts(model, tp, W=h100.hbm_bandwidth, eta=STREAM, layer=LAYER):
    """Seconds of a step of one sequence with an empty cache: weights, the rest of the layers, collectives."""
    weights = 2 * parameter_count(model) / (tp * eta * W)
    return weights, layer * model.layers, collectives_time("h100-sxm", model.layers, tp, 2 * model.width)


def layer_limit(model, chip=h100):
    """The degree from which the two sums of a layer take longer than its products, to first order, scores aside."""
    weights = (matmul_parameters(model) - model.vocab * model.width) / model.layers
    return weights * chip.scaleup_bandwidth / (4 * model.width * chip.bf16_flops)


def million(gpus=128, T=10**6):
    """Seconds of the arithmetic of a prompt of a million tokens."""
    flops = 2 * matmul_parameters(llama405) * T + attention_step_flops(llama405, T, T)
    return flops / (gpus * TYPICAL * h100.bf16_flops)


def collectives_time(chip, layers, tp, S):
    """Two all-reduces a layer, by the model of NCCL."""
    return 2 * layers * nccl_time(chip, "all_reduce", tp, S) if tp > 1 else 0.0


# The published requests
GPT = dict(layers=44, width=6144)
PROMPT, STEPS = 20, 180  # by which the two requests differ that a step is read from


def request(tp, batch, load=(80, 200)):
    """Published seconds of one request of (input, output) tokens; the first row that fits."""
    rows = (r for r in measured_requests(tp, batch) if (r.input, r.output) == load)
    return next(rows).time


def step(tp, batch):
    """Seconds of a step: two requests that differ by 180 tokens out and 20 in, a prompt of a step's length."""
    return (request(tp, batch) - request(tp, batch, (60, 20))) / STEPS


def sums(tp, batch):
    """Seconds of the all-reduces of a step, by the model of NCCL on A100s."""
    return collectives_time("a100-80gb-sxm", GPT["layers"], tp, 2 * batch * GPT["width"])


def shared_and_fixed(batch, second=4):
    """What of a step is shared among the GPUs, and what each does alone, from two published degrees."""
    one, other = (step(tp, batch) - sums(tp, batch) for tp in (1, second))
    return shared_and_fixed_times(one, other, second)


def predicted_step(tp, batch):
    shared, fixed = shared_and_fixed(batch)
    return shared / tp + fixed + sums(tp, batch)


def prompt_rate(tp, batch=64):
    """Prompt tokens a second of a batch: of two published loads, without the steps that one has more."""
    more, less = (60, 20), (20, 8)
    steps = (more[1] - less[1]) * step(tp, batch)
    return batch * (more[0] - less[0]) / (request(tp, batch, more) - request(tp, batch, less) - steps)


def _kept(row):
    """What the formulas say to a published share of kept activations."""
    model = models[row.model]
    sizes = dict(T=row.seq, micro=1, D=model.width)
    alone = tensor_activation_bytes(**sizes, n_q=model.heads, tp=row.tp)
    return {
        "kept, sp": sequence_activation_bytes(**sizes, n_q=model.heads, tp=row.tp),
        "kept, selective": tensor_selective_activation_bytes(**sizes, tp=row.tp),
        "kept, sp and selective": selective_activation_bytes(**sizes, tp=row.tp),
    }[row.how] / alone


# Overlap, as published
def async_pairs():
    """(dtype, tokens a second and GPU alone, and beside the products) of each published pair."""
    alone = {r.dtype: r for r in measured_splits("tp")}
    return [(r.dtype, alone[r.dtype], r) for r in measured_splits("async tp")]


def step_seconds(row):
    return row.gbs * row.seq / row.gpus / row.rate


def collective_seconds(row):
    """Of all gathers and scatters of a step with sequence parallelism, if nothing hides them."""
    model = models[row.model]
    tokens = row.gbs / row.dp * row.seq
    S = 2 * tokens * model.width
    each = [nccl_time(row.chip, op, row.tp, S) for op in ("all_gather", "reduce_scatter")]
    return model.layers * (6 * each[0] + 4 * each[1])


# Long sequences, as published
def long_runs(how, chip="h100-sxm"):
    return {r.seq: r for r in measured_splits(how, chip)}


def ring_share(row, causal=True):
    """The bytes of a ring's step over the arithmetic of it, as times, on the cables that it crosses."""
    model, own = models[row.model], row.seq / row.cp
    W = W_CARD if row.tp * row.cp > 8 else W_NVLINK
    G = model.heads / model.kv_heads
    need = (ring_causal_critical_tokens if causal else ring_critical_tokens)(G, h100.bf16_flops * TYPICAL, W)
    return need / own


# A column, then a row
WHICH_FIRST = Exercise(
    id="tensor-parallelism-which-first",
    title="Which way to cut",
    points=1,
    prompt="An MLP y = gelu(x A) B is to run on eight GPUs. Every GPU has all of x and is to have all of y. A matrix "
    "is cut by columns or by rows, an eighth to each GPU. Which cuts need the fewest bytes between the GPUs "
    "in the forward pass, if the hidden width is 3.5 times the width of the model? *Exact.*",
    answer=Choice(
        {
            "columns, rows": "A by columns, B by rows",
            "rows, columns": "A by rows, B by columns",
            "columns, columns": "A by columns, B by columns",
            "rows, rows": "A by rows, B by rows",
        }
    ),
    solution="columns, rows",
    mistakes=(
        Mistake(
            "rows, columns",
            "Then each GPU has a partial sum of all hidden units. What has to happen before the gelu?",
            name="partial-sum",
        ),
        Mistake(
            "columns, columns",
            "The second product then needs all hidden units on each GPU. How wide are they, and what is y at the end?",
        ),
        Mistake("rows, rows", "Partial sums twice, and the first ones before the gelu, which is not linear."),
    ),
    hints=(
        "After the first product: does a GPU have whole numbers or partial sums, and of which hidden units?",
        "Which cut of B can use just those, without asking anybody?",
    ),
    explain="With A cut by columns a GPU has an eighth of the hidden units, finished, and gelu works on each by "
    "itself. B cut by rows takes just these and gives a partial sum of y, so one all-reduce of [tokens × D] is all. "
    "Any other pair sends hidden units, 3.5 times as wide, or sums before the gelu.",
)


def mlp_inputs(case, generator):
    b, d, f, n = case["b"], case["d"], case["f"], case.n
    x, dy, A, B = (generator.normal(size=shape).astype(case.dtype) for shape in ((b, d), (b, d), (d, f), (f, d)))
    w = f // n
    return [{"x": x, "A": A[:, r * w : (r + 1) * w], "B": B[r * w : (r + 1) * w], "dy": dy} for r in range(n)]


def tp_mlp(rank, n, x, A, B, dy, sums="y dx", hidden=False, share=1, mask=True, early=False, late=False):
    import torch
    import torch.distributed as dist

    h = torch.relu(x @ A)
    if hidden:  # everybody gets all hidden units, and uses its own
        whole = h.new_zeros(len(h), n * h.shape[1])
        whole[:, rank * h.shape[1] : (rank + 1) * h.shape[1]] = h
        dist.all_reduce(whole)
    y = h @ B
    if early:
        dist.all_reduce(dy)
    dh = (dy @ B.T) * (h > 0) if mask else dy @ B.T
    dx, dA, dB = dh @ A.T, x.T @ dh, h.T @ dy
    for name, value in (("y", y), ("dx", dx), ("dA", dA), ("dB", dB)):
        if name in sums.split():
            dist.all_reduce(value)
            value /= share
    if "mean" in sums:
        dx /= n
    if "again" in sums:
        dist.all_reduce(dx)
    return torch.relu(y) if late else y, dx, dA, dB


LAB_MLP = Exercise(
    id="tensor-parallelism-lab-mlp",
    title="A layer in shares",
    points=4,
    lines=8,
    prompt="Every rank has the tokens `x` [b × d] and the gradient `dy` [b × d] of the output, both whole, and its "
    "own "
    "columns `A` [d × f/n] of the first matrix and rows `B` [f/n × d] of the second. Compute y = relu(x A) B over all "
    "ranks, and backward from dy. Return `(y, dx, dA, dB)`: y and dx whole on every rank, dA and dB of the rank's own "
    "shares. Of torch.distributed use `all_reduce` alone, on arrays [b × d]. The bytes are to be *exact*: those of "
    "two "
    "all-reduces.",
    answer=Distributed(
        "tp_mlp",
        signature="tp_mlp(rank, n, x, A, B, dy)",
        inputs=mlp_inputs,
        returns=("y", "dx", "dA", "dB"),
        cases=[
            Case(2, sizes={"b": 4, "d": 6, "f": 8}),
            Case(4, sizes={"b": 4, "d": 8, "f": 24}, dtype="float32"),
            Case(3, sizes={"b": 6, "d": 5, "f": 9}),
        ],
        calls=("all_reduce",),
        rank_bytes=exactly(lambda case: 4 * (case.n - 1) * case["b"] * case["d"] * case.itemsize / case.n),
        total_bytes=None,
    ),
    solution=tp_mlp,
    mistakes=(
        Mistake(
            partial(tp_mlp, sums="y"),
            "The gradient of x is a part of it: each rank knows what came through its own hidden units. Which of "
            "Megatron's two ends works in the backward pass?",
        ),
        Mistake(
            partial(tp_mlp, sums="dx"),
            "y is a partial sum: each rank's rows of B have seen a part of the hidden units only.",
            name="partial-sum",
        ),
        Mistake(
            partial(tp_mlp, sums=""),
            "Your ranks return what their own hidden units give. Which of the four results "
            "need those of others, and is each sum there when it is returned?",
        ),
        Mistake(
            partial(tp_mlp, sums="y dx dA dB"),
            "Gradients of weights are summed in data parallelism, where ranks share them. Whose weights are dA and dB "
            "here?",
        ),
        Mistake(
            partial(tp_mlp, hidden=True),
            "The results are right, and the hidden units went to everybody. Who needs those of another rank?",
        ),
        Mistake(
            partial(tp_mlp, mask=False),
            "The gradient passes the relu as if it were not there. Through which hidden units does it come back?",
            name="relu-gradient",
        ),
        Mistake(
            partial(tp_mlp, sums="y", early=True),
            "dy is the same on every rank already, so a sum makes it n times too large. What differs from rank to "
            "rank at "
            "the block's other end?",
            name="partial-sum",
        ),
        Mistake(
            lambda rank, n, x, A, B, dy: tp_mlp(rank, n, x, A, B, dy, share=n),
            "A mean over the ranks is for replicas that saw other tokens. Here the parts add up.",
        ),
        Mistake(
            partial(tp_mlp, sums="y dx mean"),
            "y is right, and dx a mean over the ranks, which is for replicas that saw other tokens. Here parts add up.",
        ),
        Mistake(
            partial(tp_mlp, early=True),
            "dy is the same on every rank already: summed, it makes dx, dA and dB n times too large. What differs from "
            "rank to rank at the block's other end?",
            name="partial-sum",
        ),
        Mistake(
            partial(tp_mlp, sums="y dx again"),
            "dx is summed twice: after the first sum it is the same on every rank, and a second one makes it n times "
            "too large.",
            name="partial-sum",
        ),
        Mistake(
            partial(tp_mlp, late=True),
            "A relu behind the sum: it belongs between the two products, on each rank's hidden units, and there alone.",
        ),
    ),
    hints=(
        "Write the layer for one rank alone first, forward and backward. Which of its four results are whole, and "
        "which "
        "are partial sums?",
        "Backward: `dh = (dy @ B.T)*(h > 0)`. From it come dx and dA, and dB from h and dy.",
    ),
    explain="With its columns of A a rank has whole hidden units, h = relu(x A), and its rows of B make a partial sum "
    "of y: "
    "one all-reduce. Backward, dy is whole, so `dh = (dy @ B.T)*(h > 0)` is whole for the rank's own hidden units, "
    "and so "
    "are `dA = x.T @ dh` and `dB = h.T @ dy`. Only `dx = dh @ A.T` lacks the other hidden units: the second "
    "all-reduce. "
    "A ring sends 2(n − 1)/n of each array.",
)

# How many heads
HEADS = Exercise(
    id="tensor-parallelism-heads",
    title="More ranks than heads",
    points=2,
    prompt="A model has {L} layers and {K} key-value heads of width {H}, and its cache is in bf16. It is served with "
    "tensor parallelism on {tp} GPUs, cut by heads; no head is cut. How many bytes of keys and values does each GPU "
    "keep for a token of context? *Exact*, to three digits.",
    given=[
        dict(L=126, K=8, H=128, tp=32),
        dict(L=80, K=8, H=128, tp=64),
        dict(L=48, K=4, H=128, tp=32),
        dict(L=62, K=8, H=64, tp=32),
    ],
    answer=Quantity("B", 0.003),
    solution=lambda L, K, H, tp: 4 * L * H * ceil(K / tp),
    mistakes=(
        Mistake(
            lambda L, K, H, tp: 1.024 * 4 * L * H * ceil(K / tp),
            "1,024 bytes are a KiB, and 1,000 a kB: which of the two have you written?",
            name="gib-for-gb",
        ),
        Mistake(
            lambda L, K, H, tp: 4 * L * H * K / tp,
            "That cuts heads in parts. What does a GPU do whose queries need a head that another one has, too?",
        ),
        Mistake(
            lambda L, K, H: 4 * L * H * K, "That is the cache of all GPUs, each head counted once.", name="one-for-all"
        ),
        Mistake(lambda L, H: 2 * L * H, "Keys *and* values, each of two bytes an element."),
        Mistake(lambda H: 4 * H, "That is one layer. A GPU has a part of every layer."),
        Mistake(
            lambda L, H, tp: 4 * L * H * tp, "That is what all GPUs keep together, copies included.", name="one-for-all"
        ),
    ),
    hints=(
        "How many key-value heads does a GPU hold, at least?",
        "For one head and one layer: a key and a value of H elements, two bytes each.",
    ),
    explain="The query heads are dealt out, and each needs its key-value head on the same GPU. With {tp} GPUs and {K} "
    "heads a GPU holds `ceil(K/tp)`, one, and copies of it lie on other GPUs. A head costs `2*2*H` bytes in each of "
    "{L} "
    "layers. So more GPUs than heads save no more cache: it is kept several times.",
)

ERRATUM_VOLUME = Exercise(
    id="tensor-parallelism-erratum-volume",
    title="Four bytes too few",
    points=3,
    prompt="A published analysis gives the traffic of tensor parallelism for an attention block as 4BSH bytes, B·S "
    "tokens of width H, from *“2 AllGathers in forward pass and 2 ReduceScatters in backward pass”* (Thaki Cloud, "
    "*Deep Understanding of GPU Scaling*, 2025). In Megatron's scheme the block has one all-reduce in each "
    "of the two passes, of the activations or of their gradient, in bf16. How many bytes does a GPU send for the "
    "block, in both passes together, if nothing but the ranks adds? `B` is the number of tokens here, `D` the width "
    "and `tp` the degree. *Exact.*",
    answer=Expression({"B": integers(1, 65536), "D": integers(64, 16384), "tp": integers(2, 64)}, "B"),
    solution=lambda B, D, tp: 8 * (tp - 1) * B * D / tp,
    mistakes=(
        Mistake(
            lambda B, D: 4 * B * D,
            "That is what was printed. Nothing but the ranks adds here: how often does an element of two bytes go out "
            "in an all-reduce, and how many passes are there?",
        ),
        Mistake(
            lambda B, D, tp: 4 * (tp - 1) * B * D / tp,
            "Half of it: one pass, elements instead of bytes, or all-reduces that only scatter. Which is yours?",
            names_all=True,
        ),
        Mistake(
            lambda B, D: 8 * B * D,
            "To first order. Exactly, a rank keeps its own block in each half.",
            name="own-share",
        ),
        Mistake(
            lambda B, D, tp: 16 * (tp - 1) * B * D / tp,
            "Twice as much: a layer with its MLP, four bytes an element, or what is received counted too. Asked is "
            "what a GPU sends for the attention block.",
            names_all=True,
        ),
        Mistake(
            lambda B, D, tp: 10 * (tp - 1) * B * D / tp,
            "The second gather belongs to sequence parallelism. Without it every rank has kept the whole input.",
        ),
        Mistake(lambda B, D, tp: 8 * (tp - 1) * B * D, "In each step of a ring only a part of the array is sent."),
    ),
    hints=(
        "An all-reduce is a reduce-scatter and an all-gather: what part of the array does a rank send in each?",
        "The array has B·D elements of two bytes. How many all-reduces does the block have, forward and backward?",
    ),
    explain="The array is `2*B*D` bytes. A rank sends (tp − 1)/tp of it in a reduce-scatter and as much in an "
    "all-gather, so `2*(tp - 1)/tp*2*B*D` for an all-reduce. The block has one in each pass: `8*(tp - 1)/tp*B*D`. "
    "The printed pair of collectives belongs to sequence parallelism, and there a block has a gather *and* a scatter "
    "in each pass, and a second gather in the backward pass; only one kind a pass would not give both y and dx.",
    withholds=("hwlib.parallel", "hwlib.collectives"),
)

# How many ranks
ERRATUM_LIMIT = Exercise(
    id="tensor-parallelism-erratum-limit",
    title="A divisor that was left over",
    points=2,
    prompt="*How to Scale Your Model* (chapter 12, its worked problem on Llama 3 70B) bounds the tensor-parallel "
    "degree "
    "in a node of H100s by F/1995, which is 14.4 for an F of 28,672; a few pages earlier the same text derives "
    "another divisor for the same GPUs. Take an MLP of two matrices with hidden width {F} in bf16 on {chip}: "
    "{C:FLOP/s} "
    "dense, {W:B/s} each way. It gathers its input and scatters its sum, beside nothing. From which degree on does "
    "the "
    "forward pass wait longer for the network than it computes? *To first order*, and not rounded.",
    given=[
        dict(F=F, chip=name, C=chip.bf16_flops, W=chip.scaleup_bandwidth)
        for F, name, chip in (
            (53248, "H100s", h100),
            (14336, "H100s", h100),
            (28672, "A100s", a100),
            (53248, "B200s", b200),
        )
    ],
    answer=Quantity("1", rtol=0.004),
    solution=lambda F, C, W: tp_limit(F, C, W),
    mistakes=(
        Mistake(lambda F: F / 2475, "2,475 divides by the cables between nodes. These GPUs are in one."),
        Mistake(
            lambda F, C, W: F * W // C,
            "That is rounded to whole GPUs. The question is for the number before rounding.",
            name="rounded",
        ),
        Mistake(lambda F: F / 1995, "That is the leftover itself. Divide the two rates that you are given."),
        Mistake(
            lambda F, C, W: F * 2 * W / C,
            "Twice too many: both directions of the link, or one collective alone? What goes out does not help what "
            "comes in, and the scatter follows the gather.",
            names_all=True,
        ),
        Mistake(
            lambda F, C, W: 8 * F * W / C,
            "Eight links: but C is the rate of one GPU, and the W given is that of its own links alone.",
        ),
        Mistake(
            lambda F, C, W: 4 * F * W / (3 * C),
            "That is the backward pass: twice the arithmetic, and a gather once more. The question is for the forward "
            "one.",
            name="backward-too",
        ),
        Mistake(
            lambda F, C, W: F * W / (4 * C),
            "A quarter: are both matrices counted, a product and its addition as two, and the bytes once in and once "
            "out?",
        ),
        Mistake(
            lambda F, C, W: F * W / (2 * C),
            "Half: a product and its addition are two FLOPs, the rate is dense, and only a gather stands before and a "
            "scatter behind. Which have you counted otherwise?",
            names_all=True,
        ),
        Mistake(
            lambda F, C, W: tp_exact_limit(F, C, W),
            "One more than the bound allows: rounded up, or exact for a finite number of "
            "ranks? Here (tp − 1)/tp counts as 1.",
        ),
        Mistake(lambda F, C, W: 1.5 * F * W / C, "Three matrices: the question has two."),
    ),
    hints=(
        "The arithmetic: 4·B·D·F FLOPs over tp ranks. The network: 2·B·D bytes in and as many out. What cancels?",
        "Set the two times equal and solve for the degree.",
    ),
    explain="Arithmetic takes `4*B*D*F/(tp*C)`, the two collectives `2*2*B*D/W`; tokens and width cancel, and "
    "`tp = F*W/C`, here {F} · {W:B/s} / {C:FLOP/s}. The ratio C/W is "
    f"{h100.bf16_flops / W_NVLINK:.0f} FLOP/B for an H100, so its bound is "
    f"{tp_limit(28672, h100.bf16_flops, W_NVLINK):.1f}, "
    "not 14.4. 1,995 is 898 TFLOP/s over 450 GB/s: a rate of the draft that the rest of the text has replaced.",
    withholds=("hwlib.parallel",),
)

TWO_NODES = Exercise(
    id="tensor-parallelism-two-nodes",
    title="Out of the node",
    points=3,
    prompt="`tp` ranks share an MLP of two matrices, in bf16, over several nodes of `n_in` ranks. Inside a node the "
    "network is fast enough; between nodes each rank has a cable of `W_out`, and all cables of a node carry what "
    "enters "
    "it, each byte once. The activations are gathered before the MLP and scattered after it, one after the other, and "
    "a "
    "node lacks only what the other nodes have. With rates `C` and hidden width `F`: up to which degree does the "
    "arithmetic of the forward pass take no less time than the network? *Exact*, without latency.",
    answer=Expression(
        {
            "F": integers(1024, 65536),
            "C": positive("FLOP/s", 1e14, 3e15),
            "n_in": integers(2, 72),
            "W_out": positive("B/s", 1e10, 2e11),
        },
        "1",
    ),
    solution=lambda F, C, n_in, W_out: n_in + F * n_in * W_out / C,
    mistakes=(
        Mistake(
            lambda F, C, n_in, W_out: F * n_in * W_out / C,
            "The bandwidth is right. But a node already has a part of what it gathers: which?",
            name="own-share",
        ),
        Mistake(lambda F, C, W_out: F * W_out / C, "That is one cable. How many bring a node what it lacks?"),
        Mistake(
            lambda F, C, n_in, W_out: n_in + F * W_out / C,
            "A node's share stays at home, right. How many cables bring the rest?",
        ),
        Mistake(
            lambda F, C, n_in, W_out: 1 + F * n_in * W_out / C,
            "Not a rank's share is at home already, but that of its whole node.",
            name="own-share",
        ),
        Mistake(
            lambda F, C, n_in, W_out: n_in + 2 * F * n_in * W_out / C,
            "You let the gather and the scatter run at once, or count one of them. They follow one another.",
            name="times-overlapped",
        ),
        Mistake(
            lambda F, C, n_in, W_out: n_in * (1 + F * n_in * W_out / C),
            "One n_in too many: tp ranks share the arithmetic, and the cables of one node bring what it lacks.",
        ),
        Mistake(
            lambda F, C, n_in, W_out: F * n_in * W_out / C - n_in,
            "The sign: what a node has already makes its network's work less, so more ranks may share.",
        ),
        Mistake(
            lambda F, C, n_in, W_out: 2 * n_in + F * n_in * W_out / C,
            "In the gather and in the scatter one node's share stays at home, but it is a share of each: solve once "
            "more.",
            name="own-share",
        ),
        Mistake(
            lambda F, C, n_in, W_out: n_in + F * n_in * W_out / (2 * C),
            "Two matrices: 4·B·D·F FLOPs against 2·B·D bytes in and 2·B·D bytes out.",
        ),
        Mistake(
            lambda F, C, n_in, W_out: n_in + 3 * F * n_in * W_out / (2 * C),
            "The arithmetic is that of three matrices. This MLP has two.",
        ),
    ),
    hints=(
        "Of tp equal shares a node has n_in. What part of the activations has to enter it, and through how many "
        "cables?",
        "Write both times with tp in them, and solve: tp − n_in is alone on one side.",
    ),
    explain="A node lacks (tp − n_in)/tp of the `2*B*D` bytes, and has n_in cables: a gather takes `2*B*D*(tp - "
    "n_in)/(tp*n_in*W_out)`, the scatter as long. The arithmetic takes `4*B*D*F/(tp*C)`. Equal, with B, D and 4 "
    "cancelled: `(tp - n_in)/(n_in*W_out) = F/C`. So `tp = n_in + F*n_in*W_out/C`: the bound of the cables, and a "
    "node on "
    "top, for what is at home costs nothing.",
    withholds=("hwlib.parallel",),
)

PREDICT_B200 = Exercise(
    id="tensor-parallelism-predict-b200",
    title="Predict: twice the NVLink",
    predict=True,
    prompt=f"An MLP of 28,672 hidden units may be shared by {tp_limit(28672, h100.bf16_flops, W_NVLINK):.1f} H100s "
    f"before it waits, by this chapter's bound. A B200 has {b200.scaleup_bandwidth / W_NVLINK:.0f} times the NVLink "
    "bandwidth of an H100. By how many B200s may it be shared? *To first order.*",
    answer=Choice({"26": "about 26", "18": "about 18", "13": "about 13", "11": "between 11 and 12"}, ordered=True),
    solution="11",
    mistakes=(
        Mistake("26", "That would be so if the B200 computed no faster. Which rate is in the denominator?"),
        Mistake("18", "The bound does not go with a root: both rates are in it to the first power."),
        Mistake("13", "Nearly: but the arithmetic grew by more than twice."),
    ),
    hints=("What else has grown from the H100 to the B200, and by how much?",),
    explain=f"The bound is F·W/C. W doubled and C grew {b200.bf16_flops / h100.bf16_flops:.2f}-fold, so the bound "
    f"falls from {tp_limit(28672, h100.bf16_flops, W_NVLINK):.1f} to "
    f"{tp_limit(28672, b200.bf16_flops, b200.scaleup_bandwidth):.1f}. A faster chip on the same ratio of links needs "
    "a "
    "wider model, not a narrower group.",
)

# Sequence parallelism


def sp_inputs(case, generator):
    b, d, f, n, L = case["b"], case["d"], case["f"], case.n, case["layers"]
    draw = lambda *shape: generator.normal(size=shape).astype(case.dtype)
    x, dy = draw(b, d), draw(b, d)
    A, B = [draw(d, f) / d**0.5 for _ in range(L)], [draw(f, d) / f**0.5 for _ in range(L)]
    w, t = f // n, b // n
    return [
        {
            "x": x[r * t : (r + 1) * t],
            "A": [one[:, r * w : (r + 1) * w].astype(case.dtype) for one in A],
            "B": [one[r * w : (r + 1) * w].astype(case.dtype) for one in B],
            "dy": dy[r * t : (r + 1) * t],
        }
        for r in range(n)
    ]


def sp_mlps(
    rank,
    n,
    x,
    A,
    B,
    dy,
    keep=False,
    local=False,
    mean=1,
    backwards=False,
    own=False,
    mask=True,
    forward=True,
    less=1,
    stale=False,
):
    import torch
    import torch.distributed as dist

    def gathered(share):
        whole = share.new_empty(n * len(share), share.shape[1])
        dist.all_gather_single(whole, share.contiguous())
        return whole

    def scattered(whole):
        mine = whole.new_empty(len(whole) // n, whole.shape[1])
        dist.reduce_scatter_single(mine, whole)
        return mine / mean

    kept = []
    for a, b in zip(A, B, strict=True):
        whole = gathered(x)
        h = torch.relu(whole @ a)
        kept.append((whole if keep else x, h))
        x = scattered(h @ b) if forward else (h @ b)[rank * len(x) : (rank + 1) * len(x)]
    y, dA, dB, last = x, [], [], dy
    while kept:
        (x, h), a, b = kept.pop(), A[len(kept)], B[len(kept)]
        if own:  # the gradients of the rank's own tokens alone
            h = h[rank * len(dy) : (rank + 1) * len(dy)]
        g = dy if own else gathered(dy)
        dB.insert(len(dB) if backwards else 0, h.T @ g)
        dh = (g @ b.T) * (h > 0) if mask else g @ b.T
        del g
        whole = x if keep or own else gathered(x)
        dA.insert(len(dA) if backwards else 0, whole.T @ dh)
        del whole, x
        dx = dh @ a.T
        if own:
            dy = dx
            continue
        dx = dx[rank * len(dy) : (rank + 1) * len(dy)] if local else scattered(dx) / less
        dy = last if stale else dx
    return y, dx, dA, dB


def sp_memory(case):
    """Between keeping shares and keeping whole inputs: shares, hidden units, gradients, and six whole arrays."""
    L, n, whole = case["layers"], case.n, case["b"] * case["d"]
    kept = L * (whole + case["b"] * case["f"] + 2 * case["d"] * case["f"]) / n
    return int((kept + 6 * whole) * case.itemsize)


LAB_SP = Exercise(
    id="tensor-parallelism-lab-sequence",
    title="Shares between the layers",
    points=4,
    lines=20,
    prompt="A stack of MLPs, each y = relu(x A) B of the output of the one before, without residuals. A rank has its "
    "own "
    "tokens `x` [b/n × d], lists `A` and `B` with its columns [d × f/n] and rows [f/n × d] of each layer's two "
    "matrices, "
    "and the gradient `dy` [b/n × d] of the last output, for its own tokens. Go forward through all layers, then "
    "backward. Return `(y, dx, dA, dB)`: y and dx of the rank's own tokens, dA and dB as lists in the order of the "
    "layers. "
    "Of torch.distributed use `all_gather` and `reduce_scatter` (`all_gather_single` and `reduce_scatter_single` "
    "too); a share is b/n rows, in the order of the ranks. A rank keeps no gathered input from the forward to the "
    "backward pass: the judge counts its memory, and at most five collectives of [b × d] for each layer. *Exact* "
    "results.",
    answer=Distributed(
        "sp_mlps",
        signature="sp_mlps(rank, n, x, A, B, dy)",
        inputs=sp_inputs,
        returns=("y", "dx", "dA", "dB"),
        cases=[
            Case(2, sizes={"b": 4, "d": 6, "f": 4, "layers": 2}),
            Case(4, sizes={"b": 32, "d": 32, "f": 8, "layers": 12}),
            Case(3, sizes={"b": 6, "d": 4, "f": 6, "layers": 3}, dtype="float32"),
        ],
        calls=("all_gather", "reduce_scatter"),
        rank_bytes=at_most(
            lambda case: 5 * case["layers"] * (case.n - 1) * case["b"] * case["d"] * case.itemsize / case.n
        ),
        total_bytes=None,
        memory=at_most(sp_memory),
        rtol=1e-9,
    ),
    solution=sp_mlps,
    mistakes=(
        Mistake(
            partial(sp_mlps, keep=True),
            "The results are right. But at the turning point there is a whole input for every layer: what could be "
            "sent "
            "once more instead?",
        ),
        Mistake(
            partial(sp_mlps, local=True),
            "Each rank's gradient of x is a partial sum over its own hidden units, for all tokens. A slice of it "
            "lacks the "
            "other ranks' parts.",
            name="partial-sum",
        ),
        Mistake(
            partial(sp_mlps, backwards=True),
            "The gradients are right and stand in the order in which the backward pass meets them: the last layer's "
            "first.",
            name="gradient-order",
        ),
        Mistake(
            partial(sp_mlps, own=True),
            "You go backward with your own tokens alone. A rank's weights have seen the tokens of all ranks: what is "
            "the "
            "reverse of a scatter?",
        ),
        Mistake(
            partial(sp_mlps, forward=False, local=True),
            "A rank keeps its rows of its own partial sums. What the other ranks' hidden units give is never added.",
            name="partial-sum",
        ),
        Mistake(
            partial(sp_mlps, mask=False),
            "The gradient passes the relu as if it were not there. Through which hidden units does it come back?",
            name="relu-gradient",
        ),
        Mistake(
            partial(sp_mlps, stale=True),
            "Every layer goes backward from the last output's gradient. A layer's own is what the layer above gives.",
        ),
        Mistake(
            lambda rank, n, x, A, B, dy: sp_mlps(rank, n, x, A, B, dy, less=n),
            "y is right. Backward you take means over the ranks, where the parts of a gradient add up.",
        ),
        Mistake(
            lambda rank, n, x, A, B, dy: sp_mlps(rank, n, x, A, B, dy, mean=n),
            "The parts of a block add up: they are no mean over the ranks.",
        ),
    ),
    hints=(
        "Forward, one layer: gather, product, relu, product, scatter. What do you have to keep for its gradients?",
        "Backward, one layer: gather dy; then dB, dh; gather the input again for dA; scatter dh @ A.T.",
    ),
    explain="Forward a layer gathers its input, and its partial sums are scattered, which sums them and leaves a rank "
    "its own "
    "tokens. Kept are the share of the input and the rank's hidden units. Backward the gather and the scatter change "
    "places: dy is gathered, dB = hᵀ dy, dh = (dy Bᵀ)·(h > 0), and dh Aᵀ is a partial sum for all tokens, which is "
    "scattered. For dA = xᵀ dh the whole input is needed, and gathered once more: five collectives of (n − 1)/n of [b "
    "× d] "
    "instead of four.",
)

# Hide it
CHUNKS = Exercise(
    id="tensor-parallelism-chunks",
    title="How many pieces",
    points=2,
    prompt="A gather takes {t_comm:s} and the product behind it {t_math:s}, longer. Both are cut in m pieces: while "
    "the "
    "product works on one piece, the next is gathered, so that only the first piece's gather is seen. Each piece "
    "costs "
    "{t0:s} more, for another launch and a smaller product. Into how many pieces do you cut, so that both together "
    "end first? *Exact* in this model.",
    given=dict(
        t_math=[3.0e-3, 3.1e-3, 1.4e-3, 5.2e-3],
        t_comm=[1.29e-3, 1.9e-3, 0.9e-3, 2.6e-3],
        t0=[8.1e-6, 21e-6, 12.4e-6, 7.3e-6],
    ),
    answer=Count(of="piece"),
    solution=lambda t_math, t_comm, t0: min(range(1, 400), key=lambda m: t_math + t_comm / m + m * t0),
    mistakes=(
        Mistake(
            lambda t_math, t_comm, t0: round(t_comm / t0),
            "Then the pieces' own costs are as long as the whole gather. Which of the two terms falls with m, and "
            "which "
            "rises?",
        ),
        Mistake(
            lambda t_math, t0: round((t_math / t0) ** 0.5), "The product is not what is hidden: its time stays whole."
        ),
        Mistake(
            lambda t_math, t_comm, t0: round(((t_comm + t_math) / t0) ** 0.5),
            "Only the first gather is seen, not a piece of the product.",
        ),
        Mistake(
            lambda t_comm, t0: round((t_comm / (2 * t0)) ** 0.5),
            "Each piece costs {t0:s} once, and one piece of the gather is seen once: which of them do you count twice?",
        ),
        Mistake(
            lambda t_comm, t0: round((2 * t_comm / t0) ** 0.5),
            "One piece of the gather is seen, the first, and each piece costs {t0:s} whole: which of them do you count "
            "twice, or by half?",
        ),
        Mistake(
            lambda t_comm, t0: int((t_comm / t0) ** 0.5),
            "Nearly: of the two whole numbers beside the best one, compute both times.",
        ),
        Mistake(lambda t0: 1 + 0 * int(t0), "One piece hides nothing: the product waits for the whole gather."),
        Mistake(
            lambda t_math, t_comm: ceil(t_math / t_comm),
            "The ratio of the two says whether it can hide, not how finely.",
        ),
    ),
    hints=(
        "Write the time of both as a function of m: the product, what is seen of the gather, and the pieces' own "
        "costs.",
        "A term falls as 1/m and one rises as m. Where are they equal?",
    ),
    explain="The product takes {t_math:s} in any case. Of the gather one piece is seen, `t_comm/m`, and the pieces "
    "cost "
    "`m*t0`. The sum of the two is least where they are equal, at `m = sqrt(t_comm/t0)` with {t_comm:s} and {t0:s}; "
    "of the "
    "whole numbers beside it take the better. Finer costs more than it hides.",
    harmless={},
)

# Decode
PREDICT_STEPS = Exercise(
    id="tensor-parallelism-predict-steps",
    title="Predict: four GPUs more",
    predict=True,
    prompt="FasterTransformer answers one request of 80 tokens with 200 tokens of a GPT of 20 billion parameters: in "
    f"{request(1, 1):.2f} s on one A100, and in {request(4, 1):.2f} s on four (published, fp16). How long "
    "does it take on eight? *To first order.*",
    answer=Choice(
        {
            "1.2 s": "about 1.2 s: half of it",
            "1.6 s": "about 1.6 s",
            "2.1 s": "about 2.1 s",
            "2.9 s": "about 2.9 s: slower than four",
        },
        ordered=True,
    ),
    solution="2.1 s",
    mistakes=(
        Mistake("1.2 s", "Four GPUs were not four times as fast as one, either. What did not shrink?"),
        Mistake("1.6 s", "More of a step stays than that. Fit a shared and a fixed part to the two times."),
        Mistake("2.9 s", "The collectives do grow with the ranks, but the weights of a GPU still halve."),
    ),
    hints=("What of a step is shared among the GPUs, and what does each of them do in full?",),
    explain=f"It was measured to take {request(8, 1):.2f} s. Of the {step(1, 1) * 1e3:.0f} ms of a step on one GPU, "
    "about "
    f"{shared_and_fixed(1)[0] * 1e3:.0f} are shared, and {shared_and_fixed(1)[1] * 1e3:.0f} are not: launches, norms, "
    "the starts of 44 layers' kernels. The rest of this section computes it.",
)

DECODE = Exercise(
    id="tensor-parallelism-decode",
    title="From two degrees to a third",
    points=3,
    prompt="A decode step takes {t1:s} on one GPU and {t4:s} on four. It has {L} layers with two all-reduces each, of "
    "{a4:s} among four GPUs and {a8:s} among eight. Everything else in a step is either shared evenly among the GPUs "
    "or "
    "done by each in full, and runs after or before the all-reduces, never beside them. How long does a step take on "
    "eight GPUs? *Exact* in this model.",
    given=[
        dict(t1=46.0e-3, t4=19.3e-3, L=80, a4=14.2e-6, a8=22.9e-6),
        dict(t1=28.1e-3, t4=12.2e-3, L=44, a4=15.9e-6, a8=23.4e-6),
        dict(t1=9.2e-3, t4=4.4e-3, L=32, a4=11.0e-6, a8=17.5e-6),
    ],
    answer=Quantity("s", rtol=0.005),
    solution=lambda t1, t4, L, a4, a8: (lambda shared: shared / 8 + t1 - shared + 2 * L * a8)(
        4 / 3 * (t1 - t4 + 2 * L * a4)
    ),
    mistakes=(
        Mistake(
            lambda t4, L, a8: t4 / 2 + 2 * L * a8,
            "You halve all of a step on four GPUs, its all-reduces and what each does in full too.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: t1 - 4 / 3 * (t1 - t4 + 2 * L * a4),
            "That is the part that every GPU does in full. What is added to it on eight?",
        ),
        Mistake(
            lambda t1, t4: t4 - (t1 - t4) / 3,
            "A straight line through two degrees: but a shared part falls as one over the GPUs.",
        ),
        Mistake(lambda t4: t4 / 2, "That halves everything. What does each GPU do in full?"),
        Mistake(
            lambda t1, L, a8: t1 / 8 + 2 * L * a8,
            "You share all of a step among the GPUs. Would four then have taken {t4:s}?",
        ),
        Mistake(
            lambda t1, t4: (lambda shared: shared / 8 + t1 - shared)(4 / 3 * (t1 - t4)),
            "The all-reduces add nothing to your time. Here the ranks wait for them, and "
            "longer on eight GPUs than on four.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: (lambda shared: shared / 8 + t1 - shared + L * a8)(4 / 3 * (t1 - t4 + L * a4)),
            "One all-reduce a layer: there are two, behind attention and behind the MLP.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: (lambda shared: shared / 8 + t1 - shared + 2 * L * a4)(
                4 / 3 * (t1 - t4 + 2 * L * a4)
            ),
            "Eight GPUs need longer for an all-reduce than four.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: (lambda shared: shared / 8 + t1 - shared + 2 * L * a8)(4 / 3 * (t1 - t4)),
            "Take the all-reduces out of the four GPUs' time before you split the rest.",
        ),
        Mistake(
            lambda t4, L, a4, a8: (t4 - 2 * L * a4) / 2 + 2 * L * a8,
            "What do eight GPUs share, what not, and for how many all-reduces do they wait? "
            "One of the three is not yet right.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: (lambda shared: shared / 8 + t1 - shared + 2 * L * a8)(
                4 / 3 * (t1 - t4 - 2 * L * a4)
            ),
            "The all-reduces of four GPUs are in {t4:s}: they come off it, and you have put them on top.",
        ),
        Mistake(
            lambda t1, t4, L, a4, a8: (t1 - t4 + 2 * L * a4) / 6 + 2 * L * a8,
            "The shared part and the all-reduces are right. What does each GPU do in full, besides?",
        ),
    ),
    hints=(
        "Take the all-reduces out of the time on four GPUs. What is left is shared/4 + fixed.",
        "On one GPU there is no all-reduce: shared + fixed. Two equations, two unknowns.",
    ),
    explain="Without its all-reduces, a step on four GPUs takes `t4 - 2*L*a4 = shared/4 + fixed`; on one, `t1 = "
    "shared + "
    "fixed`. Subtracted: `shared = 4/3*(t1 - t4 + 2*L*a4)`, and `fixed = t1 - shared`. On eight it is `shared/8 + "
    "fixed + "
    "2*L*a8`. The shared part is weights; the fixed one is what every GPU launches, normalises and starts.",
    withholds=("hwlib.parallel",),
)

# Context parallelism
BALANCE = Exercise(
    id="tensor-parallelism-balance",
    title="The last rank's triangle",
    points=2,
    prompt="`cp` ranks share a sequence in equal pieces, the first tokens on the first rank, and attention is causal: "
    "a "
    "query meets the keys up to its own. The ring moves on when the slowest rank is done with its block. By which "
    "factor does it take longer than if every step's work were spread evenly? *To first order* in the tokens of a "
    "piece, of which there are many: a piece's own triangle is half of a block.",
    answer=Expression({"cp": integers(2, 64)}, "1"),
    solution=lambda cp: 2 - 1 / cp,
    mistakes=(
        Mistake(lambda cp: 2 + 0 * cp, "That is for very many ranks. The first step has triangles on all of them."),
        Mistake(
            lambda cp: cp,
            "The last rank does not do the work of all: how many blocks has it, and how many the mean?",
            name="mean-for-slowest",
        ),
        Mistake(lambda cp: (cp + 1) / 2, "Those are the blocks of a mean rank, not the ratio."),
        Mistake(
            lambda cp: 2 * cp / (cp + 1),
            "You count the triangle on the diagonal as a whole block.",
            name="causal-pairs",
        ),
        Mistake(lambda cp: cp / (2 * cp - 1), "Upside down: the unbalanced ring takes longer."),
        Mistake(lambda cp: cp / 2, "Those are the blocks of an even share. How many has the slowest rank?"),
        Mistake(lambda cp: 2 - 2 / cp, "The first step is missing: every rank has its own triangle in it."),
        Mistake(
            lambda cp: 2 * cp - 1, "That is the last rank's work over the first one's. Compare it with an even share."
        ),
        Mistake(lambda cp: cp - 1 / 2, "Those are the blocks of the last rank. Over which number of even work?"),
    ),
    hints=(
        "In which steps of the ring does some rank have a whole block to do, and what does it do in the first?",
        "The whole triangle is cp²/2 blocks. What is a rank's even share?",
    ),
    explain="In the first step every rank has its own triangle, half a block; in each of the cp − 1 others the last "
    "rank, "
    "at least, has a whole block. Together `cp - 1/2` blocks. All the work is half of cp² blocks, `cp/2` a rank if "
    "even. "
    "The ratio is `(cp - 1/2)/(cp/2)`, which is `2 - 1/cp`.",
)


def zigzag(T, n, r):
    """Positions of the tokens of rank r: its piece from the front, and its piece from the back."""
    half = T // (2 * n)
    return [*range(r * half, (r + 1) * half), *range((2 * n - 1 - r) * half, (2 * n - r) * half)]


def ring_inputs(case, generator):
    T, d, n = case["T"], case["d"], case.n
    q, k, v = (generator.normal(size=(T, d)).astype(case.dtype) for _ in range(3))
    return [{"q": q[rows], "k": k[rows], "v": v[rows]} for rows in (zigzag(T, n, r) for r in range(n))]


def ring_attention(
    rank,
    n,
    q,
    k,
    v,
    causal=True,
    rescale=True,
    own=False,
    whole=False,
    contiguous=False,
    scale=True,
    way=-1,
    alone=False,
    strict=False,
    piece=None,
    steps=0,
    hidden=float("-inf"),
    home=False,
    mean="",
    divided=True,
    apart=False,
):
    import torch
    import torch.distributed as dist

    half, v0 = len(q) // 2, v

    def positions(r):
        if piece:
            return torch.cat([torch.arange(p * half, (p + 1) * half) for p in piece(r, n)])
        if contiguous:
            return torch.arange(r * len(q), (r + 1) * len(q))
        return torch.cat(
            (torch.arange(r * half, (r + 1) * half), torch.arange((2 * n - 1 - r) * half, (2 * n - r) * half))
        )

    def block(k, source):
        s = q @ k.T / (q.shape[1] ** (0.5 * scale))
        own = positions(rank)[:, None]
        later = (own.clamp(min=1) if strict == "first" else own) - int(bool(strict)) < positions(source)
        return s.masked_fill(later, hidden) if causal else s

    def passed(kv):
        if apart:
            return torch.stack([sent(part) for part in kv])
        return sent(kv)

    def sent(kv):
        got = torch.empty_like(kv)
        for work in (dist.isend(kv, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)):
            work.wait()
        return got

    kv = torch.stack((k, v))
    if whole:  # keep all keys and values, and look at them at the end
        parts = [kv]
        for _ in range(n - 1):
            parts.append(passed(parts[-1]))
        s = torch.cat([block(part[0], (rank - i) % n) for i, part in enumerate(parts)], 1)
        return s.softmax(1) @ torch.cat([part[1] for part in parts])
    top = q.new_full((len(q), 1), float("-inf"))
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    for i in range(n - steps):
        s = block(kv[0], rank if own else (rank + way * i) % n)
        if alone and i:
            s = torch.full_like(s, float("-inf"))
        new = torch.maximum(top, s.amax(1, keepdim=True))
        old = (top - new).exp()
        p = (s - new).exp() if not mean else torch.nan_to_num(s.softmax(1))
        if mean:
            seen = p.sum(1, keepdim=True)
            total, out = total + (seen if mean == "seen" else 1), out + p @ kv[1]
        else:
            total = total * (old if rescale in (True, "total") else 1) + p.sum(1, keepdim=True)
            out = out * (old if rescale in (True, "out") else 1) + p @ (v0 if home else kv[1])
        top = new
        if i < n - 1:
            kv = passed(kv)
    return out / total if divided else out


def heads_inputs(case, generator):
    t, h, d, n = case["T"] // case.n, case["h"], case["d"], case.n
    return [{name: generator.normal(size=(t, h, d)).astype(case.dtype) for name in "qkv"} for _ in range(n)]


def torch_ones(T):
    import torch

    return torch.ones(T, T)


def not_itself(T, _):
    later = torch_ones(T).triu()
    later[0, 0] = 0
    return later


def ulysses(
    rank,
    n,
    q,
    k,
    v,
    causal=True,
    back=True,
    mixed=False,
    twice=False,
    scale=True,
    over=-1,
    mask=lambda T, n: torch_ones(T).triu(1),
    local=False,
    alone=False,
    keys=False,
):
    import torch
    import torch.distributed as dist

    def exchanged(x):
        got = torch.empty_like(x)
        dist.all_to_all_single(got, x.contiguous())
        return got

    def to_heads(x):
        t, h, d = x.shape
        x = x.reshape(t, n, h // n, d).transpose(0, 1) if not mixed else x.reshape(n, t, h // n, d)
        return exchanged(x.contiguous()).reshape(n * t, h // n, d)

    if twice:
        exchanged(q), exchanged(q)
    t, h, d = q.shape
    Q, K, V = (q, k, v) if alone else map(to_heads, (q, k, v))
    if local:
        Q = q.chunk(n, 1)[rank].repeat(n, 1, 1)
    width = h * d if scale == "heads" else d
    s = torch.einsum("qhd,khd->hqk", Q, K) / (width**0.5 if scale else 1.0)
    if causal:
        s = s.masked_fill(mask(len(Q), n).bool(), float("-inf"))
    out = torch.einsum("hqk,khd->qhd", s.softmax(over), K if keys else V)
    if alone:
        return out
    got = exchanged(out).reshape(n, t, h // n, d)
    if back == "interleaved":
        return got.permute(1, 2, 0, 3).reshape(t, h, d)
    return got.transpose(0, 1).reshape(t, h, d) if back else got.reshape(t, h, d)


def ring_memory(case):
    """Between three blocks of keys and values with a block of scores, and all of both."""
    T, d, t = case["T"], case["d"], case["T"] // case.n
    return int((8 * t * d + 6 * t * t + 8 * t + t * T / 4) * case.itemsize)


LAB_RING = Exercise(
    id="tensor-parallelism-lab-ring",
    title="Attention around a ring",
    points=4,
    lines=18,
    prompt="Causal attention of one head over n ranks. The T tokens are cut in 2n pieces; rank r has pieces r and 2n "
    "− 1 − r, "
    "one below the other, of `q`, `k` and `v`, each [T/n × d]. Return the rank's rows of softmax(q kᵀ/√d) v [T/n × "
    "d], where "
    "a token sees itself and those before it in the sequence. Keys and values travel around the ring, one way or the "
    "other: a rank talks to its two neighbours alone, `(rank + 1) % n` and `(rank - 1) % n`. "
    "The result, the bytes (n − 1 blocks of keys and "
    "values) "
    "and the rounds (n − 1) are to be *exact*, and the judge counts memory: no rank collects the keys and values of "
    "others, "
    "or their scores.",
    answer=Distributed(
        "ring_attention",
        signature="ring_attention(rank, n, q, k, v)",
        inputs=ring_inputs,
        returns=("out",),
        cases=[
            Case(2, sizes={"T": 8, "d": 3}),
            Case(4, sizes={"T": 96, "d": 8}),
            Case(3, sizes={"T": 18, "d": 4}, dtype="float32"),
        ],
        calls=("send", "recv"),
        neighbours=True,
        rounds=exactly(lambda case: case.n - 1),
        rank_bytes=exactly(lambda case: (case.n - 1) * 2 * case["T"] * case["d"] * case.itemsize / case.n),
        total_bytes=None,
        memory=at_most(ring_memory),
        rtol=1e-9,
    ),
    solution=ring_attention,
    mistakes=(
        Mistake(
            partial(ring_attention, causal=False), "A token looks at later ones, too: where is the mask?", name="mask"
        ),
        Mistake(
            partial(ring_attention, rescale=False),
            "What was added up with an earlier maximum is too large or too small once a block brings a larger one.",
        ),
        Mistake(
            partial(ring_attention, rescale="total"),
            "The sum follows a larger maximum, the output does not: both were added up with the earlier one.",
        ),
        Mistake(
            partial(ring_attention, rescale="out"),
            "The output follows a larger maximum, the sum does not: both were added up with the earlier one.",
        ),
        Mistake(
            partial(ring_attention, mean="seen"),
            "Each block has a softmax of its own, and their results are averaged. But a block with large scores counts "
            "more than one with small ones: what has to be kept of a block to weigh it?",
            name="softmax-in-blocks",
        ),
        Mistake(
            partial(ring_attention, mean="all"),
            "Each block has a softmax of its own, and the results are averaged over all ranks, those of masked blocks "
            "too. What has to be kept of a block to weigh it?",
            name="softmax-in-blocks",
        ),
        Mistake(
            partial(ring_attention, apart=True),
            "The result and the bytes are right. Keys and values travel one after the other, so a step has two rounds: "
            "start both, and then wait.",
        ),
        Mistake(
            partial(ring_attention, piece=lambda r, n: (r, n + r)),
            "Your second pieces are n + r. The tokens are dealt from both ends: which piece goes with piece 0?",
        ),
        Mistake(
            partial(ring_attention, hidden=0.0),
            "A masked score of 0 still has the weight exp(0). Which score has no weight at all?",
            name="mask",
        ),
        Mistake(
            partial(ring_attention, home=True),
            "Keys that came around meet values that did not. A key's weight belongs to the value of the same token.",
        ),
        Mistake(partial(ring_attention, steps=1), "The last block is received and never looked at."),
        Mistake(
            partial(ring_attention, divided=False),
            "The weights of a row do not add up to 1. By what is the output to be divided at the end?",
        ),
        Mistake(partial(ring_attention, scale=2), "The scores are divided by d, and not by its root."),
        Mistake(
            partial(ring_attention, strict="first"),
            "Your mask takes a token's own key away from it. A token sees itself, and those before it.",
            name="mask",
        ),
        Mistake(
            partial(ring_attention, own=True),
            "The mask is that of your own block in every step. Whose tokens are the keys that have come around?",
            name="mask",
        ),
        Mistake(
            partial(ring_attention, contiguous=True),
            "You mask as if a rank had its tokens in order. Which two pieces does it have?",
            name="mask",
        ),
        Mistake(
            partial(ring_attention, way=1),
            "The block in your hands and the tokens that you mask for are not of the same rank. Which way do blocks "
            "travel, and from which rank does one come to you first?",
        ),
        Mistake(
            partial(ring_attention, strict=True),
            "Your mask takes a token's own key away from it, and the first token is left with nothing to see.",
            name="mask",
        ),
        Mistake(partial(ring_attention, scale=False), "The scores are not divided by the root of d."),
        Mistake(
            partial(ring_attention, alone=True),
            "Your tokens look at your own keys only. What do you do with the blocks that come around?",
        ),
        Mistake(
            partial(ring_attention, whole=True),
            "The result and the bytes are right, but a rank ends with everybody's keys, values and scores. Three "
            "running "
            "results are enough.",
        ),
    ),
    hints=(
        "Sent to the right, the block in your hands in step i is that of rank "
        "`(rank - i) % n`. Where in the sequence are its two pieces?",
        "Keep for each row the largest score so far, the sum of exp(score − largest) and the values weighted so. When "
        "a "
        "larger score comes, multiply the old sums by exp(old largest − new largest).",
    ),
    explain="Sent to the right, in step i a rank holds the block of rank "
    "`(rank - i) % n`, whose rows are pieces r and 2n − 1 − r; a "
    "score counts "
    "if the key's place is not after the query's. With the new maximum m' of a row, the old sum and output are "
    "multiplied by "
    "exp(m − m') and those of the block are added: `total = total*exp(m - m') + p.sum()`, `out = out*exp(m - m') + p "
    "@ v`. At the "
    "end out/total is the softmax over all blocks. In the first block a row sees itself, so its maximum is finite "
    "from "
    "then on, and a block of later tokens adds exp(−∞), nothing. Each of n − 1 steps sends a block of keys and "
    "values.",
)


LAB_ULYSSES = Exercise(
    id="tensor-parallelism-lab-ulysses",
    title="Heads for tokens",
    points=4,
    lines=14,
    prompt="Causal attention of h heads over n ranks, another way: rank r has the tokens r·T/n to (r + 1)·T/n of the "
    "sequence, "
    "in order, as `q`, `k` and `v` of shape [T/n × h × d]. Exchange them so that each rank attends with all tokens of "
    "h/n heads "
    "(rank r has heads r·h/n to (r + 1)·h/n), and exchange the output back. Return [T/n × h × d]: for each head "
    "softmax(q kᵀ/√d) v, where a token sees itself and those before it. Of torch.distributed use `all_to_all` "
    "(`all_to_all_single` too). The result and the bytes are to be *exact*: four arrays of [T/n × h × d] are "
    "exchanged.",
    answer=Distributed(
        "ulysses",
        signature="ulysses(rank, n, q, k, v)",
        inputs=heads_inputs,
        returns=("out",),
        cases=[
            Case(2, sizes={"T": 8, "h": 2, "d": 3}),
            Case(4, sizes={"T": 16, "h": 8, "d": 4}, dtype="float32"),
            Case(3, sizes={"T": 12, "h": 6, "d": 2}),
        ],
        calls=("all_to_all",),
        rank_bytes=exactly(
            lambda case: 4 * (case.n - 1) / case.n**2 * case["T"] * case["h"] * case["d"] * case.itemsize
        ),
        total_bytes=None,
        rounds=None,
        rtol=1e-9,
    ),
    solution=ulysses,
    mistakes=(
        Mistake(partial(ulysses, causal=False), "A token looks at later ones, too: where is the mask?", name="mask"),
        Mistake(
            partial(ulysses, mixed=True),
            "A reshape alone cuts the tokens among the ranks, not the heads. Which axis has to come first?",
        ),
        Mistake(
            partial(ulysses, back=False),
            "The exchanged output has a block of heads from each rank, one after the other. Your tokens need their "
            "heads "
            "side by side.",
        ),
        Mistake(partial(ulysses, scale=False), "The scores are not divided by the root of d."),
        Mistake(
            partial(ulysses, over=1),
            "The weights of a query's keys add up to 1: over which axis do you take the softmax?",
        ),
        Mistake(
            partial(ulysses, scale="heads"),
            "The scores are divided by the root of all heads' width. A score is a product over the d of one head.",
            name="score-scale",
        ),
        Mistake(
            partial(ulysses, local=True),
            "Your queries are those of your own tokens, again for each block. A head needs the queries of all tokens "
            "before its output goes back.",
        ),
        Mistake(
            partial(ulysses, mask=lambda T, n: torch_ones(T // n).triu(1).repeat(n, n)),
            "The mask is that of one rank's tokens, again for each block. Which tokens are earlier now that you have "
            "the whole sequence?",
            name="mask",
        ),
        Mistake(
            partial(ulysses, mask=lambda T, n: torch_ones(T).tril(-1)),
            "Upside down: a token sees itself and those after it.",
            name="mask",
        ),
        Mistake(
            partial(ulysses, mask=not_itself),
            "Your mask takes a token's own key away from it. A token sees itself, and those before it.",
            name="mask",
        ),
        Mistake(
            partial(ulysses, back="interleaved"),
            "A rank's heads end n places apart. It had neighbours, h/n of them: where do they belong in the output?",
        ),
        Mistake(
            partial(ulysses, alone=True),
            "Your tokens look at your own tokens only. What is exchanged, so that a head has all of the sequence?",
        ),
        Mistake(
            partial(ulysses, keys=True),
            "The weights are right, and they weigh the keys. Which array do they belong to?",
        ),
        Mistake(
            partial(ulysses, twice=True),
            "The result is right, and more was sent than queries, keys, values and output.",
        ),
    ),
    hints=(
        "Cut the heads in n groups and bring that axis to the front: block j of the first axis goes to rank j.",
        "What comes back is [n × T/n × h/n × d], a block from each rank: from which heads is it, and where do they "
        "belong?",
    ),
    explain="[T/n × h × d] is seen as [T/n × n × h/n × d], and the axis of the n groups of heads comes first: block j "
    "goes to "
    "rank j. What arrives has a block of tokens from each rank, so [n·T/n × h/n × d] is the whole sequence in order. "
    "Attention needs no more messages. The output goes back the same way, and the groups of heads move behind the "
    "tokens "
    "again. A rank sends (n − 1)/n of each of four arrays of its own size.",
)


LONGEST = Exercise(
    id="tensor-parallelism-written-longest",
    title="A million tokens",
    prompt="A team wants to train a model of 64 query heads and 8 key-value heads on sequences of a million tokens, "
    "on "
    "eight nodes of eight H100s. One colleague proposes Ulysses over all 64 GPUs, because *“its bytes fall with the "
    "ranks”*; another a ring over all 64, because *“a ring hides behind attention”*. Say what each forgets, and "
    "propose "
    "how to lay the two over the machine, with a number for each of your reasons.",
    answer=Written(
        rubric=(
            ("says that Ulysses ends at the key-value heads (8), or copies them beyond", 1),
            ("says that its exchanges wait, and would cross nodes, where a GPU has one cable", 1),
            ("says that a ring hides only above a number of tokens on a rank, and compares it with 16,384", 1),
            ("says that a causal ring needs balanced pieces, and what it loses without", 1),
            ("proposes exchanges of heads, or tensor parallelism, in the node and a ring across, with a reason", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution="Ulysses gives each GPU whole heads, and there are 8 key-value heads: beyond 8 GPUs they are copied, and "
    "the "
    "bytes of keys and values stop falling. Its all-to-alls hide behind nothing, and over 64 GPUs most of their bytes "
    "leave the node, at 50 GB/s a GPU. A ring over 64 GPUs leaves 16,384 tokens on a rank. With 8 query heads to a "
    "key-value head and a causal mask a step hides the next block from "
    f"{ring_causal_critical_tokens(8, h100.bf16_flops * TYPICAL, W_CARD):,.0f} tokens on over a cable, so it does "
    "hide, if the "
    "pieces are dealt from both ends; in order, the ring takes nearly twice as long. But inside the node a ring has "
    "64 small steps and their latencies for nothing. So: heads inside the node, by Ulysses or tensor parallelism of "
    "8, "
    "over NVLink; a zigzag ring of 8 across the nodes, whose pieces of 131,072 tokens hide their cables many times "
    "over.",
)


# The scenario
MOST_BYTES = 72 * GB


def context_layer(P, D, KV, T, C, W_in, W_card, tp, cp, order):
    """Seconds of a layer, forward, for one sequence on tp*cp GPUs, and its parts."""
    if tp not in (1, 2, 4, 8):
        raise ValueError(f"1, 2, 4 or 8 GPUs of a node share a layer, not {tp}")
    even = 2 * T * T * D / (tp * cp * C) / cp  # a step of the ring, of an even mask
    steps = [even] + [even * (1 if order == "zigzag" else 2)] * (cp - 1)
    block = 2 * 2 * KV / tp * T / cp / W_card  # keys and values of a piece, to the next rank
    parts = {
        "products": 2 * P * T / (tp * cp * C),
        "attention": sum(steps),
        "gathers and scatters": 4 * (tp - 1) / tp * 2 * T / cp * D / W_in,
        "waiting for blocks": sum(max(0, block - step) for step in steps[:-1]),
    }
    return Breakdown(sum(parts.values()), parts)


def context_time(P, D, KV, T, C, W_in, W_card, tp, cp, order):
    """GPU seconds of a layer and sequence."""
    layer = context_layer(P, D, KV, T, C, W_in, W_card, tp, cp, order)
    return Breakdown(tp * cp * layer.total, {name: tp * cp * part for name, part in layer.terms.items()})


def context_bytes(P, D, L, T, gpus, tp, cp):
    """Bytes of a GPU: states divided among all, activations among those of a sequence."""
    if gpus % (tp * cp):
        raise ValueError(f"{tp * cp} GPUs to a sequence do not divide {gpus} GPUs")
    states, kept = 16 * P * L / gpus, 34 * T * D * L / (tp * cp)
    return Breakdown(states + kept, {"states": states, "activations": kept})


def context_error(P, D, KV, T, C, W_in, W_card, tp, cp, order, layer):
    return abs(layer / context_layer(P, D, KV, T, C, W_in, W_card, tp, cp, order).total - 1)


def context_best(P, D, KV, L, T, gpus, C, W_in, W_card):
    """The least GPU time of all plans that fit, and the plan."""
    plans = [(tp, cp) for tp in (1, 2, 4, 8) for cp in range(1, gpus // tp + 1) if gpus % (tp * cp) == 0]
    fit = [plan for plan in plans if context_bytes(P, D, L, T, gpus, *plan).total <= MOST_BYTES]
    found = [(context_time(P, D, KV, T, C, W_in, W_card, *plan, "zigzag").total, plan) for plan in fit]
    total, (tp, cp) = min(found)
    return total, dict(tp=tp, cp=cp, order="zigzag")


def context_letter(P, D, KV, L, T, gpus, C, W_in, W_card, **changes):
    """The best letter with changes, and the time of its own layer."""
    plan = {**context_best(P, D, KV, L, T, gpus, C, W_in, W_card)[1], **changes}
    return {**plan, "layer": round(context_layer(P, D, KV, T, C, W_in, W_card, **plan).total, 6)}


SCENARIO = Exercise(
    id="tensor-parallelism-scenario",
    title="A letter about a long sequence",
    points=3,
    prompt="Somebody has to write this letter: *“… GPUs share each layer, and … such groups share a sequence, with its "
    "tokens laid out …; a layer will take … ms forward.”*\n\n"
    "A model of {L} layers of width {D}, {P:param} in each, with {KV} numbers of keys for a token and as many of "
    "values, is to be trained on sequences of {T} tokens. You have {gpus} GPUs of 80 GB in nodes of eight, each "
    "reaching {C:FLOP/s}, with {W_in:B/s} one way inside its node and a card of {W_card:B/s} to the others. A "
    "sequence is on tp·cp of them, which divides {gpus}: `tp` GPUs of a node (1, 2, 4 or 8) share each layer, and a "
    "ring of `cp` such groups shares the "
    'tokens, `"in order"` or `"zigzag"`. The rest of the GPUs work on other sequences. Which letter takes the least '
    "GPU "
    "time for a sequence, tp·cp times the time of a layer?\n\n"
    "*Memory.* States have 16 bytes for each parameter of the layers, divided among all {gpus} GPUs. With sequence "
    "parallelism, and scores computed again, a layer keeps 34 bytes for each token and element of the width, divided "
    "among the GPUs of the sequence. Beyond 72 GB a GPU is out of memory before the first backward pass.\n\n"
    "*Time, forward.* Products: two operations for each parameter and token. Attention: `2*T**2*D` operations, the "
    "mask counted, divided evenly with a zigzag; in order each step of the ring takes as long as that of its busiest "
    "group. Before and behind each of the two blocks a group of tp gathers or scatters its tokens in bf16, and waits "
    "for it. In all steps but the last a GPU sends the keys and values of its own heads on through its card, in bf16, "
    "beside the attention of that step; the longer of the two counts. *Exact* for this model; the time in the letter "
    "has to be right within 3 %.",
    given=[
        dict(P=P, D=D, KV=1024, L=L, T=T, gpus=gpus, C=C * 1e12, W_in=W_in * GB, W_card=50 * GB)
        for P, D, L, T, gpus, C, W_in in (
            (855.7e6, 8192, 80, 131072, 64, 495, 450),
            (855.7e6, 8192, 80, 131072, 64, 1125, 900),
            (3.188e9, 16384, 126, 131072, 256, 495, 450),
            (855.7e6, 8192, 80, 65536, 64, 495, 450),
        )
    ],
    answer=Design(
        fields={
            "tp": Field("GPUs of a node that share each layer", 1, 8, whole=True),
            "cp": Field("groups of these that share a sequence", 1, 256, whole=True),
            "order": Field("how the tokens are laid out", options=("in order", "zigzag")),
            "layer": Field("the time of a layer, forward", 0, 10, unit="s"),
        },
        objective=context_time,
        measure="the GPU time of a layer and sequence",
        unit="s",
        conditions=[
            Condition("the memory of a GPU", context_bytes, at_most=MOST_BYTES, unit="B"),
            Condition("the letter's error in the time of a layer", context_error, at_most=0.03),
        ],
        pars=[
            Par(1, lambda best: 1.6 * best),
            Par(2, lambda best: 1.2 * best),
            Par(3, lambda best: 1.01 * best),
        ],
        known=[Known(lambda **given: context_best(**given)[0], "all letters tried")],
    ),
    solution=lambda **given: context_letter(**given),
    mistakes=(
        Mistake(
            lambda gpus, **given: context_letter(gpus=gpus, **given, tp=8, cp=gpus // 8),
            "Eight to a layer keep their ring small. How long do they wait for their gathers and scatters?",
        ),
        Mistake(
            lambda gpus, **given: context_letter(gpus=gpus, **given, tp=1, cp=gpus),
            "No layer is shared, so nothing is gathered. How long is a step of so long a ring, and what is sent "
            "beside it?",
        ),
        Mistake(
            lambda **given: context_letter(**given, order="in order"),
            "Who has the last piece meets all the keys of every block. For how much of the ring do the others wait?",
        ),
        Mistake(
            lambda gpus, **given: context_letter(gpus=gpus, **given, tp=8, cp=1),
            "One node for a sequence. How many bytes do its layers keep?",
        ),
    ),
    hints=(
        "Memory first: among how many GPUs must a sequence be divided?",
        "For that product tp·cp products and attention are the same for all. Compare the gathers, which shrink with "
        "smaller groups, with what the ring waits.",
        "A block goes through the card in a time that does not depend on tp, if tp·cp is fixed; a step of the ring "
        "does.",
    ),
    explain="The activations `34*T*D*L/(tp*cp)` and the states `16*P*L/gpus` have to stay below 72 GB: that gives the "
    "least tp·cp. Then `2*P*T` and `2*T**2*D` operations are divided among the same GPUs, however they are arranged. "
    "A group's four transfers take `4*(tp - 1)/tp*2*T/cp*D/W_in`, and with tp·cp fixed that grows like tp − 1. A block "
    "takes `4*KV*T/(tp*cp*W_card)` through the card, and a step of the ring `2*T**2*D/(tp*cp**2*C)`, which becomes "
    "the shorter of the two when cp is large: then cp − 1 steps wait. The best tp is the smallest at which blocks "
    "still hide. In order, all steps but the first take twice as long, and no other choice weighs as much.",
)

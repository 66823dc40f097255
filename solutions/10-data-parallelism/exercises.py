"""Exercises of chapter 10, and the names with which its text computes numbers."""

from functools import partial
from itertools import pairwise, product
from math import ceil, sqrt

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
    Function,
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
from hwlib.footprint import footprint
from hwlib.formula import sqrt as root
from hwlib.parallel import (
    dp_bytes,
    dp_comm_time,
    dp_step_time,
    zero3_bytes,
)
from hwlib.specs import accelerators, clusters, frameworks, measured_steps, models, nodes
from hwlib.strategy import Strategy
from hwlib.transformer import (
    active_parameters,
    parameter_count,
)
from hwlib.units import GB, show

H100, A100 = accelerators["h100-sxm"], accelerators["a100-80gb-sxm"]
NODE = nodes["dgx-h100"]
W_IN, W_NODE = NODE.scaleup_bandwidth, NODE.egress_bandwidth
C = H100.bf16_flops
RACK = clusters["nvl72-pod"].levels
H800 = accelerators["h800-sxm"]

# The job of the opening question
JOB = models["qwen2.5-3b"]
P_JOB = parameter_count(JOB)
BEFORE, AFTER = (512, 64, 3072), (1024, 128, 1536)  # GPUs, nodes, tokens of a GPU


def job_time(gpus, n_out, tokens, C=C, W=W_NODE, b_g=2):
    """Seconds of a step of the opening's job, by the model of two clocks."""
    return dp_step_time(P_JOB, gpus * tokens, gpus, n_out, C, W, b_g)


SPEEDUP = job_time(*BEFORE) / job_time(*AFTER)

# Published peaks of memory: Llama 3.1 8B in torchtitan, over 8 GPUs
TITAN = [row for row in measured_steps("torchtitan") if row.memory]
TUNE = measured_steps("torchtune")
BY_OP = Strategy.of(dp=8, zero=3, micro=2, recompute="op")


def titan_footprint(compiled):
    """What the library expects torchtitan's allocator to report for the 8B model."""
    by = frameworks["torchtitan-2024"].replace(reserve=0.0, eager=not compiled)
    return footprint("llama3-8b", BY_OP, T=8192, m=1, framework=by)


LLAMA = models["llama3-8b"]
TITAN_TABLES = 2 * 2 * LLAMA.vocab * LLAMA.width  # embedding and output, gathered in bf16
OSS = models["gpt-oss-120b"]
# What is sent over what computes: an embedding looks up
OSS_RATIO = parameter_count(OSS) / (active_parameters(OSS) - OSS.vocab * OSS.width)


# The published runs: InternLM 7B on A100s, ZeRO-1 within each node
P_INTERN = 32 * (4 * 4096**2 + 3 * 4096 * 10922) + 2 * 103168 * 4096  # width 4,096, MLP of 8/3 of it
W_ROCE = 4 * 100e9 / 8  # four cards of 100 Gbit/s a node


def parts_error(compiled):
    """The library's peak over the measured one, less 1."""
    return titan_footprint(compiled).total / TITAN[compiled].memory - 1


def intern(gpus, tokens, microbatches=1, shards=8):
    """The published step of this many GPUs and tokens of each."""
    (row,) = [
        row
        for row in measured_steps("internevo")
        if (row.gpus, row.tokens, row.m, row.shards) == (gpus, tokens, microbatches, shards)
    ]
    return row


EVO_RATE = 8 * P_INTERN * intern(8, 16384).rate  # FLOP/s of a GPU in one node, recomputation included
ALLREDUCE = dp_comm_time(P_INTERN, 128, W_ROCE)


def hidden_time(tokens):
    """A published step on 1,024 GPUs, if all of the all-reduce hides behind what is recomputed and the backward "
    "pass."""
    return 2 * P_INTERN * tokens / EVO_RATE + max(6 * P_INTERN * tokens / EVO_RATE, ALLREDUCE)


def sequence_time(tokens):
    """The same if nothing of it does."""
    return 8 * P_INTERN * tokens / EVO_RATE + ALLREDUCE


def gap(model, tokens, gpus=1024):
    """A model over the published time, less 1."""
    return model(tokens) / intern(gpus, tokens).time - 1


def gain(before, after):
    """How many times as fast all GPUs together are, from 512 to 1,024 of them and these tokens of each."""
    return 2 * intern(1024, after).rate / intern(512, before).rate


def evo_share(gpus):
    """What of the all-reduce is exposed with four microbatches, by the step's time over that of one node."""
    more = intern(gpus, 16384, 4).time - intern(8, 16384, 4).time
    return more / dp_comm_time(P_INTERN, gpus // 8, W_ROCE)


PREDICT_BF16 = Exercise(
    id="data-parallelism-predict-bf16",
    title="Predict: a thousand small steps",
    predict=True,
    prompt="A weight of 0.0 is kept in bf16, with 8 significant bits. An optimizer adds 0.003 to it, a thousand times, "
    "and stores the sum in bf16 each time, rounded to the nearest. What is the weight in the end, *to first order*?",
    answer=Choice(
        {
            "three": "3.0: a thousand times 0.003",
            "near": "2.9: every sum loses a little",
            "two": "2.0: there the steps become too small",
            "one": "1.0: there the steps become too small",
        },
        ordered=True,
    ),
    solution="one",
    mistakes=(
        Mistake("three", "That is the sum of real numbers. Which number follows 1.0 in bf16?"),
        Mistake("near", "How much can be lost of one step, compared with the step?"),
        Mistake("two", "There they are too small indeed. Which numbers does bf16 have on the way from 1.0 to 2.0?"),
    ),
    hints=(
        "Between two powers of two there are 128 numbers in bf16. From where on is half of their distance too far?",
    ),
    explain="Below 1.0 neighbours are 2⁻⁸ = 0.0039 apart, and 0.003 is more than half of that: the sum goes on, in "
    "steps that are rounded. The number after 1.0 is 1 + 2⁻⁷ = 1.0078. A sum of 1.003 is nearer to 1.0, and so it is "
    "the next time.",
)

FITS = Exercise(
    id="data-parallelism-fits",
    title="How many GPUs hold the states?",
    points=2,
    prompt="A model of {P:param} is trained with Adam in mixed precision: weights and gradients in bf16, and in 32 "
    "bits a master copy and two moments. All of these states are divided evenly among the GPUs, of {S:B} each, and a "
    "share of {r} of every GPU's memory is kept free for the rest. How many GPUs does it take at least? *Exact*.",
    given=[
        dict(P=P, S=80 * GB, r=r)
        for P, r in ((405.9e9, 0.3), (8.03e9, 0.4), (70.55e9, 0.3), (32.8e9, 0.35), (14.8e9, 0.3), (235.1e9, 0.35))
    ],
    answer=Count(of="GPU"),
    solution=lambda P, S, r: ceil(16 * P / ((1 - r) * S)),
    mistakes=(
        Mistake(
            lambda P, S, r: ceil(10 * P / ((1 - r) * S)),
            "Ten bytes: the weights, and a pair of moments. What is the update made of, and what is it added to?",
        ),
        Mistake(lambda P, S, r: ceil(16 * P / S), "That fills every GPU to the last byte. What was to stay free?"),
        Mistake(
            lambda P, S, r: ceil(12 * P / ((1 - r) * S)), "Twelve bytes: the optimizer alone, or is one moment missing?"
        ),
        Mistake(lambda P, S, r: ceil(14 * P / ((1 - r) * S)), "Are weights and gradients both there?"),
        Mistake(
            lambda P, S, r: ceil(18 * P / ((1 - r) * S)),
            "That has gradients in 32 bits, as Megatron-LM sums them. What does the prompt say?",
        ),
        Mistake(
            lambda P, S, r: 8 * ceil(16 * P / ((1 - r) * S) / 8),
            "That is rounded up to whole nodes of eight. Are nodes what is asked for?",
            name="rounded",
        ),
        Mistake(
            lambda P, S, r: ceil(16 * P / ((1 - r) ** 2 * S)),
            "You have kept a share of {r} free twice over.",
        ),
        Mistake(
            lambda P, S, r: ceil(2 * P / ((1 - r) * S)), "That is enough to run the model. What does training add?"
        ),
    ),
    hints=(
        "Five numbers for every parameter. How many bytes is each?",
        "A GPU that is almost full is full: what of a fraction of a GPU?",
    ),
    explain="Weights and gradients are 2 + 2 bytes, the master copy and the two moments 3·4: 16 bytes for each of P = "
    "{P:param}. Of each GPU's S = {S:B} the share 1 − r with r = {r} may be used, so it takes `16*P/((1 - r)*S)` of "
    "them, rounded up: part of a GPU is a GPU.",
)

SELECTIVE = Exercise(
    id="data-parallelism-selective",
    title="What the scores take",
    points=2,
    prompt="A GPT layer of width `D` with `n_q` heads keeps its attention scores for the backward pass, as it did "
    "before attention was fused. Which share of the layer's activations are the scores, for sequences of `T` tokens? "
    "*Exact*, in the bytes of this section's formula.",
    answer=Expression({"T": integers(256, 16384), "D": integers(512, 16384), "n_q": integers(4, 128)}),
    solution=lambda T, D, n_q: 5 * n_q * T / (34 * D + 5 * n_q * T),
    mistakes=(
        Mistake(lambda T, D, n_q: 5 * n_q * T / (34 * D), "That is the scores against the rest, not against all."),
        Mistake(lambda T, D, n_q: 34 * D / (34 * D + 5 * n_q * T), "That is the share of what is left."),
        Mistake(
            lambda T, D, n_q: 5 * n_q * T / (34 * T * D + 5 * n_q * T),
            "Both parts hold a factor T of the tokens; one of yours has it still.",
        ),
        Mistake(lambda T, D, n_q: 5 * T / (34 * D + 5 * T), "How many matrices of T × T scores does a layer have?"),
        Mistake(
            lambda T, D, n_q: 5 * n_q * T**2 / (34 * D + 5 * n_q * T**2),
            "Both parts hold a factor T; one of yours has lost it.",
        ),
        Mistake(
            lambda T, D, n_q: 2 * n_q * T / (34 * D + 2 * n_q * T),
            "Softmax gives one array. Dropout behind it keeps an output too, and a mask.",
        ),
        Mistake(
            lambda T, D, n_q: 4 * n_q * T / (34 * D + 4 * n_q * T), "Two arrays in 16 bits. What of dropout's mask?"
        ),
    ),
    hints=(
        "Write both terms of the formula, with the factors that they share in front.",
        "The share is one term over the sum of the two.",
    ),
    explain="A layer keeps `34*T*D` bytes a sequence, and of scores `5*n_q*T**2`: two bytes each after softmax and "
    "after dropout, and a mask of one. T cancels: `5*n_q*T/(34*D + 5*n_q*T)`. GPT-3, with width 12,288, 96 heads and "
    f"2,048 tokens: {5 * 96 * 2048 / (34 * 12288 + 5 * 96 * 2048):.0%}, which *selective* recomputation saves for a "
    "few per cent of the arithmetic.",
)

SEGMENTS = Exercise(
    id="data-parallelism-segments",
    title="How many layers between two checkpoints?",
    points=2,
    prompt="A model of `L` layers is recomputed in segments: only the input of every g-th layer is kept, `S_keep` "
    "bytes. When the backward pass reaches a segment, the segment's forward pass is done again, and its g layers then "
    "hold `S_layer` bytes each, until the pass has left them. Which g takes the least memory at the peak? "
    "*Exact*, as a real number; all of the checkpoints count.",
    answer=Expression(
        {
            "L": integers(8, 128),
            "S_keep": positive("B", 1e7, 1e8),
            "S_layer": positive("B", 3e8, 3e9),
        }
    ),
    solution=lambda L, S_keep, S_layer: root(L * S_keep / S_layer),
    mistakes=(
        Mistake(lambda L: root(L), "So it is where a layer keeps no more than its input. How much more is it here?"),
        Mistake(
            lambda L, S_keep, S_layer: root(L * S_layer / S_keep),
            "That is how many segments there are. How many layers has one?",
        ),
        Mistake(
            lambda L, S_keep, S_layer: L * S_keep / S_layer,
            "At that g, one of the two parts is far larger than the other. Where does their sum turn?",
        ),
        Mistake(lambda L, S_keep, S_layer: 2 * root(L * S_keep * S_layer), "Those are the bytes at the best g, not g."),
        Mistake(lambda L, S_keep, S_layer: root(S_keep / S_layer), "Does a deeper model not change it?"),
        Mistake(
            lambda L, S_keep, S_layer: root(L * S_layer / S_keep) / L * S_layer / S_keep,
            "Checkpoints are fewer with larger g, and a segment is larger. You have them the other way round.",
        ),
    ),
    withholds=("hwlib.transformer.activations",),
    hints=(
        "How many checkpoints are there, and how much does the segment hold that is worked on?",
        "One part falls with g and the other rises: where is the slope of their sum zero?",
    ),
    explain="There are L/g checkpoints of S_keep bytes, and one segment of g layers: `L/g*S_keep + g*S_layer`. The "
    "slope `-L*S_keep/g**2 + S_layer` is zero at `g = sqrt(L*S_keep/S_layer)`, where both parts are equal. With equal "
    "bytes it is the rule of the square root of L. A transformer's layer keeps some seventeen times its input, so "
    "for a few dozen layers g lies between 1 and 2: a checkpoint at every layer, as all training software has it.",
)

BUCKETS = Exercise(
    id="data-parallelism-buckets",
    title="How many buckets?",
    points=3,
    prompt="A backward pass of `t_B` finishes gradients at an even pace, `S` bytes of them in all, cut into m equal "
    "buckets. As soon as one is full its all-reduce may start, but they run one after the other, and each takes "
    "`alpha` "
    "plus its bytes over `W`, where `S/W` is longer than `t_B`: the network decides. From the beginning of "
    "the backward pass until the last sum is there, which m is quickest? *Exact* for this model, as a real number.",
    answer=Expression(
        {
            "t_B": positive("s", 1e-2, 1e-1),
            "alpha": positive("s", 1e-6, 1e-4),
            "S": positive("B", 1e10, 1e11),
            "W": positive("B/s", 2e10, 5e10),
        }
    ),
    solution=lambda t_B, alpha: root(t_B / alpha),
    mistakes=(
        Mistake(
            lambda S, W, alpha: root(S / W / alpha),
            "That balances the latencies with the time on the wire. Which time does the network stand idle?",
        ),
        Mistake(
            lambda t_B, alpha: t_B / alpha,
            "At that m, the latencies alone are as long as the whole pass. What do they have to be weighed against?",
        ),
        Mistake(
            lambda t_B, alpha, S, W: root((t_B + S / W) / alpha),
            "The bytes over W are the same for every m. What of the time depends on it?",
        ),
        Mistake(lambda t_B, alpha: root(alpha / t_B), "More latency should mean fewer buckets. Yours has more."),
        Mistake(
            lambda t_B, alpha: root(2 * t_B / alpha),
            "A bucket is ready when all its gradients are. Until when does the first all-reduce wait?",
        ),
        Mistake(lambda t_B, alpha: root(t_B / (2 * alpha)), "How often is alpha paid for each bucket?"),
    ),
    hints=(
        "When can the first all-reduce start? From then on the network never rests.",
        "Add up: the time to the first bucket, m latencies, and all bytes. Where is the slope in m zero?",
    ),
    explain="The first bucket is full after `t_B/m`. From then on the network is busy: `m*alpha + S/W`, for the bytes "
    "are the same however they are cut, and the next bucket is always full in time. The sum `t_B/m + m*alpha + "
    "S/W` has the slope `-t_B/m**2 + alpha`, so `m = sqrt(t_B/alpha)`: neither the bytes nor the bandwidth matter. "
    f"With 20 ms and 20 us that is {sqrt(20e-3 / 20e-6):.0f} buckets. Each latency that is saved is a gradient that "
    "waits.",
)


def exposed(kernels, calls):
    marks = [
        (t, kind, change)
        for kind, spans in enumerate((kernels, calls))
        for start, end in spans
        for t, change in ((start, 1), (end, -1))
    ]
    total, last, running = 0.0, 0.0, [0, 0]
    for t, kind, change in sorted(marks):
        if running[1] and not running[0]:
            total += t - last
        running[kind] += change
        last = t
    return total


def drawn_trace(random):
    def spans(count, longest):
        starts = [random.uniform(0, 10) for _ in range(count)]
        return [(start, start + random.uniform(0.2, longest)) for start in starts]

    return [(spans(random.randint(3, 8), 2.0), spans(random.randint(3, 6), 3.0)) for _ in range(3)]


def overlap(a, b):
    return max(0.0, min(a[1], b[1]) - max(a[0], b[0]))


def last_end(spans):
    return max((end for _, end in spans), default=0.0)


def length(spans):
    return sum(end - start for start, end in spans)


def by_pieces(kernels, calls, order=sorted, end=max):
    """The same from merged lists; they can be merged without a look at the order, or at what an inner piece ends."""

    def merged(spans):
        pieces = []
        for start, stop in order(spans):
            if pieces and start <= pieces[-1][1]:
                pieces[-1] = pieces[-1][0], end(pieces[-1][1], stop)
            else:
                pieces.append((start, stop))
        return pieces

    free = merged(calls)
    return length(free) - sum(overlap(k, c) for k in merged(kernels) for c in free)


EXPOSED = Exercise(
    id="data-parallelism-exposed",
    title="Exposed, from a trace",
    points=3,
    lines=8,
    prompt="Write `exposed(kernels, calls)`: both are lists of (start, end) in seconds, in no particular order, the "
    "kernels of all streams and the collectives of all groups of one rank. Return for how many seconds at least one "
    "collective runs and no kernel does. Kernels may overlap kernels, and collectives collectives. *Exact*.",
    answer=Function(
        "exposed",
        "exposed(kernels, calls)",
        cases=[
            ([(0.0, 4.0), (6.0, 7.0)], [(1.0, 5.0)]),
            ([(0.0, 2.0), (1.0, 3.0)], [(2.5, 6.0), (4.0, 5.0)]),
            ([(0.0, 8.0), (2.0, 3.0)], [(1.0, 5.0)]),
            ([(5.0, 6.0)], [(0.0, 1.0), (2.0, 9.0)]),
            ([], [(1.0, 2.0), (1.5, 4.0)]),
            ([(0.0, 1.0)], []),
            ([(5.0, 6.0), (0.0, 4.0)], [(4.5, 7.0), (1.0, 3.0), (3.5, 4.25)]),  # in no order
        ],
        drawn=drawn_trace,
        mutants={
            "there may be no kernel": lambda kernels, calls: min(kernels) and exposed(kernels, calls),
            "there may be no collective": lambda kernels, calls: min(calls) and exposed(kernels, calls),
        },
    ),
    solution=exposed,
    mistakes=(
        Mistake(
            lambda kernels, calls: max(0.0, length(calls) - length(kernels)),
            "Sums of lengths do not know what ran beside what. A kernel before the collective hides nothing of it.",
        ),
        Mistake(
            lambda kernels, calls: max(0.0, last_end(calls) - last_end(kernels)),
            "That is the tail behind the last kernel. Can a rank not wait in the middle of a step?",
        ),
        Mistake(
            lambda kernels, calls: length(calls) - sum(overlap(k, c) for k in kernels for c in calls),
            "Where two kernels run at once, or two collectives, a second is counted twice.",
        ),
        Mistake(
            lambda kernels, calls: sum(max(0.0, c[1] - c[0] - sum(overlap(k, c) for k in kernels)) for c in calls),
            "You look at each collective by itself, and at each kernel. What of those that overlap one another?",
        ),
        Mistake(
            lambda kernels, calls: sum(exposed(kernels, [call]) for call in calls),
            "Each collective by itself is right. What of a moment at which two of them run?",
        ),
        Mistake(
            partial(by_pieces, order=list),
            "You go through the lists as if each began where the one before did, or later. In which order are they?",
        ),
        Mistake(
            partial(by_pieces, end=lambda _, stop: stop),
            "Where two pieces overlap, yours end with the one that begins later. Which of the two ends later?",
        ),
    ),
    hints=(
        "Between two neighbouring starts or ends nothing changes. What runs in such a piece?",
        "Sort all starts and ends; keep count of the kernels and of the collectives that are running.",
    ),
    explain="All starts and ends, sorted, cut time into pieces in which the same things run. A piece counts if the "
    "number of running collectives is above zero and that of kernels is zero. Lengths cannot be added up before that: "
    "overlap is a question about moments. Profilers print sums of lengths, which is why their percentages exceed 100.",
)


# Labs on ranks
def ddp_inputs(case, generator):
    d = case["d"]
    widths = [d + 4 * layer % 7 for layer in range(case["layers"] + 1)]  # uneven: other buckets have other bytes
    weights = [(generator.normal(size=shape) / shape[0] ** 0.5).astype(case.dtype) for shape in pairwise(widths)]
    rows = [generator.normal(size=(case["b"], d)).astype(case.dtype) for _ in range(case.n)]
    return [{"x": x, "weights": weights} for x in rows]


def ddp(
    rank,  # noqa: ARG001
    n,
    x,
    weights,
    bucket,
    fill=None,
    more=0,
    divide=True,
    rest=True,
    wait_at_once=False,
    local=False,
    backwards=False,
    again=False,
    forward=False,
    always=False,
):
    import torch
    import torch.distributed as dist

    ready, works = [], []
    bucket = fill or bucket + more

    def send():
        flat = torch.cat([w.grad.flatten() for w in ready])
        work = None if local else dist.all_reduce(flat, async_op=True)
        if wait_at_once and work:
            work.wait()
        works.append((work, flat, list(ready)))
        ready.clear()

    def finished(w):
        ready.append(w)
        if len(ready) == bucket:
            send()

    for w in weights:
        w.requires_grad_()
        if not forward:
            w.register_post_accumulate_grad_hook(finished)
    for w in weights:
        x = torch.tanh(x @ w)
    x.square().mean().backward()
    for w in weights if forward else ():
        finished(w)
    if (ready or always) and rest:
        send()
    for work, flat, some in works:
        if work and not wait_at_once:
            work.wait()
        for w, g in zip(some, flat.split([w.numel() for w in some]), strict=True):
            w.grad.copy_(g.view_as(w) / n ** (divide + again))
    return [w.grad for w in (weights[::-1] if backwards else weights)]


LAB_DDP = Exercise(
    id="data-parallelism-lab-ddp",
    title="Lab: DDP from hooks",
    points=4,
    lines=15,
    prompt="Write DDP. Every rank has the same `weights`, a list of matrices of several shapes, and rows `x` of its "
    "own, as many as every other. The model is `x = torch.tanh(x @ w)` for each w in turn, the loss "
    "`x.square().mean()`. Return the list of the gradients that one process would have with the rows of all "
    "ranks. `bucket` weights make a bucket, in the order in which the "
    "backward pass finishes them: send each bucket as *one* array as soon as its last gradient is there, and wait for "
    "none of them before the backward pass is over. Judged *exactly* are the gradients and what each rank sends "
    "(blocks of a ring are whole numbers, so the bytes tell one bucket from two); the rounds tell whether buckets were "
    "waited for one after the other. That a bucket leaves *during* the backward pass is not judged: messages have no "
    "clock here, and it takes a trace to see it.",
    answer=Distributed(
        "ddp",
        signature="ddp(rank, n, x, weights, bucket)",
        inputs=ddp_inputs,
        returns=("grads",),
        cases=[
            # in each, buckets of one weight, of one more than asked, of all, and from the front send other bytes
            Case(4, sizes={"b": 2, "d": 3, "layers": 9}, options={"bucket": 4}),
            Case(4, sizes={"b": 2, "d": 4, "layers": 5}, options={"bucket": 3}),
            Case(3, sizes={"b": 2, "d": 4, "layers": 7}, options={"bucket": 2}),
            Case(2, sizes={"b": 2, "d": 3, "layers": 4}, options={"bucket": 2}),  # the last bucket is full
        ],
        mutants={"a last bucket may be full": partial(ddp, always=True)},
        calls=("all_reduce",),
    ),
    solution=ddp,
    mistakes=(
        Mistake(
            partial(ddp, divide=False),
            "Right directions, and too long: the loss is a mean over all rows, not a sum of means.",
        ),
        Mistake(
            partial(ddp, rest=False),
            "Some gradients never left their rank. What if the last bucket does not fill up?",
            name="ragged-edge",
        ),
        Mistake(
            partial(ddp, fill=100),
            "Right gradients, in one message for all of them: it cannot start before the last gradient is there.",
        ),
        Mistake(
            partial(ddp, fill=1),
            "Right gradients, in a message for each weight: a model of a thousand weights pays a thousand latencies.",
            name="latency-left-out",
        ),
        Mistake(
            partial(ddp, forward=True),
            "Right gradients, in buckets from the first layer on. Which gradient is finished first?",
        ),
        Mistake(partial(ddp, again=True), "Right directions, and too short: you divide by n twice."),
        Mistake(
            partial(ddp, more=1),
            "Right gradients, and a full bucket holds one weight more than `bucket` says.",
        ),
        Mistake(
            partial(ddp, local=True),
            "Those are a rank's own gradients, over n. Was every bucket sent, and waited for before it was read?",
        ),
        Mistake(
            partial(ddp, local=True, divide=False),
            "Those are the gradients of a rank's own rows: either nothing was sent, or no sum was taken back from its "
            "bucket.",
        ),
        Mistake(
            partial(ddp, backwards=True),
            "The gradients are right, in the order in which the backward pass finds them. Which order is asked for?",
            name="gradient-order",
        ),
        Mistake(
            partial(ddp, wait_at_once=True),
            "Right sums, one after the other: no bucket leaves before the sum of the one before it is there, and in a "
            "hook the backward pass waits as well.",
        ),
    ),
    hints=(
        "`w.register_post_accumulate_grad_hook(f)` calls f(w) during the backward pass, as soon as w.grad is finished.",
        "`dist.all_reduce(flat, async_op=True)` returns at once; its `wait()` belongs behind `backward()`. "
        "`flat.split(sizes)` takes a bucket apart again.",
    ),
    explain="The hook collects finished weights. When a bucket is full, its gradients are copied into one array, whose "
    "all-reduce starts without waiting: the backward pass computes earlier layers meanwhile. What is left after "
    "`backward()` is sent as a last bucket. Then all are waited for, divided by n and copied back. However they are "
    "cut, a "
    "rank sends 2(n − 1)/n of all gradients. torch's DDP does the same in C++, in buckets of 25 MiB unless you say "
    "otherwise, with a smaller one first.",
)


def zero1_inputs(case, generator):
    size = case["size"]
    w = generator.normal(size=size).astype(case.dtype)
    velocity = generator.normal(size=size).astype(case.dtype)
    part = size // case.n
    return [
        {"w": w, "g": generator.normal(size=size).astype(case.dtype), "v": velocity[r * part : (r + 1) * part]}
        for r in range(case.n)
    ]


def zero1(rank, n, w, g, v, lr, divide=True, whole_sum=False, old=False, gather=True, way=""):
    import torch
    import torch.distributed as dist

    mine = torch.empty_like(v)
    if whole_sum:
        dist.all_reduce(g)
        mine.copy_(g.view(n, -1)[rank])
    else:
        dist.reduce_scatter_single(mine, g)
    start = mine / n if divide else mine
    if way == "own":
        start = g.view(n, -1)[rank]
    elif way == "mean":
        start = 0.1 * start
    elif way == "rate":
        start = lr * start
    fresh = (0.9 * v + mine) / n if way == "all over n" else 0.9 * v + start
    step = v if old else start if way == "plain" else fresh / lr if way == "rate" else fresh
    part = w.view(n, -1)[rank] - lr * step
    v = {"stale": v, "mean kept": start}.get(way, fresh)
    if not gather:
        w.view(n, -1)[rank] = part
        return w, v
    w = torch.empty_like(w)
    dist.all_gather_single(w, part)
    return w, v


LAB_ZERO1 = Exercise(
    id="data-parallelism-lab-zero1",
    title="Lab: ZeRO-1",
    points=3,
    lines=7,
    prompt="Write a step of ZeRO-1, for SGD with momentum. Every rank has all weights `w` and gradients `g` of its own "
    "rows, both flat; of the momentum it has only part `rank` of n equal parts, `v`. One process would compute, with "
    "the mean of all ranks' gradients, v = 0.9·v + mean and then w = w − lr·v. Return the new w, whole, and the new v, "
    "the part. Judged *exactly* are both; the bytes that each rank sends, as many as in DDP; and its memory: beside "
    "what it was given, its tensors may hold at most one and a half times the bytes of w, and five times those of v.",
    answer=Distributed(
        "zero1",
        signature="zero1(rank, n, w, g, v, lr)",
        inputs=zero1_inputs,
        returns=("w", "v"),
        cases=[
            Case(2, sizes={"size": 64}, options={"lr": 0.5}),
            Case(4, sizes={"size": 256}, options={"lr": 0.125}),
            Case(3, sizes={"size": 96}, dtype="float32", options={"lr": 0.25}),
        ],
        mutants={
            "the new v is returned, not the one before": partial(zero1, way="stale"),
            "the new v is returned, not the mean": partial(zero1, way="mean kept"),
        },
        calls=("all_reduce", "all_gather", "reduce_scatter"),
        rank_bytes=exactly(lambda case: 2 * (case.n - 1) / case.n * case["size"] * case.itemsize),
        memory=at_most(lambda case: (1.5 + 5 / case.n) * case["size"] * case.itemsize),
    ),
    solution=zero1,
    withholds=("hwlib.algorithms",),
    mistakes=(
        Mistake(
            partial(zero1, divide=False),
            "The step is too long: a reduce-scatter adds the ranks' gradients up.",
            name="mean-or-sum",
        ),
        Mistake(
            partial(zero1, whole_sum=True),
            "Right weights, and half more bytes than DDP: does an all-reduce stand where half of it would do, or is "
            "more than the weights gathered whole, such as the momentum?",
            name="all-reduce-for-half",
        ),
        Mistake(partial(zero1, old=True), "You step with the momentum of the step before."),
        Mistake(
            partial(zero1, gather=False),
            "A rank's own part of w is right. From where do the new values of the others come?",
        ),
        Mistake(
            partial(zero1, way="own"), "The momentum takes a rank's own gradients. Whose mean does the prompt ask for?"
        ),
        Mistake(partial(zero1, way="mean"), "That is the running mean of Adam, which weighs a new gradient with 0.1."),
        Mistake(
            partial(zero1, way="rate"),
            "The learning rate is inside your momentum. Where does it stand in the prompt's two lines?",
        ),
        Mistake(partial(zero1, way="plain"), "The weights take a step of the gradient alone, without the momentum."),
        Mistake(
            partial(zero1, way="all over n"),
            "You divide the old momentum by n, too. Of what is the mean taken?",
            name="mean-or-sum",
        ),
    ),
    hints=(
        "Which part of the summed gradients does a rank need, to update its part of the momentum?",
        "`dist.reduce_scatter_single(mine, g)` leaves part `rank` of the sum in mine; `dist.all_gather_single(w, "
        "part)` "
        "joins the parts of all ranks.",
    ),
    explain="An all-reduce is a reduce-scatter and an all-gather, and ZeRO-1 puts the optimizer between the two: "
    "gradients are scattered, (n − 1)/n of them sent; the rank updates its part; the new weights are gathered, (n − "
    "1)/n "
    "of them sent. Together that is what DDP sends, with an n-th of the optimizer's memory.",
)


def zero3_inputs(case, generator):
    d, n = case["d"], case.n
    whole = [(generator.normal(size=(d, d)) / d**0.5).astype(case.dtype) for _ in range(case["layers"])]
    draw = lambda: generator.normal(size=(case["b"], d)).astype(case.dtype)
    return [{"x": draw(), "shards": [w[r * d // n : (r + 1) * d // n] for w in whole], "dy": draw()} for r in range(n)]


def zero3(rank, n, x, shards, dy, divide=True, keep=False, whole_sum=False, forget=False, backwards=False, way=""):
    import torch
    import torch.distributed as dist

    kept = {}

    def gathered(layer):
        if layer in kept:
            return kept[layer]
        shard = shards[layer]
        w = shard.new_empty(n * shard.shape[0], shard.shape[1])
        dist.all_gather_single(w, shard)
        if keep:
            kept[layer] = w
        return w

    inputs, grads = [], []
    for layer in range(len(shards)):
        inputs.append(x)
        x = x @ gathered(layer)
    outputs = [*inputs[1:], x] if way == "outputs" else inputs
    for layer in reversed(range(len(shards))):
        dw = outputs[layer].T @ dy
        if not forget:
            dy = dy @ (gathered(layer) if way == "straight" else gathered(layer).T)
            dy = dy / n if way == "thin" else dy
        dw = outputs[layer].T @ dy if way == "late" else dw
        mine = torch.empty_like(shards[layer])
        if way == "own":
            mine.copy_(n * dw.view(n, -1, dw.shape[1])[rank])
        elif whole_sum:
            dist.all_reduce(dw)
            mine.copy_(dw.view(n, -1, dw.shape[1])[rank])
        else:
            dist.reduce_scatter_single(mine, dw)
        grads.append(mine / n if divide else mine)
    return inputs[-1] if way == "last input" else x, grads if backwards else grads[::-1]


LAB_ZERO3 = Exercise(
    id="data-parallelism-lab-zero3",
    title="Lab: ZeRO-3",
    points=4,
    lines=14,
    prompt="Write a forward and a backward pass of ZeRO-3. The model is `x = x @ w` for each layer's w in turn, and of "
    "every w a rank has only its n-th of the rows, `shards[i]`. It has rows `x` of its own, and `dy`, the gradient of "
    "its loss for the last layer's output. Return that output, and the list of the gradients of the shards, averaged "
    "over the ranks. (Back through a layer, the gradient of w is x.T @ dy, with the layer's own input x, and dy "
    "becomes "
    "dy @ w.T.) Judged *exactly* are the values; at most the bytes of two gathers and a scatter for each layer; and "
    "the memory: beside what a rank was given there is room for the inputs of all layers, the gradients of its shards, "
    "and four whole matrices, be they weights or gradients, but not for those of all layers. (To gather one layer "
    "ahead, or to keep the last one from the forward pass, is allowed.)",
    answer=Distributed(
        "zero3",
        signature="zero3(rank, n, x, shards, dy)",
        inputs=zero3_inputs,
        returns=("y", "grads"),
        cases=[
            Case(2, sizes={"b": 2, "d": 16, "layers": 10}),
            Case(4, sizes={"b": 2, "d": 32, "layers": 8}),
        ],
        mutants={"the last layer's output is returned, not its input": partial(zero3, way="last input")},
        calls=("all_gather", "reduce_scatter", "all_reduce"),
        rank_bytes=at_most(lambda case: 3 * case["layers"] * (case.n - 1) / case.n * case["d"] ** 2 * case.itemsize),
        total_bytes=None,
        rounds=None,
        memory=at_most(
            lambda case: (
                ((4.3 + case["layers"] / case.n) * case["d"] ** 2 + (case["layers"] + 4) * case["b"] * case["d"])
                * case.itemsize
            )
        ),
    ),
    solution=zero3,
    withholds=("hwlib.algorithms",),
    mistakes=(
        Mistake(
            partial(zero3, divide=False),
            "A reduce-scatter adds up. What was asked for is the mean.",
            name="mean-or-sum",
        ),
        Mistake(
            partial(zero3, keep=True), "Right gradients, and by the end of the forward pass you hold the whole model."
        ),
        Mistake(
            partial(zero3, whole_sum=True),
            "Right gradients, and four transfers of each layer where three do: either weights are gathered a third "
            "time, or ranks are sent sums of rows that they drop.",
        ),
        Mistake(partial(zero3, forget=True), "The last layer is right. What becomes of dy on the way through a layer?"),
        Mistake(
            partial(zero3, way="own"), "Those are the gradients of a rank's own rows of x, which nobody has added up."
        ),
        Mistake(
            partial(zero3, way="outputs"),
            "The gradient of w is made from what goes into its layer. Is that what you have kept?",
        ),
        Mistake(
            partial(zero3, way="late"),
            "The gradient of a layer's w needs dy at that layer's output. Which dy do you have by then?",
        ),
        Mistake(
            partial(zero3, way="straight"),
            "On the way back dy goes through a layer the other way. What becomes of the matrix?",
        ),
        Mistake(
            partial(zero3, way="thin"),
            "The last layer is right, and every layer before it has an n-th of the one behind. How often is a mean "
            "taken?",
        ),
        Mistake(
            partial(zero3, backwards=True),
            "The gradients are there, in the order in which the backward pass finds them.",
            name="gradient-order",
        ),
    ),
    hints=(
        "What must be kept from the forward pass for the gradient of each layer's weights? What must not?",
        "In the backward pass every w is gathered once more, and let go before the next. A name that still holds it "
        "keeps it alive.",
    ),
    explain="Forward, each layer's rows are gathered, used and let go; its input is kept. Backward, from the "
    "last layer on, the weights are gathered once more for `dy @ w.T`, and the gradient `x.T @ dy` is "
    "reduce-scattered, "
    "so that only its rows stay. That is two gathers and a scatter, 3(n − 1)/n of the weights for each rank, where DDP "
    "sends two of the three. At the peak a rank holds one layer's weights and gradient, its shards and the inputs. "
    "FSDP gathers the next layer while it computes this one, and so holds two.",
)

READ_PROFILE = Exercise(
    id="data-parallelism-read-profile",
    title="Six per cent exposed",
    prompt="Two A100s train a convolutional network with DDP. Of rank 0's trace of three steps, 660.6 ms (a test file "
    "of Holistic Trace Analysis, `nccl_parser_config`, as it was in May 2026), `gpubook trace` prints, among other "
    "lines:\n\n"
    "```text\n"
    "rank             time   compute   exposed    copies      idle    launch   loading\n"
    "0            660.6 ms     17.5%      6.0%      0.3%     76.2%     75.3%      0.0%\n"
    "exposed: communication with no kernel beside; launch and loading: the parts of idle in\n"
    "which nothing was launched yet, and in which the host waited for a batch.\n"
    "kernel                       time  of time     calls\n"
    "ncclKernel_AllReduce      46.8 ms     7.1%        15\n"
    "```\n\n"
    "The owner wants shorter steps. What holds them up most? *Exact*: one sentence follows from the row.",
    answer=Choice(
        {
            "host": "the host: most of the time it has not launched yet what the device could run",
            "network": "the network: a faster link would take most of the step away",
            "overlap": "missing overlap: the all-reduces run after the backward pass instead of beside it",
            "loader": "the loader: the device waits for the next batch",
            "kernels": "the kernels: convolutions and norms take most of the step",
        }
    ),
    solution="host",
    mistakes=(
        Mistake("network", "If all communication took no time at all, by how much would the step be shorter?"),
        Mistake("overlap", "Exposed is what overlap could hide at most. Which share of the time is that here?"),
        Mistake("loader", "The device does wait, but not for that: which column counts the waits for a batch?"),
        Mistake("kernels", "Kernels run for 17.5 % of the time. What does the device do for most of the rest?"),
    ),
    hints=(
        "Compute, exposed, copies and idle add up to the whole; launch and loading are parts of idle.",
        "Of which column would a step be four times as short, were it zero?",
    ),
    explain="Compute, exposed communication, copies and idle are all of the time, and idle is 76.2 % of it, nearly all "
    "while nothing was launched. Without that a step would be "
    f"{1 / (1 - 0.753):.1f} times as short; with all communication hidden only {1 / (1 - 0.06):.2f} times, whatever "
    "the link. Short kernels, thousands of them, are launched one by one: larger batches, compilation or CUDA graphs "
    "help. One more candidate is the profiler itself, which slows the host down and hardly the device, so time a step "
    "without it first.",
)


SM_SHARE = Exercise(
    id="data-parallelism-sm-share",
    title="What hiding costs",
    points=2,
    prompt="The products of a backward pass take `t_math` on all multiprocessors of a chip. Beside them runs an "
    "all-reduce of `t_comm`, which ends before they do. While it runs it occupies a share `s` of the multiprocessors, "
    "and the products go on with the others, more slowly in proportion. How long does the pass take? *Exact*.",
    answer=Expression(
        {
            "t_math": positive("s", 2e-2, 1e-1),
            "t_comm": positive("s", 1e-3, 1.5e-2),
            "s": positive("1", 0.02, 0.5),
        }
    ),
    solution=lambda t_math, t_comm, s: t_math + s * t_comm,
    mistakes=(
        Mistake(lambda t_math: t_math, "So it is if the all-reduce takes nothing of the chip."),
        Mistake(
            lambda t_math, s: t_math / (1 - s),
            "That takes the multiprocessors away for the whole pass. When are they back?",
        ),
        Mistake(
            lambda t_math, t_comm: t_math + t_comm,
            "That is the pass and the all-reduce one after the other.",
            name="times-added",
        ),
        Mistake(
            lambda t_math, t_comm, s: t_math + t_comm * s / (1 - s),
            "How much work is left when the all-reduce ends? It is done at the full rate.",
        ),
        Mistake(
            lambda t_math, t_comm, s: t_math + (1 - s) * t_comm,
            "That is how much of the all-reduce was used for products. What was lost is the rest.",
        ),
        Mistake(
            lambda t_math, t_comm, s: t_math - (1 - s) * t_comm,
            "That is the work left when the all-reduce ends. How long have you been at it by then?",
        ),
    ),
    hints=(
        "How much of the products is done by the time that the all-reduce ends?",
        "The rest runs at the full rate. Add the two stretches of time.",
    ),
    explain="In t_comm the products get on by `(1 - s)*t_comm`. Then `t_math - (1 - s)*t_comm` is left, at full rate: "
    "together `t_comm + t_math - (1 - s)*t_comm = t_math + s*t_comm`. So hiding saves 1 − s of the all-reduce and not "
    f"all of it: with the 20 of 132 multiprocessors that DeepSeek-V3 set aside, {1 - 20 / 132:.0%}.",
)

BYTES_3 = zero3_bytes(1.0, 1e9, m=8) / dp_bytes(1.0, 1e9)

PREDICT_ACCUMULATE = Exercise(
    id="data-parallelism-predict-accumulate",
    title="Predict: eight microbatches",
    predict=True,
    prompt="A step accumulates the gradients of 8 microbatches. With DDP a rank sums its gradients on its own and "
    "all-reduces them once. With ZeRO-3, as FSDP does by default, nothing is kept gathered from one pass to the next, "
    "and gradients are scattered in each. All in bf16. How many times as many bytes does ZeRO-3 send in a step, *to "
    "first order* in the number of ranks?",
    answer=Choice({"1": "as many", "1.5": "1.5 times", "8": "8 times", "12": "12 times"}, ordered=True),
    solution="12",
    mistakes=(
        Mistake("1", "For one microbatch ZeRO-1 sends as much as DDP. What does ZeRO-3 gather?"),
        Mistake("1.5", "So it is for one microbatch. What happens in the seven others?"),
        Mistake("8", "Does DDP send as much in a step as ZeRO-3 does for each microbatch?"),
    ),
    hints=("How often are all weights gathered for one microbatch, and how often are gradients scattered?",),
    explain="A gather or a scatter of P elements of two bytes sends 2P; DDP's all-reduce is one of each. ZeRO-3 "
    f"gathers twice and scatters once, for each of 8 microbatches: 24 against 2, {BYTES_3:.0f} times.",
)

DECIDE_TIMES = {
    "hsdp": job_time(*AFTER) / job_time(*AFTER),
    "b200": job_time(*AFTER) / job_time(*AFTER, C=accelerators["b200-sxm"].bf16_flops),
    "accumulate": 2 * job_time(*AFTER) / (6 * P_JOB * AFTER[2] / C + job_time(*AFTER)),
    "byte": job_time(*AFTER) / job_time(*AFTER, b_g=1),
}

DECIDE = Exercise(
    id="data-parallelism-decide",
    title="Decide: below the critical batch",
    prompt=f"The job of this chapter's question runs on {AFTER[0]:,} H100 with {AFTER[2]:,} tokens a GPU. You may "
    "change one thing. Which raises its tokens per second most, *to first order*, by the model of two clocks?",
    answer=Choice(
        {
            "hsdp": "states divided among the 8 GPUs of each node, and gradients all-reduced between nodes",
            "b200": "B200s in place of the H100s, with the same network cards",
            "accumulate": f"two microbatches of {AFTER[2]:,} tokens before each all-reduce",
            "byte": "gradients sent in one byte each instead of two",
        }
    ),
    solution=lambda: max(DECIDE_TIMES, key=DECIDE_TIMES.__getitem__),
    mistakes=(
        Mistake("hsdp", "How many bytes leave a node when each of its GPUs all-reduces an eighth of the gradients?"),
        Mistake("b200", "Which of the two clocks decides in the backward pass, and which of them gets faster?"),
        Mistake(
            "accumulate",
            "Each all-reduce is paid half as often. What of it could run beside arithmetic before, and now?",
        ),
    ),
    hints=(
        "Write the step as forward, and the longer of backward and all-reduce. Which of these does each change touch?",
        "With two microbatches, only the last backward pass has finished sums to send.",
    ),
    explain="A step is a forward pass of "
    f"{show(2 * P_JOB * AFTER[2] / C, 's', 3)}, and then the longer of backward, "
    f"{show(4 * P_JOB * AFTER[2] / C, 's', 3)}, "
    f"and the all-reduce, {show(dp_comm_time(P_JOB, AFTER[1], W_NODE), 's', 3)}. One byte halves the longest of them: "
    f"{DECIDE_TIMES['byte']:.2f} times the tokens. B200s shorten what is not the longest: "
    f"{DECIDE_TIMES['b200']:.2f}. Two microbatches add a pass that hides nothing: {DECIDE_TIMES['accumulate']:.2f}. "
    "Sharding inside the nodes sends what a hierarchical all-reduce sends anyway. (One byte may cost accuracy; that "
    "is another question.)",
)

CRITICAL = Exercise(
    id="data-parallelism-critical-moe",
    title="The critical batch of a mixture",
    points=3,
    prompt="A mixture of experts has {P:param}, of which a token uses {P_act:param}. Each of {n_out} nodes of {n_in} "
    "GPUs holds one copy, and gradients of {b_g} bytes are all-reduced between the nodes, in a ring, as soon as the "
    "backward pass has them; all cards of a node work together, {W:B/s} one way. A GPU reaches {C:FLOP/s}. How many "
    "tokens does each GPU need for its backward pass to last as long as the all-reduce? *Exact* for this model, with "
    "4 FLOP a token and parameter used.",
    given=[
        dict(P=P, P_act=P_act, n_out=n_out, n_in=8, b_g=b_g, W=W, C=C)
        for P, P_act, n_out, b_g, W, C in (
            (30.5e9, 3.3e9, 6, 4, 400 * GB, 989e12),
            (117e9, 5.1e9, 5, 2, 400 * GB, 2250e12),
            (46.7e9, 12.9e9, 3, 4, 200 * GB, 312e12),
            (235e9, 22e9, 5, 4, 400 * GB, 989e12),
            (106e9, 12e9, 3, 2, 800 * GB, 2250e12),
        )
    ],
    answer=Quantity("token"),
    solution=lambda P, P_act, n_out, b_g, W, C: P / P_act * b_g * C / (2 * W) * (n_out - 1) / n_out,
    mistakes=(
        Mistake(
            lambda n_out, b_g, W, C: b_g * C / (2 * W) * (n_out - 1) / n_out,
            "That is a dense model. Which parameters' gradients are sent, and which cost arithmetic?",
            name="experts-all",
        ),
        Mistake(
            lambda P, P_act, b_g, W, C: P / P_act * b_g * C / (2 * W),
            "So it is for very many nodes. What part of the array does a ring of {n_out} not have to send?",
        ),
        Mistake(
            lambda P, P_act, n_out, n_in, b_g, W, C: n_in * P / P_act * b_g * C / (2 * W) * (n_out - 1) / n_out,
            "{n_in} times what it takes: the tokens of a node, or those of a GPU behind a single card. How many GPUs "
            "compute, and how many cards send?",
            name="gpu-for-node",
            names_all=True,
        ),
        Mistake(
            lambda P, P_act, n_out, n_in, b_g, W, C: P / P_act * b_g * C / (2 * W) * (n_out - 1) / n_out / n_in,
            "One part in {n_in} of what it takes. Every GPU has tokens of its own, and {W:B/s} are all cards "
            "together: what did you divide by {n_in}?",
            name="gpu-for-node",
            names_all=True,
        ),
        Mistake(
            lambda P, P_act, n_out, b_g, W, C: P / P_act * b_g * C / (2 * W) * (n_out - 1),
            "{n_out} times what it takes. How much of the array does a node pass on at each step of a ring?",
        ),
        Mistake(
            lambda P, P_act, n_out, b_g, W, C: P_act / P * b_g * C / (2 * W) * (n_out - 1) / n_out,
            "A sparse model computes less for the bytes that it sends. Does it then need fewer tokens?",
        ),
        Mistake(
            lambda P, P_act, n_out, b_g, W, C: P / P_act * b_g * C / (4 * W) * (n_out - 1) / n_out,
            "Half of what it takes. Has each of your gradients {b_g} bytes, and does it cross the network twice, in a "
            "partial "
            "sum and as a sum?",
            names_all=True,
        ),
        Mistake(
            lambda P, P_act, n_out, b_g, W, C: P / P_act * b_g * C / W * (n_out - 1) / n_out,
            "Twice what it takes. A backward pass has four operations a parameter and token, and {W:B/s} are one way "
            "already.",
            names_all=True,
        ),
        Mistake(
            lambda P, P_act, n_out, b_g, W, C: P / P_act * b_g * C / (3 * W) * (n_out - 1) / n_out,
            "No gradient is there yet during the forward pass, so it hides nothing of the all-reduce.",
        ),
        Mistake(
            lambda P, P_act, n_in, n_out, b_g, W, C: (
                P / P_act * b_g * C / (2 * W) * (n_in * n_out - 1) / (n_in * n_out)
            ),
            "The ring is one of nodes: each of them sends and receives through all its cards together.",
            name="gpu-for-node",
        ),
    ),
    hints=(
        "Write the time of the all-reduce with all parameters, and that of the backward pass with those that a token "
        "uses.",
        "A node of {n_in} GPUs computes on {n_in} times the tokens, at {n_in} times the rate.",
    ),
    explain="Between n_out = {n_out} nodes a ring sends `2*(n_out - 1)/n_out*b_g*P` bytes from each, with b_g = {b_g} "
    "and P = {P:param}: over W = {W:B/s}. The backward pass of a GPU takes `4*P_act*B/C` for its B tokens, with P_act "
    "= "
    "{P_act:param} and C = {C:FLOP/s}; the node's other GPUs do the same at the same time. Equal at `B = P/P_act*"
    "b_g*C/(2*W)*(n_out - 1)/n_out`.",
)


def fixed_time(B1, r1, B2, r2):
    """What is left of a step at no tokens, on the line through two of them."""
    return B2 / r2 - (B1 / r1 - B2 / r2) / (B1 - B2) * B2


FIXED_RUNS = [(1024, 16384, 4096), (1024, 16384, 8192), (512, 16384, 8192)]
FIXED_TIMES = ", ".join(
    f"{show(fixed_time(a, intern(n, a).rate, b, intern(n, b).rate), 's', 2)} from {a:,} and {b:,} tokens on {n:,} GPUs"
    for n, a, b in FIXED_RUNS
)

FIXED = Exercise(
    id="data-parallelism-measured-fixed",
    title="What no token pays for",
    points=3,
    prompt="InternEvo published the rate of one plan on {n} A100s at two batches: {r1:token/s} on each GPU with "
    "{B1:token} a "
    "GPU and step, and {r2:token/s} with {B2:token}. Assume that a step takes a fixed time and, on top, a time "
    "in proportion to its tokens. How long is the fixed time? *Exact* for this model.",
    given=[
        dict(
            n=n,
            B1=B1,
            r1=intern(n, B1).rate,
            B2=B2,
            r2=intern(n, B2).rate,
        )
        for n, B1, B2 in FIXED_RUNS
    ],
    answer=Quantity("s"),
    solution=fixed_time,
    mistakes=(
        Mistake(
            lambda B1, r1, B2, r2: B2 / r2 - B2 / r1,
            "That takes the large step for free of the fixed time. Both steps have it.",
        ),
        Mistake(
            lambda B1, r1, B2, r2: B1 / r2 - B1 / r1,
            "So much longer do {B1:token} take in small steps than in one large one. How many fixed times more do the "
            "small steps have?",
        ),
        Mistake(
            lambda B1, r1, B2, r2: B1 / r1 - B2 / r2,
            "That is what the additional tokens take. What do {B2:token} take, and what is left of their step?",
        ),
        Mistake(
            lambda B1, r1, B2, r2: B2 / r2,
            "That is the whole of the smaller step. How much of it is in proportion to its tokens?",
        ),
        Mistake(
            lambda B1, r1, B2, r2: (B1 / r1 - B2 / r2) / (B1 - B2) * B2,
            "That is what the tokens of the smaller step take. And the rest of it?",
        ),
        Mistake(
            lambda B1, r1, B2, r2: 1 / (r2 - (r1 - r2) / (B1 - B2) * B2),
            "It is the times that grow along a line, not the rates.",
        ),
    ),
    hints=(
        "Turn both rates into the time of a step.",
        "Two points give a line: its slope is the time of a token. What is left at no tokens?",
    ),
    explain="The steps take `B1/r1` and `B2/r2`: B1 = {B1:token} at r1 = {r1:token/s}, B2 = {B2:token} at r2 = "
    "{r2:token/s}. Their difference over `B1 - B2` is the time of a token, and a step "
    "less its tokens is the fixed time. What could it be? A ring of 128 nodes sends 2·127/128·2 bytes of each of the "
    f"{P_INTERN / 1e9:.2f} billion gradients out of a node, at {W_ROCE / GB:.0f} GB/s in "
    f"{show(dp_comm_time(P_INTERN, 128, W_ROCE), 's', 3)}; one of 64 nodes takes "
    f"{show(dp_comm_time(P_INTERN, 64, W_ROCE), 's', 3)}. The published rows give {FIXED_TIMES}: on 1,024 GPUs as "
    "long as all of the all-reduce and longer, as if nothing of it were hidden, and on 512 shorter.",
)

WHY = Exercise(
    id="data-parallelism-why",
    title="Hidden, and slower all the same",
    prompt="A colleague doubled the GPUs of a data-parallel job, halved the batch of each, and got 1.6 times the "
    "speed. In the traces of both runs every collective has kernels beside it from beginning to end: nothing is "
    "exposed. Name two things that can cost the rest of the time, say for each why it weighs more now than before, "
    "and how you would measure it.",
    answer=Written(
        rubric=(
            ("Names two causes other than exposed communication, which the traces allow.", 2),
            ("Says why each weighs more with half the batch or twice the GPUs.", 1),
            ("Gives for each a measurement that would tell it from the other.", 1),
        ),
        words=150,
    ),
    solution="First, hiding has a price: a collective takes multiprocessors and memory bandwidth from the kernels "
    "beside it. It is as long as before, and now runs beside all of a backward pass that is half as long. Compare the "
    "time of one product with a collective beside it and without. Second, what does not shrink with the batch: the "
    "optimizer's step, launches from the host, loading data. Count the kernels' time by "
    "kind in both traces: what is the same in both is fixed. Third, products of fewer rows reach less of the peak: "
    "compare the FLOP/s of one product in both runs, on one GPU alone, without any network.",
)


# The scenario
KEPT = {
    "ddp": lambda gpus: 16,
    "zero1": lambda gpus: 4 + 12 / 8,
    "hsdp": lambda gpus: 16 / 8,
    "zero3": lambda gpus: 16 / gpus,
}
MOST_BYTES = 72 * GB


def job_memory(P, keep, T, nodes, states, micro, recompute):
    """Bytes of a GPU: its states, and the activations of a microbatch."""
    return KEPT[states](8 * nodes) * P + micro * T * keep / (16 if recompute == "full" else 1)


def job_step(P, T, N, W, C, nodes, states, micro, recompute):
    """Seconds of a step: arithmetic, and what of the messages is longer than the pass beside them."""
    if N % (8 * nodes * micro):
        raise ValueError(f"{N} sequences do not make whole microbatches of {micro} on each of {8 * nodes} GPUs")
    m = N // (8 * nodes * micro)
    forward = 2 * P * micro * T / C
    backward = forward * (3 if recompute == "full" else 2)
    once = (nodes - 1) / nodes * 2 * P / W  # a gather of all weights, or a scatter of all gradients, for a node
    wait = max(0, 2 * once - backward)
    if states == "zero3":
        wait = m * (wait + max(0, once - forward))
    work = m * (forward + backward)
    return Breakdown(work + wait, {"arithmetic": work, "waiting for the network": wait})


def job_days(P, T, N, tokens, W, C, nodes, states, micro, recompute):
    return tokens / (N * T) * job_step(P, T, N, W, C, nodes, states, micro, recompute).total / 86400


def job_cost(P, T, N, tokens, W, C, nodes, states, micro, recompute):
    """GPU days of the run."""
    step = job_step(P, T, N, W, C, nodes, states, micro, recompute)
    times = 8 * nodes * tokens / (N * T) / 86400
    return Breakdown(times * step.total, {name: times * part for name, part in step.terms.items()})


def job_error(P, T, N, W, C, nodes, states, micro, recompute, step):
    return abs(step / job_step(P, T, N, W, C, nodes, states, micro, recompute).total - 1)


def job_best(P, keep, T, N, tokens, days, W, C):
    """The letter of the fewest GPU days, with these: every decision tried."""
    found = []
    powers = [2**k for k in range(9)]
    for many, states, micro, recompute in product(powers, KEPT, range(1, 65), ("none", "full")):
        plan = dict(nodes=many, states=states, micro=micro, recompute=recompute)
        if N % (8 * many * micro) or job_memory(P, keep, T, **plan) > MOST_BYTES:
            continue
        step = job_step(P, T, N, W, C, **plan).total
        if tokens / (N * T) * step <= days * 86400:
            found.append((job_cost(P, T, N, tokens, W, C, **plan).total, {**plan, "step": step}))
    return min(found, key=lambda one: one[0])


def job_letter(P, keep, T, N, tokens, days, W, C, **changes):
    """The best letter with changes, and with the time of its step right unless that is changed."""
    plan = {**job_best(P, keep, T, N, tokens, days, W, C)[1], **changes}
    if "step" not in changes:
        plan.pop("step")
        plan["step"] = round(job_step(P, T, N, W, C, **plan).total, 4)
    return plan


def job_doubled(**given):
    twice = 2 * job_best(**given)[1]["nodes"]
    return job_letter(**given, nodes=twice, states="hsdp", micro=max(1, given["N"] // (8 * twice)))


SCENARIO = Exercise(
    id="data-parallelism-scenario",
    title="A letter about nodes",
    points=3,
    prompt="Somebody has to write this letter: *“For the run we book … nodes. The states are kept as …, a microbatch "
    "has … sequences, recomputation is …, and a step will take … s.”*\n\n"
    "The model has {P:param}. It is trained on {tokens:token}, {N} sequences of {T} tokens in a step, whatever the "
    "nodes, in at most {days} days. A node has eight GPUs of 80 GB, which reach {C:FLOP/s} each, and the node as a "
    "whole sends {W:B/s} one way to the others; you may book up to 256. Which letter costs the fewest GPU days?\n\n"
    "*Memory.* Mixed precision takes 16 bytes a parameter: 2 of weights, 2 of gradients, 12 of the optimizer. "
    '`"ddp"` keeps all of them on every GPU; `"zero1"` divides the optimizer among the eight GPUs of a node, and '
    '`"hsdp"` everything among these; `"zero3"` divides everything among all GPUs. Activations take {keep:B} for each '
    "token of a microbatch, with full recomputation a sixteenth of that. Beyond 72 GB the job dies in its first "
    "step.\n\n*Time.* A token costs 2 operations a parameter forward and 4 backward, with full recomputation 2 more "
    "in the backward pass. All GPUs have the same number of microbatches. Gradients of two bytes are summed between "
    "the nodes in "
    'a ring, once a step, beside the last microbatch\'s backward pass. With `"zero3"` instead the weights are gathered '
    "beside each pass of each microbatch, and the gradients scattered beside each backward pass; a gather or a scatter "
    "takes (nodes − 1)/nodes of two bytes a parameter through a node's wires. What stays inside a node is hidden. A "
    "pass takes as long as its arithmetic or as what is sent beside it, whichever is longer. *Exact* for this model; "
    "the time in the letter has to be right within 3 %.",
    given=[
        dict(P=P * 1e9, keep=keep * 1e6, T=T, N=N, tokens=tokens * 1e12, days=days, W=W * GB, C=C * 1e12)
        for P, keep, T, N, tokens, days, W, C in (
            (6.74, 4.2, 2048, 2048, 2, 5.5, 50, 187),
            (13.0, 6.6, 2048, 1024, 1, 10, 50, 187),
            (6.74, 4.2, 4096, 1024, 1, 4, 50, 495),
        )
    ],
    answer=Design(
        fields={
            "nodes": Field("nodes of eight GPUs", 1, 256, whole=True),
            "states": Field("how weights, gradients and optimizer are divided", options=tuple(KEPT)),
            "micro": Field("sequences of a microbatch, on a GPU", 1, 64, whole=True),
            "recompute": Field("recomputation", options=("none", "full")),
            "step": Field("the time of a step", 0, 1000, unit="s"),
        },
        objective=job_cost,
        measure="the GPU days of the run",
        conditions=[
            Condition("the memory of a GPU", job_memory, at_most=MOST_BYTES, unit="B"),
            Condition("the time of the run, in days", job_days, at_most=lambda days: days),
            Condition("the letter's error in the time of a step", job_error, at_most=0.03),
        ],
        pars=[
            Par(1, lambda best: 1.6 * best),
            Par(2, lambda best: 1.1 * best),
            Par(3, lambda best: 1.001 * best),
        ],
        known=[Known(lambda **given: job_best(**given)[0], "all letters tried")],
    ),
    solution=lambda **given: job_letter(**given),
    mistakes=(
        Mistake(
            lambda **given: job_letter(**given, states="ddp"),
            "Every GPU keeps every state. How many bytes are 16 for each parameter, beside 80 GB?",
        ),
        Mistake(
            lambda **given: job_letter(**given, states="hsdp", micro=1),
            "Small microbatches leave memory free. How long is the last backward pass now, and what runs beside it?",
        ),
        Mistake(
            job_doubled,
            "Twice the nodes have half the batch each. What of their time is arithmetic?",
        ),
    ),
    hints=(
        "Memory first: for each way to divide the states, how many sequences fit without recomputation?",
        "Then the deadline: how long may a step be, and how many nodes does the arithmetic alone need for it?",
        "Compare the sum of the gradients with one backward pass. More nodes make the pass shorter, and not the sum.",
    ),
    explain="The deadline allows `days*86400*N*T/tokens` seconds a step, and the arithmetic of a step, "
    "`6*P*N*T/(8*nodes*C)`, says from how many nodes on that can be. The sum between nodes takes `4*P/W` and a little "
    "less, whatever the nodes; it hides behind the `4*P*micro*T/C` of a last backward pass if a microbatch has enough "
    "tokens, `C/W` of them. So the states must leave room for that microbatch: with P = {P:param} they are 16 bytes "
    "each with DDP, which fits nowhere, 5.5 with ZeRO-1 in a node, 2 divided within it, next to nothing divided among "
    "all. Recomputation would make room as well, for a third more arithmetic. Twice the nodes halve the pass below "
    "the sum: then GPU days are spent waiting.",
)

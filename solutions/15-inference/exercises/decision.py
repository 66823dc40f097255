"""The scenario: which replica to buy, for a rate that somebody promised."""

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.specs import accelerators, models
from hwlib.transformer import kv_bytes_per_token, matmul_parameters, parameter_count

_H100, _LLAMA = accelerators["h100-sxm"], models["llama3-70b"]
_HBM, _W = _H100.hbm_bytes, _H100.hbm_bandwidth
_WEIGHTS, _WORK = parameter_count(_LLAMA), 2 * matmul_parameters(_LLAMA)
_LAYERS, _TOKEN = _LLAMA.layers, kv_bytes_per_token(_LLAMA, 2)
_SIZES = {"bf16": 2.0, "fp8": 1.0, "int4": 0.53}
_RATES = {"bf16": _H100.bf16_flops, "fp8": _H100.fp8_flops, "int4": _H100.bf16_flops}
_ETA_W, _ETA_C, _LAYER, _SUM, _ROOM = 0.85, 0.6, 50e-6, 12e-6, 0.9  # as the prompt says
_WIDTHS = (1, 2, 4, 8)


def replica_step(context, tp, weights, batch):
    """Seconds of a step and its parts, as the prompt defines it."""
    if tp not in _WIDTHS:
        raise ValueError(f"a layer is cut among 1, 2, 4 or 8 GPUs, got {tp}")
    read = _WEIGHTS * _SIZES[weights] / (tp * _ETA_W * _W)
    math = _WORK * batch / (tp * _ETA_C * _RATES[weights])
    parts = {
        "weights or arithmetic": max(read, math),
        "caches": batch * context * _TOKEN / (tp * _ETA_W * _W),
        "layers": _LAYERS * _LAYER,
        "sums": 2 * _LAYERS * _SUM if tp > 1 else 0.0,
    }
    return Breakdown(sum(parts.values()), parts)


def held(longest, tp, weights, batch):
    """Bytes of a GPU, all sequences at the 99th percentile."""
    return (_WEIGHTS * _SIZES[weights] + batch * longest * _TOKEN) / tp


def rate_each(context, tp, weights, batch):
    return 1 / replica_step(context, tp, weights, batch).total


def rate_gpu(context, tp, weights, batch):
    step = replica_step(context, tp, weights, batch)
    return batch / (tp * step.total)


def off(context, tp, weights, batch, rate):
    return abs(rate / rate_each(context, tp, weights, batch) - 1)


def best_replica(context, longest, promised, gpus):
    """The most tokens a second of a GPU, by trying every width and format at the largest batch that passes."""
    found = (0.0, 0, "", 0)
    for tp in (n for n in _WIDTHS if n <= gpus):
        for weights in _SIZES:
            fits = int((_ROOM * _HBM * tp - _WEIGHTS * _SIZES[weights]) // (longest * _TOKEN))
            batch = min(fits, 512)
            while batch > 0 and rate_each(context, tp, weights, batch) < promised:
                batch -= 1
            if batch > 0:
                found = max(found, (rate_gpu(context, tp, weights, batch), tp, weights, batch))
    return found


def best_rate(context, longest, promised, gpus):
    return best_replica(context, longest, promised, gpus)[0]


def best_record(context, longest, promised, gpus):
    _, tp, weights, batch = best_replica(context, longest, promised, gpus)
    return dict(tp=tp, weights=weights, batch=batch, rate=round(rate_each(context, tp, weights, batch), 2))


def full_at_mean(context):
    """As many as fit at the mean context."""
    batch = int((_ROOM * _HBM * 4 - _WEIGHTS) // (context * _TOKEN))
    return dict(
        tp=4, weights="fp8", batch=min(batch, 512), rate=round(rate_each(context, 4, "fp8", min(batch, 512)), 2)
    )


def few(context):
    return dict(tp=4, weights="fp8", batch=4, rate=round(rate_each(context, 4, "fp8", 4), 2))


def all_that_fit(context, longest, promised, gpus):  # noqa: ARG001
    """The best replica if the memory alone bounds the batch, and the promise does not."""
    return best_record(context, longest, 1, gpus)


def by_the_sheet(context, longest, promised, gpus):
    record = best_record(context, longest, promised, gpus)
    tp, weights, batch = record["tp"], record["weights"], record["batch"]
    sheet = (_WEIGHTS * _SIZES[weights] + batch * context * _TOKEN) / (tp * _W)
    return {**record, "rate": round(1 / sheet, 2)}


SCENARIO = Exercise(
    id="inference-scenario",
    title="A letter about a replica",
    points=4,
    prompt="Sales has promised {promised} tokens a second to every user of an assistant on Llama 3.1 70B, and asks you "
    "which replica to multiply, of at most {gpus} H100s in one node. The mean context is {context} "
    "tokens, the 99th percentile {longest}. "
    "Your letter names four things: `tp`, the GPUs of a replica, which share each layer (1, 2, 4 or 8); "
    '`weights`, "bf16", "fp8" or "int4"; `batch`, the sequences of a replica at once; '
    "and `rate`, the tokens a second that a user will see, which "
    "you will be held to.\n\nOne condition breaks the service: if the caches of the whole batch do not fit at the 99th "
    "percentile, sequences are thrown out and read again. Weights and caches may take 90 % of the memory, 80 GB each. "
    "The cache is in bf16. Quality has passed all three formats.\n\nReckon a step so: weights (2, 1 or 0.53 bytes "
    "each, all parameters) at 85 % of 3.35 TB/s, or arithmetic (two operations for each parameter of a matrix and "
    'token) at 60 % of the peak, bf16 for "int4", whichever is longer; plus the caches at the mean context, at 85 %; '
    "plus 50 µs a layer; plus, for more than one GPU, two sums a layer of 12 µs each. The more tokens a second *a GPU* "
    "gives, the better. *Exact* for this model.",
    given=[
        dict(context=2000, longest=12000, promised=80, gpus=8),
        dict(context=6000, longest=24000, promised=72, gpus=4),
        dict(context=2000, longest=6000, promised=52, gpus=4),  # memory and promise bind, each with another batch
        dict(context=8000, longest=32000, promised=80, gpus=8),
    ],
    answer=Design(
        fields={
            "tp": Field("GPUs that share each layer", 1, 8, whole=True),
            "weights": Field("the format of the weights", options=("bf16", "fp8", "int4")),
            "batch": Field("sequences of a replica at once", 1, 512, whole=True),
            "rate": Field("tokens a second that a user sees", 1, 500, unit="1/s"),
        },
        objective=rate_gpu,
        measure="the tokens a second of a GPU",
        unit="1/s",
        most=True,
        conditions=[
            Condition(
                "the memory of a GPU with every context at the 99th percentile", held, at_most=_ROOM * _HBM, unit="B"
            ),
            Condition("the GPUs of the replica", lambda tp: tp, at_most=lambda gpus: gpus),
            Condition("the tokens a second of a user", rate_each, at_least=lambda promised: promised),
            Condition("the distance of your rate from the model's, as a share of it", off, at_most=0.03),
        ],
        pars=[
            Par(2, lambda best: 0.8 * best),
            Par(3, lambda best: 0.95 * best),
            Par(4, lambda best: 0.999 * best),
        ],
        known=[Known(best_rate, "a search")],
    ),
    solution=best_record,
    mistakes=(
        Mistake(full_at_mean, "Your batch fills the memory at the mean context. What happens on a bad day?"),
        Mistake(all_that_fit, "That is what the memory holds. At which rate does each user read then?"),
        Mistake(few, "Few sequences on four GPUs: fast for each user, and what does a GPU earn?"),
        Mistake(
            by_the_sheet,
            "That is the rate of the data sheet. What else takes time in a step?",
            name="peak-for-sustained",
        ),
    ),
    hints=(
        "Memory first: for each width and format, how many contexts of the 99th percentile fit beside the weights?",
        "Then the time: does the promised rate allow that batch? The smaller of the two batches counts.",
        "Twelve cases, three lines of Python each. Compare batch/(tp·step).",
    ),
    explain="For every width and format the batch is the smaller of two: what fits at the 99th percentile, "
    "and what the "
    "promised rate allows at the mean. Weights in few bits leave room for caches, which is what the rate of a GPU is "
    "made of here; a wider replica leaves more room for each GPU, and pays with sums and with layers whose 50 µs do "
    "not shrink. The time of the layers is {promised} times 4 ms of every second, and only the batch divides it.",
)

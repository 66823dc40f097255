"""The open design: nodes for prompts and nodes for decoding, as cheap as the promises allow."""

from functools import cache

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.inference import pooled_wait
from hwlib.specs import accelerators, models
from hwlib.transformer import kv_bytes_per_token, matmul_parameters, parameter_count

_H100, _LLAMA = accelerators["h100-sxm"], models["llama3-70b"]
_WEIGHTS, _WORK = parameter_count(_LLAMA), 2 * matmul_parameters(_LLAMA)
_TOKEN, _LAYERS, _WIDTH = kv_bytes_per_token(_LLAMA, 1), _LLAMA.layers, _LLAMA.width
_C, _W, _NVLINK, _CARD = 0.4 * _H100.fp8_flops, 0.85 * _H100.hbm_bandwidth, 450e9, 50e9
_ROOM, _PRICE, _CV2, _TAIL = 0.9 * _H100.hbm_bytes, 2.0, 3.0, 4.6
_WIDTHS, _LONGEST = (1, 2, 4, 8), 8.0


def _wide(*widths):
    if any(tp not in _WIDTHS for tp in widths):
        raise ValueError(f"a layer is cut among 1, 2, 4 or 8 GPUs, got {', '.join(map(str, widths))}")


def read_time(tokens, tp_in):
    """Seconds in which an instance reads a prompt: arithmetic, and two sums a layer."""
    sums = 2 * _LAYERS * 2 * (tp_in - 1) / tp_in * 2 * tokens * _WIDTH / _NVLINK
    return _WORK * tokens / (tp_in * _C) + sums


def first_token(rate, prompt, tp_in, instances_in):
    """Seconds to the first token at the 99th percentile of the wait, for a prompt of the mean length."""
    _wide(tp_in)
    t_srv = read_time(prompt, tp_in)
    load = rate * t_srv / instances_in
    if load >= 1:
        raise ValueError(f"the instances for prompts would be busy {load:.0%} of the time: the queue grows for ever")
    wait = float(pooled_wait(load, t_srv, 1, _CV2, instances_in))
    return _TAIL * wait + t_srv + prompt * _TOKEN / (tp_in * _CARD)


def decode_step(prompt, answer, tp_out, batch):
    _wide(tp_out)
    context = prompt + answer / 2
    read = (_WEIGHTS + batch * context * _TOKEN) / (tp_out * _W)
    return read + _LAYERS * 50e-6 + (2 * _LAYERS * 12e-6 if tp_out > 1 else 0.0)


def decode_load(rate, prompt, answer, tp_out, instances_out, batch):
    return rate * answer * decode_step(prompt, answer, tp_out, batch) / (instances_out * batch)


def held_in(prompt, tp_in):
    """Bytes of a GPU for prompts: weights, and four prompts of eight times the mean length."""
    return (_WEIGHTS + 4 * _LONGEST * prompt * _TOKEN) / tp_in


def held_out(prompt, answer, tp_out, batch):
    return (_WEIGHTS + batch * (prompt + answer) * _TOKEN) / tp_out


def dollars(rate, answer, tp_in, instances_in, tp_out, instances_out):
    """Dollars for a million generated tokens, and what of them is for prompts."""
    hour = rate * answer * 3600 / 1e6
    parts = {
        "GPUs for prompts": tp_in * instances_in * _PRICE / hour,
        "GPUs that decode": tp_out * instances_out * _PRICE / hour,
    }
    return Breakdown(sum(parts.values()), parts)


@cache
def best_fleet(rate, prompt, answer, ttft, tpot):
    """The cheapest, by trying every width, the fewest instances that read in time, and every batch."""
    reads = []
    for tp in _WIDTHS:
        if held_in(prompt, tp) > _ROOM:
            continue
        k = int(rate * read_time(prompt, tp)) + 1
        while k <= 64 and first_token(rate, prompt, tp, k) > ttft:
            k += 1
        reads += [(tp * k, tp, k)] if k <= 64 else []
    decodes = []
    for tp in _WIDTHS:
        for batch in range(1, 513):
            if held_out(prompt, answer, tp, batch) > _ROOM or decode_step(prompt, answer, tp, batch) > tpot:
                break
            k = 1
            while decode_load(rate, prompt, answer, tp, k, batch) > 0.9:
                k += 1
            decodes += [(tp * k, tp, k, batch)] if k <= 64 else []
    return min(reads), min(decodes)


def best_price(rate, prompt, answer, ttft, tpot):
    (_, tp_in, k_in), (_, tp_out, k_out, _) = best_fleet(rate, prompt, answer, ttft, tpot)
    return dollars(rate, answer, tp_in, k_in, tp_out, k_out).total


def best_record(rate, prompt, answer, ttft, tpot):
    (_, tp_in, k_in), (_, tp_out, k_out, batch) = best_fleet(rate, prompt, answer, ttft, tpot)
    return dict(tp_in=tp_in, instances_in=k_in, tp_out=tp_out, instances_out=k_out, batch=batch)


def whole_nodes(rate, prompt, answer, ttft, tpot):
    """Eight GPUs for everything, as many as are needed."""
    best = best_record(rate, prompt, answer, ttft, tpot)
    k_in = next(k for k in range(1, 65) if rate * read_time(prompt, 8) < k and first_token(rate, prompt, 8, k) <= ttft)
    batch = max(
        b
        for b in range(1, 513)
        if held_out(prompt, answer, 8, b) <= _ROOM and decode_step(prompt, answer, 8, b) <= tpot
    )
    k_out = next(k for k in range(1, 65) if decode_load(rate, prompt, answer, 8, k, batch) <= 0.9)
    return {**best, "tp_in": 8, "instances_in": 2 * k_in, "tp_out": 8, "instances_out": 2 * k_out, "batch": batch}


def just_enough(rate, prompt, answer, ttft, tpot):
    best = best_record(rate, prompt, answer, ttft, tpot)
    return {**best, "instances_in": int(rate * read_time(prompt, best["tp_in"])) + 1}


FLEET = Exercise(
    id="serving-fleet",
    title="Two kinds of instances",
    points=4,
    prompt="At noon {rate} requests a second come, with {prompt} prompt tokens at the mean and {answer} tokens of "
    "answer, for Llama 3 70B in fp8 on H100s at 2 dollars a GPU and hour. Prompts are read by `instances_in` "
    "instances of `tp_in` GPUs, which share one queue; then the cache goes over their cards, 50 GB/s a GPU, to one "
    "of `instances_out` instances of `tp_out` GPUs, each of which decodes `batch` sequences at once. An instance has "
    "1, 2, 4 or 8 GPUs.\n\n"
    "A prompt of T tokens takes two operations for each of 69,501,714,432 parameters of matrices, at 40 % of 1,979 "
    "TFLOP/s a GPU, and two sums a layer of 2(n - 1)/n · 2·T·8,192 bytes at 450 GB/s. Its wait at the mean is "
    "Sakasegawa's, for arrivals at random and a squared variation of 3, and at the 99th percentile 4.6 times that. "
    "To the first token it takes that wait, its reading, and 163,840 bytes a token over the cards: at most {ttft:s}, "
    "for a prompt of the mean length. A step that decodes takes the bytes of the weights (70,553,706,496) and of the "
    "caches (the prompt and half of the answer) at 85 % of 3.35 TB/s, 50 µs a layer, and for more than one GPU 160 "
    "sums of 12 µs: at most {tpot:s}. Decoding is busy at most 90 % of the time. Nine tenths of 80 GB hold, for "
    "decoding, the weights and the batch at its full length; for prompts, the weights and four prompts of eight "
    "times the mean. The fewer dollars a million generated tokens cost, the better. *Exact* for this model.",
    given=[
        dict(rate=40, prompt=3000, answer=400, ttft=1.0, tpot=0.040),
        dict(rate=25, prompt=6000, answer=300, ttft=2.0, tpot=0.014),
        dict(rate=60, prompt=1200, answer=500, ttft=0.5, tpot=0.030),
    ],
    answer=Design(
        fields={
            "tp_in": Field("GPUs of an instance for prompts: 1, 2, 4 or 8", 1, 8, whole=True),
            "instances_in": Field("instances for prompts", 1, 64, whole=True),
            "tp_out": Field("GPUs of an instance that decodes: 1, 2, 4 or 8", 1, 8, whole=True),
            "instances_out": Field("instances that decode", 1, 64, whole=True),
            "batch": Field("sequences that one of them decodes at once", 1, 512, whole=True),
        },
        objective=dollars,
        measure="the dollars for a million generated tokens",
        unit="USD",
        conditions=[
            Condition("the time to the first token at p99", first_token, at_most=lambda ttft: ttft, unit="s"),
            Condition("the time of a step", decode_step, at_most=lambda tpot: tpot, unit="s"),
            Condition("the share of the time in which decoding is busy", decode_load, at_most=0.9),
            Condition("the memory of a GPU for prompts", held_in, at_most=_ROOM, unit="B"),
            Condition("the memory of a GPU that decodes", held_out, at_most=_ROOM, unit="B"),
        ],
        pars=[
            Par(2, lambda best: 1.3 * best),
            Par(3, lambda best: 1.1 * best),
            Par(4, lambda best: 1.001 * best),
        ],
        known=[Known(best_price, "a search")],
    ),
    solution=best_record,
    mistakes=(
        Mistake(whole_nodes, "That keeps every promise, twice over. Which load do your instances have?"),
        Mistake(just_enough, "Reading keeps up with what comes, at the mean. What is the wait at that load?"),
    ),
    hints=(
        "The two halves share nothing but the rate: first the cheapest way to read in time, then the cheapest to "
        "decode.",
        "For decoding, take the largest batch that memory and the step allow, for each width, and count instances.",
        "For prompts, more and narrower instances with one queue wait less, and lose less to sums.",
    ),
    explain="Each half is a small search. For prompts the width decides between a short read and a short queue: many "
    "narrow instances rarely are all busy, and a wide one loses time to sums. For decoding, memory and the promised "
    "step bound the batch, and the batch is the price. The promise of a first token is the difference between the "
    "instances that keep up and those that are in time.",
)

"""Names with which the text computes numbers, beside those of the exercises."""

from math import ceil, exp, log  # noqa: F401  (the text uses it)
from random import Random
from statistics import median  # noqa: F401  (the text uses it)

from hwlib.calibrated import decode_parts
from hwlib.inference import (  # noqa: F401  (the text uses some that nothing here does)
    batch_limit,
    decode_point,
    expert_decode_time,
    latent_decode_intensity,
    launched_step_time,
    mean_lost_tokens,
    reached_step_time,
    reserved_lost_fraction,
    step_bytes,
    weight_bytes,
)
from hwlib.roofline import attention_decode_intensity  # noqa: F401  (the text uses it)
from hwlib.specs import accelerators, measured_decode_attention, measured_decodes, measured_requests, models, nodes
from hwlib.transformer import attention_parameters, kv_bytes_per_token, parameter_count  # noqa: F401  (the text uses it)

H100, A100, H200 = (accelerators[key] for key in ("h100-sxm", "a100-80gb-sxm", "h200-sxm"))
LLAMA8, LLAMA70, LLAMA405, DEEPSEEK = (models[k] for k in ("llama3-8b", "llama3-70b", "llama3-405b", "deepseek-v3"))
LLAMA2 = models["llama2-7b"]
W_CARD = nodes["dgx-h100"].network_bandwidth / 8

# The opening: one sequence of 8,192 tokens on eight H100
CONTEXT = 8192
POINT = decode_point(LLAMA70, H100, n=8, B=1, T_kv=CONTEXT)
REPORTED = 1 / 38  # s of a step, as the ticket has it
MISSING = REPORTED - POINT.step_time
WEIGHTS = step_bytes(LLAMA70, 1) / (8 * H100.hbm_bandwidth)
CACHE = POINT.step_time - WEIGHTS


# Decode attention as measured
ATTENTION = measured_decode_attention()
LONE = next(r for r in ATTENTION if (r.kv_heads, r.batch, r.cached) == (1, 1, 8191))
THIRTY_TWO = next(r for r in ATTENTION if (r.heads, r.kv_heads, r.batch, r.cached) == (8, 1, 32, 8191))
CROWDED = next(r for r in ATTENTION if r.heads == 128 and r.kv_heads == 1)
FLOOR = min(r.time for r in ATTENTION)


# Two constants, from two published rows: one A100 and eight of them, Llama 2 7B
def step_of(model, tp=1, dtype="bf16", **more):
    """Seconds of a published step of one sequence."""
    return measured_decodes(model, tp=tp, dtype=dtype, **more)[0].time


def head_bytes(model, b_w=2.0):
    """Bytes of the output matrix: gpt-fast cuts attention and the MLP among the GPUs, and nothing else."""
    return model.vocab * model.width * b_w


SHARED = (step_of("llama2-7b", 1) - step_of("llama2-7b", 8)) / (1 - 1 / 8)
ETA = (step_bytes(LLAMA2, 1) - head_bytes(LLAMA2)) / SHARED / A100.hbm_bandwidth
T_LAYER = (step_of("llama2-7b", 1) - step_bytes(LLAMA2, 1) / (ETA * A100.hbm_bandwidth)) / LLAMA2.layers
BYTES = {"bf16": 2.0, "int8w": 1.0, "int4w": 0.5 + 4 / 32}  # gpt-fast: a scale and a zero of 2 bytes for 32 weights


def told_step(model, tp, dtype="bf16", chip=A100):
    """Seconds of a step of one sequence, by the two constants."""
    model, W = models[model], chip.hbm_bandwidth
    head = head_bytes(model, BYTES[dtype])
    cut = step_bytes(model, 1, BYTES[dtype]) - head
    return float(reached_step_time(cut, tp, W, ETA, model.layers, T_LAYER, 1, head))


def error(model, tp, dtype="bf16"):
    return told_step(model, tp, dtype) / step_of(model, tp, dtype) - 1


def cut_error(model, tp):
    """The error if the GPUs shared the output matrix, too, with constants from the same two rows."""
    eta = step_bytes(LLAMA2, 1) / SHARED / A100.hbm_bandwidth
    t_layer = (step_of("llama2-7b", 1) - SHARED) / LLAMA2.layers
    read, layers = step_bytes(models[model], 1), models[model].layers
    return float(reached_step_time(read, tp, A100.hbm_bandwidth, eta, layers, t_layer, 1)) / step_of(model, tp) - 1


UNSEEN = [("llama2-70b", n) for n in (2, 4, 8)] + [("llama3-8b", n) for n in (1, 2, 4, 8)]
UNSEEN += [("llama3-70b", n) for n in (4, 8)]
UNSEEN_ERRORS = [error(*row) for row in UNSEEN]
ODD = ("llama3-70b", 2)  # printed as slower than half of four GPUs
FEW_BITS = [  # weights of few bits, on eight GPUs
    error(row.model, 8, row.dtype) for kind in ("int8w", "int4w") for row in measured_decodes(tp=8, dtype=kind)
]
VLLM = step_of("qwen2.5-7b") / told_step("qwen2.5-7b", 1)  # replayed as a graph by a server
SERVED = told_step("llama3-70b", 8, chip=H100) + CACHE / ETA  # the opening with good software
WAITING = REPORTED - SERVED
PARTS = decode_parts(LLAMA70, H100, tp=8, T_kv=CONTEXT)  # bottom up: constants of single kernels and of NCCL
ATTENDED = 80 * LONE.time  # attention of a lone sequence in all layers, as measured
DEVICE = PARTS.total - PARTS.cache + ATTENDED
SPENT = PARTS.weights - WEIGHTS, PARTS.collectives, PARTS.kernels, ATTENDED - CACHE  # of MISSING, on the device
IDLE = REPORTED - DEVICE  # what MISSING has beside them: the device waits
LAUNCHES = decode_parts(LLAMA70, H100, tp=8, T_kv=CONTEXT, t_launch=24e-6)


def device_time(B):
    """Of a step that is replayed as a graph."""
    return decode_parts(LLAMA70, H100, tp=8, B=B, T_kv=CONTEXT).total


FREE = next(B for B in range(1, 1000) if device_time(B) > LAUNCHES.total)  # up to here a further sequence is free


def parts_error(tp):
    """Of a published step of Llama 2 70B, halfway through its 200 tokens."""
    return decode_parts("llama2-70b", A100, tp=tp, T_kv=105).total / step_of("llama2-70b", tp) - 1


PARTS_ERRORS = [parts_error(tp) for tp in (2, 4, 8)]

# Kernels of a layer where little is fused: two norms, four products, rotation, two writes to the cache, attention,
# gate, residual, two sums
KERNELS = 14
T_LAUNCH = 8.2e-6  # s, the mean of cudaLaunchKernel in a published profile (sglang-omni-379)
HOST_LAYER = REPORTED / LLAMA70.layers


def eager_layers():
    """Seconds of a layer in published eager steps, and of the same model as a graph."""
    pairs = {}
    for row in measured_decodes(how="eager"):
        graph = measured_decodes(row.model, tp=row.tp, dtype=row.dtype)[0]
        pairs[models[row.model].name] = (row.time / row.layers, graph.time / graph.layers)
    return pairs


# A published batch: a GPT of 20B on eight A100 (chapter 11)
GPT = dict(L=44, D=6144, V=51200)
GPT_P = 12 * GPT["L"] * GPT["D"] ** 2 + GPT["V"] * GPT["D"]
GPT_KV = 2 * 2 * GPT["L"] * GPT["D"]  # B a token
GPT_CONTEXT = 180  # tokens in the cache halfway between the two requests
PROMPT, STEPS = 20, 180  # by which the two requests differ that a step is read from


def gpt_step(batch, tp=8):
    """Seconds of a published step: two requests that differ by 180 tokens out and 20 in."""
    times = {(r.input, r.output): r.time for r in measured_requests(tp, batch)}
    return (times[80, 200] - times[60, 20]) / STEPS


def gpt_roofline(batch, tp=8):
    W, C = tp * A100.hbm_bandwidth, tp * A100.bf16_flops
    return max(2 * GPT_P / W, 2 * GPT_P * batch / C) + batch * GPT_CONTEXT * GPT_KV / W


GPT_FIXED = gpt_step(1) - gpt_roofline(1)
GPT_GAPS = {b: gpt_step(b) - gpt_roofline(b) - GPT_FIXED for b in (16, 64, 256)}


def reached(row):
    return row.bytes / row.time / H100.hbm_bandwidth


def share_of_bytes(size, t0=FLOOR, best=0.9):
    """The share of the bandwidth that a fixed time and a best rate leave."""
    return size / (t0 + size / (best * H100.hbm_bandwidth)) / H100.hbm_bandwidth


# Drafts, as published
SPEC = measured_decodes("llama2-70b", dtype="int4w", drafts=4)[0]
PLAIN, DRAFT = step_of("llama2-70b", 1, "int4w"), step_of("llama2-7b", 1, "int4w")

# DeepSeek's decoding, as published (deepseek-serving): tokens a second of a node of eight H800, and of a user
NODE_RATE, USER_RATE, KV_LENGTH = 14.8e3, 21, 4989  # the users' rate is printed as 20 to 22
PER_GPU = NODE_RATE / 8 / USER_RATE  # sequences of a GPU
DEEPSEEK_STEP = 1 / USER_RATE
EXCHANGES = float(expert_decode_time(DEEPSEEK.moe_layers, PER_GPU, DEEPSEEK.width, 8, W_CARD))
DEEPSEEK_EXPERTS = 3 * DEEPSEEK.matrices * DEEPSEEK.width * DEEPSEEK.expert_ffn * DEEPSEEK.moe_layers
DEEPSEEK_ATTENTION = attention_parameters(DEEPSEEK) * DEEPSEEK.layers
DEEPSEEK_WEIGHTS = (DEEPSEEK_EXPERTS + DEEPSEEK_ATTENTION) / H100.hbm_bandwidth  # a byte each
DEEPSEEK_CACHE = PER_GPU * KV_LENGTH * kv_bytes_per_token(DEEPSEEK, 2) / H100.hbm_bandwidth

# Rollouts: made-up lengths with a long tail, of one seed
LENGTHS = sorted(min(32768, int(exp(Random(k).gauss(log(2500), 0.9)))) for k in range(256))


def rollout_step(B, T):
    """Seconds of a step of B sequences of Llama 3 8B on one H100, by the data sheet and the time of a layer."""
    return decode_point(LLAMA8, H100, n=1, B=B, T_kv=T).step_time + LLAMA8.layers * T_LAYER


def rollout_seconds(lengths):
    ordered, at, clock = sorted(lengths), 0, 0.0
    for k, length in enumerate(ordered):
        clock += (length - at) * rollout_step(len(ordered) - k, (at + max(at, length - 1)) / 2)
        at = length
    return clock

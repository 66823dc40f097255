"""Names with which the text computes its numbers: the opening's node, traces, published services."""

from random import Random

from hwlib.inference import (
    cache_copy_time,
    cost_margin,
    mg1_wait,
    mm1_load,
    mm1_quantile,
    poisson_arrivals,
    pooled_wait,
    prompt_time,
    queue_stays,
    recompute_bandwidth,
    request_cost,
    residual_time,
    shared_stays,
    squared_variation,
    weight_bytes,
)
from hwlib.specs import accelerators, measured_lengths, measured_services, models
from hwlib.transformer import kv_bytes_per_token, matmul_parameters
from hwlib.units import GB, ms, show  # noqa: F401  (the text uses them)

H100, H200, B200 = (accelerators[key] for key in ("h100-sxm", "h200-sxm", "b200-sxm"))
LLAMA70, DEEPSEEK = models["llama3-70b"], models["deepseek-v3"]
W_CARD = 50e9  # B/s of a GPU's own card of 400 Gbit/s

# The node of the opening: it reads prompts and does nothing else
LOAD, COUNT = 0.6, 100_000
TOKENS = [row.input for row in measured_lengths("mooncake-conversation")]
READS = [prompt_time(LLAMA70, H100, n=8, T_in=T, dtype="fp8", b_w=1) for T in TOKENS]
T_SRV = sum(READS) / len(READS)
CV2 = squared_variation(READS)
RATE = LOAD / T_SRV
HALF = sorted(READS)[len(READS) // 2]  # reads of the shorter half stay below
_rng = Random(2)
SERVICES = [_rng.choice(READS) for _ in range(COUNT)]
ARRIVALS = poisson_arrivals(RATE, COUNT, seed=3)


def at(values, share):
    """The value that a share of all stays below."""
    return sorted(values)[int(share * len(values))]


def short_of(stays, services=SERVICES):
    """Stays of the shorter half of the prompts."""
    return [stay for stay, service in zip(stays, services, strict=True) if service < HALF]


STAYS = queue_stays(ARRIVALS, SERVICES)
P99 = at(STAYS, 0.99)
SHORT99 = at(short_of(STAYS), 0.99)
SHORT_OWN = max(service for service in SERVICES if service < HALF)
EQUAL99 = at(queue_stays(ARRIVALS, [T_SRV] * COUNT), 0.99)
WAIT = mg1_wait(LOAD, T_SRV, CV2)

# Traces
LENGTHS = {trace: [r.input for r in measured_lengths(trace)] for trace in (
    "azure-conversation", "azure-code", "mooncake-conversation")}  # fmt: skip
MEANS = {trace: sum(tokens) / len(tokens) for trace, tokens in LENGTHS.items()}
# Of the traces themselves (azure-llm-trace; their time stamps): requests a second, squared variation of the gaps
GAPS = {"azure-conversation": (5.53, 1.20), "azure-code": (2.57, 173.0)}
# The conversation trace of Mooncake, in pages of 512 tokens: tokens that an LRU cache holds, share of prompt tokens found
FOUND = {0.512e6: 0.045, 1.536e6: 0.066, 5.12e6: 0.215, 15.36e6: 0.332, 25.6e6: 0.362, 51.2e6: 0.371, 93.6e6: 0.374}


# MLPerf: what is left of a rate when 99 % of the requests are promised a first token
def kept(row):
    return row.server / row.offline


def told(row):
    """By a single server that works off one request after the other, at the machine's own rate."""
    return mm1_load(row.output / row.offline, 0.99, row.ttft)


SERVED = measured_services()
GAPS_TOLD = {row.key: kept(row) - told(row) for row in SERVED}
SLOW = next(r for r in SERVED if r.model == "llama3-405b")
REASONING = next(r for r in SERVED if r.model == "deepseek-r1")
USUAL = [GAPS_TOLD[r.key] for r in SERVED if r.model not in ("llama3-405b", "deepseek-r1")]

# A cache over a wire
S_KV = {key: kv_bytes_per_token(models[key], 2) for key in ("llama3-70b", "deepseek-v3")}
PREFILL_RATE = 0.4 * 8 * H100.bf16_flops


def break_even(model, mfu=0.4, n=8):
    """Bandwidth at which the cache of a token is copied as fast as it is computed, in bf16."""
    model = models[model]
    active = matmul_parameters(model)
    return float(recompute_bandwidth(active, kv_bytes_per_token(model, 2), n, H100.bf16_flops, mfu))


PROMPT = 8192
CACHE = PROMPT * S_KV["llama3-70b"]
COPY_ONE, COPY_EIGHT = float(cache_copy_time(PROMPT, S_KV["llama3-70b"], W_CARD)), CACHE / (8 * W_CARD)
READ = prompt_time(LLAMA70, H100, n=8, T_in=PROMPT)

# DeepSeek's day (deepseek-serving): tokens, nodes, prices in dollars
TOKENS_IN, TOKENS_HIT, TOKENS_OUT = 608e9, 342e9, 168e9
NODE_IN, NODE_OUT = 73.7e3, 14.8e3  # tokens/s of a node of eight H800
NODES, PEAK_NODES, GPU_HOUR = 226.75, 278, 2.0
DAY = 24 * 3600
NODES_IN, NODES_OUT = TOKENS_IN / DAY / NODE_IN, TOKENS_OUT / DAY / NODE_OUT
COST = NODES * 8 * 24 * GPU_HOUR
REVENUE = TOKENS_HIT * 0.14e-6 + (TOKENS_IN - TOKENS_HIT) * 0.55e-6 + TOKENS_OUT * 2.19e-6
MARGIN = cost_margin(REVENUE, COST)
COMPUTED_RATE = NODE_IN / 8 * (1 - TOKENS_HIT / TOKENS_IN)  # prompt tokens that a GPU computes in a second
PREFILL_SHARE = 2 * 37e9 * COMPUTED_RATE / H100.fp8_flops  # 37 billion active parameters, attention left out

"""Names with which the text computes its numbers: the opening's node, traces, published services."""

from random import Random
from statistics import mean, median

from hwlib.engine import (
    Request,
    cache_room,
    chunked,
    decode_first,
    draw_requests,
    prefill_first,
    run_engine,
    step_cost,
)
from hwlib.inference import (  # noqa: F401  (the text shows some of them)
    budget_chunk_tokens,
    cache_copy_time,
    cost_margin,
    decode_point,
    freed_tokens,
    hit_prefill_time,
    kingman_wait,
    largest_batch,
    mg1_wait,
    mm1_load,
    mm1_quantile,
    poisson_arrivals,
    pooled_wait,
    prefill_ranks_ratio,
    prefill_servers_ratio,
    prefix_hits,
    prompt_time,
    queue_stays,
    recompute_bandwidth,
    request_cost,
    requests_at_once,
    residual_time,
    server_load,
    shared_stays,
    squared_variation,
    weight_bytes,
)
from hwlib.specs import accelerators, measured_lengths, measured_services, measured_users, models
from hwlib.transformer import attention_step_flops, forward_flops, kv_bytes_per_token, matmul_parameters
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
LENGTHS = {
    trace: [r.input for r in measured_lengths(trace)]
    for trace in ("azure-conversation", "azure-code", "mooncake-conversation")
}
MEANS = {trace: sum(tokens) / len(tokens) for trace, tokens in LENGTHS.items()}
# Of the traces themselves (azure-llm-trace; their time stamps): requests a second, squared variation of the gaps
GAPS = {"azure-conversation": (5.53, 1.20), "azure-code": (2.57, 173.0)}
# Mooncake's conversation trace, in pages of 512 tokens: tokens that an LRU cache holds, share of prompt tokens found
FOUND = {0.512e6: 0.045, 1.536e6: 0.066, 5.12e6: 0.215, 15.36e6: 0.332, 25.6e6: 0.362, 51.2e6: 0.371, 93.6e6: 0.374}


# MLPerf: what is left of a rate when 99 % of the requests are promised a first token
def kept(row):
    return row.server / row.offline


def told(row):
    """By a single server that works off one request after the other, at the machine's own rate."""
    return mm1_load(row.output / row.offline, 0.99, row.ttft)


def off(row):
    """How much more of its rate a machine keeps than the queue says."""
    return kept(row) - told(row)


SERVED = measured_services()
SLOW = next(r for r in SERVED if r.model == "llama3-405b")
GIANTS = sorted(measured_services("llama3-405b"), key=off)
GIANT_QUICK, GIANT_SLOW = GIANTS[0], GIANTS[-1]
REASONING = measured_services("deepseek-r1")
BRIEF = [r for r in SERVED if r.output < 400]  # answers of a few hundred tokens, or fewer
BRIEF_NEAR = 0.13
BRIEF_FAR = [r for r in BRIEF if abs(off(r)) > BRIEF_NEAR]
BRIEF_LEAST = min(BRIEF, key=kept)
BRIEF_TYPICAL = median(map(kept, BRIEF))


def queue_error(rows):
    """The mean distance of the kept shares from what the queue says."""
    return mean(abs(off(r)) for r in rows)


def typical_error(rows):
    """Their mean distance from one share for all."""
    return mean(abs(kept(r) - BRIEF_TYPICAL) for r in rows)


# What a hit leaves of the opening's prompts: of attention 1 - h^2, of the matrices 1 - h
P_70 = matmul_parameters(LLAMA70)


def left_of(hit):
    """Times of the opening's prompts of which a share is found."""
    shape = (LLAMA70.layers, LLAMA70.heads, LLAMA70.head_dim)
    return [float(hit_prefill_time(P_70, T, hit, *shape, 8, H100.fp8_flops, 0.4)) for T in TOKENS]


def wait_of(reads):
    """The mean wait at the opening's rate."""
    t = mean(reads)
    return float(mg1_wait(RATE * t, t, squared_variation(reads)))


def found_wait(hit):
    return wait_of(left_of(hit))


def blind_wait(hit):
    """The wait by whoever takes all of a prompt's time to go with its tokens."""
    return wait_of([(1 - hit) * t for t in READS])


def attention_ratio(T):
    """Operations of a cache's causal attention over those of the matrices."""
    matrices = float(forward_flops(P_70, T))
    return float(attention_step_flops(LLAMA70, T, T)) / matrices


ATTENTION_SHARE = 1 - mean(forward_flops(P_70, T) / (8 * H100.fp8_flops * 0.4) for T in TOKENS) / T_SRV

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


# An engine that reads and decodes: one prompt in ten is long
ENGINE = step_cost("llama3-70b", "h100-sxm", tp=8)
ROOM = cache_room("llama3-70b", "h100-sxm", tp=8)
MIX = {500: 0.9, 8000: 0.1}
WAYS = {
    "whole batches": (decode_first, 8192),
    "prompts first": (prefill_first, 8192),
    "mixed, whole": (chunked, 10**9),
    "chunks, 2,048": (chunked, 2048),
    "chunks, 512": (chunked, 512),
}


def engine_run(name, rate=8.0, count=600):
    policy, budget = WAYS[name]
    requests = draw_requests(rate, count, prompt=MIX, output=200, seed=1)
    return run_engine(requests, ENGINE, policy, budget=budget, room=ROOM, gpus=8)


RUNS = {name: engine_run(name) for name in ("prompts first", "chunks, 512")}
MOST_RATE = 600 / engine_run("chunks, 2,048", rate=1e4).duration  # all of them at once
LONG_STEP = ENGINE.prompt(8000)
READ = ENGINE.prompt(PROMPT)
NO_MIX = LONG_STEP / ENGINE.decode(64, 1000)


# Conversations, made up, of one seed: 12 system prompts of eight pages, and turns of one to six
def talks(count=3000, seed=4):
    rng, open_talks, prompts = Random(seed), [], []
    for number in range(count):
        if len(open_talks) < 250 or rng.random() < 0.15:
            system = rng.randrange(12)
            open_talks.append((number, [("s", system, page) for page in range(8)]))
        talk, pages = rng.choice(open_talks[-250:])
        pages += [(talk, len(pages) + k) for k in range(rng.randint(1, 6))]
        prompts.append((talk, tuple(pages)))
    return prompts


TALKS = talks()


def shared(pages, replicas, way):
    """Share of the pages that are found, if so many replicas with so many pages each get the requests in some way."""
    found = asked = 0
    for r in range(replicas):
        mine = [p for k, (talk, p) in enumerate(TALKS) if (talk if way == "sticky" else k) % replicas == r]
        hits, pages_asked = prefix_hits(mine, pages)
        found, asked = found + hits, asked + pages_asked
    return found / asked


# Prices: decoding with a cache of 4,096 tokens, by the data sheet
def price_point(chip, hour, B, T=4096):
    return decode_point(LLAMA70, chip, n=8, B=B, T_kv=T, b_w=1, b_kv=1, dtype="fp8", price=hour / 3600)


FEW, MANY = price_point(H100, 2.0, 1), price_point(H100, 2.0, 512)
LONG_CACHE = 32768 * kv_bytes_per_token(LLAMA70, 1)
FIT = largest_batch(LLAMA70, H100, n=8, T_kv=32768, b_w=1, b_kv=1)
PER_WEIGHT = weight_bytes(LLAMA70, 1) / kv_bytes_per_token(LLAMA70, 1)  # tokens of cache in the weights, both in int8
FREED = freed_tokens(32, 8192, 4096)
BOOK_RATIO = prefill_servers_ratio(32, 512, 0.019, 0.91)
DEEPSEEK_RATIO = prefill_ranks_ratio(TOKENS_IN, TOKENS_OUT, NODE_IN, NODE_OUT)

# NVIDIA's server with many users, and the engine
_TWO = dict(tp=2, b_w=1, b_kv=1)
ROOM2 = cache_room("llama3-70b", "h100-sxm", **_TWO)
_COST2 = step_cost("llama3-70b", "h100-sxm", dtype="fp8", **_TWO)
CLOSED = {
    n: run_engine(
        [Request(0, 5000, 500)] * 4 * n, _COST2, chunked, budget=2048, room=ROOM2, users=n, reserve=True, gpus=2
    )
    for n in (1, 50, 75, 100, 150, 200, 250)
}
USERS = {row.users: row for row in measured_users("llama3-70b")}
RATE_GAPS = {n: CLOSED[n].tokens_per_second / USERS[n].rate - 1 for n in CLOSED if n in USERS}


def between(n):
    """Mean time between tokens, without the first and the last request of each user."""
    kept = CLOSED[n].outcomes[n:-n] or CLOSED[n].outcomes
    return sum(one.tpot for one in kept) / len(kept)


GAP_GAPS = {n: between(n) / USERS[n].tbt - 1 for n in RATE_GAPS}

# A GPU of DeepSeek's decoding: users at 21 tokens/s, and their caches of 4,989 tokens
USERS_EACH = NODE_OUT / 8 / 21
CACHES_EACH = USERS_EACH * 4989 * S_KV["deepseek-v3"]

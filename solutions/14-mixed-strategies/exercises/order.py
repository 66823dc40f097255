"""Exercises on which axis goes where, and the names with which the text computes numbers."""

from itertools import permutations

from autograder.answers import Choice, Expression, Function, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.parallel import (
    axis_bytes,
    dp_critical_batch,
    dp_moe_critical_batch,
    order_times,
    split_critical_batch,
    transfers,
    zero1_bytes,
)
from hwlib.specs import accelerators, levels_of, measured_run, models
from hwlib.strategy import Strategy
from hwlib.transformer import step_flops
from hwlib.units import GB

from .mix import H100

LLAMA = models["llama3-405b"]
V3 = models["deepseek-v3"]
H800 = accelerators["h800-sxm"]
CARD = H100.nic_bandwidth
META = Strategy.of(dp=128, tp=8, pp=16, zero=1)
META_TOKENS = 2**24
META_SENDS = transfers(LLAMA, META, B=META_TOKENS, m=16)
META_BYTES = axis_bytes(META_SENDS)
META_CHUNKED = axis_bytes(transfers(LLAMA, Strategy.of(META, v=8), B=META_TOKENS, m=16))
META_FP32 = META_BYTES["dp"] * zero1_bytes(1.0, 128, b_g=4) / zero1_bytes(1.0, 128)  # gradients in FP32
META_SIZES = dict(tp=8, dp=128, pp=16)
SUPERPOD = levels_of("h100-superpod-16k")
META_ORDERS = order_times(META_SENDS, META_SIZES, SUPERPOD)
RUN = measured_run("llama3-405b")
LONG = measured_run("llama3-405b-long")


def seconds_of_step(tokens, n=16384, rate=400e12, T=8192):
    """A step of so many tokens at a published rate of the model's operations."""
    return step_flops(LLAMA, tokens, T) / (n * rate)


def order_sum(order):
    return sum(META_ORDERS[order].values())


# The smallest number of tokens of a GPU that hides gradients over the cards: of a dense model on H100, and shared
DENSE = dp_critical_batch(H100.bf16_flops, CARD)
META_LEAST = split_critical_batch(H100.bf16_flops, CARD, pp=16, tp=8)
V3_TOKENS = 4096 * 15360
V3_EACH = V3_TOKENS / 2048
V3_NODE = dp_critical_batch(H800.bf16_flops, H800.scaleup_bandwidth)
V3_SPARSE = dp_moe_critical_batch(V3.experts, V3.experts_per_token, H800.bf16_flops, H800.nic_bandwidth, 2)


def slowest_of(axes, levels, spread=min, first=1):
    """The least sum over the axes of bytes over bandwidth, of all orders of the axes."""
    best = []
    for order in permutations(axes):
        inner, total = 1, 0.0
        for ranks, size in order:
            crossed = [W for span, W in levels if span >= (ranks if not first else inner * ranks)]
            total += size / crossed[0]
            inner *= ranks
        best.append(total)
    return spread(best)


def least_time(axes, levels):
    return slowest_of(axes, levels)


def as_given(axes, levels):
    inner, total = 1, 0.0
    for ranks, size in axes:
        inner *= ranks
        total += size / next(W for span, W in levels if span >= inner)
    return total


def most_bytes_inside(axes, levels):
    return as_given(sorted(axes, key=lambda axis: -axis[1]), levels)


def most_bytes_a_rank_inside(axes, levels):
    return as_given(sorted(axes, key=lambda axis: -axis[1] / axis[0]), levels)


def fewest_ranks_inside(axes, levels):
    return as_given(sorted(axes), levels)


def of_all_ranks(axes, levels):
    """The bytes of an axis are taken for those of one rank of it, and multiplied."""
    return slowest_of([(ranks, ranks * size) for ranks, size in axes], levels)


def shares(axes, levels):
    """The bytes are taken for those of a whole group."""
    return slowest_of([(ranks, size / ranks) for ranks, size in axes], levels)


def never_full(axes, levels):
    """A group as long as a level's span does not fit into it."""
    *inside, (span, W) = levels
    return slowest_of(axes, [*((span - 1, W) for span, W in inside), (span, W)])


def in_shares(axes, levels):
    """The part of an axis that stays inside a level goes at that level's bandwidth."""
    best = []
    for order in permutations(axes):
        inner, total = 1, 0.0
        for ranks, size in order:
            reached = 1
            for span, W in levels:
                here = min(ranks, max(1, span // inner))
                total += size * (here - reached) / max(1, ranks - 1) / W
                reached = max(reached, here)
            inner *= ranks
        best.append(total)
    return min(best)


def alone(axes, levels):
    return slowest_of(axes, levels, first=0)


def worst(axes, levels):
    return slowest_of(axes, levels, spread=max)


def all_at_once(axes, levels):
    """The least of the longest axis's time over all orders: axes that do not wait for each other."""
    best = []
    for order in permutations(axes):
        inner, longest = 1, 0.0
        for ranks, size in order:
            inner *= ranks
            longest = max(longest, size / next(W for span, W in levels if span >= inner))
        best.append(longest)
    return min(best)


def innermost_level(axes, levels):
    best = []
    for order in permutations(axes):
        inner, total = 1, 0.0
        for ranks, size in order:
            total += size / next(W for span, W in levels if span > inner)
            inner *= ranks
        best.append(total)
    return min(best)


def some_axes(random):
    """Four cases: three or four axes of 2 to 32 ranks; levels of a node, a pod, and all."""
    found = []
    for _ in range(4):
        axes = [(2 ** random.randint(1, 5), random.randint(1, 400) * GB) for _ in range(random.randint(3, 4))]
        found.append((axes, [(8, 450 * GB), (64, random.choice([100, 50]) * GB), (2**24, 12.5 * GB)]))
    return found


ORDER_CASES = [
    ([(8, 300 * GB), (128, 12 * GB), (16, 1 * GB)], [(8, 450 * GB), (256, 50 * GB), (16384, 25 * GB)]),
    ([(4, 90 * GB), (2, 80 * GB), (8, 30 * GB)], [(8, 450 * GB), (64, 50 * GB)]),
    ([(16, 200 * GB), (4, 120 * GB), (2, 100 * GB)], [(8, 900 * GB), (128, 100 * GB)]),
    ([(4, 40 * GB), (2, 30 * GB), (4, 30 * GB), (8, 1 * GB)], [(8, 450 * GB), (64, 50 * GB), (256, 12.5 * GB)]),
    ([(8, 100 * GB)], [(4, 300 * GB), (8, 50 * GB)]),
    ([(2, 10 * GB), (4, 200 * GB), (3, 50 * GB)], [(8, 300 * GB), (24, 25 * GB)]),
    ([(8, 60 * GB)], [(8, 300 * GB), (64, 50 * GB)]),  # just as long as a span
]

LAB_ORDER = Exercise(
    id="mixed-strategies-lab-order",
    title="Lab: which axis inside",
    points=3,
    lines=9,
    prompt="Ranks are numbered so that the first axis of an order joins neighbours, the next one those that are as "
    "far "
    "apart as the first is long, and so on. `axes` lists `(ranks, bytes)`: how long an axis is, and what each of its "
    "ranks sends in a step. `levels` lists `(span, bandwidth)` from the inside out: so many consecutive ranks have "
    "that "
    "bandwidth among each other, each of them. An axis sends all its bytes at the bandwidth of the innermost level "
    "whose "
    "span holds one whole group of it together with what lies between, its own ranks times those of all axes further "
    "inside; axes wait for each other. Return the least time of a step over all orders of the axes, in seconds. "
    "*Exact*.",
    answer=Function(
        "least_time",
        "least_time(axes, levels)",
        cases=ORDER_CASES,
        drawn=some_axes,
        unit="s",
        rtol=1e-9,
    ),
    solution=least_time,
    mistakes=(
        Mistake(as_given, "That is the time of the order as listed. Are the others slower?"),
        Mistake(
            most_bytes_inside,
            "Most bytes inside is a good rule, and not always the best order: what if that axis does not fit into a "
            "node?",
        ),
        Mistake(
            most_bytes_a_rank_inside,
            "A rule of thumb again: the axis with the most bytes for its length goes inside. It is not always the "
            "best.",
        ),
        Mistake(fewest_ranks_inside, "Short axes fit inside. Which of them has something to send?"),
        Mistake(alone, "Each axis was measured as if its ranks were neighbours. What lies between two of them?"),
        Mistake(of_all_ranks, "You multiply the bytes by the ranks of their axis. Whose bytes are they?"),
        Mistake(shares, "You divide the bytes by the ranks of their axis. Whose bytes are they?"),
        Mistake(
            never_full,
            "Where a group is just as long as a level's span, you send it through the next level. What does the span "
            "hold?",
        ),
        Mistake(
            in_shares,
            "You send a part of an axis inside, and the rest outside. At how many bandwidths does one axis send here?",
        ),
        Mistake(worst, "That is the longest time of all orders."),
        Mistake(
            all_at_once,
            "That is the time of the longest axis alone, as if all ran at once. Which one waits?",
            name="times-overlapped",
        ),
        Mistake(
            innermost_level,
            "An axis that begins inside a node and ends outside it: which of its wires is the narrowest?",
        ),
    ),
    hints=(
        "For one order: walk from the inside out and keep the product of the axes so far.",
        "`itertools.permutations` has all orders; there are at most 24.",
    ),
    explain="An axis of r ranks with i ranks inside it spans r·i consecutive ranks, so its traffic crosses the "
    "innermost "
    "level that holds as many, and no wider one. The product of all axes so far decides the level, so the order "
    "decides "
    "the time. Three axes have six orders, so try all: a rule such as *most bytes inside* fails where the heaviest "
    "axis "
    "does not fit into a node and a lighter one would have.",
)

CONTEXT_RATIO = Exercise(
    id="mixed-strategies-context-ratio",
    title="Double the context axis, or the tensor axis",
    points=2,
    prompt="A sequence of `T` tokens is shared by `tp*cp` ranks. In a layer's forward pass a rank of the tensor "
    "axis, with "
    "sequence parallelism, takes part in four collectives (two gathers, two scatters) of an array of `T/cp` tokens "
    "of `D` "
    "elements, and sends `(tp - 1)/tp` of that array in each. A rank of the context axis keeps the keys and values of "
    "`T/cp` tokens for its part of the heads, `K/tp` elements of keys and as many of values a token, and passes "
    "such a "
    "block on `cp - 1` times around the ring. All elements have equally many bytes. What is the ratio of the bytes "
    "that a "
    "rank sends on the context axis to those on the tensor axis? *Exact*.",
    answer=Expression(
        {
            "tp": integers(2, 64),
            "cp": integers(2, 64),
            "T": positive("1", 1e3, 1e6),
            "D": positive("1", 1e3, 2e4),
            "K": positive("1", 128, 2e4),
        }
    ),
    solution=lambda tp, cp, T, D, K: K * (cp - 1) / (2 * D * (tp - 1)),
    mistakes=(
        Mistake(
            lambda tp, cp, T, D, K: K * (cp - 1) / (4 * D * (tp - 1)),
            "Both keys and values go around.",
        ),
        Mistake(
            lambda tp, cp, T, D, K: 2 * D * (tp - 1) / (K * (cp - 1)),
            "That is the tensor axis over the context axis.",
        ),
        Mistake(
            lambda tp, cp, T, D, K: K * (cp - 1) / (2 * D * (tp - 1)) / cp,
            "Which length has the array of the tensor axis: that of the sequence, or that of the rank's part?",
        ),
        Mistake(
            lambda tp, cp, T, D, K: K * (cp - 1) * tp / (2 * D * (tp - 1)),
            "Tensor ranks share the heads, and with them the keys and values.",
        ),
        Mistake(
            lambda tp, cp, T, D, K: K * (cp - 1) / (2 * D * tp),
            "How much of a gathered array does a rank send? Not all of it.",
        ),
        Mistake(
            lambda tp, cp, T, D, K: K * cp / (2 * D * (tp - 1)),
            "A block that has been around once need not go on.",
        ),
    ),
    hints=(
        "Write the bytes of one block of keys and values, then count how often it is passed on.",
        "Four times (tp - 1)/tp of T/cp tokens: what of that appears in the other as well?",
    ),
    explain="Context: `(cp - 1)*2*(K/tp)*T/cp` elements. Tensor: `4*(tp - 1)/tp*D*T/cp`. The length and both "
    "denominators "
    "cancel: `K*(cp - 1)/(2*D*(tp - 1))`. With few key-value heads K is far below D: Llama 3 405B has K = 1,024 and "
    "D = 16,384, so 16 context ranks beside 8 tensor ranks send 15/(2·16·7), seven per cent of what the tensor axis "
    "sends. "
    "That is why a context axis may leave the node where the tensor axis may not.",
)

MOE_CRITICAL = Exercise(
    id="mixed-strategies-moe-critical",
    title="A sparse model's gradients",
    points=3,
    prompt="A model of `E` equal experts, of which a token uses `k`, runs on `pp*ep*dp` GPUs: `pp` stages, experts "
    "spread "
    "over `ep` ranks, and `dp` replicas of each of those. Count the experts alone. A GPU holds its share of their "
    "parameters and, after the backward pass, all-reduces its gradients, of `b` bytes each, with the other "
    "replicas: of "
    "its array a rank sends `2*(dp - 1)/dp`, over a card of bandwidth `W`. The backward pass takes four operations "
    "for "
    "each parameter that a token uses, the batch is spread evenly over all GPUs, and each computes at rate `C`. "
    "From how "
    "many tokens of the batch *per GPU* on does the backward pass take as long as the all-reduce? *Exact*.",
    answer=Expression(
        {
            "E": integers(8, 512),
            "k": integers(1, 8),
            "b": positive("B", 1, 4),
            "C": positive("1/s", 1e14, 5e15),
            "W": positive("B/s", 1e9, 1e12),
            "pp": integers(2, 32),
            "ep": integers(2, 128),
            "dp": integers(2, 128),
        }
    ),
    solution=lambda E, k, b, C, W, pp, ep, dp: E * b * C * (dp - 1) / (2 * k * W * pp * ep * dp),
    mistakes=(
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: E * b * C * (dp - 1) / (2 * k * W * dp),
            "So many tokens a GPU needs that holds all experts, or all GPUs of a replica together. "
            "What has one of them?",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: b * C * (dp - 1) / (2 * W * pp * ep * dp),
            "A token computes with k experts, and all of them have gradients.",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: E * b * C / (2 * k * W * pp * ep),
            "That is the limit of many replicas. How much of its array does a rank send if there are dp?",
            name="own-share",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: k * b * C * (dp - 1) / (2 * E * W * pp * ep * dp),
            "Few experts a token mean little arithmetic for many gradients. Does a sparser model need fewer tokens?",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: E * b * C * (dp - 1) / (2 * k * W * ep * dp),
            "Stages divide the parameters of a GPU too, and each sees all tokens of its replica.",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: E * b * C * (dp - 1) / (2 * k * W * pp * dp),
            "Experts on other ranks have their gradients there.",
        ),
        Mistake(
            lambda E, k, b, C, W, pp, ep, dp: E * b * C * (dp - 1) / (2 * k * W),
            "That is the batch of all GPUs together. How many of it has one?",
            name="one-for-all",
        ),
    ),
    hints=(
        "Say that all experts have P parameters. How many has a GPU, and how many bytes does it send?",
        "All GPUs together compute 4·(k/E)·P operations for each token of the batch.",
    ),
    explain="A GPU holds `P/(pp*ep)` parameters and sends `2*(dp - 1)/dp*b*P/(pp*ep)` bytes at W. All GPUs together "
    "compute "
    "`4*(k/E)*P` a token; with x tokens a GPU each computes `4*(k/E)*P*x` at C. They are equal where x is "
    "`(E/k)*(b*C/(2*W))*(dp - 1)/(dp*pp*ep)`: sparsity multiplies the bound by E/k, and the ranks that share the "
    "model divide "
    "it again. For DeepSeek-V3, 32·19,788/2/1,024 is 309 tokens.",
)

ERRATUM_BATCH = Exercise(
    id="mixed-strategies-erratum-batch",
    title="Erratum: what DeepSeek trained with",
    prompt="*How to Scale Your Model*, in its section on data parallelism on GPUs: DeepSeek-V3 on 2,048 H800 with "
    "300 GB/s "
    "would need 990e12/300e9 = 3,300 tokens per GPU, or about 6.7M, and “in practice, they used 4M”. So it would have "
    "trained below its bound. DeepSeek's report gives a batch of 15,360 sequences of 4,096 tokens, and an H800 has "
    "200 GB/s of NVLink one way. What is right, for the bound that the book means? *To first order*.",
    answer=Choice(
        {
            "above": "it needs 10M and used 63M, so it was six times above the bound",
            "below": "it needs 10M and used 4M, so it was even further below the bound",
            "half": "it needs 6.7M and used 63M, for 300 GB/s already count one direction only",
            "sequence": "4M is right: 4,096 tokens times the 1,024 GPUs of a replica",
            "none": "a model with experts has no such bound, for experts have no gradients to sum",
        }
    ),
    solution="above",
    mistakes=(
        Mistake("below", "Multiply 15,360 sequences by their length."),
        Mistake("half", "Of an H800's 400 GB/s both ways, half go in one direction.", name="both-directions"),
        Mistake("sequence", "The report prints the sequences of a step. How many tokens are they?"),
        Mistake("none", "Every expert has gradients, also those that few tokens see."),
    ),
    hints=("Compute both sides: tokens that a GPU needs, and tokens that it had.",),
    explain="15,360 × 4,096 = 62.9M tokens, 30,720 a GPU; at 200 GB/s the bound within a node is 989e12/200e9, some "
    "4,950 "
    "tokens a GPU or 10M. The same chapter prints 62,914,560 in its example, so it contradicts itself. The bound is "
    "one of "
    "dense models; that of the experts is larger, and is divided by the ranks that share them.",
)

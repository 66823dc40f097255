"""Exercises at the end: the ticket, and the decision with its letter."""

from functools import cache

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par, Written
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import destination_fraction
from hwlib.formula import minimum
from hwlib.parallel import balanced, ep_imbalanced_time, lognormal_loads
from hwlib.specs import models
from hwlib.transformer import parameter_groups
from hwlib.units import GB, ms

TICKET = Exercise(
    id="expert-parallelism-ticket",
    title="Answer the ticket",
    prompt="*“DeepSeek-V3, decoding on 32 H200, 8 experts on each, 8 of 256 a token. With 4 tokens on each GPU the "
    "busiest "
    "one has 1.6 times the mean, and with 128 on each it is still 1.5 times. The log of the whole day says that "
    "over all steps the loads of the GPUs differ by 2 % only. Proposals: (a) retrain the router, it is broken; (b) a "
    "capacity factor of 1.1, so that no GPU "
    "waits; (c) 32 redundant experts, placed by yesterday's loads; (d) more requests on each GPU. Which, and who is to "
    "blame?”* Judge each, with numbers.",
    answer=Written(
        rubric=(
            ("Computes what chance does with 4 and with 128 tokens, and says how much is left for the router", 1),
            ("Explains how the loads of a day can be even although those of a step are not", 1),
            ("(a) and (b): why neither, with what a capacity factor drops or changes", 1),
            ("(c): what copies and their placement can and cannot mend here, and what they cost", 1),
            ("(d) and a decision: what more tokens change, and what is measured next", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution="By chance alone, with 4 tokens on each of 32 GPUs the spread is √(31/(8·128)) = 17 %, and the busiest "
    "lies "
    "some 40 % above the mean; with 128 it is 3 %, and 7 % above. So of the 1.6 most is chance, of the 1.5 hardly "
    "any: there "
    "the router prefers some experts. Over a day other texts make other experts hot, and the loads even out: an "
    "average hides "
    "what each step sees. (a) The router was balanced over batches of a training, as it was asked to; a new one would "
    "be "
    "too. (b) A capacity of 1.1 drops up to a quarter of a hot GPU's choices in every step, and changes answers. (c) "
    "Copies and places mend what is stable: yesterday's loads say that nothing is hot, those of the last minutes may "
    "do. "
    "One more expert on each GPU is an eighth more memory for experts. (d) With 4 tokens, more of them help most: "
    "chance "
    "falls with the square root. So: fewer, fuller GPUs first; then count loads in windows of minutes, and if these "
    "repeat, "
    "copy and place by them, again and again.",
)

MODEL = models["deepseek-v3"]
EXPERT = 3 * MODEL.width * MODEL.expert_ffn  # bytes of one, in fp8
OTHER = parameter_groups(MODEL).total - parameter_groups(MODEL).experts  # bytes of all else, on every GPU
HBM, CACHE = 80 * GB, 44 * GB
BATCH = 4096  # tokens of a GPU in a layer
SPREAD = 1.12  # of the logarithm of the loads, from the deviation of layer 58
LOADS = lognormal_loads(MODEL.experts, SPREAD)
NODES = (2, 4, 8, 16)
MOST = 4  # redundant experts of a GPU
REACHED = 0.35 * 1978.9e12  # FLOP/s
CARD = 50 * GB


@cache
def imbalance_of(nodes, redundant):
    """The busiest GPU over the mean, placed by EPLB's rule."""
    return balanced(LOADS, 8 * nodes, MODEL.experts + 8 * nodes * redundant).imbalance(LOADS)


def memory(nodes, redundant):
    """Bytes of a GPU: its experts of all layers, everything else, and the room for the cache."""
    return MODEL.moe_layers * EXPERT * (MODEL.experts / (8 * nodes) + redundant) + OTHER + CACHE


def sent_bytes(nodes, limit):
    """What a card sends in a layer, fp8 out and bf16 back: a copy for each other node, on average."""
    most = minimum(limit, nodes)
    visited = most * destination_fraction(most, MODEL.experts_per_token)
    return BATCH * (nodes - 1) / nodes * visited * 3 * MODEL.width


def layer_time(nodes, limit, redundant):
    """The products or the cards, whichever take longer, on the busiest GPU."""
    if nodes not in NODES:
        raise ValueError(f"there are 2, 4, 8 or 16 nodes, not {nodes}")
    products = 6 * MODEL.experts_per_token * BATCH * MODEL.width * MODEL.expert_ffn / REACHED
    cards = sent_bytes(nodes, limit) / CARD
    total = ep_imbalanced_time(products, cards, imbalance_of(nodes, redundant))
    longer = "cards" if cards > products else "products"
    return Breakdown(
        total, {f"{longer}, of an even load": max(cards, products), "waiting": total - max(cards, products)}
    )


def best_time():
    """The shortest layer of all that keep to the conditions."""
    return min(
        layer_time(nodes, limit, extra).total
        for nodes in NODES
        for extra in range(MOST + 1)
        for limit in range(4, 9)
        if memory(nodes, extra) <= HBM
    )


SCENARIO = Exercise(
    id="expert-parallelism-scenario",
    title="A decision: nodes, copies, and a limit",
    points=4,
    prompt="Somebody has to write this letter: *“For the prompts of DeepSeek-V3 we take … nodes of eight H800, "
    "keep … redundant experts of each layer on every GPU, limit a token to … nodes, and each card will send … GB in a "
    "layer.”*\n\n"
    f"The GPUs hold the {MODEL.experts} experts of each of {MODEL.moe_layers} layers together, {EXPERT / 1e6:.0f} MB "
    f"each in fp8, of three matrices {MODEL.width:,} × {MODEL.expert_ffn:,}, and the redundant ones besides; "
    f"everything else takes {OTHER / GB:.1f} GB on every GPU, and the "
    f"cache wants {CACHE / GB:.0f} GB. Beyond {HBM / GB:.0f} GB a GPU is out of memory before its first prompt. The "
    f"loads are "
    f"those of a bad layer: log-normal, the logarithms with a spread of {SPREAD} (`lognormal_loads`), and experts are "
    "copied and placed by them with EPLB's rule (`balanced`).\n\n"
    f"A GPU brings {BATCH:,} tokens of {MODEL.width:,} elements to a layer, each for 8 experts on at most "
    "`limit` nodes: each expert falls on each "
    "of these, or of all nodes if there are fewer, as likely as on the others, independently, and any node may be "
    "among them, "
    "the token's own too. A token crosses the cards once for each other node, with one byte an element out and two "
    "back. "
    "The model was trained with a limit of 4; tests say that it answers worse below that, and no better above. "
    "A card sends at 50 GB/s. Products run at "
    f"{REACHED / 1e12:.0f} "
    "TFLOP/s and hide behind messages, or the other way round, and all wait for the busiest GPU "
    "(`ep_imbalanced_time`). Which decision makes the layer shortest? The number in the letter has to be right within "
    "3 %. *Exact* for this model.",
    answer=Design(
        fields={
            "nodes": Field("nodes of eight GPUs: 2, 4, 8 or 16", 2, 16, whole=True),
            "limit": Field("nodes that a token may go to", 1, 16, whole=True),
            "redundant": Field("redundant experts of each layer on a GPU", 0, MOST, whole=True),
            "sent": Field("bytes that a card sends in a layer, out and back", 0, 100 * GB, unit="B"),
        },
        objective=layer_time,
        measure="the time of a layer",
        unit="s",
        conditions=[
            Condition("the memory of a GPU", memory, at_most=HBM, unit="B"),
            Condition("the nodes that a token may go to", lambda limit: limit, at_least=4),
            Condition(
                "the error of the number in the letter, over what a card sends",
                lambda nodes, limit, sent: abs(sent / sent_bytes(nodes, limit) - 1),
                at_most=0.03,
            ),
        ],
        pars=[Par(1, 20 * ms), Par(2, 7 * ms), Par(4, lambda best: 1.02 * best)],
        known=[Known(best_time, "all decisions tried")],
        steps=4_000_000,
    ),
    solution=dict(nodes=8, limit=4, redundant=2, sent=sent_bytes(8, 4)),
    mistakes=(
        Mistake(
            dict(nodes=4, limit=4, redundant=1, sent=sent_bytes(4, 4)),
            "Fewer nodes send less and hold more experts each. How much memory does a redundant expert take in all "
            "layers?",
        ),
        Mistake(
            dict(nodes=8, limit=8, redundant=2, sent=sent_bytes(8, 8)),
            "With eight experts and no limit a token visits more than five of eight nodes. What do the cards take "
            "then?",
        ),
    ),
    hints=(
        "For each number of nodes: how many redundant experts fit into the memory?",
        "A token's experts fall on `limit` nodes; how many of these have at least one? Of those copies one in `nodes` "
        "stays at home.",
        "Try all decisions in a few lines: `balanced(lognormal_loads(256, spread), ranks, slots).imbalance(loads)`.",
    ),
    explain="Two and four nodes cannot hold their experts beside the cache. On eight, a token that may go anywhere "
    "visits "
    "`8*(1 - (7/8)**8)` nodes, and all wait for the cards; with at most four it visits `4*(1 - (3/4)**8)`, "
    "of which "
    f"7/8 are elsewhere: {sent_bytes(8, 4) / GB:.3f} GB. Four experts on a GPU do not average out: the hottest alone "
    f"makes "
    f"its GPU {imbalance_of(8, 0):.2f} times the mean. One redundant expert on each brings that to "
    f"{imbalance_of(8, 1):.3f}, two to "
    f"{imbalance_of(8, 2):.3f}, a fourth does not fit. Sixteen nodes hold fewer experts each, average over fewer, and "
    f"send more.",
)

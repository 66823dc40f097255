"""Exercises of the section on the width of an expert, and where its group lies."""

from autograder.answers import Choice, Expression, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import destination_fraction, mean_destinations
from hwlib.parallel import ep_exact_critical_width, ep_nodes_time  # noqa: F401  (the text uses it)
from hwlib.units import GB, show

WIDTH = Exercise(
    id="expert-parallelism-width",
    title="How wide, over a whole step",
    points=3,
    prompt="Experts with a gate, so of three matrices `D × F`, lie on `n` nodes. A token goes to `k` of them, which "
    "are on exactly `M` nodes, each of the n as likely as the others, its own included; it crosses the cards once for "
    "each other node. Dispatch has one byte an element and combine two, and the gradients in the backward "
    "pass again one byte on their way to the experts and two on their way back. Every GPU has its own card of `W`, one "
    "way, and reaches `C`. From which `F` on do the experts' products of a forward and a backward pass take as "
    "long as what the cards send? *Exact* for this count, with a backward pass of twice the operations.",
    answer=Expression(
        {
            "M": integers(1, 8),
            "n": integers(8, 64),
            "k": integers(8, 32),
            "C": positive("FLOP/s"),
            "W": positive("B/s"),
        },
    ),
    solution=lambda M, n, k, C, W: M * (n - 1) * C / (3 * n * k * W),
    mistakes=(
        Mistake(
            lambda M, n, k, C, W: M * (n - 1) * C / (2 * n * k * W),
            "That is the forward pass alone, or experts of two matrices. Twice the operations come with the backward "
            "pass: "
            "how many messages do?",
        ),
        Mistake(
            lambda M, n, k, C, W: M * C / (3 * k * W),
            "To first order, for many nodes. Which share of the copies stays in the token's node?",
            name="own-share",
        ),
        Mistake(
            lambda M, n, k, C, W: (n - 1) * C / (3 * n * W),
            "That is a copy for each expert. How often does a token cross the cards, if its experts are on M nodes?",
            name="copy-per-expert",
        ),
        Mistake(
            lambda M, n, k, C, W: (M - 1) * C / (3 * k * W),
            "So it is if every token has an expert in its own node. With which chance has it?",
        ),
        Mistake(
            lambda M, n, k, C, W: 4 * M * (n - 1) * C / (9 * n * k * W),
            "Your messages have two bytes an element both ways. The way to the experts has one.",
        ),
        Mistake(
            lambda M, n, k, C, W: M * (n - 1) * C / (6 * n * k * W),
            "Half of it: the messages of one pass against the operations of both.",
            names_all=True,
        ),
        Mistake(
            lambda M, n, k, C, W: M * (n - 1) * C / (n * k * W),
            "Three times as much. How many operations has a token in one expert, in both passes together?",
        ),
        Mistake(
            lambda M, n, k, C, W: M * (n - 1) * C / (24 * n * k * W),
            "You give one GPU the cards of a whole node of eight. Every GPU has one, which carries its own tokens.",
            name="gpu-for-node",
        ),
        Mistake(
            lambda M, n, k, C, W: k * (n - 1) * C / (3 * n * M * W),
            "Upside down in M and k: more experts on the same nodes make it easier.",
            name="upside-down",
        ),
    ),
    hints=(
        "Operations of a token: two for each weight of k experts, three times that with the backward pass.",
        "Bytes of a token that cross the cards: four ways, of one, two, one and two bytes an element.",
        "The tokens of a GPU and D appear on both sides.",
    ),
    explain="For each of its tokens a GPU computes `3*2*3*k*D*F` operations: two a weight, three matrices, and three "
    "times that with the backward pass. Of M copies one in n stays at home, so `M*(n - 1)/n*D` elements cross its "
    "card, with 1 + 2 + 1 + 2 = 6 bytes over the four ways. Equal times: `18*k*D*F/C = 6*M*(n - 1)/n*D/W`. Tokens and "
    "D "
    "cancel: no batch helps, only wider experts, fewer nodes, or more experts for each of them.",
)

BOOK = dict(Z=64, k=8, C=989e12, W=50 * GB)


def book_width(Z, k, C, W):
    return C / (8 * W) * (Z - 8) / k


def mended_width(Z, k, C, W):
    """One copy for each node, drawn independently, and three matrices."""
    nodes = Z / 8
    return ep_exact_critical_width(k, nodes, C, W, destination_fraction(nodes, k))


ERRATUM_WIDTH = Exercise(
    id="expert-parallelism-erratum-width",
    title="Erratum: how wide an expert has to be",
    points=2,
    prompt="*How to Scale Your Model*, of experts on Z GPUs in nodes of eight, for k above Z/8: their messages hide "
    "if F "
    "> α(Z − 8)/k, with α the operations of a GPU for each byte of its *node's* cards. For {Z} GPUs, {k} experts a "
    "token, {C:FLOP/s} a GPU and a card of {W:B/s} for each, that is {printed}. It counts as if every token went to "
    "every node, and experts of two matrices, though real ones have a gate, so three. Which width follows, in "
    "elements, if a "
    "token's {k} experts are drawn independently, each node as likely as the others, it goes once to each node that "
    "has one, and "
    "experts have three matrices? Two bytes an element both ways, forward pass. *Exact*.",
    given=[
        dict(Z=Z, k=k, C=C * 1e12, W=W * GB, printed=f"F > {round(book_width(Z, k, C * 1e12, W * GB), -1):,.0f}")
        for Z, k, C, W in ((48, 8, 989, 50), (32, 8, 989, 50), (40, 6, 2250, 50), (48, 7, 2250, 100), (24, 4, 989, 25))
    ],
    answer=Quantity("1"),
    solution=lambda Z, k, C, W: mended_width(Z, k, C, W),
    mistakes=(
        Mistake(
            lambda Z, k, C, W: book_width(Z, k, C, W),
            "That is the printed rule. Which two counts does the prompt correct?",
        ),
        Mistake(
            lambda Z, k, C, W: 2 / 3 * book_width(Z, k, C, W),
            "The third matrix is in. Does every token have an expert in every node?",
        ),
        Mistake(
            lambda Z, k, C, W: mended_width(Z, k, C, W) / 2,
            "Your messages go to the experts. What comes back from them, and in how many bytes?",
        ),
        Mistake(
            lambda Z, k, C, W: 1.5 * mended_width(Z, k, C, W),
            "The copies are right. How many operations has a token in an expert with a gate?",
            name="gated-mlp",
        ),
        Mistake(
            lambda Z, k, C, W: 2.25 * mended_width(Z, k, C, W),
            "A third matrix is more arithmetic for the same messages: does the width that hides them grow?",
        ),
        Mistake(
            lambda Z, k, C, W: ep_exact_critical_width(k, Z / 8, C, W, destination_fraction(Z, k)),
            "That is the chance of one GPU. What counts is whether the node has one of the experts.",
        ),
        Mistake(
            lambda Z, k, C, W: ep_exact_critical_width(k, Z / 8, 8 * C, W, destination_fraction(Z / 8, k)),
            "Eight times as much. A node has eight GPUs and eight cards.",
            name="gpu-for-node",
            names_all=True,
        ),
        Mistake(
            lambda Z, k, C, W: ep_exact_critical_width(k, Z / 8, C / 8, W, destination_fraction(Z / 8, k)),
            "An eighth of it. A node has eight GPUs and eight cards.",
            name="gpu-for-node",
            names_all=True,
        ),
        Mistake(
            lambda Z, k, C, W: mended_width(Z, k, C, W) * (Z / 8) / (Z / 8 - 1),
            "The copies of a token's own node do not leave it.",
        ),
    ),
    hints=(
        "With which chance has one given node none of the k experts?",
        "Replace the copies in the printed rule by the expected ones, and two matrices by three.",
    ),
    explain="A node is missed by all {k} experts with chance `(1 - 8/Z)**k`, so a token goes to `Z/8*(1 - (1 - 8/Z)**"
    "k)` nodes, of which its own is one in Z/8; the printed rule counts all Z/8. And a gated expert has `2*3*k*D*F` "
    "operations "
    "a token, not `2*2*k*D*F`. The width is the printed one times `(1 - (1 - 8/Z)**k)*2/3`. For Z = 64 and k = 8 that "
    f"is {mended_width(**BOOK):,.0f} instead of {book_width(**BOOK):,.0f}.",
)

TOKENS, MICRO = 4096, 8  # of a GPU in a microbatch, and microbatches of a step
MIX = dict(D=4096, F=14336, k=2, E=8)
CARD, NVLINK = 50 * GB, 450 * GB


def inside_times():
    """Experts of a node's eight GPUs: tokens over NVLink in every microbatch, gradients over the cards once a step."""
    hidden = 2 * TOKENS * MIX["D"]
    tokens = 4 * MICRO * mean_destinations(8, MIX["k"], MIX["E"]) * 7 / 8 * hidden / NVLINK
    gradients = 2 * (2 - 1) / 2 * 2 * 3 * MIX["D"] * MIX["F"] / CARD
    return tokens, gradients


def copied_times():
    """All experts everywhere: gradients of all, summed inside the node over NVLink and by eighths over the cards."""
    expert = 2 * 3 * MIX["D"] * MIX["F"]
    return 2 * 7 / 8 * MIX["E"] * expert / NVLINK, 2 * (2 - 1) / 2 * expert / CARD


def across_times():
    """Four experts in each of two nodes: tokens over the cards in every microbatch, and no gradient between nodes."""
    hidden = 2 * TOKENS * MIX["D"]
    return 4 * MICRO * mean_destinations(2, MIX["k"], MIX["E"]) / 2 * hidden / CARD


_tokens, _gradients = inside_times()

DECIDE = Exercise(
    id="expert-parallelism-where",
    title="Where the group lies",
    prompt="A model like Mixtral (8 gated experts of 4096 × 14336, of which a token takes 2) trains on two nodes of "
    "eight H100. "
    f"A GPU has {TOKENS:,} tokens a microbatch, and a step has {MICRO} microbatches, after which gradients are summed "
    "in two bytes. NVLink has 450 GB/s a GPU, a card 50. Which layout keeps the wires of an expert layer busy for the "
    "shortest time in a step? *To first order*, bandwidth only.",
    answer=Choice(
        {
            "inside": "an expert on each GPU of a node, and the same again in the other node",
            "across": "four experts in each node, each cut over two GPUs: every expert is there once",
            "copied": "all experts on every GPU, and no all-to-all",
            "cut": "all experts in each node, each cut over its eight GPUs (tensor parallel)",
        }
    ),
    solution="inside",
    mistakes=(
        Mistake(
            "across",
            "It spares the gradients between the nodes, once a step. What crosses the cards in every microbatch "
            "instead?",
        ),
        Mistake("copied", "No token travels. Which gradients does each GPU then have to sum with fifteen others?"),
        Mistake(
            "cut",
            "A group of eight sums whole tokens then, in both passes. How many bytes is that against a copy for each "
            "expert?",
        ),
    ),
    hints=(
        "Per layer: bytes of tokens in a step, and over which wire; bytes of gradients, and over which wire.",
        "Tokens travel four times in every microbatch, gradients once in a step.",
    ),
    explain=f"Inside the node a GPU sends its tokens over NVLink, {show(_tokens, 's', 2)} a step and layer, and one "
    f"expert's gradients over its card, {show(_gradients, 's', 2)}. Spread over both nodes, tokens cross the cards in "
    f"every microbatch: {show(across_times(), 's', 3)}. Copies of all experts sum the gradients of all inside "
    f"the node first, {show(copied_times()[0], 's', 2)} over NVLink, and then as many bytes over the cards as above; "
    "experts cut eight ways gather and scatter all tokens, some "
    f"{show(4 * MICRO * 7 * 2 * TOKENS * MIX['D'] / NVLINK, 's', 2)}, and multiply thin matrices. Few wide experts "
    "stay in a node; with 256 narrow ones a node cannot hold them all, and the group has to cross the cards.",
)

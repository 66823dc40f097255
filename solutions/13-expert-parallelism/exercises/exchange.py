"""Exercises of the sections on what is sent, and names with which the text computes numbers."""

from autograder.answers import Choice, Expression, Quantity, integers, multiples, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB

ERRATUM_COST = Exercise(
    id="expert-parallelism-erratum-cost",
    title="Erratum: cheaper with more experts?",
    points=3,
    prompt="*Deep Understanding of GPU Scaling* (Thaki Cloud, 2025) gives the cost of the all-to-alls of experts as "
    "`B*S*H*k/E*2`, for B·S tokens of width H, with `k` of `E` experts each. Twice as many experts would then cost "
    "half as much. Take `T` tokens of all ranks together, of `D` elements, as many on each of `n` ranks, over which "
    "the "
    "`E` experts are spread evenly; the router is even and draws the experts of a token independently, and a token "
    "goes to each of its k experts in a copy of its own. Forward, the dispatch has a byte an element and a scale of "
    "four bytes for every 128 of them, and the combine has two bytes. Backward, the gradients take both ways in the "
    "opposite direction, with two bytes an element each. How many bytes does a rank send in all, *exactly, in "
    "expectation*? "
    "What stays on the rank is not sent.",
    answer=Expression(
        {
            "T": positive("token"),
            "D": positive("1", 512, 32768),
            "k": integers(1, 16),
            "n": integers(2, 256),
            "E": multiples("n", 1, 16),
        },
        "B",
    ),
    solution=lambda T, D, k, n, E: (n - 1) / n * k * (7 + 1 / 32) * T * D / n,
    mistakes=(
        Mistake(
            lambda T, D, k, n, E: 2 * k * T * D / E,
            "That is the printed formula. With twice as many experts, how many copies of a token are there?",
        ),
        Mistake(
            lambda T, D, k, n, E: k * (7 + 1 / 32) * T * D / E,
            "E is in the denominator, as in the printed formula. Does a copy travel less far because there are more "
            "experts to choose from?",
        ),
        Mistake(
            lambda T, D, k, n, E: (E - 1) / E * k * (7 + 1 / 32) * T * D / n,
            "You let a copy stay only if its token's own expert is chosen. A rank holds E/n of the experts.",
        ),
        Mistake(
            lambda T, D, k, n, E: k * (7 + 1 / 32) * T * D / n,
            "Some of the experts are on the token's own rank: which share of the copies does not leave?",
        ),
        Mistake(
            lambda T, D, k, n, E: (n - 1) / n * k * (7 + 1 / 32) * T * D,
            "That is what all ranks send together. How many tokens has one of them?",
            name="one-for-all",
        ),
        Mistake(
            lambda T, D, k, n, E: (n - 1) / n * k * (3 + 1 / 32) * T * D / n,
            "That is the forward pass. What returns in the backward pass?",
            name="forward-only",
        ),
        Mistake(lambda T, D, k, n, E: (n - 1) / n * k * 7 * T * D / n, "The scales of the fp8 elements are missing."),
        Mistake(
            lambda T, D, k, n, E: (n - 1) / n * (7 + 1 / 32) * T * D / n,
            "That is a copy for each token. It goes to k experts, in as many copies.",
        ),
        Mistake(
            lambda T, D, k, n, E: (n - 1) / n * k * 8 * T * D / n,
            "Four passes of two bytes. The first of them has one byte and its scales.",
        ),
        Mistake(
            lambda T, D, k, n, E: (n - 1) * (1 - (1 - 1 / n) ** k) * (7 + 1 / 32) * T * D / n,
            "So it is if two experts on one rank share a copy. Here each has its own.",
        ),
    ),
    hints=(
        "How many copies leave a rank, of which share of its tokens' choices?",
        "Add the bytes of an element over the four ways that a copy or its gradient takes.",
        "A rank sends its own tokens out, and the results of others' tokens back: by symmetry as many.",
    ),
    explain="A rank has `T/n` tokens and sends `k` copies of each, of which `(n - 1)/n` go to another rank: the "
    "experts "
    "of a token are anywhere, however many there are, so E drops out. By symmetry it returns as many results as it "
    "sends tokens. An element has 1 + 4/128 bytes on the way out and 2 on the way back, and in the backward pass 2 and "
    "2: `7 + 1/32` in all. More experts do not make the all-to-all cheaper, and they make each rank's products "
    "smaller, which is why sparse models feel their network first.",
)

PREDICT_RANKS = Exercise(
    id="expert-parallelism-predict-ranks",
    title="Predict: sixteen times the ranks",
    predict=True,
    prompt="In a step of decoding each of 16 H800, two nodes of eight, sends 128 tokens to 8 experts each; DeepEP's "
    "low-latency dispatch takes 118 µs. How long does it take on 256 of them, 32 nodes, still with 128 tokens on each, "
    "*to first order*?",
    answer=Choice(
        {
            "shorter": "shorter: the same work is spread over more cards",
            "some": "more, but not twice as long",
            "four": "about four times as long",
            "sixteen": "about sixteen times as long: sixteen times the destinations",
        },
        ordered=True,
    ),
    solution="some",
    mistakes=(
        Mistake("shorter", "Each GPU still brings 128 tokens, and each has its own card."),
        Mistake("four", "How many bytes does a card send, with 2 nodes and with 32?"),
        Mistake("sixteen", "A token goes to eight experts, however many ranks there are."),
    ),
    hints=("Of a GPU's copies, which share leaves its node with 2 nodes, and which with 32?",),
    explain="A GPU sends 128·8 copies whatever the number of ranks. With two nodes half of them cross the card, with "
    "32 nodes 31 of 32: less than twice as many, and the start is the same. Measured are 194 µs.",
)

LOGICAL = Exercise(
    id="expert-parallelism-logical",
    title="More than the card has",
    prompt="A table of dispatches prints a bandwidth of {R:B/s}, for GPUs with a card of 50 GB/s each. It counts a "
    "copy "
    "for each node that a token goes to, and the token's own node is one of the {n} nodes. Every token goes to {M} of "
    "them, each of the {n} as likely as the others. What is handed on inside a node is not counted. At what rate does "
    "a card send? *Exact, in expectation*.",
    given=[dict(R=R * GB, n=n, M=M) for R, n, M in ((56, 6, 4), (54, 8, 5), (62, 5, 2), (47, 7, 4), (60, 8, 3))],
    answer=Quantity("B/s"),
    solution=lambda R, n, M: R * (n - 1) / n,
    mistakes=(
        Mistake(lambda R: R, "That is the printed rate. Do all of the counted copies cross the card?"),
        Mistake(
            lambda R, M: R * (M - 1) / M,
            "So it is if every token has an expert in its own node. How often is its node among the {M}?",
        ),
        Mistake(lambda: 50 * GB, "That is what the card has. The table says how much is sent, and some of it stays."),
        Mistake(lambda R, n: R / n, "That is the rate of the copies that stay."),
        Mistake(lambda R, n, M: R * (n - M) / n, "With chance {M}/{n} one of the {M} copies stays, not all of them."),
        Mistake(lambda R, M: R / M, "That is the rate of tokens, times their bytes. A token goes to {M} nodes."),
        Mistake(
            lambda R, n, M: R * M / n, "That is the share of nodes a token goes to. Which of its copies cross the card?"
        ),
    ),
    hints=("Of {M} copies of a token, how many stay in its own node, in expectation?",),
    explain="A token's own node is one of its {M} with chance {M}/{n}, so {M}/{n} of its {M} copies stay, one in {n}: "
    "the limit drops out. A card sends `R*(n - 1)/n`. The printed rate says how fast tokens are served, not what the "
    "wire carries.",
)

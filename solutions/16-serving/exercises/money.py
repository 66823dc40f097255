"""Exercises on prices."""

from autograder.answers import Choice, Quantity
from autograder.declaration import Exercise, Mistake

WHICH_GPU = Exercise(
    id="serving-which-gpu",
    title="Rent by the hour",
    points=2,
    prompt="A replica decodes Llama 3 70B in fp8, 70 GB of weights, on four GPUs. A token's cache has 164 kB, "
    "and each sequence a cache of 8,192 tokens. An assistant for programmers promises every user 80 tokens a second. "
    "Three offers, with memory, bandwidth and price of each GPU: **A** 80 GB, 3.35 TB/s, 2.00 dollars an hour; **B** "
    "141 GB, 4.8 TB/s, 2.60 dollars; **C** 180 GB, 8 TB/s, 5.00 dollars. Weights and caches may fill 90 % of the "
    "memory. A step takes as long as the bytes of the weights and of all caches, and 5 ms besides; arithmetic is never "
    "longer. With the largest batch that fits and keeps the promise, who sells the cheapest token? *Exact* for these "
    "numbers.",
    answer=Choice({"a": "A", "b": "B", "c": "C", "bc": "B and C, within 3 %"}, ordered=True),
    solution="c",
    mistakes=(
        Mistake("a", "The cheapest hour. How many sequences have their tokens in time there?"),
        Mistake(
            "b",
            "The most gigabytes and the most bandwidth for a dollar, and the cheapest token of a batch that fills the "
            "memory. How long does a step of that batch take?",
        ),
        Mistake("bc", "So it would be if a step took only as long as its bytes. What do the 5 ms leave of it?"),
    ),
    hints=(
        "80 tokens a second are a step of 12.5 ms. How much of it is left for reading?",
        "For each: four bandwidths times that time are the bytes of a step. What remains beside 70 GB, over the bytes "
        "of a cache, is the batch. Does it fit?",
        "Dollars of an hour over the tokens of an hour, 80 a second for each sequence.",
    ),
    explain="A cache has 1.34 GB. Of the 12.5 ms of a step 7.5 ms are left for reading: A reads 100 GB, which are the "
    "weights and 22 caches; B 144 GB, 55 caches; C 240 GB, 126. All of them would fit (162, 325 and 430). A million "
    "tokens cost 1.26, 0.66 and 0.55 dollars. Without a promise memory would be the limit, and B the cheapest, with "
    "0.28 against 0.33 of C: what a dollar buys by the data sheet decides only there. Weights and 5 ms are paid first, "
    "whoever reads; what is left of a short step grows faster than the bandwidth.",
)


def nodes(tokens_in, tokens_out, node_in, node_out):
    return (tokens_in / node_in + tokens_out / node_out) * 1e6 / 86400


def without_cache(T_in, T_hit, T_out, node_in, node_out, hour, found, missed, made):  # noqa: ARG001
    cost = nodes(T_in / (1 - T_hit / T_in), T_out, node_in, node_out) * 8 * 24 * hour
    return (T_in * missed + T_out * made) * 1e3 / cost - 1


NO_CACHE = Exercise(
    id="serving-margin",
    title="A day without a cache",
    points=3,
    prompt="The day of a service, reckoned as DeepSeek reckons its own: {T_in} billion prompt tokens, of which {T_hit} "
    "billion were found in a cache on disk, and {T_out} billion generated ones. A node for prompts takes {node_in} "
    "thousand tokens a second, found ones included, and a node for decoding gives {node_out} thousand; a node has 8 "
    "GPUs at {hour} dollars an hour. "
    "A million tokens were to bring {found} dollars if they were found, {missed} if not, and {made} if they were "
    "generated. What would the margin, profit over cost, be without the cache, if all prompt tokens were billed as "
    "not found? *To first order*: found tokens cost no time, those that are computed cost as much as before, and "
    "nodes are always full.",
    given=[
        dict(T_in=608, T_hit=342, T_out=168, node_in=73.7, node_out=14.8, hour=2, found=0.14, missed=0.55, made=2.19),
        dict(T_in=608, T_hit=342, T_out=168, node_in=73.7, node_out=14.8, hour=3, found=0.14, missed=0.55, made=2.19),
        dict(T_in=900, T_hit=600, T_out=120, node_in=90, node_out=14.8, hour=2, found=0.14, missed=0.55, made=2.19),
    ],
    answer=Quantity("1"),
    solution=without_cache,
    mistakes=(
        Mistake(
            lambda T_in, T_out, node_in, node_out, hour, missed, made: (
                (T_in * missed + T_out * made) * 1e3 / (nodes(T_in, T_out, node_in, node_out) * 8 * 24 * hour) - 1
            ),
            "The income without a cache, over the cost with one. At which rate does a node compute what it does not "
            "find?",
        ),
        Mistake(
            lambda T_in, T_hit, T_out, node_in, node_out, hour, found, missed, made: (
                (T_hit * found + (T_in - T_hit) * missed + T_out * made)
                * 1e3
                / (nodes(T_in, T_out, node_in, node_out) * 8 * 24 * hour)
                - 1
            ),
            "That is the margin with the cache.",
        ),
        Mistake(
            lambda T_in, T_hit, T_out, node_in, node_out, hour, found, missed, made: (
                (T_hit * found + (T_in - T_hit) * missed + T_out * made)
                * 1e3
                / (nodes(T_in / (1 - T_hit / T_in), T_out, node_in, node_out) * 8 * 24 * hour)
                - 1
            ),
            "The cost without a cache, over the income with one.",
        ),
        Mistake(
            lambda T_in, T_hit, T_out, node_in, node_out, hour, missed, made: (
                (T_in * missed + T_out * made)
                * 1e3
                / (nodes(T_in / (1 - T_hit / T_in), T_out, node_in, node_out) * 8 * 24 * hour)
            ),
            "That is income over cost. The margin is profit over cost.",
        ),
        Mistake(
            lambda T_in, T_hit, T_out, node_in, node_out, hour, missed, made: (
                1
                - nodes(T_in / (1 - T_hit / T_in), T_out, node_in, node_out)
                * 8
                * 24
                * hour
                / ((T_in * missed + T_out * made) * 1e3)
            ),
            "That is profit over income. The margin here is profit over cost.",
        ),
        Mistake(
            lambda T_in, T_hit, T_out, node_in, node_out, hour, found, missed, made: (
                100 * without_cache(T_in, T_hit, T_out, node_in, node_out, hour, found, missed, made)
            ),
            "A margin of 1 is a profit as large as the cost. If yours is in per cent, write the sign behind it: "
            '`"50 %"`.',
        ),
    ),
    hints=(
        "Of {node_in} thousand tokens a second, a node computes only those that were not found.",
        "Nodes for prompts: all prompt tokens of a day, over 86,400 s and what a node computes in a second.",
    ),
    explain="A node computes `node_in*(1 - T_hit/T_in)` tokens a second. Without the cache it has to compute all "
    "`T_in`, so the nodes for prompts grow by 1/(1 - T_hit/T_in), and those for decoding stay. The income grows, since "
    "every prompt token is billed at {missed} dollars a million. The margin falls nonetheless, and the prompts have "
    "become the larger half of the service.",
)

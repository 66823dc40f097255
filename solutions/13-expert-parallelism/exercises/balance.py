"""Exercises of the section on balance: chance against preference, copies, and the lab that places measured loads."""

from math import ceil, sqrt

from autograder.answers import Breakdown, Count, Design, Field, Known, Par, Quantity
from autograder.declaration import Exercise, Mistake
from hwlib.parallel import Placement, balanced, in_order

BLAME = Exercise(
    id="expert-parallelism-blame",
    title="The same router with fewer tokens",
    points=2,
    prompt="A layer's experts lie on {n} ranks. With {T1:token} on each rank and {k} experts a token, the loads of the "
    "ranks have a standard deviation of {s} % of their mean, within a step and on average over many. Part of it is "
    "chance, the rest what the "
    "router prefers, which has nothing to do with the number of tokens, and the two are independent. What is the "
    "standard deviation with {T2:token} on each rank, as a share of the mean? *Exact*, with independent choices.",
    given=[
        dict(n=n, T1=T1, k=k, s=s, T2=T2)
        for n, T1, k, s, T2 in (
            (4, 32, 2, 25, 4),
            (4, 24, 2, 28, 3),
            (3, 64, 2, 20, 6),
            (5, 40, 2, 24, 3),
            (4, 48, 2, 22, 4),
        )
    ],
    answer=Quantity("1", rtol=0.005),
    solution=lambda n, T1, k, s, T2: sqrt((s / 100) ** 2 + (n - 1) / (k * n * T2) - (n - 1) / (k * n * T1)),
    mistakes=(
        Mistake(
            lambda s: s / 100,
            "So it is if all of it is preference. How much is chance, and how does that depend on the tokens?",
        ),
        Mistake(
            lambda s, T1, T2: s / 100 * sqrt(T1 / T2),
            "So it is if all of it is chance. What would be left of it with very many tokens?",
        ),
        Mistake(
            lambda n, T1, k, s, T2: sqrt((s / 100) ** 2 + (n - 1) / (k * n * T2)),
            "The {s} % have some chance in them already: that of {T1:token} on each rank.",
        ),
        Mistake(
            lambda n, T1, k, s, T2: s / 100 + sqrt((n - 1) / (k * n * T2)) - sqrt((n - 1) / (k * n * T1)),
            "Of independent parts it is the squares that add up.",
        ),
        Mistake(
            lambda n, T2, k: sqrt((n - 1) / (k * n * T2)),
            "That is chance alone. What does the router prefer?",
        ),
        Mistake(
            lambda n, T1, k, s: sqrt((s / 100) ** 2 - (n - 1) / (k * n * T1)),
            "That is the preference alone. Chance comes on top, with {T2:token} on each rank.",
        ),
        Mistake(
            lambda n, T1, k, s, T2: sqrt((s / 100) ** 2 + (n - 1) / (k * T2) - (n - 1) / (k * T1)),
            "The tokens of all ranks make the load of one: {n} times those of a rank.",
        ),
        Mistake(
            lambda n, T1, k, s, T2: sqrt((s / 100) ** 2 + 1 / (k * T2) - 1 / (k * T1)),
            "To first order, for many ranks. A choice goes to the rank with chance 1/{n}, and misses it with the rest.",
        ),
        Mistake(
            lambda n, T1, k, s, T2: sqrt((s / 100) ** 2 + (n - 1) / (n * T2) - (n - 1) / (n * T1)),
            "A token makes {k} choices, not one.",
        ),
    ),
    hints=(
        "By chance alone a rank's load has a standard deviation of √((n − 1)/(kB)) of its mean, B the tokens of all "
        "ranks.",
        "Take the square of the chance with {T1:token} away, and add that with {T2:token}.",
    ),
    explain="The variance by chance, over the square of the mean, is `(n - 1)/(k*B)` with `B = n*T` tokens of all "
    "ranks. The "
    "router's part is what is left of the measured one: `s**2 - (n - 1)/(k*n*T1)`. With {T2:token} on each rank, "
    "chance "
    "adds `(n - 1)/(k*n*T2)` to it. Fewer tokens make the same router look worse, and a log without its number of "
    "tokens says little about the router.",
)


def least_copies(p, E, n, others, x):
    """Copies of the hottest expert until a rank that has one is at most x above the mean."""
    return ceil(p / 100 / ((1 + x / 100) / n - others * (1 - p / 100) / (E - 1)))


COPIES = Exercise(
    id="expert-parallelism-copies",
    title="Copies of a hot expert",
    points=2,
    prompt="Of all choices of a layer's router, {share} % go to one of its {E} experts; the other experts "
    "get equal parts of the rest. A rank that holds a copy of it holds {others} of the others as well, which lie "
    "nowhere else. "
    "There are {n} ranks, and no rank that holds a copy shall get more than {x} % above the mean load of the ranks. "
    "Its copies share its load evenly. How many copies does it need at least? *Exact*.",
    given=[
        dict(share=p, E=E, n=n, others=others, x=x)
        for p, E, n, others, x in (
            (2, 256, 32, 7, 10),
            (5, 128, 16, 7, 15),
            (3, 256, 64, 3, 25),
            (10, 64, 8, 7, 10),
            (2.4, 256, 32, 7, 20),
        )
    ],
    answer=Count(of="copy"),
    solution=lambda share, E, n, others, x: least_copies(share, E, n, others, x),
    mistakes=(
        Mistake(
            lambda share, n, x: ceil(share / 100 * n / (1 + x / 100)),
            "So many would do if nothing else lay beside it. What do the {others} others bring?",
        ),
        Mistake(
            lambda share, E, n, others: ceil(share / 100 / (1 / n - others * (1 - share / 100) / (E - 1))),
            "So many bring it down to the mean. It may stay {x} % above.",
        ),
        Mistake(
            lambda share, E, n, others, x: least_copies(share, E, n, others, x) - 1,
            "With so many, is a rank that holds one below the limit? Add up its copy and the {others} others.",
        ),
        Mistake(
            lambda share, E: ceil(share / 100 * E),
            "That makes each copy an average expert. What may a rank carry that holds one?",
        ),
        Mistake(
            lambda share, E, n, others, x: least_copies(share, E, n, others, x) + 1,
            "One fewer is enough, too.",
        ),
    ),
    hints=(
        "Write the load of a rank as a share of all choices: that of a copy, and that of the {others} others.",
        "The limit is 1 + {x} %, over {n}, of all choices.",
    ),
    explain="With p = {share} % of them and c copies, a rank that holds one gets `p/c + {others}*(1 - p)/({E} - 1)` "
    "of all choices and may get `(1 + "
    "x)/{n}`, with x = {x} %. So c is at least `p/((1 + x)/{n} - {others}*(1 - p)/({E} - 1))`, rounded up. The others "
    "fill most of a rank "
    "already, so a hot expert needs more copies than its own load suggests.",
)

# Choices of sixteen experts of a layer, on one GPU of a server of DeepSeek's model, as a comment prints them.
MEASURED = (
    162554, 147879, 102827, 108924, 46123, 505540, 98864, 184719, 322237, 128708, 117722, 118096, 73528, 245469, 119943,
    69937,
)  # fmt: skip
GPUS, SLOTS = 8, 3


def placed(**held):
    return Placement(tuple(tuple(held[f"gpu{i}"]) for i in range(GPUS)))


def busiest(**held):
    """The busiest GPU over the mean, and of which experts its load is."""
    placement = placed(**held)
    for gpu, experts in enumerate(placement.ranks):
        if twice := sorted(e for e in set(experts) if experts.count(e) > 1):
            raise ValueError(f"expert {twice[0]} is on GPU {gpu} twice; copies of an expert lie on different GPUs")
    found = placement.loads(MEASURED)
    mean = sum(found) / GPUS
    worst = max(range(GPUS), key=found.__getitem__)
    copies = [sum(one.count(expert) for one in placement.ranks) for expert in range(len(MEASURED))]
    terms: dict[str, float] = {}
    for expert in placement.ranks[worst]:
        name = f"expert {expert} on GPU {worst}"
        terms[name] = terms.get(name, 0.0) + MEASURED[expert] / copies[expert] / mean
    return Breakdown(max(found) / mean, terms)


def objective(gpu0, gpu1, gpu2, gpu3, gpu4, gpu5, gpu6, gpu7):
    return busiest(gpu0=gpu0, gpu1=gpu1, gpu2=gpu2, gpu3=gpu3, gpu4=gpu4, gpu5=gpu5, gpu6=gpu6, gpu7=gpu7)


def record(placement):
    return {f"gpu{i}": list(held) for i, held in enumerate(placement)}


EPLB = balanced(MEASURED, GPUS, GPUS * SLOTS)
FOUND = [[0, 4, 8], [5, 13, 15], [5, 7, 11], [5, 7, 11], [1, 6, 12], [8, 9, 13], [2, 3, 8], [10, 13, 14]]

LAB_PLACEMENT = Exercise(
    id="expert-parallelism-lab-placement",
    title="Lab: place sixteen measured experts",
    points=4,
    prompt="The sixteen loads below were counted in one layer of a running server (a comment in SGLang's pull request "
    "5524 prints them): choices of experts 0 to 15 of the layer.\n\n"
    f"`{list(MEASURED)}`\n\n"
    "Suppose that these are all experts of a layer, on eight GPUs with room for three each. In order, two on each GPU, "
    f"the busiest one has {in_order(16, 8).imbalance(MEASURED):.2f} times the mean. Place the experts, and give "
    "copies of some to the eight free places: the copies of an expert share its load evenly, and lie on different "
    "GPUs. How close to "
    "the mean can the busiest GPU be? *Exact*.",
    answer=Design(
        fields={f"gpu{i}": Field(f"experts on GPU {i}", 0, 15, whole=True, items=SLOTS) for i in range(GPUS)},
        objective=objective,
        measure="the load of the busiest GPU over the mean",
        pars=[
            Par(1, 1.25, "a copy each of the four hottest"),
            Par(2, 1.1),
            Par(3, lambda: EPLB.imbalance(MEASURED), "DeepSeek's balancer"),
            Par(4, 1.02, "a few exchanges after it"),
        ],
        known=[Known(lambda: Placement(tuple(map(tuple, FOUND))).imbalance(MEASURED), "a search")],
    ),
    solution=record(FOUND),
    mistakes=(
        Mistake(
            record([[2 * i, 2 * i + 1] for i in range(8)]),
            "That is the usual start, in order. What may the third place of each GPU hold?",
        ),
        Mistake(
            record([[5, 4, 12], [8, 15, 6], [13, 2], [7, 3], [0, 10], [1, 11], [9], [14]]),
            "Each expert is there once. Expert 5 alone has more than a GPU's share: what can be done about it?",
        ),
        Mistake(
            record([[2 * i, 2 * i + 1] + [5] * (i != 2) for i in range(8)]),
            "The hottest expert is on every GPU. Which one is the hottest after the first few?",
        ),
    ),
    hints=(
        "Give the free places away one by one, each to the expert whose copies have most to do at that moment.",
        "Then place all 24, the heaviest first, each on the GPU with the least load that has a place left.",
        "Last, exchange two experts between the busiest GPU and another whenever that lowers the larger of the two "
        "loads.",
    ),
    explain="The mean of a GPU is an eighth of all choices. Experts 5 and 8 alone have more than that, so they need "
    "copies; the "
    "rule of DeepSeek's balancer, copies to the one with most to do and then the heaviest first onto the lightest, "
    "comes "
    f"to {EPLB.imbalance(MEASURED):.3f}. It never looks back: exchanging pairs between the busiest GPU and the "
    f"others, from many drawn starts, comes to "
    f"{Placement(tuple(map(tuple, FOUND))).imbalance(MEASURED):.3f}. The loads are those of the past, and the next "
    f"step "
    "scatters around them by chance: what is gained beyond a few per cent is lost there.",
)

"""Exercises of chapter 7, and the names with which its text computes numbers."""

from collections import Counter
from math import prod

from autograder.answers import (
    Case,
    Choice,
    Distributed,
    Expression,
    Function,
    Quantity,
    Written,
    at_most,
    integers,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import binomial_broadcast, binomial_reduce, hierarchical_allreduce, ring_allreduce, within
from hwlib.collectives import (  # noqa: F401  (the text uses some that nothing here does)
    allgather_bandwidth,
    hierarchical_allreduce_time,
    level_bandwidths,
    level_times,
    levels_allgather_time,
    levels_switch_allreduce_time,
    nodes_alltoall_time,
    outer_axis_allgather_time,
    ring_allreduce_time,
    switch_allreduce_speedup,
)
from hwlib.specs import Level, clusters, measured_allreduces, nodes
from hwlib.units import GB, TB, GiB, show, us

H100, B200 = nodes["dgx-h100"], nodes["dgx-b200"]
POD = clusters["superpod-h100-4su"].levels  # 1,024 GPUs: node, leaf, spine
W_IN, W_NODE = H100.scaleup_bandwidth, H100.egress_bandwidth
W_GPU = W_NODE / H100.chips  # one GPU's card
N_POD = prod(level.size for level in POD)
TWO = (POD[0], POD[1]._replace(size=2))


def bus(how, n=8, chip="h200-sxm"):
    """The published bus bandwidth of an all-reduce of 8 GiB, with the switch adding or not; of two the better."""
    return max(m.bus_bandwidth for m in measured_allreduces(chip, n, how) if 8 * GiB == m.S)


SHARP_GAIN = bus("auto") / bus("ring")


def allreduce_bandwidth(levels, adds):
    """S/t of an all-reduce where the switches of the levels that `adds` says add."""
    return 1 / max(level_times("all_reduce", 1.0, levels, one)[i] for i, one in enumerate(adds))


# Which level decides
LEVELS = Exercise(
    id="collectives-at-scale-levels",
    title="Three levels, one bandwidth",
    points=2,
    prompt="A node joins {d1} GPUs at {W1:B/s} each. {d2} nodes, each with {W2:B/s}, meet in a scalable unit; {d3} "
    "units, each with {W3:B/s}, meet in the spine; all one way. What is S/t of an all-gather over all GPUs? *Exact* "
    "for this model: bandwidth only, and all levels work at once.",
    given=[
        dict(d1=d1, W1=W1, d2=32, W2=W2, d3=d3, W3=W3)
        for d1, W1, W2, d3, W3 in (
            (8, 450 * GB, 400 * GB, 4, 12.8 * TB),
            (8, 900 * GB, 400 * GB, 4, 12.8 * TB),
            (8, 900 * GB, 800 * GB, 4, 3.2 * TB),
            (8, 300 * GB, 400 * GB, 4, 12.8 * TB),
            (4, 450 * GB, 800 * GB, 8, 0.8 * TB),
        )
    ],
    answer=Quantity("B/s"),
    solution=lambda d1, W1, d2, W2, d3, W3: allgather_bandwidth(
        [Level("node", d1, W1), Level("unit", d2, W2), Level("spine", d3, W3)]
    ),
    mistakes=(
        Mistake(
            lambda W1, W2, W3: min(W1, W2, W3),
            "To first order. Exactly, a child already has its own 1/d of the array and need not fetch it.",
        ),
        Mistake(
            lambda d1, W1, d2, W2, d3, W3: 1 / ((d1 - 1) / d1 / W1 + (d2 - 1) / d2 / W2 + (d3 - 1) / d3 / W3),
            "That is one level after the other. While one chunk crosses the spine, another is inside the nodes.",
        ),
        Mistake(
            lambda d1, W1, d2, W2, d3, W3: min((d1 - 1) / d1 * W1, (d2 - 1) / d2 * W2, (d3 - 1) / d3 * W3),
            "A child that need not fetch all of the array is done sooner. Does that make S/t smaller?",
        ),
        Mistake(lambda d1, W2: W2 / d1, "Does every GPU have to fetch all of the array through its own card?"),
    ),
    hints=(
        "What does a level's child lack of the array, and through which port does it come in?",
        "That gives three times for the same S. The levels work at once: which of the times counts?",
    ),
    explain="A child of a level has 1/d of the array and gets the other (d − 1)/d by its own connection, so a level "
    "alone allows `S/t = d/(d - 1)*W`: for a GPU in its node d1 = {d1} and W1 = {W1:B/s}, for a node in its unit d2 = "
    "{d2} and W2 = {W2:B/s}, for a unit in the spine d3 = {d3} and W3 = {W3:B/s}. Different chunks cross the three "
    "levels at the same time, so the slowest decides: S/t is the least of the three.",
)

FROM_NODES = Exercise(
    id="collectives-at-scale-from-nodes",
    title="From how many nodes on?",
    points=3,
    prompt="A node has `N` GPUs. Into the network it has `r` times the bandwidth that one of its GPUs has inside the "
    "node, with `r < 1`. An all-gather over `M` such nodes is as slow as the slower level. At which `M` are "
    "both equally slow? *Exact*, as a real number: above it the network decides, below it the node.",
    answer=Expression({"N": integers(2, 128), "r": positive("1", 0.05, 0.99)}),
    solution=lambda N, r: N / (N - r * (N - 1)),
    mistakes=(
        Mistake(
            lambda r: 1 / (1 - r), "That takes a GPU to fetch all of the array inside the node; it has its own part."
        ),
        Mistake(lambda N, r: N / (N - r), "A GPU lacks all but its part, and you took the part itself."),
        Mistake(
            lambda N, r: r * N / (r * N - N + 1),
            "The r is on the wrong side: which of the two bandwidths is the smaller?",
        ),
    ),
    hints=(
        "What share of the array does a GPU fetch inside its node, and what share does a node fetch from the others?",
        "Each comes in by a connection of its own. Write both times with one W for the GPU, and set them equal.",
    ),
    explain="The whole array has S bytes, and every GPU wants it all. Inside its node a GPU has `1/N` of it and gets "
    "the rest at W: `(N - 1)/N*S/W`. A node has `1/M` and gets the rest at rW: `(M - 1)/M*S/(r*W)`. Equal times mean "
    "`1 - 1/M = r*(N - 1)/N`, so `M = N/(N - r*(N - 1))`. For an H100 node, N = 8 and r = 8/9, that is "
    f"{8 / (8 - W_NODE / W_IN * 7):.1f}: over two, three or four nodes an all-gather costs what it costs within one.",
)

# Inner and outer axes
PREDICT_INNER = Exercise(
    id="collectives-at-scale-predict-inner",
    title="Predict: an axis moves in",
    predict=True,
    prompt=f"{N_POD:,} H100 gather sharded weights over all GPUs. Now tensor parallelism of 8 takes the inside of "
    "every node: a GPU needs an eighth of each weight, and gathers it with the GPUs of its own place in all "
    "other nodes. What becomes of the time of this gather, *to first order*?",
    answer=Choice(
        {
            "eighth": "an eighth: there is an eighth of the bytes",
            "same": "the same",
            "double": "about twice as long",
            "eight": "eight times as long: NVLink is out of the game",
        }
    ),
    solution="same",
    mistakes=(
        Mistake("eighth", "An eighth for each GPU. How many GPUs of the node now gather through its cards at once?"),
        Mistake("double", "What a node must receive in all has not changed. By which ports does it come?"),
        Mistake("eight", "NVLink was not what decided before. What does the node have to receive, before and after?"),
    ),
    hints=("Look at the node, not at the GPU: how many bytes must come in, with and without the inner axis?",),
    explain="Eight groups gather an eighth each, and all of it enters every node, as before.",
)

INNER_AXIS = Exercise(
    id="collectives-at-scale-inner-axis",
    title="How far inside?",
    points=3,
    prompt="A scalable unit: {n_out} nodes of {n_in} H100, {W_in:B/s} one way for each GPU inside its node and "
    "{W_out:B/s} through its own card. Weights [D × F] in bf16, {S:B} in all, are cut along F by {Y} ranks that are "
    "neighbours, and along D by the other {X}, which gather them. How long does the gather take at best? *Exact* for "
    "the model: bandwidth only, both levels at once, each rank of a node uses its own card.",
    given=[
        dict(Y=Y, X=256 // Y, S=S, W_in=W_IN, W_out=W_GPU, n_in=8, n_out=32)
        for Y in (16, 4, 32, 2, 64)
        for S in (1.6 * GB, 0.4 * GB)
    ],
    answer=Quantity("s"),
    solution=lambda Y, S, W_in, W_out, n_in, n_out: outer_axis_allgather_time(S, Y, n_in, n_out, W_in, W_out),
    harmless=dict.fromkeys(
        (f"n_in {sign} 1 for n_in throughout" for sign in "-+"),
        "the ranks of a group, X, would not fill the nodes",
    ),
    mistakes=(
        Mistake(
            lambda X, Y, S, W_in: (X - 1) / X * S / (Y * W_in),
            "That is NVLink all the way. The ranks of one group are not all in one node.",
        ),
        Mistake(
            lambda S, W_out: 31 / 32 * S / (8 * W_out),
            "Up to Y = 8 a node takes in every byte of S. Is that still so for this Y?",
        ),
        Mistake(
            lambda X, S, W_out: (X - 1) / X * S / (8 * W_out),
            "Twice the answer: how many parts of F do the eight GPUs of a node hold, how much of "
            "each; and are S bytes already?",
        ),
        Mistake(
            lambda Y, S, W_out: S / (max(Y, 8) * W_out),
            "To first order. Exactly, a node holds a piece of what it gathers.",
        ),
        Mistake(
            lambda X, Y, S, W_out: (X - 1) / X * S / W_out,
            "One card for all of S: a group gathers a Y-th of it, and a node has eight cards.",
        ),
    ),
    hints=(
        "How many different parts of F do the eight GPUs of a node hold together?",
        "All that the node lacks of these parts comes in through eight cards. Is anything slower than that inside it?",
    ),
    explain="With Y = {Y}, the eight GPUs of a node hold `min(Y, 8)` of the Y parts of F, so `min(Y, 8)/Y*S` has to "
    "be in the node in the end. A part is spread over `256/Y` ranks, of which the node has `8/Y`, but at least one: a "
    "share of `max(Y, 8)/256` is there already. The rest comes in through eight cards: `t = (1 - max(Y, "
    "8)/256)*S/(max(Y, 8)*W_out)`, with S = {S:B} and W_out = {W_out:B/s}. What is gathered inside, `(1 - "
    "Y/8)*S/(Y*W_in)` for Y below 8 and nothing above, takes less time and runs along.",
)

# Hierarchical algorithms
HIERARCHICAL_TIME = Exercise(
    id="collectives-at-scale-hierarchical-time",
    title="Seventy billion gradients",
    points=2,
    prompt="{P} gradients in fp32 on {n_out} nodes of {n_in} GPUs are all-reduced in three phases, one after the "
    "other: a reduce-scatter inside the nodes at {W_in:B/s} a GPU, an all-reduce across at {W_out:B/s} a card, an "
    "all-gather inside; all of them rings, and all bandwidths one way. How long does it take? *Exact*, bandwidth only.",
    given=[
        dict(P=P, n_in=8, n_out=n_out, W_in=W_in, W_out=W_out)
        for P in (70e9, 8e9)
        for n_out, W_in, W_out in ((3, W_IN, W_GPU), (2, W_IN, W_GPU), (3, B200.scaleup_bandwidth, 50 * GB))
    ],
    answer=Quantity("s"),
    solution=lambda P, n_in, n_out, W_in, W_out: hierarchical_allreduce_time(n_in, n_out, 4 * P, 0, W_in, 0, W_out),
    mistakes=(
        Mistake(
            lambda P, n_in, n_out, W_out: ring_allreduce_time(n_in * n_out, 4 * P, 0, W_out),
            "That is one ring over all GPUs: every byte crosses a card twice. What is left to cross after phase one?",
        ),
        Mistake(
            lambda P, n_in, n_out, W_in, W_out: (
                (n_in - 1) / n_in * 4 * P / W_in + 2 * (n_out - 1) / n_out * 4 * P / n_in / W_out
            ),
            "That leaves each GPU with a part of the sum. What brings all of it to everybody?",
        ),
        Mistake(
            lambda P, n_in, n_out, W_in, W_out: (
                2 * (n_in - 1) / n_in * 4 * P / W_in + (n_out - 1) / n_out * 4 * P / n_in / W_out
            ),
            "Across the nodes the sums are formed. How does every node come by all of them?",
        ),
        Mistake(
            lambda P, n_in, n_out, W_in, W_out: max(
                2 * (n_in - 1) / n_in * 4 * P / W_in, 2 * (n_out - 1) / n_out * 4 * P / n_in / W_out
            ),
            "That is what overlap would give. Here one phase waits for the other.",
        ),
    ),
    hints=(
        "How many bytes has a GPU to send across the nodes once its node has summed?",
        "Write down each phase as a ring among how many ranks, of how large an array, at which bandwidth.",
    ),
    explain="The array has `S = 4*P` bytes, P = {P}. Reduce-scatter and all-gather are rings of n_in = {n_in} GPUs, "
    "`(n_in - 1)/n_in*S/W_in` each with W_in = {W_in:B/s}. Between them each GPU has `S/n_in` bytes, which go around "
    "an all-reduce of n_out = {n_out} nodes at W_out = {W_out:B/s}: `2*(n_out - 1)/n_out*S/n_in/W_out`. No phase "
    "begins before the one before it is done, so add all three up.",
)


def flat_ring(rank, n, x, inner):  # noqa: ARG001
    return (yield from ring_allreduce(rank, n, x))


def whole_across(rank, n, x, inner):
    (node, place), here = divmod(rank, inner), range(n)[rank - rank % inner :]
    yield from within(here, ring_allreduce(place, inner, x))
    return (yield from within(range(place, n, inner), ring_allreduce(node, n // inner, x)))


def by_leaders(rank, n, x, inner):
    (node, place), here = divmod(rank, inner), range(n)[rank - rank % inner :]
    yield from within(here, binomial_reduce(place, inner, x))
    if place == 0:
        yield from within(range(0, n, inner), ring_allreduce(node, n // inner, x))
    return (yield from within(here, binomial_broadcast(place, inner, x)))


LAB_ALLREDUCE = Exercise(
    id="collectives-at-scale-lab-allreduce",
    title="Lab: an all-reduce in three phases",
    points=4,
    lines=7,
    prompt="Write an all-reduce for nodes of `inner` ranks: ranks 0 to inner − 1 are the first node, and so on. Return "
    "the sum; x may be overwritten, and its length is a multiple of n. Process groups with collectives do it in a few "
    "lines; rings of your own messages are as good. Judged *exactly* are the sums, what each rank sends, how much of "
    "it the busiest rank sends *out of its node*, and the rounds.",
    answer=Distributed(
        "allreduce",
        signature="allreduce(rank, n, x, inner)",
        collective="all_reduce",
        leaving_bytes=at_most(),
        cases=[Case(4, 8, options={"inner": 2}), Case(6, 12, options={"inner": 3}), Case(6, 24, options={"inner": 2})],
        calls=("all_reduce", "all_gather", "reduce_scatter", "reduce", "broadcast", "send", "recv"),
    ),
    solution=hierarchical_allreduce,
    withholds=("hwlib.algorithms",),
    mistakes=(
        Mistake(
            flat_ring, "Right sums, and one ring over everybody: the whole array leaves the node through one card."
        ),
        Mistake(whole_across, "Every rank carries the whole sum of its node across, and all of them carry the same."),
        Mistake(by_leaders, "One rank carries its node's sum across while the others' cards are idle."),
    ),
    hints=(
        "After a reduce-scatter inside the node, which part of the sum does a rank hold, and who else holds that part?",
        "`dist.new_group` must be called by all ranks, for every group, also by those that are not in it.",
    ),
    explain="A reduce-scatter inside the node leaves a rank with one part, S/inner, of its node's sum. The ranks of "
    "the same place in the other nodes hold the same part of theirs: an all-reduce among these n/inner ranks finishes "
    "it, and an all-gather inside brings the parts together. With N nodes each card carries 2(N − 1)/N of S/inner, "
    "and no two carry the same bytes. All ranks make all groups, in the same order, since `new_group` is a call that "
    "all must enter.",
)

# The network adds
HALF_SHARP = Exercise(
    id="collectives-at-scale-half-sharp",
    title="Half a reduction in the network",
    points=2,
    prompt="Nodes of {n_in} GPUs, {W_in:B/s} each inside; {n_out} nodes with {W_node:B/s} each into one network, "
    "which does not block; all one way. The switches *inside* the nodes add, so a GPU's port carries each byte once "
    "up and once down. Those *between* the nodes do not. What is S/t of an all-reduce over all GPUs? *Exact* in "
    "bandwidth; levels overlap.",
    given=[
        dict(n_in=8, n_out=n_out, W_in=W_IN, W_node=2 * W_NODE)  # so wide that two rings would make the node decide
        for n_out in (32, 64, 24, 48)
    ],
    answer=Quantity("B/s"),
    solution=lambda n_in, n_out, W_in, W_node: allreduce_bandwidth(
        (Level("node", n_in, W_in), Level("leaf", n_out, W_node)), (True, False)
    ),
    harmless={"side 2 of the max alone": "that the network decides is the question; rings inside are a mistake"},
    mistakes=(
        Mistake(
            lambda W_in, W_node: min(W_in, W_node),
            "So it is if all switches add, or if one level alone counts. What crosses the network where nothing adds?",
        ),
        Mistake(
            lambda n_out, W_node: n_out / (n_out - 1) * W_node,
            "That is half of an all-reduce: what was reduced across has to come back to all.",
        ),
        Mistake(
            lambda n_out, W_in, W_node: 1 / (1 / W_in + 2 * (n_out - 1) / n_out / W_node),
            "One level after the other; here they overlap.",
        ),
        Mistake(
            lambda n_out, W_in, W_node: W_in + n_out / (2 * (n_out - 1)) * W_node,
            "You added the rates of the two levels. Does every byte take one of them, or both?",
        ),
        Mistake(
            lambda n_out, W_node: n_out * W_node / 2,
            "That is the bisection of the network. What has an all-reduce to carry across it, and what through a node?",
        ),
        Mistake(
            lambda W_node: W_node / 2, "To first order. Exactly, one part of the sum is a node's own to begin with."
        ),
        Mistake(
            lambda n_out, W_node: (n_out - 1) / n_out * W_node / 2,
            "A node that need not send and fetch everything twice is done sooner. Does that make S/t smaller?",
        ),
        Mistake(
            lambda n_in, n_out, W_in, W_node: allreduce_bandwidth(
                (Level("node", n_in, W_in), Level("leaf", n_out, W_node)), (False, False)
            ),
            "Those are rings at both levels. What does a GPU's port carry where the switch adds?",
        ),
    ),
    hints=(
        "Take each level by itself; the slower decides. Which of them changed?",
        "How much of the array goes through a port where the switch adds, and how much where a ring runs?",
    ),
    explain="Inside, a GPU's port carries each byte once each way: `S/t = W_in`, {W_in:B/s}. Across, rings send 2(d − "
    "1)/d of S through a node's connection, d = n_out = {n_out}: `S/t = n_out/(2*(n_out - 1))*W_node` with W_node = "
    "{W_node:B/s}. The levels overlap, so the smaller of the two is S/t, and that is the one across: reduction inside "
    "the nodes has sped up the level that did not decide.",
)

UPGRADES = {
    key: allreduce_bandwidth((Level("node", 8, W_in), Level("leaf", 128, W)), adds)
    for key, W_in, W, adds in (
        ("nvls", W_IN, W_NODE, (True, False)),
        ("cards", W_IN, 2 * W_NODE, (False, False)),
        ("sharp", W_IN, W_NODE, (True, True)),
        ("nvlink", 2 * W_IN, W_NODE, (False, False)),
    )
}

RINGS = [allreduce_bandwidth((level,), (False,)) for level in (Level("node", 8, W_IN), Level("leaf", 128, W_NODE))]

UPGRADE = Exercise(
    id="collectives-at-scale-upgrade",
    title="Decide: one upgrade",
    prompt=f"{N_POD:,} H100 in 128 nodes, with {show(W_IN, 'B/s')} one way for each GPU inside its node and "
    f"{show(W_NODE, 'B/s')} for each node into a network that does not block, spend their time in all-reduces of whole "
    "gradients: rings at both levels, which overlap. You may have one of four. Which makes these more than one and a "
    "half times as fast, *to first order* in the number of nodes, bandwidth only?",
    answer=Choice(
        {
            "nvls": "reduction in the switches of every node",
            "cards": "twice the network cards in every node",
            "sharp": "reduction in all switches, those of the nodes and those between",
            "nvlink": "twice the NVLink bandwidth",
        }
    ),
    solution=lambda: max(UPGRADES, key=UPGRADES.__getitem__),
    mistakes=(
        Mistake("nvls", "The nodes were not the slower level before, and are even less so now."),
        Mistake("cards", "That helps until the other level decides. How far is that?"),
        Mistake("nvlink", "Which level decided before, and did it get any faster?"),
    ),
    hints=(
        "Write down the time of either level, before and after. Rings cost twice (d − 1)/d, a switch that adds once.",
    ),
    explain=f"Rings allow S/t = d/(2(d − 1)) of W: {show(RINGS[0], 'B/s', 3)} inside a node of 8 and "
    f"{show(RINGS[1], 'B/s', 3)} across 128 nodes, and the smaller decides. Switches in the nodes alone or twice the "
    f"NVLink speed up the other level: still {show(UPGRADES['nvls'], 'B/s', 3)}. With twice the cards the inside "
    f"decides: {show(UPGRADES['cards'], 'B/s', 3)}, {UPGRADES['cards'] / RINGS[1]:.2f} times as fast. Where all "
    f"switches add, S/t is W at either level: {show(UPGRADES['sharp'], 'B/s', 3)}, {UPGRADES['sharp'] / RINGS[1]:.2f} "
    f"times.",
)

# All-to-all
ERRATUM_ALLTOALL = Exercise(
    id="collectives-at-scale-erratum-alltoall",
    title="Find the error: more than four times",
    points=3,
    prompt="The scaling book says of an all-to-all that moves from {N} GPUs of one node to two such nodes that it "
    "gets “more than 4x” slower: from S/({N} · {W_in:B/s}) to S/(2 · {W_node:B/s}). Both are limits for many ranks; S "
    "is the data of all ranks together, and bandwidths are one way. For the same S, by what factor does the time grow "
    "*exactly*?",
    given=[
        dict(N=N, W_in=W_in, W_node=W_node)
        for N, W_in, W_node in (
            (8, W_IN, W_NODE),
            (8, B200.scaleup_bandwidth, B200.egress_bandwidth),
            (4, W_IN, 200 * GB),
        )
    ],
    answer=Quantity("1"),
    solution=lambda N, W_in, W_node: (
        nodes_alltoall_time(1.0, N, 2, W_in, W_node / N) / nodes_alltoall_time(1.0, N, 1, W_in, W_node / N)
    ),
    harmless={"side 2 of max no. 1 alone": "the question says which level decides in each case"},
    mistakes=(
        Mistake(
            lambda N, W_in, W_node: N * W_in / (2 * W_node),
            "That is the printed argument. Of a node's data, how much goes to the other of two nodes?",
        ),
        Mistake(
            lambda N, W_in, W_node: (1 / (4 * W_node)) / (1 / (N * W_in)),
            "One side is exact now. What does a GPU keep of its own data within one node?",
        ),
        Mistake(
            lambda N, W_in, W_node: 2 * (1 / (4 * W_node)) / ((N - 1) / N**2 / W_in),
            "Twice the answer. Cards send and receive at once; S is all GPUs' data together, so "
            "of the same S a GPU of "
            "two nodes holds less than before; and how much of a node's data goes to the other?",
        ),
    ),
    hints=(
        "In one node: how much of S does a GPU hold, and how much of that leaves its port?",
        "In two nodes: how much of S does a node hold, and how much of that is for the other node?",
    ),
    explain="In one node a GPU holds `S/N` and keeps an N-th of that: `t1 = (N - 1)/N**2*S/W_in`, N = {N} and W_in = "
    "{W_in:B/s}. Of two nodes each holds `S/2`, and half of that is for the other node: `t2 = S/(4*W_node)`, W_node = "
    "{W_node:B/s}, which is longer than what goes on inside. The factor is `N**2*W_in/(4*(N - 1)*W_node)`. Both limits "
    "are too long, but not equally: that of one node by N/(N − 1), that of two by a factor of two.",
)

CROSSOVER = Exercise(
    id="collectives-at-scale-alltoall-crossover",
    title="Bundle or send straight?",
    points=3,
    prompt="An all-to-all of `S` bytes in all among `n` ranks in nodes: *direct*, a rank sends a block of S/n² to "
    "every other rank, one after the other. In *two hops*, it first hands the ranks of its node, one after the other "
    "at `W`, a bundle of all that goes to ranks of that place; these then send one bundle to each node. A message "
    "across costs `a` seconds plus its bytes; one inside, direct or not, costs its bytes at `W` and no latency. "
    "Nothing overlaps. The bytes across are the same either way. From which S on is direct faster? *Exact*; for more "
    "than one node with more than one rank each.",
    answer=Expression({"n": integers(4, 4096), "a": positive("s", 1e-6, 1e-4), "W": positive("B/s", 1e10, 1e12)}, "B"),
    solution=lambda n, a, W: n**2 * a * W,
    mistakes=(
        Mistake(lambda n, a, W: n * a * W, "That is what one rank holds. S is the data of all ranks together."),
        Mistake(lambda a, W: a * W, "That is the size of one block. How many blocks has S?"),
        Mistake(lambda n, a, W: n * (n - 1) * a * W, "A rank's block for itself is part of S, though it goes nowhere."),
    ),
    hints=(
        "With n_in ranks in each of n_out nodes: how many messages does a rank send across, either way?",
        "And how many blocks does a rank hand on inside its node in two hops that it does not when it sends straight?",
    ),
    explain="Let n_out nodes have n_in ranks each. Straight, a rank sends n_in(n_out − 1) messages across, in two hops "
    "n_out − 1: that saves (n_in − 1)(n_out − 1) starts of `a` each. It costs as many blocks inside: each of n_in − 1 "
    "neighbours gets those for n_out − 1 other nodes as well, of S/n² bytes at W. So direct is faster once "
    "`S/n**2/W > a`, from `S = n**2*a*W` on. The sizes of node and cluster have cancelled: bundle while a block takes "
    "less time inside than a message across costs to start, below "
    f"{show(5 * us * W_IN, 'B', 3)} at {show(5 * us, 's')} and {show(W_IN, 'B/s')}.",
)

# Stragglers and slow links
PAUSES = Exercise(
    id="collectives-at-scale-pauses",
    title="One in a thousand",
    points=2,
    prompt="In every step, each of `n` GPUs is late by `d` seconds with probability `p`, independently of the others; "
    "an all-reduce at the end of the step waits for all. By how much does a step take longer in expectation? "
    "*Exact.*",
    answer=Expression({"n": integers(2, 4096), "p": positive("1", 1e-4, 0.1), "d": positive("s", 1e-3, 1.0)}, "s"),
    solution=lambda n, p, d: d * (1 - (1 - p) ** n),
    mistakes=(
        Mistake(lambda p, d: p * d, "That is one GPU's expectation. The step waits for the last of them."),
        Mistake(
            lambda n, p, d: n * p * d, "Two that are late together delay the step once; for large n·p this exceeds d."
        ),
        Mistake(
            lambda n, p, d: n * p * (1 - p) ** (n - 1) * d, "That is for exactly one that is late. And when two are?"
        ),
        Mistake(
            lambda n, p, d: d * p**n, "That is for all of them late together. How many does it take to delay a step?"
        ),
        Mistake(lambda n, p, d: d * (1 - p) ** n, "That is weighted by the probability that nobody is late."),
    ),
    hints=(
        "Does it matter to the step how many are late, or only whether anybody is?",
        "With what probability is nobody late?",
    ),
    explain="A step is d longer as soon as anybody is late, and no longer if several are, since they are late at the "
    "same time. All n are in time with probability `(1 - p)**n`, so somebody is late with `1 - (1 - p)**n`, and the "
    "expected delay is d times that. For small n·p it is about `n*p*d`; for large n·p it is d, in every step.",
)


def slow(flights):
    return [link for slowdown, links in flights if slowdown >= 2 for link in links]


def suspects(flights):
    """The links of slow transfers that no transfer crossed quickly, once for each crossing."""
    fast = {link for slowdown, links in flights if slowdown < 2 for link in links}
    return [link for link in slow(flights) if link not in fast]


def most(links):
    return max(sorted(set(links)), key=links.count) if links else None


def slow_link(flights):
    return most(suspects(flights))


def most_slow(flights):
    return most(slow(flights))


WRONG_LINKS = (
    (
        lambda flights: max(flights)[1][0],
        "A single transfer says little: it may have met a crowd, and it crossed several links.",
    ),
    (
        lambda flights: next(iter(suspects(flights)), None),
        "A link that was crossed twice may have met slow transfers only. Which suspect was crossed most often?",
    ),
    (
        lambda flights: min(sorted(set(suspects(flights))), key=suspects(flights).count, default=None),
        "Few crossings say little: those may have been slow because of another link on their way.",
    ),
    (
        lambda flights: most([link for _, links in flights for link in links]),
        "That finds the link that was used most. What distinguishes a broken one?",
    ),
)


def some_flights(rng):
    """Transfers over a tree with a bad cable and crowded, popular and quiet ports: each wrong way finds its own."""
    while True:
        leaves, spines = rng.randint(4, 8), rng.randint(2, 4)
        bad, (crowded, popular) = (rng.randrange(leaves), rng.randrange(spines)), rng.sample(range(4 * leaves), 2)
        quiet, told = rng.sample(range(4 * bad[0], 4 * bad[0] + 4), 2), []
        for i in range(50 * leaves):
            a, b = rng.sample(range(4 * leaves), 2)
            b = rng.choices((b, crowded, popular), (7, 2, 3))[0]
            a, spine = (a, rng.randrange(spines)) if i >= 3 else (quiet[i // 2], bad[1])
            if a // 4 == b // 4 or b in quiet or (i >= 3 and a in quiet):
                continue
            links = [
                f"gpu{a}-leaf{a // 4}",
                f"leaf{a // 4}-spine{spine}",
                f"leaf{b // 4}-spine{spine}",
                f"gpu{b}-leaf{b // 4}",
            ]
            held_up = b == crowded and rng.random() < 0.7
            longer = (
                rng.choice((2.0, rng.uniform(2, 6)))
                if bad in ((a // 4, spine), (b // 4, spine))
                else rng.uniform(4, 9)
                if held_up
                else rng.uniform(1, 1.7)
            )
            told.append((round(longer, 3), links))
        ends = [slow_link(told), most_slow(told), *(wrong(told) for wrong, _ in WRONG_LINKS)]
        crossings = sorted(Counter(suspects(told)).values(), reverse=True)
        if ends[0] == f"leaf{bad[0]}-spine{bad[1]}" and len(set(ends)) == len(ends) and crossings[0] > crossings[1]:
            return (told,)


FEW_FLIGHTS = (
    [
        (6.0, ["gpu4-leaf1", "leaf1-spine0", "gpu0-leaf0"]),
        (2.0, ["gpu0-leaf0", "leaf0-spine1"]),
        (2.5, ["gpu1-leaf0", "leaf0-spine1"]),
        (1.0, ["gpu0-leaf0", "gpu1-leaf0"]),
    ],
)

LAB_SLOW_LINK = Exercise(
    id="collectives-at-scale-lab-slow-link",
    title="Lab: name the link",
    points=4,
    lines=4,
    prompt="`flights` is a list of transfers, each `(slowdown, links)`: how many times longer it took than it should "
    "have, and the names of the links that it crossed. One link is broken, and, *exactly*, every transfer over "
    "it takes twice its time or more. Others are held up too, by the crowd before a busy port, but not every "
    "time. Return the broken link's name: of those that nobody crossed in less than twice the time, the one "
    "that was crossed most often. No transfer crosses a link twice, and no two links come out equal.",
    answer=Function(
        "slow_link", "slow_link(flights)", cases=lambda rng: [FEW_FLIGHTS, *(some_flights(rng) for _ in range(8))]
    ),
    solution=slow_link,
    mistakes=(
        Mistake(most_slow, "The busy port has the most slow transfers. Has it quick ones as well?"),
        *(Mistake(*wrong) for wrong in WRONG_LINKS),
    ),
    hints=(
        "A link over which one transfer was quick is not broken.",
        "Of the links that remain, one has been crossed by more slow transfers than any other.",
    ),
    explain="Every transfer over the broken link is slow, so a link that one quick transfer crossed is not it. That "
    "clears the busy port, which holds up many transfers, but not all. What remains are the broken link and quiet ones "
    "that were crossed a few times, each time by a transfer that was held up elsewhere. The broken link has been "
    "crossed by all that it held up: it is the one crossed most often.",
)

TICKET = Exercise(
    id="collectives-at-scale-ticket",
    title="Answer the ticket",
    prompt="*“Our mixture-of-experts model ran its experts on the 8 GPUs of a node. We spread them over 64 GPUs in 8 "
    "nodes. The all-reduce of the gradients takes as long as before, the all-to-all of the tokens many times "
    "longer for the same tokens per GPU. The network team finds every link healthy. What is wrong, and would "
    "reduction in the switches help?”* Answer for H100 nodes, with numbers.",
    answer=Written(
        rubric=(
            ("Says that nothing is broken, and what share of a GPU's tokens leaves its node now and did before", 1),
            ("Compares the bandwidths that carry them, inside a node and through a card, as a number", 1),
            ("Says why the all-reduce does not suffer: its bytes shrink before they cross", 1),
            ("Says why a switch that adds or copies does nothing for an all-to-all", 1),
            ("Proposes a remedy that reduces the bytes that cross, and says what it costs", 1),
        ),
        words=180,
        criteria=False,
    ),
    solution="Nothing is broken. Within a node no token left it: seven eighths went to other GPUs, over NVLink at "
    "450 GB/s. Now 56 of 64 GPUs are outside: seven eighths leave the node, through a card of 50 GB/s. As "
    "many bytes over a ninth of the bandwidth take nine times as long, and that is what you see. The "
    "all-reduce is first summed inside the node, so an eighth of the bytes is left for each card, and a card "
    "has a ninth of NVLink's bandwidth: both take about as long. An all-to-all has nothing to sum and "
    "nothing to copy: every byte is for one receiver, so a hierarchy, SHARP or NVLS cannot shrink it. "
    "What helps is fewer bytes across: dispatch in fp8, send a token once to a node and copy it there to "
    "the experts that want it, limit the nodes that a token's experts may lie in (at some cost in "
    "quality), or keep the experts within a larger NVLink domain.",
    hints=("Count the GPUs outside the node.", "What does a reduction do to the number of bytes on their way?"),
)

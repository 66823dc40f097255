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
    multiples,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import binomial_broadcast, binomial_reduce, hierarchical_allreduce, ring_allreduce, within
from hwlib.collectives import (  # noqa: F401  (the text uses some that nothing here does)
    allgather_bandwidth,
    allreduce_bytes,
    axis_levels,
    bus_factor,
    hierarchical_allreduce_time,
    level_bandwidths,
    level_time,
    levels_allgather_time,
    nodes_alltoall_time,
    nvls_allreduce_limit,
    nvls_allreduce_speedup,
    nvls_levels_allreduce_time,
    nvls_sharp_levels_allreduce_time,
    nvls_two_trees_allreduce_time,
    outer_axis_allgather_time,
    ring_allreduce_time,
)
from hwlib.specs import Level, accelerators, clusters, measured_allreduces, nodes
from hwlib.specs import links as link_table
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


def allreduce_bandwidth(node, network, adds):
    """S/t of an all-reduce over two levels where the switches of those that `adds` says reduce."""
    inside, across = adds
    (_, n_in, W_in), (_, n_out, W_node) = node, network
    return 1 / max(
        nvls_allreduce_limit(n_in, 1.0, W_in) if inside else allreduce_bytes(n_in, 1.0) / W_in,
        1.0 / W_node if across else allreduce_bytes(n_out, 1.0) / W_node,
    )


def largest(n):
    """The best bus bandwidth that was measured on n H100s, whose nodes' switches reduce, with two trees between."""
    return max(m.bus_bandwidth for m in measured_allreduces("h100-sxm", n, "NVLSTree"))


def limit(n, trees=False):
    """The bus bandwidth of the model: switches inside the nodes, rings or two trees between."""
    time = (
        nvls_two_trees_allreduce_time(1.0, 8, W_IN, W_GPU)
        if trees
        else nvls_levels_allreduce_time(1.0, 8, n // 8, W_IN, W_GPU)
    )
    return bus_factor("all_reduce", n) / time


META = clusters["ethernet-oversubscribed"].levels
FULL = (*META[:-1], META[-1]._replace(bandwidth=7 * META[-1].bandwidth))  # without the 7:1
RACKS = clusters["nvl72-pod"].levels
C = accelerators["h100-sxm"].bf16_flops
SHARES = [best(largest(n) / limit(n, trees=True) for n in (32, 64, 128, 256, 512)) for best in (min, max)]


def slower(collective, changed, levels):
    """How many times as long a collective takes over the changed levels, bandwidth only."""
    return level_time(collective, 1.0, changed) / level_time(collective, 1.0, levels)


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
            (8, 300 * GB, 200 * GB, 4, 6.4 * TB),  # first numbers that the text does not show
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
            name="own-share",
            names_all=True,
        ),
        Mistake(
            lambda d1, W1, d2, W2, d3, W3: 1 / ((d1 - 1) / d1 / W1 + (d2 - 1) / d2 / W2 + (d3 - 1) / d3 / W3),
            "That is one level after the other. While one chunk crosses the spine, another is inside the nodes.",
            name="times-added",
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

SWITCH_BYTES = Exercise(
    id="collectives-at-scale-switch-bytes",
    title="What the switches send",
    points=3,
    prompt="A scalable unit: `M` nodes of `N` GPUs, the GPUs of a node on one switch, the nodes on one switch above. "
    "In an all-gather every GPU ends with all bytes, of which it has an equal part to begin with. Every byte climbs "
    "from its node's switch once, enters every other node once, and is copied by the switches; a GPU is sent only what "
    "it lacks. How many times as many bytes do all node switches together send out, up and down, as the switch above "
    "sends? *Exact*, in `N` and `M`.",
    answer=Expression({"N": integers(2, 128), "M": integers(2, 64)}),
    solution=lambda N, M: M * N / (M - 1),
    mistakes=(
        Mistake(
            lambda N, M: (N * M - 1) / (M - 1),
            "That is what goes down to the GPUs. What does a node's switch send up?",
        ),
        Mistake(
            lambda N, M: (N * M + 1) / (M - 1),
            "Up and down are there. Does a GPU have to be sent all of the array?",
        ),
        Mistake(lambda N, M: N / (M - 1), "That is one node's switch. How many are there?", name="one-for-all"),
        Mistake(lambda N: N, "Right for very many nodes. What does the switch above not send to each of them?"),
        Mistake(lambda N, M: M * N / (N - 1), "How much of the array does a node lack, and how much a GPU?"),
    ),
    hints=(
        "Take S for the whole array. What goes down from the node's switch to all its GPUs, and what up?",
        "The switch above sends each node what that lacks.",
    ),
    explain="Let the array have S bytes. A node's own GPUs hold `S/M` of it, which the switch sends up once. Down, "
    "each of N GPUs gets all but its own `S/(M*N)`: `N*S - S/M`. Up and down are `N*S` together, for one of M "
    "switches. The switch above sends each of M nodes what that lacks, `(M - 1)/M*S`: `(M - 1)*S` in all. The ratio is "
    "`M*N*S/((M - 1)*S) = M*N/(M - 1)`, a little above N. Into the node's switch come only `S/M` from its GPUs and "
    "`(M - 1)/M*S` from above, S in all: for each byte that enters, N leave. A GPU's port and a node's port carry "
    "about S each, so a node needs about as much bandwidth into the network as *one* of its GPUs has inside: "
    f"{show(W_NODE, 'B/s')} beside {show(W_IN, 'B/s')} is no accident.",
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
            lambda r: 1 / (1 - r),
            "That takes a GPU to fetch all of the array inside the node; it has its own part.",
            name="own-share",
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
        },
        ordered=True,
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
            "That is more than a node takes in. How many of the parts of F do its eight GPUs hold, and how many bytes "
            "are those? S is in bytes already.",
        ),
        Mistake(
            lambda Y, S, W_out: S / (max(Y, 8) * W_out),
            "To first order. Exactly, a node holds a piece of what it gathers.",
            name="own-share",
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


def nodes_of_two(rank, n, x, inner):  # noqa: ARG001
    return (yield from hierarchical_allreduce(rank, n, x, 2))


def every_other_rank(rank, n, x, inner):
    """Ranks 0, n/inner, 2n/inner and so on as the first node."""
    order = [node + place * (n // inner) for node in range(n // inner) for place in range(inner)]
    return (yield from within(order, hierarchical_allreduce(order.index(rank), n, x, inner)))


def nodes_for_places(rank, n, x, inner):
    return (yield from hierarchical_allreduce(rank, n, x, n // inner))


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
        cases=[
            Case(4, 8, options={"inner": 2}),
            Case(6, 12, options={"inner": 3}),
            Case(6, 24, options={"inner": 2}),
            Case(2, 4, options={"inner": 2}),
            Case(3, 3, options={"inner": 1}),
        ],
        mutants={
            "nodes of any size": nodes_of_two,
            "any number of nodes": nodes_for_places,
            "ranks 0 to inner - 1 are the first node": every_other_rank,
        },
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
SHARDED_SWITCH = Exercise(
    id="collectives-at-scale-sharded-switch",
    title="Sharded, and reduced by the switch",
    points=3,
    prompt="A node has `N` GPUs on one switch. An array is cut along one axis into `Y` parts; the `N/Y` GPUs that have "
    "partial sums of the same part all-reduce it, all `Y` groups at once. Either each group runs a ring, or the switch "
    "reduces as NVLS does: a GPU of a group of x then has (x + 1)/x of its part to pass through its port, each way. "
    "How many times as fast is the switch? *Exact* in bandwidth, for every `Y` that leaves groups of two or more.",
    answer=Expression({"Y": integers(1, 16), "N": multiples("Y", 2, 32)}),
    solution=lambda N, Y: 2 * (N - Y) / (N + Y),
    mistakes=(
        Mistake(
            lambda N, Y: 2 * (N - Y) / N,
            "That is a switch that a port passes once. What passes it with NVLS besides the data?",
        ),
        Mistake(lambda N: 2 * (N - 1) / (N + 1), "So it is where nothing is sharded. How many GPUs reduce a part?"),
        Mistake(lambda N, Y: 2 * (Y - 1) / (Y + 1), "How many GPUs hold the same part, Y or N/Y?"),
        Mistake(
            lambda N, Y: 2 * (N - Y) / (Y * (N + Y)),
            "The parts are smaller with the switch, and with the ring as well: what cancels?",
        ),
        Mistake(lambda N, Y: (N + Y) / (2 * (N - Y)), "Upside down: that is how much longer the switch takes."),
        Mistake(
            lambda N, Y: 2 * (N - Y - 1) / (N - Y + 1),
            "That is for groups of N − Y. Y groups share the N GPUs out: how many are there in each?",
        ),
        Mistake(
            lambda N, Y: 2 * (N * Y - 1) / (N * Y + 1),
            "That is for groups of N·Y, more than there are GPUs. Y groups share the N GPUs out.",
        ),
        Mistake(
            lambda N, Y: 2 * (1 - Y / N) / (1 + 1 / N),
            "The ring is that of a group, and the switch adds for all N. Who shares a part with the switch?",
        ),
        Mistake(
            lambda N, Y: 2 * (1 - 1 / N) / (1 + Y / N),
            "The switch adds for a group, and the ring is one of all N. Who is in the ring of a part?",
        ),
    ),
    hints=(
        "Both reduce S/Y bytes among x = N/Y GPUs. What passes a port with a ring of x?",
        "Both times are bytes through a port over the same bandwidth. Take their ratio in x, and put N/Y in last.",
    ),
    explain="A part has `S/Y` bytes, and `x = N/Y` GPUs reduce it. A ring passes `2*(x - 1)/x` of it through a port, "
    "the switch `(x + 1)/x`: `2*(x - 1)/(x + 1) = 2*(N - Y)/(N + Y)` times as fast. Eight GPUs gain "
    f"{nvls_allreduce_speedup(8):.2f} with Y = 1 and {nvls_allreduce_speedup(4):.2f} with Y = 2; groups of two, Y = 4, "
    f"lose: {nvls_allreduce_speedup(2):.2f}. Textbooks count a switch that each byte passes once, in "
    "`t = S/(Y*W)`, and so gain `2*(N - Y)/N`; NVLS carries the finished sums past the port as well. Beyond the node "
    "sharding saves nothing until Y is larger than the node: all of S enters and leaves it in any case, in "
    "`S/W_node` if the network reduces too.",
)


def share_measured(n, n_in, W_in, W_node, W_bus):
    return W_bus * nvls_levels_allreduce_time(1.0, n_in, n / n_in, W_in, W_node / n_in) / (2 * (n - 1) / n)


MEASURED_GAP = Exercise(
    id="collectives-at-scale-measured-gap",
    title="The model and the machine",
    points=3,
    prompt="Of the rows here for all-reduces of {n} H100s in nodes of {n_in}, the best has a bus bandwidth of "
    "{W_bus:B/s}, S/t times 2(n − 1)/n. Model it: inside the nodes the switches reduce by NVLS, {W_in:B/s} for each "
    "GPU; between the nodes run rings, {W_node:B/s} for each node; the levels overlap. What share of the model's bus "
    "bandwidth was measured? *Exact* for this model, bandwidth only.",
    given=[dict(n=n, n_in=8, W_in=W_IN, W_node=W_NODE, W_bus=largest(n)) for n in (128, 32)],
    answer=Quantity("1", rtol=0.003),
    solution=share_measured,
    harmless={"side 2 of the max alone": "that the network decides is the question; the inside is a mistake"},
    mistakes=(
        Mistake(
            lambda n, n_in, W_node, W_bus: W_bus * 2 * (n / n_in - 1) / (n / n_in) / W_node,
            "You compare a bus bandwidth with S/t. By which factor did the benchmark multiply?",
        ),
        Mistake(
            lambda W_node, W_bus: W_bus / W_node,
            "Exactly, the two factors do not cancel: the benchmark's is that of {n} GPUs, the ring's of its nodes.",
        ),
        Mistake(
            lambda n, n_in, W_in, W_bus: W_bus * (n_in + 1) / n_in / W_in / (2 * (n - 1) / n),
            "That is what the level inside the nodes allows. Is the other one slower? Between the nodes each byte is "
            "passed on to be added, and again as a sum.",
        ),
        Mistake(lambda W_in, W_bus: W_bus / W_in, "That is one GPU's bandwidth inside the node. Which level decides?"),
        Mistake(
            lambda n, n_in, W_node, W_bus: W_bus * (n / n_in - 1) / (n / n_in) / W_node / (2 * (n - 1) / n),
            "What was summed across has to come back: an all-reduce sends twice what an all-gather does.",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda n, W_node, W_bus: W_bus * 2 / W_node / (2 * (n - 1) / n),
            "That is 2S through the cards of a node, as in two trees. A ring of {n}/{n_in} nodes sends a little less.",
        ),
        Mistake(
            lambda n, n_in, W_node, W_bus: W_bus * (n / n_in - 1) / (n / n_in) / W_node,
            "Nearly: 2 is the benchmark's factor for very many GPUs. What is it for {n}?",
        ),
        Mistake(
            lambda n, n_in, W_in, W_node, W_bus: share_measured(n, n_in, W_in, W_node, W_bus) / n_in,
            "{W_node:B/s} are for the {n_in} GPUs of a node together. Are your bytes those of a GPU, or of the node?",
            names_all=True,
        ),
        Mistake(
            lambda n, n_in, W_in, W_node, W_bus: share_measured(n, n_in, W_in, W_node, W_bus) * n_in,
            "You have one card carry what all {n_in} of a node share: is it all of S that passes each?",
        ),
        Mistake(
            lambda n, n_in, W_in, W_node, W_bus: share_measured(n, n_in, W_in, W_node, W_bus) * 100,
            "A number in per cent needs its sign, %: without it, it is a hundred times as much.",
        ),
    ),
    hints=(
        "S/t of each level first; the smaller is the model's. Then turn it into a bus bandwidth.",
        "A ring of M nodes passes 2(M − 1)/M of S through a node's cards. nccl-tests multiplies by 2(n − 1)/n, n GPUs.",
    ),
    explain="Inside, a port carries 9/8 of S: `S/t = 8/9*W_in`, W_in = {W_in:B/s}. Between `M = n/8` nodes, n = {n}, a "
    "ring passes `2*(M - 1)/M*S` through cards of W_node = {W_node:B/s}: `S/t = M/(2*(M - 1))*W_node`, which is the "
    "smaller. Times `2*(n - 1)/n` it is the model's bus bandwidth; {W_bus:B/s} over that is the share.",
)

PREDICT_GAP = Exercise(
    id="collectives-at-scale-predict-gap",
    title="Predict: where the gap comes from",
    predict=True,
    prompt=f"By the same model {largest(32) / limit(32):.0%} of the bandwidth was reached on 4 nodes, and "
    f"{largest(512) / limit(512):.0%} on 64: *to first order*, the more nodes, the smaller the gap. Which of these "
    "explains it?",
    answer=Choice(
        {
            "latency": "latency: it counts most where there are few nodes",
            "trees": "two trees, not rings, join the nodes: a node sends 2S, on any number of them",
            "spine": "the spine is oversubscribed",
            "switch": "the switches inside the nodes are slower than we think",
        }
    ),
    solution="trees",
    mistakes=(
        Mistake("latency", "Does latency grow or shrink with the number of nodes, and does it count at gigabytes?"),
        Mistake("spine", "Four nodes hang below the same leaves: do they use the spine?"),
        Mistake("switch", "A limit inside the nodes is the same for 4 and for 64. Is it the level that decides?"),
    ),
    hints=("What does the model say of 4 nodes, and of 64? Is it the measurement that changes, or the model?",),
    explain="What was measured hardly changes with the number of nodes; the model does, since a ring of few nodes has "
    "less to send, 2(M − 1)/M of S. The name of the measured algorithm says it: NVLSTree. In two trees, each for half "
    "of the array, a node has two children in one and none in the other: it sends S/2 up in both, and S/2 down twice.",
)

UPGRADES = {
    key: allreduce_bandwidth(Level("node", 8, W_in), Level("leaf", 128, W), adds)
    for key, W_in, W, adds in (
        ("nvls", W_IN, W_NODE, (True, False)),
        ("cards", W_IN, 2 * W_NODE, (False, False)),
        ("sharp", W_IN, W_NODE, (True, True)),
        ("nvlink", 2 * W_IN, W_NODE, (False, False)),
    )
}

RINGS = [d / (2 * (d - 1)) * W for d, W in ((8, W_IN), (128, W_NODE))]

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
        "Write down the time of either level, before and after. Rings carry twice (d − 1)/d of S through a port; "
        "what does a switch that reduces carry?",
    ),
    explain=f"Rings allow S/t = d/(2(d − 1)) of W: {show(RINGS[0], 'B/s', 3)} inside a node of 8 and "
    f"{show(RINGS[1], 'B/s', 3)} across 128 nodes, and the smaller decides. Switches in the nodes alone or twice the "
    f"NVLink speed up the other level: still {show(UPGRADES['nvls'], 'B/s', 3)}. With twice the cards the inside "
    f"decides: {show(UPGRADES['cards'], 'B/s', 3)}, {UPGRADES['cards'] / RINGS[1]:.2f} times as fast. Where all "
    "switches reduce, a port inside the node carries 9/8 of S each way and a node's cards S: "
    f"{show(UPGRADES['sharp'], 'B/s', 3)} at either level, {UPGRADES['sharp'] / RINGS[1]:.2f} times.",
)

# All-to-all
ERRATUM_SPINE = Exercise(
    id="collectives-at-scale-erratum-spine-batch",
    title="Find the error: seventy-seven tokens",
    points=3,
    prompt="An early edition of *How to Scale Your Model* lets each unit of 256 GPUs hold one copy of a weight, cut "
    "256 ways, and all-reduces its gradients over {g} units in the spine switches, which reduce. Of the spine's "
    "*“25.6 TB/s”* each unit has *“6.4 TB/s”*, so *“77 tokens”* for each GPU suffice. Compute it again for a "
    "spine that was bought smaller: {spines} switches of {ports} ports of {W:B/s}, one way. The backward pass "
    "through a weight of D × F takes 4·D·F FLOP for each token, at {C:FLOP/s} a GPU, and leaves a gradient in "
    "bf16. With how many tokens for each GPU does computing take as long as the all-reduce? Answer with the number of "
    "tokens alone. *Exact*: a unit "
    "sends its sums up once and gets the sums of all down once, nothing else is slower, and both overlap.",
    given=[
        dict(g=g, p=256, spines=spines, ports=64, W=50 * GB, C=C) for g, spines in ((4, 7), (4, 13), (8, 20), (5, 9))
    ],
    answer=Quantity("token"),
    solution=lambda g, spines, ports, W, C: C / (2 * spines * ports * W / g),
    mistakes=(
        Mistake(
            lambda g, spines, ports, W, C: C / (spines * ports * W / g),
            "The printed argument has the same flaw. Did you give a switch half its ports, send the gradients twice, "
            "or take four bytes for an element of bf16?",
            names_all=True,
        ),
        Mistake(
            lambda spines, ports, W, C: C / (2 * spines * ports * W),
            "That is the whole spine. How many units send to it at the same time?",
        ),
        Mistake(
            lambda g, p, spines, ports, W, C: p * C / (2 * spines * ports * W / g),
            "Those are the tokens of a unit. How many GPUs share them?",
        ),
        Mistake(lambda W, C: C / (2 * W), "That is one cable. How wide is a unit's way into the spine?"),
        Mistake(
            lambda g, p, spines, ports, W, C: C / (2 * spines * ports * W / g) / p,
            "The gradients of all 256 parts cross at the same time: did you share the tokens out twice?",
        ),
        Mistake(
            lambda g, p, spines, ports, W, C: g * p * C / (2 * spines * ports * W / g),
            "Those are the tokens of all {g} units together. How many GPUs share them?",
            name="one-for-all",
        ),
        Mistake(
            lambda p, W, C: C / (2 * p * W),
            "That spine is as wide as all 256 cards of every unit, as the pod's 16 switches are for four units. How "
            "many switches were bought here?",
        ),
        Mistake(
            lambda C: C / (2 * 6.4 * TB),
            "That is the printed number, or one from the printed 6.4 TB/s. What do {spines} switches of {ports} ports "
            "carry, and how much of it is a unit's?",
        ),
        Mistake(
            lambda g, spines, ports, W, C: 2 * (g - 1) / g * C / (2 * spines * ports * W / g),
            "2·({g} − 1)/{g} of the gradients is what a ring of {g} units sends. Here the switches add: how much goes "
            "up from a unit?",
        ),
        Mistake(
            lambda g, spines, ports, W, C: (g - 1) / g * C / (2 * spines * ports * W / g),
            "({g} − 1)/{g} is the share of the others. To a switch that adds, does a unit send less than all of its "
            "sums?",
        ),
        Mistake(
            lambda g, spines, ports, W, C: (g + 1) / g * C / (2 * spines * ports * W / g),
            "A factor of ({g} + 1)/{g}: NVLS sends the finished sums past a port once more. Here {g} units share the "
            "spine, and each sends its sums once.",
        ),
        Mistake(
            lambda g, spines, ports, W, C: C / (3 * spines * ports * W / g),
            "The gradients are there in the backward pass: its 4·D·F are all that is computed beside them.",
        ),
    ),
    hints=(
        "How many bytes has a unit to send, with all 256 parts of the weight? Over how much bandwidth?",
        "b tokens for each GPU: how long do 256 GPUs compute for the 256·b tokens of their unit?",
    ),
    explain="The spine carries `{spines}*{ports}*{W:B/s}` one way, a {g}-th of it for each unit: W_unit. A unit's "
    "parts make `2*D*F` bytes together, which go up once and come down once at the same time: `2*D*F/W_unit`. With b "
    "tokens for each GPU a unit has 256·b, and 256 GPUs compute `4*D*F*256*b/(256*C)`, C = {C:FLOP/s}. Equal: "
    "`b = C/(2*W_unit)`. "
    f"With the pod's 16 spines W_unit is {show(16 * 64 * 50 * GB / 4, 'B/s')}, and b is "
    f"{C / (2 * 16 * 64 * 50 * GB / 4):.0f}; the book gave a switch of 64 ports the bandwidth of 32, as in chapter 5.",
)

ERRATUM_ALLTOALL = Exercise(
    id="collectives-at-scale-erratum-alltoall",
    title="Find the error: more than four times",
    points=3,
    prompt="*How to Scale Your Model* says of an all-to-all that moves from {N} GPUs of one node to two such nodes "
    "that it gets “more than 4x” slower: from S/({N} · {W_in:B/s}) to S/(2 · {W_node:B/s}). Both are limits for many "
    "ranks; S is the data of all ranks together, and bandwidths are one way. For the same S, by what factor does the "
    "time grow *exactly*?",
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
            name="own-share",
        ),
        Mistake(
            lambda N, W_in, W_node: 2 * (1 / (4 * W_node)) / ((N - 1) / N**2 / W_in),
            "The time of two nodes is too long. Cards send and receive at once; S is all GPUs' data together, so of "
            "the same S a GPU of two nodes holds less than before; and how much of a node's data goes to the other?",
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
    "at `W`, a bundle of all blocks for the ranks that have the receiver's place in their own node; then each sends "
    "one bundle to each other node. In two nodes of two, rank 0 first hands rank 1 its blocks for ranks 1 and 3, and "
    "then sends rank 2 the two blocks that it holds for it. A message across costs `a` seconds plus its bytes; one "
    "inside, direct or not, costs its bytes at `W` and no latency. "
    "Nothing overlaps. The bytes across are the same either way. From which S on is direct faster? *Exact*; for more "
    "than one node with more than one rank each.",
    answer=Expression({"n": integers(4, 4096), "a": positive("s", 1e-6, 1e-4), "W": positive("B/s", 1e10, 1e12)}, "B"),
    solution=lambda n, a, W: n**2 * a * W,
    mistakes=(
        Mistake(
            lambda n, a, W: n * a * W,
            "That is what one rank holds. S is the data of all ranks together.",
            name="one-for-all",
        ),
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

# A seventh at the top
_FLOOR = allgather_bandwidth(META[:-1])

OVERSUBSCRIBED = Exercise(
    id="collectives-at-scale-oversubscribed",
    title="Oversubscribed: from where on?",
    points=2,
    prompt="An all-reduce over all of {g} pods of {p} GPUs, each with a card of {W:B/s}. It adds up inside the "
    "pods first, then across. The levels inside a pod gather S bytes at {low:B/s}, and all-reduce them at half "
    "that rate. From which oversubscription of the top tier on is the top tier the slowest "
    "level? *Exact*: the (g - 1)/g counts.",
    given=[
        dict(g=8, p=3072, W=50 * GB, low=_FLOOR),
        dict(g=4, p=1024, W=50 * GB, low=allgather_bandwidth(POD)),
        dict(g=4, p=3072, W=50 * GB, low=_FLOOR),
        dict(g=8, p=512, W=25 * GB, low=allgather_bandwidth(POD) / 2),
    ],
    answer=Quantity("1"),
    solution=lambda g, p, W, low: g / (g - 1) * p * W / low,
    mistakes=(
        Mistake(lambda p, W, low: p * W / low, "You let a pod send all of S. How many of the g parts does it lack?"),
        Mistake(
            lambda g, p, W, low: g / (g - 1) * p * W / (2 * low),
            "Twice the bytes, for both kinds of level: compare all-gathers, or compare all-reduces.",
            name="all-reduce-for-half",
            names_all=True,
        ),
        Mistake(
            lambda g, p, W, low: (g - 1) / g * p * W / low,
            "The fewer bytes cross, the *more* oversubscription can be borne.",
        ),
        Mistake(lambda g, W, low: g / (g - 1) * low / W, "A pod does not leave by a single card."),
    ),
    hints=(
        "What S/t does a level with d children allow, if each lacks all but its own part? How many has the top level?",
        "How much leaves a pod if its top tier is oversubscribed r to 1? Compare with what the levels below allow.",
    ),
    explain="Oversubscribed r to 1, p = {p} cards of W = {W:B/s} leave a pod with `p*W/r`. It lacks all but one of "
    "the g = {g} pods' parts, so the top level gathers at `S/t = g/(g - 1)*p*W/r`. All levels halve their rate for an "
    "all-reduce, so comparing gathers is enough: set it equal to {low:B/s}, and r is `g/(g - 1)*p*W` over {low:B/s}. "
    "Far more than anybody saves, while an all-to-all over many pods is slower at 2:1 already. It holds for one "
    "all-reduce that adds up inside the pods first; where every GPU has a partner of its own in each pod, nothing is "
    "added up on the way.",
)


# Stragglers and slow links
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

OWN_LINK = (  # that of a GPU is broken, and one before a busy port was crossed twice in a very long time
    [
        (2.0, ["gpu0-leaf0", "gpu1-leaf0"]),
        (2.1, ["gpu0-leaf0", "leaf0-spine0", "leaf1-spine0", "gpu4-leaf1"]),
        (2.0, ["gpu0-leaf0", "gpu2-leaf0"]),
        (30.0, ["gpu3-leaf0", "leaf0-spine1", "leaf1-spine1", "gpu5-leaf1"]),
        (40.0, ["gpu3-leaf0", "leaf0-spine0", "leaf1-spine0", "gpu4-leaf1"]),
        (1.0, ["gpu1-leaf0", "leaf0-spine0", "leaf1-spine0", "gpu4-leaf1"]),
        (1.0, ["gpu2-leaf0", "leaf0-spine1", "leaf1-spine1", "gpu6-leaf1"]),
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
        "slow_link",
        "slow_link(flights)",
        cases=lambda rng: [FEW_FLIGHTS, OWN_LINK, *(some_flights(rng) for _ in range(8))],
        mutants={
            "twice its time or more": lambda flights: slow_link([(longer - 1e-9, links) for longer, links in flights]),
            "a link of any name": lambda flights: slow_link(
                [(longer, [name for name in links if "spine" in name]) for longer, links in flights]
            ),
            "a transfer may cross any number of links": lambda flights: slow_link(
                [(longer, links[1:3]) for longer, links in flights]
            ),
            "most often, not longest": lambda flights: max(
                (sum(longer for longer, links in flights if link in links), link) for link in suspects(flights)
            )[1],
            "that nobody crossed in less, not hardly anybody": lambda flights: slow_link(
                [(longer if longer > 1.1 else 2.0, links) for longer, links in flights]
            ),
        },
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

# Logs of two nodes
READ_OVER_LINE = Exercise(
    id="collectives-at-scale-read-over-line",
    title="More than the cards can do",
    points=2,
    prompt="Two machines of eight A100s, each with two InfiniBand cards of 200 Gbit/s, so 50 GB/s a machine. "
    "`all_reduce_perf -np 16` printed a bus bandwidth of {W_bus:GB/s} at its largest size with one version of NCCL, "
    "and the question was how that can be more than the cards bring (NVIDIA/nccl, issue 837, May 2023). NCCL's tree "
    "adds up inside a machine before anything crosses. What do both cards of a machine send together, in B/s? *To "
    "first order*: nothing but sums crosses, and none of them twice.",
    given=[dict(W_bus=53.95 * GB), dict(W_bus=57.06 * GB)],
    answer=Quantity("B/s"),
    solution=lambda W_bus: W_bus / bus_factor("all_reduce", 16),
    mistakes=(
        Mistake(
            lambda W_bus: W_bus,
            "So much would cross if a ring went through both machines, and it is more than there is. What does NCCL do "
            "first?",
        ),
        Mistake(
            lambda W_bus: W_bus / bus_factor("all_reduce", 8),
            "busbw was computed with the factor of all ranks. How many are there?",
        ),
        Mistake(
            lambda W_bus: 2 * W_bus / bus_factor("all_reduce", 16),
            "Twice the array each way: that is what a machine among very many would send. How often need one of two?",
            names_all=True,
        ),
        Mistake(
            lambda W_bus: W_bus * bus_factor("all_reduce", 16),
            "The benchmark has multiplied S/t by its factor already. Which of the two do you look for?",
        ),
        Mistake(
            lambda W_bus: W_bus / bus_factor("all_reduce", 16) / 2,
            "So much does one of the two cards send.",
        ),
        Mistake(
            lambda W_bus: W_bus / bus_factor("all_reduce", 16) / 8,
            "That is an eighth of it, one GPU's share. All eight of a machine go through its two cards.",
        ),
    ),
    hints=(
        "busbw is what a port of a ring of 16 would carry. What is S/t?",
        "Each machine has one sum of S bytes when its own GPUs are added up. In an all-reduce of two ranks, how many "
        "bytes does one send?",
    ),
    explain="The benchmark multiplied S/t by 2·15/16, so `S/t = 16/30*W_bus`. Added up inside first, the two "
    "machines are an all-reduce of two: each sends 2(2 − 1)/2 = 1 times S. So S/t is what crosses, "
    f"{show(53.95 * GB / bus_factor('all_reduce', 16), 'B/s', 3)} of the 50 GB/s with the first version, and nothing "
    "is faster than its line. Bus bandwidth is what a *ring* would have carried; with more machines the tree's "
    "advantage goes, and on two, `NCCL_ALGO=Ring` makes the number one of the cards again.",
)

READ_ONE_CARD = Exercise(
    id="collectives-at-scale-read-one-card",
    title="Four cards, and the rate of one",
    prompt="One H100 in each of two nodes all-reduces; four cards of 400 Gbit/s are listed for NCCL to use "
    "(NVIDIA/nccl-tests, issue 232, July 2024; out of place only: time in us, algbw, busbw in GB/s, #wrong):\n\n"
    "```text\n"
    "$ mpirun -x NCCL_ALGO=Tree -x NCCL_IB_HCA=mlx5_0,mlx5_1,mlx5_4,mlx5_5 \\\n"
    "    -np 2 ./all_reduce_perf -b 2M -e 16G -f 2 -g 1\n"
    " 2097152   524288  float  sum  -1  113.2  18.53  18.53  0\n"
    " 8388608  2097152  float  sum  -1  231.4  36.24  36.24  0\n"
    "33554432  8388608  float  sum  -1  812.3  41.31  41.31  0\n"
    "```\n\nThe largest size reaches 50 GB/s, and 200 were expected. `nvidia-smi topo -m` has PIX between this GPU and "
    "one of the cards, and SYS to the others. What holds it at a quarter, *to first order*?",
    answer=Choice(
        {
            "tree": "the tree: a ring over the four cards would reach 200 GB/s",
            "slot": "the GPU: its bytes leave through its own PCIe slot, which is about as wide as one card",
            "factor": "the benchmark: busbw is that of one card, and four of them carry four times as much",
            "size": "the sizes: the curve still rises, and needs larger arrays",
            "sys": "the processor: with the three cards moved beside the GPU it would be 200 GB/s",
        }
    ),
    solution="slot",
    mistakes=(
        Mistake("tree", "With two ranks tree and ring are the same exchange. What lies between the GPU and any card?"),
        Mistake("factor", "For two ranks the factor is 1: look at the two columns. S/t is all that leaves the GPU."),
        Mistake("size", "The largest size of the command has 16 GB. What would latency cost it?"),
        Mistake(
            "sys", "Beside the GPU they would still hang on the link by which the GPU is connected. How wide is it?"
        ),
    ),
    hints=("Follow one byte from the GPU's memory to the switch. What do all paths, to all four cards, share?",),
    explain=f"A GPU has one slot, PCIe 5 with 16 lanes, {show(link_table['pcie5-x16'].bandwidth, 'B/s', 2)} each way, "
    f"and a card of 400 Gbit/s brings {show(50 * GB, 'B/s')}. Whatever cards are listed, one GPU cannot feed more "
    "than one of them. A node reaches the rate of four cards if GPUs beside each of them take part: `-np 16` with "
    "eight GPUs a node. `gpubook bandwidth` says of such a log what leaves a node, and which of slot and card it "
    "comes near to.",
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
    "many bytes over a ninth of the bandwidth take nine times as long, and that is what you see. Gradients "
    "are first summed inside the node, so an eighth of the bytes is left for each card, and a card "
    "has a ninth of NVLink's bandwidth: both take about as long. An all-to-all has nothing to sum and "
    "nothing to copy: every byte is for one receiver, so a hierarchy, SHARP or NVLS cannot shrink it. "
    "What helps is fewer bytes across: dispatch in fp8, send a token once to a node and copy it there to "
    "the experts that want it, limit the nodes that a token's experts may lie in (at some cost in "
    "quality), or keep the experts within a larger NVLink domain.",
    hints=("Count the GPUs outside the node.", "What does a reduction do to the number of bytes on their way?"),
)

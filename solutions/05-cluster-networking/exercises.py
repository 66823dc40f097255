"""Exercises of chapter 5, and the names with which its text computes numbers."""

from dataclasses import replace
from functools import cache
from math import ceil, exp, floor, sqrt  # noqa: F401

from autograder.answers import (
    Breakdown,
    Choice,
    Condition,
    Count,
    Design,
    Expression,
    Field,
    Function,
    Known,
    Par,
    Quantity,
    Written,
    integers,
    multiples,
)
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import allgather_bandwidth, level_time, levels_allgather_time  # noqa: F401
from hwlib.formula import maximum
from hwlib.network import HEADERS, payload_fraction  # noqa: F401
from hwlib.specs import clusters, links, nodes, switches
from hwlib.specs.cluster import Level
from hwlib.topology import *  # noqa: F403  (the text uses many of them)
from hwlib.topology import (
    FatTree,
    Remains,
    TopologyError,
    allreduce_left_fraction,
    bisection_bandwidth,
    cluster,
    fat_tree,
    plan,
    remains,
    three_tier_hosts,
    tree_core_switches,
    tree_leaf_switches,
    tree_spine_switches,
    two_tier_hosts,
    without,
)  # fmt: skip
from hwlib.units import GB, TB, show  # noqa: F401

quantum2, nvswitch, ndr = switches["quantum-2"], switches["nvswitch3"], links["ndr"]
pod, meta, rack = clusters["superpod-h100-4su"], clusters["ethernet-oversubscribed"], nodes["gb200-nvl72"]
CARD = ndr.bandwidth
SMALL, DOUBLE, LARGE = (plan(nodes=n) for n in (128, 256, 512))  # of nodes with 8 GPUs
SMALL_SUM, DOUBLE_SUM, LARGE_SUM = (sum(tree.switches.values()) for tree in (SMALL, DOUBLE, LARGE))

FULL = (*meta.levels[:-1], meta.levels[-1]._replace(bandwidth=7 * meta.levels[-1].bandwidth))  # without the 7:1
SEVEN_TO_ONE = [  # switches for 8,192 GPUs with a top tier of 1:1 and of 7:1
    int(sum(count(8192, 64, ratio) for count in (tree_leaf_switches, tree_spine_switches, tree_core_switches)))
    for ratio in (1, 7)
]
INTERRUPTIONS, BY_NETWORK, DAYS = 419, 35, 54  # of one training run on 16,384 GPUs: llama3, table 5


@cache
def after(rails: bool, dead: str) -> Remains:
    """What remains of 1,024 GPUs without one switch, wired in rails or four nodes to a leaf."""
    tree = fat_tree(SMALL if rails else plan(nodes=128, rails=1, nodes_per_group=4))
    return remains(tree, without(tree, node=dead))


@cache
def torus_bisection(pod: str) -> float:
    """The bisection bandwidth of a pod without switches."""
    return bisection_bandwidth(cluster(pod))


def slower(collective: str, changed: tuple[Level, ...], levels: tuple[Level, ...] = SMALL.levels) -> float:
    """How many times as long a collective takes over the changed levels, bandwidth only."""
    return level_time(collective, 1.0, changed) / level_time(collective, 1.0, levels)


# Counting ports
THIRD_TIER = Exercise(
    id="cluster-networking-third-tier",
    title="When two tiers run out",
    points=2,
    prompt="Nodes of {gpus} GPUs with a card each are to be joined by a fat tree that does not block, of switches "
    "with {ports} ports. From how many nodes on do two tiers no longer suffice? *Exact*: the smallest number "
    "for which they do not.",
    given=[dict(gpus=gpus, ports=ports) for gpus, ports in ((8, 64), (8, 40), (4, 144), (4, 64), (8, 128), (8, 48))],
    answer=Count(),
    solution=lambda gpus, ports: floor(two_tier_hosts(ports) / gpus) + 1,
    mistakes=(
        Mistake(
            lambda gpus, ports: floor(two_tier_hosts(ports) / gpus),
            "So many still fit. From which number on do they not?",
        ),
        Mistake(
            lambda gpus, ports: floor(ports**2 / gpus) + 1,
            "You gave every port of a leaf to GPUs. What is then left for the spines?",
        ),
        Mistake(
            lambda gpus, ports: floor(ports**2 / 4 / gpus) + 1,
            "You halved the ports of the spines too. Where would the upper half of them lead?",
        ),
        Mistake(
            lambda gpus, ports: floor(three_tier_hosts(ports) / gpus) + 1,
            "There three tiers are full. The question is about two.",
        ),
        Mistake(lambda ports: floor(two_tier_hosts(ports)) + 1, "Those are GPUs; the question asks for nodes."),
        Mistake(lambda ports: ports + 1, "So it is if each node fills a leaf. How many cards go down from a leaf?"),
        Mistake(
            lambda gpus, ports: floor(3 * ports // 4 * ports / gpus) + 1,
            "A leaf with three ports down for one up blocks. How many of each has one that does not?",
        ),
        Mistake(
            lambda gpus, ports: floor(two_tier_hosts(ports) / gpus / gpus) + 1,
            "A node has as many cards as GPUs. Did you divide by both?",
        ),
    ),
    hints=(
        "How many leaves can a spine reach, and how many GPUs are below each leaf?",
        "A leaf that does not block has as many ports up as down; a spine has nothing above it.",
    ),
    explain="A leaf that does not block has `{ports}/2` ports down to GPUs and as many up. A spine has no tier above "
    "it: all its {ports} ports lead down, so it joins {ports} leaves at most. Two tiers therefore end at "
    "`{ports}*{ports}/2` GPUs, or `{ports}*{ports}/2/{gpus}` nodes, rounded down; one node more needs a third tier. "
    "Twice the ports carry four times the GPUs, so it can pay to split every port into two of half the rate and to "
    "build two trees side by side.",
)

PER_GPU = Exercise(
    id="cluster-networking-switches-per-gpu",
    title="Switches for each GPU",
    points=3,
    prompt="A tree of two tiers, as large as it gets: switches of `p` ports, `r` of `1 + r` ports of a leaf lead down "
    "to GPUs with a card each, the rest up to the spines. How many switches are there for each GPU? *Exact*, "
    "in `p` and the oversubscription `r`; take it that all counts divide.",
    answer=Expression({"p": multiples("1 + r", 1, 40), "r": integers(1, 12)}),
    solution=lambda p, r: (2 + r) / (r * p),
    mistakes=(
        Mistake(lambda p: 3 / p, "That is a tree which does not block. Where does the oversubscription enter?"),
        Mistake(lambda p, r: (1 + r) / (r * p), "Those are the leaves. And the spines?"),
        Mistake(
            lambda p, r: (1 + 2 * r) / (r * p), "Leaves and spines changed places: which of them has all ports down?"
        ),
        Mistake(lambda p, r: p + p / (1 + r), "Those are all switches of the tree. How many GPUs share them?"),
        Mistake(lambda p, r: (2 + r) / p, "You divided by all ports of the leaves. How many of them lead to GPUs?"),
    ),
    hints=(
        "How many leaves does a spine reach? Then: GPUs below all of them, and cables up from all of them.",
        "There are as many spines as a leaf has cables up.",
    ),
    explain="A spine joins `p` leaves, so the largest tree has `p` of them, each with `p*r/(1 + r)` ports down and "
    "`p/(1 + r)` up. A leaf has one cable to every spine, so there are `p/(1 + r)` spines. That makes "
    "`p + p/(1 + r)` switches for `p*p*r/(1 + r)` GPUs; multiply both by `(1 + r)/p` and divide: "
    "`(2 + r)/(r*p)`. However large r gets, `1/p` stays, a third of what a tree costs that does not block: spines can "
    "be saved, but every GPU needs its port at a leaf.",
)

# Levels
ERRATUM_SPINE = Exercise(
    id="cluster-networking-erratum-spine",
    title="Find the error: half the spine",
    points=2,
    prompt="An early edition of a text that many read says of the spine of 1,024 H100s: *“16 * 1.6TB/s = 25.6TB/s”*, "
    "and so *“25 GB/s”* for each GPU; notes that copy it call the switches NVSwitches. Compute it again, for "
    "a spine that was bought smaller: {spines} switches of {ports} ports, {W:B/s} a port in one direction, all of them "
    "down, and {n} GPUs below. All GPUs send over the spine at once, and nothing else holds them up. How much has "
    "each? *Exact*, one way.",
    given=[  # fewer ports than GPUs: no answer is the rate of a port, nor a number that is quoted
        dict(spines=12, ports=64, W=50 * GB, n=1024),
        dict(spines=12, ports=40, W=25 * GB, n=640),
        dict(spines=8, ports=64, W=50 * GB, n=2048),
        dict(spines=20, ports=40, W=25 * GB, n=1280),
    ],
    answer=Quantity("B/s"),
    solution=lambda spines, ports, W, n: spines * ports * W / n,
    mistakes=(
        Mistake(
            lambda spines, ports, W, n: spines * ports * W / 2 / n,
            "That is the printed answer, or its equal here. What is the rate of one port of *this* switch?",
        ),
        Mistake(lambda W: W, "That is one port. Have the spines one for each GPU?"),
        Mistake(lambda ports, W: ports * W, "That is one spine. How many are there, and how many GPUs share them?"),
        Mistake(lambda spines, ports, W: spines * ports * W, "That is all spines together. And each GPU?"),
        Mistake(
            lambda spines, ports, W, n: 2 * spines * ports * W / n,
            "Twice the answer: a port sends and receives at the same time, and all GPUs do. Which "
            "of the two did you leave out?",
        ),
    ),
    hints=(
        "What does one spine carry down, with the ports and the rate that the prompt gives?",
        "All spines carry at the same time, and all GPUs share what they carry.",
    ),
    explain="A spine's {ports} ports all lead down, at {W:B/s} each, so the {spines} spines bring "
    "`{spines}*{ports}*{W:B/s}` to the GPUs in one direction. The {n} GPUs below share that evenly: "
    f"divide by {{n}}. The quotation's {show(nvswitch.bandwidth, 'B/s')} are another switch of {nvswitch.ports} "
    f"ports: an NVSwitch inside a node, at {show(nvswitch.bandwidth / nvswitch.ports, 'B/s')} a port. A spine there is "
    f"an InfiniBand switch, with {quantum2.ports} ports of {show(CARD, 'B/s')}. Sixteen of them "
    f"carry {show(16 * 64 * CARD, 'B/s')}, as later editions say: for each of 1,024 GPUs what its card sends.",
)

ERRATUM_NVL72 = Exercise(
    id="cluster-networking-erratum-nvl72",
    title="Find the error: eight to a host",
    points=2,
    prompt="A footnote still counts 8 GPUs to a host in an NVL72, while its own text gives each of the rack's {trays} "
    "hosts {nics} network cards of {W:B/s}. The rack has {n} GPUs, with {NV:B/s} each inside it. Say {kept} card of "
    "each host is kept for storage. How much leaves the rack by the others for each GPU, if all send? *Exact*, one "
    "way.",
    given=[  # with all cards it would be the rate of a card
        dict(
            n=row.chips,
            trays=row.hosts,
            nics=row.nics // row.hosts,
            kept=1,
            W=row.nic_bandwidth,
            NV=row.scaleup_bandwidth,
        )
        for row in (rack, nodes["gb300-nvl72"])
    ],
    answer=Quantity("B/s"),
    solution=lambda n, trays, nics, kept, W: (nics - kept) * trays * W / n,
    mistakes=(
        Mistake(
            lambda nics, kept, W: (nics - kept) * W / 8,
            "That is the footnote's count. Does a host of this rack have eight GPUs?",
        ),
        Mistake(
            lambda nics, W: nics * W / 8,
            "That is the footnote. Does a host of this rack have eight GPUs, and do all its cards carry this?",
        ),
        Mistake(lambda n, trays, nics, W: nics * trays * W / n, "That is with all cards. Which of them carry this?"),
        Mistake(lambda trays, nics, kept, W: (nics - kept) * trays * W, "That is the rack. How many GPUs share it?"),
        Mistake(
            lambda nics, kept, W: (nics - kept) * W,
            "As much as one host has. How many GPUs are in it, and how many cards send?",
        ),
        Mistake(lambda NV: NV, "That is what a GPU has inside the rack."),
    ),
    hints=("Look at the whole rack: what leaves it, in all?", "Count its cards, host by host. Who shares them?"),
    explain="{trays} hosts with `{nics} - {kept}` cards of {W:B/s} send `{trays}*({nics} - {kept})*{W:B/s}` out of the "
    "rack, and {n} GPUs share it alike. A host of an NVL72 is a tray of four GPUs with a card each, "
    "so even with all cards a GPU leaves the rack no faster than one of an eight-GPU node with the same cards does. "
    "What has grown is the number of GPUs that need not leave.",
)

# Failures
_SPINE_RATIO = 1 / allreduce_left_fraction(pod.spine_size, pod.leaf_size, pod.spine_switches, 1, 1)

PREDICT_SPINE = Exercise(
    id="cluster-networking-predict-spine",
    title="Predict: a spine dies",
    predict=True,
    prompt="One of the 16 spines dies, and with it a sixteenth of the bisection. All 1,024 GPUs are in one "
    "hierarchical all-reduce (inside the nodes, then inside the units, then across). Routing adapts at once. "
    "How much longer does it take? *To first order*, bandwidth only.",
    answer=Choice(
        {
            "0 %": "0 %: no longer at all",
            "7 %": "7 %: 16/15 of the time, on every leaf",
            "14 %": "14 %: 8/7 of the time, on one rail",
            "stop": "it stops: some GPUs are cut off",
        }
    ),
    solution="0 %",
    mistakes=(
        Mistake("7 %", "A sixteenth of the *bisection* is lost. Is the bisection what an all-reduce waits for?"),
        Mistake("14 %", "A spine belongs to no rail: every leaf loses the same few cables."),
        Mistake("stop", "Every leaf is still joined to the other spines."),
    ),
    hints=("How many bytes cross the spines, once each unit has added up its own gradients?",),
    explain=f"The time grows by a factor of {_SPINE_RATIO:.2f}. A unit sends one sum over a spine level as wide as the "
    "cards of its 32 nodes, and each node sends about as much over its own eight cards: these decide.",
)

RAILS = Exercise(
    id="cluster-networking-rails",
    title="Decide: rails or racks?",
    points=2,
    prompt="Two ways to wire a unit of 32 nodes with 8 cards each to 8 leaves. *Rails*: leaf r takes card r of every "
    "node. *Racks*: a leaf takes all cards of 4 nodes. Both need as many switches and cables, and do not block. "
    "A leaf dies while a job runs on all nodes; a node can send over any of its cards. Which network keeps the "
    "job alive, and with how much of its bandwidth? *To first order*.",
    answer=Choice(
        {
            "rails": "rails: the job goes on with 7/8 of the bandwidth of a node",
            "racks": "racks: the job goes on with 7/8 of the nodes, at full bandwidth",
            "both": "both: the bisection falls by the same share, so there is no difference",
            "none": "neither: each card has a single cable, so its GPU is lost",
        }
    ),
    solution="rails",
    mistakes=(
        Mistake("racks", "A job that runs on all nodes has lost some of its ranks. What does it do then?"),
        Mistake("both", "The bisection is the same, indeed. Ask a single node how many of its cards still work."),
        Mistake("none", "A GPU whose card is dark can still reach another card of its node. By which links?"),
    ),
    hints=(
        "For each wiring: how many cards does the unluckiest node lose?",
        "A node with fewer cards is slower, one with none is cut off. Which of the two does a job on all nodes "
        "survive?",
    ),
    explain="With rails, a leaf holds one card of every node of the unit: each node loses one of eight, sends over "
    "the other seven (NVLink brings it there), and all go on with 7/8 of their bandwidth. With racks, the leaf holds "
    "all eight cards of four nodes: these are cut off, and a job that runs on all nodes stops. The price of rails: "
    "eight cables of a node go to eight leaves, as a rule in another rack, and so by optics; a leaf in the middle of "
    "four nodes would have been reached by copper.",
)

LAB_FAILURES = Exercise(
    id="cluster-networking-lab-failures",
    title="Lab: what two leaves still share",
    points=2,
    lines=2,
    prompt="`cables[l][s]` cables join leaf `l` and spine `s`, each with `W` bytes per second one way. The spines in "
    "the list `dead` have failed. How much can leaf `a` send to another leaf `b`, if every byte takes the way over a "
    "single spine? Return it in B/s, *exact*, for any table: some cables may be missing, too.",
    answer=Function(
        "pair_bandwidth",
        "pair_bandwidth(cables, a, b, W, dead)",
        cases=lambda rng: (
            [
                ([[2, 1], [2, 1]], 0, 1, 50 * GB, []),
                ([[1, 2], [2, 1]], 0, 1, 50 * GB, []),
                ([[1, 2], [2, 1]], 0, 1, 50 * GB, [0]),
                ([[1, 1, 1], [1, 1, 1]], 0, 1, 50 * GB, [0, 2]),
            ]
            + [
                (
                    [[rng.choice((0, 1, 2, 2, 4)) for _ in range(spines)] for _ in range(leaves)],
                    *ends,
                    50 * GB,
                    rng.sample(range(spines), k),
                )
                for leaves, spines, k in ((2, 1, 0), (2, 4, 0), (3, 4, 1), (4, 8, 2), (8, 16, 3), (6, 5, 5))
                for ends in ((0, leaves - 1), (leaves - 1, 0), rng.sample(range(leaves), 2))
            ]
        ),
    ),
    solution=lambda cables, a, b, W, dead: (
        W * sum(min(cables[a][s], cables[b][s]) for s in range(len(cables[a])) if s not in dead)
    ),
    mistakes=(
        Mistake(
            lambda cables, a, b, W, dead: (
                W * min(sum(row[s] for s in range(len(row)) if s not in dead) for row in (cables[a], cables[b]))
            ),
            "That is all that leaves a and all that enters b. Does it pass through the same spines?",
        ),
        Mistake(lambda cables, a, b, W, dead: W * sum(map(min, cables[a], cables[b])), "What of the dead spines?"),
        Mistake(
            lambda cables, a, b, W, dead: sum(
                min(cables[a][s], cables[b][s]) for s in range(len(cables[a])) if s not in dead
            ),
            "Those are cables. How much does each carry?",
        ),
        Mistake(
            lambda cables, a, b, W, dead: W * sum(cables[a][s] for s in range(len(cables[a])) if s not in dead),
            "b must be able to receive it, too.",
        ),
    ),
    hints=(
        "Take one spine that is alive. What limits how much it passes on from a to b?",
        "Each spine has a limit of its own, so find it for each before you add.",
    ),
    explain="A byte goes up from a to some spine s, and down from the same spine to b. Spine s passes on what both its "
    "bundles carry, `W*min(cables[a][s], cables[b][s])`. The spines work at the same time, so add this up over all "
    "that are alive. The minimum comes before the sum: a spare cable at one spine does not help at another.",
)

# Ratios
ALLTOALL = Exercise(
    id="cluster-networking-alltoall-slowdown",
    title="Oversubscribed, and all-to-all",
    points=3,
    prompt="A cluster has `g` equal pods. Inside a pod nothing blocks; the cables out of a pod carry a `w`-th of what "
    "its cards could send. All GPUs exchange equal parts with all. How many times as long does it take as if "
    "nothing blocked anywhere? *To first order* in the nodes, of which there are so many that nearly everything "
    "leaves its own; *exact* in `g` and `w`. One expression that holds for `w = 1` too; `maximum` is in "
    "`hwlib.formula`.",
    answer=Expression({"g": integers(2, 64), "w": integers(1, 16)}),
    solution=lambda g, w: maximum(1, w * (g - 1) / g),
    mistakes=(
        Mistake(lambda w: w, "Right for very many pods. How much of what a GPU sends stays in its own pod?"),
        Mistake(lambda g, w: w * (g - 1) / g, "For w = 1 this is less than 1: what else takes time, then?"),
        Mistake(
            lambda g, w: 1 + (w - 1) * (g - 1) / g,
            "You added the two parts up. They flow at the same time, over different cables.",
        ),
        Mistake(lambda g, w: maximum(1, w / g), "That is the part that stays at home."),
    ),
    hints=(
        "What share of a pod's bytes goes to other pods? Over how much of its bandwidth?",
        "Two things are busy at once, the cards and the cables out of the pod: the slower decides.",
    ),
    explain="Let the cards of a pod need a time of 1 for all that its GPUs send; that is how long it takes where "
    "nothing blocks. Of these bytes `1/g` are for the pod itself and `(g - 1)/g` leave it, over a `w`-th of the "
    "bandwidth, in a time of `w*(g - 1)/g`. Cards and cables work at once, and the slower decides: "
    f"`maximum(1, w*(g - 1)/g)`. Eight pods at 7:1 take {7 * 7 / 8:.1f} times as long.",
)

_FLOOR = allgather_bandwidth(meta.levels[:-1])

ALLREDUCE = Exercise(
    id="cluster-networking-allreduce-ratio",
    title="Oversubscribed, and all-reduce: from where on?",
    points=2,
    prompt="Now an all-reduce over all of {g} pods of {p} GPUs, each with a card of {W:B/s}. It adds up inside the "
    "pods first, then across. The levels inside a pod gather S bytes at {low:B/s}, and all-reduce them at half "
    "that rate. From which oversubscription of the top tier on is the top tier the slowest "
    "level? *Exact*: the (g - 1)/g counts.",
    given=[
        dict(g=8, p=3072, W=50 * GB, low=_FLOOR),
        dict(g=4, p=1024, W=50 * GB, low=allgather_bandwidth(SMALL.levels)),
        dict(g=4, p=3072, W=50 * GB, low=_FLOOR),
        dict(g=8, p=512, W=25 * GB, low=allgather_bandwidth(SMALL.levels) / 2),
    ],
    answer=Quantity("1"),
    solution=lambda g, p, W, low: g / (g - 1) * p * W / low,
    mistakes=(
        Mistake(lambda p, W, low: p * W / low, "You let a pod send all of S. How many of the g parts does it lack?"),
        Mistake(
            lambda g, p, W, low: g / (g - 1) * p * W / (2 * low),
            "Twice the bytes, for both kinds of level: compare all-gathers, or compare all-reduces.",
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

# Sharing
SHARED = Exercise(
    id="cluster-networking-shared-flows",
    title="Flows that share a cable",
    points=3,
    prompt="`f` flows leave a leaf by `u` cables up. A hash picks a cable for each, at random and independently. How "
    "many of the flows are on a cable with at least one other, *exactly, in expectation*? In `f` and `u`.",
    answer=Expression({"f": integers(1, 256), "u": integers(2, 256)}),
    solution=lambda f, u: f * (1 - (1 - 1 / u) ** (f - 1)),
    mistakes=(
        Mistake(
            lambda f, u: f * (1 - (1 - 1 / u) ** f), "A flow cannot collide with itself: how many others are there?"
        ),
        Mistake(
            lambda f, u: f - u * (1 - (1 - 1 / u) ** f),
            "Those are flows less cables in use: of three flows on a cable you counted two.",
        ),
        Mistake(lambda f, u: f * (1 - 1 / u) ** (f - 1), "Those are the flows that have a cable to themselves."),
        Mistake(lambda f, u: u * (1 - (1 - 1 / u) ** f), "Those are the cables in use. How many *flows* must share?"),
        Mistake(lambda f, u: f * (f - 1) / (2 * u), "Those are pairs that meet, and a flow can be in many pairs."),
        Mistake(lambda f, u: f * (f - 1) / u, "Good for few flows only: with many it exceeds their number."),
    ),
    hints=("Take one flow. With what probability is no other on its cable?", "Expectations add up, dependent or not."),
    explain="Take one flow. Another one misses its cable with probability `1 - 1/u`, and all `f - 1` others do with "
    "`(1 - 1/u)**(f - 1)`; so it shares with probability `1 - (1 - 1/u)**(f - 1)`. Expectations add up even where "
    "the events depend on each other: times `f`. "
    f"With as many flows as cables, about {1 - exp(-1):.0%} of them share: the network that does not block, blocks.",
)

# Other shapes
TORUS = Exercise(
    id="cluster-networking-torus",
    title="Decide: when is a torus the narrower one?",
    points=2,
    prompt="A torus of a × a × a chips, closed on all axes, has links of {W_link:B/s} one way. A fat tree that does "
    "not block gives each chip {W:B/s}. What is the smallest even side a from which on the torus has less "
    "bisection bandwidth than the tree, for the same number of chips? *Exact*, one way in both.",
    given=[
        dict(W_link=chip * GB, W=W * GB)
        for chip, W in ((90, 25), (180, 25), (45, 12.5), (180, 50), (90, 12.5))  # the smallest side of all is odd
    ],
    answer=Count(),
    solution=lambda W_link, W: 2 * (floor(4 * W_link / W / 2) + 1),
    mistakes=(
        Mistake(
            lambda W_link, W: 2 * (floor(2 * W_link / W / 2) + 1),
            "Each ring is closed: how often does a plane cut it? And do all chips of the tree send across, in your "
            "count?",
        ),
        Mistake(
            lambda W_link, W: 2 * (floor(8 * W_link / W / 2) + 1),
            "Your torus counts both directions. The question is about one way, in both networks.",
        ),
        Mistake(
            lambda W_link, W: 2 * floor(4 * W_link / W / 2), "Very close: which of the two is narrower at this side?"
        ),
        Mistake(lambda W_link, W: floor(4 * W_link / W) + 1, "Can the torus be cut in the middle at that side?"),
        Mistake(
            lambda W_link, W: 2 * (floor(12 * W_link / W / 2) + 1),
            "Of the six links of a chip beside the plane, how many lead across it?",
        ),
        Mistake(
            lambda W_link, W: 2 * (floor(4 * W / W_link / 2) + 1),
            "Which network's bisection grows with the rate of the links, and which with that of the cards?",
        ),
    ),
    hints=(
        "Cut the torus by a plane into two halves: how many rings does it cross, and how often each?",
        "In the tree half of the chips send, each at its full rate. Compare the two as functions of a.",
    ),
    explain="A plane across one axis crosses `a*a` rings, each of them twice: `2*a**2*W_link` one way. In the tree "
    "half of the chips send: `a**3/2*W`. The torus is narrower where `2*W_link < a/2*W`, which is `a > 4*W_link/W` "
    "with W_link = {W_link:B/s} and W = {W:B/s}; take the even number above. Pods of this kind are far larger than "
    "that: they are built for collectives along the axes, to which the bisection does not matter (chapter 7), and "
    "cost no switches at all.",
)

# Lab
LAB_WIRE = Exercise(
    id="cluster-networking-lab-wire",
    title="Lab: wire it",
    points=3,
    lines=3,
    prompt="Build a fat tree of two tiers that does not block, of the fewest switches with `ports` ports each, for "
    "`gpus` GPUs with a card each, always more than `ports`. Return the table `cables`: `cables[l][s]` cables join "
    "leaf `l` and spine `s`, every leaf to every spine alike. *Exact*; all sizes asked for divide evenly.",
    answer=Function(
        "wire",
        "wire(gpus, ports)",
        cases=[
            (1024, 64),
            (2048, 64),
            (256, 64),
            (512, 64),
            (512, 32),
            (256, 32),
            (128, 32),
            (128, 16),
            (64, 16),
            (800, 40),
            (400, 40),
            (200, 40),
            (1296, 144),
        ],
        drawn=lambda rng: [
            (spines * ports, ports)
            for half in rng.sample(range(3, 24), 6)
            for ports, spines in ((2 * half, rng.choice([n for n in range(2, half + 1) if half % n == 0])),)
        ],
    ),
    harmless=dict.fromkeys(
        ("no odd prime for gpus", "no odd prime for ports"), "half of a leaf's ports lead down, and all sizes divide"
    ),
    solution=lambda gpus, ports: [[ports // 2 // (gpus // ports)] * (gpus // ports)] * (gpus // (ports // 2)),
    mistakes=(
        Mistake(
            lambda gpus, ports: [[1] * (gpus // ports)] * (gpus // (ports // 2)),
            "One cable to each spine: how many of a leaf's ports up are then used?",
        ),
        Mistake(
            lambda gpus, ports: [[ports // 2 // (gpus // ports)] * (gpus // (ports // 2))] * (gpus // ports),
            "There are more leaves than spines, and a row belongs to a leaf.",
        ),
        Mistake(
            lambda gpus, ports: [[ports // 2] * (gpus // ports)] * (gpus // (ports // 2)),
            "So many cables lead up from a leaf in all. How many go to each spine?",
        ),
        Mistake(
            lambda gpus, ports: [[1] * (ports // 2)] * (gpus // (ports // 2)),
            "It does not block. But are all ports of your spines in use?",
        ),
        Mistake(
            lambda gpus, ports: [[ports // 2 // (gpus // ports)] * (gpus // ports)] * (gpus // ports),
            "You gave every port of a leaf to GPUs, and then some more to the spines.",
        ),
    ),
    hints=(
        "Half of a leaf's ports lead down. How many leaves, and how many cables up in all?",
        "A spine takes `ports` of these cables; every leaf shares its own evenly among the spines.",
    ),
    explain="With half of its ports down, `gpus/(ports/2)` leaves are needed, and as many cables lead up as there are "
    "GPUs. A spine takes `ports` of them, so there are `gpus/ports` spines. Each leaf spreads its `ports/2` cables "
    "evenly over them, `ports/2/(gpus/ports)` to each: 2 for 1,024 GPUs and 64 ports, in 32 rows of 16.",
    withholds=("hwlib.topology",),
)


def _redesign(gpus: int, ports: int) -> list[int]:
    leaves = gpus // (ports // 2)
    return [leaves, leaves // 2, 0] if leaves <= ports else [leaves, leaves, leaves // 2]


LAB_REDESIGN = Exercise(
    id="cluster-networking-lab-redesign",
    title="Lab: redesign it",
    points=3,
    lines=4,
    prompt="The same for more GPUs: plan a fat tree for `gpus` GPUs with a card each, always more than `ports`, with a "
    "third tier where there must be one. Return `[leaves, spines, cores]`, the fewest switches of `ports` ports with "
    "which nothing blocks, and 0 cores where two tiers suffice. *Exact*; all sizes asked for divide evenly, and none "
    "is beyond three tiers.",
    answer=Function(
        "redesign",
        "redesign(gpus, ports)",
        cases=[
            (1024, 64),
            (2048, 64),
            (4096, 64),
            (8192, 64),
            (65536, 64),
            (512, 32),
            (1024, 32),
            (4096, 32),
            (128, 16),
            (256, 16),
            (1024, 16),
            (10368, 144),
            (20736, 144),
            (800, 40),
            (1600, 40),
        ],
        drawn=lambda rng: [
            (leaves * half, 2 * half)
            for half in rng.sample(range(3, 60), 6)
            for leaves in (2 * rng.randint(2, half), 2 * half * rng.randint(2, half))  # of two tiers, and of three
        ],
    ),
    harmless=dict.fromkeys(
        ("no odd prime for gpus", "no odd prime for ports", "no 1 for gpus"),
        "half of a leaf's ports lead down, and all sizes divide",
    ),
    solution=_redesign,
    mistakes=(
        Mistake(
            lambda gpus, ports: [gpus // (ports // 2), gpus // ports, 0],
            "Beyond a certain size a spine of yours has more cables than ports.",
        ),
        Mistake(
            lambda gpus, ports: (lambda n: [n, n, n // 2])(gpus // (ports // 2)),
            "You build a third tier at every size. As long as a spine reaches all leaves, what is it for?",
        ),
        Mistake(
            lambda gpus, ports: (lambda n: [n, n // 2, 0] if n <= 2 * ports else [n, n, n // 2])(gpus // (ports // 2)),
            "Your third tier comes too late: how many leaves can a spine reach?",
        ),
        Mistake(
            lambda gpus, ports: (lambda n: [n, n // 2, 0] if n <= ports else [n, n // 2, n // 4])(gpus // (ports // 2)),
            "In three tiers the spines have something above them: how many of their ports lead down?",
        ),
        Mistake(
            lambda gpus, ports: (lambda n: [n, n // 2, 0] if n <= ports else [n, n, n])(gpus // (ports // 2)),
            "Above the cores there is nothing: how many of their ports can lead down?",
        ),
        Mistake(
            lambda gpus, ports: (lambda n: [n, n // 2, 0] if n < ports else [n, n, n // 2])(gpus // (ports // 2)),
            "Your third tier comes a little too soon: is a spine with all ports in use too small?",
        ),
    ),
    hints=(
        "As many cables lead up from every tier as come from below.",
        "Divide the cables that arrive at a tier by the ports that its switches have for them.",
    ),
    explain="`gpus` cables reach every tier. A leaf takes `ports/2` of them: `gpus/(ports/2)` leaves. Topmost spines "
    "have all ports down, so half as many suffice, but each must reach every leaf: that goes up to `ports` leaves. "
    "Beyond, a spine gives half of its ports to the cores, so there are as many spines as leaves; the cores have "
    "nothing above them, and are half as many.",
    withholds=("hwlib.topology",),
)


@cache
def unblocked(nodes: int, ports: int) -> FatTree:
    """The tree of these nodes in which nothing blocks, with half of each leaf's ports down."""
    return plan(nodes=nodes, ports=ports, nodes_per_group=ports // 2)


def unblocked_switches(nodes: int, ports: int) -> int:
    """Its switches: more than the formula's, as the cables of a tier must be laid evenly over the next."""
    return sum(unblocked(nodes, ports).switches.values())


def wired(nodes, ports, nodes_per_group, leaf_uplinks, spines, pods, spine_uplinks, cores) -> FatTree:
    """The tree of a design; TopologyError if it cannot be built."""
    counts = dict(leaf_uplinks=leaf_uplinks, spines=spines, pods=pods, spine_uplinks=spine_uplinks, cores=cores)
    tree = replace(unblocked(nodes, ports), nodes_per_group=nodes_per_group, **counts)
    if nodes % nodes_per_group:
        raise TopologyError(f"{nodes} nodes do not make equal groups of {nodes_per_group}.")
    if tree.groups % pods:
        raise TopologyError(f"{tree.groups} groups do not make {pods} equal pods.")
    if pods > 1 and not cores * spine_uplinks:
        raise TopologyError(f"No cable joins the {pods} pods.")
    if faults := [found.text for found in tree.check().findings if not (found.fine or found.kind == "blocking")]:
        raise TopologyError(" ".join(faults))
    return tree


def switches_of(nodes, ports, nodes_per_group, leaf_uplinks, spines, pods, spine_uplinks, cores) -> Breakdown:
    """The switches of a design, by tier."""
    tree = wired(nodes, ports, nodes_per_group, leaf_uplinks, spines, pods, spine_uplinks, cores)
    return Breakdown(sum(tree.switches.values()), {"leaves": tree.leaves, "spines": spines, "cores": cores})


def alltoall_times(nodes, ports, nodes_per_group, leaf_uplinks, spines, pods, spine_uplinks, cores) -> float:
    """How many times as long as if nothing blocked an all-to-all over all GPUs of a design takes."""
    tree = wired(nodes, ports, nodes_per_group, leaf_uplinks, spines, pods, spine_uplinks, cores)
    return slower("all_to_all", tree.levels, unblocked(nodes, ports).levels)


def in_two_tiers(nodes_per_group: int, up: int) -> dict[str, int]:
    """A design without cores, with one cable from each leaf to each spine."""
    return dict(nodes_per_group=nodes_per_group, leaf_uplinks=up, spines=up, pods=1, spine_uplinks=0, cores=0)


def fewest_in_two_tiers(nodes: int, ports: int, slow: float) -> float:
    """The fewest switches of all trees of two tiers that are fast enough."""
    found = []
    for group in range(1, ports):
        for up in range(1, ports - group + 1):
            design = in_two_tiers(group, up)
            try:
                if alltoall_times(nodes, ports, **design) <= slow:
                    found.append(switches_of(nodes, ports, **design).total)
            except TopologyError:
                continue
    return min(found)


def _fast_enough(nodes: int, ports: int, slow: float) -> dict[str, int]:
    group = 8 * nodes // ports
    return in_two_tiers(group, ceil(group * (nodes - group) / (nodes - 1) / slow))


def _nothing_blocks(nodes: int, ports: int) -> dict[str, int]:
    tree, names = unblocked(nodes, ports), _fast_enough(nodes, ports, 1)
    return {name: getattr(tree, name) for name in names}


LAB_FEWEST = Exercise(
    id="cluster-networking-lab-fewest",
    title="Lab: as few switches as possible",
    prompt="Buy the network of {nodes} nodes with 8 GPUs and 8 cards each, out of switches with {ports} ports; all "
    "cables and cards have the same rate, and card r of every node of a group goes to leaf r of the group. An "
    "all-to-all over all GPUs may take {slow} times as long as if nothing blocked, counting bandwidth alone, with all "
    "levels at work at once. Which fat tree has the fewest switches? *Exact*.",
    given=[dict(nodes=nodes, ports=ports, slow=1.5) for nodes, ports in ((320, 64), (80, 32), (120, 40))],
    answer=Design(
        fields={
            "nodes_per_group": Field("nodes of a group, which shares 8 leaves", 1, 512, whole=True),
            "leaf_uplinks": Field("cables up from each leaf", 1, 144, whole=True),
            "spines": Field("spines, those of all pods together", 1, 4096, whole=True),
            "pods": Field("pods, each of some groups below spines of its own; 1 for all", 1, 512, whole=True),
            "spine_uplinks": Field("cables up from each spine; 0 without cores", 0, 144, whole=True),
            "cores": Field("cores; 0 with two tiers", 0, 4096, whole=True),
        },
        objective=switches_of,
        measure="the number of switches",
        conditions=[Condition("the slowdown of the all-to-all", alltoall_times, at_most=lambda slow: slow)],
        pars=[
            Par(1, unblocked_switches, "three tiers that do not block, evenly cabled"),
            Par(2, lambda nodes, ports: floor(0.75 * unblocked_switches(nodes, ports)), "a quarter less"),
            Par(3, lambda best: best),
        ],
        known=[Known(fewest_in_two_tiers, "a search")],
    ),
    solution=_fast_enough,
    mistakes=(
        Mistake(_nothing_blocks, "Nothing blocks in it. In which tier would you give up some of that?"),
        Mistake(
            lambda ports: in_two_tiers(ports // 2, ports // 2),
            "A spine has fewer ports than you have leaves. Must a leaf give half of its ports to cards?",
        ),
        Mistake(
            lambda nodes, ports: in_two_tiers(8 * nodes // ports, 8 * nodes // ports // 3),
            "Most of what a card sends leaves its group, and three cards share a cable.",
        ),
    ),
    hints=(
        "Any tier may block. What does the third one cost for each GPU, and what would two tiers take?",
        "Two tiers end when a spine has no port for a further leaf. How many nodes must then be below a group?",
    ),
    explain="A spine reaches as many leaves as it has ports p, so N nodes fit in two tiers if 8N/g ≤ p: groups of "
    "g = 8N/p nodes, whose cards take more than half of a leaf's ports. Of what leaves a node, the share "
    "(N - g)/(N - 1) leaves its group too, over u cables for g cards, so an all-to-all takes g(N - g)/((N - 1)u) times "
    "as long: that bounds u from below. A third tier would have taken two more ports for every GPU; a leaf that blocks "
    "saves these, and spines as well.",
)

MEMO = Exercise(
    id="cluster-networking-memo",
    title="A memo on the top tier",
    prompt="Your company buys 8,192 GPUs in eight pods and can save most of the core switches by a top tier of 7:1. "
    "Two teams will share it: one trains dense models, data-parallel across everything, the other trains "
    "mixtures of experts with an all-to-all in every layer. Recommend for or against, with the conditions under "
    "which you would change your mind.",
    answer=Written(
        words=180,
        criteria=False,
        rubric=(
            ("Says that a hierarchical all-reduce sends little over the top tier, and why: pods add up first.", 1),
            ("Says that an all-to-all across pods takes several times as long, and that one inside a pod does not.", 1),
            (
                "Names a condition on placement or on the grouping of ranks, such as keeping expert groups inside a "
                "pod.",
                1,
            ),
            (
                "Names a case in which data parallelism does feel it: an outermost axis on which every rank has its "
                "own partners, or a flat algorithm.",
                1,
            ),
        ),
    ),
    solution="**For**, if expert groups fit in a pod of 1,024 GPUs.\n\n"
    "*Dense team.* Gradients are added up inside each pod, so a pod sends one sum, over a top tier which, "
    f"even at 7:1, is {1024 // 7} cards wide. It would feel the ratio only beyond a hundred to one. This "
    "changes if pods are whole replicas of a model sharded over 1,024 GPUs: then every GPU exchanges its own "
    "shard with its partners in the other pods, nothing is added up on the way, and 7:1 makes that "
    "all-reduce slower.\n\n"
    "*Expert team.* In an all-to-all over all pods 7/8 of the bytes cross a seventh of the bandwidth: "
    f"{7 * 7 / 8:.1f} times as long. Inside a pod it costs nothing, and so placement decides: the scheduler must "
    "keep an expert group inside a pod.\n\n"
    "I would change my mind if expert groups outgrow a pod, or if jobs have to be placed across pods as "
    "they come.",
    hints=(
        "Ask of each team: how many bytes leave a pod, and over what?",
        "Then ask what would change that: which ranks form a group, and what they can add up before it leaves a pod.",
    ),
)

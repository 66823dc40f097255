"""Exercises of chapter 5, and the names with which its text computes numbers."""

from collections.abc import Iterator
from functools import cache
from math import ceil, exp, floor, sqrt  # noqa: F401

from autograder.answers import (
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
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import allgather_bandwidth, level_time  # noqa: F401  (the first is computed with in the text)
from hwlib.formula import maximum
from hwlib.network import HEADERS, bandwidth_delay_bytes, payload_fraction  # noqa: F401
from hwlib.specs import clusters, links, nodes, switches
from hwlib.specs.cluster import Level
from hwlib.topology import *  # noqa: F403  (the text uses many of them)
from hwlib.topology import (
    FatTree,
    Remains,
    TopologyError,
    alltoall_left_fraction,
    bisection_bandwidth,
    busiest_cable_flows,
    cluster,
    dragonfly,
    fat_tree,
    plan,
    remains,
    three_tier_hosts,
    two_tier_hosts,
    without,
)
from hwlib.units import GB, MB, TB, show  # noqa: F401

quantum2, nvswitch, ndr = switches["quantum-2"], switches["nvswitch3"], links["ndr"]
pod, meta, rack = clusters["superpod-h100-4su"], clusters["ethernet-oversubscribed"], nodes["gb200-nvl72"]
CARD = ndr.bandwidth
SMALL, DOUBLE, LARGE = (plan(nodes=n) for n in (128, 256, 512))  # of nodes with 8 GPUs
SMALL_SUM, DOUBLE_SUM, LARGE_SUM = (sum(tree.switches.values()) for tree in (SMALL, DOUBLE, LARGE))

RACKS, NODES = clusters["nvl72-pod"], pod  # two machines that everybody is to have all bytes of
BUFFER = 16 * MB  # of a port, say
FIBRE = 2e8  # metres per second, two thirds of the speed of light
INTERRUPTIONS, BY_NETWORK, DAYS = 419, 35, 54  # of one training run on 16,384 GPUs: llama3, table 5


@cache
def after(rails: bool, dead: str) -> Remains:
    """What remains of 1,024 GPUs without one switch, wired in rails or four nodes to a leaf."""
    tree = fat_tree(SMALL if rails else plan(nodes=128, rails=1, nodes_per_group=4))
    return remains(tree, without(tree, node=dead))


SHARE = {"node": nodes["dgx-h100"].scaleup_bandwidth, "leaf": CARD}
SLOWEST = 1 / busiest_cable_flows(16, 32)  # of 16 cards on 32 cables, one connection each


@cache
def fly_bisection() -> float:
    """The bisection bandwidth of a dragonfly of 1,056 cards."""
    return bisection_bandwidth(dragonfly(p=4, a=8, h=4, bandwidth=CARD))


@cache
def torus_bisection(pod: str) -> float:
    """The bisection bandwidth of a pod without switches."""
    return bisection_bandwidth(cluster(pod))


def slower(traffic: str, changed: tuple[Level, ...], levels: tuple[Level, ...] = SMALL.levels) -> float:
    """How many times as long the traffic takes over the changed levels, bandwidth only."""
    return level_time(traffic, 1.0, changed) / level_time(traffic, 1.0, levels)


# Counting ports
THIRD_TIER = Exercise(
    id="cluster-networking-third-tier",
    title="When two tiers run out",
    points=2,
    prompt="Nodes of {gpus} GPUs with a card each are to be joined by a fat tree that does not block, of switches "
    "with {ports} ports. From how many nodes on do two tiers no longer suffice? *Exact*: the smallest number "
    "for which they do not.",
    given=[dict(gpus=gpus, ports=ports) for gpus, ports in ((8, 64), (8, 40), (4, 144), (4, 64), (8, 128), (8, 48))],
    answer=Count(of="node"),
    solution=lambda gpus, ports: floor(two_tier_hosts(ports) / gpus) + 1,
    mistakes=(
        Mistake(
            lambda gpus, ports: floor(two_tier_hosts(ports) / gpus),
            "So many still fit. From which number on do they not?",
        ),
        Mistake(
            lambda gpus, ports: floor(ports**2 / gpus) + 1,
            "Does every port of a leaf lead to GPUs? What is then left for the spines?",
            name="leaf-ports",
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
        Mistake(
            lambda ports: ports + 1,
            "So it is if each node fills a leaf. How many cards go down from a leaf?",
            name="leaf-ports",
        ),
        Mistake(
            lambda gpus, ports: floor(3 * ports // 4 * ports / gpus) + 1,
            "Has a leaf three ports down for one up? It would block. How many of each has one that does not?",
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
        Mistake(
            lambda p, r: p + p / (1 + r),
            "Those are all switches of the tree. How many GPUs share them?",
            name="one-for-all",
        ),
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
    prompt="An early edition of *How to Scale Your Model* says of the spine of 1,024 H100s: *“16 * 1.6TB/s = "
    "25.6TB/s”*, and so *“25 GB/s”* for each GPU; notes that copy it call the switches NVSwitches. Compute it again, "
    "for a spine that was bought smaller: {spines} switches of {ports} ports, {W:B/s} a port in one direction, all of "
    "them down, and {n} GPUs below. All GPUs send over the spine at once, and nothing else holds them up. How much has "
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
            names_all=True,
        ),
        Mistake(lambda W: W, "That is one port. Have the spines one for each GPU?"),
        Mistake(
            lambda ports, W: ports * W,
            "That is one spine. How many are there, and how many GPUs share them?",
            name="one-for-all",
        ),
        Mistake(
            lambda spines, ports, W: spines * ports * W,
            "That is all spines together. And each GPU?",
            name="one-for-all",
        ),
        Mistake(
            lambda spines, ports, W, n: 2 * spines * ports * W / n,
            "Twice the answer: a port sends and receives at the same time, and all GPUs do. Which "
            "of the two did you leave out?",
            names_all=True,
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
    prompt="A footnote of *How to Scale Your Model* counts 8 GPUs to a host in an NVL72, while the text above it gives "
    "each of the rack's {trays} hosts {nics} network cards of {W:B/s}. The rack has {n} GPUs, with {NV:B/s} each "
    "inside it. Say {kept} card of each host is kept for storage. How much leaves the rack by the others for each GPU, "
    "if all send? *Exact*, one way.",
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
_SPINE_RATIO = 1 / alltoall_left_fraction(d=4, switches=16, dead=1, omega=1)  # four units, one spine of 16

PREDICT_SPINE = Exercise(
    id="cluster-networking-predict-spine",
    title="Predict: a spine dies",
    predict=True,
    prompt="One of the 16 spines dies, and with it a sixteenth of the bisection. All 1,024 GPUs, in four units, send "
    "equal parts to all others. Routing adapts at once. How much longer does it take? *To first order*, bandwidth "
    "only.",
    answer=Choice(
        {
            "0 %": "0 %: no longer at all",
            "7 %": "7 %: 16/15 of the time, on every leaf",
            "14 %": "14 %: 8/7 of the time, on one rail",
            "stop": "it stops: some GPUs are cut off",
        },
        ordered=True,
    ),
    solution="0 %",
    mistakes=(
        Mistake("7 %", "A sixteenth of the *bisection* is lost. Does all that a GPU sends cross the spines?"),
        Mistake("14 %", "A spine belongs to no rail: every leaf loses the same few cables."),
        Mistake("stop", "Every leaf is still joined to the other spines."),
    ),
    hints=("Which share of what a GPU sends stays in its own unit?",),
    explain=f"The time grows by a factor of {_SPINE_RATIO:.2f}. A quarter of what a GPU sends is for its own unit, so "
    "the rest needs three quarters of the cables to the spines, and fifteen sixteenths are left. The cards decide, as "
    "before.",
)

RAILS = Exercise(
    id="cluster-networking-rails",
    title="Decide: rails or racks?",
    points=2,
    prompt="Two ways to wire a unit of 32 nodes with 8 cards each to 8 leaves. *Rails*: leaf r takes card r of every "
    "node. *Racks*: a leaf takes all cards of 4 nodes. Both need equally many switches and cables, and do not block. "
    "A leaf dies while a job runs on all nodes. Its connections over that leaf break and the job aborts, in either "
    "network; it is started again at once. A node can send over any of its cards. Which network can run it again "
    "before somebody replaces the leaf, on how many nodes and with how much bandwidth? *To first order*.",
    answer=Choice(
        {
            "rails": "rails: on all nodes, with 7/8 of the bandwidth of a node",
            "racks": "racks: on all nodes, at full bandwidth, over the other leaves",
            "both": "both alike: the bisection falls by the same share",
            "none": "neither: each card has a single cable, so its GPU is lost",
        }
    ),
    solution="rails",
    mistakes=(
        Mistake("racks", "Which leaf do the cards of a rack's nodes have, besides the dead one?"),
        Mistake("both", "The bisection is the same, indeed. Ask a single node how many of its cards still work."),
        Mistake("none", "A GPU whose card is dark can still reach another card of its node. By which links?"),
    ),
    hints=(
        "For each wiring: how many cards does the unluckiest node lose?",
        "A node with fewer cards is slower, one with none is cut off. With which of the two can a job on all nodes "
        "run?",
    ),
    explain="With rails, a leaf holds one card of every node of the unit: each node loses one of eight and sends over "
    "the other seven (NVLink brings it there), so all nodes are back with 7/8 of their bandwidth. With racks, the leaf "
    "holds all eight cards of four nodes: these are cut off, and a job that needs all nodes waits for the repair. "
    "Neither wiring spares the job its restart; for that a card needs two cables to two leaves, as in Alibaba's "
    "network. The price of rails: "
    "eight cables of a node go to eight leaves, as a rule in another rack, and so by optics; a leaf in the middle of "
    "four nodes would have been reached by copper.",
)


def _alive(cables, a, b, dead):
    return sum(min(cables[a][s], cables[b][s]) for s in range(len(cables[a])) if s not in dead)


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
                ([[1, 1, 2], [0, 3, 1]], 0, 1, 25 * GB, [2]),
                ([[1, 1], [1, 1]], 1, 0, 100 * GB, [0, 1]),
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
        mutants={
            "the spines in the list": lambda cables, a, b, W, dead: (
                W * sum(min(cables[a][s], cables[b][s]) for s in range(len(dead), len(cables[a])))
            ),
            "some cables may be missing": lambda cables, a, b, W, dead: (
                W * sum(min(cables[a][s], cables[b][s]) or 1 for s in range(len(cables[a])) if s not in dead)
            ),
            "all spines may be dead": lambda cables, a, b, W, dead: W * (_alive(cables, a, b, dead) or 1),
            "W bytes per second": lambda cables, a, b, W, dead: 50 * GB * _alive(cables, a, b, dead),
            "a and b are any leaves": lambda cables, a, b, W, dead: W * _alive(cables, 0, -1, dead),
            "several cables to a spine": lambda cables, a, b, W, dead: (
                W * sum(bool(cables[a][s] and cables[b][s]) for s in range(len(cables[a])) if s not in dead)
            ),
        },
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
    title="Oversubscribed, and everyone to everyone",
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
            name="times-added",
        ),
        Mistake(lambda g, w: maximum(1, w / g), "That is the part that stays at home.", name="own-share"),
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

# Sharing
PREDICT_HASH = Exercise(
    id="cluster-networking-predict-hash",
    title="Predict: a cable for everyone",
    predict=True,
    prompt="A leaf has 32 cards below and 32 cables up; each card sends one flow to a far leaf, and a hash of the "
    "flow's addresses picks its cable. How many of the cables carry nothing, *to first order* and in expectation?",
    answer=Choice(
        {
            "none": "none: there are as many flows as cables",
            "few": "two or three: a collision now and then",
            "third": "about a third of them",
            "half": "half of them: with a chance of one in two each",
        },
        ordered=True,
    ),
    solution="third",
    mistakes=(
        Mistake("none", "Does the hash know which cables are taken?"),
        Mistake("few", "Count the second flow, the third, the last: how probable is it that its cable is taken?"),
        Mistake("half", "32 flows miss a given cable, each with probability 31/32."),
    ),
    hints=("With what probability do all flows miss a given cable?",),
    explain=f"A flow misses a cable with probability 31/32, and all 32 do with `(31/32)**32`, {(31 / 32) ** 32:.0%}: "
    f"close to `1/e`. What these cables could carry is lost: the flows that share a cable cannot use another.",
)

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
    answer=Count(of="chip"),
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
            name="both-directions",
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
        mutants={
            "switches of any number of ports": lambda gpus, ports: (
                [[64 // 2 // (gpus // 64)] * (gpus // 64)] * (gpus // 32)
            ),
            "any number of GPUs": lambda gpus, ports: [[1] * (ports // 2)] * ports,
            "that does not block": lambda gpus, ports: (
                [[ports // 2 // (gpus // ports) // 2 or 1] * (gpus // ports)] * (gpus // (ports // 2))
            ),
            "a single cable to each of many spines": lambda gpus, ports: (
                [[max(2, ports // 2 // (gpus // ports))] * (gpus // ports)] * (gpus // (ports // 2))
            ),
        },
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
            name="leaf-ports",
        ),
        Mistake(
            lambda gpus, ports: (
                [[ports // 2 // max(1, gpus // ports // 2)] * max(1, gpus // ports // 2)] * (gpus // ports)
            ),
            "So few leaves have a port for each GPU and none left. Which ports of a leaf lead up to the spines?",
            name="leaf-ports",
        ),
        Mistake(
            lambda gpus, ports: (
                [[max(1, ports // 2 // (gpus // (ports // 2)))] * (gpus // (ports // 2))] * (gpus // (ports // 2))
            ),
            "As many spines as leaves: all ports of a spine lead down, and only half of a leaf's lead up.",
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
        mutants={
            "as many switches as these GPUs need": lambda gpus, ports: [ports**2 // 2, ports**2 // 2, ports**2 // 4],
            "0 cores where two tiers suffice": lambda gpus, ports: _redesign(gpus, ports)[: 2 + (gpus > ports**2 // 2)],
            "switches of any number of ports": lambda gpus, ports: _redesign(gpus, 64),
            "more than two tiers": lambda gpus, ports: _redesign(min(gpus, ports**2 // 2), ports),
        },
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


# Loss and congestion
HEADROOM = Exercise(
    id="cluster-networking-headroom",
    title="How much still arrives?",
    points=3,
    prompt="A switch sends its neighbour a pause frame down a cable on which a signal takes `t` seconds one way; "
    "the line's rate is `W` each way. Two things delay the end of the flood: the switch's own line has just begun to "
    "send a packet of `p` bytes, behind which the pause frame waits, and the neighbour has just begun one of `p` bytes "
    "when the frame arrives, which it finishes. The frame itself is short enough to count for nothing. How many bytes "
    "arrive after the switch has decided to pause? *Exact*.",
    answer=Expression(
        {"W": positive("B/s", 1e9, 1e11), "t": positive("s", 1e-8, 1e-4), "p": positive("B", 64.0, 16384.0)}, "B"
    ),
    solution=lambda W, t, p: 2 * W * t + 2 * p,
    mistakes=(
        Mistake(
            lambda W, t, p: W * t + 2 * p,
            "The cable is counted once. Is it the way of the frame that is missing, or what is behind it on the cable?",
        ),
        Mistake(lambda W, t: 2 * W * t, "Those are the bytes on the cable. And the two packets?"),
        Mistake(
            lambda W, t, p: 2 * W * t + p,
            "One of the two packets is missing: the pause frame waits for one, and the neighbour finishes another.",
        ),
        Mistake(lambda W, t, p: W * t + p, "Follow one bit there and one back: what arrives while the frame travels?"),
        Mistake(
            lambda W, t, p: 4 * W * t + 2 * p,
            "t is one way. How often is the cable travelled, once by the frame and once by the last byte?",
        ),
        Mistake(
            lambda W, t, p: 2 * W * t + 4 * p,
            "The cable is right, and every packet is counted twice: each delays the end by p/W, once.",
        ),
        Mistake(
            lambda W, t, p: 2 * W * t + 3 * p,
            "The cable is right, and a packet too much is counted: what is arriving already was on the cable.",
        ),
        Mistake(
            lambda W, t, p: 2 * W * t + 3 * p / 2,
            "The cable is right. Of a packet that has just begun, how much is still to be sent?",
        ),
        Mistake(
            lambda W, t, p: 2 * maximum(W * t, p),
            "That lets the frame wait and travel at the same time. Which of the two comes after the other?",
            name="times-overlapped",
        ),
    ),
    hints=(
        "From the decision on, for how long does the neighbour go on sending? Then: when does the last byte arrive?",
        "Waiting, the way there, finishing a packet, the way back of the last byte: four times in a row.",
    ),
    explain="The frame waits `p/W` for the packet before it and travels for `t`. The neighbour then finishes a packet, "
    "`p/W`, and the last byte of that travels for `t`. All this time bytes arrive at W: "
    "`W*(p/W + t + p/W + t) = 2*W*t + 2*p`. So much must be free in the buffer for every port and every class of "
    "traffic that can be paused. It grows with rate and distance: at two thirds of the speed of light "
    f"{show(bandwidth_delay_bytes(CARD, 2 * 100 / FIBRE), 'B', 3)} for {show(CARD, 'B/s')} over a hundred metres, "
    f"before packets count, and {show(bandwidth_delay_bytes(CARD, 2 * 10_000 / FIBRE), 'B', 3)} between two halls ten "
    "kilometres apart.",
)

TICKET = Exercise(
    id="cluster-networking-ticket",
    title="Answer the ticket",
    prompt="*“Two jobs share our RoCE cluster and no node. Whenever job A writes its checkpoint, from 64 nodes to two "
    "storage servers on leaf 7, job B slows to a third, although it sends nothing to leaf 7. No packet is lost. Some "
    "spine ports count millions of pause frames received, and more links are paused the longer the checkpoint takes. "
    "The network team wants to double the spines.”* What happens, would more spines help, and what would?",
    answer=Written(
        words=180,
        criteria=False,
        rubric=(
            ("Names incast: many senders to few ports, a queue that no choice of cable avoids.", 1),
            ("Explains how pauses spread upstream and hold up flows that do not go to the full port.", 1),
            ("Says why more spines do not help: what is narrow is the ports of the receivers.", 1),
            (
                "Proposes remedies at the senders or by separation: ECN and DCQCN tuned, receivers that admit few "
                "senders, a class or network of its own for storage, more storage ports.",
                1,
            ),
        ),
    ),
    solution="This is **incast**. 64 nodes send to two servers, and the leaf's ports to these carry a small part of "
    "it; the queue before them grows until the leaf pauses the spines. A paused spine can no longer send *anything* to "
    "leaf 7, its buffer fills as well, and it pauses the leaves that send to it, together with all of their flows "
    "of that class, also those of job B to somewhere else: they are victims of **congestion spreading**. "
    "Nothing is lost, and that is what PFC promises; it does not promise that anybody gets on.\n\n"
    "Twice the spines give the queue more places to stand in. The ports of the two servers are as narrow as before.\n\n"
    "What helps: make the senders slow down before the pauses begin (ECN marks at a low threshold, DCQCN); let the "
    "storage servers admit a few senders at a time; give storage a traffic class or cards of its own, so that its "
    "pauses stop nobody else; and spread the checkpoint over more servers, or over time.",
    hints=(
        "Which port is the narrow one, and how many send to it?",
        "A pause frame names a port's class of traffic, not a destination. Who else is held up by it?",
    ),
)


# A fabric for a workload
@cache
def fabric(nodes, ports, nodes_per_group, leaves_per_group, leaf_uplinks, spines) -> FatTree:
    """The tree of two tiers of a design; TopologyError if it cannot be built."""
    if nodes % nodes_per_group:
        raise TopologyError(f"{nodes} nodes do not make equal groups of {nodes_per_group}.")
    if 8 % leaves_per_group:
        raise TopologyError(f"8 cards cannot be shared evenly by {leaves_per_group} leaves.")
    leaves = nodes // nodes_per_group * leaves_per_group
    counts = dict(nodes_per_group=nodes_per_group, leaves=leaves, leaf_uplinks=leaf_uplinks, spines=spines)
    tree = plan(nodes=nodes, ports=ports, **counts)
    if faults := [found.text for found in tree.check().findings if not (found.fine or found.kind == "blocking")]:
        raise TopologyError(" ".join(faults))
    return tree


def strangers(nodes: int, group: int, team: int) -> float:
    """Of the busiest group's nodes: how many nodes' worth of what they send to their teams leaves the group."""
    return max(
        sum(
            here * (team - here) / (team - 1)
            for first in range(start // team * team, start + group, team)
            for here in (min(start + group, first + team) - max(start, first),)
        )
        for start in range(0, nodes, group)
    )


def exchange_time(nodes, ports, team, near, far, nodes_per_group, leaves_per_group, leaf_uplinks, spines) -> float:
    """Seconds in which all GPUs have sent `near` bytes to their team and `far` bytes to everyone."""
    fabric(nodes, ports, nodes_per_group, leaves_per_group, leaf_uplinks, spines)
    group = nodes_per_group
    out = 8 * (near * strangers(nodes, group, team) + far * group * (nodes - group) / (nodes - 1))
    return max((near + far) / CARD, out / (leaves_per_group * leaf_uplinks * CARD))


COPPER = 8  # nodes of a group that stand close enough to their leaves


def fabric_price(nodes, ports, switch, copper, nodes_per_group, leaves_per_group, leaf_uplinks, spines) -> float:
    """The price of a design, in transceivers: fibres cost nothing beside them."""
    tree = fabric(nodes, ports, nodes_per_group, leaves_per_group, leaf_uplinks, spines)
    below, up = tree.cables["node-leaf"], tree.cables.get("leaf-spine", 0)
    cards = copper * below if nodes_per_group <= COPPER else 2 * below
    return switch * (tree.leaves + spines) + cards + 2 * up


def designs(nodes: int, ports: int) -> Iterator[dict[str, int]]:
    """Every tree of two tiers in which cables can be laid evenly."""
    for group in (size for size in range(1, nodes + 1) if nodes % size == 0):
        for leaves in (1, 2, 4, 8):
            for up in range(1, ports - 8 * group // leaves + 1):
                for spines in (count for count in range(1, up + 1) if up % count == 0):
                    design = dict(nodes_per_group=group, leaves_per_group=leaves, leaf_uplinks=up, spines=spines)
                    if group * leaves < nodes * leaves and nodes // group * leaves * up <= spines * ports:
                        yield design


def fastest(nodes, ports, team, near, far, switch, copper, budget) -> float:
    """The least time of all designs that the budget allows."""
    times = []
    for design in designs(nodes, ports):
        try:
            if fabric_price(nodes, ports, switch, copper, **design) <= budget:
                times.append(exchange_time(nodes, ports, team, near, far, **design))
        except TopologyError:
            continue
    return min(times)


FASTEST = {  # by nodes and team: what a search finds
    (240, 20): dict(nodes_per_group=60, leaves_per_group=8, leaf_uplinks=4, spines=2),
    (240, 40): dict(nodes_per_group=8, leaves_per_group=2, leaf_uplinks=20, spines=20),
    (320, 20): dict(nodes_per_group=40, leaves_per_group=8, leaf_uplinks=3, spines=3),
}


def _racks(ports: int) -> dict[str, int]:
    return dict(nodes_per_group=4, leaves_per_group=1, leaf_uplinks=ports // 2, spines=ports // 2)


LAB_FABRIC = Exercise(
    id="cluster-networking-lab-fabric",
    title="Lab: a fabric for your traffic, at your price",
    points=4,
    prompt="Buy a fat tree of two tiers for {nodes} nodes of 8 GPUs and 8 cards, from switches of {ports} ports, all "
    f"cards and cables of {show(CARD, 'B/s')}. The first {{team}} nodes are a team, the next {{team}} another, and so "
    "on. In a step each GPU sends {near:B} in equal parts to the nodes of its team, and {far:B} in equal parts to all "
    "nodes, its own node aside in both cases. Equal groups of nodes, in order, share leaves; each leaf of a group "
    "takes the same number of cards of every node, and is joined to all spines by equally many cables. "
    "Prices are counted in transceivers, and are invented: a switch costs "
    "{switch}, a cable between leaf and spine two transceivers, a cable of a card two as well, or {copper} in copper, "
    f"which reaches where a group has at most {COPPER} nodes. You have {{budget}}. Which tree has the shortest step? "
    "*Exact*, bandwidth only: what leaves a group and what leaves the cards flow at the same time.",
    given=[
        dict(nodes=240, ports=64, team=20, near=0.9 * GB, far=0.1 * GB, switch=30, copper=0.3, budget=5200),
        dict(nodes=240, ports=64, team=40, near=0.85 * GB, far=0.15 * GB, switch=30, copper=0.3, budget=5400),
        dict(nodes=320, ports=64, team=20, near=0.9 * GB, far=0.1 * GB, switch=30, copper=0.3, budget=7550),
    ],
    answer=Design(
        fields={
            "nodes_per_group": Field("nodes of a group, which share leaves", 1, 240, whole=True),
            "leaves_per_group": Field("leaves of a group: 1, 2, 4 or 8", 1, 8, whole=True),
            "leaf_uplinks": Field("cables up from each leaf, as many to each spine", 1, 64, whole=True),
            "spines": Field("spines of the whole tree", 1, 64, whole=True),
        },
        objective=exchange_time,
        measure="the time of a step's traffic",
        unit="s",
        conditions=[Condition("the price", fabric_price, at_most=lambda budget: budget)],
        pars=[Par(1, lambda best: 2 * best), Par(2, lambda best: 1.25 * best), Par(4, lambda best: best)],
        known=[Known(fastest, "a search")],
    ),
    solution=lambda nodes, team: FASTEST[nodes, team],
    mistakes=(
        Mistake(_racks, "Nothing blocks in it, and nobody pays for that. Where can cables be saved?"),
        Mistake(
            lambda: dict(nodes_per_group=4, leaves_per_group=1, leaf_uplinks=8, spines=8),
            "Copper is cheap, and a team is far larger than a rack: most of what a node sends leaves its leaf.",
        ),
    ),
    hints=(
        "How much of what a node sends leaves its group, if whole teams fit into it? And if a group is one rack?",
        "Price the cables up that this traffic needs in either case, and then the cables to the cards.",
    ),
    explain="Let u cables leave each of l leaves of a group of g nodes. Where whole teams fit into a group, only the "
    "share (N − g)/(N − 1) of the {far:B} leaves it, so u can be tiny; but so large a group pays two transceivers for "
    "every card's cable. A rack pays copper there, but then nearly all of the {near:B} climb to the spines, and u must "
    "be large. Which of the two is cheaper depends on the traffic: large groups where little leaves a team, small ones "
    "where teams are too large or what goes to everyone is much. No tree that does not block is among the best: "
    "it spends on cables that this traffic never fills.",
)

"""Exercises of chapter 4, and the names with which its text computes numbers."""

import re
from itertools import combinations
from math import ceil
from pathlib import Path
from random import Random

from autograder.answers import Choice, Count, Expression, Function, Quantity, Written, integers, multiples, positive
from autograder.declaration import Exercise, Mistake
from hwlib.network import HEADERS, line_bandwidth, payload_bandwidth, payload_fraction
from hwlib.specs import links, measured_allreduces, measured_link, nodes
from hwlib.topology import (
    Topology,
    bisection_bandwidth,
    crossbar_bisection_bandwidth,
    node,
    node_switch_bandwidth,
    parse_nvidia_smi_topo,
    read_topo,
)
from hwlib.units import GB, show

__all__ = ["HEADERS", "bisection_bandwidth", "payload_bandwidth", "payload_fraction", "show"]

h100, a100, b200, h800, nvl72, mi300x = (
    nodes[key] for key in ("dgx-h100", "dgx-a100", "dgx-b200", "hgx-h800", "gb200-nvl72", "mi300x-node")
)
BUS = max(row.bus_bandwidth for row in measured_allreduces("h200-sxm", 8, "auto"))
copy, both, through_host, c2c_alone, c2c_duplex = (
    measured_link(key) for key in ("h100-copy", "h100-both", "h100-host-copy", "c2c-read", "c2c-duplex")
)
PCIE = {generation: links[f"pcie{generation}-x16"] for generation in (3, 4, 5, 6)}
SAMPLES = {path.stem: path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("files/*.txt"))}
CUBE = read_topo(SAMPLES["v100-cube-mesh"])
HALVES = sorted(
    {sum(CUBE.nvlinks(a, b) for a in half for b in CUBE.gpus if b not in half) for half in combinations(CUBE.gpus, 4)}
)


def machine(name: str, nvlink: object = "nvlink4", pcie: object = "pcie4-x16") -> Topology:
    """The graph of one of the sample machines."""
    return parse_nvidia_smi_topo(SAMPLES[name], nvlink, pcie)


# One way and both
ERRATUM_NVSWITCH = Exercise(
    id="node-networking-erratum-nvswitch",
    title="Find the error: who takes the other half?",
    prompt="From a published set of notes on the DGX H100: *“Each NVLink provides 50GB/s bidirectional bandwidth, so "
    "theoretically each GPU could have 900GB/s total bandwidth, but is actually limited to 450GB/s due to "
    "NVSwitch bandwidth constraints.”* Both numbers are right. What is wrong is the cause. Why does a GPU send "
    "450 GB/s? *Exact*.",
    answer=Choice(
        {
            "direction": "900 adds up two directions; a GPU sends in one of them, with switches or without",
            "ports": "the switches have half as many ports as the eight GPUs have links",
            "payload": "headers, checks and acknowledgements take half of every link",
            "reach": "a GPU's links reach two of the four switches at a time",
        }
    ),
    solution="direction",
    mistakes=(
        Mistake("ports", "Count both: the links of eight GPUs, and the ports of four switches."),
        Mistake("payload", "They take their part, and a sheet does not count it. Is it anything like a half?"),
        Mistake("reach", "Each GPU has links to every one of the four: 5, 4, 4 and 5 of them."),
    ),
    hints=("Take one link between two GPUs, without any switch. How many wires run each way?",),
    explain=f"A link carries {show(links['nvlink4'].bandwidth, 'B/s')} each way, on wires of its own for each "
    f"direction, and an H100 has {h100.links_per_chip} links: {show(h100.scaleup_bandwidth, 'B/s')} out, and as much "
    f"in. 900 is the sum of the two. The switches take nothing away: they have {h100.switches} × {h100.switch_ports} "
    f"ports for {h100.chips} × {h100.links_per_chip} links. Two GPUs joined by 18 links without a switch would have "
    "the same numbers.",
)

ERRATUM_H800 = Exercise(
    id="node-networking-erratum-h800",
    title="Find the error: the links of an H800",
    points=2,
    prompt="On a server of {name}, `nvidia-smi topo -m` prints NV and the number {paths} between any two GPUs, and "
    "`nvidia-smi nvlink -s` prints {W_raw:B/s} for each link. That is the signal rate of one direction: of "
    "every {c_line} symbols on it {c_data} are data. What does one GPU send, one direction, before headers? "
    "*Exact*.",
    given=[
        dict(name=name, paths=paths, W_raw=raw * GB, c_data=data, c_line=line)
        for name, paths, raw, data, line in (
            ("H800 (NVLink 4)", 8, 26.5625, 16, 17),
            ("H100 (NVLink 4)", 18, 26.5625, 16, 17),
            ("V100 (NVLink 2) behind a switch", 6, 25.78125, 64, 66),
        )
    ],
    answer=Quantity("B/s"),
    solution=lambda paths, W_raw, c_data, c_line: line_bandwidth(W_raw, paths, c_data, c_line),
    mistakes=(
        Mistake(lambda paths, W_raw: paths * W_raw, "Some of these symbols are the line's own. Which share is data?"),
        Mistake(
            lambda paths, W_raw, c_data, c_line: 2 * paths * W_raw * c_data / c_line,
            "That is both directions, as a data sheet prints it. What was printed here is of one already.",
        ),
        Mistake(lambda W_raw, c_data, c_line: W_raw * c_data / c_line, "That is one link. What does NV's number say?"),
    ),
    hints=(
        "What does the number after NV count, and does the printed rate cover one direction or two?",
        "Which share of the symbols on a link is data?",
    ),
    explain="The number after NV counts links side by side: {paths}. Each has {W_raw:B/s} of signal in one "
    "direction already, and {c_data} of {c_line} symbols are data, so a GPU sends `{paths} * W_raw * "
    "{c_data}/{c_line}`. That is 25 GB/s a link, and eight links on an H800: the book's 300 GB/s would need twelve. "
    "DeepSeek's engineers call it “a nominal bandwidth of 200GB/s”, of which they reach 160.",
)

# Payload and line rate
PREDICT_BOTH = Exercise(
    id="node-networking-predict-both",
    title="Predict: and the neighbour copies back",
    predict=True,
    prompt="The copy of the opening question, from one H100 to its neighbour, gets 377 of the 450 GB/s that the links "
    "carry one way. Now the neighbour copies as much back at the same time. What does *each* of the two copies "
    "get? *To first order*.",
    answer=Choice({"same": "about 375 GB/s", "less": "about 300 GB/s", "half": "about 190 GB/s"}),
    solution="same",
    mistakes=(
        Mistake("half", "Which wires do the two copies share?"),
        Mistake("less", "Each carries the other's acknowledgements, too. How large are those beside the data?"),
    ),
    hints=("Half of a link's wires lead one way, half the other.",),
    explain="Each direction has wires of its own, so the copies share none. All that each loses is room for the "
    f"acknowledgements of the other, and these are small beside the data. Measured: {show(both.reached, 'B/s', 3)} "
    f"together, {both.share:.1%} of 900; alone {copy.share:.1%} of 450.",
)

BOTH_WAYS = Exercise(
    id="node-networking-both-ways",
    title="Reads in both directions",
    points=3,
    prompt="Two GPUs read from each other at once. A read asks for `r` bytes with one request packet of `h` bytes. "
    "The answer is cut into packets of `p` bytes of payload with `h` bytes of header each, and `r` is a "
    "multiple of `p`. Each direction of the link carries the answers of one read and the requests of the "
    "other, and is full. Which share of its bytes is payload? *Exact*, in `r`, `p` and `h`.",
    answer=Expression(
        {"r": multiples("p", 1, 512, "B"), "p": positive("B", 32, 4096), "h": positive("B", 4, 128)}, "1"
    ),
    solution=lambda r, p, h: r / (r + h * r / p + h),
    mistakes=(
        Mistake(
            lambda p, h: p / (p + h),
            "That is a direction full of answers. On which wires do the other GPU's requests go?",
        ),
        Mistake(lambda r, h: r / (r + 2 * h), "An answer of r bytes is more than one packet, and each has a header."),
        Mistake(
            lambda r, p, h: r / (r + h * r / p + 2 * h),
            "One request goes with one answer, and on this direction it is the other GPU's. You counted two.",
        ),
    ),
    hints=(
        "What does one direction carry while one read of each GPU goes by?",
        "How many packets make an answer, and whose request travels beside it?",
    ),
    explain="While each GPU gets one answer, one direction carries an answer of r bytes in r/p packets, whose "
    "headers are `h*r/p`, and one request of the other GPU's, h: `r/(r + h*r/p + h)`. A read of 128 bytes in one "
    "packet, with flits of 16 bytes: four fifths. It is just what NCCL reckons with for NVLink 3, 20 of 25 GB/s a "
    "link. NVIDIA has not published that this is why.",
)

# Links and ports
NODE_BANDWIDTH = Exercise(
    id="node-networking-node-bandwidth",
    title="What a node moves",
    points=2,
    prompt="{n} GPUs with {paths} links each, {W_link:B/s} a link and direction, are joined by {switches} switch "
    "chips of {ports} ports. How much can all GPUs together send to each other at once, one direction? "
    "*Exact*.",
    given=[
        dict(
            n=one.chips,
            paths=one.links_per_chip,
            W_link=links[one.link].bandwidth,
            switches=switches,
            ports=one.switch_ports,
        )
        for one, switches in ((h100, 2), (a100, 2), (h100, 4), (b200, 1), (a100, 1), (a100, 6))
    ],
    answer=Quantity("B/s"),
    solution=node_switch_bandwidth,
    mistakes=(
        Mistake(
            lambda n, paths, W_link, switches, ports: max(n * paths, switches * ports) * W_link,
            "A link carries something where it has two ends. Which of the two counts runs out first?",
        ),
        Mistake(
            lambda n, paths, W_link, switches, ports: 2 * min(n * paths, switches * ports) * W_link,
            "You added up both directions.",
        ),
        Mistake(
            lambda n, paths, W_link, switches, ports: min(n * paths, switches * ports) * W_link / n,
            "That is what one GPU has. And all of them?",
        ),
        Mistake(
            lambda n, paths, W_link, switches, ports: 2 * max(n * paths, switches * ports) * W_link,
            "Some of these links have one end only, and all count twice: for both directions, or for each switch?",
        ),
        Mistake(
            lambda n, paths, W_link, switches, ports: (n * paths + switches * ports) * W_link,
            "You added up the ends at the GPUs and those at the switches. How many ends has a link?",
        ),
    ),
    hints=(
        "A link has two ends. Where is each of them?",
        "Count the ends on both sides. What happens to those that are left over?",
    ),
    explain="At the GPUs there are `{n} * {paths}` ends of links, at the switches `{switches} * {ports}`. A link "
    "carries something only where it has both, so the smaller of the two counts decides; each link of these carries "
    "{W_link:B/s} one way.",
)

SWITCH_COUNT = Exercise(
    id="node-networking-switch-count",
    title="The fewest switches",
    prompt="{n} GPUs have {paths} links each; a switch chip has {ports} ports of the same link. How many chips are "
    "needed at least, so that every link finds a port? *Exact*.",
    given=[
        dict(n=n, paths=paths, ports=ports)
        for n, paths, ports in ((36, 18, 64), (8, 18, 64), (8, 12, 36), (16, 18, 64))
    ],
    answer=Count(),
    solution=lambda n, paths, ports: ceil(n * paths / ports),
    mistakes=(
        Mistake(lambda n, paths, ports: n * paths // ports, "Some links are left over. Can they do without a port?"),
        Mistake(
            lambda n, paths, ports: ceil(2 * n * paths / ports),
            "A link has two ends, and one of them is at a GPU: how many does it take up at the switches?",
        ),
    ),
    hints=("How many links are there, and how many ports has a chip?",),
    explain="The GPUs have `{n} * {paths}` links, and each takes up one port; its other end is at the GPU. A chip "
    "has {ports} ports, so `ceil({n} * {paths}/{ports})` chips find room for all. A DGX H100 has four, a DGX A100 "
    "six: more than they need, and their spare ports stay empty. A rack of 72 GPUs has 18 chips of 72 ports for its "
    "1,296 links, and no port to spare.",
)

# The narrowest half
BISECTION = Exercise(
    id="node-networking-bisection",
    title="Bisection, as NVIDIA prints it",
    prompt="{n} GPUs hang on one NVSwitch fabric, which never blocks, with {W:B/s} each, one direction. What is the "
    "bisection bandwidth of the node, *both directions counted*? *Exact*.",
    given=[dict(n=one.chips, W=one.scaleup_bandwidth) for one in (h100, a100, b200, h800, nvl72)],
    answer=Quantity("B/s"),
    solution=lambda n, W: 2 * crossbar_bisection_bandwidth(n, W),
    mistakes=(
        Mistake(lambda W: W, "That is one GPU. How many stand on one side?"),
        Mistake(crossbar_bisection_bandwidth, "That is what one half sends. The prompt also counts what it receives."),
        Mistake(
            lambda n, W: 2 * n * W, "You counted both halves, both ways. Whose sending is the other half's receiving?"
        ),
    ),
    hints=(
        "Split the GPUs into halves. What can one half send at most?",
        "What does the prompt count besides?",
    ),
    explain="One half has `{n}/2` GPUs, and each sends {W:B/s} across, since the fabric never blocks: `{n}/2 * W` "
    "one way. The other half sends as much at the same time, and counted together that is `{n} * W`.",
)

MESH_BISECTION = Exercise(
    id="node-networking-mesh-bisection",
    title="A node without a switch",
    points=2,
    prompt="No switch: each of `n` GPUs (an even number) spreads its scale-up bandwidth `W`, one direction, evenly "
    "over direct links to all the others, as eight MI300X do. Traffic takes the direct link. What is the "
    "bisection bandwidth, one direction? *Exact*, in `n` and `W`.",
    answer=Expression({"n": integers(2, 512, step=2), "W": positive("B/s")}, "B/s"),
    solution=lambda n, W: n**2 * W / (4 * (n - 1)),
    mistakes=(
        Mistake(lambda n, W: n * W / 2, "That takes all of a GPU's links across. Where do those to its own half go?"),
        Mistake(
            lambda n, W: n * W / (2 * (n - 1)),
            "One link of each GPU crosses in your count. How many others are over there?",
        ),
        Mistake(lambda n, W: n**2 * W / (2 * (n - 1)), "You counted both directions."),
    ),
    hints=(
        "What does one link carry?",
        "How many pairs of GPUs have one on either side of the cut?",
    ),
    explain="A GPU spreads W over n - 1 links, so one carries `W/(n - 1)`. Each of the n/2 GPUs on one side has a "
    "link to each of the n/2 on the other: `(n/2)**2` links cross, and they carry `n**2*W/(4*(n - 1))`. A switch "
    "would carry nW/2. The mesh has n/(2(n - 1)) of that: four sevenths with eight GPUs, and towards half in larger "
    "nodes.",
)

RELAY = Exercise(
    id="node-networking-relay",
    title="Straight on, or by way of the others?",
    points=3,
    prompt="A full mesh of {n} GPUs, {W:B/s} a link and direction, latency {alpha:s} a hop. One GPU has a message for "
    "one other, and nobody else sends. (a) It goes over their own link. (b) It is cut into equal parts, one "
    "for each of the GPU's links: one goes straight, each of the rest by way of another GPU, which takes its "
    "part in before it sends it on. From which size on is (b) done first? *Exact* in the alpha-beta model.",
    given=dict(n=[8, 4, 6], W=[links["xgmi3"].bandwidth], alpha=[5e-6, 2e-6, 10e-6]),
    answer=Quantity("B"),
    solution=lambda n, W, alpha: alpha * W * (n - 1) / (n - 3),
    mistakes=(
        Mistake(
            lambda n, W, alpha: alpha * W * (n - 1) / (n - 2),
            "A relay pays for its part twice: once to take it in, once to send it on.",
        ),
        Mistake(lambda n, W, alpha: 2 * alpha * W * (n - 1) / (n - 3), "The straight way has its latency, too."),
        Mistake(
            lambda W, alpha: alpha * W,
            "That is where a message's latency is as long as its bytes take. Set the two ways equal.",
        ),
    ),
    hints=(
        "How long does each of the two ways take, as a function of the size?",
        "In (b) the parts do not arrive together. Which of them is last?",
    ),
    explain="(a) takes `alpha + S/W`. In (b) a part has `S/({n} - 1)` bytes, and a relayed one goes over two hops, "
    "one after the other: `2*(alpha + S/(({n} - 1)*W))`; the part that goes straight is there before. Both are done "
    "at once where `S/W - 2*S/(({n} - 1)*W) = alpha`, so at `S = alpha*W*({n} - 1)/({n} - 3)`, with alpha = "
    "{alpha:s} and W = {W:B/s}. Below that size the extra hop costs more than the other links gain; above it a lone "
    "message should spread. When all GPUs send, their links are busy anyway, and nothing is gained.",
)

# What leads out
OFFLOAD = Exercise(
    id="node-networking-offload",
    title="There and back",
    points=2,
    prompt="A GH200 keeps {S:B} of optimizer states in the host's memory. Each step reads all of them over NVLink-C2C "
    "and writes all of them back. A benchmark reached {W_in:B/s} one way and {W_out:B/s} the other, each alone, "
    "and {W_both:B/s} *each way* with both at once. All in first and then all out, or both at the same time: "
    "how long does the faster of the two take? *Exact*, by these figures.",
    given=[dict(S=S * GB, W_in=c2c_alone.reached, W_out=359 * GB, W_both=c2c_duplex.reached) for S in (84, 42, 140)],
    answer=Quantity("s"),
    solution=lambda S, W_in, W_out, W_both: min(S / W_in + S / W_out, S / W_both),
    harmless={"side 1 of the min alone": "of the links measured both ways none has the other side; it is a mistake"},
    mistakes=(
        Mistake(lambda S, W_both: S / W_both, "That is one of the two. How long does the other take?"),
        Mistake(lambda S, W_in: S / W_in, "That is the way in. The states go back, too."),
        Mistake(lambda S: S / (450 * GB), "That is what C2C is sold with. What does it reach?"),
    ),
    hints=(
        "How long is the way in, alone, and how long the way out?",
        "With both at once, at which rate goes each way, and how many bytes go each way?",
    ),
    explain="One after the other, the states come in at {W_in:B/s} and go out at {W_out:B/s}: `S/W_in + S/W_out` "
    "with S = {S:B}. Both at once, each way moves the same S at {W_both:B/s}: `S/W_both`. The answer is the shorter "
    "of the two. Ask a benchmark for both ways at once before you plan with them.",
)

# The letters
PREDICT_PIX = Exercise(
    id="node-networking-predict-pix",
    title="Predict: nearer, and faster?",
    predict=True,
    prompt="In the server of eight RTX 4090 two GPUs all-reduce a large array, so each sends to the other all the "
    "time. GeForce drivers allow no peer access: what one GPU sends goes into the host's memory, and from "
    "there into the other GPU. Which two are done first, GPU0 and GPU1 (PIX) or GPU0 and GPU4 (SYS)? *To first "
    "order*.",
    answer=Choice(
        {
            "pix": "GPU0 and GPU1, on one PCIe switch",
            "sys": "GPU0 and GPU4, on different sockets",
            "same": "neither: both go by the host's memory",
        }
    ),
    solution="sys",
    mistakes=(
        Mistake(
            "pix",
            "So the letters say, and so it is where GPUs reach each other. Follow the bytes of these two: "
            "which link does each of them cross twice?",
        ),
        Mistake(
            "same", "Both go by the host's memory. How many copies share the switch's link to the host in each case?"
        ),
    ),
    hints=("Draw both pairs with the link from each PCIe switch to its socket. What crosses it, up and down?",),
    explain="Each copy goes up from the sender's switch to the host and down to the receiver's. GPU0 and GPU1 are "
    "behind one switch, so both copies go up its link and both come down. GPU0 and GPU4 are behind two, and on each "
    "link one copy goes up and one comes down: half the load. Asked about it, a maintainer of NCCL answered that "
    "the traffic “cannot stay local to the PCI switch and has to go back to the CPU, causing a 2x increase in load "
    "on the PCI link to the CPU compared to the case where the 2 GPUs are on different sockets”.",
)


def printed(name: str, rng: Random, gpus: int = 8) -> str:
    """The first GPUs of a sample machine in one of the layouts that drivers print."""
    table = read_topo(SAMPLES[name])
    kept = [one for one in table.devices if one not in table.gpus[gpus:] and (gpus == 8 or one in table.gpus)]
    cells = [[table.relation[one, other] for other in kept] for one in kept]
    return layout([(one, one in table.gpus) for one in kept], cells, rng)


def sixteen(rng: Random) -> str:
    """What a machine of 16 GPUs around a switch prints, as the DGX-2 has: some names have two digits."""
    names = [(f"GPU{i}", True) for i in range(16)]
    return layout(names, [["X" if a == b else f"NV{rng.choice((1, 2, 6))}" for a in names] for b in names], rng)


def layout(devices: list[tuple[str, bool]], table: list[list[str]], rng: Random) -> str:
    """A matrix of devices, each with its name and whether it is a GPU, as one of several drivers prints it."""
    kept = [name for name, _ in devices]
    gap = rng.choice(("\t", "    ", "  "))
    tail = "0-31,64-95    0    N/A" if rng.random() < 0.5 else ""
    head = gap + gap.join(kept) + (f"{gap}CPU Affinity{gap}NUMA Affinity{gap}GPU NUMA ID" if tail else "")
    lines = ["$ nvidia-smi topo -m"] if rng.random() < 0.5 else []
    lines.append(f"\x1b[4m{head}\x1b[0m" if rng.random() < 0.5 else head)
    for (one, is_gpu), codes in zip(devices, table, strict=True):
        cells = [" X " if code == "X" else code for code in codes]
        lines.append(gap.join([one, *cells, *([tail] if tail and is_gpu else [])]))
    lines += ["", "Legend:", "", "  X    = Self", "  NV#  = Connection traversing a bonded set of # NVLinks"]
    return "\n".join(lines) + "\n"


def gpu_pairs(text, every=False, twice=False):
    rows = [line.split() for line in text.splitlines()]
    rows = [row for row in rows if "X" in row[1:] and (every or re.fullmatch(r"GPU\d+", row[0]))]
    size = len(rows)
    return [(i, j, rows[i][1 + j]) for i in range(size) for j in range(size) if i < j or (twice and i != j)]


LAB_PARSE = Exercise(
    id="node-networking-lab-parse",
    title="Read the matrix",
    points=3,
    lines=5,
    prompt="Write `gpu_pairs(text)`: from what `nvidia-smi topo -m` prints, a list with a tuple `(i, j, code)` for "
    "every two GPUs with `i < j`, in order: `(0, 1, 'NV18')`, `(0, 2, 'NV18')` and so on. GPUs come first in "
    "every row. Columns may stand tabbed or spaced, the header may be underlined by escape codes, lines of "
    "other things may stand before and after, and network cards may be called `NIC0` or `mlx5_0`. For a single GPU "
    "the list is empty. *Exact*.",
    answer=Function(
        "gpu_pairs",
        "gpu_pairs(text)",
        cases=lambda rng: [
            *((text,) for text in SAMPLES.values()),
            *((printed(name, rng),) for name in SAMPLES),
            (sixteen(rng),),
            *(
                (printed(name, rng, gpus),)
                for name, gpus in (("v100-cube-mesh", 4), ("h100-nv18", 2), ("b300-nv18", 1))
            ),
        ],
    ),
    solution=lambda text: gpu_pairs(text),
    mistakes=(
        Mistake(
            lambda text: gpu_pairs(text, every=True),
            "The network cards have rows, too. Whose name does a row begin with?",
        ),
        Mistake(lambda text: gpu_pairs(text, twice=True), "Each two GPUs once, please: i < j."),
        Mistake(
            lambda text: [
                (i, j, next((c for a, b, c in gpu_pairs(text, twice=True) if (a, b) == (i, j - 1)), "X"))
                for i, j, _ in gpu_pairs(text)
            ],
            "A row begins with its own name. Which word is cell 0?",
        ),
    ),
    hints=(
        "`line.split()` makes words of tabs and spaces alike.",
        "What tells a GPU's row from the header, and from a network card's row?",
    ),
    withholds=("hwlib.topology.smi",),
    explain="Split every line into words. A GPU's row begins with GPU and a number and has an X, its own cell; the "
    "header begins alike and has no X, a card's row has one and begins otherwise. The first word is the name, so "
    "the cell for GPU j is word 1 + j, as GPUs come first. For each row i take the cells with j > i, up to the "
    "number of such rows.",
)


def matrix(t: Topology, *kinds: str) -> list[list[int]]:
    """A network, or its vertices of some kinds, as whole GB/s from each to each."""
    return [[round(width / GB) for width in row] for row in t.capacities(*kinds)]


def random_matrix(rng: Random, size: int) -> list[list[int]]:
    """Links at random, wider in one direction than in the other."""
    return [[rng.choice((0, 0, 0, 8, 16, 25, 50)) if u != v else 0 for v in range(size)] for u in range(size)]


def crossing(capacity, here, there, back=True):
    left = [list(row) for row in capacity]
    sent = 0
    while True:
        came = dict.fromkeys(here)
        queue = list(here)
        for u in queue:
            for v, room in enumerate(left[u]):
                if room > 0 and v not in came:
                    came[v] = u
                    queue.append(v)
        end = next((v for v in there if v in came), None)
        if end is None:
            return sent
        path = [end]
        while came[path[-1]] is not None:
            path.append(came[path[-1]])
        hops = list(zip(path[1:], path, strict=False))
        room = min(left[u][v] for u, v in hops)
        for u, v in hops:
            left[u][v] -= room
            left[v][u] += room * back
        sent += room


def leaving(capacity, here, *_):
    return sum(room for u in here for v, room in enumerate(capacity[u]) if v not in here)


def cut_cases(rng: Random) -> list[tuple]:
    low, high, odd = [0, 1, 2, 3], [4, 5, 6, 7], [0, 3, 5, 6]
    cube = matrix(machine("v100-cube-mesh", "nvlink3"), "gpu")
    blocked = [
        [25 * (f"{u}{v}" in "01 12 23 14 45 53 06 67 72") for v in range(8)] for u in range(8)
    ]  # 0123 blocks two
    boxes = [matrix(machine(name)) for name in ("rtx4090-pcie", "pcie-switches", "one-socket", "h100-nv18")]
    small = [
        ([[0, 3], [5, 0]], [0], [1]),
        ([[0, 7, 0], [4, 0, 5], [0, 6, 0]], [0], [2]),
        ([[0, 0, 2], [0, 0, 3], [0, 0, 0]], [0, 1], [2]),
        ([[0, 2, 3, 0], [0, 0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 0]], [0], [3]),
        ([[0, 0, 4, 0], [0, 0, 4, 0], [0, 0, 0, 5], [0, 0, 0, 0]], [0, 1], [3]),
        ([[0, 4, 0, 0], [0, 0, 2, 0], [0, 0, 0, 6], [0, 0, 0, 0]], [0], [3]),
    ]
    return [
        *small,
        *((box, low, high) for box in (cube, matrix(node("dgx-h100")), matrix(node("mi300x-node")), *boxes)),
        (cube, [0], [5]), (cube, odd, [1, 2, 4, 7]), (matrix(node("dgx-h100", detail=True)), [0, 1], [6, 7]),
        (blocked, [0], [3]), (boxes[1], [0, 1], [2, 3]), (boxes[1], [0, 4], [3, 7]),
        *((random_matrix(rng, size), [0, 1, 2], [3, 4, 5]) for size in (6, 8, 10, 12, 12)),
    ]  # fmt: skip


LAB_CUT = Exercise(
    id="node-networking-lab-cut",
    title="Cut it",
    points=4,
    lines=18,
    prompt="Write `crossing(capacity, here, there)`: `capacity[u][v]`, a list of lists, is what the link from vertex u "
    "to vertex v carries, in whole GB/s, 0 where there is none. Vertices are numbers from 0; `here` and `there` are "
    "lists of at least one, and share none. Return the most "
    "that the vertices `here` can send to those `there` together, by any way, through switches and through "
    "other devices. *Exact*. Maximum flow does it, by networkx or by hand: find a way with room left, fill it, "
    "and let what it fills be taken back the other way, until there is no way.",
    answer=Function("crossing", "crossing(capacity, here, there)", cases=cut_cases),
    solution=crossing,
    mistakes=(
        Mistake(
            lambda capacity, here, there: sum(capacity[u][v] for u in here for v in there),
            "You added up the links that join the two sides directly. In most machines they join switches.",
        ),
        Mistake(leaving, "What leaves one side has to get through the middle, and into the other side."),
        Mistake(
            lambda capacity, here, there: crossing(capacity, here, there, back=False),
            "What you have filled stays filled. What if one way has taken what two others need?",
        ),
        Mistake(
            lambda rows, here, there: min(leaving(rows, here), leaving([*zip(*rows, strict=True)], there)),
            "That counts what the ends can do. And what if the narrow place lies between them?",
        ),
    ),
    hints=(
        "A breadth-first search from all of `here` over links with room left finds a way, if there is one.",
        "Fill a way by its narrowest link: take that off every link, and add it to the link back.",
    ),
    withholds=("hwlib.topology.cut",),
    explain="Search breadth first from all of `here`, over links with room left, and remember from where each "
    "vertex was reached. If a vertex of `there` is reached, walk back: the narrowest link on the way says how much "
    "it takes. Take that off every link of the way and add it to the link back, so that a later way can undo it; "
    "repeat until the search does not arrive. What was sent is then the most there is, since the links out of what "
    "the last search reached are full: they are the cut, the narrowest place of the machine.",
)

TICKET = Exercise(
    id="node-networking-ticket",
    title="Answer the ticket",
    prompt="A colleague has opened a ticket with the vendor: *“NVLink gives us 377 GB/s of the 900 on the data sheet. "
    "A link must be broken.”* Write the answer that closes it: what each number is, what is lost on the way "
    "and how much of that anyone can account for, and what you would look at to find a link that is broken.",
    answer=Written(
        rubric=(
            ("Says that 900 counts both directions and that a copy goes in one, at 450 GB/s", 1),
            ("Tells line rate from payload, with a share that headers explain", 1),
            ("Says plainly that a part of the rest is not accounted for in public", 1),
            ("Names an observation that would show a missing link, and what it would look like", 1),
        ),
        words=170,
        criteria=False,
    ),
    solution="900 GB/s adds up both directions; your copy goes in one, so it has 18 links of 25 GB/s: 450. They carry "
    "packets. With the largest payload, 256 bytes behind a flit of 16, headers leave 94 %, about 424. Where "
    "the other 47 go NVIDIA does not publish; acknowledgements and flow control are guesses. Others measured "
    "the same 377 on another server, and NCCL itself reckons with 82 % a link. So nothing is broken. A "
    "missing link would show: `nvidia-smi topo -m` prints fewer than NV18 for that GPU, `nvidia-smi nvlink "
    "-s` says that a link is inactive, and among the copies of all pairs one row and column is lower, by an "
    "eighteenth for each link, while here all pairs are alike.",
)

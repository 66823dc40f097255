"""Exercises of chapter 4, and the names with which its text computes numbers."""

import re
from functools import partial
from itertools import combinations
from math import comb
from pathlib import Path
from random import Random

from autograder.answers import (
    Breakdown,
    Choice,
    Condition,
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
from hwlib.network import HEADERS, line_bandwidth, payload_bandwidth, payload_fraction
from hwlib.specs import accelerators, links, measured_allreduces, measured_link, nodes  # noqa: F401
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

__all__ = ["HEADERS", "bisection_bandwidth", "comb", "payload_bandwidth", "payload_fraction", "show"]

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
    prompt="Thaki Cloud's *GPU Scaling Guide* says of the DGX H100: *“Each NVLink provides 50GB/s bidirectional "
    "bandwidth, so "
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
        Mistake(
            lambda paths, W_raw: paths * W_raw,
            "Some of these symbols are the line's own. Which share is data?",
            name="line-coding",
        ),
        Mistake(
            lambda paths, W_raw, c_data, c_line: 2 * paths * W_raw * c_data / c_line,
            "That is both directions, as a data sheet prints it. What was printed here is of one already.",
            name="both-directions",
        ),
        Mistake(lambda W_raw, c_data, c_line: W_raw * c_data / c_line, "That is one link. What does NV's number say?"),
    ),
    hints=(
        "What does the number after NV count, and does the printed rate cover one direction or two?",
        "Which share of the symbols on a link is data?",
    ),
    explain="The number after NV counts links side by side: {paths}. Each has {W_raw:B/s} of signal in one "
    "direction already, and {c_data} of {c_line} symbols are data, so a GPU sends `{paths} * W_raw * "
    "{c_data}/{c_line}`. That is 25 GB/s a link, and eight links on an H800: the scaling book's 300 GB/s would need "
    "twelve. "
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
    answer=Choice({"same": "about 375 GB/s", "less": "about 300 GB/s", "half": "about 190 GB/s"}, ordered=True),
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
        Mistake(
            lambda r, p, h: (r + r / p * h + h) / r,
            "That counts the wire's bytes for a byte of payload. Which part of the wire's bytes is payload?",
            name="line-coding",
        ),
        Mistake(
            lambda r, p, h: r / (r + p / r * h + h), "How many packets of p bytes carry r bytes? Try r = 2p in yours."
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
            name="both-directions",
        ),
        Mistake(
            lambda n, paths, W_link, switches, ports: min(n * paths, switches * ports) * W_link / n,
            "That is what one GPU has. And all of them?",
            name="one-for-all",
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
        Mistake(lambda W: W, "That is one GPU. How many stand on one side?", name="one-for-all"),
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
        Mistake(lambda n, W: n**2 * W / (2 * (n - 1)), "You counted both directions.", name="both-directions"),
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
        Mistake(
            lambda n, W, alpha: 2 * alpha * W * (n - 1) / (n - 3),
            "The straight way has its latency, too.",
            name="latency-left-out",
        ),
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
RDMA = Exercise(
    id="node-networking-rdma",
    title="A way round the host",
    points=2,
    prompt="{k} GPUs and {k} NICs hang on one PCIe switch, and one slot of {W_slot:B/s} each way, its uplink, joins "
    "the "
    "switch to the host. Every GPU sends {S:B} by a NIC of its own, which takes {W_nic:B/s}; all at once. With "
    "GPUDirect "
    "RDMA a NIC reads the GPU's memory below the switch. Without it, a GPU writes into the host's memory, and the NIC "
    "reads it from there while the GPU writes on. How long does the sending take *without*? *Exact*, for these rates: "
    "the host's memory is quick enough, and each GPU and each NIC has a slot like the uplink.",
    given=[
        dict(k=k, S=S * GB, W_nic=links[nic].bandwidth, W_slot=links[slot].bandwidth)
        for k, S, nic, slot in (
            (2, 4, "ndr", "pcie5-x16"),
            (2, 3, "hdr", "pcie4-x16"),
            (4, 2, "ndr", "pcie5-x16"),
            (4, 5, "hdr", "pcie4-x16"),
        )
    ],
    answer=Quantity("s"),
    solution=lambda k, S, W_nic, W_slot: S / min(W_nic, W_slot / k),
    harmless={
        "side 2 of the min alone": "with these parts the uplink decides, which is what the exercise shows",
    },
    mistakes=(
        Mistake(
            lambda S, W_nic: S / W_nic,
            "So it is with GPUDirect. Without it, what do all the bytes cross on their way to the host's memory?",
        ),
        Mistake(
            lambda k, S, W_slot: 2 * k * S / W_slot,
            "Twice as long as it takes. Each direction of the uplink has wires of its own, with all of the rate in the "
            "prompt: whose bytes go up, and whose come down?",
            names_all=True,
        ),
        Mistake(
            lambda S, W_slot: S / W_slot, "That is one GPU alone on the uplink. How many are there?", name="one-for-all"
        ),
        Mistake(
            lambda k, S, W_nic, W_slot: S / W_nic + k * S / W_slot,
            "You let the NIC wait for all bytes. It reads on while the GPU writes.",
        ),
    ),
    hints=(
        "Draw the switch, its uplink, and the bytes of every GPU in both directions.",
        "What does each GPU have of the uplink, in the direction up? Which of the parts on its way is the slowest?",
    ),
    explain="Up the uplink go the bytes of all {k} GPUs, so each has {W_slot:B/s} over {k}; down it they come again, "
    "on "
    "wires of their own and at the same time. The NIC would take {W_nic:B/s}. The slower of the two is the rate, and "
    "`S/min(W_nic, W_slot/k)` the time. With GPUDirect the bytes turn round at the switch, nothing is shared, and it "
    "is "
    "`S/W_nic`. The memory of the host is spared as well, where each byte would be written once and read once.",
)


def csv_of(rng: Random, rows: list[tuple[int, int, int, int]]) -> str:
    """What nvidia-smi prints for slots of (generation now, its most, lanes now, their most), with or without a head."""
    names = "index, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max"
    lines = [", ".join(map(str, (i, *row))) for i, row in enumerate(rows)]
    return "\n".join([*([names] if rng.random() < 0.5 else []), *lines]) + "\n"


def slots(rng: Random, count: int) -> list[tuple[int, int, int, int]]:
    """Slots at random, the idle ones at generation 1, some with fewer lanes than they have."""
    rows = []
    for _ in range(count):
        most, wide = rng.choice((3, 4, 5)), rng.choice((16, 16, 8))
        rows.append((rng.choice((1, most)), most, rng.choice((wide, wide, wide // 2, 1)), wide))
    return rows


def narrow_slots(text, at=2, lanes=3, every=False, code=128 / 130, lane=1.0):
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if not cells[0].isdigit():
            continue
        number = [int(cell) for cell in cells]
        if every or number[3] < number[4]:
            found.append((number[0], lane * 1e9 * 2 ** (number[at] - 3) * number[lanes] * code))
    return found


def _narrow_or_idle(text):
    """With the slots, too, whose generation is lower than it could be."""
    rows = (re.findall(r"\d+", line) for line in text.splitlines() if line[0].isdigit())
    idle = {int(row[0]) for row in rows if int(row[1]) < int(row[2])}
    narrow = {gpu for gpu, _ in narrow_slots(text)}
    return [(gpu, width) for gpu, width in narrow_slots(text, every=True) if gpu in idle | narrow]


TRAINED = Exercise(
    id="node-networking-lab-slots",
    title="What the slots have trained to",
    points=3,
    lines=6,
    prompt="Write `narrow_slots(text)`: from the CSV that `nvidia-smi` prints for the query above, with index, "
    "generation "
    "now and at most, lanes now and at most, a list of `(index, bandwidth)` for every GPU whose slot has *trained to "
    "fewer lanes* than it could, in order. The bandwidth is what these lanes carry one way, after the line code, in "
    "B/s, "
    "at the highest generation: an idle GPU lowers its generation to save power, and that says nothing. A lane of "
    "generation 3 has 8 GT/s, each generation doubles it, and of 130 bits 128 are data. Generations are 3 to 5. A line "
    "with names may stand above the numbers. *Exact*.",
    answer=Function(
        "narrow_slots",
        "narrow_slots(text)",
        cases=lambda rng: [
            (csv_of(rng, [(5, 5, 16, 16), (1, 5, 16, 16), (1, 5, 8, 16), (5, 5, 4, 16)]),),
            (csv_of(rng, [(1, 3, 8, 8), (3, 3, 1, 8)]),),
            (csv_of(rng, [(4, 4, 16, 16)]),),
            (csv_of(rng, [*slots(rng, 10), (1, 4, 8, 16), (5, 5, 16, 16), (3, 3, 4, 8)]),),  # GPU 10 has two digits
            *((csv_of(rng, slots(rng, 8)),) for _ in range(4)),
        ],
        mutants={
            "there may be a line with names": lambda text: (
                [] if int(text.splitlines()[0].split(",")[0]) else narrow_slots(text)
            ),
            "there may be none": lambda text: narrow_slots("\n".join(text.splitlines()[1:])),
            "a number of two digits": lambda text: [(int(str(gpu)[0]), width) for gpu, width in narrow_slots(text)],
            "fewer lanes than it could, not than 16": lambda text: narrow_slots(
                re.sub(r"\b8$", "16", text, flags=re.M)
            ),
            "a lower generation says nothing": _narrow_or_idle,
            "generations are 3 to 5": lambda text: narrow_slots(re.sub(r"(\d), [34], ", r"\1, 5, ", text)),
        },
    ),
    solution=narrow_slots,
    mistakes=(
        Mistake(
            partial(narrow_slots, at=1),
            "That is what the slot carries while its GPU is idle. Which of the two generations is asked for?",
        ),
        Mistake(partial(narrow_slots, lanes=4), "The slot has as many lanes. How many has it trained to?"),
        Mistake(partial(narrow_slots, every=True), "All GPUs are in your list. Which of them have lost lanes?"),
        Mistake(partial(narrow_slots, code=1.0), "Two bits of 130 are the line's own.", name="line-coding"),
        Mistake(
            partial(narrow_slots, lane=8.0),
            "Eight times too much. A transfer of a lane carries a bit, a byte has eight, and generation 3 is not "
            "doubled yet.",
            name="bits-for-bytes",
        ),
    ),
    hints=(
        "Split each line at its commas. What tells the line with the names from the others?",
        "A lane of generation 3 carries 8 Gbit/s of signal, so 1 GB/s before the code. By what does generation g "
        "multiply that?",
    ),
    explain="A line is index, generation now and at most, lanes now and at most. A slot has lost lanes where the third "
    "number is below the last. At 8 GT/s a lane of generation 3 carries 8 Gbit/s, 1 GB/s, and generation g `2**(g - "
    "3)` "
    "times that, so the slot carries `1e9*2**(gen_max - 3)*lanes*128/130`. Eight lanes of generation 5 are 31.5 GB/s, "
    "the rate of a whole slot of generation 4: nothing fails, every copy to the host just takes twice as long.",
)

# The letters
PREDICT_PIX = Exercise(
    id="node-networking-predict-pix",
    title="Predict: nearer, and faster?",
    predict=True,
    prompt="In the server of eight RTX 4090 two GPUs all-reduce a large array, so each sends to the other all the "
    "time. GeForce drivers allow no peer access: what one GPU sends goes into the host's memory, and from "
    "there into the other GPU; take the link between the sockets to be wide enough. "
    "Which two are done first, GPU0 and GPU1 (PIX) or GPU0 and GPU4 (SYS)? *To first "
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


READ_LOST = Exercise(
    id="node-networking-read-lost",
    title="A server that does not start",
    prompt="An inference server ends with an error on eight B200 of two sockets, GPU0 to GPU3 on the first. The report "
    "has this matrix (vllm-project/vllm, issue 16336, April 2025; cards and three rows left out):\n\n"
    "```text\n"
    "$ nvidia-smi topo -m\n"
    "      GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7\n"
    "GPU0   X    NV18  NODE  NV18  NV18  NV18  NV18  NV18\n"
    "GPU1  NV18   X    NODE  NV18  NV18  NV18  NV18  NV18\n"
    "GPU2  NODE  NODE   X    NODE  SYS   SYS   SYS   SYS\n"
    "GPU3  NV18  NV18  NODE   X    NV18  NV18  NV18  NV18\n"
    "GPU4  NV18  NV18  SYS   NV18   X    NV18  NV18  NV18\n"
    "```\n\n"
    "Which sentence do *all* cells agree with? *Exact*.",
    answer=Choice(
        {
            "gpu": "one GPU has no NVLink to anybody; all the others are joined as they should be",
            "sockets": "the link between the sockets is broken",
            "halves": "NVLink joins the GPUs of a socket, and PCIe the two sockets",
            "switch": "one of the NVSwitches has failed, and each GPU lacks some of its links",
            "fine": "nothing is wrong: NODE and SYS are ways of saying NVLink through a switch",
        }
    ),
    solution="gpu",
    mistakes=(
        Mistake("sockets", "GPU0 and GPU4 are on two sockets. What is between them?"),
        Mistake("halves", "GPU0 and GPU4 are on two sockets, GPU0 and GPU2 on one. Compare the two cells."),
        Mistake(
            "switch", "A GPU that lacks some links would have a smaller number behind NV. Which numbers are there?"
        ),
        Mistake("fine", "A switch of NVLinks is NV with a number. What do NODE and SYS name?"),
    ),
    hints=("Cover one row and the column of the same GPU with your hand. What is left?",),
    explain="Without the row and the column of GPU2 all cells are NV18. GPU2 reaches its own socket's GPUs by `NODE` "
    "and the others by `SYS`, what PCIe and the link between the sockets give: the answer of a GPU whose NVLinks are "
    "down or were never brought up, as when it is not registered with the fabric. An all-reduce over all eight waits "
    "for it, and programs that take eight equal GPUs for granted end with an error. `gpubook topo` says which GPU it "
    "is.",
)

READ_CARD = Exercise(
    id="node-networking-read-card",
    title="Whose card is it?",
    prompt="A node of H100s with six network cards, from a report on a network that was slower than expected "
    "(NVIDIA/nccl-tests, issue 232, July 2024). Between GPUs all is NV18, so these columns are left out, as is the "
    "last row:\n\n"
    "```text\n"
    "      NIC0  NIC1  NIC2  NIC3  NIC4  NIC5  NUMA Affinity\n"
    "GPU0  PIX   SYS   SYS   SYS   SYS   SYS   0\n"
    "GPU1  SYS   SYS   SYS   SYS   SYS   SYS   0\n"
    "GPU2  SYS   PIX   SYS   SYS   SYS   SYS   0\n"
    "GPU3  SYS   SYS   SYS   SYS   SYS   SYS   0\n"
    "GPU4  SYS   SYS   PIX   SYS   SYS   SYS   1\n"
    "GPU5  SYS   SYS   SYS   SYS   SYS   SYS   1\n"
    "GPU6  SYS   SYS   SYS   PIX   SYS   SYS   1\n"
    "```\n\n"
    "A job takes one GPU of the node, and no other GPU helps it. With which of these do its bytes reach a card without "
    "passing a processor? *Exact*, by the letters.",
    answer=Choice(
        {
            "any": "with any: NVLink joins all of them",
            "gpu1": "GPU1, which is on the socket of NIC0 and NIC1",
            "gpu5": "GPU5, which has the number of a card",
            "gpu6": "GPU6",
            "none": "with none: most cells are SYS",
        }
    ),
    solution="gpu6",
    mistakes=(
        Mistake("any", "NVLink leads to other GPUs, and these do not help. Which letters lead to a card?"),
        Mistake("gpu1", "On the same socket, perhaps. Through what do the bytes go by its row?"),
        Mistake("gpu5", "Numbers of cards and GPUs are counted apart. What stands in its row?"),
        Mistake("none", "One cell that is better than SYS is enough. Whose row has one?"),
    ),
    hints=("Look in each row for the nearest card: which letters name a path that stays below one PCIe switch?",),
    explain="`PIX` is one PCIe switch, and `SYS` passes the processors. GPU0, GPU2, GPU4 and GPU6 have a card below "
    "their own switch, and of the answers that is GPU6; the others here have none and go through the host, or by "
    "NVLink to a GPU that has one, if it takes part: NCCL calls that PXN. So in this node four cards serve eight "
    "GPUs, and which GPUs a small job gets decides about its network. `gpubook topo` lists for each GPU the cards "
    "next to it.",
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
        mutants={
            "columns may be tabbed or spaced": lambda text: gpu_pairs(text) if "\t" in text else [],
            "a number of two digits": lambda text: gpu_pairs(re.sub(r"^GPU\d\d.*\n", "", text, flags=re.MULTILINE)),
            "there may be another number of GPUs than 8": lambda text: gpu_pairs(text)[: 28 if "GPU7" in text else 0],
            "lines of other things stand before and after": lambda text: gpu_pairs(text) if "GPU0" in text[:40] else [],
            "the header may be underlined": lambda text: gpu_pairs(text) if text[0] != "\x1b" else [],
            "and may be not": lambda text: gpu_pairs(text) if "\x1b" in text else [],
            "cards may be called NIC0 or mlx5_0": lambda text: gpu_pairs(re.sub("^mlx5_0", "GPU99", text, flags=re.M)),
            "for a single GPU the list is empty": lambda text: gpu_pairs(text) or [(0, 0, "X")],
        },
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


def statuses(rng: Random, pairs: list[tuple[int, int, str]], near: bool) -> list[list[str]]:
    """What `nvidia-smi topo -p2p r` says of each two GPUs: all may, or none over PCIe, or only those on one switch."""
    count = 1 + max((j for _, j, _ in pairs), default=0)
    table = [["X" if i == j else "OK" for j in range(count)] for i in range(count)]
    for i, j, code in pairs:
        if not code.startswith("NV") and not (near and code in ("PIX", "PXB")):
            table[i][j] = table[j][i] = rng.choice(("CNS", "NS", "GNS"))
    return table


def reachable(pairs, access, W_link, W_slot, *, peer=True, shared=True, counted=True, pxb=True):
    ways = []
    for i, j, code in pairs:
        if code.startswith("NV"):
            ways.append((i, j, "nvlink", (int(code[2:]) if counted else 1) * W_link))
        elif access[i][j] == "OK" and peer:
            ways.append((i, j, "pcie", W_slot))
        else:
            same = code == "PIX" or (pxb and code == "PXB")
            ways.append((i, j, "host", W_slot / 2 if same and shared else W_slot))
    return ways


def _by_letters(pairs, count):
    """As if all two GPUs on one switch had access, and no others."""
    table = [["NS"] * count for _ in range(count)]
    for i, j, code in pairs:
        if code in ("PIX", "PXB"):
            table[i][j] = table[j][i] = "OK"
    return table


def reach_cases(rng: Random) -> list[tuple]:
    cases = []
    for name, near in (
        ("v100-cube-mesh", False),
        ("rtx4090-pcie", False),
        ("pcie-switches", True),
        ("pcie-switches", False),
        ("one-socket", True),
        ("h100-nv18", False),
    ):
        pairs = gpu_pairs(SAMPLES[name])
        rates = (rng.choice((25, 50)) * GB, rng.choice((15.75, 31.5, 63.0)) * GB)
        cases.append((pairs, statuses(rng, pairs, near), *rates))
    pairs = gpu_pairs(SAMPLES["one-socket"])
    cases.append((pairs, [["X" if i == j else "OK" for j in range(8)] for i in range(8)], 25 * GB, 31.5 * GB))
    cases.append(([(0, 1, "PXB")], [["X", "NS"], ["NS", "X"]], 25 * GB, 31.5 * GB))
    cases.append(([(0, 1, "PIX")], [["X", "NS"], ["NS", "X"]], 25, 31.5))  # half of it is no whole number
    pairs = [(0, 1, "NV2"), (0, 2, "PHB"), (0, 3, "SYS"), (1, 2, "SYS"), (1, 3, "PHB"), (2, 3, "NV4")]
    access = [["X", "NS", "CNS", "OK"], ["NS", "X", "CNS", "OK"], ["CNS", "CNS", "X", "OK"], ["OK", "OK", "OK", "X"]]
    cases.append((pairs, access, 25 * GB, 31.5 * GB))  # neither letters nor access tell of each other
    cases.append(([(0, 1, "NV1")], [["X", "OK"], ["OK", "X"]], 25 * GB, 63 * GB))  # a link slower than the slot
    return cases


LAB_REACH = Exercise(
    id="node-networking-lab-reach",
    title="Who reaches whom, and how",
    points=3,
    lines=8,
    prompt="Write `reachable(pairs, access, W_link, W_slot)`: `pairs` is the list of `(i, j, code)` that your "
    "`gpu_pairs` makes, `access` the matrix of `nvidia-smi topo -p2p r` as a list of rows, in which `access[i][j]` and "
    "`access[j][i]` are both `'OK'` or both the reason why not, whatever the code. "
    "Return a list of `(i, j, way, bandwidth)` in the order of `pairs`. The way is `'nvlink'` where the code begins "
    "with NV, and each of that many links carries `W_link`; else `'pcie'` where the access is OK, at `W_slot`; else "
    "`'host'`. The bandwidth is what a copy gets while the same pair also copies *back*. Through the host's memory "
    "both copies go up and down the same uplink if the code is PIX or PXB, and get `W_slot/2`; else each of the "
    "uplinks "
    "carries one up and one down, and they get `W_slot`. *Exact* in this model.",
    answer=Function(
        "reachable",
        "reachable(pairs, access, W_link, W_slot)",
        cases=reach_cases,
        mutants={
            "NVLink whatever the access": lambda pairs, access, *W: reachable(
                [(i, j, code if access[i][j] == "OK" else code.replace("NV", "SYS")) for i, j, code in pairs],
                access,
                *W,
            ),
            "NVLink may be slower than the slot": lambda pairs, access, W_link, W_slot: [
                (i, j, way, max(rate, W_slot * (way == "nvlink")))
                for i, j, way, rate in reachable(pairs, access, W_link, W_slot)
            ],
            "and faster": lambda pairs, access, W_link, W_slot: [
                (i, j, way, min(rate, W_slot)) for i, j, way, rate in reachable(pairs, access, W_link, W_slot)
            ],
            "NVLink goes before PCIe": lambda pairs, access, *W: reachable(
                [(i, j, "SYS" if access[i][j] == "OK" else code) for i, j, code in pairs], access, *W
            ),
            "a number of two digits": lambda pairs, *rest: reachable([(i, j, code[:3]) for i, j, code in pairs], *rest),
            "the access of these two": lambda pairs, access, *W: reachable(pairs, [access[0]] * len(access), *W),
            "PHB is not behind a switch": lambda pairs, *rest: reachable(
                [(i, j, code.replace("PHB", "PIX")) for i, j, code in pairs], *rest
            ),
            "access, not the letters": lambda pairs, access, *W: reachable(pairs, _by_letters(pairs, len(access)), *W),
            "half of any rate": lambda *a: [(i, j, way, rate // 1) for i, j, way, rate in reachable(*a)],
        },
    ),
    solution=lambda pairs, access, W_link, W_slot: reachable(pairs, access, W_link, W_slot),
    mistakes=(
        Mistake(
            lambda pairs, access, W_link, W_slot: reachable(pairs, access, W_link, W_slot, peer=False),
            "Without NVLink there is still peer access over PCIe, where row i of the matrix says OK in column j.",
        ),
        Mistake(
            lambda pairs, access, W_link, W_slot: reachable(pairs, access, W_link, W_slot, shared=False),
            "Two GPUs behind one switch, and both copies through the host: how often is its uplink crossed each way?",
        ),
        Mistake(
            lambda pairs, access, W_link, W_slot: reachable(pairs, access, W_link, W_slot, counted=False),
            "That is one link. What does the number after NV say?",
        ),
        Mistake(
            lambda pairs, access, W_link, W_slot: reachable(pairs, access, W_link, W_slot, pxb=False),
            "PXB is several PCIe switches, one below the other. How many uplinks lead from them to the host?",
        ),
    ),
    hints=(
        "Three cases in order: NVLink, peer access, neither.",
        "`int(code[2:])` is the number of links. For the host, is the code PIX or PXB, or is it not?",
    ),
    explain="Take the best that a pair has. A code that begins with NV gives its number times `W_link`. Otherwise "
    "`access[i][j] == 'OK'` means that one GPU addresses the other's memory over PCIe, at the rate of a slot. "
    "Otherwise "
    "a copy goes up into the host's memory and down again. Behind one switch the two copies of a pair meet on its "
    "uplink, each up and each down, so each has half of it; behind two switches each uplink carries one copy up and "
    "one "
    "down. That is why SYS may beat PIX.",
)


def matrix(t: Topology, *kinds: str) -> list[list[int]]:
    """A network, or its vertices of some kinds, as whole GB/s from each to each."""
    return [[round(width / GB) for width in row] for row in t.capacities(*kinds)]


def random_matrix(rng: Random, size: int) -> list[list[int]]:
    """Links at random, wider in one direction than in the other."""
    return [[rng.choice((0, 0, 8, 16, 25, 50)) if u != v else 0 for v in range(size)] for u in range(size)]


def narrowest(capacity, gpus, *, switches=True, first=False, both=False, worst=min):
    others = [v for v in range(len(capacity)) if v not in gpus] if switches else []
    halves = combinations(gpus, len(gpus) // 2)
    cuts = []
    for half in [next(halves)] if first else halves:
        best = []
        for count in range(len(others) + 1):
            for joined in combinations(others, count):
                side = {*half, *joined}
                rest = [v for v in range(len(capacity)) if v not in side]
                width = sum(capacity[u][v] + (capacity[v][u] if both else 0) for u in side for v in rest)
                best.append(width)
        cuts.append(min(best))
    return worst(cuts)


SWITCHES_APART = (4, 23)  # seeds: no switch stands where the first, or most of its links, would put it


def _symmetric(capacity):
    return [[capacity[min(u, v)][max(u, v)] for v in range(len(capacity))] for u in range(len(capacity))]


def _least(capacity, halves, parts):
    """The narrowest of cuts: some halves, each with some of the switches beside it."""
    everyone = set(range(len(capacity)))
    sides = [{*half, *part} for half in halves for part in parts]
    return min(sum(capacity[u][v] for u in side for v in everyone - side) for side in sides)


def _from_the_first(capacity, gpus):
    """Only halves with the first GPU: what they send, and not what they get."""
    others = [v for v in range(len(capacity)) if v not in gpus]
    halves = [(gpus[0], *half) for half in combinations(gpus[1:], len(gpus) // 2 - 1)]
    return _least(capacity, halves, [part for k in range(len(others) + 1) for part in combinations(others, k)])


def _switches_together(capacity, gpus):
    """All switches on one side."""
    others = [v for v in range(len(capacity)) if v not in gpus]
    return _least(capacity, combinations(gpus, len(gpus) // 2), [(), others])


def _first_switch(capacity, gpus):
    """The first switch on either side, the others on the other."""
    others = [v for v in range(len(capacity)) if v not in gpus]
    return _least(capacity, combinations(gpus, len(gpus) // 2), [(), others[:1]])


def _with_most_links(capacity, gpus):
    """Each switch with the half to whose GPUs it has more."""
    cuts = []
    for half in combinations(gpus, len(gpus) // 2):
        row = [sum(capacity[v][g] * (1 if g in half else -1) for g in gpus) for v in range(len(capacity))]
        joined = [v for v in range(len(capacity)) if v not in gpus and row[v] > 0]
        cuts.append(_least(capacity, [half], [joined]))
    return min(cuts)


def half_cases(rng: Random) -> list[tuple]:
    cube = matrix(machine("v100-cube-mesh", "nvlink3"), "gpu")
    ring = [[50 * ((u - v) % 6 in (1, 5)) for v in range(6)] for u in range(6)]
    eight = [*range(8)]
    pair = [[0, 7, 0], [5, 0, 4], [0, 6, 0]]  # two GPUs around a switch
    tree = [[0] * 7 for _ in range(7)]  # four GPUs below two switches below a third
    for u, v, width in ((0, 4, 32), (1, 4, 32), (2, 5, 32), (3, 5, 32), (4, 6, 32), (5, 6, 32)):
        tree[u][v] = tree[v][u] = width
    islands = [[0, 8, 25, 0], [0, 0, 0, 25], [25, 0, 0, 0], [0, 25, 0, 0]]  # one link, which leads one way
    return [
        (pair, [0, 2]),
        (ring, [*range(6)]),
        (cube, eight),
        (matrix(node("mi300x-node"), "gpu"), eight),
        (tree, [0, 1, 2, 3]),
        (matrix(node("dgx-h100"), "gpu", "nvswitch"), eight),
        (matrix(machine("rtx4090-pcie"), "gpu", "pcie", "cpu"), eight),
        *((random_matrix(rng, size), gpus) for size, gpus in ((4, [0, 1, 2, 3]), (6, [0, 2, 3, 5]), (7, [1, 2, 4, 6]))),
        *((random_matrix(Random(seed), 7), [1, 2, 4, 6]) for seed in SWITCHES_APART),
        *((random_matrix(Random(seed), 8), eight) for seed in (22, 155)),  # exchanging two GPUs ends in a wider half
        (islands, [0, 1, 2, 3]),
    ]


LAB_HALF = Exercise(
    id="node-networking-lab-half",
    title="The narrowest half",
    points=3,
    lines=8,
    prompt="Write `narrowest(capacity, gpus)`: `capacity[u][v]`, a list of lists, is what the link from vertex u to "
    "vertex "
    "v carries, in whole GB/s, 0 where there is none; `capacity[v][u]` may differ. Vertices are numbers from 0; `gpus` "
    "lists those that are GPUs, an even number of them, and the others, at most five, are switches. Try every half of "
    "the GPUs, and for each half every way to put the switches on one side or the other, as the narrowest place would "
    "have it. Return the least that the links from one side to the other carry, one direction. *Exact*.",
    answer=Function(
        "narrowest",
        "narrowest(capacity, gpus)",
        counts=True,
        cases=half_cases,
        mutants={
            "links may differ by direction": lambda capacity, gpus: narrowest(_symmetric(capacity), gpus),
            "both directions of a half": _from_the_first,
            "a GPU may have any number": lambda capacity, gpus: narrowest(capacity, list(range(len(gpus)))),
            "each switch for itself": _switches_together,
            "every switch, not the first alone": _first_switch,
            "as the narrowest place would have it": _with_most_links,
            "there may be no links across": lambda capacity, gpus: narrowest(capacity, gpus) or 1,
            "there may be two GPUs": lambda capacity, gpus: narrowest(capacity, gpus) if len(gpus) > 2 else 0,
            "there may be no switches": lambda capacity, gpus: (
                narrowest(capacity, gpus) if len(gpus) < len(capacity) else 0
            ),
        },
    ),
    solution=lambda capacity, gpus: narrowest(capacity, gpus),
    mistakes=(
        Mistake(
            lambda capacity, gpus: narrowest(capacity, gpus, switches=False),
            "You put every switch on the other side. It may stand on this one, where fewer links are cut.",
        ),
        Mistake(
            lambda capacity, gpus: narrowest(capacity, gpus, first=True),
            "That is one half. In a mesh another one may be narrower: try them all.",
        ),
        Mistake(
            lambda capacity, gpus: narrowest(capacity, gpus, both=True),
            "You counted both directions.",
            name="both-directions",
        ),
        Mistake(
            lambda capacity, gpus: narrowest(capacity, gpus, worst=max),
            "You looked for the widest half. What can a job be unlucky enough to get?",
        ),
    ),
    hints=(
        "`combinations(gpus, len(gpus)//2)` are the halves; a half and the rest are two of them, one for each "
        "direction.",
        "For the switches take `combinations(switches, k)` for every k: those that stand on this side.",
        "A cut is the sum of `capacity[u][v]` over u on this side and v on the other.",
    ),
    withholds=("hwlib.topology.cut",),
    explain="A cut puts every vertex on one of two sides and adds up the links that lead from this one to the other. "
    "The "
    "GPUs are halved by `combinations(gpus, n//2)`, which has each half and its rest, so both directions are tried; "
    "the "
    "switches may stand on either side, `combinations(others, k)` for k from 0 to their number. The least sum is the "
    "answer. By the theorem of max-flow and min-cut it is also the most that this half can send. It is "
    "exponential: 70 halves times 32 for five switches is nothing, 72 GPUs would never end, and there a flow finds it.",
)

PAIRS = tuple(f"{a}-{b}" for a, b in combinations(range(8), 2))


def across(cables: list[str]) -> Breakdown:
    """The cables that cross the narrowest half of eight GPUs, and which half that is."""
    ends = [(int(one[0]), int(one[2])) for one in cables]
    halves = [{0, *three} for three in combinations(range(1, 8), 3)]
    crossing = [sum((a in half) != (b in half) for a, b in ends) for half in halves]
    least = min(crossing)
    *first, last = (f"{gpu}" for gpu in sorted(halves[crossing.index(least)]))
    half = f"A narrowest half is that of the GPUs {', '.join(first)} and {last}"
    return Breakdown(least, where=f"{half}: {len(cables) - least} of {len(cables)} cables do not cross it.")


def most_ports(cables: list[str]) -> int:
    """The links of the GPU that has most of them."""
    return max(sum(f"{gpu}" in (one[0], one[2]) for one in cables) for gpu in range(8))


WIRE = Exercise(
    id="node-networking-wire",
    title="Wire it better",
    points=3,
    prompt="Eight GPUs with six links each, as in a DGX-1, and no switch. Lay the cables: each joins two GPUs, and two "
    "GPUs "
    "may share several. The more cables cross the *narrowest* half, the better. `answer` is "
    '`{"cables": ["0-1", "0-3", …]}`, a list of up to 28 pairs, smaller number first. *Exact*.',
    answer=Design(
        fields={"cables": Field("two GPUs that a cable joins", options=PAIRS, items=len(PAIRS))},
        objective=across,
        measure="the cables across the narrowest half",
        unit="1",
        most=True,
        conditions=[Condition("the links of one GPU", most_ports, at_most=6, without=dict(cables=PAIRS))],
        pars=[Par(1, 6), Par(2, 9), Par(3, lambda best: best)],
        known=[Known(HALVES[0], "NVIDIA's DGX-1"), Known(12, "counting")],
        steps=200_000,
    ),
    solution=dict(cables=[f"{a}-{b}" for a, b in combinations(range(8), 2) if b - a != 4]),
    mistakes=(
        Mistake(
            dict(cables=[f"{min(a, (a + 1) % 8)}-{max(a, (a + 1) % 8)}" for a in range(8) for _ in range(3)]),
            "A ring with three cables a side. Cut it in two places: how many cables are that?",
        ),
        Mistake(
            dict(cables=[f"{a}-{b}" for block in (range(4), range(4, 8)) for a, b in combinations(block, 2)] * 2),
            "Two islands of four GPUs, and no cable between them.",
        ),
    ),
    hints=(
        "Every cable that joins the same two GPUs again is one that joins no others. How many pairs are there, and how "
        "many cables?",
        "Let your `narrowest` try what you have laid. 28 pairs and 24 cables: which four pairs go without?",
    ),
    explain="There are 24 cables, for six at each of eight GPUs is 48 ends. A cable crosses 20 of the 35 halves, so "
    "the "
    "mean half is crossed by 24·20/35 = 13.7 cables, and the narrowest by no more than 13. It is an even number, too: "
    "the four GPUs of a half have 24 ends, and each cable inside takes two of them. So 12 is the most. Joining every "
    "pair once but the four that lie opposite reaches it: 16 pairs cross a half, less at most four of those that were "
    "left "
    "out. The DGX-1 doubles some cables, and pays with half the cut.",
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

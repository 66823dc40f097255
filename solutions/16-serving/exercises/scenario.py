"""The scenario: a letter about the first token, with nodes of their own for long prompts."""

from functools import cache
from math import log

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake
from hwlib.inference import mg1_wait, prompt_time
from hwlib.specs import measured_lengths

_TOKENS = [row.input for row in measured_lengths("mooncake-conversation")]
_READS = [prompt_time("llama3-70b", "h100-sxm", n=8, T_in=T, dtype="fp8", b_w=1) for T in _TOKENS]
_HOUR = 16.0  # dollars of a node


def _of(low, high):
    return f"of at most {high:,} tokens" if low == 0 else f"of more than {low:,} tokens"


@cache
def lane(rate, nodes, low, high):
    """Load, mean wait and p99 of the stay of a lane: prompts above `low` and up to `high` tokens."""
    reads = [t for T, t in zip(_TOKENS, _READS, strict=True) if low < T <= high]
    if not reads:
        raise ValueError(f"there are no prompts {_of(low, high)}: one of the lanes is empty")
    mean = sum(reads) / len(reads)
    load = rate * len(reads) / len(_TOKENS) / nodes * mean
    if load >= 1:
        raise ValueError(f"nodes for prompts {_of(low, high)} would be busy {load:.0%} of the time")
    cv2 = sum((t / mean - 1) ** 2 for t in reads) / len(reads)
    wait = float(mg1_wait(load, mean, cv2))
    last = wait / load * log(load / 0.01) if load > 0.01 else 0.0
    return load, wait, last + sorted(reads)[int(0.99 * len(reads))]


def short99(rate, nodes, own, threshold):
    if own >= nodes:
        raise ValueError(f"{own} of {nodes} nodes are for long prompts: none is left for the others")
    return lane(rate, nodes - own, 0, threshold)[2]


def long99(rate, nodes, own, threshold):
    if own >= nodes:
        raise ValueError(f"{own} of {nodes} nodes are for long prompts: none is left for the others")
    return lane(rate, own, threshold, 10**9)[2]


def hourly(rate, nodes, own, threshold):  # noqa: ARG001
    parts = {"nodes for the others": (nodes - own) * _HOUR, "nodes for long prompts": own * _HOUR}
    return Breakdown(sum(parts.values()), parts)


def below(rate, nodes, own, threshold, promise):
    return max(0.0, 1 - promise / short99(rate, nodes, own, threshold))


def above(rate, nodes, own, threshold, promise):
    return max(0.0, promise / short99(rate, nodes, own, threshold) - 1)


@cache
def best_letter(rate, short, long):
    for nodes in range(2, 41):
        found = []
        for own in range(1, nodes):
            for threshold in range(8000, 100001, 1000):
                try:
                    times = short99(rate, nodes, own, threshold), long99(rate, nodes, own, threshold)
                except ValueError:
                    continue
                if times[0] <= short and times[1] <= long:
                    found.append((times[0], own, threshold))
        if found:
            return nodes, *min(found)
    raise ValueError("no number of nodes keeps these promises")


def letter_dollars(rate, short, long):
    return best_letter(rate, short, long)[0] * _HOUR


def letter_record(rate, short, long):
    nodes, first, own, threshold = best_letter(rate, short, long)
    return dict(nodes=nodes, own=own, threshold=threshold, promise=round(first, 3))


def generous(rate, short, long):
    """Half as many nodes again, the same share of them for long prompts."""
    best = letter_record(rate, short, long)
    nodes, own = -(-best["nodes"] * 5 // 3), -(-best["own"] * 5 // 3)
    return {**best, "nodes": nodes, "own": own, "promise": round(short99(rate, nodes, own, best["threshold"]), 3)}


def own_read(rate, short, long):
    """A promise of the prompt's own reading, without the queue."""
    best = letter_record(rate, short, long)
    reads = sorted(t for T, t in zip(_TOKENS, _READS, strict=True) if best["threshold"] >= T)
    return {**best, "promise": round(reads[int(0.99 * len(reads))], 3)}


def one_way_for_most(rate, short, long):
    """Only the very longest prompts have nodes of their own."""
    return {**letter_record(rate, short, long), "threshold": 60000}


SCENARIO = Exercise(
    id="serving-scenario",
    title="A letter about noon",
    points=4,
    prompt="The service of the opening grows to {rate} prompts a second at noon, with the lengths of the "
    "conversation trace, `measured_lengths('mooncake-conversation')`: 200 lengths, equally frequent. The office wants "
    "a letter: how many nodes, and what it may promise. You may keep `own` of the `nodes` for prompts of more than "
    "`threshold` tokens, at least 8,000; the others read all that are not longer. Each lane deals its prompts to its "
    "nodes evenly and at random, and each node reads first come, first served. Your letter also names `promise`, the "
    "p99 to the first token of the prompts that are not long, to which you will be held within 5 %.\n\nA node reads "
    "a prompt of T tokens in `prompt_time('llama3-70b', 'h100-sxm', n=8, T_in=T, dtype='fp8', b_w=1)`. The wait of a "
    "lane is Pollaczek and Khinchine's with the mean and the squared variation of its own lengths, its 99th "
    "percentile is taken as wait/load · ln(load/0.01), and p99 to the first token is that and the 99th percentile of "
    "the lane's own reads, `sorted(reads)[int(0.99*len(reads))]`. It has to be at most {short:s} for the prompts "
    "that are not long, and {long:s} for the long ones. A node costs 16 dollars an hour; the fewer, the better. "
    "*Exact* for this model.",
    given=[
        dict(rate=5, short=1.3, long=16.2),
        dict(rate=8, short=1.5, long=14.0),
        dict(rate=12, short=2.0, long=18.0),
    ],
    answer=Design(
        fields={
            "nodes": Field("nodes of eight H100s", 2, 64, whole=True),
            "own": Field("nodes of them for long prompts", 1, 63, whole=True),
            "threshold": Field("tokens above which a prompt is long, at least 8,000", 8000, 110000, whole=True),
            "promise": Field("p99 to the first token of prompts that are not long", 0.01, 60, unit="s"),
        },
        objective=hourly,
        measure="the dollars of an hour",
        unit="USD",
        conditions=[
            Condition(
                "p99 to the first token of prompts that are not long", short99, at_most=lambda short: short, unit="s"
            ),
            Condition("p99 to the first token of long prompts", long99, at_most=lambda long: long, unit="s"),
            Condition("the share by which your promise is below the p99 that these nodes keep", below, at_most=0.05),
            Condition("the share by which your promise is above the p99 that these nodes keep", above, at_most=0.05),
        ],
        pars=[
            Par(2, lambda best: 1.5 * best),
            Par(3, lambda best: 1.25 * best),
            Par(4, lambda best: 1.001 * best),
        ],
        known=[Known(letter_dollars, "a search")],
    ),
    solution=letter_record,
    mistakes=(
        Mistake(generous, "Both promises are kept with much to spare. How few nodes keep them?"),
        Mistake(own_read, "That is how long a prompt is read. How long does it wait before that?"),
        Mistake(one_way_for_most, "Prompts of 50,000 tokens are in everybody's way. What is that lane's variation?"),
    ),
    hints=(
        "Write the p99 of one lane as a function of its rate, its nodes and its lengths.",
        "Then try all thresholds in thousands and all divisions of the nodes, from few nodes upwards.",
        "With one lane for all, the wait is made by the longest few per cent.",
    ),
    explain="A lane's wait grows with load/(1 - load) and with the spread of its own lengths. A threshold takes the "
    "longest prompts, which make most of the squared variation, out of everybody's way, and gives them a lane whose "
    "load may be higher, since their promise is longer. The search tries some thousand letters; by hand, begin at the "
    "threshold where the long prompts are a tenth of the prompts and half of the work.",
)

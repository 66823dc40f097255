"""The last section: a prediction, a review, and which machine to rent."""

from math import ceil

from autograder.answers import Breakdown, Choice, Condition, Design, Field, Known, Par, Written
from autograder.declaration import Exercise, Mistake

PREDICT_SHARE = Exercise(
    id="machines-predict-share",
    title="Predict: the same software, the next machine",
    prompt="Llama 3 70B with Megatron Bridge, products in 8 bits, 64 GPUs, 256 sequences of 8,192 tokens: on H100 "
    "nodes it is published with 37 % of the dense 8-bit peak. The same software, model and batch on 64 GPUs of an "
    "NVL72 with 2.5 times that peak a GPU: which share of it? A guess; *to first order*.",
    answer=Choice(
        {
            "fifth": "10 to 20 %: memory and network did not grow as much",
            "quarter": "20 to 30 %",
            "same": "35 to 40 %",
            "half": "55 to 65 %: everything is on NVLink",
        },
        ordered=True,
    ),
    predict=True,
    solution="same",
    mistakes=(
        Mistake("fifth", "Neither binds at this batch. How many tokens a GPU are there, and how many are needed?"),
        Mistake("quarter", "Which of its transfers would take longer than their arithmetic at 32,768 tokens a GPU?"),
        Mistake("half", "The H100 runs hid most of their transfers as well. What limits a product inside a GPU?"),
    ),
    hints=("How many tokens has a GPU in a step, and what is the critical batch of each machine?",),
    explain="There are 32,768 tokens a GPU, far above either bound, so gradients and weights hide on both machines if "
    "the software lets them. What is left is the GPU itself: the share that products reach, attention, and what is "
    "not a product. The rows give 37 % for H100 and 38 % for GB200.",
)

REVIEW = Exercise(
    id="machines-review",
    title="Review a purchase",
    prompt="*“We replace our 1,024 H100s, 128 nodes with eight cards of 400 Gbit/s each, by 512 B200s in nodes of "
    "eight with the same cards. Each has 2.27 times the bfloat16 rate, so Llama 3 70B, 4 million tokens a step, FSDP "
    "over all GPUs, will train 1.14 times as fast as today at 40 % of the peak. If the network should turn out slow, "
    "NVLink has doubled. The operations per joule go up by 1.6, and as the weights fit into fewer GPUs there is less "
    "to send.”* Judge with numbers: what holds, what does not, what should be ordered or measured instead?",
    answer=Written(
        rubric=(
            ("Tokens a GPU before and after, and the critical batch across nodes of each machine", 1),
            ("What the share of the peak does to the bound, and whether the new job is above it", 1),
            ("NVLink inside the node is not what binds; which wire does", 1),
            ("What does not shrink with fewer GPUs: bytes a GPU gathers and reduces in FSDP", 1),
            ("A remedy with its number (cards, a larger domain, batch, fewer bytes), or a measurement that decides", 1),
        ),
        words=220,
        criteria=False,
    ),
    solution="The step has 4.19 million tokens: 4,096 a GPU today, 8,192 after. Across nodes an H100 needs 989/0.4 = "
    "2,474 tokens, a B200 2,250/0.4 = 5,625, both at the full peak; at 40 % of it 990 and 2,250. So both jobs are "
    "above their bounds, with a factor of 4.1 today and 3.6 then: 1.14 times the speed is possible, and the reserve "
    "falls although the batch a GPU doubled. Had all 1,024 GPUs been replaced, 4,096 tokens would have stood against "
    "2,250, or 5,625 at the peak. NVLink does not help: across nodes the cards bind, 50 GB/s a GPU as before. Fewer "
    "GPUs do not send less: in FSDP each node receives nearly all weights twice and sends its gradients once "
    "whatever the number of GPUs, some 420 GB or 1.06 s through 400 GB/s, of a step that has 1.78e18/(512·0.9e15) = "
    "3.9 s. Power: 2.27 for 1,000 instead of 700 W is 1.6 at the sheet; measured products are 1,745 against 795 "
    "TFLOP/s, 2.2 times. To order: cards of 800 Gbit/s if more GPUs are to follow, since the bound is then 2,812. To "
    "measure first: one step on 16 and on 64 GPUs at 8,192 tokens; if its time differs, something does not hide.",
)

_P = 70.6e9
_OFFERS = {  # FLOP/s, share reached, GPUs of a domain, B/s inside, B/s of a card a GPU, USD an hour
    "h100": (989e12, 0.40, 8, 450e9, 50e9, 2.5),
    "b200": (2250e12, 0.38, 8, 900e9, 50e9, 4.8),
    "nvl72": (2500e12, 0.40, 72, 900e9, 50e9, 5.8),
    "mi355x": (2500e12, 0.32, 8, 535e9, 50e9, 4.4),
    "v5p": (459e12, 0.65, 256, 540e9, 6.25e9, 1.6),
}


def step(batch, machine, chips):
    """Seconds of a step, as the prompt defines it: the longest of three."""
    C, eta, n, inside, card, _ = _OFFERS[machine]
    if chips % n:
        raise ValueError(f"{machine} is rented by domains of {n} chips, got {chips}")
    across = 6 * _P / (n * card) if chips > n else 0.0
    return max(6 * _P * batch * 1e6 / (chips * eta * C), 6 * _P / inside, across)


def hours_of(tokens, batch, machine, chips):
    return ceil(tokens * 1e12 / (batch * 1e6)) * step(batch, machine, chips) / 3600


def days_of(tokens, batch, machine, chips):
    """Days, split by what the chips do."""
    return split(hours_of(tokens, batch, machine, chips) / 24, batch, machine, chips)


def split(total, batch, machine, chips):
    """A total of the run, by what the chips do: their arithmetic at the share reached, and waiting for wires."""
    C, eta = _OFFERS[machine][:2]
    busy = total * 6 * _P * batch * 1e6 / (chips * eta * C) / step(batch, machine, chips)
    return Breakdown(total, {"arithmetic": busy, "waiting for the wires": total - busy})


def cost(tokens, batch, machine, chips):
    """Dollars, split by what the chips do."""
    return split(chips * _OFFERS[machine][-1] * hours_of(tokens, batch, machine, chips), batch, machine, chips)


def off(tokens, batch, machine, chips, hours):
    return abs(hours / hours_of(tokens, batch, machine, chips) - 1)


def best_offer(tokens, batch, days, offers=tuple(_OFFERS)):
    found = (float("inf"), "", 0)
    for machine in offers:
        n = _OFFERS[machine][2]
        for domains in range(1, 16384 // n + 1):
            if hours_of(tokens, batch, machine, n * domains) <= 24 * days:
                found = min(found, (cost(tokens, batch, machine, n * domains).total, machine, n * domains))
                break
    return found


def best_cost(tokens, batch, days):
    return best_offer(tokens, batch, days)[0]


def record(tokens, batch, machine, chips):
    return dict(machine=machine, chips=chips, hours=round(hours_of(tokens, batch, machine, chips), 1))


def best_record_of(tokens, batch, days):
    return record(tokens, batch, *best_offer(tokens, batch, days)[1:])


def by_arithmetic(tokens, batch, days):
    """The cheapest operations, and as many chips as they need if no wire ever binds."""
    price = {m: o[-1] / (o[0] * o[1]) for m, o in _OFFERS.items()}
    machine = min(price, key=price.__getitem__)
    C, eta, n = _OFFERS[machine][:3]
    work = ceil(tokens * 1e12 / (batch * 1e6)) * 6 * _P * batch * 1e6
    chips = min(16384 // n * n, n * ceil(work / (eta * C * 86400 * days) / n))
    return dict(machine=machine, chips=chips, hours=round(24.0 * days * 0.99, 1))


def all_chips(tokens, batch, days):
    """The right offer, and all that it has."""
    _, machine, _ = best_offer(tokens, batch, days)
    return record(tokens, batch, machine, 16384 // _OFFERS[machine][2] * _OFFERS[machine][2])


def by_the_sheet(tokens, batch, days):
    _, machine, chips = best_offer(tokens, batch, days)
    hours = hours_of(tokens, batch, machine, chips)
    return dict(machine=machine, chips=chips, hours=round(hours * _OFFERS[machine][1], 1))


SCENARIO = Exercise(
    id="machines-scenario",
    title="Which machine to rent",
    points=4,
    prompt="Llama 3 70B, 70.6e9 parameters, is to be trained on {tokens} trillion tokens in {days} days, {batch} "
    "million tokens a step, with FSDP over all chips and nothing else. Five offers lie before you, rented in whole "
    "domains:\n\n"
    "| `machine` | TFLOP/s, dense bf16 | reached | chips of a domain | inside, GB/s a chip | out, GB/s a chip | USD "
    "an hour |\n|:--|--:|--:|--:|--:|--:|--:|\n"
    '| "h100" | 989 | 40 % | 8 | 450 | 50 | 2.5 |\n'
    '| "b200" | 2,250 | 38 % | 8 | 900 | 50 | 4.8 |\n'
    '| "nvl72" | 2,500 | 40 % | 72 | 900 | 50 | 5.8 |\n'
    '| "mi355x" | 2,500 | 32 % | 8 | 535 | 50 | 4.4 |\n'
    '| "v5p" | 459 | 65 % | 256 | 540 | 6.25 | 1.6 |\n\n'
    "A step takes the longest of three: six operations a parameter and token on all chips, at the share that is "
    "reached; 6 bytes a parameter (weights twice, gradients once) through what a chip has inside; and, for more than "
    "one domain, 6 bytes a parameter through all the cards of a domain. Steps are whole. Your letter names the "
    "`machine`, the `chips` and the `hours` that the run will take, which you will be held to within 3 %; the rent is "
    "for the hours of the model. The fewer dollars, the better. *Exact* for this model.",
    given=[
        dict(tokens=15, batch=4, days=30),
        dict(tokens=15, batch=8, days=30),
        dict(tokens=10, batch=2, days=40),
        dict(tokens=15, batch=4, days=90),
    ],
    answer=Design(
        fields={
            "machine": Field("the offer", options=tuple(_OFFERS)),
            "chips": Field("chips, in whole domains", 8, 16384, whole=True),
            "hours": Field("hours of the run", 1, 100000),
        },
        objective=cost,
        measure="the rent in USD",
        unit="1",
        conditions=[
            Condition("the days of the run", days_of, at_most=lambda days: days),
            Condition("the distance of your hours from the model's, as a share of them", off, at_most=0.03),
        ],
        pars=[
            Par(2, lambda best: 1.3 * best),
            Par(3, lambda best: 1.06 * best),
            Par(4, lambda best: 1.002 * best),
        ],
        known=[Known(best_cost, "a search")],
    ),
    solution=best_record_of,
    mistakes=(
        Mistake(all_chips, "That is in time, and a wire binds long before: the chips beyond wait, and are paid for."),
        Mistake(
            by_the_sheet,
            "Those are hours at the peak of the sheet. Which share of it is reached?",
            name="peak-for-sustained",
        ),
    ),
    hints=(
        "For each offer: at how many chips does arithmetic take as long as the longer of the two transfers?",
        "More chips than that shorten nothing. Does the offer meet the day with them? If it does not, it is out.",
        "While arithmetic binds, the rent does not depend on the chips: USD over FLOP/s reached decides.",
    ),
    explain="While arithmetic is the longest, twice the chips take half the time and the rent stays, so offers are "
    "compared by dollars for an operation reached. A wire sets a shortest step, 6·P/W, that no number of chips "
    "beats: the batch over it is all that an offer can do in a day. A generous day or a large batch lets the "
    "cheapest operations win; a small batch and a near day leave only the machine whose domain brings many cards "
    "together, at a higher price.",
)

"""The open design problem: a machine's links, cards and domain for a budget of watts."""

from autograder.answers import Breakdown, Condition, Design, Field, Known, Par
from autograder.declaration import Exercise, Mistake

_C, _LINK, _CARD = 2.5e15, 50e9, 50e9  # FLOP/s of a GPU; B/s of a link and of a card, one way
_COPPER, _NETWORK, _REACH = 6e-12, 80e-12, 72  # J a bit inside a rack, through the network; GPUs that copper reaches
_TRAY = 4


def watts(light, gpus, links, cards):
    """Of a GPU, for the bits that it sends with all its links and its share of the cards busy."""
    inside = _COPPER if gpus <= _REACH else light * 1e-12
    parts = {"links": 8 * links * _LINK * inside, "cards": 8 * cards / _TRAY * _CARD * _NETWORK}
    return Breakdown(sum(parts.values()), parts)


def tokens_needed(gpus, links, cards):
    """Tokens of a GPU from which gradients hide: the worse of inside and across, by its name."""
    if gpus % 8:
        raise ValueError(f"the GPUs of a domain are a multiple of 8, got {gpus}")
    inside, across = _C / (links * _LINK), _C / (gpus * cards / _TRAY * _CARD)
    worse = "the bound inside a domain" if inside >= across else "the bound across domains"
    return Breakdown(max(inside, across), {worse: max(inside, across)})


def best_machine(light, budget):
    found = [
        (tokens_needed(gpus, links, cards).total, gpus, links, cards)
        for gpus in (8, _REACH, 576)
        for cards in range(1, 17)
        for links in range(1, 73)
        if watts(light, gpus, links, cards).total <= budget
    ]
    return min(found)


def best_bound(light, budget):
    return best_machine(light, budget)[0]


def best_record(light, budget):
    _, gpus, links, cards = best_machine(light, budget)
    return dict(gpus=gpus, links=links, cards=cards)


def small_domain(budget):
    cards = min(16, int(budget / 2 / 8))
    return dict(gpus=8, links=min(72, int(budget / 2 / 2.4)), cards=max(1, cards))


def all_links(budget):
    """A rack of 72 with one card a tray and the rest of the power in links."""
    return dict(gpus=72, links=max(1, min(72, int((budget - 8) / 2.4) // 2)), cards=1)


def light_domain(light, budget):
    links = int((budget - 8) / (8 * _LINK * light * 1e-12))
    return dict(gpus=128, links=max(1, min(72, links) // 2), cards=1)


LAB_RACK = Exercise(
    id="machines-lab-rack",
    title="Lab: watts for wires",
    points=3,
    prompt="Design the wires of a machine for data-parallel training in bfloat16. A GPU has 2,500 TFLOP/s. You "
    "choose `gpus`, those of one NVLink domain, a multiple of 8; `links`, its NVLinks of 50 GB/s each way; and "
    "`cards`, those of 50 GB/s on each tray of four GPUs. A GPU may spend {budget} W on bits, counted one way with "
    "everything busy: 6 pJ a bit on NVLink over copper, which reaches 72 GPUs; {light} pJ a bit on NVLink in a "
    "larger domain, which needs light; and 80 pJ a bit that leaves through a card. The fewer tokens a GPU needs to "
    "hide its gradients, the better: the worse of C/W inside a domain and C over all cards of a domain, many "
    "domains. *Exact* for this model.",
    given=[dict(light=15.0, budget=100.0), dict(light=6.5, budget=200.0), dict(light=12.0, budget=160.0)],
    answer=Design(
        fields={
            "gpus": Field("GPUs of one domain, a multiple of 8", 8, 576, whole=True),
            "links": Field("NVLinks of a GPU", 1, 72, whole=True),
            "cards": Field("network cards on a tray of four GPUs", 1, 16, whole=True),
        },
        objective=tokens_needed,
        measure="the tokens a GPU needs",
        unit="token",
        conditions=[Condition("the power for bits of a GPU", watts, at_most=lambda budget: budget, unit="W")],
        pars=[Par(1, lambda best: 2 * best), Par(2, lambda best: 1.2 * best), Par(3, lambda best: best)],
        known=[Known(best_bound, "a search")],
    ),
    solution=best_record,
    mistakes=(
        Mistake(small_domain, "Eight GPUs share eight GPUs' cards. How many share them in a rack?"),
        Mistake(all_links, "There is power left. Which of the two bounds is the worse one, and what lowers it?"),
        Mistake(light_domain, "Light costs power on every link. What did the larger domain save, and is that more?"),
    ),
    hints=(
        "A link takes 2.4 W over copper. A card on a tray takes 32 W, a quarter of it for each GPU.",
        "At the best machine both bounds are about equal, or one of them is at the end of what is allowed.",
        "Try 72 and 576 GPUs; for each, give the cards what makes both bounds equal and the links the rest.",
    ),
    explain="Inside, the bound is C/(50 GB/s·links); across, C over gpus·cards/4 cards. A link takes 8·50e9·6e-12 = "
    "2.4 W over copper, a card on a tray 32 W, 8 for each of four GPUs. Up to 72 GPUs a larger domain costs nothing "
    "and divides the bound across, so a domain is 72 at least. Beyond it every link takes the power of light, and "
    "what is saved is a card or three: that pays only where light takes hardly more than copper.",
)

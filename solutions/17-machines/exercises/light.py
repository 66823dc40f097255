"""The exercise on light: what optics beside the switch chip save."""

from autograder.answers import Quantity
from autograder.declaration import Exercise, Mistake
from hwlib.units import Gbit

OPTICS = Exercise(
    id="machines-optics",
    title="Watts of light",
    points=2,
    prompt="A cluster of {N} GPUs has one network port of {rate:B/s} each way a GPU and a fat tree of {tiers} tiers "
    "without oversubscription, all of it optical. NVIDIA gives a pluggable transceiver of 1.6 Tbit/s each way 30 W, "
    "and a port of that rate whose optics sit beside the switch chip 9 W; both in proportion for other rates. The "
    "network cards keep their pluggable ones. How much power does the change save in all switches together? *Exact* "
    "for these numbers.",
    given=[
        dict(N=16384, rate=800 * Gbit, tiers=2),
        dict(N=131072, rate=800 * Gbit, tiers=3),
        dict(N=8192, rate=400 * Gbit, tiers=2),
    ],
    answer=Quantity("W"),
    solution=lambda N, rate, tiers: (2 * tiers - 1) * N * rate / (1600 * Gbit) * (30 - 9),
    mistakes=(
        Mistake(
            lambda N, rate, tiers: 2 * tiers * N * rate / (1600 * Gbit) * 21,
            "One end of a link is at a card, and cards keep what they have.",
        ),
        Mistake(
            lambda N, rate, tiers: tiers * N * rate / (1600 * Gbit) * 21,
            "Which links end in a switch once, and which twice? Count the ends of one GPU's share of each tier.",
        ),
        Mistake(
            lambda N, rate, tiers: (2 * tiers - 1) * N * 21,
            "That is for ports of 1.6 Tbit/s.",
        ),
        Mistake(
            lambda N, rate, tiers: (2 * tiers - 1) * N * rate / (1600 * Gbit) * 30,
            "Light does not become free: it takes the smaller number.",
        ),
        Mistake(
            lambda N, rate, tiers: (2 * tiers - 1) * N * rate / (1600 * Gbit) * 9,
            "That is what the switches' optics take after the change. What did they take before?",
        ),
        Mistake(
            lambda N, rate, tiers: (tiers - 1) * N * rate / (1600 * Gbit) * 21,
            "Too few ends: how many has a link between two switches, and how many in a switch has that of a card?",
        ),
    ),
    hints=(
        "A tree without oversubscription has as many links between each two tiers as GPUs below.",
        "Ends in switches for each GPU: one at the leaf for the card's link, and two for every further tier.",
    ),
    explain="Each GPU has one link into the leaf, with one end in a switch, and one link's worth between each two "
    "tiers, with both ends in switches: 2·tiers − 1 ends of its rate. Each end saves 21 W for 1.6 Tbit/s. For 800 "
    "Gbit/s and two tiers that is 31.5 W a GPU, some two per cent of what the GPU takes, and half of the network's "
    "optics.",
)

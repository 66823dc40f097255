"""Exercises on what grows from one generation to the next, and on the domain that makes up for it."""

from autograder.answers import Choice, Expression, Quantity, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB, TFLOP

PREDICT_GROWTH = Exercise(
    id="machines-predict-growth",
    title="Predict: what grew least",
    prompt="From a DGX A100 to a DGX B200, two generations of machine: which of these numbers of one GPU grew by the "
    "smallest factor? A guess before the table; *to first order*.",
    answer=Choice(
        {
            "flops": "the dense bfloat16 rate",
            "bandwidth": "the bandwidth of its memory",
            "nvlink": "the bandwidth of its NVLink",
            "card": "the bandwidth of its network card",
            "power": "the power it is allowed",
        }
    ),
    predict=True,
    solution="card",
    mistakes=(
        Mistake("flops", "That is what the generations are named for. What does it have to be fed by?"),
        Mistake("bandwidth", "Memory is stacked beside the chip, on thousands of wires. Which path has fewest?"),
        Mistake("nvlink", "NVLink doubled once and grew half once. Is there a path that did less?"),
        Mistake("power", "Power grew, and every watt buys more operations. Which path leaves the rack?"),
    ),
    hints=("Which of them is not made by the designers of the chip alone?",),
    explain="Operations grew by 7.2, the memory's bandwidth by 3.9, NVLink by 3, power by 2.5 and the card, 200 to 400 "
    "Gbit/s, by 2. What leaves the chip grows more slowly than what stays on it, and what leaves the machine most "
    "slowly of all.",
)

DOMAIN = Exercise(
    id="machines-domain",
    title="The domain that makes up for it",
    points=3,
    prompt="A job on `N` GPUs keeps one copy of the gradients in each NVLink domain of `n_in` GPUs and adds the copies "
    "up across domains, through one card a GPU; so a domain keeps one part in N/n_in of what it would send, and the "
    "critical batch is (1 − n_in/N)·C/(n_in·W). The next machine has `g_C` times the arithmetic a GPU and `g_W` times "
    "the card, and the job has N of its GPUs. How many of them must share a domain for the critical batch across "
    "domains to stay what it was? *Exact*, as a real number.",
    answer=Expression(
        {
            "n_in": positive("1", 2, 64),
            "N": positive("1", 512, 65536),
            "g_C": positive("1", 2, 8),
            "g_W": positive("1", 1, 2),
        },
    ),
    solution=lambda n_in, N, g_C, g_W: 1 / (1 / N + g_W / g_C * (1 / n_in - 1 / N)),
    mistakes=(
        Mistake(
            lambda n_in, g_C, g_W: n_in * g_C / g_W,
            "To first order. With larger domains there are fewer of them, and each keeps a larger part of its sum.",
            name="own-share",
        ),
        Mistake(
            lambda n_in, g_C, g_W: n_in * g_W / g_C,
            "Upside down: more arithmetic needs more cards to share the sum.",
        ),
        Mistake(lambda n_in, g_C: n_in * g_C, "That is for cards that did not grow, and for very many domains."),
        Mistake(
            lambda n_in, N, g_C, g_W: 1 / (1 / N + g_C / g_W * (1 / n_in - 1 / N)),
            "The two gains are exchanged: a faster card allows a smaller domain.",
        ),
        Mistake(
            lambda n_in, N, g_C, g_W: 1 / (1 / N + 1 / (g_C * g_W) * (1 / n_in - 1 / N)),
            "More arithmetic asks for more cards to share, and a faster card for fewer. Where does g_W belong?",
        ),
        Mistake(
            lambda n_in, N, g_C, g_W: g_C / g_W * n_in * (1 - n_in / N),
            "The part that is kept depends on the new domain, and not on the old one alone. Solve for it.",
        ),
        Mistake(
            lambda n_in, N, g_C, g_W: 1 / (1 / N + g_W / g_C * (1 / n_in + 1 / N)),
            "A sign: (1 − n/N)/n is 1/n − 1/N.",
        ),
    ),
    hints=(
        "(1 − n/N)/n = 1/n − 1/N. Write it for the old and for the new machine.",
        "g_C/g_W·(1/n' − 1/N) = 1/n_in − 1/N. Solve for 1/n'.",
    ),
    explain="The bound is (1/n − 1/N)·C/W with n the GPUs of a domain. With g_C·C and g_W·W it stays if "
    "1/n' − 1/N = (g_W/g_C)·(1/n_in − 1/N), so 1/n' is that plus 1/N. For a huge job n' = n_in·g_C/g_W; a smaller one "
    "needs less, and a job that fits one domain has nothing to send at all: n' = N for any gains if n_in = N.",
)

ERRATUM_DOUBLE = Exercise(
    id="machines-erratum-double",
    title="Erratum: twice as good",
    points=2,
    prompt="A draft of *How to Think About GPUs* (July 2025) says of Blackwell with NVLink 5: “all rooflines get about "
    "twice as good”. Its bound for data parallelism inside a node, 1,098 tokens a GPU with sums in the switch, "
    "C/(2W) with 989 TFLOP/s and 450 GB/s, falls to 549 there. Count as the draft does, sums in the switch and the "
    "dense bfloat16 rate, for a GPU with {C:FLOP/s} and an NVLink of {W:B/s} each way: from how many tokens on one "
    "GPU does the sum hide? *Exact* for that model.",
    given=[
        dict(C=2250 * TFLOP, W=900 * GB),
        dict(C=2500 * TFLOP, W=900 * GB),
        dict(C=1750 * TFLOP, W=900 * GB),
    ],
    answer=Quantity("token"),
    solution=lambda C, W: C / (2 * W),
    mistakes=(
        Mistake(lambda W: 989e12 / (2 * W), "That is the printed one: the new link beside the old chip."),
        Mistake(lambda C, W: C / W, "Without the switch's sums. The draft has them."),
        Mistake(
            lambda C, W: 4 * C / W,
            "Those are the tokens of all eight GPUs of a node. How many are on one?",
            name="one-for-all",
        ),
    ),
    hints=("Which two numbers of the ratio did the new generation change?",),
    explain="C/(2W): the draft doubled W and kept C. The arithmetic grew as well, by 2.3 for a B200, so the bound went "
    "from 1,098 to 1,250 tokens: 14 % up, not half. The published edition corrects this.",
)

WHICH_CHANGE = Exercise(
    id="machines-which-change",
    title="One change to the order",
    points=2,
    prompt="An order of MI355X nodes: 2,500 TFLOP/s a GPU, links of 535.5 GB/s each way a GPU in a node of eight, a "
    "card of 50 GB/s a GPU, gradients in bfloat16. The batch that keeps the GPUs busy is the worse of two bounds, "
    "inside a node C/W and across nodes C over all cards of a node. One change is possible. Which gives the smallest "
    "batch? *To first order*: many nodes, no sums in switches.",
    answer=Choice(
        {
            "links": "twice the links inside",
            "cards": "cards of 100 GB/s",
            "bytes": "gradients of one byte on every wire",
            "domain": "the same GPUs, links and cards in domains of 72",
        }
    ),
    solution="bytes",
    mistakes=(
        Mistake("links", "Which of the two bounds is the worse one here, and do the links inside stand in it?"),
        Mistake("cards", "That halves the bound across. Which one is then the worse, and how large is it?"),
        Mistake("domain", "That divides the bound across by nine. Which one is then the worse, and how large is it?"),
    ),
    hints=(
        "Write both bounds as ordered, then again for each change.",
        "The larger of the two after each change is what counts.",
    ),
    explain="As ordered: 4,669 tokens inside, 6,250 across. Twice the links leaves 6,250. Faster cards and the larger "
    "domain both get the bound across out of the way, to 3,125 and 694, and then the 4,669 inside decide. One byte "
    "halves both, and 3,125 is the smallest. Where two bounds lie close together, only what is in both helps.",
)

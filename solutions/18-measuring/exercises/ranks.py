"""Who is slow: one rank's chance, and the step's."""

from autograder.answers import Expression, Quantity, integers, multiples, positive
from autograder.declaration import Exercise, Mistake
from hwlib.training import slow_fraction

SLOW = Exercise(
    id="measuring-predict-slow",
    title="One step in ten thousand",
    prompt="Every rank pauses in one step of {every}, at random: a collection of garbage, a page fault, a corrected "
    "error. On one rank nobody would notice. On {n} ranks that wait for each other, in which share of the steps "
    "does somebody pause? *Exact* for independent ranks.",
    given=[dict(every=10000, n=16384)],
    answer=Quantity("1"),
    predict=True,
    solution=lambda every, n: float(slow_fraction(1 / every, n)),
    mistakes=(
        Mistake(lambda every: 1 / every, "So it is for a single rank."),
        Mistake(lambda every, n: n / every, "A share above one: what do you count when two ranks pause in one step?"),
    ),
    hints=("How likely is a step in which nobody pauses?",),
    explain="Nobody pauses with probability (1 − 1/{every}) to the power {n}.",
)

STRAGGLER = Exercise(
    id="measuring-straggler",
    title="What a slow node costs",
    points=2,
    prompt="A synchronous step takes `t` if all are well. A node of `g` ranks is slow with probability `p` in a "
    "step, all of its ranks together, and each node by itself; a step with one or more slow nodes takes longer by "
    "the share `s`, however many they are. What does a step of `n` ranks, all of whole nodes, take in the mean? "
    "*Exact*.",
    answer=Expression(
        {
            "t": positive("s", 0.1, 60),
            "p": positive("1", 1e-4, 0.5),
            "s": positive("1", 0.01, 2),
            "g": integers(2, 16),
            "n": multiples("g", 2, 256),
        },
        "s",
    ),
    solution=lambda t, p, s, g, n: t * (1 + s * (1 - (1 - p) ** (n / g))),
    mistakes=(
        Mistake(
            lambda t, p, s, g, n: t * (1 + s * (1 - (1 - p) ** n)),
            "So it is if every rank is slow by itself. How many things can be slow here?",
        ),
        Mistake(
            lambda t, p, s, g, n: t * (1 + s * p),
            "That is the mean of one node. For whom does the step wait?",
            name="mean-for-slowest",
        ),
        Mistake(
            lambda t, p, s, g, n: t * (1 + s * p * n / g),
            "Two slow nodes at once cost no more than one. What does this give for very many nodes?",
        ),
        Mistake(
            lambda t, p, s, g, n: t * (1 + s * n / g * p * (1 - p) ** (n / g - 1)),
            "Exactly one slow node. What does a step take in which two are slow?",
        ),
        Mistake(
            lambda t, p, s, g, n: t * (1 + s * (1 - p) ** (n / g)),
            "That adds the share s to the steps in which nobody is slow.",
        ),
    ),
    hints=(
        "There are n/g nodes. With which probability is none of them slow?",
        "The mean is t, and s·t times the probability that at least one is slow.",
    ),
    explain="All n/g nodes are well with probability (1 − p)^(n/g), and such a step takes t. Every other step takes "
    "t·(1 + s). The mean is t·(1 + s·(1 − (1 − p)^(n/g))). With many nodes it tends to t·(1 + s): every step has "
    "its straggler, which then looks like a slow machine rather than like noise.",
)

"""Exercises of the section on several GPUs: two cuts of a matrix, and DeepSeek's exchanges."""

from autograder.answers import Expression, Quantity, positive
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB

ERRATUM_CUTS = Exercise(
    id="inference-erratum-cuts",
    title="Erratum: from 81 chips on",
    points=3,
    prompt="An MLP of width `D` and hidden width `F` decodes on `n` chips of a torus. Cut along F alone, "
    "it gathers and "
    "scatters the activations of `B` tokens over all `m` links of a chip, which takes 4·B·D/(m·W), with W of a link in "
    "both directions together. Cut along both, D "
    "by x and F by n/x, with one link for each, it takes 2·B·D/(x·W) + 4·B·F·x/(n·W). From which n on does the second "
    "take less time, if x is chosen best, as a real number? Early copies of *How to Scale Your Model* (2025) print "
    "n > 81 for F = 4D and m = 3. Give it for any D, F and m. *Exact*.",
    answer=Expression(
        {
            "D": positive("1", 512, 32768),
            "F": positive("1", 512, 131072),
            "m": positive("1", 1, 6),
        },
    ),
    solution=lambda D, F, m: 2 * m**2 * F / D,
    mistakes=(
        Mistake(lambda D, F, m: 81 * m**2 * F / (36 * D), "That gives the printed 81. Minimise over x once more."),
        Mistake(
            lambda D, F, m: m**2 * F / (2 * D),
            "At the best x both terms are equal, and the time has both of them.",
        ),
        Mistake(
            lambda D, F, m: 2 * m * F / D,
            "The ratio of the two times has the square root of n in it. What does that do to m?",
        ),
        Mistake(lambda D, F, m: 2 * m**2 * D / F, "D and F are exchanged: a wider MLP makes its own cut dearer."),
        Mistake(
            lambda D, F, m: 4 * m**2 * F / D,
            "A factor of 2. At the best x, is each term the root of half the product, or of the product?",
            names_all=True,
        ),
        Mistake(
            lambda D, F, m: 8 * m**2 * F / D,
            "Four times too large, so one of the two times is off by 2. The first cut gathers and scatters; at the "
            "best x the second is the sum of two equal terms.",
        ),
        Mistake(lambda m: 8 * m**2, "Right for F = 4D. How does it depend on F and D?"),
        Mistake(lambda D, F, m: 72, "Right for F = 4D and three links. The question is about any."),
        Mistake(lambda D, F: 18 * F / D, "Right for three links. How does it depend on m?"),
        Mistake(
            lambda D, F, m: 2 * m**2 * F / D + 1,
            "You count on to the next chip. The bound itself is asked for, a real number.",
        ),
    ),
    hints=(
        "A sum p/x + q·x is smallest where both terms are equal, and is then 2·sqrt(p·q).",
        "Set 4/(m)·D equal to 2·sqrt(8·D·F/n), and square.",
    ),
    explain="The sum p/x + q·x, with `p = 2*B*D/W` and `q = 4*B*F/(n*W)`, is smallest at x = sqrt(p/q) and is there "
    "`2*sqrt(p*q) = 2*B/W*sqrt(8*D*F/n)`. It is below `4*B*D/(m*W)` where `sqrt(8*D*F/n) < 2*D/m`, so "
    "`n > 2*m**2*F/D`: 72 for F = 4D and three links, as later copies have it. Batch and bandwidth cancel. A GPU in a "
    "node has one link to a switch, m = 1: eight GPUs for F = 4D.",
)

EXCHANGE = Exercise(
    id="inference-exchange",
    title="DeepSeek's step, from two published rates",
    points=3,
    prompt="A node of eight GPUs decodes {node} tokens a second, and every user reads {user} tokens a "
    "second. Each token "
    "goes to {k} experts in each of {L} layers, as {D} elements of one byte, and comes back as {D} elements of two "
    "bytes; experts on the same GPU or node are not merged, and all of them are behind the GPU's own network card of "
    "{W:B/s} in each direction. Every GPU has users and experts alike: its card sends its own users' tokens "
    "out, and the outputs of its experts back to the users of others, which are as many. For how long does a card "
    "send in a step of one token for each user? *Exact* for this count.",
    given=[
        dict(node=14800, user=21, k=8, L=58, D=7168, W=50 * GB),
        dict(node=9600, user=30, k=8, L=58, D=7168, W=50 * GB),
        dict(node=12000, user=25, k=6, L=60, D=5120, W=25 * GB),
        dict(node=20000, user=40, k=4, L=36, D=2880, W=100 * GB),
    ],
    answer=Quantity("s"),
    solution=lambda node, user, k, L, D, W: node / 8 / user * k * L * D * 3 / W,
    mistakes=(
        Mistake(
            lambda node, user, k, L, D, W: node / user * k * L * D * 3 / W,
            "Eight times too large: either the users of a whole node pass one card, or its bytes are taken for bits.",
            names_all=True,
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 * k * L * D * 3 / W,
            "Those are the tokens of a second. How many are under way in one step?",
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 / user * k * L * D * 2 / W,
            "The card sends twice: its users' tokens in one byte, and its experts' outputs for others in two. Both go "
            "in the same direction.",
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 / user * k * D * 3 / W,
            "That is one layer with experts. A token passes all of them.",
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 / user * L * D * 3 / W,
            "Too small by eight: each of a token's experts gets a copy, and all of them pass the card of the "
            "user's GPU.",
            names_all=True,
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 / user * k * L * D * 4 / W,
            "The way out is in one byte, not two.",
        ),
        Mistake(
            lambda node, user, k, L, D, W: node / 8 / user * k * L * D / W,
            "Tokens of your users alone. The same card sends the outputs of its experts to the users of others.",
        ),
        Mistake(
            lambda node, user, k, L, D, W: 1 / user,
            "That is the whole step. How much of it does the network take?",
        ),
    ),
    hints=(
        "How many users has a GPU, if each gets so many tokens a second, and the GPU decodes an eighth of its node's?",
        "Bytes of one token and layer: experts times elements times (1 + 2).",
    ),
    explain="A user gets a token a step, so a step takes 1/{user} s, and a GPU that decodes {node}/8 tokens "
    "a second has "
    "`node/8/user` of them under way: Little's law. For each of them a card sends `k*D` elements of a byte, and for "
    "each of the others' that came to its experts as many of two: the experts of all GPUs get as many tokens as the "
    "GPUs send. So three bytes an element leave the card, and by the same count three arrive, in {L} layers. "
    "DeepSeek's first numbers give 88 tokens and 15.1 MB a layer, 17.6 ms on a card of 50 GB/s, more than a third of "
    "a step of 48 ms, and 22 ms at the 40 GB/s that kernels reach: that is why two half batches take turns.",
)

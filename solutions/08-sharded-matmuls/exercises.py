"""Exercises of chapter 8, and the names with which its text computes numbers."""

from functools import partial
from itertools import pairwise
from itertools import product as pairs

from autograder.answers import (
    Case,
    Choice,
    Count,
    Distributed,
    Expression,
    Function,
    Quantity,
    Written,
    at_most,
    exactly,
    integers,
    positive,
)
from autograder.declaration import Exercise, Mistake
from hwlib.collectives import (
    axis_levels,
    level_time,
    ring_allreduce_time,
)
from hwlib.formula import maximum, minimum
from hwlib.specs import accelerators, clusters, measured_allreduces, nodes
from hwlib.units import GB, MiB

H100, B200 = nodes["dgx-h100"], nodes["dgx-b200"]
POD = clusters["superpod-h100-4su"].levels
C, C_B200 = accelerators["h100-sxm"].bf16_flops, accelerators["b200-sxm"].bf16_flops
W_IN, W_NODE = H100.scaleup_bandwidth, H100.egress_bandwidth
W_GPU = W_NODE / H100.chips  # one GPU's card

# The opening question: the MLPs of a 13-billion-parameter model on eight GPUs, forward
TOKENS, D, F, LAYERS = 8192, 5120, 13824, 40
WIDE, NARROW = 2 * TOKENS * F, 2 * TOKENS * D  # bytes of h and of y
SUM_OF_H = ring_allreduce_time(8, WIDE, 0, W_IN)
SUM_OF_Y = ring_allreduce_time(8, NARROW, 0, W_IN)
RELU = 2 * WIDE * (1 - 1 / 8) / accelerators["h100-sxm"].hbm_bandwidth  # all of h instead of an eighth, in and out
SLICES = 2 * (NARROW + WIDE) / 8 / accelerators["h100-sxm"].hbm_bandwidth  # of x and of h, copied
EXTRA = LAYERS * (SUM_OF_H + RELU + SLICES)

EXAMPLE = {"T": 2**18, "D": 8192, "F": 28672}  # of the worked example
EXAMPLE_RATIO = (31 / 32 * 2 * 8192 * 28672 / 8 / W_GPU) / (2 * 8192 * 8192 * 28672 / 8 / C)
PAIR_CHIPS = [accelerators[key] for key in ("a100-80gb-sxm", "h100-sxm", "b200-sxm")]


def gap_of(S):
    """How far the ring model is off from the sweep, relative to the measurement."""
    return ring_allreduce_time(8, S, 0, W_IN) / sweep()[S].time - 1


def across_gap(n, S):
    """The same of the levels' model for n H100s in nodes of eight."""
    row = max((r for r in measured_allreduces("h100-sxm", n, "NVLSTree") if S == r.S), key=lambda r: r.bus_bandwidth)
    return level_time("all_reduce", S, axis_levels(POD, n)) / row.time - 1


def sweep(chip="h200-sxm", n=8, how="auto"):
    """The published all-reduces of n GPUs by bytes; of two of a size the better."""
    found = {}
    for row in sorted(measured_allreduces(chip, n, how), key=lambda row: (row.S, row.bus_bandwidth)):
        found[row.S] = row
    return found


# A mesh and its letters
LOCAL = Exercise(
    id="sharded-matmuls-local",
    title="What a device holds",
    points=2,
    prompt="On `Mesh(X={X}, Y={Y}, Z={Z})` lie a weight `W[D_XZ, F_Y]` in bf16 and its gradient `G[D_X, F]{ U_Y }` in "
    "fp32, with D = {D} and F = {F}. How many bytes of the two together does one device hold? *Exact*, to four "
    "digits.",
    given=[
        dict(X=16, Y=4, Z=8, D=8192, F=28672),
        dict(X=16, Y=8, Z=4, D=8192, F=28672),
        dict(X=2, Y=4, Z=8, D=5120, F=13824),
        dict(X=32, Y=8, Z=4, D=4096, F=14336),
    ],
    answer=Quantity("B", rtol=0.001),
    solution=lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 4 * D * F / X,
    mistakes=(
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 4 * D * F / (X * Y),
            "You let the open sum over Y make the gradient smaller. What is each term of a sum of matrices?",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 4 * D * F / (X * Z),
            "Z stands nowhere in the gradient. What do the devices along it hold?",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 4 * D * F * Y / X,
            "A device holds its own term of the open sum, and no other device's.",
        ),
        Mistake(
            lambda X, Y, Z, D, F: D * F / (X * Y * Z) + D * F / X,
            "Those are elements. The weight has two bytes each, and the gradient?",
            name="element-bytes",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 6 * D * F / (X * Y * Z),
            "Both arrays are not split alike: which axes stand below the gradient's dimensions?",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y) + 4 * D * F / X,
            "Two axes split the D of the weight, one after the other.",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 2 * D * F / X,
            "How many bytes has an element of the gradient?",
            name="element-bytes",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 4 * D * F / (X * Y * Z) + 4 * D * F / X,
            "How many bytes has an element of the weight?",
            name="element-bytes",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 4 * D * F / (X * Y * Z) + 2 * D * F / X,
            "Which of the two arrays is in bf16, and which in fp32? You have them the other way round.",
            name="element-bytes",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Z) + 4 * D * F / X,
            "The weight has two dimensions. Which axis stands below the second?",
        ),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / ((X + Z) * Y) + 4 * D * F / X,
            "XZ cuts D by X, and then each of the parts by Z. How many parts is that?",
        ),
        Mistake(lambda X, D, F: 4 * D * F / X, "That is the gradient alone. The weight is asked for as well."),
        Mistake(lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z), "That is the weight alone."),
        Mistake(
            lambda X, Y, Z, D, F: 2 * D * F / (X * Y * Z) + 4 * D * F,
            "X stands below the D of the gradient too.",
        ),
        Mistake(
            lambda X, Y, Z, D, F: X * Y * Z * (2 * D * F / (X * Y * Z) + 4 * D * F / X),
            "That is what all devices hold together.",
            name="one-for-all",
        ),
    ),
    hints=(
        "Divide each dimension by the sizes of the axes below it; what does the open sum over Y divide?",
        "Count the weight at two bytes an element and the gradient at four.",
    ),
    explain="X, Y and Z split the weight: `2*D*F/(X*Y*Z)`. Of the gradient only X splits a dimension. Along Y every "
    "device has a term of the sum, as large as the sum itself, and along Z all have the same: `4*D*F/X`. With D = {D}, "
    "F = {F}, X = {X}, Y = {Y}, Z = {Z} the gradient is 2·Y·Z times as large as the weight; a reduce-scatter "
    "over Y makes it smaller by Y.",
)

SCATTER_BYTES = Exercise(
    id="sharded-matmuls-scatter-bytes",
    title="All that is sent",
    points=2,
    prompt="The axes X, Y, Z of a mesh have `x`, `y` and `z` devices. A reduce-scatter turns `G[I_X, J]{ U_Y }` into "
    "`G[I_X, J_Y]`, and every device of the mesh sends as little as its group allows. How many bytes do all devices "
    "together send, as a multiple of the bytes of the whole array G[I, J]? *Exact*.",
    answer=Expression({"x": integers(2, 64), "y": integers(2, 64), "z": integers(2, 64)}),
    solution=lambda y, z: z * (y - 1),
    mistakes=(
        Mistake(lambda y: y - 1, "What do the devices along Z do meanwhile?"),
        Mistake(lambda x, y, z: x * z * (y - 1), "A device's term is not the whole array: what does X do to it?"),
        Mistake(
            lambda y, z: 2 * z * (y - 1),
            "That is an all-reduce: it also gathers what it has added up.",
            name="all-reduce-for-half",
        ),
        Mistake(lambda y, z: y * z, "Of its term a device keeps the part for which it adds up itself."),
        Mistake(lambda x, y: (y - 1) / (x * y), "That is one device. How many are there?", name="one-for-all"),
        Mistake(
            lambda x, y: (y - 1) / x,
            "That is one group along Y. How many such groups has the mesh?",
            name="one-for-all",
        ),
        Mistake(
            lambda y, z: z * (y - 1) / y,
            "Too little by a factor of y: is that one device of each group, or a term that Y has made smaller?",
        ),
        Mistake(lambda y, z: y * (z - 1), "Over which axis is the sum open, and which one has copies?"),
        Mistake(lambda x, y: x * (y - 1), "X makes what a device holds smaller by as much as there are more devices."),
        Mistake(lambda x, y, z: x * y * z, "Does every device send all of the array?"),
    ),
    hints=(
        "How large is the term that a device holds, and which part of it does the device keep?",
        "The mesh has x·y·z devices, and each of them sends.",
    ),
    explain="With S bytes in the whole array a device holds a term of `S/x`. A group along Y has y devices, and each "
    "sends all but its own part of the term, `(y - 1)/y*S/x`. There are `x*y*z` devices: `z*(y - 1)*S`. The z copies "
    "all do the same work, for nobody told them that one would do.",
)

# From one sharding to another
PREDICT_RESHARD = Exercise(
    id="sharded-matmuls-predict-reshard",
    title="Predict: the other dimension",
    predict=True,
    prompt="Eight GPUs hold a square matrix as `Shard(0)`, and want it as `Shard(1)`. One way is to gather "
    "it everywhere and keep a slice. How many bytes must a GPU send at least, against that way? *Exact*.",
    answer=Choice(
        {
            "same": "as many: every row has to become complete",
            "half": "half",
            "eighth": "an eighth",
            "none": "none: a slice is free",
        },
        ordered=True,
    ),
    solution="eighth",
    mistakes=(
        Mistake("same", "Does any GPU need a complete row at the end?"),
        Mistake("half", "Of its rows, which part must a GPU give to one particular other GPU?"),
        Mistake("none", "A slice of what? Seven eighths of a GPU's columns lie elsewhere."),
    ),
    hints=("Cut the matrix into 8 × 8 blocks. Which blocks has GPU 3 before, which does it need afterwards?",),
    explain="Every block has one new owner, so it is sent once; a gather sends it to all seven others.",
)

ERRATUM_REDUCE = Exercise(
    id="sharded-matmuls-erratum-reduce",
    title="Find the error: 190 microseconds",
    points=2,
    prompt="In February 2025 *How to Scale Your Model* asked for the time of `AllReduce_Z([B_X, D_Y]{ U_Z })`, an "
    "array of B = 1,024 by D = 4,096 in bf16 on a torus of 4 × 4 × 4, and answered: twice an all-gather, `4*B*D/W`, "
    "about 190 µs. Something in the notation was overlooked. With B = {B}, D = {D}, axes of X = {X}, Y = {Y} and "
    "Z = {Z} devices, and {W:B/s} that a device sends along one axis to both neighbours together: what is the time? "
    "*To first order*, as there: (n − 1)/n counts as 1.",
    given=[
        dict(B=2048, D=5120, X=8, Y=4, Z=12, W=90 * GB),
        dict(B=4096, D=5120, X=4, Y=16, Z=12, W=180 * GB),
        dict(B=8192, D=5120, X=4, Y=8, Z=20, W=90 * GB),
    ],
    answer=Quantity("s"),
    solution=lambda B, D, X, Y, W: 4 * B * D / (X * Y * W),
    mistakes=(
        Mistake(lambda B, D, W: 4 * B * D / W, "That is the printed answer. Which axes split the array that is added?"),
        Mistake(
            lambda B, D, X, Y, W: 2 * B * D / (X * Y * W),
            "Half of it is missing: an element has two bytes, an all-reduce has two halves, and W already is for both "
            "neighbours together.",
            names_all=True,
        ),
        Mistake(
            lambda B, D, X, W: 4 * B * D / (X * W), "Which axes split the array, and into how many parts together?"
        ),
        Mistake(
            lambda B, D, Y, W: 4 * B * D / (Y * W),
            "By what is the array divided before it is sent, and by what not? And does each part have its bytes?",
        ),
        Mistake(
            lambda B, D, X, Y, W: 8 * B * D / (X * Y * W),
            "Twice too much: W is for both neighbours together, and an element of bf16 has two bytes.",
            names_all=True,
        ),
        Mistake(
            lambda W: 4 * 1024 * 4096 / (4 * 4 * W),
            "That is the book's own case, put right. Here the array and the axes have other sizes.",
        ),
        Mistake(
            lambda B, D, Z, W: 4 * B * D / (Z * W),
            "Along which axis are the terms added up, and which axes split the array, into how many parts together?",
        ),
        Mistake(
            lambda B, D, X, Y, Z, W: 2 * Z * B * D / (X * Y * W),
            "That is every term sent all the way around. A ring adds up on the way: how often does the array pass?",
        ),
        Mistake(
            lambda B, D, X, Y, W: 4 * B * D / (3 * X * Y * W),
            "Do the links of three axes carry it? The ring of Z has those of one. What splits the array is another "
            "thing.",
        ),
        Mistake(
            lambda B, D, X, Y, Z, W: 4 * B * D / (X * Y * Z * W),
            "Each device along Z has a term as large as the sum: Z does not split it.",
        ),
        Mistake(
            lambda B, D, X, Y, Z, W: (Z - 1) / Z * 4 * B * D / (X * Y * W),
            "Exact, and the question asks to first order, as the book counts.",
        ),
    ),
    hints=(
        "Write down the local shape of what one device holds before the all-reduce.",
        "That many bytes pass twice along the ring of Z.",
    ),
    explain="A device holds `[B/X, D/Y]`, in bf16 `2*B*D/(X*Y)` bytes, whatever Z is. An all-reduce sends that twice "
    "at W = {W:B/s}: `4*B*D/(X*Y*W)`. The printed answer took the whole [B, D], X·Y times as much. For B = 1,024, "
    "D = 4,096 and 4 × 4 × 4 it is 11.65 µs; the book has 11.6 now.",
)

ERRATUM_ALLTOALL = Exercise(
    id="sharded-matmuls-erratum-alltoall",
    title="Find the error: a quarter",
    points=3,
    prompt="*How to Scale Your Model* has an all-to-all on a ring with links both ways cheaper than an all-gather of "
    "the same S bytes, by “a factor of ¼”. Its schedule, for an even number `n` of devices: each sends to the n/2 "
    "devices on its right by the right-hand links, the opposite device included, and to the other n/2 − 1 by the "
    "left-hand links; S/n² to each in the all-to-all, S/n to all in the all-gather, and nothing is cut further. The "
    "busier links decide. By what factor is the all-to-all's time that of the all-gather? *Exact*.",
    answer=Expression({"n": integers(2, 512, step=2)}),
    solution=lambda n: (n + 2) / (4 * n),
    mistakes=(
        Mistake(
            lambda n: 1 / 4 + 0 * n,
            "A quarter is the limit for very many devices, and what the less busy links give. Which links decide?",
        ),
        Mistake(lambda n: 1 / n, "So it is through a switch. On a ring a far block passes many links."),
        Mistake(
            lambda n: n / (4 * (n - 1)),
            "That shares all bytes evenly among the links. Here the opposite device's go one way only.",
        ),
        Mistake(lambda n: (n - 2) / (4 * n), "That is the left-hand side, the less busy one."),
        Mistake(
            lambda n: (n + 2) / (8 * (n - 1)),
            "Your gather sends all its shards one way. In this schedule, how many go to the right?",
        ),
        Mistake(
            lambda n: (n + 2) / (4 * (n - 1)),
            "Your gather shares its bytes evenly. In this schedule, how many shards pass a right-hand link?",
        ),
        Mistake(
            lambda n: 1 / 2 + 0 * n,
            "So it is on a ring with links one way, or if every block went as far as the opposite device.",
        ),
        Mistake(lambda n: (n + 2) / (8 * n), "That is the all-to-all alone, as a multiple of S/W."),
        Mistake(lambda n: (n + 2) / (2 * n), "Count the hops again: blocks go 1, 2, … up to n/2 links far."),
        Mistake(lambda n: 4 * n / (n + 2), "Upside down: the all-to-all is the shorter one."),
    ),
    hints=(
        "Look at one right-hand link. By symmetry it carries what one device's blocks travel to the right, in hops.",
        "In the all-gather, the shards of how many devices pass that link?",
    ),
    explain="A device's blocks travel 1, 2, … n/2 links to the right: `(n/2)*(n/2 + 1)/2 = n*(n + 2)/8` hops of "
    "`S/n**2`. There are as many right-hand links as devices, so each carries `(n + 2)/(8*n)*S`. In the all-gather "
    "the shards of n/2 devices pass it: `S/2`. The ratio is `(n + 2)/(4*n)`: 0.375 on four devices, 0.281 on sixteen, "
    "a quarter in the limit. Through a switch it is 1/n, and that is the case of a GPU node.",
)


# Four cases
def sent(before, after, S, n):
    """The bytes that a device sends; the text has the same function."""
    if before in (after, ""):
        return 0
    if after == "":
        return (2 if before == "U" else 1) * S * (n - 1) / n
    return S * (n - 1) / n / (1 if before == "U" else n)


def ways_of(a, b, c, I, J, K, n, price=sent, finish=True, splits="IJK", b_el=2, summed="U"):
    """Bytes of each way to multiply, by the dimension that it splits."""
    found = {}
    for split in [*splits]:
        left, right = (split if split in dims else "" for dims in ("IJ", "JK"))
        made = summed if split == "J" else split
        bytes_in = price(a, left, b_el * I * J, n) + price(b, right, b_el * J * K, n)
        found[split] = bytes_in + (price(made, c, b_el * I * K, n) if finish else 0)
    return found


def product(a, b, c, I, J, K, n, choose=min, **other):
    ways = ways_of(a, b, c, I, J, K, n, **other)
    best = choose(ways, key=ways.get)
    return best, ways[best]


def gathered(before, after, S, n):
    """An exchange taken for a gather and a slice."""
    return S * (n - 1) / n if {before, after} <= {*"IJK"} and before != after else sent(before, after, S, n)


def summed_once(before, after, S, n):
    return S * (n - 1) / n if (before, after) == ("U", "") else sent(before, after, S, n)


def scattered_twice(before, after, S, n):
    return (2 if before == "U" and after else 1) * sent(before, after, S, n)


def to_first_order(before, after, S, n):
    return 0 if before in (after, "") else (1 + (before == "U")) * S if after == "" else S / (1 if before == "U" else n)


def of_a_part(before, after, S, n):
    return sent(before, after, S / n, n)


def of_all_devices(before, after, S, n):
    return n * sent(before, after, S, n)


def sums_free(before, after, S, n):
    return 0 if before == "U" else sent(before, after, S, n)


def slices_cost(before, after, S, n):
    return S * (n - 1) / n if before == "" != after else sent(before, after, S, n)


def by_the_cases(a, b, c, I, J, K, n):
    """The rule of the four cases, without a choice: what is split along J alone is gathered."""
    split = "J" if a == b == "J" else a if a == "I" else b if b == "K" else "I"
    return split, ways_of(a, b, c, I, J, K, n)[split]


def with_copies(a, b, c, I, J, K, n):
    """Allows all devices to do all of the work."""
    ways = ways_of(a, b, c, I, J, K, n)
    ways[""] = sent(a, "", 2 * I * J, n) + sent(b, "", 2 * J * K, n)
    best = min(ways, key=ways.get)
    return best, ways[best]


def sums_that_are_split(a, b, c, I, J, K, n):
    """Splits J only where an array has it already."""
    return product(a, b, c, I, J, K, n, splits="IJK" if "J" in (a, b) else "IK")


def sums_split_alike(a, b, c, I, J, K, n):
    """Splits J only where both arrays have it already."""
    return product(a, b, c, I, J, K, n, splits="IJK" if a == b == "J" else "IK")


def placements_and_sizes(rng):
    """All 27 combinations of placements, each with several shapes, and the shapes that trip up habits."""
    rows = []
    for a, b, c in pairs(("I", "J", ""), ("J", "K", ""), ("I", "K", "")):
        for n in (2, 4, 8, 7):
            while True:
                I, J, K = (n * rng.choice((1, 3, 16, 64, 100, 640)) for _ in range(3))
                ways = sorted(set(ways_of(a, b, c, I, J, K, n).values()))
                if all(y - x > 1e-6 * y for x, y in pairwise(ways)):
                    break
            rows.append((a, b, c, I, J, K, n))
    few = ("I", "", "I", 1, 1, 1, 1), ("I", "K", "I", 7, 7, 14, 7), ("", "", "", 1, 8, 13, 2)
    few += ("J", "J", "K", 4, 4, 8, 2), ("J", "K", "", 2, 4, 2, 2)  # J and K are equally good
    return [*rows, *few, ("I", "K", "I", 104, 640, 64, 8)]  # in the last J is split by neither, and should be


LAB_PRODUCT = Exercise(
    id="sharded-matmuls-lab-product",
    title="Lab: the algebra of a product",
    points=4,
    lines=8,
    prompt="One mesh axis of n devices, and a product A[I, J] · B[J, K] = C[I, K] in bf16. A placement is the letter "
    'of the dimension that the axis splits, or `""` for a copy on every device: `a` is `I`, `J` or `""`, `b` is '
    '`J`, `K` or `""`, and the result is wanted as `c`: `I`, `K` or `""`. Every device does one n-th of the FLOPs: '
    "the local product splits I, J or K. Return that letter for the way in which a device sends the fewest bytes, and "
    "these bytes, as a tuple; of equal ways the earlier letter. `sent(before, after, S, n)` of the text is "
    "at hand. *Exact*. Judged over all placements of A, B and C.",
    answer=Function(
        "product",
        "product(a, b, c, I, J, K, n)",
        cases=placements_and_sizes,
        mutants={
            "of equal ways the earlier letter": partial(product, splits="KJI"),
            "the earlier of all three": partial(product, splits="IKJ"),
            "there may be one device": lambda *a: product(*a) if 1 // (a[-1] - 1) < 2 else ("I", 0),
            "the wanted placement may be a copy": lambda a, b, c, *sizes: product(a, b, c or "I", *sizes),
            "n need not be a power of two": lambda *a: product(*a[:-1], 1 << (a[-1].bit_length() - 1)),
            "sizes of their own": lambda a, b, c, I, J, K, n: product(a, b, c, I, J, J, n),
        },
    ),
    solution=product,
    withholds=("hwlib.sharding",),
    mistakes=(
        Mistake(
            partial(product, finish=False),
            "The inputs are priced. In which placement does the local product come out, and in which is it wanted?",
        ),
        Mistake(partial(product, price=gathered), "Moving a letter from one dimension to another needs no gather."),
        Mistake(
            partial(product, price=summed_once),
            "An open sum that everybody wants in full has to be added up, and then?",
        ),
        Mistake(partial(product, price=sums_free), "When J is split, each device has one term of C. Who adds them up?"),
        Mistake(
            partial(product, price=slices_cost), "Of what a device has in full, it can keep a part without asking."
        ),
        Mistake(by_the_cases, "That is the textbook's rule. An array may be exchanged or sliced instead of gathered."),
        Mistake(with_copies, "In that way every device does all of the FLOPs."),
        Mistake(partial(product, b_el=1), "How many bytes has an element?", name="element-bytes"),
        Mistake(partial(product, splits="IK"), "Splitting J is a way too, even where neither array has it yet."),
        Mistake(sums_that_are_split, "Splitting J may be the best way even if neither A nor B has it split."),
        Mistake(
            partial(product, price=scattered_twice),
            "A reduce-scatter is one half of an all-reduce.",
            name="half-an-all-reduce",
        ),
        Mistake(
            partial(product, price=to_first_order),
            "To first order. Exactly, a device keeps a part of what it has.",
            name="own-share",
        ),
        Mistake(partial(product, price=of_a_part), "S is the whole array of the group, not one device's part."),
        Mistake(
            partial(product, price=of_all_devices),
            "Those are the bytes of all n devices. One device is asked for.",
            name="one-for-all",
        ),
        Mistake(partial(product, choose=max), "Of the three ways, that is the dearest."),
        Mistake(
            partial(product, summed="J"),
            "A product that splits J does not come out split by J, for C has no J. What is it?",
        ),
        Mistake(
            lambda *args: product(*args, splits="KJI"),
            "The bytes are right. Where two ways send equally many, which of their letters is asked for?",
        ),
        Mistake(
            sums_split_alike,
            "Splitting J may be the best way even where only one of A and B has it split already.",
        ),
        Mistake(
            lambda a, b, c, I, J, K, n: product(a, b, c, I, J, K, n)[::-1], "Both are right: the letter comes first."
        ),
    ),
    hints=(
        "Try the three letters in turn. Splitting I wants A as I and B on every device, and makes C as I.",
        "What does splitting J want, and what does it make? `sent` knows the open sum as `U`.",
    ),
    explain="The letter that is split in the local product says what the inputs must be: I wants A as I and B whole, K "
    "wants B as K and A whole, J wants both as J. It also says what comes out: I, K, or, for J, an open sum. So each "
    "letter costs `sent` of A, plus `sent` of B, plus `sent` of the result to `c`, and the smallest of three sums "
    "is the answer. The four cases are what these sums say where one way is free, or nearly.",
)


# Backward
def renamed(letters):
    """Placements under other names of the dimensions; copies stay copies."""
    return lambda placement: dict(zip("IJK", letters, strict=True)).get(placement, placement)


def backward(a, b, c, I, J, K, n, **other):
    first, second = renamed("IKJ"), renamed("JIK")
    dA = product(first(c), first(b), first(a), I, K, J, n, **other)
    dB = product(second(a), second(c), second(b), J, I, K, n, **other)
    return dA[1] + dB[1]


def forward_twice(a, b, c, I, J, K, n):
    return 2 * product(a, b, c, I, J, K, n)[1]


def first_gradient(a, b, c, I, J, K, n):
    first = renamed("IKJ")
    return product(first(c), first(b), first(a), I, K, J, n)[1]


def second_gradient(a, b, c, I, J, K, n):
    second = renamed("JIK")
    return product(second(a), second(c), second(b), J, I, K, n)[1]


def wanted_everywhere(a, b, c, I, J, K, n):
    first, second = renamed("IKJ"), renamed("JIK")
    return product(first(c), first(b), "", I, K, J, n)[1] + product(second(a), second(c), "", J, I, K, n)[1]


def whole_gradient_at_hand(a, b, c, I, J, K, n):  # noqa: ARG001
    return backward(a, b, "", I, J, K, n)


def letters_kept(a, b, c, I, J, K, n):
    return product(c, b, a, I, K, J, n)[1] + product(a, c, b, J, I, K, n)[1]


def dearer(a, b, c, I, J, K, n):
    return max(first_gradient(a, b, c, I, J, K, n), second_gradient(a, b, c, I, J, K, n))


def sizes_kept(a, b, c, I, J, K, n):
    first, second = renamed("IKJ"), renamed("JIK")
    dA = product(first(c), first(b), first(a), I, J, K, n)
    return dA[1] + product(second(a), second(c), second(b), I, J, K, n)[1]


def some_letters_kept(a, b, c, I, J, K, n):
    return product("J" if c == "K" else c, b, a, I, K, J, n)[1] + product(a, c, b, J, I, K, n)[1]


def spelled_out(a, b, c, I, J, K, n, finish=True, at_hand=False):
    """The ways of both gradients, by the letter that is split."""
    A, B, C = 2 * I * J, 2 * J * K, 2 * I * K
    dA = {
        "I": sent(c, "I", C, n) + (0 if at_hand else sent(b, "", B, n)) + sent("I", a, A, n),
        "J": sent(c, "", C, n) + sent(b, "J", B, n) + sent("J", a, A, n),
        "K": sent(c, "K", C, n) + sent(b, "K", B, n) + (sent("U", a, A, n) if finish else 0),
    }
    dB = {
        "I": sent(a, "I", A, n) + sent(c, "I", C, n) + (sent("U", b, B, n) if finish else 0),
        "J": sent(a, "J", A, n) + sent(c, "", C, n) + sent("J", b, B, n),
        "K": sent(a, "", A, n) + sent(c, "K", C, n) + sent("K", b, B, n),
    }
    return dA, dB


def cheapest(*args, **other):
    return sum(min(ways.values()) for ways in spelled_out(*args, **other))


def split_alike(*args):
    dA, dB = spelled_out(*args)
    return min(dA[letter] + dB[letter] for letter in "IJK")


def open_copies(a, b, c, I, J, K, n):
    return backward(a, b, c or "U", I, J, K, n)


def open_gradient(a, b, c, I, J, K, n):  # noqa: ARG001
    return backward(a, b, "U", I, J, K, n)


def all_passes(a, b, c, I, J, K, n):
    return product(a, b, c, I, J, K, n)[1] + backward(a, b, c, I, J, K, n)


LAB_BACKWARD = Exercise(
    id="sharded-matmuls-lab-backward",
    title="Lab: the way back",
    points=3,
    lines=6,
    prompt="The same product in training. Backward, dC arrives placed as C, A and B are still placed as `a` and `b`, "
    "and each gradient is wanted in the placement of its array: dA = dC · Bᵀ as `a`, and dB = Aᵀ · dC as "
    "`b`. Each of the two products splits its FLOPs among all n devices. Return the fewest bytes that a device sends "
    "for both together; nothing that one product moved serves the other. Your `product` may be used. *Exact*.",
    answer=Function(
        "backward",
        "backward(a, b, c, I, J, K, n)",
        cases=placements_and_sizes,
        mutants={
            "there may be one device": lambda *a: backward(*a) if 1 // (a[-1] - 1) < 2 else 0,
            "n need not be a power of two": lambda *a: backward(*a[:-1], 1 << (a[-1].bit_length() - 1)),
            "the placement of A": lambda a, *rest: backward(a or "I", *rest),
            "and of B": lambda a, b, *rest: backward(a, b or "K", *rest),
            "sums may be split": partial(backward, splits="IK"),
        },
    ),
    solution=backward,
    withholds=("hwlib.sharding",),
    mistakes=(
        Mistake(forward_twice, "These are the bytes of the forward product, twice. Which array is now the result?"),
        Mistake(first_gradient, "That is the gradient of A alone."),
        Mistake(second_gradient, "That is the gradient of B alone."),
        Mistake(letters_kept, "Which letter does each of these products sum over? It is not J any more."),
        Mistake(
            some_letters_kept,
            "`product` reads all its placements by its own I, J and K. Rename the letters of all three arrays.",
        ),
        Mistake(
            sizes_kept,
            "The placements are renamed, and the sizes go in as they were. Which size has the sum of each product?",
        ),
        Mistake(
            partial(cheapest, finish=False), "Where a product splits its sum, the gradient is open. Who adds it up?"
        ),
        Mistake(
            partial(cheapest, at_hand=True),
            "You take B as gathered already. Nothing that was moved before serves this product.",
        ),
        Mistake(split_alike, "The two products may split different letters, each what is cheapest for it."),
        Mistake(open_copies, "A copy of dC on every device is whole: it is no open sum."),
        Mistake(partial(backward, b_el=1), "How many bytes has an element?", name="element-bytes"),
        Mistake(dearer, "Both gradients are computed, one after the other."),
        Mistake(open_gradient, "dC does not arrive as an open sum, but placed as C."),
        Mistake(all_passes, "The forward product is not part of the question.", name="backward-too"),
        Mistake(partial(backward, b_el=4), "Gradients move in bf16 here, like everything else."),
        Mistake(
            partial(backward, price=to_first_order),
            "To first order. Exactly, a device keeps a part of what it has.",
            name="own-share",
        ),
        Mistake(
            partial(backward, price=of_all_devices),
            "Those are the bytes of all n devices. One is asked for.",
            name="one-for-all",
        ),
        Mistake(wanted_everywhere, "A gradient is not wanted on every device, but placed as its array."),
        Mistake(whole_gradient_at_hand, "dC is not on every device: it is placed as C."),
        Mistake(partial(backward, finish=False), "The results are wanted in a placement. Which sums stay open?"),
        Mistake(
            partial(backward, price=summed_once),
            "An open sum that everybody wants in full has to be added up, and then?",
        ),
        Mistake(partial(backward, price=gathered), "Moving a letter from one dimension to another needs no gather."),
    ),
    hints=(
        "In dA[I, J] = dC[I, K] · Bᵀ[K, J] the letter that is summed over is K. Give the three letters new names.",
        "So `product` is called with c, b, a and with I, K, J: rename the letters of the placements to match.",
    ),
    explain="dA = dC · Bᵀ sums over K: rename K to J and J to K, and it is `product(c, b, a, I, K, J, n)` with the "
    "placements renamed. dB = Aᵀ · dC sums over I: rename I and J, and it is `product(a, c, b, J, I, K, n)`. Where "
    "the forward product gathers B, split along J, and leaves C as I, the gradient of B becomes an open sum over the "
    "same axis and is scattered: the transpose of a gather is a reduce-scatter.",
)

GATHER_OR_SUM = Exercise(
    id="sharded-matmuls-gather-or-sum",
    title="Gather the weight, or add up the result?",
    points=3,
    prompt="`n` devices have all of the activations x[B, D] and share the weight W[D_X, F]; both in bf16, and "
    "every device wants all of the result. Either they gather W and every device multiplies everything, or each "
    "slices x, multiplies its own part and they all-reduce the results. Arithmetic at `C` FLOP/s and the "
    "collective, a ring at `W` bytes a second, overlap perfectly in both. From which D on is the second way "
    "faster? *Exact* in bandwidth, with the (n − 1)/n; `minimum` and `maximum` take two arguments.",
    answer=Expression(
        {
            "B": positive("token", 64, 65536),
            "n": integers(2, 512),
            "C": positive("FLOP/s", 1e14, 5e15),
            "W": positive("B/s", 2e10, 2e12),
        },
        "1",
    ),
    solution=lambda B, n, C, W: minimum(2 * B, 2 * (n - 1) / n * C / W),
    mistakes=(
        Mistake(lambda B: 2 * B, "That is where the bytes are equal. What if the first way's arithmetic takes longer?"),
        Mistake(
            lambda n, C, W: 2 * (n - 1) / n * C / W,
            "That compares the second way's bytes with the first way's arithmetic. What if its bytes take longer?",
        ),
        Mistake(
            lambda B, n, C, W: maximum(2 * B, 2 * (n - 1) / n * C / W),
            "Both conditions are there. The first way is slow as soon as *one* of its two clocks is.",
        ),
        Mistake(
            lambda B, C, W: minimum(2 * B, 2 * C / W),
            "To first order. Exactly, a ring of n sends (n − 1)/n of an array.",
            name="own-share",
        ),
        Mistake(
            lambda B, n, C, W: minimum(B, (n - 1) / n * C / W),
            "An all-reduce sends twice what a gather sends: its sums travel, and then its results.",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda B, n, C, W: minimum(2 * B, (n - 1) / n * C / W),
            "The bound by bytes is right. In the bound by arithmetic: how often does the result pass in an all-reduce, "
            "and how many bytes has an element?",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda B, n, C, W: minimum(B, 2 * (n - 1) / n * C / W),
            "The bound by arithmetic is right. In the bound by bytes: how often does the result pass in an all-reduce?",
            name="half-an-all-reduce",
        ),
        Mistake(
            lambda B, n, C, W: minimum(2 * B, 2 * (n - 1) * C / W),
            "Who shares the arithmetic in the first way, and who in the second?",
        ),
    ),
    hints=(
        "Write the time of either way as a maximum. Its arithmetic can never make the second way the slower one: why?",
        "So compare the all-reduce with each of the first way's clocks. One of them being longer is enough.",
    ),
    explain="With g = (n − 1)/n the first way takes `max(2*B*D*F/C, 2*g*D*F/W)` and the second `max(2*B*D*F/(n*C), "
    "4*g*B*F/W)`. The second way's arithmetic is an n-th of the first's, so only its all-reduce can make it slower. It "
    "is faster once `4*g*B*F/W` is below one of the first way's clocks: below `2*g*D*F/W` from D = 2B on, below "
    "`2*B*D*F/C` from `D = 2*g*C/W` on. So from the smaller of the two on. "
    f"Eight H100s: {2 * 7 / 8 * C / W_IN:,.0f}, or twice the batch if that is less.",
)

# How long a sum has to be
CONTRACTING_WIDTH = Exercise(
    id="sharded-matmuls-contracting-width",
    title="Wide enough for n devices",
    points=3,
    prompt="`n` devices split the contracting dimension of x[B, D] · W[D, F], whose elements have `b` bytes, and "
    "reduce-scatter the partial sums, in a ring at `W` bytes a second each. They compute at `C` FLOP/s, and the "
    "two overlap perfectly. From which D on does arithmetic take longer? *Exact* in bandwidth.",
    answer=Expression(
        {
            "n": integers(2, 1024),
            "b": positive("B", 1, 4),
            "C": positive("FLOP/s", 1e14, 5e15),
            "W": positive("B/s", 2e10, 2e12),
        },
        "1",
    ),
    solution=lambda n, b, C, W: b * (n - 1) * C / (2 * W),
    mistakes=(
        Mistake(lambda b, C, W: b * C / W, "That is the text's pair of devices. What do n of them send, and compute?"),
        Mistake(
            lambda n, b, C, W: b * (n - 1) * C / W,
            "Twice the answer: is it an all-reduce, where nobody wants all of the result, are the bytes of two arrays "
            "counted for one, or is a product with its addition one operation?",
            name="all-reduce-for-half",
            names_all=True,
        ),
        Mistake(
            lambda n, b, C, W: b * (n - 1) / n * C / (2 * W),
            "Too little by a factor of n: how much of the arithmetic does every device do, and whose bandwidth is W?",
        ),
        Mistake(
            lambda n, b, C, W: b * n * C / (2 * W),
            "To first order. Of its term, a device keeps one part.",
            name="own-share",
        ),
        Mistake(
            lambda n, b, C, W: b * (n - 1) * C / W / 4,
            "Half of it: W already is what a device sends, and a product with its addition is two FLOPs.",
            names_all=True,
        ),
        Mistake(lambda n, b, C, W: (n - 1) * C / W + 0 * b, "That is bf16. The elements have b bytes."),
        Mistake(
            lambda b, C, W: b * C / (2 * W),
            "So it is for two devices. Of n, each has W for all that it sends to all others.",
        ),
        Mistake(lambda n, b, C, W: 2 * W / (b * (n - 1) * C), "Upside down: a faster network needs less width."),
    ),
    hints=(
        "A device does an n-th of 2BDF operations. How many bytes does it send of its partial sum [B, F]?",
        "Set the two times equal: B and F drop out.",
    ),
    explain="A device does `2*B*D*F/n` operations, in `2*B*D*F/(n*C)`. Its partial sum has `b*B*F` bytes, of which it "
    "sends `(n - 1)/n`, in `b*B*F*(n - 1)/(n*W)`. Equal times: `D = b*(n - 1)*C/(2*W)`. Each device more "
    "costs as much again, because it does less and sends more. On H100s in bf16 that is "
    f"{C / W_IN:,.0f} for each other GPU in the node and {C / W_GPU:,.0f} through one card.",
)


def level_width(X, Y, W_in, W_node, C):
    return X * Y * C * max((Y - 1) / Y / W_in, (X - 1) / X / W_node)


LEVEL_WIDTH = Exercise(
    id="sharded-matmuls-level-width",
    title="Wide enough for several nodes",
    points=3,
    prompt="A sum over J in bf16 is split over {X} nodes of {Y} GPUs; the result `C[I, K]{ U_XY }` is reduce-scattered "
    "over both: {W_in:B/s} for each GPU inside its node, {W_node:B/s} out of every node, one way, and both levels "
    "work at once. A GPU computes {C:FLOP/s}. From which J on does arithmetic take longer than the "
    "reduce-scatter? *Exact* for this model: bandwidth only, the sum is formed in the node before it leaves.",
    given=[
        dict(X=X, Y=8, W_in=node.scaleup_bandwidth, W_node=node.egress_bandwidth, C=peak)
        for X, node, peak in ((16, B200, C_B200), (4, H100, C), (16, H100, C), (3, H100, C), (4, B200, C_B200))
    ],
    answer=Quantity("1", rtol=0.005),
    solution=level_width,
    harmless=dict.fromkeys(
        ("Y for Y - 1", "Y + 1 for Y - 1"),
        "where the network decides, what goes on inside a node is a mistake of its own",
    ),
    mistakes=(
        Mistake(
            lambda X, Y, W_node, C: X * Y * C * (X * Y - 1) / (X * Y) / (W_node / Y),
            "So it would be if every GPU's whole term left the node. What has the node added up before?",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * Y * C / min(W_in, W_node),
            "To first order. Exactly, a GPU keeps a part of its term, and a node a part of its sum.",
            name="own-share",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * Y * C * ((Y - 1) / Y / W_in + (X - 1) / X / W_node),
            "That is one level after the other.",
            name="times-added",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: C * max((Y - 1) / Y / W_in, (X - 1) / X / W_node),
            "That lets every GPU do all of the arithmetic.",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: 2 * level_width(X, Y, W_in, W_node, C),
            "Twice too much: each GPU keeps its part, so nothing is gathered again; a product and its addition are two "
            "operations; and the rates are one way already.",
            names_all=True,
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * Y * C * max((Y - 1) / Y / W_in, (X - 1) / X / (W_node / Y)),
            "All cards of a node carry it out together, and it is one sum, not one for each GPU.",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * C * max((Y - 1) / Y / W_in, (X - 1) / X / W_node),
            "Too little by a factor of Y: the GPUs of a node share the arithmetic too, and the rate out of a node is "
            "all that its GPUs have together.",
            names_all=True,
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: Y * C * max((Y - 1) / Y / W_in, (X - 1) / X / W_node),
            "The nodes share the arithmetic too.",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: level_width(X, Y, W_in, W_node, C) / 2,
            "An element of C has two bytes, and each term of it takes two operations: one of these twos is missing.",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * Y * C * (X * Y - 1) / (X * Y) / W_in,
            "So it would be inside one large node. What leaves a node, and how fast?",
        ),
        Mistake(
            lambda X, Y, W_in, W_node, C: X * Y * C / max(Y / (Y - 1) * W_in, X / (X - 1) * W_node),
            "Which of two levels that work at once decides?",
        ),
    ),
    hints=(
        "What does a GPU send of S = 2·I·K bytes inside its node, and what does a node send of its sum to the others?",
        "The longer of these times against 2·I·J·K operations on all GPUs: I and K drop out.",
    ),
    explain="S = `2*I*K`. Inside, a GPU sends `(Y - 1)/Y*S` at {W_in:B/s}. Then the node has one sum, and "
    "`(X - 1)/X*S` of it leaves at {W_node:B/s}, through all cards. The longer of the two is `S*m`. Arithmetic takes "
    "`2*I*J*K/(X*Y*C)`, with X = {X}, Y = {Y}, C = {C:FLOP/s}, so `J = X*Y*C*m`. It grows with all GPUs and m does "
    "not: a sum is best split over few devices, and inside a node first.",
)

MEASURED_WIDTH = Exercise(
    id="sharded-matmuls-measured-width",
    title="Wide enough, as measured",
    points=2,
    prompt="A product of {T} tokens has J split over {n} H200s and leaves a partial sum [{T} × {K}] in bf16 on each, "
    "{S:B}. An all-reduce of that size on {n} H200s was measured at a *bus bandwidth* of {W_bus:B/s}. From which J on "
    "does the arithmetic, at {C:FLOP/s}, take longer than the all-reduce? *Exact* for these rates.",
    given=[
        dict(n=8, T=S // (2 * K), K=K, S=S, W_bus=sweep()[S].bus_bandwidth, C=accelerators["h200-sxm"].bf16_flops)
        for S, K in ((64 * MiB, 8192), (16 * MiB, 4096), (4 * MiB, 8192))
    ],
    answer=Quantity("1"),
    solution=lambda n, W_bus, C: 2 * (n - 1) * C / W_bus,
    mistakes=(
        Mistake(
            lambda n, C: 2 * (n - 1) * C / W_IN,
            "That is the data sheet's bandwidth. The measurement has its own.",
            name="peak-for-sustained",
        ),
        Mistake(
            lambda n, W_bus, C: n * C / W_bus,
            "The time is not the array over the bus bandwidth. What does a benchmark multiply S/t by?",
        ),
        Mistake(
            lambda n, W_bus, C: (n - 1) * C / W_bus,
            "Half of it: is that a reduce-scatter, or are the elements of one byte?",
            names_all=True,
        ),
        Mistake(
            lambda n, W_bus, C: 2 * (n - 1) / n * C / W_bus,
            "That lets every GPU do all of the arithmetic.",
        ),
        Mistake(
            lambda W_bus, C: 2 * C / W_bus,
            "Too little by n − 1: n devices share the arithmetic, and the bus factor belongs to the time.",
        ),
        Mistake(
            lambda n, W_bus, C: 2 * n * (n - 1) * C / W_bus,
            "Too much by a factor of n: each GPU sends its own partial sum, which has S bytes, and not all n of them.",
            names_all=True,
        ),
        Mistake(
            lambda n, W_bus, C: 4 * (n - 1) * C / W_bus,
            "Twice too much: a product and its addition are two operations, an element has two bytes, and bus "
            "bandwidth is one way already. Which did you count twice?",
            names_all=True,
        ),
        Mistake(
            lambda n, W_bus, C: 4 * (n - 1) ** 2 / n * C / W_bus,
            "Bus bandwidth has the 2(n − 1)/n in it already: you applied it twice.",
        ),
        Mistake(
            lambda n, W_bus, C: n**2 / (2 * (n - 1)) * C / W_bus,
            "The bus factor is the other way round: bus bandwidth is larger than S/t.",
            name="upside-down",
        ),
        Mistake(
            lambda n, W_bus, C: 2 * n * C / W_bus, "Its own part of the result a GPU need not send.", name="own-share"
        ),
    ),
    hints=(
        "From the bus bandwidth to the time: bus bandwidth is S/t times 2(n − 1)/n.",
        "Each of n GPUs does an n-th of 2·T·J·K operations.",
    ),
    explain="Bus bandwidth is `2*(n - 1)/n*S/t`, so the all-reduce took `2*(n - 1)/n*S/W_bus`, W_bus = {W_bus:B/s} "
    "and S = `2*T*K`. The arithmetic takes `2*T*J*K/(n*C)`. Equal: `J = 2*(n - 1)*C/W_bus`. A small array has little "
    "bus bandwidth, so the fewer tokens, the wider the sum has to be, which the model without latency does not say.",
)

# What DTensor inserts
PREDICT_DTENSOR = Exercise(
    id="sharded-matmuls-predict-dtensor",
    title="Predict: two products on 2,048 ranks",
    predict=True,
    prompt="2,048 ranks, a mesh of X = 256 and Y = 8. The activations are `[Shard(0), Replicate()]`, the first weight "
    "is split by columns over Y, the second by rows. `y = x @ W1 @ W2` runs forward, and nobody looks at y. How many "
    "collectives has a rank called? *Exact*.",
    answer=Choice({"none": "none", "one": "one", "two": "two", "three": "three"}, ordered=True),
    solution="none",
    mistakes=(
        Mistake("one", "One is needed to use y. Does DTensor add up what nobody has asked for?"),
        Mistake("two", "How does the first product leave its columns, and how does the second want its rows?"),
        Mistake("three", "Which of the two products moves an input?"),
    ),
    hints=("Write both products in the notation. What is open at the end?",),
    explain="The first is a product of case 1, the second of case 3, and y stays `Partial()` over Y until asked for.",
)

COUNT = Exercise(
    id="sharded-matmuls-count",
    title="Count them: forward and backward",
    points=3,
    prompt="On the same mesh, x[T, D] is `[Shard(0), Replicate()]`; {k} weights [D × F] are `[Replicate(), Shard(1)]`, "
    "one weight [F × D] is `[Replicate(), Shard(0)]`. h is the elementwise product of the {k} products x @ W, and "
    "y = h @ W_down is redistributed to x's placements. Backward, dy arrives in these placements; the gradients of x "
    "and of all {k_and_1} weights are computed by autograd, and at the end each is redistributed to the placements of "
    "its array. How many collectives does a rank call in all? *Exact*; predict, then count with `virtual`.",
    given=[dict(k=k, k_and_1=k + 1) for k in (4, 6, 5)],
    answer=Count(of="collective"),
    solution=lambda k: k + 3,
    mistakes=(
        Mistake(lambda k: 2 * k + 2, "The gradients of x are added up on each device before anybody adds them across."),
        Mistake(lambda k: k + 2, "y, the weights' gradients, x's gradient: one of these is missing."),
        Mistake(
            lambda k: k + 1,
            "These are not all: go through y, the gradient of every weight, and x's gradient, over X and over Y.",
        ),
        Mistake(
            lambda k: k + 4,
            "One too many. The gradient of what an all-reduce made is already whole on every rank.",
            name="half-an-all-reduce",
        ),
        Mistake(lambda k: 2, "Those are the collectives over Y. Along X the ranks have different tokens."),
        Mistake(lambda k: 1, "That is the forward pass.", name="forward-only"),
        Mistake(lambda k: 2 * k + 6, "An all-reduce is one call, though it does the work of two."),
        Mistake(
            lambda k: 2 * k + 4, "Over which axes is the gradient of a weight an open sum? Over one, for Y splits F."
        ),
        Mistake(lambda k: 3, "The gradient of every weight is an open sum of its own."),
        Mistake(lambda k: k, "One for each of the first products, and none for the last, for y and for x?"),
        Mistake(lambda k: 3 * k + 3, "Most of these products need nothing: which of their sums does an axis split?"),
        Mistake(lambda k: 2 * k + 3, "Does the elementwise product of split arrays need anything?"),
    ),
    hints=(
        "Along X each rank has its own tokens: which gradients become open sums over X?",
        "Along Y: what is open after W_down, and what after going back through the first weights?",
    ),
    explain="Forward, the first products are of case 1 and the elementwise product needs nothing; y is open over Y: "
    "one. Backward, h's gradient is split like h for nothing, and x's is a sum of {k} terms, each open over Y. "
    "They are added locally and then once across: two. Every weight's gradient sums over the tokens, which X splits: "
    "one for each of {k} + 1 weights.",
)

FIX = Exercise(
    id="sharded-matmuls-fix",
    title="One line to shorten it",
    points=2,
    prompt="In the slow program of the opening question the first weight has to stay as it is, split along the sum. "
    "Which one line saves the most bytes on the network, at the same FLOPs on every GPU? *To first order*.",
    answer=Choice(
        {
            "features": "redistribute h to `Shard(1)`, its features, before `relu`",
            "tokens": "redistribute h to `Shard(0)`, its tokens, before `relu`",
            "whole": "redistribute h to `Replicate()` before `relu`",
            "input": "redistribute x to `Shard(1)` before the first product",
            "after": "apply `relu` after the second product",
        }
    ),
    solution="features",
    mistakes=(
        Mistake(
            "tokens", "That scatters too. And what does the second product, whose weight splits the features, need?"
        ),
        Mistake("whole", "Is that not what is done already?"),
        Mistake("input", "x is whole on every GPU, and a slice of it is free already."),
        Mistake("after", "That is another function: a nonlinear one does not pass a product."),
    ),
    hints=("Which placement of h does the second product want? And how does an open sum get there?",),
    explain="h is an open sum, and the second product wants it split along the features. A reduce-scatter does just "
    "that and sends half of what an all-reduce sends; `relu` then works on an eighth. The other half of the sum of h "
    "is still there: it goes only with the placement of the weight.",
)


# A product on real ranks
def product_inputs(case, generator):
    """Each rank's columns of A and rows of B."""
    width = case["J"] // case.n
    return [
        {
            "A": generator.normal(size=(case["I"], width)).astype(case.dtype),
            "B": generator.normal(size=(width, case["K"])).astype(case.dtype),
        }
        for _ in range(case.n)
    ]


def ring_product(rank, n, A, B, first=1, at_once=False, back=1, late=0, more=0, owner=True):
    import torch
    import torch.distributed as dist

    rows = A.chunk(n)
    whole = A @ B if at_once else None

    def of(block):
        return rows[block % n] @ B if whole is None else whole.chunk(n)[block % n].contiguous()

    part = of(rank - first)
    for k in range(1, n + more):
        got = torch.empty_like(part)
        works = [dist.isend(part, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        mine = of(rank - first - back * (k - late))
        for work in works:
            work.wait()
        part = got + mine if owner or k < n - 1 else got
    return part


def whole_around(rank, n, A, B):
    import torch
    import torch.distributed as dist

    total = passing = A @ B
    for _ in range(n - 1):
        got = torch.empty_like(passing)
        works = [dist.isend(passing, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        for work in works:
            work.wait()
        total, passing = total + got, got
    return total.chunk(n)[rank].contiguous()


def own_term(rank, n, A, B):
    return A.chunk(n)[rank] @ B


def of_float32(rank, n, A, B):
    """Receives into a tensor of the default type, whatever that of the inputs is."""
    import torch
    import torch.distributed as dist

    part = A.chunk(n)[(rank - 1) % n] @ B
    for k in range(1, n):
        got = torch.empty(part.shape)
        works = [dist.isend(part, (rank + 1) % n), dist.irecv(got, (rank - 1) % n)]
        mine = A.chunk(n)[(rank - 1 - k) % n] @ B
        for work in works:
            work.wait()
        part = got + mine
    return part


def in_turn(rank, n, A, B):
    """Every rank receives before it sends, but for the first, which begins."""
    import torch
    import torch.distributed as dist

    part = A.chunk(n)[(rank - 1) % n] @ B
    for k in range(1, n):
        got = torch.empty_like(part)
        first, then = ("send", "recv") if rank == 0 else ("recv", "send")
        for call in (first, then):
            getattr(dist, call)(part if call == "send" else got, (rank + 1 if call == "send" else rank - 1) % n)
        part = got + A.chunk(n)[(rank - 1 - k) % n] @ B
    return part


LAB_RANKS = Exercise(
    id="sharded-matmuls-lab-ranks",
    title="Lab: multiply while you send",
    points=4,
    lines=10,
    prompt="Rank `rank` of n has its columns of A[I, J_X] and its rows of B[J_X, K]: tensors. Return its rows of the "
    "product, C[I_X, K]: block `rank` of n equal blocks of rows. The partial sums go around a ring, to rank + 1, one "
    "block of rows at a time, and each rank adds its term to the block that passes; it multiplies a block when that "
    "is due, and *never holds its whole term* of C. Judged *exactly* are the values, the bytes of the busiest rank and "
    "of all, and the rounds; the memory beside the inputs is at most five blocks. Time and "
    "overlap are not judged. I is a multiple of n.",
    answer=Distributed(
        "ring_product",
        signature="ring_product(rank, n, A, B)",
        inputs=product_inputs,
        cases=[
            Case(2, sizes={"I": 4, "J": 6, "K": 5}),
            Case(3, sizes={"I": 12, "J": 6, "K": 8}),
            Case(8, sizes={"I": 128, "J": 64, "K": 48}),
            Case(8, sizes={"I": 64, "J": 64, "K": 80}, dtype="float32"),
        ],
        calls=("send", "recv"),
        mutants={
            "the type of the inputs": of_float32,
            "as few rounds as around a ring": in_turn,
            "a block of several rows": lambda rank, n, A, B: ring_product(rank, n, A[:n], B),
        },
        rank_bytes=exactly(lambda case: (case.n - 1) * case["I"] // case.n * case["K"] * case.itemsize),
        rounds=at_most(lambda case: case.n - 1),
        memory=at_most(lambda case: 5 * case["I"] // case.n * case["K"] * case.itemsize),
    ),
    solution=ring_product,
    withholds=("hwlib.algorithms",),
    mistakes=(
        Mistake(
            partial(ring_product, at_once=True),
            "Values and bytes are right, but the whole term of C lies in memory before anything is sent.",
        ),
        Mistake(
            partial(ring_product, first=0),
            "Each rank ends with a finished block, and it is the wrong one. Which block does its left neighbour send?",
        ),
        Mistake(
            partial(ring_product, first=-1, back=-1),
            "You add to a block that is not the one that came in. Who sends to whom, and which block?",
        ),
        Mistake(
            partial(ring_product, late=1),
            "You add the term of the block that has just left to the one that came in. Which block is that one?",
        ),
        Mistake(
            partial(ring_product, more=1),
            "One round too many: the block was complete, and has moved on to the next rank.",
        ),
        Mistake(
            partial(ring_product, owner=False),
            "The last rank that a block comes to has a term of it as well: is it added?",
        ),
        Mistake(whole_around, "You send whole terms, n times as much. Who needs which rows of the sum?"),
        Mistake(
            own_term,
            "That is a rank's own term of its rows alone. Have the other ranks' terms come in when you add them?",
        ),
    ),
    hints=(
        "The block that ends with rank r has passed all the others before: with which rank did it begin?",
        "Post `isend` and `irecv`, multiply the next block meanwhile, then wait and add.",
    ),
    explain="Block r has to end with rank r, after everybody has added a term, so it begins at rank r + 1: a rank "
    "begins with block rank − 1. What comes in after k steps is block rank − 1 − k, to which the rank adds its own "
    "term, `A`'s rows of that block times `B`. After n − 1 steps that is block rank. A rank sends n − 1 blocks of "
    "`I/n*K` elements, as in any ring reduce-scatter, and holds the block that goes, the one that comes and the one "
    "that is computed. Multiplied between `isend` and `wait`, as here, the next block costs no time "
    "of its own while the network is the slower one.",
)

REVIEW = Exercise(
    id="sharded-matmuls-review",
    title="Review a plan",
    prompt="*“A[I, J_X] is split along the sum and B[J, K] is on every GPU, so this is case 2: we gather A, then "
    "multiply.”* I is 65,536 tokens, J is 28,672, K is 8,192; eight H100s of one node, bf16, and the result is wanted "
    "as C[I, K_X]. Review the plan, with numbers: what else could be done, what it sends and holds, what the choice "
    "depends on, and what follows backward.",
    answer=Written(
        rubric=(
            ("Names another way: slice B along J for nothing, multiply, reduce-scatter; or exchange A and then C", 1),
            ("Gives the bytes that a GPU sends in both ways, or their ratio K/J", 1),
            ("Compares the memory: the gathered A against the partial sum of C", 1),
            ("Says from which shapes on the gather is better: K above J, or above 7·J against exchanges", 1),
            ("Says what follows backward: the transposed moves, here a gather of dC", 1),
        ),
        words=200,
        criteria=False,
    ),
    solution="B is on every GPU, so each can keep the rows of B that match its columns of A, which costs nothing. Then "
    "the sum is split in both arrays, and a reduce-scatter over the features leaves C[I, K_X]. Gathering A sends 7/8 "
    "of 2·I·J, 3.3 GB a GPU; scattering C sends 7/8 of 2·I·K, 0.94 GB, a factor K/J = 0.29. Two exchanges send "
    "less still: A to rows and C from rows to columns, 7/64 of each, 0.53 GB, and nothing is held whole. The "
    "gathered A takes 3.8 GB beside its shard, the partial sum 1.1 GB. Both ways do an eighth of the FLOPs on "
    "each GPU, if the gather is followed by a product that splits K. The gather beats the scatter once K is "
    "larger than J, and the exchanges once K is above 7·J, before a product that widens. Backward, the transpose "
    "of the reduce-scatter is an all-gather of dC, again 2·I·K; dA = dC · Bᵀ then comes out split along J, and "
    "the gradient of B needs no sum over X, for every GPU computes the rows of its slice; where B is kept whole "
    "they are gathered.",
    hints=(
        "What is free if B lies on every GPU?",
        "Which array is moved in each way, and which dimension does it lack?",
    ),
)

"""Exercises on the square of multipliers of a TPU."""

from math import ceil

from autograder.answers import Expression, Quantity, integers, multiples
from autograder.declaration import Exercise, Mistake
from hwlib.formula import maximum


def both_products(T, H, side):
    """Share of the multipliers' cycles: queries by keys, then scores by values, one after the other."""
    tiles = ceil(H / side) * ceil(T / side)
    return 2 * T * T * H / (side**2 * ((2 * tiles - 1) * max(T, side) + T + 3 * side - 2))


EXPERTS = Exercise(
    id="machines-expert-cycles",
    title="Experts on a square",
    points=2,
    prompt="A systolic array of `a` × `a` multipliers computes one matrix of `E` experts, each `D` × `F` with D and F "
    "multiples of a. The `R` rows that arrive are dealt evenly, R/E for each expert. While the rows of one tile "
    "pass, the weights of the next shift in, one row of a tile a cycle; whichever takes longer holds the other up. "
    "How many cycles does it take, as a real number? *To first order*: without the first load and the last rows' "
    "way out.",
    answer=Expression(
        {
            "a": integers(64, 256),
            "E": integers(2, 256),
            "D": multiples("a", 1, 32),
            "F": multiples("a", 1, 32),
            "R": integers(64, 200000),
        },
    ),
    solution=lambda a, E, D, F, R: E * D * F / a**2 * maximum(R / E, a),
    mistakes=(
        Mistake(
            lambda a, D, F, R: D * F * R / a**2,
            "That is the work over the multipliers. What if an expert has fewer rows than a tile of weights?",
        ),
        Mistake(
            lambda a, E, D, F, R: D * F / a**2 * maximum(R, E * a) / E,
            "Are these the tiles of one expert, or of all?",
        ),
        Mistake(
            lambda a, E, D, F, R: E * D * F / a**2 * (R / E + a),
            "Weights shift in while rows pass: the longer of the two counts, not their sum.",
        ),
        Mistake(
            lambda a, E, D, F, R: E * D * F / a**2 * maximum(R, a),
            "Every expert sees its own rows only.",
        ),
        Mistake(lambda a, E, D, F: E * D * F / a, "That is for few rows: each tile takes as long as its weights."),
    ),
    hints=(
        "How many tiles have all experts together? How many cycles does one take if its expert has R/E rows?",
        "A tile takes R/E cycles for its rows, and a cycles for the next weights, at once.",
    ),
    explain="There are E·(D/a)·(F/a) tiles. A tile's rows take R/E cycles, and meanwhile the a rows of the next tile's "
    "weights shift in, so a tile takes the longer of the two. Below a rows an expert the array waits for weights, "
    "and works R/(E·a) of its time: an expert needs as many rows as the square has, whatever the memory delivers.",
)

ATTENTION = Exercise(
    id="machines-attention-share",
    title="Heads on a wide square",
    points=2,
    prompt="Attention of one head over {T} tokens, no mask: queries by keys is a product of {T} rows, depth {H}, {T} "
    "columns; scores by values one of {T} rows, depth {T}, {H} columns. Both run one after the other on a square of "
    "{side} × {side} multipliers that keeps tiles of keys or values and pads them. While the rows of one tile pass, "
    "the next shifts in, padded to {side} rows, one a cycle; the longer of the two counts. The first tile of values "
    "shifts in behind the last one of keys in the same way. The very first load takes {side} cycles, and after the "
    "very last row has entered 2·{side} − 2 cycles pass. Which share of the multipliers' cycles does the work? "
    "*Exact*.",
    given=[
        dict(T=1900, H=128, side=256),
        dict(T=3000, H=64, side=256),
        dict(T=320, H=128, side=256),
    ],
    answer=Quantity("1", rtol=0.003),
    solution=both_products,
    mistakes=(
        Mistake(lambda H, side: H / side, "That is the padding. Which cycles are left out?"),
        Mistake(
            lambda T, H, side: T / (T + 3 * side - 2),
            "That is the filling, as if the head filled the square. How much of a tile is padding?",
        ),
        Mistake(
            lambda T, H, side: T * T * H / (side**2 * ((2 * ceil(T / side) - 1) * max(T, side) + T + 3 * side - 2)),
            "The cycles are those of both products, the work is that of one, or of half the scores.",
            names_all=True,
        ),
        Mistake(
            lambda T, H, side: T * T * H / (side**2 * (ceil(T / side) * T + 3 * side - 2)),
            "Each product fills and drains the square here. What shifts in while the last tile of keys is at work?",
        ),
        Mistake(
            lambda T, H, side: T * T * H / (side**2 * (ceil(T / side) * (max(T, side) + 3 * side - 2))),
            "Each tile loads and drains here. Which of these loads hides behind rows?",
        ),
    ),
    withholds=("hwlib.hierarchy",),
    hints=(
        "The second product has its depth cut into tiles, the first its columns: how many tiles has each?",
        "Work: 2·T²·H multiplications. Cycles: tiles of both, times T rows each, since T is more than a side here, and "
        "3·side − 2 once.",
    ),
    explain="Each product has T/side tiles, rounded up, since H is less than a side and is padded to one. So, with "
    "more rows than a side, the cycles are 2·⌈T/side⌉·T + 3·side − 2, of side² multipliers each, for 2·T²·H "
    "multiplications. The padding alone gives H/side; filling and draining take the rest. This is why models for a "
    "square of 256 like heads of 256.",
)

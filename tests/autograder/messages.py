"""Random messages, as a learner's process could send them: plain data, trees, and what is neither."""

import random

from autograder.values.trees import HEADS

TEXTS = [
    "1 s",
    "1e400 s",
    "-0",
    "٣",
    "１２ B",
    "1" * 300,
    "a",
    "b",
    "1 B^12",
    "1 B^13/s",
    "nan s",
    "\ud800",
    "∞",
    "n",
    "S/W",
    "max(n",
]
LEAVES = [
    ["num", "0"],
    ["num", "-1"],
    ["num", "1/3"],
    ["num", "9" * 1000],
    ["dec", "0.1"],
    ["dec", "1e-999"],
    ["dec", "1e999"],
]
LEAVES += [["dec", "0.3333333333333333"], ["pi"], ["e"]]
PARTS = {
    "int": ["0x3", hex(2**19999), hex(-(2**70)), "0x"],
    "float": ["nan", "inf", "-inf", "1"],
    "callable": ["f<>`", 3],
    "complex": [["1", "0"], ["nan", "1"], ["1"]],
    "fraction": [["0x1", "0x3"], ["-0x5", "0x0"], [hex(2**19000), hex(3**9000)]],
}


def message(rng: random.Random, names: list[str], depth: int = 0):
    """A message; most of them are well formed."""
    kind = rng.randrange(12)
    if kind < 3:
        return rng.choice(
            [
                None,
                True,
                0,
                -1,
                2**53 - 1,
                10**4000,
                0.0,
                1e308,
                -1e-308,
                float("nan"),
                float("inf"),
                rng.random(),
            ]
        )
    if kind < 5:
        return rng.choice([*TEXTS, *names])
    if kind < 7:
        tag = rng.choice(list(PARTS))
        return {"$": tag, "v": rng.choice(PARTS[tag])}
    if kind == 7 and depth < 4:
        return {
            "$": rng.choice(["list", "tuple"]),
            "v": [message(rng, names, depth + 1) for _ in range(rng.randrange(3))],
        }
    if kind == 8 and depth < 4:
        return {"$": "dict", "v": [[rng.choice(["a", 1]), message(rng, names, depth + 1)]]}
    if kind == 9:
        text = rng.choice(["AAAAAAAAAAA=", "AA==", "AAAAAAAA8H8=", "AAAAAAAA+H8="])
        return {
            "$": "array",
            "t": rng.choice(["float64", "bool", "float16"]),
            "s": rng.choice([[], [1], [1, 1]]),
            "v": text,
        }
    return {"$": "tree", "v": tree(rng, names)}


def tree(rng: random.Random, names: list[str], depth: int = 0):
    """A tree in `names`, sometimes of the wrong shape."""
    if depth > 4 or rng.random() < 0.3:
        return rng.choice([*LEAVES, *([["sym", name] for name in names] * 3)])
    head = rng.choice(list(HEADS))
    least, most = HEADS[head]
    count = rng.choice([2, 4]) if head == "where" else rng.randint(least, min(most, 3))
    below = [_condition if head in ("and", "or", "not") or (head == "where" and i % 2) else tree for i in range(count)]
    return [head, *(make(rng, names, depth + 1) for make in below)]


def _condition(rng: random.Random, names: list[str], depth: int):
    sides = [tree(rng, names, depth + 1), tree(rng, names, depth + 1)]
    return rng.choice([["true"], ["lt", *sides], ["ge", *sides], ["not", ["false"]]])

"""Exercises that a book in small declares, and its public records."""

import json

from autograder.declaration import load_bank

ONE = """
from autograder.answers import Quantity
from autograder.declaration import Exercise
E = Exercise(id="t-one", prompt="?", answer=Quantity("s"), given={"n": [1, 2, 3]}, solution=lambda n: n*2.5)
"""
SEVERAL = """
from autograder.answers import Algorithm, Choice, Expression, Function, Quantity, integers, positive
from autograder.declaration import Exercise, Mistake
from hwlib.algorithms import ring_allreduce

TIME = Exercise(
    id="t-time", title="A time", points=3, prompt="{n} steps of {a:s}?", answer=Quantity("s"),
    given={"n": [10, 30], "a": [2e-6, 7e-6]}, solution=lambda n, a: n*a,
    hints=("How many steps?", "And each?"),
    mistakes=(Mistake(lambda a: a, "Every step takes that long."), Mistake(lambda n: n, "In what unit?")),
)
RING = Exercise(
    id="t-ring", prompt="?", solution=lambda n, S: S*(n - 1)/n,
    answer=Expression({"n": integers(2, 64), "S": positive("B")}, unit="B"),
)
F = Exercise(
    id="t-fun", prompt="?", answer=Function("f", "f(x)", cases=[(1.0,), (2.0,)]), solution=lambda x: 2.5*x,
)
A = Exercise(
    id="t-all-reduce", points=4, prompt="?", withholds=("hwlib.algorithms",), solution=ring_allreduce,
    answer=Algorithm("mine", cases=[(2, 8), (3, 10)], collective="all_reduce"),
)
P = Exercise(
    id="t-predict", points=2, prompt="Which?", predict=True, explain="Latency wins.", solution="down",
    answer=Choice({"up": "It rises", "down": "It falls"}),
    mistakes=(Mistake("up", "Only if links were free."),),
)
"""


def publish(book, variants=False):
    """Write the exercises.json that a learner's folder has."""
    public = load_bank(book / "solutions" / "01-t").public(variants)
    (book / "chapters" / "01-t" / "exercises.json").write_text(json.dumps(public))

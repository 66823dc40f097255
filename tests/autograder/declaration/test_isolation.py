"""Each rank's copy of a learner's function: what it shares with the others, and what it does not."""

from typing import ClassVar

import pytest

from autograder.answers.algorithm import direct
from autograder.declaration.isolation import isolated
from autograder.values import encoding
from hwlib.algorithms import Step, blocks, ring_allreduce
from tests.autograder.lab import judge, make

SHARED = {}


class Board:
    posts: ClassVar[dict] = {}

    def __init__(self):
        self.mine = []

    def put(self, rank, x):
        self.posts[rank] = x.copy()
        return sum(self.posts.values())


BOARD = Board()


def dummy_ring(rank, n, x):
    for _ in range(2 * (n - 1)):
        yield Step(blocks(x, n)[0], (rank + 1) % n, (rank - 1) % n)


def through_a_global(rank, n, x):
    SHARED[rank] = x.copy()
    yield from dummy_ring(rank, n, x)
    return sum(SHARED.values())


def through_a_default(rank, n, x, seen={}):  # noqa: B006
    seen[rank] = x.copy()
    yield from dummy_ring(rank, n, x)
    return sum(seen.values())


def helper_post(rank, x):
    SHARED[rank] = x.copy()
    return sum(SHARED.values())


def through_a_helper(rank, n, x):
    helper_post(rank, x)
    yield from dummy_ring(rank, n, x)
    return helper_post(rank, x)


def through_a_class(rank, n, x):
    BOARD.put(rank, x)
    yield from dummy_ring(rank, n, x)
    return BOARD.put(rank, x)


def through_itself(rank, n, x):
    through_itself.__dict__.setdefault("seen", {})[rank] = x.copy()
    yield from dummy_ring(rank, n, x)
    return sum(through_itself.seen.values())


def closure():
    seen = {}

    def through_a_closure(rank, n, x):
        seen[rank] = x.copy()
        yield from dummy_ring(rank, n, x)
        return sum(seen.values())

    return through_a_closure


@pytest.mark.parametrize(
    "function",
    [through_a_global, through_a_default, through_a_helper, through_a_class, through_itself, closure()],
    ids=lambda f: f.__name__,
)
def test_ranks_share_no_names(function):
    even = make({"cases": [(4, 16)]}, mistakes=())
    assert even.judge(encoding.Callable("f"), call=direct(function)).kind == "right", "shared, it would pass"
    verdict = judge(even, function)
    assert (verdict.score, verdict.reason) == (0.0, "wrong-element"), verdict.say
    assert SHARED.keys() <= {0, 1, 2, 3}


class Base:
    def who(self):
        return "base"


class Derived(Base):
    def __init__(self, depth):
        self.depth = depth

    def who(self):
        return f"derived of {super().who()}"

    @classmethod
    def made(cls):
        return cls(1)

    @staticmethod
    def plainly():
        return SHARED

    @property
    def deep(self):
        return fibonacci(self.depth)


TABLE = {"f": lambda: SHARED, "class": Derived, "list": [1, 2]}
LOCK = open  # a builtin, which cannot be copied and need not be


def fibonacci(k):
    return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)


def everything(k, *, more=(1, 2)):
    made = Derived.made()
    SHARED["k"] = k
    TABLE["list"].append(k)
    return fibonacci(k), made.who(), made.deep, Derived.plainly(), TABLE["f"](), len(TABLE["list"]), more, LOCK


def test_the_copy_does_what_the_function_does_and_leaves_its_world_alone():
    SHARED.clear()
    first, second = isolated(everything), isolated(everything)
    assert first(10) == (55, "derived of base", 1, {"k": 10}, {"k": 10}, 3, (1, 2), open)
    assert first(5)[5] == 4
    assert second(3)[3:6] == ({"k": 3}, {"k": 3}, 3)
    assert SHARED == {}
    assert TABLE["list"] == [1, 2]
    assert first.__name__ == "everything"


def test_what_is_no_function_of_the_learner_stays_as_it_is():
    for value in (3, "f", ring_allreduce, Derived(2).who, len):
        assert isolated(value) is value


def test_a_closure_that_is_not_bound_yet_is_copied():
    def outer():
        def inner():
            return later

        yield isolated(inner)
        later = 1
        yield later

    copy = next(outer())
    with pytest.raises(NameError, match="later"):
        copy()

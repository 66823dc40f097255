"""Collectives as a learner writes them, right and wrong, for the tests of algorithm answers."""

from autograder.answers import Algorithm
from autograder.answers.algorithm import local_ranks
from autograder.declaration import Exercise, Mistake
from autograder.values import encoding
from hwlib.algorithms import Step, blocks


def ring(rank, n, x):
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)
    for k in range(n - 1):
        block[(rank - k - 1) % n][:] = yield Step(block[(rank - k) % n], after, before)
    return x


def two_shot(rank, n, x):
    """As many bytes as the ring, in two rounds."""
    block, others = blocks(x, n), [r for r in range(n) if r != rank]
    got = yield [Step(block[r], r, r) for r in others]
    for part in got:
        block[rank][:] += part
    got = yield [Step(block[rank], r, r) for r in others]
    for r, part in zip(others, got, strict=True):
        block[r][:] = part
    return x


def whole_ring(rank, n, x):
    mine = x.copy()
    for _ in range(n - 1):
        mine = yield Step(mine, (rank + 1) % n, (rank - 1) % n)
        x += mine
    return x


def scattered(rank, n, x):
    """A reduce-scatter, and no more."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 2) % n][:] += yield Step(block[(rank - k - 1) % n], after, before)
    return x


def halves(rank, n, x):
    """The ring, a round to send and a round to receive."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        yield Step(block[(rank - k - 1) % n], after)
        block[(rank - k - 2) % n][:] += yield Step(None, None, before)
    for k in range(n - 1):
        yield Step(block[(rank - k) % n], after)
        block[(rank - k - 1) % n][:] = yield Step(None, None, before)
    return x


def names_anew(rank, n, x):
    """What comes in is given the name of a block, and never gets into x."""
    block, after, before = blocks(x, n), (rank + 1) % n, (rank - 1) % n
    for k in range(n - 1):
        block[(rank - k - 1) % n] = yield Step(block[(rank - k) % n], after, before)
    return x


def forgets_yield(rank, n, x):
    x[:] = Step(x, (rank + 1) % n, (rank - 1) % n)
    return x


def through_root(rank, n, x):
    others = range(1, n)
    if rank:
        yield Step(x, 0)
        return (yield Step(None, None, 0))
    got = yield [Step(None, None, r) for r in others]
    for part in got:
        x += part
    yield [Step(x, r) for r in others]
    return x


def twice(rank, n, x):
    """Sends each message again, for nothing."""
    program, got = ring(rank, n, x), None
    while True:
        try:
            step = program.send(got)
        except StopIteration as end:
            return end.value
        got, _ = yield [step, step]


def copying(rank, n, x):
    return (yield from ring(rank, n, x.copy()))


def nothing(rank, n, x):
    return x
    yield


def plain_sum(rank, n, x):
    return n * x


def receive_first(rank, n, x):
    got = yield Step(None, None, (rank - 1) % n)
    yield Step(x, (rank + 1) % n)
    return x + got


def off_the_end(rank, n, x):
    got = yield Step(x, rank + 1, rank - 1)
    return x + got


def to_nobody(rank, n, x):
    yield Step(x, (rank + 1) % n)
    return x


def no_step(rank, n, x):
    yield x, (rank + 1) % n, (rank - 1) % n


def without_from(rank, n, x):
    yield ring(rank, n, x)
    return x


def no_value(rank, n, x):
    yield


def a_number(rank, n, x):
    yield Step(1.5, (rank + 1) % n, (rank - 1) % n)


def narrow(rank, n, x):
    got = yield Step(x.astype("float32"), (rank + 1) % n, (rank - 1) % n)
    return x + got


def breaks(rank, n, x):
    yield Step(x, (rank + 1) % n, (rank - 1) % n)
    return x[len(x)]


def idles(rank, n, x):
    while True:
        yield Step()


def talks(rank, n, x):
    while True:
        yield Step(x, (rank + 1) % n, (rank - 1) % n)


def floods(rank, n, x):
    import numpy as np

    yield Step(np.ones(1 << 17), (rank + 1) % n, (rank - 1) % n)
    return x


def hangs(rank, n, x):
    while True:
        pass
    yield


def ends_python(rank, n, x):
    raise SystemExit
    yield


def forgets_return(rank, n, x):
    yield from ring(rank, n, x)


def too_short(rank, n, x):
    yield from ring(rank, n, x)
    return x[1:]


def a_word(rank, n, x):
    yield from ring(rank, n, x)
    return "done"


def a_class(rank, n, x):
    yield from ring(rank, n, x)
    return type


def leaves_out_zero(rank, n, x):
    x = yield from ring(rank, n, x * (rank > 0))
    return x


def counts_itself_twice(rank, n, x):
    mine = x.copy()
    return (yield from ring(rank, n, x)) + mine


def rolls(rank, n, x):
    import numpy as np

    return np.roll((yield from ring(rank, n, x)), -(-len(x) // n))


CASES = [(2, 8), (3, 12), (4, 10), (4, 16), (5, 3)]


def make(kind=None, **changes):
    kind = {"name": "ring", "cases": CASES, "collective": "all_reduce"} | (kind or {})
    fields = {
        "id": "t-ring",
        "prompt": "Write it.",
        "answer": Algorithm(**kind),
        "solution": ring,
        "mistakes": (
            Mistake(scattered, "Every rank has its own block only."),
            Mistake(whole_ring, "The whole array in every step."),
        ),
    }
    return Exercise(**(fields | changes))


def judge(exercise, function, seconds=2.0):
    call = local_ranks(function, exercise.withholds, seconds)
    return exercise.judge_message(encoding.encode(function), None, call)

"""The schedules in use, as functions of the number of pipeline ranks (stages) and of microbatches."""

from collections import deque
from collections.abc import Callable, Iterator

from hwlib.pipeline.schedule import Op, Schedule


def gpipe(stages: int, microbatches: int) -> Schedule:
    """All forward passes, then all backward passes (Huang et al. 2019)."""
    _whole(stages, microbatches)
    ops = tuple(Op(kind, i) for kind in "FB" for i in range(microbatches))
    return Schedule("gpipe", stages, microbatches, 1, (ops,) * stages)


def one_f_one_b(stages: int, microbatches: int) -> Schedule:
    """A rank first runs as many forward passes as ranks follow it, then alternates one forward and one backward."""
    _whole(stages, microbatches)
    return _alternating("1f1b", stages, microbatches, 1, hop=1)


def interleaved(stages: int, microbatches: int, v: int = 2) -> Schedule:
    """1F1B with v chunks of layers per rank (Narayanan et al. 2021), in Megatron's order: in rounds of as many
    microbatches as ranks, which pass one chunk after another.

    If the number of microbatches is not a multiple of the ranks, the rounds are longer, as in torch. Raises
    ValueError unless they are equal.
    """
    _whole(stages, microbatches, v)
    if v < 2:
        raise ValueError(f"v: at least 2 chunks a rank, got {v}; with one it is 1f1b")
    return _alternating("interleaved", stages, microbatches, v, hop=2)


def zb_h1(stages: int, microbatches: int, v: int = 1) -> Schedule:
    """1F1B with a split backward: rank r delays the gradients of the weights by r microbatches, into the former
    bubble (ZB-H1 of Qi et al. 2024; torch and DeepSeek call it ZB1P).
    """
    _whole(stages, microbatches, v)
    return _alternating("zb_h1", stages, microbatches, v, hop=1, split=True)


def _alternating(name: str, stages: int, m: int, v: int, hop: int, split: bool = False) -> Schedule:
    """Warm-up forward passes, then one forward and one backward in turn, then the remaining backward passes."""
    rounds = max(1, m // stages) if v > 1 else 1
    if m % rounds:
        raise ValueError(f"microbatches: equal rounds, a multiple of {rounds} for {stages} ranks, got {m}")
    size, total = m // rounds, m * v
    microbatch = [k // (size * v) * size + k % size for k in range(total)]
    chunk = [k // size % v for k in range(total)]

    def rank_ops(rank: int) -> Iterator[Op]:
        ahead = min((v - 1) * size + hop * (stages - 1 - rank), total)
        back = [(microbatch[k], v - 1 - chunk[k]) for k in range(total)]
        for k in range(ahead):
            yield Op("F", microbatch[k], chunk[k])
        for k in range(total):
            if ahead + k < total:
                yield Op("F", microbatch[ahead + k], chunk[ahead + k])
            yield Op("I" if split else "B", *back[k])
            if split and k >= rank:
                yield Op("W", *back[k - rank])
        if split:
            yield from (Op("W", *late) for late in back[max(total - rank, 0) :])

    return Schedule(name, stages, m, v, tuple(tuple(rank_ops(rank)) for rank in range(stages)))


def zbv(stages: int, microbatches: int) -> Schedule:
    """Two chunks per rank, laid out as a V, so that the first rank also has the loss: no bubble inside
    a rank if forward and both halves of the backward take equally long (ZB-V of Qi et al. 2024).

    The order is that of 2*stages - 1 or more microbatches; with fewer, the missing ones are skipped.
    """
    _whole(stages, microbatches)
    made = max(2 * stages - 1, microbatches)

    def rank_ops(rank: int) -> Iterator[Op]:
        done: dict[tuple[str, int], int] = {}

        def do(*steps: str) -> Iterator[Op]:
            for step in steps:
                kind, chunk = step[0], int(step[1])
                number = done.get((kind, chunk), 0)
                done[kind, chunk] = number + 1
                yield Op(kind, number, chunk)

        count = lambda kind, chunk: done.get((kind, chunk), 0)
        for _ in range(2 * (stages - rank) - 1):
            yield from do("F0")
        for _ in range(rank):
            yield from do("F1", "F0")
        for _ in range(stages - rank):
            yield from do("F1", "I1", "W1")
        while count("F", 1) < count("F", 0) or count("F", 0) < made:
            if count("F", 0) < made:
                yield from do("F0")
            yield from do("I0", "W0", "F1", "I1", "W1")
        for _ in range(rank):
            yield from do("I0", "I1")
        for _ in range(stages - rank):
            yield from do("I0", "W0")
        while count("W", 1) < count("I", 1):
            yield from do("W1")
        while count("W", 0) < count("I", 0):
            yield from do("W0")

    ops = tuple(tuple(op for op in rank_ops(rank) if op.microbatch < microbatches) for rank in range(stages))
    return Schedule("zbv", stages, microbatches, 2, ops, "v")


def dualpipe(stages: int, microbatches: int) -> Schedule:
    """Two copies of the model in opposite directions over the same ranks, each with half of the microbatches: forward
    passes of one hide the communication of the other's backward (DeepSeek-V3, in the order of their code).

    Raises ValueError unless ranks and microbatches are even, with at least two microbatches per rank.
    """
    _whole(stages, microbatches)
    if stages % 2 or microbatches % 2 or microbatches < 2 * stages:
        raise ValueError(f"dualpipe: even numbers, at least two microbatches a rank, got {stages} and {microbatches}")
    half = microbatches // 2
    ops = []
    for rank in range(stages):
        second = rank >= stages // 2  # these see the two directions the other way round
        near = min(rank, stages - 1 - rank)
        turned = (op._replace(chunk=op.chunk ^ second) for op in _two_ways(stages // 2, half, near))
        ops.append(tuple(op._replace(microbatch=op.microbatch + half * op.chunk) for op in turned))
    return Schedule("dualpipe", stages, microbatches, 1, tuple(ops), "both")


def dualpipev(stages: int, microbatches: int) -> Schedule:
    """DualPipe cut in half: one copy of the model, laid out as a V over half of the ranks.

    Raises ValueError for fewer than two microbatches per rank.
    """
    _whole(stages, microbatches)
    if microbatches < 2 * stages:
        raise ValueError(f"dualpipev: at least two microbatches a rank, got {microbatches} for {stages} ranks")
    ops = tuple(tuple(_two_ways(stages, microbatches, rank)) for rank in range(stages))
    return Schedule("dualpipev", stages, microbatches, 2, ops, "v")


def _two_ways(ranks: int, m: int, rank: int) -> Iterator[Op]:
    """The eight phases of DeepSeek's DualPipe, as seen from one end: `ranks` reach to the middle, or the V's bend."""
    done: dict[tuple[str, int], int] = {}
    late: deque[tuple[int, int]] = deque()  # delayed gradients of weights, oldest first
    to_middle = ranks - rank - 1

    def do(*steps: str, paired: bool = False) -> Iterator[Op]:
        for step in steps:
            kind = step[0]
            if kind == "W":
                yield Op("W", *late.popleft())
                continue
            chunk, passes = int(step[1]), "F" if kind == "F" else "B"
            number = done.get((passes, chunk), 0)
            done[passes, chunk] = number + 1
            if kind == "I":
                late.append((number, chunk))
            yield Op(kind, number, chunk, paired and kind == "F")

    yield from do(*["F0"] * 2 * to_middle)
    yield from do(*["F0", "F1"] * (rank + 1))
    yield from do(*["I1", "W", "F1"] * to_middle)
    for i in range(m - 2 * ranks + rank + 1):
        yield from do("F0", "B1", paired=i > 0 or to_middle > 0)  # the middle gains nothing from the first pair
        yield from do("F1", "B0", paired=True)
    for _ in range(to_middle):
        yield from do("B1")
        yield from do("F1", "B0", paired=True)
    for i in range(rank + 1):
        half = (rank + 1) // 2
        yield from do("I1" if i > half or (i == half and rank % 2) else "B1", "I0" if i >= half else "B0")
    yield from do(*["W", "I0"] * to_middle)
    yield from do(*["W"] * (rank + 1))


SCHEDULES: dict[str, Callable[..., Schedule]] = {
    "gpipe": gpipe,
    "1f1b": one_f_one_b,
    "interleaved": interleaved,
    "zb_h1": zb_h1,
    "zbv": zbv,
    "dualpipe": dualpipe,
    "dualpipev": dualpipev,
}
"""The functions above, by the names of their schedules."""


def _whole(*counts: int) -> None:
    for name, count in zip(("stages", "microbatches", "v"), counts, strict=False):
        if type(count) is not int or count < 1:
            raise ValueError(f"{name}: a whole number of at least 1, got {count!r}")

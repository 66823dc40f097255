"""An all-to-all of uneven parts: what is sent is counted, splits that do not fit are named, and so is what leaves a
node."""

from dataclasses import replace

import pytest

from autograder.answers import Case, Distributed, at_most, exactly
from autograder.answers.exceeding import beyond_bytes
from autograder.answers.rank_run import RankComparison
from autograder.answers.selftest import judged, selftest
from autograder.declaration import DeclarationError, Exercise, Mistake
from autograder.ranks.outcomes import RanksOutcome

torch = pytest.importorskip("torch")
dist = torch.distributed
WIDTH = 3


def sizes_of(rank, n):
    """Rows from a rank to each rank: some of them none."""
    return [(3 * rank + 2 * to) % 4 for to in range(n)]


def rows(case, generator):
    return [
        {"x": generator.normal(size=(sum(sizes_of(rank, case.n)), WIDTH)), "counts": sizes_of(rank, case.n)}
        for rank in range(case.n)
    ]


def coming(rank, n):
    return [sizes_of(frm, n)[rank] for frm in range(n)]


def ragged(rank, n, x, counts, inner=1):
    got = x.new_empty(sum(coming(rank, n)), x.shape[1])
    dist.all_to_all_single(got, x, coming(rank, n), counts)
    return got


def listed(rank, n, x, counts, inner=1):
    got = [x.new_empty(size, x.shape[1]) for size in coming(rank, n)]
    dist.all_to_all(got, list(x.split(counts)))
    return torch.cat(got)


def counted_first(rank, n, x, counts, inner=1):
    """The sizes are asked for, as a router must."""
    mine = torch.tensor(counts)
    theirs = torch.empty_like(mine)
    dist.all_to_all_single(theirs, mine)
    got = x.new_empty(int(theirs.sum()), x.shape[1])
    work = dist.all_to_all_single(got, x, theirs.tolist(), list(mine), async_op=True)
    work.wait()
    return got


def padded(rank, n, x, counts, inner=1):
    full = x.new_zeros(n, 3, x.shape[1])
    for to, part in enumerate(x.split(counts)):
        full[to, : len(part)] = part
    got = torch.empty_like(full)
    dist.all_to_all_single(got, full)
    return torch.cat([part[:size] for part, size in zip(got, coming(rank, n), strict=True)])


def in_reverse(rank, n, x, counts, inner=1):
    return ragged(rank, n, x, counts).flip(0)


def sent(case, rank):
    return 8 * WIDTH * sum(size for to, size in enumerate(sizes_of(rank, case.n)) if to != rank)


def leaving(case, rank):
    inner = case.options["inner"]
    sizes = enumerate(sizes_of(rank, case.n))
    return 8 * WIDTH * sum(size for to, size in sizes if to // inner != rank // inner)


RAGGED = Exercise(
    id="t-ragged",
    prompt="Exchange the rows, *exact*.",
    solution=ragged,
    answer=Distributed(
        "ragged",
        signature="ragged(rank, n, x, counts, inner)",
        inputs=rows,
        calls=("all_to_all",),
        cases=[Case(2, sizes={"d": WIDTH}, options={"inner": 1}), Case(4, sizes={"d": WIDTH}, options={"inner": 2})],
        rank_bytes=exactly(sent),
        leaving_bytes=exactly(leaving),
    ),
    mistakes=(Mistake(padded, "Each part is as long as the longest one."), Mistake(in_reverse, "The order is lost.")),
)


def test_uneven_parts_cost_what_is_sent():
    assert selftest(RAGGED) == []
    assert judged(RAGGED, listed, {}).kind == "right"


def test_counts_may_be_sent_where_the_exercise_says_so():
    verdict = judged(RAGGED, counted_first, {})
    assert (verdict.reason, "`int64`" in verdict.say) == ("sends-another-type", True)
    free = replace(RAGGED.answer, also_sends=("int64",), rank_bytes=None, total_bytes=None, leaving_bytes=None)
    counting = replace(RAGGED, answer=replace(free, rounds=None))
    assert judged(counting, counted_first, {}).kind == "right"
    exact = replace(RAGGED, answer=replace(RAGGED.answer, also_sends=("int64",), rounds=None))
    assert judged(exact, counted_first, {}).reason == "rank-bytes"
    verdict = judged(counting, lambda rank, n, x, counts, inner: ragged(rank, n, x.float(), counts), {})
    assert "of type `float32`; those to be sent are of type `float64` or `int64`" in verdict.say
    verdict = judged(counting, lambda rank, n, x, counts, inner: ragged(rank, n, x.bfloat16(), counts), {})
    assert "sends numbers of type `bfloat16`; those to be sent are of type `float64`" in verdict.say
    with pytest.raises(DeclarationError, match="'float8'"):
        Distributed("f", cases=[(2, 4)], also_sends=("float8",))


def test_what_leaves_a_node_is_counted_by_where_it_goes():
    """Rows for ranks of the own node are free: a limit that counts all that is sent would refuse the solution."""

    def limited(function):
        free = replace(RAGGED.answer, rank_bytes=None, total_bytes=None, leaving_bytes=at_most(function))
        return replace(RAGGED, answer=free)

    assert judged(limited(leaving), ragged, {}).kind == "right"
    verdict = judged(limited(leaving), padded, {})
    assert verdict.kind == "mistake"
    assert sent(RAGGED.answer.cases[1], 0) > leaving(RAGGED.answer.cases[1], 0)
    less = limited(lambda case, rank: leaving(case, rank) - 1)
    verdict = judged(less, ragged, {})
    assert (verdict.reason, "out of its node" in verdict.say) == ("leaving-bytes", True)


@pytest.mark.parametrize(
    ("mine", "best", "reason"),
    [
        ([90, 10, 10, 10], [12, 8, 11, 9], "one-rank-carries"),
        ([60, 22, 22, 22], [11, 7, 7, 7], "leaving-bytes"),  # no more lopsided than the solution
        ([45, 30, 30, 30], [10, 10, 10, 10], "leaving-bytes"),
        ([50, 40, 0, 0], [10, 10, 10, 10], "leaving-bytes"),  # others send nearly as much
    ],
)
def test_who_carries_is_seen_by_what_leaves(mine, best, reason):
    """Inside the node all send alike, and the more: whether one rank carries the others' is a question of the bytes
    that are limited, and of what the solution's busiest rank has."""

    def outcome(leaves):
        inside = {(rank, rank ^ 1): 1000.0 for rank in range(4)}
        across = {(rank, (rank + 2) % 4): float(size) for rank, size in enumerate(leaves)}
        return RanksOutcome(sent_bytes=[1000.0 + size for size in leaves], pairs=inside | across)

    run = RankComparison(Case(4, sizes={"d": 2}, options={"inner": 2}), [], outcome(best), [], outcome(mine))
    found = beyond_bytes([run], None, None, at_most(times=1.1))
    assert found.reason == reason, found.say


def swapped(rank, n, x, counts, inner):
    got = x.new_empty(sum(coming(rank, n)), x.shape[1])
    dist.all_to_all_single(got, x, coming(rank, n)[::-1], counts)
    return got


def swapped_list(rank, n, x, counts, inner):
    got = [x.new_empty(size, x.shape[1]) for size in coming(rank, n)[::-1]]
    dist.all_to_all(got, list(x.split(counts)))
    return torch.cat(got)


def in_a_part(rank, n, x, counts, inner):
    """The ranks of a group are named by their numbers in the job."""
    group = dist.new_group([1, 3]) if n == 4 else None
    if group is not None and rank % 2:
        room = 2 if rank == 3 else 1
        dist.all_to_all_single(x.new_empty(room + 1), x.new_empty(2), [room, 1], [1, 1], group=group)
    return ragged(rank, n, x, counts)


def not_all(rank, n, x, counts, inner):
    return ragged(rank, n, x[1:], counts)


def too_few(rank, n, x, counts, inner):
    got = x.new_empty(sum(coming(rank, n)), x.shape[1])
    dist.all_to_all_single(got, x, coming(rank, n), counts[:-1])
    return got


def not_counted(rank, n, x, counts, inner):
    dist.all_to_all_single(x.new_empty(x.shape), x[:1])
    return x


def as_tensors(rank, n, x, counts, inner):
    return ragged(rank, n, x, torch.tensor(counts))


@pytest.mark.parametrize(
    ("function", "reason", "said"),
    [
        (swapped, "other-splits", "all_to_all: rank 0 sends 0 rows to rank 0, which expects 3 from it"),
        (swapped_list, "other-splits", "rank 0 sends 0 rows to rank 0, which expects 3 from it"),
        (not_all, "raises", "rank 0: input_split_sizes [0, 2] add up to 2, but the input has 1 row"),
        (too_few, "raises", "rank 0: input_split_sizes has 1; one for each of 2 ranks was expected"),
        (not_counted, "raises", "rank 0: input has 1 row, which 2 ranks cannot share evenly"),
        (as_tensors, "raises", "input_split_sizes is a tensor; a list was expected, use its .tolist()"),
        (in_a_part, "other-splits", "rank 1 sends 1 number to rank 3, which expects 2 from it"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_splits_that_do_not_fit_are_named(function, reason, said):
    verdict = judged(RAGGED, function, {})
    assert (verdict.kind, verdict.reason) == ("wrong", reason), verdict.say
    assert said in verdict.say

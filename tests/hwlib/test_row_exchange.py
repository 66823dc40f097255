"""Rows go where they are sent and come back in their order, on real ranks, and cost what is sent."""

import pytest
import torch
import torch.distributed as dist

from hwlib.labs import RankError, exchange_rows, run_ranks

WIDTH = 4


def there_and_back():
    def program(rank, n):
        rows = torch.arange(1.0, 2 * rank + 1)[:, None].expand(-1, 4) + 100 * rank
        to = torch.tensor([(rank + i * i) % n for i in range(len(rows))], dtype=torch.int64)
        got, back = exchange_rows(rows, to)
        return got[:, 0].tolist(), back(torch.cat((got[:, :2], got[:, :1] * 0 + rank), 1)), rows, to

    return program


def test_rows_go_and_come_back():
    run = run_ranks(there_and_back(), 3)
    tos = [to.tolist() for *_, to in run.results]
    for rank, (got, results, rows, to) in enumerate(run.results):
        wanted = [
            row[0].item()
            for (_, _, theirs, _), there in zip(run.results, tos, strict=True)
            for row, one in zip(theirs, there, strict=True)
            if one == rank
        ]
        assert got == wanted  # rank 0 has no rows of its own, and is sent some
        assert torch.equal(results, torch.cat((rows[:, :2], to[:, None]), 1))
    away = [sum(one != rank for one in there) for rank, there in enumerate(tos)]
    to_me = [sum(there.count(rank) for r, there in enumerate(tos) if r != rank) for rank in range(3)]
    counts = 2 * 8
    assert run.sent_bytes == [counts + 4 * (WIDTH * out + 3 * come) for out, come in zip(away, to_me, strict=True)]
    assert away[0] == 0


def test_what_leaves_a_node_is_counted_on_real_ranks():
    def program(rank, n):
        group = dist.new_group([rank - rank % 2, rank - rank % 2 + 1], use_local_synchronization=True)
        got, back = exchange_rows(torch.ones(5, 3), torch.tensor([0, 0, 1, 1, 1]), group)
        return len(got), back(got * 2).sum().item()

    run = run_ranks(program, 4)
    assert run.results == [(4, 30.0), (6, 30.0)] * 2
    assert run.leaving_bytes(2) == [0] * 4
    assert sum(run.leaving_bytes(1)) == sum(run.sent_bytes) > 0


@pytest.mark.parametrize(
    ("to", "said"),
    [([0], "2 rows have 1 destinations"), ([0, 2], "ranks 0 to 1 of the group, got 2")],
)
def test_destinations_that_do_not_fit_are_named(to, said):
    def program(rank, n):
        exchange_rows(torch.ones(2, 3), torch.tensor(to))

    with pytest.raises(RankError, match=said):
        run_ranks(program, 2)

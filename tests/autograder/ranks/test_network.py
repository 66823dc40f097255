"""The judge as the network of a torch.distributed program: what it carries, what it counts, what it refuses."""

import numpy as np
import pytest

from autograder.answers.distributed import Process
from autograder.ranks.generators import Budget, RankFailed
from autograder.ranks.local_ranks import LocalRanks
from autograder.ranks.network import carry
from autograder.ranks.network_error import NetworkError

torch = pytest.importorskip("torch")
dist = torch.distributed


def run(function, n, size=12, **options):
    """The program on n processes; x of rank r is the numbers r*size, r*size + 1, ..."""
    xs = [np.arange(size, dtype=np.float64) + size * rank for rank in range(n)]
    call = LocalRanks(function, seconds=60.0)
    budget = Budget(10**5, 1 << 30)
    try:
        return xs, carry([Process(call, rank, n, x, {}, budget) for rank, x in enumerate(xs)], **options)
    finally:
        call.close()


def ring(rank, n, x):
    block = list(x.chunk(n))
    after, before = (rank + 1) % n, (rank - 1) % n

    def turn(send, k):
        got = torch.empty_like(block[k])
        work = [dist.isend(block[send], after), dist.irecv(got, before)]
        for w in work:
            w.wait()
        return got

    for k in range(n - 1):
        here = (rank - k - 1) % n
        block[here] = block[here] + turn((rank - k) % n, here)
    for k in range(n - 1):
        block[(rank - k) % n] = turn((rank - k + 1) % n, (rank - k) % n)
    return torch.cat(block)


@pytest.mark.parametrize("n", [2, 4])
def test_a_ring_is_counted_as_one(n):
    xs, carried = run(ring, n)
    assert all(np.array_equal(out, sum(xs)) for out in carried.outputs)
    assert carried.sent_bytes == carried.received_bytes == [2 * (n - 1) * 96 // n] * n
    assert carried.rounds == 2 * (n - 1)
    assert carried.calls == {"send": 2 * n * (n - 1), "recv": 2 * n * (n - 1)}


def everything(rank, n, x):
    out = {}
    y = x.clone()
    dist.all_reduce(y)
    out["all_reduce"] = y
    y = x.clone()
    dist.all_reduce(y, op=dist.ReduceOp.MAX)
    out["max"] = y
    y = x.clone()
    dist.reduce(y, dst=1)
    out["reduce"] = y if rank == 1 else None
    y = x.clone()
    dist.broadcast(y, src=2)
    out["broadcast"] = y
    parts = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(parts, x)
    out["all_gather"] = torch.cat(parts)
    part = torch.empty(len(x) // n, dtype=x.dtype)
    dist.reduce_scatter(part, list(x.chunk(n)))
    out["reduce_scatter"] = part
    y = torch.empty_like(x)
    dist.all_to_all_single(y, x)
    out["all_to_all"] = y
    parts = [torch.empty_like(x) for _ in range(n)] if rank == 0 else None
    dist.gather(x, parts, dst=0)
    out["gather"] = torch.cat(parts) if rank == 0 else None
    y = torch.empty(len(x) // n, dtype=x.dtype)
    dist.scatter(y, list(x.chunk(n)) if rank == 3 else None, src=3)
    out["scatter"] = y
    dist.barrier()
    return [out[name] for name in sorted(out)]


def test_every_collective_gives_what_gloo_would():
    n = 4
    xs, carried = run(everything, n)
    whole, total = np.concatenate(xs), sum(xs)
    for rank, got in enumerate(carried.outputs):
        want = {
            "all_reduce": total,
            "max": xs[3],
            "reduce": total if rank == 1 else None,
            "broadcast": xs[2],
            "all_gather": whole,
            "reduce_scatter": total.reshape(n, -1)[rank],
            "all_to_all": np.concatenate([x.reshape(n, -1)[rank] for x in xs]),
            "gather": whole if rank == 0 else None,
            "scatter": xs[3].reshape(n, -1)[rank],
        }
        for name, value in zip(sorted(want), got, strict=True):
            assert (value is None) == (want[name] is None), name
            assert value is None or np.array_equal(value, want[name]), name


def test_a_collective_counts_as_its_algorithm():
    n = 4

    def program(rank, n, x):
        dist.all_reduce(x)
        return x

    _, carried = run(program, n)
    assert carried.sent_bytes == [2 * 3 * 96 // 4] * n
    assert carried.rounds == 6
    assert carried.calls == {"all_reduce": n}


def hierarchical(rank, n, x):
    """Two groups of two: add up inside, across, and share the result inside."""
    inner, outer = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    inside = [dist.new_group(ranks) for ranks in inner][rank // 2]
    across = [dist.new_group(ranks) for ranks in outer][rank % 2]
    part = torch.empty(len(x) // 2, dtype=x.dtype)
    dist.reduce_scatter_single(part, x, group=inside)
    dist.all_reduce(part, group=across)
    out = torch.empty_like(x)
    dist.all_gather_single(out, part, group=inside)
    return out


def test_groups_send_only_what_their_collectives_need():
    xs, carried = run(hierarchical, 4)
    assert all(np.array_equal(out, sum(xs)) for out in carried.outputs)
    assert carried.sent_bytes == [48 + 48 + 48] * 4  # half the buffer inside, a half twice across, half inside
    assert carried.rounds == 1 + 2 + 1


def own_groups_only(rank, n, x):
    group = dist.new_group([0, 1] if rank < 2 else [2, 3])
    dist.all_reduce(x, group=group)
    return x


def own_group_first(rank, n, x):
    for half in (rank // 2, 1 - rank // 2):
        dist.new_group([2 * half, 2 * half + 1])


def not_the_last(rank, n, x):
    if rank < 3:
        dist.new_group([0, 1])


@pytest.mark.parametrize(
    ("program", "named"),
    [
        (own_groups_only, r"new_group\(\[0, 1\]\) .* ranks 0, 1, but not by ranks 2, 3; new_group\(\[2, 3\]\) "),
        (own_group_first, r"new_group\(\[0, 1\]\) .* ranks 0, 1, but not by ranks 2, 3; new_group\(\[2, 3\]\) "),
        (not_the_last, r"new_group\(\[0, 1\]\) .* ranks 0, 1, 2, but not by rank 3:"),
    ],
)
def test_a_group_is_entered_by_all_ranks(program, named):
    with pytest.raises(NetworkError, match=named) as error:
        run(program, 4)
    assert error.value.reason == "group-not-entered-by-all"


def test_a_group_that_synchronises_locally_is_entered_by_its_members():
    def program(rank, n, x):
        group = dist.new_group([0, 1] if rank < 2 else [2, 3], use_local_synchronization=True)
        dist.all_reduce(x, group=group)
        return x

    xs, carried = run(program, 4)
    assert np.array_equal(carried.outputs[3], xs[2] + xs[3])


def test_a_member_waits_in_new_group_for_the_others():
    def program(rank, n, x):
        if rank:
            dist.recv(x, 0)
        dist.new_group([0, 1])

    with pytest.raises(
        NetworkError, match=r"rank 0 waits in new_group\(\[0, 1\]\) for rank 1; rank 1 .*rank 0"
    ) as error:
        run(program, 2)
    assert error.value.reason == "deadlock"


def test_a_collective_may_be_waited_for_later():
    def program(rank, n, x):
        y = x.clone()
        work = dist.all_reduce(y, async_op=True)
        if rank == 0:
            dist.send(x, 1)
        else:
            dist.recv(x, 0)
        work.wait()
        return y

    xs, carried = run(program, 2)
    assert np.array_equal(carried.outputs[1], xs[0] + xs[1])


def receives_into_what_it_sends(rank, n, x):
    work = dist.isend(x, (rank + 1) % n)
    dist.recv(x, (rank - 1) % n)
    work.wait()


def overwrites_what_it_sends(rank, n, x):
    work = dist.isend(x[2:4], (rank + 1) % n)
    dist.recv(torch.empty_like(x[2:4]), (rank - 1) % n)
    x[3] = 0
    work.wait()


def never_waits_and_overwrites(rank, n, x):
    dist.isend(x, (rank + 1) % n)
    dist.recv(torch.empty_like(x), (rank - 1) % n)
    x += 1
    return x


def receives_twice_into_one(rank, n, x):
    got = torch.empty_like(x)
    work = [dist.irecv(got, (rank + 1) % n), dist.irecv(got, (rank + 2) % n)]
    for by in (1, 2):
        dist.send(x, (rank + by) % n)
    for one in work:
        one.wait()


def sends_what_comes_in(rank, n, x):
    work = dist.irecv(x, (rank + 1) % n)
    dist.send(x, (rank + 2) % n)
    work.wait()


@pytest.mark.parametrize(
    ("program", "named"),
    [
        (receives_into_what_it_sends, "rank 0 receives from rank 2 into .* isend to rank 1"),
        (overwrites_what_it_sends, r"rank \d changes .* isend to rank \d"),
        (never_waits_and_overwrites, r"rank \d changes .* isend to rank \d"),
        (receives_twice_into_one, "rank 0 receives from rank 2 into .* irecv from rank 1"),
        (sends_what_comes_in, "rank 0 sends to rank 2 from .* irecv from rank 1"),
    ],
)
def test_a_buffer_in_flight_is_left_alone(program, named):
    with pytest.raises(NetworkError, match=named) as error:
        run(program, 3)
    assert error.value.reason == "buffer-in-flight"


def test_a_buffer_may_be_sent_twice_and_received_into_beside_what_is_sent():
    def program(rank, n, x):
        work = [dist.isend(x[::2], 1 - rank), dist.isend(x[::2], 1 - rank)]
        dist.recv(x[1::2], 1 - rank)
        work[0].wait()
        work[0].wait()
        dist.recv(x[1::2], 1 - rank)
        x[1::2] = 0  # the second is never waited for, and left alone
        return x

    _, carried = run(program, 2)
    assert carried.calls == {"send": 4, "recv": 4}


def test_a_clash_of_what_is_not_a_message_is_refused():
    def asks():
        yield {"do": "post", "call": "barrier", "group": [0]}
        yield {"do": "clash", "handle": 0, "by": None}

    with pytest.raises(NetworkError) as error:
        carry([asks()])
    assert error.value.reason == "unknown-request"


class Forged:
    """A `call` for `Process`: each rank makes the requests of its list, and what it is sent is kept."""

    def __init__(self, *requests):
        self.requests, self.got = [iter(of_rank) for of_rank in requests], [[] for _ in requests]

    def __call__(self, request):
        what, rank, *rest = request
        self.got[rank].append(rest[0] if what == "send" else None)
        asked = next(self.requests[rank], None)
        return ("done", None, False) if asked is None else ("asks", asked, None)

    def carry(self):
        budget = Budget(10**5, 1 << 30)
        return carry([Process(self, rank, len(self.got), np.zeros(4), {}, budget) for rank in range(len(self.got))])


def posted(call, data, **more):
    request = {"do": "post", "call": call, "group": [0, 1], "data": data, "op": "sum", "root": 0, **more}
    return [request, {"do": "wait", "handle": 0}]


def parts(data):
    return data if isinstance(data, list) else [data]


NOTHING = np.zeros((0, 12345, 7))


@pytest.mark.parametrize("call", ["send", "all_reduce", "broadcast", "all_gather", "gather", "scatter", "all_to_all"])
@pytest.mark.parametrize("data", [NOTHING, np.zeros((2, 1, 2))])
def test_a_shape_carries_nothing(call, data):
    if call == "send":
        sends = {"do": "send", "to": 1, "tag": 0, "data": data}
        receives = [{"do": "post", "call": "recv", "from": 0, "tag": 0}, {"do": "wait", "handle": 0}]
        made = Forged([sends], receives)
    else:
        given = [data, data] if call in ("scatter", "all_to_all") else data
        made = Forged(posted(call, given), posted(call, given))
    carried = made.carry()
    came = [part for got in made.got for reply in got for part in parts(reply) if isinstance(part, np.ndarray)]
    assert came
    assert all(part.ndim == 1 and part.dtype == float for part in came)
    assert bool(sum(carried.sent_bytes)) == bool(data.size)


@pytest.mark.parametrize("data", [NOTHING.astype("int8"), np.zeros(4, "float32"), [np.zeros(4), np.zeros(4, "int64")]])
def test_a_type_carries_nothing(data):
    call = "all_to_all" if isinstance(data, list) else "all_gather"
    with pytest.raises(RankFailed) as error:
        Forged(posted(call, data), posted(call, data)).carry()
    assert (error.value.kind, error.value.rank) == ("dtype", 0)


@pytest.mark.parametrize(
    ("call", "ranks", "reason"),
    [
        ("all_reduce", ({}, {"op": "max"}), "other-reductions"),
        ("broadcast", ({}, {"root": 1}), "other-roots"),
        ("scatter", ({"data": [np.zeros(0), np.zeros(8)]}, {}), "uneven-split"),
        ("all_to_all", ({"data": [[0.0], np.zeros(8)]}, {}), "not-an-array"),
        ("all_gather", ({"data": 4}, {}), "not-an-array"),
    ],
)
def test_what_the_ranks_of_a_call_ask_for_must_fit(call, ranks, reason):
    with pytest.raises(NetworkError) as error:
        Forged(*(posted(call, **{"data": np.zeros(4), **more}) for more in ranks)).carry()
    assert error.value.reason == reason


def test_a_text_in_place_of_numbers_fails_the_rank_that_sends_it():
    with pytest.raises(RankFailed) as error:
        Forged(posted("all_gather", data="four"), posted("all_gather", data=np.zeros(4))).carry()
    assert (error.value.kind, error.value.rank) == ("dtype", 0)


def both_wait(rank, n, x):
    dist.recv(x, 1 - rank)


def all_send_first(rank, n, x):
    dist.send(x, (rank + 1) % n)
    dist.recv(x, (rank - 1) % n)


def left_alone(rank, n, x):
    if rank:
        dist.all_reduce(x)


def unread(rank, n, x):
    if rank == 0:
        dist.send(x, 1)


def unread_later(rank, n, x):
    if rank == 0:
        dist.isend(x, 1)


def waits_for_nothing(rank, n, x):
    if rank:
        dist.recv(x, 0)


def posts_for_nothing(rank, n, x):
    if rank:
        dist.irecv(x, 0)


def other_tag(rank, n, x):
    if rank:
        dist.recv(x, 0, tag=2)
    else:
        dist.isend(x, 1, tag=3)


def begins_alone(rank, n, x):
    if rank:
        dist.all_reduce(x, async_op=True)


def wrong_size(rank, n, x):
    if rank == 0:
        dist.send(x, 1)
    else:
        dist.recv(x[:5], 0)


def fails(rank, n, x):
    return x / [rank] if rank else x


def exits(rank, n, x):
    import os

    os._exit(7)


def sends_to_nobody(rank, n, x):
    dist.send(x, 5)


def different(rank, n, x):
    return dist.barrier() if rank else dist.all_reduce(x)


def collective(rank, n, x):
    dist.all_reduce(x)


@pytest.mark.parametrize(
    ("program", "reason", "named"),
    [
        (both_wait, "deadlock", "rank 0 .*rank 1; rank 1 .*rank 0"),
        (all_send_first, "only-sends", r"rank 0 .*\bsend .*rank 1 .*; rank 1 .*\bsend .*rank 0 "),
        (left_alone, "left-alone", r"rank 1 .*\ball_reduce .*rank 0, .*ended"),
        (unread, "unreceived", r"rank 0 .*\bsend .*rank 1 .*ended"),
        (unread_later, "unreceived", "rank 0 .*rank 1 "),
        (waits_for_nothing, "unsent", "rank 1 .*rank 0, .*ended"),
        (posts_for_nothing, "unsent", "rank 1 .*rank 0 "),
        (other_tag, "unsent", "rank 1 .*rank 0 with tag 2"),
        (begins_alone, "left-alone", "rank 1 .*all_reduce.*rank 0 "),
        (different, "other-call", "barrier .*rank 0 .*all_reduce"),
    ],
)
def test_a_network_that_cannot_go_on_says_why_and_names_the_ranks(program, reason, named):
    with pytest.raises(NetworkError, match=named) as error:
        run(program, 2)
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("program", "kind", "named"),
    [
        (wrong_size, "raises", r"RuntimeError: .*rank 0 .*\b12 .*\b5\b.*in line \d+"),
        (fails, "raises", r"TypeError.*in line \d+"),
        (exits, "lost", r"\(exit status 7\)"),
        (sends_to_nobody, "raises", r"ValueError: .*0 to 1, .*\b5"),
    ],
)
def test_a_rank_that_fails_says_how(program, kind, named):
    with pytest.raises(RankFailed, match=named) as error:
        run(program, 2)
    assert error.value.kind == kind


def test_the_words_for_a_deadlock():
    with pytest.raises(NetworkError, match="rank 0 waits for a message from rank 1; rank 1 waits for a message"):
        run(both_wait, 2)


def test_a_call_may_be_left_out_of_an_exercise():
    with pytest.raises(NetworkError, match=r" all_reduce; .* send, recv$") as error:
        run(collective, 2, allowed=("send", "recv"))
    assert error.value.reason == "call-not-allowed"


def test_too_many_bytes_are_refused():
    with pytest.raises(NetworkError) as error:
        run(ring, 2, max_bytes=50)
    assert error.value.reason == "too-many-bytes"


def test_a_rank_that_never_ends_is_ended():
    def forever(rank, n, x):
        while rank:
            pass
        return x

    call = LocalRanks(forever, seconds=2.0)
    budget = Budget(10**5, 1 << 30)
    with pytest.raises(RankFailed) as error:
        carry([Process(call, rank, 2, np.zeros(2), {}, budget) for rank in range(2)])
    assert (error.value.kind, error.value.what) == ("limit", "2 s")
    assert call.ranks == []


def test_what_leaves_a_node_is_known():
    _, carried = run(hierarchical, 4)
    assert carried.pairs[0, 1] == carried.pairs[1, 0] == 96
    assert carried.pairs[0, 2] == carried.pairs[2, 0] == 48
    assert sum(carried.pairs.values()) == sum(carried.sent_bytes) == sum(carried.received_bytes)

"""Every way in which torch calls a process group ends in the few calls of a transport."""

from typing import ClassVar

import pytest
import torch
import torch.distributed as dist
from torch import nn

from hwlib.torch_groups import ANY, Transport, register

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
SIZE = 2


class Now:
    done = False

    def __init__(self):
        self.waits = 0

    def wait(self):
        self.waits += 1
        self.done = True


class Noted(Transport):
    backend = "noted"
    calls: ClassVar[list] = []
    pending: ClassVar[list] = []

    def note(self, *what):
        Noted.calls.append(what)
        Noted.pending.append(Now())
        return Noted.pending[-1]

    def collective(self, call, outputs, inputs, op, root):
        if call == "reduce":
            return super().collective(call, outputs, inputs, op, root)
        if call == "all_gather" and isinstance(outputs, list):
            for one in outputs:
                one.copy_(inputs)  # DDP looks whether its peers have the same model
        return self.note(call, shapes(outputs), shapes(inputs), op, root)

    def send(self, tensor, to, tag):
        return self.note("send", tuple(tensor.shape), to, tag)

    def receive(self, tensor, source, tag):
        return self.note("receive", tuple(tensor.shape), source, tag)


def shapes(value):
    if isinstance(value, (list, tuple)):
        return [shapes(one) for one in value]
    return None if value is None else tuple(value.shape)


@pytest.fixture
def group():
    Noted.calls.clear()
    Noted.pending.clear()
    register(Noted)
    register(Noted)
    dist.init_process_group("noted", store=dist.HashStore(), rank=1, world_size=SIZE)
    yield dist.group.WORLD
    dist.destroy_process_group()


x, half, parts = torch.zeros(4), torch.zeros(2), [torch.zeros(2), torch.zeros(2)]
CALLS = {
    "all_reduce": (lambda: dist.all_reduce(x, dist.ReduceOp.AVG), ("all_reduce", [(4,)], [(4,)], "avg", 0)),
    "coalesced": (lambda: dist.all_reduce_coalesced([x, half]), ("all_reduce", [(4,), (2,)], [(4,), (2,)], "sum", 0)),
    "broadcast": (lambda: dist.broadcast(x, 1), ("broadcast", [(4,)], [(4,)], "sum", 1)),
    "all_gather": (lambda: dist.all_gather(parts, half), ("all_gather", [(2,), (2,)], (2,), "sum", 0)),
    "one array": (lambda: dist.all_gather_single(x, half), ("all_gather", (4,), (2,), "sum", 0)),
    "old name": (lambda: dist.all_gather_into_tensor(x, half), ("all_gather", (4,), (2,), "sum", 0)),
    "gather": (lambda: dist.gather(half, parts, dst=1), ("gather", [(2,), (2,)], (2,), "sum", 1)),
    "gather to another": (lambda: dist.gather(half, dst=0), ("gather", None, (2,), "sum", 0)),
    "scatter": (lambda: dist.scatter(half, parts, src=1), ("scatter", (2,), [(2,), (2,)], "sum", 1)),
    "scatter of another": (lambda: dist.scatter(half, src=0), ("scatter", (2,), None, "sum", 0)),
    "reduce_scatter": (
        lambda: dist.reduce_scatter(half, parts, dist.ReduceOp.MAX),
        ("reduce_scatter", (2,), [(2,), (2,)], "max", 0),
    ),
    "one array scattered": (lambda: dist.reduce_scatter_single(half, x), ("reduce_scatter", (2,), (4,), "sum", 0)),
    "all_to_all": (lambda: dist.all_to_all(parts, parts), ("all_to_all", [(2,), (2,)], [(2,), (2,)], "sum", 0)),
    "equal blocks": (lambda: dist.all_to_all_single(x, x), ("all_to_all", (4,), (4,), "sum", 0)),
    "counted blocks": (
        lambda: dist.all_to_all_single(x, x, [1, 3], [2, 2]),
        ("all_to_all", [(1,), (3,)], [(2,), (2,)], "sum", 0),
    ),
    "barrier": (dist.barrier, ("barrier", None, None, "sum", 0)),
    "send": (lambda: dist.send(x, 0, tag=3), ("send", (4,), 0, 3)),
    "receive": (lambda: dist.recv(x, 0), ("receive", (4,), 0, 0)),
    "receive from any": (lambda: dist.irecv(x).wait(), ("receive", (4,), ANY, 0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_of_torch_is_one_of_the_transport(name, group):
    make, noted = CALLS[name]
    make()
    assert Noted.calls == [noted]
    assert Noted.pending[0].waits == 1


def test_what_a_transport_does_not_carry_is_said(group):
    with pytest.raises(NotImplementedError, match=r"noted .* reduce$"):
        dist.reduce(x, 0)


def test_a_call_that_is_not_waited_for_is_under_way(group):
    work = dist.all_reduce(x, async_op=True)
    assert not work.is_completed()
    work.wait()
    assert work.is_completed()
    assert work.result()[0] is x


def test_a_group_knows_its_ranks_and_its_name(group):
    part = dist.new_group([1])
    assert (part.size(), dist.get_rank(part), dist.get_process_group_ranks(part)) == (1, 0, [1])
    assert part.group_name
    assert part.group_name == part.transport.name
    assert dist.new_group([0]) == dist.GroupMember.NON_GROUP_MEMBER
    assert dist.get_backend(part) == dist.get_backend() == "noted"


def test_buckets_are_waited_for_when_backward_ends(group):
    """Not each before the next begins: that would hide nothing."""
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64)), bucket_cap_mb=0.01)
    under_way = []
    original = Noted.note

    def note(self, *what):
        under_way.append(sum(not one.done for one in Noted.pending))
        return original(self, *what)

    Noted.note = note
    try:
        for _ in range(2):  # the buckets are arranged after the first
            under_way.clear()
            model(torch.zeros(1, 64)).sum().backward()
    finally:
        Noted.note = original
    assert max(under_way) > 0
    assert all(one.done for one in Noted.pending)

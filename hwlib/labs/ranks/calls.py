"""What the ranks of a run send: each logs its calls, and the logs are put together afterwards.

Every call of torch.distributed ends in an operator of torch's dispatcher, whoever makes it: a program, DDP, FSDP. Those
operators are wrapped, below the backend's name and above its work, so that gloo and NCCL go on as they are. A message
counts by its bytes, and a collective as the algorithm that `hwlib.simulate.calls` names for it, whatever the backend
really does. Rounds are the longest chain of messages each of which was sent after the one before had been waited for;
what code in C++ waits for is not seen.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

LOG: list[list[Any]] = []  # of this process, if it is a rank: [call, group, ...]
_open: dict[int, tuple[Any, int]] = {}  # by the address of what is waited for: itself, and its entry's number
_library: list[Any] = []


def _tensors(value: Any) -> list[Any]:
    return [t for v in value for t in _tensors(v)] if isinstance(value, (list, tuple)) else [value]


def _sizes(value: Any) -> list[int]:
    return [tensor.nbytes for tensor in _tensors(value)]


def _whole(value: Any, times: int = 1) -> list[Any]:
    """[elements, bytes of one] of what tensors hold together, `times` over."""
    tensors = _tensors(value)
    return [times * sum(t.numel() for t in tensors), tensors[0].element_size() if tensors else 1]


def _splits(tensor: Any, splits: Sequence[int], n: int) -> list[int]:
    rows = list(splits) or [tensor.shape[0] // n] * n
    row = tensor.nbytes // max(tensor.shape[0], 1)
    return [count * row for count in rows]


# Of each operator: its call, where its group is among its arguments, and what its size and its root are
Logged = tuple[str, int, Callable[[tuple, int], Any], int | None]
OPERATORS: dict[str, Logged] = {
    "send": ("send", 1, lambda a, _: sum(_sizes(a[0])), 2),
    "recv_": ("recv", 1, lambda a, _: sum(_sizes(a[0])), 2),
    "recv_any_source_": ("recv", 1, lambda a, _: sum(_sizes(a[0])), None),
    "allreduce_": ("all_reduce", 1, lambda a, _: _whole(a[0]), None),
    "allreduce_coalesced_": ("all_reduce", 1, lambda a, _: _whole(a[0]), None),
    "allgather_": ("all_gather", 2, lambda a, n: _whole(a[1], n), None),
    "_allgather_base_": ("all_gather", 2, lambda a, n: _whole(a[1], n), None),
    "allgather_coalesced_": ("all_gather", 2, lambda a, n: _whole(a[1], n), None),
    "allgather_into_tensor_coalesced_": ("all_gather", 2, lambda a, n: _whole(a[1], n), None),
    "reduce_scatter_": ("reduce_scatter", 2, lambda a, n: _whole(a[0], n), None),
    "_reduce_scatter_base_": ("reduce_scatter", 2, lambda a, n: _whole(a[0], n), None),
    "reduce_scatter_tensor_coalesced_": ("reduce_scatter", 2, lambda a, n: _whole(a[0], n), None),
    "broadcast_": ("broadcast", 1, lambda a, _: _whole(a[0]), 2),
    "reduce_": ("reduce", 1, lambda a, _: _whole(a[0]), 3),
    "gather_": ("gather", 2, lambda a, n: _whole(a[1], n), 3),
    "scatter_": ("scatter", 2, lambda a, n: _whole(a[0], n), 3),
    "alltoall_": ("all_to_all", 2, lambda a, _: _sizes(a[1]), None),
    "alltoall_base_": ("all_to_all", 2, lambda a, n: _splits(a[1], a[4], n), None),
    "barrier": ("barrier", 1, lambda _a, _: None, None),
}


def install() -> None:
    """Wrap the operators, once in a process and all that it forks."""
    import torch
    import torch.distributed as dist

    if _library:
        return
    library = torch.library.Library("c10d", "IMPL")
    _library.append(library)
    for name, logged in OPERATORS.items():
        wrapped = _wrapped(getattr(torch.ops.c10d, name).default, *logged)
        for key in ("AutogradCPU", "AutogradCUDA"):
            library.impl(name, wrapped, key)
    wait = dist.Work.wait

    def logged_wait(self: Any, *given: Any, **named: Any) -> Any:
        done = wait(self, *given, **named)
        _, number = _open.pop(id(self), (None, None))
        if number is not None:
            source = self._source_rank() if LOG[number][0] == "recv" and LOG[number][2] is None else None
            LOG.append(["wait", number, source])
        return done

    dist.Work.wait = logged_wait  # type: ignore[method-assign]


def _wrapped(operator: Any, call: str, at: int, size: Callable[[tuple, int], Any], peer: int | None) -> Any:
    import torch
    import torch.distributed as dist

    def run(*a: Any, **named: Any) -> Any:
        group = dist.ProcessGroup.unbox(a[at])
        ranks = dist.get_process_group_ranks(group)
        entry = [call, ranks, None if peer is None else a[peer], size(a, len(ranks)), a[3] if call in P2P else 0]
        if call == "recv" and peer is None:
            entry[4] = a[2]
        LOG.append(entry)
        number = len(LOG) - 1
        with torch._C._AutoDispatchBelowAutograd():
            done = operator(*a, **named)
        work = done[-1] if isinstance(done, tuple) else done
        if work is not None:
            work = dist.Work.unbox(work)
            _open[id(work)] = work, number
        return done

    return run


P2P = ("send", "recv")


@dataclass
class Traffic:
    """What a run sent, by rank, in how many rounds, and how often each call was made by all ranks together."""

    sent_bytes: list[int]
    received_bytes: list[int]
    rounds: int = 0
    calls: Counter[str] = field(default_factory=Counter)


def traffic(logs: Sequence[Sequence[Sequence[Any]]]) -> Traffic:
    """Puts the logs of all ranks together: the k-th send from a to b is what the k-th receive at b from a took."""
    return _Replay(logs).run()


class _Replay:
    """Goes through the logs as a network would, with a clock for each rank that counts rounds."""

    def __init__(self, logs: Sequence[Sequence[Sequence[Any]]]):
        n = len(logs)
        self.logs, self.total = logs, Traffic([0] * n, [0] * n)
        self.clock, self.at = [0] * n, [0] * n
        self.sent: dict[tuple, list[int]] = defaultdict(list)  # rounds of the messages of a pair, group and tag
        self.received: Counter[tuple] = Counter()
        self.met: dict[tuple, list[tuple[int, Any]]] = defaultdict(list)
        self.made: Counter[tuple] = Counter()
        self.ends: dict[tuple, int] = {}  # of a collective: when it has ended
        self.waited: list[dict[int, Callable[[], int | None]]] = [{} for _ in logs]

    def run(self) -> Traffic:
        moved = True
        while moved:
            moved = False
            for rank in range(len(self.logs)):
                while self.at[rank] < len(self.logs[rank]) and self.step(rank, self.logs[rank][self.at[rank]]):
                    self.at[rank] += 1
                    moved = True
        return self.total

    def step(self, rank: int, entry: Sequence[Any]) -> bool:
        """One entry of a rank; False where it waits for what has not been sent yet."""
        number = self.at[rank]
        if entry[0] == "wait":
            ended = self.waited[rank].get(entry[1], lambda: 0)() if entry[2] is None else self.any(rank, entry)
            if ended is None:
                return False
            self.clock[rank] = max(self.clock[rank], ended)
            return True
        call, group, peer, size, tag = entry
        self.total.calls[call] += 1
        if call == "send":
            depth = self.clock[rank] + 1
            self.sent[rank, group[peer], tuple(group), tag].append(depth)
            self.total.rounds = max(self.total.rounds, depth)
            self.total.sent_bytes[rank] += size
        elif call == "recv":
            self.total.received_bytes[rank] += size
            if peer is not None:
                self.waited[rank][number] = self.message((group[peer], rank, tuple(group), tag))
        else:
            self.waited[rank][number] = self.collective(rank, call, tuple(group), peer, size)
        return True

    def message(self, key: tuple) -> Callable[[], int | None]:
        """When the next message of this kind was sent, once it has been."""
        index = self.received[key]
        self.received[key] += 1
        return lambda: self.sent[key][index] if len(self.sent[key]) > index else None

    def any(self, rank: int, entry: Sequence[Any]) -> int | None:
        _, group, _, _, tag = self.logs[rank][entry[1]]
        key = (entry[2], rank, tuple(group), tag)
        ended = self.message(key)()
        if ended is None:
            self.received[key] -= 1
        return ended

    def collective(self, rank: int, call: str, group: tuple, root: Any, size: Any) -> Callable[[], int | None]:
        order = self.made[group, rank]
        self.made[group, rank] += 1
        key = (group, order)
        self.met[key].append((rank, size))
        if len(self.met[key]) == len(group):
            self.perform(key, call, root)
        return lambda: self.ends.get(key)

    def perform(self, key: tuple, call: str, root: Any) -> None:
        from hwlib.simulate.calls import call_cost, exchange_cost

        group, met = key[0], dict(self.met.pop(key))
        if call == "all_to_all":
            cost = exchange_cost([met[rank] for rank in group])
        else:
            count, itemsize = (met[group[root or 0]] if call != "barrier" else None) or (0, 1)
            cost = call_cost(call, len(group), count, itemsize, root)
        for place, rank in enumerate(group):
            self.total.sent_bytes[rank] += cost.sent_bytes[place]
            self.total.received_bytes[rank] += cost.received_bytes[place]
        start = max(self.clock[rank] for rank in group)
        self.ends[key] = start + cost.rounds
        self.total.rounds = max(self.total.rounds, start + cost.rounds)

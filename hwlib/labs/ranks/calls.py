"""The log that a rank keeps of its calls of torch.distributed, whoever makes them: a program, DDP, FSDP, DTensor.

Each ends in an operator of torch's dispatcher. These are wrapped, above the backend, so that gloo and NCCL go on as
they are. What code in C++ waits for, such as DDP, is not seen.
"""

from collections.abc import Callable, Sequence
from typing import Any

LOG: list[list[Any]] = []  # of this process, if it is a rank: [call, group, ...]
_open: dict[int, tuple[Any, int]] = {}  # by the address of what is waited for: itself, and its entry's number
_libraries: list[Any] = []


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


P2P = ("send", "recv")

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
FUNCTIONAL: dict[str, Logged] = {  # those of DTensor and torch.compile, logged as if waited for at once
    "all_reduce": ("all_reduce", 2, lambda a, _: _whole(a[0]), None),
    "all_reduce_": ("all_reduce", 2, lambda a, _: _whole(a[0]), None),
    "all_reduce_coalesced": ("all_reduce", 2, lambda a, _: _whole(a[0]), None),
    "all_gather_into_tensor": ("all_gather", 2, lambda a, n: _whole(a[0], n), None),
    "all_gather_into_tensor_coalesced": ("all_gather", 2, lambda a, n: _whole(a[0], n), None),
    "reduce_scatter_tensor": ("reduce_scatter", 3, lambda a, _: _whole(a[0]), None),
    "reduce_scatter_tensor_coalesced": ("reduce_scatter", 3, lambda a, _: _whole(a[0]), None),
    "all_to_all_single": ("all_to_all", 3, lambda a, n: _splits(a[0], a[2], n), None),
    "broadcast": ("broadcast", 2, lambda a, _: _whole(a[0]), 1),
}


def install() -> None:
    """Wrap the operators, once in a process and all that it forks."""
    import torch
    import torch.distributed as dist

    if _libraries:
        return
    for namespace, operators in ("c10d", OPERATORS), ("_c10d_functional", FUNCTIONAL):
        library = torch.library.Library(namespace, "IMPL")
        _libraries.append(library)
        for name, logged in operators.items():
            wrapped = _wrapped(getattr(getattr(torch.ops, namespace), name).default, *logged)
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
        group = _group(a[at])
        ranks = dist.get_process_group_ranks(group)
        if call in P2P and peer is not None and not 0 <= a[peer] < len(ranks):
            raise ValueError(f"{call}: the ranks of the group are 0 to {len(ranks) - 1}, there is no {a[peer]}")
        tag = 0 if call not in P2P else a[2] if peer is None else a[3]
        LOG.append([call, ranks, None if peer is None else a[peer], size(a, len(ranks)), tag])
        number = len(LOG) - 1
        with torch._C._AutoDispatchBelowAutograd():
            done = operator(*a, **named)
        work = done[-1] if isinstance(done, tuple) else done
        if isinstance(work, torch.ScriptObject):
            work = dist.Work.unbox(work)
            _open[id(work)] = work, number
        elif work is not None:
            LOG.append(["wait", number, None])
        return done

    return run


def _group(given: Any) -> Any:
    """The group that an operator was given, in one of the ways in which torch does."""
    import torch
    import torch.distributed as dist

    if isinstance(given, str):
        return torch._C._distributed_c10d._resolve_process_group(given)  # type: ignore[arg-type]
    return given if isinstance(given, dist.ProcessGroup) else dist.ProcessGroup.unbox(given)

"""PyTorch's flight recorder: the last collectives that each rank called, as it dumps them when a job hangs.

Format: version 2.10 of `torch.distributed`'s dumps (PyTorch 2.9 and later) as JSON. `fr_trace`, PyTorch's own analyser,
reads the same entries from pickles. `draw_flight` plays a hang and writes what each rank would have dumped.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hwlib.arguments import as_int
from hwlib.traces.hangs.culprits import blame, by_name, job_calls
from hwlib.traces.hangs.dumps import read_dump

__all__ = ["HANGS", "FlightEntry", "Hang", "draw_flight", "find_hang", "flight_entries"]

HANGS = ("none", "absent", "skip", "order", "size", "operation")
"""What a rank does: nothing wrong; does not come; leaves one call out; calls two in another order; sends another size;
calls a broadcast of as many elements.
"""
AHEAD = 3  # calls that a host has put into the queue beyond the one that hangs
MS = 10**6  # ns
TIMEOUT = 600_000  # ms, PyTorch's default for NCCL


class FlightEntry(NamedTuple):
    """One call of one rank: the group's name, the call's number there, and what was called on which shapes.

    `state` is "scheduled" (in the queue), "started" (its kernel runs: the rank waits here) or "completed".
    """

    rank: int
    group: str
    number: int
    operation: str
    state: str
    input_sizes: tuple
    output_sizes: tuple
    frame: str


class Hang(NamedTuple):
    """Why a job hangs: `ranks` did not call what the others of the group called at this number.

    `reason` is "missing" (they have not called it and wait nowhere else), "operation", "size" or "dtype" (they called
    another), "stuck" (all are in the call, and it does not end) or "circle": every rank waits in some call, as after
    one that was left out among equal ones, and numbers and shapes do not tell whose order is wrong; then `ranks` is
    empty, the call is the first open one, and the frames decide.
    """

    reason: str
    group: str
    number: int
    operation: str
    ranks: tuple[int, ...]


def flight_entries(rank: int, dump: Mapping[str, Any]) -> tuple[FlightEntry, ...]:
    """The collectives in one rank's dump, oldest first; sends and receives are left out."""
    return tuple(
        FlightEntry(
            rank,
            call.group.name,
            call.number,
            call.operation,
            call.state,
            call.input_sizes,
            call.output_sizes,
            call.innermost,
        )
        for call in read_dump(dump, rank).calls
        if call.peer is None
    )


def find_hang(dumps: Mapping[int, Mapping[str, Any]]) -> Hang | None:
    """What hangs a job, from the dumps of all its ranks; None if nothing does.

    Of the groups' calls that are not completed the first by (group, number) that differ between ranks decide. A rank
    that is missing from a call because it waits in another is a victim, and only one that waits nowhere is named. Of
    two kinds of calls under one number the rarer is named; where neither is, as in a group of two, all of its ranks
    are. Groups are told apart by their names and their ranks: PyTorch gives all groups of a mesh's dimension one name.
    """
    blamed = blame(job_calls((read_dump(dump, int(rank)) for rank, dump in dumps.items()), by_name))
    if blamed is None:
        return None
    return Hang(blamed.reason, blamed.met.group.name, blamed.met.number, blamed.usual.operation, blamed.ranks)


class _Call(NamedTuple):
    group: str
    operation: str
    elements: int
    frame: tuple[str, str, int]


def draw_flight(
    hang: str = "absent", rank: int = 0, at: int = 20, *, tp: int = 4, dp: int = 4, layers: int = 3, steps: int = 3
) -> dict[int, dict[str, Any]]:
    """The dumps of all tp·dp ranks of a job that hangs in one of the ways of `HANGS`, by rank.

    Each step of a rank gathers weights, sums activations in its tensor-parallel group and scatters sums of gradients in
    its data-parallel group, layer by layer, and sums a norm over all. `rank` goes wrong at its call `at`, counted from
    0 over all groups. A rank runs its calls one after another; its host is some calls ahead. What was called wrongly
    never completes. Raises ValueError for another hang, rank or call.
    """
    if hang not in HANGS:
        raise ValueError(f"draw_flight: hang is one of {', '.join(HANGS)}, got {hang!r}")
    n = tp * dp
    rank = as_int("draw_flight: rank", rank, 0, n - 1)
    programs = [list(_program(r, tp, layers)) * steps for r in range(n)]
    at = as_int("draw_flight: at (call)", at, 0, len(programs[rank]) - 2)
    own = programs[rank]
    if hang == "absent":
        del own[at:]
    elif hang == "skip":
        del own[at]
    elif hang == "order":
        other = next((i for i in range(at + 1, len(own)) if _differs(own[i], own[at])), None)
        if other is None:
            raise ValueError(
                f"draw_flight: call {at} is the last of its kind in its group: nothing to exchange it with"
            )
        own[at], own[other] = own[other], own[at]
    elif hang == "size":
        own[at] = own[at]._replace(elements=own[at].elements // 2)
    elif hang == "operation":
        own[at] = own[at]._replace(operation="broadcast")
    groups = _members(tp, dp)
    return {r: _dump(r, programs[r], done, groups) for r, done in enumerate(_play(programs, groups))}


def _differs(one: _Call, other: _Call) -> bool:
    return one.group == other.group and one.operation != other.operation


def _program(rank: int, tp: int, layers: int) -> Iterator[_Call]:
    """The calls of one step."""
    tensor, data = f"tp{rank // tp}", f"dp{rank % tp}"
    for layer in range(layers):
        yield _Call(data, "_all_gather_base", 2**20 + layer, ("unshard", "fully_shard.py", 351))
        yield _Call(tensor, "all_reduce", 2**22, ("forward", "attention.py", 118))
    for layer in reversed(range(layers)):
        yield _Call(tensor, "all_reduce", 2**22, ("backward", "attention.py", 131))
        yield _Call(data, "_reduce_scatter_base", 2**20 + layer, ("post_backward", "fully_shard.py", 472))
    yield _Call("0", "all_reduce", 1, ("clip_grad_norm_", "clip_grad.py", 55))


def _members(tp: int, dp: int) -> dict[str, list[int]]:
    tensor = {f"tp{d}": list(range(d * tp, (d + 1) * tp)) for d in range(dp)}
    return {"0": list(range(tp * dp)), **tensor, **{f"dp{t}": list(range(t, tp * dp, tp)) for t in range(tp)}}


def _play(programs: Sequence[Sequence[_Call]], groups: Mapping[str, Sequence[int]]) -> list[int]:
    """How many calls each rank completes: one is complete when all of its group are at it, with the same call.

    A group's ranks are at its same number whenever they meet: each of them has completed the same meetings before.
    """
    done = [0] * len(programs)
    moved = True
    while moved:
        moved = False
        for group, ranks in groups.items():
            heads = [programs[r][done[r]] if done[r] < len(programs[r]) else None for r in ranks]
            first = heads[0]
            if first is not None and first.group == group and all(head == first for head in heads):
                for r in ranks:
                    done[r] += 1
                moved = True
    return done


def _dump(rank: int, program: Sequence[_Call], done: int, groups: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    numbers: Counter[str] = Counter()
    own = {name: ranks for name, ranks in groups.items() if rank in ranks}
    status = {name: {f"last_{state}_collective": -1 for state in ("enqueued", "started", "completed")} for name in own}
    entries = []
    for i, call in enumerate(program[: done + 1 + AHEAD]):
        numbers[call.group] += 1
        state = "completed" if i < done else "started" if i == done else "scheduled"
        created = (1000 + 7 * i) * MS + rank * 1000
        wide = call.elements * len(groups[call.group])
        sizes = {"_all_gather_base": (call.elements, wide), "_reduce_scatter_base": (wide, call.elements)}
        put, got = sizes.get(call.operation, (call.elements, call.elements))
        function, file, line = call.frame
        entries.append(
            {
                "record_id": i,
                "pg_id": list(groups).index(call.group),
                "process_group": [call.group, _purpose(call.group)],
                "collective_seq_id": numbers[call.group],
                "p2p_seq_id": 0,
                "op_id": numbers[call.group],
                "profiling_name": f"nccl:{call.operation}",
                "time_created_ns": created,
                "time_discovered_started_ns": created + MS if i <= done else None,
                "time_discovered_completed_ns": created + 3 * MS if i < done else None,
                "input_sizes": [[put]],
                "input_dtypes": ["BFloat16"],
                "output_sizes": [[got]],
                "output_dtypes": ["BFloat16"],
                "state": state,
                "retired": i < done,
                "timeout_ms": TIMEOUT,
                "is_p2p": False,
                "frames": [{"name": function, "filename": file, "line": line}],
            }
        )
        reached = ("enqueued", "started", "completed")[: {"scheduled": 1, "started": 2, "completed": 3}[state]]
        for stage in reached:
            status[call.group][f"last_{stage}_collective"] = numbers[call.group]
    config = {name: {"name": name, "desc": _purpose(name), "ranks": str(list(ranks))} for name, ranks in own.items()}
    return {"version": "2.10", "pg_config": config, "pg_status": status, "entries": entries}


def _purpose(group: str) -> str:
    return "default_pg" if group == "0" else f"mesh_{group[:2]}"

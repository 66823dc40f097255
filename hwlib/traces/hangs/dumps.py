"""A rank's dump of PyTorch's flight recorder, in any version: pickled or JSON, as calls with their groups.

What changed between versions: `seq_id` became `collective_seq_id` and `p2p_seq_id` (2.2), types of elements came
with 2.1, group names became pairs with a purpose, JSON has numbers as texts and 0 for "not yet", and gloo names no
groups but the whole job. Lists of keys are open: what a version adds is not looked at.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hwlib.traces.hangs.pickles import read_pickle

__all__ = ["FlightCall", "FlightDump", "FlightGroup", "load_dumps", "read_dump"]

PICKLE = b"\x80"  # how a pickle of protocol 2 and later begins
PEER = re.compile(r"(send|recv) (\d{1,9})(->|<-)(\d{1,9})")  # "send 0->1", "recv 1<-0", in ranks of the group
OF_RANK = re.compile(r"rank[-_.]?(\d{1,9})", re.IGNORECASE)
LAST_NUMBER = re.compile(r"(\d{1,9})\D*$")
INNER = re.compile(r"[/\\]torch[/\\]")  # in the files of PyTorch itself, which is not where a mistake is
MOST_RANKS = 200_000  # of a group: more is not a number of GPUs
MOST_FRAMES = 200
WORLD = "default_pg"


class FlightGroup(NamedTuple):
    """Ranks that call collectives together: name and ranks, for the same name may stand for several groups.

    `ranks` is empty where the dump does not have them, as with gloo.
    """

    name: str
    description: str
    ranks: tuple[int, ...]

    @property
    def shown(self) -> str:
        """The name as one would write it: with its purpose."""
        known = self.description not in ("", "undefined", self.name)
        return f"{self.name} ({self.description})" if known else self.name


class FlightCall(NamedTuple):
    """One call of one rank: its group, its number there and what was called, on which shapes, from which line.

    `state` is "scheduled" (in the queue), "started" (its kernel runs) or "completed". `innermost` is the line of the
    stack that called, `line` the innermost that is not PyTorch's own; `peer` are the sender and the receiver, as ranks
    of the job, of a send or a receive.
    """

    rank: int
    group: FlightGroup
    number: int
    operation: str
    state: str
    input_sizes: tuple
    output_sizes: tuple
    dtypes: tuple
    innermost: str
    line: str
    created: int
    peer: tuple[int, int] | None = None

    @property
    def open(self) -> bool:
        """Whether it has not completed."""
        return self.state != "completed"


class FlightDump(NamedTuple):
    """One rank's dump: `whole` if its ring still holds the first call, `enqueued` has the last number by group."""

    rank: int
    version: str
    library: str
    groups: Mapping[str, FlightGroup]
    calls: tuple[FlightCall, ...]
    enqueued: Mapping[str, int]
    whole: bool


def load_dumps(data: bytes, name: str = "") -> tuple[FlightDump, ...]:
    """The dumps in a file's bytes: a pickle or JSON of one rank, or JSON of several by rank.

    `name` is the file's: where the dump has no rank it is the number after "rank", as PyTorch writes
    `nccl_trace_rank_3`, or else the last number.
    A pickle is read without running anything of it. Raises ValueError.
    """
    value = read_pickle(data) if data[:1] == PICKLE else _json(data)
    if not isinstance(value, Mapping):
        raise ValueError("a dump of the flight recorder was expected: a dictionary with `entries`")
    if "entries" in value:
        return (read_dump(value, _rank(value, name)),)
    ranks = {key: dump for key, dump in value.items() if isinstance(dump, Mapping) and "entries" in dump}
    if not ranks or len(ranks) < len(value):
        raise ValueError(f"a dump has `entries`; this has {_keys(value)}: no dump of the flight recorder")
    return tuple(read_dump(dump, _rank(dump, str(key))) for key, dump in ranks.items())


def _keys(value: Mapping[Any, Any]) -> str:
    return ", ".join(repr(key)[:40] for key in list(value)[:6]) or "nothing"


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply for a dump of the flight recorder") from None
    except ValueError as error:
        raise ValueError(f"neither a pickle nor JSON, so no dump of the flight recorder: {str(error)[:200]}") from None


def _rank(dump: Mapping[str, Any], name: str) -> int:
    rank = _whole(dump.get("rank"), -1)
    file = name.replace("\\", "/").rpartition("/")[2][-200:]
    if rank < 0 and (match := OF_RANK.search(file) or LAST_NUMBER.search(file)):
        rank = int(match[1])
    if rank < 0:
        raise ValueError("the dump does not have its rank, nor has the file's name: nccl_trace_rank_3 is rank 3's")
    return rank


def read_dump(dump: Mapping[str, Any], rank: int) -> FlightDump:
    """A rank's dump as PyTorch's flight recorder writes it, unpickled; raises ValueError for something else."""
    entries = dump.get("entries")
    if not isinstance(entries, list | tuple):
        raise ValueError("`entries` is a list in a dump of the flight recorder")
    groups = dict(_groups(dump.get("pg_config")))
    rows = [entry for entry in entries if isinstance(entry, Mapping)]
    seen: dict[tuple[str, str], FlightGroup] = {}
    calls = tuple(_call(entry, rank, _group_of(entry, groups, seen)) for entry in rows)
    library = _text(dump.get("nccl_version") or dump.get("comm_lib_version"))
    whole = not rows or _whole(rows[0].get("record_id"), 0) <= 0
    enqueued = dict(_enqueued(dump.get("pg_status")))
    return FlightDump(rank, _text(dump.get("version")), library, groups, calls, enqueued, whole)


def _groups(config: Any) -> Iterator[tuple[str, FlightGroup]]:
    rows: Iterable[tuple[Any, Any]] = config.items() if isinstance(config, Mapping) else ()
    for key, about in rows:
        if isinstance(about, Mapping):
            name = _text(key)
            yield name, FlightGroup(name, _text(about.get("desc")), _ranks(about.get("ranks")))


def _ranks(ranks: Any) -> tuple[int, ...]:
    """The ranks of a group, sorted: a list, or its text."""
    if isinstance(ranks, str):
        ranks = re.findall(r"\d{1,9}", ranks[: 12 * MOST_RANKS])
    if not isinstance(ranks, list | tuple) or len(ranks) > MOST_RANKS:
        return ()
    return tuple(sorted({number for rank in ranks if (number := _whole(rank, -1)) >= 0}))


def _enqueued(status: Any) -> Iterator[tuple[str, int]]:
    rows: Iterable[tuple[Any, Any]] = status.items() if isinstance(status, Mapping) else ()
    for key, about in rows:
        if isinstance(about, Mapping):
            yield _text(key), _whole(about.get("last_enqueued_collective"), -1)


def _group_of(
    entry: Mapping[str, Any], groups: Mapping[str, FlightGroup], seen: dict[tuple[str, str], FlightGroup]
) -> FlightGroup:
    pair = entry.get("process_group")
    parts = [_text(part) for part in pair[:2]] if isinstance(pair, list | tuple) else [_text(pair)]
    name = parts[0] if pair is not None and parts else _text(entry.get("pg_id"))
    purpose = parts[1] if len(parts) > 1 else ""
    if name in groups:
        return groups[name]
    if (name, purpose) not in seen:
        world = groups[""].ranks if "" in groups and purpose == WORLD else ()  # gloo names no group but the job
        seen[name, purpose] = FlightGroup(name, purpose, world)
    return seen[name, purpose]


def _call(entry: Mapping[str, Any], rank: int, group: FlightGroup) -> FlightCall:
    title = _text(entry.get("profiling_name"))
    operation = title.partition(":")[2] or title
    number = entry.get("collective_seq_id", entry.get("seq_id"))
    peer = _peer(operation, group)
    if peer or entry.get("is_p2p"):
        number = entry.get("p2p_seq_id", number)
    return FlightCall(
        rank,
        group,
        _whole(number, 0),
        operation,
        _state(entry),
        _sizes(entry.get("input_sizes")),
        _sizes(entry.get("output_sizes")),
        (_texts(entry.get("input_dtypes")), _texts(entry.get("output_dtypes"))),
        *_lines(entry.get("frames")),
        _whole(entry.get("time_created_ns"), 0),
        peer or ((rank, rank) if entry.get("is_p2p") else None),
    )


def _state(entry: Mapping[str, Any]) -> str:
    """A call that is retired is over: gloo writes no other state than "scheduled"."""
    state = _text(entry.get("state"))
    return "completed" if entry.get("retired") is True or state not in ("scheduled", "started") else state


def _peer(operation: str, group: FlightGroup) -> tuple[int, int] | None:
    match = PEER.fullmatch(operation)
    if not match:
        return None
    first, second = (_of_job(int(number), group) for number in (match[2], match[4]))
    return (first, second) if match[1] == "send" else (second, first)


def _of_job(number: int, group: FlightGroup) -> int:
    return group.ranks[number] if number < len(group.ranks) else number


def _sizes(sizes: Any) -> tuple:
    rows = sizes if isinstance(sizes, list | tuple) else ()
    return tuple(_flat(row) for row in rows)


def _flat(row: Any) -> tuple:
    """The numbers of one shape; what is nested deeper is no shape."""
    values: Sequence[Any] = row if isinstance(row, list | tuple) else (row,)
    return tuple(_whole(value, -1) for value in values)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(_text(value) for value in values) if isinstance(values, list | tuple) else ()


def _lines(frames: Any) -> tuple[str, str]:
    """The innermost line of a stack, and the innermost that is not PyTorch's own; "" without a stack."""
    rows = frames[:MOST_FRAMES] if isinstance(frames, list | tuple) else ()
    named = [row for row in rows if isinstance(row, Mapping)]
    if not named:
        return "", ""
    own = next((row for row in named if not INNER.search(_text(row.get("filename")))), named[0])
    return _line(named[0]), _line(own)


def _line(row: Mapping[str, Any]) -> str:
    return f"{_text(row.get('filename'))}:{_text(row.get('line'))} {_text(row.get('name'))}"


def _text(value: Any) -> str:
    """A text or a number as text; nothing else is a name."""
    if isinstance(value, str):
        return value[:2000]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64 else ""


def _whole(value: Any, missing: int) -> int:
    """A whole number, also as text, else `missing`."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 64:
        return value
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value, re.ASCII):
        return int(value)
    return missing

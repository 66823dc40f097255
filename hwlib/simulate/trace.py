"""A run as a file for a trace viewer: open it in Perfetto (ui.perfetto.dev) or in Chrome's chrome://tracing.

    chrome_trace(run, "ring.json")

A row for each rank, with its steps one after another; for a run by events also a row for each direction of each
link, with what passed it, and an arrow for each message. Source of the format: "Trace Event Format", Google.
"""

import json
from collections.abc import Iterator
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any

from hwlib.simulate.event_run import EventRun
from hwlib.simulate.lockstep_run import LockstepRun

RANKS, LINKS = 1, 2  # the two "processes" of a trace
US = 1e6  # a trace counts in microseconds
NAMED = 4  # partners that a step's name lists


def chrome_trace(run: LockstepRun | EventRun, path: str | PathLike[str] | None = None) -> dict[str, Any]:
    """The trace of a run by rounds or by events; written to `path` as JSON if one is given.

    Raises TypeError for anything but a run.
    """
    if isinstance(run, EventRun):
        events = [*_event_ranks(run), *_event_links(run)]
    elif isinstance(run, LockstepRun):
        events = list(_rounds(run))
    else:
        raise TypeError(f"run: what lockstep or simulate_events gives, got {type(run).__name__}")
    trace = {"traceEvents": events, "displayTimeUnit": "ns"}
    if path is not None:
        Path(path).write_text(json.dumps(trace), "utf-8")
    return trace


def _rounds(run: LockstepRun) -> Iterator[dict[str, Any]]:
    """A rank's row: in each round what it sends and receives."""
    starts = [0.0, *accumulate(run.round_times)]
    doings: dict[tuple[int, int], tuple[list, list]] = {}
    for message in run.messages:
        doings.setdefault((message.src, message.round), ([], []))[0].append((message.dst, message.bytes))
        doings.setdefault((message.dst, message.taken), ([], []))[1].append((message.src, message.bytes))
    programs = sorted({rank for rank, _ in doings} | set(range(len(run.outputs))))
    yield from row_names(RANKS, "ranks", [_row_name(rank, len(run.outputs)) for rank in programs])
    for (rank, number), (out, into) in sorted(doings.items()):
        about = {"round": number, "sent_bytes": sum(b for _, b in out), "received_bytes": sum(b for _, b in into)}
        name = _doing([r for r, _ in out], [r for r, _ in into])
        yield slice_event(RANKS, rank, name, starts[number], starts[number + 1], about)


def _event_ranks(run: EventRun) -> Iterator[dict[str, Any]]:
    """A rank's row: its steps; the gaps are what it computes. Arrows are messages."""
    schedule = run.schedule
    yield from row_names(RANKS, "ranks", [_row_name(rank, run.n) for rank in range(len(schedule.sends))])
    for rank, step, start, end in run.steps:
        sent, got = schedule.sent(rank, step), schedule.awaited(rank, step)
        about = {
            "step": step,
            "sent_bytes": sum(schedule.bytes[m] for m in sent),
            "received_bytes": sum(schedule.bytes[m] for m in got),
        }
        name = _doing([schedule.dst[m] for m in sent], [schedule.src[m] for m in got])
        yield slice_event(RANKS, rank, name, start, end, about)
    for number, message in enumerate(run.messages):
        requested = run.timing.step_start[message.dst][schedule.taken[number]]
        arrow = {"name": "message", "cat": "message", "id": number, "pid": RANKS}
        yield arrow | {"ph": "s", "tid": message.src, "ts": float(message.start) * US}
        yield arrow | {"ph": "f", "bp": "e", "tid": message.dst, "ts": max(float(message.end), requested) * US}


def _event_links(run: EventRun) -> Iterator[dict[str, Any]]:
    """A link's row: the messages that passed it."""
    row = {link: number for number, link in enumerate(run.links)}
    yield from row_names(LINKS, "links", [f"{src} → {dst}" for src, dst in row])
    schedule = run.schedule
    for src, dst, message, size, start, end in run.passages:
        if size:
            name = f"{schedule.src[message]} → {schedule.dst[message]}"
            yield slice_event(LINKS, row[src, dst], name, start, end, {"message": message, "bytes": size})


def slice_event(pid: int, tid: int, name: str, start: float, end: float, about: dict[str, Any]) -> dict[str, Any]:
    """An event with a start and an end, in seconds, on row `tid` of group `pid`."""
    begin = float(start) * US
    return {
        "ph": "X",
        "pid": pid,
        "tid": tid,
        "name": name,
        "ts": begin,
        "dur": float(end) * US - begin,
        "args": about,
    }


def row_names(pid: int, group: str, rows: list[str]) -> Iterator[dict[str, Any]]:
    """The viewer's names for a group of rows and for each of its rows, from 0."""
    yield {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": group}}
    yield {"ph": "M", "pid": pid, "name": "process_sort_index", "args": {"sort_index": pid}}
    for tid, name in enumerate(rows):
        yield {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
        yield {"ph": "M", "pid": pid, "tid": tid, "name": "thread_sort_index", "args": {"sort_index": tid}}


def _row_name(rank: int, n: int) -> str:
    return f"rank {rank}" if rank < n else "switch"


def _doing(to: list[int], frm: list[int]) -> str:
    directions = [f"{word} {_listed(who)}" for word, who in (("to", to), ("from", frm)) if who]
    return ", ".join(directions) or "nothing"


def _listed(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:NAMED]))
    return shown if len(ranks) <= NAMED else f"{shown} and {len(ranks) - NAMED} more"

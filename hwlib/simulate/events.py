"""Runs an algorithm over a topology, message by message: links that queue, are slow or die, and ranks that straggle.

    run = simulate_events(ring_allreduce, ring(256, 50*GB, latency=1*us), count=10**9, itemsize=2, chunk_bytes=1*MB)
    run.time, run.busiest[0], run.outputs

A link serves one chunk at a time, first come, first served, in each direction; a chunk starts on the next link
when its head gets there. Where no two messages meet on a link, and all ranks do the same at the same time, the
time is that of `hwlib.simulate.lockstep`, exactly.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.algorithms.protocol import RegisteredAlgorithm, copied, found
from hwlib.arguments import is_number
from hwlib.simulate.event_loop import EventLoop, Pace
from hwlib.simulate.event_run import EventRun
from hwlib.simulate.fabric import Fabric, Place, switch_vertex
from hwlib.simulate.mailbox import start_programs
from hwlib.simulate.message_schedule import MessageSchedule, record, without_collector
from hwlib.simulate.size_only_array import Phantom

if TYPE_CHECKING:
    from hwlib.topology import Topology

Times = float | Sequence[float] | Mapping[int, float]


def simulate_events(
    algorithm: Callable[..., Any] | RegisteredAlgorithm | str,
    topology: "Topology",
    inputs: Sequence[Any] | None = None,
    *,
    count: int | None = None,
    itemsize: float = 1,
    places: Sequence[int] | None = None,
    chunk_bytes: float | None = None,
    alpha: float = 0.0,
    eager_bytes: float = math.inf,
    store_and_forward: bool = False,
    slow: Mapping[Place, float] | None = None,
    dead: Mapping[Place, float] | Collection[Place] = (),
    timeout: float = 0.0,
    start_times: Times = 0.0,
    delays: Times | Callable[[int, int], float] = 0.0,
    switch: Callable[..., Any] | None = None,
    switch_at: str | None = None,
    limit: int | None = None,
    **options: Any,
) -> EventRun:
    """Runs an algorithm on copies of `inputs`, one array a rank of the topology, and times all it does.

    Without inputs every rank has a `Phantom` of `count` elements of `itemsize` bytes. `places` seats rank i of
    the algorithm at rank places[i] of the topology: fewer of them, or in another order.

    A message starts `alpha` seconds after its step, and is cut into chunks of `chunk_bytes` (default: one
    chunk). A chunk's head takes a link's latency to the next one; with `store_and_forward` it waits there for
    its end. A step ends when what it sends has left, and what it waits for has come. A message of more than
    `eager_bytes` is sent when its receiver asks for it, and holds up its sender until then; smaller ones are
    sent at once, and may be in the way of others at the receiver's port.

    `slow` says how many times slower a place is: {("gpu0", "switch"): 4}. Places that are `dead`, from the start or
    from a time on, are routed around: chunks that have not passed a link when it dies are sent again by their sender,
    `timeout` seconds later, over the shortest way that is left. A place is a rank, a vertex (all its links), or a cable
    as a pair. `start_times` are by rank; `delays` are what a rank computes before each of its steps: by rank, or a
    function of rank and step.

    A `switch` program (by default the one that the algorithm is registered with) runs at the vertex `switch_at`, by
    default at the switch that is nearest to all. Other options go to the algorithm. Raises SimulationError if the
    algorithm deadlocks or fails, UnreachableError if no route is left, ValueError and KeyError for invalid arguments.
    """
    if not hasattr(topology, "ranks"):
        raise TypeError(f"topology: one of hwlib.topology, such as node('dgx-h100') or ring(8, 50e9), got {topology!r}")
    known, function = found(algorithm)
    switch = switch or (known.switch if known else None)
    seats = _seats(topology, inputs, places)
    n = len(seats)
    if (inputs is None) == (count is None):
        raise ValueError("inputs or count: one of them, the arrays of all ranks or the length of each")
    arrays = [copied(x) for x in inputs] if inputs is not None else [Phantom(count or 0, itemsize)] * n
    programs = start_programs(function, [(rank, n, x) for rank, x in enumerate(arrays)], **options)
    vertices = [topology.ranks[seat] for seat in seats]
    if switch:
        programs += start_programs(switch, [(n, n, copied(arrays[0]))], **options)
        vertices.append(switch_at if switch_at is not None else switch_vertex(topology, vertices))
    elif switch_at is not None:
        raise ValueError(f"switch_at: {switch_at!r} has nothing to do, as the algorithm has no program for a switch")
    schedule = record(programs, limit)
    return play(
        schedule,
        topology,
        places=vertices,
        chunk_bytes=chunk_bytes,
        alpha=alpha,
        eager_bytes=eager_bytes,
        store_and_forward=store_and_forward,
        slow=slow,
        dead=dead,
        timeout=timeout,
        start_times=start_times,
        delays=delays,
        ranks=n,
    )


def play(
    schedule: MessageSchedule,
    topology: "Topology",
    *,
    places: Sequence[Any] | None = None,
    chunk_bytes: float | None = None,
    alpha: float = 0.0,
    eager_bytes: float = math.inf,
    store_and_forward: bool = False,
    slow: Mapping[Place, float] | None = None,
    dead: Mapping[Place, float] | Collection[Place] = (),
    timeout: float = 0.0,
    start_times: Times = 0.0,
    delays: Times | Callable[[int, int], float] = 0.0,
    ranks: int | None = None,
) -> EventRun:
    """Times a recorded schedule (`hwlib.simulate.message_schedule.record`, or `run.schedule`) on a topology.

    What is sent does not depend on time, so one schedule serves for any network, failure or straggler. The
    arguments are those of `simulate_events`; `places` may also name vertices; of the programs, the first
    `ranks` are ranks, and the rest are switches.
    """
    programs = len(schedule.sends)
    if places is None:
        places = range(len(topology.ranks))
    if len(places) != programs:
        raise ValueError(f"places: the schedule has {programs} programs, got places for {len(places)}")
    ranks = programs if ranks is None else ranks
    pace = _pace(
        chunk_bytes, alpha, eager_bytes, store_and_forward, timeout, start_times, delays, ranks, programs - ranks
    )
    fabric = Fabric(topology, (), slow, dead)
    fabric.vertices += [fabric.vertex(place) for place in places]
    if len(set(fabric.vertices)) < programs:
        raise ValueError(f"places: every rank has a vertex of its own, got {list(places)!r}")
    with without_collector():
        timing = EventLoop(schedule, fabric, pace).run()
    return EventRun(schedule, fabric, pace, timing, ranks)


def _seats(topology: "Topology", inputs: Sequence[Any] | None, places: Sequence[int] | None) -> list[int]:
    size = len(topology.ranks)
    if inputs is not None and not len(inputs):
        raise ValueError("inputs: at least 1 rank, got 0")
    if places is None:
        if inputs is not None and len(inputs) != size:
            raise ValueError(
                f"inputs: one array for each of the {size} ranks of {topology.name}, got {len(inputs)}; "
                "`places` seats fewer"
            )
        return list(range(size))
    good = [seat for seat in places if not isinstance(seat, bool) and hasattr(seat, "__index__") and 0 <= seat < size]
    if not good or len(set(good)) != len(list(places)):
        raise ValueError(f"places: different ranks of {topology.name}, 0 to {size - 1}, got {list(places)!r}")
    if inputs is not None and len(inputs) != len(good):
        raise ValueError(f"inputs: one array for each of the {len(good)} places, got {len(inputs)}")
    return good


def _pace(
    chunk_bytes: Any,
    alpha: Any,
    eager_bytes: Any,
    store_and_forward: Any,
    timeout: Any,
    start_times: Any,
    delays: Any,
    ranks: int,
    switches: int,
) -> Pace:
    """The arguments of `play`, checked; switches start at once and compute nothing before a step."""
    if chunk_bytes is not None and not (_finite(chunk_bytes) and chunk_bytes >= 1):
        raise ValueError(f"chunk_bytes: the bytes of a chunk, at least 1, got {chunk_bytes!r}")
    if not is_number(eager_bytes) or not eager_bytes >= 0:
        raise ValueError(f"eager_bytes: the bytes of a message, at least 0, got {eager_bytes!r}")
    for name, value in (("alpha", alpha), ("timeout", timeout)):
        if not _finite(value) or value < 0:
            raise ValueError(f"{name}: a time in s, at least 0, got {value!r}")
    starts = _by_rank("start_times", start_times, ranks) + [0] * switches
    delay: Callable[[int, int], Any] | None = None
    if callable(delays):
        delay = _checked(delays)
    elif any(waits := _by_rank("delays", delays, ranks) + [0] * switches):
        delay = lambda rank, _step: waits[rank]
    size = math.inf if chunk_bytes is None else chunk_bytes
    return Pace(alpha, eager_bytes, size, bool(store_and_forward), timeout, starts, delay)


def _finite(value: Any) -> bool:
    return is_number(value) and math.isfinite(value)


def _by_rank(name: str, given: Any, n: int) -> list[Any]:
    """A time for each rank: one for all, a sequence, or a mapping with 0 for those it leaves out."""
    if _finite(given):
        times = [given] * n
    elif isinstance(given, Mapping):
        if wrong := [rank for rank in given if rank not in range(n)]:
            raise ValueError(f"{name}: ranks are 0 to {n - 1}, got {wrong[0]!r}")
        times = [given.get(rank, 0) for rank in range(n)]
    elif isinstance(given, Sequence) and not isinstance(given, str) and len(given) == n:
        times = list(given)
    else:
        raise ValueError(f"{name}: a time in s, or one for each of {n} ranks, got {given!r}")
    for time in times:
        if not _finite(time) or time < 0:
            raise ValueError(f"{name}: times in s, at least 0, got {time!r}")
    return times


def _checked(delays: Callable[[int, int], Any]) -> Callable[[int, int], Any]:
    def delay(rank: int, step: int) -> Any:
        time = delays(rank, step)
        if not _finite(time) or time < 0:
            raise ValueError(f"delays: a time in s for rank {rank}, step {step}, at least 0, got {time!r}")
        return time

    return delay

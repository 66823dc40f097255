"""How fast the event simulator is: `python -m benchmarks.speed.simulator`.

Chunks per second on a ring of 256 ranks and on a switch with 8, with and without messages that meet; an
all-reduce over 1,024 ranks of an H100 SuperPOD; and the time to import the library. Beside them, where they are
installed (`pip install simpy mlsysim`): the same schedules on SimPy, with a process for each chunk, checked to
give the same simulated time; and the import of mlsysim. Each line has the minimum, the median and the maximum of
the repeats, peers being run in turn with ours. Seconds are of processor time, but for the imports.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

import click

from hwlib.simulate import EventRun, play, simulate_events
from hwlib.simulate.event_loop import EventLoop
from hwlib.topology import Topology, cluster, crossbar, ring
from hwlib.units import GB, KB, MB, show, us

ASTRA = {"ring": 13e3, "switch": 1.6e6}  # chunks/s of ASTRA-sim's analytical backend, as reported to us


class ScheduleCase(NamedTuple):
    """A schedule on a network: the algorithm with its options, and chunks of so many bytes."""

    name: str
    algorithm: str
    network: Callable[[], Topology]
    options: dict[str, Any]
    chunk_bytes: float | None = None
    astra: str = ""
    simpy: bool = False


def ring_256() -> Topology:
    """A ring of 400 Gbit/s links."""
    return ring(256, 50 * GB, latency=1 * us)


def switch_8() -> Topology:
    """Eight ranks on one switch, 450 GB/s each."""
    return crossbar(8, 450 * GB, latency=1 * us)


def superpod() -> Topology:
    """1,024 H100 in 128 nodes, with every switch."""
    return cluster("superpod-h100-4su")


CASES = (
    ScheduleCase(
        "ring of 256, a chunk a message", "ring_allreduce", ring_256, {"count": 256 * 64_000}, None, "ring", True
    ),
    ScheduleCase(
        "ring of 256, 64 chunks a message", "ring_allreduce", ring_256, {"count": 256 * 64_000}, 1 * KB, "ring"
    ),
    ScheduleCase(
        "switch of 8, nobody meets", "pairwise_alltoall", switch_8, {"count": 64 * 2**20}, 4 * KB, "switch", True
    ),
    ScheduleCase("switch of 8, 7 to 1", "direct_gather", switch_8, {"count": 8 * 4 * 2**20}, 4 * KB, "switch", True),
    ScheduleCase("1,024 ranks, hierarchical", "hierarchical_allreduce", superpod, {"count": 10**9, "inner": 8}),
    ScheduleCase(
        "1,024 ranks, chunks of 1 MB", "hierarchical_allreduce", superpod, {"count": 10**11, "inner": 8}, 1 * MB
    ),
)


def seconds(call: Callable[..., Any], *args: Any, **named: Any) -> tuple[float, Any]:
    """How many seconds of processor time a call took, whatever else runs here, and what it gave."""
    start = time.process_time()
    value = call(*args, **named)
    return time.process_time() - start, value


def on_simpy(run: EventRun) -> float:
    """The same schedule, network and pace on SimPy, a process for each chunk; the time at which the last rank ends."""
    import simpy

    schedule, env = run.schedule, simpy.Environment()
    clock = EventLoop(schedule, run.fabric, run.pace)
    lines = [simpy.Resource(env) for _ in run.fabric.links]
    arrived = [env.event() for _ in schedule.src]
    limit = run.pace.chunk_bytes

    def chunk(plan: Any, left: Any, there: Any) -> Any:
        yield env.timeout(run.pace.alpha)
        for number, hop in enumerate(plan):
            with lines[hop.link].request() as turn:
                yield turn
                yield env.timeout(hop.service)
            if not number:
                left.succeed()
            yield env.timeout(run.fabric.latency[hop.link])
        there.succeed()

    def message(number: int, left: list[Any]) -> Any:
        src, dst, size = schedule.src[number], schedule.dst[number], schedule.bytes[number]
        sizes = [size] if size <= limit else [limit] * int(size // limit) + ([size % limit] if size % limit else [])
        ends = []
        for piece in sizes:
            left.append(env.event())
            ends.append(env.event())
            env.process(chunk(clock.plan_of(src, dst, piece, 0), left[-1], ends[-1]))
        yield env.all_of(ends)
        arrived[number].succeed()

    def rank(number: int) -> Any:
        for step in range(len(schedule.sends[number]) - 1):
            left: list[Any] = []
            for sent in schedule.sent(number, step):
                env.process(message(sent, left))
            yield env.timeout(0)
            yield env.all_of([*left, *(arrived[m] for m in schedule.awaited(number, step))])

    for number in range(len(schedule.sends)):
        env.process(rank(number))
    env.run()
    return env.now


def spread(values: list[float]) -> str:
    """Minimum, median and maximum."""
    return " / ".join(f"{value:.3g}" for value in (min(values), median(values), max(values)))


def measure(case: ScheduleCase, repeats: int, peers: bool) -> None:
    """Print the lines of one case."""
    network, whole, replay, peer = case.network(), [], [], []
    pace: dict[str, Any] = {"chunk_bytes": case.chunk_bytes, "alpha": 1 * us, "store_and_forward": case.simpy}
    for _ in range(repeats):
        taken, run = seconds(simulate_events, case.algorithm, network, **case.options, **pace)
        whole.append(taken)
        replay.append(seconds(play, run.schedule, network, **pace)[0])
        if peers and case.simpy:
            taken, end = seconds(on_simpy, run)
            if abs(end / run.time - 1) > 1e-9:
                raise click.ClickException(f"{case.name}: SimPy says {end} s, we say {run.time} s")
            peer.append(taken)
    print(f"\n{case.name}: {case.algorithm}, {len(run.messages):,} messages, {run.chunks:,} chunks")
    print(f"  simulated time {show(run.time, 's', 4)}; trains cut {run.timing.cuts:,} times")
    print(f"  run, seconds            {spread(whole)}")
    print(f"  schedule alone, seconds {spread(replay)}")
    rates = [run.chunks / taken for taken in whole]
    print(f"  chunks a second         {spread(rates)}, schedule alone {spread([run.chunks / t for t in replay])}")
    if peer:
        ratios = [theirs / ours for theirs, ours in zip(peer, replay, strict=True)]
        print(f"  SimPy, chunks a second  {spread([run.chunks / t for t in peer])}; same simulated time")
        print(f"  ours / SimPy, schedule alone: {spread(ratios)} times")
    if case.astra:
        ratios = [rate / ASTRA[case.astra] for rate in rates]
        print(f"  ours / ASTRA-sim's {ASTRA[case.astra]:,.0f} chunks/s, reported, not run here: {spread(ratios)}")


def imports(repeats: int) -> None:
    """Print how long it takes a new interpreter to import the library, and its peer."""
    taken: dict[str, list[float]] = {"pass": [], "import hwlib": [], "import mlsysim": []}
    for _ in range(repeats):
        for statement, times in taken.items():
            command = [sys.executable, "-c", statement]
            start = time.perf_counter()
            done = subprocess.run(command, capture_output=True, check=False)
            if done.returncode == 0:
                times.append(time.perf_counter() - start)
    print("\nimport, seconds, the interpreter's own start included")
    for statement, times in taken.items():
        print(f"  {statement:15} {spread(times) if times else 'not installed'}")
    if ours := taken["import hwlib"]:
        ratios = [theirs / mine for theirs, mine in zip(taken["import mlsysim"], ours, strict=False)]
        if ratios:
            print(f"  mlsysim / hwlib {spread(ratios)} times")


@click.command(help=__doc__)
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Runs of each case.")
@click.option("--only", default="", help="Only cases whose name contains this.")
def main(repeats: int, only: str) -> None:
    """Run every case."""
    try:
        import simpy  # noqa: F401
    except ImportError:
        peers = False
        print("SimPy is not installed: its lines are left out")
    else:
        peers = True
    print("minimum / median / maximum of", repeats)
    for case in CASES:
        if only in case.name:
            measure(case, repeats, peers)
    if only in "import":
        imports(repeats)


if __name__ == "__main__":
    main()

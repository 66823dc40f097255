"""What the timers of a program show: waiting for data, and ranks that the others wait for."""

from collections import Counter
from collections.abc import Iterator
from statistics import median

from hwlib.run_logs.finding import OFTEN, SHOWN, RunFinding
from hwlib.run_logs.pace import RunPace
from hwlib.run_logs.records import RunLog
from hwlib.units import show

DATA_TIMERS = ("batch-generator", "batch generator", "batch_input")
COMPUTE_TIMERS = ("forward-compute", "backward-compute", "forward", "backward")
WAITS, SLOWER = 0.05, 1.15


def data_waits(log: RunLog, pace: RunPace) -> Iterator[RunFinding]:
    """What the timers say of waiting for data."""
    times = [timer.most for timer in log.timers if timer.name in DATA_TIMERS]
    if not times or not pace.absolute:
        return
    share = sum(times) / len(times) / pace.mean
    if share < WAITS:
        return
    sentence = (
        f"the timer of the data loader says {show(sum(times) / len(times), 's', 3)} a step on the slowest rank, "
        f"{share:.0%} of it: the GPUs wait for data"
    )
    yield RunFinding("data", sentence, SHOWN, (), sum(times) / len(times), min(share, 1.0))


def slow_ranks(log: RunLog) -> Iterator[RunFinding]:
    """Timers of arithmetic in which one rank is slower than the others, most of the time."""
    for name in COMPUTE_TIMERS:
        timers = [timer for timer in log.timers if timer.name == name and timer.least > 0]
        slower = [timer for timer in timers if timer.most > SLOWER * timer.least]
        if len(timers) < 3 or len(slower) < OFTEN * len(timers):
            continue
        ratio = median(timer.most / timer.least for timer in slower)
        worst = Counter(timer.ranks.index(max(timer.ranks)) for timer in slower if timer.ranks).most_common(1)
        rank = f"rank {worst[0][0]}" if worst and worst[0][1] >= OFTEN * len(slower) else "the slowest rank"
        seconds = median(timer.most - timer.least for timer in slower)
        sentence = (
            f"{name} takes {ratio:.2f} times as long on {rank} as on the quickest, {show(seconds, 's', 3)} more: all "
            "others wait for it (stages of a pipeline differ by themselves, other ranks should not)"
        )
        yield RunFinding("slow_rank", sentence, SHOWN, (), seconds, None)
        return

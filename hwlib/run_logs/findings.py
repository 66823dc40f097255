"""What a log shows of its run: which steps are slow and how often, what is waited for, memory, and losses.

A finding is named after its cause only where the log itself shows the cause: an event between two lines, a timer, a
count. What a pattern alone suggests is named after the pattern, with the causes that would make it.
"""

from hwlib.run_logs.facts import Facts
from hwlib.run_logs.finding import RunFinding
from hwlib.run_logs.health import batch_findings, loss_findings, memory_findings
from hwlib.run_logs.pace import RunPace
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.slow_findings import slow_findings
from hwlib.run_logs.waits import data_waits, slow_ranks

__all__ = ["RunFinding", "findings_of"]


def findings_of(log: RunLog, facts: Facts, pace: RunPace | None) -> tuple[RunFinding, ...]:
    """Everything that a log shows, the dearest first."""
    shown = [*loss_findings(log), *memory_findings(log, facts), *batch_findings(log, facts)]
    if pace and pace.steps:
        shown += [*slow_findings(log, pace), *data_waits(log, pace), *slow_ranks(log)]
    return tuple(sorted(shown, key=lambda finding: -(finding.share or 0.0)))

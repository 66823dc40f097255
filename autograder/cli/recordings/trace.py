"""`gpubook trace`: where the time of a job's ranks went, and who waited for whom, from torch.profiler's traces."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from ...values.atomic_write import write_whole
from ..input_files import FINDING
from ..plan import CannotBe
from ..terminal import echo
from .files import named_files, text_pieces

SCHEMA_DOC = """\b
The output of --json, in seconds and bytes:
  ranks      for each: rank, chip, span, compute, communication, exposed
             (communication with no kernel beside), copies, idle, launch (idle
             because nothing was launched), pauses (what of launch is in gaps of
             50 ms or more, but for loading), loading (idle while the host waits
             for a batch), steps, events, counts (of what is not the
             device's work), unread, cut, notes
  classes, kernels   name, kind, calls, seconds, share (of the roofline, null
             where no shapes or no chip are known), of all ranks together
  waits      who waited for whom with no kernel beside, longest first
  caused     by rank, the seconds that all others waited for it
  matched    share of the collectives and messages that two traces or more
             have
  unmet      sends and receives that could not be matched
  shifts     what was added to a rank's clock
  groups     by group, operation and bytes: calls, median transfer and wait
  findings   kind, ranks, value (a share of the time or a multiple), sentence
  skipped    files of a folder that are no traces
"""


@click.command(epilog=SCHEMA_DOC)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--exposed", type=click.FloatRange(0, 1), default=0.25, show_default=True, help="Exposed communication.")
@click.option("--launch", type=click.FloatRange(0, 1), default=0.15, show_default=True, help="Idle, nothing launched.")
@click.option("--idle", type=click.FloatRange(0, 1), default=0.25, show_default=True, help="Idle otherwise.")
@click.option("--loading", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Idle for a batch.")
@click.option(
    "--straggler", type=click.FloatRange(0, 1), default=0.05, show_default=True, help="Waiting for a single rank."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.option("--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write a page to this file.")
@click.pass_context
def trace(
    ctx: click.Context,
    files: Sequence[str],
    exposed: float,
    launch: float,
    idle: float,
    loading: float,
    straggler: float,
    as_json: bool,
    page: Path | None,
) -> None:
    """Say where the time of each rank went, who waited for whom, and which kernels took it.

    FILE is a trace of torch.profiler, as it is or compressed, one a rank, or a folder of them; - reads standard input.
    A file that is cut is read as far as it goes, and that is said. The options are the shares of a rank's time above
    which something is a finding.

    The exit status is 0 if nothing is found, 1 if something is, and 2 if a file cannot be read.
    """
    from hwlib.traces.profiles.answers import TraceJob
    from hwlib.traces.profiles.findings import TraceLimits

    job, skipped = TraceJob(), []
    for path, of_folder in named_files(files):
        try:
            job.add(path, text_pieces(path))
        except ValueError as error:
            if not of_folder:
                raise CannotBe(str(error)) from None
            skipped.append(str(error))
    if not job.ranks:
        raise CannotBe("; ".join(skipped[:3]))
    limits = TraceLimits(exposed=exposed, launch=launch, idle=idle, loading=loading, straggler=straggler)
    answered = job.answer(limits)
    if page:
        from .trace_page import trace_page

        _write(page, trace_page(answered.record))
    if as_json:
        echo(json.dumps(answered.record | {"skipped": skipped}, indent=2))
    else:
        echo("\n".join([answered.text, *(f"Skipped {line}" for line in skipped)]))
    if answered.findings:
        ctx.exit(FINDING)


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise CannotBe(f"{path}: {error.strerror or error}") from None

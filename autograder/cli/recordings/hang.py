"""`gpubook hang`: which rank hangs a job, from what PyTorch's flight recorder, its watchdog or NCCL's RAS recorded."""

import json
from collections.abc import Sequence

import click

from hwlib.units import MiB

from ..input_files import FINDING, input_bytes
from ..plan import CannotBe
from ..terminal import echo
from .files import named_files

SCHEMA_DOC = """\b
The output of --json:
  kind        "flight recorder", "RAS" or "watchdog"
  hangs       whether a call is open or timed out, or RAS reports a problem
  culprits    the ranks to blame, as far as the files tell
  reason      (flight recorder) missing: they did not enter the call; operation,
              size, dtype: they called something else; stuck: all are in the
              call, and it does not end; circle: each waits in some call;
              unknown: the dumps of the other ranks are needed; none
  call        group, members, number, operation, sizes, line of the code
  entered, instead, last, waits   who entered it; what the culprits called in
              its place; their newest call; in which call each rank waits
  without_dump   members of groups whose dumps are not here
  problems    (RAS) kind, communicator, subject, culprits, shares
  suspects, timeouts, progress, mismatches   (watchdog) ranks of which the lines
              prove nothing; the calls that timed out; how far each rank had
              come; calls that differ. reason is missing, operation, size, apart
              (they wait in different calls), silent (the suspects have no line)
              or unknown
  skipped     files of a folder that are no dumps
"""

LIMIT = 256 * MiB  # bytes of a dump, unpacked


@click.command(epilog=SCHEMA_DOC)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.pass_context
def hang(ctx: click.Context, files: Sequence[str], as_json: bool) -> None:
    """Say which rank hangs a job, in which call, and from which line.

    FILE is the dump of a rank by PyTorch's flight recorder, pickled or JSON, a folder of them, the output of NCCL's
    ncclras, or a log with the lines of PyTorch's watchdog ("Watchdog caught collective operation timeout ..."); - reads
    standard input. A pickle is read as data: nothing in it is run. The rank is in the file's name, as in
    nccl_trace_rank_3.

    The exit status is 0 if nothing hangs, 1 if something does or dumps that are missing may have it, and 2 if a file
    cannot be read.
    """
    from hwlib.traces.hangs.answers import HangFiles

    job = HangFiles()
    skipped: list[str] = []
    for path, of_folder in named_files(files):
        data = input_bytes(path, LIMIT)
        try:
            job.add(path, data)
        except ValueError as error:
            if not of_folder:
                raise CannotBe(str(error)) from None
            skipped.append(str(error))
    try:
        answered = job.answer()
    except ValueError as error:
        raise CannotBe("; ".join(skipped[:3]) or str(error)) from None
    if as_json:
        echo(json.dumps(answered.record | {"skipped": skipped}, indent=2))
    else:
        echo("\n".join([answered.text, *(f"Skipped {line}" for line in skipped)]))
    if answered.hangs or answered.record.get("reason") == "unknown":
        ctx.exit(FINDING)

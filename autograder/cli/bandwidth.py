"""`gpubook bandwidth`: which rows of nccl-tests are slower than they should be, and why."""

import json

import click

from .input_files import FINDING, FINE, input_text
from .plan import CannotBe
from .terminal import echo

SCHEMA_DOC = """\b
The output of --json, in SI units:
  passed      whether every row was read, and none is wrong or slow
  judged      whether any row could be held against what was measured
  chip, collective, n, hosts, network   what the log is held against (chip
              empty: no machine is known)
  ranks_by    what the number of ranks is known by
  band, source   how far a time may be from the expected one where bytes
              decide (null: nothing was measured), and whose runs the model
              is fitted to
  holds, beyond   where its constants hold: chip, ranks, bytes, releases; and
              what of this log is beyond that
  rows        for each size: S, time, busbw, expected_time, expected_busbw,
              share (of the expected bandwidth), regime (what decides the
              time), verdict: ok, slow, fast, unknown or wrong, and its band
              (null: nobody knows)
  causes      for each thing to know: kind, sentence, sizes
  unread      the numbers of the lines that begin like a row and are cut
Of several tables: passed and judged of all, and their records in tables.
"""


@click.command(epilog=SCHEMA_DOC)
@click.argument("file", type=click.Path(allow_dash=True), default="-")
@click.option(
    "--on",
    "machine",
    help='The machine, as `plan` takes it: dgx-h100, 4xdgx-h100, "1x8 l40s", "2x1 rtx-5090, network 200 Gbit/s", or a '
    "cluster. Nodes may be partly full.  [default: the header's GPU]",
)
@click.option("--gpus", type=click.IntRange(2), help="Number of GPUs.  [default: what the log says]")
@click.option(
    "--collective",
    help="all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, gather, scatter or send.  [default: "
    "what the log says]",
)
@click.option(
    "--network",
    help="What joins the nodes: InfiniBand, EFA, 'InfiniBand SHARP' or Ethernet.  [default: what the log says, or what "
    "the node's cards are for]",
)
@click.option(
    "--timed-by",
    "software",
    help="What timed the calls: nccl-tests, or torch with its own overhead.  [default: nccl-tests]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.pass_context
def bandwidth(
    ctx: click.Context,
    file: str,
    machine: str | None,
    gpus: int | None,
    collective: str | None,
    network: str | None,
    software: str | None,
    as_json: bool,
) -> None:
    """Say which rows of an nccl-tests table are slow, and why.

    FILE is the output of all_reduce_perf or its like, of any release of nccl-tests or rccl-tests, with whatever a
    launcher has put into its lines; or what they write with -J or -Z. Without it, or for -, standard input is read.
    Several tables are judged one by one. A row is wrong if its #wrong is not 0 in either half, or if the log ends with
    FAILED and no row shows it.

    The exit status is 0 if rows were judged and all are as expected or faster; 1 if there is something to look at: a
    row is slow, wrong, cut or faster than its links allow, or no row could be judged, because its machine is not
    known, nothing was measured that it could be held against (then the bound of the data sheet is shown), or each
    process ran alone; 2 if the log cannot be read. So a script that accepts a machine needs nothing but the status.
    """
    from hwlib.calibrated.nccl_answer import answer

    text = input_text(file)
    try:
        verdict = answer(text, machine, gpus, collective, network, software)
    except ValueError as error:
        raise CannotBe(str(error)) from None
    echo(json.dumps(verdict.record, indent=2) if as_json else verdict.text)
    ctx.exit(FINE if verdict.certified else FINDING)

"""`gpubook bandwidth`: which rows of nccl-tests are slower than they should be, and why."""

import json
from math import isfinite
from typing import Any, TextIO

import click

from .plan import CannotBe

SCHEMA_DOC = """\b
The output of --json, in SI units:
  passed      whether every row was read, and none is wrong or slow
  judged      whether any row could be held against what was measured
  chip, collective, n, hosts, network   what the log is held against
  band, source   how far a time may be from the expected one where bytes
              decide (null: nothing was measured), and whose runs the model
              is fitted to
  holds, beyond   where its constants hold: chip, ranks, bytes, releases; and
              what of this log is beyond that
  rows        for each size: S, time, busbw, expected_time, expected_busbw,
              share (of the expected bandwidth), regime (what decides the
              time), verdict: ok, slow, fast, unknown or wrong, and its band
  causes      for each thing to know: kind, sentence, sizes
  unread      the numbers of the lines that begin like a row and are cut
"""


NO_MACHINE = "no machine of {} is in the tables, whose links would be known"


@click.command(epilog=SCHEMA_DOC)
@click.argument("file", type=click.File("r", encoding="utf-8", errors="replace"), default="-")
@click.option(
    "--on", "machine", help='The machine: dgx-h100, 4xdgx-h100, "1x8 l40s", or a cluster.  [default: the header\'s GPU]'
)
@click.option("--gpus", type=click.IntRange(2), help="Number of GPUs.  [default: what the log says]")
@click.option(
    "--collective", help="all_reduce, all_gather, reduce_scatter or all_to_all.  [default: what the log says]"
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
    file: TextIO,
    machine: str | None,
    gpus: int | None,
    collective: str | None,
    network: str | None,
    software: str | None,
    as_json: bool,
) -> None:
    """Say which rows of an nccl-tests table are slow, and why.

    FILE is the output of all_reduce_perf or its like; without it, standard input is read. A row is wrong if its #wrong
    is not 0 in either half, or if the log ends with FAILED and no row shows it.

    The exit status is 0 if all rows are as expected or faster, 1 if one is slow, wrong or cut, 2 if the log cannot be
    read or the machine is not known, and 3 if no row is judged: nothing was measured that one could be held against,
    or the links carry none of them in so little time.
    """
    from hwlib.calibrated.nccl_log import read_log
    from hwlib.calibrated.nccl_verdict import check_collective, judge_log

    try:
        log = read_log(file.read())
        check_collective(collective or log.collective)
        node, chips = _machine(machine, log.gpu)
        verdict = judge_log(log, node, gpus or chips, collective, network, software)
    except ValueError as error:
        raise CannotBe(str(error)) from None
    click.echo(json.dumps(_record(verdict), indent=2) if as_json else _text(verdict))
    if not verdict.passed or not verdict.judged:
        ctx.exit(3 if verdict.passed else 1)


def _machine(given: str | None, gpu: str) -> tuple[Any, int | None]:
    """The node, and the GPUs that `given` has if it says so: 32 of 4xdgx-h100, of a node or a cluster alone unknown."""
    from hwlib.calibrated.nccl_machine import logged_node, usual_node
    from hwlib.specs import accelerators, clusters, nodes
    from hwlib.specs.own_cluster import CHIPS, NODES

    if given:
        if line := CHIPS.fullmatch(given.strip()):
            return _of_a_line(given, int(line[1]), int(line[2]), line[3])
        own = NODES.fullmatch(given.strip())
        count, name = (own[1], own[2]) if own else ("", given.strip())
        cluster = clusters.find(name)
        node = cluster.members if cluster else nodes.find(name) or usual_node(name)
        if not node and (chip := accelerators.find(name)):
            raise ValueError(f"--on: {given!r}: {NO_MACHINE.format(chip.name)}")
        if not node:
            raise ValueError(f"--on: {given!r} is no machine of the tables; known: {', '.join([*nodes, *clusters])}")
        return node, int(count) * node.chips if count else None
    try:
        return logged_node(gpu), None
    except ValueError as error:
        raise ValueError(f"--on: {error}; give the machine, e.g. --on dgx-h100; machines: {', '.join(nodes)}") from None


def _of_a_line(given: str, count: int, chips: int, name: str) -> tuple[Any, int]:
    """The machine of a line such as "4x8 h100-sxm": nodes of the tables with this chip, full ones if there are several,
    and how many chips it has. Raises ValueError.
    """
    from hwlib.calibrated.nccl_machine import usual_node
    from hwlib.specs.own_cluster import chip_of

    chip = chip_of(name, f"--on: {given!r}")
    node = usual_node(chip.key)
    if not node:
        raise ValueError(f"--on: {given!r}: {NO_MACHINE.format(chip.name)}")
    if chips > node.chips or (count > 1 and chips != node.chips):
        raise ValueError(
            f"--on: {given!r}: {chips} do not fill the nodes of {chip.name}, {node.chips} each: {node.key}"
        )
    return node, count * chips


def _record(found: Any) -> dict[str, Any]:
    record = {"passed": found.passed, "judged": found.judged} | found._asdict() | {"band": _finite(found.band)}
    record["rows"] = [row._asdict() | {"share": row.share, "band": _finite(row.band)} for row in found.rows]
    record["causes"] = [cause._asdict() for cause in found.causes]
    return record


def _finite(band: float) -> float | None:
    return band if isfinite(band) else None


def _model(found: Any) -> str:
    """What the rows are held against, in words."""
    if not isfinite(found.band):
        return "the rates of the data sheet, for nothing was measured"
    return f"the model of NCCL (fitted to {found.source}: {found.holds}), within {found.band:.0%} of time"


def _text(found: Any) -> str:
    from hwlib.calibrated.nccl_verdict import binary
    from hwlib.units import show

    where = f"{found.n} GPUs ({found.chip}) of {found.hosts} node{'s' * (found.hosts > 1)}"
    lines = [
        f"{found.collective} on {where}{f' over {found.network}' if found.network else ''}, against {_model(found)}",
        f"{'size':>10}{'time':>12}{'expected':>12}{'busbw':>14}{'expected':>14}  {'decided by':<11}verdict",
    ]
    for row in found.rows:
        verdict = row.verdict
        if verdict in ("slow", "unknown"):
            verdict = f"{verdict}: {row.share:.0%} of the expected bandwidth"
        sizes, times = binary(row.S), (show(t, "s", 4) for t in (row.time, row.expected_time))
        rates = (show(W, "B/s", 4) for W in (row.busbw, row.expected_busbw))
        lines.append(
            f"{sizes:>10}"
            + "".join(f"{t:>12}" for t in times)
            + "".join(f"{W:>14}" for W in rates)
            + f"  {row.regime:<11}{verdict}"
        )
    lines += ["", *(f"- {cause.kind}: {cause.sentence}." for cause in found.causes)]
    return "\n".join(lines)

"""`gpubook topo`: how the GPUs of a machine are joined, from what nvidia-smi, rocm-smi or amd-smi printed."""

import json
from pathlib import Path

import click

from .input_files import FINDING, FINE, input_text
from .plan import CannotBe
from .terminal import echo

SCHEMA_DOC = """\b
The output of --json:
  fine        whether no GPU lacks links that the others have
  tool        which tool printed the matrix
  gpus        for each: name, also (what another tool calls it), links (NVLinks
              or XGMI peers), numa, nearest_nics, nearest_by
  nics        for each: name, also
  between     for each two GPUs what lies between them: NV and a number, XGMI,
              PCIE, PIX, PXB, PHB, NODE or SYS
  unprinted   devices without a row: the text is cut
  half        with --link: B/s from one half of the GPUs to the other
  remarks     for each thing to know: kind, sentence, devices
"""


@click.command(epilog=SCHEMA_DOC)
@click.argument("file", type=click.Path(allow_dash=True), default="-")
@click.option(
    "--link", help="One NVLink, or XGMI between two GPUs: nvlink4, xgmi3, or 25 GB/s; says what halves exchange."
)
@click.option("--svg", type=click.Path(dir_okay=False, writable=True), help="Draw the machine into this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.pass_context
def topo(ctx: click.Context, file: str, link: str | None, svg: str | None, as_json: bool) -> None:
    """Say how the GPUs of a machine are joined, and what is special.

    FILE is what `nvidia-smi topo -m`, `rocm-smi --showtopo` or `amd-smi topology` printed, as people paste it: quoted,
    with marks of a launcher, without the rows of NICs, or cut. Without it, or for -, standard input is read. For this
    very machine, `gpubook doctor` asks the driver.

    The exit status is 0 if all GPUs have the links that most have, 1 if one has lost some, and 2 if there is no matrix
    in the text.
    """
    from hwlib.topology.machine_report import answer

    text = input_text(file)
    try:
        report = answer(text, link)
        if svg:
            draw(text, link, Path(svg))
    except ValueError as error:
        raise CannotBe(str(error)) from None
    echo(json.dumps(report.record, indent=2) if as_json else report.text)
    ctx.exit(FINE if report.fine else FINDING)


def draw(text: str, link: str | None, path: Path) -> None:
    """Draw the machine of a matrix into a file. Raises ValueError for a text without one, and for too many devices."""
    from hwlib.plots.topologies import topology
    from hwlib.topology.machine_graph import machine_graph
    from hwlib.topology.machine_links import read_machine_links

    machine = read_machine_links(text)
    built = machine_graph(machine, link) if link else machine_graph(machine)
    try:
        topology(built).savefig(path, format="svg")
    except OSError as error:
        raise CannotBe(f"{path}: {error.strerror or error}") from None

"""`gpubook pdf` and `gpubook epub`: the built book as one file."""

from pathlib import Path

import click

from .terminal import echo

FOLDER = click.Path(file_okay=False, path_type=Path)
OUT = click.Path(dir_okay=False, path_type=Path)
SITE = click.option("--site", type=FOLDER, default=Path("build/html"), show_default=True, help="The built book.")
TITLE = "GPUs, networks and parallelism"


@click.command()
@SITE
@click.option("--out", type=OUT, default=Path("build/gpubook.pdf"), show_default=True, help="The file to write.")
@click.option("--solutions", is_flag=True, help="Collect the solutions of all exercises at the end.")
def pdf(site: Path, out: Path, solutions: bool) -> None:
    """Print the built book as one PDF, with Chromium.

    The whole book takes some minutes. Build it first: gpubook book.
    """
    from ..book.print.printing import print_book

    echo(f"Wrote {print_book(site, out, TITLE, solutions=solutions)}")


@click.command()
@SITE
@click.option("--out", type=OUT, default=Path("build/gpubook.epub"), show_default=True, help="The file to write.")
def epub(site: Path, out: Path) -> None:
    """Write the built book as an EPUB.

    Hints and solutions stand at the end of each chapter. Figures that move in the pages are pictures where Chromium
    is installed to draw them, and else captions. Build the book first: gpubook book.
    """
    from ..book.print.chromium import find_chromium
    from ..book.print.epub import write_epub

    if find_chromium() is None:
        echo("No Chromium was found, so figures that move in the pages are left as captions.", err=True)
    echo(f"Wrote {write_epub(site, out, TITLE)}")

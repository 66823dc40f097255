"""`gpubook progress`: what was done in each chapter, and the record's file in and out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ..learner import record
from ..learner.progress import EDITIONS, Progress, totals
from ..values.atomic_write import write_whole
from ..values.book_root import book_root
from ..values.own_file import text_of
from .terminal import echo

FOLDER = click.Path(file_okay=False, exists=True, path_type=Path)
EXPORTED = "export the record once more where it came from, which may be a page or a folder of the book"
STUDY = Path("study")  # what `make lab` and `gpubook lab` lay out where they are run


@click.command()
@click.argument("folder", type=FOLDER, required=False)
@click.option("--import", "source", type=click.Path(path_type=Path), help="Merge a progress.json, such as the page's.")
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write a copy of the record.")
def progress(folder: Path | None, source: Path | None, target: Path | None) -> None:
    """Show what was done in each chapter.

    In your own copy of the book, or in the folder FOLDER of it (default: the current one, or `study` in it where that
    is the copy).
    """
    own = Progress.below((folder or _here()).resolve())
    if source is not None:
        other = _imported(source)
        before = own.data()["exercises"]
        own.merge(other)
        after = own.data()["exercises"]
        fresh = sum(name not in before for name in after)
        changed = sum(name in before and before[name] != after[name] for name in after)
        echo(f"Imported {source}: of {len(other['exercises'])} exercises, {fresh} new, {changed} changed.")
    if target is not None:
        write_whole(target, record.written(own.data()), mode=0o644)
        echo(f"Exported {len(own.data()['exercises'])} exercises to {target}")
    if source is None and target is None:
        show(own, list(chapters(book_root())))


def _imported(source: Path) -> record.Data:
    text = text_of(source, EXPORTED, record.BadRecord)
    try:
        return record.read(text, str(source))
    except record.BadRecord as error:
        raise record.BadRecord(f"{error}; {EXPORTED}") from None


def _here() -> Path:
    here = Path()
    inside = any((above / EDITIONS).is_dir() for above in (here.resolve(), *here.resolve().parents))
    return STUDY if not inside and (STUDY / EDITIONS).is_dir() else here


def chapters(root: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each released chapter's name with its exercises, by their public records."""
    for path in sorted((root / "chapters").glob("*/exercises.json")):
        yield path.parent.name, list(json.loads(path.read_text(encoding="utf-8"))["exercises"].values())


def show(own: Progress, asked: list[tuple[str, list[dict[str, Any]]]]) -> None:
    """Print the table: the chapters, what is done of each, and the points."""
    from rich.console import Console
    from rich.table import Table

    data = own.data()
    table = Table("chapter", box=None, pad_edge=False, show_footer=True)
    for name in ("done", "exercises", "points", "of"):
        table.add_column(name, justify="right")
    sums = [(0.0, 0.0, 0.0, 0.0)]
    for name, exercises in asked:
        done, points, available = totals(data, exercises)
        sums.append((done, len(exercises), points, available))
        table.add_row(name, *(f"{value:.4g}" for value in sums[-1]))
    all_of = [f"{sum(column):.4g}" for column in zip(*sums, strict=True)]
    for column, text in zip(table.columns, ["all", *all_of], strict=True):
        column.footer = text
    Console(highlight=False).print(table)
    if not own.path.is_file():
        echo(f"Nothing is recorded yet; {own.path} will be.")

"""`gpubook course list`: what there is to assign, and what is assigned."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .parameters import FOLDER
from .terminal import echo

if TYPE_CHECKING:
    from ..course.assigning.course_catalogue import CataloguePart


@click.command("list")
@click.argument("folder", type=FOLDER, required=False)
@click.argument("name", required=False)
@click.option("--chapter", help="The exercises of this chapter of the book, e.g. 03-rooflines.")
@click.option("--json", "plain", is_flag=True, help="As JSON.")
def course_list(folder: Path | None, name: str | None, chapter: str | None, plain: bool) -> None:
    """List what there is to assign: chapters, exercises, your own.

    Without FOLDER the book's chapters; of a course its assignments and your own exercises, and of one NAME, an
    assignment or a chapter, the exercises. Minutes are estimates.
    """
    from ..course.assigning import course_catalogue

    if chapter is not None and folder is not None:
        raise click.UsageError("a chapter by --chapter, or a course's folder and a NAME, was expected")
    left_out: list[str] = []
    if chapter is not None:
        whole, parts = True, {"chapters": [course_catalogue.chapter(chapter)]}
    elif folder is None:
        whole, parts = False, {"chapters": course_catalogue.chapters()}
    elif name is not None:
        whole, parts = True, _named(folder.resolve(), name)
    else:
        folder = folder.resolve()
        own, left_out = course_catalogue.own(folder)
        assigned = course_catalogue.assignments(folder)
        whole, parts = False, {"assignments": assigned, "own": [own] if own.exercises else []}
        if not assigned:
            parts["chapters"] = course_catalogue.chapters()
    if plain:
        listed = {key: [part.as_plain() for part in found] for key, found in parts.items()}
        echo(json.dumps(listed | ({"left_out": left_out} if left_out else {}), indent=1, ensure_ascii=False))
        return
    _print(parts, whole)
    for line in left_out:
        echo(f"Left out: {line}", err=True)
    if not whole and "chapters" in parts:
        echo("The exercises of a chapter: gpubook course list --chapter NAME")


def _named(folder: Path, name: str) -> dict[str, list[CataloguePart]]:
    """An assignment of that name, or else a chapter; CourseError lists both."""
    from ..book.course_error import CourseError
    from ..course.assigning import course_catalogue
    from ..course.layout import read_config

    read_config(folder)
    if (folder / "release" / name).is_dir() and "/" not in name:
        return {"assignments": [course_catalogue.assignment(folder, name)]}
    if name not in (known := [part.name for part in course_catalogue.chapters()]):
        have = ", ".join(part.name for part in course_catalogue.assignments(folder)) or "none"
        raise CourseError(f"{name!r} is neither an assignment ({have}) nor a chapter ({', '.join(known)})")
    return {"chapters": [course_catalogue.chapter(name)]}


def _print(parts: dict[str, list[CataloguePart]], whole: bool) -> None:
    """Each part in one line, or as a table of its exercises: all of them with `whole`, else the teacher's own."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..course.class_results.results_table import inert

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    for key, listed in parts.items():
        if whole or key == "own":
            for part in listed:
                table = Table(
                    title=Text(inert(part.title if key == "own" else _title(part))),
                    box=None,
                    pad_edge=False,
                    title_justify="left",
                )
                for name in ("exercise", "kind"):
                    table.add_column(name, no_wrap=True)
                for name in ("points", "minutes"):
                    table.add_column(name, justify="right")
                table.add_column("title")
                for exercise in part.exercises:
                    title = f"{exercise.title} ({exercise.note})" if exercise.note else exercise.title
                    numbers = (f"{exercise.points:g}", f"{exercise.minutes:.0f}")
                    table.add_row(*map(Text, (exercise.id, exercise.kind, *numbers, inert(title).strip())))
                table.add_row("", "all", f"{part.points:g}", f"{part.minutes:.0f}", "", style="dim")
                console.print(table)
        elif listed:
            table = Table(key.removesuffix("s"), box=None, pad_edge=False)
            for name in ("exercises", "points", "minutes"):
                table.add_column(name, justify="right")
            table.add_column("title" if key == "chapters" else "due")
            for part in listed:
                numbers = (str(len(part.exercises)), f"{part.points:g}", f"{part.minutes:.0f}")
                table.add_row(*map(Text, (part.name, *numbers, inert(_about(part)))))
            console.print(table)
        if listed:
            console.print()


def _title(part: CataloguePart) -> str:
    return " · ".join(dict.fromkeys(said for said in (part.name, _about(part)) if said))


def _about(part: CataloguePart) -> str:
    """The title of a chapter; when an assignment is due, and how many have an extension or a group."""
    if not part.facts:
        return part.title
    more = [f"{part.facts[key]} {key}" for key in ("extensions", "groups") if key in part.facts]
    return ", ".join([part.facts.get("due", "no deadline"), *more])

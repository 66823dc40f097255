"""What a chapter introduces and what it uses: formulas, terms and other chapters, read from its source alone.

A formula is introduced where its equation is shown, where its name stands in the text as code, or where an exercise
asks for it; a term where it is first in bold.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .notebook import ChapterSource, parse

if TYPE_CHECKING:
    from nbformat import NotebookNode

BOLD = re.compile(r"(?<![*\w])\*\*([^*\n]+?)\*\*(?!\*)")
CHAPTER = re.compile(r"\{[cC]hapter\}`([^`]+)`")
EQUATION = re.compile(r"\{f\}`([^`]+)`")
NUMBER = re.compile(r"\{n\}(`+)(.+?)\1")
CODE = re.compile(r"(?<![`}])(`+)(?!`)(.+?)(?<!`)\1(?!`)")
NEEDS = re.compile(r"^\*Needs:\*[ \t]+(\S.*)$", re.M)
SET_APART = re.compile(r"\{\w+\}(`+).*?\1|(?<!`)(`++).+?\2|\$[^$\n]+\$|\*?“[^“”]*”\*?|\]\([^)]*\)")


class Place(NamedTuple):
    """Where something stands: the line of the source, and that line's text."""

    line: int
    text: str


@dataclass(frozen=True)
class OrderedText:
    """What of a chapter's source bears on the order of the book.

    `names` are those that a formula may have been introduced by; `terms` what it sets in bold, in the words of the
    text; `calls` and `numbers` the names that its visible code and its computed numbers use; `imports` what they stand
    for; `needs` the line that says what it builds on.
    """

    name: str
    names: Mapping[str, Place]
    terms: Mapping[str, Place]
    calls: Mapping[str, Place]
    numbers: Mapping[str, Place]
    imports: Mapping[str, tuple[str, str]]
    prose: tuple[Place, ...]
    needs: Place | None


def text_of(path: Path) -> OrderedText:
    """The reading of a chapter's source, kept until the file changes."""
    return _read(path, path.stat().st_mtime_ns)


def imported(path: Path) -> dict[str, Any]:
    """What the cells of a chapter's source import from this library, by the names that they give it."""
    values = {}
    for name, (module, own) in text_of(path).imports.items():
        if module.split(".")[0] == "hwlib" and hasattr(home := import_module(module), own):
            values[name] = getattr(home, own)
    return values


def earlier_and_later(path: Path) -> tuple[list[OrderedText], list[OrderedText]]:
    """The other chapters of the book, before and after the one at `path`, drafts included."""
    others = sorted(p for p in path.parent.parent.glob("*/*.md") if p.stem == p.parent.name and p != path)
    before = [text_of(p) for p in others if p.stem < path.stem]
    return before, [text_of(p) for p in others if p.stem > path.stem]


def uses(term: str) -> re.Pattern[str]:
    """A pattern for a term in running text: singular or plural, with a space or a hyphen."""
    words = [re.escape(word) for word in re.split(r"[\s-]+", term)]
    return re.compile(rf"(?i)(?<![\w-]){'[ -]'.join(words)}(?:e?s)?(?![\w-])")


def key_of(term: str) -> str:
    """A term as it is compared: lower case, singular."""
    term = " ".join(term.casefold().split())
    return term.removesuffix("s") if len(term) > 3 and not term.endswith("ss") else term


def bare(line: str) -> str:
    """A line without code, roles, mathematics, quotations and the addresses of links."""
    return SET_APART.sub(" ", line)


# Words that everybody uses without having been told what they mean in this field.
EVERYDAY = frozenset(
    key_of(word)
    for word in (
        "axis",
        "block",
        "chunk",
        "core",
        "cube",
        "direct",
        "flow",
        "lane",
        "launch",
        "launches",
        "launched",
        "level",
        "line",
        "peak",
        "program",
        "resident",
        "scale",
        "simple",
        "stage",
        "step",
        "store",
        "trace",
        "tree",
        "way",
        "window",
    )
)


@cache
def _read(path: Path, _changed: int) -> OrderedText:
    source = ChapterSource.read(path)
    names: dict[str, Place] = {}
    terms: dict[str, Place] = {}
    calls: dict[str, Place] = {}
    numbers: dict[str, Place] = {}
    imports: dict[str, tuple[str, str]] = {}
    prose: list[Place] = []
    needs = None
    head = True
    for cell, at in cells_of(source):
        if cell.cell_type == "code":
            _read_code(cell, at, names, calls, imports)
            continue
        for place in _lines(cell.source, at):
            head = head and not place.text.startswith("## ")
            prose.append(place)
            if head and needs is None and NEEDS.match(place.text):
                needs = place
            for name in EQUATION.findall(place.text):
                names.setdefault(name.split(".")[-1], place)
            for _, name in CODE.findall(NUMBER.sub(" ", place.text)):
                names.setdefault(name.partition("(")[0].split(".")[-1].strip(), place)
            for _, expression in NUMBER.findall(place.text):
                for name in re.findall(r"[A-Za-z_]\w*", expression):
                    numbers.setdefault(name, place)
            for name in BOLD.findall(_without_code(place.text)):
                title = name.endswith((".", ":", "?")) or len(place.text.split()) < 4  # of a paragraph, not a term
                if not title and re.search(r"[A-Za-z]", name):
                    terms.setdefault(name.strip(), place)
    return OrderedText(path.stem, names, terms, calls, numbers, imports, tuple(prose), needs)


def cells_of(source: ChapterSource) -> Iterator[tuple[NotebookNode, int]]:
    """The cells of a source, each with the line on which it begins."""
    at = 0
    for cell in parse(source).cells:
        at = max(at, source.text.find(cell.source, at))
        yield cell, source.text.count("\n", 0, at) + 1
        at += len(cell.source)


def _lines(text: str, first: int) -> Iterator[Place]:
    """The lines of a Markdown cell outside its fenced code."""
    fence = ""
    for number, line in enumerate(text.split("\n"), first):
        mark = re.match(r"`{3,}|~{3,}", line)
        if mark and (not fence or mark[0].startswith(fence)):
            fence = "" if fence else mark[0]
        elif not fence:
            yield Place(number, line)


def _without_code(line: str) -> str:
    return CODE.sub(" ", line)


def _read_code(
    cell: NotebookNode,
    at: int,
    names: dict[str, Place],
    calls: dict[str, Place],
    imports: dict[str, tuple[str, str]],
) -> None:
    in_exercise = "exercise" in cell.metadata
    for option in ("caption", "alt"):
        for _, name_shown in CODE.findall(str(cell.metadata.get(option, ""))):
            names.setdefault(name_shown.partition("(")[0], Place(at, name_shown))
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:  # a learner's magic; it calls no formula
        return
    here = Place(at, cell.source.split("\n")[0])
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Name | ast.Attribute):
        names.setdefault(_name(last.value), here)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            imports.update({a.asname or a.name: (node.module, a.name) for a in node.names})
        elif isinstance(node, ast.Name | ast.Attribute) and (name := _name(node)):
            (names if in_exercise else calls).setdefault(name, Place(at + node.lineno - 1, here.text))


def _name(node: Any) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


__all__ = [
    "EVERYDAY",
    "OrderedText",
    "Place",
    "bare",
    "cells_of",
    "earlier_and_later",
    "imported",
    "key_of",
    "text_of",
    "uses",
]

"""Where the sources disagree: figures of which others print another one, or that are not used as they were printed, how
surely the rest was seen, and the published derivations whose error is an exercise. Nothing here is told by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..render import render
from .exercise_index import IndexedExercise, asked_in
from .specs import TITLES, SpecsRow, Value, raw, row_of
from .uses import Uses, tables

if TYPE_CHECKING:
    from ..bibliography import Bibliography
    from ..source.chapters import Chapter

BINARY = (1.024, 1.048576)
"""The factors of a print whose KB is a KiB, or whose MB is a MiB."""
SURE = ("seen", "derived", "recalled", "announced")
"""The first words of a confidence."""


class Figure(NamedTuple):
    """One value of one row."""

    kind: str
    row: SpecsRow
    value: Value


class Reason(NamedTuple):
    """Why figures are not used as they were printed."""

    title: str
    text: str
    figures: list[Figure]


def disagreements_page(chapters: Sequence[Chapter], uses: Uses) -> str:
    """The page, as Markdown around tables."""
    bibliography = chapters[0].roles.bibliography if chapters else None
    figures = list(_figures(bibliography, uses))
    errata = [one for one in asked_in(chapters) if one.erratum]
    contradicted = [one for one in figures if one.value.datum.also]
    noted = [(kind, row) for kind, row in _rows(bibliography, uses) if row.note]
    parts = ["# Where the sources disagree", "", _intro(contradicted, errata), ""]
    parts += ["## Who says what", "", WHO, "", raw(render("contradicted.html.j2", figures=contradicted)), ""]
    parts += ["## Printed and used", "", USED, ""]
    for reason in _reasons(figures):
        table = render("factors.html.j2", figures=reason.figures, title=reason.title)
        parts += [f"### {reason.title}", "", reason.text, "", raw(table), ""]
    parts += ["## How surely the figures were seen", "", SEEN, ""]
    parts += [raw(render("confidences.html.j2", counts=_counts(figures), sure=SURE, titles=TITLES)), ""]
    announced = [one for one in figures if one.value.datum.confidence.startswith("announced")]
    if announced:
        parts += ["### Announced", "", "Nobody outside has measured these yet.", ""]
        parts += [raw(render("announced.html.j2", figures=announced)), ""]
    if noted:
        parts += ["## Left out, and read in a way of our own", "", NOTED, ""]
        parts += [raw(render("noted.html.j2", rows=noted, titles=TITLES)), ""]
    if errata:
        parts += ["## Find the error", "", ERRATA, "", raw(render("errata.html.j2", errata=errata)), ""]
    return "\n".join(parts)


WHO = (
    "Each row is a figure for which somebody prints another one. The book computes with what is in the column *used*; "
    "the last column says what others print and, where the choice is not plain, why the book sides as it does."
)
USED = (
    "A source counts in its own way: both directions of a link, operations with half of the factors zero, a MB of 2²⁰ "
    "bytes. The tables keep what was printed beside what is used, with the factor between the two."
)
SEEN = (
    "*Seen* was read in the source that is named. *Derived* follows from other figures. *Recalled* was known before a "
    "source was open, and stands only because something that is named confirms it. *Announced* is a vendor's word "
    "about what is not in anybody's hands yet."
)
NOTED = "What a row says about itself as a whole: figures that no source confirms are left out rather than guessed."
ERRATA = "Derivations and figures that were published with an error. What is wrong with each is for you to find."


def _intro(contradicted: Sequence[Figure], errata: Sequence[IndexedExercise]) -> str:
    return (
        f"Of {len(contradicted)} figures that the book uses, somebody prints another value. "
        "This page lists them from the tables themselves, with what is used and why; "
        f"and {len(errata)} published errors that the exercises ask you to find. "
        "All figures with their sources are [in the explorer](specs.md)."
    )


def _rows(bibliography: Bibliography | None, uses: Uses) -> Iterator[tuple[str, SpecsRow]]:
    for kind, table in tables().items():
        for record in table.values():
            yield kind, row_of(kind, record, bibliography, uses)


def _figures(bibliography: Bibliography | None, uses: Uses) -> Iterator[Figure]:
    for kind, row in _rows(bibliography, uses):
        for value in row.values.values():
            yield Figure(kind, row, value)


def _reasons(figures: Sequence[Figure]) -> list[Reason]:
    """The figures with a factor, by the reason that their note gives."""
    two_way = Reason(
        "Both directions", "The source adds up both directions; the book counts what one direction carries.", []
    )
    sparse = Reason("Sparsity", "The source's rate takes half of the factors as zero; the book's rates are dense.", [])
    binary = Reason("Powers of two", "The source's KB and MB are of 1,024 and of 1,048,576 bytes.", [])
    other = Reason("Of another thing", "The source prints the figure of a part, or of several together.", [])
    for figure in figures:
        datum = figure.value.datum
        if datum.factor == 1:
            continue
        if datum.factor in BINARY:
            binary.figures.append(figure)
        elif "sparsity" in datum.note:
            sparse.figures.append(figure)
        elif "both directions" in f"{datum.note} {datum.confidence}":
            two_way.figures.append(figure)
        else:
            other.figures.append(figure)
    return [reason for reason in (two_way, sparse, other, binary) if reason.figures]


def _counts(figures: Sequence[Figure]) -> dict[str, Counter[str]]:
    """For each table, how many figures are of each confidence."""
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in tables()}
    for figure in figures:
        word = next(word for word in SURE if figure.value.datum.confidence.startswith(word))
        counts[figure.kind][word] += 1
    return counts

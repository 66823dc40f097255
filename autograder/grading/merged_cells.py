"""Cells of a submission that hold what was several: merged by hand, or by a converter that knows no boundaries.

They are parted again where that is safe, so that each part is found as a cell of its own (see `found_cells`): code
behind a line `grade("id", ...)`, text where whole paragraphs of the release begin and end. Nothing is left out, and all
that runs does so in the same order.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ..answers.written import untouched
from .found_cells import calls_of, normalised

PARAGRAPHS = re.compile(r"\n[ \t]*\n")
MOST_PARTS = 4  # for each exercise: who repeats more is left as it is


def parted(cells: Sequence[Any], originals: Mapping[str, Any], plain: Sequence[str]) -> list[Any]:
    """The cells, with those that hold several of the release's as several; `originals` are its cells by name, `plain`
    the texts of its others."""
    prompts = {normalised(cell.source): name for name, cell in originals.items() if _is_prompt(cell)}
    graded = {cell.metadata["gpubook"].get("exercise") for cell in originals.values() if _part(cell) == "grade"}
    texts = KnownTexts([cell.source for cell in originals.values() if _is_prompt(cell)], plain)
    out: list[Any] = []
    for cell in cells:
        sources = [cell.source]
        if cell.cell_type == "code":
            sources = list(_at_grades(cell.source, graded))
        elif cell.cell_type == "markdown":
            sources = texts.parts(cell.source)
        out += _cells(cell, sources if len(sources) <= MOST_PARTS * len(prompts) else [cell.source], prompts)
    _name_answers(out, originals, prompts)
    return out


def _part(cell: Any) -> Any:
    return cell.metadata.get("gpubook", {}).get("part", "")


def _is_prompt(cell: Any) -> bool:
    return _part(cell) == "prompt" and cell.cell_type == "markdown" and bool(cell.source.strip())


def _at_grades(source: str, graded: Collection[Any]) -> Iterator[str]:
    """The parts of a cell that each end with a line that grades, where these grade several exercises of the release."""
    calls = [(name, end) for name, _, end in calls_of(source) if name in graded]
    if len({name for name, _ in calls}) < 2:
        yield source
        return
    lines, start = source.splitlines(), 0
    for _, end in calls:
        yield "\n".join(lines[start:end])
        start = end
    if "".join(rest := lines[start:]).strip():
        yield "\n".join(rest)


class KnownTexts:
    """The texts of a release, by the paragraph with which they begin: prompts, and others."""

    def __init__(self, prompts: Sequence[str], plain: Sequence[str]):
        self.by_first: dict[str, list[tuple[list[str], bool]]] = {}
        for text, asks in [*((text, True) for text in prompts), *((text, False) for text in plain)]:
            if own := [normalised(paragraph) for paragraph in _paragraphs(text)]:
                self.by_first.setdefault(own[0], []).append((own, asks))
        for rows in self.by_first.values():
            rows.sort(key=lambda row: -len(row[0]))

    def parts(self, source: str) -> list[str]:
        """The parts of a text that holds a whole prompt beside something else, or the whole text."""
        paragraphs = _paragraphs(source)
        plain = [normalised(paragraph) for paragraph in paragraphs]
        parts, own, at, prompts = list[str](), list[str](), 0, 0
        while at < len(paragraphs):
            count, asks = self._known(plain, at)
            if not count:
                own.append(paragraphs[at])
                at += 1
                continue
            parts += ["\n\n".join(own)] if own else []
            parts.append("\n\n".join(paragraphs[at : at + count]))
            own, at, prompts = [], at + count, prompts + asks
        parts += ["\n\n".join(own)] if own else []
        return parts if prompts and len(parts) > 1 else [source]

    def _known(self, plain: Sequence[str], at: int) -> tuple[int, bool]:
        """How many paragraphs from this one on are a text of the release, the longest, and whether it is a prompt."""
        for own, asks in self.by_first.get(plain[at], ()):
            if list(plain[at : at + len(own)]) == own:
                return len(own), asks
        return 0, False


def _paragraphs(text: str) -> list[str]:
    return [part.strip("\n") for part in PARAGRAPHS.split(text.replace("\r\n", "\n")) if part.strip()]


def _cells(cell: Any, sources: Sequence[str], prompts: Mapping[str, str]) -> Iterator[Any]:
    """A cell for each part: what the cell was called stays with the prompt in it, or else with the first part."""
    if len(sources) < 2:
        yield cell
        return
    own = next((n for n, text in enumerate(sources) if normalised(text) in prompts), 0)
    for number, source in enumerate(sources):
        part = copy.deepcopy(cell)
        part.source = source
        if number != own:
            part.metadata, part.id = type(cell.metadata)(), f"{cell.id}-{number}"
            part.pop("attachments", None)
        yield part


def _name_answers(cells: Sequence[Any], originals: Mapping[str, Any], prompts: Mapping[str, str]) -> None:
    """What was written into the cell of a prompt is the answer in words, where the answer's own cell was left as it
    was."""
    written = {
        cell.metadata["gpubook"].get("exercise"): name
        for name, cell in originals.items()
        if _part(cell) == "answer" and cell.metadata["nbgrader"].get("grade")
    }
    there = {name_of(cell): cell for cell in cells}
    for before, cell in itertools.pairwise(cells):
        prompt = prompts.get(normalised(before.source))
        answer = written.get(originals[prompt].metadata["gpubook"].get("exercise")) if prompt else None
        if answer is None or cell.metadata or cell.cell_type != "markdown" or answer not in there:
            continue
        if untouched(there[answer].source) and before.id == cell.id.rpartition("-")[0]:
            cell.metadata["nbgrader"] = {"grade_id": answer}


def name_of(cell: Any) -> Any:
    """What nbgrader calls a cell."""
    own = cell.metadata.get("nbgrader")
    name = own.get("grade_id") if isinstance(own, dict) else None
    return name if isinstance(name, str) else None

"""The answers to one question as a table, to be graded in a spreadsheet, and the way back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...book.course_error import CourseError
from ..spreadsheet import FORMULA, SheetContents, inert, number
from .answers import Conflict, HandGradedAnswer, answers, enter
from .questions import WrittenQuestion

FIRST, LAST = ("learner", "name", "state", "answer"), ("comment", "revision")
MOST_BYTES = 20 << 20


@dataclass
class Entered:
    """What became of a table: whose points were entered, how many rows were as they are, and what was refused."""

    learners: list[str] = field(default_factory=list)
    unchanged: int = 0
    refused: list[str] = field(default_factory=list)


def table(folder: Path, question: WrittenQuestion) -> SheetContents:
    """A row for each learner: the answer, a column for each criterion, the comment, and what the row was made from."""
    criteria = [f"{at}: {text} ({most:g})" for at, (text, most) in enumerate(question.rubric, start=1)]
    rows = [[*FIRST, *map(inert, criteria), *LAST]]
    for answer in answers(folder, question):
        points_given = answer.given or [None] * len(question.rubric)
        points = ["" if value is None else number(value) for value in points_given]
        about = [answer.learner, answer.name, answer.state, answer.text.source]
        rows.append([*map(inert, about), *points, inert(answer.comment), answer.revision])
    return SheetContents(rows)


def read(folder: Path, question: WrittenQuestion, path: Path, by: str = "") -> Entered:
    """Enter the points and comments of a table that `table` made and somebody filled in.

    Every row is checked before one is entered: CourseError says where something else was expected. A row is refused
    where its answer was changed since the table was made.
    """
    now = {one.learner: one for one in answers(folder, question)}
    named = {inert(learner): learner for learner in now}
    wanted, done = [], Entered()
    for line, row in _rows(path, len(question.rubric)):
        learner = named.get(row[0])
        if learner is None:
            raise CourseError(f"{path}, line {line}: {row[0]!r} has no graded submission of {question.assignment}")
        filled, comment = _points(path, line, row[4:-2], question), _comment(row[-2], now[learner])
        before = now[learner].given or (None,) * len(question.rubric)
        if (filled == before or not any(one is not None for one in filled)) and comment == now[learner].comment:
            done.unchanged += 1
        elif filled != before and None in filled and any(one is not None for one in filled):
            raise CourseError(f"{path}, line {line}: points for all {len(filled)} criteria were expected, or for none")
        else:
            entered_points = before if not any(one is not None for one in filled) else filled  # a comment alone
            wanted.append((learner, entered_points, comment, row[-1]))
    for learner, filled, comment, revision in wanted:
        try:
            enter(folder, question, learner, filled, comment, revision, by)
            done.learners.append(learner)
        except Conflict as conflict:
            done.refused.append(str(conflict))
    return done


def _rows(path: Path, criteria: int) -> list[tuple[int, list[str]]]:
    """The rows of a file with their line numbers, each with a cell for every column that `table` has."""
    if path.stat().st_size > MOST_BYTES:
        raise CourseError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_BYTES:,} were expected")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise CourseError(f"{path}: not UTF-8; a CSV file in UTF-8 was expected") from None
    cut = ";" if text.startswith(("learner;", '"learner";')) else ","  # as a spreadsheet writes it in half of Europe
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=cut)
    try:
        head = next(reader, [])
        numbers = [cell.split(":")[0].strip() for cell in head[len(FIRST) : -len(LAST)]]
        expected = [str(at) for at in range(1, criteria + 1)]
        if (tuple(head[: len(FIRST)]), tuple(head[-len(LAST) :]), numbers) != (FIRST, LAST, expected):
            columns = ", ".join([*FIRST, *(f"{at}: …" for at in expected), *LAST])
            raise CourseError(f"{path}: the columns are {', '.join(head) or 'none'}; {columns} were expected")
        lines = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise CourseError(f"{path}: {error}; a CSV file was expected") from None
    seen: set[str] = set()
    for line, row in lines:
        if len(row) != len(head):
            raise CourseError(f"{path}, line {line}: {len(row)} cells; {len(head)} were expected")
        if row[0] in seen:
            raise CourseError(f"{path}, line {line}: a second row for {row[0]!r}; one was expected")
        seen.add(row[0])
    return lines


def _points(path: Path, line: int, cells: Sequence[str], question: WrittenQuestion) -> tuple[float | None, ...]:
    values: list[float | None] = []
    for cell, (criterion, most) in zip(cells, question.rubric, strict=True):
        text = cell.strip().replace(",", ".")
        if text and not (re.fullmatch(r"\d{1,6}(\.\d{0,9})?|\.\d{1,9}", text) and float(text) <= most):
            raise CourseError(
                f"{path}, line {line}: {cell!r} points for {criterion!r}; nothing, or between 0 and {most:g}, "
                "were expected"
            )
        values.append(round(float(text), 4) if text else None)
    return tuple(values)


def _comment(cell: str, answer: HandGradedAnswer) -> str:
    """The comment of a row; what was there, with its lines, where the row has it unchanged."""
    if cell == inert(answer.comment):
        return answer.comment
    text = cell.strip()
    return text[1:] if text.startswith("'") and text[1:].startswith(tuple(FORMULA)) else text

"""The column of a platform's gradebook that belongs to an assignment (a line item of AGS): found, or made once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ...book.course_error import CourseError
from .connection import AccessRefused, Connection, Lost, read

TAG = "gpubook"
MANY = "application/vnd.ims.lis.v2.lineitemcontainer+json"
ITEM = "application/vnd.ims.lis.v2.lineitem+json"
RESULTS = "application/vnd.ims.lis.v2.resultcontainer+json"
SCORE = "application/vnd.ims.lis.v1.score+json"


@dataclass(frozen=True)
class GradeColumn:
    """A column: its address, its title, and the maximum that it shows; `plain` is the platform's record of it."""

    url: str
    label: str
    maximum: float
    plain: dict[str, Any]

    def below(self, what: str) -> str:
        """The address of its "scores" or "results": before the query, which Moodle's addresses have."""
        parts = urlsplit(self.url)
        return parts._replace(path=f"{parts.path.rstrip('/')}/{what}").geturl()


@dataclass(frozen=True)
class PlatformResult:
    """What a learner has in a column now: points of a maximum, and the comment where the platform says it."""

    points: float | None
    maximum: float
    comment: str | None = None

    @property
    def share(self) -> float | None:
        """The points as a share of the maximum."""
        return None if self.points is None or not self.maximum else self.points / self.maximum


def of_assignment(connection: Connection, name: str, url: str | None = None) -> GradeColumn | None:
    """The column of the assignment `name`: the one at `url`, or else the one that we made; None where there is none.
    CourseError where there are two."""
    columns = list(_all(connection))
    if url is not None:
        column = next((column for column in columns if column.url == url), None)
        if column is None:
            named = "; ".join(f"{column.label}: {column.url}" for column in columns[:20])
            raise CourseError(
                f"{connection.at.host} has no column {url}; it has {named or 'none that this tool may see'}"
            )
        return column
    ours = [column for column in columns if (column.plain.get("tag"), column.plain.get("resourceId")) == (TAG, name)]
    if len(ours) > 1:
        urls = " and ".join(column.url for column in ours)
        raise CourseError(f"{connection.at.host} has {len(ours)} columns of {name}: {urls}; say which with --item")
    return ours[0] if ours else None


def of_that_title(connection: Connection, name: str) -> GradeColumn | None:
    """A column that has the assignment's title and is not ours."""
    return next((column for column in _all(connection) if column.label.casefold() == name.casefold()), None)


def made(connection: Connection, name: str, maximum: float) -> GradeColumn:
    """A new column for the assignment. Where the answer is lost, it is looked whether it was made: never two."""
    plain = {"label": name, "scoreMaximum": maximum, "resourceId": name, "tag": TAG}
    try:
        response = connection.ask("POST", connection.at.items_url, accept=ITEM, content=ITEM, body=plain, once=True)
    except Lost:
        if (column := of_assignment(connection, name)) is not None:
            return column
        raise
    return _column(connection, read(response))


def with_maximum(connection: Connection, column: GradeColumn, maximum: float) -> GradeColumn:
    """The column with another maximum."""
    plain = {**column.plain, "scoreMaximum": maximum}
    response = connection.ask("PUT", column.url, accept=ITEM, content=ITEM, body=plain)
    return _column(connection, read(response))


def results(connection: Connection, column: GradeColumn) -> dict[str, PlatformResult] | None:
    """What everybody has in it, by the platform's id; None where the platform does not let it be read."""
    try:
        pages = list(connection.pages(column.below("results"), RESULTS))
    except AccessRefused:
        return None
    rows = (row for page in pages if isinstance(page, list) for row in page if isinstance(row, dict))
    return {str(row["userId"]): _result(row, column) for row in rows if "userId" in row}


def _result(row: dict[str, Any], column: GradeColumn) -> PlatformResult:
    comment = row.get("comment")
    maximum = _number(row.get("resultMaximum")) or column.maximum
    return PlatformResult(_number(row.get("resultScore")), maximum, comment if isinstance(comment, str) else None)


def _all(connection: Connection) -> Iterator[GradeColumn]:
    for page in connection.pages(connection.at.items_url, MANY):
        if not isinstance(page, list):
            raise CourseError(
                f"{connection.at.items_url} answers without columns; the address of line items was expected"
            )
        for row in page:
            yield _column(connection, row)


def _column(connection: Connection, plain: Any) -> GradeColumn:
    row = plain if isinstance(plain, dict) else {}
    url, maximum = row.get("id"), _number(row.get("scoreMaximum"))
    if not isinstance(url, str) or not url:
        raise CourseError(f"{connection.at.host} names a column without its address; an `id` was expected")
    return GradeColumn(connection.address(connection.at.items_url, url), str(row.get("label", "")), maximum or 0.0, row)


def _number(value: Any) -> float | None:
    """A number that a platform sends; None for anything else, and for what no float can hold."""
    try:
        number = float(value) if type(value) in (int, float) else math.nan
    except OverflowError:  # an integer of 400 digits
        return None
    return number if math.isfinite(number) else None

"""The status of a course as a page: no script, nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ..terms.deadline_time import shown
from .status import CourseStatus

HERE = Path(__file__).parent


@cache
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader

    made = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters["time"] = shown
    return made.get_template("course_page.html.j2")


def of(status: CourseStatus, server: str, static: str) -> str:
    """The page; `server` is the address of the Jupyter server, `static` that of the style that its pages share."""
    return str(_template().render(course=status, server=server.rstrip("/"), static=static))

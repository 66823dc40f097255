"""HTML out of the templates beside this file. Values are escaped, unless they are `Markup`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup


def render(name: str, **values: Any) -> Markup:
    """The template of that name with these values."""
    return Markup(_templates().get_template(name).render(**values).strip())


def markdown(*parts: str) -> Markup:
    """Markdown for the page, one part under the other, empty ones left out; Sphinx reads it, so nothing is escaped."""
    return Markup("\n\n".join(part for part in parts if part))


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )

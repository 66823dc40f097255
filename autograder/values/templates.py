"""HTML out of templates in a folder. Values are escaped, unless they are `Markup`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment


def rendered(folder: Path, name: str, **values: Any) -> Markup:
    """The template of that name in `folder` with these values; one that lacks a value is an error."""
    return Markup(_templates(folder).get_template(name).render(**values).strip())


@cache
def _templates(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )

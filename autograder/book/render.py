"""HTML out of the templates beside this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..values.templates import rendered

TEMPLATES = Path(__file__).parent / "templates"


def render(name: str, **values: Any) -> Markup:
    """The template of that name with these values."""
    return rendered(TEMPLATES, name, **values)


def markdown(*parts: str) -> Markup:
    """Markdown for the page, one part under the other, empty ones left out; Sphinx reads it, so nothing is escaped."""
    return Markup("\n\n".join(part for part in parts if part))


def script_json(data: Any) -> Markup:
    """JSON that can stand inside a script element, on one line."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))

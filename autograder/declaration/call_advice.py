"""What a declaration that was called with a wrong keyword should have been called with."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Mapping
from typing import Any

WRONG = re.compile(r"(?:\b(\w++)\.)?\b(\w++)\(\) got an unexpected keyword argument '(\w+)'")
MISSING = re.compile(r"(?:\b(\w++)\.)?\b(\w++)\(\) missing \d+ required .*argument")


def advice(error: Exception, names: Mapping[str, Any]) -> str:
    """A sentence for a TypeError about the keywords of a call to one of these names; empty for any other error."""
    if not isinstance(error, TypeError):
        return ""
    wrong, missing = WRONG.search(str(error)), MISSING.search(str(error))
    match = wrong or missing
    if match is None:
        return ""
    name = match[1] if match[2] == "__init__" else match[2]
    takes = _parameters(names.get(name or ""))
    if not takes:
        return ""
    if wrong is None:
        return f"{name} lacks {_required(names[name])}; it takes {_listed(takes)}"
    near = difflib.get_close_matches(wrong[3], takes, 1, 0.5)
    hint = f", perhaps `{near[0]}` was meant" if near else ""
    return f"{name} takes no `{wrong[3]}`{hint}; it takes {_listed(takes)}"


def _parameters(called: Any) -> list[str]:
    try:
        return [
            each.name for each in inspect.signature(called).parameters.values() if each.kind is not each.VAR_KEYWORD
        ]
    except (TypeError, ValueError):
        return []


def _required(called: Any) -> str:
    parameters = inspect.signature(called).parameters.values()
    return _listed([each.name for each in parameters if each.default is each.empty])


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

"""An event of a course's history as a line that a person reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .history import Event


def line(event: Event, named: bool = True) -> str:
    """When, by whom, and what; `named`: of which assignment too."""
    what = TEXTS.get(event.what, _plain)(event.about)
    graded = event.about.get("graded")
    beside = f"; {graded} graded by then" if graded and event.what != "grade" else ""
    subject = f"{event.assignment}: " if named and event.assignment else ""
    return f"{event.at} UTC  {event.by or 'somebody'}  {subject}{event.what}{f' {what}' if what else ''}{beside}"


def _assigned(about: Mapping[str, Any]) -> str:
    parts = [
        str(about.get("made_of", "")),
        f"{about.get('exercises')} exercises, {_number(about.get('points'))} points",
    ]
    parts += [f"without {_names(about['without'])}"] if about.get("without") else []
    was = f" (was {about['due_before']})" if "due_before" in about else ""
    parts += [f"due {about.get('due')}{was}"]
    parts += [f"other points or decisions for {_names(about['changed'])}"] if about.get("changed") else []
    return "; ".join(filter(None, parts))


def _points(about: Mapping[str, Any]) -> str:
    return f"{about.get('exercise')} {_number(about.get('before'))} → {_number(about.get('after'))}"


def _exercise(about: Mapping[str, Any]) -> str:
    return str(about.get("exercise", ""))


def _extended(about: Mapping[str, Any]) -> str:
    granted = f" by {about['extension']}" if "extension" in about else ""
    return f"{_names(about.get('learners', ()))}{granted}"


def _groups(about: Mapping[str, Any]) -> str:
    groups = about.get("groups") or {}
    return "; ".join(f"{name}: {_names(members)}" for name, members in groups.items()) or "none"


def _graded(about: Mapping[str, Any]) -> str:
    parts = [f"{about.get('graded', 0)} graded"]
    parts += [f"{about['changed']} results changed ({about['why']})"] if about.get("changed") else []
    parts += [f"only {_names(about['learners'])}"] if about.get("learners") else []
    return ", ".join(parts)


def _changed(about: Mapping[str, Any]) -> str:
    return f"{about.get('before', 'none')} → {about.get('after', 'none')}"


def _plain(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in about.items() if key != "graded")


def _names(names: Any) -> str:
    return ", ".join(map(str, names))


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "–"


TEXTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "assign": _assigned,
    "points": _points,
    "drop": _exercise,
    "drop undone": _exercise,
    "full marks": _exercise,
    "full marks undone": _exercise,
    "extend": _extended,
    "extension removed": _extended,
    "groups": _groups,
    "grade": _graded,
    "late rule": _changed,
}

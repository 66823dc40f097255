"""The record of a learner's progress as plain data: format 2, its rules, and how two records become one.

`docs/_static/progress.js` does the same in the page, so a record may be written by a notebook, carried to a browser,
changed in both and merged in either, in any order and as often as one likes.

A record is {"format": 2, "exercises": {id: entry}}. An entry has any of: `answer` {source, time, verdict}, the latest;
`best` {score, time}, the greatest score and when it was first reached; `prediction` {answer, source, time}, the first;
`skipped`, when what follows a prediction was looked at without one; `hints`, how many were shown; `solution`, when it
was first seen; and `attempts` by their times, the latest 40: {kind, reason, mistakes, score}, and `variant` where it
was one with other numbers than the book's. A verdict is {say, kind, reason, score, points, mistakes}, with `say` as
HTML, and `wants_hint` where it is true. Times are in UTC, "2026-03-01T12:00:00.000Z".
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ..values.json_size import least_values
from ..values.own_file import loaded

FORMAT = 2
ATTEMPTS = 40  # that are kept of an exercise
MAX_SIZE = 16 << 20  # of a file
MAX_VALUES = 500_000  # in a file, as of a notebook
LONGEST = 20_000  # characters of an answer's source that are kept; of a longer one none, since a part is not it
# What a file may have, which is far more than a reader's: as in docs/_static/progress.js
MOST_EXERCISES, MOST_MISTAKES, LONGEST_NAME = 5_000, 10, 200
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
Data = dict[str, Any]


class NewerFormat(OSError):
    """A record of a format that this version does not know: it is left as it is."""

    def __init__(self, where: str, found: int):
        super().__init__(
            f"{where} has format {found} of a newer version of gpubook, and this one reads up to {FORMAT}; "
            "it is left as it is"
        )


class BadRecord(ValueError):
    """Not a record; the message says what was expected."""


def empty() -> Data:
    """The record of someone who begins."""
    return {"format": FORMAT, "exercises": {}}


def read(text: str | bytes, where: str = "the record") -> Data:
    """The record in a text, of an older format too. BadRecord where it is none, NewerFormat where it is too new."""
    if len(text) > MAX_SIZE:
        raise BadRecord(f"{where} is too large: {len(text):,} bytes; at most {MAX_SIZE:,} were expected")
    try:
        plain = text if isinstance(text, str) else text.decode("utf-8")
        if (values := least_values(plain)) > MAX_VALUES:
            raise ValueError(f"{values:,} values in it; at most {MAX_VALUES:,} were expected")
        data = loaded(plain)
        json.dumps(data, allow_nan=False)
        canonical(data)
    except (ValueError, OverflowError) as error:
        raise BadRecord(f"{where} cannot be read: {error}") from None
    version = data.get("format") if type(data) is dict else None
    if type(version) is int and version > FORMAT:
        raise NewerFormat(where, version)
    if version == 1:
        data = _upgraded(data, where)
    if problem := _problem(data):
        raise BadRecord(f"{where} is not a record of progress: {problem}")
    return merged(data, data)


def written(data: Data) -> str:
    """The text of a record's file; the page exports the same."""
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True)


def merged(a: Data, b: Data) -> Data:
    """The record of everything that two records have: commutative, associative and idempotent.

    The earliest prediction, the most hints, the earliest solution, the latest answer, the best score and the latest of
    all attempts. What this version does not know is kept; where the two differ in it, one of them is, always the same.
    """
    ids = sorted({*a["exercises"], *b["exercises"]})
    exercises = {name: _merged(a["exercises"].get(name, {}), b["exercises"].get(name, {}), RULES) for name in ids}
    return {**_merged(a, b, {"exercises": lambda *_: exercises}), "format": FORMAT}


def now() -> str:
    """The time as records have it."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """A time as records have it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def last_done(entry: Mapping[str, Any]) -> str:
    """When something was done last about an exercise, by its entry; "" where nothing was."""
    times = [*entry.get("attempts", {}), *(entry[part]["time"] for part in ("answer", "prediction") if part in entry)]
    return max(times, default="")


def free(attempts: Mapping[str, Any], time: str) -> str:
    """`time`, or the first millisecond after it at which no attempt is recorded yet."""
    moment = datetime.fromisoformat(time)
    while stamp(moment) in attempts:
        moment += timedelta(milliseconds=1)
    return stamp(moment)


def _merged(a: Mapping[str, Any], b: Mapping[str, Any], rules: Mapping[str, Callable[[Any, Any], Any]]) -> Data:
    out = {}
    for name in sorted({*a, *b}):
        rule = rules.get(name, _either)
        out[name] = rule(a.get(name, b.get(name)), b.get(name, a.get(name)))
    return out


def _either(a: Any, b: Any) -> Any:
    return a if a is b else max(a, b, key=canonical)


def _earliest(a: Any, b: Any) -> Any:
    return a if a is b else min(a, b, key=lambda one: (one["time"], canonical(one)))


def _latest(a: Any, b: Any) -> Any:
    return a if a is b else max(a, b, key=lambda one: (one["time"], canonical(one)))


def _best(a: Any, b: Any) -> Any:
    return a if a is b else min(a, b, key=lambda one: (-one["score"], one["time"], canonical(one)))


def _attempts(a: Data, b: Data) -> Data:
    times = sorted({*a, *b})[-ATTEMPTS:]
    return {time: _either(a.get(time, b.get(time)), b.get(time, a.get(time))) for time in times}


RULES: dict[str, Callable[[Any, Any], Any]] = {
    "answer": _latest,
    "best": _best,
    "prediction": _earliest,
    "skipped": min,
    "hints": max,
    "solution": min,
    "attempts": _attempts,
}


def canonical(value: Any) -> str:
    """A text that two equal values share in Python and in JavaScript, in ASCII: it decides where times are the same."""
    if type(value) in (int, float):
        return struct.pack(">d", float(value)).hex()
    if type(value) is dict:
        rows = sorted((json.dumps(key), canonical(one)) for key, one in value.items())
        return "{" + ",".join(f"{key}:{one}" for key, one in rows) + "}"
    if type(value) is list:
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value)


def _problem(data: Any) -> str:
    """Why it is not a record; "" where it is one."""
    if type(data) is not dict or data.get("format") != FORMAT or type(data.get("exercises")) is not dict:
        return f'{{"format": {FORMAT}, "exercises": {{id: ...}}}} was expected'
    if (count := len(data["exercises"])) > MOST_EXERCISES:
        return f"it has {count:,} exercises, and at most {MOST_EXERCISES:,} were expected"
    for name, entry in data["exercises"].items():
        if type(entry) is not dict:
            return f"the entry of {name!r} is not an object"
        for part, value in entry.items():
            if part in FITS and not FITS[part](value):
                return f"the {part} of {name!r} is not one"
    return ""


def _time(value: Any) -> bool:
    return type(value) is str and TIME.fullmatch(value) is not None


def _number(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= 1e6


def _text(value: Any) -> bool:
    return type(value) is str


def _verdict(value: Any) -> bool:
    return (
        type(value) is dict
        and all(_text(value.get(name)) for name in ("say", "kind"))
        and all(_number(value.get(name)) for name in ("score", "points"))
    )


def _source(value: Any) -> bool:
    return _text(value) and len(value) <= LONGEST


def _name(value: Any) -> bool:
    return _text(value) and len(value) <= LONGEST_NAME


def _attempt(value: Any) -> bool:
    named = type(value) is dict and value.get("mistakes", [])
    fits = type(named) is list and len(named) <= MOST_MISTAKES and all(map(_name, named))
    return fits and _text(value.get("kind")) and _number(value.get("score"))


def _timed(value: Any, **parts: Callable[[Any], bool]) -> bool:
    return (
        type(value) is dict and _time(value.get("time")) and all(fits(value.get(name)) for name, fits in parts.items())
    )


FITS: dict[str, Callable[[Any], bool]] = {
    "answer": lambda value: _timed(value, source=_source, verdict=_verdict),
    "best": lambda value: _timed(value, score=_number),
    "prediction": lambda value: _timed(value, source=_source) and "answer" in value,
    "skipped": _time,
    "hints": lambda value: type(value) is int and 0 <= value < 1000,
    "solution": _time,
    "attempts": lambda value: type(value) is dict and all(_time(t) and _attempt(one) for t, one in value.items()),
}


def _upgraded(data: Data, where: str) -> Data:
    """A record of format 1, which had the predictions, hints and solutions of a chapter beside each other."""
    exercises: dict[str, Data] = {}
    try:
        for name, entry in data.get("predictions", {}).items():
            prediction = {"answer": entry["answer"], "source": "", "time": _upgraded_time(entry["time"])}
            exercises.setdefault(name, {})["prediction"] = prediction
        for name, shown in data.get("hints", {}).items():
            if type(shown) is int and 0 <= shown < 1000:
                exercises.setdefault(name, {})["hints"] = shown
        for name, time in data.get("solutions", {}).items():
            if type(time) is str:
                exercises.setdefault(name, {})["solution"] = _upgraded_time(time)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        raise BadRecord(
            f"{where} is not a record of progress: predictions, hints and solutions were expected"
        ) from None
    return {"format": FORMAT, "exercises": exercises}


def _upgraded_time(text: str) -> str:
    return stamp(datetime.fromisoformat(text))

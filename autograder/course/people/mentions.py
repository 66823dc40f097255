"""Where a learner stands in what is read from JSON: taken out of it, or removed from it.

A learner's own part is the value of a key that is the id, an object that says whose it is (`PERSON`), or the id in a
list. Elsewhere the id stands beside others' things: who submitted for a group, a sentence of a history. There it is
replaced, and what it stands beside is kept. An id is found whole only: `ann` is neither in `annika` nor in `ann-2`.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

PERSON = ("learner", "recorded", "student", "student_id", "name", "id", "of")
"""The keys that say whose an object is, where their value is an id."""
JUDGED = ("say", "note", "results", "rubric")
"""The keys below which other learners' work is judged, in words that may have somebody's name in them by chance."""
STAFF = ("weights", "by", "grader", "who")
"""The keys below which a grader stands, where one is called as the learner is."""
REMOVED = "(removed)"
GONE = object()


class Mention(NamedTuple):
    """Where something of a learner is, as keys joined by dots, and what it is."""

    at: str
    value: Any


def bounded(learner: str) -> re.Pattern[str]:
    """The id as a whole: what may continue an id does not stand beside it."""
    return re.compile(rf"(?<!\w)(?<!\w[.@+-]){re.escape(learner)}(?![.@+-]?\w)")


def mentions(plain: Any, learner: str, at: str = "", spared: Collection[str] = ()) -> Iterator[Mention]:
    """The learner's parts of a value, from the outermost in; none below the keys that are `spared`."""
    if isinstance(plain, dict):
        if is_of(plain, learner):
            yield Mention(at, plain)
            return
        for key, value in plain.items():
            if key in spared:
                continue
            place = f"{at}.{key}" if at else str(key)
            if key == learner:
                yield Mention(at, value)
            else:
                yield from mentions(value, learner, place, spared)
    elif isinstance(plain, list):
        for value in plain:
            yield from mentions(value, learner, at, spared)
    elif plain == learner:
        yield Mention(at, plain)


def without(plain: Any, learner: str, spared: Collection[str] = ()) -> Any:
    """A value without a learner; GONE where all of it is the learner's. What is below the keys that are `spared` stays
    as it is."""
    if isinstance(plain, dict):
        return GONE if is_of(plain, learner) else _without_in(plain, learner, spared)
    if isinstance(plain, list):
        left = [without(value, learner, spared) for value in plain if value != learner]
        return [value for value in left if value is not GONE]
    return bounded(learner).sub(REMOVED, plain) if isinstance(plain, str) else plain


def _without_in(plain: dict[str, Any], learner: str, spared: Collection[str]) -> dict[str, Any]:
    left = {}
    for key, value in plain.items():
        part = value if key in JUDGED or key in spared else without(value, learner, spared)
        if key != learner and part is not GONE:
            left[key] = part
    return left


def is_of(plain: dict[str, Any], learner: str) -> bool:
    """Whether an object says that it is this learner's."""
    return any(plain.get(key) == learner for key in PERSON)

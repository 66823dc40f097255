"""Which reader a text is for, by its contents, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hwlib.pasted_text import without_container

from .held_file import HeldFile
from .kinds import KINDS, ReaderKind

HEAD = 2**22  # characters that are looked at
JSON = re.compile(r"\s*(?:\{\s*\"|\[\s*[\[{])")  # a log's line may begin with a bracket too
LONGEST = 1000  # characters of a line that are looked at


class Recognised(NamedTuple):
    """A kind, and what in the text speaks for it."""

    kind: ReaderKind
    why: str


def recognised(file: HeldFile, kinds: Iterable[ReaderKind] | None = None) -> list[Recognised]:
    """The kinds that a file may be, the likeliest first: by its first bytes, by the keys of its JSON, or by how many
    lines speak for each.
    """
    rows = list(KINDS.values() if kinds is None else kinds)
    start = next(file.pieces(), b"")
    for kind in rows:
        if start.startswith(kind.begins):
            return [Recognised(kind, "it is pickled data")]
    text = without_container(file.head(HEAD))
    return [*_by_keys(text, rows)][:1] or _by_lines(text.splitlines(), rows)


def by_lines(file: HeldFile) -> list[Recognised]:
    """The kinds that a file may be by its lines alone, whatever it begins with."""
    return _by_lines(without_container(file.head(HEAD)).splitlines(), list(KINDS.values()))


def nothing_known(file: HeldFile) -> str:
    """The sentence for a text that no kind is known for."""
    first = next((line.strip() for line in file.head(LONGEST).splitlines() if line.strip()), "")
    begins = f"it begins {first[:60]!r}" if first else "it is empty"
    titles = "; ".join(kind.title for kind in KINDS.values())
    return f"{file.title}: nothing in it is known ({begins}); what can be read: {titles}"


def _by_keys(text: str, rows: Sequence[ReaderKind]) -> Iterator[Recognised]:
    if not JSON.match(text):
        return
    for kind in rows:
        mark = next((mark for mark in kind.keys if mark.pattern.search(text)), None)
        if mark:
            yield Recognised(kind, f"its JSON has {mark.shows}")


def _by_lines(lines: Sequence[str], rows: Sequence[ReaderKind]) -> list[Recognised]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        for kind in rows:
            mark = next((mark for mark in kind.lines if mark.pattern.search(line, 0, LONGEST)), None)
            if mark:
                counts[kind.name] += 1
                first.setdefault(kind.name, f"line {number} has {mark.shows}")
    by_name = {kind.name: kind for kind in rows}
    return [Recognised(by_name[name], first[name]) for name, _ in counts.most_common()]

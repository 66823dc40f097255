"""The answer to a text or to files: which reader they are for, why, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup

from .answer_html import answer_html, planner_links
from .held_file import HeldFile
from .kinds import KINDS, ReaderKind
from .readers import ReaderAnswer
from .reading_error import ReadingError
from .reading_options import BY_NAME, option_values
from .recognition import Recognised, by_lines, nothing_known, recognised

OPTION_AT_FAULT = re.compile(r"(?:--)?([a-z_-]+): ")
"""How a reader's sentence begins about an option, and not about its text."""
MOST_TRIED = 2**20  # characters of a text that every reader is tried on, where nothing recognises it


@dataclass(frozen=True)
class ReadAnswer:
    """`why` says what the kind is known by, `also` which other kinds the text may be, `options` what was typed
    beside it, `unused` which of it the reader does not take; `answer` is the reader's own record, and `text` the same
    to be read.
    """

    kind: str
    title: str
    why: str
    also: tuple[str, ...]
    fine: bool
    text: str
    answer: Mapping[str, Any]
    options: Mapping[str, str]
    unused: tuple[str, ...] = ()

    @property
    def record(self) -> dict[str, Any]:
        """All of it as JSON can hold it."""
        return {
            "kind": self.kind,
            "title": self.title,
            "why": self.why,
            "also": list(self.also),
            "fine": self.fine,
            "options": dict(self.options),
            "unused": list(self.unused),
            "text": self.text,
            "answer": dict(self.answer),
        }


def read(files: Sequence[HeldFile], kind: str = "", options: Mapping[str, str] | None = None) -> ReadAnswer:
    """What the reader says that the files are for, by `kind` or by their contents. Of several kinds that a text may be,
    the likeliest that can be read is taken. Raises ReadingError, in one sentence.
    """
    if not files:
        raise ReadingError("a text or a file was expected, got none")
    values = option_values(options or {})
    candidates = [_named(kind)] if kind else recognised(files[0])
    if not candidates:
        candidates = _tried(files[0])
    failures = []
    for candidate in chain(candidates, () if kind else _later(files[0], candidates)):
        try:
            answer = candidate.kind.answer(files, values)
        except ReadingError:
            raise
        except (ValueError, LookupError, RecursionError, MemoryError, ArithmeticError) as error:
            _refuse_option(_sentence(error), values)
            failures.append(f"read as {candidate.kind.title} ({candidate.why}): {_sentence(error)}")
            continue
        used = {name: str(options[name]).strip() for name in BY_NAME if name in values} if options else {}
        return _answer(candidate, candidates, answer, used)
    raise ReadingError(failures[0] if failures else nothing_known(files[0]))


def answered(files: Sequence[HeldFile], kind: str = "", options: Mapping[str, str] | None = None) -> dict[str, str]:
    """For a page: {"html", "kind"}; or {"error": a sentence, "field": the option at fault, or ""}."""
    try:
        answer = read(files, kind, options)
    except ReadingError as error:
        return {"error": str(error), "field": error.field}
    pages = planner_links(files[0]) if answer.kind == "config" else Markup("")
    return {"html": str(answer_html(answer.record) + pages), "kind": answer.kind}


def _refuse_option(sentence: str, values: Mapping[str, Any]) -> None:
    """Raise ReadingError for a sentence about an option that was typed: whatever the text is, that has to be mended."""
    match = OPTION_AT_FAULT.match(sentence)
    if match and (name := match[1].replace("-", "_")) in values:
        raise ReadingError(sentence.removeprefix("--"), name)


def _named(name: str) -> Recognised:
    if name not in KINDS:
        raise ReadingError(f"kind: unknown {name[:60]!r}; known: {', '.join(KINDS)}", "kind")
    return Recognised(KINDS[name], "that kind was chosen")


def _later(file: HeldFile, candidates: Sequence[Recognised]) -> Iterator[Recognised]:
    """What a file may be by its lines, where what it begins with says otherwise and is wrong."""
    names = [candidate.kind.name for candidate in candidates]
    yield from (candidate for candidate in by_lines(file) if candidate.kind.name not in names)


def _tried(file: HeldFile) -> list[Recognised]:
    """The readers that answer to a text in which nothing is known: what they read changes with each release."""
    if len(file.head(MOST_TRIED)) > MOST_TRIED:
        return []
    tried = []
    for kind in filter(_of_one_text, KINDS.values()):
        try:
            kind.answer([file], {})
        except (ValueError, LookupError, RecursionError, ArithmeticError):
            continue
        tried.append(Recognised(kind, "its reader finds what it expects"))
    return tried


def _of_one_text(kind: ReaderKind) -> bool:
    return kind.one_text


def _sentence(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it is larger than the memory that there is; give fewer files or shorter ones"
    words = error.args[0] if isinstance(error, LookupError) and error.args else error
    return str(words) or type(error).__name__


def _answer(
    chosen: Recognised, candidates: Sequence[Recognised], answer: ReaderAnswer, options: Mapping[str, str]
) -> ReadAnswer:
    also = tuple(other.kind.name for other in candidates if other is not chosen)
    kind = chosen.kind
    used = {name: text for name, text in options.items() if name in kind.options}
    unused = tuple(name for name in options if name not in used)
    return ReadAnswer(kind.name, kind.title, chosen.why, also, answer.fine, answer.text, answer.record, used, unused)

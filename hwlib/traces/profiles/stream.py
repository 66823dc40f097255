"""A Chrome trace read as a stream: its events one by one, as far as the text goes, in memory for one piece of it."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["TraceStream"]

MOST = 8_000_000  # characters of one event, or of one entry of the head: more is not one
LESS = 200_000  # characters that are read at least before the next look
GAP = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")
SPACE = re.compile(r"[ \t\r\n]*")
KEY = re.compile(r'"((?:[^"\\]|\\.){0,200})"[ \t\r\n]*:[ \t\r\n]*')
LONGEST_KEY = 1000


class TraceStream:
    """The text of a trace as its events: iterate, then look at `head` (the other entries), `cut` and `count`.

    Either `{"traceEvents": [...], ...}` or the list alone, which Chrome allows to be left open. `cut` says, in words,
    where the text ended or could not be read on; "" if it was read to its end. Raises ValueError at once for a text
    that is no JSON of this form.
    """

    def __init__(self, chunks: Iterable[str]):
        self.chunks = iter(chunks)
        self.text = ""
        self.at = 0
        self.before = 0  # characters that are read and dropped
        self.ended = False
        self.head: dict[str, Any] = {}
        self.cut = ""
        self.count = 0
        self.scan = json.JSONDecoder(strict=False).raw_decode

    def __iter__(self) -> Iterator[Any]:
        first = self._first()
        if first == "[":
            self.at += 1
            yield from self._events(alone=True)
        elif first == "{":
            self.at += 1
            yield from self._members()
        else:
            raise ValueError(f"a Chrome trace was expected, JSON with a list `traceEvents`, got {self.text[:40]!r}")

    def _first(self) -> str:
        self._skip(SPACE)
        return self.text[self.at : self.at + 1]

    def _more(self, least: int = LESS) -> bool:
        """Read on, without what is behind; False at the text's end."""
        pieces, size = [self.text[self.at :]], 0
        self.before += self.at
        self.at = 0
        while size < least and not self.ended:
            piece = next(self.chunks, None)
            if piece is None:
                self.ended = True
            else:
                pieces.append(piece)
                size += len(piece)
        self.text = "".join(pieces)
        return size > 0

    def _skip(self, pattern: re.Pattern[str]) -> None:
        """Move behind what a pattern matches, which may go on in the next piece."""
        while True:
            match = pattern.match(self.text, self.at)
            end = match.end() if match else self.at
            self.at = end
            if end < len(self.text) or not self._more():
                return

    def _value(self) -> Any:
        """The value here; raises EOFError where the text ends, or is damaged, before the value's end."""
        scan = self.scan
        try:
            value, end = scan(self.text, self.at)
            if end < len(self.text):
                self.at = end
                return value
        except (ValueError, RecursionError):
            pass
        return self._long_value()

    def _long_value(self) -> Any:
        """As `_value`, for one that the text at hand does not hold to its end."""
        size = LESS
        while self._more(size):
            try:
                value, end = self.scan(self.text, 0)
            except (ValueError, RecursionError):
                if len(self.text) > MOST:
                    break
                size = len(self.text)
                continue
            if end < len(self.text):
                self.at = end
                return value
        return self._last_value()

    def _last_value(self) -> Any:
        try:
            value, end = self.scan(self.text, self.at)
        except (ValueError, RecursionError):
            raise EOFError from None
        self.at = end
        return value

    def _stop(self, where: str) -> None:
        place = f"{self.before + self.at:,} characters"
        ended = self.ended and (len(self.text) - self.at) < MOST
        reason = "the text ends, or is damaged, " if ended else "the text is damaged "
        self.cut = f"{reason}in {where}, after {place} and {self.count:,} events"

    def _events(self, alone: bool = False) -> Iterator[Any]:
        """The items of the list that is open here; one that stands alone may end without a bracket."""
        gap = GAP.match
        while True:
            match = gap(self.text, self.at)
            self.at = match.end() if match else self.at
            if self.at >= len(self.text):
                self._skip(GAP)
            if self.text[self.at : self.at + 1] == "]":
                self.at += 1
                return
            try:
                event = self._value()
            except EOFError:
                if not alone or self.at < len(self.text):
                    self._stop("the list of events")
                return
            self.count += 1
            yield event

    def _members(self) -> Iterator[Any]:
        """The events of the object that is open here; its other entries go into the head."""
        while not self.cut:
            self._skip(GAP)
            if self.text[self.at : self.at + 1] == "}":
                return
            if len(self.text) - self.at < LONGEST_KEY:
                self._more()
            key = KEY.match(self.text, self.at)
            if not key:
                self._stop("the head")
                return
            self.at = key.end()
            self._skip(SPACE)
            if key[1] == "traceEvents" and self.text[self.at : self.at + 1] == "[":
                self.at += 1
                yield from self._events()
            else:
                self._entry(key[1])

    def _entry(self, key: str) -> None:
        try:
            self.head[key] = self._value()
        except EOFError:
            self._stop("the head")

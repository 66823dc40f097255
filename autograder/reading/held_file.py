"""A text or a file that somebody holds: unpacked by its contents, in pieces, so that a trace need not fit in memory."""

from __future__ import annotations

import codecs
import importlib
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hwlib.units import MiB, show

from .reading_error import ReadingError

PIECE = int(MiB)  # bytes that are read, and unpacked, at a time
WHOLE = 64 * MiB  # bytes of a text that a reader takes as a whole: more is no log that was pasted
GZIP = 31  # zlib's number for a gzip stream with its largest window
PACKED = ((b"\x1f\x8b", "zlib"), (b"BZh", "bz2"), (b"\xfd7zXZ\x00", "lzma"))
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins, as PowerShell writes what a command prints


@dataclass(frozen=True)
class HeldFile:
    """`opened` opens it anew, as bytes; `name` may tell its rank, and is empty of what was pasted."""

    name: str
    opened: Callable[[], BinaryIO]

    @classmethod
    def of_text(cls, text: str) -> HeldFile:
        """What was pasted."""
        return cls("", lambda: io.BytesIO(text.encode("utf-8", errors="replace")))

    @classmethod
    def of_path(cls, name: str, path: Path) -> HeldFile:
        """A file, and what its owner calls it."""
        return cls(name, lambda: path.open("rb"))

    @property
    def title(self) -> str:
        """What a sentence calls it."""
        return self.name[-200:] or "the text"

    def pieces(self) -> Iterator[bytes]:
        """The bytes, unpacked; what is damaged or cut inside its compression ends them. Raises ReadingError for a
        compression that this Python has not, as that of a page has no xz."""
        with self.opened() as raw:
            head = raw.read(PIECE)
            module = next((name for mark, name in PACKED if head.startswith(mark)), "")
            pieces = _pieces(raw, head)
            yield from _unpacked(pieces, _unpacker(module, self.title)) if module else pieces

    def texts(self) -> Iterator[str]:
        """The text in pieces: UTF-16 by its mark, else UTF-8 with what is not UTF-8 replaced."""
        decoder: codecs.IncrementalDecoder | None = None
        for piece in self.pieces():
            decoder = decoder or codecs.getincrementaldecoder(_encoding(piece))(errors="replace")
            yield decoder.decode(piece)

    def head(self, size: int) -> str:
        """The first characters of the text, a piece more at most."""
        parts: list[str] = []
        for part in self.texts():
            parts.append(part)
            if sum(map(len, parts)) >= size:
                break
        return "".join(parts)

    def data(self, limit: float = WHOLE) -> bytes:
        """The bytes as a whole. Raises ReadingError above the limit."""
        parts, size = [], 0
        for piece in self.pieces():
            size += len(piece)
            if size > limit:
                raise ReadingError(f"{self.title}: over {show(limit, 'B', 3)} unpacked; no more are read at once")
            parts.append(piece)
        return b"".join(parts)

    def text(self, limit: float = WHOLE) -> str:
        """The text as a whole. Raises ReadingError above the limit."""
        data = self.data(limit)
        return data.decode(_encoding(data), errors="replace")


def _encoding(data: bytes) -> str:
    return "utf-16" if data.startswith(WIDE) else "utf-8-sig"


def _pieces(raw: BinaryIO, head: bytes) -> Iterator[bytes]:
    yield head
    yield from iter(lambda: raw.read(PIECE), b"")


def _unpacker(module: str, title: str) -> Callable[[], Any]:
    try:
        library = importlib.import_module(module)
    except ImportError:
        raise ReadingError(f"{title}: compressed for {module}, which this Python has not; unpack it first") from None
    if module == "zlib":
        return lambda: zlib.decompressobj(GZIP)
    return library.BZ2Decompressor if module == "bz2" else library.LZMADecompressor


def _unpacked(pieces: Iterator[bytes], made: Callable[[], Any]) -> Iterator[bytes]:
    """What the compressed streams hold, one after the other, as far as they are sound."""
    unpacker = made()
    for piece in pieces:
        rest = piece
        while rest:
            try:
                yield from _steps(unpacker, rest)
            except (zlib.error, OSError, EOFError, ValueError):
                return
            except Exception as error:  # lzma's own, in a module that may be missing
                if type(error).__name__ != "LZMAError":
                    raise
                return
            rest = b""
            if unpacker.eof:
                rest, unpacker = unpacker.unused_data.lstrip(b"\0"), made()


def _steps(unpacker: Any, packed: bytes) -> Iterator[bytes]:
    """Never more than a piece at a time: a file of zeros unpacks to a thousand times."""
    if hasattr(unpacker, "unconsumed_tail"):
        while packed and not unpacker.eof:
            yield unpacker.decompress(packed, PIECE)
            packed = unpacker.unconsumed_tail
        return
    yield unpacker.decompress(packed, PIECE)
    while not unpacker.eof and not unpacker.needs_input:
        yield unpacker.decompress(b"", PIECE)

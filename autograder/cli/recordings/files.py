"""The files that a command's words name: files, standard input, or folders with a file a rank."""

import bz2
import codecs
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

from hwlib.units import MiB

from ..input_files import STANDARD_INPUT
from ..plan import CannotBe

__all__ = ["named_files", "text_pieces"]

MOST = 20_000  # files of a folder
PIECE = int(MiB)  # bytes that are read, and unpacked, at a time
GZIP = 31  # zlib's number for a gzip stream with its largest window
UNPACKERS: tuple[tuple[bytes, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", lambda: zlib.decompressobj(GZIP)),
    (b"BZh", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", lzma.LZMADecompressor),
)


def named_files(words: Sequence[str]) -> list[tuple[str, bool]]:
    """The paths, each with whether it comes from a folder, in the order of the words, then by name.

    Hidden files of a folder are left out. Raises CannotBe for a path that does not exist, and a folder without a file.
    """
    named: dict[str, bool] = {}
    for word in words:
        for path, of_folder in _of_word(word):
            named.setdefault(path, of_folder)
    return list(named.items())


def _of_word(word: str) -> Iterator[tuple[str, bool]]:
    path = Path(word)
    if word == STANDARD_INPUT or not path.is_dir():
        yield word, False
        return
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
    if not files:
        raise CannotBe(f"{word}: the folder has no file")
    if len(files) > MOST:
        raise CannotBe(f"{word}: the folder has {len(files):,} files, more than a job has ranks")
    yield from ((str(file), True) for file in files)


def text_pieces(path: str) -> Iterator[str]:
    """The text of a file or of standard input in pieces, unpacked by its contents, so that no file is too large.

    What is damaged, or cut inside its compression, ends the text there: its reader says so. UTF-8, with what is not
    UTF-8 replaced. Raises CannotBe for a file that cannot be opened.
    """
    try:
        with ExitStack() as stack:
            raw = sys.stdin.buffer if path == STANDARD_INPUT else stack.enter_context(Path(path).open("rb"))
            decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
            for piece in _unpacked(raw):
                yield decoder.decode(piece)
    except OSError as error:
        raise CannotBe(f"{path}: {error.strerror or error}") from None


def _unpacked(raw: BinaryIO) -> Iterator[bytes]:
    """The bytes of a file, of each of the compressed streams in it one after the other, as far as they are sound."""
    piece = raw.read(PIECE)
    maker = next((maker for mark, maker in UNPACKERS if piece.startswith(mark)), None)
    if maker is None:
        yield piece
        yield from iter(lambda: raw.read(PIECE), b"")
        return
    unpacker = maker()
    while piece:
        try:
            yield from _pieces_of(unpacker, piece)
        except (zlib.error, OSError, EOFError, lzma.LZMAError):
            return
        rest = b""
        if unpacker.eof:
            rest, unpacker = unpacker.unused_data.lstrip(b"\0"), maker()
        piece = rest or raw.read(PIECE)


def _pieces_of(unpacker: Any, packed: bytes) -> Iterator[bytes]:
    """What some packed bytes hold, never more than a piece at a time: a file of zeros unpacks to a thousand times."""
    if hasattr(unpacker, "unconsumed_tail"):
        while packed and not unpacker.eof:
            yield unpacker.decompress(packed, PIECE)
            packed = unpacker.unconsumed_tail
        return
    yield unpacker.decompress(packed, PIECE)
    while not unpacker.eof and not unpacker.needs_input:
        yield unpacker.decompress(b"", PIECE)

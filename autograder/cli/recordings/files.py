"""The files that a command's words name: files, standard input, or folders with a file a rank."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...reading.held_file import HeldFile
from ...reading.reading_error import ReadingError
from ..input_files import STANDARD_INPUT
from ..plan import CannotBe

__all__ = ["named_files", "text_pieces"]

MOST = 20_000  # files of a folder


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
    held = HeldFile(path, lambda: sys.stdin.buffer) if path == STANDARD_INPUT else HeldFile.of_path(path, Path(path))
    try:
        yield from held.texts()
    except OSError as error:
        raise CannotBe(f"{path}: {error.strerror or error}") from None
    except ReadingError as error:
        raise CannotBe(str(error)) from None

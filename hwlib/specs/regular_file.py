"""Files that somebody names: only regular ones are opened, of a bounded size."""

import os
import stat
from pathlib import Path

from hwlib.specs.table import SpecError

MOST_BYTES = 4 << 20  # of a configuration or the description of a cluster: the largest published have some 100 kB


def regular_text(path: str | Path, encoding: str, expected: str, most: int = MOST_BYTES) -> str:
    """The text of a file. Raises SpecError, which says what was `expected`, for what is missing, no regular file (a
    folder, a device, a pipe, a terminal: they may never end, or be what somebody else reads), too large or no text."""
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for its writer
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}; {expected}") from None
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise SpecError(f"{path}: not a regular file; {expected}")
        with os.fdopen(opened, "rb", closefd=False) as file:
            content = file.read(most + 1)
    finally:
        os.close(opened)
    if len(content) > most:
        raise SpecError(f"{path}: over {most:,} bytes; {expected}")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise SpecError(f"{path}: {expected}; not a text in UTF-8") from None

"""What the commands that read somebody's file share: a path or standard input, compressed or not, and exit statuses.

A reader's command (`bandwidth`, `topo`, `trace`, `hang`, `explain-run`) ends with one of three statuses, and takes
`-` for standard input. What cannot be read ends in one sentence, see `CannotBe`.
"""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hwlib.units import MiB

from .plan import CannotBe

FINE, FINDING, UNREADABLE = 0, 1, 2  # the exit statuses of every command that reads a file

STANDARD_INPUT = "-"
OPENERS = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
LIMIT = 512 * MiB  # bytes of a log, once unpacked: more is no log that was pasted
SMALL, RATIO = (
    64 * MiB,
    200,
)  # bytes, and times its size: more than both is unpacked of no log, but of one line repeated


def input_bytes(path: str | Path, limit: float = LIMIT) -> bytes:
    """The bytes of a file or of standard input ("-"), unpacked if they are gzip, bzip2 or xz, whatever the name says.

    Raises CannotBe for a file that is missing, a folder, cut inside its compression or of more than `limit` bytes.
    """
    name = "standard input" if str(path) == STANDARD_INPUT else str(path)
    try:
        if name == "standard input":
            packed = sys.stdin.buffer.read(int(limit) + 1)
        else:
            with Path(path).open("rb") as file:
                packed = file.read(int(limit) + 1)  # a device may never end
    except OSError as error:
        raise CannotBe(f"{name}: {error.strerror or error}") from None
    for mark, opened in OPENERS:
        if packed.startswith(mark):
            packed = _unpacked(name, opened, packed, limit)
    if len(packed) > limit:
        raise CannotBe(f"{name}: over {limit:,.0f} bytes; no more are read")
    return packed


def input_text(path: str | Path, limit: float = LIMIT) -> str:
    """The text of a file or of standard input, see `input_bytes`; UTF-16 by its mark, else UTF-8 with what is not
    UTF-8 replaced.
    """
    data = input_bytes(path, limit)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", errors="replace")
    return data.decode("utf-8-sig", errors="replace")


def _unpacked(name: str, opened: Callable[..., Any], packed: bytes, limit: float) -> bytes:
    plausible = int(min(limit, max(SMALL, RATIO * len(packed))))
    try:
        with opened(io.BytesIO(packed)) as stream:
            data = stream.read(plausible + 1)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise CannotBe(f"{name}: the compressed data is damaged or cut: {error}") from None
    if plausible < limit and len(data) > plausible:
        raise CannotBe(
            f"{name}: {len(packed):,} bytes that unpack to more than {plausible:,}; a log of at most {RATIO} times its "
            "compressed size was expected"
        )
    return data

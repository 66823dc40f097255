"""What an archive of submissions holds: a zip or a folder that others have filled, so that nothing in it is trusted.

Nothing is unpacked here. A member that is not a plain file under a plain name is refused, with a reason; the others
are read one at a time, up to the size of the largest notebook. A zip that somebody has handed in is as a folder of its
name, with what it holds; a zip within that one is a file.
"""

import io
import os
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO

from ...book.course_error import CourseError
from ...grading.restore import MAX_BYTES
from ..submissions.submission_folders import KINDS, printable

MAX_MEMBERS, MAX_TOTAL, MAX_DEPTH, MAX_NAME = 20_000, 16 << 30, 20, 255
MAX_INSIDE = 1_000  # files of a zip that one learner has handed in
SMALL, DENSEST = 1 << 20, 50  # bytes up to which a zip may be packed anyhow, and how often its size it is beyond, which
# one that holds files is hardly at all: each of megabytes of nothing takes a fifth of a second
ENTRY = b"PK\x01\x02"  # begins what a zip's directory says of a file
UTF8 = 0x800  # the flag of a zip's member whose name is in UTF-8


class Refused(ValueError):
    """A member, or all that one learner has in an archive, is not taken; the message says why."""


@dataclass(frozen=True)
class Member:
    """A file of an archive: where it stands in it, when it was put there (None: unknown), and how it is read."""

    path: tuple[str, ...]
    when: datetime | None
    _read: Callable[[], bytes] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Its path, as it is written."""
        return "/".join(self.path)

    def read(self) -> bytes:
        """What is in it; Refused where that cannot be unpacked, or is larger than any notebook."""
        content = self._read()
        if len(content) > MAX_BYTES:
            raise Refused(f"{self.name}: more than {MAX_BYTES:,} bytes, the most that a notebook may have")
        return content


@dataclass
class Contents:
    """The members that may be read, in the archive's order, and a line for each that was refused."""

    members: list[Member] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@contextmanager
def opened(source: Path) -> Iterator[Contents]:
    """The contents of a zip or of a folder; CourseError where it is neither, or is beyond every limit."""
    if source.is_dir():
        yield _with_zips(_of_folder(source))
        return
    try:
        archive = zipfile.ZipFile(source)
    except UnicodeDecodeError:
        raise CourseError(f"{source}: a name in it claims to be UTF-8 and is not; make the zip anew") from None
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise CourseError(f"{source}: {error}; a zip file, or a folder, of submissions was expected") from None
    with archive:
        yield _with_zips(_of_zip(source, archive))


def _of_zip(source: Path, archive: zipfile.ZipFile) -> Contents:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    _check_limits(source, len(infos), sum(info.file_size for info in infos))
    return _listed(infos, lambda info: partial(_unpacked, archive, info))


def _listed(
    infos: Sequence[zipfile.ZipInfo],
    reader: Callable[[zipfile.ZipInfo], Callable[[], bytes]],
    around: Member | None = None,
) -> Contents:
    """The files of a zip, or of one that is the member `around` of an archive."""
    made, times = Contents(), Counter(map(_separated, infos))
    outside = around.path if around else ()
    for info in infos:
        try:
            if times[_separated(info)] > 1:
                raise Refused(f"{printable(info.filename)}: {times[_separated(info)]} members have this name")
            _check_kind(info)
            _check_density(info)
            path = (*outside, *_plain_path(_name(info)))
        except Refused as error:
            made.refused.append(f"{around.name}: {error}" if around else str(error))
        else:
            made.members.append(Member(path, _time(info), reader(info)))
    made.refused = list(dict.fromkeys(made.refused))
    return made


def _with_zips(made: Contents) -> Contents:
    """The contents, where each zip that was handed in is a folder of what it holds."""
    every = Contents(refused=list(made.refused))
    places = _places(made.members)
    for member in made.members:
        inside = Contents([member])
        if _is_zip(member):
            try:
                inside = _inside(member, places[member.path])
            except Refused as error:
                inside.refused.append(str(error))
        every.members += inside.members
        every.refused += inside.refused
    return every


def _is_zip(member: Member) -> bool:
    return member.path[-1].casefold().endswith(".zip")


def _places(members: Sequence[Member]) -> dict[tuple[str, ...], int]:
    """How many files each zip may bring into the archive. Those with the fewest come first, so that whoever hands in
    thousands takes no place from others."""
    left = MAX_MEMBERS - len(members)
    counts = {member.path: _entries(member) for member in members if _is_zip(member)}
    places = {}
    for path in sorted(counts, key=lambda path: counts[path]):
        places[path] = min(left, MAX_INSIDE)
        if counts[path] <= places[path]:
            left -= counts[path]
    return places


def _entries(member: Member) -> int:
    """How many files a zip in an archive may hold, by the directory's own marks; 0 for what cannot be read."""
    try:
        return member.read().count(ENTRY)
    except Refused:
        return 0


def _inside(member: Member, most: int) -> Contents:
    """What a zip in an archive holds; Refused where it is none, or has more than `most` files. They are counted before
    zipfile makes an object of each."""
    content = member.read()
    if (count := content.count(ENTRY)) > most:
        raise Refused(f"{member.name}: {count:,} files in it; at most {most:,} were expected")
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (OSError, zipfile.BadZipFile, ValueError) as error:
        raise Refused(f"{member.name}: {error or type(error).__name__}; a zip file was expected") from None
    infos = [info for info in archive.infolist() if not info.is_dir()]
    return _listed(infos, lambda info: partial(_unpacked_inside, member, info), member)


def _unpacked_inside(member: Member, info: zipfile.ZipInfo) -> bytes:
    """The file of a zip in an archive, which is read anew: of a class, not all are held at once."""
    with zipfile.ZipFile(io.BytesIO(member.read())) as archive:
        return _unpacked(archive, info)


def _check_limits(source: Path, members: int, size: int) -> None:
    if members > MAX_MEMBERS or size > MAX_TOTAL:
        raise CourseError(
            f"{source}: {members:,} files of {size:,} bytes together; submissions of a class were expected, at most "
            f"{MAX_MEMBERS:,} files of {MAX_TOTAL:,} bytes"
        )


def _check_kind(info: zipfile.ZipInfo) -> None:
    name, kind = printable(info.filename), stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise Refused(f"{name}: a {KINDS.get(kind, 'special file')}; a file was expected")
    if info.flag_bits & 1:
        raise Refused(f"{name}: encrypted; make the zip without a password")


def _check_density(info: zipfile.ZipInfo) -> None:
    if info.filename.casefold().endswith(".zip") and info.file_size > SMALL + DENSEST * info.compress_size:
        name, size = printable(info.filename), f"{info.compress_size:,} bytes that unpack to {info.file_size:,}"
        raise Refused(f"{name}: {size}; a zip file, which is packed already, was expected")


def _name(info: zipfile.ZipInfo) -> str:
    """A member's name: one without the flag for UTF-8 is read as such all the same, as most programs mean it."""
    if "\0" in info.orig_filename:
        raise Refused(f"{printable(info.orig_filename)}: a name with a NUL in it")
    name = _separated(info)
    if info.flag_bits & UTF8 or name.isascii():
        return name
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        raise Refused(f"{printable(info.filename)}: the name is not UTF-8") from None


def _separated(info: zipfile.ZipInfo) -> str:
    """A member's name as it was meant: programs for Windows may write its own separators, in all of a name."""
    return info.filename if "/" in info.filename else info.filename.replace("\\", "/")


def _plain_path(name: str) -> tuple[str, ...]:
    parts = tuple(name.split("/"))
    if not name.isprintable():
        raise Refused(f"{printable(name)}: a name with control characters")
    if "\\" in name:
        raise Refused(f"{printable(name)}: a name with a backslash beside slashes")
    if name.startswith("/") or ":" in parts[0][1:2] or {"", ".", ".."} & set(parts):
        raise Refused(f"{printable(name)}: the name leads out of the archive")
    if len(parts) > MAX_DEPTH or max(map(len, parts)) > MAX_NAME:
        raise Refused(f"{printable(name)}: the name is too long, or lies too deep")
    return parts


def _time(info: zipfile.ZipInfo) -> datetime | None:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return None


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as file:
            return _start(file)
    except Exception as error:  # each compression has errors of its own for what is damaged
        raise Refused(f"{printable(info.filename)}: cannot be unpacked: {error or type(error).__name__}") from None


def _of_folder(source: Path) -> Contents:
    made, size = Contents(), 0
    waiting: list[tuple[Path, tuple[str, ...]]] = [(source, ())]
    while waiting:
        folder, inside = waiting.pop()
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            made.refused.append(f"{printable(str(folder))}: {error.strerror}")
            continue
        for entry in entries:
            about, path = entry.stat(follow_symlinks=False), (*inside, entry.name)
            try:
                if (kind := KINDS.get(stat.S_IFMT(about.st_mode))) is not None:
                    raise Refused(f"{printable('/'.join(path))}: a {kind}; a file was expected")
                _plain_path("/".join(path))
            except Refused as error:
                made.refused.append(str(error))
                continue
            if stat.S_ISDIR(about.st_mode):
                waiting.append((Path(entry.path), path))
                continue
            size += about.st_size
            when = datetime.fromtimestamp(about.st_mtime)
            made.members.append(Member(path, when, partial(_of_file, Path(entry.path))))
            _check_limits(source, len(made.members), size)
    made.members.sort(key=lambda member: member.path)
    return made


def _of_file(path: Path) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return _start(file)
    except OSError as error:
        raise Refused(f"{printable(str(path))}: {error.strerror}") from None


def _start(file: IO[bytes]) -> bytes:
    return file.read(MAX_BYTES + 1)

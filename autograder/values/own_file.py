"""Files that this package wrote itself, read as what anybody may have changed since.

A kill, a full disk, an editor or another person may have left anything in a file's place. Whatever it is, the error
names the file, says what is wrong with it and what to do without it; and the file stays as it is.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from .own_folder import OWN, opened

MOST = 512 << 20  # bytes of a file
DEEPEST = 200  # levels of lists and objects: more than anything of ours has, and less than what Python can walk
SURROGATE = "\\ud"  # how JSON begins half a character, which no file can hold
Read = TypeVar("Read")


class BrokenFile(ValueError):
    """A file of ours cannot be read; the message names it, and says what to do without it."""


def text_of(path: Path, remedy: str, error: type[ValueError] = BrokenFile) -> str:
    """The text of a file. `error` where it is none, with the `remedy` as the end of its message; FileNotFoundError
    where nothing is there."""
    try:
        return bytes_of(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{path}: no such file") from None
    except UnicodeDecodeError as problem:
        raise broken(path, f"not text in UTF-8, from byte {problem.start:,} on", remedy, error) from None
    except OSError as problem:
        raise broken(path, problem.strerror or str(problem), remedy, error) from None


def bytes_of(path: Path) -> bytes:
    """What a plain file holds, without waiting for a pipe; OSError for anything else, and for what is too large."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(opened(path, flags) if OWN in path.parts else os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(None, "neither a file nor a folder")
        if about.st_size > MOST:
            raise OSError(None, f"{about.st_size:,} bytes, where at most {MOST:,} were expected")
        return file.read()


def json_of(
    path: Path,
    remedy: str,
    read: Callable[[Any], Read] = lambda data: data,
    error: type[ValueError] = BrokenFile,
) -> Read:
    """What a file of JSON holds, as `read` takes it apart; `error` as of `text_of`, also for what `read` raises of
    values that are not as it expects them."""
    return parsed(path, text_of(path, remedy, error), remedy, read, error)


def parsed(
    path: Path,
    text: str,
    remedy: str,
    read: Callable[[Any], Read] = lambda data: data,
    error: type[ValueError] = BrokenFile,
) -> Read:
    """What a text of JSON from this file holds, as of `json_of`."""
    try:
        data = loaded(text)
    except ValueError as problem:
        raise broken(path, str(problem), remedy, error) from None
    try:
        return read(data)
    except error as problem:
        if str(path) in str(problem):
            raise
        raise broken(path, _first_line(problem), remedy, error) from None
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as problem:
        what = f"not what gpubook wrote ({type(problem).__name__}: {_first_line(problem)})"
        raise broken(path, what, remedy, error) from None


def loaded(text: str | bytes) -> Any:
    """What a text of JSON holds. ValueError, which says what is wrong with it: also where it has half a character,
    which no file can hold, and where it is nested deeper than Python can walk."""
    try:
        data = json.loads(text)
        plain = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if SURROGATE in plain.lower():
            json.dumps(data, ensure_ascii=False).encode()
        if not _is_shallow(data):
            raise RecursionError
    except RecursionError:
        raise ValueError("nested deeper than any file of gpubook's") from None
    except UnicodeError:
        raise ValueError("half a character in it, or not UTF-8") from None
    except ValueError as problem:
        raise ValueError(f"not JSON ({_first_line(problem)})") from None
    return data


def broken(path: Path, problem: str, remedy: str, error: type[ValueError] = BrokenFile) -> ValueError:
    """The error of a file that cannot be read."""
    return error(f"{path}: {problem}; {remedy}")


def _is_shallow(data: Any) -> bool:
    level = [data]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return True
    return False


def _inside(value: Any) -> list[Any]:
    """The lists and objects right inside of a value."""
    if not isinstance(value, (dict, list)):
        return []
    values = value.values() if isinstance(value, dict) else value
    return [inner for inner in values if type(inner) in (dict, list)]


def _first_line(problem: Exception) -> str:
    lines = str(problem).splitlines()
    return lines[0][:200] if lines else ""

"""The files of notebooks: read and checked, and written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from ..values import own_file
from ..values.atomic_write import naming
from ..values.own_folder import OWN, UNFOLLOWED, LinkInTheWay, folder_of

Notebook = dict[str, Any]


class UnreadableNotebook(ValueError):
    """A file is not a notebook; the message says what it is instead."""


def bytes_of(path: Path) -> bytes | None:
    """What a plain file holds, which a link may lead to; None where there is none, and OSError, which names it, for a
    pipe, a device or a folder."""
    try:
        return own_file.bytes_of(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except LinkInTheWay:
        raise
    except OSError as error:
        if error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise OSError(f"{path}: {error.strerror}; a file was expected there") from None


def notebook_of(data: bytes) -> dict[str, Any]:
    """The notebook in a file. UnreadableNotebook where it is none that can be read."""
    try:
        notebook = own_file.loaded(data)
    except ValueError as error:
        raise UnreadableNotebook(f"is not a notebook that can be read ({error})") from None
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4:
        raise UnreadableNotebook("is not a notebook of format 4")
    cells, metadata = notebook.get("cells"), notebook.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(cells, list) or not all(map(_is_cell, cells)):
        raise UnreadableNotebook("is not a notebook that can be read (its cells are damaged)")
    return notebook


def _is_cell(cell: Any) -> bool:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return False
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return (
        all(isinstance(line, str) for line in lines)
        and isinstance(cell.get("metadata"), dict)
        and isinstance(cell.get("attachments", {}), dict)
        and isinstance(cell.get("id", ""), str)
    )


def written(notebook: dict[str, Any]) -> bytes:
    """A notebook's file, as Jupyter writes it."""
    return (json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def write(path: Path, data: bytes, *, safely: bool = False) -> None:
    """Write a file whole or not at all; one that is there keeps its rights, and a link its place, but one among our own
    files is refused. `safely`: it is on the disk when this returns, which takes time."""
    if OWN not in path.parts:
        path = path.resolve()
    with naming(path), folder_of(path, make=True) as (folder, name):
        beside = os.path.join(os.path.dirname(name), f".{path.name}.new")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=folder)  # what a kill left, or a link that somebody put there
        try:
            handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | UNFOLLOWED, 0o666, dir_fd=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if safely:
                    file.flush()
                    os.fsync(file.fileno())
            with contextlib.suppress(FileNotFoundError):
                os.chmod(beside, os.stat(name, dir_fd=folder).st_mode & 0o7777, dir_fd=folder)
            os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside, dir_fd=folder)
            raise

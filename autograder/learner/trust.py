"""Notebooks that JupyterLab trusts stay trusted when `gpubook start` writes into them.

It shows less of a notebook's outputs where the file is not the one that was last saved there. What is put in comes from
the installed book, so a file that was trusted is so again, and so is a new one, or one that had no outputs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode


def keep(before: Mapping[Path, bytes | None]) -> None:
    """Sign the notebooks that were written, of which these were the contents before (None: none), if those were
    trusted."""
    notebooks = {path: old for path, old in before.items() if path.suffix == ".ipynb"}
    if not notebooks:
        return
    from nbformat.sign import NotebookNotary

    with contextlib.suppress(OSError), NotebookNotary() as notary:  # a home that cannot be written to
        for path, old in notebooks.items():
            was, now = _read(old), _read(path.read_bytes())
            if now is not None and (was is None or not _has_outputs(was) or notary.check_signature(was)):
                notary.sign(now)


def _read(data: bytes | None) -> NotebookNode | None:
    """A notebook as Jupyter's server reads it; not validated, which takes most of the time. None for no notebook: a
    fresh copy takes the place of a broken one."""
    from nbformat.v4.nbjson import reads

    try:
        return None if data is None else reads(data.decode())
    except (ValueError, RecursionError):
        return None


def _has_outputs(notebook: NotebookNode) -> bool:
    return any(cell.get("outputs") for cell in notebook.cells)

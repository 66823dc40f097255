"""What a study folder's notebooks show before anything runs, and what the book's editions know nothing of.

The outputs come from the archives of a build of the book, and only into cells that hold the book's code and have not
been run; each is marked, and the cell's next run replaces it. Above the first cell stands the way back to the start
page. All of it is taken out again before a notebook is compared or merged, so it is never a learner's.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..values.book_root import book_root
from ..values.digest import digest
from .edition_cells import Cell, mark_of, text
from .notebook_file import Notebook

MARK = {"gpubook": "book"}  # in the metadata of an output: a build of the book made it
MODELS = "book-"  # how the names of its widgets' models begin
WIDGETS = "application/vnd.jupyter.widget-state+json"
# As autograder.book.outputs.prerun_outputs writes them.
SVG, HTML, CODED = "image/svg+xml", "text/html", "{svg in base64}"
SUFFIX, KEY_LENGTH = ".json.gz", 20  # of an archive's name
KEY = "shown"  # in a notebook's metadata: which archive was put in
START = "00-start.ipynb"
BACK = "start-page"  # the id of the cell that leads there
LINK = f"[All chapters, and what you have done](../{START})"


@dataclass(frozen=True)
class Shown:
    """What a chapter's notebook is to show: the outputs of an archive by the ids of cells, with the models of widgets
    among them. No more than the way back, where no archive was built."""

    archive: Path | None = None

    @property
    def key(self) -> str:
        """What tells this archive from another build's: the end of its name."""
        return self.archive.name.removesuffix(SUFFIX)[-KEY_LENGTH:] if self.archive else ""

    def is_in(self, notebook: bytes) -> bool:
        """Whether this was put into a notebook's file before; any other, where there is no archive."""
        return f'"{KEY}": "{self.key}'.encode() in notebook

    @cached_property
    def _data(self) -> dict[str, Any]:
        try:
            return json.loads(gzip.decompress(self.archive.read_bytes())) if self.archive else {}
        except (OSError, ValueError, EOFError):
            return {}

    def put(self, notebook: Notebook, edition: Notebook) -> Notebook:
        """A notebook of this edition, with what there is for the cells that are as the edition has them."""
        own = dict(notebook["metadata"].get("gpubook", {}))
        if "chapter" not in own:
            return notebook
        sources = {cell.get("id"): text(cell) for cell in edition["cells"] if cell["cell_type"] == "code"}
        fits = self._data.get("code") == digest(*(f"{name}\n{source}" for name, source in sources.items()))
        shown = self._data if fits else {"outputs": {}, "models": {}}  # notebooks of other code get none
        cells = [_back()]
        models: dict[str, Any] = {}
        for cell in notebook["cells"]:
            outputs = shown["outputs"].get(cell.get("id"))
            if outputs and _is_fresh(cell) and text(cell) == sources.get(cell["id"]):
                cells.append({**cell, "outputs": [_marked(output) for output in outputs]})
                own_models = f"{MODELS}{cell['id']}-"
                models |= {name: model for name, model in shown["models"].items() if name.startswith(own_models)}
            else:
                cells.append(cell)
        metadata = {**notebook["metadata"], "gpubook": {**own, KEY: self.key}}
        if models:
            before = metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {})
            state = {"state": {**before, **models}, "version_major": 2, "version_minor": 0}
            metadata["widgets"] = {**metadata.get("widgets", {}), WIDGETS: state}
        return {**notebook, "metadata": metadata, "cells": cells}

    def taken_out(self, notebook: Notebook) -> Notebook:
        """The notebook without anything that was put in; itself where nothing was."""
        own = notebook["metadata"].get("gpubook")
        if not isinstance(own, dict) or KEY not in own:
            return notebook
        cells = [_without(cell) for cell in notebook["cells"] if cell.get("id") != BACK]
        metadata = {**notebook["metadata"], "gpubook": {key: value for key, value in own.items() if key != KEY}}
        widgets = dict(metadata.pop("widgets", None) or {})
        state = widgets.pop(WIDGETS, {})
        others = {name: model for name, model in state.get("state", {}).items() if not name.startswith(MODELS)}
        if others:
            widgets[WIDGETS] = {**state, "state": others}
        return {**notebook, "metadata": metadata | ({"widgets": widgets} if widgets else {}), "cells": cells}


def shown_in(name: str) -> Shown:
    """What a chapter's notebook is to show, by the last build of the book or what the wheel brings."""
    return Shown(next(folder().glob(f"{name}-{'?' * KEY_LENGTH}{SUFFIX}"), None))


def folder() -> Path:
    """Where the archives are: beside the book's folders in a wheel, in .build in a checkout."""
    root = book_root()
    return root / ("shown" if root.name == "_book" else ".build/shown")


def _back() -> Cell:
    """The cell that leads to the start page; it is made anew, and so not to be written into."""
    return {
        "cell_type": "markdown",
        "id": BACK,
        "metadata": {"editable": False, "deletable": False},
        "source": [LINK],
    }


def _is_fresh(cell: Cell) -> bool:
    """Whether a cell of the book's own text has not been run."""
    ran = cell.get("outputs") or cell.get("execution_count") is not None
    return cell["cell_type"] == "code" and not ran and "part" not in mark_of(cell)


def _marked(output: Mapping[str, Any]) -> dict[str, Any]:
    """An output of the archive as a cell has it. Of a figure JupyterLab shows the HTML, which follows its theme."""
    data = dict(output["data"])
    if CODED in data.get(HTML, ""):
        data[HTML] = data[HTML].replace(CODED, b64encode(data.pop(SVG).encode()).decode())
    return {**output, "data": data, "metadata": {**output["metadata"], **MARK}}


def _without(cell: Cell) -> Cell:
    outputs = cell.get("outputs")
    ours = isinstance(outputs, list) and outputs and all(map(_is_ours, outputs))
    return {**cell, "outputs": [], "execution_count": None} if ours else cell


def _is_ours(output: Any) -> bool:
    return isinstance(output, dict) and MARK.items() <= (output.get("metadata") or {}).items()

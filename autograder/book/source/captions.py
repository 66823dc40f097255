"""What stands below a figure: the options `:caption:` and `:alt:` of a code cell, in the notebook and on the page.

The notebook has a Markdown cell with the caption under the figure; on the page it is the figure's own, and the
alternative text is its name for one who cannot see it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .notebook import ChapterError, ChapterSource

if TYPE_CHECKING:
    from nbformat import NotebookNode

PART = "caption"
FIGURE = re.compile(r"^(?:plots|widgets)\.\w+(?=\()", re.M)  # the call that draws one


def add_captions(nb: NotebookNode, source: ChapterSource | None = None, chapter: str = "") -> None:
    """Put a caption cell under each cell that has one, and the alternative text into `metadata.alt`.

    `chapter` ("03-rooflines") numbers the figures 3.1, 3.2, ... ChapterError for one of the two without the other, and
    for either where it does not belong.
    """
    from nbformat.v4 import new_markdown_cell

    number, count = chapter.split("-")[0].lstrip("0"), 0
    cells = []
    for cell in nb.cells:
        cells.append(cell)
        caption, alt = (_option(cell, name, source) for name in ("caption", "alt"))
        if not caption and not alt:
            continue
        where = source.at(caption or alt) if source else f"cell {cell.id}"
        if cell.cell_type != "code" or "gpubook" in cell.metadata:
            raise ChapterError(f"{where}: this caption has no figure; a code cell that draws one was expected")
        if not caption or not alt:
            has, lacks = ("caption", "alt") if caption else ("alt", "caption")
            raise ChapterError(f"{where}: a figure with :{has}: but without :{lacks}:; both were expected")
        count += 1
        label = f"{number}.{count}" if number.isdigit() else str(count)
        cell.metadata["alt"] = alt
        text = f"**Figure {label}.** {caption}"
        cells.append(new_markdown_cell(text, id=caption_id(cell), metadata={"gpubook": {"part": PART}}))
    nb.cells = cells


def _option(cell: NotebookNode, name: str, source: ChapterSource | None) -> str:
    value = cell.metadata.pop(name, None)
    if value is None or isinstance(value, str):
        return " ".join((value or "").split())
    where = source.at(f":{name}:") if source else f"cell {cell.id}"
    raise ChapterError(f"{where}: :{name}: is {value!r}; a text was expected (put it between quotes)")


def caption_id(cell: NotebookNode) -> str:
    """The id of the caption cell of a figure's cell."""
    return f"{cell.id}-caption"


def alt_text(cell: NotebookNode) -> str:
    """What the figure of a cell shows, as alternative text; "" if none is given."""
    return str(cell.metadata.get("alt", ""))


def image_options(alt: str, caption: str) -> dict[str, Any]:
    """What MyST-NB is told of a cell with a picture: its alternative text and its caption."""
    return {"image": {"alt": alt}} | ({"figure": {"caption": caption}} if caption else {})

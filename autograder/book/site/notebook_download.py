"""The notebook that a page offers begins with what to install: who downloads it may have nothing of the book yet."""

from __future__ import annotations

from pathlib import Path

ID = "install"
"""The id of that cell, which no notebook of chapters/ has."""
TEXT = """\
**To work in this notebook** you need Python 3.11 or later; what the book uses comes with it, JupyterLab too:

```
pip install gpubook
```

The labs that start several ranks need PyTorch as well: `pip install "gpubook[labs]"`.
Then `jupyter lab {file}` opens this notebook, and `gpubook lab` a copy of the whole book.
Your answers are checked on your own machine."""


def add_instructions(path: Path) -> None:
    """Put the cell in front of the notebook at `path`; nothing else of it changes."""
    import nbformat
    from nbformat.v4 import new_markdown_cell

    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, new_markdown_cell(TEXT.format(file=path.name), id=ID))
    nbformat.write(notebook, path)

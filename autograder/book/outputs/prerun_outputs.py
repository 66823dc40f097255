"""The outputs of a chapter that depend on no answer and on no machine: a learner's fresh notebook shows them before
anything runs.

They come from the instructor's run, as the page's do, but of a cell that reads what an exercise asks for, that calls a
verb which knows the key, or that timed the machine there are none, nor of one that reads what such a cell gave. The
archive of a chapter is the same bytes for the same run; `autograder.learner.shown` reads it.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...values.digest import digest
from ..build_cache import contents_of, kept, key_of
from ..source.output_dependence import KEYED, DependentNames, calls, folds, given
from .executed import WIDGET_STATE, WIDGET_VIEW, joined
from .measured_cells import MEASURED

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..source.chapters import Chapter

MODEL = re.compile(r"\bIPY_MODEL_(\w+)")
SVG, HTML, CODED = "image/svg+xml", "text/html", "{svg in base64}"
SUFFIX = ".json.gz"


def keep(folder: Path, chapter: Chapter, learner: NotebookNode, ran: Path) -> Path:
    """The chapter's archive in a folder, made anew where its run, in the file `ran`, or its notebook is another."""
    code = digest(*(f"{cell.id}\n{cell.source}" for cell in learner.cells if cell.cell_type == "code"))
    own = [Path(__file__), Path(__file__).parents[1] / "source" / "output_dependence.py"]
    make = lambda path: path.write_bytes(_archive(code, chapter, learner, joined(chapter, ran)))
    return kept(folder, chapter.name, key_of(code, ran.name, *contents_of(own)), SUFFIX, make)


def _archive(code: str, chapter: Chapter, learner: NotebookNode, executed: NotebookNode) -> bytes:
    """Outputs by cell id, the widgets' models, and the digest of the `code` that gave them."""
    state = executed.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    done = {cell.id: cell for cell in executed.cells}
    outputs: dict[str, Any] = {}
    models: dict[str, Any] = {}
    for cell in _free(chapter, learner):
        found = _models(done[cell.id], state)
        names = {model: f"book-{cell.id}-{number}" for number, model in enumerate(found)}
        if made := [one for output in done[cell.id].outputs if (one := _output(output)) is not None]:
            outputs[cell.id] = _renamed(made, names)
            models.update(_renamed(found, names))
    text = json.dumps({"code": code, "outputs": outputs, "models": models}, ensure_ascii=False, sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def _free(chapter: Chapter, learner: NotebookNode) -> Iterator[NotebookNode]:
    """The cells of code whose outputs depend on no answer and no machine."""
    answered, timed = DependentNames(), DependentNames()
    for cell in learner.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "prompt":
            answered.asked(chapter.bank[own["exercise"]].answer_name, own["number"])
        if own.get("part") or cell.cell_type != "code":
            continue
        by, on = answered.ran(cell.source), timed.ran(cell.source)
        if MEASURED in cell.metadata.get("tags", []):
            for name in given(cell.source):
                timed.asked(name, "0")
        elif not (by or on or folds(cell) or KEYED & set(calls(cell.source))):
            yield cell


def _output(output: NotebookNode) -> dict[str, Any] | None:
    """An output as the archive has it; None for what was said in passing.

    What is printed becomes a text that is displayed, since a stream has no metadata to mark it by. A figure's HTML
    holds the SVG beside it, coded so that it hardly compresses: the archive has it once.
    """
    if output.output_type == "stream":
        return _displayed({"text/plain": output.text}) if output.name == "stdout" else None
    if output.output_type not in ("display_data", "execute_result"):
        return None
    data = dict(output.data)
    if WIDGET_VIEW in data:
        data = {WIDGET_VIEW: data[WIDGET_VIEW]}  # its text has an address of the run
    elif SVG in data and (coded := b64encode(data[SVG].encode()).decode()) in data.get(HTML, ""):
        data[HTML] = data[HTML].replace(coded, CODED)
    return _displayed(data, output.metadata)


def _displayed(data: dict[str, Any], metadata: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    return {"output_type": "display_data", "data": data, "metadata": dict(metadata)}


def _models(done: NotebookNode, state: Mapping[str, Any]) -> dict[str, Any]:
    """The models that a cell's outputs show, and those that these refer to."""
    views = [output["data"].get(WIDGET_VIEW) for output in done.outputs if "data" in output]
    wanted, found = [view["model_id"] for view in views if view], {}
    while wanted:
        name = wanted.pop()
        if name in state and name not in found:
            found[name] = state[name]
            wanted += MODEL.findall(json.dumps(state[name]))
    return found


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """The value with other names for models, which each run names by chance."""
    text = json.dumps(value)
    for old, new in names.items():
        text = text.replace(old, new)
    return json.loads(text)

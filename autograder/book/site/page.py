"""A chapter as its page shows it: the learner's text, the outputs of the instructor's run, exercise cards.

Everything starts from the learner's notebook, so the course edition has nothing to leak; outputs come from
the instructor's executed notebook by cell id. The open edition adds to each exercise its answer box, its
hints, its solution and its common mistakes, all folded. Live figures become self-contained HTML that
docs/_static/live.js starts.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ...declaration.bank import declared_files
from ...declaration.worked import solution_of
from ...values.inline_html import inline_html
from ..outputs.executed import WIDGET_STATE, WIDGET_VIEW
from ..outputs.measured_cells import MEASURED, MEASURED_ON
from ..render import markdown, render, script_json
from ..source.captions import FIGURE, alt_text, caption_id, image_options
from ..source.notebook import GUIDE, how_to_answer, points
from ..source.output_dependence import KEYED, DependentNames, calls, folds, line, solutions
from . import answer_box

if TYPE_CHECKING:
    from markupsafe import Markup
    from nbformat import NotebookNode

    from ...declaration.exercise import Exercise
    from ..source.chapters import Chapter

POINTER = f"*New here? [How answers are read](answers.md) says {GUIDE}.*"


class PageError(ValueError):
    """An executed chapter cannot become a page; the message names the cell and what was expected."""


def assemble(
    chapter: Chapter,
    learner: NotebookNode,
    executed: NotebookNode,
    course: bool,
    indexed: Collection[str] = (),
) -> NotebookNode:
    """The page's notebook; the course edition is built without the key. `indexed` are the names of the formulas that
    the book's index lists."""
    import nbformat

    done = {cell.id: cell for cell in executed.cells}
    if [c.id for c in learner.cells] != [c.id for c in executed.cells]:
        raise PageError(
            f"{chapter.name}: the learner's and the instructor's notebook have different cells; "
            "the same ids in the same order were expected (run `gpubook chapters`)"
        )
    state = executed.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    page = nbformat.v4.new_notebook(metadata={k: learner.metadata[k] for k in ("kernelspec", "language_info")})
    any_asked, answered = False, DependentNames()
    for cell in learner.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "prompt":
            exercise = chapter.bank[own["exercise"]]
            if exercise.answer_name != "answer":
                answered.asked(exercise.answer_name, own["number"])
            solution = "" if course else _solution(chapter, done[exercise.id])
            made = card(exercise, own["number"], solution, chapter.name, course=course, first=not any_asked)
            page.cells.append(_markdown(cell.id, made))
            any_asked = True
        elif own.get("part"):
            continue
        elif cell.cell_type == "markdown":
            page.cells += _section(cell, chapter, [] if course else page.cells)
        elif cell.cell_type == "code":
            by = answered.ran(cell.source)
            made = _code(chapter, cell, done[cell.id], state, course, by)
            page.cells.append(made)
            measured = MEASURED in cell.metadata.get("tags", [])
            where = _measured(executed.metadata.get(MEASURED_ON, "")) if measured else ""
            below = " ".join(filter(None, [where, line(by) if by and not folds(cell) else ""]))
            if below and made.get("outputs"):
                page.cells.append(_markdown(f"{cell.id}-below", _below(below)))
    if not course:
        page.cells.append(_scratch(chapter, ""))
    if any_asked and not course:
        page.cells.append(_markdown("chapter-end", f'<div data-chapter-end="{chapter.name}"></div>'))
    _add_scripts(chapter, page, indexed)
    return page


def _section(cell: NotebookNode, chapter: Chapter, before: list[NotebookNode]) -> list[NotebookNode]:
    """A cell of text; before the heading of a section, a place at which the one before it can be tried out."""
    text = _markdown(cell.id, chapter.page[cell.id])
    if not cell.source.startswith("## ") or not any(one.cell_type == "code" for one in before):
        return [text]
    return [_scratch(chapter, cell.id), text]


def _scratch(chapter: Chapter, place: str) -> NotebookNode:
    """Where exercise.js puts a cell to try something in, with the names that stand above the `place`."""
    holder = f'<div class="scratch-here" data-chapter="{chapter.name}" data-place="{place}"></div>'
    return _markdown(f"scratch-{place or 'end'}", holder)


def _add_scripts(chapter: Chapter, page: NotebookNode, indexed: Collection[str]) -> None:
    """What drag.js and provenance.js need of the numbers on the page, in a cell at its end."""
    bank = chapter.bank.path
    files = declared_files(bank) if bank else ()
    scripts = chapter.roles.live.scripts(json.dumps(page.cells), files, chapter.roles.bibliography, indexed)
    if scripts:
        page.cells.append(_markdown("numbers", scripts))


def _measured(machine: str) -> str:
    """What is said of a cell that timed the machine: the reader's own gives other numbers."""
    return f"Measured where this page was built: {machine}." if machine else "Measured."


def _below(say: str) -> str:
    """What stands below a cell's outputs, on which machine and with whose program they came.

    It is not an output of the cell, each of which would have the caption of the cell's figure.
    """
    return f'<p class="measured">{inline_html(say)}</p>'


def _solution(chapter: Chapter, cell: NotebookNode) -> str:
    """What the instructor's answer cell holds: a text as the page has it, or code."""
    return chapter.page[cell.id] if cell.cell_type == "markdown" else solution_of(cell.source)


def card(exercise: Exercise, number: str, solution: str, chapter: str, *, course: bool, first: bool = False) -> Markup:
    """An exercise as the page's Markdown: the prompt, and in the open edition the box and the folded rest.

    `solution` is code, or a model answer; `chapter` asks it. The `first` one of a page says where it is told how
    answers are read.
    """
    box = "" if course else answer_box.form(exercise, chapter)
    return render(
        "card.md.j2",
        id=exercise.id,
        kind="Prediction" if exercise.predict else "Exercise",
        number=number,
        title=inline_html(exercise.title),
        points=points(exercise),
        prompt=markdown(exercise.prompt_text().strip(), POINTER if first else ""),
        asked=_with_above(exercise, box) if box else _asked(exercise, chapter),
        folded=[] if course else [*_hints(exercise), _worked(exercise, solution)],
    )


def _with_above(exercise: Exercise, form: str) -> Markup:
    """An answer box with what its kind has to show above it; above an editor stands what to write."""
    box, how = exercise.answer.box(exercise), how_to_answer(exercise)
    above = f"{how[0].upper()}{how[1:]}." if box and box.input == "code" else ""
    return markdown(above, box.above if box else "", form)


def _asked(exercise: Exercise, chapter: str) -> Markup:
    """How to answer in the notebook, where the page has no box, and why it has none."""
    answer = exercise.answer
    stub = f"```python\n{exercise.stub()}\n```" if answer.shows_stub else ""
    notebook = f'<a href="notebooks/{chapter}/{chapter}.ipynb" download>the notebook</a>'
    where = f"{answer.elsewhere} So answer it in {notebook}:" if answer.elsewhere else "In the notebook,"
    return markdown(answer.asked_of(exercise.variant()), f"{where} {how_to_answer(exercise)}.", stub)


def _hints(exercise: Exercise) -> list[Markup]:
    many = len(exercise.hints) > 1
    return [
        folded("hint", f"Hint {i}" if many else "Hint", markdown(text))
        for i, text in enumerate(exercise.hints, start=1)
    ]


def _worked(exercise: Exercise, solution: str) -> Markup:
    worked = exercise.answer.worked(exercise, solution, exercise.variant(), with_prompt=True)
    return folded("solution", "Solution", markdown(worked, _explanation(exercise), _mistakes(exercise)))


def _explanation(exercise: Exercise) -> str:
    return exercise.fill(exercise.explain, exercise.variant())


def folded(kind: str, summary: str, body: Markup, reveals: str = "") -> Markup:
    """Markdown that a reader unfolds, or that a prediction of the exercise `reveals` unlocks."""
    return render("folded.md.j2", kind=kind, summary=summary, body=body, reveals=reveals)


def _mistakes(exercise: Exercise) -> str:
    rows, numbers = [], exercise.variant()
    for mistake in exercise.mistakes:
        value, say = exercise.answer.shown(exercise, mistake.value, numbers), exercise.fill(mistake.say, numbers)
        rows.append(f"- {value.removesuffix('.')}: {say}" if value else f"- {say}")
    return "**Common mistakes**\n\n" + "\n".join(rows) if rows else ""


def _markdown(cell_id: str, source: str) -> NotebookNode:
    from nbformat.v4 import new_markdown_cell

    return new_markdown_cell(str(source), id=cell_id)


def _code(
    chapter: Chapter, cell: NotebookNode, done: NotebookNode, state: dict[str, Any], course: bool, by: list[str]
) -> NotebookNode:
    """A cell of code with the outputs of the instructor's run, which depend on the answers to the exercises `by`."""
    import nbformat

    called = set(calls(cell.source))
    if "reveal" in called:
        return _reveal(chapter, cell, done, course)
    out = nbformat.from_dict(cell)
    out.metadata.pop("nbgrader", None)
    out.execution_count = done.execution_count
    if folds(cell):
        _fold_outputs(chapter, out, by)
    else:
        _fold(out)
    alt, caption = alt_text(out), chapter.page.get(caption_id(cell), "")
    out.metadata.pop("alt", None)
    live = _live_caption(chapter, cell, caption)
    kept_back = course and (called & KEYED or folds(cell))
    out.outputs = [] if kept_back else [_live(chapter, cell, o, state, live) for o in done.outputs]
    for data in (o["data"] for o in out.outputs if "$$" in o.get("data", {}).get("text/markdown", "")):
        data["text/markdown"] = chapter.roles.cited(data["text/markdown"].strip())
    if any(key.startswith("image/") for o in out.outputs for key in o.get("data", {})):
        alt = alt or f"The figure that this cell draws: {cell.source.strip().splitlines()[-1]}"
        out.metadata["mystnb"] = out.metadata.get("mystnb", {}) | image_options(alt, caption)
    return out


def _fold(cell: NotebookNode) -> None:
    """Fold the source of a cell that says little to a reader of the page: imports, and the call of a figure."""
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:
        return
    imports = [part for part in body if isinstance(part, ast.Import | ast.ImportFrom)]
    named = [part for part in body if isinstance(part, ast.Assign)]
    mostly = 2 * sum(map(_lines, imports)) >= sum(map(_lines, body))
    call = len(body) == 1 and isinstance(body[0], ast.Expr) and FIGURE.match(cell.source)
    if call or (imports and mostly and len(imports) + len(named) == len(body)):
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-input"]
        show = "Code of this figure" if call else "Imports and names" if named else "Imports"
        cell.metadata["mystnb"] = {"code_prompt_show": show, "code_prompt_hide": show}


def _fold_outputs(chapter: Chapter, cell: NotebookNode, by: list[str]) -> None:
    """Fold the outputs of a cell, which give away the answers to the exercises `by`."""
    if not by:
        where = chapter.source.at(cell.source.strip().splitlines()[0])
        raise PageError(f"{where}: a cell with the tag spoiler reads no function that an exercise above asks for")
    cell.metadata["tags"] = [*cell.metadata.get("tags", []), "hide-output"]
    cell.metadata["mystnb"] = dict.fromkeys(("code_prompt_show", "code_prompt_hide"), f"With {solutions(by)}")


def _lines(part: ast.stmt) -> int:
    return (part.end_lineno or part.lineno) - part.lineno + 1


def _live_caption(chapter: Chapter, cell: NotebookNode, caption: str) -> Markup:
    """A live figure's caption as HTML, which Sphinx does not read: a citation in it is the learner's link, and so is
    a chapter, to its page."""
    if "{cite" in caption:
        own = caption_id(cell)
        caption = next(c.source for c in chapter.instructor.cells if c.id == own)
    return inline_html(re.sub(r"\]\((?:\.\./[\w-]+/)?(\d\d-[\w-]+)\.ipynb", r"](\1.html", caption))


def _reveal(chapter: Chapter, cell: NotebookNode, done: NotebookNode, course: bool) -> NotebookNode:
    """What comes out, folded until the reader has predicted; the course edition says where to predict."""
    name = calls(cell.source)["reveal"]
    if name not in chapter.bank:
        raise PageError(f"{chapter.source.at('reveal(')}: reveal({name!r}) does not name an exercise of this chapter")
    if course:
        return _markdown(cell.id, "*Predict in the notebook, and the next cell there shows what comes out.*")
    exercise = chapter.bank[name]
    text = "\n\n".join(o.data["text/markdown"] for o in done.outputs if "text/markdown" in o.get("data", {}))
    result = [p for p in text.split("\n\n") if p.startswith("It comes out as")]
    value = exercise.answer.shown(exercise, exercise.solution, exercise.variant())
    compared = exercise.answer.compared(exercise, None, exercise.variant())
    came_out = [compared] if compared else result or [f"**Answer:** {value}" if value else ""]
    body = markdown(*came_out, _explanation(exercise))
    return _markdown(cell.id, folded("reveal", "What comes out", body, reveals=name))


def _live(
    chapter: Chapter, cell: NotebookNode, output: NotebookNode, state: dict[str, Any], caption: Markup
) -> NotebookNode:
    """An output as it is, or, where it is a figure that a reader can turn, as HTML for live.js."""
    from nbformat.v4 import new_output

    data = output.get("data", {})
    vega = next((v for k, v in data.items() if k.startswith("application/vnd.vegalite.")), None)
    if vega is not None:
        figure = _figure("vega", {"spec": vega}, alt_text(cell) or vega.get("description", ""), caption)
    elif WIDGET_VIEW in data:
        own = _widget(chapter, cell, state.get(data[WIDGET_VIEW]["model_id"], {}))
        figure = _figure("anywidget", own, alt_text(cell), caption)
    else:
        if "image/svg+xml" in data:  # in HTML it is for notebooks only
            data.pop("text/html", None)
        return output
    return new_output("display_data", data={"text/html": str(figure)})


def _widget(chapter: Chapter, cell: NotebookNode, record: dict[str, Any]) -> dict[str, Any]:
    state = record.get("state", {})
    if not state.get("_esm"):
        raise PageError(
            f"{chapter.source.path}: the cell {cell.source.splitlines()[-1]!r} shows a "
            f"{state.get('_model_name', 'widget')}, which is frozen without a kernel; an anywidget or a "
            "vega-lite figure was expected"
        )
    if record.get("buffers"):
        raise PageError(
            f"{chapter.source.path}: the widget of {cell.source.splitlines()[-1]!r} has binary state; "
            "JSON was expected, since the page has no kernel to send it"
        )
    return live_data(state)


def live_data(state: Mapping[str, Any]) -> dict[str, Any]:
    """What live.js needs of an anywidget's state."""
    hidden = ("layout", "tabbable", "tooltip")
    own = {k: v for k, v in state.items() if not k.startswith("_") and k not in hidden}
    return {"esm": state["_esm"], "css": state.get("_css", ""), "state": own}


def _figure(kind: str, data: dict[str, Any], label: str, caption: Markup) -> Markup:
    """A figure with what live.js needs; its controls stay reachable, so it is not an "img" to a screen reader."""
    return render("live_figure.html.j2", kind=kind, data=script_json(data), label=label, caption=caption)

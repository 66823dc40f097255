"""A chapter as its page shows it: the learner's text, the outputs of the instructor's run, exercise cards.

Everything starts from the learner's notebook, so the course edition has nothing to leak; outputs come from
the instructor's executed notebook by cell id. The open edition adds to each exercise its answer box, its
hints, its solution and its common mistakes, all folded. Live figures become self-contained HTML that
docs/_static/live.js starts.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..answers.written import Written, asked_for, rubric_markdown
from . import answerbox
from .captions import alt_text, caption_id, figcaption, image_options, labelled
from .notebook import how_to_answer, options_markdown, points, solution_of

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..declaration.exercise import Exercise
    from .chapters import Chapter

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
# What these calls show depends on the key; the course edition leaves their outputs out.
KEYED = {"check", "exercise", "given", "grade", "hint", "reveal"}


class PageError(ValueError):
    """An executed chapter cannot become a page; the message names the cell and what was expected."""


def assemble(chapter: Chapter, learner: NotebookNode, executed: NotebookNode, course: bool) -> NotebookNode:
    """The page's notebook; in the course edition nothing of it needed the key."""
    import nbformat

    done = {cell.id: cell for cell in executed.cells}
    if [c.id for c in learner.cells] != [c.id for c in executed.cells]:
        raise PageError(
            f"{chapter.name}: the learner's and the instructor's notebook have other cells; "
            "the same ids in the same order were expected (run `gpubook chapters`)"
        )
    state = executed.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    page = nbformat.v4.new_notebook(metadata={k: learner.metadata[k] for k in ("kernelspec", "language_info")})
    for cell in learner.cells:
        own = cell.metadata.get("gpubook", {})
        if own.get("part") == "prompt":
            exercise = chapter.bank[own["exercise"]]
            if course:
                code = ""
            else:
                written = exercise.kind == "Written"
                code = chapter.page[exercise.id] if written else solution_of(done[exercise.id].source)
            page.cells.append(_markdown(cell.id, card(exercise, own["number"], code, course=course)))
        elif own.get("part"):
            continue
        elif cell.cell_type == "markdown":
            page.cells.append(_markdown(cell.id, chapter.page[cell.id]))
        elif cell.cell_type == "code":
            page.cells.append(_code(chapter, cell, done[cell.id], state, course))
    return page


def card(exercise: Exercise, number: str, solution: str, *, course: bool) -> str:
    """An exercise as the page's Markdown: the prompt, and in the open edition the box and the folded rest.

    `solution` is code, or the model answer of a written exercise.
    """
    name = html.escape(exercise.id)
    title = f' <span class="exercise-name">{answerbox.inline_html(exercise.title)}</span>' if exercise.title else ""
    kind = "Prediction" if exercise.predict else "Exercise"
    head = (
        f'<div class="exercise" id="exercise-{name}">\n'
        '<p class="exercise-head" role="heading" aria-level="3">'
        f'<span class="exercise-number">{kind} {number}</span>{title} '
        f'<span class="exercise-points">{points(exercise)}</span></p>'
    )
    boxed = "" if course else answerbox.form(exercise)
    parts = [head, exercise.prompt_text().strip()]
    if boxed:
        parts.append(boxed)
    else:
        rubric = asked_for(exercise.public().get("rubric", ()))
        parts += [options_markdown(exercise), rubric, f"In the notebook, {how_to_answer(exercise)}."]
        if exercise.kind in ("Function", "Expression") or exercise.answer.in_ranks:
            parts.append(f"```python\n{exercise.stub()}\n```")
    if not course:
        parts += [
            folded("hint", f"Hint {i}" if len(exercise.hints) > 1 else "Hint", [text])
            for i, text in enumerate(exercise.hints, start=1)
        ]
        parts.append(
            folded(
                "solution",
                "Solution",
                [
                    solution if exercise.kind == "Written" else f"```python\n{solution}\n```",
                    graded_for(exercise, hidden=True),
                    value_markdown(exercise),
                    exercise.explain,
                    _mistakes(exercise),
                ],
            )
        )
    return "\n\n".join(part for part in (*parts, "</div>") if part)


def graded_for(exercise: Exercise, hidden: bool = False) -> str:
    """The rubric of a written exercise, with `hidden` only one that the prompt does not show; "" for other kinds."""
    if not isinstance(exercise.answer, Written) or (hidden and exercise.answer.criteria):
        return ""
    return f"**Points are for**\n\n{rubric_markdown(exercise.answer.rubric)}"


def folded(kind: str, summary: str, parts: list[str], data: str = "") -> str:
    """Markdown that a reader unfolds."""
    body = "\n\n".join(part for part in parts if part)
    return f'<details class="{kind}"{data}>\n<summary>{summary}</summary>\n\n{body}\n\n</details>'


def value_markdown(exercise: Exercise, given: Mapping[str, Any] | None = None) -> str:
    """The solution's value for these numbers (the book's), as it is read; "" for a function."""
    return f"**Answer:** {text}" if (text := _shown(exercise, exercise.solution, given)) else ""


def _shown(exercise: Exercise, value: Any, given: Mapping[str, Any] | None = None) -> str:
    from ..declaration.given import call_with

    if exercise.kind in ("Function", "Written") or exercise.answer.in_ranks:
        return ""
    if exercise.kind == "Expression":
        import sympy

        from ..answers import domains_from

        letters = {k: d.symbol(k) for k, d in domains_from(exercise.public()["symbols"]).items()}
        return rf"$\displaystyle {sympy.latex(call_with(value, letters))}$"
    result = call_with(value, exercise.variant() if given is None else given)
    try:
        return exercise.answer.readable(result)
    except ValueError:
        return f"{float(result):.4g}"


def _mistakes(exercise: Exercise) -> str:
    rows = []
    for mistake in exercise.mistakes:
        value, say = _shown(exercise, mistake.value), exercise.fill(mistake.say, exercise.variant())
        rows.append(f"- {value.removesuffix('.')}: {say}" if value else f"- {say}")
    return "**Common mistakes**\n\n" + "\n".join(rows) if rows else ""


def _markdown(cell_id: str, source: str) -> NotebookNode:
    from nbformat.v4 import new_markdown_cell

    return new_markdown_cell(source, id=cell_id)


def _code(
    chapter: Chapter, cell: NotebookNode, done: NotebookNode, state: dict[str, Any], course: bool
) -> NotebookNode:
    import nbformat

    called = set(_calls(cell.source))
    if "reveal" in called:
        return _reveal(chapter, cell, done, course)
    out = nbformat.from_dict(cell)
    out.metadata.pop("nbgrader", None)
    out.execution_count = done.execution_count
    alt, caption = alt_text(out), chapter.page.get(caption_id(cell), "")
    out.metadata.pop("alt", None)
    live = _figcaption(chapter, cell, caption)
    out.outputs = [] if course and called & KEYED else [_live(chapter, cell, o, state, live) for o in done.outputs]
    for data in (o["data"] for o in out.outputs if "$$" in o.get("data", {}).get("text/markdown", "")):
        data["text/markdown"] = chapter.roles.cited(data["text/markdown"].strip())
    if any(key.startswith("image/") for o in out.outputs for key in o.get("data", {})):
        alt = alt or f"The figure that this cell draws: {cell.source.strip().splitlines()[-1]}"
        out.metadata["mystnb"] = image_options(alt, caption) | out.metadata.get("mystnb", {})
    return out


def _figcaption(chapter: Chapter, cell: NotebookNode, caption: str) -> str:
    """A live figure's caption as HTML, which Sphinx does not read: a citation in it is the learner's link."""
    if "{cite" in caption:
        own = caption_id(cell)
        caption = next(c.source for c in chapter.instructor.cells if c.id == own)
    return figcaption(caption)


def _calls(source: str) -> dict[str, str]:
    """The functions that a cell calls by name, each with its first argument where that is a text."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return {ast.unparse(n.func): _text(n.args) for n in calls}


def _text(args: list[ast.expr]) -> str:
    value = args[0].value if args and isinstance(args[0], ast.Constant) else ""
    return value if isinstance(value, str) else ""


def _reveal(chapter: Chapter, cell: NotebookNode, done: NotebookNode, course: bool) -> NotebookNode:
    """What comes out, folded until the reader has predicted; the course edition says where to predict."""
    name = _calls(cell.source)["reveal"]
    if name not in chapter.bank:
        raise PageError(f"{chapter.source.at('reveal(')}: reveal({name!r}) names no exercise of this chapter")
    if course:
        return _markdown(cell.id, "*Predict in the notebook, and the next cell there shows what comes out.*")
    exercise = chapter.bank[name]
    said = "\n\n".join(o.data["text/markdown"] for o in done.outputs if "text/markdown" in o.get("data", {}))
    result = [p for p in said.split("\n\n") if p.startswith("It comes out as")]
    data = f' data-reveals="{html.escape(name)}"'
    return _markdown(
        cell.id,
        folded("reveal", "What comes out", [*(result or [value_markdown(exercise)]), exercise.explain], data),
    )


def _live(
    chapter: Chapter, cell: NotebookNode, output: NotebookNode, state: dict[str, Any], caption: str
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
        return output
    return new_output("display_data", data={"text/html": figure})


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
    hidden = ("layout", "tabbable", "tooltip")
    own = {k: v for k, v in state.items() if not k.startswith("_") and k not in hidden}
    return {"esm": state["_esm"], "css": state.get("_css", ""), "state": own}


def _figure(kind: str, data: dict[str, Any], label: str, caption: str) -> str:
    return (
        f'<figure class="live" data-live="{kind}"{labelled(label)}><script type="application/json">'
        f"{answerbox.script_json(data)}</script><noscript>This figure needs JavaScript."
        f"</noscript>{caption}</figure>"
    )

"""The calls that the page's worker makes: run a cell, check an answer, echo a text, ask for other numbers, plan, read.

Each takes one JSON text and gives one. A call never raises because of what a reader wrote.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..declaration.exercise import Exercise
from ..declaration.verdict import AnswerError, Verdict
from ..learner.attempt import as_json, echoed, is_code, judged
from ..learner.lookup import find
from ..values import encoding
from ..values.error_advice import ErrorContext, advice
from ..values.inline_html import block_html, inline_html
from ..values.numbers import Unreadable
from .chapter_names import ChapterNames, defined_names
from .on_demand import Needs

MOST_PRINTED = 20_000
MOST_TRACE = 2_000
ANSWER = "<answer>"
NOT_JUDGED = "*This is a try on one small case; Check judges it.*"


@cache
def book() -> Path:
    """The folder with chapters/, and in the open edition solutions/."""
    return Path(os.environ.get("GPUBOOK_PAGE", "/home/pyodide/book"))


@cache
def names_of(chapter: str) -> ChapterNames:
    """The namespace of a chapter, which all of its cells share."""
    cells = json.loads((book() / "cells.json").read_text(encoding="utf-8"))
    return ChapterNames([(place, source) for place, source in cells.get(chapter, [])])


def call(request: str) -> str:
    """What the worker calls: {"call": name, ...arguments} -> the result, as JSON."""
    arguments = json.loads(request)
    return json.dumps(CALLS[arguments.pop("call")](**arguments), ensure_ascii=False)


def run(chapter: str, source: str, place: str = "") -> dict[str, Any]:
    """Run a cell of a chapter: what it printed, its last value as text or HTML, and its error."""
    _enter(chapter)
    value, printed, error = _executed(chapter, source, place)
    shown = {} if error or value is None else _displayed(value)
    if not error and value is None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            shown = _tried(chapter, source, place)
        printed = (printed + out.getvalue())[-MOST_PRINTED:]
    return {"printed": printed, "error": error, **shown}


def check(chapter: str, exercise: str, entered: Any, variant: int | None = None) -> dict[str, Any]:
    """The verdict on what was entered in an answer box; where that is code, after it ran.

    `variant` asks for the numbers of that draw instead of the book's.
    """
    _enter(chapter)
    located = find(exercise)
    reply: dict[str, Any] = {"printed": "", "error": ""}
    answer = located.kind.typed(entered)
    if is_code(located):
        name = located.public["answer_name"]
        names_of(chapter).space.pop(name, None)
        _, reply["printed"], reply["error"] = _executed(chapter, str(entered), exercise)
        if reply["error"]:
            return reply
        answer = names_of(chapter).space.get(name, ...)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        verdict, message = judged(located, answer, _numbers(located.declared, variant) if located.declared else None)
    reply["printed"] = (reply["printed"] + out.getvalue())[-MOST_PRINTED:]
    fields = as_json(located, verdict)
    if verdict.kind == "predicted" and located.declared is not None:
        if variant is None:
            fields["say"] = inline_html(_unexplained(located.declared, verdict))
        fields["say"] += block_html(_compared(located.declared, answer, variant))
    return reply | {"verdict": fields, "message": message}


def echo(chapter: str, exercise: str, entered: Any) -> dict[str, Any]:
    """How a text is read while it is typed: as HTML, or why it cannot be."""
    _enter(chapter)
    return echoed(find(exercise), entered)


def variant(chapter: str, exercise: str, number: int) -> dict[str, Any]:
    """The prompt of an exercise with the numbers of another draw."""
    _enter(chapter)
    located = find(exercise)
    if located.declared is None:
        return {"error": "Other numbers need the open edition of the book."}
    numbers = _numbers(located.declared, number)
    prompt = "\n\n".join(
        filter(None, [located.declared.prompt_text(numbers), located.declared.answer.asked_of(numbers)])
    )
    return {"title": inline_html(located.declared.title), "prompt": block_html(prompt)}


def planned(page: str, asked: dict[str, str], part: str) -> dict[str, Any]:
    """The answer of a page that plans."""
    from ..planned import answered

    return dict(answered(page, asked, part))


def read(files: list[list[str]], kind: str, options: dict[str, str]) -> dict[str, Any]:
    """The answer of the page that reads: `files` are names, each with the path where its bytes lie."""
    from ..reading import HeldFile, answered

    return dict(answered([HeldFile.of_path(name, Path(path)) for name, path in files], kind, options))


CALLS: dict[str, Callable[..., dict[str, Any]]] = {
    "run": run,
    "check": check,
    "echo": echo,
    "variant": variant,
    "planned": planned,
    "read": read,
}


def _enter(chapter: str) -> None:
    os.chdir(book() / "chapters" / chapter)


def _numbers(declared: Exercise, number: int | None) -> dict[str, Any]:
    if number is None:
        return declared.variant()
    rows = declared.drawn()
    return rows[number % len(rows)]


def _tried(chapter: str, source: str, place: str) -> dict[str, str]:
    """What a function does that a card's cell has just defined, without a verdict; {} for any other cell."""
    try:
        located = find(place)
    except LookupError:
        return {}
    declared, name = located.declared, located.public["answer_name"]
    if declared is None or not is_code(located) or name not in defined_names(source):
        return {}
    try:
        answer = names_of(chapter).space.get(name)
        value = encoding.decode(encoding.encode(answer))
        declared.answer.readable(value)
        call = declared.answer.local_call(answer, declared.withholds)
        parts = declared.answer.tried(declared, value, call) if call else []
    except (Unreadable, encoding.NotEncodable, AnswerError) as error:
        parts = [str(error)]
    if not parts:
        return {}
    shown = [block_html(one) if isinstance(one, str) else one._repr_html_() for one in parts]
    return {"html": "\n".join([*shown, block_html(NOT_JUDGED)])}


def _compared(declared: Exercise, answer: Any, number: int | None) -> str:
    """A prediction beside what came out, where its kind has more to show than a value."""
    value = encoding.decode(encoding.encode(answer))
    return declared.answer.compared(declared, value, _numbers(declared, number))


def _unexplained(declared: Exercise, verdict: Verdict) -> str:
    """What a verdict on a prediction says without the explanation, which unfolds below the card."""
    return verdict.say.removesuffix(declared.fill(declared.explain, declared.variant()).strip()).rstrip()


def _executed(chapter: str, source: str, place: str) -> tuple[Any, str, str]:
    """The value of a cell's last expression, what it printed, and the error that it ended with, for the reader."""
    names, out, value, error = names_of(chapter), io.StringIO(), None, ""
    linecache.cache[ANSWER] = (len(source), None, source.splitlines(True), ANSWER)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            names.provide(source, place)
            value = _evaluated(source, names.space)
        except Needs:
            raise
        except BaseException as failure:  # KeyboardInterrupt and SystemExit too: it is a cell
            error = _told(failure, source, place)
    return value, out.getvalue()[-MOST_PRINTED:], error


def _evaluated(source: str, space: dict[str, Any]) -> Any:
    tree = ast.parse(source, ANSWER)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, ANSWER, "exec"), space)
    return eval(compile(ast.Expression(last.value), ANSWER, "eval"), space) if isinstance(last, ast.Expr) else None


def _told(failure: BaseException, source: str, place: str) -> str:
    """The traceback from the reader's own line on, and what to write instead where that is a beginner's slip."""
    trace = failure.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != ANSWER:
        trace = trace.tb_next
    lines = traceback.format_exception(type(failure), failure, trace, chain=False)
    text = "".join(lines).replace(f'File "{ANSWER}"', "Your code")[-MOST_TRACE:].strip()
    missing = getattr(failure, "name", "") if isinstance(failure, ModuleNotFoundError) else ""
    if missing in NOT_HERE:
        return f"{text}\n{missing} cannot run in a page: open this chapter's notebook in JupyterLab for it."
    hint = advice(type(failure).__name__, str(failure), source, _asked(place))
    return f"{text}\n{hint}" if hint else text


NOT_HERE = ("torch", "matplotlib", "scipy", "triton", "cloudpickle")


def _asked(place: str) -> ErrorContext:
    try:
        return ErrorContext.of(find(place).public)
    except LookupError:
        return ErrorContext.of({})


def _displayed(value: Any) -> dict[str, str]:
    """A value as a notebook shows it: its HTML, its Markdown, or its text."""
    for way, convert in (("_repr_html_", str), ("_repr_markdown_", block_html), ("_repr_latex_", inline_html)):
        shown = getattr(value, way, None)
        if callable(shown) and (text := shown()):
            return {"html": convert(text)}
    return {"value": repr(value)[:MOST_PRINTED]}

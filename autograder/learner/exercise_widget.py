"""The card of an exercise in a notebook: that of the book's pages, over the notebook's kernel.

Its front end is docs/_static/card.js behind exercise_widget.js. What is checked is judged and recorded as by `check`. A
card changes nothing in the notebook, where a cell run again would undo it unseen: it says the line for the answer cell
with which an answer counts.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

from markupsafe import Markup, escape

from ..declaration.answer import Box
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..values.book_root import book_root
from ..values.inline_html import block_html, harmless, inline_html
from ..values.mathml import with_mathml
from ..values.numbers import Unreadable
from . import cell_history, guidance, recording
from .attempt import SavedAttempt, as_json, as_typed, echoed, has_key, is_code, judged, predicted
from .card import NotebookCard
from .lookup import LocatedExercise, NotFound, assignment, find, kind_for_learner, numbers_of
from .progress import Progress
from .verbs import exercise, prompt

HERE = Path(__file__).parent
MOST_PRINTED = 20_000


def card(exercise_id: str) -> Any:
    """The exercise as a card: its question, a field for the answer, Check, Hint and Solution.

    Where there is no card, the question with how to answer it: for a text that a teacher reads, and where no widget can
    be shown.
    """
    desk = ExerciseDesk(find(exercise_id))
    try:
        if desk.box() is not None:
            return _widget()(desk)
    except (NotFound, ImportError):  # nobody's numbers; a page, which has cards of its own
        pass
    return NotebookCard(desk.text())


@dataclass(frozen=True)
class ExerciseDesk:
    """What a card shows of an exercise, and what it answers its front end."""

    found: LocatedExercise

    def text(self) -> str:
        """The question and how to answer it, in Markdown."""
        public = self.found.public
        name = public["answer_name"]
        how = f'Answer in a cell that sets `{name}`; `check("{public["id"]}", {name})` says what is right of it.'
        return f"{exercise(public['id']).text}\n\n{how if self.box() else 'Answer in the cell below the question.'}"

    def box(self) -> Box | None:
        """What is entered: code is that of a cell of the notebook. None where nothing is judged here."""
        located, public = self.found, self.found.public
        if is_code(located):
            return Box("cell")
        own = located.declared
        if own is None or public.get("variants"):  # what a box asks of an exercise
            own = cast(Exercise, SimpleNamespace(lines=public["lines"], variant=lambda: numbers_of(located)))
        return kind_for_learner(located).box(own)

    def html(self) -> str:
        """The card, with its hints, folded; the solution is asked for."""
        from ..values.templates import rendered

        located, public, box = self.found, self.found.public, self.box() or Box("cell")
        predict, points, hints = bool(public.get("predict")), public["points"], guidance.hints_of(located)
        numbers = numbers_of(located)
        form = _form(box, public, predict, len(hints))
        above = (
            f"{located.kind.asked_of(numbers)}\n\n{_sentence(located.kind.how)}" if box.input == "cell" else box.above
        )
        made = rendered(
            HERE,
            "exercise_widget.html.j2",
            kind="Prediction" if predict else "Exercise",
            title=inline_html(public.get("title", "")),
            points=f"{points:g} point{'' if points == 1 else 's'}",
            prompt=block_html(prompt(located, numbers)),
            above=block_html(above),
            form=form,
            hints=[block_html(text) for text in hints],
            solvable=located.declared is not None and assignment() is None and not predict,
        )
        return with_mathml(made)

    def entry(self) -> dict[str, Any]:
        """What is recorded of the exercise, to be shown again; nothing where the record cannot be read."""
        with contextlib.suppress(OSError, ValueError):
            entry = dict(Progress.here().entry(self.found.public["id"]))
            if "prediction" in entry:
                first = SavedAttempt(self.found, entry["prediction"]["answer"]).shown()
                say = f"Predicted: {first}. {self._then()}"
                entry["answer"] = {"verdict": as_json(self.found, Verdict(1.0, say, "recorded"))}
            if verdict := entry.get("answer", {}).get("verdict"):
                entry["answer"] = entry["answer"] | {
                    "verdict": verdict | {"say": with_mathml(harmless(verdict["say"]))}
                }
            for part in ("prediction", "answer"):
                if "source" in entry.get(part, {}):
                    entry[part] = entry[part] | {"source": self._typed(entry[part]["source"])}
            return entry
        return {}

    def _then(self) -> str:
        return f'`reveal("{self.found.public["id"]}")` shows what comes out.'

    def _typed(self, source: str) -> str:
        """What was written in a cell, or in an earlier version's record, as it would be typed into the card; "" for a
        program."""
        text = as_typed(self.found, source, None)
        try:
            self.found.kind.echo(text)
        except Unreadable:
            return "" if (box := self.box()) and box.echo else source
        return text

    def call(self, name: str, entered: Any = None) -> dict[str, Any]:
        """What the front end asks: to check or echo what was entered, for one hint more, for the solution."""
        calls: dict[str, Callable[[Any], dict[str, Any]]]
        calls = {"check": self.check, "echo": self.echo, "hint": self.hint, "solution": self.solution}
        return calls[name](entered)

    def check(self, entered: Any) -> dict[str, Any]:
        """The verdict, which is recorded; what was printed meanwhile; for an answer that may count, how it does."""
        located, name, out = self.found, self.found.public["answer_name"], io.StringIO()
        answer = _namespace().get(name, ...) if is_code(located) else located.kind.typed(entered)
        source = cell_history.source(name, answer) if is_code(located) else _as_source(entered)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            if located.public.get("predict"):
                verdict = predicted(located, answer, source, self._then())
            else:
                verdict, _ = judged(located, answer)
        if has_key(located, verdict) and not located.public.get("predict"):
            recording.remember(located.public, verdict, source)
        fields = as_json(located, verdict)
        fields["say"] = with_mathml(fields["say"])
        if not is_code(located) and (verdict.score > 0 or verdict.kind == "recorded"):
            fields["offer"] = _counts(answer)
        return {"printed": out.getvalue()[-MOST_PRINTED:], "error": "", "verdict": fields, "message": None}

    def echo(self, entered: Any) -> dict[str, Any]:
        """How a text is read."""
        return {name: with_mathml(text) for name, text in echoed(self.found, entered).items()}

    def hint(self, _: Any = None) -> dict[str, Any]:
        """One hint more is shown: it is counted."""
        guidance.next_hint(self.found)
        return {}

    def solution(self, _: Any = None) -> dict[str, Any]:
        """The solution, where `solution` would show it."""
        return {"html": with_mathml(block_html(guidance.solution(self.found, anyway=True).text))}


def _form(box: Box, public: Mapping[str, Any], predict: bool, hints: int) -> Markup:
    from ..declaration.answer_form import form

    place, variable = f"{public['id']}-{uuid4().hex[:8]}", public["answer_name"]
    return form(box, exercise=public["id"], predict=predict, hints=hints, place=place, variable=variable)


def _sentence(how: str) -> str:
    return f"{how[0].upper()}{how[1:]}."


def _as_source(entered: Any) -> str:
    """What was entered as the record has it: as card.js fills it in again."""
    return entered if isinstance(entered, str) else json.dumps(entered, ensure_ascii=False)


def _counts(answer: Any) -> str:
    """The line with which an answer counts in a course, and stands in the notebook, as HTML."""
    line = f"<code>{escape(f'answer = {answer!r}')}</code>"
    if assignment() is not None:
        return f"It counts once the answer cell has it: {line}"
    return f"It is recorded. For the notebook, and for the cells that use it, the answer cell needs the line {line}"


def _namespace() -> dict[str, Any]:
    """The names of the notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return {} if shell is None else shell.user_ns


@cache
def _widget() -> Any:
    import traitlets
    from anywidget import AnyWidget

    static = book_root() / "docs" / "_static"

    class ExerciseWidget(AnyWidget):
        _esm = "".join(
            path.read_text("utf-8") for path in (static / "markup.js", static / "card.js", HERE / "exercise_widget.js")
        )
        _css = (static / "exercise.css").read_text("utf-8") + (HERE / "exercise_widget.css").read_text("utf-8")
        html = traitlets.Unicode().tag(sync=True)
        entry = traitlets.Dict().tag(sync=True)

        def __init__(self, desk: ExerciseDesk):
            super().__init__(html=desk.html(), entry=desk.entry())
            self.desk = desk
            self.on_msg(self._answer)

        def _answer(self, _: Any, asked: Mapping[str, Any], __: Any) -> None:
            try:
                reply = {"result": self.desk.call(asked["call"], asked.get("entered"))}
            except Exception as error:  # the card says it: nobody reads a kernel's log
                reply = {"error": f"{type(error).__name__}: {error}"}
            self.send({"id": asked.get("id"), **reply})

        def _repr_mimebundle_(self, **options: Any) -> tuple[dict, dict] | None:
            if (bundle := super()._repr_mimebundle_(**options)) is None:
                return None
            text = self.desk.text()
            return {**bundle[0], "text/plain": text, "text/markdown": text}, bundle[1]

    return ExerciseWidget

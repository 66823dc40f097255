"""The page on which one question is graded over a class, and the list of all such questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ..feedback import MAX_MARKDOWN, PAGE_MARKDOWN, Renderer, illustrated, inert_markdown
from .questions import WrittenQuestion

if TYPE_CHECKING:
    from ..regrades.regrade_requests import RegradeRequest
    from .answers import HandGradedAnswer
    from .shares import GraderProgress
    from .together import SharedDecision

HERE = Path(__file__).parent
STATIC = HERE / "static"
LAZY = '<img loading="lazy"'


@dataclass(frozen=True)
class QuestionCounts:
    """A question in the list: how many answers there are, and how many of them wait."""

    question: WrittenQuestion
    answers: int
    waiting: int
    mine: int = 0  # of those that wait, the share of who reads the list


@dataclass(frozen=True)
class AssignmentOverview:
    """An assignment in the list: its questions, how far each grader is, and what is wrong with its questions."""

    name: str
    questions: Sequence[QuestionCounts]
    graders: Sequence[GraderProgress] = ()
    problem: str = ""


@dataclass(frozen=True)
class BesideAnswers:
    """What a page of answers has beside them: the graders with each one's learners, how many others wrote the same, the
    decisions that can be undone; `second`: whether it is the page of who grades a sample for the second time."""

    graders: Sequence[str] = ()
    grader_of: Mapping[str, str] = field(default_factory=dict)
    me: str = ""
    equal: Mapping[str, int] = field(default_factory=dict)
    decisions: Sequence[SharedDecision] = ()
    second: bool = False


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader

    made = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters["points"] = points
    return made


def points(value: float) -> str:
    """Points as they are read: 2.5, and 2 without a fraction."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _addresses(server: str, root: str) -> dict[str, str]:
    """Where the server has formgrader, the list of questions, and the page's style and script."""
    return {"formgrader": f"{server.rstrip('/')}/formgrader", "overview": root, "static": f"{root}/_static"}


def overview(
    server: str, root: str, asked: Sequence[AssignmentOverview], open_requests: int = 0, requests: int = 0
) -> str:
    """The written questions of every assignment, and how many requests for another look there are. `server` is the
    address of the server, `root` that of this page on it."""
    about = {"asked": asked, "open_requests": open_requests, "requests": requests}
    return _templates().get_template("overview.html.j2").render(**about, **_addresses(server, root))


def requests_page(server: str, root: str, folder: Path, rows: Sequence[tuple[str, RegradeRequest]], xsrf: str) -> str:
    """The requests for another look at a grade with their assignments, the open ones first, each with a form for the
    answer."""
    ordered = sorted(rows, key=lambda row: (not row[1].open, row[1].at))
    answers = {(name, request.number): inert_markdown(request.answer) for name, request in rows}
    template = _templates().get_template("requests.html.j2")
    return template.render(rows=ordered, answers=answers, folder=folder, xsrf=xsrf, **_addresses(server, root))


def page(
    server: str,
    root: str,
    here: str,
    question: WrittenQuestion,
    answers: Sequence[HandGradedAnswer],
    beside: BesideAnswers | None = None,
) -> str:
    """Everything about one question: what was asked, the criteria, the model answer, and each answer with its grade."""
    texts = shown_texts(answers, f"{here}/picture")
    models = {one.learner: inert_markdown(question.model_answer(one.learner)) for one in answers}
    return (
        _templates()
        .get_template("question.html.j2")
        .render(
            base=f"{here}/second" if beside and beside.second else here,
            here=here,
            beside=beside or BesideAnswers(),
            question=question,
            prompt=inert_markdown(question.prompt),
            model="" if question.has_own_numbers else inert_markdown(question.model_answer()),
            models=models if question.has_own_numbers else {},
            criteria=[
                (number, _inline(criterion), most) for number, (criterion, most) in enumerate(question.rubric, start=1)
            ],
            answers=answers,
            texts=texts,
            start=[as_state(one) for one in answers],
            **_addresses(server, root),
        )
    )


def _inline(text: str) -> str:
    """A criterion, which is a line, without the paragraph around it: it stands in a button."""
    html = inert_markdown(" ".join(text.split())).strip()
    whole = html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1
    return html[3:-4] if whole and "<a" not in html else escape(text)


def shown_texts(answers: Sequence[HandGradedAnswer], pictures: str) -> dict[str, str]:
    """Each learner's text as HTML that nothing in it can leave; the longest as they are typed once a page has had
    enough of them."""
    texts, spent = {}, 0
    for answer in sorted(answers, key=lambda answer: len(answer.text.source)):
        spent += min(len(answer.text.source), MAX_MARKDOWN) ** 2
        texts[answer.learner] = _text(answer, pictures, typed=spent > PAGE_MARKDOWN)
    return texts


def _text(answer: HandGradedAnswer, pictures: str, typed: bool) -> str:
    class Linked(Renderer):
        """Pictures are fetched as they come into view: those of a class would be too much for a page."""

        def picture(self, text: str, name: str, title: str | None = None) -> str:
            self.attached.pop(name)
            query = urlencode({"learner": answer.learner, "name": name})
            return super(Renderer, self).image(text, f"{pictures}?{query}", title).replace("<img", LAZY, 1)

    attached: Mapping[str, Mapping[str, str]] = {name: {} for name in answer.text.pictures}
    return illustrated(answer.text.source, attached, typed=typed, made=Linked)


def as_state(answer: HandGradedAnswer) -> dict[str, Any]:
    """What the page's script knows of an answer."""
    return {
        "learner": answer.learner,
        "state": answer.state,
        "score": answer.score,
        "given": answer.given,
        "comment": answer.comment,
        "revision": answer.revision,
        "text": answer.text.digest,
        "by": answer.mark.by if answer.mark and answer.given else "",
        "at": answer.mark.at if answer.mark and answer.given else "",
    }

"""The page for grading answers in words, served by the Jupyter server that serves nbgrader's formgrader.

It is a server extension: the server's own rules say who gets in. The course is formgrader's; on a server without one
there is nothing here. What is needed to answer is imported when first asked: a learner's JupyterLab loads this too.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jupyter_server.base.handlers import AuthenticatedFileHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from ...book.course_error import CourseError
from ...values.own_file import loaded

if TYPE_CHECKING:
    from .answers import Conflict, HandGradedAnswer
    from .questions import WrittenQuestion
    from .together import DecisionOutcome

ROOT, COURSE = "gpubook/by_hand", "gpubook/course"
MOST_BYTES = 1 << 20  # of a request
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'"
)  # no script but ours, whatever a learner wrote; tables of Markdown have styles


class Handler(JupyterHandler):
    """What all answers here have in common."""

    @property
    def content_security_policy(self) -> str:
        """Stricter than the server's: the page shows what learners wrote."""
        return POLICY

    def set_default_headers(self) -> None:
        """Those of the server; a link in an answer tells nobody where it was read."""
        super().set_default_headers()
        self.set_header("Referrer-Policy", "same-origin")  # the server asks for it before it gives a file
        self.set_header("Cache-Control", "no-store")

    @property
    def course(self) -> Path:
        """The folder of the course that formgrader shows."""
        formgrader = self.settings.get("nbgrader_formgrader")
        if formgrader is None:
            raise web.HTTPError(404, "nbgrader's formgrader does not run on this server")
        return Path(formgrader.coursedir.root).resolve()

    @property
    def root(self) -> str:
        return url_path_join(self.base_url, ROOT)

    def question(self, name: str, exercise: str) -> WrittenQuestion:
        """The question that an address names."""
        from .questions import question

        return question(self.course, name, exercise)

    def who(self) -> str:
        """The grader, as the server knows one."""
        user = self.current_user
        return str(getattr(user, "display_name", "") or getattr(user, "name", "") or getattr(user, "username", ""))

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """One sentence: as text where a browser asked for a page, as JSON where a script asked."""
        error = (kwargs.get("exc_info") or (None, None, None))[1]
        message = getattr(error, "log_message", None) or self._reason
        if isinstance(error, CourseError):
            status_code, message = 400, str(error)
        self.set_status(status_code)
        page = "text/html" in self.request.headers.get("Accept", "")
        self.set_header("Content-Type", "text/plain; charset=utf-8" if page else "application/json")
        self.finish(message if page else json.dumps({"message": message}))

    def log_exception(self, typ: Any, value: Any, tb: Any) -> None:
        """Nothing of what a teacher can mend, which the answer says."""
        if not isinstance(value, CourseError):
            super().log_exception(typ, value, tb)


def values_of(body: bytes, expected: str, **kinds: type) -> list[Any]:
    """The values of these names in the body of a request, each of its kind; `expected` says what they are."""
    if len(body) > MOST_BYTES:
        raise web.HTTPError(413, f"at most {MOST_BYTES:,} bytes were expected")
    try:
        content = loaded(body)  # neither deep nor with half a character, which no file can hold
        values = [content[name] for name in kinds]
    except (ValueError, LookupError, TypeError):
        raise web.HTTPError(400, f"{', '.join(kinds)} were expected, as JSON") from None
    if not all(type(value) is kind for value, kind in zip(values, kinds.values(), strict=True)):
        raise web.HTTPError(400, f"{expected} were expected")
    return values


class Overview(Handler):
    """The written questions of all assignments."""

    @web.authenticated
    def get(self) -> None:
        from ..regrades import regrade_requests
        from . import page, shares
        from .answers import answers
        from .questions import assignments, questions

        rows, folder = [], self.course
        for name in assignments(folder):
            counts, graders, problem = [], [], ""
            try:
                answered = [(question, answers(folder, question)) for question in questions(folder, name)]
                for (question, every), graders_of in zip(answered, shares.dealt(folder, name, answered), strict=True):
                    waiting = [answer.learner for answer in every if answer.waits]
                    mine = sum(graders_of.get(learner) == self.who() for learner in waiting)
                    counts.append(page.QuestionCounts(question, len(every), len(waiting), mine))
                graders = shares.progress(folder, name, answered)
            except Exception as error:  # a teacher's declarations are run: the other assignments can be graded
                problem = f"{type(error).__name__}: {error}"
            rows.append(page.AssignmentOverview(name, counts, graders, problem))
        requests = [request for _, request in regrade_requests.of_all(folder)]
        still_open = sum(request.open for request in requests)
        self.finish(page.overview(self.base_url, self.root, rows, still_open, len(requests)))


class CourseOverview(Handler):
    """Where the course stands, and what is to be done next."""

    @web.authenticated
    def get(self) -> None:
        from ..course_page import page, status

        self.finish(page.of(status.of(self.course), self.base_url, f"{self.root}/_static"))


class QuestionPage(Handler):
    """One question with all answers."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from . import alike, page, shares, together
        from .answers import answers
        from .questions import questions

        question, folder = self.question(name, exercise), self.course
        _ = self.xsrf_token  # which sets the cookie that the page's script sends back
        here = url_path_join(self.root, quote(name), quote(exercise))
        every, dealt = answers(folder, question), shares.of(folder, name)
        here_only: dict[str, list[HandGradedAnswer]] = {exercise: every}
        answered = [(one, here_only.get(one.exercise, [])) for one in questions(folder, name)] if dealt else []
        graders_of = zip(answered, shares.dealt(folder, name, answered), strict=True)
        beside = page.BesideAnswers(
            graders=dealt.graders if dealt else [],
            grader_of=next((graders for (one, _), graders in graders_of if one.exercise == exercise), {}),
            me=self.who(),
            equal=alike.equal_counts(every),
            decisions=together.decisions(folder, question),
        )
        self.finish(page.page(self.base_url, self.root, here, question, every, beside))


class SecondPage(Handler):
    """The sample of a question that is graded twice, without what the first grader gave."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from . import page
        from .second_marks import second_answers

        question = self.question(name, exercise)
        _ = self.xsrf_token
        here = url_path_join(self.root, quote(name), quote(exercise))
        every = second_answers(self.course, question)
        self.finish(page.page(self.base_url, self.root, here, question, every, page.BesideAnswers(second=True)))


class State(Handler):
    """The grades of one question as they are now."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from .answers import answers
        from .page import as_state

        every = answers(self.course, self.question(name, exercise))
        self.finish({"answers": [as_state(one) for one in every]})


class SecondState(Handler):
    """The second grades of the sample as they are now."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from .page import as_state
        from .second_marks import second_answers

        every = second_answers(self.course, self.question(name, exercise))
        self.finish({"answers": [as_state(one) for one in every]})


class Changing(Handler):
    """What an answer that changes grades has in common."""

    def changed(self) -> None:
        """Have formgrader, which keeps what it has read, read anew."""
        if (gradebook := self.settings.get("nbgrader_gradebook")) is not None:
            gradebook.db.expire_all()

    def conflict(self, conflict: Conflict) -> dict[str, Any]:
        """What the page's script is told of an answer that was changed meanwhile."""
        from .page import as_state

        now = conflict.now
        return {"by": conflict.by, "at": conflict.at, "now": as_state(now), "theirs": now.in_words}

    def _body(self) -> tuple[str, list[Any], str, str]:
        expected = "texts, and for the criteria a list,"
        kinds: dict[str, type] = {"learner": str, "given": list, "comment": str, "revision": str}
        learner, points, comment, revision = values_of(self.request.body, expected, **kinds)
        return learner, points, comment, revision


class NewGrade(Changing):
    """A grade by criterion for one answer."""

    @web.authenticated
    def put(self, name: str, exercise: str) -> None:
        from .answers import Conflict, enter
        from .page import as_state

        question = self.question(name, exercise)
        learner, points, comment, revision = self._body()
        try:
            now = enter(self.course, question, learner, points, comment, revision, self.who())
        except Conflict as conflict:
            self.set_status(409)
            self.finish(self.conflict(conflict))
            return
        self.changed()
        self.finish(as_state(now))


class SecondGrade(Changing):
    """A second grade for an answer of the sample; a comment stays the first grader's."""

    @web.authenticated
    def put(self, name: str, exercise: str) -> None:
        from .answers import Conflict
        from .page import as_state
        from .second_marks import enter

        question = self.question(name, exercise)
        learner, points, _, revision = self._body()
        try:
            now = enter(self.course, question, learner, points, revision, self.who())
        except Conflict as conflict:
            self.set_status(409)
            self.finish(self.conflict(conflict))
            return
        self.finish(as_state(now))


class AlikeAnswers(Handler):
    """The answers that are equal or nearly equal to one."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from .alike import alike
        from .answers import answers

        every, learner = answers(self.course, self.question(name, exercise)), self.get_query_argument("learner")
        of = next((answer for answer in every if answer.learner == learner), None)
        if of is None:
            raise CourseError(f"{learner!r} has no graded submission of {name}")
        rows = [
            {"learner": pair.answer.learner, "share": pair.share, "differs": pair.differs, "equal": pair.equal}
            for pair in alike(of, every)
        ]
        self.finish({"answers": rows})


class SharedGrade(Changing):
    """One decision for several answers."""

    @web.authenticated
    def put(self, name: str, exercise: str) -> None:
        from . import together

        question = self.question(name, exercise)
        expected = "revisions by learner, a list for the criteria, and a text"
        revisions, points, comment = values_of(self.request.body, expected, learners=dict, given=list, comment=str)
        if not revisions or not all(type(revision) is str for revision in revisions.values()):
            raise web.HTTPError(400, f"{expected} were expected")
        outcome = together.decide(self.course, question, revisions, points, comment, self.who())
        self.changed()
        self.finish(self.outcome(outcome))

    def outcome(self, outcome: DecisionOutcome) -> dict[str, Any]:
        """What became of it, for the page's script."""
        from .page import as_state

        states = [as_state(answer) for answer in outcome.now]
        return {"number": outcome.number, "answers": states, "refused": [self.conflict(one) for one in outcome.refused]}


class Undo(SharedGrade):
    """Takes one decision for several answers back."""

    @web.authenticated
    def put(self, name: str, exercise: str) -> None:
        from . import together

        (number,) = values_of(self.request.body, "the number of a decision", number=int)
        outcome = together.undo(self.course, self.question(name, exercise), number)
        self.changed()
        self.finish(self.outcome(outcome))


class Requests(Changing):
    """Learners' requests for another look at a grade, which are answered by a form: the page needs no script."""

    @property
    def content_security_policy(self) -> str:
        return POLICY.replace("form-action 'none'", "form-action 'self'")

    @web.authenticated
    def get(self) -> None:
        from ..regrades import regrade_requests
        from .page import requests_page

        folder = self.course
        rows = regrade_requests.of_all(folder)
        self.finish(requests_page(self.base_url, self.root, folder, rows, self.xsrf_token.decode()))

    @web.authenticated
    def post(self) -> None:
        from ..banks import checked_name
        from ..regrades import regrade_requests

        name, number, text = (self.get_body_argument(field) for field in ("name", "number", "text"))
        if not number.isdecimal():
            raise web.HTTPError(400, "the number of a request was expected")
        regrade_requests.answer(self.course, checked_name(name), int(number[:9]), text, self.who())
        self.redirect(url_path_join(self.root, "_requests"), status=303)


class Picture(Handler):
    """A picture of an answer, one of those that may be shown."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from .answers import picture

        question = self.question(name, exercise)
        mime, data = picture(self.course, question, self.get_query_argument("learner"), self.get_query_argument("name"))
        self.set_header("Content-Type", mime)
        self.finish(base64.b64decode(data))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    """Add the page to a Jupyter server."""
    base, exercise = url_path_join(server.web_app.settings["base_url"], ROOT), "/([^/]+)/([^/]+)"
    course = url_path_join(server.web_app.settings["base_url"], COURSE)
    static = {"path": str(Path(__file__).parent / "static")}
    server.web_app.add_handlers(
        ".*$",
        [
            (f"{base}/_static/(.*)", AuthenticatedFileHandler, static),
            (f"{course}/?", CourseOverview),
            (f"{base}/?", Overview),
            (f"{base}/_requests/?", Requests),
            (f"{base}{exercise}/?", QuestionPage),
            (f"{base}{exercise}/state", State),
            (f"{base}{exercise}/answer", NewGrade),
            (f"{base}{exercise}/alike", AlikeAnswers),
            (f"{base}{exercise}/together", SharedGrade),
            (f"{base}{exercise}/undo", Undo),
            (f"{base}{exercise}/second/?", SecondPage),
            (f"{base}{exercise}/second/state", SecondState),
            (f"{base}{exercise}/second/answer", SecondGrade),
            (f"{base}{exercise}/picture", Picture),
        ],
    )

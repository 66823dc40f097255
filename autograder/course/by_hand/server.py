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
    from .questions import WrittenQuestion

ROOT = "gpubook/by_hand"
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


class Overview(Handler):
    """The written questions of all assignments."""

    @web.authenticated
    def get(self) -> None:
        from . import page
        from .answers import answers
        from .questions import assignments, questions

        rows, folder = [], self.course
        for name in assignments(folder):
            counts, problem = [], ""
            try:
                for question in questions(folder, name):
                    every = answers(folder, question)
                    counts.append(page.QuestionCounts(question, len(every), sum(answer.waits for answer in every)))
            except Exception as error:  # a teacher's declarations are run: the other assignments can be graded
                problem = f"{type(error).__name__}: {error}"
            rows.append((name, counts, problem))
        self.finish(page.overview(self.base_url, self.root, rows))


class QuestionPage(Handler):
    """One question with all answers."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from . import page
        from .answers import answers

        question = self.question(name, exercise)
        _ = self.xsrf_token  # which sets the cookie that the page's script sends back
        here = url_path_join(self.root, quote(name), quote(exercise))
        self.finish(page.page(self.base_url, self.root, here, question, answers(self.course, question)))


class State(Handler):
    """The grades of one question as they are now."""

    @web.authenticated
    def get(self, name: str, exercise: str) -> None:
        from .answers import answers
        from .page import as_state

        every = answers(self.course, self.question(name, exercise))
        self.finish({"answers": [as_state(one) for one in every]})


class NewGrade(Handler):
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
            self.finish(
                {"by": conflict.by, "at": conflict.at, "now": as_state(conflict.now), "theirs": conflict.now.in_words}
            )
            return
        if (gradebook := self.settings.get("nbgrader_gradebook")) is not None:
            gradebook.db.expire_all()  # formgrader keeps what it has read
        self.finish(as_state(now))

    def _body(self) -> tuple[str, list[Any], str, str]:
        if len(self.request.body) > MOST_BYTES:
            raise web.HTTPError(413, f"at most {MOST_BYTES:,} bytes were expected")
        try:
            body = loaded(self.request.body)  # neither deep nor with half a character, which no file can hold
            learner, points, comment, revision = (body[key] for key in ("learner", "given", "comment", "revision"))
        except (ValueError, LookupError, TypeError):
            raise web.HTTPError(400, "learner, given, comment and revision were expected, as JSON") from None
        if not all(isinstance(text, str) for text in (learner, comment, revision)) or not isinstance(points, list):
            raise web.HTTPError(400, "texts, and for the criteria a list, were expected")
        return learner, points, comment, revision


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
    static = {"path": str(Path(__file__).parent / "static")}
    server.web_app.add_handlers(
        ".*$",
        [
            (f"{base}/_static/(.*)", AuthenticatedFileHandler, static),
            (f"{base}/?", Overview),
            (f"{base}{exercise}/?", QuestionPage),
            (f"{base}{exercise}/state", State),
            (f"{base}{exercise}/answer", NewGrade),
            (f"{base}{exercise}/picture", Picture),
        ],
    )

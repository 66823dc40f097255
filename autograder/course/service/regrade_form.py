"""A form at `PATH/regrade` by which a learner with a token asks for another look at a grade of theirs.

A feedback page links to it. It has no script, and the token goes nowhere but into the form's body.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tornado.web import RequestHandler, stream_request_body

from ...book.course_error import CourseError
from ..banks import checked_name
from ..regrades import regrade_requests
from .limits import Later

if TYPE_CHECKING:
    from .server import Door, KnownTokens

log = logging.getLogger("gpubook.service")
MOST_BYTES = 64 << 10  # of a form: the longest reason, with each letter in four bytes, escaped
FIELDS = ("token", "assignment", "exercise", "reason")
STYLE = "body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:1rem auto;padding:0 1rem}"
STYLE += (
    "label{display:block;margin:.75rem 0}input,textarea{display:block;width:100%;box-sizing:border-box;font:inherit}"
)
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ask for another look</title><style>{style}</style></head>
<body><main><h1>Ask for another look</h1>
<p role="status">{message}</p>
{form}</main></body></html>
"""
FORM = """<form method="post">
<label>Your token<input name="token" type="password" autocomplete="off" required></label>
<label>Assignment<input name="assignment" value="{assignment}" required></label>
<label>Exercise<input name="exercise" value="{exercise}" required></label>
<label>What was overlooked<textarea name="reason" rows="8" maxlength="{most}" required>{reason}</textarea></label>
<p><button>Send</button></p>
</form>
"""


@stream_request_body
class RegradeForm(RequestHandler):
    """The form, and what a learner sends with it."""

    def initialize(self, door: Door, known: Sequence[KnownTokens], **_: Any) -> None:
        self.door, self.known = door, known
        self.content = bytearray()
        self.too_long = False

    def set_default_headers(self) -> None:
        self.set_header("Server", "gpubook")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Content-Security-Policy", POLICY)

    def data_received(self, chunk: bytes) -> None:
        self.too_long = self.too_long or len(self.content) + len(chunk) > MOST_BYTES
        if not self.too_long:
            self.content += chunk

    def get(self) -> None:
        about = {field: self.get_query_argument(field, "") for field in FIELDS[1:3]}
        self._show(200, "You are answered in your feedback.", about)

    async def post(self) -> None:
        if self.too_long:
            self._show(413, f"At most {MOST_BYTES >> 10} KiB are read.", {})
            return
        sent = self._sent()
        try:
            folder = self.door.desk.generations.folder
            learner = await self._learner(sent["token"])
            if learner is None:
                self._show(401, "Your token is not known, or holds no longer.", sent)
                return
            self.door.desk.rate.take(learner)
            about = checked_name(sent["assignment"]), learner, sent["exercise"], sent["reason"]
            made = await asyncio.to_thread(regrade_requests.ask, folder, *about)
        except Later as later:
            self._show(later.status, f"{later.say}.", sent)
        except CourseError as error:
            self._show(400, f"Not taken: {error}.", sent)
        except Exception:  # a disk that is full, a gradebook that is locked
            log.exception("a request could not be taken")
            self._show(503, "The service has a fault, which your teacher's log tells of.", sent)
        else:
            self._show(200, f"Sent: request {made.number}, about {made.exercise} of {sent['assignment']}.", None)

    def write_error(self, status_code: int, **_: Any) -> None:
        self._show(status_code, "That is not what this form sends.", {})

    async def _learner(self, token: str) -> str | None:
        for known in self.known if token else ():
            if (learner := await known.learner(token)) is not None:
                return learner
        return None

    def _sent(self) -> dict[str, str]:
        """What the form has sent; "" for what is not there."""
        try:
            values = parse_qs(self.content.decode("utf-8"), max_num_fields=len(FIELDS))
        except ValueError:  # not a form
            values = {}
        return {field: values.get(field, [""])[0].strip() for field in FIELDS}

    def _show(self, status: int, message: str, about: dict[str, str] | None) -> None:
        """The page with a message, and the form unless `about` is None; the token is never in it."""
        self.set_status(status)
        self.set_header("Content-Type", "text/html; charset=utf-8")
        values = {field: escape((about or {}).get(field, "")) for field in FIELDS[1:]}
        form = "" if about is None else FORM.format(**values, most=regrade_requests.MOST_LETTERS)
        self.finish(PAGE.format(style=STYLE, message=escape(message), form=form))

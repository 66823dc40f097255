"""What a course's configuration says of its check service, and what of it learners' notebooks get to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from traitlets import Dict, Float, Integer, TraitError, Unicode, validate
from traitlets.config import Config, Configurable

from ...book.course_error import CourseError
from ...declaration.answer import JudgedBy
from ...declaration.exercise import Exercise

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OF_HUB = re.compile(r"(/[\w~-]+)*/services/[\w~-]+/?")  # as learners' notebooks know it, too


class CheckService(Configurable):
    """The options of the check service: in nbgrader_config.py, `c.CheckService.NAME = ...`."""

    url = Unicode(
        help="Where notebooks ask: https://HOST/PATH/, or /services/NAME/ of learners' JupyterHub; empty: nowhere."
    ).tag(config=True)
    attempts = Integer(5, min=0, help="Verdicts for each learner on an exercise whose answer is a value.").tag(
        config=True
    )
    code_attempts = Integer(5, min=0, help="Verdicts for each learner on an exercise whose answer is code.").tag(
        config=True
    )
    by_exercise = Dict(
        key_trait=Unicode(), value_trait=Integer(min=0), help="Verdicts for each learner, by exercise."
    ).tag(config=True)
    total_limit = Float(120.0, help="Seconds for which the code of one attempt may run.").tag(config=True)

    @classmethod
    def of(cls, config: Config) -> CheckService:
        """The options that a course's configuration sets; CourseError where one is not what was expected."""
        try:
            return cls(config=config)
        except TraitError as error:
            raise CourseError(str(error)) from None

    @validate("url")
    def _address(self, proposal: Any) -> str:
        try:
            return checked_url(proposal["value"])
        except CourseError as error:
            raise TraitError(str(error)) from None

    def allowed(self, exercise: Exercise) -> int:
        """How many verdicts a learner gets on an exercise; 0 for none.

        None for a prediction, whose points are for making one. Of a choice never so many that only the right option is
        left, unless the configuration names the exercise.
        """
        if exercise.answer.judged_by is JudgedBy.TEACHER or exercise.predict:
            return 0
        if exercise.id in self.by_exercise:
            return self.by_exercise[exercise.id]
        if (box := exercise.answer.box(exercise)) is not None and box.options:
            return min(self.attempts, max(len(box.options) - 2, 1))
        return self.attempts if exercise.answer.judged_by is JudgedBy.VALUE else self.code_attempts

    @property
    def path(self) -> str:
        """The path of the address; "" where there is none."""
        return self.url and (urlsplit(self.url).path or "/")

    def public(self, exercises: Mapping[str, Exercise]) -> dict[str, Any]:
        """What the exercises.json of an assignment says of the service, for the teacher's own exercises in it; empty
        where there is no service, or nothing to ask it."""
        allowed = {name: count for name, one in exercises.items() if (count := self.allowed(one))}
        return {"url": self.url, "attempts": allowed} if self.url and allowed else {}


def checked_url(url: str) -> str:
    """The address of a service, with a slash at its end; CourseError unless it is https, stays on one machine, or is
    the path of a service of JupyterHub: a learner's token goes there."""
    if not url or OF_HUB.fullmatch(url):
        return url and url.rstrip("/") + "/"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    plain = parts.scheme == "http" and host in LOOPBACK
    if not host or not (plain or parts.scheme == "https") or parts.query or parts.fragment or parts.username:
        raise CourseError(
            f"c.CheckService.url is {url!r}; https://HOST/PATH/ was expected, or http:// on this machine, or "
            "/services/NAME/ of a hub: learners' tokens are sent there"
        )
    return url.rstrip("/") + "/"

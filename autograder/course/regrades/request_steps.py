"""A step of nbgrader's feedback: what a learner has asked about each exercise, the answers, and how to ask."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from nbconvert.preprocessors import Preprocessor
from traitlets import Bool

from . import regrade_requests, request_text
from .regrade_requests import AssignmentRequests, RegradeRequests


class RegradesInFeedback(Preprocessor):
    """Tells the page's template, in `resources["nbgrader"]["regrades"]`, by exercise: the requests, and where requests
    are offered the text to send, where to, or why none is taken."""

    enabled = Bool(True).tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """The notebook as it is."""
        exporter: Any = self.parent  # whose parent is nbgrader's converter
        about, folder = resources["nbgrader"], Path(exporter.parent.coursedir.root)
        name, learner = about["assignment"], about["student"]
        every, options = self._requests(folder, name), RegradeRequests(config=self.config)
        if not options.offered and not every.of(learner):
            return nb, resources
        exercises = {cell.metadata.get("gpubook", {}).get("exercise") for cell in nb.cells} - {None}
        about["regrades"] = {
            exercise: {"requests": every.of(learner, exercise)}
            | self._way(folder, name, learner, exercise, every, options)
            for exercise in exercises
        }
        return nb, resources

    def _way(
        self, folder: Path, name: str, learner: str, exercise: str, every: AssignmentRequests, options: RegradeRequests
    ) -> dict[str, str]:
        """How to ask about an exercise, or why not; nothing where requests are not offered."""
        if not options.offered:
            return {}
        if refusal := every.refusal(learner, exercise, options.most, regrade_requests.utc_now()):
            waits = any(request.open for request in every.of(learner, exercise))  # which the page says anyway
            return {} if waits else {"refusal": refusal}
        text = request_text.form(folder, name, learner, exercise)
        way = {"text": text}
        if options.mail:
            query = urlencode({"subject": f"{request_text.HEAD}: {name}, {exercise}", "body": text}, quote_via=quote)
            way["mail"] = f"mailto:{quote(options.mail, safe='@')}?{query}"
        url = self.config.CheckService.get("url", "")
        if url.startswith("http"):  # a hub's service knows people by the hub's tokens, which they cannot type
            way["form"] = f"{url.rstrip('/')}/regrade?{urlencode({'assignment': name, 'exercise': exercise})}"
        return way

    @cache  # noqa: B019  (one of these is made for a run)
    def _requests(self, folder: Path, name: str) -> AssignmentRequests:
        return regrade_requests.read(folder, name)

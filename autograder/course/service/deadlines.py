"""Until when each learner may ask, by the gradebook and the course's terms, looked up now and then: an extension counts
within seconds, before there is a submission too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from .. import gradebook
from ..terms.granted_time import granted_for

FRESH = 15.0  # seconds for which a look holds


class Deadlines:
    """The deadlines of the course in `folder`; any thread may ask."""

    def __init__(self, folder: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC).replace(tzinfo=None)):
        self.folder, self.clock = folder, clock
        self._lock = threading.Lock()
        self._looked: dict[str, tuple[float, datetime | None, dict[str, timedelta]]] = {}

    def over(self, assignment: str, learner: str) -> bool:
        """Whether the time of this learner for an assignment is over; never where it has no deadline."""
        due, extensions = self._of(assignment)
        return due is not None and self.clock() > due + extensions.get(learner, timedelta())

    def _of(self, assignment: str) -> tuple[datetime | None, dict[str, timedelta]]:
        with self._lock:
            looked = self._looked.get(assignment)
            if looked is None or time.monotonic() - looked[0] > FRESH:
                due, entered = gradebook.deadlines(gradebook.url_of(self.folder), assignment)
                looked = (time.monotonic(), due, entered | granted_for(self.folder, assignment, due))
                self._looked[assignment] = looked
            return looked[1:]

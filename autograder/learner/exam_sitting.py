"""`exam()`: opens an exam at the course's check service, says until when there is time, and keeps copies there.

A notebook cannot keep anybody from other help, from another machine, or from a look at the questions before it is run;
what it does is to note when the first opening was, and to lose no work.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import check_service
from .card import NotebookCard
from .check_service import PATIENCE, Unavailable
from .lookup import assignment
from .notebook_file import UnreadableNotebook, bytes_of, notebook_of
from .recording import GRADING

EVERY = 60.0  # seconds between two copies
NO_SERVICE = (
    "This assignment names no check service, so nothing notes when you began: your teacher says when the time is over."
)
_keepers: dict[str, NotebookKeeper] = {}  # by assignment


class NotebookKeeper:
    """Sends a copy of the notebook of an exam whenever it has changed, at most every so many seconds, until the time is
    over."""

    def __init__(self, url: str, name: str, path: Path | None, every: float = EVERY):
        self.url, self.name, self.path, self.every = url, name, path, every
        self.last, self.problem = "", "" if path else "its file was not recognised: save it and submit it in time"
        self._sent = b""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="gpubook-exam", daemon=True)

    def start(self) -> None:
        """Begin, in a thread that ends with the kernel."""
        self._thread.start()

    def stop(self) -> None:
        """Send nothing more."""
        self._over.set()

    def send(self) -> None:
        """Send a copy now, if the saved notebook has changed; what stands in the way is in `problem`."""
        if self.path is None:
            return
        try:
            notebook = without_outputs(notebook_of(bytes_of(self.path) or b""))
            body = json.dumps({"assignment": self.name, "notebook": notebook}).encode()
            if body == self._sent:
                return
            if len(body) > check_service.MOST:
                raise ValueError(f"its text is larger than {check_service.MOST >> 10} KiB")
            reply = check_service.posted(self.url, body, PATIENCE, "exam")
        except (OSError, ValueError, UnreadableNotebook, Unavailable) as error:
            self.problem = str(error)
            return
        if reply.get("kept") is not True:
            self.stop()
            return
        self._sent, self.problem, self.last = body, "", str(reply.get("now", ""))

    def _run(self) -> None:
        while not self._over.wait(self.every):
            self.send()


def exam() -> NotebookCard:
    """Open the exam of this notebook: the minutes count from the first call on; later calls tell how it stands."""
    if any(os.environ.get(name) for name in GRADING):
        return NotebookCard("The time of an exam is not told where it is graded.")
    about = assignment()
    rule = about.get("exam") if about else None
    if about is None or not isinstance(rule, dict):
        return NotebookCard("This notebook is not an exam.")
    url, name = rule.get("url"), about["name"]
    if not isinstance(url, str) or not url:
        return NotebookCard(NO_SERVICE)
    try:
        reply = check_service.posted(url, json.dumps({"assignment": name}).encode(), PATIENCE, "exam")
    except Unavailable as error:
        why = str(error).removeprefix("Not checked: ").removeprefix("Not checked now: ")
        return NotebookCard(f"**The exam could not be opened**: {why}. Run this cell again, or tell your teacher.")
    keeper = _keepers.get(name)
    if keeper is None:
        keeper = _keepers[name] = NotebookKeeper(url, name, notebook_path(name))
        keeper.start()
    keeper.send()
    return NotebookCard(_told(reply, keeper))


def notebook_path(name: str) -> Path | None:
    """The file of the notebook that runs here: as the server says, or that of the assignment in this folder."""
    session = os.environ.get("JPY_SESSION_NAME", "")
    for path in (Path(session), Path.cwd() / Path(session).name, Path.cwd() / f"{name}.ipynb"):
        if path.suffix == ".ipynb" and path.is_file():
            return path
    return None


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook without what its cells printed, and without pictures that were pasted into it."""
    cells = []
    for cell in notebook["cells"]:
        own = {key: value for key, value in cell.items() if key != "attachments"}
        if cell["cell_type"] == "code":
            own |= {"outputs": [], "execution_count": None}
        cells.append(own)
    return notebook | {"cells": cells}


def _told(reply: Mapping[str, Any], keeper: NotebookKeeper) -> str:
    try:
        start, end, now = (datetime.fromisoformat(str(reply[key])) for key in ("start", "end", "now"))
        minutes = float(reply["minutes"])
    except (KeyError, TypeError, ValueError):
        return "**The exam could not be opened**: what the course's service answered cannot be read."
    left = (end - now).total_seconds() / 60
    stands = f"**{left:.0f} minutes are left**, until {_clock(end)}." if left > 0 else f"**It ended** at {_clock(end)}."
    lines = [f"You opened this exam at {_clock(start)}, with {minutes:g} minutes. {stands}"]
    if keeper.problem:
        lines.append(f"Your notebook is not kept at the moment: {keeper.problem}.")
    elif left > 0:
        last = f", last {_clock(datetime.fromisoformat(keeper.last))}" if keeper.last else ""
        lines.append(f"A copy of it, as you saved it, is kept once a minute{last}; submit it all the same.")
    return "\n\n".join(lines)


def _clock(time: datetime) -> str:
    return f"{time.astimezone(UTC):%H:%M} UTC"

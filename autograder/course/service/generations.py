"""The judging of now: another takes its place where the course's files have changed, and what is on its way ends first.

A service runs for a term: assignments are released meanwhile, keys corrected. Where the new files cannot be served, the
old ones are, and the log says why.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import served_assignments
from .judging import Judging

log = logging.getLogger("gpubook.service")


class Generations:
    """What judges the course in `folder`; `renew` looks whether its files have changed. A context manager."""

    def __init__(self, folder: Path, unsafe: bool = False):
        self.folder, self.unsafe = folder, unsafe
        self._lock, self._renewing = threading.Lock(), threading.Lock()
        self._users: dict[Judging, int] = {}
        self._seen = ""  # the version of the files that was tried last
        self._now = self._made()

    def __enter__(self) -> Generations:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _made(self) -> Judging:
        read = served_assignments.read(self.folder, self.unsafe)
        self._seen = read.version
        return Judging(read)

    @property
    def catalogue(self) -> served_assignments.Catalogue:
        return self._now.catalogue

    @contextmanager
    def judging(self) -> Iterator[Judging]:
        """The judging of now, which is kept until the block ends."""
        with self._lock:
            mine = self._now
            self._users[mine] = self._users.get(mine, 0) + 1
        try:
            yield mine
        finally:
            with self._lock:
                self._users[mine] -= 1
                over = not self._users[mine] and mine is not self._now
                if not self._users[mine]:
                    del self._users[mine]
            if over:
                mine.close()

    def renew(self) -> bool:
        """Take the course's files as they are now, where they have changed; whether they are served. Who calls while
        another thread does waits for it."""
        with self._renewing:
            return self._renewed()

    def _renewed(self) -> bool:
        if (version := served_assignments.version_of(self.folder)) == self._seen:
            return False
        self._seen = version
        try:
            made = self._made()
        except Exception as error:
            log.error("the course has changed and cannot be served as it is; the service goes on as before: %s", error)
            return False
        with self._lock:
            old, self._now = self._now, made
            unused = old not in self._users
        if unused:
            old.close()
        log.info("the course has changed: %d exercises are served", len(made.catalogue.exercises))
        return True

    def close(self) -> None:
        """Stop what is being judged."""
        with self._lock:
            every = {self._now, *self._users}
        for generation in every:
            generation.close()

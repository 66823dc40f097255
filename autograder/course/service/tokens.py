"""The tokens by which learners are known to the check service where no JupyterHub says who they are.

`.gpubook/tokens.json` keeps a token's digest, never the token: who reads the file cannot ask in a learner's name. A
token has 32 random bytes, so a digest without salt cannot be turned round.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ...book.course_error import CourseError
from ...values.atomic_write import write_whole
from ...values.own_file import json_of
from ...values.own_folder import opened, own

FILE, LOCK = "tokens.json", "tokens.lock"
BEGINS = "gpubook-"  # tells our tokens from a hub's
LONGEST = 200  # characters of anything that may be a token


@dataclass(frozen=True)
class Token:
    """Whose a token is, and until when it holds (UTC)."""

    learner: str
    until: datetime

    def holds(self, now: datetime) -> bool:
        return now < self.until


REMEDY = "restore it from a backup, or move it away and give every learner a new token: `gpubook course tokens`"


class CourseTokens:
    """The tokens of the course in `folder`. The file is read again whenever it has changed, so that a token that was
    replaced stops to hold at once."""

    def __init__(self, folder: Path):
        self.path, self._lock = own(folder, FILE), own(folder, LOCK)
        self._changed: tuple[int, int] | None = None
        self._known: dict[str, Token] = {}

    def learner(self, token: str) -> str | None:
        """Whose token it is; None for one that is nobody's, or holds no longer."""
        if not token.startswith(BEGINS) or len(token) > LONGEST:
            return None
        self._renew()
        token_row = self._known.get(_digest(token))
        return token_row.learner if token_row is not None and token_row.holds(_now()) else None

    def issue(self, learners: Iterable[str], *, days: float, renew: bool = False) -> dict[str, str]:
        """A new token for each learner who has none that holds, or with `renew` for each: the ones before then hold no
        longer. Only here are tokens to be seen."""
        made: dict[str, str] = {}
        with self._locked():
            self._renew()
            valid = {key: one for key, one in self._known.items() if one.holds(_now())}
            have = {one.learner for one in valid.values()}
            for learner in dict.fromkeys(learners):
                if learner in have and not renew:
                    continue
                valid = {key: one for key, one in valid.items() if one.learner != learner}
                made[learner] = BEGINS + secrets.token_urlsafe(32)
                valid[_digest(made[learner])] = Token(learner, _now() + timedelta(days=days))
            self._write(valid)
        return made

    def revoke(self, learner: str) -> int:
        """No token of this learner holds any longer; how many did."""
        with self._locked():
            self._renew()
            others = {key: one for key, one in self._known.items() if one.learner != learner}
            count = len(self._known) - len(others)
            self._write(others)
        return count

    def _renew(self) -> None:
        try:
            about = self.path.stat()
        except FileNotFoundError:
            self._changed, self._known = None, {}
            return
        if (changed := (about.st_mtime_ns, about.st_ino)) == self._changed:
            return
        self._known = json_of(self.path, REMEDY, _tokens, CourseError)
        self._changed = changed

    def _write(self, kept: dict[str, Token]) -> None:
        data = {key: {"learner": one.learner, "until": one.until.isoformat()} for key, one in kept.items()}
        write_whole(self.path, json.dumps(data, indent=1))
        self._known, self._changed = kept, None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl  # there is none on Windows, where no course is served

        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle = opened(self._lock, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _tokens(plain: dict[str, dict[str, str]]) -> dict[str, Token]:
    made = {key: Token(row["learner"], datetime.fromisoformat(row["until"])) for key, row in plain.items()}
    for token in made.values():
        if type(token.learner) is not str or token.until.tzinfo is None:
            raise TypeError(f"{token} is not the token of a learner")
    return made


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _now() -> datetime:
    return datetime.now(UTC)

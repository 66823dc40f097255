"""The numbers that graded code runs on: the same when a submission is graded again, and known to nobody before.

They are derived from a secret of the course, which stays with the supervisor, and from the whole submission: if it is
changed after a verdict has shown some of its numbers, it gets other numbers.
"""

import hashlib
import hmac
import os
import random
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from ..values.digest import add_parts
from ..values.own_file import broken, text_of
from ..values.own_folder import opened, own

REMEDY = "restore it from a backup, or move it away, and code that is graded runs on other numbers from now on"
SECRET = re.compile(r"[0-9a-f]{32}")
_seed: ContextVar[str] = ContextVar("seed", default="")
_repeated: ContextVar[str] = ContextVar("repeated", default="")


def secret_of(folder: Path) -> str:
    """The secret of the course in `folder`, in a file that only its owner can read; created if missing."""
    path = own(folder, "secret")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle = opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileExistsError:
        if secret := text_of(path, REMEDY).strip():
            return _checked(path, secret)
        handle = opened(path, os.O_WRONLY)  # what a kill or a full disk left
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(made := secrets.token_hex(16))
    return made


def _checked(path: Path, secret: str) -> str:
    if not SECRET.fullmatch(secret):
        raise broken(path, "32 hexadecimal digits were expected, as gpubook writes them", REMEDY)
    return secret


def seed_of(secret: str, owner: str, sources: Iterable[str]) -> str:
    """The seed of a submission, from its owner and the text of its cells; empty if there is no secret."""
    if not secret:
        return ""
    made = hmac.new(secret.encode(), digestmod=hashlib.sha256)
    add_parts(made, (owner, *sources))
    return made.hexdigest()


@contextmanager
def seeded(seed: str) -> Iterator[None]:
    """In this block `generator` draws from `seed`; if it is empty, from an unpredictable seed."""
    token = _seed.set(seed)
    try:
        yield
    finally:
        _seed.reset(token)


def current() -> str:
    """The seed of the block; empty outside of one."""
    return _seed.get()


def cases(name: str) -> random.Random:
    """What the cases of the exercise `name` are drawn from: its own for each submission, and without a seed, where a
    learner works alone, always the same."""
    seed = _seed.get()
    return random.Random(f"{name} cases {seed}" if seed else f"{name} cases")


@contextmanager
def repeated(numbers: str = "") -> Iterator[None]:
    """In this block `generator` draws the same again where no submission is judged: from `numbers`, or from an
    unpredictable seed. What is then run on them again and again needs to be run once only."""
    token = _repeated.set(numbers or secrets.token_hex(16))
    try:
        yield
    finally:
        _repeated.reset(token)


def source() -> tuple[str, str] | None:
    """What `generator` draws from, and the library that does it: where these are the same, so are the numbers. None
    where they are new each time."""
    from hwlib.tl.arrays import library

    seed = _seed.get() or _repeated.get()
    return (seed, library().__name__) if seed else None


def generator(name: str) -> Any:
    """A generator of numpy's for the exercise `name`, or in a page without numpy one of `hwlib.plain`."""
    from hwlib.tl.arrays import library

    seed = _seed.get() or _repeated.get()
    return library().random.default_rng(
        int(hashlib.sha256(f"{seed} {name}".encode()).hexdigest(), 16) if seed else None
    )

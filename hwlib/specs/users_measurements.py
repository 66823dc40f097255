"""Measured servers under a closed load: measured_users.csv, what a client sees with so many users at once."""

from typing import NamedTuple

from hwlib.specs.measured import Measurements, of
from hwlib.units import ms


class MeasuredUsers(NamedTuple):
    """A server with `users` at once, each of whom asks again when the answer has ended.

    `ttft` and `tbt` are means in seconds, of the time to the first token and of that between two; `rate` are the tokens
    per second of all answers. `model` is a key of `models`, `chip` one of `accelerators`, and `source` begins with one
    of docs/references.bib.
    """

    model: str
    chip: str
    tp: int
    dtype: str
    input: int
    output: int
    users: int
    ttft: float
    tbt: float
    rate: float
    software: str
    source: str


USERS = Measurements("load", "measured_users.csv", MeasuredUsers, ttft=of("ttft_ms", ms), tbt=of("tbt_ms", ms))


def measured_users(model: str | None = None) -> tuple[MeasuredUsers, ...]:
    """The measured loads of a model, or all, the fewest users first. Raises ValueError, listing the known models, if
    there is none.

    >>> [row.users for row in measured_users("llama3-70b")]
    [1, 5, 25, 50, 100, 150, 200, 250]
    """
    return USERS.where(model=model)

"""What a text does not tell its reader: options, each as a text that is typed beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hwlib.options import RUN_LOG, Entry, Option
from hwlib.options.run_log import OF_SERVING, OF_TRAINING

from .reading_error import ReadingError

ITSELF = "What it does not say itself"
FOLDS = {OF_TRAINING: "Of a run of training", OF_SERVING: "Of a serving benchmark"}


@dataclass(frozen=True)
class ReadingOption:
    """An option of the readers' commands, by the command's name: its label, what it is, how its text is read, and below
    which title it stands.
    """

    name: str
    label: str
    about: str
    read: Callable[[str], Any] = str.strip
    fold: str = ITSELF


def _count(text: str) -> int:
    plain = text.strip().replace(",", "")
    if not (plain.isascii() and plain.isdecimal() and len(plain) < 8 and int(plain)):
        raise ValueError(f"a whole number from 1 was expected, got {text.strip()[:60]!r}")
    return int(plain)


def _of_run(option: Option) -> ReadingOption:
    """An option of `gpubook explain-run` in the page."""
    entry = option.single or Entry()
    return ReadingOption(
        option.name, entry.label or option.name, entry.about, _read(option), FOLDS.get(option.group, ITSELF)
    )


def _read(option: Option) -> Callable[[str], Any]:
    read = _count if option.name == "gpus" else option.reader.read_single
    return lambda text: read(text.strip())


READING_OPTIONS = (
    ReadingOption("collective", "Collective", "of a table of bandwidths, such as all_reduce"),
    ReadingOption("network", "Network", "of the machine of a table: InfiniBand, EFA or Ethernet"),
    ReadingOption("link", "Link", "one link of the matrix: nvlink4, or 25 GB/s"),
    *map(_of_run, RUN_LOG),
)
BY_NAME = {option.name: option for option in READING_OPTIONS}


def option_values(entered: Mapping[str, str]) -> dict[str, Any]:
    """The values of the options that are not empty. Raises ReadingError, which names the option."""
    values = {}
    for name, text in entered.items():
        if name not in BY_NAME:
            raise ReadingError(f"{name[:60]}: no such option; expected {', '.join(BY_NAME)}", name)
        if not str(text).strip():
            continue
        try:
            values[name] = BY_NAME[name].read(str(text))
        except ValueError as error:
            raise ReadingError(f"{name}: {error}", name) from None
    return values

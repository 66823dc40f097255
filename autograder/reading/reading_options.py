"""What a text does not tell its reader: options, each as a text that is typed beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hwlib.options import TRAINING, named

from .reading_error import ReadingError

PLANNER = named(TRAINING)


@dataclass(frozen=True)
class ReadingOption:
    """An option of the readers' commands, by the command's name: its label, what it is, and how its text is read."""

    name: str
    label: str
    about: str
    read: Callable[[str], Any] = str.strip


def _count(text: str) -> int:
    plain = text.strip().replace(",", "")
    if not (plain.isascii() and plain.isdecimal() and len(plain) < 8 and int(plain)):
        raise ValueError(f"a whole number from 1 was expected, got {text.strip()[:60]!r}")
    return int(plain)


def _words(name: str) -> Callable[[str], Any]:
    return PLANNER[name].reader.read_single  # how the one value of a run is read


def _batch(text: str) -> Any:
    return PLANNER["batch"].reader.read(text)


READING_OPTIONS = (
    ReadingOption("on", "Machine", "such as dgx-h100, 4xdgx-h100 or 2x8 h100-sxm"),
    ReadingOption("gpus", "GPUs", "a number", _count),
    ReadingOption("collective", "Collective", "such as all_reduce"),
    ReadingOption("network", "Network", "InfiniBand, EFA or Ethernet"),
    ReadingOption("link", "Link", "one link of the matrix: nvlink4, or 25 GB/s"),
    ReadingOption("model", "Model", "that was trained, such as llama3-8b"),
    ReadingOption("batch", "Batch", "tokens of a step, or sequences x length: 4M, 512x4096", _batch),
    *(
        ReadingOption(name, name, f"{words} parallelism", _words(name))
        for name, words in (("tp", "tensor"), ("pp", "pipeline"), ("cp", "context"), ("ep", "expert"))
    ),
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

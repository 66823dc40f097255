"""What the reader of a log says beside it: values of options by name, as `explain_run` takes them."""

from collections.abc import Mapping
from typing import Any

NAMES = {"batch": "batch_tokens", "concurrency": "users"}
"""Options that a run's facts have under another name."""
LENGTHS = ("sequence", "prompt", "output")


def run_options(values: Mapping[str, Any]) -> dict[str, Any]:
    """A single value of each option of `hwlib.options.run_log`, the batch in tokens. Raises ValueError for several.

    >>> run_options({"batch": (2097152, 4096), "tp": (8,), "prompt": (2048, None), "pp": None})
    {'batch_tokens': 2097152, 'tp': 8, 'prompt': 2048, 'sequence': 4096, 'batch': 512.0}
    """
    entered = {name: value for name, value in values.items() if value is not None}
    options = {NAMES.get(name, name): _single(name, value) for name, value in entered.items()}
    batch = entered.get("batch")
    if isinstance(batch, tuple) and batch[1]:
        tokens, length = batch
        options.setdefault("sequence", length)
        options["batch"] = tokens / length
    return options


def _single(name: str, value: Any) -> Any:
    if not isinstance(value, tuple):
        return value
    if name in LENGTHS and value[1]:
        raise ValueError(f"{name}: {value[0] // value[1]}x{value[1]} is a batch, expected tokens of one")
    if name in (*LENGTHS, "batch"):
        return value[0]
    if len(value) != 1:
        raise ValueError(f"{name}: a run has one, got {', '.join(map(str, value))}")
    return value[0]

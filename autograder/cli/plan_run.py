"""The whole run in `gpubook plan`: the options that ask for it, and what is answered."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import click

DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


class RunTokens(click.ParamType):
    """Tokens of a whole run: 15T, 300B, 15.6e12; the letters are powers of 1000, as papers count."""

    name = "tokens"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number of tokens."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d*)?(?:e\d{1,2})?)\s*([kmbt]?)", value.strip().replace(",", "").lower())
        if not found or not float(found[1]):
            self.fail(f"{value!r} is not a number of tokens, e.g. 15T, 300B or 15.6e12", param, ctx)
        return float(found[1]) * DECIMAL[found[2]]


class InUnit(click.ParamType):
    """A number with a unit, as `hwlib.units` reads it, or one of a few words."""

    def __init__(self, unit: str, example: str, words: tuple[str, ...] = ()):
        self.unit, self.example, self.words = unit, example, words
        self.name = {"s": "time", "B/s": "rate", "1": "share"}[unit]

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """The number in SI, or the word."""
        from hwlib.units import UnitError, parse

        if not isinstance(value, str) or value in self.words:
            return value
        try:
            found = parse(value)
        except UnitError as error:
            self.fail(f"{value!r}: expected e.g. {self.example}: {error}", param, ctx)
        if found.unit != self.unit or not found.value > 0:
            self.fail(f"{value!r}: expected a number above 0 with a unit, e.g. {self.example}", param, ctx)
        return found.value


class Spares(click.ParamType):
    """A number of nodes, or what their number is to make least."""

    name = "nodes|price|time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """The number, or the word."""
        if not isinstance(value, str) or value in ("price", "time"):
            return value
        if not re.fullmatch(r"\d{1,5}", value):
            self.fail(f"{value!r}: expected a number of nodes, price or time", param, ctx)
        return int(value)


RATES = ("llama3-405b", "rsc-1", "rsc-2", "opt-175b", "bloom-176b")  # rows of measured_failures.csv that have a rate
OPTIONS = (
    click.option("--tokens", type=RunTokens(), help="Tokens of the whole run, 15T (powers of 1000): also tell its time "
                 "and price, with interruptions."),
    click.option("--days", type=click.FloatRange(0, min_open=True), help="Instead of --tokens: how many tokens in so "
                 "many days."),
    click.option("--mtbf", type=InUnit("s", "264days", RATES), help="Mean time between interruptions of a node, or "
                 f"whose: {', '.join(RATES)}.  [default: llama3-405b]"),
    click.option("--restart", type=InUnit("s", "12min"), help="From an interruption to the next step.  [default: 10 "
                 "min, and reading the checkpoint]"),
    click.option("--checkpoint-every", type=InUnit("s", "30min"), help="Training time between checkpoints.  [default: "
                 "the best]"),
    click.option("--checkpoint-bandwidth", type=InUnit("B/s", "2TB/s"), help="Of the storage, all GPUs together.  "
                 "[default: 12 MB/s a GPU]"),
    click.option("--blocking", is_flag=True, help="Training waits until a checkpoint is written, not only until the "
                 "hosts have it."),
    click.option("--repair", type=InUnit("s", "24h"), help="How long a broken node is away.  [default: a day]"),
    click.option("--spares", type=Spares(), help="Nodes kept aside: a number, or as many as make the price least, or "
                 "the time.  [default: price]"),
    click.option("--spread", type=InUnit("1", "1.5%"), help="Standard deviation of the GPUs' times.  [default: 1.5 %]"),
)  # fmt: skip
FIELDS = {
    "restart": "t_back",
    "checkpoint_every": "interval",
    "checkpoint_bandwidth": "storage",
    "blocking": "blocking",
    "repair": "t_repair",
    "spares": "spares",
    "spread": "spread",
}
"""The options, and the fields of `hwlib.goodput.Reliability` that they give."""
NAMES = ("tokens", "days", "mtbf", *FIELDS)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of a whole run."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class RunQuery:
    """What is asked about the whole run: its `tokens`, or its `days`, and what is known of its interruptions."""

    tokens: float | None = None
    days: float | None = None
    mtbf: float | str | None = None
    given: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: dict[str, Any]) -> Self | None:
        """What the options ask for, if they ask for a run. Raises ValueError where they contradict each other."""
        mine = {name: options[name] for name in NAMES if options.get(name) is not None and options[name] is not False}
        if not mine:
            return None
        if ("tokens" in mine) == ("days" in mine):
            there = ", ".join(f"--{name.replace('_', '-')}" for name in mine)
            raise ValueError(f"tokens: expected --tokens or --days, one of them, got {there}")
        given = {FIELDS[name]: value for name, value in mine.items() if name in FIELDS}
        return cls(mine.get("tokens"), mine.get("days"), mine.get("mtbf"), given)

    def asked(self, node: int) -> dict[str, Any]:
        """The arguments of `planner.run_of`, on nodes of so many GPUs."""
        from hwlib.goodput import published

        if isinstance(self.mtbf, str):
            base = published(self.mtbf)
        else:
            base = published() if self.mtbf is None else published().given(t_gpu=self.mtbf * node)
        return {"tokens": self.tokens, "days": self.days, "reliability": base.given(**self.given)}

    def answered(self, found: Any, count: int | None) -> tuple[Any, Any]:
        """The plans, or the front, ordered by their runs, and the runs."""
        from hwlib.planner.run import fastest_runs, undominated_runs

        asked = self.asked(found.task.machine.full_node)
        return undominated_runs(found, **asked) if count is None else fastest_runs(found, count, **asked)

    def columns(self, runs: Any, task: Any) -> Any:
        """The columns that the runs add to the table."""
        from hwlib.planner.run_words import columns

        return columns(runs, task, self.days is not None)


def run_text(runs: Any, task: Any, whole: int) -> str:
    """The first of the runs, to be read, with its constants, on a cluster of `whole` GPUs."""
    from hwlib.planner.run_words import constants, run_words

    lines = [*run_words(runs[0], task), "Its constants:", *(f"  {line}" for line in constants(runs[0]))]
    if lacking := max(runs[0].gpus - whole, 0) // runs[0].job.node:
        lines.insert(2, f"  The cluster has no node left for {lacking} of the spares.")
    return "\n".join(lines)


def with_runs(data: Any, runs: Any, task: Any) -> Any:
    """The JSON data of plans, each with its run."""
    from hwlib.planner.run_words import run_record

    for one, run in zip(data if isinstance(data, list) else data["plans"], runs, strict=True):
        one["run"] = run_record(run, task)
    return data

"""The whole run in `gpubook plan`: the options that ask for it, and what is answered."""

from collections.abc import Callable
from typing import Any

import click


class RunTokens(click.ParamType):
    """Tokens of a whole run: 15T, 300B, 15.6e12; the letters are powers of 1000, as papers count."""

    name = "tokens"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """The number of tokens."""
        from hwlib.options.amounts import run_tokens_of

        return value if isinstance(value, float) else read_as(self, run_tokens_of, value, param, ctx)


class InUnit(click.ParamType):
    """A number with a unit, as `hwlib.units` reads it, or one of a few words."""

    def __init__(self, unit: str, example: str, words: tuple[str, ...] = ()):
        self.unit, self.example, self.words = unit, example, words
        self.name = {"s": "time", "B/s": "rate", "1": "share"}[unit]

    def convert(self, value: Any, param: Any, ctx: Any) -> float | str:
        """The number in SI, or the word."""
        from hwlib.options.amounts import in_unit_of

        if not isinstance(value, str) or value in self.words:
            return value
        return read_as(self, lambda text: in_unit_of(text, self.unit, self.example), value, param, ctx)


class Spares(click.ParamType):
    """A number of nodes, or what their number is to make least."""

    name = "nodes|price|time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """The number, or the word."""
        from hwlib.options.amounts import spares_of

        return read_as(self, spares_of, value, param, ctx) if isinstance(value, str) else value


def read_as(kind: click.ParamType, read: Callable[[str], Any], value: Any, param: Any, ctx: Any) -> Any:
    """What a reader of `hwlib.options.amounts` makes of a text; its sentence is that of the option."""
    try:
        return read(value)
    except ValueError as error:
        kind.fail(str(error), param, ctx)


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


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of a whole run."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def option_name(name: str) -> str:
    """The option that gives an argument."""
    return f"--{name.replace('_', '-')}"


def with_runs(data: Any, runs: Any, task: Any) -> Any:
    """The JSON data of plans, each with its run."""
    from hwlib.planner.run_words import run_record

    for one, run in zip(data if isinstance(data, list) else data["plans"], runs, strict=True):
        one["run"] = run_record(run, task)
    return data

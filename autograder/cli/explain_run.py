"""`gpubook explain-run`: what a log of training says of its speed, beside the model."""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from hwlib.options import TRAINING, named

from .input_files import FINDING, FINE, input_text
from .plan import CannotBe
from .planner_options import planner_options
from .terminal import echo

if TYPE_CHECKING:
    from hwlib.run_logs.explain import ExplainedRun

OF_THE_PLANNER = ("gpus", "sequence", "tp", "pp", "cp", "ep", "etp", "v", "micro", "zero", "shards", "schedule")
OF_THE_SOFTWARE = ("recompute", "dtype", "stack", "states", "optimizer", "offload", "release")
NAMES = (*OF_THE_PLANNER, *OF_THE_SOFTWARE)
"""Options of the planner that say what the log does not."""
SCHEMA_DOC = """\b
The output of --json, in SI units:
  fine         whether nothing is to be found
  program, others, steps, unread   what was read
  ran          what is known of the run, each with its origin: the number
               of a line, option, or derived
  pace         mean and usual seconds of a step, and what they are from
  utilisation  tokens/s, FLOPs of a step and MFU by the book and by the log
  memory       the most bytes that the log says
  benchmark    the numbers of a serving benchmark
  findings     for each: kind, sentence, sure (shown, likely, possible),
               steps, seconds and share of a mean step
  model        the planner's step and bytes, or what is missing for it
  gap          the measured step in parts
  changes      for each: sentence, gain, low, high, sure
"""


def _some(command: Callable[..., Any]) -> Callable[..., Any]:
    """The planner's options by these names."""
    options = named(TRAINING)
    return planner_options(options[name] for name in NAMES)(command)


@click.command("explain-run", epilog=SCHEMA_DOC)
@click.argument("file", default="-")
@click.option("--model", help="The model: a key, or the path of a config.json.  [default: what the log says]")
@click.option("--on", help="The machine: a cluster, a node or a chip: dgx-h100, h100-sxm.  [default: the log's GPU]")
@click.option("--batch", help="Tokens of a step, 4M, or sequences x length, 512x4096.  [default: what the log says]")
@_some
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.pass_context
def explain_run(ctx: click.Context, file: str, as_json: bool, **options: Any) -> None:
    """Say why a training run is slow, from its log.

    FILE is the output of Megatron-LM, Megatron-Bridge, NeMo, torchtitan, torchtune, DeepSpeed, llm-foundry, the Hugging
    Face Trainer or nanoGPT, or of a benchmark of vLLM or SGLang; "-", the default, is standard input. What the log does
    not say is asked for.

    The exit status is 0 if nothing is to be found, 1 if something is, and 2 if the log cannot be read.
    """
    try:
        text, answer = answered(input_text(file), **options)
    except ValueError as error:
        raise CannotBe(str(error)) from None
    echo(json.dumps(record(answer), indent=2) if as_json else text)
    ctx.exit(FINE if answer.fine else FINDING)


def answered(text: str, **options: Any) -> "tuple[str, ExplainedRun]":
    """The answer about a log, to be read and as a record; `options` are those of the command. Raises ValueError."""
    from hwlib.run_logs.explain import explain_run as explained
    from hwlib.run_logs.run_text import run_log_text

    answer = explained(text, **values_of(options))
    return run_log_text(answer), answer


def answer(text: str, **options: Any) -> dict[str, Any]:
    """The answer about a log as JSON data, with its text, for a page or an agent. Raises ValueError."""
    words, explained = answered(text, **options)
    return record(explained) | {"text": words}


def record(explained: "ExplainedRun") -> dict[str, Any]:
    """An answer as JSON data."""
    from hwlib.run_logs.explain import run_log_record

    return run_log_record(explained)


def values_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as a run knows them: a single value of each, the batch in tokens."""
    values = {name: _single(name, value) for name, value in options.items() if value is not None}
    batch = values.pop("batch", None)
    if isinstance(batch, str):
        batch = named(TRAINING)["batch"].reader.read(batch)
    if batch is not None:
        tokens, length = batch if isinstance(batch, tuple) else (batch, None)
        values["batch_tokens"] = tokens
        if length:
            values.setdefault("sequence", length)
            values["batch"] = tokens / length
    return values


def _single(name: str, value: Any) -> Any:
    """The one value of an option that the planner takes several of."""
    if name == "sequence" and isinstance(value, tuple):
        return value[0]
    if isinstance(value, tuple) and name != "batch":
        if len(value) != 1:
            raise ValueError(f"{name}: a run has one, got {', '.join(map(str, value))}")
        return value[0]
    return value

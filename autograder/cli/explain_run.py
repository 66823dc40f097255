"""`gpubook explain-run`: what a log of training, or of a serving benchmark, says of its speed, beside the model."""

import json
from typing import TYPE_CHECKING, Any

import click

from hwlib.options import RUN_LOG

from .input_files import FINDING, FINE, input_text
from .plan import CannotBe
from .planner_options import planner_options
from .terminal import echo

if TYPE_CHECKING:
    from hwlib.run_logs.explain import ExplainedRun

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
  model        the planner's step and bytes, of a benchmark its rates and
               times beside the measured ones, or what is missing for it
  gap          the measured step, or a request, in parts
  changes      for each: sentence, gain, low, high, sure
"""


@click.command("explain-run", epilog=SCHEMA_DOC)
@click.argument("file", default="-")
@planner_options(RUN_LOG)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, see below.")
@click.pass_context
def explain_run(ctx: click.Context, file: str, as_json: bool, **options: Any) -> None:
    """Say why a training run or a server is slow, from its log.

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
    from hwlib.run_logs.options import run_options
    from hwlib.run_logs.run_text import run_log_text

    answer = explained(text, **run_options(options))
    return run_log_text(answer), answer


def answer(text: str, **options: Any) -> dict[str, Any]:
    """The answer about a log as JSON data, with its text, for a page or an agent. Raises ValueError."""
    words, explained = answered(text, **options)
    return record(explained) | {"text": words}


def record(explained: "ExplainedRun") -> dict[str, Any]:
    """An answer as JSON data."""
    from hwlib.run_logs.explain import run_log_record

    return run_log_record(explained)

"""Plans parsed by Megatron-LM's options and configuration: `python -m benchmarks.launch.megatron_check CHECKOUT`.

Run by hand: it needs torch and a checkout of Megatron-LM at the revision of hwlib/launch/sources.toml, not its kernels:
Transformer Engine is said to be there, and the generation of the chip. Every plan of a sweep over models and clusters
must parse, pass `validate_args`, make a configuration of Megatron Core, and give the plan's data parallelism.
"""

import argparse
import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any

import click

from hwlib.launch import Launch, emit_training
from hwlib.planner import Allowed, Plan, SoftwareSettings, plan
from hwlib.planner.task import Task

SWEEP: tuple[tuple[str, str, int, dict[str, Any]], ...] = (
    ("llama3-8b", "dgx-h100", 256, {}),
    ("llama3-70b", "superpod-h100-1su", 512, {}),
    ("llama3-405b", "h100-superpod-16k", 2048, {}),
    ("gpt3-175b", "128xdgx-a100", 1536, {}),
    ("mixtral-8x7b", "8xdgx-h100", 1024, {}),
    ("deepseek-v3", "128xdgx-h100", 15360, {}),
    ("deepseek-v3", "256xdgx-h100", 15360, {"software": SoftwareSettings(dtype="fp8")}),
    ("gpt-oss-120b", "8xdgx-h100", 512, {}),
    ("qwen3-235b-a22b", "32xdgx-h100", 1024, {}),
    ("qwen3-0.6b", "dgx-a100", 256, {}),
    ("falcon-180b", "16xdgx-a100", 1024, {}),
    ("llama3-70b", "8xdgx-h100", 1024, {"allowed": Allowed(zero=3)}),
    ("llama3-70b", "32xdgx-h100", 1024, {"allowed": Allowed(zero=3, shards=8)}),
    ("llama3-8b", "8xdgx-h100", 1024, {"allowed": Allowed(recompute="full")}),
    ("mixtral-8x22b", "16xdgx-h100", 1024, {"allowed": Allowed(etp=1)}),
    ("llama4-maverick", "32xdgx-h100", 1024, {}),
    ("bloom-176b", "48xdgx-a100", 2048, {}),
    ("llama3-405b", "gb200-nvl72", 512, {"software": SoftwareSettings(dtype="fp8")}),
)
"""A model, a cluster, sequences of a batch, and more arguments of the planner."""
ADDED = ("--mock-data", "--tokenizer-type", "NullTokenizer", "--train-iters", "10", "--lr", "1e-4", "--no-rope-fusion")


def load(checkout: Path) -> Any:
    """Megatron-LM's module of options, with what a machine without GPUs lacks put in its place."""
    import typing

    import torch
    import typing_extensions
    from packaging.version import Version

    typing.override = typing_extensions.override  # type: ignore[attr-defined]  # its code is for Python 3.12
    sys.path.insert(0, str(checkout))
    arguments: Any = __import__("megatron.training.arguments", fromlist=["x"])
    config: Any = __import__("megatron.core.transformer.transformer_config", fromlist=["x"])
    for module in (arguments, config):
        module.is_te_min_version = lambda *_, **__: True
    config.get_te_version = lambda: Version("2.9.0")
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    return arguments


def said(arguments: Any, task: Task, one: Plan, launch: Launch) -> str:
    """What Megatron-LM says of a launch: an error, or nothing."""
    (command,) = launch.commands
    arguments.get_device_arch_version = lambda: 10 if task.machine.chip.arch.startswith("Blackwell") else 9
    os.environ.pop("CUDA_DEVICE_MAX_CONNECTIONS", None)
    os.environ |= dict(pair.split("=") for pair in command.environment)
    words = [word.strip("'\"") for option in command.arguments for word in option.words]
    parser = arguments.add_megatron_arguments(argparse.ArgumentParser(allow_abbrev=False))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            args = parser.parse_args([*words, *ADDED])
            args.rank, args.world_size = 0, one.gpus
            arguments.validate_args(args)
            arguments.core_transformer_config_from_args(args)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return "" if args.data_parallel_size == one.strategy.dp else f"dp is {args.data_parallel_size} to it"


@click.command(help=__doc__)
@click.argument("checkout", type=click.Path(file_okay=False, exists=True, path_type=Path))
def main(checkout: Path) -> None:
    """Print each plan, with what is wrong with it."""
    arguments = load(checkout)
    arguments.core_transformer_config_from_args = __import__(
        "megatron.training.argument_utils", fromlist=["x"]
    ).core_transformer_config_from_args
    for model, cluster, sequences, more in SWEEP:
        T = 2048 if model in ("gpt3-175b", "bloom-176b", "falcon-180b") else 4096
        found = plan(model, cluster, B=sequences * T, T=T, count=3, **more)
        for one in found:
            wrong = said(arguments, found.task, one, emit_training(found.task, one, "megatron"))
            print(f"{model} on {cluster}: {one}: {wrong or 'accepted'}")


if __name__ == "__main__":
    main()

"""Launch arguments: a plan as what starts it with a software, and what of the plan no argument says.

Names are those of each project's own options, read at one revision (`sources.toml`, and a table beside it).

>>> from hwlib.planner import plan
>>> found = plan("llama3-8b", "dgx-h100", B=2**20)
>>> launch = emit_training(found.task, found[0], "megatron")
>>> launch.commands[0].head[-1], launch.commands[0].value("--global-batch-size")
('pretrain_gpt.py', 128)
"""

from dataclasses import replace

from hwlib.constraints import refusal
from hwlib.footprint import unchecked_footprint
from hwlib.launch.known import arguments_of, problems
from hwlib.launch.launch import Argument, Command, File, Launch, LaunchError
from hwlib.launch.megatron import emit_megatron
from hwlib.launch.mixed_layers import served_words
from hwlib.launch.nemo import emit_nemo
from hwlib.launch.origins import source_of
from hwlib.launch.torchtitan import emit_torchtitan
from hwlib.launch.trtllm import emit_trtllm
from hwlib.launch.vllm import emit_vllm
from hwlib.planner.costs import Plan
from hwlib.planner.fits import fit_words
from hwlib.planner.task import Task
from hwlib.serving_planner.plan import ServingPlan

TRAINING = {"megatron": emit_megatron, "torchtitan": emit_torchtitan, "nemo": emit_nemo}
SERVING = {"vllm": emit_vllm, "trtllm": emit_trtllm}


def emit_training(task: Task, plan: Plan, software: str) -> Launch:
    """How a training plan is started. Raises LaunchError for a software that does not train, or not on these chips, and
    for a plan that no software could run. What this one alone lacks is listed with the launch.
    """
    if software not in TRAINING:
        raise LaunchError(f"emit: expected {' or '.join(TRAINING)}, which train, got {software!r}")
    if task.model.mixed or task.model.full_heads or task.model.pattern:
        kinds = "options of layers with states, and of keys that are picked, are not known here"
        raise LaunchError(f"emit: {task.model.name} has layers of several kinds, or sparse attention; {kinds}")
    if why := refusal(replace(task.setting, features=None), plan.strategy):
        raise LaunchError(f"emit: {why}")
    held = float(unchecked_footprint(task, plan.strategy, m=plan.m).total)
    return TRAINING[software](task, plan)._replace(title=f"{task}: {plan}. {fit_words(task, held)}")


def emit(plan: ServingPlan, software: str) -> Launch:
    """How a serving plan is started. Raises LaunchError for a software that does not serve, or not on these chips, or
    not such layers.
    """
    if software not in SERVING:
        raise LaunchError(f"emit: expected {' or '.join(SERVING)}, which serve, got {software!r}")
    known = served_words(plan.model, software)
    launch = SERVING[software](plan)
    return launch._replace(to_add=(*launch.to_add, *known))


__all__ = [
    "SERVING",
    "TRAINING",
    "Argument",
    "Command",
    "File",
    "Launch",
    "LaunchError",
    "arguments_of",
    "emit",
    "emit_training",
    "problems",
    "source_of",
]

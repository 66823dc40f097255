"""Fit the constants of PyTorch on one GPU to the steps measured on one H200: a part of `make fit`, and
`python -m benchmarks.fit.one_gpu` to print.

Prints the constants fitted to all steps; then, for each way to cut the four models in two, the mean error and the bias
on the models that the fit had not seen, and the peak memory of all steps, to which nothing but the allocator's share of
waste is fitted. Every fit begins at START, not at what is kept: a constant that some rows do not decide stays there.
"""

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

import click

from benchmarks.paths import DATA
from benchmarks.rows.published import ROWS
from benchmarks.rows.published import steps as published_steps
from benchmarks.rows.training_models import gpt2
from benchmarks.rows.training_step import TrainingStep
from hwlib.footprint import BFLOAT16_ADAM, Adapters, Trained, footprint
from hwlib.footprint.state_bytes import FULL_ADAM
from hwlib.planner.advice import NOISE, worse
from hwlib.specs import Model, Stack, accelerators, frameworks, models, stack_on, stacks
from hwlib.specs.stack import CONSTANTS
from hwlib.steptime import StepTime, step_time
from hwlib.strategy import Strategy

STEPS = DATA / "own_h200_steps.csv"
START = {"eta_P": 0.9, "eta_F": 0.9, "eta_W": 0.8}  # shares, at most 1
UNPACK_START = {"b_unpack": 10.0, "t_launch": 1e-5}
GAIN = 0.002  # mean error by which a fit must be better than what is kept
PRIOR = 0.003  # error that a constant's move by a factor e must save
LLAMA: dict[str, Any] = {"norm": "rms", "context": 131072, "vocab": 128256, "kv_heads": 8}
MODELS = {
    "gpt2-124m": gpt2("gpt2124m", "GPT-2 124M"),
    "llama3.2-1b": Model.small(
        key="llama3.2-1b", name="Llama 3.2 1B", layers=16, width=2048, heads=32, ffn=8192, tied=True, **LLAMA
    ),
    "llama3-8b-8layers": Model.small(
        key="llama3-8b-8layers", name="8 layers of Llama 3 8B", layers=8, width=4096, heads=32, ffn=14336, **LLAMA
    ),
    "qwen3-30b-a3b-6layers": replace(models["qwen3-30b-a3b"], layers=6),
}


class OneGpuStep(NamedTuple):
    """A measured step: seconds, and those of the optimizer's update; bytes at the allocator's peak, allocated and
    reserved.
    """

    name: str
    sequences: int
    tokens: int
    trained: Trained
    recompute: str
    compiled: bool
    seconds: float
    update: float
    allocated: float
    reserved: float

    @property
    def plan(self) -> Strategy:
        """One GPU, one microbatch."""
        return Strategy(dp=1, micro=self.sequences, recompute=self.recompute)

    @property
    def software(self) -> str:
        """The row of software.toml."""
        return "pytorch-compiled" if self.compiled else "pytorch"


class BothStacks(NamedTuple):
    """The constants of both stacks."""

    eager: Stack
    compiled: Stack


def measured_steps() -> list[OneGpuStep]:
    """The steps of the table."""
    lines = [line for line in STEPS.read_text("utf-8").splitlines() if not line.startswith("#")]
    return [_step(row) for row in csv.DictReader(lines)]


def _step(row: Mapping[str, str]) -> OneGpuStep:
    states = FULL_ADAM if row["precision"] == "amp" else BFLOAT16_ADAM
    recompute = "full" if row["recompute"] == "1" else "none"
    bytes_of_peak = float(row["peak_allocated"]), float(row["peak_reserved"])
    sizes = int(row["sequences"]), int(row["tokens"])
    compiled = row["compiled"] == "1"
    seconds = float(row["step"]), float(row["optimizer"])
    return OneGpuStep(row["model"], *sizes, Trained(states), recompute, compiled, *seconds, *bytes_of_peak)


def predicted(step: OneGpuStep, fitted: BothStacks) -> StepTime:
    """The step by its stack."""
    stack = fitted.compiled if step.compiled else fitted.eager
    B, model, trained = step.sequences * step.tokens, MODELS[step.name], step.trained
    return step_time(model, stack, "dgx-h200", step.plan, B=B, T=step.tokens, trained=trained)


def time_error(step: OneGpuStep, fitted: BothStacks) -> float:
    """Predicted over measured seconds, less 1."""
    return float(predicted(step, fitted).total) / step.seconds - 1


def update_error(step: OneGpuStep, fitted: BothStacks) -> float:
    """Predicted over measured seconds of the optimizer's update, less 1."""
    return float(predicted(step, fitted).optimizer) / step.update - 1


def memory_error(step: OneGpuStep) -> float:
    """Predicted bytes, without the context, over those that the allocator reserved, less 1."""
    by = frameworks[step.software].replace(reserve=0.0)
    held = footprint(MODELS[step.name], step.plan, T=step.tokens, m=1, trained=step.trained, framework=by)
    return float(held.total) / step.reserved - 1


def kept() -> BothStacks:
    """The constants of software.toml."""
    return BothStacks(stacks["pytorch-h200"], stacks["pytorch-compiled-h200"])


def mean_error(steps: Sequence[OneGpuStep], fitted: BothStacks) -> float:
    """The mean of |predicted - measured|/measured."""
    return fmean(abs(time_error(step, fitted)) for step in steps)


def fit(steps: Sequence[OneGpuStep]) -> BothStacks:
    """Constants of the eager stack, and eta_W of the compiled one, at the least mean error: t_param of updates, and
    then the shares of steps.
    """
    from scipy.optimize import minimize, minimize_scalar

    before = kept()

    def of_update(t_param: float) -> float:
        fitted = BothStacks(*(stack.replace(t_param=t_param) for stack in before))
        return fmean(abs(update_error(step, fitted)) for step in steps)

    t_param = float(minimize_scalar(of_update, bounds=(1e-13, 1e-10), method="bounded", options={"xatol": 1e-14}).x)
    eager, compiled = (stack.replace(t_param=t_param) for stack in before)
    start = [*START.values(), START["eta_W"]]

    def at(moves: Sequence[float]) -> BothStacks:
        *values, fused = (min(x * math.exp(move), 1.0) for x, move in zip(start, moves, strict=True))
        shared = dict(zip(START, values, strict=True))
        return BothStacks(eager.replace(**shared), compiled.replace(**shared | {"eta_W": fused}))

    def loss(moves: Sequence[float]) -> float:
        return mean_error(steps, at(moves)) + PRIOR * sum(map(abs, moves))

    best = [0.0] * len(start)
    for _ in range(2):
        best = [float(x) for x in minimize(loss, best, method="Nelder-Mead", options={"maxfev": 300}).x]
    return at(best)


def kept_or_better() -> BothStacks:
    """The constants that are kept, or those of a fit to all steps that is better by more than `GAIN`; with the mean
    error of each on its own steps, if it is another than what stands by as much.
    """
    steps, before = measured_steps(), kept()
    fitted = fit(steps)
    better = mean_error(steps, before) - mean_error(steps, fitted) > GAIN
    best, unpacked = fitted if better else before, unpacked_steps()
    constants = fit_unpack(unpacked, best.eager)
    gain = unpack_error(unpacked, best.eager) - unpack_error(unpacked, best.eager.replace(**constants))
    if gain > GAIN:
        best = BothStacks(*(stack.replace(**constants) for stack in best))
    return with_errors(best)


def unpacked_steps() -> list[TrainingStep]:
    """Published steps of adapters beside a base in few bits, which kernels apart make again in 16."""
    cases = [case for _, case in published_steps(ROWS / "steps_others.csv")]
    return [case for case in cases if isinstance(case.software.lora, Adapters) and case.software.lora.apart]


def unpack_error(cases: Sequence[TrainingStep], stack: Stack) -> float:
    """The mean of |predicted - measured|/measured, by a stack on the chips of the steps."""
    times = [(case.time(stack_on(stack, accelerators[case.chip])), case.seconds) for case in cases]
    return fmean(abs(seconds / measured - 1) for seconds, measured in times)


def fit_unpack(cases: Sequence[TrainingStep], stack: Stack) -> dict[str, float]:
    """b_unpack, and t_launch, for which the smallest model and the shortest sequences wait, at the least mean error of
    these steps, with all else as in the stack.
    """
    from scipy.optimize import minimize

    def at(moves: Sequence[float]) -> dict[str, float]:
        return {name: x * math.exp(move) for (name, x), move in zip(UNPACK_START.items(), moves, strict=True)}

    def loss(moves: Sequence[float]) -> float:
        return unpack_error(cases, stack.replace(**at(moves))) + PRIOR * sum(map(abs, moves))

    best = [0.0] * len(UNPACK_START)
    for _ in range(2):
        best = [float(x) for x in minimize(loss, best, method="Nelder-Mead", options={"maxfev": 120}).x]
    return at(best)


def with_errors(fitted: BothStacks) -> BothStacks:
    """The stacks with the mean error of each on its own steps."""
    stated = []
    for stack, compiled in zip(fitted, (False, True), strict=True):
        error = mean_error([step for step in measured_steps() if step.compiled == compiled], fitted)
        stated.append(stack if abs(error - stack.error) < GAIN else stack.replace(error=error))
    return BothStacks(*stated)


def resting() -> Mapping[str, Counter[str]]:
    """For each stack, how many steps rest on each constant: its own, and those of the other, if it has the same value
    there. A constant that the stack of a step fitted is not counted for that step.
    """
    before = kept()
    counted: dict[str, Counter[str]] = {stack.key: Counter() for stack in before}
    for step in measured_steps():
        stack = before.compiled if step.compiled else before.eager
        for name in CONSTANTS:
            if name not in stack.fitted and _rests(step, stack, name):
                for each in before:
                    counted[each.key][name] += each is stack or getattr(each, name) == getattr(stack, name)
    return counted


def _rests(step: OneGpuStep, stack: Stack, name: str) -> bool:
    """Whether a step of a stack would be slower by more than noise, were this constant half as good."""
    other = worse(stack, name)
    if other is None:
        return False
    changed = predicted(step, BothStacks(other, other)).total
    return bool(changed > (1 + NOISE) * predicted(step, BothStacks(stack, stack)).total)


def folds() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The models of a fit, and those that it has not seen: two and two, each way to cut them."""
    pairs = list(combinations(MODELS, 2))
    return list(zip(pairs, reversed(pairs), strict=True))  # the last of all pairs is what the first leaves


def summary(errors: Sequence[float]) -> str:
    """Mean error, bias and the worst of some rows."""
    worst = max(errors, key=abs)
    return f"{len(errors)} rows: {fmean(map(abs, errors)):.1%}, bias {fmean(errors):+.1%}, worst {worst:+.1%}"


@click.command(help=__doc__)
def main() -> None:
    """Print the fits."""
    steps = measured_steps()
    every = fit(steps)
    print(
        " ".join(f"{name} {getattr(every.eager, name):.3g}" for name in every.eager.fitted),
        f"compiled {every.compiled.eta_W:.3g}",
    )
    for software in ("pytorch", "pytorch-compiled"):
        own = [step for step in steps if step.software == software]
        print(f"{software}, kept: {summary([time_error(step, kept()) for step in own])}")
        print(f"{software}, memory: {summary([memory_error(step) for step in steps if step.software == software])}")
    unpacked = unpacked_steps()
    for name in dict.fromkeys(case.model.key for case in unpacked):
        own = [case for case in unpacked if case.model.key == name]
        constants = fit_unpack([case for case in unpacked if case.model.key != name], kept().eager)
        error = unpack_error(own, kept().eager.replace(**constants))
        words = ", ".join(f"{constant} {x:.3g}" for constant, x in constants.items())
        print(f"{words} without {name}, on its {len(own)} rows {error:.1%}")
    for seen, unseen in folds():
        fitted = fit([step for step in steps if step.name in seen])
        print(f"fitted to {' and '.join(seen)}: {summary([time_error(x, fitted) for x in steps if x.name in unseen])}")


if __name__ == "__main__":
    main()

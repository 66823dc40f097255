"""Fit the constants of PyTorch on one GPU to the steps measured on one H200: `python -m benchmarks.fit.one_gpu`.

Prints the constants fitted to all dense steps; then, for each way to cut the four models in two, the mean error and the
bias on the models that the fit had not seen, and the peak memory of all steps, to which nothing but the allocator's
share of waste is fitted. Constants of models with experts are typed, and are fitted nowhere.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import Any, NamedTuple

import click

from benchmarks.paths import DATA
from hwlib.footprint import BFLOAT16_ADAM, Trained, footprint
from hwlib.footprint.state_bytes import FULL_ADAM
from hwlib.specs import Model, Stack, frameworks, models, stacks
from hwlib.steptime import step_time
from hwlib.strategy import Strategy

STEPS = DATA / "own_h200_steps.csv"
FREE = ("eta_C", "eta_A", "eta_W", "t_layer")
HIGHEST = {"t_layer": math.inf}  # seconds; the others are shares
PRIOR = 0.003  # error that a constant's move by a factor e must save
LLAMA: dict[str, Any] = {"norm": "rms", "context": 131072, "vocab": 128256, "kv_heads": 8}
MODELS = {
    "gpt2-124m": Model.small(
        key="gpt2-124m",
        name="GPT-2 124M",
        layers=12,
        width=768,
        heads=12,
        ffn=3072,
        vocab=50304,
        context=1024,
        gated=False,
        tied=True,
        biases="all",
        norm="layer",
        positions=1024,
    ),
    "llama3.2-1b": Model.small(
        key="llama3.2-1b", name="Llama 3.2 1B", layers=16, width=2048, heads=32, ffn=8192, tied=True, **LLAMA
    ),
    "llama3-8b-8layers": Model.small(
        key="llama3-8b-8layers", name="8 layers of Llama 3 8B", layers=8, width=4096, heads=32, ffn=14336, **LLAMA
    ),
    "qwen3-30b-a3b-6layers": replace(models["qwen3-30b-a3b"], layers=6),
}


class OneGpuStep(NamedTuple):
    """A measured step: seconds, and bytes at the allocator's peak, allocated and reserved."""

    name: str
    sequences: int
    tokens: int
    trained: Trained
    recompute: str
    compiled: bool
    seconds: float
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
    return OneGpuStep(row["model"], *sizes, Trained(states), recompute, compiled, float(row["step"]), *bytes_of_peak)


def time_error(step: OneGpuStep, fitted: BothStacks) -> float:
    """Predicted over measured seconds, less 1."""
    stack = fitted.compiled if step.compiled else fitted.eager
    B = step.sequences * step.tokens
    model, trained = MODELS[step.name], step.trained
    time = step_time(model, stack, "dgx-h200", step.plan, B=B, T=step.tokens, trained=trained)
    return float(time.total) / step.seconds - 1


def memory_error(step: OneGpuStep) -> float:
    """Predicted bytes, without the context, over those that the allocator reserved, less 1."""
    by = frameworks[step.software].replace(reserve=0.0)
    held = footprint(MODELS[step.name], step.plan, T=step.tokens, m=1, trained=step.trained, framework=by)
    return float(held.total) / step.reserved - 1


def kept() -> BothStacks:
    """The constants of software.toml."""
    return BothStacks(stacks["pytorch-h200"], stacks["pytorch-compiled-h200"])


def fit(steps: Sequence[OneGpuStep]) -> BothStacks:
    """FREE of the eager stack, and eta_W of the compiled one, at the least mean error, from where they stand."""
    from scipy.optimize import minimize

    eager, compiled = kept()
    start = [getattr(eager, name) for name in FREE] + [compiled.eta_W]

    def at(moves: Sequence[float]) -> BothStacks:
        *values, fused = (x * math.exp(move) for x, move in zip(start, moves, strict=True))
        bounds = [HIGHEST.get(name, 1.0) for name in FREE]
        shared = dict(zip(FREE, map(min, values, bounds), strict=True))
        return BothStacks(eager.replace(**shared), compiled.replace(**shared | {"eta_W": min(fused, 1.0)}))

    def loss(moves: Sequence[float]) -> float:
        fitted = at(moves)
        return fmean(abs(time_error(step, fitted)) for step in steps) + PRIOR * sum(map(abs, moves))

    best = [0.0] * len(start)
    for _ in range(2):
        best = [float(x) for x in minimize(loss, best, method="Nelder-Mead", options={"maxfev": 300}).x]
    return at(best)


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
    dense = [step for step in steps if not MODELS[step.name].moe]
    every = fit(dense)
    print(" ".join(f"{name} {getattr(every.eager, name):.3g}" for name in FREE), f"compiled {every.compiled.eta_W:.3g}")
    for software in ("pytorch", "pytorch-compiled"):
        own = [step for step in dense if step.software == software]
        print(f"{software}, kept, dense: {summary([time_error(step, kept()) for step in own])}")
        print(f"{software}, memory: {summary([memory_error(step) for step in steps if step.software == software])}")
    for seen, unseen in folds():
        fitted = fit([step for step in steps if step.name in seen])
        print(f"fitted to {' and '.join(seen)}: {summary([time_error(x, fitted) for x in steps if x.name in unseen])}")


if __name__ == "__main__":
    main()

"""What the models predict for a published measurement, with the constants that the project keeps."""

import math
from typing import NamedTuple

from benchmarks.allreduce_rows import NodesAllReduce
from benchmarks.calculon import calculon
from benchmarks.memory_rows import Peak
from benchmarks.published import Case, Collective, Product, Share
from benchmarks.training_memory import Memory
from benchmarks.training_step import Step, Unmodelled, own_constants, parted
from hwlib.calibrated import Timed, collective_time, gemm_model, plain_time, tree_time
from hwlib.footprint import MIXED_ADAM, footprint
from hwlib.roofline import roofline_time
from hwlib.specs import accelerators, frameworks
from hwlib.specs.fitted import collective_constants, gemm_constants, share_constants, tree_constants
from hwlib.specs.stack import Stack, stacks
from hwlib.transformer import step_flops


class Prediction(NamedTuple):
    """Times in seconds, or bytes: predicted, by the simple model, and measured; how many constants were fitted.

    `peer` is what Calculon predicts, NaN where it predicts nothing or the figure is not known; `memory` what a step
    needs of the chip's memory, NaN of all else. `typical` names the constants where none were fitted to steps of
    the software on the chip.
    """

    time: float
    plain: float
    measured: float
    constants: int
    peer: float = math.nan
    memory: float = math.nan
    typical: str = ""

    @property
    def error(self) -> float:
        """|predicted - measured|/measured."""
        return abs(self.time - self.measured) / self.measured

    @property
    def plain_error(self) -> float:
        """The same of the simple model: the data sheet's roofline, or one alpha-beta line."""
        return abs(self.plain - self.measured) / self.measured

    @property
    def peer_error(self) -> float:
        """The same of Calculon."""
        return abs(self.peer - self.measured) / self.measured


def predict(case: Case) -> Prediction | Unmodelled | None:
    """The prediction for one measurement, or None where the project has no constants for it.

    For a training step or its memory that cannot be predicted, `Unmodelled`, with the reason.
    """
    match case:
        case Product():
            return _product(case)
        case Share():
            return _share(case)
        case Collective():
            return _collective(case)
        case NodesAllReduce():
            return _nodes(case.chip, case.network, case.timed)
        case Step():
            return predict_step(case)
        case Memory():
            return Prediction(case.predicted, case.simple, case.measured, 0, calculon(case))
        case Peak():
            by = case.framework
            typical = by.key if case.typical else ""
            constants = len(frameworks[by.like or by.key].fitted)
            return Prediction(case.predicted(), case.simple, case.measured, constants, typical=typical)
        case Unmodelled():
            return case
    return None


def predict_step(case: Step, stack: Stack | None = None) -> Prediction | Unmodelled:
    """A training step, with the constants of `stack`, or of the kept one that the case names.

    The simple model is all operations, recomputed ones among them, at the data sheet's rate.
    """
    typical = "" if stack or not case.typical else case.typical.key
    stack = stack or case.typical or stacks[case.stack]
    if case.plan["dtype"] in ("fp8", "fp4") and "eta_low" not in stack.constants:
        return Unmodelled(f"no constants for {case.plan['dtype']} products of {stack.key}")
    if stack.chip != case.chip:
        stack = stack.replace(chip=case.chip)
    try:
        time = case.time(stack)
    except ValueError as error:
        return Unmodelled(str(error))
    passes = 4 / 3 if case.plan.get("recompute") == "full" else 1.0
    rate = case.gpus * accelerators[case.chip].flops(case.plan["dtype"])
    plain = passes * float(step_flops(case.model, case.plan["B"], case.plan["T"])) / rate
    needed = memory_of(case)
    if typical and needed > 1:  # whose reader guesses what the row leaves out
        return Unmodelled(f"the plan, as it was read, needs {needed:.1f} times the chip's memory")
    return Prediction(time, plain, case.seconds, own_constants(stack), calculon(case), needed, typical)


def memory_of(case: Step) -> float:
    """The share of the chip's memory that a step's plan needs, as it was read."""
    strategy, rest = parted(case.plan)
    T, m = rest["T"], max(strategy.microbatches(rest["B"], rest["T"]), 1.0)
    fused = rest.get("fused", True)
    held = footprint(case.model, strategy, T=T, m=m, states=MIXED_ADAM, fused=fused)  # the least: 16-bit gradients
    return float(held.total / (accelerators[case.chip].hbm_bytes or math.nan))


def _product(case: Product) -> Prediction | None:
    if (case.chip, case.dtype) not in gemm_constants():
        return None
    model = gemm_model(case.chip, case.dtype)
    M, N, K, measured = case.shape
    flops, traffic, *_ = case.shape.sample(case.dtype)
    plain = roofline_time(flops, traffic, model.C, model.W)
    return Prediction(model.time(M, N, K), plain, measured, len(model.constants.constants))


def _share(case: Share) -> Prediction | None:
    if case.op not in share_constants():
        return None
    return Prediction(1 / (share_constants()[case.op].eta * case.sheet), 1 / case.sheet, 1 / case.rate, 1)


def _collective(case: Collective) -> Prediction | None:
    S, n, measured = case.timed
    if (case.chip, case.software) in tree_constants():
        return _nodes(case.chip, case.software, case.timed)
    if c := collective_constants().get((case.chip, case.op, case.software)):
        time = collective_time(c, n, S, case.switch)
        return Prediction(time, plain_time(c, n, S), measured, len(c.constants))
    return None


def _nodes(chip: str, network: str, timed: Timed) -> Prediction:
    S, n, measured = timed
    tree = tree_constants()[chip, network]
    return Prediction(tree_time(tree, n, S), plain_time(tree, n, S), measured, len(tree.constants))

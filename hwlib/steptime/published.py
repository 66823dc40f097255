"""Published steps in the words of the model: the seconds that a row's print comes to, and those that are predicted."""

from hwlib.specs import MeasuredPlan, accelerators
from hwlib.steptime.breakdown import StepTime, step_time
from hwlib.strategy import Strategy
from hwlib.transformer import recomputed_flops, step_flops


def published_strategy(run: MeasuredPlan) -> Strategy:
    """The degrees of a published plan."""
    return Strategy(
        dp=run.dp,
        tp=run.tp,
        pp=run.pp,
        cp=run.cp,
        v=run.v,
        micro=run.micro,
        zero=run.zero,
        sp=run.sp,
        recompute=run.recompute,
    )


def published_time(run: MeasuredPlan) -> float:
    """Seconds of a step, from what was printed: a rate is divided into the operations that its source counts."""
    if run.unit in ("s", "ms"):
        return run.value * {"s": 1.0, "ms": 1e-3}[run.unit]
    if run.unit == "tokens/s":
        return run.B / (run.gpus * run.value)
    flops = float(step_flops(run.shape, run.B, run.T, causal=run.counts == "model"))
    if run.counts == "recomputed":
        flops += float(recomputed_flops(run.shape, run.B, run.T, run.recompute, causal=False))
    peak = accelerators[run.chip].flops(run.dtype)
    rate = {"TFLOP/s": run.value * 1e12, "% of the peak": run.value / 100 * peak}[run.unit]
    return flops / (run.gpus * rate)


def predicted_step(run: MeasuredPlan) -> StepTime:
    """The step of a published plan by `step_time`, with the constants of its software."""
    return step_time(
        run.shape, run.stack, run.levels, published_strategy(run), B=run.B, T=run.T, fused=run.fused, dtype=run.dtype
    )


def peak_time(run: MeasuredPlan) -> float:
    """Seconds of the model's operations at the data sheet's rate: no step is shorter."""
    peak = accelerators[run.chip].flops(run.dtype)
    return float(step_flops(run.shape, run.B, run.T)) / (run.gpus * peak)

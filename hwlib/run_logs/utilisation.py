"""How fast a run is: tokens a second, and the utilisation by the book's definition beside the log's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from hwlib.run_logs.facts import Facts, value_of
from hwlib.run_logs.machine import chip_of_run, model_of
from hwlib.run_logs.pace import RunPace
from hwlib.run_logs.records import RunLog
from hwlib.run_logs.tuned import book_flops, counting_notes
from hwlib.specs import Accelerator, Model, SpecError
from hwlib.training import model_utilization
from hwlib.transformer import parameter_count, step_flops, training_flops

LIKE = 0.03  # FLOPs of a log that differ by less are counted by a convention
PEAKS: Mapping[str, float] = {"nanogpt": 312e12}
"""The peak that a program divides by whatever the chip is, FLOP/s."""


@dataclass(frozen=True)
class Utilisation:
    """Tokens a second in all and of a GPU; FLOPs of a step as the book counts them and as the log does; the dense peak
    of the chip in the run's precision and the log's; utilisations by both; why they differ, and what else the
    book's FLOPs depend on, in words. None for what nobody says.
    """

    token_rate: float | None = None
    gpu_token_rate: float | None = None
    flops: float | None = None
    log_flops: float | None = None
    peak: float | None = None
    log_peak: float | None = None
    mfu: float | None = None
    log_mfu: float | None = None
    why: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def utilisation_of(log: RunLog, facts: Facts, pace: RunPace | None) -> Utilisation:
    """The rates of the mean step; where the batch is not known those that the log itself says."""
    if pace is None or not pace.steps:
        return Utilisation()
    tokens, gpus = value_of(facts, "batch_tokens"), value_of(facts, "gpus")
    seconds = pace.mean if pace.absolute else None
    total = tokens / seconds if tokens and seconds else _median(pace, "token_rate")
    of_gpu = total / gpus if total and gpus else _median(pace, "gpu_token_rate")
    total = total or (of_gpu * gpus if of_gpu and gpus else None)
    model, chip = _model(facts), chip_of_run(facts)
    dtype = value_of(facts, "dtype") or "bf16"
    peak = _peak(chip, dtype)
    T = value_of(facts, "sequence")
    flops_a_token = book_flops(model, facts) if model and T else None
    flops = flops_a_token * tokens if flops_a_token and tokens else None
    mfu = flops_a_token * of_gpu / peak if flops_a_token and of_gpu and peak else None
    if flops and seconds and gpus and peak:
        mfu = float(model_utilization(flops, seconds, gpus, peak))
    log_mfu, log_peak, rate = _median(pace, "mfu"), _log_peak(log, peak), _median(pace, "flops_rate")
    rate = rate or (log_mfu * log_peak if log_mfu and log_peak else None)
    usual = median(pace.seconds)
    if log_mfu is None and rate and peak:
        log_mfu, log_peak = rate / peak, peak
    log_flops = rate * usual * gpus if rate and gpus and pace.absolute else None
    why = _why(model, tokens, T, log_flops, flops) if model and tokens and T and log_flops and flops else ()
    why = (*why, *_peaks(peak, log_peak))
    notes = counting_notes(model, facts) if model and mfu else ()
    return Utilisation(total, of_gpu, flops, log_flops, peak, log_peak, mfu, log_mfu, why, notes)


def _median(pace: RunPace, name: str) -> float | None:
    values = [value for step in pace.steps if (value := getattr(step, name)) is not None]
    return median(values) if values else None


def _model(facts: Facts) -> Model | None:
    try:
        return model_of(facts)
    except (KeyError, SpecError):
        return None


def _peak(chip: Accelerator | None, dtype: str) -> float | None:
    try:
        return float(chip.flops(dtype)) if chip else None
    except (KeyError, ValueError, TypeError):
        return None


def _log_peak(log: RunLog, peak: float | None) -> float | None:
    """What a program divides by: as it prints it, as its source has it, or the chip's."""
    printed = log.number("peak") or PEAKS.get(log.program)
    return printed or (peak if log.program == "composer" else None)


def _why(model: Model, B: float, T: float, theirs: float, ours: float) -> tuple[str, ...]:
    """The convention by which a log counts its FLOPs, if one comes near."""
    ratio = theirs / ours
    if abs(ratio - 1) < LIKE:
        return ()
    counted = min(conventions(model, B, T).items(), key=lambda pair: abs(pair[1] / theirs - 1))
    if abs(counted[1] / theirs - 1) < LIKE:
        return (f"the log counts {ratio:.2f} times the FLOPs of the book: {counted[0]}",)
    return (
        f"the log counts {ratio:.2f} times the FLOPs of the book, by none of the usual conventions: as many as a step "
        f"of {ratio * B:,.0f} tokens has, where {B:,.0f} are taken here",
    )


def conventions(model: Model, B: Any, T: Any) -> dict[str, float]:
    """FLOPs of a step as programs count them, beside the book's: attention under its mask, no embedding."""
    full, causal = (float(step_flops(model, B, T, causal=mask)) for mask in (False, True))
    embedding = 6.0 * model.vocab * model.width * B
    return {
        "attention without its mask": full,
        "attention without its mask, and the embedding as if it were a product": full + embedding,
        "the embedding as if it were a product": causal + embedding,
        "6 a parameter, without attention": float(training_flops(parameter_count(model), B)),
        "with full recomputation, 8 a parameter": causal * 4 / 3,
    }


def _peaks(peak: float | None, theirs: float | None) -> tuple[str, ...]:
    if peak and theirs and abs(theirs / peak - 1) > LIKE:
        return (f"the log divides by {theirs / 1e12:,.0f} TFLOP/s, the chip's dense peak is {peak / 1e12:,.0f}",)
    return ()

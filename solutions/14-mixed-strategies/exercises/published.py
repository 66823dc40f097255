"""The prediction of ten published runs, and the names with which the text computes their numbers."""

import re
from statistics import median

from autograder.answers import Estimates
from autograder.declaration import Exercise, Mistake
from hwlib.specs import accelerators, measured_plans
from hwlib.steptime import peak_time, predicted_step, published_time
from hwlib.transformer import parameter_count
from hwlib.units import show

RUNS = measured_plans(asked=True)
RECOMPUTED_WORDS = {
    "none": "nothing recomputed",
    "selective": "attention's scores recomputed",
    "full": "all recomputed",
}
PUBLISHED_WITH = {
    "korthikanti2022": "Megatron-LM of 2022",
    "narayanan2021": "Megatron-LM of 2021",
    "vtrain": "Megatron-DeepSpeed",
    "megatron-lm-readme": "Megatron Core of 2024",
    "bloom-chronicles": "Megatron-DeepSpeed of 2022",
    "megatron-bridge": "Megatron Bridge, 2025 or later",
    "nemo-performance": "NeMo 24.07",
}


def run_label(run) -> str:
    """The size of the model, and how many of which GPU: "405B on 1,024 H100"."""
    named = re.search(r"\d+B", run.shape.name)
    size = named[0] if named else f"{parameter_count(run.shape) / 1e9:.0f}B"
    return f"{size} on {run.gpus:,} {accelerators[run.chip].name.split()[0]}"


def run_words(run) -> str:
    """A run for a table: all that it takes to predict its step, and not its time."""
    shape = run.shape
    chunks = f" in {run.v} chunks each" if run.v > 1 else ""
    mesh = (("tp", run.tp, ""), ("pp", run.pp, chunks), ("cp", run.cp, ""), ("dp", run.dp, ""))
    degrees = [f"{name} {x}{more}" for name, x, more in mesh if x > 1]
    return (
        f"**{show(peak_time(run), 's', 3)}** at the data sheet's rate: {shape.layers} layers of width "
        f"{shape.width:,}; {', '.join(degrees)}; {run.sequences:,} sequences of {run.T:,} tokens, microbatches of "
        f"{run.micro}; {run.dtype}, {RECOMPUTED_WORDS[run.recompute]}; "
        f"{run.domain} GPUs a node, {show(run.network / run.domain, 'B/s')} out of it for each; "
        f"{PUBLISHED_WITH[run.source.split()[0]]}"
    )


def model_times() -> list[float]:
    """Seconds of the ten steps by `hwlib.steptime`."""
    return [float(predicted_step(run).total) for run in RUNS]


def published_times() -> list[float]:
    """Seconds of the ten steps, from what was printed."""
    return list(map(published_time, RUNS))


def peak_times(share: float = 1.0) -> list[float]:
    """Seconds of the ten steps at a share of the data sheet's rate."""
    return [peak_time(run) / share for run in RUNS]


LABELS = {run_label(run): run_words(run) for run in RUNS}
MODEL_ERRORS = {
    name: model / measured - 1 for name, model, measured in zip(LABELS, model_times(), published_times(), strict=True)
}
SHARES = {name: peak / time for name, peak, time in zip(LABELS, peak_times(), published_times(), strict=True)}
MEDIAN_ERROR = median(map(abs, MODEL_ERRORS.values()))
WORST = max(MODEL_ERRORS, key=lambda name: abs(MODEL_ERRORS[name]))


def share_error(share: float) -> float:
    """The median error of one share of the peak for all ten."""
    return median(abs(reached / share - 1) for reached in SHARES.values())


def share_text(share: float) -> str:
    return f"{100 * share:.2g} %"


BEST_SHARE = min((n / 1000 for n in range(150, 600)), key=share_error)
FAR = 0.2
SHARE_FAR = [error for reached in SHARES.values() if (error := abs(reached / BEST_SHARE - 1)) > FAR]
MODEL_FAR = sum(abs(error) > FAR for error in MODEL_ERRORS.values())

PREDICT_RUNS = Exercise(
    id="mixed-strategies-predict-runs",
    title="Ten published runs",
    points=2,
    predict=True,
    lines=10,
    prompt="Here are ten published runs of dense models with tensor, pipeline and data parallelism at once, some with "
    "context parallelism too, one from each of ten tables; a digest of its name decided which. "
    "How many seconds does a step of each take? A guess by shares of the peak is welcome, and so is `step_time`. "
    "*To first order*: what counts is how near half of your numbers are.",
    answer=Estimates(LABELS, "s", rtol=0.05, truth="published", beside={"the model": model_times}),
    solution=published_times,
    mistakes=(
        Mistake(
            peak_times,
            "That is the data sheet's rate, for all ten. No run reaches it: which share did the runs of the last "
            "chapters?",
        ),
        Mistake(
            lambda: peak_times(2.0),
            "That is twice the data sheet's dense rate. Sparse matrices are not what these runs multiply.",
        ),
    ),
    hints=(
        "Begin with the time at the data sheet's rate, and divide it by the share of the peak that you expect.",
        "Recomputing everything does a third more work than the model asks for. Products in 8 and 4 bits are a "
        "smaller part of a step than those in 16. A pipeline with few microbatches waits.",
    ),
    explain=f"These runs reach {share_text(min(SHARES.values()))} to {share_text(max(SHARES.values()))} of the peak, "
    f"and the best single share, {share_text(BEST_SHARE)}, is off by {share_text(share_error(BEST_SHARE))} in the "
    "median. What sets them apart can be computed: work that is done twice, bubbles, waits, and products in 8 and 4 "
    "bits beside which all else takes its old time. `hwlib.steptime` errs by "
    f"{share_text(MEDIAN_ERROR)} in the median, as it does on the tables from which the ten are drawn; its constants "
    "were fitted to those, and how it does on rows that it has not seen stands in docs/fidelity.md. Its worst is "
    f"{WORST}, {share_text(abs(MODEL_ERRORS[WORST]))} too {'short' if MODEL_ERRORS[WORST] < 0 else 'long'}: others of "
    "that table with two tensor ranks are slow as well, and nothing in their plans says why.",
)

"""What published steps say of the typed rate of Mamba-2 in training: `python -m benchmarks.fit.state_rates`.

One constant, the share of the vector units' rate (`hwlib.steptime.state_times.TRAINED_SHARE`), is searched on the steps
of Nemotron 3 whose products are all in 8 bits and that constants may be fitted to. A fold is a model: the steps of each
are scored with the share that those of the others give. Nothing is written, for no share holds of two models: steps
of Nano ask for twice that of Super, and each fold errs more than with the typed one.
"""

from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

import click

from benchmarks.rows.published import ROWS, steps
from benchmarks.rows.published_row import HELD_OUT
from benchmarks.rows.training_step import TrainingStep
from hwlib.specs import accelerators
from hwlib.steptime.state_times import TRAINED_SHARE, mean_state_time

KIND = "mamba2"
SHARES = tuple(round(0.05 + 0.01 * i, 2) for i in range(96))
BACKWARD = 2  # times the time of a forward pass


class StateStep(NamedTuple):
    """A measured step: what is predicted with the kept share, what of that states take, and what was measured."""

    model: str
    seconds: float
    states: float
    measured: float
    fitted: bool

    def error(self, share: float) -> float:
        """Predicted with another share over measured, less 1."""
        return (self.seconds + self.states * (TRAINED_SHARE[KIND] / share - 1)) / self.measured - 1


class FoldOfModel(NamedTuple):
    """A model's steps, the share that steps of the others give, and the mean errors with it and with the kept one."""

    model: str
    rows: int
    share: float
    error: float
    kept: float


def state_steps() -> list[StateStep]:
    """The steps of models with Mamba-2 of the project's rows, but those in 4 bits. Raises DataError."""
    result = []
    for row, case in steps(ROWS, every=True):
        if case.model.mixer and case.model.mixer.kind == KIND and case.plan["dtype"] == "fp8":
            fitted = row.cells["use"] != HELD_OUT
            result.append(StateStep(case.model.key, case.time(), state_seconds(case), case.seconds, fitted))
    return result


def state_seconds(case: TrainingStep) -> float:
    """What states take of a step without a pipeline, forward and backward."""
    plan = case.plan
    layers = case.model.layers + bool(plan.get("mtp")) * case.model.mtp_layers
    share = layers / case.model.layers  # modules for the next token have no state: the mean counts them
    mean = mean_state_time(case.model, accelerators[case.chip], plan["micro"] * plan["T"], plan["tp"], 1.0)
    microbatches = plan["B"] / plan["T"] / plan["dp"] / plan["micro"]
    return float((1 + BACKWARD) * microbatches * layers * mean / share)


def mean_error(some: Sequence[StateStep], share: float) -> float:
    """The mean of |predicted - measured|/measured."""
    return fmean(abs(step.error(share)) for step in some)


def fitted_share(some: Sequence[StateStep]) -> float:
    """The share with the least mean error."""
    return min(SHARES, key=lambda share: mean_error(some, share))


def folds_by_model(some: Sequence[StateStep]) -> list[FoldOfModel]:
    """Each model's steps with the share that those of the others, which may be fitted to, give."""
    result = []
    for model in sorted({step.model for step in some}):
        own = [step for step in some if step.model == model]
        share = fitted_share([step for step in some if step.fitted and step.model != model])
        result.append(FoldOfModel(model, len(own), share, mean_error(own, share), mean_error(own, TRAINED_SHARE[KIND])))
    return result


@click.command(help=__doc__)
def main() -> None:
    """Print the share that fits, and what each model says of it."""
    every = state_steps()
    those = [step for step in every if step.fitted]
    share = fitted_share(those)
    print(f"{KIND}: {share:.2f} of {len(those)} rows, mean error {mean_error(those, share):.1%};", end=" ")
    print(f"kept {TRAINED_SHARE[KIND]}: {mean_error(those, TRAINED_SHARE[KIND]):.1%}")
    for fold in folds_by_model(every):
        print(f"{fold.model}: {fold.rows} rows, {fold.error:.1%} with {fold.share:.2f}; kept {fold.kept:.1%}")


if __name__ == "__main__":
    main()

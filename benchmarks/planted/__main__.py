"""Run every planted cause, and write its log: `python -m benchmarks.planted FOLDER [NAME...]`.

Each run takes some seconds. A test reads the logs and expects the cause that is named before the first underscore of a
file's name; a file that begins with `hidden` has a cause that its format cannot show.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import click

from benchmarks.planted import formats
from benchmarks.planted.loop import LENGTH, PlantedCause, TimedStep, ranks, train

Lines = Iterator[str]


def plain(planted: PlantedCause, *forms: Callable[[TimedStep], Lines]) -> Lines:
    """A log of forms that say the step alone."""
    for step in train(planted):
        for form in forms:
            yield from form(step)


def following(planted: PlantedCause, form: Callable[[TimedStep, float], Lines], events: dict[str, str]) -> Lines:
    """A log of a form whose step has what was done before it, with the line that the program prints of that."""
    before = 0.0
    for step in train(planted):
        yield from form(step, before)
        before = sum(step.after.values())
        for name, seconds in step.after.items():
            if name in events:
                yield events[name].format(step=step.step, seconds=seconds, loss=step.loss)


def apart(planted: PlantedCause, form: Callable[[TimedStep], Lines], events: dict[str, str]) -> Lines:
    """A log of a form whose step has nothing else, and lines of what was done between them."""
    for step in train(planted):
        yield from form(step)
        for name in step.after:
            yield events[name].format(step=step.step, loss=step.loss)


def together(slow: int, listed: bool) -> Lines:
    """Three ranks with Megatron's timers: of the quickest and the slowest, or of all."""
    times: list[list[float]] = []
    ranks(slow, 20, lambda _, of_step: times.append(of_step))
    clock = 1.8e9
    for step, of_step in enumerate(times, 1):
        clock += 3 * max(of_step)
        whole = TimedStep(step, 24, 3 * max(of_step), 5.0, 1e9, clock)
        yield from formats.megatron(whole)
        ms = [1000 * seconds for seconds in of_step]
        if listed:
            yield "times across ranks (ms):"
            yield "  forward-compute:"
            yield from (f"     rank {rank:2d}: {time:.2f}" for rank, time in enumerate(ms))
        else:
            yield "(min, max) time across ranks (ms):"
            yield f"    {'forward-compute '.ljust(48, '.')}: ({min(ms):.2f}, {max(ms):.2f})"


def headed(head: list[str], lines: Lines) -> Lines:
    """A log with lines before it."""
    yield from head
    yield from lines


TITAN = "[rank0]:[titan] 2026-11-29 12:00:00,000 - root - INFO - "
SAVED = {"save": TITAN + "Finished saving the checkpoint (or staging if async is enabled)in {seconds:.2f} seconds."}
COLLECTED = {"collect": TITAN + "[GC] Performing periodic GC collection. took {seconds:.2f} seconds"}
NANO = {"save": "saving checkpoint to out", "evaluate": "step {step}: train loss {loss:.4f}, val loss {loss:.4f}"}
EVALUATED = {"evaluate": " validation loss at iteration {step} | lm loss value: {loss:.6E} | lm loss PPL: 1.0E+00 | "}
CHECKPOINT = {"save": "[INFO|trainer.py:2889] >> Saving model checkpoint to out/checkpoint-{step}"}
TITAN_BATCH = (
    TITAN + f"Trainer is initialized with local batch size 8, global batch size 8, gradient accumulation steps 1, "
    f"sequence length {LENGTH}, total steps 60 (warmup 2)"
)
MESH = TITAN + "Building device mesh with parallelism: pp=1, dp_replicate=1, dp_shard=1, cp=1, tp=1, ep=1"
DEEPSPEED = [
    f"[2026-11-29 12:00:00,000] [INFO] [config.py:1000:print]   {name.ljust(29, '.')} {value}"
    for name, value in (
        ("gradient_accumulation_steps ", 4),
        ("train_batch_size ", 32),
        ("train_micro_batch_size_per_gpu ", 2),
        ("world_size ", 2),
    )
]
RUNS: dict[str, Callable[[], Lines]] = {
    "data_megatron": lambda: plain(PlantedCause(loader=0.04), formats.megatron, formats.megatron_timers),
    "data_neox": lambda: plain(PlantedCause(loader=0.05), formats.neox),
    "save_nanogpt": lambda: following(PlantedCause(save_every=10), formats.nanogpt, NANO),
    "save_torchtitan": lambda: headed(
        [MESH, TITAN_BATCH], following(PlantedCause(save_every=15), formats.torchtitan, SAVED)
    ),
    "save_trainer": lambda: apart(PlantedCause(save_every=12, batch=16), formats.trainer, CHECKPOINT),
    "evaluate_nanogpt": lambda: following(PlantedCause(evaluate_every=12), formats.nanogpt, NANO),
    "evaluate_megatron": lambda: apart(PlantedCause(evaluate_every=10, batch=16), formats.megatron, EVALUATED),
    "slow_rank_megatron": lambda: together(1, False),
    "slow_rank_listed": lambda: together(2, True),
    "collect_torchtitan": lambda: following(PlantedCause(collect_every=10), formats.torchtitan, COLLECTED),
    "host_megatron": lambda: plain(PlantedCause(launches=40_000, batch=1, ramp=20), formats.megatron),
    "batch_deepspeed": lambda: headed(DEEPSPEED, plain(PlantedCause(steps=20, batch=32), formats.deepspeed)),
    "batch_nanogpt": lambda: headed(
        [f"tokens per iteration will be: {4 * LENGTH}"], following(PlantedCause(steps=20, batch=4), formats.nanogpt, {})
    ),
    "batch_megatron": lambda: (
        line for step in train(PlantedCause(steps=20)) for line in formats.megatron(step, 6 * step.step)
    ),
    "nan_torchtune": lambda: plain(PlantedCause(rate=1e6, steps=40), formats.torchtune),
    "spike_torchtitan": lambda: following(PlantedCause(bad_batch=45, rate=0.3), formats.torchtitan, {}),
    "drift_composer": lambda: following(PlantedCause(growing=True), formats.composer, {}),
    "shift_deepspeed": lambda: plain(PlantedCause(disturbed=40, steps=90), formats.deepspeed),
    "memory_grows_torchtitan": lambda: following(PlantedCause(leak=True, steps=80), formats.torchtitan, {}),
    "warmup_megatron": lambda: plain(PlantedCause(first=1.0), formats.megatron),
    "hidden_composer": lambda: following(PlantedCause(save_every=10), formats.composer, {}),
    "hidden_torchtitan": lambda: following(PlantedCause(loader=0.2, late=(9, 23, 31, 52)), formats.torchtitan, {}),
}


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.argument("names", nargs=-1, type=click.Choice(list(RUNS)))
def main(folder: Path, names: tuple[str, ...]) -> None:
    """Write the logs of these runs, or of all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or RUNS:
        (folder / f"{name}.log").write_text("\n".join(RUNS[name]()) + "\n", "utf-8")
        print(folder / f"{name}.log")


if __name__ == "__main__":
    main()

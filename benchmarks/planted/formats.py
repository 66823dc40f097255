"""The lines that known programs print of a step, as their own code formats them (`hwlib/run_logs/fields.csv`)."""

from collections.abc import Iterator
from datetime import UTC, datetime

from benchmarks.planted.loop import LENGTH, TimedStep

CAPACITY = 8 * 2**30  # bytes, of which torchtitan prints the share


def _clock(step: TimedStep, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    return datetime.fromtimestamp(step.clock, UTC).strftime(form)


def megatron(step: TimedStep, samples: int = 0) -> Iterator[str]:
    """Megatron-LM, with its clock."""
    yield (
        f" [{_clock(step, '%Y-%m-%d %H:%M:%S.%f')}] iteration {step.step:8d}/{100:8d} | "
        f"consumed samples: {samples or step.step * step.batch:12d} | "
        f"elapsed time per iteration (ms): {1000 * step.seconds:.1f} | learning rate: {1e-3:.6E} | "
        f"global batch size: {step.batch:5d} | lm loss: {step.loss:.6E} | loss scale: 1.0 | "
        f"grad norm: 1.000 | number of skipped iterations: {0:3d} | number of nan iterations: {0:3d} |"
    )


def megatron_timers(step: TimedStep) -> Iterator[str]:
    """Its timers at level 2, of the quickest and the slowest rank, which is one here."""
    yield "(min, max) time across ranks (ms):"
    for name, part in (
        ("forward-compute", "forward"),
        ("backward-compute", "backward"),
        ("batch-generator", "data"),
        ("optimizer", "optimizer"),
    ):
        ms = 1000 * step.parts[part]
        yield f"    {(name + ' ').ljust(48, '.')}: ({ms:.2f}, {ms:.2f})"


def neox(step: TimedStep) -> Iterator[str]:
    """gpt-neox, with its timers."""
    yield (
        f" samples/sec: {step.batch / step.seconds:.3f} | "
        f"iteration {step.step:8d}/{100:8d} | "
        f"elapsed time per iteration (ms): {1000 * step.seconds:.1f} | learning rate: 1.000E-03 | "
        f"approx flops per GPU: 0.1TFLOPS | lm_loss: {step.loss:.6E} | number of skipped iterations:   0 | "
        "number of nan iterations:   0 |"
    )
    parts = {name: 1000 * seconds for name, seconds in step.parts.items()}
    yield (
        f"time (ms) | forward: {parts['forward']:.2f} | backward: {parts['backward']:.2f} | optimizer: "
        f"{parts['optimizer']:.2f} | batch generator: {parts['data']:.2f}"
    )


def torchtitan(step: TimedStep, before: float) -> Iterator[str]:
    """torchtitan, whose rate has all that happened since the line before: `before` seconds beside the step."""
    tps = step.batch * LENGTH / (step.seconds + before)
    yield (
        f"[rank0]:[titan] {_clock(step)},{int(step.clock % 1 * 1000):03d} - root - INFO - step: {step.step:2}  loss: "
        f"{step.loss:8.5f}  grad_norm:  1.0000  memory: {step.memory / 2**30:5.2f}GiB"
        f"({100 * step.memory / CAPACITY:.2f}%)  tps: {round(tps):,}  tflops: 0.01  mfu: 0.00%"
    )


def nanogpt(step: TimedStep, before: float) -> Iterator[str]:
    """nanoGPT, in whose time of a step is what was done before it."""
    yield f"iter {step.step}: loss {step.loss:.4f}, time {1000 * (step.seconds + before):.2f}ms, mfu 0.01%"


def deepspeed(step: TimedStep) -> Iterator[str]:
    """DeepSpeed's throughput timer."""
    rate = step.batch / step.seconds
    yield (
        f"[{_clock(step, '%Y-%m-%d %H:%M:%S,%f')[:-3]}] [INFO] [timer.py:264:stop] epoch=0/micro_step={step.step}/"
        f"global_step={step.step}, RunningAvgSamplesPerSec={rate}, CurrSamplesPerSec={rate}, MemAllocated=0.5GB, "
        f"MaxMemAllocated={round(step.memory / 2**30, 2)}GB"
    )


def torchtune(step: TimedStep) -> Iterator[str]:
    """torchtune's logger."""
    yield (
        f"Step {step.step} | loss:{step.loss} lr:0.001 tokens_per_second_per_gpu:"
        f"{step.batch * LENGTH / step.seconds} peak_memory_reserved:{step.memory / 2**30} "
    )


def composer(step: TimedStep, before: float) -> Iterator[str]:
    """Composer's block, with a window of one step."""
    yield f"[batch={step.step}/100]:"
    yield f"\t Train time/batch: {step.step - 1}"
    yield f"\t Train loss/train/total: {step.loss:.4f}"
    yield f"\t Train throughput/samples_per_sec: {step.batch / (step.seconds + before):.4f}"


def trainer(step: TimedStep) -> Iterator[str]:
    """The Trainer's dict, behind a clock as people's loggers put it."""
    yield (
        f"{_clock(step, '%Y-%m-%d %H:%M:%S.%f')[:-3]} {{'loss': {step.loss:.4f}, 'grad_norm': 1.0, 'learning_rate': "
        f"0.001, 'epoch': {step.step / 100}}}"
    )

"""The reader of a log of any known program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hwlib.run_logs.benchmarks import read_sglang, read_vllm
from hwlib.run_logs.composer import read_composer
from hwlib.run_logs.deepspeed import read_deepspeed
from hwlib.run_logs.lines import LogLine, log_lines
from hwlib.run_logs.megatron import read_megatron
from hwlib.run_logs.nanogpt import read_nanogpt
from hwlib.run_logs.nemo import read_nemo
from hwlib.run_logs.reading import LogReading
from hwlib.run_logs.records import LoggedStep, RunLog, RunLogError
from hwlib.run_logs.torchtitan import read_torchtitan
from hwlib.run_logs.torchtune import read_torchtune
from hwlib.run_logs.trainer import read_trainer
from hwlib.units import plural

READERS: Mapping[str, Callable[[Sequence[LogLine]], LogReading]] = {
    "megatron": read_megatron,
    "torchtitan": read_torchtitan,
    "nemo": read_nemo,
    "torchtune": read_torchtune,
    "composer": read_composer,
    "nanogpt": read_nanogpt,
    "trainer": read_trainer,
    "deepspeed": read_deepspeed,
    "vllm": read_vllm,
    "sglang": read_sglang,
}
"""The readers by program. Of two that read equally many steps the first counts: a program that runs on DeepSpeed says
more of its step than DeepSpeed does."""
TITLES: Mapping[str, str] = {
    "megatron": "Megatron-LM",
    "torchtitan": "torchtitan",
    "nemo": "NeMo 2",
    "torchtune": "torchtune",
    "composer": "Composer (llm-foundry)",
    "nanogpt": "nanoGPT",
    "trainer": "the Hugging Face Trainer",
    "deepspeed": "DeepSpeed",
    "vllm": "vLLM's benchmark",
    "sglang": "SGLang's benchmark",
}
BEGINNING = 2_000  # lines of a long log by which its program is known
BELOW = ("deepspeed", "trainer")
"""Programs that others run on, and whose words are no others': what they say counts without a step of theirs."""


def read_run_log(text: str) -> RunLog:
    """Read a log of any program of `fields.csv`. Settings, events and timers of the other programs whose lines are in
    it are kept too: a launcher's, or DeepSpeed's below the Trainer.

    Raises RunLogError for a text with no step of any program.
    """
    lines = [*log_lines(text)]
    logs = _all_read(lines) if lines else []
    best = max(logs, key=_worth, default=None)
    if best is None or best.empty:
        raise RunLogError(_nothing(lines))
    log, copies = _single(best.log())
    others = [other for other in logs if other is not best and not other.empty]
    beside = [other for other in logs if other is not best and (not other.empty or other.program in BELOW)]
    return replace(
        log,
        settings=(*log.settings, *(setting for other in beside for setting in other.settings)),
        events=log.events or tuple(event for other in beside for event in other.events),
        timers=log.timers or tuple(timer for other in beside for timer in other.timers),
        others=tuple(other.program for other in others),
        copies=copies,
    )


def _all_read(lines: Sequence[LogLine]) -> list[LogReading]:
    """What each program's reader reads. A long log is read whole by the reader to which its beginning belongs, and what
    that takes for no step by the others: each line has one program's step. If that reader was not the right one, all
    read everything.
    """
    if len(lines) <= BEGINNING:
        return [read(lines) for read in READERS.values()]
    first = max(READERS, key=lambda name: _worth(READERS[name](lines[:BEGINNING])))
    log = READERS[first](lines)
    taken = {step.line for step in log.steps}
    rest = [line for line in lines if line.number not in taken]
    others = {name: read for name, read in READERS.items() if name != first}
    logs = {first: log} | {name: read(rest) for name, read in others.items()}
    if not taken or max(map(_worth, logs.values())) != _worth(log):
        logs = {first: log} | {name: read(lines) for name, read in others.items()}
    return [logs[name] for name in READERS]


def _worth(log: LogReading) -> tuple[int, int]:
    """By how many steps say how long they took, and where none does by how many there are."""
    timed = sum(1 for step in log.steps if _is_timed(step)) + 2 * bool(log.benchmark)
    return timed, 0 if timed else len(log.steps)


def _is_timed(step: LoggedStep) -> bool:
    return (
        step.seconds is not None
        or step.gpu_token_rate is not None
        or step.token_rate is not None
        or step.sample_rate is not None
        or step.mean_sample_rate is not None
        or step.step_rate is not None
    )


def _single(log: RunLog) -> tuple[RunLog, int]:
    """A log of one rank out of one in which several ranks print each step, and how many do; a step that comes again
    later, after a restart, counts as a step of its own.
    """
    steps: list[LoggedStep] = []
    most, copies = 1, 1
    for step in log.steps:
        copies = copies + 1 if steps and steps[-1].step == step.step else 1
        most = max(most, copies)
        if copies == 1:
            steps.append(step)
    return replace(log, steps=tuple(steps)), most


def _nothing(lines: Sequence[LogLine]) -> str:
    got = f"{plural(len(lines), 'line')} without one, the first: {lines[0].text[:60]!r}" if lines else "an empty text"
    known = ", ".join(TITLES.values())
    return f"a step of a training log, or a table of a serving benchmark, was expected, of {known}; got {got}"

"""Logs of the Trainer of Hugging Face's transformers, and of what is built on it: dicts, and a bar of progress."""

import re
from collections.abc import Sequence
from dataclasses import replace

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "trainer"
PAIR = re.compile(r"""['"]([\w ]{2,50})['"]: *['"]?([-+.\w]{1,40})""")
HEADED = re.compile(
    r"(?:^|>> +|- +|\s)((?:Num|Instantaneous|Total|Gradient|Number) [\w ().,&]{4,70}?) = ([\d,.]{1,24})"
)
TRAINABLE = re.compile(r"(trainable params): ([\d,]{1,20}) \|\| (all params): ([\d,]{1,20})")
BAR = re.compile(r"\| *(\d{1,12})/(\d{1,12}) \[(\d{1,6}:[\d:]{2,9})<")


def read_trainer(lines: Sequence[LogLine]) -> LogReading:
    """The steps and the rest of a log of the Trainer. A dict has no number of its step in most releases: it is that of
    the bar before it, or else counted from the epochs and the steps of the run, or else the number of the dict.

    >>> from hwlib.run_logs.lines import log_lines
    >>> text = "{'loss': 75.1831, 'grad_norm': 9.36, 'learning_rate': 9.9e-06, 'epoch': 1.0, 'step': 4}"
    >>> read_trainer([*log_lines(text)]).steps[0].loss
    75.1831
    """
    log = LogReading(PROGRAM)
    at: tuple[int, float] | None = None
    for line in lines:
        text = line.text
        if match := BAR.search(text):
            at = int(match[1]), _seconds(match[3])
        if "'loss':" in text or '"loss":' in text:
            _step(log, line, at)
        elif "'train_runtime'" in text or '"train_runtime"' in text:
            log.setting(line, PAIR.findall(text))
        elif "trainable params" in text and (match := TRAINABLE.search(text)):
            log.setting(line, [(match[1], match[2]), (match[3], match[4])])
        elif " = " in text and (match := HEADED.search(text)):
            log.setting(line, [(match[1].strip(), match[2])])
        else:
            log.event(line)
    if log.empty and lines:
        _whole(log, lines[-1])
    return log


def _step(log: LogReading, line: LogLine, at: tuple[int, float] | None) -> None:
    """A dict of a step, with the number and the time of the bar before it."""
    pairs = PAIR.findall(line.text[line.text.find("{") :])
    names = {name for name, _ in pairs}
    if "step" not in names:
        pairs.append(("step", str(at[0] if at else len(log.steps) + 1)))
    if log.step(line, pairs) and at and line.clock is None:
        log.steps[-1] = replace(log.steps[-1], clock=at[1])


def _whole(log: LogReading, line: LogLine) -> None:
    """A run of which only the summary is there: a step with its mean rate."""
    values = {setting.name: setting.value for setting in log.settings}
    runtime, rate = values.get("runtime"), values.get("run_step_rate")
    if isinstance(runtime, float) and isinstance(rate, float) and rate > 0:
        steps = max(round(runtime * rate), 1)
        log.step(line, [("step", str(steps)), ("step_time", repr(1 / rate)), ("loss", str(values.get("run_loss", "")))])


def _seconds(text: str) -> float:
    """Of 1:02:03 or 02:03."""
    total = 0.0
    for part in text.split(":")[:4]:
        total = 60 * total + (float(part) if part else 0.0)
    return total

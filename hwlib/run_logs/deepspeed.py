"""Logs of DeepSpeed's engine and of its pipeline engine."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading
from hwlib.run_logs.records import LoggedStep

PROGRAM = "deepspeed"
SPEED = re.compile(r"\b(\d{1,9})/(\d{1,12}), (?=(?:RunningAvg)?SamplesPerSec)")
PAIR = re.compile(r"\b([A-Za-z_]{4,30})=([-+.\d][\d.e+-]{0,30})")
PROGRESS = re.compile(r"\bstep=(\d{1,12}), skipped=(\d{1,12})")
PIPELINE = re.compile(r"\bsteps: (\d{1,12}) ")
PIPELINE_PAIR = re.compile(r"(loss|iter time \(s\)|samples/sec): +([-+.\w]{1,24})")
TIMES = re.compile(r"\b([a-z_]{4,40}): (\d{1,12}\.\d{1,4})")
DUMPED = re.compile(r"\] {1,6}(\w{4,60}) ?\.{0,60} {1,2}(\S{1,40})$")
STAGE = re.compile(r"""["']?stage["']?: *([0-3])\b""")
MS = 1e-3


def read_deepspeed(lines: Sequence[LogLine]) -> LogReading:
    """The steps and the rest of a log of DeepSpeed.

    >>> from hwlib.run_logs.lines import log_lines
    >>> text = "[timer.py:189:stop] 0/40, SamplesPerSec=83.486, MemAllocated=0.26GB, MaxMemAllocated=9.02GB"
    >>> step = read_deepspeed([*log_lines(text)]).steps[0]
    >>> step.step, step.mean_sample_rate, step.sample_rate
    (40, 83.486, None)
    """
    log = LogReading(PROGRAM)
    for line in lines:
        text = line.text
        if "SamplesPerSec=" in text:
            match = SPEED.search(text)
            head = [("global_step", match[2])] if match else []
            if not log.step(line, [*head, *PAIR.findall(text)]):
                log.unread.append(line.number)
        elif match := PIPELINE.search(text):
            log.step(line, [("steps", match[1]), *PIPELINE_PAIR.findall(text)])
        elif match := PROGRESS.search(text):
            log.step(line, [("step", match[1]), ("skipped", match[2])])
        elif "time (ms)" in text:
            for name, time in TIMES.findall(text):
                log.timer(line, name, (float(time),), MS)
        elif not log.event(line):
            _other(log, line)
    log.steps = _joined(log)
    return log


def _joined(log: LogReading) -> list[LoggedStep]:
    """Steps whose lines follow each other made one: of the learning rate, and of the speed. Skipped steps are counted
    from the start there, and between the lines here.
    """
    joined: list[LoggedStep] = []
    before = 0.0
    for step in log.steps:
        skipped = dict(step.others).get("all_skipped")
        if skipped is not None:
            step = replace(step, skipped=max(skipped - before, 0.0))
            before = skipped
        if joined and joined[-1].step == step.step and not _both(joined[-1], step):
            joined[-1] = _union(joined[-1], step)
        else:
            joined.append(step)
    return joined


def _both(step: LoggedStep, other: LoggedStep) -> bool:
    """Whether both lines say how fast the step was: those of two ranks."""
    names = ("mean_sample_rate", "sample_rate", "seconds")
    return any(getattr(step, name) is not None and getattr(other, name) is not None for name in names)


def _union(step: LoggedStep, other: LoggedStep) -> LoggedStep:
    """What two lines of one step say."""
    missing: dict[str, Any] = {name: value for name, value in vars(other).items() if getattr(step, name) is None}
    return replace(step, **missing, others=step.others + other.others)


def _other(log: LogReading, line: LogLine) -> None:
    if match := DUMPED.search(line.text):
        log.setting(line, [(match[1], match[2])])
    elif match := STAGE.search(line.text):
        log.setting(line, [("zero_optimization_stage", match[1])])

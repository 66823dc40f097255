"""Logs of Megatron-LM, of Megatron-Bridge, which prints the same lines and some more, and of their forks."""

import re
from collections.abc import Iterator, Sequence

from hwlib.run_logs.fields import fields_of, number_of
from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "megatron"
HEAD, BRIDGE_HEAD = "iteration ", "Step Time"
STEP = re.compile(r"(?:^|[\]| ])iteration +(\d{1,12}) ?/ {0,12}\d{1,12} ?\|")
DUMPED = re.compile(r"^ {0,8}(\w{2,60}) \.+ (\S.{0,80})$")
WRITTEN = re.compile(r"^ {0,12}(\w{2,60}): (\S{1,40})$")
FLAG = re.compile(r"--([a-z][a-z0-9-]{1,50})[ =]([\w.]{1,24})")
DEGREES = re.compile(
    r"((?:using world|(?:data|context|tensor-model|pipeline-model|expert-model)-parallel) size): *(\d{1,9})"
)
MEMORY = re.compile(r"(max allocated|max reserved): *(\d{1,12}(?:\.\d{1,20})?)")
BRIDGE = re.compile(r"(Step Time) : (\d{1,9}(?:\.\d{1,9})?)s (GPU utilization): (\d{1,9}(?:\.\d{1,9})?)")
TIMER = re.compile(r"^ {1,8}([a-z][a-z -]{2,50}[a-z]) ?\.{2,50}: \(? ?(\d{1,12}\.\d{1,4})(?:, (\d{1,12}\.\d{1,4})\))?")
RANKED = re.compile(r"^ {4,8}rank +(\d{1,7}): (\d{1,12}\.\d{1,4})")
RANKS_OF = re.compile(r"^ {1,4}([a-z][a-z -]{2,50}):$")
OTHERS = re.compile(r"^\s{0,8}(?:\[|time \(ms\)|-{3,}|samples/sec)")
LAST = "nan iterations"
MS = 1e-3
LONGEST_PAIR = 200
CUT = 6  # lines that a terminal may have cut one into


def read_megatron(lines: Sequence[LogLine]) -> LogReading:
    """The steps and the rest of a log of Megatron.

    >>> from hwlib.run_logs.lines import log_lines
    >>> text = " iteration  5/ 2000 | elapsed time per iteration (ms): 11000.0 | loss scale: 1.0 |"
    >>> read_megatron([*log_lines(text)]).steps[0].seconds
    11.0
    """
    log = LogReading(PROGRAM)
    ranked, times = "", []
    bridge: list[tuple[str, str]] = []
    for at, line in enumerate(lines):
        text = line.text
        if (match := RANKED.match(text)) and ranked:
            times.append(float(match[2]))
            continue
        if ranked and times:
            log.timer(line, ranked, (*times, times[-1], times[-1])[: max(len(times), 3)], MS)
        match = RANKS_OF.match(text)
        ranked, times = (match[1] if match else ""), []
        if BRIDGE_HEAD in text and (match := BRIDGE.search(text)):
            bridge = [(match[1], match[2]), (match[3], match[4])]
        elif match := _head(text):
            _step(log, lines, at, match, bridge)
            bridge = []
        elif not log.event(line):
            _other(log, line)
    return log


def _head(text: str) -> re.Match[str] | None:
    """The number of the step at the head of a line of one."""
    at = text.find(HEAD)
    return STEP.search(text, max(at - 1, 0)) if at >= 0 else None


def _step(
    log: LogReading, lines: Sequence[LogLine], at: int, match: re.Match[str], bridge: list[tuple[str, str]]
) -> None:
    """A line of a step, with what a terminal cut off it, and what Megatron-Bridge printed of it in the line before."""
    line = lines[at]
    text = line.text
    following = at + 1
    while following < min(at + CUT, len(lines)) and LAST not in text and _continues(lines[following]):
        text += lines[following].text
        following += 1
    if not text.rstrip().endswith("|"):
        log.unread.append(line.number)
    pairs = [("iteration", match[1]), *_pairs(text[match.end() :])]
    before = [(name, value) for name, value in _pairs(text[: match.start()]) if name.strip() == "samples/sec"]
    log.step(line, [*bridge, *before, *pairs])


def _continues(line: LogLine) -> bool:
    """Whether a line is the rest of the one before, which a terminal cut."""
    text = line.text
    return not (_head(text) or BRIDGE.search(text) or OTHERS.match(text)) and " |" in text and ": " in text


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for piece in text.split("|"):
        name, colon, value = piece.rpartition(":")
        if colon and len(piece) < LONGEST_PAIR:
            yield name, value.strip()


def _other(log: LogReading, line: LogLine) -> None:
    """Arguments, degrees, memory and timers."""
    text = line.text
    if match := DUMPED.match(text) or WRITTEN.match(text):
        log.setting(line, [(match[1], match[2])])
    elif "world size: " in text:
        log.setting(line, DEGREES.findall(text))
    elif "max allocated" in text or "max reserved" in text:
        log.attach(MEMORY.findall(text))
    elif match := TIMER.match(text):
        log.timer(line, match[1], tuple(float(match[i]) for i in (2, 3) if match[i]), MS)
    elif text.lstrip().startswith("time (ms)"):
        for name, time in _pairs(text):
            value = number_of(time)
            log.timer(line, name.strip(), () if value is None else (value,), MS)
    elif "--" in text:
        known = fields_of(PROGRAM, "setting")
        flags = [(name.replace("-", "_"), value) for name, value in FLAG.findall(text)]
        log.setting(line, [(name, value) for name, value in flags if name in known])

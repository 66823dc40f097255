"""Logs of torchtune: what its loggers to a file and to the terminal write."""

import json
import re
from collections.abc import Sequence

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "torchtune"
STEP = re.compile(r"(?:^|[ |])Step (\d{1,12}) \| ")
PAIR = re.compile(r"([a-z_]{2,40}):([-+.\w]{1,40})")
WRITTEN = re.compile(r"^[\w\s:.]{0,60}?\b([a-z_]{4,40}): ([\w.-]{1,80})\s*$")
COMPONENT = re.compile(r"_component_: torchtune\.models\.\w{1,40}\.(q?lora_)?([a-z]\w{1,40})\s*$")
LISTED = re.compile(r"^\s{0,40}- '?([a-z_]{1,20}_proj)'?\s*$")
BAR = re.compile(r"(?:^|\s)\d{1,6}\|(\d{1,12})\|Loss: ([-+.\w]{1,30})")


def read_torchtune(lines: Sequence[LogLine]) -> LogReading:
    """The steps of a log of torchtune; the progress bar's, which say the loss alone, where there are no others."""
    log, bars = LogReading(PROGRAM), []
    for line in lines:
        text = line.text
        if match := STEP.search(text):
            log.step(line, [("step", match[1]), *PAIR.findall(text[match.end() :])])
        elif text.lstrip().startswith('{"step":'):
            log.step(line, _of_json(text))
        elif match := BAR.search(text):
            bars.append((line, [("step", match[1]), ("loss", match[2])]))
        elif not log.event(line):
            _configured(log, line)
    for line, pairs in bars if log.empty else ():
        if log.last_step is None or int(pairs[0][1]) > log.last_step:
            log.step(line, pairs)
    return log


def _configured(log: LogReading, line: LogLine) -> None:
    """A line of the configuration that is printed before training."""
    text = line.text
    if match := COMPONENT.search(text):
        log.words(line, "model", match[2].replace("_", "-"))
        if match[1] == "qlora_":
            log.words(line, "base", "nf4")
    elif match := LISTED.match(text):
        log.words(line, "lora_matrix", match[1])
    elif match := WRITTEN.match(text):
        log.setting(line, [(match[1], match[2])])


def _of_json(text: str) -> list[tuple[str, str]]:
    """A line of its log in JSON."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [(name, str(value)) for name, value in values.items() if isinstance(value, int | float)]

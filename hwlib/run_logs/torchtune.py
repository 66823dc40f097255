"""Logs of torchtune: what its loggers to a file and to the terminal write."""

import json
import re
from collections.abc import Sequence

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "torchtune"
STEP = re.compile(r"(?:^|[ |])Step (\d{1,12}) \| ")
PAIR = re.compile(r"([a-z_]{2,40}):([-+.\w]{1,40})")
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
        else:
            log.event(line)
    for line, pairs in bars if log.empty else ():
        if log.last_step is None or int(pairs[0][1]) > log.last_step:
            log.step(line, pairs)
    return log


def _of_json(text: str) -> list[tuple[str, str]]:
    """A line of its log in JSON."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [(name, str(value)) for name, value in values.items() if isinstance(value, int | float)]

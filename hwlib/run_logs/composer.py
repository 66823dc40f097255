"""Logs of Composer, with which llm-foundry trains: blocks of a head and a line a metric."""

import re
from collections.abc import Sequence

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "composer"
HEAD = re.compile(r"^\s{0,20}(?:\[epoch=\d{1,9}\])?\[(?:batch|ba)=(\d{1,12})(?:/\d{1,12})?\]:?")
METRIC = re.compile(r"^[\s*-]{0,24}Train ([\w/ -]{3,80}): +([-+.\w,]{1,40})\s*$")
CONFIGURED = re.compile(r"^\s{0,40}([a-z_]{4,40}): ([\w.$-]{1,40})\s*$")


def read_composer(lines: Sequence[LogLine]) -> LogReading:
    """The steps of a log of Composer; metrics before the first head, as people paste them, are of a step 0."""
    log = LogReading(PROGRAM)
    head: LogLine | None = None
    pairs: list[tuple[str, str]] = []
    for line in lines:
        text = line.text
        if "Train " in text and (match := METRIC.match(text)):
            pairs.append((match[1], match[2]))
            head = head or line
        elif "=" in text and (match := HEAD.match(text)):
            _close(log, head, pairs)
            head, pairs = line, [("batch", match[1])]
        elif match := CONFIGURED.match(text):
            log.setting(line, [(match[1], match[2])])
    _close(log, head, pairs)
    return log


def _close(log: LogReading, head: LogLine | None, pairs: list[tuple[str, str]]) -> None:
    """The block that ends here."""
    if head and any("/" in name for name, _ in pairs):
        batch = [] if any(name == "batch" for name, _ in pairs) else [("batch", "0")]
        log.step(head, [*batch, *pairs])

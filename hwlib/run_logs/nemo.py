"""Logs of NeMo 2, whose lines of a step are those of its logger for Lightning."""

import re
from collections.abc import Iterator, Sequence

from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

PROGRAM = "nemo"
STEP = re.compile(r"Training epoch \d{1,9}, iteration (\d{1,12})/\d{1,12} \|")
WRITTEN = re.compile(
    r"\b((?:tensor_model|pipeline_model|context)_parallel_size|seq_length|micro_batch_size)[=:] ?(\d{1,9})\b"
)


def read_nemo(lines: Sequence[LogLine]) -> LogReading:
    """The steps of a log of NeMo 2.

    >>> from hwlib.run_logs.lines import log_lines
    >>> text = "Training epoch 0, iteration 3/149 | global_batch_size: 8 | train_step_timing in s: 0.5"
    >>> read_nemo([*log_lines(text)]).steps[0].seconds
    0.5
    """
    log = LogReading(PROGRAM)
    for line in lines:
        if match := STEP.search(line.text):
            log.step(line, [("iteration", match[1]), *_pairs(line.text[match.end() :])])
        elif not log.event(line):
            log.setting(line, WRITTEN.findall(line.text))
    return log


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The pairs but for the step, which is in the line twice."""
    for piece in text.split("|"):
        name, _, value = piece.rpartition(":")
        if name.strip() not in ("", "global_step", "iteration"):
            yield name.strip(), value.strip()

"""What the benchmarks of vLLM and SGLang print of a server: one table, of which SGLang's has some more rows."""

import re
from collections.abc import Sequence

from hwlib.run_logs.fields import quantities
from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading

VLLM, SGLANG = "vllm", "sglang"
HEAD = "Serving Benchmark Result"
ROW = re.compile(r"^[\s#|]{0,40}([A-Z][\w /()%.-]{3,60}?): +(inf|not set|-?[\d.,]{1,30})(?: s)?\s*$")
OFFLINE = re.compile(r"\b(\d{1,15}(?:\.\d{1,9})?) (requests/s|(?:total |output )?tokens/s)")
OURS = re.compile(r"^\s*Backend: +\S")
ARGUMENTS = re.compile(r"\b(model|tensor_parallel_size|tp_size|request_rate|max_concurrency)='?([\w./-]{1,80})")
HEADER = "Throughput: "


def read_vllm(lines: Sequence[LogLine]) -> LogReading:
    """The last table of vLLM's benchmark in a log, and the last line of the benchmark without a server.

    >>> from hwlib.run_logs.lines import log_lines
    >>> read_vllm([*log_lines("Throughput: 24.32 requests/s, 12453.04 tokens/s")]).benchmark["token_rate"]
    12453.04
    """
    return _read(lines, VLLM)


def read_sglang(lines: Sequence[LogLine]) -> LogReading:
    """The last table of SGLang's benchmark in a log."""
    return _read(lines, SGLANG)


def _read(lines: Sequence[LogLine], program: str) -> LogReading:
    log = LogReading(program)
    if any(OURS.match(line.text) for line in lines) != (program == SGLANG):
        return log
    for line in lines:
        text = line.text
        if HEAD in text:
            log.benchmark = {}
        elif HEADER in text and (rates := OFFLINE.findall(text)):
            log.benchmark.update(quantities(program, _swapped(rates), "benchmark"))
        elif match := ROW.match(text):
            log.benchmark.update(quantities(program, [(match[1], match[2])], "benchmark"))
        elif "model=" in text or "_size=" in text:
            for name, value in ARGUMENTS.findall(text):
                log.words(line, "model" if name == "model" else name, value)
    if not log.benchmark.keys() & {"token_rate", "output_rate", "request_rate"}:
        log.benchmark = {}
    return log


def _swapped(rates: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The name of each rate before its number."""
    return [(name, number) for number, name in rates]

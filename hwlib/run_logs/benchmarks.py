"""What the benchmarks of vLLM and SGLang print of a server: one table, of which SGLang's has some more rows."""

import re
from collections.abc import Sequence
from math import inf

from hwlib.run_logs.fields import quantities
from hwlib.run_logs.lines import LogLine
from hwlib.run_logs.reading import LogReading
from hwlib.run_logs.records import LogSetting

VLLM, SGLANG = "vllm", "sglang"
HEAD = "Serving Benchmark Result"
ROW = re.compile(r"^[\s#|]{0,40}([A-Z][\w /()%.-]{3,60}?): +(inf|not set|-?[\d.,]{1,30})(?: s)?\s*$")
OFFLINE = re.compile(r"\b(\d{1,15}(?:\.\d{1,9})?) (requests/s|(?:total |output )?tokens/s)")
OURS = re.compile(r"^\s*Backend: +(\S{1,40})")
ARGUMENT = re.compile(r"\b([a-z_]{2,40})[=:] ?['\"]?([\w./-]{1,80})")
FLAG = re.compile(r"--([a-z-]{2,40})(?:[= ]([\w./][\w./-]{0,79}))?(?=\s|$)")
SERVED = re.compile(r"\bvllm serve ([\w./-]{1,80})")
ARGUMENTS = ("Namespace(", "ServerArgs(", "with config:", "non-default args:")
COMMANDS = ("vllm serve ", "vllm bench ", "sglang.launch_server", "sglang.bench_serving", "benchmark_serving.py")
UNLIMITED = ("inf", "not set")
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
        if match := OURS.match(line.text):
            log.words(line, "backend", match[1])
        elif not _row(log, line):
            _arguments(log, line)
    if not log.benchmark.keys() & {"token_rate", "output_rate", "request_rate"}:
        log.benchmark = {}
    return log


def _row(log: LogReading, line: LogLine) -> bool:
    """Take a line of the table, or the line of a benchmark without a server; whether it is one."""
    text = line.text
    if HEAD in text:
        log.benchmark = {}
    elif HEADER in text and (rates := OFFLINE.findall(text)):
        log.benchmark.update(quantities(log.program, _swapped(rates), "benchmark"))
    elif match := ROW.match(text):
        log.benchmark.update(quantities(log.program, [(match[1], match[2])], "benchmark"))
        if match[2] in UNLIMITED and "rate" in match[1].lower():
            log.settings.append(LogSetting("rate", inf, line.number))
    else:
        return False
    return True


def _arguments(log: LogReading, line: LogLine) -> None:
    """Take the arguments of a server or a client, as it prints them or as its command has them."""
    text = line.text
    if any(words in text for words in ARGUMENTS):
        log.setting(line, ARGUMENT.findall(text))
    elif any(words in text for words in COMMANDS):
        log.setting(line, [(name.replace("-", "_"), value or "True") for name, value in FLAG.findall(text)])
        if match := SERVED.search(text):
            log.words(line, "model", match[1])


def _swapped(rates: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The name of each rate before its number."""
    return [(name, number) for number, name in rates]

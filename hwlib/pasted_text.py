"""A pasted text without what a container's log driver or Markdown has put around its lines.

Docker's json-file driver writes a line as JSON with `log`, collectors such as Fluent Bit and Cloud Logging with
`message`, `msg`, `line` or `textPayload`, and the container runtime interface of Kubernetes as
`2026-11-01T10:00:00.1Z stdout F text`, F for a whole line and P for a piece of one (Docker and Kubernetes manuals,
November 2026).
"""

import json
import re
from collections.abc import Iterator, Sequence

__all__ = ["without_container", "without_markdown"]

KEYS = ("log", "message", "msg", "line", "textPayload", "MESSAGE")
RUNTIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]{8,20}(?:Z|[+-]\d\d:?\d\d) (?:stdout|stderr) ([FP]) ")
ROW = re.compile(r"\s{0,20}\|.*\|\s*\Z")
RULE = re.compile(r"\s{0,20}\|[\s:|-]*-[\s:|-]*\|\s*\Z")
LONGEST = 100_000  # characters of a line that is taken apart


def without_container(text: str) -> str:
    r"""The text as the program wrote it, where a log driver has wrapped its lines; else the text itself.

    >>> without_container('{"log":"iter 1\\n","stream":"stdout"}\n{"log":"iter 2\\n","stream":"stdout"}')
    'iter 1\niter 2\n'
    """
    head = text.lstrip("\ufeff \t\r\n")[:LONGEST].partition("\n")[0]
    if _of_json(head) is not None:
        return "".join(_json_lines(text.splitlines()))
    if RUNTIME.match(head):
        return "".join(map(_runtime_line, text.splitlines()))
    return text


def without_markdown(lines: Sequence[str]) -> list[str]:
    """Lines in which the rows of a Markdown table are apart by tabs, without the rule below its header.

    >>> without_markdown(["|   | GPU0 | GPU1 |", "|---|---|---|", "| GPU0 | X | NV4 |"])
    ['\\tGPU0\\tGPU1', 'GPU0\\tX\\tNV4']
    """
    if not any(RULE.match(line[:LONGEST]) for line in lines):
        return list(lines)
    rows = (line for line in lines if not RULE.match(line[:LONGEST]))
    return [*map(_cells, rows)]


def _cells(line: str) -> str:
    if len(line) >= LONGEST or not ROW.match(line):
        return line
    return "\t".join(cell.strip(" \t*`") for cell in line.strip()[1:-1].split("|"))


def _of_json(line: str) -> str | None:
    """The text in a line that a log driver wrote as JSON, with its end; None for any other line."""
    if not line.lstrip().startswith("{") or len(line) > LONGEST:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    words = next((record[key] for key in KEYS if isinstance(record.get(key), str)), None)
    if words is None:
        return None
    whole = "log" in record or words.endswith("\n")  # Docker's own line ends itself, or goes on in the next record
    return words if whole else words + "\n"


def _json_lines(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        words = _of_json(line)
        yield f"{line}\n" if words is None else words


def _runtime_line(line: str) -> str:
    mark = RUNTIME.match(line)
    if not mark:
        return f"{line}\n"
    return line[mark.end() :] + ("\n" if mark[1] == "F" else "")

"""Numbers of a TOML table that a person writes too, changed where they stand: all else of the text stays."""

import difflib
import re
from collections.abc import Iterator, Mapping

from hwlib.specs import Framework, Stack
from hwlib.specs.serving_stack import ServingStack


def table_name(record: Stack | Framework | ServingStack) -> str:
    """The name of the table of software.toml that a record stands in, as it is written.

    >>> from hwlib.specs import stacks
    >>> from hwlib.specs.serving_stack import serving_stacks
    >>> table_name(stacks["torchtitan-h100"]), table_name(serving_stacks["tensorrt-llm-1.1"])
    ('torchtitan.time.h100-sxm', '"tensorrt-llm-1.1".serving')
    """
    if isinstance(record, Stack):
        return f"{_written(record.row)}.time.{record.chip}"
    return f"{_written(record.key)}.{'memory' if isinstance(record, Framework) else 'serving'}"


def _written(key: str) -> str:
    return f'"{key}"' if "." in key else key


def with_values(text: str, name: str, values: Mapping[str, str]) -> str:
    """The text with these numbers in the table `[name]`; one that is equal to what stands keeps its spelling.

    Raises ValueError for a table, or a number in it, that the text does not have.
    """
    begin, end = _span(text, name)
    body = text[begin:end]
    for constant, value in values.items():
        found = re.search(rf"(?m)^{re.escape(constant)} = (\S+)", body)
        if not found:
            raise ValueError(f"[{name}] has no {constant}")
        if float(found[1]) != float(value):
            body = body[: found.start(1)] + value + body[found.end(1) :]
    return text[:begin] + body + text[end:]


def with_more(text: str, name: str, constant: str, value: str) -> str:
    """The text with this number in the table `[name]`, as its last line where the table does not have it yet."""
    begin, end = _span(text, name)
    if re.search(rf"(?m)^{re.escape(constant)} = ", text[begin:end]):
        return with_values(text, name, {constant: value})
    body = text[begin:end].rstrip("\n")
    return f"{text[:begin]}{body}\n{constant} = {value}{text[begin + len(body) :]}"


def with_rows(text: str, name: str, count: int) -> str:
    """The text with another number in the comment "# ... rows" right above the table `[name]`, if there is one."""
    begin, _ = _span(text, name)
    head = re.sub(r"(?m)^# \d+ rows\n\Z", f"# {count} rows\n", text[:begin])
    return head + text[begin:]


def changed_lines(before: str, after: str) -> Iterator[str]:
    """The lines that go and come, marked with - and +."""
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
        if re.match(r"[-+](?![-+]{2})", line):
            yield line


def _span(text: str, name: str) -> tuple[int, int]:
    """Where the table `[name]` begins, with its head, and where it ends."""
    head = re.search(rf"(?m)^\[{re.escape(name)}\]$", text)
    if not head:
        raise ValueError(f"there is no table [{name}]")
    after = re.search(r"(?m)^(#|\[)", text[head.end() :])
    return head.start(), head.end() + after.start() if after else len(text)

"""Numbers of a TOML table that a person writes too, changed where they stand: all else of the text stays."""

import difflib
import re
from collections.abc import Iterator, Mapping


def with_values(text: str, key: str, values: Mapping[str, str]) -> str:
    """The text with these numbers in the table `[key]`; one that is equal to what stands keeps its spelling.

    Raises ValueError for a table, or a name in it, that the text does not have.
    """
    begin, end = _span(text, key)
    body = text[begin:end]
    for name, value in values.items():
        found = re.search(rf"(?m)^{re.escape(name)} = (\S+)", body)
        if not found:
            raise ValueError(f"[{key}] has no {name}")
        if float(found[1]) != float(value):
            body = body[: found.start(1)] + value + body[found.end(1) :]
    return text[:begin] + body + text[end:]


def with_rows(text: str, key: str, count: int) -> str:
    """The text with another number in the comment "# ... rows" right above the table `[key]`, if there is one."""
    begin, _ = _span(text, key)
    head = re.sub(r"(?m)^# \d+ rows\n\Z", f"# {count} rows\n", text[:begin])
    return head + text[begin:]


def changed_lines(before: str, after: str) -> Iterator[str]:
    """The lines that go and come, marked with - and +."""
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
        if re.match(r"[-+](?![-+]{2})", line):
            yield line


def _span(text: str, key: str) -> tuple[int, int]:
    """Where the table `[key]` begins, with its head, and where it ends."""
    head = re.search(rf'(?m)^\["?{re.escape(key)}"?\]$', text)
    if not head:
        raise ValueError(f"there is no table [{key}]")
    after = re.search(r"(?m)^(#|\[)", text[head.end() :])
    return head.start(), head.end() + after.start() if after else len(text)

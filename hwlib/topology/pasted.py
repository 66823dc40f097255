"""Lines of a matrix of devices as people paste them: without a terminal's colours, a launcher's marks or quotations."""

import re
from collections.abc import Sequence

__all__ = ["MARK", "device_words", "matrices", "pasted_lines"]

MARK = re.compile(r"\x1b\[[0-9;]{0,30}[A-Za-z]|(?:\[[^\[\]\s]{1,300}\])?<std(?:out|err|diag)>:")
BEFORE = ":>]|"  # what ends a mark that stands before a device without a space
FIRST = "GPU0"
AFTER_FIRST = ("GPU1", "CPU", "NIC0", "mlx5_0")


def pasted_lines(text: str) -> list[str]:
    """The lines of a text; where something stands before the header's GPU0, without it in every line.

    Of several matrices, each line of which begins alike (the nodes of a job), only the lines of the first are left.

    >>> pasted_lines("> \\tGPU0\\tGPU1\\n> GPU0\\t X \\tNV4")
    ['GPU0\\tGPU1', 'GPU0\\t X \\tNV4']
    """
    lines = [MARK.sub("", line).rstrip() for line in text.splitlines()]
    headers = [(i, before) for i, line in enumerate(lines) if (before := _before_header(line)) is not None]
    if not headers or not headers[0][1].strip():
        return lines
    first, before = headers[0]
    others = {other.strip() for _, other in headers} - {before.strip()}
    names = set(lines[first][len(before) :].split())
    return [_without(line, before.strip(), names, bool(others)) for line in lines]


def matrices(text: str) -> int:
    """How many matrices of nvidia-smi a text has, by their headers.

    >>> matrices("\\tGPU0\\tGPU1\\nGPU0\\t X \\tNV4\\n 1: \\tGPU0\\tGPU1\\n 1: GPU0\\t X \\tNV4")
    2
    """
    return sum(_before_header(MARK.sub("", line).rstrip()) is not None for line in text.splitlines())


def device_words(words: Sequence[str]) -> bool:
    """Whether words are the header of a matrix: GPU0, and no relation behind it."""
    return bool(words) and words[0] == FIRST and (len(words) == 1 or words[1] in AFTER_FIRST)


def _before_header(line: str) -> str | None:
    """What stands before GPU0 in a header, None in any other line."""
    place = line.find(FIRST)
    if place < 0 or not device_words(line[place:].split()):
        return None
    before = line[:place]
    return before if not before or before[-1] in BEFORE or before[-1].isspace() else None


def _without(line: str, before: str, names: set[str], several: bool) -> str:
    """A line without what stands before it; empty if it is of another matrix."""
    if several and not line.lstrip().startswith(before):
        return ""
    place = 0
    for word in line.split():
        place = line.index(word, place)
        bare = word[max(map(word.rfind, BEFORE)) + 1 :]
        if bare in names:
            return line[place + len(word) - len(bare) :]
        place += len(word)
    words = line.split(maxsplit=len(before.split()))
    return words[-1] if len(words) > len(before.split()) else ""

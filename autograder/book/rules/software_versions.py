"""The rule on the book's sources that are software: a program changes, so its entry says its release or month.

An entry of docs/references.bib is of kind software where it is a program's repository or manual, by its address or by
what `howpublished` calls it. A report, a thread and a page of a blog have their own dates and are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

HOSTS = (
    r"github\.com|git\.kernel\.org|docs\.pytorch\.org|docs\.jax\.dev|docs\.vllm\.ai|openxla\.org|triton-lang\.org"
    r"|[\w-]+\.readthedocs\S*|awsdocs-neuron\S*|docs\.nvidia\.com/(?:cuda|deeplearning/nccl|datacenter|megatron-core|nim)"
)
SOFTWARE = re.compile(rf"https?://(?:{HOSTS})(?:/|$)")
THREAD = re.compile(r"/(?:issues|pull|discussions)/\d+|/wiki/")
CALLED = re.compile(r"(?i)\bsource code\b|\bheader file\b|\bmanual, online\b")
MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
DATED = re.compile(
    rf"\b(?:{MONTH}) (?:of )?20\d\d\b|\b[Cc]ommits? [0-9a-f]{{7,40}}\b|\b(?:[Rr]eleases?|[Vv]ersions?) \d|\bv?\d+\.\d+"
)
PINNED = re.compile(r"/v?\d+\.\d+[\w.]*/|/[0-9a-f]{40}(?:/|$)")
WHERE_DATES_STAND = "title", "howpublished", "note", "version", "month"


def is_software(fields: Mapping[str, str]) -> bool:
    """Whether an entry is a program's repository or manual."""
    url = fields.get("url", "")
    by_address = bool(SOFTWARE.match(url)) and not THREAD.search(url)
    return by_address or bool(CALLED.search(fields.get("howpublished", "")))


def has_a_version(fields: Mapping[str, str]) -> bool:
    """Whether an entry says a release, a commit or a month, in words or in its address."""
    words = (fields.get(name, "") for name in WHERE_DATES_STAND)
    own = "version" in fields or "month" in fields
    return own or any(DATED.search(text) for text in words) or bool(PINNED.search(fields.get("url", "")))


def software_has_a_version(path: Path) -> Iterator[str]:
    """An entry of docs/references.bib that is software has a release, a commit or a month."""
    from pybtex.database import parse_file

    if not path.is_file():
        return
    lines = path.read_text(encoding="utf-8").split("\n")
    for key, entry in parse_file(str(path), "bibtex").entries.items():
        if is_software(entry.fields) and not has_a_version(entry.fields):
            number = next(
                (n for n, line in enumerate(lines, 1) if re.match(rf"@\w+\{{\s*{re.escape(key)}\s*,", line)), 1
            )
            expected = "a release, a commit or a month was expected in howpublished"
            yield f"{path.parent.name}/{path.name}:{number}: {key} is software, and says of no version; {expected}"

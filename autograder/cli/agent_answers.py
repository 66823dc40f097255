"""What answers to agents share: their sources (of texts, of the values of records, of pages), and the near names in an
error.
"""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..values.book_root import book_root

Answer = dict[str, Any]
KEY = re.compile(r"[\w.:-]+")
LONGEST_NAME = 200  # characters of a name that is compared with others


def described(texts: Iterable[str]) -> list[Answer]:
    """Each source once: the key of the bibliography, who and when, the title, the address, and where in it."""
    from ..book.bibliography import Bibliography

    bibliography = Bibliography(book_root() / "docs" / "references.bib")
    found = []
    for text in dict.fromkeys(texts):
        match = KEY.match(text)
        key = match[0] if match else text
        if key not in bibliography:
            found.append({"key": text})
            continue
        cited, url, title = bibliography.described(key)
        about = {"key": key, "cited": cited, "title": title, "url": url, "where": text[len(key) :].strip(" ,")}
        found.append({name: value for name, value in about.items() if value})
    return found


def values_sources(*rows: Any) -> Iterator[str]:
    """The sources of all values of some records."""
    for row in rows:
        yield from (datum.source for datum in row.data.values())


def page(name: str, title: str = "") -> Answer:
    """A page of the book as a source, and its section."""
    return {"key": f"docs/{name}", **({"where": title} if title else {})}


def library(about: str) -> Answer:
    """The library as a source, and what of it."""
    return {"key": "hwlib", "where": about}


def near(name: str, known: Iterable[str]) -> str:
    """The known names that an unknown one is near to, as the end of a sentence; or how many there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5) if len(name) < LONGEST_NAME else []
    return f"; did you mean {' or '.join(close)}?" if close else f"; there are {len(names)}"

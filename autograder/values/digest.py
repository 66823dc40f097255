"""One digest of several texts: each part goes in behind its length, so no two lists of parts give the same bytes."""

import hashlib
from collections.abc import Iterable
from typing import Protocol


class Hash(Protocol):
    """What takes bytes one after another: a hash of `hashlib`, or an `hmac`."""

    def update(self, data: bytes, /) -> None: ...


def add_parts(made: Hash, parts: Iterable[str | bytes]) -> None:
    """Feed the parts to `made`, each behind its length in bytes."""
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "big") + data)


def digest(*parts: str | bytes) -> str:
    """The parts as 32 hexadecimal digits: for names and marks of this program's own, never a secret's proof."""
    made = hashlib.sha256()
    add_parts(made, parts)
    return made.hexdigest()[:32]

"""The Content-Security-Policy of a page: what it may load and run, should markup of a stranger ever come into it.

It stands in the page, for the book is read from any host and from the disk. docs/study.md says what it leaves open.
"""

from __future__ import annotations

import base64
import hashlib
import re

INLINE = re.compile(r"<script(?P<attributes>[^>]*)>(?P<source>.*?)</script>", re.DOTALL)
NOT_RUN = re.compile(r"\b(?:src|type)=")  # another file, which 'self' allows; data, which no browser runs
CHARSET = re.compile(r'<meta charset="utf-8" ?/?>')
"""What stands before the policy: it holds for what comes after."""


def with_policy(page: str) -> str:
    """The page with its policy, which allows the scripts that stand in it now, by their digests."""
    inline = [found for found in INLINE.finditer(page) if not NOT_RUN.search(found["attributes"])]
    digests = sorted({_digest(found["source"]) for found in inline})
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_policy(digests)}" />'
    made, count = CHARSET.subn(lambda charset: f"{charset[0]}\n    {meta}", page, count=1)
    if not count:
        raise ValueError('the page has no <meta charset="utf-8">, after which its policy stands')
    return made


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _policy(digests: list[str]) -> str:
    parts = {
        "default-src": "'self'",
        # a figure is imported from a blob that live.js makes, and Python is WebAssembly
        "script-src": " ".join(["'self'", "blob:", "'wasm-unsafe-eval'", *digests]),
        "worker-src": "'self' blob:",
        "connect-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",  # figures have styles, and so have cells of tables
        "img-src": "'self' data:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "frame-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in parts.items())

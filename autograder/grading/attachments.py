"""Pictures that a learner pasted into a written answer: which of them may be shown to others.

They are a cell's attachments, bytes made by the learner. A picture is accepted if it begins as a PNG or JPEG file does
and is of a size that a page can hold; never SVG, which is the text of a program.
"""

from __future__ import annotations

import base64
import html
import json
import re
import struct
from collections.abc import Container
from typing import Any
from urllib.parse import unquote

from ..values.texts import quoted

MOST = 8  # in one cell
MAX_BYTES = 4 << 20  # of each
MAX_PIXELS = 50_000_000  # of each: few bytes can be very many pixels
MAX_NAME = 200
EXPECTED = f"PNG or JPEG of at most {MAX_BYTES >> 20} MiB, and at most {MOST} of them"
SCHEME = "attachment:"
REFERENCE = re.compile(rf"(?:\]\(\s?<?|src=[\"']?){SCHEME}([^)\s>\"']{{1,600}})")
SEGMENTS = 1000  # of a JPEG, before its size
FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # markers of JPEG's that its size follows


def accepted(attachments: Any) -> dict[str, dict[str, str]]:
    """Of a cell's attachments the pictures, each as one form in base64. Idempotent."""
    pictures: dict[str, dict[str, str]] = {}
    for name, forms in attachments.items() if isinstance(attachments, dict) else ():
        if len(pictures) == MOST:
            break
        if not isinstance(forms, dict) or not 0 < len(name) <= MAX_NAME or not name.isprintable():
            continue
        for mime, size in SIZES.items():
            text = forms.get(mime)
            if isinstance(text, list) and all(isinstance(line, str) for line in text):
                text = "".join(text)
            if isinstance(text, str) and (data := _decoded(text)) and 0 < size(data) <= MAX_PIXELS:
                pictures[name] = {mime: base64.b64encode(data).decode()}
                break
    return pictures


def _decoded(text: str) -> bytes:
    if len(text) > MAX_BYTES * 3 // 2:
        return b""
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except ValueError:  # also for text that is not ASCII
        return b""
    return data if len(data) <= MAX_BYTES else b""


def _png(data: bytes) -> int:
    """How many pixels it has; 0 if it is not a PNG."""
    if len(data) < 33 or data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return 0
    wide, high = struct.unpack(">II", data[16:24])
    return wide * high


def _jpeg(data: bytes) -> int:
    """How many pixels it has; 0 if it is not a JPEG."""
    at = 2
    if data[:3] != b"\xff\xd8\xff":
        return 0
    for _ in range(SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            return 0
        if data[at + 1] in FRAMES:
            high, wide = struct.unpack(">HH", data[at + 5 : at + 9])
            return wide * high
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 0


SIZES = {"image/png": _png, "image/jpeg": _jpeg}


def find_picture(reference: str, pictures: Container[str]) -> str | None:
    """The picture that a text refers to, as Markdown writes names; None where there is none."""
    name = html.unescape(reference)
    return next((one for one in (name, unquote(name)) if one in pictures), None)


def missing_pictures(cell: Any) -> str:
    """A sentence on the pictures that a cell's text shows and that are not there any more; "" where all are."""
    pictures = cell.get("attachments", {})
    gone = [one for one in dict.fromkeys(REFERENCE.findall(cell.source)) if find_picture(one, pictures) is None]
    if not gone:
        return ""
    names = ", ".join(quoted(unquote(html.unescape(one))) for one in gone[:3]) + (", …" if len(gone) > 3 else "")
    return f"{'A picture' if len(gone) == 1 else 'Pictures'} left out: {names}; {EXPECTED} were expected."


def text_with_pictures(source: str, attachments: Any) -> str:
    """A cell's text with its pictures: it is the same where nobody has changed either."""
    return source + json.dumps(attachments, sort_keys=True) if attachments else source

"""Messages between processes that do not trust each other: a length, then that many bytes of JSON; nothing
else.

No pickle, no object of the sender ever comes to life at the receiver: what arrives is dicts, lists, strings
and numbers.
"""

import gc
import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

MESSAGE_BYTES = 16 << 20
MESSAGE_VALUES = 1 << 20  # an object each: a message of brackets alone would take fifty times its own memory
MANY = 10_000  # values, while which are made the garbage collector would look again and again at all there is
_HEAD = struct.Struct(">I")


class WireError(Exception):
    """The other side sent what is not a message, or nothing in time."""


class WireClosed(WireError):
    """The other side has closed the channel, or its process has ended."""


class WireSpent(WireError):
    """The other side has sent more in all than it may."""


class Allowance:
    """What one sender may still send, over all its messages: bytes, and values, which take the receiver's time. It may
    be part of another, that of several senders together."""

    def __init__(self, size: int, values: int, whole: "Allowance | None" = None):
        self.size, self.values, self.whole = size, values, whole
        self.spent = ""  # what was sent that is too much, once that has happened

    def take(self, size: int = 0, values: int = 0) -> None:
        """Count what has come. Raises WireSpent where it is too much, and from then on."""
        if self.whole is not None:
            self.whole.take(size, values)
        self.size, self.values = self.size - size, self.values - values
        if self.size < 0 or self.values < 0:
            self.spent = f"it sent the grader more {'bytes' if self.size < 0 else 'values'} than any answer has"
            raise WireSpent(self.spent)


def _refuse(constant: str) -> Any:
    raise WireError(f"{constant} is not JSON")


def send(channel: socket.socket, message: dict[str, Any], limit: int = MESSAGE_BYTES) -> None:
    """Send one message. Raises WireError if it is not JSON (an infinity, too deep) or exceeds `limit` bytes."""
    try:
        body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError(f"not a message: {error}") from None
    if len(body) > limit:
        raise WireError(f"a message of {len(body)} bytes is longer than the {limit} allowed")
    try:
        channel.sendall(_HEAD.pack(len(body)) + body)
    except OSError as error:
        raise WireClosed(str(error)) from None


def receive(
    channel: socket.socket,
    deadline: float | None = None,
    limit: int = MESSAGE_BYTES,
    allowance: Allowance | None = None,
) -> dict[str, Any]:
    """The next message, an object; `deadline` is a time of `time.monotonic()` and holds for all of its
    bytes. What it takes of the `allowance` is counted before it is read."""
    (length,) = _HEAD.unpack(_exactly(channel, _HEAD.size, deadline))
    if length > limit:
        raise WireError(f"a message of {length} bytes is longer than the {limit} allowed")
    if allowance is not None:
        allowance.take(size=length)
    body = _exactly(channel, length, deadline)
    if (values := body.count(b",") + body.count(b"[") + body.count(b"{")) > MESSAGE_VALUES:
        raise WireError(f"a message of up to {values} values holds more than the {MESSAGE_VALUES} allowed")
    if allowance is not None:
        allowance.take(values=values)
    try:
        with uncollected() if values > MANY else nullcontext():
            message = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not a message: {error}") from None
    if type(message) is not dict:
        raise WireError(f"an object was expected, a {type(message).__name__} came")
    return message


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: of what JSON makes, none is any."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _exactly(channel: socket.socket, count: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < count:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError("no message in time")
        channel.settimeout(left)
        try:
            part = channel.recv(min(1 << 20, count - len(received)))
        except OSError as error:
            if isinstance(error, TimeoutError):
                raise
            raise WireClosed(str(error)) from None
        if not part:
            raise WireClosed("the other side closed the channel")
        received += part
    return bytes(received)

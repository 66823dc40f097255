"""Messages between processes that do not trust each other: what is one, and what is refused on both sides."""

import gc
import json
import math
import socket
import struct
import time

import pytest

from autograder.sandbox import wire


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def received(ends, body, **limits):
    ours, theirs = ends
    theirs.sendall(struct.pack(">I", len(body)) + body)
    return wire.receive(ours, time.monotonic() + 5, **limits)


def nested(depth):
    """So many bracket pairs, which JSON can hold and Python cannot read or write."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_message_is_its_length_in_four_bytes_and_compact_json(ends):
    ours, theirs = ends
    wire.send(theirs, {"a": [1, "é"], "b": None})
    assert ours.recv(1000) == b'\0\0\0\x1b{"a":[1,"\\u00e9"],"b":null}'
    wire.send(theirs, {"a": [1, 2.5, "é", None, True]})
    assert wire.receive(ours) == {"a": [1, 2.5, "é", None, True]}


def test_as_many_bytes_as_documented_may_come():
    assert (wire.MESSAGE_BYTES, wire.MESSAGE_VALUES) == (16 * 1024**2, 1024**2)


@pytest.mark.parametrize(
    "message",
    [lambda: math.inf, lambda: math.nan, object, lambda: {1, 2}, lambda: nested(200_000)],
    ids=["infinite", "nan", "object", "set", "deep"],
)
def test_what_is_not_json_is_not_sent(ends, message):
    ours, theirs = ends
    with pytest.raises(wire.WireError, match="not a message"):
        wire.send(theirs, {"a": message()})
    ours.setblocking(False)
    with pytest.raises(BlockingIOError):
        ours.recv(1)


def test_a_message_is_sent_up_to_its_limit(ends):
    ours, theirs = ends
    with pytest.raises(wire.WireError, match="7 bytes is longer than the 6 allowed"):
        wire.send(theirs, {"a": 1}, 6)
    wire.send(theirs, {"a": 1}, 7)
    assert wire.receive(ours, limit=7) == {"a": 1}


def test_a_message_is_received_up_to_its_limit(ends):
    assert received(ends, b'{"a":1}', limit=7) == {"a": 1}
    with pytest.raises(wire.WireError, match="7 bytes is longer than the 6 allowed"):
        received(ends, b'{"a":1}', limit=6)


def test_a_message_holds_a_limited_number_of_values(ends, monkeypatch):
    body = b'{"a":[1,2,3]}'  # a brace, a bracket and two commas
    monkeypatch.setattr(wire, "MESSAGE_VALUES", 4)
    assert received(ends, body) == {"a": [1, 2, 3]}
    monkeypatch.setattr(wire, "MESSAGE_VALUES", 3)
    with pytest.raises(wire.WireError, match="up to 4 values holds more than the 3 allowed"):
        received(ends, body)


@pytest.mark.parametrize("body", [b"{", b"", b"\xff", b'{"a":Infinity}', b'{"a":NaN}', b'{"a":-Infinity}'])
def test_bytes_that_are_not_json_are_refused(ends, body):
    with pytest.raises(wire.WireError):
        received(ends, body)


def test_json_that_is_too_deep_is_refused(ends):
    with pytest.raises(wire.WireError, match="not a message"):
        received(ends, b'{"a":' + b"[" * 90_000 + b"]" * 90_000 + b"}")


@pytest.mark.parametrize(("value", "kind"), [([], "list"), ("a", "str"), (1, "int"), (None, "NoneType")])
def test_a_message_is_an_object(ends, value, kind):
    with pytest.raises(wire.WireError, match=f"an object was expected, a {kind} came"):
        received(ends, json.dumps(value).encode())


def test_a_message_may_come_in_pieces_and_another_follow_it(ends):
    ours, theirs = ends
    whole = b'\0\0\0\x07{"a":1}'
    theirs.sendall(whole + whole[:6])
    assert wire.receive(ours) == {"a": 1}
    theirs.sendall(whole[6:])
    assert wire.receive(ours) == {"a": 1}


@pytest.mark.parametrize("part", [b"", b"\0\0", b'\0\0\0\x07{"a"'])
def test_a_channel_that_closes_amid_a_message_is_told_from_a_bad_one(ends, part):
    ours, theirs = ends
    theirs.sendall(part)
    theirs.close()
    with pytest.raises(wire.WireClosed):
        wire.receive(ours)


@pytest.mark.parametrize("part", [b"", b'\0\0\0\x07{"a"'])
def test_what_does_not_come_in_time_is_late(ends, part):
    ours, theirs = ends
    theirs.sendall(part)
    with pytest.raises(TimeoutError):
        wire.receive(ours, time.monotonic() + 0.01)


def test_a_deadline_has_passed_when_it_is_reached(ends, monkeypatch):
    ours, theirs = ends
    theirs.sendall(b'\0\0\0\x07{"a":1}')
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    with pytest.raises(TimeoutError, match="no message in time"):
        wire.receive(ours, 7.0)
    assert wire.receive(ours, 7.5) == {"a": 1}


@pytest.mark.parametrize(("failure", "error"), [(ConnectionResetError, wire.WireClosed), (TimeoutError, TimeoutError)])
def test_a_reset_channel_is_closed_and_a_late_one_is_late(failure, error):
    class Channel:
        def settimeout(self, seconds):
            pass

        def recv(self, most):
            raise failure

    with pytest.raises(error):
        wire.receive(Channel())


def test_nothing_is_sent_to_a_channel_that_is_closed(ends):
    ours, theirs = ends
    ours.close()
    with pytest.raises(wire.WireClosed):
        wire.send(theirs, {})


def test_no_more_is_read_at_once_than_a_mebibyte_or_than_is_left():
    asked = []

    class Channel:
        def settimeout(self, seconds):
            assert seconds is None

        def recv(self, most):
            asked.append(most)
            return bytes(most)

    assert len(wire._exactly(Channel(), (1 << 20) + 5, None)) == (1 << 20) + 5
    assert asked == [1 << 20, 5]


@pytest.mark.parametrize(("size", "values", "comes"), [(20, 3, True), (19, 3, False), (20, 2, False)])
def test_what_a_sender_may_send_in_all_is_counted(ends, size, values, comes):
    """Twice {"a":[1]} are 20 bytes and up to 4 values: the object, its list."""
    whole = wire.Allowance(1000, 1000)
    allowance = wire.Allowance(size, values + 1, whole)
    assert received(ends, b'{"a":[1]}', allowance=allowance) == {"a": [1]}
    if comes:
        assert received(ends, b'{"a":[1]} ', allowance=allowance) == {"a": [1]}
        assert allowance.spent == ""
        return
    with pytest.raises(wire.WireSpent):
        received(ends, b'{"a":[1]}  ', allowance=allowance)
    with pytest.raises(wire.WireSpent):
        allowance.take()
    assert allowance.spent
    assert not whole.spent


def test_several_senders_share_an_allowance(ends):
    whole = wire.Allowance(15, 100)
    first, second = wire.Allowance(100, 100, whole), wire.Allowance(100, 100, whole)
    received(ends, b'{"a":[1]}', allowance=first)
    with pytest.raises(wire.WireSpent):
        received(ends, b'{"a":[1]}', allowance=second)
    assert whole.spent
    assert not second.spent


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize(("values", "collected"), [(wire.MANY, True), (wire.MANY + 1, False)])
def test_no_garbage_is_collected_while_many_values_are_made(ends, enabled, values, collected):
    start, rows = b'{"rows":[', (values - 3) // 2  # a bracket and a comma each, and the object, the list and the last
    body = start + b"[]," * rows + (b"[]" if (values - 3) % 2 == 0 else b"[[]]") + b"]}"
    phases = []
    watch = lambda phase, info: phases.append(phase)
    gc.callbacks.append(watch)
    (gc.enable if enabled else gc.disable)()
    try:
        received(ends, body, limit=len(body))
        assert gc.isenabled() == enabled
    finally:
        gc.enable()
        gc.callbacks.remove(watch)
    assert (len(phases) > 4) == (collected and enabled)  # once all is there, it may look

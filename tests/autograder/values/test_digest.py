"""One digest for all: what its parts are decides it, where one ends included."""

import hashlib
import hmac

import pytest

from autograder.values.digest import add_parts, digest


@pytest.mark.parametrize(
    ("one", "other"),
    [(("ab", "c"), ("a", "bc")), (("a",), ("a", "")), (("a", "b"), ("b", "a")), ((), ("",)), (("a\0b",), ("a", "b"))],
    ids=lambda parts: repr(parts),
)
def test_where_a_part_ends_counts(one, other):
    assert digest(*one) != digest(*other)
    assert digest(*one) == digest(*one)


def test_text_and_its_bytes_are_the_same_part_and_any_text_has_some():
    assert digest("für") == digest("für".encode())
    assert len(digest("\ud800")) == 32  # which no file holds, but a notebook's JSON may


def test_parts_go_into_any_hash_behind_their_lengths():
    plain = hashlib.sha256(b"\0" * 7 + b"\2ab" + b"\0" * 7 + b"\1c")
    assert plain.hexdigest()[:32] == digest("ab", "c")
    keyed = hmac.new(b"key", digestmod=hashlib.sha256)
    add_parts(keyed, ["ab", b"c"])
    assert keyed.hexdigest() == hmac.new(b"key", b"\0" * 7 + b"\2ab" + b"\0" * 7 + b"\1c", hashlib.sha256).hexdigest()

"""Bytes and rounds of a call of torch.distributed, counted by hand."""

import pytest

from hwlib.simulate.call_costs import CallCost, call_cost, exchange_cost

RING = ((0, 1, 24), (1, 2, 24), (2, 3, 24), (3, 0, 24))


@pytest.mark.parametrize(
    ("call", "n", "root", "expected"),
    [
        ("barrier", 4, None, CallCost((0,) * 4, (0,) * 4, 0)),
        ("barrier", 1, None, CallCost((0,), (0,), 0)),
        ("all_reduce", 1, None, CallCost((0,), (0,), 0)),
        ("broadcast", 1, 0, CallCost((0,), (0,), 0)),
        ("all_reduce", 2, None, CallCost((16, 16), (16, 16), 2, ((0, 1, 16), (1, 0, 16)))),
        ("all_reduce", 4, None, CallCost((24,) * 4, (24,) * 4, 6, RING)),
        ("all_gather", 4, None, CallCost((12,) * 4, (12,) * 4, 3, tuple((*pair, 12) for *pair, _ in RING))),
        ("reduce_scatter", 4, None, CallCost((12,) * 4, (12,) * 4, 3, tuple((*pair, 12) for *pair, _ in RING))),
        ("gather", 4, 2, CallCost((4, 4, 0, 4), (0, 0, 12, 0), 1, ((0, 2, 4), (1, 2, 4), (3, 2, 4)))),
        ("scatter", 4, 2, CallCost((0, 0, 12, 0), (4, 4, 0, 4), 1, ((2, 0, 4), (2, 1, 4), (2, 3, 4)))),
    ],
    ids=str,
)
def test_what_a_call_moves(call, n, root, expected):
    """Of 8 elements of 2 bytes; a ring passes one block of four on in each round."""
    found = call_cost(call, n, 8, 2, root)
    assert found._replace(pairs=()) == expected._replace(pairs=())
    assert set(found.pairs) == set(expected.pairs)


@pytest.mark.parametrize("root", [0, 3])
def test_a_tree_carries_one_array_from_or_to_its_root(root):
    down, up = (call_cost(call, 4, 8, 2, root) for call in ("broadcast", "reduce"))
    assert (down.rounds, up.rounds) == (2, 2)
    assert down.received_bytes == tuple(16 * (rank != root) for rank in range(4)) == up.sent_bytes
    assert down.sent_bytes[root] == up.received_bytes[root] == 32


def test_elements_are_of_one_byte_if_nothing_is_said():
    assert call_cost("all_gather", 2, 8)[:3] == ((4, 4), (4, 4), 1)


def test_what_a_rank_keeps_of_an_exchange_is_not_sent():
    assert exchange_cost([[5, 1], [2, 7]]) == CallCost((1, 2), (2, 1), 1, ((0, 1, 1), (1, 0, 2)))
    assert exchange_cost([[9, 0, 4], [3, 9, 0], [0, 0, 9]]) == CallCost((4, 3, 0), (3, 0, 4), 2, ((0, 2, 4), (1, 0, 3)))
    assert exchange_cost([[6]]) == CallCost((0,), (0,), 0)

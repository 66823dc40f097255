"""Experts on ranks: DeepSeek's published example, limits, and what cannot be placed."""

from math import log
from random import Random
from statistics import pstdev

import pytest

from hwlib.parallel import Placement, balanced, copies_of, in_order, lognormal_loads, packed

# The example of EPLB's README: two layers of 12 experts in 4 groups, 16 replicas on 8 GPUs of 2 nodes, and its output.
LAYERS = (
    [90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86],
    [20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27],
)
PRINTED = (
    [5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1],
    [7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1],
)


@pytest.mark.parametrize("layer", [0, 1])
def test_the_published_example_comes_out(layer):
    loads, printed = LAYERS[layer], PRINTED[layer]
    theirs = Placement(tuple(tuple(printed[2 * gpu : 2 * gpu + 2]) for gpu in range(8)))
    ours = balanced(loads, 8, 16, groups=4, nodes=2)
    # Equal loads may be exchanged: expert 9 of the second layer has as many tokens as each copy of 8.
    assert sorted(ours.loads(loads)) == pytest.approx(sorted(theirs.loads(loads)))
    assert sorted(e for held in ours.ranks for e in held) == sorted(printed)
    if layer == 0:
        assert [sorted(held) for held in ours.ranks] == [sorted(held) for held in theirs.ranks]


def test_even_loads_stay_even():
    assert balanced([1.0] * 256, 32, 256).imbalance([1.0] * 256) == pytest.approx(1)
    assert in_order(8, 4).ranks == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert copies_of([1, 1, 1], 6) == [2, 2, 2]


def test_a_hot_expert_bounds_what_moving_can_do():
    loads = [7.0] + [1.0] * 7  # half of everything is one expert's
    assert balanced(loads, 4, 8).imbalance(loads) == pytest.approx(8 / 14 * 4)
    assert balanced(loads, 4, 12).imbalance(loads) < 1.2


def test_more_places_never_hurt_much_and_copies_sum_to_them():
    random = Random(2)
    loads = [random.lognormvariate(0, 1) for _ in range(64)]
    before = in_order(64, 16).imbalance(loads)
    moved, copied = (balanced(loads, 16, slots).imbalance(loads) for slots in (64, 80))
    assert 1 <= copied < moved < before
    assert sum(copies_of(loads, 80)) == 80


def test_packs_have_equal_counts_and_near_equal_weights():
    found = packed([5, 4, 3, 3, 2, 1], 3)
    assert [len(pack) for pack in found] == [2, 2, 2]
    assert sorted(sum((5, 4, 3, 3, 2, 1)[i] for i in pack) for pack in found) == [6, 6, 6]


def test_lognormal_loads_have_the_spread_that_they_should():
    loads = lognormal_loads(256, 0.5)
    assert sum(loads) == pytest.approx(256)
    assert pstdev(map(log, loads)) == pytest.approx(0.5, rel=0.01)
    assert loads == sorted(loads)


def test_what_cannot_be_placed_is_refused():
    with pytest.raises(ValueError, match="multiple of the 3 ranks, got 8"):
        in_order(8, 3)
    with pytest.raises(ValueError, match="ranks the slots"):
        balanced([1] * 8, 4, 9)
    with pytest.raises(ValueError, match="at least, got 3"):
        copies_of([1, 1, 1, 1], 3)
    with pytest.raises(ValueError, match="without a place: 1"):
        Placement(((0,), (2,))).loads([1, 1, 1])
    with pytest.raises(ValueError, match="expert 3 is placed"):
        Placement(((3,),)).loads([1, 1])
    with pytest.raises(ValueError, match="multiple of the 2 packs"):
        packed([1, 2, 3], 2)

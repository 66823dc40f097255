"""The order of a mesh's axes: the usual one agrees with the transfers, and bytes do not depend on it."""

import pytest

from hwlib.parallel import axis_bytes, axis_times, order_times, reordered, transfers
from hwlib.specs import levels_of
from hwlib.strategy import Strategy

SENDS = transfers("llama3-405b", Strategy.of(dp=128, tp=8, pp=16, zero=1), B=2**24, m=16)
SIZES = {"tp": 8, "dp": 128, "pp": 16}
LEVELS = levels_of("h100-superpod-16k")


def test_the_usual_order_is_that_of_the_transfers():
    times = order_times(SENDS, SIZES, LEVELS)
    assert len(times) == 6
    assert times["tp", "dp", "pp"] == pytest.approx(axis_times(SENDS, LEVELS))


def test_an_order_changes_times_and_no_bytes():
    outside = reordered(SENDS, SIZES, ("pp", "dp", "tp"))
    assert axis_bytes(outside) == axis_bytes(SENDS)
    assert [one.inner for one in outside if one.axis == "tp"] == [2048, 2048]
    times = order_times(SENDS, SIZES, LEVELS)
    assert times["pp", "dp", "tp"]["tp"] == pytest.approx(9 * times["tp", "pp", "dp"]["tp"])  # 450 over 50 GB/s


def test_metas_order_is_the_quickest():
    """Section 3.3.2 of The Llama 3 Herd of Models: the innermost is tensor, then context, pipeline, data."""
    times = order_times(SENDS, SIZES, LEVELS)
    assert min(times, key=lambda order: sum(times[order].values())) == ("tp", "pp", "dp")


def test_what_does_not_span_an_axis_is_refused():
    with pytest.raises(ValueError, match="the order names tp, dp; the axes are tp, dp, pp"):
        reordered(SENDS, SIZES, ("tp", "dp"))
    long = transfers("llama3-405b", Strategy.of(dp=8, cp=16, tp=8, pp=16, zero=1), B=2**24, m=16)
    with pytest.raises(ValueError, match="is not over a whole axis"):
        reordered(long, {"tp": 8, "dp": 8, "pp": 16}, ("tp", "dp", "pp"))

"""Trains of chunks give, to the last bit, what an event for every chunk and link gives."""

from collections import Counter

import pytest

from tests.hwlib.chunk_by_chunk import both_ways


@pytest.mark.parametrize("block", range(8))
def test_trains_are_exact_where_messages_meet_queue_wait_and_are_lost(block):
    seen = Counter()
    for seed in range(60 * block, 60 * block + 60):
        seen += both_ways(seed)
    assert seen["cuts"] > 20, "the seeds are to try what trains are cut by"
    assert seen["lost"] > 3

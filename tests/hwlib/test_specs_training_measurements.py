"""Published runs of data parallelism: what the sources print beside the rows."""

import pytest

from hwlib.specs import measured_steps
from tests.each import each

ROWS = measured_steps()


@each("row", ROWS)
def test_every_row_has_shards_and_a_rate_or_a_memory(row):
    assert 1 <= row.shards <= row.gpus
    assert row.rate or row.memory
    assert row.memory < 97 * 2**30


def test_the_batches_are_those_printed_beside_the_rates():
    """InternEvo's table has a column of all GPUs' tokens: 0.125M to 16M, in 2**20."""
    packed = [row for row in measured_steps("internevo") if row.m == 1]
    assert [row.gpus * row.tokens / 2**20 for row in packed] == [0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 4, 8, 4]


def test_a_thousand_gpus_keep_88_percent_of_eight():
    """As InternEvo says of its states within a node; and much less where they are divided among all."""
    rate = {(row.gpus, row.shards): row.rate for row in measured_steps("internevo") if row.m == 4}
    assert rate[1024, 8] / rate[8, 8] == pytest.approx(0.889, abs=1e-3)
    assert rate[1024, 1024] / rate[8, 8] < 0.56


def test_a_time_needs_a_rate():
    row = measured_steps("torchtune")[0]
    with pytest.raises(ValueError, match=r"no rate .*llama3.2-3b on 1 GPUs"):
        _ = row.time

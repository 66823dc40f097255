"""The small table of measured pipelines: its rows, and what they are held against."""

import pytest

from hwlib.pipeline import bubble_overhead
from hwlib.specs import measured_pipelines
from hwlib.units import GB, GiB


def test_printed_numbers_come_in_si():
    bloom, titan = measured_pipelines("Megatron-DeepSpeed")[0], measured_pipelines("torchtitan")[0]
    assert (bloom.time, bloom.memory, bloom.m) == (143.31, 29 * GB, 512)
    assert titan.time == pytest.approx(256 * 8192 / (100 * 512))
    assert (titan.memory, titan.m) == (82.5 * GiB, 8)


def test_interleaving_gains_nearly_what_its_bubble_says():
    plain, chunks = measured_pipelines("torchtitan")
    predicted = (1 + bubble_overhead(8, 8)) / (1 + bubble_overhead(8, 8, 2))
    assert plain.time / chunks.time == pytest.approx(predicted, rel=0.02)

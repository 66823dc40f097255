"""The figures of decoding draw what they are given."""

import pytest

from hwlib import plots
from hwlib.specs import measured_decode_attention


def spans(collection):
    return [(p.vertices[:, 0].min(), p.vertices[:, 0].max()) for p in collection.get_paths()]


def test_a_kernel_waits_for_its_launch_and_for_the_one_before():
    (axes,) = plots.host_and_device({"slow": (3.0, 1.0), "fast": (1.0, 2.0), "graph": (0, 2.0)}, kernels=3).axes
    drawn = iter(axes.collections)
    rows = [(spans(host), spans(device)) for host, device in zip(drawn, drawn, strict=True)]
    assert rows[0] == ([(0, 3), (3, 6), (6, 9)], [(3, 4), (6, 7), (9, 10)])
    assert rows[1] == ([(0, 1), (1, 2), (2, 3)], [(1, 3), (3, 5), (5, 7)])
    assert rows[2] == ([(0, 2)], [(2, 4), (4, 6), (6, 8)])


def test_every_measured_kernel_is_a_point():
    rows = measured_decode_attention()
    (axes,) = plots.reached_bandwidth(rows, 3.35e12, lambda size: 0.5).axes
    *points, line = axes.lines
    assert sum(len(each.get_xdata()) for each in points) == len(rows)
    assert set(line.get_ydata()) == {0.5}
    shares = [y for each in points for y in each.get_ydata()]
    assert max(shares) == pytest.approx(max(r.bytes / r.time / 3.35e12 for r in rows))


def test_predictions_are_bars_and_measurements_dots():
    (axes,) = plots.predicted_steps({"a": (1e-3, 2e-3, False), "b": (1e-3, 1e-3, True)}).axes
    assert [patch.get_width() for patch in axes.patches] == [1e-3, 1e-3]
    assert [t.get_text() for t in axes.texts] == ["-50%", "fitted"]


def test_a_batch_has_a_time_and_a_rate():
    above, below = plots.batch_curve({1: 1e-2, 64: 2e-2}, {"m": lambda B: 1e-2}).axes
    assert list(above.lines[-1].get_ydata()) == [1e-2, 2e-2]
    assert list(below.lines[-1].get_ydata()) == pytest.approx([100, 3200])


def test_caches_are_bars_in_the_colour_of_their_way():
    (axes,) = plots.token_caches({"a": 1e5, "b": 2e5, "c": 3e5}, {"a": "x", "b": "y", "c": "x"}).axes
    bars = [p for p in axes.patches if p.get_width()]
    assert [p.get_width() for p in bars] == [1e5, 2e5, 3e5]
    assert bars[0].get_facecolor() == bars[2].get_facecolor() != bars[1].get_facecolor()


def test_pages_hold_whole_pages():
    (axes,) = plots.cache_pages([100, 64], longest=256, page=64).axes
    assert [p.get_width() for p in axes.patches] == [256, 100, 256, 64, 128, 100, 64, 64]


def test_times_by_ranks_and_the_tail_of_rollouts():
    (axes,) = plots.times_by_ranks({"a": lambda n: 1 / n}, 64).axes
    assert axes.lines[0].get_ydata()[-1] == pytest.approx(1 / 64)
    (axes,) = plots.rollout_tail([1, 2, 4], lambda B, _: float(B)).axes
    assert list(axes.lines[0].get_xdata()) == [0, 3, 3, 5, 5, 7, 7]
    assert list(axes.lines[0].get_ydata()) == [3, 3, 2, 2, 1, 1, 0]

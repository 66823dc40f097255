"""Figures of memories: what is drawn is what was given."""

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from hwlib import plots
from hwlib.plots.memories import binary, powers
from hwlib.units import GB, TB, KiB, MiB

LEVELS = [("registers", 33 * MiB, None, None), ("L2", 50 * MiB, 7 * TB, 150e-9), ("HBM", 80 * GB, 2 * TB, 370e-9)]
STEPS = {"a chip": [(8 * KiB, 25 * TB), (1 * MiB, 8 * TB), (64 * MiB, 2 * TB)]}
FIGURES = {
    "memory_pyramid": lambda: plots.memory_pyramid(LEVELS, "a chip"),
    "size_sweep": lambda: plots.size_sweep(STEPS, {"L2": 50 * MiB}, {"data sheet": 2 * TB}),
    "warp_sweep": lambda: plots.warp_sweep({"one": [(2, GB), (64, TB)]}, {"model": [(1, GB), (64, TB)]}, 2 * TB),
    "tile_traffic": lambda: plots.tile_traffic({"said": {1: 4096, 2: 2048}, "seen": {1: 4100, 2: 2050}}, 512),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_itself_the_same_way_twice_and_leaves_the_settings_alone(draw):
    before = dict(matplotlib.rcParams)
    figure = draw()
    assert isinstance(figure, Figure)
    assert figure._repr_svg_() == draw()._repr_svg_()
    assert dict(matplotlib.rcParams) == before


def test_the_pyramid_is_as_wide_as_capacities_and_says_what_is_known():
    axes = FIGURES["memory_pyramid"]().axes[0]
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(widths)
    assert widths[2] - widths[0] == pytest.approx(np.log2(80 * GB / (33 * MiB)))
    said = [text.get_text() for text in axes.texts]
    assert said == ["registers\n33 MiB", "", "L2\n50 MiB", "7 TB/s   150 ns", "HBM\n80 GB", "2 TB/s   370 ns"]


def test_a_sweep_is_drawn_with_its_caches_and_rates():
    axes = FIGURES["size_sweep"]().axes[0]
    rate, cache, sweep = (np.array(line.get_data()) for line in axes.lines)
    assert rate[1].tolist() == [2 * TB] * 2
    assert cache[0].tolist() == [50 * MiB] * 2
    assert sweep.T.tolist() == [list(point) for point in STEPS["a chip"]]
    said = [text.get_text() for text in axes.texts]
    assert said == ["data sheet: 2 TB/s", "L2 50 MiB"]


def test_a_rate_is_named_on_the_side_from_which_no_curve_comes():
    said = {}
    for name, speeds in {"ends above": (9e12, 2.1e12), "ends below": (9e12, 1.9e12)}.items():
        points = list(zip((1 * MiB, 100 * MiB), speeds, strict=True))
        said[name] = plots.size_sweep({name: points}, rates={"sheet": 2 * TB}).axes[0].texts[0].get_va()
    assert said == {"ends above": "top", "ends below": "bottom"}


def test_models_are_lines_and_measurements_points():
    model, seen, rate = FIGURES["warp_sweep"]().axes[0].lines
    assert (model.get_linestyle(), model.get_marker()) == ("-", "None")
    assert (seen.get_linestyle(), seen.get_marker()) == ("None", "o")
    assert rate.get_ydata() == [2 * TB] * 2


def test_tiles_are_drawn_predicted_and_counted():
    said, seen, least = FIGURES["tile_traffic"]().axes[0].lines
    assert (list(said.get_xdata()), list(said.get_ydata())) == ([1, 2], [4096, 2048])
    assert seen.get_linestyle() == "None"
    assert least.get_ydata() == [512] * 2


@pytest.mark.parametrize(
    ("size", "text"), [(52428800, "50 MiB"), (80 * GB, "74.5 GiB"), (233472, "228 KiB"), (12, "12 B"), (0, "0 B")]
)
def test_sizes_are_written_as_memories_are_sold(size, text):
    assert binary(size) == text


def test_powers_of_four():
    assert powers(5 * KiB, 70 * KiB, 2) == [16 * KiB, 64 * KiB]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: plots.memory_pyramid([]), "memory_pyramid"),
        (lambda: plots.size_sweep({"none": []}), "size_sweep"),
        (lambda: plots.warp_sweep({}, {}, 1), "warp_sweep"),
        (lambda: plots.tile_traffic({}), "tile_traffic"),
    ],
)
def test_nothing_to_draw_is_said(call, name):
    with pytest.raises(ValueError, match=f"^{name} "):
        call()

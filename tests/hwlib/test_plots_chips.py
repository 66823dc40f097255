import pytest

from hwlib import plots
from hwlib.specs import accelerators

H100, V100 = accelerators["h100-sxm"], accelerators["v100-sxm2"]
PEAKS = {"V100": (80, 1024, 1.53e9), "H100": (132, 4096, 1.83e9)}


@pytest.mark.parametrize(("chip", "cores"), [(H100, 4), (V100, 8)], ids=["h100", "v100"])
def test_the_picture_counts_what_the_record_counts(chip, cores):
    axes = plots.anatomy(chip).axes[0]
    said = [text.get_text() for text in axes.texts]
    assert f"{chip.name}:\n{chip.sms} multiprocessors" in said
    assert said.count("warp\nscheduler") == 4
    assert said.count(f"{chip.lanes // 4} lanes") == 4
    assert sum("core" in text for text in said) == cores
    assert len(axes.patches) == chip.sms + chip.lanes + cores + 4 + 4 + 1


def test_factors_add_up_to_the_ratio_of_the_peaks():
    axes = plots.growth(PEAKS).axes[0]
    ends = [
        max(bar.get_x() + bar.get_width() for bar in axes.patches if round(bar.get_y() + 0.3) == row) for row in (0, 1)
    ]
    peaks = [n * ops * clock for n, ops, clock in PEAKS.values()]
    assert ends[0] == 0
    assert 2 ** ends[1] == pytest.approx(peaks[1] / peaks[0])
    assert axes.get_xlabel().endswith(f"times that of {next(iter(PEAKS))}")
    assert any(text.get_text() == "7.9 times: 132 x 4,096 x 1.83 GHz" for text in axes.texts)


def test_a_factor_that_fell_is_taken_off_and_its_label_stands_clear():
    axes = plots.growth({"V100": (80, 1024, 1.53e9), "A100": (108, 2048, 1.41e9)}).axes[0]
    clock = axes.patches[-1]
    assert clock.get_width() < 0
    assert clock.get_facecolor() == (1, 1, 1, 1)
    assert axes.texts[-1].xy[0] == pytest.approx(max(clock.get_x(), clock.get_x() + clock.get_width()))


@pytest.mark.parametrize("draw", [lambda: plots.anatomy(H100), lambda: plots.growth(PEAKS)])
def test_a_figure_shows_itself_the_same_way_twice(draw):
    first = draw()._repr_svg_()
    assert "</svg>" in first
    assert first == draw()._repr_svg_()


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match="MI300X"):
        plots.anatomy(accelerators["mi300x"])
    with pytest.raises(ValueError, match="got 1"):
        plots.growth({"V100": (80, 1024, 1.53e9)})

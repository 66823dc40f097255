import re
import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from hwlib import plots
from hwlib.calibrated import KernelModel, Sample
from hwlib.plots.style import LEAST, SMALL
from hwlib.roofline import ridge
from hwlib.specs import accelerators
from hwlib.units import TFLOP, us
from tests.conftest import ROOT

H100, V100 = accelerators["h100-sxm"], accelerators["v100-sxm2"]
SAMPLES = [Sample(1e9, 1e7, 10 * us, "a"), Sample(1e12, 1e8, 2000 * us, "b"), Sample(0, 1e6, 5 * us, "c")]
MODEL = KernelModel(0.5, 0.8, 2 * us, H100.bf16_flops, H100.hbm_bandwidth)
FIGURES = {
    "roofline": lambda: plots.roofline(H100, points={"measured": (16, 40 * TFLOP), "at best": (900, None)}),
    "ridge_bars": lambda: plots.ridge_bars([V100, H100]),
    "overlap": lambda: plots.overlap(H100, "fp8"),
    "model_against_measured": lambda: plots.model_against_measured(SAMPLES, {"fitted": MODEL}),
}


def lines(axes):
    return {line.get_label(): np.array(line.get_data()) for line in axes.lines}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_itself_the_same_way_twice_and_leaves_the_settings_alone(draw):
    before = dict(matplotlib.rcParams)
    figure = draw()
    assert isinstance(figure, Figure)
    first, second = figure._repr_svg_(), draw()._repr_svg_()
    assert first == second
    assert first.startswith("<?xml")
    assert "</svg>" in first
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("draw", [*FIGURES.values(), plots.cta_pair, plots.issuers, plots.pod, plots.rails_and_racks])
def test_letters_have_nine_pixels_on_a_telephone(draw):
    """Glyphs are a hundredth of an em in the file, and a figure is shown at LEAST times its size."""
    svg = draw()._repr_svg_()
    sizes = {float(scale) * 100 * 96 / 72 * LEAST for scale in re.findall(r"scale\(([\d.]+) -[\d.]+\)", svg)}
    assert min(sizes) >= 9
    (width,) = re.findall(r'<svg[^>]* width="([\d.]+)pt"', svg)
    assert float(width) * 96 / 72 * LEAST <= 358  # a telephone of 390 pixels, without the page's margins


def test_no_figure_asks_for_smaller_letters():
    asked = r"(?:font|label)size\"?[=:] *(\d+(?:\.\d+)?)"
    files = list((ROOT / "hwlib" / "plots").glob("*.py"))
    small = [(path.name, size) for path in files for size in re.findall(asked, path.read_text()) if float(size) < SMALL]
    assert small == []


def test_in_a_notebook_a_figure_follows_the_theme():
    html = FIGURES["ridge_bars"]()._repr_html_()
    assert '[data-jp-theme-light="false"]' in html
    assert "data:image/svg+xml;base64," in html


def test_the_roof_bends_at_the_ridge_and_measured_kernels_hang_below_it():
    axes = FIGURES["roofline"]().axes[0]
    roof = axes.lines[0].get_data()
    knee = H100.bf16_flops / H100.hbm_bandwidth
    assert roof[0][1] == pytest.approx(knee)
    assert roof[1][1] == roof[1][2] == H100.bf16_flops
    assert roof[1][0] / roof[0][0] == pytest.approx(H100.hbm_bandwidth)
    drawn = lines(axes)
    assert drawn["measured"].ravel().tolist() == [16, 40 * TFLOP]
    assert drawn["at best"].ravel().tolist() == [900, H100.bf16_flops]  # right of the ridge: on the flat roof
    low, high = axes.get_xlim()
    assert low < 16 < knee < 900 < high


def test_ridge_bars_are_ridges_and_a_format_that_a_chip_lacks_has_no_bar():
    figure = FIGURES["ridge_bars"]()
    widths = sorted(patch.get_width() for patch in figure.axes[0].patches)
    expected = [V100.fp16_flops / V100.hbm_bandwidth, 989.4e12 / 3.35e12, 2 * 989.4e12 / 3.35e12]
    assert widths == pytest.approx(expected, rel=1e-3)
    assert "139 (fp16)" in [text.get_text() for text in figure.axes[0].texts]


def test_overlap_gains_two_at_the_ridge_and_nothing_far_away():
    above, below = plots.overlap(H100).axes
    at_once, in_turn = (line.get_data() for line in above.lines[:2])
    intensity, gain = below.lines[0].get_data()
    assert gain.max() == pytest.approx(2)
    assert intensity[gain.argmax()] == pytest.approx(ridge(H100.bf16_flops, H100.hbm_bandwidth))
    assert gain[0] == gain[-1] == pytest.approx(1.01)
    assert at_once[1] / in_turn[1] == pytest.approx(gain)


def test_model_against_measured_draws_the_ratio_of_times_and_says_the_mean_error():
    axes = FIGURES["model_against_measured"]().axes[0]
    label, (_, ratio) = next((k, v) for k, v in lines(axes).items() if k.startswith("fitted"))
    expected = [MODEL.time(s.flops, s.bytes) / s.time for s in SAMPLES]
    assert ratio == pytest.approx(expected)
    assert f"{100 * np.mean(np.abs(np.array(expected) - 1)):.2g} %" in label


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: plots.roofline(V100, "fp8"), "no fp8 rate"),
        (lambda: plots.ridge_bars([]), "got 0 and 2"),
        (lambda: plots.model_against_measured([], {"m": MODEL}), "got 0 and 1"),
        (lambda: plots.model_against_measured(SAMPLES, {}), "got 3 and 0"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_importing_plots_widgets_and_labs_loads_no_third_party_package():
    code = (
        "import sys, hwlib.plots, hwlib.widgets, hwlib.labs.measure\n"
        "print({'matplotlib', 'numpy', 'scipy', 'sympy', 'torch', 'anywidget'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, cwd=ROOT)
    assert done.stdout.strip() == "set()"

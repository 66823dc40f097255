"""Rooflines, ridges, and models compared with measurements."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.calibrated import KernelModel, Sample, mean_abs_relative_error
from hwlib.plots.style import BLUE, CHART, GREY, INK, ORANGE, SMALL, canvas, note, series, styled
from hwlib.roofline import attainable_flops, overlap_speedup, ridge
from hwlib.specs import Accelerator
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@styled
def roofline(
    chip: Accelerator, dtype: str = "bf16", points: Mapping[str, tuple[float, float | None]] | None = None
) -> "Figure":
    """The roof of a chip, both axes logarithmic, with kernels marked on or under it.

    `points` is {label: (intensity in FLOP/B, measured rate in FLOP/s)}; a rate of None puts the kernel on the
    roof, its upper bound. A dotted line from a measured kernel to the roof shows its gap.
    Raises ValueError for a dtype that the chip does not have.
    """
    C, W = _rates(chip, dtype)
    kernels = {label: (I, rate or attainable_flops(I, C, W)) for label, (I, rate) in (points or {}).items()}
    figure, axes = canvas(CHART, 3.9)
    knee = ridge(C, W)
    left = min([knee / 1e3, *(I / 3 for I, _ in kernels.values())])
    right = max([knee * 30, *(I * 3 for I, _ in kernels.values())])
    axes.plot([left, knee, right], [left * W, C, C], color=INK)
    axes.plot([knee, knee], [0, C], color=GREY, linewidth=1, linestyle="--")
    low = min([left * W, *(rate / 2 for _, rate in kernels.values())])
    axes.set(xscale="log", yscale="log", xlim=(left, right), ylim=(low, 4 * C))
    note(axes, f"ridge {show(knee, 'FLOP/B', 3)}", (knee, low), (5, 6), color=GREY)
    note(axes, show(C, "FLOP/s", 3), (right, C), (-2, 6), ha="right")
    middle = (left * knee) ** 0.5
    note(axes, show(W, "B/s", 3), (middle, middle * W), (-8, 4), ha="right")
    for (label, (I, rate)), (colour, marker) in zip(kernels.items(), series(len(kernels)), strict=True):
        axes.plot([I, I], [rate, attainable_flops(I, C, W)], color=colour, linestyle=":", linewidth=1.5)
        axes.plot(I, rate, marker, color=colour, markersize=8, label=label)
        note(axes, label, (I, rate), (9, -4), va="top", color=colour)
    _rates_axis(axes)
    _intensity_axis(axes)
    axes.set_title(f"{chip.name}, {dtype}")
    return figure


@styled
def ridge_bars(chips: Iterable[Accelerator], dtypes: Sequence[str] = ("bf16", "fp8")) -> "Figure":
    """The ridge of each chip in each number format, in FLOP/B; a format that a chip lacks is left out.

    fp16 stands in for bf16 on a chip that has no bf16, and the bar says so. Raises ValueError without a chip.
    """
    chips = list(chips)
    if not chips or not dtypes:
        raise ValueError(f"ridge_bars needs chips and number formats, got {len(chips)} and {len(dtypes)}")
    thick = 0.8 / len(dtypes)
    figure, axes = canvas(CHART, 0.9 + 0.19 * (len(dtypes) + 0.6) * len(chips))
    for i, (dtype, (colour, _)) in enumerate(zip(dtypes, series(len(dtypes)), strict=True)):
        shift = (i - (len(dtypes) - 1) / 2) * thick
        bars = [(n + shift, *ridge) for n, chip in enumerate(chips) if (ridge := _ridge(chip, dtype))]
        axes.barh([y for y, _, _ in bars], [I for _, I, _ in bars], thick, color=colour, label=dtype)
        for y, I, stand_in in bars:
            note(axes, f"{I:.0f}{stand_in}", (I, y), (4, 0), va="center", fontsize=SMALL)
    axes.set_yticks(range(len(chips)), [c.name for c in chips])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.1)
    axes.set_xlabel("ridge [FLOP/B]")
    if len(dtypes) > 1:
        axes.legend(loc="lower right")
    return figure


@styled
def overlap(chip: Accelerator, dtype: str = "bf16") -> "Figure":
    """The gain of overlapping arithmetic and traffic: the rate if the time is the maximum or the sum of both.

    Both are drawn against intensity, their ratio below. The sum rounds the knee; at the ridge it halves the rate.
    """
    import numpy as np

    C, W = _rates(chip, dtype)
    knee = ridge(C, W)
    I = np.geomspace(knee / 100, knee * 100, 241)
    at_best = attainable_flops(I, C, W)
    gain = overlap_speedup(I, 1.0, C, W)
    figure, (above, below) = canvas(CHART, 4.6, rows=2, height_ratios=(2.4, 1))
    above.plot(I, at_best, color=BLUE, label="both at once: the slower of the two")
    above.plot(I, at_best / gain, color=ORANGE, linestyle="--", label="one after the other: the sum")
    above.fill_between(I, at_best / gain, at_best, color=ORANGE, alpha=0.15, linewidth=0)
    above.set(xscale="log", yscale="log", title=f"{chip.name}, {dtype}", xlim=(I[0], I[-1]))
    _rates_axis(above)
    above.legend(loc="lower right")
    below.plot(I, gain, color=INK)
    below.set(ylim=(0.95, 2.1), ylabel="gain")
    _intensity_axis(below)
    for axes in (above, below):
        axes.axvline(knee, color=GREY, linewidth=1, linestyle="--")
    note(below, f"ridge {show(knee, 'FLOP/B', 3)}", (knee, 1), (5, 0), color=GREY)
    return figure


@styled
def model_against_measured(samples: Iterable[Sample], models: Mapping[str, KernelModel]) -> "Figure":
    """Predicted over measured time of each kernel, against intensity: one series and mean error per model.

    On the line the model is exact; below it the model is too optimistic. `models` is {label: model}. Raises
    ValueError without samples or models.
    """
    samples = list(samples)
    if not samples or not models:
        raise ValueError(f"expected samples and models to compare, got {len(samples)} and {len(models)}")
    measured = [s.time for s in samples]
    intensity = [s.flops / s.bytes for s in samples]
    least = min([I for I in intensity if I] or [1.0]) / 3  # a copy has intensity 0: drawn at the left edge
    figure, axes = canvas(CHART, 3.9)
    axes.axhline(1, color=INK, linewidth=1)
    axes.axhspan(0.9, 1.1, color=GREY, alpha=0.12, linewidth=0)
    for (name, model), (colour, marker) in zip(models.items(), series(len(models)), strict=True):
        times = [model.time(s.flops, s.bytes) for s in samples]
        error = mean_abs_relative_error(times, measured)
        ratio = [t / m for t, m in zip(times, measured, strict=True)]
        axes.plot(
            [I or least for I in intensity],
            ratio,
            marker,
            color=colour,
            markersize=5,
            alpha=0.8,
            markeredgewidth=0,
            label=f"{name}: off by {100 * error:.2g} % on average",
        )
    axes.set(xscale="log", yscale="log")
    axes.set_ylim(min(axes.get_ylim()[0], 0.45), max(axes.get_ylim()[1], 2.2))
    low, high = axes.get_ylim()
    ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10) if low <= t <= high]
    axes.set_yticks(ticks, [f"{t:g}" for t in ticks])
    axes.yaxis.minorticks_off()
    note(axes, "within 10 %", (1, 1.1), (-2, 2), ha="right", color=GREY, xycoords=("axes fraction", "data"))
    _intensity_axis(axes)
    axes.set_ylabel("predicted time / measured time")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2)
    return figure


def _rates(chip: Accelerator, dtype: str) -> tuple[float, float]:
    if chip.hbm_bandwidth is None:
        raise ValueError(f"{chip.name} has no confirmed memory bandwidth, so its roofline cannot be drawn")
    return chip.flops(dtype), chip.hbm_bandwidth


def _ridge(chip: Accelerator, dtype: str) -> tuple[float, str] | None:
    """The ridge and a note for its bar, or None if the chip does not have the format."""
    for stand_in, remark in ((dtype, ""), *([("fp16", " (fp16)")] if dtype == "bf16" else [])):
        try:
            return ridge(*_rates(chip, stand_in)), remark
        except ValueError:
            continue
    return None


def _intensity_axis(axes: "Axes") -> None:
    """Plain numbers: of a power of ten the exponent would be too small to read."""
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:,.10g}")
    axes.set_xlabel("arithmetic intensity [FLOP/B]")


def _rates_axis(axes: "Axes") -> None:
    axes.yaxis.set_major_formatter(lambda y, _: show(y, "FLOP/s", 3))
    axes.minorticks_off()

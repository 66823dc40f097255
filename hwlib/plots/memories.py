"""The memories of a chip: capacity and speed, sweeps of sizes beyond each cache, and what tiles save."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.plots.style import BLUE, CHART, GREY, INK, SMALL, canvas, note, series, styled
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = Sequence[tuple[float, float]]
BINARY = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


@styled
def memory_pyramid(levels: Sequence[tuple[str, float, float | None, float | None]], title: str = "") -> "Figure":
    """One bar per memory, nearest first: its width is the capacity on a logarithmic scale, its label the speed.

    `levels` has (name, bytes, B/s, latency in s) of each; unknown values are None and left out. Raises ValueError
    without a level.
    """
    from math import log2

    if not levels:
        raise ValueError("memory_pyramid needs at least one level")
    figure, axes = canvas(CHART, 0.5 + 0.52 * len(levels))
    least = min(size for _, size, _, _ in levels)
    widths = [log2(size / least) + 6 for _, size, _, _ in levels]  # the narrowest holds its own name
    rows = range(len(levels))
    axes.barh(rows, widths, 0.82, [-w / 2 for w in widths], color=BLUE, alpha=0.22)
    for row, (name, size, bandwidth, latency) in enumerate(levels):
        amount = binary(size) if size < 1e9 else show(size, "B", 3)  # on the chip in KiB and MiB, off it in GB
        axes.text(0, row, f"{name}\n{amount}", ha="center", va="center", linespacing=1.05)
        rates = [show(x, unit, 2) for x, unit in ((bandwidth, "B/s"), (latency, "s")) if x is not None]
        axes.text(1.02, row, "   ".join(rates), ha="left", va="center", transform=axes.get_yaxis_transform())
    axes.invert_yaxis()
    axes.set_axis_off()
    axes.set_title(title)
    return figure


@styled
def size_sweep(
    sweeps: Mapping[str, Points], caches: Mapping[str, float] | None = None, rates: Mapping[str, float] | None = None
) -> "Figure":
    """Bandwidth against the size of a buffer that is read repeatedly, both axes logarithmic.

    `sweeps` is {label: [(bytes, B/s), ...]}; a vertical line marks where each of `caches` {label: bytes} is full, a
    horizontal one each of `rates` {label: B/s}. Raises ValueError without a point.
    """
    if not any(sweeps.values()):
        raise ValueError(f"size_sweep needs points to draw, got {len(sweeps)} sweeps without any")
    figure, axes = canvas(CHART, 3.9)
    sizes = [x for points in sweeps.values() for x, _ in points]
    speeds = [y for points in sweeps.values() for _, y in points] + list((rates or {}).values())
    axes.set(xscale="log", yscale="log", xlim=(min(sizes) / 1.6, max(sizes) * 1.6))
    axes.set_ylim(min(speeds) / 4, max(speeds) * 1.9)
    for label, rate in (rates or {}).items():
        axes.axhline(rate, color=INK, linewidth=1, linestyle="--")
        near = [x for points in sweeps.values() for x, y in points if rate < y < 1.5 * rate]
        below = bool(near) and max(near) > (min(sizes) * max(sizes)) ** 0.5  # a curve comes down to the line there
        note(
            axes,
            f"{label}: {show(rate, 'B/s', 3)}",
            (0.99, rate),
            (0, -7 if below else 4),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="top" if below else "bottom",
        )
    for label, size in (caches or {}).items():
        if not min(sizes) <= size <= max(sizes):
            continue
        axes.axvline(size, color=GREY, linewidth=1, linestyle=":")
        at = (size, 0.02)
        note(
            axes,
            f"{label} {binary(size)}",
            at,
            (-3, 0),
            xycoords=("data", "axes fraction"),
            ha="right",
            va="bottom",
            rotation=90,
            color=GREY,
            fontsize=SMALL,
            bbox={"color": "white", "pad": 0.5},
        )
    for (label, points), (colour, marker) in zip(sweeps.items(), series(len(sweeps)), strict=True):
        axes.plot(*zip(*points, strict=True), f"{marker}-", color=colour, markersize=4, linewidth=1, label=label)
    _bytes_axis(axes, min(sizes), max(sizes))
    low, high = axes.get_ylim()
    ticks = [digit * 10.0**k for k in range(6, 16) for digit in (1, 2, 5)]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high])
    axes.yaxis.set_major_formatter(lambda y, _: show(y, "B/s", 3))
    axes.set_xlabel("bytes read over and over")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.2, ncols=len(sweeps))
    return figure


@styled
def warp_sweep(measured: Mapping[str, Points], models: Mapping[str, Points], rate: float) -> "Figure":
    """Memory bandwidth against the warps resident on a multiprocessor: points for measurements, lines for models.

    Both are {label: [(warps, B/s), ...]}; a dashed line is the memory's bandwidth. Raises ValueError without a point.
    """
    if not any(measured.values()):
        raise ValueError("warp_sweep needs measured points to draw")
    figure, axes = canvas(CHART, 3.6)
    looks = series(max(len(measured), len(models)))
    for (label, points), (colour, _) in zip(models.items(), looks, strict=False):
        axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.5, label=label)
    for (label, points), (colour, marker) in zip(measured.items(), looks, strict=False):
        axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, label=label)
    axes.axhline(rate, color=INK, linewidth=1, linestyle="--")
    axes.set(xlim=(0, None), ylim=(0, 1.12 * rate), xlabel="warps resident on one SM")
    axes.yaxis.set_major_formatter(lambda y, _: show(y, "B/s", 3))
    axes.legend(loc="lower right")
    return figure


@styled
def tile_traffic(traffic: Mapping[str, Mapping[float, float]], least: float | None = None) -> "Figure":
    """Bytes moved against the side of a square tile, both axes logarithmic: {label: {side: bytes}}.

    The first, a prediction, is drawn as a line, and the others as points; `least` is the minimal traffic.
    Raises ValueError without a point.
    """
    if not any(traffic.values()):
        raise ValueError("tile_traffic needs points to draw")
    figure, axes = canvas(CHART, 3.6)
    for i, ((label, points), (colour, marker)) in enumerate(zip(traffic.items(), series(len(traffic)), strict=True)):
        look = {"linewidth": 1.5} if i == 0 else {"linestyle": "", "marker": marker, "markersize": 6}
        axes.plot(list(points), list(points.values()), color=colour, label=label, **look)
    if least is not None:
        axes.axhline(least, color=INK, linewidth=1, linestyle="--")
        note(axes, f"every element once: {binary(least)}", (0.01, least), (0, 3), xycoords=("axes fraction", "data"))
    sides = sorted({side for points in traffic.values() for side in points})
    axes.set(xscale="log", yscale="log", xlabel="side of a square tile")
    axes.set_xticks(sides, [f"{side:g}" for side in sides])
    axes.minorticks_off()
    amounts = [y for points in traffic.values() for y in points.values()] + ([] if least is None else [least])
    axes.set_yticks(powers(min(amounts), max(amounts), 2))
    axes.yaxis.set_major_formatter(lambda y, _: binary(y))
    axes.legend(loc="upper right")
    return figure


def binary(size: float) -> str:
    """A size in binary units, as memories are sold: 52428800 is "50 MiB"."""
    unit, prefix = next(((u, p) for u, p in BINARY if size >= u), BINARY[-1])
    return f"{size / unit:.3g} {prefix}"


def powers(low: float, high: float, step: int) -> list[float]:
    """The powers of 2**step from `low` to `high`."""
    first, exponents = 0, []
    while 2 ** (first * step) <= high:
        exponents.append(float(2 ** (first * step)))
        first += 1
    return [x for x in exponents if x >= low]


def _bytes_axis(axes: "Axes", low: float, high: float) -> None:
    axes.set_xticks(powers(low, high, 2))
    axes.xaxis.set_major_formatter(lambda x, _: binary(x))
    axes.minorticks_off()
    axes.tick_params("x", rotation=30)

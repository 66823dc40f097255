"""Decoding: who waits for whom in a step, what its bytes reach, what a cache holds, and what drafts and lengths do."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SERIES, SKY, canvas, note, series, styled
from hwlib.specs import MeasuredDecodeAttention
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = (BLUE, SKY, GREEN, PURPLE, ORANGE)


@styled
def host_and_device(ways: Mapping[str, tuple[float, float]], kernels: int = 8) -> "Figure":
    """The host's launches above, the device's kernels below, for each way: {name: (launch, kernel)} in seconds.

    A kernel starts when it has been launched and the one before has ended. A launch of 0 is a graph: one launch of all.
    """
    figure, axes = canvas(CHART, 0.7 + 0.95 * len(ways))
    last = 0.0
    for row, (name, (launch, kernel)) in enumerate(ways.items()):
        launched = free = launch or kernel
        starts = []
        for k in range(kernels):
            launched = (k + 1) * launch if launch else launched
            starts.append(max(launched, free if k else launched))
            free = starts[-1] + kernel
        host = [(k * launch, launch) for k in range(kernels)] if launch else [(0.0, launched)]
        for place, spans, colour, label in (
            (0.0, host, ORANGE, "host launches"),
            (1.0, [(start, kernel) for start in starts], BLUE, "device works"),
        ):
            axes.broken_barh(
                spans,
                (2.9 * row + place, 0.8),
                facecolor=colour,
                edgecolor="white",
                linewidth=0.8,
                label=None if row else label,
            )
        note(axes, name, (0, 2.9 * row), (0, 3), va="bottom", fontsize=9)
        last = max(last, free)
    axes.set(xlim=(0, 1.02 * last), ylim=(2.9 * len(ways) - 0.7, -0.9), xlabel="time")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper right", ncols=2, fontsize=9, handlelength=1)
    return figure


@styled
def reached_bandwidth(
    rows: Iterable[MeasuredDecodeAttention], W: float, model: Callable[[float], float] | None = None
) -> "Figure":
    """Share of the bandwidth W that measured decode attention reaches, against the bytes of the cache.

    Filled where few query heads share a key, an outline where more than 8 do. `model` gives the share for bytes.
    """
    rows = list(rows)
    figure, axes = canvas(CHART, 3.1)
    for (dtype, (colour, marker)), many in ((d, m) for d in zip(("bf16", "fp8"), SERIES, strict=False) for m in (0, 1)):
        each = [r for r in rows if r.kv_dtype == dtype and (r.heads / r.kv_heads > 8) == many]
        axes.plot(
            [r.bytes for r in each],
            [r.bytes / r.time / W for r in each],
            marker,
            color=colour,
            markersize=7,
            markerfacecolor="none" if many else colour,
            label=f"{dtype}, {'more than 8' if many else 'up to 8'} queries a key",
        )
    low, high = min(r.bytes for r in rows) / 2, max(r.bytes for r in rows) * 2
    if model:
        grid = [low * (high / low) ** (k / 80) for k in range(81)]
        axes.plot(grid, [model(b) for b in grid], color=INK, linewidth=1.2)
    axes.set(
        xscale="log",
        xlim=(low, high),
        ylim=(0, 1.02),
        xlabel="bytes of the cache, one layer",
        ylabel="of the bandwidth",
    )
    axes.xaxis.set_major_formatter(lambda b, _: show(b, "B", 3))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, handlelength=1)
    return figure


@styled
def predicted_steps(rows: Mapping[str, tuple[float, float, bool]], odd: Collection[str] = ()) -> "Figure":
    """Times of steps: {name: (predicted, measured, whether the model was fitted to it)}, in seconds.

    The rows that are named in `odd`, which the model does not explain, have another colour.
    """
    figure, axes = canvas(CHART, 0.9 + 0.25 * len(rows))
    for y, (name, (predicted, measured, fitted)) in enumerate(rows.items()):
        axes.barh(y, predicted, 0.62, color=GREY if fitted else ORANGE if name in odd else BLUE)
        axes.plot(measured, y, "o", color=INK, markersize=5.5, label=None if y else "measured")
        note(
            axes,
            "fitted" if fitted else f"{predicted / measured - 1:+.0%}",
            (max(predicted, measured), y),
            (7, 0),
            va="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(rows)), list(rows), fontsize=9)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.18 * max(max(p, m) for p, m, _ in rows.values())), xlabel="time of a step")
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.grid(visible=False, axis="y")
    axes.legend(fontsize=9, loc="lower right")
    return figure


@styled
def batch_curve(measured: Mapping[int, float], models: Mapping[str, Callable[[float], float]]) -> "Figure":
    """Above the time of a step, below the tokens a second of all sequences, against the batch.

    Measured points {batch: seconds}; a line for each of `models`.
    """
    figure, (above, below) = canvas(CHART, 4.4, rows=2)
    most = max(measured)
    grid = [2 ** (k / 8) for k in range(8 * most.bit_length() + 1) if 2 ** (k / 8) <= 2 * most]
    for (name, model), (colour, _), dash in zip(models.items(), SERIES, ("solid", (0, (6, 3)), ":"), strict=False):
        times = [model(B) for B in grid]
        above.plot(grid, times, color=colour, linestyle=dash, label=name)
        below.plot(grid, [B / t for B, t in zip(grid, times, strict=True)], color=colour, linestyle=dash)
    for axes, value in ((above, lambda _, t: t), (below, lambda B, t: B / t)):
        axes.plot(
            list(measured),
            [value(B, t) for B, t in measured.items()],
            "o",
            color=INK,
            markersize=6,
            label="measured" if axes is above else None,
        )
    above.set(xscale="log", ylabel="time of a step", ylim=(0, None))
    below.set(xscale="log", ylabel="tokens/s, all", ylim=(0, None), xlabel="sequences of the batch")
    below.set_xticks([4**k for k in range(10) if 4**k <= 2 * most])
    below.minorticks_off()
    below.xaxis.set_major_formatter(lambda B, _: f"{B:,.0f}")
    above.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    below.yaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}")
    above.legend(fontsize=9, loc="upper left")
    return figure


@styled
def token_caches(rows: Mapping[str, float], ways: Mapping[str, str]) -> "Figure":
    """Bytes of cache for each token, {model: bytes}, coloured by the way of sharing that `ways` names for each."""
    figure, axes = canvas(CHART, 0.9 + 0.27 * len(rows))
    kinds = list(dict.fromkeys(ways.values()))
    for y, (name, held) in enumerate(rows.items()):
        axes.barh(y, held, 0.66, color=PARTS[kinds.index(ways[name]) % len(PARTS)])
        note(axes, show(held, "B", 3), (held, y), (4, 0), va="center", fontsize=9)
    for kind, colour in zip(kinds, PARTS, strict=False):
        axes.barh(0, 0, color=colour, label=kind)
    axes.set_yticks(range(len(rows)), list(rows), fontsize=9)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(min(rows.values()) / 2, 3.2 * max(rows.values())), xlabel="bytes of a token")
    axes.xaxis.set_major_formatter(lambda held, _: show(held, "B", 3))
    axes.minorticks_off()
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower left", ncols=2, fontsize=9, handlelength=1)
    return figure


@styled
def cache_pages(lengths: Sequence[int], longest: int, page: int) -> "Figure":
    """Sequences in a cache: reserved for the longest above, in pages below. Filled is used, pale is held and empty."""
    from matplotlib.patches import Rectangle

    figure, axes = canvas(CHART, 0.8 + 0.38 * 2 * len(lengths))
    for way, held in ((0, [longest] * len(lengths)), (1, [-(-n // page) * page for n in lengths])):
        top = way * (len(lengths) + 1.1)
        note(axes, ("reserved for the longest", f"pages of {page}")[way], (0, top), (0, 4), va="bottom", fontsize=9)
        for k, (used, reserved) in enumerate(zip(lengths, held, strict=True)):
            colour = series(len(lengths))[k][0]
            axes.add_patch(Rectangle((0, top + k), reserved, 0.8, facecolor=colour, alpha=0.22, linewidth=0))
            axes.add_patch(Rectangle((0, top + k), used, 0.8, facecolor=colour, linewidth=0))
            if way:
                axes.vlines(range(page, reserved, page), top + k, top + k + 0.8, color="white", linewidth=1.2)
    axes.set(xlim=(0, 1.02 * longest), ylim=(2 * len(lengths) + 1.2, -0.8), xlabel="tokens")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.grid(visible=False, axis="y")
    return figure


@styled
def times_by_ranks(
    lines: Mapping[str, Callable[[float], float]],
    most: int,
    *,
    least: int = 1,
    mark: float | None = None,
) -> "Figure":
    """Times against a number of ranks, from `least` to `most`, both logarithmic: {name: a function of the ranks}.

    `mark` is a number of ranks at which a dashed line stands.
    """
    figure, axes = canvas(CHART, 3.0)
    grid = [2 ** (k / 8) for k in range(8 * (most.bit_length() - 1) + 1) if 2 ** (k / 8) >= least]
    if mark:
        axes.axvline(mark, color=GREY, linewidth=1.2, linestyle=(0, (4, 3)))
        note(axes, f"{mark:,.0f}", (mark, 0.02), (4, 0), xycoords=("data", "axes fraction"), fontsize=9)
    for (name, line), (colour, _), dash in zip(lines.items(), SERIES, ("solid", (0, (6, 3)), ":"), strict=False):
        axes.plot(grid, [line(n) for n in grid], color=colour, linestyle=dash, label=name)
    axes.set(xscale="log", yscale="log", xlabel="ranks", ylabel="time", xlim=(least, most))
    axes.set_xticks([n for k in range(10) if least <= (n := 4**k) <= most])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3))
    axes.legend(fontsize=9)
    return figure


@styled
def rollout_tail(lengths: Sequence[int], time: Callable[[int, float], float]) -> "Figure":
    """Sequences that still decode against time, when all start together with empty caches.

    `time` is that of a step of B sequences with T tokens in each cache, and grows in proportion to T.
    """
    ordered = sorted(lengths)
    figure, axes = canvas(CHART, 2.7)
    at, clock, ticks, active = 0, 0.0, [0.0], [len(ordered)]
    for k, length in enumerate(ordered):
        clock += (length - at) * time(len(ordered) - k, (at + max(at, length - 1)) / 2)
        at = length
        ticks += [clock, clock]
        active += [len(ordered) - k, len(ordered) - k - 1]
    axes.fill_between(ticks, active, color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(ticks, active, color=BLUE)
    _late(axes, ticks, active)
    axes.set(xlim=(0, clock), ylim=(0, 1.05 * len(ordered)), xlabel="time", ylabel="sequences that decode")
    axes.xaxis.set_major_formatter(lambda t, _: f"{t:.0f} s" if t else "0")
    return figure


def _late(axes: "Axes", ticks: Sequence[float], active: Sequence[Any]) -> None:
    """Mark from when on less than a tenth of the sequences are left."""
    start = next(t for t, n in zip(ticks, active, strict=True) if n <= active[0] / 10)
    axes.axvline(start, color=ORANGE, linewidth=1.2, linestyle=(0, (4, 3)))
    note(
        axes,
        f"a tenth is left\nafter {start / ticks[-1]:.0%} of the time",
        (start, active[0]),
        (5, -2),
        va="top",
        fontsize=9,
        color=ORANGE,
    )

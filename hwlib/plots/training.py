"""Data parallelism: what a rank holds, what runs beside what, and how published runs scale."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import CHART, GREY, INK, SERIES, canvas, note, series, styled
from hwlib.specs import MeasuredStep
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = 1024  # bytes below which a message is not drawn
STAGES = (("DDP", ""), ("ZeRO-1", "o"), ("ZeRO-2", "og"), ("ZeRO-3", "ogw"))
KINDS = (("w", "weights", 2), ("g", "gradients", 2), ("o", "optimizer", 12))


@styled
def zero_stages(ranks: int = 4) -> "Figure":
    """What each of `ranks` ranks holds of weights, gradients and optimizer, to scale in bytes, for every stage.

    An outline is what a rank has given up; what is left of it is filled. Raises ValueError for fewer than 2 ranks.
    """
    from matplotlib.patches import Rectangle

    if ranks < 2:
        raise ValueError(f"zero_stages: at least 2 ranks, got {ranks}")
    figure, axes = canvas(CHART, 0.9 + 0.3 * len(STAGES) * ranks)
    high = 0.8
    for row, (stage, divided) in enumerate(STAGES):
        for rank in range(ranks):
            y, x = row * (ranks + 0.7) + rank, 0.0
            for (kind, name, size), (colour, _) in zip(KINDS, SERIES, strict=False):
                label = name if row == rank == 0 else None
                axes.add_patch(Rectangle((x, y), size, high, facecolor="none", edgecolor=colour, linewidth=0.6))
                part, at = (size / ranks, x + rank * size / ranks) if kind in divided else (size, x)
                axes.add_patch(Rectangle((at, y), part, high, facecolor=colour, linewidth=0, label=label))
                x += size
        axes.text(-0.3, row * (ranks + 0.7) + ranks / 2 - 0.1, stage, ha="right", va="center", fontsize=10, color=INK)
    axes.set(xlim=(-2.6, 16.2), ylim=(len(STAGES) * (ranks + 0.7) - 0.6, -0.4), xlabel="bytes of a parameter")
    axes.set_xticks([0, 2, 4, 8, 12, 16])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
    figure.legend(loc="outside upper center", ncols=3, fontsize=9, handlelength=1)
    return figure


@styled
def rounded_steps(weights: Mapping[str, Sequence[float]]) -> "Figure":
    """A weight against the steps of its optimizer, a line for each way of keeping it."""
    figure, axes = canvas(CHART, 2.8)
    for (name, values), (colour, _) in zip(weights.items(), series(len(weights)), strict=True):
        axes.plot(range(len(values)), values, color=colour)
        note(axes, name, (len(values) - 1, values[-1]), (4, 0), fontsize=9, color=colour, va="center")
    axes.set(xlabel="steps", ylabel="weight")
    axes.margins(x=0)
    axes.set_xlim(0, 1.45 * max(len(values) for values in weights.values()))
    return figure


@styled
def streams(steps: Mapping[str, Any]) -> "Figure":
    """Timelines of steps on the virtual clock, {name: StepTiming}: kernels above, collectives below.

    Each is drawn on the same axis of time.
    """
    figure, axes = canvas(CHART, 0.9 + 0.75 * len(steps))
    last = max(step.step_time for step in steps.values())
    for row, (name, step) in enumerate(steps.items()):
        for place, calls, (colour, _) in ((0, False, SERIES[0]), (1, True, SERIES[1])):
            spans = [
                (s.start, s.end - s.start)
                for s in step.spans
                if bool(s.ranks) is calls and s.end > s.start and not (calls and s.bytes < SMALL)
            ]
            y = 2.6 * row + place
            axes.broken_barh(
                spans,
                (y, 0.8),
                facecolor=colour,
                edgecolor="white",
                linewidth=0.5,
                label=("collectives" if calls else "kernels") if row == 0 else None,
            )
        axes.axvline(step.step_time, ymin=0, ymax=1, color=GREY, linewidth=0.6, linestyle=(0, (2, 2)))
        note(axes, name, (last, 2.6 * row + 0.8), (6, 0), fontsize=9, color=INK, va="center", annotation_clip=False)
    axes.set(xlim=(0, 1.25 * last), ylim=(2.6 * len(steps) - 0.6, -0.3), xlabel="time")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    axes.xaxis.get_major_locator().set_params(nbins=4)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside lower left", ncols=2, fontsize=9, handlelength=1)
    return figure


@styled
def peaks(rows: Iterable[tuple[str, float]]) -> "Figure":
    """Measured peaks of memory in bytes, one below the other, (what was changed, bytes), and what each change saved."""
    rows = list(rows)
    figure, axes = canvas(CHART, 0.8 + 0.34 * len(rows))
    before = None
    for y, (_, held) in enumerate(rows):
        axes.barh(y, held, height=0.66, color=SERIES[0][0])
        if before is not None and before > held:
            axes.barh(y, before - held, left=held, height=0.66, facecolor="none", edgecolor=SERIES[1][0], linewidth=1)
        axes.text(held - 4e8, y, show(held, "B", 3), ha="right", va="center", fontsize=9, color="white")
        before = held
    axes.set_yticks(range(len(rows)), [name for name, _ in rows], fontsize=9)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(lambda held, _: show(held, "B", 3) if held else "0")
    axes.xaxis.get_major_locator().set_params(nbins=4)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("peak of the GPU's memory")
    return figure


@styled
def batch_times(rows: Iterable[MeasuredStep], models: Mapping[str, Any]) -> "Figure":
    """Time of published steps against a GPU's tokens, and `models` as lines: {name: a function of tokens}."""
    rows = list(rows)
    most = 1.08 * max(row.tokens for row in rows)
    figure, axes = canvas(CHART, 3.2)
    grid = [most * k / 100 for k in range(101)]
    for (name, model), (colour, _), dash in zip(models.items(), SERIES, ("solid", (0, (6, 3)), ":"), strict=False):
        axes.plot(grid, [float(model(tokens)) for tokens in grid], color=colour, linestyle=dash, label=name)
    groups: dict[int, list[MeasuredStep]] = {}
    for row in rows:
        groups.setdefault(row.gpus, []).append(row)
    for (gpus, each), (_, marker) in zip(sorted(groups.items()), SERIES[1:], strict=False):
        axes.plot(
            [row.tokens for row in each],
            [row.time for row in each],
            linestyle="none",
            color=INK,
            marker=marker,
            markersize=7,
            markerfacecolor="none",
            label=f"{gpus:,} GPUs, measured",
        )
    axes.set(xlabel="tokens of a GPU in a step", ylabel="time of a step", xlim=(0, most), ylim=(0, None))
    axes.xaxis.set_major_formatter(lambda tokens, _: f"{tokens:,.0f}")
    axes.xaxis.get_major_locator().set_params(nbins=5)
    axes.yaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    axes.legend(fontsize=9, loc="upper left")
    return figure


@styled
def weak_scaling(runs: Mapping[str, Iterable[MeasuredStep]]) -> "Figure":
    """Tokens per second of a GPU against the number of GPUs, a GPU's batch held fixed: a line for each of `runs`."""
    figure, axes = canvas(CHART, 2.9)
    for (name, rows), (colour, marker) in zip(runs.items(), SERIES, strict=False):
        each = sorted((row.gpus, row.rate) for row in rows)
        axes.plot(*zip(*each, strict=True), color=colour, marker=marker, label=name)
    axes.set(xscale="log", xlabel="GPUs", ylabel="tokens/s of a GPU", ylim=(0, None))
    axes.set_xticks([8 * 4**k for k in range(4)] + [1024])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:,.0f}")
    axes.yaxis.set_major_formatter(lambda rate, _: f"{rate:,.0f}")
    axes.legend(fontsize=9, loc="lower left")
    return figure

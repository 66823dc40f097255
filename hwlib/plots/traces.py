"""What traces, dumps and logs of a job show: a step's timeline, waits, calls that hang, and where goodput goes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SKY, SMALL, canvas, styled
from hwlib.traces import Trace, exposed_intervals, flight_entries, job_span, waits_between
from hwlib.training import daly_interval, exact_goodput, young_interval
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LANE = 0.36  # of a rank's row: kernels above, collectives below
STATES = {"completed": "#cfe3f1", "started": ORANGE, "scheduled": "#f6d9c6"}
SHORT = {"all_reduce": "AR", "_all_gather_base": "AG", "_reduce_scatter_base": "RS", "broadcast": "BC", "barrier": "BR"}
MOST_RANKS = 16
CURVE = 200  # points
SPAN = 20  # times the best interval, up and down, that the curve shows


@styled
def trace_timeline(traces: Sequence[Trace], ranks: Sequence[int] | None = None) -> "Figure":
    """A step of each rank: kernels above, collectives below, hatched where no kernel hides them; time to the right.

    `ranks` says which to draw, all unless told. Raises ValueError for more than 16.
    """
    drawn = [trace for trace in traces if ranks is None or trace.rank in ranks]
    if not 0 < len(drawn) <= MOST_RANKS:
        raise ValueError(f"trace_timeline draws 1 to {MOST_RANKS} ranks, got {len(drawn)}")
    begin, end = job_span(drawn)
    figure, axes = canvas(CHART, 1.15 + 0.42 * len(drawn))
    for row, trace in enumerate(drawn):
        for kind, colour, top in (("compute", BLUE, row - LANE), ("communication", "#9fd8c5", row)):
            bars = [(1e3 * (e.start - begin), 1e3 * e.duration) for e in trace.of(kind)]
            axes.broken_barh(bars, (top, LANE), color=colour, linewidth=0)
        bars = [(1e3 * (a - begin), 1e3 * (b - a)) for a, b in exposed_intervals(trace)]
        axes.broken_barh(bars, (row, LANE), facecolor=GREEN, edgecolor="white", hatch="/////", linewidth=0)
    names = [str(trace.rank) for trace in drawn]
    axes.set_yticks(range(len(drawn)), names)
    axes.set(xlim=(0, 1e3 * (end - begin)), ylim=(len(drawn) - 0.4, -0.6), xlabel="ms", ylabel="rank")
    axes.grid(visible=False, axis="y")
    _legend(figure, {"kernels": BLUE, "hidden collectives": "#9fd8c5"}, {"exposed": GREEN})
    return figure


def _legend(figure: "Figure", plain: Mapping[str, str], hatched: Mapping[str, str]) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=colour, label=label) for label, colour in plain.items()]
    patches += [Patch(facecolor=c, edgecolor="white", hatch="/////", label=label) for label, c in hatched.items()]
    figure.legend(handles=patches, loc="outside lower left", ncols=3, handlelength=1.2)


@styled
def waits_grid(traces: Sequence[Trace]) -> "Figure":
    """Who waited for whom: a row for each rank that waits, a column for whom, exposed ms in the cell."""
    ranks = sorted(trace.rank for trace in traces)
    place = {rank: i for i, rank in enumerate(ranks)}
    waits = waits_between(traces)
    most = max(waits.values(), default=0.0) or 1.0
    figure, axes = canvas(CHART, 0.9 + 0.36 * len(ranks))
    for (who, whom), wait in waits.items():
        _cell(axes, place[whom], place[who], ORANGE, 0.06 + 0.94 * wait / most)
        if wait > 0.02 * most:
            look = {"color": "white" if wait > 0.85 * most else INK, "fontsize": SMALL, "ha": "center", "va": "center"}
            axes.text(place[whom], place[who], f"{1e3 * wait:.1f}", **look)
    for axis, name in ((axes.xaxis, "for rank"), (axes.yaxis, "rank waits")):
        axis.set_ticks(range(len(ranks)), [str(rank) for rank in ranks])
        axis.set_label_text(name)
    axes.set(xlim=(-0.5, len(ranks) - 0.5), ylim=(len(ranks) - 0.5, -0.5), title="exposed waits, ms a step")
    axes.grid(visible=False)
    return figure


def _cell(axes: "Axes", x: float, y: float, colour: str, alpha: float = 1.0) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.47, y - 0.44), 0.94, 0.88, facecolor=colour, alpha=alpha, linewidth=0))


@styled
def flight_grid(dumps: Mapping[int, Mapping[str, Any]], group: str, newest: int = 10) -> "Figure":
    """The flight recorder of a group's ranks: a row for each, a column for each sequence number, coloured by state.

    A cell names the call (AR all-reduce, AG all-gather, RS reduce-scatter); one that the rank has not called is
    empty. Raises ValueError for a group of which no dump has a call.
    """
    calls = {
        rank: {e.number: e for e in flight_entries(rank, dump) if e.group == group}
        for rank, dump in sorted(dumps.items())
        if group in dump["pg_config"]
    }
    numbers = sorted({number for own in calls.values() for number in own})[-newest:]
    if not numbers:
        raise ValueError(f"no call of group {group!r} in these dumps")
    figure, axes = canvas(CHART, 1.25 + 0.27 * len(calls))
    for row, own in enumerate(calls.values()):
        for column, number in enumerate(numbers):
            if entry := own.get(number):
                _cell(axes, column, row, STATES[entry.state])
                look = {"color": "white" if entry.state == "started" else INK, "fontsize": SMALL}
                text = SHORT.get(entry.operation, entry.operation[:2])
                axes.text(column, row, text, ha="center", va="center", **look)
            else:
                axes.plot(column, row, "x", color=GREY, markersize=5, markeredgewidth=1)
    axes.set_xticks(range(len(numbers)), [str(number) for number in numbers])
    axes.set_yticks(range(len(calls)), [str(rank) for rank in calls])
    axes.set(xlim=(-0.5, len(numbers) - 0.5), ylim=(len(calls) - 0.5, -0.5), ylabel="rank")
    axes.set_xlabel(f"sequence number in group {group}")
    axes.grid(visible=False)
    _legend(figure, STATES, {})
    return figure


@styled
def interval_curve(t_save: float, t_back: float, t_mtbf: float) -> "Figure":
    """What checkpoints and failures cost against the interval between checkpoints, as shares of the time.

    The two terms of Young's sum, their sum with the restart, and the exact loss with failures at random; marked are
    Young's and Daly's intervals.
    """
    import numpy as np

    young, daly = float(young_interval(t_save, t_mtbf)), float(daly_interval(t_save, t_mtbf))
    tau = np.geomspace(max(young / SPAN, t_save / 2), young * SPAN, CURVE)
    exact = [1 - exact_goodput(float(interval), t_save, t_back, t_mtbf) for interval in tau]
    figure, axes = canvas(CHART, 3.2)
    axes.plot(tau / 60, 100 * t_save / tau, color=SKY, linestyle="--", label="checkpoints")
    axes.plot(tau / 60, 100 * tau / (2 * t_mtbf), color=ORANGE, linestyle="--", label="lost work")
    total = t_save / tau + (tau / 2 + t_back) / t_mtbf
    axes.plot(tau / 60, 100 * total, color=BLUE, label="sum, with restarts")
    axes.plot(tau / 60, 100 * np.array(exact), color=INK, linewidth=1.2, label="exact")
    for interval, name, side in ((young, "Young", "left"), (daly, "Daly", "right")):
        loss = 100 * (1 - exact_goodput(interval, t_save, t_back, t_mtbf))
        axes.plot(interval / 60, loss, "o", color=INK, markersize=4, zorder=4)
        offset = (5, 9) if side == "left" else (-5, 9)
        axes.annotate(name, (interval / 60, loss), offset, textcoords="offset points", fontsize=SMALL, ha=side)
    top = min(100.0, 5 * 100 * (1 - exact_goodput(young, t_save, t_back, t_mtbf)))
    axes.set(xscale="log", xlim=(tau[0] / 60, tau[-1] / 60), ylim=(0, top), ylabel="% of the time")
    axes.set_xlabel("minutes of training between two checkpoints")
    axes.xaxis.set_major_formatter(lambda minutes, _: f"{minutes:g}")
    axes.set_title(f"checkpoint {show(t_save, 's')}, failure every {t_mtbf / 3600:.3g} h")
    figure.legend(loc="outside lower left", ncols=2)
    return figure


@styled
def goodput_waterfall(losses: Mapping[str, float], whole: str = "paid for", rest: str = "useful") -> "Figure":
    """From all of the time to what is useful: each loss as a share of the whole, one step down after another.

    Raises ValueError for losses that are negative or take more than there is.
    """
    left = 1 - sum(losses.values())
    if left < 0 or any(loss < 0 for loss in losses.values()):
        raise ValueError(f"losses are shares of the whole, together at most 1, got {dict(losses)}")
    rows = [(whole, 0.0, 1.0, GREY)]
    top = 1.0
    for name, loss in losses.items():
        rows.append((name, top - loss, loss, ORANGE))
        top -= loss
    rows.append((rest, 0.0, left, BLUE))
    figure, axes = canvas(CHART, 0.7 + 0.32 * len(rows))
    for row, (_, start, share, colour) in enumerate(rows):
        axes.barh(row, 100 * share, left=100 * start, color=colour, height=0.62)
        inside = share > 0.2
        x = 100 * (start + share) - 1.5 if inside else 100 * start - 1.5
        look = {"color": "white" if inside else INK, "fontsize": SMALL, "ha": "right", "va": "center"}
        axes.text(x, row, f"{100 * share:.3g} %", **look)
        if row + 1 < len(rows):
            edge = 100 * (start if colour == ORANGE else 1.0)
            axes.plot([edge, edge], [row, row + 1], color=GREY, linewidth=0.8)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.5, -0.5), xlabel=f"% of what was {whole}")
    axes.grid(visible=False, axis="y")
    return figure

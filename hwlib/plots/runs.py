"""Runs of algorithms: which ranks communicate with which, and when."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import CHART, GREY, INK, SERIES, SMALL, canvas, styled
from hwlib.simulate.event_run import EventRun
from hwlib.simulate.lockstep_run import LockstepRun
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WAITING = "#d9d9d9"
ROWS = 64  # rows and columns up to which a picture is legible
LEGEND = 10  # labels up to which a legend is


@styled
def timeline(
    run: EventRun, phase: Callable[[int, int], str] | None = None, ranks: Sequence[int] | None = None
) -> "Figure":
    """A row for each rank, time to the right: a bar for each step, grey while it waits for a partner to send.

    White gaps are computation. Bars are coloured by the distance in ranks to the partner that the
    step receives from (or sends to, if it receives nothing); or by `phase`, a function of rank and step that
    returns a label. `ranks` says which to draw, by default the first 64. Raises TypeError if `run` is not a run of
    `simulate_events`, ValueError for a rank that is not in it.
    """
    if not isinstance(run, EventRun):
        raise TypeError(f"run: what simulate_events gives, got {type(run).__name__}; lockstep's is for rounds_grid")
    drawn = list(range(min(run.n, ROWS))) if ranks is None else list(ranks)
    if not drawn or not all(rank in range(run.n) for rank in drawn):
        raise ValueError(f"ranks: of 0 to {run.n - 1}, got {drawn}")
    bars: dict[str, list[tuple[int, float, float]]] = {}
    waits: list[tuple[int, float, float]] = []
    row = {rank: number for number, rank in enumerate(drawn)}
    for rank, step, start, end in run.steps:
        if rank in row and end > start:
            late = min(max(start, _last_sent(run, rank, step)), end)
            if late > start:
                waits.append((row[rank], start, late))
            if end > late:
                label = phase(rank, step) if phase else _partner(run, rank, step)
                bars.setdefault(label, []).append((row[rank], late, end))
    figure, axes = canvas(CHART, 1.2 + max(0.24 * len(drawn), 0.8) * (0.45 if len(drawn) > 16 else 1))
    labels = list(bars) if phase else sorted(bars, key=_by_distance)
    for label, colour in zip(labels, _colours(len(labels)), strict=True):
        _bars(axes, bars[label], colour, label)
    if waits:
        _bars(axes, waits, WAITING, "waits for a partner")
    axes.set(xlim=(0, float(run.time) or 1), ylim=(len(drawn) - 0.5, -0.5), xlabel="time", ylabel="rank")
    axes.xaxis.set_major_formatter(lambda t, _: show(t, "s", 3) if t else "0")
    _rank_ticks(axes.yaxis, drawn)
    axes.grid(visible=False, axis="y")
    if 0 < len(bars) + bool(waits) <= LEGEND:
        figure.legend(loc="outside lower left", ncols=3, handlelength=1)
    axes.set_title(f"{run.fabric.topology.name}: {show(float(run.time), 's', 3)}")
    return figure


@styled
def rounds_grid(run: LockstepRun, inner: int | None = None) -> "Figure":
    """A run in lockstep as a grid, rounds to the right and ranks down: each cell names the rank that it sends to.

    The darker a cell, the more bytes; an empty one sends nothing. In large grids the cells have no text.
    With nodes of `inner` ranks, lines part the nodes, and a cell with a border sends to another node.
    Raises TypeError if `run` is not a run of `lockstep`, ValueError if a node has no ranks.
    """
    from matplotlib.patches import Rectangle

    if not isinstance(run, LockstepRun):
        raise TypeError(f"run: what lockstep gives, got {type(run).__name__}; an event run's picture is timeline")
    if inner is not None and inner < 1:
        raise ValueError(f"rounds_grid: a node has at least 1 rank, got inner = {inner}")
    cells: dict[tuple[int, int], list[Any]] = {}
    for message in run.messages:
        cell = cells.setdefault((message.src, message.round), [0.0, []])
        cell[0] += message.bytes
        cell[1].append(message.dst)
    n, rows = len(run.outputs), len(run.outputs) + any(rank == len(run.outputs) for rank, _ in cells)
    wordy = run.rounds <= 24 and rows <= 24
    side = (0.5 if rows > n else 0.22) if wordy else min(0.22, 3.6 / max(run.rounds, 1))
    height = 0.3 if wordy else min(0.3, 5.0 / rows)
    figure, axes = canvas(max(1.2 + side * run.rounds, 4.0), 1.1 + height * rows)
    most = max((size for size, _ in cells.values()), default=1) or 1
    for (rank, number), (size, partners) in cells.items():
        share = size / most
        axes.add_patch(
            Rectangle(
                (number - 0.5, rank - 0.5),
                1,
                1,
                facecolor=SERIES[0][0],
                alpha=0.12 + 0.7 * share,
                edgecolor="white",
                linewidth=1 if wordy else 0.2,
            )
        )
        if inner and any(partner // inner != rank // inner for partner in partners):
            axes.add_patch(
                Rectangle(
                    (number - 0.44, rank - 0.44),
                    0.88,
                    0.88,
                    fill=False,
                    edgecolor=SERIES[1][0],
                    linewidth=1.6 if wordy else 0.4,
                )
            )
        if wordy:
            names = ["switch" if partner == n else str(partner) for partner in partners[:2]]
            text = "all" if len(partners) >= n - 1 > 1 else ",".join(names)
            text += "…" if len(partners) > 2 and text != "all" else ""
            ink = "white" if share > 0.6 else INK
            axes.text(number, rank, text, ha="center", va="center", fontsize=SMALL, color=ink)
    for first in range(inner, n, inner) if inner else ():
        axes.axhline(first - 0.5, color=INK, linewidth=1.2)
    axes.set(xlim=(-0.5, max(run.rounds, 1) - 0.5), ylim=(rows - 0.5, -0.5), xlabel="round", ylabel="rank that sends")
    axes.set_aspect("auto")
    axes.xaxis.get_major_locator().set_params(integer=True)
    _rank_ticks(axes.yaxis, [*range(n), *(["switch"] * (rows - n))])
    axes.grid(visible=False)
    rounds = "1 round" if run.rounds == 1 else f"{run.rounds} rounds"
    axes.set_title(f"to whom; darkest: {show(most, 'B', 3)}. {rounds}, {show(run.time, 's', 3)}", fontsize=SMALL)
    return figure


def _last_sent(run: EventRun, rank: int, step: int) -> float:
    """When the last message that a step waits for was sent."""
    return max((float(run.timing.posted[m]) for m in run.schedule.awaited(rank, step)), default=0.0)


def _partner(run: EventRun, rank: int, step: int) -> str:
    schedule = run.schedule
    got = {schedule.src[m] for m in schedule.awaited(rank, step)}
    word, others = ("from", got) if got else ("to", {schedule.dst[m] for m in schedule.sent(rank, step)})
    if len(others) > 1:
        return f"{word} several"
    other = next(iter(others))
    if other >= run.n:
        return f"{word} the switch"
    distance = (other - rank) % run.n
    return f"{word} rank {distance if 2 * distance <= run.n else distance - run.n:+d}".replace("-", "−")


def _by_distance(label: str) -> tuple[str, int, str]:
    word, _, last = label.partition(" ")
    number = last.rpartition(" ")[2].replace("−", "-")
    return word, int(number) if number.lstrip("+-").isdigit() else 10**9, label


def _colours(n: int) -> list[Any]:
    if n <= len(SERIES):
        return [colour for colour, _ in SERIES[:n]]
    from matplotlib import colormaps

    return [colormaps["viridis"](i / (n - 1)) for i in range(n)]


def _bars(axes: "Axes", bars: list[tuple[int, float, float]], colour: Any, label: str) -> None:
    from matplotlib.collections import PolyCollection

    shapes = [[(a, y - 0.4), (b, y - 0.4), (b, y + 0.4), (a, y + 0.4)] for y, a, b in bars]
    few = len(bars) < 2000
    axes.add_collection(
        PolyCollection(shapes, facecolors=[colour], edgecolors="white", linewidths=0.5 if few else 0, label=label)
    )


def _rank_ticks(axis: Any, names: Sequence[Any]) -> None:
    every = 1 if len(names) <= 24 else -(-len(names) // 16)
    axis.set_ticks(range(0, len(names), every), [str(name) for name in names[::every]])
    axis.set_tick_params(length=0, labelcolor=GREY if every > 1 else INK)

"""Pipelines: what each rank computes, when, and how long it waits."""

from typing import TYPE_CHECKING

from hwlib.pipeline import Played, Span
from hwlib.plots.style import BLUE, CHART, GREEN, INK, ORANGE, SKY, SMALL, canvas, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {
    "F": ("forward", BLUE),
    "B": ("backward", ORANGE),
    "I": ("gradient of the input", GREEN),
    "W": ("gradient of the weights", SKY),
}
"""The name of each kind of pass, and its colour."""
ROWS = 64  # ranks up to which a picture is legible
LETTERED = 16  # ranks up to which microbatches are written into their passes
DIGIT, MARGIN = 0.075, 0.01  # inches


@styled
def pipeline(run: Played) -> "Figure":
    """A row for each rank, time to the right, a bar for each pass, labelled with its microbatch if wide enough.

    Passes of a rank's second and later chunks are paler. Passes that run together share a bar, the forward
    pass above. White is the bubble. Raises TypeError for anything but the result of `play`, ValueError
    for more than 64 ranks.
    """
    if not isinstance(run, Played):
        raise TypeError(f"run: what play gives, got {type(run).__name__}")
    schedule, ranks = run.schedule, run.schedule.stages
    if ranks > ROWS:
        raise ValueError(f"run: at most {ROWS} ranks can be drawn, got {ranks}")
    width, row = CHART, 0.28 if ranks <= 16 else 0.14
    figure, axes = canvas(width, 1.5 + max(row * ranks, 0.6))
    chunks = 1 + max(op.chunk for ops in schedule.ops for op in ops)
    for kind, (label, colour) in KINDS.items():
        for chunk in range(chunks):
            _passes(axes, run, kind, chunk, colour, 1 - 0.6 * chunk / max(chunks - 1, 1), label if not chunk else "")
    if ranks <= LETTERED:
        _numbers(axes, run, (width - 0.8) / run.time)
    axes.set(xlim=(0, run.time), ylim=(ranks - 0.5, -0.5), xlabel="time", ylabel="rank")
    every = 1 if ranks <= 24 else 4
    axes.set_yticks(range(0, ranks, every))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    figure.legend(loc="outside lower left", ncols=2, handlelength=1)
    many = "1 microbatch" if schedule.microbatches == 1 else f"{schedule.microbatches} microbatches"
    axes.set_title(f"{schedule.name}, {many}: bubble {100 * run.bubble_fraction:.1f} %", fontsize=SMALL)
    return figure


def _edges(rank: int, spans: tuple[Span, ...], number: int) -> tuple[float, float]:
    """The lower and upper edge of a bar: half of its row, if it shares the row."""
    if spans[number].op.paired:
        return rank - 0.4, rank
    if number and spans[number - 1].op.paired:
        return rank, rank + 0.4
    return rank - 0.4, rank + 0.4


def _numbers(axes: "Axes", run: Played, inches: float) -> None:
    """Write the number of its microbatch into every pass that is wide enough, at a scale in inches per second."""
    for rank, spans in enumerate(run.spans):
        for number, (op, start, end) in enumerate(spans):
            text, (low, high) = str(op.microbatch), _edges(rank, spans, number)
            if (end - start) * inches > DIGIT * len(text) + MARGIN:
                colour = INK if op.chunk or op.kind == "W" else "white"
                at = (start + end) / 2, (low + high) / 2
                axes.text(*at, text, ha="center", va="center", color=colour, fontsize=SMALL)


def _passes(axes: "Axes", run: Played, kind: str, chunk: int, colour: str, alpha: float, label: str) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgb

    shapes = []
    for rank, spans in enumerate(run.spans):
        for number, (op, start, end) in enumerate(spans):
            if op.kind == kind and op.chunk == chunk:
                low, high = _edges(rank, spans, number)
                shapes.append([(start, low), (end, low), (end, high), (start, high)])
    if shapes:
        face = tuple(1 - alpha * (1 - part) for part in to_rgb(colour))
        line = 0.5 if len(shapes) < 2000 else 0
        axes.add_collection(
            PolyCollection(shapes, facecolors=[face], edgecolors="white", linewidths=line, label=label or "_more")
        )

"""Decoders: their matrices to scale, where their parameters are, and what a training run's operations come to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.number_formats import E2M1
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, note, series, styled
from hwlib.specs import Model
from hwlib.transformer import Parameters

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = {"attention": BLUE, "MLP": GREEN, "routed experts": SKY, "shared experts": PURPLE, "tables": ORANGE}


@styled
def layer_matrices(model: Model) -> "Figure":
    """The matrices of one layer of a dense model, to scale: all have the model's width as one side."""
    D, gap = model.width, model.width * 0.12
    wide, narrow = model.heads * model.head_dim, model.kv_heads * model.head_dim
    attention = [("q", wide), ("k", narrow), ("v", narrow), ("out", wide)]
    rows = [attention, *([(name, model.ffn)] for name in ("gate", "up", "down")[3 - model.matrices :])]
    figure, axes = canvas(CHART, 4.1)
    axes.set_axis_off()
    axes.set_aspect("equal")
    for i, row in enumerate(rows):
        y, x = -i * (D + gap), 0.0
        for name, columns in row:
            _box(axes, (x, y, columns, D), GREEN if i else BLUE, name)
            x += columns + gap
    note(axes, f"one side of each: D = {D:,}", (0, D), (0, 5), fontsize=9, color=GREY)
    note(axes, f"F = {model.ffn:,}", (model.ffn / 2, -(len(rows) - 1) * (D + gap)), (0, -14), ha="center", fontsize=9)
    axes.set_xlim(0, max(model.ffn, sum(columns + gap for _, columns in attention)))
    axes.set_ylim(-(len(rows) - 1) * (D + gap) - D * 0.45, D * 1.3)
    return figure


def _box(axes: "Axes", at: tuple[float, float, float, float], colour: str, text: str, size: float = 10) -> None:
    from matplotlib.patches import Rectangle

    x, y, width, height = at
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor="white"))
    note(axes, text, (x + width / 2, y + height / 2), (0, 0), ha="center", va="center", color="white", fontsize=size)


@styled
def three_products(B: int = 3, D: int = 4, F: int = 6) -> "Figure":
    """The product of a layer and the two of its backward pass, as rectangles of [rows x columns]: each sums one of the
    three sides, and all have as many multiplications.
    """
    figure, axes = canvas(CHART, 4.6)
    axes.set_axis_off()
    axes.set_aspect("equal")
    letters = {B: "B", D: "D", F: "F"}
    lines = [
        ("forward", ("x", B, D), ("w", D, F), ("y", B, F), BLUE),
        ("backward", ("dy", B, F), ("wᵀ", F, D), ("dx", B, D), ORANGE),
        ("backward", ("xᵀ", D, B), ("dy", B, F), ("dw", D, F), GREEN),
    ]
    for i, (when, *arrays, colour) in enumerate(lines):
        middle, x = -8.6 * i, 0.0
        note(axes, when, (0, middle + 3.5), (0, 0), va="center", fontsize=9)
        for sign, (name, rows, columns) in zip(("·", "=", ""), arrays, strict=True):
            _box(
                axes, (x, middle - rows / 2, columns, rows), colour, f"{name}\n{letters[rows]} × {letters[columns]}", 9
            )
            x += columns + 0.7
            note(axes, sign, (x, middle), (0, 0), ha="center", va="center", fontsize=13)
            x += 0.7
    axes.set_xlim(0, 18.6)
    axes.set_ylim(-20, 4.2)
    return figure


@styled
def beyond_six(curves: Mapping[str, Sequence[tuple[float, float]]]) -> "Figure":
    """FLOPs of training over six a parameter and token, against the length of the sequences: {model: (T, ratio)}.

    Raises ValueError without a curve.
    """
    if not curves:
        raise ValueError("beyond_six needs at least one curve")
    figure, axes = canvas(CHART, 3.1)
    for (name, points), (colour, marker) in zip(curves.items(), series(len(curves)), strict=True):
        lengths, ratios = zip(*points, strict=True)
        axes.plot(lengths, ratios, color=colour, marker=marker, markersize=4, label=name)
    axes.axhline(1, color=INK, linewidth=1)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1024:g} Ki" if x >= 1024 else f"{x:g}")
    axes.set_xlabel("tokens of a sequence")
    axes.set_ylabel("FLOPs over 6ND")
    axes.legend(fontsize=8)
    return figure


@styled
def parameter_shares(counts: Mapping[str, Parameters], active: Mapping[str, float]) -> "Figure":
    """Where the parameters of several models are, each model's as shares of its own; at the right all and active ones.

    Raises ValueError without a model.
    """
    if not counts:
        raise ValueError("parameter_shares needs at least one model")
    figure, axes = canvas(CHART, 1.2 + 0.45 * len(counts))
    for i, (name, found) in enumerate(counts.items()):
        parts = (found.attention, found.mlp, found.experts, found.shared_experts, found.embedding + found.head)
        at = 0.0
        for part, colour in zip(parts, GROUPS.values(), strict=True):
            axes.barh(i, part / found.total, 0.66, at, color=colour, edgecolor="white", linewidth=0.6)
            at += part / found.total
        words = f"{found.total / 1e9:.3g}e9"
        if active[name] < 0.99 * found.total:
            words += f"\n{active[name] / 1e9:.3g}e9 active"
        note(axes, words, (1.02, i), (0, 0), va="center", fontsize=8)
    for name, colour in GROUPS.items():
        axes.barh([0], [0], color=colour, label=name)
    axes.set_yticks(range(len(counts)), list(counts), fontsize=9)
    axes.set_xlim(0, 1.42)
    axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.legend(fontsize=8, ncols=2, loc="upper right", bbox_to_anchor=(1.0, -0.05 - 0.3 / len(counts)))
    return figure


@styled
def rounded_block(panels: Sequence[tuple[str, Sequence[float], float, Sequence[float]]]) -> "Figure":
    """Blocks of weights, and what is left of them, one below the other: (title, weights, scale, rounded).

    Level lines are the numbers that the four-bit format has with that scale. Raises ValueError without a panel.
    """
    if not panels:
        raise ValueError("rounded_block needs at least one panel")
    figure, rows = canvas(CHART, 2.0 * len(panels), rows=len(panels))
    for axes, (title, block, scale, rounded) in zip([rows] if len(panels) == 1 else rows, panels, strict=True):
        for level in {sign * scale * value for sign in (-1, 1) for value in E2M1}:
            axes.axhline(level, color=GREY, linewidth=0.6, zorder=0)
        at = range(1, len(block) + 1)
        axes.vlines(at, block, rounded, color=INK, linewidth=1.2)
        axes.plot(at, block, "o", color=BLUE, markersize=5, label="weight")
        axes.plot(at, rounded, "_", color=ORANGE, markersize=11, markeredgewidth=2.5, label="rounded")
        axes.set_title(title, fontsize=9)
        axes.grid(visible=False)
        axes.set_xticks([])
    axes.legend(fontsize=8, ncols=2, loc="lower right")
    return figure


@styled
def day_steps(parts: Sequence[tuple[str, float]], printed: float) -> "Figure":
    """From the days of a first estimate to those of the log: a bar for each part, which begins where the last ended.

    `parts` is (what, days), the first of them the estimate; `printed` is the log's. Raises ValueError without a part.
    """
    if not parts:
        raise ValueError("day_steps needs at least one part")
    figure, axes = canvas(CHART, 0.8 + 0.36 * (len(parts) + 1))
    at = 0.0
    for i, (_what, days) in enumerate(parts):
        axes.barh(i, days, 0.62, at, color=BLUE if i == 0 else ORANGE)
        at += days
        note(axes, f"{days:+.1f}" if i else f"{days:.1f}", (at, i), (5, 0), va="center", fontsize=9)
    axes.barh(len(parts), printed, 0.62, color=GREEN)
    note(axes, f"{printed:.1f}", (printed, len(parts)), (5, 0), va="center", fontsize=9)
    axes.set_yticks(range(len(parts) + 1), [*(what for what, _ in parts), "the log"], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.24 * max(at, printed))
    axes.set_xlabel("days")
    axes.grid(visible=False, axis="y")
    return figure


@styled
def days_against_log(runs: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Predicted over logged time of several runs, one marker for each model of it: {run: {model: ratio}}.

    Raises ValueError without a run.
    """
    if not runs:
        raise ValueError("days_against_log needs at least one run")
    figure, axes = canvas(CHART, 1.5 + 0.5 * len(runs))
    ways = list(dict.fromkeys(way for ratios in runs.values() for way in ratios))
    for way, (colour, marker) in zip(ways, series(len(ways)), strict=True):
        markers = [(ratios[way], i) for i, ratios in enumerate(runs.values()) if way in ratios]
        axes.plot(*zip(*markers, strict=True), marker, color=colour, markersize=8, label=way)
    axes.axvline(1, color=INK, linewidth=1)
    axes.set_yticks(range(len(runs)), list(runs), fontsize=9)
    axes.set_ylim(len(runs) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.set_xlabel("predicted time, of the time in the log")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(-0.3, -0.36), ncols=2)
    return figure

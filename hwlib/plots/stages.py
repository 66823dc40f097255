"""Pipelines beside their schedules: a model cut into stages, the memory of each, and what a schedule trades."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.footprint import Footprint
from hwlib.pipeline import Played
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SERIES, SKY, canvas, styled
from hwlib.specs import MeasuredPipeline
from hwlib.units import GB

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = {
    "weights": ("weights", BLUE),
    "gradients": ("gradients", SKY),
    "optimizer": ("optimizer", GREEN),
    "activations": ("activations", ORANGE),
    "logits": ("loss", GREY),
}


@styled
def model_on_stages(layers: Sequence[int], head: float = 0.0) -> "Figure":
    """A column of layers for each stage, drawn as many as it has; the embedding below the first, and on the last one
    the output layer, as high as `head` layers. Arrows are what crosses from stage to stage.

    Raises ValueError without stages, or for more than 8.
    """
    if not 1 <= len(layers) <= 8:
        raise ValueError(f"layers: those of 1 to 8 stages, got {len(layers)}")
    from matplotlib.patches import Rectangle

    high = max(max(layers), layers[-1] + head)
    figure, axes = canvas(CHART, 1.1 + 0.17 * high)
    for stage, count in enumerate(layers):
        boxes: list[tuple[float, float, str]] = [(k, 1.0, BLUE) for k in range(count)]
        boxes += [(-0.6, 0.5, GREEN)] if stage == 0 else []
        boxes += [(count, head, ORANGE)] if head and stage == len(layers) - 1 else []
        for bottom, height, colour in boxes:
            box = Rectangle((stage + 0.2, bottom + 0.06), 0.6, height - 0.12, facecolor=colour, edgecolor="none")
            axes.add_patch(box)
        if stage < len(layers) - 1:
            look = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (stage + 1.18, high / 2), (stage + 0.82, high / 2), arrowprops=look)
    axes.text(0.5, -0.7, "embedding", ha="center", va="top", fontsize=9)
    if head:
        axes.text(len(layers) - 0.1, layers[-1] + head + 0.1, "output layer", ha="right", va="bottom", fontsize=9)
    axes.set(xlim=(0, len(layers)), ylim=(-2, high + 1.2), yticks=[])
    axes.set_xticks([stage + 0.5 for stage in range(len(layers))], [f"stage {s}" for s in range(len(layers))])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    return figure


@styled
def stage_memory(stages: Mapping[str, Sequence[Footprint]], capacity: float) -> "Figure":
    """The bytes of each stage, one panel for each plan, in parts that stand on each other; a line at the capacity.

    Raises ValueError without plans.
    """
    if not stages:
        raise ValueError("stages: at least one plan, got none")
    figure, panels = canvas(CHART, 0.7 + 1.7 * len(stages), len(stages))
    for axes, (name, held) in zip([panels] if len(stages) == 1 else panels, stages.items(), strict=True):
        floor = [0.0] * len(held)
        for part, (label, colour) in PARTS.items():
            bytes_ = [getattr(one, part) / GB for one in held]
            first = axes is (panels if len(stages) == 1 else panels[0])
            axes.bar(range(len(held)), bytes_, 0.8, floor, color=colour, label=label if first else "_more")
            floor = [a + b for a, b in zip(floor, bytes_, strict=True)]
        axes.axhline(capacity / GB, color=INK, linewidth=1.2, linestyle="--")
        axes.set(ylabel="GB", ylim=(0, 1.25 * max(capacity / GB, *floor)))
        axes.set_title(name, fontsize=10)
        axes.grid(visible=False, axis="x")
    last = panels if len(stages) == 1 else panels[-1]
    last.set(xlabel="stage")
    longest = max(len(held) for held in stages.values())
    last.set_xticks(range(0, longest, 1 if longest <= 8 else 2))
    figure.legend(loc="outside lower center", ncols=3, fontsize=9, handlelength=1)
    return figure


@styled
def time_and_memory(runs: Mapping[str, tuple[Played, float]]) -> "Figure":
    """A point for each schedule: the most microbatches that a rank keeps, and the bubble as a share of the step.

    `runs` are {name: (what play gives, how many copies of its states a rank holds)}; hollow points hold two.
    """
    figure, axes = canvas(CHART, 3.4)
    for k, (name, (run, copies)) in enumerate(runs.items()):
        colour, marker = SERIES[k % len(SERIES)]
        at = max(run.in_flight), 100 * run.bubble_fraction
        face = "white" if copies > 1 else colour
        axes.plot(*at, marker=marker, markersize=9, color=colour, markerfacecolor=face, linestyle="none")
        axes.annotate(name, at, (8, 3), textcoords="offset points", fontsize=9)
    axes.set(xlabel="microbatches kept at most on a rank", ylabel="bubble, % of the step")
    axes.margins(x=0.2, y=0.15)
    axes.set_ylim(bottom=0)
    left, right = axes.get_xlim()
    axes.set_xlim(left, right + 0.12 * (right - left))
    return figure


@styled
def steps_against_micro(rows: Sequence[MeasuredPipeline], models: Mapping[str, Mapping[float, float]]) -> "Figure":
    """Measured steps against the sequences of a microbatch, a marker for each number of stages, and `models`, {name:
    {sequences: seconds}}, as lines. Raises ValueError without rows.
    """
    if not rows:
        raise ValueError("rows: measured steps, got none")
    figure, axes = canvas(CHART, 3.4)
    for k, pp in enumerate(sorted({row.pp for row in rows}, reverse=True)):
        colour, marker = SERIES[k % len(SERIES)]
        points = sorted((row.micro, row.time) for row in rows if row.pp == pp)
        xs, ys = zip(*points, strict=True)
        axes.plot(xs, ys, marker=marker, color=colour, linestyle="none", label=f"{pp} stages, measured")
    for k, (name, curve) in enumerate(models.items()):
        axes.plot([*curve], [*curve.values()], color=SERIES[k % len(SERIES)][0], linewidth=1.5, label=name)
    axes.set_xscale("log", base=2)
    micros = sorted({row.micro for row in rows})
    axes.set_xticks(micros, [str(micro) for micro in micros])
    axes.minorticks_off()
    axes.set(xlabel="sequences of a microbatch", ylabel="step [s]")
    axes.legend(fontsize=9)
    return figure

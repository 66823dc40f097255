"""Plans of one task: time against memory, with the published runs and the band that is too close to call."""

from typing import TYPE_CHECKING

from hwlib.planner.cloud import COLOURED, PlanCloud
from hwlib.plots.style import CHART, GREY, INK, SERIES, SMALL, canvas, note, styled
from hwlib.units import GB

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAR, POINT = 90, 9  # points squared


@styled
def plan_cloud(cloud: PlanCloud, colour: str = "tp") -> "Figure":
    """The plans that fit, by memory and time, coloured by a degree; stars are published runs where they were measured,
    and a line leads from each to where the model has it. Plans too close to the quickest to call lie in a band;
    the line below joins those that no other beats in both. Raises KeyError for an unknown degree.
    """
    if colour not in COLOURED:
        raise KeyError(f"no degree {colour!r} to colour by; known: {', '.join(COLOURED)}")
    figure, axes = canvas(CHART, 3.6)
    best, degrees = cloud.plans[0].seconds, sorted({one.degrees[colour] for one in (*cloud.plans, *cloud.runs)})
    axes.axhspan(best, best * (1 + cloud.error), color=SERIES[1][0], alpha=0.25, linewidth=0)
    shades = {degree: _shade(place, len(degrees)) for place, degree in enumerate(degrees)}
    for degree, shade in shades.items():
        points = [(one.memory / GB, one.seconds) for one in cloud.plans if one.degrees[colour] == degree]
        axes.scatter(
            *zip(*points, strict=True) if points else ([], []),
            s=POINT,
            color=shade,
            alpha=0.7,
            linewidths=0,
            label=f"{degree}",
        )
    front = [cloud.plans[place] for place in cloud.front]
    axes.plot([one.memory / GB for one in front], [one.seconds for one in front], color=GREY, linewidth=0.9)
    for run in cloud.runs:
        x = run.memory / GB
        axes.plot([x, x], [run.measured, run.seconds], color=INK, linewidth=0.9, linestyle=":")
        axes.scatter(
            [x],
            [run.measured],
            s=STAR,
            marker="*",
            color=shades[run.degrees[colour]],
            edgecolors=INK,
            linewidths=0.8,
            zorder=3,
        )
    room = cloud.task.memory / GB
    axes.axvline(room, color=GREY, linewidth=1, linestyle="--")
    look = {"fontsize": SMALL, "color": INK}
    note(axes, f"{room:g} GB", (room, axes.get_ylim()[1]), (-3, -9), ha="right", **look)
    within = f"within {cloud.error:.1%}: too close to call"
    note(axes, within, (axes.get_xlim()[0], best), (3, -10), ha="left", **look)
    axes.set(xlabel="memory of the fullest GPU [GB]", ylabel="time of a step [s]", title=cloud.name)
    axes.set_ylim(bottom=min([best, *(run.measured for run in cloud.runs)]) * 0.94)
    legend = figure.legend(
        loc="outside lower left",
        ncols=min(len(degrees), 7),
        title=COLOURED[colour],
        markerscale=2,
        handletextpad=0.1,
        columnspacing=1,
    )
    legend.get_title().set_fontsize(SMALL)
    return figure


def _shade(place: int, count: int) -> object:
    """A colour for a degree: those of the series, or steps of a map that grows darker."""
    if count <= len(SERIES):
        return SERIES[place][0]
    from matplotlib import colormaps

    return colormaps["viridis"](place / (count - 1) * 0.9)

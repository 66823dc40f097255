"""Layers of experts: what each rank has to do, and what each network card carries, one row of bars for each way."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREY, ORANGE, canvas, styled
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 6  # rows that a page has room for


@styled
def expert_loads(loads: Mapping[str, Sequence[float]], inner: int = 0, of: str = "rank") -> "Figure":
    """The load of every rank (or of what `of` names), {label: loads}, over the mean of its row, which is dashed; all in
    one scale.

    The busiest one is marked, for whom all others wait. `inner` ranks stand together as a node. Raises ValueError
    without a row, with more than six, or with a row without a load.
    """
    rows = _checked("expert_loads", loads)
    figure, axes = _rows(len(rows))
    top = max(max(values) * len(values) / sum(values) for values in rows.values())
    for panel, (label, values) in zip(axes, rows.items(), strict=True):
        mean = sum(values) / len(values)
        _bars(panel, [value / mean for value in values], 1.0, inner)
        panel.set_title(f"{label}: {max(values) / mean:.2f} times the mean", fontsize=9)
        panel.set(ylim=(0, 1.08 * top), ylabel="of the mean")
        panel.yaxis.set_major_locator(_few())
    axes[-1].set_xlabel(f"{of}s, by node" if inner else of)
    return figure


@styled
def nic_bytes(cards: Mapping[str, Sequence[float]], inner: int = 0) -> "Figure":
    """The bytes through every network card, {label: bytes}, all rows in one scale, the mean of each dashed.

    `inner` cards stand together as a node. Raises ValueError as `expert_loads` does.
    """
    rows = _checked("nic_bytes", cards)
    figure, axes = _rows(len(rows))
    most = max(max(values) for values in rows.values())
    for panel, (label, values) in zip(axes, rows.items(), strict=True):
        _bars(panel, values, sum(values) / len(values), inner)
        panel.set(ylim=(0, 1.08 * most))
        panel.set_title(f"{label}: {show(max(values), 'B', 3)} at most", fontsize=9)
        panel.yaxis.set_major_formatter(lambda y, _: show(y, "B") if y else "0")
        panel.yaxis.set_major_locator(_few())
    axes[-1].set_xlabel("network cards, by node" if inner else "network card")
    return figure


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(3, steps=[1, 2, 5, 10])


def _checked(name: str, rows: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    checked = {label: list(values) for label, values in rows.items()}
    if not 1 <= len(checked) <= MOST:
        raise ValueError(f"{name} has room for 1 to {MOST} rows, got {len(checked)}")
    if empty := [label for label, values in checked.items() if not values or sum(values) <= 0]:
        raise ValueError(f"{name}: {empty[0]!r} has nothing to draw")
    return checked


def _rows(n: int) -> tuple["Figure", list["Axes"]]:
    figure, axes = canvas(CHART, 0.5 + 1.15 * n, rows=n)
    return figure, list(axes) if n > 1 else [axes]


def _bars(axes: "Axes", values: Sequence[float], mean: float, inner: int) -> None:
    """Bars with a gap after each node, the highest in another colour."""
    step = max(1.0, len(values) / 40)  # the gap, as wide as a bar or more where bars are narrow
    at = [i + (step * (i // inner) if inner else 0.0) for i in range(len(values))]
    most = max(values)
    axes.bar(at, values, width=0.85, color=[ORANGE if value == most else BLUE for value in values])
    axes.axhline(mean, color=GREY, linewidth=1, linestyle="--")
    axes.grid(visible=False, axis="x")
    if inner:
        starts = range(0, len(values), inner)
        middles = [(at[i] + at[min(i + inner, len(values)) - 1]) / 2 for i in starts]
        axes.set_xticks(
            middles,
            [f"node {k}" for k in range(len(middles))] if len(middles) <= 6 else [str(k) for k in range(len(middles))],
        )
    axes.set_xlim(at[0] - 0.8, at[-1] + 0.8)

"""Layers of experts: who is chosen, by chance and by preference, what helps, and exchanges against their ranks."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREY, INK, ORANGE, SERIES, SMALL, canvas, styled
from hwlib.specs import MeasuredExchange, MeasuredLoads

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@styled
def routed_tokens(chosen: Sequence[Sequence[int]], E: int, ranks: int) -> "Figure":
    """A row for each token, a column for each expert, a mark where the router sends it; below, the load of each rank.

    Columns are shaded by rank, as many experts on each. Raises ValueError if the ranks do not divide the experts, or
    for a choice that is not one of them.
    """
    if E % ranks or any(not 0 <= one < E for row in chosen for one in row):
        raise ValueError(f"routed_tokens: choices below E = {E}, a multiple of {ranks} ranks")
    held = E // ranks
    figure, (above, below) = canvas(CHART, 1.2 + 0.13 * len(chosen), 2, height_ratios=[0.13 * len(chosen), 0.7])
    for axes in (above, below):
        for rank in range(0, ranks, 2):
            axes.axvspan(rank * held - 0.5, (rank + 1) * held - 0.5, color="#eef2f6", zorder=0)
        axes.grid(visible=False)
    for token, row in enumerate(chosen):
        above.scatter(row, [token] * len(row), s=22, color=BLUE, zorder=3)
    above.set(ylabel="token", ylim=(len(chosen) - 0.3, -0.7), yticks=[])
    loads = [sum(one // held == rank for row in chosen for one in row) for rank in range(ranks)]
    middles = [(rank + 0.5) * held - 0.5 for rank in range(ranks)]
    below.bar(middles, loads, 0.7 * held, color=[ORANGE if one == max(loads) else BLUE for one in loads])
    below.axhline(sum(loads) / ranks, color=INK, linewidth=1.2, linestyle="--")
    below.set(xlim=(-0.5, E - 0.5), ylabel="load")
    below.set_xticks(middles, [f"rank {rank}" for rank in range(ranks)])
    below.tick_params(length=0)
    return figure


@styled
def by_chance(
    drawn: Mapping[float, tuple[float, float, float]], estimate: Mapping[float, float], marked: float
) -> "Figure":
    """The busiest rank over the mean against the tokens of a rank, if routing is even and drawn by lot.

    `drawn` are {tokens: (mean, a tenth is below, a tenth is above)} of trials, `estimate` a formula's values; a line
    stands at the `marked` imbalance.
    """
    figure, axes = canvas(CHART, 3.0)
    tokens = [*drawn]
    mean, low, high = zip(*drawn.values(), strict=True)
    axes.fill_between(tokens, low, high, color=BLUE, alpha=0.18, linewidth=0, label="eight trials of ten")
    axes.plot(tokens, mean, color=BLUE, marker="o", label="mean of the trials")
    axes.plot([*estimate], [*estimate.values()], color=ORANGE, linestyle="--", label="the formula")
    axes.axhline(marked, color=INK, linewidth=1, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_xticks(tokens, [f"{one:g}" for one in tokens])
    axes.minorticks_off()
    axes.set(xlabel="tokens of a rank", ylabel="busiest rank / mean", ylim=(1, None))
    axes.legend()
    return figure


@styled
def measured_imbalance(
    before: Sequence[MeasuredLoads],
    after: Sequence[MeasuredLoads],
    chance: float,
    predicted: Mapping[int, tuple[float, float, float]],
) -> "Figure":
    """The busiest rank over the mean for each layer, before and after experts were placed by their loads.

    `predicted` are {layer: (mean, a tenth is below, a tenth is above)} of a model, drawn as bars; a line is at chance.
    """
    figure, axes = canvas(CHART, 3.2)
    names = [f"layer {row.layer}" for row in before]
    at = range(len(before))
    mean, low, high = zip(*(predicted[row.layer] for row in before), strict=True)
    axes.vlines(at, low, high, color=GREY, linewidth=7, alpha=0.35, label="model: eight of ten")
    axes.plot(at, mean, color=GREY, marker="_", markersize=14, linestyle="none", label="model: mean")
    for rows, name, (colour, marker) in ((before, "as numbered", SERIES[1]), (after, "copied and placed", SERIES[0])):
        axes.plot(at, [row.imbalance for row in rows], color=colour, marker=marker, linestyle="none", label=name)
    axes.axhline(chance, color=INK, linewidth=1.2, linestyle="--", label="by chance alone")
    axes.set(ylabel="busiest rank / mean", ylim=(0.8, None))
    axes.set_xticks(at, names, rotation=0 if len(names) < 5 else 30)
    axes.grid(visible=False, axis="x")
    axes.legend(fontsize=SMALL)
    return figure


@styled
def balancing(traces: Mapping[str, Sequence[float]], chance: float) -> "Figure":
    """The busiest expert over the mean, step by step, for each way of balancing; a line is at what chance leaves."""
    figure, axes = canvas(CHART, 2.8)
    for k, (name, trace) in enumerate(traces.items()):
        axes.plot(range(len(trace)), trace, color=SERIES[k % len(SERIES)][0], linewidth=1.5, label=name)
    axes.axhline(chance, color=INK, linewidth=1.2, linestyle="--", label="by chance alone")
    axes.set(xlabel="step", ylabel="busiest expert / mean", ylim=(1, None))
    axes.legend()
    return figure


@styled
def room_for_tokens(headrooms: Sequence[float], shares: Mapping[str, Sequence[float]]) -> "Figure":
    """Shares against the headroom of an expert, a line for each: what is dropped, and what is padded."""
    figure, axes = canvas(CHART, 2.8)
    for k, (name, share) in enumerate(shares.items()):
        colour, _ = SERIES[k % len(SERIES)]
        axes.plot(
            headrooms, [100 * one for one in share], color=colour, label=name, linestyle="-" if k % 2 == 0 else "--"
        )
    axes.set(xlabel="capacity factor", ylabel="%", ylim=(0, None))
    axes.legend()
    return figure


@styled
def exchange_times(
    rows: Mapping[str, Sequence[MeasuredExchange]], lines: Mapping[str, Mapping[int, float]]
) -> "Figure":
    """Measured times of exchanges against their ranks, and models, {name: {ranks: seconds}}, as lines of that colour.

    Raises ValueError for a row without a time.
    """
    figure, axes = canvas(CHART, 3.2)
    shown: list[int] = []
    for k, (name, some) in enumerate(rows.items()):
        if any(row.time is None for row in some):
            raise ValueError(f"exchange_times: rows with a time, {name!r} has some without")
        colour, marker = SERIES[k % len(SERIES)]
        times = [1e6 * (row.time or 0.0) for row in some]
        axes.plot([row.ranks for row in some], times, color=colour, marker=marker, linestyle="none", label=name)
        shown += [row.ranks for row in some]
    for k, curve in enumerate(lines.values()):
        axes.plot([*curve], [1e6 * one for one in curve.values()], color=SERIES[k % len(SERIES)][0], linewidth=1.4)
    ticks = sorted({*shown})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [str(one) for one in ticks])
    axes.minorticks_off()
    axes.set(xlabel="ranks", ylabel="one way [us]", ylim=(0, None))
    axes.legend()
    return figure


@styled
def skew_on_a_gpu(ratios: Mapping[str, tuple[float, float]]) -> "Figure":
    """What a skewed load costs a layer that is whole on one GPU, {name: (measured, model)}, as times of an even load.

    Raises ValueError without ratios.
    """
    if not ratios:
        raise ValueError("skew_on_a_gpu: a pair or more, got none")
    figure, axes = canvas(CHART, 0.9 + 0.55 * len(ratios))
    at = range(len(ratios))
    look: dict[str, Any] = {"linestyle": "none", "markersize": 8}
    for k, name in enumerate(("measured", "model")):
        colour, marker = SERIES[1 - k]
        axes.plot([pair[k] for pair in ratios.values()], at, color=colour, marker=marker, label=name, **look)
    axes.axvline(1, color=INK, linewidth=1.2, linestyle="--")
    axes.set_yticks(at, [*ratios])
    axes.locator_params(axis="x", nbins=5)
    axes.set(xlabel="time over that of an even load", ylim=(len(ratios) - 0.5, -0.5), xlim=(0.95, None))
    figure.legend(loc="outside lower center", ncols=2)
    return figure

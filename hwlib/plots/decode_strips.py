"""Decode steps as strips cut into their parts, beside measured ones, and what a step yields of drafts."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hwlib.inference import speculative_tokens
from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, SKY, canvas, note, series, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "weights": BLUE,
    "arithmetic": SKY,
    "cache": ORANGE,
    "collectives": GREEN,
    "kernels": GREY,
    "waiting": "#d5d5d5",
}
WORDS = {
    "arithmetic": "arithmetic beyond",
    "cache": "caches",
    "collectives": "sums of the GPUs",
    "kernels": "starts of kernels",
    "waiting": "waiting for the host",
}


@styled
def step_strips(steps: Mapping[str, Mapping[str, float]], measured: Mapping[str, float] | None = None) -> "Figure":
    """Decode steps, one below the other, {name: {part: seconds}}, each cut into its parts, with a diamond at what was
    measured of it; parts as in `hwlib.calibrated.StepParts`.

    Raises ValueError without a step or for an unknown part.
    """
    if not steps:
        raise ValueError("step_strips needs at least one step")
    if odd := [part for parts in steps.values() for part in parts if part not in LOOKS]:
        raise ValueError(f"no part {odd[0]!r} of a step; known: {', '.join(LOOKS)}")
    measured = measured or {}
    figure, axes = canvas(CHART, 0.95 + 0.5 * len(steps))
    seen: set[str] = set()
    for row, (name, parts) in enumerate(steps.items()):
        at = 0.0
        for part, seconds in parts.items():
            if seconds > 0:
                label = None if part in seen else WORDS.get(part, part)
                axes.barh(-row, 1e3 * seconds, 0.5, at, color=LOOKS[part], edgecolor="white", lw=0.5, label=label)
                seen.add(part)
            at += 1e3 * seconds
        if name in measured:
            known = "measured" in seen
            axes.plot(1e3 * measured[name], -row, "D", color=INK, markersize=6, label=None if known else "measured")
            seen.add("measured")
        note(axes, name, (0, 0.3 - row), (0, 2), fontsize=9)
    axes.set(xlabel="time of a step [ms]", yticks=(), ylim=(-len(steps) + 0.6, 0.75), xlim=(0, None))
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper left", ncols=3, columnspacing=1.0)
    return figure


@styled
def accepted_tokens(
    rates: Sequence[float],
    most: int = 8,
    c_draft: float = 0.0,
    published: Mapping[str, tuple[int, float]] | None = None,
) -> "Figure":
    """Tokens of a step that checks drafts, against their number, for each rate of acceptance: by `speculative_tokens`,
    over what the drafts cost if one takes `c_draft` of a step.

    `published` are steps of others, {who: (drafts, tokens)}, or a speed-up where drafts cost something. Raises
    ValueError without a rate, or for one that is not between 0 and 1.
    """
    if not rates or not all(0 <= rate < 1 for rate in rates):
        raise ValueError(f"accepted_tokens: rates of acceptance from 0 to below 1, got {list(rates)}")
    figure, axes = canvas(CHART, 3.0)
    counts = range(most + 1)
    for rate, (colour, marker) in zip(rates, series(len(rates)), strict=True):
        gains = [float(speculative_tokens(rate, k)) / (1 + k * c_draft) for k in counts]
        axes.plot(counts, gains, color=colour, marker=marker, markersize=4)
        note(axes, f"{rate:.0%}", (most, gains[-1]), (6, 0), va="center", color=colour, fontsize=9)
    for name, (drafts, tokens) in (published or {}).items():
        axes.plot(drafts, tokens, "D", color=INK, markersize=7)
        note(axes, name, (drafts, tokens), (-8, 2), ha="right", fontsize=8)
    axes.axhline(1, color=INK, linewidth=0.8)
    axes.set(
        xlabel="drafts that a step checks",
        xlim=(0, most + 0.9),
        ylim=(0, None),
        ylabel="tokens over those of plain steps" if c_draft else "tokens of a step",
    )
    return figure

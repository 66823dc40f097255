"""A layer over several ranks: who holds what, what a step consists of, and whose part of a causal mask is how large."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, CHART, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, note, series, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RANKS = (BLUE, ORANGE, GREEN, PURPLE)  # a colour for each rank of a drawing
PARTS = (SKY, GREY, ORANGE, GREEN)


@styled
def split_mlp(n: int = 4) -> "Figure":
    """y = gelu(x A) B over n ranks, 2 to 4: A cut by columns, B by rows, and what each rank has in between.

    Raises ValueError for another number of ranks.
    """
    if not 2 <= n <= len(RANKS):
        raise ValueError(f"split_mlp: 2 to {len(RANKS)} ranks, got {n}")
    figure, axes = canvas(CHART, 3.9)
    axes.set(xlim=(0, 54), ylim=(-1, 47))
    axes.set_axis_off()
    low = 30
    _block(axes, (0, low, 8, 4), [(INK, 1.0)], "x", "whole")
    _block(axes, (12, low, 16, 8), _stripes(n), "A", "by columns", upright=True)
    _block(axes, (32, low, 16, 4), _stripes(n), "h = gelu(x A)", "by hidden units", upright=True)
    for x, sign in ((10, "×"), (30, "=")):
        note(axes, sign, (x, low + 2), (0, 0), ha="center", va="center", fontsize=12)
    low = 2
    _block(axes, (0, low, 16, 4), _stripes(n), "h", "", upright=True)
    _block(axes, (20, low, 8, 16), _stripes(n), "B", "by rows")
    note(axes, "×", (18, low + 2), (0, 0), ha="center", va="center", fontsize=12)
    note(axes, "=", (30, low + 2), (0, 0), ha="center", va="center", fontsize=12)
    for k in range(n):
        _block(axes, (32, low + 4.6 * k, 8, 3.6), [(RANKS[k], 1.0)], "", "")
        if k:
            note(axes, "+", (36, low + 4.6 * k - 0.5), (0, 0), ha="center", va="center", fontsize=9)
    note(axes, "partial y", (36, low + 4.6 * n - 0.2), (0, 0), ha="center", va="bottom", fontsize=9)
    look: dict[str, Any] = {"arrowstyle": "-|>", "color": INK}
    axes.annotate("", (46, low + 2.3 * n), (41, low + 2.3 * n), arrowprops=look)
    note(axes, "all-\nreduce", (43.4, low + 2.3 * n + 1), (0, 0), ha="center", va="bottom", fontsize=9)
    _block(axes, (46.5, low + 2.3 * n - 1.8, 7, 3.6), [(INK, 1.0)], "y", "")
    for k in range(n):
        note(axes, f"rank {k}", (1 + 9 * k, 45), (0, 0), color=RANKS[k], fontsize=9, fontweight="bold")
    return figure


@styled
def shares_by_model(bars: Mapping[str, Mapping[str, float]], marks: Mapping[str, Mapping[str, float]]) -> "Figure":
    """Horizontal bars for each name, one a way, and a mark where the same was published: {name: {way: share}}.

    Raises ValueError without a bar.
    """
    if not bars:
        raise ValueError("shares_by_model needs at least one name")
    ways = list(next(iter(bars.values())))
    figure, axes = canvas(CHART, 0.9 + 0.26 * len(bars) * (len(ways) + 1))
    for row, (name, shares) in enumerate(bars.items()):
        for k, way in enumerate(ways):
            y = -(row * (len(ways) + 1) + k)
            axes.barh(y, shares[way], color=PARTS[k % 4], height=0.8, label=way if not row else None)
            if (mark := marks.get(name, {}).get(way)) is not None:
                known = not row and not k
                axes.plot(mark, y, "o", color=INK, markersize=5, label="published" if known else None)
        note(axes, name, (0, 1 - row * (len(ways) + 1)), (0, 1), va="center", fontsize=9)
    axes.set(xlabel="kept, of tensor parallelism alone", yticks=(), xlim=(0, None))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:.0%}")
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper left", ncols=2, fontsize=9)
    return figure


@styled
def step_parts(parts: Mapping[str, Mapping[str, float]], measured: Mapping[str, float]) -> "Figure":
    """A stacked bar of seconds for each name, {name: {part: seconds}}, and the measured whole as a mark beside it.

    Raises ValueError without a bar.
    """
    if not parts:
        raise ValueError("step_parts needs at least one bar")
    figure, axes = canvas(CHART, 2.9)
    for x, (name, pieces) in enumerate(parts.items()):
        below = 0.0
        for k, (part, seconds) in enumerate(pieces.items()):
            axes.bar(x, 1e3 * seconds, bottom=below, color=PARTS[k % 4], width=0.6, label=part if not x else None)
            below += 1e3 * seconds
        if name in measured:
            axes.plot(x, 1e3 * measured[name], "D", color=INK, markersize=6, label=None if x else "measured")
    axes.set(ylabel="time [ms]", xticks=range(len(parts)))
    axes.set_xticklabels(parts, fontsize=9)
    axes.grid(visible=False, axis="x")
    figure.legend(loc="outside upper left", ncols=2, fontsize=9)
    return figure


@styled
def causal_pieces(n: int = 4) -> "Figure":
    """The causal mask of a sequence over n ranks, 2 to 4: in order, and with a piece from each end; and each rank's
    share of the work below. Raises ValueError for another number of ranks.
    """
    if not 2 <= n <= len(RANKS):
        raise ValueError(f"causal_pieces: 2 to {len(RANKS)} ranks, got {n}")
    figure, axes = canvas(CHART, 3.1)
    axes.set(xlim=(-1, 4 * n + 5), ylim=(-4.2, 2 * n + 1.6), aspect="equal")
    axes.set_axis_off()
    dealt = {
        "in order": [k // 2 for k in range(2 * n)],
        "from both ends": [min(k, 2 * n - 1 - k) for k in range(2 * n)],
    }
    for column, (name, owner) in enumerate(dealt.items()):
        left, work = column * (2 * n + 3), [0.0] * n
        note(axes, name, (left, 2 * n + 0.5), (0, 0), fontsize=10)
        for query in range(2 * n):
            y = 2 * n - 1 - query
            for key in range(query + 1):
                whole = key < query
                work[owner[query]] += 1 if whole else 0.5
                corners = [(0, 0), (1, 0), (1, 1), (0, 1)] if whole else [(0, 0), (1, 0), (0, 1)]
                _shape(axes, [(left + key + a, y + b) for a, b in corners], RANKS[owner[query]])
        even = sum(work) / n
        for rank, amount in enumerate(work):
            low, right = -0.9 - 0.8 * rank, left + amount / even * n
            _shape(axes, [(left, low), (right, low), (right, low + 0.55), (left, low + 0.55)], RANKS[rank])
    return figure


@styled
def rates_by_length(rates: Mapping[str, Sequence[tuple[float, float]]], unit: str = "FLOP/s") -> "Figure":
    """A rate against the length of a sequence, both as published: {label: [(tokens, rate), ...]}.

    Raises ValueError without a curve.
    """
    if not rates:
        raise ValueError("rates_by_length needs at least one curve")
    figure, axes = canvas(CHART, 2.9)
    for (label, points), (colour, marker) in zip(rates.items(), series(len(rates)), strict=True):
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, label=label)
    axes.set_xscale("log", base=4)
    axes.xaxis.set_major_formatter(lambda x, _: f"{x / 1024:,.0f} K")
    axes.yaxis.set_major_formatter(lambda y, _: f"{y / 1e12:.0f} T")
    axes.set(xlabel="tokens of a sequence", ylabel=f"{unit} of a GPU", ylim=(0, None))
    axes.legend(fontsize=9, loc="lower left")
    return figure


def _stripes(n: int) -> list[tuple[str, float]]:
    return [(RANKS[k], 1 / n) for k in range(n)]


def _block(
    axes: "Axes",
    place: tuple[float, float, float, float],
    shares: Sequence[tuple[str, float]],
    name: str,
    cut: str,
    upright: bool = False,
) -> None:
    """A matrix with its name above, cut in coloured parts: side by side if upright, else one above the other."""
    x, y, wide, high = place
    along = 0.0
    for colour, share in shares:
        if upright:
            corners = (x + along * wide, y, share * wide, high)
        else:
            corners = (x, y + (1 - along - share) * high, wide, share * high)
        a, b, w, h = corners
        _shape(axes, [(a, b), (a + w, b), (a + w, b + h), (a, b + h)], colour)
        along += share
    title = f"{name}\n{cut}" if cut else name
    note(axes, title, (x + wide / 2, y + high), (0, 3), ha="center", va="bottom", fontsize=9, linespacing=1.05)


def _shape(axes: "Axes", corners: Sequence[tuple[float, float]], colour: str) -> None:
    from matplotlib.patches import Polygon

    axes.add_patch(Polygon(corners, facecolor=colour, alpha=0.55, edgecolor="white", linewidth=0.8))

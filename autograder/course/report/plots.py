"""The pictures of a report as SVG, in the colours of the page that they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from .gathered_answers import OUTCOMES
from .items import ItemStatistics

WIDE, HIGH = 360, 220  # in the page's pixels on a telephone, so that a label is as large as the text
LEFT, RIGHT, TOP, BOTTOM = 34, 10, 12, 36


def histogram(bins: Sequence[tuple[float, float, int]], what: str) -> Markup:
    """How many learners have so many points."""
    most = max((number for _, _, number in bins), default=0)
    if not most:
        return Markup("")
    step, inside = (WIDE - LEFT - RIGHT) / len(bins), HIGH - TOP - BOTTOM
    parts = []
    for at, (start, end, number) in enumerate(bins):
        high = inside * number / most
        x, y = LEFT + at * step, TOP + inside - high
        label = Markup("{:g} to {:g}: {} learners").format(start, end, number)
        parts.append(
            Markup(
                '<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
            ).format(x + 1, y, step - 2, high, label)
        )
        if number:
            parts.append(_text(x + step / 2, y - 3, str(number), "middle"))
    every = max(1, len(bins) // 5)
    edges = [*(start for start, _, _ in bins), bins[-1][1]]
    parts += [
        _text(LEFT + at * step, HIGH - BOTTOM + 14, f"{edge:g}", "middle")
        for at, edge in enumerate(edges)
        if at % every == 0
    ]
    parts.append(_line(LEFT, TOP + inside, WIDE - RIGHT, TOP + inside))
    parts.append(_text((LEFT + WIDE - RIGHT) / 2, HIGH - 4, what, "middle"))
    return _picture(parts, f"Histogram: {what}, the number of learners in each of {len(bins)} ranges")


def scatter(items: Sequence[ItemStatistics]) -> Markup:
    """Discrimination over the share that is right, an exercise as its number."""
    shown = [item for item in items if item.right is not None and item.discrimination is not None]
    if not shown:
        return Markup("")
    low = min(-0.2, *(item.discrimination or 0.0 for item in shown)) - 0.05
    wide, inside = WIDE - LEFT - RIGHT, HIGH - TOP - BOTTOM

    def x(share: float) -> float:
        return LEFT + wide * share

    def y(correlation: float) -> float:
        return TOP + inside * (1 - (correlation - low) / (1 - low))

    parts = [
        _line(LEFT, y(0), WIDE - RIGHT, y(0), "zero"),
        _line(LEFT, HIGH - BOTTOM, WIDE - RIGHT, HIGH - BOTTOM),
        _line(LEFT, TOP, LEFT, HIGH - BOTTOM),
    ]
    parts += [_text(x(share), HIGH - BOTTOM + 14, f"{100 * share:.0f}", "middle") for share in (0, 0.25, 0.5, 0.75, 1)]
    parts += [_text(LEFT - 4, y(value) + 4, f"{value:g}", "end") for value in (0, 0.5, 1)]
    for item in shown:
        label = Markup("{}: {:.0f} % right, discrimination {:.2f}").format(
            item.exercise, 100 * (item.right or 0.0), item.discrimination
        )
        spot = (x(item.right or 0.0), y(item.discrimination or 0.0))
        parts.append(
            Markup('<g><title>{}</title><circle class="spot" cx="{:.1f}" cy="{:.1f}" r="9"/>{}</g>').format(
                label, *spot, _text(spot[0], spot[1] + 4, str(item.number), "middle", "on")
            )
        )
    parts.append(_text((LEFT + WIDE) / 2, HIGH - 4, "right, %", "middle"))
    parts.append(_text(LEFT + 6, TOP + 4, "discrimination", "start"))
    return _picture(parts, "Discrimination of each exercise over the share that is right")


def stacked(item: ItemStatistics) -> Markup:
    """The outcomes of an exercise as one bar."""
    total = sum(item.outcomes.values())
    if not total:
        return Markup("")
    parts, x = [], 0.0
    for key, number in item.outcomes.items():
        wide = 100 * number / total
        parts.append(
            Markup('<rect class="{}" x="{:.2f}" y="0" width="{:.2f}" height="10"><title>{}: {}</title></rect>').format(
                key, x, wide, OUTCOMES[key], number
            )
        )
        x += wide
    label = ", ".join(f"{number} {OUTCOMES[key]}" for key, number in item.outcomes.items())
    return Markup(
        '<svg class="stack" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="{}">{}</svg>'
    ).format(label, Markup("").join(parts))


def _picture(parts: Sequence[Markup], told: str) -> Markup:
    return Markup('<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDE, HIGH, told, Markup("").join(parts)
    )


def _text(x: float, y: float, text: str, anchor: str, style: str = "") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, style, text)


def _line(x1: float, y1: float, x2: float, y2: float, style: str = "axis") -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(style, x1, y1, x2, y2)

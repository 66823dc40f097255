"""The look of all figures: no pyplot, no global state, colours that colour-blind readers can tell apart."""

from collections.abc import Callable
from functools import cache, wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#A5508A", "#56B4E9"
SERIES = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (SKY, "v"))
GREY, INK = "#6b6b6b", "#222222"
STYLE: Any = {
    "font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.grid": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.8, "axes.axisbelow": True, "legend.frameon": False,
    "axes.titlelocation": "left", "axes.titlesize": 11, "lines.linewidth": 2, "svg.hashsalt": "gpubook",
}  # fmt: skip


def styled(draw: Callable[P, "Figure"]) -> Callable[P, "Figure"]:
    """Draws in the book's style, independently of the reader's own settings, which stay unchanged."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> "Figure":
        from matplotlib import rc_context

        with rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


def series(n: int) -> list[tuple[str, str]]:
    """A colour and a marker for each of n series."""
    return [SERIES[i % len(SERIES)] for i in range(n)]


def note(axes: "Axes", text: str, at: tuple[float, float], offset: tuple[float, float], **look: Any) -> None:
    """Text near a point of the data, `offset` points away."""
    axes.annotate(text, at, offset, textcoords="offset points", **look)


@cache
def _drawing() -> type["Figure"]:
    """A Figure that shows itself in a notebook without pyplot, and keeps the style in which it was made."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    class Drawing(Figure):
        def _repr_svg_(self) -> str:
            out = BytesIO()
            with rc_context(STYLE):
                self.savefig(out, format="svg", metadata={"Date": None})
            return out.getvalue().decode()

    return Drawing


def canvas(width: float, height: float, rows: int = 1, **grid: Any) -> tuple["Figure", Any]:
    """A figure of the given size in inches, and its axes, one above the other."""
    figure = _drawing()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=rows > 1, gridspec_kw=grid or None)

"""The look of all figures: no pyplot, no global state, colours that colour-blind readers can tell apart."""

from base64 import b64encode
from collections.abc import Callable
from functools import cache, wraps
from io import BytesIO
from typing import TYPE_CHECKING, Any, ParamSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")
IN_NOTEBOOK = (
    ".gpubook-still { overflow-x: auto; } .gpubook-still img { background: #fff; height: auto; } "
    '[data-jp-theme-light="false"] .gpubook-still img '
    "{ filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen; }"
)

BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#A5508A", "#56B4E9"
SERIES = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "D"), (SKY, "v"))
GREY, INK = "#6b6b6b", "#222222"
CHART = 4.38  # inches: a chart as wide as a telephone shows at LEAST times its size
SMALL = 8  # points of the smallest lettering
LEAST, MOST = 0.85, 1.25  # times its size that a figure is shown at: at LEAST, SMALL letters have 9 pixels
STYLE: Any = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": GREY,
    "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK, "text.color": INK, "axes.grid": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.8, "axes.axisbelow": True, "legend.frameon": False,
    "axes.titlelocation": "left", "axes.titlesize": 10, "legend.fontsize": SMALL,
    "xtick.labelsize": SMALL, "ytick.labelsize": SMALL,
    "lines.linewidth": 2, "svg.hashsalt": "gpubook",
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


def in_notebook(svg: str, width: float) -> str:
    """A figure `width` pixels wide for JupyterLab, which follows its theme, and scrolls before it gets illegible.

    An image by itself knows nothing of the theme around it: dark ink on white is turned over, with its hues kept, as
    the book's pages do it.
    """
    image = f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"
    size = f"width: {MOST * width:.0f}px; max-width: max(100%, {LEAST * width:.0f}px)"
    return f'<div class="gpubook-still"><style>{IN_NOTEBOOK}</style><img src="{image}" style="{size}" alt=""></div>'


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

        def _repr_html_(self) -> str:
            return in_notebook(self._repr_svg_(), 96 * float(self.get_figwidth()))

    return Drawing


def canvas(width: float, height: float, rows: int = 1, **grid: Any) -> tuple["Figure", Any]:
    """A figure of the given size in inches, and its axes, one above the other."""
    figure = _drawing()(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=rows > 1, gridspec_kw=grid or None)

"""What a kernel touches: each array as a grid of its elements, coloured by the program or by the number of times."""

from typing import TYPE_CHECKING, Any

from hwlib.plots.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, canvas, styled
from hwlib.tl import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#E69F00", "#7a5c3a", INK)
STRIP = 64  # elements of a vector in one row
WAYS = ("program", "times")


@styled
def touched(run: Run, by: str = "program") -> "Figure":
    """The arrays of a run side by side, an element a square, blank where nothing touches it.

    By "program" the colour is that of the first program to touch the element, eight colours in turn; by "times" it is
    the number of loads and stores of it. The title of an array says how often its elements are loaded and stored at
    most. `run` has been launched with `touches=True`. Raises ValueError without touches, and for another `by`.
    """
    from matplotlib.ticker import MaxNLocator

    if by not in WAYS:
        raise ValueError(f"touched: by is one of {', '.join(WAYS)}, got {by!r}")
    if not run.touches:
        raise ValueError("touched: the run kept no touches; `tl.launch(..., touches=True)` was expected")
    figure, first = canvas(6.8, 3.2)
    first.remove()
    panels = figure.subplots(1, len(run.arrays), squeeze=False)[0]
    most = max(int((loads + stores).max(initial=0)) for loads, stores, _ in map(_counted(run), run.arrays))
    for axes, name in zip(panels, run.arrays, strict=True):
        loads, stores, programs = _counted(run)(name)
        shape = run.arrays[name].shape
        _grid(axes, programs if by == "program" else loads + stores, shape, by, most)
        size = " × ".join(map(str, shape))
        axes.set_title(f"{name} [{size}]\n{_often(loads, stores)}", fontsize=8)
    if by == "times":
        ticks = MaxNLocator(integer=True)
        bar = figure.colorbar(panels[-1].images[0], ax=list(panels), shrink=0.7, format="%d", ticks=ticks)
        bar.set_label("loads and stores")
    return figure


def _counted(run: Run) -> Any:
    """A function of an array's name: loads and stores of each element, and the number of its first program or -1."""
    import numpy as np

    order = {at: number for number, at in enumerate(dict.fromkeys(touch.program for touch in run.touches))}

    def counted(name: str) -> tuple[Any, Any, Any]:
        size = run.arrays[name].size
        loads, stores, programs = np.zeros(size, int), np.zeros(size, int), np.full(size, -1)
        for touch in run.touches:
            if touch.array == name:
                np.add.at(stores if touch.stores else loads, touch.elements, 1)
                new = touch.elements[programs[touch.elements] < 0]
                programs[new] = order[touch.program]
        return loads, stores, programs

    return counted


def _often(loads: Any, stores: Any) -> str:
    times = {"loaded": int(loads.max(initial=0)), "stored": int(stores.max(initial=0))}
    counts = [f"{word} {'once' if most == 1 else f'up to {most} times'}" for word, most in times.items() if most]
    return ", ".join(counts) or "untouched"


def _grid(axes: "Axes", values: Any, shape: tuple[int, ...], by: str, most: int) -> None:
    import numpy as np
    from matplotlib.colors import ListedColormap

    columns = shape[-1] if len(shape) > 1 else min(values.size, STRIP)
    blank = -1 if by == "program" else 0
    cells = np.full((-(-values.size // columns), columns), blank)
    cells.reshape(-1)[: values.size] = values
    shown = np.ma.masked_equal(cells, blank)
    if by == "program":
        axes.imshow(shown % len(COLOURS), cmap=ListedColormap(COLOURS), vmin=-0.5, vmax=len(COLOURS) - 0.5)
    else:
        axes.imshow(shown, cmap="viridis", vmin=1, vmax=max(most, 2))
    axes.set_xticks([0, columns - 1])
    axes.set_yticks(sorted({0, len(cells) - 1}))
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set(visible=True, edgecolor=GREY)

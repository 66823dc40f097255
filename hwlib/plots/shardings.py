"""Sharded arrays and their products: who holds which block, what moves cost, and the steps of a program."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from hwlib.collectives import allgather_bytes, allreduce_bytes, alltoall_bytes
from hwlib.plots.style import BLUE, CHART, GREY, INK, ORANGE, SERIES, SKY, canvas, styled
from hwlib.sharding import Mesh, Sharded, sharded
from hwlib.units import show

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW = 3  # devices whose names fit into a line of a block
HATCH = "////"
SPANS = {"product": BLUE, "reads and writes": SKY, "collective": ORANGE}


@styled
def sharded_blocks(arrays: Iterable[str | Sharded], mesh: Mesh, at: Sequence[int] = (1, 0)) -> "Figure":
    """Each matrix cut into its blocks, with the devices that hold a block, as coordinates; one device's block is dark.

    A hatched array is an unreduced sum: the devices of a block hold different terms of it. Raises ValueError for an
    array that is not a matrix.
    """
    shown = [sharded(array) for array in arrays]
    if any(len(array.dims) != 2 for array in shown):
        raise ValueError(f"sharded_blocks: matrices, got {', '.join(map(str, shown))}")
    columns = 3
    lines = ceil(len(shown) / columns)
    figure, _ = canvas(CHART, 1.7 * lines)
    figure.clear()
    for place, array in enumerate(shown):
        _blocks(figure.add_subplot(lines, columns, place + 1), array, mesh, dict(zip(mesh, at, strict=True)))
    return figure


def _blocks(axes: "Axes", array: Sharded, mesh: Mesh, at: Mapping[str, int]) -> None:
    (_, rows), (_, columns) = array.dims
    high, wide = mesh.size(rows), mesh.size(columns)
    mine = _index(rows, at, mesh), _index(columns, at, mesh)
    holders: dict[tuple[int, int], list[str]] = {}
    for device in range(mesh.devices):
        here, rest = {}, device
        for axis in reversed([*mesh]):
            rest, here[axis] = divmod(rest, mesh[axis])
        block = _index(rows, here, mesh), _index(columns, here, mesh)
        holders.setdefault(block, []).append(",".join(str(here[axis]) for axis in mesh))
    for (row, column), names in holders.items():
        dark = (row, column) == mine
        axes.fill_between(
            [column / wide, (column + 1) / wide],
            row / high,
            (row + 1) / high,
            facecolor=BLUE if dark else "#dfeaf3",
            edgecolor="white",
            linewidth=1.2,
            hatch=HATCH if array.sums else None,
        )
        text = "  ".join(names) if len(names) <= FEW else "\n".join(names)
        axes.text(
            (column + 0.5) / wide,
            (row + 0.5) / high,
            text,
            ha="center",
            va="center",
            fontsize=8.5,
            color="white" if dark else INK,
            bbox=_behind(array, dark),
        )
    _bare(axes, str(array))


def _behind(array: Sharded, dark: bool) -> dict[str, Any] | None:
    """What keeps a text readable on a hatched block."""
    return {"facecolor": BLUE if dark else "#dfeaf3", "edgecolor": "none", "pad": 1.5} if array.sums else None


def _index(axes: Sequence[str], at: Mapping[str, int], mesh: Mesh) -> int:
    """Which part a device holds of a dimension that these axes split, the first coarsest."""
    part = 0
    for axis in axes:
        part = part * mesh[axis] + at[axis]
    return part


def _bare(axes: "Axes", title: str) -> None:
    axes.set(xlim=(-0.01, 1.01), ylim=(1.01, -0.01), xticks=[], yticks=[], aspect="equal")
    axes.set_title(title, fontsize=10, loc="center")
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)


Part = tuple[tuple[int, int], tuple[int, int]]  # of a matrix: rows and columns, in quarters
CASES: dict[str, tuple[tuple[str, Part | None], ...]] = {
    # of device 1 of four: what it has of A and B, and of C what it can compute
    "1": (("A[I_X, J]", ((1, 2), (0, 4))), ("B[J, K]", ((0, 4), (0, 4))), ("C[I_X, K]", ((1, 2), (0, 4)))),
    "2": (("A[I, J_X]", ((0, 4), (1, 2))), ("B[J, K]", ((0, 4), (0, 4))), ("?", None)),
    "3": (("A[I, J_X]", ((0, 4), (1, 2))), ("B[J_X, K]", ((1, 2), (0, 4))), ("C[I, K]{U_X}", ((0, 4), (0, 4)))),
    "4": (("A[I_X, J]", ((1, 2), (0, 4))), ("B[J, K_X]", ((0, 4), (1, 2))), ("its block of C", ((1, 2), (1, 2)))),
}


@styled
def four_cases() -> "Figure":
    """The four cases of a product over one mesh axis of four devices: what device 1 has, and what it can compute."""
    figure, _ = canvas(CHART, 6.2)
    figure.clear()
    for row, (case, arrays) in enumerate(CASES.items()):
        for column, (text, part) in enumerate(arrays):
            axes = figure.add_subplot(4, 3, 3 * row + column + 1)
            axes.fill_between([0, 1], 0, 1, facecolor="#eef3f7", edgecolor=GREY, linewidth=0.8)
            for cut in (0.25, 0.5, 0.75):
                if "I_X" in text or "J_X, K]" in text or "block" in text:
                    axes.plot([0, 1], [cut, cut], color=GREY, linewidth=0.6)
                if ", J_X" in text or "K_X" in text or "block" in text:
                    axes.plot([cut, cut], [0, 1], color=GREY, linewidth=0.6)
            if part:
                (top, bottom), (left, right) = part
                axes.fill_between(
                    [left / 4, right / 4],
                    top / 4,
                    bottom / 4,
                    facecolor=ORANGE if column == 2 else BLUE,
                    edgecolor="white",
                    linewidth=0,
                    hatch=HATCH if "U_X" in text else None,
                )
            else:
                axes.text(0.5, 0.5, "nothing yet", ha="center", va="center", fontsize=9)
            _bare(axes, text)
            if column == 0:
                axes.set_ylabel(f"case {case}", fontsize=10)
    return figure


@styled
def move_shares(most: int = 64) -> "Figure":
    """The bytes that a device sends for each move, as a share of its group's array, against the devices."""
    figure, axes = canvas(CHART, 3.0)
    counts = [2**k for k in range(1, most.bit_length())]
    moves = {"all-reduce": allreduce_bytes, "all-gather, reduce-scatter": allgather_bytes, "all-to-all": alltoall_bytes}
    for (name, sent), (colour, marker) in zip(moves.items(), SERIES, strict=False):
        shares = [float(sent(n, 1.0)) for n in counts]
        axes.plot(counts, shares, color=colour, marker=marker, markersize=4)
        axes.annotate(name, (counts[-2], shares[-2]), (0, 7), textcoords="offset points", ha="right", fontsize=9)
    axes.set(xscale="log", xlabel="devices of the group", ylabel="a device sends, of S", ylim=(0, 2.2))
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    return figure


@styled
def split_widths(widths: Mapping[str, Mapping[str, float]]) -> "Figure":
    """A bar for each machine and connection, {machine: {connection: width}}, on a logarithmic axis.

    Raises ValueError without machines.
    """
    if not widths:
        raise ValueError("split_widths: at least one machine, got none")
    rows = [(machine, way, width) for machine, each in widths.items() for way, width in each.items()]
    ways = list(dict.fromkeys(way for _, way, _ in rows))
    gaps = {machine: 0.5 * i for i, machine in enumerate(widths)}
    places = [number + gaps[machine] for number, (machine, _, _) in enumerate(rows)]
    figure, axes = canvas(CHART, 0.9 + 0.36 * len(rows))
    for place, (_, way, width) in zip(places, rows, strict=True):
        axes.plot([width], [place], color=SERIES[ways.index(way)][0], marker=SERIES[ways.index(way)][1], markersize=8)
        axes.annotate(f"{width:,.0f}", (width, place), (9, 0), textcoords="offset points", va="center", fontsize=9)
    axes.set_yticks(places, [f"{machine},\n{way}" for machine, way, _ in rows], fontsize=9)
    axes.set(xscale="log", xlabel="width from which arithmetic decides")
    left, right = axes.get_xlim()
    axes.set_xlim(left / 1.4, right * 3)
    axes.xaxis.set_major_formatter(lambda width, _: f"{width:,.0f}")
    axes.xaxis.set_minor_formatter(lambda *_: "")
    axes.margins(y=0.12)
    axes.invert_yaxis()
    return figure


@styled
def steps(named: Mapping[str, Any]) -> "Figure":
    """The spans of simulated steps, {name: StepTiming}: kernels above, collectives below, on one axis of time.

    Kernels that multiply are dark, those that only read and write are light. Raises ValueError without steps.
    """
    if not named:
        raise ValueError("steps: at least one step, got none")
    figure, drawn = canvas(CHART, 1.45 * len(named) + 0.7, len(named))
    panels = list(drawn) if len(named) > 1 else [drawn]
    key: dict[str, Any] = {}
    for axes, (name, step) in zip(panels, named.items(), strict=True):
        for span in step.spans:
            wire = bool(span.ranks)
            length, start = (span.end - span.start) * 1e3, span.start * 1e3
            kind = "collective" if wire else "product" if span.flops else "reads and writes"
            bar = axes.barh(
                int(wire), length, left=start, height=0.72, color=SPANS[kind], edgecolor="white", linewidth=0.8
            )
            key.setdefault(kind, bar)
            if wire and length > 0.17 * max(one.step_time for one in named.values()) * 1e3:
                text = show(span.bytes, "B", 3)
                axes.text(start + length / 2, int(wire), text, ha="center", va="center", fontsize=8.5, color="white")
        axes.set_yticks([0, 1], ["kernels", "network"])
        axes.invert_yaxis()
        axes.set_title(f"{name}: {show(step.step_time, 's', 3)}", fontsize=10)
    panels[-1].set_xlabel("ms")
    figure.legend(
        [key[kind] for kind in SPANS if kind in key],
        [kind for kind in SPANS if kind in key],
        loc="outside lower left",
        ncols=3,
        handlelength=1,
    )
    return figure

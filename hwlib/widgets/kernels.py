"""What the programs of a kernel touch, one after another, as a figure that moves."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hwlib.tl import SECTOR, Run, Touch
from hwlib.widgets.live import _text, module_source

MOST_ELEMENTS = 4096  # of one array, as squares that can be told apart
MOST_PROGRAMS = 256
STRIP = 64  # elements of a vector in one row


def kernel_explorer(runs: Run | Mapping[str, Run], program: int = 1) -> Any:
    """Every array of a kernel as a grid of its elements: those that one program loads and stores, and those before it.

    `runs` have been launched with `touches=True`; of several, {label: run}, the reader chooses one. Slide from program
    to program, or press *Play*. Pale elements are not asked for: they lie in a sector of 32 bytes with one that is, and
    cross with it. The darker the grey, the more often earlier programs touched an element. In a notebook `.program`,
    counted from 1, and `.run` follow the reader, and can be set. Raises ValueError for a run without touches, and for
    an array or a grid that is too large to draw.
    """
    labelled = {"kernel": runs} if isinstance(runs, Run) else dict(runs)
    if not labelled:
        raise ValueError("kernel_explorer: at least one run was expected")
    return _explorer()(
        runs={label: _told(label, run) for label, run in labelled.items()}, run=next(iter(labelled)), program=program
    )


def _told(label: str, run: Run) -> dict[str, Any]:
    """A run as JSON: its arrays, and of each program the place and requests [array, stores, elements asked, ranges]."""
    if not run.touches:
        raise ValueError(f"kernel_explorer: {label!r} kept no touches; `tl.launch(..., touches=True)` was expected")
    names = list(run.arrays)
    programs: dict[tuple[int, int, int], list[Any]] = {}
    for touch in run.touches:
        programs.setdefault(touch.program, []).append(
            [names.index(touch.array), touch.stores, len(touch.elements), _ranges(touch)]
        )
    if len(programs) > MOST_PROGRAMS:
        raise ValueError(
            f"kernel_explorer: {label!r} has {len(programs)} programs; at most {MOST_PROGRAMS} can be drawn"
        )
    axes = max(1, *(axis + 1 for at in programs for axis in range(3) if at[axis]), 1)
    return {
        "arrays": [_array(name, array) for name, array in run.arrays.items()],
        "programs": [
            {"at": str(at[0]) if axes == 1 else str(at[:axes]), "requests": requests}
            for at, requests in programs.items()
        ],
    }


def _array(name: str, array: Any) -> dict[str, Any]:
    if array.size > MOST_ELEMENTS:
        raise ValueError(f"kernel_explorer: {name} has {array.size:,} elements; at most {MOST_ELEMENTS:,} can be drawn")
    columns = array.shape[-1] if array.ndim > 1 else min(array.size, STRIP)
    return {"name": name, "shape": list(array.shape), "size": array.size, "columns": columns, "bytes": array.itemsize}


def _ranges(touch: Touch) -> list[int]:
    """The elements as first, count, first, count, ..., ascending, each once."""
    ranges: list[int] = []
    for element in sorted(set(touch.elements.tolist())):
        if ranges and element == ranges[-2] + ranges[-1]:
            ranges[-1] += 1
        else:
            ranges += [element, 1]
    return ranges


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class KernelExplorer(AnyWidget):
        _esm = module_source("kernel_explorer", ())
        _css = _text("figure.css")
        runs = traitlets.Dict().tag(sync=True)
        sector = traitlets.Int(SECTOR).tag(sync=True)
        run = traitlets.Unicode().tag(sync=True)
        program = traitlets.Int(1, min=1).tag(sync=True)

        @traitlets.validate("run")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.runs:
                raise traitlets.TraitError(f"unknown run {proposal['value']!r}; known: {', '.join(self.runs)}")
            return proposal["value"]

    return KernelExplorer

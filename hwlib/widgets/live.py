"""Figures as anywidgets: their scripts are the .js files of this folder, preceded by the formulas."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from hwlib import roofline
from hwlib.calibrated import ELEMENT_BYTES, OUTPUT_BYTES
from hwlib.formula import Formula
from hwlib.specs import Accelerator, accelerators

DTYPE_BYTES = {**ELEMENT_BYTES, "fp16": 2.0, "int8": 1.0}
DTYPES = ("bf16", "fp16", "fp8", "int8", "fp4")


def module_source(name: str, formulas: Iterable[Formula]) -> str:
    """One self-contained JavaScript module: the formulas as `formula.<name>`, figure.js, and the figure's own file.

    It imports nothing, so it also runs when loaded from a string: a widget's state, or a file:// page.
    """
    table = "\n".join(f"  {f.name}: {f.js}," for f in formulas)
    return f"const formula = {{\n{table}\n}};\n\n{_text('figure.js')}\n{_text(f'{name}.js')}"


def roofline_explorer(
    chip: str = "h100-sxm",
    dtype: str = "bf16",
    B: int = 16,
    D: int = 8192,
    F: int = 28672,
    chips: Iterable[Accelerator] | None = None,
) -> Any:
    """A matmul [B, D] x [D, F] on the roofline of a chip, its two times as their maximum and as their sum.

    Choose the chip and the number format, slide the sizes. Operands have the number format, the output is
    bfloat16. The dots show how the kernel moves as B grows. In a notebook `.B`, `.D`, `.F`, `.chip` and
    `.dtype` of the widget follow the reader, and can be set. `chips` defaults to every chip of the tables.
    Raises KeyError for a chip that is not among them, ValueError for a number format that it lacks.
    """
    rows = {row["key"]: row for c in (accelerators.values() if chips is None else chips) if (row := _row(c))}
    if chip not in rows:
        raise KeyError(f"no chip {chip!r} with a roofline; known: {', '.join(rows)}")
    if dtype not in rows[chip]["rates"]:
        raise ValueError(f"{rows[chip]['name']} has no {dtype} rate; it has {', '.join(rows[chip]['rates'])}")
    return _explorer()(chips=rows, chip=chip, dtype=dtype, B=B, D=D, F=F)


def _row(chip: Accelerator) -> dict[str, Any]:
    """The numbers that a roofline needs, as JSON: the chip's bandwidth and rates; empty if one is unknown."""
    rates = {}
    for dtype in DTYPES:
        try:
            rates[dtype] = chip.flops(dtype)
        except ValueError:
            continue
    known = chip.hbm_bandwidth and rates
    return {"key": chip.key, "name": chip.name, "W": chip.hbm_bandwidth, "rates": rates} if known else {}


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


ROOFLINE_FORMULAS = (
    roofline.matmul_flops,
    roofline.mixed_matmul_bytes,
    roofline.mixed_matmul_intensity,
    roofline.ridge,
    roofline.attainable_flops,
    roofline.compute_time,
    roofline.memory_time,
    roofline.roofline_time,
    roofline.serial_time,
)


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class RooflineExplorer(AnyWidget):
        _esm = module_source("roofline_explorer", ROOFLINE_FORMULAS)
        _css = _text("figure.css")
        chips = traitlets.Dict().tag(sync=True)
        widths = traitlets.Dict(DTYPE_BYTES).tag(sync=True)
        output_bytes = traitlets.Float(OUTPUT_BYTES).tag(sync=True)
        chip = traitlets.Unicode().tag(sync=True)
        dtype = traitlets.Unicode().tag(sync=True)
        B = traitlets.Int(min=1).tag(sync=True)
        D = traitlets.Int(min=1).tag(sync=True)
        F = traitlets.Int(min=1).tag(sync=True)

        @traitlets.validate("chip")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.chips:
                raise traitlets.TraitError(f"unknown chip {proposal['value']!r}; known: {', '.join(self.chips)}")
            return proposal["value"]

    return RooflineExplorer

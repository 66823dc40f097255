"""Interactive figures of chips: any two numbers of the tables against each other, and a peak as a product."""

from functools import cache
from math import log2
from typing import Any

from hwlib import roofline
from hwlib.specs import Accelerator, accelerators
from hwlib.specs.accelerator import QUANTITIES
from hwlib.widgets.live import _text, module_source

LABELS = {
    "bf16_flops": "16-bit matrix peak",
    "fp8_flops": "fp8 matrix peak",
    "fp4_flops": "fp4 matrix peak",
    "int8_ops": "int8 matrix peak",
    "fp32_flops": "fp32 peak of the lanes",
    "matmul_bf16_flops": "best bf16 matmul measured",
    "sms": "multiprocessors",
    "lanes": "lanes of one SM",
    "tensor_cores": "matrix units of one SM",
    "clock": "clock of the matrix peak",
    "vector_clock": "highest clock",
    "tdp": "power",
    "hbm_bandwidth": "memory bandwidth",
    "stream_bandwidth": "memory bandwidth measured",
    "hbm_bytes": "memory",
    "l2_bytes": "L2 cache",
    "l1_bytes": "L1 cache of one SM",
    "smem_bytes": "shared memory of one SM",
    "regfile_bytes": "registers of one SM",
    "scaleup_bandwidth": "scale-up network, one way",
    "scaleup_domain": "chips of a scale-up domain",
    "nic_bandwidth": "scale-out network, one way",
}
DERIVED = {"cycle_flops": "16-bit FLOP of one SM a cycle"}
FORMATS = ("fp32", "bf16", "fp8", "fp4")
PEAK_FORMULAS = (roofline.vector_flops, roofline.peak_flops, roofline.cycle_flops)


def chip_explorer(x: str = "clock", y: str = "cycle_flops", vendor: str = "all", chip: str = "h100-sxm") -> Any:
    """Every chip of the tables, by two of its quantities, both axes logarithmic.

    Point at a chip, reach it by keyboard or choose it to see its name and the numbers that its source printed.
    `x` and `y` are fields of `hwlib.specs.Accelerator`, or "cycle_flops". In a notebook `.x`, `.y`, `.vendor` and
    `.chip` follow the reader, and can be set. Raises KeyError for an unknown quantity, vendor or chip.
    """
    known = {"quantity": {**LABELS, **DERIVED}, "vendor": _vendors(), "chip": accelerators}
    for what, name in (("quantity", x), ("quantity", y), ("vendor", vendor), ("chip", chip)):
        if name not in known[what]:
            raise KeyError(f"no {what} {name!r} to show; known: {', '.join(known[what])}")
    rows = {key: _facts(chip) for key, chip in accelerators.items()}
    return _classes()["chips"](chips=rows, x=x, y=y, vendor=vendor, chip=chip)


def _vendors() -> tuple[str, ...]:
    return "all", *dict.fromkeys(chip.vendor for chip in accelerators.values())


def _facts(chip: Accelerator) -> dict[str, Any]:
    """A chip's numbers in the tables, as JSON; fp16 replaces bf16 on a chip without it."""
    data = {}
    for name in LABELS:
        source = "fp16_flops" if name == "bf16_flops" and chip.bf16_flops is None else name
        if source in chip.data and chip.datum(source).value:
            datum = chip.datum(source)
            data[name] = {
                "value": datum.value,
                "printed": datum.printed,
                "source": datum.source,
                "confidence": datum.confidence,
                "also": list(datum.also),
                "note": datum.note,
            }
    return {"name": chip.name, "vendor": chip.vendor, "arch": chip.arch, "data": data}


def peak_explorer(chip: str = "h100-sxm") -> Any:
    """A chip's peaks as products with sliders for the factors: multiprocessors, work per cycle, clock, and sparsity.

    Bars are computed from the sliders, marks are the data sheet's figure (dense) and the best measured matmul. In a
    notebook `.chip`, `.n_SM`, `.ops`, `.clock` and `.sparsity` follow the reader, and can be set. Raises KeyError
    for a chip without multiprocessors or a clock in the tables.
    """
    rows = {key: row for key, c in accelerators.items() if (row := _parts(c))}
    if chip not in rows:
        raise KeyError(f"no chip {chip!r} with multiprocessors, a clock and a 16-bit rate; known: {', '.join(rows)}")
    row = rows[chip]
    return _classes()["peak"](chips=rows, chip=chip, n_SM=row["n_SM"], ops=row["ops"], clock=row["clock"])


def _parts(chip: Accelerator) -> dict[str, Any]:
    """The factors of a chip's peaks; work per cycle is the power of two nearest to the data sheet's."""
    clock = chip.clock or chip.vector_clock
    if not (chip.sms and clock):
        return {}
    rates = {}
    for name in FORMATS:
        try:
            rates[name] = chip.flops("fp16" if name == "bf16" and chip.bf16_flops is None else name)
        except ValueError:
            continue
    if "bf16" not in rates:
        return {}
    lanes = chip.lanes or 0
    if not lanes and chip.fp32_flops and chip.vector_clock:
        lanes = _power_of_two(chip.fp32_flops / roofline.vector_flops(chip.sms, 1, chip.vector_clock))
    return {
        "name": chip.name,
        "n_SM": chip.sms,
        "lanes": lanes,
        "clock": clock,
        "rates": rates,
        "ops": _power_of_two(roofline.cycle_flops(rates["bf16"], chip.sms, clock)),
        "measured": chip.matmul_bf16_flops or 0,
    }


def _power_of_two(x: float) -> int:
    return 2 ** round(log2(x))


@cache
def _classes() -> dict[str, Any]:
    import traitlets
    from anywidget import AnyWidget

    units = {name: QUANTITIES[name] for name in LABELS} | {"cycle_flops": ("FLOP", "16-bit peak / (SMs x clock)")}
    quantities = [
        {"name": name, "label": {**LABELS, **DERIVED}[name], "unit": unit, "meaning": meaning}
        for name, (unit, meaning) in units.items()
    ]

    class ChipExplorer(AnyWidget):
        _esm = module_source("chip_explorer", PEAK_FORMULAS)
        _css = _text("figure.css")
        chips = traitlets.Dict().tag(sync=True)
        fields = traitlets.List(quantities).tag(sync=True)
        x = traitlets.Enum([*LABELS, *DERIVED], "clock").tag(sync=True)
        y = traitlets.Enum([*LABELS, *DERIVED], "cycle_flops").tag(sync=True)
        vendor = traitlets.Enum(_vendors(), "all").tag(sync=True)
        chip = traitlets.Unicode().tag(sync=True)

    class PeakExplorer(AnyWidget):
        _esm = module_source("peak_explorer", PEAK_FORMULAS)
        _css = _text("figure.css")
        chips = traitlets.Dict().tag(sync=True)
        chip = traitlets.Unicode().tag(sync=True)
        n_SM = traitlets.Int(min=1).tag(sync=True)
        ops = traitlets.Int(min=1).tag(sync=True)
        clock = traitlets.Float(min=1.0).tag(sync=True)
        sparsity = traitlets.Enum(("dense", "2:4"), "dense").tag(sync=True)

    return {"chips": ChipExplorer, "peak": PeakExplorer}

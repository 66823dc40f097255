"""Occupancy of one multiprocessor, as an interactive figure: vary a kernel's registers, shared memory, block size."""

from functools import cache
from typing import Any

from hwlib.hierarchy import LIMITS, register_blocks, slot_blocks, smem_blocks
from hwlib.specs import Accelerator, accelerators
from hwlib.widgets.live import _text, module_source

FORMULAS = (slot_blocks, register_blocks, smem_blocks)


def occupancy_explorer(chip: str = "h100-sxm", threads: int = 256, registers: int = 64, smem: int = 32 * 1024) -> Any:
    """Blocks and warps resident on one multiprocessor of a chip, and which resource sets the limit.

    Slide the threads of a block, the registers of a thread and the shared memory of a block, in bytes; the slots of
    the four subpartitions fill. In a notebook `.threads`, `.registers`, `.smem` and `.chip` follow the reader, and can
    be set. Raises KeyError for a chip whose limits are not listed.
    """
    rows = {key: _row(c) for key, c in accelerators.items() if c.arch in LIMITS and c.regfile_bytes and c.smem_bytes}
    if chip not in rows:
        raise KeyError(f"no chip {chip!r} with listed limits; known: {', '.join(rows)}")
    return _explorer()(chips=rows, chip=chip, threads=threads, registers=registers, smem=smem)


def _row(chip: Accelerator) -> dict[str, Any]:
    limits = LIMITS[chip.arch]
    return {
        "name": chip.name,
        "slots": limits.warps,
        "blocks": limits.blocks,
        "S_RF": chip.regfile_bytes,
        "S_SM": chip.smem_bytes,
        "unit": limits.smem_unit,
        "reserved": limits.smem_reserved,
    }


@cache
def _explorer() -> Any:
    import traitlets
    from anywidget import AnyWidget

    class OccupancyExplorer(AnyWidget):
        _esm = module_source("occupancy_explorer", FORMULAS)
        _css = _text("figure.css")
        chips = traitlets.Dict().tag(sync=True)
        chip = traitlets.Unicode().tag(sync=True)
        threads = traitlets.Int(min=1, max=1024).tag(sync=True)
        registers = traitlets.Int(min=1, max=256).tag(sync=True)
        smem = traitlets.Int(min=0).tag(sync=True)

        @traitlets.validate("chip")
        def _known(self, proposal: Any) -> str:
            if proposal["value"] not in self.chips:
                raise traitlets.TraitError(f"unknown chip {proposal['value']!r}; known: {', '.join(self.chips)}")
            return proposal["value"]

    return OccupancyExplorer

"""Hardware facts: one row a value, with its unit, what the source printed, and the source.

>>> from hwlib.specs import accelerators
>>> accelerators["h100-sxm"].hbm_bandwidth
3350000000000.0
>>> accelerators["h100-sxm"].datum("hbm_bandwidth").printed
'3.35 TB/s'
"""

from hwlib.specs.accelerator import Accelerator, accelerators
from hwlib.specs.gemm import MeasuredGemm, measured_gemms
from hwlib.specs.table import Datum, SpecError

__all__ = ["Accelerator", "Datum", "MeasuredGemm", "SpecError", "accelerators", "measured_gemms"]

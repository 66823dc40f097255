"""What a kernel's model takes from a chip's data sheet, beside its fitted constants."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hwlib.arguments import is_number
from hwlib.specs import accelerators
from hwlib.specs.fitted import (
    Fitted,
    GroupedConstants,
    attention_constants,
    decode_constants,
    grouped_constants,
    grouped_kernels,
)
from hwlib.specs.table import unknown

__all__ = ["KERNEL_BYTES", "RateSheet", "checked", "entry_of", "grouped_entry", "kernel_software", "sheet_of"]

# Bytes of a weight and of an activation, and the dtype whose rate of the data sheet multiplies them. Four-bit formats
# have a scale for each 16 (NVFP4) or 32 elements (MXFP4).
KERNEL_BYTES = {
    "bf16": (2.0, 2.0, "bf16"),
    "fp8": (1.0, 1.0, "fp8"),
    "fp8_block": (1.0, 1.0, "fp8"),
    "fp4": (0.5 + 1 / 16, 0.5 + 1 / 16, "fp4"),
    "mxfp4": (0.5 + 1 / 32, 2.0, "bf16"),
    "mxfp4_fp8": (0.5 + 1 / 32, 1.0, "fp8"),
}


TABLES = {"attention": attention_constants, "decode": decode_constants, "grouped": grouped_constants}


class RateSheet(NamedTuple):
    """Peak rate in FLOP/s of one dtype, memory bandwidth in B/s, and how many multiprocessors there are."""

    C: Any
    W: Any
    n_SM: Any


def sheet_of(chip: str, dtype: str, fitted_on: str) -> RateSheet:
    """The data sheet of a chip; one without a published count of multiprocessors has that of the chip that was fitted.

    A chip without a rate for the dtype (fp8 on an A100) computes in bfloat16. Raises ValueError for a chip without a
    memory bandwidth.
    """
    spec = accelerators[chip]
    sms = spec.sms or accelerators[fitted_on].sms
    if not sms or not spec.hbm_bandwidth:
        raise ValueError(f"{chip} lacks a number of multiprocessors or a memory bandwidth")
    rate = spec.bf16_flops if getattr(spec, f"{dtype}_flops") is None else spec.flops(dtype)
    return RateSheet(rate, spec.hbm_bandwidth, sms)


def entry_of(kind: str, table: Mapping[Any, Any], chip: str, dtype: str, software: str) -> Fitted:
    """The constants of a chip, dtype and software. Raises KeyError, which lists the near ones."""
    if (chip, dtype, software) not in table:
        known = {" ".join(key): key for key in table}
        raise KeyError(unknown(f"fitted {kind}", f"{chip} {dtype} {software}", known))
    entry: Fitted = table[chip, dtype, software]
    return entry


def grouped_entry(chip: str, dtype: str, software: str, kernel: str | None = None) -> GroupedConstants:
    """The constants of a layer of experts: of the software's usual kernel, or of a named one.

    The time depends on the chip, the dtype and the kernel, so a kernel that another software ran serves as well. Raises
    KeyError, which lists the near ones.
    """
    if kernel is None:
        usual: Any = entry_of("grouped", grouped_constants(), chip, dtype, software)
        return usual
    table = grouped_kernels()
    for name in (software, *dict.fromkeys(key[2] for key in table)):
        if (chip, dtype, name, kernel) in table:
            return table[chip, dtype, name, kernel]
    known = {" ".join(key): key for key in table}
    raise KeyError(unknown("fitted grouped", f"{chip} {dtype} {software} {kernel}", known))


def checked(lowest: Iterable[tuple[str, Any, float]]) -> None:
    """Raises ValueError, with its name, for a length below its lowest value; arrays are checked by their least."""
    for name, value, low in lowest:
        least = value.min() if getattr(value, "shape", ()) else value
        if not is_number(least) or not low <= float(least) < float("inf"):
            raise ValueError(f"{name} is at least {low:g}, got {value!r}")


def kernel_software(kind: str, chip: str | None = None) -> tuple[str, ...]:
    """The software that constants are kept of: `kind` is "attention", "decode" or "grouped"; on one chip, or on any.

    The functions of these kernels take "trtllm" where nothing is said. Raises ValueError for another kind.
    """
    if kind not in TABLES:
        raise ValueError(unknown("kind of kernel", kind, TABLES))
    return tuple(dict.fromkeys(key[2] for key in TABLES[kind]() if chip in (None, key[0])))

"""Accelerators: frozen records read from nvidia.toml, amd.toml and google.toml beside this file.

Everything is SI: bytes, bytes per second in one direction, dense FLOP/s, hertz, watts. A value that no source
confirms is absent (None), never guessed. `datum(field)` gives what the source printed and how surely it was
seen.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple

DTYPES = {
    "bf16": "bf16_flops", "bfloat16": "bf16_flops", "fp16": "fp16_flops", "float16": "fp16_flops",
    "fp8": "fp8_flops", "float8": "fp8_flops", "fp4": "fp4_flops", "float4": "fp4_flops",
    "nvfp4": "fp4_flops", "int8": "int8_ops", "fp32": "fp32_flops", "float32": "fp32_flops",
}  # fmt: skip


class SpecError(ValueError):
    """A table of this folder that breaks its own rules; the message names file, chip and field."""


class Datum(NamedTuple):
    """One value of one chip, and where it comes from.

    `printed` is the source's figure; times `factor` it is `value` (0.5: both directions were printed, or the
    sparse rate; 1.048576: the source's MB is a MiB). `also` lists what other sources print, `note` says why
    we side as we do.
    """

    value: float
    unit: str
    printed: str
    meaning: str
    source: str
    confidence: str
    note: str = ""
    factor: float = 1.0
    also: tuple[str, ...] = ()


def _quantity(unit: str, meaning: str) -> Any:
    return field(default=None, metadata={"unit": unit, "meaning": meaning})


@dataclass(frozen=True, repr=False)
class Accelerator:
    """One chip. Fields are SI floats (counts are ints), or None where the chip lacks it or nobody confirms
    it.
    """

    key: str
    name: str
    vendor: str
    arch: str
    scaleup_name: str
    data: Mapping[str, Datum]

    # Compute
    sms: int | None = _quantity("1", "streaming multiprocessors, compute units (AMD) or TensorCores (TPU)")
    clock: float | None = _quantity("1/s", "clock at which the matrix peak is quoted")
    vector_clock: float | None = _quantity("1/s", "highest clock, at which the fp32 vector peak is quoted")
    bf16_flops: float | None = _quantity("FLOP/s", "dense bfloat16 matrix rate")
    fp16_flops: float | None = _quantity("FLOP/s", "dense float16 matrix rate")
    fp8_flops: float | None = _quantity("FLOP/s", "dense 8-bit floating-point matrix rate")
    fp4_flops: float | None = _quantity("FLOP/s", "dense 4-bit floating-point matrix rate")
    int8_ops: float | None = _quantity("OP/s", "dense 8-bit integer matrix rate")
    fp32_flops: float | None = _quantity("FLOP/s", "float32 rate of the vector units; a multiply-add is two")
    # Memory
    hbm_bytes: float | None = _quantity("B", "capacity of the high-bandwidth memory")
    hbm_bandwidth: float | None = _quantity("B/s", "bandwidth of the high-bandwidth memory")
    l3_bytes: float | None = _quantity("B", "last-level cache in front of the memory (AMD Infinity Cache)")
    l2_bytes: float | None = _quantity("B", "L2 cache of the whole chip")
    l1_bytes: float | None = _quantity("B", "L1 cache of one SM, with its shared memory on NVIDIA chips")
    smem_bytes: float | None = _quantity("B", "most shared memory of one SM (LDS of one compute unit on AMD)")
    regfile_bytes: float | None = _quantity("B", "vector registers of one SM")
    tmem_bytes: float | None = _quantity("B", "tensor memory of one SM")
    vmem_bytes: float | None = _quantity("B", "vector memory (scratchpad) of one TensorCore")
    # Network and power
    scaleup_links: int | None = _quantity("1", "links of one chip into its scale-up network")
    scaleup_link_bandwidth: float | None = _quantity("B/s", "one such link, one direction")
    scaleup_bandwidth: float | None = _quantity("B/s", "all those links of one chip, one direction")
    scaleup_domain: int | None = _quantity("1", "chips in one scale-up domain")
    scaleup_switches: int | None = _quantity("1", "switch chips in one scale-up domain")
    nic_bandwidth: float | None = _quantity("B/s", "scale-out network per chip, one direction")
    tdp: float | None = _quantity("J/s", "thermal design power")
    # Measured by others
    stream_bandwidth: float | None = _quantity("B/s", "memory bandwidth measured with a STREAM kernel")
    matmul_bf16_flops: float | None = _quantity("FLOP/s", "best bfloat16 matmul rate over many shapes")
    allreduce_bandwidth: float | None = _quantity("B/s", "all-reduce bus bandwidth of a ring in one domain")

    def __repr__(self) -> str:
        return f"<{self.name}: {', '.join(f'{n} {d.value:g} {d.unit}' for n, d in self.data.items())}>"

    def datum(self, name: str) -> Datum:
        """The value of `name` with its source. KeyError, naming the fields there are, where there is none."""
        if name in self.data:
            return self.data[name]
        if name in QUANTITIES:
            raise KeyError(f"{self.key} has no confirmed {name}; it has {', '.join(self.data)}")
        raise KeyError(_unknown("field", name, QUANTITIES))

    def flops(self, dtype: str) -> float:
        """The dense matrix rate for a dtype ("bf16", "fp8", "float16", ...); the vector rate for "fp32".

        float16 runs at bfloat16's rate where the table says nothing else (every GPU here since Ampere).
        Raises ValueError for a dtype that the chip or this book does not have.
        """
        if dtype not in DTYPES:
            raise ValueError(_unknown("dtype", dtype, DTYPES))
        rate = getattr(self, DTYPES[dtype])
        if rate is None and DTYPES[dtype] == "fp16_flops" and self.vendor != "Google":
            rate = self.bf16_flops
        if rate is None:
            has = [d for d in ("bf16", "fp16", "fp8", "fp4", "int8", "fp32") if getattr(self, DTYPES[d])]
            raise ValueError(f"{self.name} has no {dtype} rate; it has {', '.join(has)}")
        return rate


QUANTITIES: dict[str, tuple[str, str]] = {
    f.name: (f.metadata["unit"], f.metadata["meaning"]) for f in fields(Accelerator) if f.metadata
}
_HEAD = tuple(f.name for f in fields(Accelerator) if f.default is MISSING and f.name not in ("key", "data"))
_FILES = ("nvidia.toml", "amd.toml", "google.toml")


def _unknown(what: str, name: object, known: Any) -> str:
    close = get_close_matches(str(name), list(known), 3, 0.4) or list(known)
    return f"no {what} {name!r}; there is {', '.join(close)}"


def _read(file: str) -> Iterator[Accelerator]:
    """The chips of one table, checked: known fields, the field's own unit, a value, what was printed, a
    source.
    """
    for key, row in tomllib.loads(files(__package__).joinpath(file).read_text("utf-8")).items():
        head = {name: row.pop(name, "") for name in _HEAD}
        data = {}
        for name, cell in row.items():
            if name not in QUANTITIES:
                raise SpecError(f"{file}, {key}: " + _unknown("field", name, QUANTITIES))
            unit, meaning = QUANTITIES[name]
            try:
                data[name] = Datum(meaning=meaning, **cell | {"also": tuple(cell.get("also", ()))})
            except TypeError as error:
                raise SpecError(f"{file}, {key}.{name}: {error}") from None
            if data[name].unit != unit:
                raise SpecError(f"{file}, {key}.{name}: expected the unit {unit!r}, got {data[name].unit!r}")
        values: dict[str, Any] = {name: datum.value for name, datum in data.items()}
        yield Accelerator(key, **head, data=MappingProxyType(data), **values)


class _Accelerators(Mapping[str, Accelerator]):
    """Every accelerator by key, read once, when first asked for."""

    @cached_property
    def _rows(self) -> dict[str, Accelerator]:
        return {chip.key: chip for file in _FILES for chip in _read(file)}

    def __getitem__(self, key: str) -> Accelerator:
        if key not in self._rows:
            raise KeyError(_unknown("accelerator", key, self._rows))
        return self._rows[key]

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"accelerators({', '.join(self)})"


accelerators: Mapping[str, Accelerator] = _Accelerators()

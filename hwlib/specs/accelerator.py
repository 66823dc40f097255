"""Accelerators: frozen records read from nvidia.toml, amd.toml, google.toml and amazon.toml beside
this file.

Everything is SI: bytes, bytes per second in one direction, dense FLOP/s, hertz, watts. A value that no source
confirms is absent (None), never guessed. `datum(field)` gives what the source printed and how surely it was
seen.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hwlib.specs.reader import Record, count, quantities, quantity, read, text
from hwlib.specs.table import Table, file_text, unknown
from hwlib.units import GB, GiB

OWN_ECC = 15 / 16  # of a memory that keeps its error correction within itself
GDDR6 = ("Ada", "Ampere (GA102)")
"""Architectures of cards whose GDDR6 does so; that of a GeForce corrects nothing."""

DTYPES = {
    "bf16": "bf16_flops",
    "bfloat16": "bf16_flops",
    "fp16": "fp16_flops",
    "float16": "fp16_flops",
    "fp8": "fp8_flops",
    "float8": "fp8_flops",
    "fp4": "fp4_flops",
    "float4": "fp4_flops",
    "nvfp4": "fp4_flops",
    "int8": "int8_ops",
    "fp32": "fp32_flops",
    "float32": "fp32_flops",
}


@dataclass(frozen=True, repr=False)
class Accelerator(Record):
    """One chip. Fields are SI floats (counts are ints), or None where the chip lacks it or nobody confirms
    it; `note` says which are left out, and why.
    """

    vendor: str
    arch: str
    scaleup_name: str
    note: str = text()

    # Compute
    sms: int | None = count("streaming multiprocessors, compute units (AMD), TensorCores (TPU) or NeuronCores")
    lanes: int | None = count("float32 lanes of one SM: the CUDA cores of a data sheet")
    tensor_cores: int | None = count("matrix units (tensor cores) of one SM")
    clock: float | None = quantity("1/s", "clock at which the matrix peak is quoted")
    vector_clock: float | None = quantity("1/s", "highest clock, at which the fp32 vector peak is quoted")
    bf16_flops: float | None = quantity("FLOP/s", "dense bfloat16 matrix rate")
    fp16_flops: float | None = quantity("FLOP/s", "dense float16 matrix rate")
    fp8_flops: float | None = quantity("FLOP/s", "dense 8-bit floating-point matrix rate")
    fp4_flops: float | None = quantity("FLOP/s", "dense 4-bit floating-point matrix rate")
    int8_ops: float | None = quantity("OP/s", "dense 8-bit integer matrix rate")
    fp32_flops: float | None = quantity("FLOP/s", "float32 rate of the vector units; a multiply-add is two")
    # Memory
    hbm_bytes: float | None = quantity("B", "capacity of the high-bandwidth memory")
    hbm_bandwidth: float | None = quantity("B/s", "bandwidth of the high-bandwidth memory")
    l3_bytes: float | None = quantity("B", "last-level cache in front of the memory (AMD Infinity Cache)")
    l2_bytes: float | None = quantity("B", "L2 cache of the whole chip")
    l1_bytes: float | None = quantity("B", "L1 cache of one SM, with its shared memory on NVIDIA chips")
    smem_bytes: float | None = quantity("B", "most shared memory of one SM (LDS of one compute unit on AMD)")
    regfile_bytes: float | None = quantity("B", "vector registers of one SM")
    tmem_bytes: float | None = quantity("B", "tensor memory of one SM")
    vmem_bytes: float | None = quantity("B", "vector memory (scratchpad) of one TensorCore")
    # Network and power
    scaleup_links: int | None = count("links of one chip into its scale-up network")
    scaleup_link_bandwidth: float | None = quantity("B/s", "one scale-up link, one direction")
    scaleup_bandwidth: float | None = quantity("B/s", "all scale-up links of one chip, one direction")
    scaleup_domain: int | None = count("chips in one scale-up domain")
    scaleup_switches: int | None = count("switch chips in one scale-up domain")
    nic_bandwidth: float | None = quantity("B/s", "scale-out network per chip, one direction")
    tdp: float | None = quantity("J/s", "thermal design power")
    # Measured by others
    stream_bandwidth: float | None = quantity("B/s", "memory bandwidth measured with a STREAM kernel")
    matmul_bf16_flops: float | None = quantity("FLOP/s", "best bfloat16 matmul rate over many shapes")
    allreduce_bandwidth: float | None = quantity("B/s", "all-reduce bus bandwidth of a ring in one domain")

    @property
    def seen_bytes(self) -> float | None:
        """Bytes of its memory that software sees, the budget of a plan or a server; None where no source says how much
        there is. A label's GB are GiB (NVIDIA rounds up by at most half a per cent); a number of whole GiB is no label.

        >>> from hwlib.specs import accelerators
        >>> accelerators["h100-sxm"].hbm_bytes, accelerators["h100-sxm"].seen_bytes
        (80000000000.0, 85899345920.0)
        """
        if self.hbm_bytes is None:
            return None
        label = 1.0 if self.hbm_bytes % GiB == 0 else GiB / GB
        return self.hbm_bytes * label * (OWN_ECC if self.arch in GDDR6 else 1.0)

    def flops(self, dtype: str) -> float:
        """The dense matrix rate for a dtype ("bf16", "fp8", "float16", ...); the vector rate for "fp32".

        float16 runs at bfloat16's rate where the table says nothing else (every GPU here since Ampere).
        Raises ValueError for a dtype that the chip or this book does not have.
        """
        if dtype not in DTYPES:
            raise ValueError(unknown("dtype", dtype, DTYPES))
        rate = getattr(self, DTYPES[dtype])
        if rate is None and DTYPES[dtype] == "fp16_flops" and self.vendor != "Google":
            rate = self.bf16_flops
        if rate is None:
            has = [d for d in ("bf16", "fp16", "fp8", "fp4", "int8", "fp32") if getattr(self, DTYPES[d])]
            raise ValueError(f"{self.name} has no {dtype} rate; it has {', '.join(has) or 'none'}")
        return rate


QUANTITIES = quantities(Accelerator)


def _read(file: str) -> Iterator[Accelerator]:
    """The chips of one table, checked."""
    return read(Accelerator, file, file_text(file))


accelerators: Table[Accelerator] = Table(
    "accelerator", _read, ("nvidia.toml", "amd.toml", "google.toml", "amazon.toml")
)

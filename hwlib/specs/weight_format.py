"""How the elements of a matrix are stored in a checkpoint: their bits, and the scales and zero points beside them."""

from dataclasses import dataclass
from math import ceil

SIXTEEN_BITS = "16 bits"


@dataclass(frozen=True)
class WeightFormat:
    """A format of weights: `bits` an element, and in bytes what stands `beside` each block of `rows` x `columns` that
    shares a scale (0: all of them), what each column has, and what a matrix has `once`. `inputs` are those of products
    with it.
    """

    name: str
    bits: float
    rows: int = 1
    columns: int = 0
    beside: float = 0.0
    column: float = 0.0
    once: float = 0.0
    inputs: str = SIXTEEN_BITS

    def stored_bytes(self, out: int, into: int) -> float:
        """Bytes of a matrix with `out` rows and `into` columns.

        >>> WeightFormat("fp8", 8, rows=128, columns=128, beside=4).stored_bytes(256, 300)
        76824.0
        """
        blocks = _blocks(out, self.rows) * _blocks(into, self.columns)
        return out * into * self.bits / 8 + blocks * self.beside + into * self.column + self.once

    @property
    def plain(self) -> bool:
        """Whether weights are not quantised."""
        return self.bits >= 16

    @property
    def nearest(self) -> tuple[str, ...]:
        """The precisions of a server that come nearest, the best first: where products have as few bits, theirs."""
        if self.plain:
            return ("bf16", "fp16")
        floats = self.name.startswith(("fp", "mxfp", "nvfp"))
        if self.bits > 4:
            return ("fp8", "int8w") if floats and self.bits == 8 and self.inputs == "fp8" else ("int8w",)
        return ("fp4", "int4w") if floats and self.bits == 4 and self.inputs != SIXTEEN_BITS else ("int4w",)

    def __str__(self) -> str:
        block = f" in blocks of {self.rows} x {self.columns}" if self.rows > 1 and self.columns else ""
        group = f" in groups of {self.columns}" if self.rows == 1 and self.columns else ""
        inputs = f" with inputs in {self.inputs}" if self.inputs != SIXTEEN_BITS else ""
        return f"{self.name}{block or group}{inputs}"


PLAIN = WeightFormat(SIXTEEN_BITS, 16)
"""Weights that are not quantised."""
FP8_TENSOR = WeightFormat("fp8", 8, rows=0, once=8, inputs="fp8")
"""One scale of weights and one of inputs a matrix, as ModelOpt writes it."""
NVFP4 = WeightFormat("nvfp4", 4, columns=16, beside=1, once=8, inputs="fp4")
"""A scale of 8 bits for 16 elements, one of 32 a matrix, and one of its inputs."""
MXFP4 = WeightFormat("mxfp4", 4, columns=32, beside=1)
"""A scale of 8 bits for 32 elements."""
MXFP8 = WeightFormat("mxfp8", 8, columns=32, beside=1, inputs="fp8")


def fp8_blocks(rows: int, columns: int, inputs: str = "fp8") -> WeightFormat:
    """8 bits in blocks with a scale of 32 bits each, as DeepSeek's."""
    return WeightFormat("fp8", 8, rows=rows, columns=columns, beside=4, inputs=inputs)


def rows_of(name: str, bits: int, scale: float, inputs: str = SIXTEEN_BITS) -> WeightFormat:
    """One scale of so many bytes a row, which is a channel of the output."""
    return WeightFormat(name, bits, beside=scale, inputs=inputs)


def integers(bits: int, group: int, zero: bool, order: bool = False, inputs: str = SIXTEEN_BITS) -> WeightFormat:
    """Packed integers in groups along a row (0: the row is one), each with a scale of 16 bits, and with `zero` a zero
    point of as many bits as an element; with `order` each column says its group in 32 bits.
    """
    beside = 2 + bits / 8 * zero
    return WeightFormat(f"int{bits}", bits, columns=group, beside=beside, column=4.0 * order, inputs=inputs)


def _blocks(length: int, block: int) -> int:
    return ceil(length / block) if block else 1


__all__ = [
    "FP8_TENSOR",
    "MXFP4",
    "MXFP8",
    "NVFP4",
    "PLAIN",
    "SIXTEEN_BITS",
    "WeightFormat",
    "fp8_blocks",
    "integers",
    "rows_of",
]

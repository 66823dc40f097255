"""The time of a matrix product [M, K] x [K, N] as a library runs it: in tiles, in waves, from two memories.

The roofline assumes that every multiprocessor works all the time and that memory is read at full rate. A
library cuts the output into tiles, one to a multiprocessor at a time. So M is padded up to whole tiles, the
last wave of tiles is rarely full, small tiles are fed through the L2 cache more often, and a long inner length
may be split among multiprocessors that would idle, at the price of adding the parts. Six constants of a chip
and dtype (`hwlib.specs.fitted`) set the scale; the tiles, the splits and the way in which arithmetic and memory
overlap are the same for all.

Block-scaled fp8 has a scale for each 128 elements of an activation's row and for each 128 x 128 weights. Blackwell
scales in its tensor cores. Hopper's CUDA cores scale and add the partial sums after every 128 of the inner length: 2
operations for 256, on cores 30 times as slow, so 0.23 of the time of the products themselves. DeepGEMM hides them
behind those (on H800 it reaches 0.72 of the peak, and one-scale products 0.71), and so does this model.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from hwlib.calibrated.kernel import ELEMENT_BYTES, OUTPUT_BYTES, Sample, fit_logarithms
from hwlib.columns import is_column
from hwlib.formula import ceil, maximum
from hwlib.roofline import matmul_flops, mixed_matmul_bytes
from hwlib.specs import Accelerator, accelerators
from hwlib.specs.fitted import GemmConstants, gemm_constants
from hwlib.specs.table import unknown

__all__ = ["TILINGS", "GemmModel", "Shape", "Tiling", "fit_gemm", "gemm_model", "model_of", "product_model"]

QUANTISED_FROM = 2.0  # activations come as bfloat16
PARTIAL_BYTES = 4.0  # the parts of a split product are float32
SCALE_BYTES = {"fp8_block": 4 / 128}  # of an activation's element, beside the element: a float32 for each 128
USUAL = "h100-sxm"  # whose shares are taken of chips without measured products
OVERLAP = 3  # exponent of the mean of arithmetic and memory: 1 adds them, infinity takes the slower


class Tiling(NamedTuple):
    """How a product is cut: tiles of `m` by `n` outputs, the inner length in `parts`."""

    m: Any
    n: Any
    parts: Any


TILES = ((64, 64), (64, 128), (128, 64), (128, 128), (64, 256), (128, 256), (256, 128))
PARTS = (1, 2, 3, 4, 6, 8, 12, 16)
TILINGS = tuple(Tiling(m, n, parts) for m, n in TILES for parts in PARTS)


@dataclass(frozen=True)
class GemmModel:
    """A chip's data sheet (C in FLOP/s, W in B/s, its multiprocessors), the dtype, and the six fitted
    constants. `typed` says what was assumed where no measured product of the dtype and chip is behind them.
    """

    constants: GemmConstants
    C: float
    W: float
    n_SM: int
    typed: str = ""

    def tiled_time(self, M: Any, N: Any, K: Any, tiling: Tiling) -> Any:
        """Seconds of one call, cut in a given way. All arguments may be arrays that broadcast."""
        c, b, (m, n, parts) = self.constants, ELEMENT_BYTES[self.constants.dtype], tiling
        scaled = b + SCALE_BYTES.get(c.dtype, 0.0)
        depth = K / parts
        waves = ceil(ceil(M / m) * ceil(N / n) * parts / self.n_SM)
        multiply = matmul_flops(m, depth, n) / (c.eta_C * self.C / self.n_SM)
        feed = (m + n) * depth * b / (c.W_L2 / self.n_SM)
        core = waves * (c.t_tile + maximum(multiply, feed))
        memory = mixed_matmul_bytes(M, K, N, scaled, b, OUTPUT_BYTES) / (c.eta_W * self.W)
        join = (parts > 1) * (c.t_join + 2 * parts * M * N * PARTIAL_BYTES / c.W_L2)
        quantise = c.quantises * M * K * (QUANTISED_FROM + scaled) / (c.eta_W * self.W)
        return c.t0 + (core**OVERLAP + memory**OVERLAP) ** (1 / OVERLAP) + join + quantise

    def tiling(self, M: float, N: float, K: float) -> Tiling:
        """The fastest way to cut one product, as a library's own tables would choose it."""
        for name, value in (("M", M), ("N", N), ("K", K)):
            if not value >= 1:
                raise ValueError(f"{name} is at least 1, got {value}")
        return min(TILINGS, key=lambda tiling: self.tiled_time(M, N, K, tiling))

    def time(self, M: float, N: float, K: float) -> float:
        """Predicted seconds of one call."""
        return float(self.tiled_time(M, N, K, self.tiling(M, N, K)))

    def times(self, M: Any, N: Any, K: Any) -> Any:
        """Predicted seconds of one call, or of a column of them: each is cut in its own fastest way."""
        if not any(map(is_column, (M, N, K))):
            return _cached_time(self, M, N, K)
        import numpy as np

        cuts = Tiling(*(np.array(column, float)[:, None] for column in zip(*TILINGS, strict=True)))
        return self.tiled_time(M, N, K, cuts).min(axis=0)


@lru_cache(maxsize=4096)
def _cached_time(model: GemmModel, M: float, N: float, K: float) -> float:
    """Searches ask for the same layer again and again."""
    return model.time(M, N, K)


def gemm_model(chip: str, dtype: str) -> GemmModel:
    """The model of a chip and dtype, from the constants that the project keeps.

    A chip without constants of its own takes those of its `like` (H200: the H100's, with its own memory). Block-scaled
    fp8 ("fp8_block") of a chip without measured products of it is that of one scale with the traffic of its scales, and
    says so (`typed`). Raises KeyError for a pair without constants.
    """
    constants = gemm_constants()
    if (chip, dtype) not in constants and dtype == "fp8_block" and (chip, "fp8") in constants:
        like = replace(constants[chip, "fp8"], dtype=dtype)
        return replace(model_of(like, chip), typed="rate and start of fp8 with one scale a tensor")
    if (chip, dtype) not in constants:
        raise KeyError(unknown("fitted matrix product", (chip, dtype), map(str, constants)))
    return model_of(constants[chip, dtype], chip)


def model_of(constants: GemmConstants, chip: str) -> GemmModel:
    """Constants joined with the data sheet of a chip; a chip without a published count of multiprocessors has that of
    the chip that was fitted.
    """
    sheet: Accelerator = accelerators[chip]
    sms = sheet.sms or accelerators[constants.chip].sms
    if not sms or not sheet.hbm_bandwidth:
        raise ValueError(f"{chip} lacks a number of multiprocessors or a memory bandwidth")
    return GemmModel(constants, sheet.flops(constants.dtype.removesuffix("_block")), sheet.hbm_bandwidth, sms)


def product_model(sheet: Accelerator, dtype: str) -> GemmModel:
    """The model of any chip: of one without measured products, or with a data sheet of its own, the shares and starts
    of the USUAL chip's products in bfloat16 with the data sheet's rate for the dtype and its memory, and an L2 that is
    slower as the rate is. Raises ValueError for a chip without the rate or a memory bandwidth.
    """
    name = {"bfloat16": "bf16", "fp16": "bf16", "float16": "bf16", "float8": "fp8"}.get(dtype, dtype)
    if (sheet.key, name) in gemm_constants() and accelerators.get(sheet.key) == sheet:
        return gemm_model(sheet.key, name)
    if not sheet.hbm_bandwidth:
        raise ValueError(f"{sheet.name} lacks a memory bandwidth")
    usual, C = gemm_model(USUAL, "bf16"), sheet.flops(dtype)
    constants = replace(usual.constants, W_L2=usual.constants.W_L2 * min(C / usual.C, 1.0))
    return GemmModel(constants, C, sheet.hbm_bandwidth, sheet.sms or usual.n_SM, typed=f"shares of {USUAL}'s products")


class Shape(NamedTuple):
    """One timed product: its lengths, and the measured seconds."""

    M: int
    N: int
    K: int
    time: float

    def sample(self, dtype: str) -> Sample:
        """Its operations and least traffic, for a roofline."""
        b = ELEMENT_BYTES[dtype]
        traffic = mixed_matmul_bytes(self.M, self.K, self.N, b, b, OUTPUT_BYTES)
        return Sample(matmul_flops(self.M, self.K, self.N), traffic, self.time)


# Where a fit starts, and within which bounds a constant makes sense. The choice of a tiling makes the misfit
# jump, so it starts from many places. In bf16 W_L2 of the H100 and the B200 ends at its bound: the fit would have
# more, so there it is no measure of a cache.
BOUNDS = {
    "t0": (1e-7, 1e-4),
    "eta_C": (0.1, 1.0),
    "eta_W": (0.1, 1.0),
    "t_tile": (5e-8, 1e-5),
    "W_L2": (2e12, 3e13),
    "t_join": (1e-8, 1e-4),
}
STARTS = tuple(
    (t0, 0.8, 0.85, t_tile, W_L2, 2e-6)
    for t0 in (2e-6, 4e-6, 1e-5)
    for t_tile in (2e-7, 1e-6)
    for W_L2 in (5e12, 1.2e13, 2.5e13)
)


def fit_gemm(model: GemmModel, shapes: Iterable[Shape], free: Iterable[str] = tuple(BOUNDS)) -> GemmModel:
    """The constants that explain measured products best, the rest as in `model`.

    Least squares of log(predicted/measured) with a soft absolute loss beyond 5 %. Raises ValueError for fewer
    shapes than free constants.
    """
    import numpy as np

    shapes, free = list(shapes), tuple(free)
    if len(shapes) < len(free):
        raise ValueError(f"{len(free)} constants need at least as many products, got {len(shapes)}")
    M, N, K, time = np.array(shapes, float).T
    cuts = Tiling(*(np.array(column, float)[:, None] for column in zip(*TILINGS, strict=True)))

    def with_constants(values: Iterable[float]) -> GemmModel:
        chosen: dict[str, Any] = dict(zip(free, map(float, values), strict=True))
        return replace(model, constants=replace(model.constants, **chosen))

    def misfit(values: Any) -> Any:
        return np.log(with_constants(values).tiled_time(M, N, K, cuts).min(axis=0) / time)

    names = tuple(BOUNDS)
    starts = {tuple(start[names.index(name)] for name in free) for start in STARTS}
    best = fit_logarithms(misfit, sorted(starts), [BOUNDS[name] for name in free], steps=(1e-3, 1e-2))
    return with_constants(best)

"""The three constants of the kernel model, fitted to measured times: `hwlib.roofline.kernel_time` says what
they are.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hwlib.roofline import kernel_time, matmul_flops, mixed_matmul_bytes
from hwlib.specs import MeasuredGemm

__all__ = [
    "ELEMENT_BYTES",
    "OUTPUT_BYTES",
    "KernelModel",
    "Sample",
    "fit_kernel_model",
    "fit_logarithms",
    "gemm_samples",
    "mean_abs_relative_error",
    "relative_errors",
]

ELEMENT_BYTES = {"bf16": 2.0, "fp8": 1.0, "fp8_block": 1.0, "fp4": 0.5 + 1 / 16}  # NVFP4: a scale each 16 elements
OUTPUT_BYTES = 2.0  # the measured products write bfloat16 whatever they read
MIN_SAMPLES = 4
SOFT = 0.05  # of a fit: beyond this a misfit counts by its absolute value


class Sample(NamedTuple):
    """One measured kernel: its operations, its least memory traffic in bytes, its time in seconds."""

    flops: float
    bytes: float
    time: float
    label: str = ""


@dataclass(frozen=True)
class KernelModel:
    """A chip's rates C and W, the shares of them that kernels reach, and the cost of starting one, in
    seconds.
    """

    eta_C: float
    eta_W: float
    t0: float
    C: float
    W: float

    def time(self, flops: Any, bytes: Any) -> Any:
        """Predicted time in seconds of one kernel, or of arrays of them."""
        return kernel_time(flops, bytes, self.C, self.W, self.eta_C, self.eta_W, self.t0)

    def errors(self, samples: Iterable[Sample]) -> list[float]:
        """Relative error of each sample's predicted time; positive where the model is too slow."""
        samples = list(samples)
        return relative_errors([self.time(s.flops, s.bytes) for s in samples], [s.time for s in samples])


def relative_errors(predicted: Sequence[float], measured: Sequence[float]) -> list[float]:
    """(predicted - measured)/measured, pair by pair. Raises ValueError for unequal lengths or a time that is
    not > 0.
    """
    if len(predicted) != len(measured):
        raise ValueError(f"{len(predicted)} predictions for {len(measured)} measurements")
    if not all(m > 0 for m in measured):
        raise ValueError("a measured time is above zero")
    return [float((p - m) / m) for p, m in zip(predicted, measured, strict=True)]


def mean_abs_relative_error(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """The mean of |predicted - measured|/measured: 0.05 reads "off by 5 % on average"."""
    errors = relative_errors(predicted, measured)
    if not errors:
        raise ValueError("no measurement to compare with")
    return sum(map(abs, errors)) / len(errors)


def gemm_samples(gemms: Iterable[MeasuredGemm]) -> list[Sample]:
    """Measured products as samples: operands of their dtype, bfloat16 output, each array moved once."""
    samples = []
    for g in gemms:
        b = ELEMENT_BYTES[g.dtype]
        traffic = mixed_matmul_bytes(g.M, g.K, g.N, b, b, OUTPUT_BYTES)
        label = f"{g.chip} {g.dtype} {g.M} x {g.K} x {g.N}"
        samples.append(Sample(matmul_flops(g.M, g.K, g.N), traffic, g.time, label))
    return samples


def fit_kernel_model(samples: Iterable[Sample], C: float | None = None, W: float | None = None) -> KernelModel:
    """The efficiencies and the launch cost that explain measured times best.

    Least squares of log(predicted/measured), so a microsecond kernel counts as much as a millisecond one,
    with a soft absolute loss beyond 5 %, so a few odd kernels do not bend the rest. A share of a given C or W may
    come out above one: small operands come from the L2 cache, faster than W; such a model predicts no time. Without C
    or W, the best rates among the samples stand for them, or what they are without the launch, where that is more.
    Raises ValueError for fewer than four samples, or ones that are not above zero.
    """
    import numpy as np

    samples = list(samples)
    if len(samples) < MIN_SAMPLES:
        raise ValueError(f"three constants need at least {MIN_SAMPLES} samples, got {len(samples)}")
    flops, traffic, time = (np.array([s[i] for s in samples], float) for i in range(3))
    finite = np.isfinite([flops, traffic, time]).all()
    if not (finite and (flops >= 0).all() and (traffic > 0).all() and (time > 0).all()):
        raise ValueError("a sample has operations (a copy has 0), bytes and a time above zero, all finite")
    free_C, free_W = C is None, W is None
    C = float(C or (flops / time).max())
    W = float(W or (traffic / time).max())

    def misfit(values):
        eta_C, eta_W, t0 = values
        return np.log((t0 + np.maximum(flops / (eta_C * C), traffic / (eta_W * W))) / time)

    # The slower of two is not smooth, so start from both ends of what kernels reach and from small and large
    # launches.
    shares, launches = (0.4, 0.9), time.min() * np.array([0.01, 0.3, 0.8])
    starts = [(c, w, float(t)) for c in shares for w in shares for t in launches]
    eta_C, eta_W, t0 = fit_logarithms(misfit, starts, [(math.exp(-30), math.exp(5))] * 3)
    if free_C and eta_C > 1:
        eta_C, C = 1.0, eta_C * C
    if free_W and eta_W > 1:
        eta_W, W = 1.0, eta_W * W
    return KernelModel(eta_C, eta_W, t0, C, W)


def fit_logarithms(
    misfit: Callable[[Any], Any],
    starts: Iterable[Sequence[float]],
    bounds: Sequence[tuple[float, float]],
    steps: Iterable[float | None] = (None,),
) -> list[float]:
    """The positive constants for which `misfit`, an array of log(predicted/measured), is least.

    Searched on a logarithmic scale from every start, with a soft absolute loss beyond 5 %, and the best end
    taken. `steps` are the relative steps of the derivatives: a model with a choice in it needs large ones.
    """
    import numpy as np
    from scipy.optimize import least_squares

    low, high = np.log(bounds).T
    fits = [
        least_squares(
            lambda x: misfit(np.exp(x)),
            np.clip(np.log(start), low + 1e-6, high - 1e-6),
            loss="soft_l1",
            f_scale=SOFT,
            bounds=(low, high),
            diff_step=step,
        )
        for start in starts
        for step in steps
    ]
    return [float(value) for value in np.exp(min(fits, key=lambda fit: fit.cost).x)]

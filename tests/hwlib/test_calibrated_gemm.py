"""The tiled product: waves, padding and splits behave as they must, and a fit finds its constants."""

import random
from dataclasses import replace

import numpy as np
import pytest

from hwlib.calibrated import TILINGS, Shape, Tiling, fit_gemm, gemm_model
from hwlib.roofline import roofline_time
from hwlib.specs import accelerators
from hwlib.specs.fitted import gemm_constants

KEYS = sorted(gemm_constants())
H100 = gemm_model("h100-sxm", "bf16")


@pytest.mark.parametrize(("chip", "dtype"), KEYS)
def test_no_product_is_faster_than_the_data_sheet(chip, dtype):
    model = gemm_model(chip, dtype)
    rng = random.Random(3)
    for _ in range(40):
        M, N, K = (int(2 ** rng.uniform(0, 14)) for _ in range(3))
        flops, traffic, *_ = Shape(M, N, K, 1.0).sample(dtype)
        time = model.time(M, N, K)
        assert time > roofline_time(flops, traffic, model.C, model.W)
        assert time >= model.constants.t0


@pytest.mark.parametrize(("chip", "dtype"), [key for key in KEYS if gemm_constants()[key].chip == key[0]])
def test_a_large_product_nears_the_tiles_rate(chip, dtype):
    model = gemm_model(chip, dtype)
    n = 2**15
    rate = 2 * n**3 / model.time(n, n, n)
    least = 0.25 if accelerators[chip].vendor == "AMD" else 0.35  # products scaled by blocks: 0.31 to 0.45 in the rows
    assert least * model.C < rate < model.C * model.constants.eta_C


def test_one_more_tile_than_multiprocessors_is_a_second_wave():
    tiling, M, N, K = Tiling(128, 128, 1), 11 * 128, 12 * 128, 2**14
    full, over, two = (H100.tiled_time(M, width, K, tiling) for width in (N, N + 1, 2 * N))
    assert over > 1.9 * full
    assert two == pytest.approx(over, rel=0.05)


def test_rows_are_padded_to_whole_tiles():
    tiling = Tiling(128, 128, 1)
    thin, whole = (H100.tiled_time(M, 2**13, 2**13, tiling) for M in (1, 128))
    assert thin == pytest.approx(whole, rel=0.05)


def test_a_long_inner_length_is_split_where_the_output_is_small():
    assert H100.tiling(128, 256, 2**16).parts > 1
    assert H100.tiling(2**13, 2**13, 2**10).parts == 1


def test_more_memory_bandwidth_helps_thin_products_only():
    h200 = gemm_model("h200-sxm", "bf16")
    assert h200.constants is H100.constants
    assert h200.time(8, 2**13, 2**14) < 0.8 * H100.time(8, 2**13, 2**14)
    assert h200.time(2**13, 2**13, 2**13) == pytest.approx(H100.time(2**13, 2**13, 2**13), rel=0.02)


def test_times_take_arrays():
    M, cuts = np.array([1.0, 300.0, 4000.0]), Tiling(*(np.array(c)[:, None] for c in zip(*TILINGS, strict=True)))
    times = H100.tiled_time(M, 2048, 4096, cuts).min(axis=0)
    assert times.tolist() == pytest.approx([H100.time(m, 2048, 4096) for m in M])


def test_the_fit_finds_its_constants():
    true = replace(H100.constants, t0=3e-6, eta_C=0.7, eta_W=0.9, t_tile=5e-7, W_L2=1.1e13, t_join=3e-6)
    model, rng = replace(H100, constants=true), random.Random(11)
    lengths = [tuple(int(2 ** rng.uniform(*span)) for span in ((1, 13), (9, 14), (9, 14))) for _ in range(80)]
    shapes = [Shape(*s, model.time(*s)) for s in lengths]
    found = fit_gemm(H100, shapes).constants
    assert (found.t0, found.eta_C, found.eta_W) == pytest.approx((3e-6, 0.7, 0.9), rel=0.05)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"\bM .* 0$"):
        H100.time(0, 8, 8)
    with pytest.raises(ValueError, match=r"\bK .* nan$"):
        H100.time(8, 8, float("nan"))
    with pytest.raises(KeyError, match=r"'h100-sxm', 'fp4'.*; .*'h100-sxm', 'fp8'"):
        gemm_model("h100-sxm", "fp4")
    with pytest.raises(ValueError, match=r"6 constants .* 1$"):
        fit_gemm(H100, [Shape(8, 8, 8, 1e-6)])


# DeepGEMM README.md @a9967bc, H800: M, N, K, TFLOP/s of the product alone.
@pytest.mark.parametrize(
    ("shape", "rate"),
    [
        ((64, 7168, 16384), 336e12),
        ((128, 7168, 16384), 645e12),
        ((128, 4096, 7168), 533e12),
        ((4096, 4096, 7168), 1410e12),
    ],
)
def test_block_scaled_products_hide_their_scaling(shape, rate):
    measured = 2 * shape[0] * shape[1] * shape[2] / rate
    fitted = gemm_model("h800-sxm", "fp8_block")
    assert fitted.time(*shape) == pytest.approx(measured, rel=0.1)
    # The H100's fp8 in one scale, without the start of a library's call and its pass over activations.
    other = gemm_model("h100-sxm", "fp8_block")
    bare = replace(other.constants, t0=fitted.constants.t0, quantises=False)
    assert replace(other, constants=bare).time(*shape) == pytest.approx(measured, rel=0.1)


@pytest.mark.parametrize("chip", ["h100-sxm", "h200-sxm", "b200-sxm", "gb200-nvl72"])
def test_block_scaled_products_without_a_measurement_say_so(chip):
    block, plain = gemm_model(chip, "fp8_block"), gemm_model(chip, "fp8")
    assert block.typed
    assert not plain.typed
    assert not gemm_model("h800-sxm", "fp8_block").typed
    tiling = Tiling(128, 128, 1)
    more = block.tiled_time(64, 128, 2**16, tiling) - plain.tiled_time(64, 128, 2**16, tiling)
    assert more > 64 * 2**16 * 4 / 128 / plain.W  # the scales are written at least
    assert block.time(4096, 4096, 4096) == pytest.approx(plain.time(4096, 4096, 4096), rel=0.02)


def test_a_chip_without_fp8_has_no_block_scaled_fp8():
    with pytest.raises(KeyError, match="a100-80gb-sxm"):
        gemm_model("a100-80gb-sxm", "fp8_block")

"""The fit finds the constants it is given, shrugs off odd rows, and beats the data sheet on measured ones."""

from dataclasses import FrozenInstanceError, astuple
from statistics import fmean

import numpy as np
import pytest

from autograder.declaration import load_bank
from hwlib.calibrated import (
    KernelModel,
    Sample,
    fit_kernel_model,
    gemm_samples,
    mean_abs_relative_error,
    relative_errors,
)
from hwlib.roofline import matmul_bytes, matmul_flops, roofline_time
from hwlib.specs import MeasuredGemm, accelerators, measured_gemms
from hwlib.units import us
from tests.conftest import ROOT

SETS = sorted({(row.chip, row.dtype) for row in measured_gemms()})
TRUE = KernelModel(eta_C=0.75, eta_W=0.8, t0=3.5 * us, C=989.4e12, W=3.35e12)


def made(noise=0.0, seed=7, n=60):
    rng = np.random.default_rng(seed)
    shapes = [2.0 ** rng.uniform(3, 14, 3) for _ in range(n)]
    work = [(matmul_flops(*s), matmul_bytes(*s)) for s in shapes]
    return [Sample(f, b, TRUE.time(f, b) * float(np.exp(noise * rng.normal()))) for f, b in work]


def test_the_fit_finds_its_constants():
    model = fit_kernel_model(made(), TRUE.C, TRUE.W)
    assert (model.eta_C, model.eta_W) == pytest.approx((TRUE.eta_C, TRUE.eta_W), rel=1e-4)
    assert model.t0 == pytest.approx(TRUE.t0, rel=1e-4)
    assert max(map(abs, model.errors(made()))) < 1e-4


def test_the_fit_survives_noise_and_odd_rows():
    samples = made(noise=0.05)
    odd = [s._replace(time=s.time * 5) if i % 15 == 0 else s for i, s in enumerate(samples)]
    model = fit_kernel_model(odd, TRUE.C, TRUE.W)
    assert (model.eta_C, model.eta_W) == pytest.approx((TRUE.eta_C, TRUE.eta_W), rel=0.07)
    assert model.t0 == pytest.approx(TRUE.t0, rel=0.1)


def test_without_a_data_sheet_the_best_samples_stand_for_it():
    samples = made()
    model = fit_kernel_model(samples)
    for best, rate, share in (
        (max(s.flops / s.time for s in samples), model.C, model.eta_C),
        (max(s.bytes / s.time for s in samples), model.W, model.eta_W),
    ):
        assert (best == rate and share < 1) or (best < rate and share == 1)
    assert model.eta_C * model.C == pytest.approx(TRUE.eta_C * TRUE.C, rel=1e-3)
    assert model.eta_W * model.W == pytest.approx(TRUE.eta_W * TRUE.W, rel=1e-3)


def test_the_fit_does_not_depend_on_the_order():
    samples = made(noise=0.1)
    one, two = fit_kernel_model(samples, TRUE.C, TRUE.W), fit_kernel_model(samples[::-1], TRUE.C, TRUE.W)
    assert (one.eta_C, one.eta_W) == pytest.approx((two.eta_C, two.eta_W), rel=1e-6)


@pytest.mark.parametrize(("chip", "dtype"), SETS)
def test_three_constants_beat_the_data_sheet_on_measured_products(chip, dtype):
    samples = gemm_samples(measured_gemms(chip, dtype))
    C, W = accelerators[chip].flops(dtype), accelerators[chip].hbm_bandwidth
    model = fit_kernel_model(samples, C, W)
    assert 0.3 < model.eta_C < 1
    assert 0.5 < model.eta_W < 1
    assert 1 * us < model.t0 < 30 * us
    rooflines = [roofline_time(s.flops, s.bytes, C, W) for s in samples]
    plain = relative_errors(rooflines, [s.time for s in samples])
    assert fmean(map(abs, model.errors(samples))) < fmean(map(abs, plain)) / 2
    assert all(e < 0 for e in plain)  # the roofline is a lower bound: no product is faster


def test_gemm_samples_count_the_output_in_bfloat16():
    [sample] = gemm_samples([MeasuredGemm("h100-sxm", "fp8", M=2, N=3, K=5, time=1.0, backend="", source="")])
    assert sample[:3] == (2 * 2 * 3 * 5, 2 * 5 + 5 * 3 + 2 * 2 * 3, 1.0)
    assert sample.label == "h100-sxm fp8 2 x 5 x 3"


def test_errors_have_a_sign_and_a_mean():
    assert relative_errors([2.0, 0.5], [1.0, 1.0]) == [1.0, -0.5]
    assert mean_abs_relative_error([2.0, 0.5], [1.0, 1.0]) == 0.75


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_kernel_model(made()[:3]), "at least 4 samples, got 3"),
        (lambda: fit_kernel_model([Sample(1, 1, 0.0)] * 4), "above zero"),
        (lambda: fit_kernel_model([Sample(1, 1, float("nan"))] * 4), "finite"),
        (lambda: relative_errors([1], [1, 2]), "1 predictions for 2 measurements"),
        (lambda: relative_errors([1], [0]), "above zero"),
        (lambda: mean_abs_relative_error([], []), "no measurement"),
    ],
)
def test_bad_samples_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_model_is_frozen_and_takes_arrays():
    with pytest.raises(FrozenInstanceError):
        TRUE.t0 = 0.0
    work = np.array([1e9, 1e12])
    assert TRUE.time(work, work).tolist() == [TRUE.time(w, w) for w in work]


def test_the_model_that_chapter_3_has_recorded_is_the_fitted_one():
    chapter = load_bank(ROOT / "solutions" / "03-rooflines").namespace
    recorded = chapter["_fit"]
    assert astuple(recorded) == pytest.approx(astuple(chapter["fitted"]("h100-sxm", "bf16")[2]), rel=1e-9)


def test_shares_of_the_best_samples_are_never_above_one():
    samples = [Sample(0, b, 8 * us + b / 3e12) for b in (1e5, 1e6, 1e7)] + [Sample(1e9, 1e6, 12 * us)]
    model = fit_kernel_model(samples)
    assert model.eta_W == 1
    assert max(s.bytes / s.time for s in samples) < model.W == pytest.approx(3e12, rel=0.01)
    assert max(map(abs, model.errors(samples[:3]))) < 0.02

"""Training runs: what papers print of them, what failures cost against a simulation, and where papers err."""

import math
import random

import pytest

from hwlib.specs import accelerators, models
from hwlib.training import (
    best_goodput_fraction,
    cluster_mtbf,
    daly_interval,
    exact_goodput,
    expected_failures,
    goodput_fraction,
    gpt_selective_flops,
    hardware_utilization,
    model_utilization,
    run_cost,
    run_energy,
    run_time,
    step_time_at,
    token_rate,
    token_rate_at,
    training_run,
    utilization_of_run,
    wall_time,
    young_interval,
)
from hwlib.transformer import gpt_training_flops, parameter_count, step_flops
from tests.hwlib.worked import Row, check

H100, H100_PCIE, H800 = (accelerators[k] for k in ("h100-sxm", "h100-pcie", "h800-sxm"))
A100 = accelerators["a100-80gb-sxm"]
LLAMA405, DEEPSEEK = models["llama3-405b"], models["deepseek-v3"]
HOUR, DAY = 3600, 86400
MTBF_LLAMA = 54 * DAY / 419
DEEPSEEK_BATCH = 15360 * 4096
KORTHIKANTI = {"22b": (4, 8, 1.10), "175b": (64, 64, 13.75), "530b": (280, 280, 37.83), "1t": (512, 512, 71.49)}


def korthikanti(size, flops, utilization):
    model, (batch, ranks, t) = models[f"korthikanti-{size}"], KORTHIKANTI[size]
    return utilization(flops(batch * 2048, 2048, model.layers, model.width, model.vocab), t, ranks, A100.bf16_flops)


def deepseek_mfu(hours, chip):
    return utilization_of_run(37e9, 14.8e12, 1, chip.fp8_flops, hours * HOUR)


ROWS = [
    # The scaling book, on GPUs and in chapter 4
    Row("G5.2.2 days", lambda: run_time(70e9, 15e12, 4096, 990e12, 0.45) / DAY, 40),
    Row("G5.2.2 older", lambda: run_time(70e9, 15e12, 4096, 990e12, 0.45) / DAY, 45, 0.02, 40,
        "older copies take 40 % MFU"),
    Row("X7 DeepSeek", lambda: deepseek_mfu(2.664e6, H800), 0.217, 0.01, 0.173,
        "the rate is that of the PCIe card, and the hours are those with what came after pre-training"),
    Row("X7 all hours", lambda: deepseek_mfu(2.788e6, H800), 0.217, 0.01, 0.1654, "the rate is that of the PCIe card"),
    Row("X7 as computed", lambda: deepseek_mfu(2.788e6, H100_PCIE), 0.217),
    # PaLM: 540.35e9 parameters, 6144 TPU v4, 238.3 thousand tokens a second, attention without its mask
    Row("PaLM MFU", lambda: model_utilization(238.3e3 * (6 * 540.35e9 + 12 * 118 * 48 * 256 * 2048), 1, 6144, 275e12),
        0.462, 0.002),
    # Korthikanti, table 5: selective recomputation and sequence parallelism
    *(Row(f"Korthikanti {s} MFU", lambda s=s: korthikanti(s, gpt_training_flops, model_utilization), printed, 0.005)
      for s, printed in [("22b", 0.415), ("175b", 0.514), ("530b", 0.560), ("1t", 0.563)]),
    *(Row(f"Korthikanti {s} HFU", lambda s=s: korthikanti(s, gpt_selective_flops, hardware_utilization), printed, 0.003,
          right, "attention's term is doubled, T/3D; recomputed once it is 4/3 of T/6D")
      for s, printed, right in [("22b", 0.437, 0.4237), ("175b", 0.528, 0.5185), ("530b", 0.570, 0.5635),
                                ("1t", 0.570, 0.5651)]),
    # DeepSeek-V3's own measurement: 19.926 s a step of 62.9 million tokens on 2048 H800
    Row("V3 operations", lambda: step_flops(DEEPSEEK, 1, 4096) / 1e9, 250, 0.003),
    Row("V3 tokens a day", lambda: token_rate(DEEPSEEK_BATCH, 19.926) * DAY, 272.80e9, 1e-4),
    Row("V3 MFU causal", lambda: model_utilization(step_flops(DEEPSEEK, DEEPSEEK_BATCH, 4096), 19.926, 2048,
                                                   H800.bf16_flops), 0.3894, 0.005),
    Row("V3 MFU no mask", lambda: model_utilization(step_flops(DEEPSEEK, DEEPSEEK_BATCH, 4096, causal=False), 19.926,
                                                    2048, H800.bf16_flops), 0.4373, 0.005),
    Row("V3 rent", lambda: run_cost(1, 2 / HOUR, 2.788e6 * HOUR), 5.576e6, 1e-4),
    # Llama 3 405B: 400 TFLOP/s on each of 16384 GPUs, 1024 tokens a GPU and step
    Row("Llama 3 MFU", lambda: 400e12 / H100.bf16_flops, 0.41, 0.02),
    Row("Llama 3 operations", lambda: 6 * parameter_count(LLAMA405) * 15.6e12, 3.8e25),
    Row("Llama 3 step", lambda: step_time_at(6 * parameter_count(LLAMA405) * 16384 * 1024, 16384, 990e12, 0.41), 5.85,
        0.01, 6.14, "the batch of 16M is 2^24 tokens, as 1024 tokens a GPU say, and not 16e6"),
    Row("Llama 3 MTBF", lambda: MTBF_LLAMA / HOUR, 3, 0.04),
    Row("Llama 3 faulty GPUs", lambda: 148 / 419, 0.301, 0.01, 0.3532, "table 5: 148 of 419 is not 30.1 %"),
    Row("Llama 3 HBM", lambda: 72 / 419, 0.172),
    # Failures
    *(Row(f"Daly {hours} h", lambda h=hours: daly_interval(300, h * HOUR) / 60, printed, 0.006)
      for hours, printed in [(24, 117), (6, 57), (0.25, 9.1)]),
    Row("Kokolis 16k GPUs", lambda: cluster_mtbf(DAY / 6.5e-3, 16384 / 8) / HOUR, 1.8),
    Row("Kokolis 131k GPUs", lambda: cluster_mtbf(DAY / 6.5e-3, 131072 / 8) / HOUR, 0.23, 0.025),
    # GPT-3 on 10,000 V100 at 330 W, and the time that its operations take at 24.6 TFLOP/s each
    Row("GPT-3 energy", lambda: run_energy(10_000, 330, 14.8 * DAY, pue=1.1) / 3.6e9, 1287, 0.003),
    Row("GPT-3 days", lambda: step_time_at(3.14e23, 10_000, 24.6e12, 1) / DAY, 14.8, 0.003),
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_papers_print(row):
    check(row)


def test_tokens_a_second_and_time_of_a_run_are_one_thing():
    rate = token_rate_at(70e9, 4096, 990e12, 0.45)
    assert 15e12 / rate == pytest.approx(run_time(70e9, 15e12, 4096, 990e12, 0.45), rel=1e-12)
    assert utilization_of_run(70e9, 15e12, 4096, 990e12, 15e12 / rate) == pytest.approx(0.45, rel=1e-12)


def test_recomputation_raises_hfu_and_not_mfu():
    shape = 2**20, 2048, 48, 6144, 51200
    model, all_of_it = gpt_training_flops(*shape), gpt_selective_flops(*shape)
    assert all_of_it > model
    attention = 72 * 2**20 * 48 * 6144**2 * 2048 / (6 * 6144)
    assert all_of_it - model == pytest.approx(attention / 3, rel=1e-12), "one of three parts, once more"


# Failures


def test_llama_spent_at_most_a_quarter_of_an_hour_on_an_interruption():
    minutes = 54 * DAY / 466 / 60  # between two of the 466 interruptions
    assert 0.1 * minutes == pytest.approx(16.7, rel=0.01), "and above 90 % of the time was training"
    assert expected_failures(54 * DAY, MTBF_LLAMA) == pytest.approx(419)
    node = MTBF_LLAMA * 16384 / 8
    assert node / DAY == pytest.approx(264, rel=0.01), "a node stops the job every nine months"
    assert cluster_mtbf(node, 100_000 / 8) / 60 == pytest.approx(30.4, rel=0.01), "100,000 GPUs: every half hour"


def simulated_goodput(tau, t_save, t_back, t_mtbf, seconds, seed):
    """Failures at random: work, checkpoint, and on a failure a restart, which may fail too, and the work again."""
    rng, clock, done = random.Random(seed), 0.0, 0.0
    fails = rng.expovariate(1 / t_mtbf)
    while clock < seconds:
        if fails >= clock + tau + t_save:
            clock, done = clock + tau + t_save, done + tau
            continue
        while fails < clock + tau + t_save:
            clock, fails = fails, fails + rng.expovariate(1 / t_mtbf)
            while fails < clock + t_back:
                clock, fails = fails, fails + rng.expovariate(1 / t_mtbf)
            clock += t_back
            if fails >= clock + tau + t_save:
                break
    return done / clock


@pytest.mark.parametrize("point", [(1800, 60, 600, 3 * HOUR), (300, 60, 300, HOUR), (3000, 200, 900, HOUR)], ids=str)
def test_a_simulation_loses_as_much(point):
    assert simulated_goodput(*point, seconds=3e8, seed=6) == pytest.approx(exact_goodput(*point), rel=0.01)


def test_first_order_is_near_where_failures_are_rare():
    rare = {"t_save": 60, "t_back": 300, "t_mtbf": 100 * HOUR}
    tau = young_interval(60, 100 * HOUR)
    assert goodput_fraction(tau, **rare) == pytest.approx(exact_goodput(tau, **rare), abs=2e-4)
    assert best_goodput_fraction(**rare) == pytest.approx(goodput_fraction(tau, **rare), rel=1e-12)


@pytest.mark.parametrize("t_save", [10, 60, 600, 3600])
def test_dalys_interval_is_the_best_to_a_permille(t_save):
    mtbf = 3 * HOUR
    best = max(exact_goodput(tau, t_save, 300, mtbf) for tau in range(20, 4 * mtbf, 20))
    assert exact_goodput(daly_interval(t_save, mtbf), t_save, 300, mtbf) >= best * 0.999
    around = [goodput_fraction(young_interval(t_save, mtbf) * x, t_save, 300, mtbf) for x in (0.9, 1, 1.1)]
    assert max(around) == around[1], "Young's is the best of the first order"


def test_limits():
    assert daly_interval(2 * HOUR, HOUR) == HOUR
    assert daly_interval(1e-6, HOUR) == pytest.approx(young_interval(1e-6, HOUR), rel=1e-4)
    assert exact_goodput(1e-3, 0, 0, HOUR) == pytest.approx(1, abs=1e-6)
    assert exact_goodput(1e9, 0, 0, HOUR) == 0
    assert wall_time(100, 0.8) == 125
    with pytest.raises(ValueError, match="tau=0"):
        exact_goodput(0, 1, 1, 1)


# A whole run


def test_a_run_of_llama_with_and_without_failures():
    given = {"B_run": 15.6e12, "n": 16384, "mfu": 0.404, "T": 8192}
    smooth = training_run(LLAMA405, H100, **given)
    assert smooth.time == smooth.wall_time
    assert (smooth.failures, smooth.cost, smooth.goodput) == (0, 0, 1)
    assert smooth.flops == step_flops(LLAMA405, 15.6e12, 8192)
    rough = training_run(LLAMA405, H100, **given, t_node=264 * DAY, t_save=10, t_back=300, price=2 / HOUR, pue=1.0)
    assert 0.9 < rough.goodput < 0.96, "as Meta says: more than 90 %"
    assert rough.wall_time == pytest.approx(rough.time / rough.goodput)
    assert rough.failures == pytest.approx(rough.wall_time / (3.09 * HOUR), rel=0.01)
    assert rough.interval == pytest.approx(young_interval(10, 264 * DAY / 2048), rel=0.03)
    assert rough.energy == pytest.approx(16384 * 700 * rough.wall_time)
    assert rough.cost == pytest.approx(16384 * 2 * rough.wall_time / HOUR)
    # Its card prints 30.84 million GPU hours for the whole model
    assert 16384 * rough.wall_time / HOUR == pytest.approx(30.84e6, rel=0.05)
    assert training_run(LLAMA405, H800, **given).energy is None, "its table has no power"
    free = training_run(LLAMA405, H100, **given, t_node=264 * DAY, t_back=600)
    assert free.goodput == pytest.approx(math.exp(-600 / (264 * DAY / 2048)))


def test_a_run_says_what_cannot_be():
    with pytest.raises(ValueError, match=r"\bMFU\b.* 41$"):
        training_run(LLAMA405, H100, B_run=1e12, n=8, mfu=41)
    with pytest.raises(ValueError, match=r"H100 SXM5 .*\bfp4\b.*; .*bf16"):
        training_run(LLAMA405, H100, B_run=1e12, n=8, mfu=0.4, dtype="fp4")

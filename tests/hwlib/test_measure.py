"""What is counted is exact; what is timed is only checked against a clock of our own, or to be above zero."""

import re
from types import SimpleNamespace

import pytest
import torch

from hwlib.calibrated import fit_kernel_model
from hwlib.labs import measure, ranks
from hwlib.units import KiB

SIZES = ((1, 8, 16), (32, 32, 32), (64, 48, 80))
TINY = measure.Scale(cache=64 * KiB, arrays=(1 * KiB, 16 * KiB), matmuls=SIZES)


class Clock:
    """A clock on which a kernel takes the next of `times` seconds, and the last one from then on."""

    def __init__(self, *times):
        self.now, self.times, self.calls = 0.0, list(times), 0

    def __call__(self):
        return self.now

    def run(self, *_):
        self.calls += 1
        self.now += self.times.pop(0) if len(self.times) > 1 else self.times[0]


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(measure, "CPU", TINY)
    monkeypatch.setattr(measure, "SECONDS", 0.01)
    monkeypatch.setattr(measure, "_last_cache", lambda device, scale: scale.cache)


def with_clock(monkeypatch, *times):
    clock = Clock(*times)
    monkeypatch.setattr(measure, "perf_counter", clock)
    return clock


def test_the_median_counts_and_neither_the_warm_up_nor_an_interruption(monkeypatch):
    clock = with_clock(monkeypatch, 9.0, 0.049, 0.06, 5.0, 0.05, 0.07, 0.06)
    assert measure.time_kernel(clock.run, "cpu") == pytest.approx(0.06)
    assert clock.calls == 2 + 5  # a warm-up, one that tells how many fit in a quarter of a second, and those


@pytest.mark.parametrize(("time", "repeats"), [(10.0, 3), (0.05, 5), (1e-6, 200), (0.0, 200)])
def test_repeats_fill_the_time_but_are_neither_too_few_nor_too_many(monkeypatch, time, repeats):
    clock = with_clock(monkeypatch, time)
    assert measure.time_kernel(clock.run, "cpu") == pytest.approx(time)
    assert clock.calls == 2 + repeats


def test_rates_are_bytes_and_operations_over_the_time(small, monkeypatch):
    monkeypatch.setattr(measure, "time_kernel", lambda run, device, threads: 0.5)
    assert measure.measure_bandwidth("cpu") == 2 * 16 * KiB / 0.5  # read and write
    assert measure.measure_matmul("cpu", sizes=[(2, 3, 5), (4, 6, 10)]) == 2 * 4 * 6 * 10 / 0.5


def test_samples_count_every_operation_and_byte(small):
    samples = measure.measure_kernels("cpu")
    counted = {s.label: (s.flops, s.bytes) for s in samples}
    assert counted == {
        "2x of 1.02 KB": (256, 2048),
        "2x of 16.4 KB": (4096, 32768),
        "x + y of 1.02 KB": (256, 3072),
        "x + y of 16.4 KB": (4096, 49152),
        "matmul 1 x 8 x 16": (2 * 8 * 16, 4 * (8 + 128 + 16)),
        "matmul 32 x 32 x 32": (2 * 32**3, 4 * 3 * 32**2),
        "matmul 64 x 48 x 80": (2 * 64 * 48 * 80, 4 * (64 * 48 + 48 * 80 + 64 * 80)),
    }
    assert all(s.time > 0 for s in samples)
    model = fit_kernel_model(samples)
    assert model.t0 >= 0
    assert model.C > 0
    assert model.W > 0


@pytest.mark.parametrize(("dtype", "b"), [(torch.float64, 8), (torch.float32, 4), (torch.bfloat16, 2)])
def test_bytes_follow_the_dtype(small, dtype, b):
    bench = measure._Bench("cpu", dtype, 1)
    assert bench.matmul(4, 8, 16).bytes == b * (32 + 128 + 64)
    assert bench.add(1 * KiB).bytes == 3 * KiB
    assert bench.add(1 * KiB).flops == KiB / b


def test_kernels_compute_what_they_are_named_for(small):
    bench = measure._Bench("cpu", None, 1)
    for kernel, expected in [
        (bench.double(1 * KiB), lambda x: 2 * x),
        (bench.add(1 * KiB), torch.add),
        (bench.matmul(8, 16, 32), torch.matmul),
    ]:
        *inputs, out = next(bench._turns(kernel.shapes))
        kernel.run(*inputs, out)
        torch.testing.assert_close(out, expected(*inputs))


def test_repeats_walk_through_more_memory_than_the_cache_before_they_come_round(small):
    bench = measure._Bench("cpu", None, 1)
    shapes = bench.add(16 * KiB).shapes
    turns = bench._turns(shapes)
    seen, previous = set(), None
    while (x := next(turns)[0]).data_ptr() not in seen:
        seen.add(x.data_ptr())
        previous = previous or x.data_ptr()
    assert x.data_ptr() == previous
    assert len(seen) * 2 * 16 * KiB >= measure.PAST_CACHE * TINY.cache / 2
    inputs = next(turns)[:-1]
    assert inputs[1].data_ptr() - inputs[0].data_ptr() == 16 * KiB  # two arrays, not one twice


def test_a_kernel_larger_than_the_memory_gets_more(small):
    bench = measure._Bench("cpu", None, 1)
    sample = bench.measure(bench.matmul(256, 512, 256))
    assert sample.time > 0
    assert sample.bytes == 4 * (2 * 256 * 512 + 256 * 256)


def test_the_number_of_threads_is_put_back_even_after_an_error():
    before = torch.get_num_threads()
    seen = []
    measure.time_kernel(lambda: seen.append(torch.get_num_threads()), "cpu")
    with pytest.raises(ZeroDivisionError):
        measure.time_kernel(lambda: 1 / 0, "cpu")
    assert set(seen) == {1}
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("size", [(1, 2), (1, 2, 0), (1, 2, 3.0), (1, 2, -3)])
def test_a_size_that_is_none_is_refused(small, size):
    with pytest.raises(ValueError, match=rf"\(B, D, F\).*{re.escape(repr(size))}$"):
        measure.measure_matmul("cpu", sizes=[size])


def test_defaults_follow_the_machine(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert measure.default_device() == "cpu"
    assert measure.default_dtype() == torch.float32
    assert measure.default_dtype("cuda") == torch.bfloat16
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert measure.default_device() == "cuda"


@pytest.mark.slow
def test_this_machine_gives_a_bandwidth_a_rate_and_three_constants():
    bandwidth, rate = measure.measure_bandwidth(), measure.measure_matmul()
    model = fit_kernel_model(measure.measure_kernels())
    assert 1e8 < bandwidth < 1e14
    assert 1e8 < rate < 1e16
    assert 0 < model.t0 < 1e-2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_is_timed_by_its_events():
    assert measure.measure_bandwidth("cuda") > 1e10
    assert measure.measure_matmul("cuda") > 1e12
    assert len(measure.measure_kernels("cuda")) == 2 * len(measure.GPU.arrays) + len(measure.GPU.matmuls)


def test_a_machine_whose_core_works_for_others_was_too_busy(small, monkeypatch):
    own = iter((0.0, 0.8))
    monkeypatch.setattr(measure, "process_time", lambda: next(own))
    monkeypatch.setattr(measure, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(measure, "time_kernel", lambda *_: 1e-3)
    with measure.watch("cpu") as noise:
        assert not noise.busy
        assert "Nothing has been measured yet" in repr(noise)
        monkeypatch.setattr(measure, "perf_counter", lambda: 1.0)
    assert (noise.waited, noise.drift) == (pytest.approx(0.2), 0)
    assert noise.busy
    assert "20% of the time went to other programs" in noise._repr_markdown_()


@pytest.mark.parametrize(("own", "busy"), [((0.1, 0.245), False), ((0.1, 0.14), True)])
def test_a_rank_without_a_core_of_its_own_was_too_busy(own, busy, small, monkeypatch):
    """Processor time goes on more slowly than the clock for it; before the measurement all had a core."""
    clock, spent = iter((0.0, 0.0, 0.1, 0.15, 0.15)), iter(own)
    monkeypatch.setattr(measure, "SECONDS", 0.12)
    monkeypatch.setattr(measure, "perf_counter", lambda: next(clock))
    monkeypatch.setattr(measure, "process_time", lambda: next(spent))
    share = measure._computing(1, 2)
    monkeypatch.undo()
    before_and_after = iter(([0.0, 0.01], [0.0, share]))
    monkeypatch.setattr(ranks, "run_ranks", lambda fn, n: SimpleNamespace(results=next(before_and_after)))
    monkeypatch.setattr(measure, "time_kernel", lambda *_: 1e-3)
    with measure.watch("cpu", ranks=2) as noise:
        pass
    assert (noise.waited, noise.busy) == (pytest.approx(max(0.01, share)), busy)


def test_watch_counts_at_least_one_rank():
    with pytest.raises(ValueError, match="ranks is the number of processes that are measured, at least 1, not 0"):
        measure.watch(ranks=0).__enter__()


@pytest.mark.parametrize(("waited", "drift", "busy"), [(0.01, 0.1, False), (0.1, 0.1, True), (0.01, 0.5, True)])
def test_either_sign_of_noise_says_to_measure_again(waited, drift, busy):
    noise = measure.Noise(waited, drift)
    assert noise.busy is busy
    assert ("run that cell again" in repr(noise)) is busy


def test_a_reference_kernel_that_slowed_down_is_drift(small, monkeypatch):
    times = iter((1e-3, 2e-3))
    monkeypatch.setattr(measure, "time_kernel", lambda *_: next(times))
    with measure.watch("cpu") as noise:
        pass
    assert noise.drift == pytest.approx(1)

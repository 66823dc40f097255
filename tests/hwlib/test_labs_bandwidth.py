"""What is counted is exact; what is timed is only checked against a clock of our own, or to be above zero."""

from itertools import pairwise

import pytest
import torch

from hwlib.labs import bandwidth, measure
from hwlib.units import KiB


@pytest.fixture
def half_a_second(monkeypatch):
    """Every timed call takes half a second, and is called once."""

    def time_kernel(run, device=None, threads=1):
        run()
        return 0.5

    monkeypatch.setattr(measure, "time_kernel", time_kernel)


@pytest.mark.parametrize(("size", "rows"), [(16 * 2**10, 256), (3 * 2**20, 2), (2**22, 1), (2**23, 1), (10, 2**22)])
def test_reads_count_what_crosses_once(half_a_second, monkeypatch, size, rows):
    monkeypatch.setattr(bandwidth, "CPU_WORK", 2**22)
    if size == 10:
        monkeypatch.setattr(bandwidth, "CPU_WORK", 40)
        rows = 4
    (point,) = bandwidth.measure_reads([size], "cpu")
    whole = size // 4 * 4  # whole numbers of four bytes
    assert (point.size, point.bytes, point.time) == (size, rows * whole, 0.5)
    assert point.bandwidth == rows * whole / 0.5


def test_every_row_is_read(monkeypatch):
    sums = []
    real = torch.sum

    def spy(matrix, dim, out):
        sums.append((matrix.shape, matrix.stride(), real(matrix, dim, out=out).clone(), matrix[0].clone()))
        return out

    monkeypatch.setattr(torch, "sum", spy)
    monkeypatch.setattr(bandwidth, "CPU_WORK", 4096)
    bandwidth.measure_reads([1024], "cpu")
    shape, stride, got, row = sums[0]
    assert (tuple(shape), stride) == ((4, 256), (0, 1))
    assert got.tolist() == pytest.approx([real(row).item()] * 4, rel=1e-5)


@pytest.mark.parametrize(("size", "calls"), [(2**22, 1), (2**20, 2), (2**12, 100)])
def test_copies_count_read_and_write(half_a_second, size, calls):
    (point,) = bandwidth.measure_copies([size], "cpu")
    assert (point.size, point.bytes) == (size, calls * 2 * size)


def test_a_copy_copies(monkeypatch):
    seen = []
    monkeypatch.setattr(measure, "time_kernel", lambda run, device, threads: seen.append(run) or 1.0)
    bandwidth.measure_copies([4096], "cpu")
    source, target, _ = seen[0].__defaults__
    assert not torch.equal(source, target)
    seen[0]()
    assert torch.equal(source, target)


def test_a_real_measurement_is_above_zero(monkeypatch):
    monkeypatch.setattr(measure, "SECONDS", 0.002)
    for points in (bandwidth.measure_reads([4096, 2**16]), bandwidth.measure_copies([4096, 2**16])):
        assert [p.size for p in points] == [4096, 2**16]
        assert all(p.bandwidth > 0 for p in points)


def test_sizes_double_from_below_the_caches_to_beyond():
    sizes = bandwidth.sizes("cpu")
    assert (sizes[0], sizes[-1]) == (16 * KiB, 2**27)
    assert all(b == 2 * a for a, b in pairwise(sizes))
    gpu = bandwidth.sizes("cuda")
    assert gpu[0] == 2**20
    assert gpu[-1] >= 4 * 256 * 2**20  # the largest last cache of the tables, of an MI300X, is 256 MiB


def test_caches_grow_with_the_level():
    found = bandwidth.caches("cpu")
    assert all(name[0] == "L" for name in found)
    assert list(found.values()) == sorted(found.values())


def test_a_cpu_is_no_card():
    assert bandwidth.chip_of("cpu") is None


@pytest.mark.parametrize("size", [0, 3, 2.5, "1 MB"])
def test_a_size_that_is_none_is_named(size):
    with pytest.raises(ValueError, match=rf"bytes, .*{size!r}$"):
        bandwidth.measure_reads([size], "cpu")

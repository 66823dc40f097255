"""Collectives among chips that have a link of their own to each other, as RCCL runs them on AMD's."""

from dataclasses import replace

import pytest

from benchmarks.rows.published import ROWS, Collective, case_of, read_rows
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import predict
from hwlib.calibrated import collective_time
from hwlib.calibrated.nccl import holds_among, joined_share, mesh_links
from hwlib.calibrated.nccl_expected import ETHERNET, INFINIBAND, RCCL, RCCL_PAIR, expected_of
from hwlib.specs import nodes
from hwlib.specs.fitted import collective_constants

TABLE = ROWS / "collectives_rocm.csv"


@pytest.fixture(scope="module")
def errors():
    """Signed errors by set and use, of rows with constants of their own."""
    kinds = {}
    for row in read_rows(TABLE)[0]:
        prediction = predict(case_of(row, TABLE))
        if not isinstance(prediction, Unmodelled) and not prediction.typical:
            error = prediction.time / prediction.measured - 1
            kinds.setdefault((row.set, row.cells["use"]), []).append(error)
    return kinds


@pytest.mark.parametrize(
    ("name", "use", "count"),
    [
        ("ar-mi300x-rccl", "fit", 25),
        ("ar-mi300x-cx7", "fit", 26),
        ("ar-mi355x-pollara", "fit", 25),
        ("ar-mi355x-primus", "fit", 38),
        ("ar-mi300x-ainic", "fit", 4),
        ("ar-mi325x-rccl", "test", 3),
        ("ar-mi325x-bnxt", "test", 9),
    ],
)
def test_all_reduces_of_every_amd_system_are_off_by_twelve_per_cent_at_most(errors, name, use, count):
    assert len(errors[name, use]) == count
    assert sum(map(abs, errors[name, use])) / count < 0.12


def test_a_mesh_gives_few_ranks_few_of_its_links():
    c = collective_constants()["mi355x", "all_reduce", "torch"]
    large = {n: 2 * (n - 1) / n * 2**34 / collective_time(c, n, 2.0**34) for n in (2, 4, 8)}
    assert large[4] / large[2] == pytest.approx(3, rel=0.1)
    assert large[8] / large[2] == pytest.approx(7, rel=0.1)
    assert [joined_share("mi300x", n) for n in (1, 2, 8, 16)] == [1 / 7, 1 / 7, 1, 1]
    assert (mesh_links("h100-sxm"), joined_share("h100-sxm", 2)) == (0, 1.0)


@pytest.mark.parametrize(
    ("n", "holds"), [(2, True), (3, False), (4, True), (6, False), (7, False), (8, True), (16, True)]
)
def test_constants_of_a_mesh_hold_for_the_measured_numbers_of_ranks_alone(n, holds):
    c = collective_constants()["mi355x", "all_reduce", "torch"]
    assert holds_among(c, n) is holds
    if n <= 8:
        assert (expected_of(nodes["mi355x-node"], n, "all_reduce").constants is None) is not holds
    assert holds_among(replace(c, chip="h100-sxm"), n)


def test_a_log_of_amds_is_held_against_rccl():
    node = nodes["mi300x-node"]
    assert expected_of(node, 8, "all_reduce").constants.software == RCCL
    pair = expected_of(node, 16, "all_reduce", ETHERNET)
    assert (pair.constants.software, pair.other, pair.doublings) == (RCCL_PAIR, False, 0)
    same = expected_of(node, 16, "all_reduce", INFINIBAND)
    assert (same.constants, same.other) == (pair.constants, True)
    assert same.band(2.0**30) > pair.band(2.0**30)
    assert expected_of(node, 32, "all_reduce", ETHERNET).doublings == 1
    assert expected_of(node, 8, "all_gather").constants is None


def test_numbers_of_ranks_without_constants_are_a_bound_of_many_bytes_alone():
    three = [row for row in read_rows(TABLE)[0] if row.set == "ar-mi355x-primus" and row.gpus == 3]
    cases = {row.config["bytes"]: case_of(row, TABLE) for row in three}
    assert "3 GPUs of a mesh" in cases[2**25].reason
    assert predict(cases[2**26]).typical.endswith("a bound")
    assert not any(isinstance(case, Collective) for case in cases.values())

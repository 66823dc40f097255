"""What chapter 17 says of all-reduces over machines, against all rows of the sweeps that it cites."""

import pytest

from hwlib.specs import accelerators, measured_fabrics, measured_machines
from tests.banks import names_of


@pytest.fixture(scope="module")
def text():
    return names_of("17-machines", "text")


def test_the_sweep_of_four_b200_nodes_goes_on_to_16_gib():
    rows = measured_fabrics("b200-sxm", 32)
    assert [row.S for row in rows] == [2**k for k in range(27, 35)]
    assert rows[-1].bus_bandwidth == pytest.approx(381.8e9)


def test_size_is_little_of_what_the_b200_nodes_lack(text):
    """382 GB/s are 74 % of the sheet's 517, and the 362 at 1 GiB 70 %."""
    assert text.B200_FOUR.bus_bandwidth / text.told(text.B200_FOUR) == pytest.approx(0.739, abs=5e-4)
    assert text.B200_GIB.bus_bandwidth / text.told(text.B200_GIB) == pytest.approx(0.701, abs=5e-4)


def test_twenty_racks_keep_half_of_what_one_reaches_and_two_nearly_all(text):
    assert text.RACKS.machines == 20
    assert text.RACKS.bus_bandwidth == pytest.approx(405.74e9)
    assert text.of_a_rack(144) == pytest.approx(0.97, abs=0.005)
    assert text.of_a_rack(1440) == pytest.approx(0.486, abs=5e-4)
    assert text.RACKS.bus_bandwidth < text.LARGEST["h100-sxm", 16].bus_bandwidth
    assert text.told(text.RACKS) == accelerators["gb200-nvl72"].scaleup_bandwidth


def test_only_the_b200_nodes_are_bound_by_their_cards_by_the_sheet(text):
    below = {key for key, row in text.LARGEST.items() if text.told(row) < accelerators[row.chip].scaleup_bandwidth - 1}
    assert below == {("b200-sxm", 32)}
    assert sum(row.machines > 1 for row in text.LARGEST.values()) == 5
    assert len(text.LARGEST) == 6


def test_every_model_loses_a_tenth_or_more_from_one_pod_to_32(text):
    assert {row.params / 1e9 for row in measured_machines("tpu-v5e")} == set(text.POD_LOSSES)
    for params, loss in text.POD_LOSSES.items():
        assert [row.parts for row in text.pods(params)] == [1, 2, 4, 8, 16, 32]
        assert 0.09 < loss < 0.18
    assert max(text.POD_LOSSES, key=text.POD_LOSSES.get) == 128


def test_one_pair_of_rows_differs_in_slices_alone():
    rows = [row for row in measured_machines() if row.chip.startswith("tpu")]
    jobs = {(row.chip, row.params, row.chips): set() for row in rows}
    for row in rows:
        jobs[row.chip, row.params, row.chips].add(row.parts)
    assert {job: parts for job, parts in jobs.items() if len(parts) > 1} == {("tpu-v5p", 128e9, 256): {1, 2}}

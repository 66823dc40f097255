"""`gpubook bandwidth` on published tables: few sound rows are called slow, and faults planted in them are found."""

import pytest

from benchmarks.rows.published import ROWS
from benchmarks.score.bandwidth_scores import LEAST_FOUND, MOST_SLOW, is_found, page, score_faults, score_sound
from benchmarks.score.sound_tables import HALF_NICS, NO_NVLS, SLOW, faults, sound_tables
from hwlib.calibrated.nccl_log import read_log

BADLY_SET = "ar2-p5-eks-2x8"
"""The log of two nodes under Kubernetes, which take twice as long below 1 GiB as the same nodes without: no constant is
fitted to it, and it is counted among the sound all the same."""
TABLES = sound_tables(ROWS)
SOUND = [table for table in TABLES if table.switch]


def table_of(name, n):
    return next(table for table in TABLES if (table.name, table.n) == (name, n))


def test_every_row_is_read_again_as_it_was_measured():
    for table in TABLES:
        log = read_log(table.text)
        assert [row.S for row in log.rows] == [timed.S for timed in table.rows]
        assert [row.time for row in log.rows] == pytest.approx([timed.time for timed in table.rows], rel=1e-3)


def test_few_rows_of_sound_machines_are_slow_and_few_are_not_judged():
    scores = [score_sound(table) for table in SOUND]
    rows = sum(score.rows for score in scores)
    assert rows > 800
    assert sum(score.slow for score in scores) <= MOST_SLOW * rows
    assert sum(score.unknown for score in scores) <= MOST_SLOW * rows
    assert {score.table.name for score in scores if score.slow and not score.table.rests} == {BADLY_SET}


def test_no_fewer_faults_are_found_than_were():
    planted = [fault for table in TABLES for fault in score_faults(table)]
    assert sum(fault.seen for fault in planted) >= 123 / 130 * len(planted)


def test_faults_are_found_in_nineteen_of_twenty():
    planted = [fault for table in TABLES for fault in score_faults(table)]
    assert {fault.fault for fault in planted} == {HALF_NICS, NO_NVLS, SLOW}
    assert sum(fault.seen for fault in planted) >= LEAST_FOUND * len(planted)


def test_a_table_without_slow_rows_has_no_fault_until_it_is_planted():
    for name, n, fault in (
        ("nvlstree", 512, HALF_NICS),
        ("ar2-gb200", 1440, HALF_NICS),
        ("ar-h200x8", 8, NO_NVLS),
        ("aic-nccl-a100_sxm-all_reduce", 8, SLOW),
    ):
        table = table_of(name, n)
        assert not is_found(table, fault)
        assert is_found(dict(faults(table))[fault], fault)


def test_what_pcie_would_bring_and_half_of_a_link_too_has_both_causes():
    """Two chips of a mesh have one link, whose half is no more than PCIe; a tenth of NVLinks can be PCIe alone."""
    mesh = dict(faults(table_of("ar-mi355x-primus", 2)))[SLOW]
    assert {"pcie", "unknown"} <= {cause.kind for cause in mesh.judged().causes}
    sound = table_of("ar-h200x8", 8)
    slow = sound._replace(rows=tuple(timed._replace(time=12 * timed.time) for timed in sound.rows))
    kinds = {cause.kind for cause in slow.judged().causes}
    assert "pcie" in kinds
    assert "unknown" not in kinds


def test_a_fault_that_costs_nothing_is_not_planted():
    """Half the cards of two racks whose switches reduce carry more than the links do, and an A100 has no NVLS."""
    assert not list(faults(table_of("ar2-gb200", 144)))
    assert NO_NVLS not in dict(faults(table_of("aic-nccl-a100_sxm-all_reduce", 8)))
    assert NO_NVLS not in dict(faults(table_of("aic-nccl-h100_sxm-all_reduce", 2)))


def test_the_page_has_a_line_for_each_table_and_fault():
    few = [table_of("ar2-gb200", 1440), table_of("ar-h200x8", 8)]
    lines = list(page(few))
    assert lines[1].startswith("ar2-gb200 ")
    assert any(line.startswith(f"{NO_NVLS}: 1 of 1 found") for line in lines)

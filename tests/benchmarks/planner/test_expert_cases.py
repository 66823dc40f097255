"""The expert cases: every published plan can be costed, and stands beside the advised one."""

import pytest

from benchmarks.planner.expert_cases import CASES, from_flops, from_token_rate, row
from hwlib.planner.fits import surely


def test_there_are_the_cases_that_an_expert_would_ask():
    assert len(CASES) >= 10
    assert len({case.title for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_case_is_a_line_of_six_cells(case, sources):
    assert not case.source or case.source in sources
    cells = row(case)
    assert len(cells) == 6
    assert cells[0] == case.title
    assert not any("|" in cell or "\n" in cell for cell in cells)
    found = case.found()
    published = case.published(found)
    assert published.gpus == found.task.gpus
    assert published.seconds >= found[0].seconds * (1 - 1e-9) or not surely(found.task, published.memory.total)
    if case.measured:
        assert 0.4 < published.seconds / case.measured < 2.5


def test_seconds_from_what_sources_print():
    assert from_token_rate(128, 8192, 8, 14451) == pytest.approx(9.07, abs=0.005)  # Megatron Bridge, 8B on 8 H100
    assert from_flops("llama3-405b", 2**24, 8192, 16384, 400e12) == pytest.approx(6.5, rel=0.05)  # 6 N D / (n C)

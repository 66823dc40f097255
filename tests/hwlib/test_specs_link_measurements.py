"""What links reach, as published: never more than the line, and as the sources sum it up in words."""

import pytest

from hwlib.network import HEADERS, payload_fraction
from hwlib.specs import links, measured_link, measured_links, nodes
from hwlib.units import GB
from tests.each import each

ROWS = measured_links()


@each("row", ROWS)
def test_no_path_reaches_more_than_its_line(row):
    assert row.line is None or row.reached < row.line


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("h100-copy", nodes["dgx-h100"].scaleup_bandwidth),
        ("h100-both", 2 * nodes["dgx-h100"].scaleup_bandwidth),
        ("h100-host-copy", links["pcie5-x16"].bandwidth),
        ("h800-copy", nodes["hgx-h800"].scaleup_bandwidth),
        ("nvlink3-nccl", links["nvlink3"].bandwidth),
        ("nvlink4-nccl", links["nvlink4"].bandwidth),
        ("nvlink5-nccl", links["nvlink5"].bandwidth),
        ("pcie3-nccl", links["pcie3-x16"].bandwidth),
        ("pcie4-nccl", links["pcie4-x16"].bandwidth),
        ("c2c-read", links["nvlink-c2c"].bandwidth),
        ("xgmi-pair", links["xgmi3"].bandwidth),
    ],
)
def test_the_lines_are_those_of_the_other_tables(key, line):
    assert measured_link(key).line == pytest.approx(line, rel=1e-9)


def test_shares_are_those_that_the_sources_tell_in_words():
    """nccl-1264: "83%" of 900 GB/s; a maintainer of NCCL: application bandwidth is about 80 % of the peak."""
    assert measured_link("h100-both").share == pytest.approx(0.83, abs=0.005)
    assert [round(measured_link(f"nvlink{k}-nccl").share, 2) for k in (3, 4, 5)] == [0.80, 0.82, 0.80]
    assert measured_link("sockets-nccl").share is None
    assert measured_link("c2c-read").reached == links["nvlink-c2c"].measured_bandwidth


def test_headers_bound_what_a_copy_reaches():
    """WikiChip: one to eighteen flits of 16 bytes, so at best 256 bytes of data behind a flit of header: 94 %."""
    assert HEADERS["nvlink"].bytes == 16
    best = payload_fraction(256, HEADERS["nvlink"].bytes)
    assert best == pytest.approx(0.94, abs=0.002)
    assert measured_link("h100-copy").reached < best * 450 * GB

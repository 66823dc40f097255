"""Rows of nccl-tests as launchers, versions and damage leave them: what is read, refused, and counted as cut."""

import time

import pytest

from hwlib.calibrated.nccl_log import read_log
from hwlib.calibrated.nccl_table import LogError, read_table

HEADER = "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
OLD = "#  size count type redop time algbw busbw error time algbw busbw error"
LEAD = "1073741824 268435456 float sum -1"
GOOD = "8190.2 131.10 229.43 0"
ROW = f"{LEAD} {GOOD} {GOOD}"
OK, FAILED = "# Out of bounds values : 0 OK", "# Out of bounds values : 1 FAILED"


def table(*lines):
    return read_table("\n".join(lines))


def checks(*lines):
    return [row.check for row in table(*lines).rows]


@pytest.mark.parametrize("header", [[HEADER], []], ids=["header", "no header"])
@pytest.mark.parametrize(
    ("out_of_place", "in_place", "check"),
    [
        ("0", "0", "passed"),
        ("12", "0", "failed"),
        ("0", "1", "failed"),
        ("N/A", "0", "passed"),
        ("0", "N/A", "passed"),
        ("N/A", "1.34e+08", "failed"),
        ("N/A", "N/A", "none"),
    ],
)
def test_wrong_values_of_both_halves_count(header, out_of_place, in_place, check):
    half = "8190.2 131.10 229.43"
    assert checks(*header, f"{LEAD} {half} {out_of_place} {half} {in_place}") == [check]


@pytest.mark.parametrize("end", [FAILED, FAILED[2:], "#  Out of bounds values :  3  FAILED", f"0: {FAILED}"])
def test_a_run_that_failed_without_a_wrong_row_has_failed_as_a_whole(end):
    assert checks(ROW, ROW, end) == ["failed", "failed"]
    assert checks(ROW, ROW, end.replace("FAILED", "OK").replace(": 1", ": 0").replace(":  3", ":  0")) == ["passed"] * 2
    assert checks(ROW, OK, ROW, end) == ["passed", "failed"]
    assert checks(ROW, end, ROW, OK) == ["failed", "passed"]
    assert checks(ROW, OK, end) == ["failed"]


def test_a_run_that_shows_its_wrong_row_keeps_the_others():
    assert checks(ROW, f"{LEAD} {GOOD} {GOOD[:-1]}7", FAILED) == ["passed", "failed"]


@pytest.mark.parametrize(
    ("kind", "error", "ranks", "check"),
    [
        ("float", "5e-07", 8, "passed"),
        ("float", "1e-03", 8, "failed"),
        ("half", "4e-03", 8, "passed"),
        ("half", "8e-02", 8, "failed"),
        ("half", "8e-02", 16, "passed"),
        ("int", "0e+00", 8, "passed"),
        ("int", "1e+00", 8, "failed"),
        ("float", "4e+00", 8, "failed"),
    ],
)
def test_tables_of_before_2022_print_the_error(kind, error, ranks, check):
    half = "8190.2 131.10 229.43"
    row = f"1073741824 268435456 {kind} sum {half} {error} {half} {error}"
    assert [row.check for row in read_table(f"{OLD}\n{row}", ranks).rows] == [check]


def test_of_old_errors_the_end_of_the_log_knows_the_bound():
    """In place an all-to-all printed an error of 1, and its end was OK: nobody looked at it."""
    half = "8190.2 131.10 131.10"
    row = f"{OLD}\n1073741824 268435456 float sum {half} 0e+00 {half} 1e+00"
    assert [checked.check for checked in read_table(row).rows] == ["failed"]
    assert [checked.check for checked in read_table(f"{row}\n{OK}").rows] == ["passed"]
    assert [checked.check for checked in read_table(f"{row}\n{FAILED}").rows] == ["failed"]
    assert [checked.check for checked in read_table(f"{row}*\n{OK}").rows] == ["failed"]
    assert checks(HEADER, f"{LEAD} {half} 0 {half} 1", OK) == ["failed"]


@pytest.mark.parametrize(
    "line",
    [
        f"[1,0]<stdout>:   {ROW}",
        f"[1,0]<stdout>:{LEAD}[1,0]<stdout>:   {GOOD}[1,0]<stdout>:   {GOOD}",
        f"[prterun-node-7@1,0]<stdout>: {LEAD}[prterun-node-7@1,0]<stdout>: {GOOD} {GOOD}",
        f"Tue Jun  4 12:00:01 2024[1,0]<stdout>:{LEAD}Tue Jun  4 12:00:01 2024[1,0]<stdout>: {GOOD} {GOOD}",
        f"0: {ROW}",
        f"12:{ROW}",
        f"[0] {ROW}",
        f"[pod/nccl-0/test] {ROW}",
        f"worker-1  | {ROW}",
        f"2024-06-04T12:00:01.123Z {ROW}",
        f"> {ROW}",
        f"  {ROW}  2026-06-04 12:00:01",
        ROW.replace("float", "float8_e4"),
    ],
)
def test_marks_of_launchers_are_not_columns(line):
    for lines in ([HEADER, line], [line]):
        (row,) = table(*lines).rows
        assert (row.S, row.time, row.busbw) == (2**30, pytest.approx(8.1902e-3), pytest.approx(229.43e9))


@pytest.mark.parametrize("line", [f"# {ROW}", f"#{ROW}", f"0: # {ROW}"])
def test_a_row_that_is_commented_out_is_not_read(line):
    assert table(line) == ((), ())


LONG = "4294967296 1073741824 float sum 32410 132.52 231.91 5e-07 32405 132.54 231.95 5e-07"


def test_the_header_names_the_columns():
    for lines in ([OLD, LONG], [LONG]):
        assert table(*lines).rows[0].time == pytest.approx(32410e-6)
    broadcast = "# size count type root time algbw busbw error time algbw busbw error"
    half = "18781 7.15 7.15 0e+00"
    assert table(broadcast, f"134217728 33554432 float 0 {half} {half}").rows[0].time == pytest.approx(18781e-6)
    iterations = HEADER.replace("#wrong", "#wrong i_min i_max i_p99 i_cv%").replace("time", "cputime") + " timestamp"
    row = f"{LEAD} {GOOD} 8100 8200 8200 0.4 {GOOD[:-1]}5 8100 8200 8200 0.4  2026-06-04 12:00:01"
    assert [(row.time, row.check) for row in table(iterations, row).rows] == [(pytest.approx(8190.2e-6), "failed")]
    turned = "size count type redop root busbw algbw time #wrong".replace("busbw algbw time", "time busbw algbw")
    assert table(turned, f"{LEAD} 8190.2 229.43 131.10 0").rows[0].busbw == pytest.approx(229.43e9)


def test_a_blank_operation_is_not_the_root():
    assert table(HEADER, f"{LEAD.replace('sum ', '')} {GOOD} {GOOD}").rows[0].redop == ""
    assert table(HEADER, ROW).rows[0].redop == "sum"


@pytest.mark.parametrize(
    "line",
    [
        LEAD,
        LEAD[:-3],
        f"{LEAD} 8190.2 131.10",
        f"{LEAD}node-a:71:90 [0] NCCL INFO Connected all rings",
        f"{LEAD} {GOOD} 8190.2 131.10",
        f"{LEAD} {GOOD} 8190.2 131.10 229.43 x",
        f"{LEAD} 8190.2 - 229.43 0 {GOOD}",
    ],
)
def test_rows_that_are_cut_are_counted(line):
    for lines in ([HEADER, line, ROW], ["", line, ROW]):
        assert (len(table(*lines).rows), table(*lines).unread) == (1, (2,))
    with pytest.raises(LogError, match=r"row of nccl-tests.* line 1"):
        read_log(line)
    assert read_log(f"{line}\n{ROW}").unread == (1,)


@pytest.mark.parametrize("word", ["nan", "-nan", "inf", "1e400", "9" * 400, "-5", "1e19"])
@pytest.mark.parametrize("place", range(5, 13))
def test_numbers_that_cannot_be_are_refused_by_line_and_column(word, place):
    words = ROW.split()
    words[place] = word
    name = ["time", "algbw", "busbw", "#wrong"][(place - 5) % 4]
    for before in (HEADER, ""):
        with pytest.raises(LogError, match=f"line 2: {name}"):
            table(before, " ".join(words))


@pytest.mark.parametrize("size", ["9" * 400, str(2**63), "9" * 5000])
def test_sizes_beyond_64_bits_are_refused(size):
    with pytest.raises(LogError, match="line 1: size"):
        table(ROW.replace("1073741824", size))


def test_the_largest_size_is_read():
    size = 2**63 - 1
    assert size == table(f"{size} 1 float sum -1 1e12 9223.37 16140.9 0").rows[0].S


@pytest.mark.parametrize(("time", "fits"), [("8190.2", True), ("8600", True), ("8700", False), ("1e-320", False)])
def test_time_and_bandwidth_agree(time, fits):
    row = f"{LEAD} {time} 131.10 229.43 0"
    if fits:
        assert table(row).rows
    else:
        with pytest.raises(LogError, match="line 1"):
            table(row)
    with pytest.raises(LogError, match="line 1"):
        table(f"{LEAD} {time} 0.00 0.00 0")


def test_rows_of_no_bytes():
    assert table("0 0 float sum -1 4.1 0.00 0.00 0 0.00 0.00 0.00 0").rows[0].S == 0
    with pytest.raises(LogError, match="line 1: #wrong"):
        table("0 0 float sum -1 4.1 0.00 0.00 3")


@pytest.mark.parametrize(
    "line",
    [
        ">" * 44 + " run 1",
        ":" * 40,
        "]" * 40,
        "a::" * 14,
        "[" * 40,
        "a:b>c]d| " * 9,
        "[1,0]<stdout>:" * 9,
        "8 2 float ",
    ],
)
def test_any_line_is_read_in_linear_time(line):
    text = f"{line}\n{ROW}\n{line * (100_000 // len(line))}"
    before = time.process_time()
    assert read_log(text).rows
    assert time.process_time() - before < 0.5

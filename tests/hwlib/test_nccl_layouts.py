"""Every table that nccl-tests (2017 to 2026) and rccl-tests (2019 to 2026) printed, typed from their formats: widths,
columns, units, ends."""
# ruff: noqa: UP031 - formats stand as the programs in C and C++ have them

import pytest

from hwlib.calibrated.nccl_log import read_log
from hwlib.calibrated.nccl_table import LogError, read_table

S, N = 2**30, 2**28
MICRO = 8190.2


def titles(mask, *names):
    return "# " + mask % names


def first(*lead):
    """The header of 2017: bytes and milliseconds."""
    mask = "%10s  %12s  %6s" + "  %6s" * len(lead) + "  %7s  %5s  %5s  %7s" * 2
    return titles(mask, "bytes", "N", "type", *lead, *("time", "algbw", "busbw", "res") * 2)


def second(*lead):
    """Headers of 2019 to 2022, of each test its own."""
    mask = "%10s  %12s  %6s" + "  %6s" * len(lead) + "  %7s  %6s  %6s  %5s" * 2
    return titles(mask, "size", "count", "type", *lead, *("time", "algbw", "busbw", "error") * 2)


def third(*half, time="time", after=(), halves=2):
    """One header for all tests, from 2022 on; a half may have columns more, and so may the line."""
    columns = (time, *half[:1], "algbw", "busbw", "#wrong") if half[:1] == ("hipevt",) else (time, "algbw", "busbw")
    columns = columns if half[:1] == ("hipevt",) else (*columns, "#wrong", *half)
    return "# " + "  ".join(("size", "count", "type", "redop", "root", *columns * halves, *after))


def row(*lead, half, size=S, count=N, type_="float", halves=2):
    return "%12d  %12d  %8s" % (size, count, type_) + "".join("  %6s" % word for word in lead) + half * halves


OLD = "  %7s  %6.2f  %6.2f  %5s" % ("8190.2", 131.10, 229.43, "5e-07")
MS = "  %7.3f  %5.2f  %5.2f  %7s" % (8.1902, 131.10, 229.43, "5e-07")
NEW = "  %7s  %6.2f  %6.2f  %6g" % ("8190.2", 131.10, 229.43, 0)
TIMES = "  %7s  %7s  %7s  %7s" % ("8100.0", "8300.0", "8299.0", "0.42")
MOVED = "  %7s  %6.2f  %6.2f  %5s" % ("8190.2", 114.71, 114.71, "0e+00")  # 7/8 of S/t in both columns
SENT = "  %7s  %6.2f  %6.2f  %5s" % ("8190.2", 131.10, 131.10, "0e+00")

ALL_REDUCE = (229.43e9, "passed")
GATHERED = (114.71e9, "passed")
BROADCAST = (131.10e9, "passed")

LAYOUTS = {
    "2017 all_reduce": (first("op"), row("sum", half=MS), ALL_REDUCE),
    "2017 all_reduce, unchecked": (
        first("op"),
        row("sum", half="  %7.3f  %5.2f  %5.2f  \tN/A" % (8.1902, 131.10, 229.43)),
        (229.43e9, "none"),
    ),
    "2017 all_gather": (first(), row(half=MS.replace("131.10", "114.71").replace("229.43", "114.71")), GATHERED),
    "2017 broadcast": (
        "#      bytes             N    type    root     time  algbw  busbw      res",
        row("0", half=MS.replace("229.43", "131.10"), halves=1),
        BROADCAST,
    ),
    "2017 reduce": (first("op", "root"), row("sum", "0", half=MS.replace("229.43", "131.10")), BROADCAST),
    "2019 all_reduce": (second("redop"), row("sum", half=OLD), ALL_REDUCE),
    "2019 reduce_scatter": (second("redop"), row("sum", half=MOVED), GATHERED),
    "2019 all_gather": (second(), row(half=MOVED), GATHERED),
    "2019 broadcast": (second("root"), row("0", half=SENT), BROADCAST),
    "2019 reduce": (second("redop", "root"), row("sum", "7", half=SENT), BROADCAST),
    "2020 alltoall": (second("redop"), row("none", half=SENT.replace("131.10  0", "114.71  0")), GATHERED),
    "2021 alltoall, unchecked in place": (
        second("redop"),
        row("sum", half=OLD, halves=1) + OLD.replace("5e-07", "  N/A"),
        ALL_REDUCE,
    ),
    "2021 sendrecv": (second(), row(half=SENT), BROADCAST),
    "2021 scatter": (second("root"), row("0", half=SENT.replace("131.10  0", "114.71  0")), GATHERED),
    "2021 hypercube": (second(), row(half=MOVED), GATHERED),
    "2021 cputime": (second("redop").replace("time", "cputime"), row("sum", half=OLD), ALL_REDUCE),
    "rccl 2020 gather": (second(), row(half=MOVED), GATHERED),
    "rccl 2019 beyond the threshold": (
        second("redop"),
        row("sum", half=OLD, halves=1) + OLD.replace("5e-07", "1e-06*"),
        (229.43e9, "failed"),
    ),
    "2022 all_reduce": (third(), row("sum", "-1", half=NEW), ALL_REDUCE),
    "2022 operation left blank": (third(), row("", "-1", half=NEW), ALL_REDUCE),
    "2022 broadcast": (third(), row("none", "0", half=NEW.replace("229.43", "131.10")), BROADCAST),
    "2022 wrong": (third(), row("sum", "-1", half=NEW, halves=1) + NEW[:-1] + "3", (229.43e9, "failed")),
    "2022 unchecked": (third(), row("sum", "-1", half=NEW[:-1] + "N/A"), (229.43e9, "none")),
    "rccl 2024 in place alone": (third(halves=1), row("sum", "-1", half=NEW, halves=1), ALL_REDUCE),
    "rccl 2025 algorithm": (
        third(after=("algo", "proto", "nchannels")),
        row("sum", "-1", half=NEW) + "%8s  %8s  %10d" % ("RING", "SIMPLE", 56),
        ALL_REDUCE,
    ),
    "rccl 2025 algorithm unknown": (
        third(after=("algo", "proto", "nchannels")),
        row("sum", "-1", half=NEW) + "%8s  %8s  %10s" % ("N/A", "N/A", "N/A"),
        ALL_REDUCE,
    ),
    "rccl 2026 event times": (
        third("hipevt", after=("algo", "proto", "nchannels", "timestamp")),
        row("sum", "-1", half=NEW.replace("8190.2", "8190.2   8100.1")) + "  2026-06-04 12:00:01    TREE    LL128  8",
        ALL_REDUCE,
    ),
    "rccl 2026 out of place alone": (
        third("hipevt", halves=1),
        row("sum", "-1", half=NEW.replace("8190.2", "8190.2   8100.1"), halves=1),
        ALL_REDUCE,
    ),
    "2025 timestamp": (
        third(after=("timestamp",)),
        row("sum", "-1", half=NEW) + "%21s" % "2025-10-28 12:00:01",
        ALL_REDUCE,
    ),
    "2026 iterations": (third("i_min", "i_max", "i_p99", "i_cv%"), row("sum", "-1", half=NEW + TIMES), ALL_REDUCE),
    "2026 iterations and timestamp": (
        third("i_min", "i_max", "i_p99", "i_cv%", after=("timestamp",)),
        row("sum", "-1", half=NEW + TIMES) + "%21s" % "2026-06-08 12:00:01",
        ALL_REDUCE,
    ),
    "2026 bits": (third("#bitdiff"), row("sum", "-1", half=NEW + "  %8g" % 0), ALL_REDUCE),
    "2026 bits and iterations": (
        third("#bitdiff", "i_min", "i_max", "i_p99", "i_cv%"),
        row("sum", "-1", half=NEW + "  %8g" % 0 + TIMES),
        ALL_REDUCE,
    ),
}


@pytest.mark.parametrize(("header", "line", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_is_read(header, line, expected):
    units = "#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
    table = read_table(f"{header}\n{units}\n{line}\n# Out of bounds values : 0 OK")
    (read,) = table.rows
    busbw, check = expected
    assert (read.S, read.time) == (S, pytest.approx(MICRO * 1e-6, rel=1e-4))  # of 2017 three decimals of ms
    assert read.algbw == pytest.approx(131.10e9, rel=1e-3)
    assert read.busbw == pytest.approx(busbw)
    assert (read.check, table.unread) == (check, ())


@pytest.mark.parametrize(
    ("word", "rate"), [("1.2e+05", 1073741824 / 1.2e5 / 1e3), ("124321", 1073741824 / 124321 / 1e3)]
)
def test_wide_times_of_2025_lose_digits_and_not_the_row(word, rate):
    half = "  %7s  %6.2f  %6.2f  %6g" % (word, rate, rate, 0)
    assert read_table(f"{third()}\n{row('none', '0', half=half)}").rows[0].time == pytest.approx(float(word) * 1e-6)


def test_bits_that_differ_from_run_to_run_are_counted():
    line = row("sum", "-1", half=NEW + "  %8g" % 0, halves=1) + NEW + "  %8g" % 17
    assert read_table(f"{third('#bitdiff')}\n{line}").rows[0].bits == 17
    ended = f"{third('#bitdiff')}\n{line}\n# Out of bounds values : 0 OK\n# Bitwise mismatches   : 1 FAILED"
    assert [read.check for read in read_table(ended).rows] == ["passed"]


ENDS = [
    " Out of bounds values : 1 FAILED",
    "# Out of bounds values : 1 FAILED",
    "# %-20s : %d %s" % ("Out of bounds values", 4, "FAILED"),
]


@pytest.mark.parametrize("end", ENDS)
def test_every_end_is_read(end):
    table = f"{third()}\n{row('sum', '-1', half=NEW)}\n"
    memory = "# GPU memory usage     : Free 1.2 GB | Total 80 GB\n# Avg bus bandwidth    : 229.43 \n#\n"
    assert [read.check for read in read_table(table + memory + end).rows] == ["failed"]
    assert [read.check for read in read_table(table + end + "\n" + memory).rows] == ["failed"]


def test_ports_in_both_columns_are_no_sign_of_a_missing_column_in_old_tables_alone():
    assert read_log(f"# hypercube_perf\n{third()}\n{row('none', '-1', half=MOVED.replace('0e+00', '0'))}").rows
    with pytest.raises(LogError, match="column"):
        read_log(f"{third()}\n{row('none', '-1', half=MOVED.replace('0e+00', '0'))}")
    far = "  %7s  %6.2f  %6.2f  %5s" % ("8190.2", 50.0, 50.0, "0e+00")
    with pytest.raises(LogError, match="column"):
        read_log(f"{second()}\n{row(half=far)}")


LEAD = row("sum", "-1", half="")
INFO = "node-a:71:90 [0] NCCL INFO Connected all rings"
SUMMARY = "# NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode=generated nranks=2 total_bytes=8 spread=1.0 time_usec=8.1\n"
SUMMARY += "#   rank=0 send_bytes=4 recv_bytes=4 alg_bw=1.00 bus_bw=0.50\n#   rank=1 send_bytes=4 recv_bytes=4"


@pytest.mark.parametrize(
    "text",
    [
        f"{LEAD}{INFO}\n{NEW}{NEW}",
        f"{LEAD}{NEW}{INFO}\n{NEW}",
        f"{LEAD}{INFO}\n{INFO}\n{INFO}\n{NEW}{INFO}\n{NEW}",
        f"{LEAD[:-4]}{INFO}\n-1{NEW}{NEW}",
        f"{LEAD}{SUMMARY}\n{NEW}{SUMMARY}\n{NEW}",
        f"0: {LEAD}{INFO}\n0: {NEW}{NEW}",
        f"[1,0]<stdout>:{LEAD}[1,3]<stderr>:{INFO}\n[1,0]<stdout>:{NEW}[1,0]<stdout>:{NEW}",
        f"{LEAD}\n{NEW}{NEW}",
    ],
)
def test_lines_inside_a_row_do_not_cost_it(text):
    table = read_table(f"{third()}\n{text}")
    assert [(read.S, read.time) for read in table.rows] == [(S, pytest.approx(MICRO * 1e-6))]
    assert table.unread == ()


def test_a_row_that_never_goes_on_is_counted_and_costs_no_other():
    whole = row("sum", "-1", half=NEW)
    assert read_table(f"{third()}\n{LEAD}{INFO}\n{whole}\n{NEW}{NEW}")[1] == (2,)
    far = "\n".join([INFO] * 300)
    assert read_table(f"{third()}\n{LEAD}\n{far}\n{NEW}{NEW}\n{whole}").unread == (2,)
    assert read_table(f"{third()}\n{LEAD}\n# Out of bounds values : 0 OK\n{NEW}{NEW}").unread == (2,)


@pytest.mark.parametrize("mark", ["\x1b[32m", "[rank0]:", "[default3]:", "\x1b[0m\x1b[1;31m", "[0]"])
def test_marks_stand_anywhere(mark):
    text = f"{mark}{third()}\n{mark}{LEAD}{mark}{NEW}{mark}{NEW}{mark}"
    assert read_table(text).rows[0].busbw == pytest.approx(229.43e9)

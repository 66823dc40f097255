import gzip
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.cli import commands

FILES = Path(__file__).resolve().parents[3] / "solutions" / "06-collectives" / "files"
TWO = str(FILES / "h100-two-nodes-kubernetes.txt")


def run(*words, text=None):
    return CliRunner().invoke(commands.main, ["bandwidth", *words], input=text)


def test_rows_and_causes_are_listed():
    done = run(TWO, "--on", "dgx-h100")
    assert done.exit_code == 1, done.output
    assert "16 GPUs (h100-sxm) of 2 nodes over EFA" in done.output
    assert "% of the expected bandwidth" in done.output
    assert "\n- settings: " in done.output


def test_standard_input_and_the_headers_gpu():
    devices = "#  Rank  0 Group  0 Pid  7 on  node0 device  0 [0x1b] NVIDIA A100-SXM4-80GB"
    table = (FILES / "a100-one-node.txt").read_text("utf-8")
    record = json.loads(run("--json", "--on", "a100-80gb-sxm", text=table).output)
    assert (record["chip"], record["n"], record["collective"]) == ("a100-80gb-sxm", 8, "all_reduce")
    assert len(record["rows"]) == 20
    assert record["rows"][-1]["busbw"] == pytest.approx(234.89e9)
    assert {"kind", "sentence", "sizes"} == set(record["causes"][0])
    eight = "\n".join(devices.replace("Rank  0", f"Rank  {rank}") for rank in range(8))
    assert run(text=f"{eight}\n{table}").output.startswith("all_reduce on 8 GPUs (a100-80gb-sxm) of 1 node")


@pytest.mark.parametrize("where", ["2xdgx-h100", "2x8 h100-sxm", "2 x 8 H100 SXM5", "h100-sxm"])
def test_a_machine_may_be_said_as_to_the_planner(where):
    record = json.loads(run("--json", "--on", where, TWO).output)
    assert (record["chip"], record["n"], record["hosts"]) == ("h100-sxm", 16, 2)


ROW = "1073741824 268435456 float sum -1 8190.2 131.10 229.43 0 8187.9 131.14 229.49 0"
END = "# Out of bounds values : 0 OK"


@pytest.mark.parametrize(
    ("text", "status", "verdict"),
    [
        (f"{ROW}\n{END}", 0, "ok"),
        (ROW.replace("8190.2 131.10 229.43", "6711.0 160.00 280.00"), 0, "fast"),
        (ROW.replace("8190.2 131.10 229.43", "4095.1 262.20 458.86"), 1, "unknown"),
        (ROW.replace("8190.2 131.10 229.43", "16380.4 65.55 114.71"), 1, "slow"),
        (f"{ROW[:-1]}3\n{END}", 1, "wrong"),
        (f"{ROW}\n{END.replace('0 OK', '1 FAILED')}", 1, "wrong"),
        (ROW.replace(" 0", " N/A"), 0, "ok"),
        (f"{ROW}\n{ROW[:40]}", 1, "ok"),
    ],
)
def test_the_exit_status_is_the_verdict(text, status, verdict):
    words = ("--on", "dgx-a100", "--gpus", "8")
    plain, as_json = run(*words, text=text), run(*words, "--json", text=text)
    assert (plain.exit_code, as_json.exit_code) == (status, status)
    record = json.loads(as_json.output)
    assert record["passed"] == (status == 0 or verdict == "unknown")
    assert record["rows"][-1]["verdict"] == verdict


def test_where_nothing_was_measured_no_row_is_judged():
    done, record = run("--on", "1x8 l40s", text=ROW), run("--on", "1x8 l40s", "--json", text=ROW)
    assert (done.exit_code, record.exit_code) == (1, 1)
    assert "unknown: " in done.output
    assert "\n- unmeasured: " in done.output
    read = json.loads(record.output)
    assert (read["passed"], read["judged"], read["band"], read["holds"]) == (True, False, None, "")
    assert (read["rows"][0]["verdict"], read["rows"][0]["band"]) == ("unknown", None)


def test_where_constants_hold_is_in_table_and_json():
    read = json.loads(run(TWO, "--on", "dgx-h100", "--json").output)
    assert read["holds"].startswith("h100-sxm, 16 ranks, ")
    assert read["beyond"] == []
    assert read["holds"] in run(TWO, "--on", "dgx-h100").output
    over = json.loads(run(TWO, "--on", "dgx-h200", "--json").output)
    assert over["beyond"]
    assert over["band"] > read["band"]


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["--on", "dgx-h100", "--gpus", "8", "--collective", "barrier"], ROW, "'barrier'"),
        (["--on", "dgx-h100"], f"# broadcast_perf\n{ROW}", "--gpus"),
        (["--on", "dgx-h100"], "not a table", "no row of nccl-tests"),
        (["--on", "dgx-a100"], ROW.replace("131.10", "nan"), "line 1: algbw"),
        (["--on", "dgx-a100"], ROW.replace("1073741824", "9" * 400), "line 1: size"),
        (["--on", "dgx-a100"], "0 0 float sum -1 4.1 0 0 0", "collective"),
        (["--on", "dgx-a100", "--collective", "all_reduce", "--gpus", "8"], "0 0 float none -1 4.1 0 0 0", "size"),
        ([TWO, "--on", "abacus"], None, "'abacus'"),
        ([TWO, "--on", "2x7 h100-sxm"], None, "14 is given, and the log says 16"),
        ([TWO, "--on", "1x16 trainium3"], None, "--on: .*no machine of Trainium3"),
        ([TWO, "--on", "trainium3"], None, "--on: .*no machine of Trainium3"),
        ([TWO, "--on", "4xdgx-h100"], None, "the log says 16"),
        ([TWO, "--on", "dgx-h100", "--gpus", "24"], None, "the log says 16"),
        ([TWO, "--on", "mi300x-node", "--network", "carrier pigeons"], None, "'carrier pigeons'"),
        (["--on", "mi300x-node", "--timed-by", "torch"], ROW, "mi300x"),
    ],
)
def test_errors_are_one_clear_line(words, text, said):
    done = run(*words, text=text)
    assert done.exit_code == 2
    assert re.search(said, done.output)
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        ([], f"# Rank 0 Group 0 Pid 1 on a device 0 [0x0] NVIDIA H100 64GB\n{ROW}", "'NVIDIA H100 64GB'.*--on"),
        ([TWO], None, "does not name its GPU.*--on"),
        ([], f"# broadcast_perf\n{ROW.replace('229.43', '131.10')}", "does not name its GPU.*--on"),
        ([], f"# Rank 0 on a device 0 [0x0] NVIDIA B200\n{ROW.replace('229.43', '0.00')}", "-g 8"),
    ],
)
def test_a_log_of_an_unknown_machine_is_read_and_judged_by_nothing(words, text, said):
    done, record = run(*words, text=text), json.loads(run(*words, "--json", text=text).output)
    assert done.exit_code == 1
    assert re.search(said, done.output)
    assert (record["chip"], record["judged"], record["rows"][0]["share"]) == ("", False, None)


@pytest.mark.parametrize("second", ["wrong", "ok"])
def test_several_tables_are_judged_one_by_one(second):
    other = ROW if second == "ok" else f"{ROW[:-1]}7"
    text = f"$ all_reduce_perf -g 8\n{ROW}\n{END}\n$ all_reduce_perf -g 8\n{other}\n{END}"
    done, record = run("--on", "dgx-a100", text=text), json.loads(run("--on", "dgx-a100", "--json", text=text).output)
    assert done.exit_code == (second == "wrong")
    assert done.output.startswith("2 tables: ")
    assert (record["passed"], [table["rows"][0]["verdict"] for table in record["tables"]]) == (
        second == "ok",
        ["ok", second],
    )


def test_a_file_may_be_compressed_and_must_exist(tmp_path):
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(f"{ROW}\n{END}".encode()))
    assert run(str(packed), "--on", "dgx-a100").exit_code == 0
    assert run(str(tmp_path / "none"), "--on", "dgx-a100").exit_code == 2

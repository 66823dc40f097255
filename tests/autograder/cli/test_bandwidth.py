import json
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
    assert done.exit_code == 0, done.output
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


@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (["--on", "dgx-h100"], "not a table", "no row of nccl-tests"),
        ([TWO], None, "does not name its GPU"),
        ([TWO, "--on", "abacus"], None, "'abacus'"),
        ([TWO, "--on", "4xdgx-h100"], None, "the log says 16"),
        ([TWO, "--on", "dgx-h100", "--gpus", "24"], None, "the log says 16"),
        ([TWO, "--on", "mi300x-node"], None, "fitted for mi300x"),
    ],
)
def test_errors_are_one_clear_line(words, text, said):
    done = run(*words, text=text)
    assert done.exit_code == 2
    assert said in done.output
    assert len(done.output.strip().splitlines()) == 1

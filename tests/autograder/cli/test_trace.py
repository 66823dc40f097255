"""`gpubook trace`: files in any packing, folders and standard input, exit status, JSON and the page."""

import bz2
import gzip
import json
import lzma

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from hwlib.traces import draw_traces

LOOSE = ("--exposed", "1", "--straggler", "1")


def run(*words, data=None):
    return CliRunner().invoke(commands.main, ["trace", *map(str, words)], input=data)


@pytest.fixture
def folder(tmp_path):
    for rank, trace in enumerate(draw_traces("data stall", 2, layers=1)):
        (tmp_path / f"rank{rank}.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode()))
    (tmp_path / "notes.txt").write_text("of the night", "utf-8")
    (tmp_path / ".hidden").write_text("x", "utf-8")
    return tmp_path


def test_a_folder_of_compressed_traces_names_the_straggler(folder):
    done = run(folder)
    assert done.exit_code == 1, done.output
    assert "8 ranks" in done.output
    assert "for rank 2: its batches come" in done.output
    assert "Skipped" in done.output
    record = json.loads(run("--json", folder).output)
    assert [rank["rank"] for rank in record["ranks"]] == list("01234567")
    assert "straggler" in {finding["kind"] for finding in record["findings"]}
    assert len(record["skipped"]) == 1


def test_the_exit_status_is_the_verdict(folder):
    assert run(folder / "rank0.pt.trace.json.gz", *LOOSE).exit_code == 0
    assert run(folder / "rank0.pt.trace.json.gz", "--exposed", "0.01").exit_code == 1
    cut = gzip.decompress((folder / "rank0.pt.trace.json.gz").read_bytes())[:4000]
    assert run("-", *LOOSE, data=cut).exit_code == 1
    for words in (
        ("-",),
        (folder / "notes.txt",),
        (folder / "absent",),
        (folder / "rank0.pt.trace.json.gz",) * 2 + ("-",),
    ):
        done = run(*words, data="not a trace")
        assert (done.exit_code, done.output.count("\n")) == (2, 1)
    empty = folder / "empty"
    empty.mkdir()
    assert run(empty).exit_code == 2


@pytest.mark.parametrize(
    "pack",
    [bytes, gzip.compress, bz2.compress, lzma.compress, lambda data: gzip.compress(data[:9]) + gzip.compress(data[9:])],
)
def test_a_file_is_unpacked_by_its_contents(pack, tmp_path):
    path = tmp_path / "trace.txt"
    path.write_bytes(pack(json.dumps(draw_traces(layers=1)[0]).encode()))
    assert run(path, *LOOSE).exit_code == 0


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lambda data: lzma.compress(data, preset=0)])
def test_what_is_cut_inside_its_compression_is_read_as_far_as_it_goes(pack, tmp_path):
    path = tmp_path / "trace.gz"
    row = '{{"ph": "X", "cat": "kernel", "name": "gemm", "ts": {}, "dur": 9.5}}'
    data = pack(f"[{','.join(row.format(10 * i) for i in range(30_000))}]".encode())
    path.write_bytes(data[: len(data) * 3 // 4])
    done = run(path, *LOOSE)
    assert done.exit_code == 1
    assert "\n- cut: " in done.output
    path.write_bytes(data[:-20] + b"damaged" + data[-13:])
    assert run(path, *LOOSE).exit_code in (0, 1)


def test_a_file_that_unpacks_to_much_is_read_in_pieces(tmp_path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * 20_000_000 + b"x"))
    done = run(path)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)


def test_the_page_asks_nobody_and_escapes_names(folder, tmp_path):
    trace = draw_traces(layers=1)[0]
    for event in trace["traceEvents"]:
        event["name"] = event["name"].replace("sm90", "<script>alert(1)</script>")
    path, page = tmp_path / "t.json", tmp_path / "page.html"
    path.write_text(json.dumps(trace), "utf-8")
    assert run(path, "--html", page, *LOOSE).exit_code == 0
    text = page.read_text("utf-8")
    assert "&lt;script&gt;" in text
    for outside in ("<script", "http:", "https:", "url(", "@import"):
        assert outside not in text
    assert run(path, "--html", tmp_path / "absent" / "page.html", *LOOSE).exit_code == 2

"""The independent sum over a trace, by hand, and the comparison with what `gpubook trace` reads."""

import json
from decimal import Decimal

from click.testing import CliRunner

from benchmarks.score.profiler_traces import independent_times, main
from benchmarks.speed.traces import RANKS, rank_events, write_job


def kernel(ts, dur, name="gemm", cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": {"device": 0}}


ROWS = [kernel(0, 10), kernel(5, 20, "ncclDevKernel_X"), kernel(24, 4, "Memcpy", "gpu_memcpy"), kernel(30, 10)]


def test_the_independent_sum_by_hand():
    expected = {"span": 40, "compute": 20, "communication": 20, "exposed": 15, "copies": 3, "idle": 2}
    assert independent_times({"traceEvents": ROWS}) == {name: Decimal(time) for name, time in expected.items()}
    assert independent_times({"traceEvents": [*ROWS, kernel(0, 1) | {"args": {"device": 1}}]}) is None
    assert independent_times([]) is None


def test_a_folder_is_compared_and_a_difference_is_a_failure(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text(json.dumps({"traceEvents": ROWS}), "utf-8")
    (tmp_path / "b.json").write_text(json.dumps([1]), "utf-8")
    done = CliRunner().invoke(main, [str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "2 files: 1 compared, at most " in done.output
    assert " 1 refused" in done.output
    monkeypatch.setattr("benchmarks.score.profiler_traces.LIMIT", -1)
    assert CliRunner().invoke(main, [str(tmp_path)]).exit_code == 1


def test_the_job_whose_reading_is_timed_is_read(tmp_path):
    assert write_job(tmp_path, 900) > 100_000
    assert len(list(rank_events(0, 90))) == 90
    done = CliRunner().invoke(main, [str(tmp_path)])
    assert f"{RANKS} files: {RANKS} compared" in done.output

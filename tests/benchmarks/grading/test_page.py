import json

from click.testing import CliRunner

from benchmarks.grading import page as grading_page

SIDE = {
    "size": 50,
    "seconds": {"ours": [10.0, 5.0, 20.0], "stock": [200.0, 100.0, 300.0]},
    "cpu": {"ours": [15.0, 15.0, 15.0], "stock": [float("nan")] * 3},
    "ratios": {"throughput": [20.0, 20.0, 15.0], "processor time": [float("nan")] * 3},
    "loads": [0.5, 2.0],
}
FIGURES = {
    "machine": {"date": "2026-11-21T15:00+00:00", "cores": 2, "processor": "Xeon", "load": 1.0},
    "no-lab": SIDE | {"cpu": {"ours": [15.0] * 3, "stock": [150.0] * 3}},
    "run-ranks": SIDE | {"cpu": {"ours": [float("nan")] * 3, "stock": [1.0] * 3}},
    "faults": {"loop": {s: {"over": [0.9], "points": 11, "of": 12, "left": 0} for s in ("ours", "stock")}},
    "memory": {f"lab 1 {s}": {"peak": 5e8, "seconds": 1.0} for s in ("ours", "stock")},
    "check": {"Count": {"first": [0.02], "later": [0.01, 0.012, 0.014]}},
    "otter": {"skipped": "no network"},
}
LARGE = {
    "scale": {"1000": {"seconds": 150.0, "cpu": 290.0, "load": 0.1}},
    "kills": {"size": 1000, "at_once": 150.0, "seconds": 200.0, "finished": [9] * 10, "left": 0, "rows": 9, "files": 8},
}


def test_the_tables_are_written_between_the_marks_and_nothing_else_changes(tmp_path, monkeypatch):
    page = tmp_path / "grading.md"
    page.write_text(f"before\n\n{grading_page.BEGIN}\n\nold\n\n{grading_page.END}\n\nafter\n")
    monkeypatch.setattr(grading_page, "PAGE", page)
    paths = []
    for name, figures in (("figures", FIGURES), ("large", LARGE)):
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(figures))
    done = CliRunner().invoke(grading_page.main, list(map(str, paths)))
    assert done.exit_code == 0, (done.output, done.exception)
    text = page.read_text()
    assert text.startswith(f"before\n\n{grading_page.BEGIN}\n\nMeasured on 2026-11-21")
    assert text.endswith(f"{grading_page.END}\n\nafter\n")
    assert "old" not in text
    assert "| (a) no lab | 0.1 / 0.2 / 0.4 | 2 / 4 / 6 | 15 / 20 / 20 |" in text
    assert "(a) no lab, processor time" in text
    assert "| (c) the same lab by `run_ranks` on both sides, processor time" not in text  # not measured
    assert "| loop | 0.9 | 0.9 | 11 of 12 | 11 of 12 | 0 | 0 |" in text
    assert "| a count | 20 | 10 / 12 / 14 |" in text
    assert "| lab, 1 submission | 500 | 500 |" in text
    assert "| 1,000 | 150.0 | 0.150 | 0.290 |" in text
    assert "of 1,000 submissions finished, and resumed" in text
    page.write_text("no marks")
    done = CliRunner().invoke(grading_page.main, [str(paths[0])])
    assert "were expected" in done.output

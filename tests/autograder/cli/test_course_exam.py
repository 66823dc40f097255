"""`gpubook course exam` says what an exam lacks."""

import pytest
from click.testing import CliRunner

from autograder.cli import commands
from autograder.course import layout
from autograder.course.assigning import assign_and_drop


@pytest.mark.parametrize(("url", "notes"), [("", 1), ("https://gpu101.example.org/check/", 0)])
def test_an_exam_without_a_service_is_told_so(tmp_path, monkeypatch, url, notes):
    layout.init(tmp_path / "c")
    with open(tmp_path / "c" / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CheckService.url = {url!r}\n")
    monkeypatch.setattr(assign_and_drop, "make_exam", lambda *_: None)
    result = CliRunner().invoke(commands.main, ["course", "exam", str(tmp_path / "c"), "hw", "--minutes", "60"])
    assert result.exit_code == 0, result.output
    assert "hw is an exam of 60 minutes" in result.output
    assert result.output.count("c.CheckService.url") == notes

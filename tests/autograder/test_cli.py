import pytest
from click.testing import CliRunner

from autograder import cli


@pytest.mark.parametrize("command", [["course", "assign"], ["grade"]])
@pytest.mark.parametrize("name", ["..", ".", "", "../x", "a/b", "/x", "a\\b", ".hidden", "week3."])
def test_an_assignments_name_is_never_a_path(tmp_path, monkeypatch, command, name):
    from autograder import course

    def reached(*_args, **_more):
        raise AssertionError("a path got through")

    monkeypatch.setattr(course, "assign", reached)
    monkeypatch.setattr(course, "grade", reached)
    more = ["--chapter", "03-rooflines"] if command[0] == "course" else []
    result = CliRunner().invoke(cli.main, [*command, str(tmp_path), name, *more])
    assert result.exit_code == 2
    assert "names no assignment" in result.output


@pytest.mark.parametrize("name", ["week3", "03-rooflines", "Week 3", "hw_1.2"])
def test_ordinary_names_pass(name):
    assert cli.assignment_name(None, None, name) == name

"""A file is written whole or stays as it was."""

import os
import stat

import pytest

from autograder.values.atomic_write import write_whole


@pytest.mark.parametrize(("mode", "expected"), [((), 0o600), ((0o644,), 0o644), ((0o400,), 0o400)])
def test_a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it(tmp_path, mode, expected):
    path = tmp_path / "marks.json"
    path.write_text("old and longer")
    write_whole(path, "für", *mode)
    assert path.read_bytes() == "für".encode()
    assert stat.S_IMODE(path.stat().st_mode) == expected
    assert os.listdir(tmp_path) == ["marks.json"]


def test_what_an_interrupted_write_left_is_replaced(tmp_path):
    (tmp_path / ".a.new").write_text("half of a text that is longer")
    write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"


def test_a_folder_in_the_way_is_removed_and_a_link_to_one_is_not_followed(tmp_path):
    (tmp_path / ".a.new" / "inner").mkdir(parents=True)
    write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"
    other = tmp_path / "other"
    other.mkdir()
    (other / "file").write_text("kept")
    (tmp_path / ".b.new").symlink_to(other)
    with pytest.raises(OSError, match="symbolic link"):
        write_whole(tmp_path / "b", "new")
    assert (other / "file").read_text() == "kept"


def test_after_a_failure_the_old_text_stays_and_the_error_is_raised(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]

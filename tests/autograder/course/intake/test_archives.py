"""An archive of submissions is hostile: a member is a plain file with a plain name, or it is refused, alone."""

import os
import struct
import zipfile

import pytest

from autograder.book.course_error import CourseError
from autograder.course.intake import archives
from autograder.grading.restore import MAX_BYTES
from tests.autograder.course.downloads import packed


def contents(source):
    with archives.opened(source) as found:
        return [member.name for member in found.members], found.refused


@pytest.mark.parametrize(
    "name", ["../x.ipynb", "a/../../x.ipynb", "/etc/x.ipynb", "a//x.ipynb", "C:\\x.ipynb", "a\\..\\x.ipynb",
             "\\x.ipynb", "a/b\\x.ipynb",
             "C:/x.ipynb", "a/./x.ipynb", "a\x1b[2Jb.ipynb", "a/" * 30 + "x.ipynb", "a" * 300]
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_refused_alone(tmp_path, name):
    names, refused = contents(packed(tmp_path / "a.zip", {name: "x", "good.ipynb": "y"}))
    assert names == ["good.ipynb"]
    assert len(refused) == 1
    assert refused[0].isprintable()


@pytest.mark.parametrize(
    "name", ["ab:c.ipynb", "a/C:x.ipynb", "a..b.ipynb", ".ipynb", "a/" * 9 + "x.ipynb", "a b.ipynb"]
)
def test_a_name_that_stays_inside_is_taken(tmp_path, name):
    assert contents(packed(tmp_path / "a.zip", {name: "x"})) == ([name], [])


def test_a_name_is_as_long_and_as_deep_as_may_be(tmp_path):
    for parts in (["a" * archives.MAX_NAME], ["a"] * archives.MAX_DEPTH):
        name = "/".join(parts)
        assert contents(packed(tmp_path / "a.zip", {name: "x"})) == ([name], [])
        longer = name + "a" if len(parts) == 1 else name + "/a"
        assert contents(packed(tmp_path / "a.zip", {longer: "x"}))[0] == []


def special(name, mode):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def test_links_pipes_and_devices_are_refused(tmp_path):
    members = [
        (special("link.ipynb", 0o120777), "/etc/passwd"),
        (special("pipe", 0o010644), ""),
        (special("device", 0o020644), ""),
        (special("good.ipynb", 0o100644), "y"),
    ]
    names, refused = contents(packed(tmp_path / "a.zip", members))
    assert names == ["good.ipynb"]
    assert [line.split(";")[0] for line in refused] == ["link.ipynb: a link", "pipe: a pipe", "device: a device"]


def test_members_of_one_name_are_refused_all(tmp_path):
    names, refused = contents(packed(tmp_path / "a.zip", [("a.ipynb", "1"), ("a.ipynb", "2"), ("b.ipynb", "3")]))
    assert names == ["b.ipynb"]
    assert refused == ["a.ipynb: 2 members have this name"]


def test_an_encrypted_member_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"secret.ipynb": "1", "open.ipynb": "2"})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1  # its flags in the central directory
    path.write_bytes(data)
    names, refused = contents(path)
    assert names == ["open.ipynb"]
    assert refused[0].startswith("secret.ipynb: encrypted")


def test_a_name_in_utf8_without_the_flag_is_read_and_any_other_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"xx.ipynb": "1", "yy.ipynb": "2"})
    data = path.read_bytes().replace(b"xx.ipynb", "ü.ipynb".encode()).replace(b"yy.ipynb", b"\xff\xfe.ipynb"[:8])
    path.write_bytes(data)
    names, refused = contents(path)
    assert names == ["ü.ipynb"]
    assert len(refused) == 1
    assert refused[0].endswith("not UTF-8")


def test_a_bomb_is_not_unpacked(tmp_path):
    path = packed(tmp_path / "a.zip", {"bomb.ipynb": b"0" * (MAX_BYTES + 1), "good.ipynb": "y"})
    with archives.opened(path) as found:
        bomb, good = found.members
        with pytest.raises(archives.Refused, match=r"bomb\.ipynb: more than"):
            bomb.read()
        assert good.read() == b"y"


def test_a_lie_about_the_size_is_found(tmp_path):
    path = packed(tmp_path / "a.zip", {"lie.ipynb": b"0" * 5000})
    data = path.read_bytes()
    path.write_bytes(data.replace(struct.pack("<L", 5000), struct.pack("<L", 10)))
    with archives.opened(path) as found, pytest.raises(archives.Refused, match=r"lie\.ipynb: cannot be unpacked"):
        found.members[0].read()


def test_damage_costs_its_member_alone(tmp_path):
    path = packed(tmp_path / "a.zip", {"bad.ipynb": os.urandom(500), "good.ipynb": "y"})
    data = bytearray(path.read_bytes())
    data[100:110] = b"0123456789"
    path.write_bytes(data)
    with archives.opened(path) as found:
        with pytest.raises(archives.Refused, match=r"bad\.ipynb: cannot be unpacked"):
            found.members[0].read()
        assert found.members[1].read() == b"y"


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_zip_is_an_error(tmp_path, data):
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CourseError, match=r"a\.zip: .*zip file, or a folder"):
        contents(tmp_path / "a.zip")


def test_a_name_that_only_claims_to_be_utf8_is_an_error(tmp_path):
    path = packed(tmp_path / "a.zip", {"üü.ipynb": "1"})
    path.write_bytes(path.read_bytes().replace("üü".encode(), b"\xff\xff\xff\xff"))
    with pytest.raises(CourseError, match="UTF-8"):
        contents(path)


def test_of_a_folder_plain_files_are_read_and_no_links_followed(tmp_path):
    source = tmp_path / "folder"
    (source / "ann").mkdir(parents=True)
    (source / "ann" / "week1.ipynb").write_text("1")
    (source / "bob").symlink_to(source / "ann")
    os.mkfifo(source / "pipe.ipynb")
    os.mkdir(os.fsencode(source) + b"/\xff")
    names, refused = contents(source)
    assert names == ["ann/week1.ipynb"]
    assert len(refused) == 3
    assert all(line.isprintable() for line in refused)


def test_an_archive_of_a_large_class_is_taken_and_a_name_is_as_long_as_a_file_systems():
    assert (archives.MAX_MEMBERS, archives.MAX_TOTAL) == (20_000, 16 * 2**30)
    assert (archives.MAX_DEPTH, archives.MAX_NAME) == (20, 255)


@pytest.mark.parametrize("form", ["zip", "folder"])
@pytest.mark.parametrize(("limit", "most"), [("MAX_MEMBERS", 3), ("MAX_TOTAL", 180)])
def test_an_archive_is_as_large_as_may_be(tmp_path, monkeypatch, form, limit, most):
    members = {f"{n}.ipynb": "0" * 60 for n in range(3)}
    source = tmp_path / "folder"
    source.mkdir()
    for name, text in members.items():
        (source / name).write_text(text)
    if form == "zip":
        source = packed(tmp_path / "a.zip", members)
    monkeypatch.setattr(archives, limit, most)
    assert contents(source)[0] == list(members)
    monkeypatch.setattr(archives, limit, most - 1)
    with pytest.raises(CourseError, match="submissions of a class were expected"):
        contents(source)


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_member_is_as_large_as_a_notebook_may_be(tmp_path, monkeypatch, form):
    members = {"a.ipynb": "12345", "b.ipynb": "123456"}
    source = tmp_path / "folder"
    source.mkdir()
    for name, text in members.items():
        (source / name).write_text(text)
    if form == "zip":
        source = packed(tmp_path / "a.zip", members)
    monkeypatch.setattr(archives, "MAX_BYTES", 5)
    with archives.opened(source) as archive:
        largest, larger = archive.members
        assert largest.read() == b"12345"
        with pytest.raises(archives.Refused, match=r"b\.ipynb: more than 5 bytes"):
            larger.read()


def test_a_name_in_utf8_with_the_flag_is_read_as_it_is(tmp_path):
    assert contents(packed(tmp_path / "a.zip", {"ü/ō.ipynb": "1"})) == (["ü/ō.ipynb"], [])


def test_a_name_with_a_nul_is_refused(tmp_path):
    path = packed(tmp_path / "a.zip", {"xxYxx.ipynb": "1", "good.ipynb": "2"})
    path.write_bytes(path.read_bytes().replace(b"xxYxx", b"xx\0xx"))
    names, refused = contents(path)
    assert names == ["good.ipynb"]
    assert refused == ["xx?xx.ipynb: a name with a NUL in it"]


@pytest.mark.parametrize(("name", "taken"), [(":a.ipynb", True), ("a:.ipynb", False), ("ab:.ipynb", True)])
def test_a_drive_of_windows_is_a_letter_and_a_colon(tmp_path, name, taken):
    assert contents(packed(tmp_path / "a.zip", {name: "x"}))[0] == [name] * taken


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_followed(tmp_path):
    source = tmp_path / "folder"
    source.mkdir()
    (source / "a.ipynb").write_text("1")
    (tmp_path / "secret").write_text("secret")
    with archives.opened(source) as archive:
        (source / "a.ipynb").unlink()
        (source / "a.ipynb").symlink_to(tmp_path / "secret")
        with pytest.raises(archives.Refused, match=r"a\.ipynb: "):
            archive.members[0].read()


def test_a_folder_that_cannot_be_read_costs_its_files_alone(tmp_path, monkeypatch):
    scan = os.scandir

    def failing(folder):
        if str(folder).endswith("bad"):
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    for name in ("bad", "good"):
        (tmp_path / "folder" / name).mkdir(parents=True)
        (tmp_path / "folder" / name / "x.ipynb").write_text("1")
    monkeypatch.setattr(archives.os, "scandir", failing)
    names, refused = contents(tmp_path / "folder")
    assert names == ["good/x.ipynb"]
    assert [line.endswith("bad: Permission denied") for line in refused] == [True]


@pytest.mark.parametrize("name", ["week1\\gina\\week1.ipynb", "gina\\week1.ipynb"])
def test_separators_of_windows_are_separators(tmp_path, name):
    assert contents(packed(tmp_path / "a.zip", {name: "x"})) == ([name.replace("\\", "/")], [])


def test_one_name_in_two_spellings_is_one_name(tmp_path):
    members = {"a\\x.ipynb": "1", "a/x.ipynb": "2", "b.ipynb": "3"}
    names, refused = contents(packed(tmp_path / "a.zip", members))
    assert names == ["b.ipynb"]
    assert all("2 members" in line for line in refused)


def inner(tmp_path, members):
    return packed(tmp_path / "inner.zip", members).read_bytes()


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_zip_that_was_handed_in_is_a_folder(tmp_path, form):
    content = inner(tmp_path, {"week1/x.ipynb": "inside", "data.csv": "1"})
    source = tmp_path / "folder"
    source.mkdir()
    (source / "ann.ZIP").write_bytes(content)
    if form == "zip":
        source = packed(tmp_path / "a.zip", {"ann.ZIP": content})
    with archives.opened(source) as archive:
        assert [member.name for member in archive.members] == ["ann.ZIP/week1/x.ipynb", "ann.ZIP/data.csv"]
        assert archive.members[0].read() == b"inside"


def test_what_a_zip_inside_hides_is_refused_alone(tmp_path):
    twice = [("a.ipynb", "1"), ("a.ipynb", "2"), ("../x.ipynb", "3"), (special("l", 0o120777), "/"), ("b.ipynb", "4")]
    names, refused = contents(packed(tmp_path / "a.zip", {"ann.zip": inner(tmp_path, twice), "good.ipynb": "y"}))
    assert names == ["ann.zip/b.ipynb", "good.ipynb"]
    assert len(refused) == 3
    assert all(line.startswith("ann.zip: ") for line in refused)


def test_a_zip_in_a_zip_in_a_zip_is_a_file(tmp_path):
    content = inner(tmp_path, {"deep.zip": inner(tmp_path, {"x.ipynb": "1"})})
    assert contents(packed(tmp_path / "a.zip", {"ann.zip": content})) == (["ann.zip/deep.zip"], [])


def test_what_is_called_zip_and_is_none_is_said(tmp_path):
    names, refused = contents(packed(tmp_path / "a.zip", {"ann.zip": b"no zip", "good.ipynb": "y"}))
    assert names == ["ann.zip", "good.ipynb"]
    assert "a zip file was expected" in refused[0]


def test_a_zip_inside_has_as_many_files_as_may_be(tmp_path, monkeypatch):
    source = packed(tmp_path / "a.zip", {"ann.zip": inner(tmp_path, {"1": "", "2": ""})})
    monkeypatch.setattr(archives, "MAX_INSIDE", 2)
    assert len(contents(source)[0]) == 2
    monkeypatch.setattr(archives, "MAX_INSIDE", 1)
    assert contents(source)[0] == ["ann.zip"]


def test_a_bomb_in_a_zip_inside_is_not_unpacked(tmp_path):
    source = packed(tmp_path / "a.zip", {"ann.zip": inner(tmp_path, {"bomb.ipynb": b"0" * (MAX_BYTES + 1)})})
    with archives.opened(source) as archive, pytest.raises(archives.Refused, match="more than"):
        archive.members[0].read()

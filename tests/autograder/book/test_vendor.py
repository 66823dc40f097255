"""What the book ships with is what docs/vendor.json pins, or it is refused."""

import base64
import hashlib
import io
import json
import tarfile

import pytest

from autograder.book.site import vendor
from autograder.book.site.vendor import VendorError


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A package of two files as npm would hand it over; counts how often it is asked for."""
    archive = tmp_path / "thing-1.0.0.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in (
            ("package/dist/thing.min.js", "x = 1"),
            ("package/fonts/a.woff", "font"),
            ("package/readme", "no"),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    asked = []

    def pack(spec, scratch):
        asked.append(spec)
        return archive

    monkeypatch.setattr(vendor, "_pack", pack)
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    record = {
        "package": "thing",
        "version": "1.0.0",
        "integrity": integrity,
        "files": {"dist/thing.min.js": "thing.min.js", "fonts/*.woff": "fonts/"},
    }

    def lock(**changes):
        (tmp_path / "vendor.json").write_text(json.dumps([record | changes]))
        return tmp_path / "vendor.json"

    return lock, tmp_path / "vendor", asked


def test_the_wanted_files_and_no_others_are_kept(packed):
    lock, folder, asked = packed
    for _ in range(2):
        vendor.fetch(lock(), folder)
    found = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
    assert found == ["thing/.fetched.json", "thing/fonts/a.woff", "thing/thing.min.js"]
    assert asked == ["thing@1.0.0"], "what is there already is not fetched again"
    vendor.fetch(lock(files={"dist/thing.min.js": "other.js"}), folder)
    assert (folder / "thing" / "other.js").is_file()
    assert not (folder / "thing" / "fonts").exists()


def test_another_content_than_pinned_is_refused(packed):
    lock, folder, _ = packed
    with pytest.raises(VendorError, match=r"thing@1.0.0 .*sha512-.*sha512-AAAA"):
        vendor.fetch(lock(integrity="sha512-AAAA"), folder)
    assert not (folder / "thing").exists()


def test_a_file_that_the_package_lacks_is_named(packed):
    lock, folder, _ = packed
    with pytest.raises(VendorError, match=r"'dist/none\.js'"):
        vendor.fetch(lock(files={"dist/none.js": "none.js"}), folder)


def test_what_only_tests_need_comes_by_name(packed):
    lock, folder, asked = packed
    vendor.fetch(lock(tests_only=True), folder)
    assert asked == []
    vendor.fetch(lock(tests_only=True), folder, ["thing"])
    assert asked == ["thing@1.0.0"]


def test_the_books_own_list_pins_every_package(root):
    for package in json.loads((root / "docs" / "vendor.json").read_text()):
        assert package["integrity"].startswith("sha512-")
        assert len(base64.b64decode(package["integrity"][7:])) == 64
        assert all(part.isdigit() for part in package["version"].split("."))
        assert package["license"]
        assert package["files"]

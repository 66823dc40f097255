"""A path or standard input, compressed or not, ends as text or in one sentence."""

import bz2
import gzip
import io
import lzma
import sys

import pytest

from autograder.cli.input_files import input_bytes, input_text
from autograder.cli.plan import CannotBe


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_files_are_unpacked_by_content(tmp_path, pack):
    path = tmp_path / "log.txt"
    path.write_bytes(pack(b"a row\n"))
    assert input_text(path) == "a row\n"


@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_by_its_mark(tmp_path, coding):
    path = tmp_path / "log.txt"
    path.write_bytes("µs\n".encode(coding))
    assert input_text(path) == "µs\n"


def test_what_is_no_utf_8_is_replaced(tmp_path):
    path = tmp_path / "log.txt"
    path.write_bytes(b"12 \xb5s\n")
    assert input_text(path) == "12 \ufffds\n"


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a row"))))
    assert input_text("-") == "a row"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_file_cut_inside_its_compression_is_named(tmp_path, pack):
    path = tmp_path / "log.gz"
    path.write_bytes(pack(bytes(range(256)) * 9)[:-9])
    with pytest.raises(CannotBe, match="cut"):
        input_bytes(path)


def test_folders_missing_files_and_large_ones_are_refused(tmp_path):
    path = tmp_path / "log.txt"
    with pytest.raises(CannotBe, match=r"log\.txt"):
        input_bytes(path)
    with pytest.raises(CannotBe):
        input_bytes(tmp_path)
    path.write_bytes(b"1234")
    assert input_bytes(path, limit=4) == b"1234"
    with pytest.raises(CannotBe, match="over 3 bytes"):
        input_bytes(path, limit=3)
    path.write_bytes(gzip.compress(bytes(10**6)))
    with pytest.raises(CannotBe, match="over 999 bytes"):
        input_bytes(path, limit=999)


def test_a_device_without_an_end_is_too_large():
    with pytest.raises(CannotBe, match="over 1,000 bytes"):
        input_bytes("/dev/zero", 1000)

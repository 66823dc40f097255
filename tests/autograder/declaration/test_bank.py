"""A chapter's exercises in one file or in a folder, a file a section."""

import os
import re
from pathlib import Path

import pytest

from autograder.declaration import DeclarationError, load_bank
from autograder.declaration.bank import declared_below, declared_in
from autograder.grading import fingerprints
from tests.autograder.small_book import FIRST, SECOND, write_folder


@pytest.fixture
def chapter(tmp_path):
    return write_folder(tmp_path / "07-links")


def test_the_files_of_a_folder_are_one_bank(chapter):
    bank = load_bank(chapter)
    assert list(bank) == ["links-time", "links-count", "links-guess", "links-half", "links-why"]
    assert bank.path == (chapter / "exercises").resolve()
    assert bank["links-time"].expected(bank["links-time"].variant()) == 2e-3
    assert {"W", "TIME", "HALF", "memory_time"} <= set(bank.namespace)
    assert list(load_bank(chapter / "exercises")) == list(bank), "as a judge loads it, from the bank's own path"


def test_what_one_file_imports_of_another_is_the_same_thing(chapter):
    bank = load_bank(chapter)
    assert bank.namespace["W"] == 50e9
    (chapter / "exercises" / "b_halves.py").write_text(SECOND.replace("import W\n", "import TIME, W\n"))
    assert list(load_bank(chapter)) == list(bank), "an exercise that is imported is declared once"


def test_names_for_the_text_alone_are_loaded_when_it_is_read(chapter):
    text = chapter / "exercises" / "text.py"
    seen = text.with_suffix(".seen")
    text.write_text(
        "from .a_times import TIME, W\n\nTWICE = 2*W\nopen(__file__.removesuffix('py') + 'seen', 'w').close()\n"
    )
    bank, newer = load_bank(chapter), load_bank(chapter)
    assert not seen.exists()
    assert bank.namespace["TWICE"] == 100e9
    assert bank.namespace["TIME"] is bank["links-time"], "of its own load, whatever was loaded since"
    assert newer.namespace["TIME"] is newer["links-time"]
    text.write_text("TWICE = 1/0\n")
    with pytest.raises(DeclarationError, match=r"text.py:1: ZeroDivisionError"):
        _ = load_bank(chapter).namespace
    text.write_text(FIRST.replace("links-", "more-"))
    with pytest.raises(DeclarationError, match=r"text.py: it declares more-time; a file of names for the text alone"):
        _ = load_bank(chapter).namespace


def test_a_changed_file_is_read_again(chapter):
    assert load_bank(chapter)["links-time"].points == 2
    path = chapter / "exercises" / "a_times.py"
    path.write_text(FIRST.replace("points=2", "points=31"))
    os.utime(path, ns=(1, 1))
    assert load_bank(chapter)["links-time"].points == 31


def test_where_an_exercise_is_declared(chapter):
    bank = load_bank(chapter)
    lines = {name: bank.where(name) for name in bank}
    assert lines["links-time"].endswith("exercises/a_times.py:10")
    for name, place in lines.items():
        file, _, line = place.rpartition(":")
        assert f'id="{name}"' in Path(file).read_text().split("\n")[int(line) - 1]
    assert bank.where("links-none") == str(bank.path)


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("b_halves.py", SECOND + "\n1/0\n", r"b_halves\.py:\d+: ZeroDivisionError"),
        ("b_halves.py", SECOND + "\n)\n", r"b_halves\.py:\d+: SyntaxError"),
        ("a_times.py", FIRST + "\n1/0\n", r"a_times\.py:\d+: ZeroDivisionError"),
        ("b_halves.py", SECOND + "\nfrom .none import x\n", r"b_halves\.py:\d+: ModuleNotFoundError.*none"),
        ("b_halves.py", SECOND + "\nGB = 1\n", r"b_halves\.py: GB .*a_times\.py"),
        ("b_halves.py", SECOND.replace("links-half", "links-time"), "'links-time' .*twice"),
        ("two-words.py", "", r"two-words\.py: .*name"),
        ("exercises.py", "", r"exercises\.py: .*name"),
    ],
    ids=["line", "syntax", "first", "import", "names", "twice", "word", "name"],
)
def test_a_folder_that_is_no_bank_says_where(chapter, file, text, says):
    (chapter / "exercises" / file).write_text(text)
    with pytest.raises(DeclarationError, match=says):
        load_bank(chapter)


def test_one_of_both_is_expected(chapter):
    (chapter / "exercises.py").write_text(FIRST)
    with pytest.raises(DeclarationError, match=r"07-links .*exercises\.py and exercises/"):
        load_bank(chapter)


def test_an_empty_folder_declares_nothing(tmp_path):
    (tmp_path / "exercises").mkdir()
    assert declared_in(tmp_path) is None
    with pytest.raises(DeclarationError, match=re.escape(str(tmp_path))):
        load_bank(tmp_path)


def test_all_banks_below_a_folder(tmp_path, chapter):
    (tmp_path / "03-one").mkdir()
    (tmp_path / "03-one" / "exercises.py").write_text(FIRST)
    (tmp_path / "04-none").mkdir()
    assert declared_below(tmp_path) == [tmp_path / "03-one" / "exercises.py", chapter / "exercises"]


def keys(chapter):
    bank = load_bank(chapter)
    return fingerprints.of_keys([bank.path], bank)


@pytest.mark.parametrize(
    ("file", "old", "new", "concerned"),
    [
        ("a_times.py", "lambda S, W: S/W", "lambda S, W: 2*S/W", {"links-time", "links-half", "links-why"}),
        ("b_halves.py", "lambda x: x/2", "lambda x: x/3", {"links-half"}),
    ],
    ids=["imported", "importing"],
)
def test_a_key_concerns_its_own_exercise_and_the_files_that_import_from_its_file(chapter, file, old, new, concerned):
    before = keys(chapter)
    path = chapter / "exercises" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(1, 1))
    after = keys(chapter)
    assert {name for name in before if before[name] != after[name]} == concerned

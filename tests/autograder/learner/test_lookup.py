import json

import pytest

from autograder.declaration import DeclarationError
from autograder.learner import lookup
from tests.autograder.learner.declared import ONE, publish


def test_the_key_is_found_beside_chapters(book):
    found = lookup.find("t-one")
    assert found.declared.id == found.public["id"] == "t-one"
    assert lookup.solutions_folders() == [book / "solutions"]


def test_there_is_no_key_under_nbgrader(book, monkeypatch):
    publish(book)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(book / "solutions"))
    found = lookup.find("t-one")
    assert found.declared is None
    assert found.public["given"] == {"n": 1}


def test_a_named_folder_goes_before_the_neighbours(book, monkeypatch, tmp_path):
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(empty))
    with pytest.raises(lookup.NotFound, match="t-one"):
        lookup.find("t-one")


@pytest.mark.parametrize("name", ["t-onee", "nothing-like-it", 3, None, ["t-one"]])
def test_an_unknown_id_says_what_there_is(book, name):
    with pytest.raises(lookup.NotFound) as raised:
        lookup.find(name)
    assert "t-one" in str(raised.value) or "solutions/" in str(raised.value) or "rooflines" in str(raised.value)


@pytest.mark.parametrize("content", ["{", "[]", '{"exercises": []}', '{"exercises": {"a": 1}}'])
def test_a_file_that_is_not_ours_is_named(book, content):
    (book / "chapters" / "01-t" / "exercises.json").write_text(content)
    with pytest.raises(DeclarationError, match=r"exercises\.json"):
        lookup.find("t-one")


def test_the_owner(book, monkeypatch):
    with pytest.raises(lookup.NotFound, match="gpubook whoami"):
        lookup.owner()
    note = book / "chapters" / "01-t" / "01-t.ipynb"
    note.write_text(json.dumps({"metadata": {"gpubook": {"learner": "ada"}}}))
    (book / "chapters" / "01-t" / "broken.ipynb").write_text("{")
    assert lookup.owner() == "ada"
    (book / "chapters" / "01-t" / "other.ipynb").write_text(json.dumps({"metadata": {"gpubook": {"learner": "bob"}}}))
    with pytest.raises(lookup.NotFound, match="ada, bob"):
        lookup.owner()
    monkeypatch.setenv("JPY_SESSION_NAME", str(note))
    assert lookup.owner() == "ada"
    monkeypatch.setenv("JUPYTERHUB_USER", "hub")
    assert lookup.owner() == "hub"
    monkeypatch.setenv("GPUBOOK_OWNER", "set")
    assert lookup.owner() == "set"


def test_a_changed_file_is_read_again(book):
    path = book / "solutions" / "01-t" / "exercises.py"
    assert lookup.find("t-one").declared.points == 1
    path.write_text(ONE.replace('id="t-one"', 'id="t-one", points=5'))
    import os

    os.utime(path, ns=(1, 1))
    assert lookup.find("t-one").declared.points == 5


@pytest.mark.parametrize("typed", ["one", "t-on"])
def test_an_id_typed_in_part_or_wrong_is_named_once(book, typed):
    publish(book)
    with pytest.raises(lookup.NotFound, match=r"\bt-one\?"):
        lookup.find(typed)

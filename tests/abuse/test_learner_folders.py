"""A learner's copy of the book as somebody else may have left it: nothing in it stops a command, or is lost."""

import json
import os

import pytest

from autograder.learner import notebook_file, study
from autograder.learner.notebook_file import UnreadableNotebook
from tests.abuse.test_long_texts import bounded

PLACES = {
    "a pipe": os.mkfifo,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a folder": os.mkdir,
    "a link to itself": lambda path: path.symlink_to(path),
}


def of_the_book(**metadata):
    cell = {"cell_type": "markdown", "id": "a", "metadata": metadata, "source": ["mine"]}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"gpubook": {"chapter": "03-t"}}, "cells": [cell]}


@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_file_in_a_notebooks_place_is_named(tmp_path, place):
    path = tmp_path / "03-t.ipynb"
    PLACES[place](path)

    def read():
        with pytest.raises(OSError, match=r"03-t\.ipynb"):
            notebook_file.bytes_of(path)

    bounded(read)


@pytest.mark.parametrize("place", PLACES)
def test_whoami_passes_over_what_is_no_file(tmp_path, place):
    PLACES[place](tmp_path / "a.ipynb")
    (tmp_path / "b.ipynb").write_text(json.dumps(of_the_book()))
    bounded(lambda: study.whoami(tmp_path, "ann"))
    assert json.loads((tmp_path / "b.ipynb").read_text())["metadata"]["gpubook"]["learner"] == "ann"


def test_a_link_to_a_notebook_is_read(tmp_path):
    (tmp_path / "b.ipynb").write_bytes(notebook_file.written(of_the_book()))
    (tmp_path / "a.ipynb").symlink_to(tmp_path / "b.ipynb")
    assert notebook_file.notebook_of(notebook_file.bytes_of(tmp_path / "a.ipynb")) == of_the_book()


def test_half_a_character_is_told_and_nothing_is_left_beside(tmp_path):
    text = json.dumps(of_the_book(half="\ud800"))
    with pytest.raises(UnreadableNotebook, match="half a character"):
        notebook_file.notebook_of(text.encode())
    (tmp_path / "a.ipynb").write_text(text)
    (tmp_path / "b.ipynb").write_text(json.dumps(of_the_book(whole="\U0001d538")))
    assert study.whoami(tmp_path, "ann") == [tmp_path / "b.ipynb"]
    assert (tmp_path / "a.ipynb").read_text() == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.ipynb", "b.ipynb"]

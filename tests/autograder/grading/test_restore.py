"""A submission, read with care: what cannot be a notebook, or is too large to be one, is named."""

import json
import os
from pathlib import Path

import pytest

from autograder.grading import restore


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"nbformat": 4, "cells": [], "metadata": {"x": [' + "{}," * 600_000 + "0]}}", "600006 values in it"),
        ('{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "%s"}]}' % ("x" * 2_000_001), "2000001 characters"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_notebook_that_would_fill_the_memory_is_not_read(tmp_path, text, said):
    (tmp_path / "n.ipynb").write_text(text)
    with pytest.raises(restore.SubmissionError, match=said):
        restore.read_notebook(tmp_path / "n.ipynb")


def test_a_mark_of_its_encoding_before_a_notebook_is_read_over(tmp_path):
    (tmp_path / "n.ipynb").write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": []}), encoding="utf-8-sig")
    assert restore.read_notebook(tmp_path / "n.ipynb").cells == []


def test_a_notebook_that_is_too_large_by_one_byte_is_told_so(tmp_path):
    with open(tmp_path / "n.ipynb", "wb") as file:
        file.truncate(restore.MAX_BYTES + 1)
    with pytest.raises(restore.SubmissionError, match=f"{restore.MAX_BYTES + 1:,} .*{restore.MAX_BYTES:,} "):
        restore.read_notebook(tmp_path / "n.ipynb")


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "n.ipynb"
    path.write_text("{}")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(restore.SubmissionError, match=os.strerror(13)):
        restore.read_notebook(path)

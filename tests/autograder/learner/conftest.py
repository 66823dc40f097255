"""A book in small, and the notebook's folder current."""

import pytest

from tests.autograder.learner.declared import ONE, SEVERAL


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A checkout in small: solutions/ and chapters/ side by side, and the notebook's folder current."""
    for name in (
        "GPUBOOK_SOLUTIONS",
        "GPUBOOK_EXERCISES",
        "GPUBOOK_OWNER",
        "JUPYTERHUB_USER",
        "JPY_SESSION_NAME",
        "NBGRADER_EXECUTION",
    ):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "solutions" / "01-t").mkdir(parents=True)
    (tmp_path / "solutions" / "01-t" / "exercises.py").write_text(ONE)
    (tmp_path / "chapters" / "01-t").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "chapters" / "01-t")
    return tmp_path


@pytest.fixture
def open_book(book):
    (book / "solutions" / "01-t" / "exercises.py").write_text(SEVERAL)
    return book

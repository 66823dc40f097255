"""What `gpubook start` writes is trusted by JupyterLab where what was there before was."""

import pytest

from autograder.learner import trust
from autograder.learner.notebook_file import written
from tests.autograder.learner.test_notebook_merge import notebook, plain

OUTPUT = {"output_type": "display_data", "data": {"text/html": ["<p>\n", "</p>"]}, "metadata": {}}


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """Whether a server of JupyterLab trusts the notebook at a path."""
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()

    def asked(path):
        import nbformat
        from nbformat.sign import NotebookNotary

        with NotebookNotary() as notary:
            return notary.check_signature(nbformat.read(path, as_version=4))

    return asked


def ran(source):
    return notebook({**plain(source), "outputs": [OUTPUT], "execution_count": 1})


def test_a_new_one_one_without_outputs_and_a_trusted_one_are_trusted_and_no_other(tmp_path, trusted):
    path = tmp_path / "a.ipynb"
    path.write_bytes(written(ran("a")))
    assert not trusted(path)
    trust.keep({path: written(ran("before"))})
    assert not trusted(path)
    trust.keep({path: written(notebook(plain("a")))})
    assert trusted(path)
    before = path.read_bytes()
    path.write_bytes(written(ran("b")))
    assert not trusted(path)
    trust.keep({path: before})
    assert trusted(path)
    for source, nothing in (("c", None), ("d", b"no JSON")):
        path.write_bytes(written(ran(source)))
        trust.keep({path: nothing, tmp_path / "data.json": None})
        assert trusted(path)


def test_nothing_is_loaded_where_no_notebook_was_written(tmp_path, monkeypatch):
    import nbformat.sign

    monkeypatch.delattr(nbformat.sign, "NotebookNotary")
    trust.keep({tmp_path / "data.csv": b""})

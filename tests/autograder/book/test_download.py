"""A notebook from a page begins with what to install, and is otherwise the chapter's."""

import nbformat
import pytest

from autograder.book.site.notebook_download import ID, add_instructions
from autograder.book.source.chapters import chapter_names


@pytest.mark.parametrize("name", ["03-rooflines", "18-measuring"])
def test_the_first_cell_says_what_to_install_and_the_rest_is_the_same(tmp_path, root, name):
    path = tmp_path / f"{name}.ipynb"
    path.write_bytes((root / "chapters" / name / f"{name}.ipynb").read_bytes())
    before = nbformat.read(path, as_version=4)
    add_instructions(path)
    after = nbformat.read(path, as_version=4)
    nbformat.validate(after)
    assert after.cells[0].id == ID
    assert after.cells[0].cell_type == "markdown"
    for told in ("pip install gpubook", 'pip install "gpubook[labs]"', "gpubook lab", path.name):
        assert told in after.cells[0].source
    assert after.cells[1:] == before.cells
    assert after.metadata == before.metadata


def test_no_chapter_has_a_cell_of_that_id(root):
    for name in chapter_names(root):
        notebook = nbformat.read(root / "chapters" / name / f"{name}.ipynb", as_version=4)
        assert ID not in [cell.id for cell in notebook.cells], name

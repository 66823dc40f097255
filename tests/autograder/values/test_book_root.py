import pytest

from autograder.values import book_root as module
from autograder.values.book_root import book_root


def test_the_book_is_where_its_folders_are():
    root = book_root()
    assert (root / "solutions" / "03-rooflines" / "exercises.py").is_file()
    assert (root / "chapters" / "03-rooflines" / "exercises.json").is_file()
    assert (root / "docs" / "references.bib").is_file()


@pytest.mark.parametrize(
    ("folders", "root"),
    [
        (("solutions", "docs"), "."),
        (("autograder/_book/solutions", "autograder/_book/docs"), "autograder/_book"),
        (("solutions", "autograder/_book/docs"), None),
        ((), None),
    ],
)
def test_the_book_is_in_a_checkout_or_in_the_package_and_whole(tmp_path, monkeypatch, folders, root):
    (tmp_path / "autograder" / "values").mkdir(parents=True)
    for name in folders:
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "autograder" / "values" / "book_root.py"))
    if root is not None:
        assert book_root.__wrapped__() == (tmp_path / root).resolve()
        return
    with pytest.raises(FileNotFoundError, match="reinstall gpubook"):
        book_root.__wrapped__()

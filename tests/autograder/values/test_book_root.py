from autograder.values.book_root import book_root


def test_the_book_is_where_its_folders_are():
    root = book_root()
    assert (root / "solutions" / "03-rooflines" / "exercises.py").is_file()
    assert (root / "chapters" / "03-rooflines" / "exercises.json").is_file()
    assert (root / "docs" / "references.bib").is_file()

"""The page of licences: all that ships, with its text."""

import json

import pytest

from autograder.book.site import licences, vendor
from tests.conftest import ROOT


@pytest.fixture
def docs(tmp_path):
    """A book that ships one script and one Python package."""
    docs, scripts = tmp_path / "docs", tmp_path / "vendor"
    docs.mkdir()
    script = {"package": "@some/charts", "version": "1.2", "license": "MIT", "files": {}}
    tests_only = {"package": "probe", "version": "3", "license": "MIT", "files": {}, "tests_only": True}
    (docs / "vendor.json").write_text(json.dumps([script, tests_only]))
    (docs / "licences.toml").write_text(
        '[[python]]\nname = "jinja2"\nuse = "pages"\nlicense = "BSD-3-Clause"\n[use]\n"@some/charts" = "charts"\n'
    )
    (scripts / "@some" / "charts").mkdir(parents=True)
    (scripts / "@some" / "charts" / "LICENSE").write_text("Do what you like.")
    return docs


def test_every_package_stands_with_its_version_and_its_text(docs, tmp_path):
    pages = tmp_path / "pages"
    licences.lay_out(docs, tmp_path / "vendor", pages)
    text = (pages / "licences.md").read_text()
    assert '| @some/charts | 1.2 | <a href="_static/licences/charts.txt">MIT</a> | charts |' in text
    assert "probe" not in text
    assert (pages / "_static" / "licences" / "charts.txt").read_text() == "Do what you like."
    assert "Redistribution" in (pages / "_static" / "licences" / "jinja2.txt").read_text()


def test_a_package_without_its_licence_is_not_shipped(docs, tmp_path):
    (tmp_path / "vendor" / "@some" / "charts" / "LICENSE").unlink()
    with pytest.raises(licences.LicenceError, match="@some/charts"):
        list(licences.shipped(docs, tmp_path / "vendor"))
    (docs / "vendor.json").write_text("[]")
    (docs / "licences.toml").write_text('[[python]]\nname = "sphinx-book-theme"\n')
    with pytest.raises(licences.LicenceError, match="sphinx-book-theme"):
        list(licences.shipped(docs, tmp_path / "vendor"))


def test_the_book_says_what_each_of_its_packages_is_for():
    scripts = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor")
    made = list(licences.shipped(ROOT / "docs", scripts))
    assert [one.name for one in made if not one.use] == []
    assert [one.name for one in made if len(one.text) < 400] == []

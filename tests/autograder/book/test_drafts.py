"""A draft is built and tested, and is in nothing that is released."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from autograder.book.site import html
from autograder.book.source import chapters
from autograder.book.source.drafts import DraftError, drafts, is_draft
from autograder.book.source.notebook import ChapterError
from tests.autograder.small_book import EXERCISES, SOURCE, lay_out

DRAFT = SOURCE.replace("---\n\n# Links", "draft: true\n---\n\n# Links", 1)


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("---\ndraft: true\n---\n", True),
        ("---\ntitle: x\ndraft:  true \n---\n# A\n", True),
        ("---\ndraft: false\n---\n", False),
        ("---\ntitle: x\n---\ndraft: true\n", False),
        ("draft: true\n", False),
        ("---\nnested:\n  draft: true\n---\n", False),
        ("", False),
    ],
)
def test_the_head_alone_says_so(tmp_path, head, found):
    path = tmp_path / "a.md"
    path.write_text(head)
    assert is_draft(path) is found


@pytest.mark.parametrize("said", ["yes", "True", "", "1"])
def test_what_is_neither_is_named_with_its_line(tmp_path, said):
    path = tmp_path / "a.md"
    path.write_text(f"---\ntitle: x\ndraft: {said}\n---\n")
    with pytest.raises(DraftError, match=rf"a\.md:3: draft is {said or 'empty'}; true or false"):
        is_draft(path)


def test_a_draft_is_built_and_not_released(tmp_path, root):
    book = lay_out(tmp_path, root, DRAFT)
    assert chapters.build(book) == []
    assert not (book / "chapters").exists()
    assert (book / ".build" / "release" / "07-links" / "07-links.ipynb").is_file()
    assert chapters.chapter_names(book) == []
    assert chapters.chapter_names(book, with_drafts=True) == drafts(book / "solutions") == ["07-links"]


def test_a_chapter_that_becomes_a_draft_leaves(tmp_path, root):
    book = lay_out(tmp_path, root)
    chapters.build(book)
    (book / "solutions" / "07-links" / "07-links.md").write_text(DRAFT)
    checked = chapters.build(book, check=True)
    assert [line.partition(": ")[0] for line in checked] == ["chapters/07-links"]
    assert "draft" in checked[0]
    assert (book / "chapters" / "07-links").is_dir()
    (removed,) = chapters.build(book, ["07-links"])
    assert removed.startswith("chapters/07-links: removed: ")
    assert "draft" in removed
    assert not (book / "chapters" / "07-links").exists()


@pytest.mark.parametrize(
    ("source", "exercises", "says"),
    [
        (DRAFT.replace("{n}`2`", "{n}`2/0`"), EXERCISES, "ZeroDivisionError"),
        (DRAFT, EXERCISES.replace("lambda x: x/2", "lambda x: x/0"), "links-half: "),
    ],
    ids=["text", "exercise"],
)
def test_what_is_wrong_with_a_draft_shows(tmp_path, root, source, exercises, says):
    with pytest.raises(ChapterError, match=says):
        chapters.build(lay_out(tmp_path, root, source, exercises))


def test_the_page_of_a_draft_is_for_those_who_ask(tmp_path, root, monkeypatch):
    book = lay_out(tmp_path, root, DRAFT)
    seen = []
    for part in ("front", "machine_readable", "search", "in_page", "script_data"):
        monkeypatch.setattr(
            html, part, SimpleNamespace(**dict.fromkeys(("Front", "write", "build"), lambda *a, **k: None))
        )
    monkeypatch.setattr(html, "_finish", lambda pages, vendored: None)
    monkeypatch.setattr(html, "_lay_out", lambda root, work, pages: (pages / "extra").mkdir(parents=True))
    monkeypatch.setattr(html.sphinx_site, "write_site", lambda source, kept, out: out.mkdir())
    monkeypatch.setattr(html.chapters, "load", lambda root, name: seen.append(name) or 1 / 0)
    html.build(book, book / "out")
    assert seen == []
    with pytest.raises(ZeroDivisionError):
        html.build(book, book / "more", with_drafts=True)
    assert seen == ["07-links"]


def test_the_wheel_leaves_drafts_out(tmp_path, root, monkeypatch):
    for name, head in (("01-done", ""), ("02-draft", "---\ndraft: true\n---\n")):
        (tmp_path / "solutions" / name).mkdir(parents=True)
        (tmp_path / "solutions" / name / f"{name}.md").write_text(head)
        archive = tmp_path / ".build" / "shown" / f"{name}-{'0' * 20}.json.gz"
        archive.parent.mkdir(parents=True, exist_ok=True)
        archive.touch()
    (tmp_path / "chapters" / "01-done").mkdir(parents=True)
    reader = Path("autograder", "book", "source", "drafts.py")
    (tmp_path / reader).parent.mkdir(parents=True)
    (tmp_path / reader).write_bytes((root / reader).read_bytes())
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = object  # the build has it; an environment to work in has not
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location("hatch_build", root / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    done = ["autograder/_book/solutions/01-done", f"autograder/_book/shown/01-done-{'0' * 20}.json.gz"]
    for version, taken in (("standard", done), ("editable", [])):
        data = {"force_include": {}}
        module.ReleasedSolutions.initialize(SimpleNamespace(root=str(tmp_path)), version, data)
        assert list(data["force_include"].values()) == taken

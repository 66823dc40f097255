"""A source that is software says of which release, commit or month it is."""

import pytest

from autograder.book.rules.software_versions import has_a_version, is_software, software_has_a_version
from tests.conftest import ROOT

ENTRY = "@misc{tool,\n  title = {Tool},\n  howpublished = {%s},\n  url = {https://github.com/a/tool}\n}\n"


def test_every_software_of_the_book_has_one():
    assert list(software_has_a_version(ROOT / "docs" / "references.bib")) == []


@pytest.mark.parametrize(
    ("fields", "software"),
    [
        ({"url": "https://github.com/a/tool"}, True),
        ({"url": "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"}, True),
        ({"howpublished": "Source code"}, True),
        ({"url": "https://github.com/a/tool/issues/12"}, False),  # a thread has its own date
        ({"url": "https://docs.nvidia.com/dgx/dgxh100-user-guide/"}, False),  # the guide of a machine
        ({"url": "https://arxiv.org/abs/2104.04473", "howpublished": "Online"}, False),
    ],
)
def test_what_is_software(fields, software):
    assert is_software(fields) is software


@pytest.mark.parametrize(
    ("fields", "dated"),
    [
        ({"howpublished": "Source code, commit 5d3ab08"}, True),
        ({"howpublished": "Online, read in August 2026"}, True),
        ({"title": "NCCL 2.28: user guide"}, True),
        ({"howpublished": "Documentation of release 3"}, True),
        ({"url": "https://docs.vllm.ai/en/v0.30.0/features/"}, True),
        ({"howpublished": "Online", "year": "2026"}, False),
        ({"howpublished": "May be read online, commit this"}, False),
        ({"title": "Llama 3 on H100"}, False),
    ],
)
def test_what_says_a_version(fields, dated):
    assert has_a_version(fields) is dated


@pytest.mark.parametrize(("how", "lines"), [("Online", 1), ("Online, read in May 2026", 0)])
def test_an_entry_without_one_is_named_with_its_line(tmp_path, how, lines):
    path = tmp_path / "docs" / "references.bib"
    path.parent.mkdir()
    path.write_text("% Sources\n\n" + ENTRY % how)
    found = list(software_has_a_version(path))
    assert [line.split(" is software")[0] for line in found] == ["docs/references.bib:3: tool"] * lines


def test_a_book_without_sources_has_none_without_a_version(tmp_path):
    assert list(software_has_a_version(tmp_path / "references.bib")) == []

"""The modules and commands of the benchmarks that texts and code name are there."""

import re

import pytest

PLACES = (
    "*.md",
    "Makefile",
    "docs/**/*.md",
    "solutions/*/*.md",
    "benchmarks/**/*.py",
    "hwlib/**/*.py",
    "hwlib/**/*.toml",
)
COMMAND = re.compile(r"python -m (benchmarks(?:\.\w+)+)")
MODULE = re.compile(r"`(benchmarks(?:\.\w+)+)")
FILE = re.compile(r"(?<![\w/.-])(benchmarks(?:/\w+)+)\.py")


@pytest.fixture(scope="module")
def texts(root):
    """The text of each file that may name them; the history may name what is no more."""
    files = {path for place in PLACES for path in root.glob(place)} - {root / "CHANGELOG.md"}
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(files)}


def command_of(root, module):
    """The file that `python -m` runs."""
    at = root.joinpath(*module.split("."))
    return at / "__main__.py" if at.is_dir() else at.with_suffix(".py")


def runs(path):
    return path.is_file() and '\nif __name__ == "__main__":\n' in path.read_text("utf-8")


def is_known(root, name):
    """Whether a dotted name is a module or a package, or something that one of these says."""
    at = root.joinpath(*name.split("."))
    if at.is_dir() or at.with_suffix(".py").is_file():
        return True
    home = at.parent.with_suffix(".py")
    return home.is_file() and re.search(rf"^(def |class )?{at.name}\b", home.read_text("utf-8"), re.M) is not None


def test_every_command_that_is_named_runs(root, texts):
    named = {(where, module) for where, text in texts.items() for module in COMMAND.findall(text)}
    assert len(named) > 30
    assert sorted((where, module) for where, module in named if not runs(command_of(root, module))) == []


def test_every_module_that_is_named_is_there(root, texts):
    named = {(where, module) for where, text in texts.items() for module in MODULE.findall(text)}
    assert len(named) > 10
    assert sorted((where, module) for where, module in named if not is_known(root, module)) == []


def test_every_file_that_is_named_is_there(root, texts):
    named = {(where, file) for where, text in texts.items() for file in FILE.findall(text)}
    assert len(named) > 10
    assert sorted((where, file) for where, file in named if not (root / f"{file}.py").is_file()) == []


def test_what_is_not_there_is_noticed(root):
    assert runs(command_of(root, "benchmarks.fit"))
    assert not runs(command_of(root, "benchmarks.score"))
    assert not runs(command_of(root, "benchmarks.paths"))
    assert not runs(command_of(root, "benchmarks.nothing"))
    assert is_known(root, "benchmarks.paths.DATA")
    assert not is_known(root, "benchmarks.paths.DAT")
    assert not is_known(root, "benchmarks.nothing.DATA")

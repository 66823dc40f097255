"""A kept result is made anew when something changes that its run has imported or read, and only then."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import imported, kept
from tests.clean_process import CleanProcess
from tests.test_layers import ROOMS

FILES = {
    "hwlib/__init__.py": "",
    "hwlib/units.py": "GB = 1e9",
    "hwlib/network.py": "",
    "hwlib/specs/__init__.py": "",
    "hwlib/specs/reader.py": "",
    "hwlib/specs/chips.toml": "[h100]",
    "hwlib/plots/__init__.py": "",
    "hwlib/plots/style.css": "",
    "autograder/__init__.py": "",
    "autograder/learner/__init__.py": "",
    "autograder/learner/card.py": "",
    "autograder/learner/templates/card.html.j2": "<p>",
    "autograder/course/__init__.py": "",
    "autograder/course/export.py": "",
    "chapters/01-a/01-a.ipynb": "{}",
    "tests/__init__.py": "",
}
IMPORTED = ("hwlib.units", "hwlib.specs.reader", "autograder.learner.card")


class Checkout:
    """A small one, where a run is kept that imports IMPORTED."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch):
        self.root, self.patch = root, patch
        for name, text in FILES.items():
            self.write(name, text)
        patch.setattr(kept, "ROOT", root)
        patch.setattr(kept, "FOLDER", root / ".build" / "tests")
        self.installed(numpy="2.0")

    def installed(self, **versions: str) -> None:
        """These packages are, from now on."""
        packages = [SimpleNamespace(name=name, version=version) for name, version in versions.items()]
        self.patch.setattr(kept, "distributions", lambda: packages)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def makes(self, modules=IMPORTED, texts=()) -> bool:
        """Whether another process of the tests makes the result anew."""
        for cached in (kept._content, kept.digest_of, kept._installed):
            cached.cache_clear()
        self.patch.setattr(kept, "_seen", set())
        made = []

        def make(folder: Path) -> tuple[str, ...]:
            made.append(folder)
            (folder / "result").touch()
            return modules

        folder = kept.kept_by_imports("run", ["chapters/01-a"], make, texts)
        assert (folder / "result").is_file()
        return bool(made)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.delenv("KEPT", raising=False)
    checkout = Checkout(tmp_path, monkeypatch)
    yield checkout
    for cached in (kept._content, kept.digest_of, kept._installed):
        cached.cache_clear()


@pytest.mark.parametrize(
    "name",
    [
        "hwlib/units.py",
        "hwlib/__init__.py",
        "hwlib/specs/__init__.py",
        "hwlib/specs/reader.py",
        "hwlib/specs/chips.toml",
        "autograder/learner/card.py",
        "autograder/learner/templates/card.html.j2",
        "chapters/01-a/01-a.ipynb",
    ],
)
def test_a_change_in_what_was_imported_or_may_be_read_counts(checkout, name):
    assert checkout.makes()
    checkout.write(name, "# changed")
    assert checkout.makes()
    assert not checkout.makes()


@pytest.mark.parametrize(
    "name",
    [
        "hwlib/network.py",
        "hwlib/plots/__init__.py",
        "hwlib/plots/style.css",
        "autograder/course/__init__.py",
        "autograder/course/export.py",
        "autograder/course/new.py",
        "hwlib/specs/__pycache__/reader.pyc",
        "docs/index.md",
        "tests/test_new.py",
    ],
)
def test_a_change_in_what_was_not_imported_costs_nothing(checkout, name):
    assert checkout.makes()
    checkout.write(name, "# changed")
    assert not checkout.makes()


@pytest.mark.parametrize(
    "name",
    [
        "hwlib/units/__init__.py",  # is found before units.py
        "hwlib/specs/reader.so",
        "hwlib/specs/optional.py",  # which a module may try to import
        "hwlib/specs/more/rows.csv",
        "autograder/learner/templates/other.html.j2",
        "numpy.py",
        "numpy/__init__.py",
    ],
)
def test_a_new_file_counts_that_may_come_in_the_way_or_be_looked_for(checkout, name):
    assert checkout.makes()
    checkout.write(name, "")
    assert checkout.makes()


@pytest.mark.parametrize("name", ["hwlib/units.py", "hwlib/specs/chips.toml", "hwlib/specs/__init__.py"])
def test_a_deleted_file_counts(checkout, name):
    assert checkout.makes()
    (checkout.root / name).unlink()
    assert checkout.makes()


def test_a_deleted_module_of_another_package_costs_nothing(checkout):
    assert checkout.makes()
    (checkout.root / "autograder/course/export.py").unlink()
    assert not checkout.makes()


@pytest.mark.parametrize("modules", [(), ("hwlib.units", "hwlib.unknown")])
@pytest.mark.parametrize("name", ["hwlib/network.py", "autograder/course/export.py", "hwlib/plots/style.css"])
def test_everything_counts_where_it_is_not_known_what_was_imported(checkout, modules, name):
    assert checkout.makes(modules)
    assert not checkout.makes(modules)
    checkout.write(name, "# changed")
    assert checkout.makes(modules)


def test_what_has_changed_during_the_run_counts(checkout):
    def makes_and_changes(folder):
        checkout.write("hwlib/units.py", "GB = 2")
        return IMPORTED

    kept.digest_of.cache_clear()
    kept._seen.clear()
    kept.kept_by_imports("run", ["chapters/01-a"], makes_and_changes)
    assert checkout.makes()


def test_a_text_counts(checkout):
    assert checkout.makes(texts=["answer = 1"])
    assert not checkout.makes(texts=["answer = 1"])
    assert checkout.makes(texts=["answer = 2"])


def test_the_versions_of_packages_and_of_python_count(checkout, monkeypatch):
    assert checkout.makes()
    assert not checkout.makes()
    checkout.installed(numpy="2.1")
    assert checkout.makes()
    checkout.installed(numpy="2.1", torch="2.13")
    assert checkout.makes()
    monkeypatch.setattr(kept.sys, "version", "3.99")
    assert checkout.makes()


def test_a_failure_and_a_rebuilding_run_make_it_anew(checkout, monkeypatch):
    assert checkout.makes()
    monkeypatch.setenv("KEPT", "rebuild")
    assert checkout.makes()
    monkeypatch.delenv("KEPT")
    assert checkout.makes()
    kept.forget()
    (suspect,) = kept.FOLDER.glob("*.suspect")
    suspect.with_suffix(".made").unlink()  # as a new run of the tests does
    assert checkout.makes()


def test_every_process_of_a_run_reports_what_it_imports(tmp_path):
    """A fork that leaves at once, and a program with another PYTHONPATH, as the grader's are."""
    report = imported.new_report(tmp_path / "report")
    imported.report_from(tmp_path, report)
    forked = "import os\nif not os.fork():\n    import hwlib.network\n    os._exit(0)\nos.wait()"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(imported.ROOT)])}
    subprocess.run([sys.executable, "-c", f"import hwlib.units\n{forked}"], env=env, cwd=tmp_path, check=True)
    found = imported.marked(report)
    assert {"hwlib", "hwlib.units", "hwlib.network"} <= found
    assert not found & {"hwlib.power", "autograder"}
    python = imported.reporting_python(tmp_path)
    other = {**env, "PYTHONPATH": str(imported.ROOT)}
    subprocess.run([sys.executable, "-c", "import hwlib.power"], env=other, cwd=tmp_path, check=True)
    assert imported.marked(report) == found
    subprocess.run([python, "-c", "import hwlib.power"], env=other, cwd=tmp_path, check=True)
    assert imported.marked(report) == found | {"hwlib.power"}


def imports(name: str) -> str:
    __import__(name)
    return name


def in_a_sandbox(name: str) -> str | None:
    """Import it where a learner's code runs; the error of that, if there is one."""
    from autograder.sandbox import Limits, Zygote

    with Zygote() as zygote:
        child = zygote.spawn(Limits())
        try:
            return child.run(f"import {name}")["error"]
        finally:
            child.kill()


def fails(how: str) -> None:
    if how == "ends":
        os._exit(3)
    raise LookupError("no such chip")


@pytest.mark.slow
def test_a_clean_process_says_what_it_and_those_that_it_starts_have_imported(monkeypatch):
    monkeypatch.setenv("GPUBOOK_PRELOAD", "core")
    import hwlib.goodput

    with CleanProcess() as process:
        result, modules = process.here(imports, "hwlib.units")
        assert result == "hwlib.units"
        assert {"hwlib", "hwlib.units"} <= modules
        assert hwlib.goodput.__name__ not in modules
        _, modules = process.forked(imports, "hwlib.power")
        assert {"hwlib.units", "hwlib.power"} <= modules
        _, modules = process.forked(imports, "hwlib.network")
        assert "hwlib.network" in modules
        assert "hwlib.power" not in modules
        for how, said in (("raises", "no such chip"), ("ends", "status")):
            with pytest.raises(RuntimeError, match=said):
                process.forked(fails, how)
        if sys.platform == "linux":
            error, modules = process.forked(in_a_sandbox, "hwlib.serving_planner")
            assert error is None
            assert {"autograder.sandbox.zygote", "hwlib.serving_planner"} <= modules


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("autograder/book/page.py", True),
        ("autograder/learner/card.py", True),
        ("autograder/__init__.py", True),
        ("hwlib/units.py", True),
        ("docs/index.md", True),
        ("autograder/course/export.py", False),
        ("autograder/course/new.py", False),
        ("autograder/cli/course.py", False),
        ("chapters/01-a/01-a.ipynb", False),
    ],
)
def test_pages_are_made_anew_where_a_file_has_changed_that_makes_them(checkout, name, counts):
    for file in ("docs/index.md", "autograder/book/page.py", "autograder/cli/course.py"):
        checkout.write(file, "")
    before = [kept.digest_of(checkout.root, part) for part in kept.makes_pages()]
    checkout.write(name, "# changed")
    kept.digest_of.cache_clear()
    assert ([kept.digest_of(checkout.root, part) for part in kept.makes_pages()] != before) is counts


def test_the_book_is_below_what_its_pages_do_not_depend_on():
    assert min(ROOMS[room] for room in kept.ABOVE_PAGES) > max(ROOMS["book"], ROOMS["learner"], ROOMS["live"])

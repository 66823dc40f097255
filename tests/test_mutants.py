"""The errors that `make mutants` makes, the tests that it runs for each, and that no file stays changed."""

from collections import Counter

import click
import pytest

from tests.conftest import ROOT
from tests.mutants.__main__ import MUTATED, equivalents, score
from tests.mutants.closest import Imports
from tests.mutants.errors import drawn, mutants
from tests.mutants.trial import CAUGHT, EQUIVALENT, SURVIVED, Run, Tree, _first_failure, outcome

SOURCE = '''"""A text of 1 line."""
LIMIT: Literal[3] = 2.5  # größer

def refuse(x: int = 7) -> list[5]:
    """No more than 8."""
    if not x < LIMIT and x + 1 in (2,):
        raise ValueError(
            f"{x + 9} is too large"
        )
'''


def made(source):
    return [(one.kind, one.becomes) for one in mutants("x.py", source.encode())]


@pytest.mark.parametrize(
    ("line", "kind", "becomes"),
    [
        ("a < b", "comparison", ["(a <= b)"]),
        ("a >= b", "comparison", ["(a > b)"]),
        ("a == b != c", "comparison", ["(a != b != c)", "(a == b == c)"]),
        ("a in b", "comparison", ["(a not in b)"]),
        ("a is not b", "comparison", ["(a is b)"]),
        ("a + b", "operator", ["(a - b)"]),
        ("a // b", "operator", ["(a / b)"]),
        ("a and b", "and, or", ["(a or b)"]),
        ("not a", "not", ["(a)"]),
        ("raise E", "refusal", ["pass"]),
        ("f(3)", "constant", ["f((4))", "f((2))"]),
        ("f(0.1)", "constant", ["f((1.0))"]),
        ("f(0.0)", "constant", ["f((1.0))"]),
        ("f(True, None, 'a')", "constant", []),
        ("a @ b", "operator", []),
    ],
)
def test_an_error_of_each_kind(line, kind, becomes):
    assert made(line) == [(kind, text) for text in becomes]


def test_texts_types_and_decorators_stay_as_they_are():
    changed = " ".join(text for _, text in made(SOURCE))
    assert Counter(kind for kind, _ in made(SOURCE)) == {
        "comparison": 2,
        "and, or": 1,
        "not": 1,
        "operator": 1,
        "refusal": 1,
        "constant": 7,
    }
    assert not any(number in changed for number in ("[4]", "[6]", "9 line", "10 is"))
    assert made("@cache(3)\ndef f(): pass") == []


def test_only_the_place_of_an_error_changes():
    for one in mutants("x.py", SOURCE.encode()):
        changed = one.of(SOURCE.encode())
        assert changed[: one.begin] == SOURCE.encode()[: one.begin]
        assert changed.endswith(SOURCE.encode()[one.end :])
        assert one.compiles(SOURCE.encode())
    refusal = next(one for one in mutants("x.py", SOURCE.encode()) if one.kind == "refusal")
    assert refusal.of(SOURCE.encode()).decode().endswith("(2,):\n        pass\n")


@pytest.fixture
def project(tmp_path):
    """A library of three modules, and their tests."""
    files = {
        "hwlib/__init__.py": "",
        "hwlib/part/__init__.py": "from .inner import f",
        "hwlib/part/inner.py": "def f(x):\n    return x + 1\n",
        "hwlib/above.py": "from hwlib.part import f",
        "hwlib/alone.py": "match x:\n    case -3:\n        pass\n",
        "tests/__init__.py": "",
        "tests/helper.py": "import hwlib.above",
        "tests/hwlib/test_above.py": "from hwlib.above import f",
        "tests/hwlib/test_part.py": "from hwlib.part import f",
        "tests/hwlib/test_f.py": "from hwlib.part import f\n\ndef test_f():\n    assert f(1) == 2\n",
        "tests/hwlib/test_inner.py": "from hwlib.part.inner import f\n\ndef test_f():\n    assert f(1) > 0\n",
        "tests/hwlib/test_by_helper.py": "from tests import helper",
        "tests/hwlib/test_other.py": "from hwlib import alone",
        "tests/abuse/test_slow.py": "from hwlib import alone",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_closest_tests_import_a_module_or_what_imports_it(project):
    imports = Imports(project)
    named = [f"tests/hwlib/test_{name}.py" for name in ("inner", "part", "f", "above", "by_helper")]
    assert imports.closest_tests("hwlib/part/inner.py") == named[:4]  # which are enough
    assert imports.closest_tests("hwlib/above.py") == named[3:]
    assert imports.closest_tests("hwlib/alone.py") == ["tests/hwlib/test_other.py"]


def test_a_seed_draws_the_same_again(project):
    first = drawn(1, 3, project, ["hwlib"])
    assert first == drawn(1, 3, project, ["hwlib"])
    assert any(first != drawn(seed, 3, project, ["hwlib"]) for seed in range(2, 12))
    assert len(set(first)) == 3
    every = drawn(3, 99, project, ["hwlib/part", "hwlib/alone.py"])
    assert [one.file for one in every] == 3 * ["hwlib/part/inner.py"]  # in a pattern is no room for an expression


class Scripted(Tree):
    """A copy whose runs end as in a script; `seen` is the file in each."""

    def script(self, *runs):
        self.runs, self.seen = list(runs), []
        return self

    def run(self, tests, limit):
        self.seen.append((self.root / "hwlib/part/inner.py").read_text())
        run = self.runs.pop(0)
        if isinstance(run, BaseException):
            raise run
        return run


@pytest.mark.parametrize(
    ("runs", "word"),
    [
        ([Run("", 1.0)], SURVIVED),
        ([Run("tests/a.py::b", 1.0), Run("", 1.0)], CAUGHT),
        (
            [Run("tests/a.py::b[1 - 2]", 1.0), Run("tests/a.py::b[1 - 2]", 1.0), Run("", 1.0)],
            SURVIVED,
        ),  # it always fails
        ([Run("", 60.0, cut=True), Run("", 19.0)], CAUGHT),
        ([Run("", 60.0, cut=True), Run("", 21.0)], SURVIVED),
    ],
)
def test_a_mutant_is_caught_by_a_failure_that_the_source_itself_has_not(project, runs, word):
    (mutant, _) = [one for one in drawn(1, 99, project, ["hwlib/part"]) if one.kind != "operator"]
    tree, before = Scripted(project).script(*runs), (project / mutant.file).read_text()
    assert outcome(tree, mutant, Imports(project), {}, 60.0).word == word
    assert tree.runs == []
    assert tree.seen[0] != before
    assert (project / mutant.file).read_text() == before
    with pytest.raises(KeyboardInterrupt):
        tree.script(KeyboardInterrupt()).try_out(mutant, [], 60.0)
    assert (project / mutant.file).read_text() == before


def test_a_file_of_tests_that_cannot_be_read_without_a_mutant_either_ends_the_run(project):
    (mutant, *_) = drawn(1, 1, project, ["hwlib/part"])
    tree = Scripted(project).script(*[Run("tests/a.py", 1.0)] * 3)
    with pytest.raises(click.ClickException, match=r"tests/a\.py fails without a mutant"):
        tree.try_out(mutant, [], 60.0)


def test_one_that_is_known_to_change_nothing_is_not_tried(project):
    mutant = drawn(1, 1, project, ["hwlib/part"])[0]
    known = {(mutant.file, mutant.was, mutant.becomes): "because"}
    assert outcome(Scripted(project).script(), mutant, Imports(project), known, 60.0).word == EQUIVALENT


@pytest.mark.slow
def test_a_mutant_is_caught_by_tests_that_run(project):
    (mutant,) = [one for one in drawn(1, 9, project, ["hwlib/part"]) if one.kind == "operator"]
    caught = outcome(Tree.of(project, project / "copy"), mutant, Imports(project), {}, 60.0)
    assert (caught.word, "tests/hwlib/test_inner.py::test_f" in caught.why) == (CAUGHT, True)


@pytest.mark.slow
def test_tests_that_were_written_since_the_copy_catch_nothing(project):
    tree = Tree.of(project, project / "copy")
    assert tree.run(["tests/hwlib/test_new.py"], 60.0) == Run("", 0.0)
    assert tree.run(["tests/hwlib/test_new.py", "tests/hwlib/test_f.py::test_f"], 60.0).failed == ""


def test_every_mutant_that_changes_nothing_is_still_there_and_has_its_reason():
    stale = []
    for (file, was, becomes), reason in equivalents().items():
        source = (ROOT / file).read_bytes()
        if not reason or (was, becomes) not in {(one.was, one.becomes) for one in mutants(file, source)}:
            stale.append((file, was, becomes))
    assert stale == []
    assert all((ROOT / part).exists() for part in MUTATED)


def test_a_score_has_the_seed_that_it_can_be_had_with_again():
    assert "seed = 7\ndrawn = 5\ncaught = 3\nequivalent = 0\nsurvived = 2\n" in score(7, {CAUGHT: 3, SURVIVED: 2})


@pytest.mark.parametrize(
    ("status", "output", "failure"),
    [
        (0, "...\n3 passed in 0.12s", ""),
        (0, "3 passed, 2 deselected in 61.20s (0:01:01)", ""),
        (5, "no tests ran in 0.01s", ""),
        (5, "2 deselected in 0.01s", ""),
        (0, "..", "exit status 0: .."),
        (0, "", "exit status 0: "),
        (1, "FAILED tests/a.py::test_b - x\n1 failed, 2 passed in 0.1s", "tests/a.py::test_b"),
        (2, "odd", "exit status 2: odd"),
    ],
)
def test_a_run_that_did_not_come_to_its_end_has_failed(status, output, failure):
    assert _first_failure(status, output) == failure

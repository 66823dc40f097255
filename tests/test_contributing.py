"""What CONTRIBUTING.md shows and lists is so."""

import ast
import dataclasses
import inspect
import re
from pathlib import Path
from pkgutil import iter_modules

import pytest

import autograder
import hwlib
from autograder import answers
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.book.rules.chapter_rules import RULES
from autograder.declaration import Exercise, load_bank
from autograder.declaration.answer import Answer
from hwlib import tl
from hwlib.collectives import ring_allreduce_time

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def text(root):
    return (root / "CONTRIBUTING.md").read_text("utf-8")


@pytest.fixture(scope="module")
def declared(text):
    """The names of the exercises that the text declares, in the order of its blocks."""
    scope = {}
    exec("from dataclasses import replace\nfrom autograder.answers import Distributed, Written", scope)
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        if "Exercise(" in block or "replace(" in block:
            exec(block, scope)
    return scope


@pytest.mark.parametrize(
    ("name", "kind"),
    [("RING", "Algorithm"), ("TORCH", "Distributed"), ("ZERO3", "Distributed"), ("COPY", "Kernel"), ("TILE", "Design")],
)
def test_the_exercise_that_it_shows_is_a_good_one(declared, name, kind):
    exercise = declared[name]
    assert exercise.kind == kind
    assert len(exercise.mistakes) == 2
    assert selftest(exercise) == []
    assert library_overlap(exercise) == []


def test_the_question_in_words_that_it_shows_is_a_good_one(declared):
    assert declared["WHY"].points == 3
    assert selftest(declared["WHY"]) == []


def rows_below(text, heading):
    """The rows of the tables of a section, as lists of cells; those of their heads aside."""
    section = re.split(r"^#+ ", text.partition(f"# {heading}\n")[2], maxsplit=1, flags=re.M)[0]
    tables = re.findall(r"^\|.*\n\|-.*\n((?:\|.*\n)+)", section, re.M)
    return [line.strip("| ").split(" | ") for table in tables for line in table.splitlines()]


def code(cell):
    return re.findall(r"`(\w+)`", cell)


@pytest.mark.parametrize(("heading", "package"), [("The library", hwlib), ("The grader", autograder)])
def test_every_module_is_on_its_map(text, heading, package):
    named = [name for row in rows_below(text, heading) for name in code(row[0])]
    assert sorted(named) == sorted(m.name for m in iter_modules(package.__path__) if not m.name.startswith("__"))


def kinds():
    """The answer kinds that a declaration may name."""
    public = {name: getattr(answers, name) for name in answers.__all__}
    return {n: k for n, k in public.items() if inspect.isclass(k) and issubclass(k, Answer) and k is not Answer}


def fields(record):
    """The public fields of a dataclass, those of the kind aside that it extends."""
    names = {field.name for field in dataclasses.fields(record) if not field.name.startswith("_")}
    return names - {name for base in record.__mro__[1:] if base.__name__ in kinds() for name in fields(base)}


def test_every_kind_of_answer_is_in_the_table_with_all_its_parameters(text):
    rows = {code(row[0])[0]: row for row in rows_below(text, "The answer kinds")}
    assert len(kinds()) > 0
    assert set(kinds()) <= set(rows)
    missing = {name: fields(kind) - set(code(rows[name][2])) for name, kind in kinds().items()}
    assert {name: lacks for name, lacks in missing.items() if lacks} == {}


def test_the_example_of_each_kind_is_one(text):
    for row in rows_below(text, "The answer kinds"):
        made = eval(row[-1].strip("`"), {"tl": tl} | {name: getattr(answers, name) for name in answers.__all__})
        names = code(row[0])
        if names[0] in kinds():
            assert type(made) is kinds()[names[0]]
        else:
            assert row[-1].strip("`").split("(")[0] in names


def test_every_field_of_an_exercise_is_in_the_table(text):
    named = [name for row in rows_below(text, "Add an exercise") for name in code(row[0])]
    assert sorted(named) == sorted(fields(Exercise))


def test_every_rule_is_in_the_table_in_its_order(text):
    named = [row[0] for row in rows_below(text, "The rules of a chapter")]
    assert named[: len(RULES)] == [rule.__doc__.strip().split("\n")[0].strip() for rule in RULES]
    for row in rows_below(text, "The rules of a chapter"):
        assert row[1].endswith(".")


def test_every_place_that_it_sends_to_is_there(text):
    headings = {
        re.sub(r"[^\w -]", "", h).strip().replace(" ", "-").lower() for h in re.findall(r"^#+ (.*)", text, re.M)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) - headings == set()
    sent = [name for row in rows_below(text, "Where to go") for name in re.findall(r"`((?:\w+/)+)`", row[1])]
    assert "autograder/course/feedback/" in sent
    assert [path for path in sent if not (ROOT / path).is_dir()] == []


def test_the_formula_that_it_shows_is_the_librarys(text):
    (shown,) = (block for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "@formula" in block)
    own = inspect.getsource(ring_allreduce_time.function)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(own)), "spaces aside: it is shown as on a board"


def test_a_bank_in_several_files_loads_as_it_says(text, tmp_path):
    (block,) = (b for b in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S) if "from .two_clocks" in b)
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "two_clocks.py").write_text("LAYER = (10, 20)\ndef measured(): return 3.0\n")
    (tmp_path / "exercises" / "gradients.py").write_text(block)
    assert load_bank(tmp_path).namespace["LAYER"] == (10, 20)


def test_the_files_that_it_names_are_there(text, root):
    names = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|toml|md|bib))`", text))
    names -= {"NN-topic.md", "08-sharded-matmuls.md", "exercises.py"}  # of a chapter to come
    names = {name for name in names if not name.startswith("solutions/NN")}
    assert names >= {"links.toml", "autograder/ranks/network.py", "docs/fidelity.md"}
    for name in names:
        assert (root / name).is_file() or (root / "hwlib/specs" / name).is_file(), name

"""What CONTRIBUTING.md and the pages for authors and developers show and list is so."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from pkgutil import iter_modules

import pytest
from click.testing import CliRunner

import autograder
import hwlib
from autograder import answers
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.book.rules.chapter_rules import RULES
from autograder.book.site import machine_readable
from autograder.declaration import Exercise, load_bank
from autograder.declaration.answer import Answer
from hwlib import tl
from hwlib.collectives import ring_allreduce_time

ROOT = Path(__file__).parents[1]


DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (
        ROOT / "CONTRIBUTING.md",
        DOCS / "contribute.md",
        *sorted((DOCS / "authors").glob("*.md")),
        *sorted((DOCS / "developers").glob("*.md")),
    )
}
PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


@pytest.fixture(scope="module")
def text():
    """All the pages, one after another."""
    return "\n".join(PAGES.values())


def test_contributing_is_a_page_that_is_read_in_one_sitting():
    assert 4_000 < len(PAGES["CONTRIBUTING.md"].encode()) <= 12_000
    assert 10 <= len(rows_below(PAGES["CONTRIBUTING.md"], "Where is what")) <= 15


@pytest.fixture(scope="module")
def declared():
    """The names of the exercises that the pages declare, in the order of their blocks."""
    scope = {"__name__": __name__}
    exec("from dataclasses import replace\nfrom autograder.answers import Distributed, Written", scope)
    for page in ("docs/authors/kinds.md", "docs/developers/answer-kind.md"):
        for block in PYTHON.findall(PAGES[page]):
            exec(block, scope)
    return scope


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RING", "Algorithm"),
        ("TORCH", "Distributed"),
        ("ZERO3", "Distributed"),
        ("COPY", "Kernel"),
        ("TILE", "Design"),
        ("SPEEDS", "Ranking"),
    ],
)
def test_the_exercise_that_it_shows_is_a_good_one(declared, name, kind):
    exercise = declared[name]
    assert exercise.kind == kind
    assert len(exercise.mistakes) == 2
    assert selftest(exercise) == []
    assert library_overlap(exercise) == []


def test_the_kind_that_it_shows_judges_and_refuses(declared):
    exercise = declared["SPEEDS"]
    ranking = exercise.answer
    assert ranking.judge(exercise, "hbm, nvlink, pcie", {}).kind == "right"
    assert ranking.judge(exercise, ["nvlink", "hbm", "pcie"], {}).kind == "mistake"
    assert ranking.judge(exercise, ["hbm", "pcie", "nvlink"], {}).kind == "wrong"
    assert ranking.judge(exercise, ["hbm"], {}).kind == "unreadable"
    assert type(ranking).from_public(ranking.public()) == ranking
    assert [one.input for one in [ranking.box(exercise)]] == ["text"]


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
    named = [name for row in rows_below(text, "Fields of an exercise") for name in code(row[0])]
    assert sorted(named) == sorted(fields(Exercise))


def test_every_rule_is_in_the_table_in_its_order(text):
    named = [row[0] for row in rows_below(text, "The rules of a chapter")]
    assert named[: len(RULES)] == [rule.__doc__.strip().split("\n")[0].strip() for rule in RULES]
    for row in rows_below(text, "The rules of a chapter"):
        assert row[1].endswith(".")


def anchors(text):
    """The fragments by which the headings of a page are reached."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", heading).strip().replace(" ", "-").lower() for heading in headings}


def dead_links(page, text):
    """The links of a page to files and headings that are not there."""
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", re.sub(r"(`+).*?\1", "", text)):
        name, _, anchor = link.partition("#")
        target = (ROOT / page).parent / name if name else ROOT / page
        if not target.is_file() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            yield f"{page}: {link}"


def test_a_dead_link_is_named():
    page = "docs/authors/chapter.md"
    for link in ("exercise.md", "exercise.md#fields-of-an-exercise", "#the-text", "../teaching.md"):
        assert list(dead_links(page, f"[x]({link})")) == []
    for link in ("exercises.md", "exercise.md#fields", "#fields-of-an-exercise", "teaching.md"):
        assert list(dead_links(page, f"[x]({link})")) == [f"{page}: {link}"]


def test_every_place_that_it_sends_to_is_there(text):
    assert [link for page in PAGES for link in dead_links(page, PAGES[page])] == []
    folders = set(re.findall(r"`((?:autograder|benchmarks|docs|hwlib|tests|solutions)/(?:[\w-]+/)*)`", text))
    folders -= {"solutions/NN-topic/", "solutions/08-sharded-matmuls/"}
    assert folders >= {"autograder/course/feedback/", "docs/authors/", "benchmarks/data/rows/"}
    assert [path for path in folders if not (ROOT / path).is_dir()] == []


def modules():
    """The dotted names of all packages and modules of the library and the grader."""
    for top in ("autograder", "hwlib", "benchmarks"):
        for path in (ROOT / top).rglob("*.py"):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_the_packages_and_modules_that_it_names_are_there(text):
    named = set(re.findall(r"`((?:autograder|hwlib)(?:\.[a-z_0-9]+)+)`", text))
    named |= set(re.findall(r"python -m (benchmarks(?:\.\w+)+)", text))
    assert named >= {"autograder.declaration.answer", "hwlib.constraints", "benchmarks.fidelity"}
    assert sorted(named - set(modules())) == []


def test_each_page_of_the_book_is_in_a_table_of_contents():
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    pages = {page for page in pages if not re.match(r"\d\d-", page)}  # chapters are named by a pattern
    listed = {"index"}
    for name in ("index", "contribute"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / f"{name}.md").read_text("utf-8"), re.DOTALL):
            listed |= {re.sub(r".*<(.+)>", r"\1", line.strip()) for line in block.splitlines()}  # "Title <page>"
    assert sorted(pages - listed) == []


def test_each_page_of_the_book_is_in_the_list_for_programs():
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert pages - set(machine_readable.PAGES) == {"index"}
    generated = {"glossary", "formulas", "notation", "specs", "disagreements", "exercises"}
    assert set(machine_readable.PAGES) - pages == generated


def test_the_formula_that_it_shows_is_the_librarys(text):
    (shown,) = (block for block in PYTHON.findall(text) if "@formula" in block)
    own = inspect.getsource(ring_allreduce_time.function)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(own)), "spaces aside: it is shown as on a board"


def test_the_command_that_it_shows_runs():
    (block,) = re.findall(r"^   ```python\n(.*?)^   ```", PAGES["docs/developers/commands.md"], re.M | re.S)
    scope = {}
    exec(textwrap.dedent(block), scope)
    assert CliRunner().invoke(scope["ridge"], ["h100-sxm"]).output == "295 FLOP/B\n"


def test_the_measured_row_that_it_shows_has_a_prediction(tmp_path):
    (block,) = re.findall(r"^   ```text\n(.*?)^   ```", PAGES["docs/developers/measured-rows.md"], re.M | re.S)
    (tmp_path / "row.csv").write_text(textwrap.dedent(block))
    command = [sys.executable, "-m", "benchmarks.fidelity", "--data", str(tmp_path / "row.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert re.search(r"somelab-llama2-7b: megatron-core-h100 \(1\): off by \d", done.stdout)


def test_a_bank_in_several_files_loads_as_it_says(text, tmp_path):
    (block,) = (block for block in PYTHON.findall(text) if "from .two_clocks" in block)
    (tmp_path / "exercises").mkdir()
    (tmp_path / "exercises" / "two_clocks.py").write_text("LAYER = (10, 20)\ndef measured(): return 3.0\n")
    (tmp_path / "exercises" / "gradients.py").write_text(block)
    assert load_bank(tmp_path).namespace["LAYER"] == (10, 20)


def test_the_files_that_it_names_are_there(text, root):
    names = set(re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|toml|md|bib|js|css|json|csv))`", text))
    to_come = {
        "NN-topic.md",
        "08-sharded-matmuls.md",
        "exercises.py",
        "docs/NAME.md",
        "built.json",
        "told.json",
        "config.json",
    }
    to_come |= {name for name in names if "NAME" in name or "/NN-topic" in name}
    assert names >= {"links.toml", "docs/_static/card.js", "tests/kept.py"}
    places = (root, root / "hwlib/specs", root / "autograder/answers", root / "benchmarks/data", root / "docs")
    assert [name for name in names - to_come if not any((place / name).is_file() for place in places)] == []

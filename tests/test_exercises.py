"""Every exercise of the book tests itself, and none of them is answered by a formula of the library."""

import re
from pathlib import Path

import pytest

from autograder.declaration import Bank, Exercise, load_bank
from autograder.selftest import library_overlap, selftest

ROOT = Path(__file__).parents[1]
BANKS = {path.parent.name: load_bank(path) for path in sorted(ROOT.glob("solutions/*/exercises.py"))}
EXERCISES = [pytest.param(e, id=e.id) for bank in BANKS.values() for e in bank.values()]
KINDS = {"Quantity", "Count", "Choice", "Expression", "Function"}


def test_there_are_chapters():
    assert "03-rooflines" in BANKS


@pytest.mark.parametrize("exercise", EXERCISES)
def test_an_exercise_tests_itself(exercise: Exercise):
    assert selftest(exercise) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_library_is_not_the_answer(exercise: Exercise):
    assert library_overlap(exercise) == []


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_prompt_says_how_exact_the_answer_is(exercise: Exercise):
    text = exercise.prompt.lower()
    assert "exact" in text or "first order" in text
    assert exercise.hints, "a learner who is stuck gets a hint"


@pytest.mark.parametrize(("name", "bank"), BANKS.items())
def test_a_chapter_asks_in_every_way(name: str, bank: Bank):
    assert 10 <= len(bank) <= 16
    assert {e.kind for e in bank.values()} == KINDS
    assert sum(e.predict for e in bank.values()) >= 2
    assert sum(e.kind == "Expression" for e in bank.values()) >= 2
    assert all(e.id.startswith(name.split("-", 1)[1]) for e in bank.values())


@pytest.mark.parametrize("name", BANKS)
def test_a_chapter_reads_as_it_should(name: str):
    """Cells of eight lines at the median, each reveal behind its prediction, one sentence a line."""
    import jupytext

    nb = jupytext.reads((ROOT / "solutions" / name / f"{name}.md").read_text("utf-8"), fmt="md:myst")
    lines = sorted(len(c.source.splitlines()) for c in nb.cells if c.cell_type == "code")
    assert lines[len(lines) // 2] <= 8
    assert lines[-1] <= 25
    asked = [c.metadata.get("exercise") for c in nb.cells]
    for at, cell in enumerate(nb.cells):
        if found := re.match(r'reveal\("(.+)"\)', cell.source):
            assert asked[at - 1] == found[1]
    prose = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    prose = re.sub(r"\{\w+\}`[^`]*`|`[^`]*`|\*“.*”\*", "x", prose)
    assert [line for line in prose.splitlines() if re.search(r"[a-z)]{2}[.?] [A-Z]", line)] == []

"""What a chapter owes its reader: exercises of each kind, exact prompts, short cells, short lines."""

import re
from pathlib import Path

import pytest

from autograder.declaration import Bank, load_bank

ROOT = Path(__file__).parents[1]
BANKS = {path.parent.name: load_bank(path) for path in sorted(ROOT.glob("solutions/*/exercises.py"))}
KINDS = {"Quantity", "Count", "Choice", "Expression", "Function"}


@pytest.mark.parametrize(("name", "bank"), BANKS.items(), ids=BANKS)
def test_a_chapter_asks_in_every_way(name: str, bank: Bank):
    assert 10 <= len(bank) <= 16
    assert {e.kind for e in bank.values()} >= KINDS
    assert sum(e.predict for e in bank.values()) >= 2
    assert sum(e.kind == "Expression" for e in bank.values()) >= 2
    assert all(e.id.startswith(name.split("-", 1)[1]) for e in bank.values())


@pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS)
def test_every_prompt_says_how_exact_and_every_exercise_hints(bank: Bank):
    for exercise in bank.values():
        text = exercise.prompt.lower()
        assert "exact" in text or "first order" in text, exercise.id
        assert exercise.hints, exercise.id


@pytest.mark.parametrize("name", BANKS)
def test_cells_are_short_and_a_line_is_a_sentence(name: str):
    import jupytext

    nb = jupytext.reads((ROOT / "solutions" / name / f"{name}.md").read_text("utf-8"), fmt="md:myst")
    code = [c for c in nb.cells if c.cell_type == "code"]
    lines = sorted(len(c.source.splitlines()) for c in code)
    assert lines[len(lines) // 2] <= 8
    assert lines[-1] <= 25
    prose = "\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    prose = re.sub(r"\{\w+\}`[^`]*`|`[^`]*`|\*“.*”\*", "x", prose)
    assert [line for line in prose.splitlines() if re.search(r"[a-z)]{2}[.?] [A-Z]", line)] == []
    assert 8 <= len(prose.split()) / sum(lines) <= 20


@pytest.mark.parametrize("name", BANKS)
def test_a_reveal_follows_its_prediction(name: str):
    import jupytext

    nb = jupytext.reads((ROOT / "solutions" / name / f"{name}.md").read_text("utf-8"), fmt="md:myst")
    asked = [c.metadata.get("exercise") for c in nb.cells]
    predictions = {e.id for e in BANKS[name].values() if e.predict}
    revealed = {
        found[1]: asked[at - 1]
        for at, cell in enumerate(nb.cells)
        if (found := re.search(r'^reveal\("([\w-]+)"', cell.source, re.M))
    }
    assert revealed == {key: key for key in predictions}

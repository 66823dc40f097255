"""What a chapter owes its reader: exercises of many kinds, exact prompts, captions, short cells and lines."""

import re
from pathlib import Path
from typing import Any

import pytest

from autograder.declaration import Bank, load_bank

ROOT = Path(__file__).parents[1]
FIGURE = re.compile(r"^(?:plots|widgets)\.\w+(?=\()", re.M)
BANKS = {path.parent.name: load_bank(path) for path in sorted(ROOT.glob("solutions/*/exercises.py"))}


def cells(name: str) -> list[Any]:
    """The cells of a chapter's source."""
    import jupytext

    return jupytext.reads((ROOT / "solutions" / name / f"{name}.md").read_text("utf-8"), fmt="md:myst").cells


@pytest.mark.parametrize(("name", "bank"), BANKS.items(), ids=BANKS)
def test_a_chapter_asks_in_many_ways(name: str, bank: Bank):
    assert 8 <= len(bank) <= 16
    assert len({e.kind for e in bank.values()}) >= 4
    assert any(e.predict for e in bank.values())
    assert any(e.kind == "Expression" for e in bank.values())
    assert any(e.kind == "Choice" and not e.predict for e in bank.values())
    assert sum(e.kind == "Written" for e in bank.values()) in ((0,) if name == "03-rooflines" else (1, 2))
    assert all(e.id.startswith(name.split("-", 1)[1]) for e in bank.values())


@pytest.mark.parametrize("name", BANKS)
def test_a_chapter_uses_each_exercise_once(name: str):
    asked = [c.metadata["exercise"] for c in cells(name) if "exercise" in c.metadata]
    assert sorted(asked) == sorted(BANKS[name])


@pytest.mark.parametrize("name", BANKS)
def test_a_figure_says_what_to_see_and_what_it_shows(name: str):
    figures = [c for c in cells(name) if FIGURE.search(c.source)]
    live = {FIGURE.search(c.source)[0] for c in figures if "widgets." in c.source}
    assert len(live) >= 2
    for cell in figures:
        for option in ("caption", "alt"):
            assert len(str(cell.metadata.get(option, "")).split()) >= 6, (option, cell.source)


@pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS)
def test_every_prompt_says_how_exact_and_every_exercise_hints(bank: Bank):
    for exercise in bank.values():
        if exercise.kind == "Written":
            continue
        text = exercise.prompt.lower()
        assert "exact" in text or "first order" in text, exercise.id
        assert exercise.hints, exercise.id


@pytest.mark.parametrize("name", BANKS)
def test_cells_are_short_and_a_line_is_a_sentence(name: str):
    code = [c for c in cells(name) if c.cell_type == "code"]
    lines = sorted(len(c.source.splitlines()) for c in code)
    assert lines[len(lines) // 2] <= 8
    assert lines[-1] <= 25
    prose = "\n".join(c.source for c in cells(name) if c.cell_type == "markdown")
    prose = re.sub(r"\{\w+\}`[^`]*`|`[^`]*`|\*“.*”\*", "x", prose)
    assert [line for line in prose.splitlines() if re.search(r"[a-z)]{2}[.?] [A-Z]", line)] == []
    assert 8 <= len(prose.split()) / sum(lines) <= 20


@pytest.mark.parametrize("name", BANKS)
def test_a_reveal_follows_its_prediction(name: str):
    asked = [c.metadata.get("exercise") for c in cells(name)]
    predictions = {e.id for e in BANKS[name].values() if e.predict}
    revealed = {
        found[1]: asked[at - 1]
        for at, cell in enumerate(cells(name))
        if (found := re.search(r'^reveal\("([\w-]+)"', cell.source, re.M))
    }
    assert revealed == {key: key for key in predictions}

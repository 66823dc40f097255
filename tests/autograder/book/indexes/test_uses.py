"""The back-links: numbers, cells and what an exercise shows use a row or a formula; its solution gives nothing away."""

import pytest

from autograder.book.indexes.uses import Thing, by_chapter, uses_of
from autograder.book.source import chapters
from tests.autograder.small_book import EXERCISES, SOURCE, lay_out

CELL = """\
## In a cell

```{code-cell} ipython3
from hwlib.specs import nodes
rack = nodes["gb200-nvl72"]
```

## Its name

```{code-cell} ipython3
rack.chips
```

## In a number

It moves {n}`show(H100.hbm_bandwidth*2, "B")` a second, half of it {n}`show(HALVED, "B")`.

"""
DECLARED = (
    EXERCISES.replace(
        "W = 50*GB\n",
        "W = 50*GB\nH100 = accelerators['h100-sxm']\nHALVED = H100.hbm_bandwidth/2\n"
        "PORTS = switches['quantum-2'].ports\n",
    )
    .replace("from hwlib.units", "from hwlib.specs import accelerators, links, switches\nfrom hwlib.units")
    .replace('prompt="Write `half(x)`."', 'prompt=f"Write `half(x)` for {PORTS} ports."')
    .replace("solution=lambda x: x/2", "solution=lambda x: x/2 if links['xdr'] else 0")
)


@pytest.fixture(scope="module")
def uses(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("uses")
    lay_out(folder, root, SOURCE.replace("(later)=", CELL + "(later)="), DECLARED)
    return uses_of([chapters.load(folder, "07-links")])


def places(uses, kind, key):
    return [use.href for use in uses.get(Thing(kind, key), ())]


def test_a_computed_number_uses_the_row_that_its_name_stands_for(uses):
    assert places(uses, "chips", "h100-sxm") == ["07-links.html#in-a-number"]


def test_a_cell_uses_the_row_of_its_key_and_the_next_one_of_its_name(uses):
    assert places(uses, "nodes", "gb200-nvl72") == ["07-links.html#in-a-cell", "07-links.html#its-name"]
    assert places(uses, "chips", "gb200-nvl72") == [], "the rack is named, not its chip of the same key"


def test_what_an_exercise_shows_is_used_and_what_its_solution_needs_is_not_told(uses):
    assert places(uses, "switches", "quantum-2") == ["07-links.html#exercise-links-half"]
    assert places(uses, "links", "xdr") == []


def test_a_formula_is_used_where_its_equation_stands_and_where_a_cell_names_it(uses):
    assert places(uses, "formulas", "roofline.memory_time") == ["07-links.html"]


def test_the_links_are_told_chapter_by_chapter_each_once(uses):
    found = by_chapter(uses[Thing("nodes", "gb200-nvl72")] * 2)
    assert found == [
        ("chapter 7", [("07-links.html#in-a-cell", "In a cell"), ("07-links.html#its-name", "Its name")]),
    ]

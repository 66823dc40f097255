"""A package with many modules is parted into rooms by subject, and imports between its rooms go down only.

A room is a package, or a module, that lies directly in such a package. A new one gets its floor in DRAWERS.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests import test_layers as layers

TOP = ("__init__", "__main__")  # they open on every room, and no room imports them


@dataclass(frozen=True)
class Drawer:
    """The rooms of a package by floor, the lowest first, and the most modules that may lie directly in it."""

    floors: tuple[frozenset[str], ...]
    loose: int

    def floor_of(self, room: str) -> int | None:
        if room in TOP:
            return len(self.floors)
        return next((floor for floor, rooms in enumerate(self.floors) if room in rooms), None)


@dataclass(frozen=True)
class Arrow:
    """An import in a file of one room of what is in another."""

    path: Path
    name: str
    room: str
    imported: str

    def __str__(self) -> str:
        return f"{layers.named(self.path)} imports {self.name}"


def floors(*rooms: str) -> tuple[frozenset[str], ...]:
    """A floor for each string, which has the names of its rooms, separated by spaces."""
    return tuple(frozenset(names.split()) for names in rooms)


DRAWERS = {
    "autograder/book": Drawer(
        loose=4,
        floors=floors(
            "bibliography build_cache course_error finishing render",
            "numbers",
            "source",
            "in_page indexes outputs rules skeleton",
            "site",
            "print",
        ),
    ),
    "autograder/course": Drawer(
        loose=6,
        floors=floors(
            "banks gradebook_url spreadsheet terms",
            "layout",
            "gradebook",
            "class_results feedback moodle regrades",
            "course_page by_hand export submissions",
            "intake run",
            "agreements lti people report service",
            "assigning class_grading",
        ),
    ),
    "benchmarks": Drawer(
        loose=8,
        floors=floors(
            "paths", "rows grading term speed gpu launch planted unchanged", "fit", "score", "planner fidelity configs"
        ),
    ),
}


def room_of(path: Path, folder: Path) -> str:
    return path.relative_to(folder).parts[0].removesuffix(".py")


def arrows(folder: Path) -> Iterator[Arrow]:
    """Those between rooms, of imports inside functions and for types too."""
    for path in sorted(folder.rglob("*.py")):
        for name in layers.imports(path, types=True):
            file = layers.file_of(name)
            if file and file.is_relative_to(folder) and room_of(file, folder) != room_of(path, folder):
                yield Arrow(path, name, room_of(path, folder), room_of(file, folder))


def without_a_floor(folder: Path, drawer: Drawer) -> list[str]:
    """Rooms that the table lacks, and those of the table that are none."""
    rooms = {room_of(path, folder) for path in folder.rglob("*.py")} - set(TOP)
    return sorted(rooms ^ frozenset().union(*drawer.floors))


def loose_modules(folder: Path) -> list[str]:
    """The modules that lie directly in a folder."""
    return sorted(path.name for path in folder.glob("*.py") if path.stem not in TOP)


def going_up(folder: Path, drawer: Drawer) -> list[str]:
    """Imports from a lower floor of what is on a higher one."""
    up = []
    for arrow in arrows(folder):
        floor, imported = drawer.floor_of(arrow.room), drawer.floor_of(arrow.imported)
        if floor is not None and imported is not None and floor < imported:
            up.append(str(arrow))
    return up


def circle(folder: Path) -> list[str]:
    """The rooms of a circle of imports, on one floor or on several; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for arrow in arrows(folder):
        graph.setdefault(arrow.room, set()).add(arrow.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def folder_of(package: str) -> Path:
    return layers.ROOT / package


def test_every_room_of_a_drawer_has_a_floor():
    lacking = {package: without_a_floor(folder_of(package), drawer) for package, drawer in DRAWERS.items()}
    assert {package: rooms for package, rooms in lacking.items() if rooms} == {}


def test_few_modules_lie_directly_in_a_drawer():
    """A new one belongs into a room."""
    loose = {package: loose_modules(folder_of(package)) for package in DRAWERS}
    assert {package: names for package, names in loose.items() if len(names) > DRAWERS[package].loose} == {}


def test_imports_between_rooms_go_down_only():
    assert [arrow for package, drawer in DRAWERS.items() for arrow in going_up(folder_of(package), drawer)] == []


def test_no_rooms_import_one_another_in_a_circle():
    circles = {package: circle(folder_of(package)) for package in DRAWERS}
    assert {package: rooms for package, rooms in circles.items() if rooms} == {}


@pytest.fixture
def drawer(tmp_path, monkeypatch):
    """A function that writes a package `shop` with such files, and returns its folder."""
    monkeypatch.setattr(layers, "ROOT", tmp_path)
    layers.file_of.cache_clear()  # of the same names below another root

    def write(**texts):
        files = {"__init__": "", "low/__init__": "", "low/wood": "", "high/__init__": "", "high/table": "", **texts}
        for name, text in files.items():
            path = tmp_path / "shop" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return tmp_path / "shop"

    yield write
    layers.file_of.cache_clear()


TWO = Drawer(floors("low", "high"), loose=0)
ONE = Drawer(floors("low high"), loose=0)
UP = "from shop.high import table"
DOWN = "from ..low.wood import oak"
INSIDE = "def late():\n    from shop.high.table import top"
TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..high.table import Top"


@pytest.mark.parametrize("text", [UP, INSIDE, TYPES, "import shop.high.table", "from .. import high"])
def test_an_import_up_is_noticed_wherever_it_stands(drawer, text):
    folder = drawer(**{"low/wood": text})
    assert len(going_up(folder, TWO)) == 1
    assert going_up(folder, ONE) == []


def test_an_import_down_or_within_a_room_is_none(drawer):
    folder = drawer(**{"high/table": DOWN, "high/chair": "from .table import top", "__init__": UP})
    assert going_up(folder, TWO) == []
    assert circle(folder) == []


def test_no_room_imports_the_front_door(drawer):
    assert len(going_up(drawer(**{"high/table": "from .. import nothing"}), TWO)) == 1


def test_a_circle_on_one_floor_is_noticed(drawer):
    folder = drawer(**{"high/table": DOWN, "low/wood": TYPES})
    assert set(circle(folder)) == {"low", "high"}


def test_a_room_needs_a_floor_and_a_floor_its_rooms(drawer):
    folder = drawer()
    assert without_a_floor(folder, TWO) == []
    assert without_a_floor(folder, Drawer(floors("low"), 0)) == ["high"]
    assert without_a_floor(folder, Drawer(floors("low", "high", "attic"), 0)) == ["attic"]
    assert without_a_floor(drawer(plan="", __main__=""), TWO) == ["plan"]


def test_modules_of_rooms_and_front_doors_do_not_lie_directly_in_a_drawer(drawer):
    assert loose_modules(drawer(__main__="")) == []
    assert loose_modules(drawer(plan="", shop="")) == ["plan.py", "shop.py"]

"""The layers hold: imports go down only, the lower ones of hwlib are plain Python."""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = (
    {"units", "notation", "arguments", "columns", "tables", "plain", "pasted_text"},
    {"formula"},
    {"specs"},
    {
        "roofline", "hierarchy", "network", "collectives", "transformer", "footprint", "parallel", "pipeline",
        "steptime", "strategy", "training", "goodput", "inference", "topology", "sharding", "simt", "calibrated",
        "power", "number_formats", "constraints", "options", "training_task", "expected_error",
    },
    {
        "algorithms", "simulate", "planner", "serving_planner", "launch", "tl", "torch_groups", "engine", "traces",
        "run_logs",
    },
    {"plots", "widgets", "labs", "virtual"},
)  # fmt: skip
LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}
PLAIN = 4  # layers 0 to 4 import nothing of others at the top of a module
HWLIB = sorted((ROOT / "hwlib").rglob("*.py"))
VERBS = ("exam_sitting", "exercise_widget", "overview", "verbs")  # where `autograder` has them from
GRADER = sorted((ROOT / "autograder").rglob("*.py"))
ROOMS = {
    room: floor
    for floor, rooms in enumerate(
        (
            {"values"},
            {"declaration"},
            {"ranks"},
            {"answers", "sandbox", "planned", "reading"},
            {"learner", "book", "grading"},
            {"live"},
            {"course"},
            {"cli"},
        )
    )
    for room in rooms
}
KEPT_PATHS = ("gradebook.py", "written.py")  # a name that configurations and notebooks hold, and nothing else
KEPT_NAMES = (
    *(
        ("autograder", verb)
        for verb in (
            *["card", "check", "exercise", "given", "grade", "hint", "progress", "reveal", "solution", "symbols"],
            *["exam", "how_to_answer"],
        )
    ),
    *(("autograder.declaration", name) for name in ("Exercise", "Mistake", "load_bank")),
    *(("autograder.answers", name) for name in ("Quantity", "Count", "Choice", "Expression", "Function", "Algorithm")),
    *(("autograder.answers", name) for name in ("Distributed", "Written", "positive", "integers", "at_most")),
    ("autograder.written", "Written"),
    ("autograder.course", "configure"),
    ("autograder.course.gradebook", "LatePerDay"),
    ("autograder.course.by_hand.server", "_load_jupyter_server_extension"),
    ("autograder.gradebook", "LatePerDay"),
    ("hwlib.planner", "Software"),
)
HEAVY = {"torch", "matplotlib", "scipy", "sympy", "nbgrader", "pandas"}
LOADS_TORCH = "_torch.py"  # the name of a module that imports torch at its top, and is imported inside functions only


def module_of(path: Path) -> str:
    """The first name below hwlib: `formula` for hwlib/formula/ops.py; empty for hwlib/__init__.py."""
    first = path.relative_to(ROOT / "hwlib").parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


class Imported(NamedTuple):
    """A full name that a file imports, and whether inside a function, and for types only."""

    name: str
    in_function: bool
    for_types: bool


@cache
def everything_imported(path: Path) -> tuple[Imported, ...]:
    def visit(node: ast.AST, in_function: bool, for_types: bool) -> Iterator[Imported]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                continue  # no statement stands in an expression
            names: list[str] = []
            if isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                package = path.relative_to(ROOT).with_suffix("").parts[: -child.level] if child.level else ()
                base = ".".join([*package, *([child.module] if child.module else [])])
                names = [f"{base}.{alias.name}" for alias in child.names]
            yield from (Imported(name, in_function, for_types) for name in names)
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from visit(child, in_function or function, for_types or types)

    return tuple(visit(ast.parse(path.read_text("utf-8")), False, False))


def imports(path: Path, top_only: bool = False, types: bool = False) -> tuple[str, ...]:
    """The full names of what a file imports; with `top_only` not inside a function, with `types` for types too."""
    return tuple(
        one.name
        for one in everything_imported(path)
        if not (top_only and one.in_function) and (types or not one.for_types)
    )


def of_hwlib(name: str) -> str:
    package, _, rest = name.partition(".")
    return rest.split(".")[0] if package == "hwlib" else ""


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def file_of(name: str) -> Path | None:
    """The file of ours that an imported name stands in: that of the module, or of the one that has it."""
    parts = name.split(".")
    while parts:
        at = ROOT.joinpath(*parts)
        for path in (at.with_suffix(".py"), at / "__init__.py"):
            if path.is_file():
                return path
        parts.pop()
    return None


def circles(package: str) -> list[list[str]]:
    """The groups of files that import one another in a circle, imports in functions and for types included."""
    import networkx

    graph = networkx.DiGraph()
    for path in sorted((ROOT / package).rglob("*.py")):
        for name in imports(path, types=True):
            if (other := file_of(name)) and other != path:
                graph.add_edge(named(path), named(other))
    return sorted(sorted(group) for group in networkx.strongly_connected_components(graph) if len(group) > 1)


def test_every_module_of_hwlib_has_a_layer():
    """A new one gets it in LAYERS, here and in the design."""
    offenders = [named(path) for path in HWLIB if module_of(path) and module_of(path) not in LAYER]
    assert offenders == []


def test_imports_of_hwlib_go_down_only():
    offenders = [
        f"{named(path)} imports {name}"
        for path in HWLIB
        for name in imports(path)
        if name.split(".")[0] == "autograder" or LAYER.get(of_hwlib(name), 0) > LAYER.get(module_of(path), len(LAYERS))
    ]
    assert offenders == []


def test_no_two_topics_of_hwlib_import_each_other():
    """What loads at the top: a topic is a module or a package of hwlib."""
    graph = {module_of(path): set() for path in HWLIB}
    for path in HWLIB:
        imported = {of_hwlib(name) for name in imports(path, top_only=True)}
        graph[module_of(path)] |= imported & set(LAYER) - {module_of(path)}
    assert list(TopologicalSorter(graph).static_order())


def test_no_files_of_hwlib_import_one_another_in_a_circle():
    assert circles("hwlib") == []


def test_the_lower_layers_are_plain_python():
    plain = sys.stdlib_module_names | {"hwlib"}
    offenders = [
        f"{named(path)} imports {name}"
        for path in HWLIB
        if LAYER.get(module_of(path), 0) <= PLAIN
        for name in imports(path, top_only=True)
        if name.split(".")[0] not in plain | ({"torch"} if path.name == LOADS_TORCH else set())
    ]
    assert offenders == []


def test_no_module_loads_a_heavy_package_at_its_top():
    offenders = [
        f"{named(path)} imports {name}"
        for path in HWLIB
        for name in imports(path, top_only=True)
        if name.split(".")[0] in HEAVY - ({"torch"} if path.name == LOADS_TORCH else set())
    ]
    assert offenders == []


def test_what_loads_torch_is_imported_inside_functions_only():
    loading = LOADS_TORCH.removesuffix(".py")
    offenders = [
        named(path)
        for path in (*HWLIB, *GRADER)
        if path.name != LOADS_TORCH and any(loading in name.split(".") for name in imports(path, top_only=True))
    ]
    assert offenders == []


def test_only_the_course_and_the_release_know_nbgrader():
    knowing = {
        str(path.relative_to(ROOT / "autograder"))
        for path in GRADER
        for name in imports(path)
        if name.split(".")[0] == "nbgrader"
    }
    assert knowing == {
        "book/source/release.py",
        "course/by_hand/answers.py",
        "course/agreements/extensions.py",
        "course/feedback/feedback_steps.py",
        "course/gradebook/grade_entry.py",
        "course/gradebook/course_database.py",
        "course/gradebook/late_penalties.py",
        "course/gradebook/learner_scores.py",
        "course/gradebook_url.py",
        "course/agreements/learner_groups.py",
        "course/people/gradebook_rows.py",
        "course/gradebook/question_points.py",
        "course/run/gradebook_writer.py",
        "course/assigning/dropped_exercises.py",
        "course/run/nbgrader_steps.py",
        "course/submissions/submission_time.py",
    }


def test_every_room_of_autograder_is_a_package_with_a_layer():
    rooms = {path.relative_to(ROOT / "autograder").parts[0] for path in GRADER}
    assert rooms == set(ROOMS) | {"__init__.py", "__main__.py"} | set(KEPT_PATHS)


def test_imports_of_autograder_go_down_only():
    offenders = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in GRADER
        if (room := room_of(path)) in ROOMS
        for name in imports(path)
        if (other := name.split(".")[1] if name.startswith("autograder.") else "") in ROOMS
        and other != room
        and ROOMS[other] >= ROOMS[room]
    ]
    assert offenders == []


def test_no_two_modules_of_autograder_import_each_other():
    """Imports inside a function count; those for type checkers alone do not."""
    names = {module_name(path): path for path in GRADER}
    graph = {
        name: {home for found in imports(path) if (home := home_of(found, names)) and home != name}
        for name, path in names.items()
    }
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize(("module", "name"), KEPT_NAMES)
def test_what_notebooks_and_courses_have_written_down_stays(module, name):
    assert hasattr(importlib.import_module(module), name)


def room_of(path: Path) -> str:
    """The package of autograder that a file is in; empty for those at its top."""
    parts = path.relative_to(ROOT / "autograder").parts
    return parts[0] if len(parts) > 1 else ""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def home_of(name: str, modules: dict[str, Path]) -> str:
    """The module of ours that an imported name is or comes from."""
    return next((one for one in (name, name.rpartition(".")[0]) if one in modules), "")


def run_python(*args: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)


def test_the_lower_layers_load_where_nothing_is_installed():
    present = sorted({module_of(path) for path in HWLIB if LAYER.get(module_of(path), 9) < PLAIN})
    imported = "; ".join(f"import hwlib.{module}" for module in present)
    done = run_python("-S", "-c", f"import sys; sys.path.insert(0, '.'); import hwlib; {imported}")
    assert done.returncode == 0, done.stderr


def loaded_by(package: str) -> set[str]:
    """The top-level packages that importing one loads, as -X importtime reports them."""
    done = run_python("-X", "importtime", "-c", f"import {package}")
    assert done.returncode == 0, done.stderr
    before, _, after = done.stderr.rpartition("| site\n")
    assert before
    return {line.rpartition("|")[2].strip().split(".")[0] for line in after.splitlines()}


def test_import_hwlib_loads_nothing_else():
    assert loaded_by("hwlib") - sys.stdlib_module_names <= {"hwlib"}


@pytest.mark.parametrize(
    "package", ["hwlib", "hwlib.roofline", "hwlib.specs", "hwlib.simulate", *(f"autograder.learner.{m}" for m in VERBS)]
)
def test_what_a_notebook_imports_first_is_light(package):
    heavy = {"torch", "nbgrader", "numpy", "sympy", "scipy", "matplotlib", "IPython"}
    assert loaded_by(package).isdisjoint(heavy)


def test_the_front_door_of_hwlib_opens_on_demand():
    program = """
import sys, hwlib
assert hwlib.parse("2 GB").value == 2*hwlib.GB
assert hwlib.formula.formula and hwlib.units.GB
assert {"parse", "units", "formula", "NOTATION"} <= set(dir(hwlib))
assert not hasattr(hwlib, "nothing") and not hasattr(hwlib, "__wrapped__")
from hwlib import show, NOTATION, REGISTRY
assert all(hasattr(hwlib, name) for name in hwlib._HOME)
assert "numpy" not in sys.modules
"""
    done = run_python("-c", program)
    assert done.returncode == 0, done.stderr


def test_the_sample_class_imports_what_there_is():
    """`make grade` begins with it, and only slow tests use it."""
    assert importlib.import_module("tests.sample_class.layout").lay_out

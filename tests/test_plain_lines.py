"""Lines stay plain: counts of what is hard to read, each with the most that is allowed; they may only shrink.

`python -m tests.test_plain_lines` prints the counts of today beside the allowed ones of `plain_lines.toml`.
"""

import ast
import gc
import json
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = tomllib.loads(Path(__file__).with_name("plain_lines.toml").read_text("utf-8"))
PARSED = ("hwlib", "autograder", "benchmarks")
FORMATTED = (*PARSED, "tests", "solutions")
SKIP = "# fmt" + ": skip"
WORDS = frozenset(("one", "found", "given", "said", "told", "kept", "whose", "asked"))
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SLACK = 0.1  # share that a count may lie below the allowed one before that has to be lowered


@dataclass
class Counts:
    """What the modules of one folder hold, counted in one walk over each."""

    nested: int = 0
    conditional: int = 0
    words: int = 0
    classes: list[str] = field(default_factory=list)

    def add(self, node: ast.AST, in_comprehension: bool = False) -> None:
        """Count what is below a node; `in_comprehension` where it is part of one."""
        for child in children(node):
            kind = type(child)
            if kind in COMPREHENSIONS:
                self.nested += in_comprehension
                self.add(child, True)
                continue
            if kind is ast.IfExp:
                self.conditional += in_comprehension
            elif kind in (ast.Assign, ast.AnnAssign, ast.NamedExpr):
                # an annotated name in a class is a field: part of a record, not a local name
                self.words += 0 if kind is ast.AnnAssign and type(node) is ast.ClassDef else assigned_words(child)
            elif kind is ast.ClassDef and type(node) is ast.Module and not child.name.startswith("_"):
                self.classes.append(child.name)
            self.add(child, in_comprehension)


def children(node: ast.AST) -> Iterator[ast.AST]:
    """As `ast.iter_child_nodes`, without the leaves that hold nothing: half the time."""
    for value in node.__dict__.values():
        if type(value) is list:
            for item in value:
                if isinstance(item, ast.AST):
                    yield item
        elif isinstance(value, ast.AST) and type(value) not in LEAVES:
            yield value


LEAVES = frozenset((ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del, ast.Pass))


def assigned_words(statement: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> int:
    """How many of the words an assignment binds."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return sum(name.id in WORDS and isinstance(name.ctx, ast.Store) for name in names)


def folder_of(path: Path) -> str:
    """The package of a module: `hwlib/planner` for all that is below it, `hwlib` for a module at its top."""
    return "/".join(path.relative_to(ROOT).parts[:-1][:2])


@cache
def counts() -> dict[str, Counts]:
    """The counts by folder; each module is read once."""
    by_folder: defaultdict[str, Counts] = defaultdict(Counts)
    gc.disable()  # a tree is all references: the collector would walk over each of them many times
    try:
        for package in PARSED:
            for path in sorted((ROOT / package).rglob("*.py")):
                by_folder[folder_of(path)].add(ast.parse(path.read_text("utf-8")))
    finally:
        gc.enable()
    return dict(by_folder)


def total(attribute: str) -> dict[str, int]:
    """A count by package."""
    sums = dict.fromkeys(PARSED, 0)
    for folder, of_folder in counts().items():
        sums[folder.split("/")[0]] += getattr(of_folder, attribute)
    return sums


@cache
def marks() -> dict[str, int]:
    """How often the formatter is switched off, by package."""
    return {
        package: sum(path.read_text("utf-8").count(SKIP) for path in (ROOT / package).rglob("*.py"))
        for package in FORMATTED
    }


@cache
def complex_functions() -> Counter[str]:
    """The functions that ruff finds too complex, as `package: name`: a module may move without an entry changing."""
    command = [sys.executable, "-m", "ruff", "check", "--select", "C901", "--no-cache", "--output-format", "json"]
    done = subprocess.run([*command, "."], capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode in (0, 1), done.stderr
    rows = [(Path(row["filename"]).relative_to(ROOT), row["message"]) for row in json.loads(done.stdout)]
    return Counter(f"{path.parts[0]}: {message.split('`')[1]}" for path, message in rows)


def homonyms() -> dict[str, list[str]]:
    """The names that more than one public class bears, each with their folders."""
    bearers: defaultdict[str, list[str]] = defaultdict(list)
    for folder, of_folder in counts().items():
        for name in of_folder.classes:
            bearers[name].append(folder)
    return {name: folders for name, folders in sorted(bearers.items()) if len(folders) > 1}


COUNTS = {
    "comprehensions within a comprehension": lambda: total("nested"),
    "conditional expressions within a comprehension": lambda: total("conditional"),
    "assignments to house words": lambda: total("words"),
    SKIP.removeprefix("# "): marks,
}


def complaints(today: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """What is wrong with counts: more than allowed, or so much less that the allowed one no longer guards."""
    above = [f"{name}: {n}, at most {allowed.get(name, 0)}" for name, n in today.items() if n > allowed.get(name, 0)]
    below = [f"{name}: lower it to {today.get(name, 0)}" for name, n in allowed.items() if far_below(today, name, n)]
    return above + below


def far_below(today: dict[str, int], name: str, allowed: int) -> bool:
    return today.get(name, 0) < allowed - max(2, SLACK * allowed)


@pytest.mark.parametrize("what", COUNTS)
def test_a_count_only_shrinks(what):
    assert complaints(COUNTS[what](), ALLOWED[what]) == []


def test_a_function_that_is_new_is_not_complex():
    allowed = Counter(ALLOWED["complex functions"]["names"])
    assert sorted((complex_functions() - allowed).elements()) == []
    assert sorted((allowed - complex_functions()).elements()) == [], "no longer complex: take them off the list"


def test_packages_with_plain_names_keep_them():
    today = {folder: of_folder.words for folder, of_folder in counts().items()}
    assert {folder: today[folder] for folder in ALLOWED["plain names"]["packages"] if today.get(folder)} == {}


def test_a_class_has_a_name_of_its_own():
    """Those that share one are listed: with the reason, or as still to be renamed."""
    reasons, unnamed = ALLOWED["classes of one name"]["reasons"], ALLOWED["classes of one name"]["to be renamed"]
    allowed = {*reasons, *unnamed}
    assert {name: folders for name, folders in homonyms().items() if name not in allowed} == {}
    assert sorted(allowed - set(homonyms())) == [], "no longer shared: take them off the list"
    assert all(reasons.values())
    assert len(reasons) <= 15


@pytest.mark.parametrize(
    ("source", "nested", "conditional", "words"),
    [
        ("[f(x) for x in xs]", 0, 0, 0),
        ("[[y for y in x] for x in xs]", 1, 0, 0),
        ("{k: sum(y for y in x if y) for k, x in xs}", 1, 0, 0),
        ("[x for x in [y for y in ys]]", 1, 0, 0),
        ("a if b else c", 0, 0, 0),
        ("[a if x else b for x in xs]", 0, 1, 0),
        ("[x for x in xs if (a if x else b)]", 0, 1, 0),
        ("found = 1", 0, 0, 1),
        ("one, (x, *told) = y", 0, 0, 2),
        ("one.x = one[0] = y", 0, 0, 0),
        ("f(kept := 1)", 0, 0, 1),
        ("def f():\n    said: int = 1", 0, 0, 1),
        ("class A:\n    said: int = 1", 0, 0, 0),
        ("[one for one in xs]", 0, 0, 0),
    ],
)
def test_what_is_counted(source, nested, conditional, words):
    module = Counts()
    module.add(ast.parse(source))
    assert (module.nested, module.conditional, module.words) == (nested, conditional, words)


@pytest.mark.parametrize(
    ("today", "allowed", "problems"),
    [(100, 100, 0), (101, 100, 1), (90, 100, 0), (89, 100, 1), (2, 4, 0), (1, 4, 1), (0, 0, 0), (1, 0, 1)],
)
def test_a_count_may_lie_a_little_below_the_allowed_one(today, allowed, problems):
    assert len(complaints({"a": today}, {"a": allowed})) == problems


def main() -> None:
    for what, count in COUNTS.items():
        sys.stdout.write(f"{what}\n")
        for package, n in count().items():
            sys.stdout.write(f"  {package}: {n} (at most {ALLOWED[what].get(package, 0)})\n")
    sys.stdout.write(f"classes of one name: {len(homonyms())}\n")
    for name, folders in homonyms().items():
        sys.stdout.write(f"  {name}: {', '.join(folders)}\n")


if __name__ == "__main__":
    main()

"""Which fast tests are closest to a module: those that import it, and those that import what imports it."""

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.conftest import ROOT, SLOW_FILES, SLOW_FOLDERS

CLOSEST = 8  # files of tests that a mutant is tried with, at most
ENOUGH = 4  # and with so many none that are farther away


@dataclass(frozen=True)
class Imports:
    """Who imports which module of the project, a name of a package counting for the module that defines it."""

    root: Path

    @cached_property
    def files(self) -> dict[str, Path]:
        """The project's files by the name of their module."""
        paths = [path for part in ("hwlib", "autograder", "tests") for path in (self.root / part).rglob("*.py")]
        return {_module(path.relative_to(self.root)): path for path in sorted(paths)}

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that import each."""
        found: dict[str, set[str]] = defaultdict(set)
        for name in self.files:
            for imported in self._imported(name):
                found[imported].add(name)
        return found

    def _imported(self, name: str) -> set[str]:
        return {self._defining(*pair) for pair in self._names(name)} | self._whole(name)

    def _whole(self, name: str) -> set[str]:
        nodes = [node for node in ast.walk(self._tree(name)) if isinstance(node, ast.Import)]
        return {alias.name for node in nodes for alias in node.names if alias.name in self.files}

    def _names(self, name: str) -> list[tuple[str, str]]:
        """What a module imports from others: (module, name)."""
        nodes = [node for node in ast.walk(self._tree(name)) if isinstance(node, ast.ImportFrom)]
        return [(self._source(name, node), alias.name) for node in nodes for alias in node.names]

    def _source(self, name: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = name.split(".") if self.files[name].name == "__init__.py" else name.split(".")[:-1]
        above = package[: len(package) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _defining(self, module: str, name: str) -> str:
        """The module that a name of `module` comes from."""
        inner = f"{module}.{name}"
        if inner in self.files:
            return inner
        if module in self.files and self.files[module].name == "__init__.py":
            for source, imported in self._names(module):
                if imported == name and source != module:
                    return self._defining(source, name)
        return module

    def _tree(self, name: str) -> ast.Module:
        return _parsed(self.files[name])

    def closest_tests(self, file: str) -> list[str]:
        """The files of fast tests that are closest to a module: those that import it, beginning with those that are
        called like it, then those that import what imports it."""
        name = _module(Path(file))
        parts = name.split(".")
        reached, level, found = {name}, [name], []
        while level and len(found) < ENOUGH:
            level = sorted({other for one in level for other in self.importers[one]} - reached)
            reached.update(level)
            tests = [one for one in level if one.rpartition(".")[2].startswith("test_") and not self._is_slow(one)]
            found += sorted(tests, key=lambda test: (_unlike(test, parts), not _beside(test, parts), test))
        return [str(self.files[test].relative_to(self.root)) for test in found[:CLOSEST]]

    def _is_slow(self, test: str) -> bool:
        """Whether `make check` leaves a file of tests out."""
        path = ROOT / self.files[test].relative_to(self.root)
        return path in SLOW_FILES or any(folder in path.parents for folder in SLOW_FOLDERS)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _unlike(test: str, parts: Sequence[str]) -> int:
    """How little the name of a test says of a module: 0 where it is the module's, 1 where it is its package's."""
    name = test.rpartition(".")[2]
    if name in (f"test_{parts[-1]}", f"test_{'_'.join(parts[-2:])}"):
        return 0
    return 1 if name == f"test_{parts[-2]}" else 2


def _beside(test: str, parts: Sequence[str]) -> bool:
    return test.split(".")[1:-1] == list(parts[:-1])

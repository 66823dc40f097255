"""Where the book uses a row of the tables or a formula: the back-links of the pages that list them.

Read from the syntax of a chapter alone: of its computed numbers, of its cells, and of the prompt and the given numbers
of its exercises. A solution is not read: that it needs a formula may be what the exercise asks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ...declaration.bank import declared_files
from ..source import concept_order
from .places import label_of, plain_title, section_of

if TYPE_CHECKING:
    from ..source.chapters import Chapter

ASKED = ("prompt", "given", "title")
"""What of an exercise's declaration its reader sees."""


class Use(NamedTuple):
    """One place that uses something: a section of a chapter, or an exercise."""

    page: str
    anchor: str
    chapter: str
    title: str

    @property
    def href(self) -> str:
        """Its address in the book."""
        return f"{self.page}.html" + (f"#{self.anchor}" if self.anchor else "")


class Thing(NamedTuple):
    """What is used: a row of a table ("chips", "h100-sxm") or a formula ("formulas", its full name)."""

    kind: str
    key: str


Uses = Mapping[Thing, tuple[Use, ...]]


def uses_of(chapters: Iterable[Chapter]) -> Uses:
    """Everything that the chapters use, with the places in the order of the book."""
    places_of: dict[Thing, dict[Use, None]] = {}
    for chapter in chapters:
        for thing, use in _of(chapter):
            places_of.setdefault(thing, {})[use] = None
    return {thing: tuple(places) for thing, places in places_of.items()}


def by_chapter(places: Sequence[Use]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The places that use something, chapter by chapter: (address, title) each."""
    links_of: dict[str, dict[str, str]] = {}
    for use in places:
        links_of.setdefault(use.chapter, {}).setdefault(use.href, plain_title(use.title) or "its beginning")
    return [(chapter, list(links.items())) for chapter, links in links_of.items()]


def tables() -> dict[str, Mapping[str, Any]]:
    """The tables of hardware and models, by what the explorer calls them."""
    from hwlib.specs import accelerators, clusters, links, models, nodes, switches

    return {
        "chips": accelerators,
        "links": links,
        "switches": switches,
        "nodes": nodes,
        "clusters": clusters,
        "models": models,
    }


def _of(chapter: Chapter) -> Iterator[tuple[Thing, Use]]:
    names = _Names(chapter.roles.namespace)
    files = declared_files(chapter.bank.path) if chapter.bank.path else []
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    cells = [(cell, at) for cell, at in concept_order.cells_of(chapter.source) if cell.cell_type == "code"]
    read = [(cell, at, tree) for cell, at in cells if (tree := _tree(cell.source)) is not None]
    for tree in (*trees, *(tree for cell, _, tree in read if "exercise" not in cell.metadata)):
        names.learn(tree)
    things_of = {name: things for tree in trees for name, things in _asked(tree, names)}
    used: list[tuple[int, str, Iterable[Thing]]] = []
    for place in concept_order.text_of(chapter.source.path).prose:
        for role, text in _expressions(place.text):
            things = names.of(tree) if (tree := _tree(text)) is not None else ()
            used.append((place.line, role, things))
    for cell, at, tree in read:
        exercise = cell.metadata.get("exercise", "")
        used.append((at, exercise, things_of.get(exercise, ()) if exercise else names.of(tree)))
        for option in ("caption", "alt"):
            texts = [text for _, text in _expressions(str(cell.metadata.get(option, "")))]
            used += [(at, "", names.of(tree)) for text in texts if (tree := _tree(text)) is not None]
    label = label_of(chapter)
    for line, exercise, things in sorted(used, key=lambda one: one[0]):
        if exercise:
            title = chapter.bank[exercise].title or exercise
            use = Use(chapter.name, f"exercise-{exercise}", label, f"exercise {title}")
        else:
            section = section_of(chapter, line)
            use = (
                Use(chapter.name, section.anchor, label, section.title) if section else Use(chapter.name, "", label, "")
            )
        for thing in things:
            yield thing, use


def _expressions(text: str) -> Iterator[tuple[str, str]]:
    for expression in concept_order.EQUATION.findall(text):
        yield "", expression
    for _, expression in concept_order.NUMBER.findall(text):
        yield "", expression


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text.strip())
    except SyntaxError:  # a learner's magic
        return None


def _asked(tree: ast.Module, names: _Names) -> Iterator[tuple[str, list[Thing]]]:
    """Each declared exercise with what its prompt and its given numbers use."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Exercise":
            keywords = {keyword.arg: keyword.value for keyword in node.keywords}
            if isinstance(own := keywords.get("id"), ast.Constant):
                things = [thing for part in ASKED if part in keywords for thing in names.of(keywords[part])]
                yield str(own.value), list(dict.fromkeys(things))


class _Names:
    """What the names of a chapter stand for: a row or a formula itself, or what was computed from some."""

    def __init__(self, namespace: Mapping[str, Any]):
        self._namespace = namespace
        self._made: dict[str, ast.expr] = {}

    def learn(self, tree: ast.Module) -> None:
        """Remember from what the names that a file or a cell sets are computed."""
        for node in tree.body:
            if isinstance(node, ast.Assign) and not _declares(node.value):
                for target in node.targets:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name):
                            self._made[name.id] = node.value

    def of(self, tree: ast.AST, inside: tuple[str, ...] = ()) -> list[Thing]:
        """The rows and formulas that an expression uses, in its order, each once."""
        things: list[Thing] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                if thing := _thing(self._namespace.get(node.id)):
                    things.append(thing)
                elif node.id in self._made and node.id not in inside:
                    things += self.of(self._made[node.id], (*inside, node.id))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = self._namespace.get(node.value.id)
                if isinstance(home, ModuleType) and (thing := _thing(getattr(home, node.attr, None))):
                    things.append(thing)
        for key, kinds in _keys(tree, self._namespace).items():
            things += [Thing(kind, key) for kind in kinds]
        return list(dict.fromkeys(things))


def _keys(tree: ast.AST, namespace: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The keys of rows that stand as texts, each with the tables that are meant: of `nodes["gb200-nvl72"]` the one that
    is named, else all that have such a row."""
    named = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.value, ast.Name)
        ):
            own = namespace.get(node.value.id)
            if kinds := tuple(kind for kind, table in tables().items() if table is own):
                named[str(node.slice.value)] = kinds
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    kinds_of = {
        text: named.get(text, tuple(kind for kind, table in tables().items() if text in table)) for text in texts
    }
    return {text: kinds for text, kinds in kinds_of.items() if kinds}


def _declares(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "Exercise"


def _thing(value: Any) -> Thing | None:
    from hwlib.formula import Formula

    if isinstance(value, Formula):
        return Thing("formulas", value.qualname)
    kind = _kinds().get(type(value))
    return Thing(kind, value.key) if kind and value.key in tables()[kind] else None


@cache
def _kinds() -> dict[type, str]:
    return {type(next(iter(table.values()))): kind for kind, table in tables().items()}

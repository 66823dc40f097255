"""Every regular expression of hwlib and autograder reads any text in linear time: much of it was written by others."""

import ast
import importlib
import re
import re._parser as parser  # a pattern does not say what it is made of
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
METHODS = {
    "match": lambda pattern, text: pattern.match(text),
    "search": lambda pattern, text: pattern.search(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "split": lambda pattern, text: pattern.split(text),
    "sub": lambda pattern, text: pattern.sub("", text),
    "findall": lambda pattern, text: pattern.findall(text),
    "finditer": lambda pattern, text: list(pattern.finditer(text)),
}
CALLED = re.compile(rf"\.(?:compile|{'|'.join(METHODS)})\(")
LENGTHS = (
    *range(14, 60, 4),
    80,
    120,
    200,
    1000,
    3000,
    10_000,
)  # what takes exponential time shows it while it still ends
LIMIT = 0.1  # seconds of processor time
SEPARATORS = " \n:,;>]|/-"
CATEGORIES = {
    parser.CATEGORY_DIGIT: "1",
    parser.CATEGORY_SPACE: " ",
    parser.CATEGORY_WORD: "a1_",
    parser.CATEGORY_NOT_DIGIT: "a",
    parser.CATEGORY_NOT_SPACE: "a",
    parser.CATEGORY_NOT_WORD: "-",
}


class Written(NamedTuple):
    """A pattern, where it is written, and the methods that are called of it."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


@lru_cache
def trees() -> dict[Path, ast.Module]:
    """The files that call something which a pattern has."""
    paths = (path for package in ("hwlib", "autograder") for path in sorted((ROOT / package).rglob("*.py")))
    texts = {path: path.read_text("utf-8") for path in paths}
    return {path: ast.parse(text) for path, text in texts.items() if CALLED.search(text)}


def owner(node: ast.Attribute) -> str:
    """The last word before the dot: TOKEN of `roles.TOKEN.sub`."""
    return getattr(node.value, "id", getattr(node.value, "attr", ""))


@lru_cache
def called() -> tuple[dict[Path, dict[str, set[str]]], dict[str, set[str]]]:
    """The methods that are called of each name: by file, and in all of them."""
    by_file: dict[Path, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    everywhere: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                by_file[path][owner(node)].add(node.attr)
                everywhere[owner(node)].add(node.attr)
    return by_file, everywhere


def compiled(path: Path, call: ast.Call) -> re.Pattern[str] | None:
    """The pattern of `re.compile` or a function of `re`; None where it is made of what only a call knows."""
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "compile":
        flags += call.args[1:2]
    source = f"re.compile({', '.join(map(ast.unparse, [call.args[0], *flags]))})"
    names: dict[str, object] = {"re": re}
    if not isinstance(call.args[0], ast.Constant):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names = vars(importlib.import_module(".".join(part for part in parts if part != "__init__")))
    try:
        return eval(source, names)
    except (NameError, AttributeError, TypeError):
        return None


def of_file(path: Path, tree: ast.Module) -> Iterator[Written]:
    by_file, everywhere = called()
    nodes = list(ast.walk(tree))
    names = {id(node.value): getattr(node.targets[0], "id", "") for node in nodes if isinstance(node, ast.Assign)}
    for node in nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and owner(node.func) == "re"):
            continue
        if node.func.attr not in (*METHODS, "compile") or (pattern := compiled(path, node)) is None:
            continue
        name = names.get(id(node), "")
        methods = by_file[path].get(name) or everywhere.get(name) or {"match", "search", "fullmatch"}
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        yield Written(place, pattern, frozenset(methods if node.func.attr == "compile" else {node.func.attr}))


def characters(tree: object) -> Iterator[str]:
    """One character of each literal, range and category of a parsed pattern."""
    if isinstance(tree, parser.SubPattern | list):
        for operation, argument in tree:
            yield from of_operation(operation, argument)
    elif isinstance(tree, tuple):
        for part in tree:
            yield from characters(part)


def of_operation(operation: object, argument: object) -> Iterator[str]:
    if operation in (parser.LITERAL, parser.NOT_LITERAL):
        yield chr(argument)
    elif operation is parser.RANGE:
        yield chr(argument[0])
    elif operation is parser.CATEGORY:
        yield from CATEGORIES[argument]
    elif operation is parser.BRANCH:
        for branch in argument[1]:
            yield from characters(branch)
    else:
        yield from characters(argument)


def too_long(method: str, pattern: re.Pattern[str], text: str) -> bool:
    """Whether three of three calls take too long: one may have met the garbage collector."""
    for _ in range(3):
        before = time.process_time()
        METHODS[method](pattern, text)
        if time.process_time() - before <= LIMIT:
            return False
    return True


def slow(written: Written) -> str:
    """What the pattern reads too slowly: empty for nothing."""
    flags = written.pattern.flags & ~re.UNICODE
    for unit in sorted({*characters(parser.parse(written.pattern.pattern, flags)), *SEPARATORS}):
        for method in sorted(written.methods):
            for length in LENGTHS:
                if too_long(method, written.pattern, unit * length + "\0"):
                    return f"{method} of {length} times {unit!r}"
    return ""


@pytest.mark.slow
def test_every_pattern_is_linear():
    every = [written for path, tree in trees().items() for written in of_file(path, tree)]
    assert len(every) > 200
    failed = {written.place: slow(written) for written in every}
    assert {place: text for place, text in failed.items() if text} == {}


@pytest.mark.parametrize(
    ("pattern", "linear"),
    [
        (r"(?:\S*[:>\]]\s*)*\d+", False),
        (r"\s*;\s*", False),
        (r"(?:(?<!\s)\s+)?;\s*", True),
        (r"(a|aa)+b", False),
        (r"\d+(?:\.\d*)?$", True),
    ],
)
def test_what_is_not_linear_is_seen(pattern, linear):
    written = Written("here", re.compile(pattern), frozenset({"search" if ";" in pattern else "fullmatch"}))
    assert (slow(written) == "") == linear

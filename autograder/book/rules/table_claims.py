"""The rule on what a text says of a measured table: of a sample, no more than what is computed from it.

A section is about a table where a cell, a number or an exercise of it reads the table, by way of names of the chapter
too. In it a sentence is about the table where it has a word for one or for what it holds ("published", "run", "row"),
where it cites a source of the table, or where it stands below a figure that is drawn from it. hwlib/specs/extents.csv
says which tables are whole.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import CodeType
from typing import Any, NamedTuple

from ..source import concept_order
from .source_cells import Cell, ChapterReading

CLAIM = re.compile(
    r"(?i)\b(?:no (?:\w+ )?(?:run|row|trial)|no (?:measured |published )?(?:runs|rows|trials)"
    r"|nobody|no one|the largest|the only|the best measured|never)\b"
)
WORD = r"measured|measurements?|published|printed|trials?|logged|no (?:\w+ )?(?:run|row)|no (?:runs|rows)"
RUN = r"(?:the|these|a|each|every|largest|only|best|fastest) runs?"
ABOUT = re.compile(rf"(?i)\b(?:{WORD}|{RUN}|tables?|sweeps?|logs?|entries|benchmarks?)\b")
ABOUT_IN_A_PROMPT = re.compile(rf"(?i)\b(?:{WORD})\b")  # in which a row is a matrix's, and a table one to be written
HEDGE = re.compile(r"(?i)\brows here\b|\b(?:of|in|among) (?:these|all of these|the \w+) rows\b")
HEADING = re.compile(r"^#{2,6} ", re.M)
SET_APART = re.compile(r"\{\w+\}`[^`]*`|\*?“[^“”]*”\*?|(?<![`}])(`+)(?!`).+?(?<!`)\1(?!`)|\$[^$\n]+\$")
CITED = re.compile(r"\{cite\}`([^`]+)`")
TEXTS = "prompt", "explain"


class Sentence(NamedTuple):
    """A sentence of a chapter, where it stands, the tables from which a number in it is computed, those from which the
    figure is drawn that it stands below, and the words by which it speaks of a table."""

    where: str
    text: str
    computed: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()
    words: re.Pattern[str] = ABOUT

    def is_about(self, file: str) -> bool:
        """Whether it speaks of a measured table, in a section that reads it."""
        from hwlib.specs.extents import extents

        cited = {key.strip() for keys in CITED.findall(self.text) for key in keys.split(",")}
        keys = {extent.source.split(" ")[0].rstrip(",") for extent in extents(file)}
        return bool(file in self.drawn or self.words.search(_bare(self.text)) or keys & cited)


class ChapterSection(NamedTuple):
    """What stands below one heading: its sentences, and the measured tables that it reads."""

    sentences: tuple[Sentence, ...]
    tables: frozenset[str]


def of_a_sample_only_what_is_computed(chapter: ChapterReading) -> Iterator[str]:
    """Of a measured table that is a sample, “never” or “the largest” is computed, or said of the rows here."""
    from hwlib.specs.extents import is_whole

    for section in sections(chapter):
        tables = sorted(file for file in section.tables if not is_whole(file))
        for sentence in section.sentences if tables else ():
            match = CLAIM.search(_bare(sentence.text))
            samples = [file for file in tables if sentence.is_about(file)]
            if match and samples and not HEDGE.search(sentence.text) and not sentence.computed.intersection(samples):
                expected = "a number computed from it, or “of the rows here”, was expected"
                yield f"{sentence.where}: “{match[0]}”, and of {', '.join(samples)} only a part is here; {expected}"


def sections(chapter: ChapterReading) -> Iterator[ChapterSection]:
    """The sections of a chapter, from one heading to the next."""
    reads = TableNames(chapter)
    sentences: list[Sentence] = []
    tables: set[str] = set()
    for cell in chapter.cells:
        if not cell.code:
            for number, line in enumerate(cell.text.split("\n")):
                if HEADING.match(line):
                    yield ChapterSection(tuple(sentences), frozenset(tables))
                    sentences, tables = [], set()
                    continue
                computed = reads.of(*(body for _, body in concept_order.NUMBER.findall(line)))
                sentences.append(Sentence(chapter.at(cell.line + number), line, computed))
                tables |= computed
            continue
        tables |= reads.of(cell.text)
        sentences += _captions(chapter, cell, reads.of(cell.text))
        if (name := str(cell.options.get("exercise", ""))) in chapter.bank:
            own = reads.of_exercise(name)
            tables |= own
            sentences += _asked(chapter, name) if own else ()
    yield ChapterSection(tuple(sentences), frozenset(tables))


def _bare(text: str) -> str:
    return SET_APART.sub(" ", text)


def _captions(chapter: ChapterReading, cell: Cell, drawn: frozenset[str]) -> Iterator[Sentence]:
    for text in re.split(r"(?<=[.?]) ", str(cell.options.get("caption", ""))):
        yield Sentence(chapter.at(cell.line), text, drawn=drawn)


def _asked(chapter: ChapterReading, name: str) -> Iterator[Sentence]:
    exercise = chapter.bank[name]
    texts = [text for field in TEXTS if isinstance(text := getattr(exercise, field, None), str)]
    for text in (*texts, *(hint for hint in exercise.hints if isinstance(hint, str))):
        for sentence in re.split(r"(?<=[.?])\s+", text):
            yield Sentence(chapter.where(name), sentence, words=ABOUT_IN_A_PROMPT)


@dataclass(frozen=True)
class TableNames:
    """Which measured tables the names of a chapter lead to: those that its cells and exercises import and define."""

    chapter: ChapterReading

    def of(self, *texts: str) -> frozenset[str]:
        """The tables that some lines of code read."""
        return self._reached(name for text in texts for name in _used(_parsed(text)))

    def of_exercise(self, name: str) -> frozenset[str]:
        """The tables that the declaration of an exercise reads."""
        return self._reached(self._declared.get(name, ()))

    @cached_property
    def _statements(self) -> list[ast.stmt]:
        from ...declaration.bank import declared_files

        files = declared_files(self.chapter.bank.path) if self.chapter.bank.path else ()
        texts = [*(file.read_text("utf-8") for file in files), *(cell.text for cell in self.chapter.code)]
        return [statement for text in texts for statement in _parsed(text).body]

    @cached_property
    def _defined(self) -> Mapping[str, frozenset[str]]:
        """What each name that is defined at the top of a file or a cell is made of."""
        defined: dict[str, frozenset[str]] = {}
        for statement in self._statements:
            for name in _binds(statement):
                defined[name] = defined.get(name, frozenset()) | _used(statement)
        return defined

    @cached_property
    def _imported(self) -> Mapping[str, frozenset[str]]:
        """The tables that what is imported from hwlib reads, by the names that it has here."""
        imports = (statement for statement in self._statements if isinstance(statement, ast.ImportFrom))
        return {
            alias.asname or alias.name: tables_of_import(statement.module, alias.name)
            for statement in imports
            for alias in statement.names
            if statement.module and statement.module.split(".")[0] == "hwlib"
        }

    @cached_property
    def _declared(self) -> Mapping[str, frozenset[str]]:
        """What the statement that declares an exercise is made of, by the exercise's id."""
        declared: dict[str, frozenset[str]] = {}
        for statement in self._statements:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and node.value in self.chapter.bank:
                    declared.setdefault(str(node.value), _used(statement))
        return declared

    def _reached(self, names: Iterable[str]) -> frozenset[str]:
        seen: set[str] = set()
        tables: set[str] = set()
        left = list(names)
        while left:
            name = left.pop()
            if name in seen:
                continue
            seen.add(name)
            tables |= self._imported.get(name, frozenset())
            left += self._defined.get(name, ())
            module, _, attribute = name.partition(".")
            if attribute and module in ("plots", "widgets"):
                tables |= tables_of_import(f"hwlib.{module}", attribute)
        return frozenset(tables)


@cache
def tables_of_import(module: str, name: str) -> frozenset[str]:
    """The measured tables that a function of hwlib reads, itself or by others of its module."""
    from importlib import import_module

    value = getattr(import_module(module), name, None)
    return frozenset(_read_by(getattr(value, "__wrapped__", value), set())) if callable(value) else frozenset()


def _read_by(function: Callable[..., Any], seen: set[object]) -> Iterator[str]:
    from hwlib.specs.measured import Measurements

    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or code in seen:
        return
    seen.add(code)
    names = getattr(function, "__globals__", {})
    for value in (names[name] for name in _names_in(code) if name in names):
        if isinstance(value, Measurements):
            yield value.file
        elif callable(value) and (_is_table(value) or getattr(value, "__module__", "") == function.__module__):
            yield from _read_by(getattr(value, "__wrapped__", value), seen)


def _is_table(value: Callable[..., Any]) -> bool:
    return getattr(value, "__name__", "").startswith("measured_")


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text.strip())
    except SyntaxError:  # a magic, or a format behind an expression
        return ast.Module([], [])


def _used(statement: ast.AST) -> frozenset[str]:
    """The names of a statement, those of attributes with what they are of."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    attributes = (node for node in ast.walk(statement) if isinstance(node, ast.Attribute))
    return frozenset(
        names | {f"{node.value.id}.{node.attr}" for node in attributes if isinstance(node.value, ast.Name)}
    )


def _binds(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement defines."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif not isinstance(statement, ast.Import | ast.ImportFrom):
        nodes = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        yield from (node.id for node in nodes if isinstance(node.ctx, ast.Store))

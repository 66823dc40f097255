"""How alike two pieces of code, or two texts, are, whatever was done to hide it.

Code is compared by its syntax tree, in which names of the writer's own, comments, annotations, docstrings and layout
play no part; texts by runs of words. Nothing is run, or read with anything but `ast.parse`.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import unicodedata
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

RUN_OF_NODES = 6  # of a tree in the order of its text
RUN_OF_WORDS = 4
LEAST_NODES = 48  # beyond the stub, some five lines: what is shorter, two write alike by themselves
LEAST_WORDS = 25
CODE_ALIKE = 0.55  # of the runs of either, that both have
TEXT_ALIKE = 0.45  # of the runs of the shorter one
MOST_CODE, MOST_TEXT = 20_000, 50_000  # letters that are compared
NAMES = ("id", "arg", "name", "asname", "names")  # fields of nodes
PASSED_OVER = {"annotation", "returns", "type_comment", "type_params", "kind"}
SKIPPED = (ast.expr_context, ast.TypeIgnore)
KNOWN = frozenset(dir(builtins))


@dataclass(frozen=True)
class WorkTrace:
    """What is compared of a piece of work: the digest of all of it, and its runs; `size` in nodes or words."""

    digest: str
    runs: frozenset[int]
    size: int


def code_trace(source: str, stub: WorkTrace | None = None) -> WorkTrace | None:
    """The trace of a cell of code, without what the `stub` had already; None where it is too short to say anything, or
    cannot be parsed."""
    if len(source) > MOST_CODE:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
        nodes = _nodes(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _trace(nodes, RUN_OF_NODES, stub, LEAST_NODES)


def stub_trace(source: str) -> WorkTrace | None:
    """The trace of what a learner was given, however short."""
    try:
        return _trace(_nodes(ast.parse(source)), RUN_OF_NODES, None, 0)
    except (SyntaxError, ValueError, RecursionError):
        return None


def text_trace(text: str) -> WorkTrace | None:
    """The trace of a text; None where it is short."""
    plain = unicodedata.normalize("NFKC", text[:MOST_TEXT]).casefold()
    words = "".join(c if c.isalnum() else " " for c in plain).split()
    return _trace(words, RUN_OF_WORDS, None, LEAST_WORDS)


def _trace(parts: Sequence[str], length: int, stub: WorkTrace | None, least: int) -> WorkTrace | None:
    size = len(parts) - (stub.size if stub else 0)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
    if size < least or (stub is not None and digest == stub.digest):
        return None
    runs = {hash(tuple(parts[at : at + length])) for at in range(max(1, len(parts) - length + 1))}
    return WorkTrace(digest, frozenset(runs - stub.runs if stub else runs), size)


def _nodes(tree: ast.AST) -> list[str]:
    """The nodes of a tree in the order of its text, each as a word; a name that the cell binds is numbered."""
    words: list[str | _Name] = []
    bound: set[str] = set()

    def visit(node: ast.AST) -> None:
        kind = type(node)
        words.append(kind.__name__)
        if own := _binds(node):
            bound.add(own)
        for field in kind._fields:
            value = getattr(node, field, None)
            if value is None or field in PASSED_OVER:
                continue
            if isinstance(value, list):
                for child in _without_docstring(value) if field == "body" else value:
                    if isinstance(child, ast.AST):
                        visit(child)
                    elif child is not None:
                        words.append(_word(node, field, child))
            elif isinstance(value, ast.AST):
                if not isinstance(value, SKIPPED):
                    visit(value)
            else:
                words.append(_word(node, field, value))

    visit(tree)
    own: dict[str, str] = {}
    return [_numbered(word, bound, own) if isinstance(word, _Name) else word for word in words]


class _Name(str):
    """A word that is a name, of the writer's own or of a thing that is there."""

    __slots__ = ()


def _numbered(name: str, bound: set[str], own: dict[str, str]) -> str:
    return own.setdefault(name, f"v{len(own)}") if name in bound and name not in KNOWN else str(name)


def _binds(node: ast.AST) -> str | None:
    """The name that a node gives to a thing: of a variable, an argument, an inner function, an import."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
        return node.name
    return node.asname if isinstance(node, ast.alias) else None


def _word(node: ast.AST, field: str, value: Any) -> str:
    if isinstance(node, ast.Constant):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return f"{float(value):.12g}" if number and abs(value) < 1e300 else repr(value)[:200]
    return _Name(value) if isinstance(value, str) and field in NAMES else str(value)


def _without_docstring(body: list[Any]) -> list[Any]:
    """Statements without a text that does nothing, and without the three dots of a stub."""
    return [
        one
        for one in body
        if not (
            isinstance(one, ast.Expr)
            and isinstance(one.value, ast.Constant)
            and (isinstance(one.value.value, str) or one.value.value is ...)
        )
    ]


@dataclass(frozen=True)
class SimilarWork:
    """Those whose work is alike: `share` of it at least, 1 where it is the same."""

    members: tuple[str, ...]
    share: float


def groups(traces: dict[str, WorkTrace], alike: float, *, of_shorter: bool = False) -> list[SimilarWork]:
    """Those who have the same, and those who have nearly the same; each is in one group at most, the largest first.

    Near are two that have `alike` of their runs in common: of all that either has, or of the shorter one's.
    """
    same: dict[str, list[str]] = {}
    for who, trace in traces.items():
        same.setdefault(trace.digest, []).append(who)
    heads = [traces[members[0]] for members in same.values()]
    everyone = list(same.values())
    shares = shared(heads, of_shorter=of_shorter)
    join = list(range(len(heads)))
    least: dict[tuple[int, int], float] = {}

    def root(at: int) -> int:
        while join[at] != at:
            at = join[at]
        return at

    near = [(first, other) for first in range(len(heads)) for other in range(first) if shares[first][other] >= alike]
    for first, other in near:
        join[root(first)] = root(other)
        least[first, other] = shares[first][other]
    made: dict[int, list[int]] = {}
    for at in range(len(heads)):
        made.setdefault(root(at), []).append(at)
    similar = []
    for parts in made.values():
        members = [who for at in parts for who in everyone[at]]
        if len(members) > 1:
            inside = [share for (first, other), share in least.items() if first in parts and other in parts]
            similar.append(SimilarWork(tuple(sorted(members)), min(inside, default=1.0)))
    return sorted(similar, key=lambda group: (-len(group.members), group.members))


def shared(traces: Sequence[WorkTrace], *, of_shorter: bool = False) -> list[list[float]]:
    """The share of the runs that each two have in common."""
    import numpy

    index: dict[Hashable, int] = {}
    rows = [[index.setdefault(run, len(index)) for run in trace.runs] for trace in traces]
    table = numpy.zeros((len(traces), max(1, len(index))), dtype=numpy.float32)
    for row, columns in enumerate(rows):
        table[row, columns] = 1
    both = table @ table.T
    size = both.diagonal()
    whole = numpy.minimum.outer(size, size) if of_shorter else numpy.add.outer(size, size) - both
    result: list[list[float]] = (both / numpy.maximum(whole, 1)).tolist()
    return result


def of_others(
    traces: dict[str, WorkTrace], known: WorkTrace | None, alike: float, *, of_shorter: bool = False
) -> dict[str, float]:
    """Those whose work is that of a known piece, such as the book's own solution, and how much of it."""
    shares_of: dict[str, float] = {}
    if known is None:
        return shares_of
    for who, trace in traces.items():
        both, sizes = len(trace.runs & known.runs), (len(trace.runs), len(known.runs))
        share = both / max(1, min(sizes) if of_shorter else sum(sizes) - both)
        if trace.digest == known.digest or share >= alike:
            shares_of[who] = 1.0 if trace.digest == known.digest else share
    return shares_of

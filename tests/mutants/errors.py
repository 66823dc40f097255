"""Small errors in Python source, and a draw of them that a seed determines."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
UNCHANGED = ("annotation", "returns", "decorator_list")  # parts of the syntax that no error is put into


@dataclass(frozen=True)
class Mutant:
    """A file with one error, the `text` in place of its bytes from `begin` to `end`: a line as it `was`, and what it
    `becomes`."""

    file: str
    kind: str
    line: int
    was: str
    becomes: str
    begin: int
    end: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.was} -> {self.becomes}"

    def of(self, source: bytes) -> bytes:
        """The file with the error."""
        return source[: self.begin] + self.text.encode() + source[self.end :]

    def compiles(self, source: bytes) -> bool:
        """Whether Python reads it: a pattern of `match` has no room for an expression."""
        try:
            compile(self.of(source), self.file, "exec")
        except SyntaxError:
            return False
        return True


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    starts = list(accumulate(map(len, source.splitlines(keepends=True)), initial=0))
    made: list[Mutant] = []
    for node in _places(ast.parse(source)):
        for kind, text in errors(node):
            line, last = starts[node.lineno - 1], starts[node.end_lineno]
            begin, end = line + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            becomes = source[line:begin] + text.encode() + source[end:last]
            made.append(
                Mutant(file, kind, node.lineno, _one_line(source[line:last]), _one_line(becomes), begin, end, text)
            )
    return made


def errors(node: ast.AST) -> Iterator[tuple[str, str]]:
    """What a piece of syntax is replaced by, each with the kind of error that it is."""
    match node:
        case ast.Compare():
            for number, operator in enumerate(node.ops):
                ops = [*node.ops[:number], COMPARISONS[type(operator)](), *node.ops[number + 1 :]]
                yield "comparison", f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield "operator", f"({ast.unparse(ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))})"
        case ast.BoolOp():
            yield "and, or", f"({ast.unparse(ast.BoolOp(OPERATORS[type(node.op)](), node.values))})"
        case ast.UnaryOp(op=ast.Not()):
            yield "not", f"({ast.unparse(node.operand)})"
        case ast.Raise():
            yield "refusal", "pass"
        case ast.Constant(value=int()) if not isinstance(node.value, bool):
            yield "constant", f"({node.value + 1})"
            yield "constant", f"({node.value - 1})"
        case ast.Constant(value=float()):
            yield "constant", f"({10 * node.value or 1.0})"


def _places(node: ast.AST) -> Iterator[ast.AST]:
    """The pieces of syntax in which errors are made: not those of texts, of types and of decorators."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in UNCHANGED and not isinstance(child, ast.JoinedStr):
                yield child
                yield from _places(child)


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())


def drawn(seed: int, count: int, root: Path, where: Sequence[str]) -> list[Mutant]:
    """So many different mutants of the files in `where`, or all that there are: by file, then by kind, then by place,
    so that neither long files nor the many constants prevail."""
    random, paths = Random(seed), (path for part in where for path in [root / part, *(root / part).rglob("*.py")])
    sources = {str(path.relative_to(root)): path.read_bytes() for path in sorted(paths) if path.suffix == ".py"}
    left: dict[str, dict[str, list[Mutant]]] = {}
    chosen: list[Mutant] = []
    files = list(sources)
    while len(chosen) < count and files:
        file = random.choice(files)
        if file not in left:
            left[file] = _by_kind(mutants(file, sources[file]))
        kinds = left[file]
        if not kinds:
            files.remove(file)
            continue
        kind = random.choice(sorted(kinds))
        mutant = kinds[kind].pop(random.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if mutant.compiles(sources[file]):
            chosen.append(mutant)
    return chosen


def _by_kind(made: Sequence[Mutant]) -> dict[str, list[Mutant]]:
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in made:
        kinds[mutant.kind].append(mutant)
    return kinds

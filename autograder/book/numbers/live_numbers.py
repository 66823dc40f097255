"""The numbers of a page that do more than stand there: those that can be dragged, that follow, and that have an origin.

In the text each is a span, `data-drag="rows"` or `data-n="4"`; without a script it is the number and nothing else. What
the scripts need is one element at the end of the page, and only of the numbers that stand on that page: the course
edition leaves model answers out, and so their numbers.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hwlib.formula import ops

from ..bibliography import Bibliography
from ..render import script_json
from .dragged import DragError, Dragged, dragged
from .javascript import Compiler, NotCompiled
from .provenance import Origins, has_origin

DRAG = re.compile(r"\{drag\}(`+)(.+?)(?<!`)\1(?!`)", re.S)
USED = re.compile(r"data-(n|drag)=\\?\"(\w+)")


class LiveNumbers:
    """The numbers of one chapter, as its text names them; `names` is what expressions are evaluated with.

    Raises DragError for a `{drag}` that is not valid, with its text as `drag`.
    """

    def __init__(self, namespace: Mapping[str, Any], text: str):
        self.namespace = namespace
        self.quantities: dict[str, Dragged] = {}
        for _, body in DRAG.findall(text):
            try:
                quantity = dragged(body, namespace)
                if quantity.name in self.quantities:
                    raise DragError(f"{quantity.name!r} is dragged already; one name for each quantity was expected")
            except DragError as error:
                raise DragError(f"{{drag}}`{body}`: {error}", body) from error
            self.quantities[quantity.name] = quantity
        self.names = {**namespace, **{name: quantity.value for name, quantity in self.quantities.items()}}
        self._numbers: dict[str, int] = {}
        self._written: dict[int, str] = {}
        self._compiler = Compiler({**ops.OPS, **namespace}, self.quantities)

    def quantity(self, body: str) -> Dragged:
        """What a `{drag}` of the text says."""
        return self.quantities[body.partition("=")[0].strip()]

    def drags(self, expression: str) -> list[str]:
        """The quantities that an expression depends on."""
        if not self.quantities:
            return []
        tree = ast.parse(expression.strip(), mode="eval")
        mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        return [name for name in self.quantities if name in mentioned]

    def number(self, expression: str) -> int | None:
        """The id of a computed number, and None where there is nothing to say of it. Raises NotCompiled."""
        expression = " ".join(expression.split())
        if expression in self._numbers:
            return self._numbers[expression]
        follows = bool(self.drags(expression))
        if not follows and not has_origin(expression, self.namespace, self.quantities):
            return None
        id_of = self._numbers.setdefault(expression, len(self._numbers))
        if follows:
            self._written[id_of] = self._compiler.text(expression)
        return id_of

    def javascript(self) -> dict[str, str]:
        """The JavaScript of each number that follows a quantity, by its expression."""
        return {e: self._written[n] for e, n in self._numbers.items() if n in self._written}

    def scripts(self, page: str, files: Sequence[Path], bibliography: Bibliography, indexed: Collection[str]) -> str:
        """The scripts for a page whose text, as JSON or HTML, is `page`; `files` are the chapter's files of exercises,
        `indexed` the formulas that the index lists."""
        used = set(USED.findall(page))
        numbers = {e: n for e, n in self._numbers.items() if ("n", str(n)) in used}
        made, behind = [], []
        if numbers:
            origins = Origins(self.namespace, files, bibliography, indexed, self._compiler)
            made.append(self._origins(numbers, origins))
            behind = origins.follows
        on_page = [one for name, one in self.quantities.items() if ("drag", name) in used]
        if on_page:
            made.append(f"<script>{self.sentences(on_page, numbers.values(), behind)}</script>")
        return "\n".join(made)

    def _origins(self, numbers: Mapping[str, int], origins: Origins) -> str:
        book = {name: one.value for name, one in self.quantities.items()}
        entries_of = {n: [e, *self._behind(e, origins, book)] for e, n in numbers.items()}
        data = {"numbers": entries_of, "entries": origins.entries, "sources": origins.sources}
        return f'<script type="application/json" id="origins">{script_json(data)}</script>'

    def _behind(self, expression: str, origins: Origins, book: Mapping[str, Any]) -> list[Any]:
        """The entries of a number; where it follows quantities, their names, and how the entries do (provenance.js)."""
        drags = [self.quantities[name] for name in self.drags(expression)]
        names = [one.name for one in drags]
        if not drags:
            return [origins.of(expression, book)]
        if all(isinstance(one.value, int | float) for one in drags):
            following = origins.following(expression, book)
            return [origins.of(expression, book), names, 0] if following is None else [following, names, 1]
        if len(drags) > 1:
            return [origins.of(expression, book), names, 0]
        each = [origins.of(expression, {**book, names[0]: value}) for value in drags[0].values]
        return [each[drags[0].at], names, each]

    def sentences(self, quantities: Iterable[Dragged], numbers: Iterable[int], behind: Iterable[str] = ()) -> str:
        """JavaScript that gives the page's quantities, the functions of the numbers that follow them, and those of what
        is `behind` these."""
        drags = ",".join(f"{one.name}:{_quantity(one, self.moves.get(one.name, ''))}" for one in quantities)
        follow = ",".join(f"{n}:{self._written[n]}" for n in numbers if n in self._written)
        formulas = ",".join(f"{name}:{js}" for name, js in self._compiler.formulas.items())
        units = script_json(self._compiler.units)
        return (
            f"(window.gpubook??={{}}).sentences=(N)=>{{const u={units},f={{{formulas}}};"
            f"return{{drags:{{{drags}}},numbers:{{{follow}}},origins:[{','.join(behind)}]}}}}"
        )

    @cached_property
    def moves(self) -> dict[str, str]:
        """The JavaScript that moves a figure, by the name of the quantity. Raises NotCompiled."""
        return {name: self._compiler.value(one.moved) for name, one in self.quantities.items() if one.parameter}


def _quantity(one: Dragged, moved: str) -> str:
    values = [value if isinstance(value, int | float) else 0 for value in one.values]
    data = {"label": one.label, "at": one.at, "values": values, "texts": one.texts, "parameter": one.parameter}
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    return text[:-1] + (f',"moved":{moved}}}' if moved else "}")


__all__ = ["LiveNumbers", "NotCompiled"]

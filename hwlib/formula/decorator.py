"""The decorator: one body, many readings."""

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cached_property, update_wrapper
from typing import Any

from hwlib.formula.dimensions import DimensionError, dim_of
from hwlib.formula.javascript import VEGA_CONSTANTS, js_of, vega_of
from hwlib.formula.latex import tex_of
from hwlib.formula.source import Body, FormulaError, inline, read
from hwlib.notation import NOTATION
from hwlib.units import COUNTS

ALL = frozenset({"expr", "dim", "tex", "js", "vega"})
REGISTRY: dict[str, "Formula"] = {}  # every formula of hwlib, by qualname


class NoReading(AttributeError):
    """A formula was asked for a reading that it does not have."""


class Formula:
    """A function of one expression; see `hwlib.formula`. Its attributes beside the readings:

    name, qualname ("roofline.ridge"), args, defaults, result (the letter of what it computes), cite (the key of its
    source in the bibliography), readings (those it has), sequences (the arguments that it reduces over).
    """

    def __init__(self, function: Callable, result: str, cite: str, readings: frozenset[str] = ALL):
        update_wrapper(self, function)
        self.function, self.result, self.cite = function, result, cite
        self.name = function.__name__
        self.qualname = f"{function.__module__.removeprefix('hwlib.')}.{self.name}"
        self.__signature__ = inspect.signature(function)
        parameters = self.__signature__.parameters.values()
        self.args = tuple(p.name for p in parameters)
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
            raise FormulaError(f"{self.qualname}: a formula's parameters are plain letters, without * and /")
        for letter in (*self.args, result):
            _known_letter(self.qualname, letter)
        if unknown := frozenset(readings) - ALL:
            raise FormulaError(f"{self.qualname}: no reading {', '.join(unknown)}; there is {', '.join(sorted(ALL))}")
        try:
            body = read(function, self.args)
        except FormulaError as error:
            raise FormulaError(f"{self.qualname}: {error}") from None
        self.body: Body | None = body
        self.sequences: frozenset[str] = body.sequences if body else frozenset()
        self.readings = frozenset(readings) if body else frozenset({"expr"})
        for called in (body.calls.values() if body else ()):
            self.readings &= getattr(called, "readings", ALL)
        if self.sequences:
            self.readings -= {"expr", "vega"}  # neither has a sequence of unknown length

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value, for numbers, numpy arrays (integers widen to float) or sympy expressions, in SI base units."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}({', '.join(self.args)}): {error}") from None
        return self.function(**{letter: self._accept(letter, x) for letter, x in bound.arguments.items()})

    def _accept(self, letter: str, x: Any) -> Any:
        if letter in self.sequences:
            return x if hasattr(x, "__array__") else [*x]
        if not hasattr(x, "__truediv__"):
            kind, unit = type(x).__name__, NOTATION[letter].unit
            raise TypeError(f"{self.name}: {letter} is a number, an array or a symbol, in {unit}, not {x!r} ({kind})")
        if getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u"):
            return x.astype(float)  # 6*P*tokens overflows int64
        return x

    def __repr__(self) -> str:
        return f"<formula {self.qualname}({', '.join(self.args)}) -> {self.result} [{NOTATION[self.result].unit}]>"

    def __reduce__(self) -> str:
        return self.name

    def _need(self, reading: str) -> Body:
        if reading not in self.readings or self.body is None:
            why = "Python does not have its source" if self.body is None else f"it has {', '.join(sorted(self.readings))}"
            raise NoReading(f"{self.qualname} has no reading .{reading}: {why}")
        return self.body

    def _tree(self, reading: str, keep: Callable[[Any], bool] = lambda _: False) -> ast.expr:
        return inline(self._need(reading), {}, keep)

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """A positive sympy symbol for each argument."""
        import sympy

        return {letter: sympy.Symbol(letter, positive=True) for letter in self.args}

    @cached_property
    def expr(self) -> Any:
        """The formula as a sympy expression in `.symbols`."""
        if "expr" not in self.readings:
            self._need("expr")
        return self(**self.symbols)

    @cached_property
    def dim(self) -> dict[str, Any]:
        """The powers of B, s, J and USD; DimensionError where the formula adds bytes to seconds."""
        try:
            return dim_of(self._tree("dim"), {letter: NOTATION[letter].unit for letter in self.args})
        except DimensionError as error:
            raise DimensionError(f"{self.qualname}: {error}") from None

    @cached_property
    def _shown(self) -> ast.expr:
        """The tree as it prints: a called formula stays a symbol where that symbol means only one thing here."""
        body = self._need("tex")
        called = [c for c in body.calls.values() if isinstance(c, Formula)]
        uses = Counter(NOTATION[letter].tex for letter in (self.result, *self.args, *(c.result for c in called)))
        return inline(body, {}, lambda c: c in called and uses[NOTATION[c.result].tex] == 1)

    @cached_property
    def tex(self) -> str:
        """LaTeX of the equation, as the source has it; a called formula prints as the symbol of its result."""
        return f"{NOTATION[self.result].tex} = {tex_of(self._shown)}"

    @cached_property
    def tex_expanded(self) -> str:
        """LaTeX of the equation with every called formula written out."""
        return f"{NOTATION[self.result].tex} = {tex_of(self._tree('tex'))}"

    @cached_property
    def js(self) -> str:
        """The source of a self-contained JavaScript arrow function, with the formula's arguments and defaults."""
        return js_of(self._tree("js"), self.args, self.defaults)

    @cached_property
    def vega(self) -> str:
        """A vega expression over the bare names of the arguments."""
        tree = self._tree("vega")
        if clash := VEGA_CONSTANTS.intersection(self.args):
            raise NoReading(f"{self.qualname}: {', '.join(clash)} is a constant of vega; rename it with vega_with")
        return vega_of(tree, {})

    def vega_with(self, names: Mapping[str, str]) -> str:
        """A vega expression with the arguments named otherwise: `f.vega_with({"n": "datum.n", "b": "2"})`."""
        if unknown := set(names) - set(self.args):
            raise TypeError(f"{self.name}({', '.join(self.args)}) has no {', '.join(sorted(unknown))}")
        return vega_of(self._tree("vega"), names)

    @cached_property
    def equation(self) -> str:
        """Markdown: the displayed equation, what each letter is, and the source."""
        return self.equation_citing(self.cite)

    def equation_citing(self, source: str) -> str:
        """The equation with another text for its source, such as a citation of the page it is on."""
        names = (n.id for n in ast.walk(self._shown) if isinstance(n, ast.Name) and n.id in NOTATION)
        letters = dict.fromkeys((self.result, *self.args, *names))
        where = "; ".join(map(_meaning, letters))
        return f"$$\n{self.tex}\n$$\n\nwhere {where} ({source})."

    def _repr_markdown_(self) -> str:
        return self.equation


def formula(result: str, *, cite: str, readings: frozenset[str] = ALL) -> Callable[[Callable], Formula]:
    """Make a function of one `return` a formula for the letter `result`, with the key of its source.

    Raises FormulaError, where it is defined, for a letter that `hwlib.notation` does not have and for a body that
    holds more than a formula may. `readings` leaves out those that make no sense, such as `ALL - {"vega"}`.
    """

    def decorate(function: Callable) -> Formula:
        made = Formula(function, result, cite, readings)
        if function.__module__.startswith("hwlib."):
            REGISTRY[made.qualname] = made
        return made

    return decorate


def _known_letter(where: str, letter: str) -> None:
    if letter not in NOTATION:
        close = ", ".join(get_close_matches(letter, NOTATION, 3, 0.3)) or ", ".join(NOTATION)
        raise FormulaError(f"{where}: {letter!r} is no letter of hwlib.notation; near it are {close}")


def _meaning(letter: str) -> str:
    tex, unit, meaning = NOTATION[letter]
    return f"${tex}$ is {meaning}" + ("" if unit in ("1", *COUNTS) else f" [{unit}]")

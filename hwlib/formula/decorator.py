"""The decorator `formula`, and the object that it makes: one function body with many readings."""

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from difflib import get_close_matches
from functools import cached_property, update_wrapper
from threading import local
from typing import Any

from hwlib.formula.dimensions import DimensionError, dim_of
from hwlib.formula.domains import check_domain
from hwlib.formula.javascript import VEGA_CONSTANTS, js_of, vega_of
from hwlib.formula.latex import tex_of
from hwlib.formula.source import Body, Called, FormulaError, inline, read
from hwlib.notation import NOTATION
from hwlib.units import COUNTS

ALL = frozenset({"expr", "dim", "tex", "js", "vega"})
REGISTRY: dict[str, "Formula"] = {}  # every formula of hwlib, by qualname
_call = local()  # .inside is set while a formula computes, so that only the outermost checks its numbers


class NoReading(AttributeError):
    """A formula was asked for a reading that it does not have."""


class Formula:
    """A function of one expression, and its readings; see `hwlib.formula`.

    Besides the readings it has its `name`, `qualname` ("roofline.ridge"), `args`, `defaults`, `result` (the
    symbol that it computes), `cite` (the key of its source in the bibliography), `readings` (the names of its
    readings) and `sequences` (the arguments that it reduces over).
    """

    def __init__(self, function: Callable, result: str, cite: str, readings: Iterable[str] = ALL):
        update_wrapper(self, function)
        self.function, self.result, self.cite = function, result, cite
        self.name = function.__name__
        self.qualname = f"{function.__module__}.{self.name}".removeprefix("hwlib.")
        self.__signature__ = inspect.signature(function)
        parameters = self.__signature__.parameters.values()
        self.args = tuple(p.name for p in parameters)
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        try:
            if any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters):
                raise FormulaError("a formula's parameters are plain symbols, without * and /")
            if not all(type(default) in (int, float) for default in self.defaults.values()):
                raise FormulaError("a formula's defaults are numbers")
            if unknown := sorted(frozenset(readings) - ALL):
                raise FormulaError(f"unknown reading {unknown[0]!r}; known: {', '.join(sorted(ALL))}")
            for letter in (*self.args, result):
                _check_letter(letter)
            self.body: Body | None = read(function, self.args)
        except FormulaError as error:
            raise FormulaError(f"{self.qualname}: {error}", error.syntax) from None
        self.sequences: frozenset[str] = self.body.sequences if self.body else frozenset()
        self.readings = self._possible(frozenset(readings))

    def _possible(self, readings: frozenset[str]) -> frozenset[str]:
        """The readings that exist: none without the source, only those that every called formula has, and for a
        sequence neither sympy, which has no length for it, nor vega, which has no loop."""
        if self.body is None:
            return readings & {"expr"}
        for called in self.body.calls.values():
            readings &= getattr(called, "readings", ALL)
        return readings - {"expr", "vega"} if self.sequences else readings

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value, in SI, for numbers, numpy arrays (integers widen to float) or sympy expressions.

        Raises ValueError for a number outside the domain of its symbol (see `hwlib.notation`), NaN included.
        Formulas called by this one do not check their arguments: an intermediate term may leave a symbol's domain.
        """
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}({', '.join(self.args)}): {error}") from None
        numbers = {letter: self._accept(letter, x) for letter, x in bound.arguments.items()}
        if getattr(_call, "inside", False):
            return self.function(**numbers)
        for letter, x in numbers.items():
            check_domain(self.name, letter, x)
        _call.inside = True
        try:
            return self.function(**numbers)
        except ZeroDivisionError:
            values = ", ".join(f"{letter}={x}" for letter, x in numbers.items())
            raise ZeroDivisionError(f"{self.name} divides by zero at {values}") from None
        finally:
            _call.inside = False

    def _accept(self, letter: str, x: Any) -> Any:
        if getattr(getattr(x, "dtype", None), "kind", "") in ("i", "u"):
            return x.astype(float)  # 6*P*tokens overflows int64
        sequence = letter in self.sequences
        if isinstance(x, str | complex) or not hasattr(x, "__iter__" if sequence else "__truediv__"):
            expected = "a sequence of numbers" if sequence else "a number, an array or a symbol"
            unit = NOTATION[letter].unit
            raise TypeError(f"{self.name}: {letter} is {expected} [{unit}], not {x!r} ({type(x).__name__})")
        return x if hasattr(x, "__len__") or not sequence else tuple(x)  # an iterator is read only once

    def __repr__(self) -> str:
        unit = NOTATION[self.result].unit
        return f"<formula {self.qualname}({', '.join(self.args)}) -> {self.result} [{unit}]>"

    def __reduce__(self) -> str:
        return self.function.__qualname__

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """A positive sympy symbol for each argument."""
        import sympy

        return {letter: sympy.Symbol(letter, positive=True) for letter in self.args}

    @cached_property
    def expr(self) -> Any:
        """The formula as a sympy expression in `.symbols`."""
        self._need("expr")
        return self(**self.symbols)

    @cached_property
    def dim(self) -> dict[str, Any]:
        """The powers of B, s, J and USD. Raises DimensionError if, say, bytes are added to seconds."""
        try:
            return dim_of(self._tree("dim"), {letter: NOTATION[letter].unit for letter in self.args})
        except DimensionError as error:
            raise DimensionError(f"{self.qualname}: {error}") from None

    @cached_property
    def tex(self) -> str:
        """LaTeX of the equation as written in the source; a called formula prints as the symbol of its result."""
        return f"{NOTATION[self.result].tex} = {tex_of(self._shown)}"

    @cached_property
    def tex_expanded(self) -> str:
        """LaTeX of the equation with every called formula written out."""
        return f"{NOTATION[self.result].tex} = {tex_of(self._tree('tex'))}"

    @cached_property
    def js(self) -> str:
        """The source of a self-contained JavaScript arrow function of the arguments, with their defaults."""
        return js_of(self._tree("js"), self.args, self.defaults)

    @cached_property
    def vega(self) -> str:
        """A vega expression over the bare names of the arguments."""
        return self.vega_with({})

    def vega_with(self, names: Mapping[str, str]) -> str:
        """A vega expression with arguments replaced: `f.vega_with({"n": "datum.n", "b": "2"})`."""
        tree = self._tree("vega")
        if unknown := sorted(set(names) - set(self.args)):
            raise TypeError(f"{self.name}({', '.join(self.args)}) has no argument {unknown[0]!r}")
        if clash := sorted(VEGA_CONSTANTS.intersection(self.args).difference(names)):
            raise NoReading(f"{self.qualname}: {clash[0]} is a constant of vega; rename it with vega_with")
        return vega_of(tree, names)

    @cached_property
    def equation(self) -> str:
        """Markdown: the displayed equation, the meaning of each symbol, and the key of the source."""
        return self.equation_citing(self.cite)

    def equation_citing(self, source: str, known: Container[str] = ()) -> str:
        """The equation with another text in place of its source, such as a page's own citation, and without the meaning
        of symbols that are `known` already."""
        meanings = "; ".join(_meaning(letter) for letter in self.letters if letter not in known)
        return f"$$\n{self.tex}\n$$\n\n" + (f"where {meanings} ({source})." if meanings else f"({source})")

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The symbols of the equation as it is printed, that of its result first."""
        names = [node.id for node in ast.walk(self._shown) if isinstance(node, ast.Name)]
        return tuple(dict.fromkeys((self.result, *self.args, *(name for name in names if name in NOTATION))))

    def _repr_markdown_(self) -> str:
        return self.equation if "tex" in self.readings else repr(self)

    def _need(self, reading: str) -> None:
        if reading not in self.readings:
            has = ", ".join("." + name for name in sorted(self.readings)) or "none"
            why = "" if self.body else " (Python does not have its source)"
            raise NoReading(f"{self.qualname} has no reading .{reading}{why}; it has {has}")

    def _tree(self, reading: str, keep: Callable[[Called], bool] = lambda _: False) -> ast.expr:
        self._need(reading)
        assert self.body is not None
        return inline(self.body, keep)

    @cached_property
    def _shown(self) -> ast.expr:
        """The tree that is printed: a called formula stays a symbol if that symbol has one meaning in the equation."""
        calls = self.body.calls.values() if self.body else ()
        called = {c.name: c.result for c in calls if isinstance(c, Formula)}
        symbols = Counter(NOTATION[letter].tex for letter in (self.result, *self.args, *called.values()))
        return self._tree("tex", lambda c: c.name in called and symbols[NOTATION[c.result].tex] == 1)


def formula(result: str, *, cite: str, readings: Iterable[str] = ALL) -> Callable[[Callable], Formula]:
    """Make a function of one `return` a formula for the symbol `result`, with the key of its source.

    Raises FormulaError, where the function is defined, for a symbol that `hwlib.notation` does not have and
    for a body with more than a formula may contain. `readings` can exclude some: `ALL - {"vega"}`.
    """

    def decorate(function: Callable) -> Formula:
        made = Formula(function, result, cite, readings)
        if f"{function.__module__}".startswith("hwlib."):
            REGISTRY[made.qualname] = made
        return made

    return decorate


def _check_letter(letter: str) -> None:
    if letter not in NOTATION:
        close = ", ".join(get_close_matches(letter, NOTATION, 3, 0.3)) or ", ".join(NOTATION)
        raise FormulaError(f"{letter!r} is not a symbol of hwlib.notation; close to it are {close}")


def _meaning(letter: str) -> str:
    tex, unit, meaning, _ = NOTATION[letter]
    return f"${tex}$ is {meaning}" + ("" if unit in ("1", *COUNTS) else f" [{unit}]")

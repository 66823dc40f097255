"""The library without what an exercise withholds, for the process in which the answer's function is called.

The names stay, so that a chapter's imports go through; what they name raises when it is called. In the grader's sandbox
neither its code nor its source is there to be read: `strip` replaces the code in the process, and `files` are covered
in its file system. In a learner's own kernel the code is replaced while the answer runs (`without`).
"""

from __future__ import annotations

import importlib
import linecache
import pkgutil
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .verdict import AnswerError

KEPT = {"hwlib.algorithms.protocol": ("Step", "blocks")}  # what a learner's own algorithm is written with
CAUSES = 20  # exceptions behind one that are looked at


class Withheld(AnswerError):
    """An answer has used what its exercise withholds: `name`, as the exercise has it."""

    def __init__(self, name: str):
        super().__init__(f"it uses {name}", "withheld")
        self.name = name


def write_it_yourself(name: str) -> str:
    """What the learner is told."""
    return f"Write this one yourself: {name} is not for use in this answer."


def not_for_use(withholds: Sequence[str]) -> str:
    """What the learner is told before, as an independent clause; "" where nothing is withheld."""
    if not withholds:
        return ""
    named = " and ".join(f"`{name}`" for name in withholds)
    usable = [name for home, names in KEPT.items() if withheld_name(home, withholds) for name in names]
    aside = f", {' and '.join(f'`{name}`' for name in usable)} aside" if usable else ""
    return f"{named} {'is' if len(withholds) == 1 else 'are'} not for use in this answer{aside}"


def withheld_name(thing: Any, withholds: Sequence[str]) -> str:
    """Under which of the withheld names a thing of the library falls, "" for none: a dotted name, a module, a function
    or formula; these by their module, its package and their own name, also as the package around the module has it."""
    names = _names(thing)
    return next((one for one in withholds if any(name == one or name.startswith(one + ".") for name in names)), "")


def _names(thing: Any) -> set[str]:
    if isinstance(thing, str):
        return {thing}
    if isinstance(thing, types.ModuleType):
        return set() if thing.__name__ in KEPT else {thing.__name__}
    thing = getattr(thing, "function", thing)
    home = str(getattr(thing, "__module__", ""))
    if home in KEPT:
        return set()
    path = str(getattr(thing, "__qualname__", ""))
    own = thing.__name__ if "<locals>" in path else path.split(".")[0]
    return {f"{home}.{own}", f"{home.rpartition('.')[0]}.{own}"}


def withheld_in(error: BaseException, withholds: Sequence[str]) -> str:
    """The withheld name whose use an exception, or one behind it, comes from; "" for none."""
    behind: BaseException | None = error
    for _ in range(CAUSES):
        if isinstance(behind, Withheld) and behind.name in withholds:
            return behind.name
        named = behind.name if isinstance(behind, ImportError) and type(behind.name) is str else ""
        if name := withheld_name(named, withholds):
            return name
        behind = behind and (behind.__cause__ or behind.__context__)
    return ""


def load(withholds: Sequence[str]) -> list[str]:
    """Import what is withheld, with all that is inside; the names of its modules."""
    loaded = []
    for name in withholds:
        module = _module(name)
        if module is None:
            continue
        loaded.append(module.__name__)
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
            loaded += load([inner.name])
    return list(dict.fromkeys(loaded))


def _module(name: str) -> types.ModuleType | None:
    """The module of that name, or the one that has a function of that name."""
    while name:
        try:
            return importlib.import_module(name)
        except ImportError:
            name = name.rpartition(".")[0]
    return None


@cache
def files(withholds: tuple[str, ...]) -> list[str]:
    """The files in which what is withheld can be read, of every copy of the library that can be imported: source and
    compiled. Its modules are imported meanwhile: later they could not be."""
    paths: list[Path] = []
    for name in load(withholds):
        for folder in {Path(__file__).resolve().parent.parent.parent, *map(Path, filter(None, sys.path))}:
            place = folder.joinpath(*name.split("."))
            source = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            compiled = (source.parent / "__pycache__").glob(f"{source.stem}.*")
            paths += [path for path in (source, *compiled) if path.is_file()]
    return sorted({str(found) for path in paths for found in (path, path.resolve())})


def strip(withholds: Sequence[str]) -> None:
    """Leave nothing of what is withheld in this process but its names."""
    for value, name in _withheld(tuple(withholds)):
        _empty(value, name)
    if withholds:
        linecache.clearcache()  # the source of a formula that has read its own body


@contextmanager
def without(withholds: Sequence[str], function: Any) -> Iterator[None]:
    """Nothing of what is withheld is left in this block but its names. Raises Withheld where `function`, which runs in
    it, is itself withheld, or where an exception comes from its use of what is."""
    if not withholds:  # the list of all modules is not looked through: a forked process would copy half of its memory
        yield
        return
    if name := withheld_name(function, withholds):
        raise Withheld(name)
    plain, others = _parted(tuple(withholds))
    codes: list[types.CodeType] = []
    before: list[tuple[Any, Any]] = []
    try:
        for value, empty in plain:  # at every step of every rank: the quickest way
            codes.append(value.__code__)
            value.__code__ = empty
        before.extend((value, _empty(value, name)) for value, name in others)
        yield
    except Exception as error:
        if name := withheld_in(error, withholds):
            raise Withheld(name) from error
        raise
    finally:
        for (value, _), code in zip(plain, codes, strict=False):
            value.__code__ = code
        for value, state in before:
            _restore(value, state)


@cache
def _parted(
    withholds: tuple[str, ...],
) -> tuple[list[tuple[types.FunctionType, types.CodeType]], list[tuple[Any, str]]]:
    """The functions that are withheld, each with the code that says so, and all else that is."""
    rows = _withheld(withholds)
    functions = [(value, name) for value, name in rows if isinstance(value, types.FunctionType)]
    plain = [(value, raising(name, value.__code__.co_freevars)) for value, name in functions]
    return plain, [row for row in rows if not isinstance(row[0], types.FunctionType)]


@cache
def _withheld(withholds: tuple[str, ...]) -> list[tuple[Any, str]]:
    """The functions and formulas that are withheld, each with the name under which it is."""
    modules = [sys.modules[name] for name in load(withholds) if name not in KEPT]
    values = {id(value): value for module in modules for value in _own(module)}  # a method may have two names
    return [(value, name) for value in values.values() if (name := withheld_name(value, withholds))]


def _own(module: types.ModuleType) -> Iterator[Any]:
    """The functions and formulas that a module has defined, those in its classes among them."""
    waiting = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
    while waiting:
        value = waiting.pop()
        if isinstance(value, type):
            waiting += vars(value).values()
        elif isinstance(value, property):
            waiting += [part for part in (value.fget, value.fset, value.fdel) if part]
        elif isinstance(value, types.FunctionType) or callable(getattr(value, "function", None)):
            yield value
        elif inner := next(filter(None, (getattr(value, w, None) for w in ("__func__", "func", "__wrapped__"))), None):
            waiting.append(inner)


def _empty(value: Any, name: str) -> Any:
    """Replace the code of a function, or all that a formula was read from; what it was."""
    if isinstance(value, types.FunctionType):
        code, value.__code__ = value.__code__, raising(name, value.__code__.co_freevars)
        return code
    read = {word: vars(value).pop(word) for word in list(vars(value)) if _is_cached(value, word)}
    state = {**read, "body": value.body}, _empty(value.function, name)
    value.body = None
    return state


def _is_cached(value: Any, word: str) -> bool:
    return isinstance(getattr(type(value), word, None), cached_property)


def _restore(value: Any, state: Any) -> None:
    if isinstance(value, types.FunctionType):
        value.__code__ = state
        return
    read, code = state
    vars(value).update(read)
    _restore(value.function, code)


@cache
def raising(name: str, free: tuple[str, ...] = ()) -> types.CodeType:
    """The code of a function with these free variables that says what it uses."""
    scope: dict[str, Any] = {}
    bound = "".join(f" {one} = None\n" for one in free)
    exec(
        f"def around():\n{bound} def withheld(*_, **__):\n  {', '.join(free)}\n"
        f"  raise ImportError({f'it uses {name}'!r}, name={name!r})\n return withheld",
        scope,
    )
    return scope["around"]().__code__

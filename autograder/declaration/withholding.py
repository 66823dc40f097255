"""The library without what an exercise withholds, for the process in which the answer's function is called.

The names stay, so that a chapter's imports go through; what they name raises when it is called, and neither its code
nor its source is there to be read: the code is replaced in the process, the files are covered in its file system.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .isolation import names
from .verdict import AnswerError

KEPT = ("hwlib.algorithms.protocol",)  # what a learner's own algorithm is written with


def load(withholds: Sequence[str]) -> list[str]:
    """Import what is withheld, with all that is inside; the names of its modules."""
    found = []
    for name in withholds:
        module = _module(name)
        if module is None:
            continue
        found.append(module.__name__)
        for inner in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{module.__name__}."):
            found += load([inner.name])
    return list(dict.fromkeys(found))


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
    for name in load(withholds):
        if name in KEPT:
            continue
        for value in _own(sys.modules[name]):
            if withheld := next((one for one in withholds if _under(value, one)), ""):
                _empty(value, withheld)


def _under(value: Any, withheld: str) -> bool:
    """Whether a function or class of the library is one that `withheld` names: by its module, its package or its own
    name, also as the package around its module has it."""
    home, name = value.__module__, value.__qualname__.split(".")[0]
    names = (f"{home}.{name}", f"{home.rpartition('.')[0]}.{name}")
    return any(one == withheld or one.startswith(withheld + ".") for one in names)


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
        elif inner := getattr(value, "__func__", None) or getattr(value, "func", None):
            waiting.append(inner)


def _empty(value: Any, withheld: str) -> None:
    if not isinstance(value, types.FunctionType):
        for name in [name for name in vars(value) if isinstance(getattr(type(value), name, None), cached_property)]:
            delattr(value, name)  # what was read from a formula's body
        value.body = None
        value = value.function
    value.__code__ = raising(withheld, value.__code__.co_freevars)


@cache
def raising(withheld: str, free: tuple[str, ...] = ()) -> types.CodeType:
    """The code of a function with these free variables that says what it uses."""
    scope: dict[str, Any] = {}
    bound = "".join(f" {name} = None\n" for name in free)
    exec(
        f"def around():\n{bound} def withheld(*_, **__):\n  {', '.join(free)}\n"
        f"  raise ImportError({f'it uses {withheld}'!r})\n return withheld",
        scope,
    )
    return scope["around"]().__code__


@contextmanager
def without(withholds: Sequence[str], function: Any) -> Iterator[None]:
    """A function that does without the withheld modules runs in this block, where they cannot be imported; for another
    AnswerError is raised."""
    if not withholds:  # the list of all modules is not looked through: a forked process would copy half of its memory
        yield
        return
    if module := _uses(function, withholds):
        raise AnswerError(f"it uses {module}")
    with _masked(withholds):
        yield


@contextmanager
def _masked(withholds: Sequence[str]) -> Iterator[None]:
    """Withheld modules cannot be imported meanwhile."""
    names = {n for n in sys.modules for w in withholds if n == w or n.startswith(w + ".")} | set(withholds)
    before = {n: sys.modules.get(n) for n in names}
    modules: dict[str, Any] = sys.modules
    for name in names:
        modules[name] = None
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                modules.pop(name, None)
            else:
                modules[name] = module


def _uses(function: Any, withholds: Sequence[str]) -> str:
    """The withheld module that a function reaches through its globals, or ""; what answers are written with stays."""
    if not withholds:
        return ""
    values = [function]
    code, scope = getattr(function, "__code__", None), getattr(function, "__globals__", None)
    if isinstance(code, types.CodeType) and isinstance(scope, Mapping):
        used = names(code)
        values += [scope[n] for n in used if n in scope]
        values += [vars(v)[n] for v in values if isinstance(v, types.ModuleType) for n in used if n in vars(v)]
    homes = [home for v in values if (home := _home(v)) not in KEPT]
    return next((w for w in withholds for home in homes if home == w or home.startswith(w + ".")), "")


def _home(value: Any) -> str:
    """The module that a value comes from; a formula's is that of its function."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    return str(getattr(getattr(value, "function", value), "__module__", ""))

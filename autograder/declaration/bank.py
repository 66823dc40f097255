"""Banks: the exercises that a chapter declares, loaded by path from one file or from a folder of files.

A chapter declares its exercises in `exercises.py`, or in a folder `exercises/` with a file a section. The files of
such a folder are the modules of one package: what one needs of another it imports (`from .two_clocks import gemm`).
The chapter's text reads the names of all of them, so two files do not give one name to different things. A file
`text.py` has names for the text alone; whoever answers or judges an exercise need not wait for it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from .call_advice import advice
from .exercise import Exercise
from .verdict import DeclarationError

FILE, FOLDER, BUILT = "exercises.py", "exercises", "built.json"
TEXT = "text"  # the module of a folder that declares nothing, and is loaded when the text's names are asked for
HEAVY = "heavy.json"  # what takes large libraries to compute, beside the declarations of a page


class Bank(dict[str, Exercise]):
    """The exercises of one chapter by id, in order; `path` is the file or the folder that declares it, and `names`
    gives the names of its files."""

    def __init__(
        self,
        exercises: Sequence[Exercise] = (),
        path: Path | None = None,
        names: Callable[[], dict[str, Any]] = dict,
    ):
        super().__init__({e.id: e for e in exercises})
        self.path, self._names = path, names

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The names of its files, which the chapter's text may use. DeclarationError where they cannot be loaded."""
        return self._names()

    def public(self, variants: bool = False) -> dict[str, Any]:
        """The contents of the learner's `exercises.json`."""
        return {"variants": variants, "exercises": {name: e.public(variants) for name, e in self.items()}}

    def build(self) -> dict[str, Any]:
        """What is computed once for its exercises, by id: the contents of its `built_file`."""
        made = {name: exercise.answer.build(exercise) for name, exercise in self.items()}
        return {name: one for name, one in made.items() if one is not None}

    def heavy(self) -> dict[str, Any]:
        """What takes large libraries to compute for its exercises, by id: the contents of a page's `heavy.json`."""
        made = {name: exercise.answer.heavy(exercise) for name, exercise in self.items()}
        return {name: one for name, one in made.items() if one is not None}

    def where(self, exercise_id: str) -> str:
        """`file:line` where an exercise is declared, for an error; the path alone where its id is not written out."""
        named = rf"""["']{re.escape(exercise_id)}["']"""
        for pattern in (rf"\bid\s*=\s*{named}", named):
            for file in declared_files(self.path) if self.path else ():
                text = file.read_text(encoding="utf-8")
                if match := re.search(pattern, text):
                    return f"{file}:{text.count(chr(10), 0, match.start()) + 1}"
        return str(self.path)


def declared_in(folder: Path) -> Path | None:
    """Where a chapter's folder declares its exercises: `exercises.py` or `exercises/`; None where it has neither."""
    file, sections = folder / FILE, folder / FOLDER
    if not declared_files(sections):
        return file if file.is_file() else None
    if file.is_file():
        raise DeclarationError(f"{folder} has both {FILE} and {FOLDER}/; one of them was expected")
    return sections


def declared_below(folder: Path) -> list[Path]:
    """The same for all chapters below a folder, as `solutions/`, in their order."""
    chapters = sorted(path for path in folder.glob("*") if path.is_dir())
    return [declared for chapter in chapters if (declared := declared_in(chapter)) is not None]


def declared_files(path: Path) -> list[Path]:
    """The files of a bank: the one that it is, or those of its folder by name."""
    return sorted(path.glob("*.py")) if path.is_dir() else [path] if path.is_file() else []


def built_file(path: Path) -> Path:
    """Where what was computed once for the bank at `path` is kept: beside it, and so wherever the bank goes."""
    return path.parent / BUILT if path.name in (FILE, FOLDER) else path.with_suffix(f".{BUILT}")


def bank_files(path: Path) -> list[Path]:
    """All files of which a bank is loaded."""
    return [file for file in (*declared_files(path), built_file(path)) if file.is_file()]


def load_bank(path: Path | str) -> Bank:
    """The exercises declared in `path`: a file, a folder `exercises/`, or a chapter's folder that holds either.

    They are loaded by path, under the name `gpubook_NN_topic`. DeclarationError names the file, its line and what
    is wrong.
    """
    path = Path(path)
    if path.is_dir():
        path = declared_in(path) or path
    files = declared_files(path)
    if not files or (path.is_dir() and path.name != FOLDER):
        raise DeclarationError(f"{path}: a file of exercises was expected here, or a folder {FOLDER}/ of such files")
    own = path.name in (FILE, FOLDER)
    name = "gpubook_" + re.sub(r"\W", "_", path.resolve().parent.name if own else path.stem)
    before = _forget(name)
    try:
        if path.is_file():
            modules = {files[0]: _load(files[0], name)}
        else:
            modules = _load_package(path, [file for file in files if file.stem != TEXT], name)
        exercises = _with_built(_collect(modules, path), built_file(path))
        _recall(exercises, path.parent / HEAVY)
        loaded, _ = _loaded(name), _namespace(modules)  # an error of theirs is told now
        return Bank(exercises, path.resolve(), lambda: _namespace(modules | _load_text(path, files, loaded)))
    except DeclarationError:
        _forget(name)
        sys.modules.update(before)
        raise


def _with_built(exercises: Sequence[Exercise], file: Path) -> list[Exercise]:
    """The exercises with what `file` keeps of an earlier build."""
    try:
        built = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return [one.with_built(built[one.id]) if one.id in built else one for one in exercises]
    except (OSError, TypeError, ValueError) as error:
        raise DeclarationError(
            f"{file}: what the last build computed was expected here ({error}); delete it and build again"
        ) from None


def _recall(exercises: Sequence[Exercise], file: Path) -> None:
    """Hand the exercises what `file` holds of `Bank.heavy`, where there is such a file."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for exercise in exercises:
        if exercise.id in known:
            exercise.answer.recall(exercise, known[exercise.id])


def _load(file: Path, name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise DeclarationError(f"{file}: a Python file was expected")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _failed(error, [file], file) from error
    return module


def _load_package(folder: Path, files: Sequence[Path], name: str) -> dict[Path, types.ModuleType]:
    """The modules of the files, in their order; one that another imports is loaded with it."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    importlib.invalidate_caches()  # a file may be newer than the listing of its folder
    return {file: _load_module(file, files, name) for file in files}


def _load_module(file: Path, files: Sequence[Path], name: str) -> types.ModuleType:
    if not file.stem.isidentifier() or file.name == FILE:
        raise DeclarationError(f"{file}: a valid module name was expected, e.g. two_clocks.py")
    try:
        return importlib.import_module(f"{name}.{file.stem}")
    except Exception as error:
        raise _failed(error, files, file) from error


def _load_text(
    folder: Path, files: Sequence[Path], loaded: Mapping[str, types.ModuleType]
) -> dict[Path, types.ModuleType]:
    """The module of the text, where the folder has one, beside those that were loaded, whatever was since."""
    text, name = folder / f"{TEXT}.py", next(iter(loaded))
    if text not in files or folder.name != FOLDER:
        return {}
    since = _forget(name)
    sys.modules.update(loaded)
    try:
        module = _load_module(text, files, name)
    finally:
        _forget(name)
        sys.modules.update(since)
    declared = {id(one) for other in loaded.values() for one in _listed(other)}
    if own := [one.id for one in _listed(module) if id(one) not in declared]:
        raise DeclarationError(f"{text}: it declares {own[0]}; a file of names for the text alone was expected")
    return {text: module}


def _collect(modules: Mapping[Path, types.ModuleType], path: Path) -> list[Exercise]:
    exercises: dict[str, Exercise] = {}
    for file, module in modules.items():
        for exercise in _listed(module):
            if exercises.get(exercise.id, exercise) is not exercise:
                where = file if path.is_file() else path
                raise DeclarationError(
                    f"{where}: the id {exercise.id!r} is declared twice; each exercise needs its own"
                )
            exercises[exercise.id] = exercise
    return list(exercises.values())


def _listed(module: types.ModuleType) -> list[Exercise]:
    """The exercises that a module has, by themselves or in lists."""
    several = (value if isinstance(value, (list, tuple)) else [value] for value in vars(module).values())
    return [one for values in several for one in values if isinstance(one, Exercise)]


def _namespace(modules: Mapping[Path, types.ModuleType]) -> dict[str, Any]:
    """The names that the chapter's text may use: of the one module, or of all, where no name means two things."""
    if len(modules) == 1:
        return vars(next(iter(modules.values())))
    names: dict[str, Any] = {}
    home: dict[str, Path] = {}
    for file, module in sorted(modules.items()):
        for name, value in vars(module).items():
            if name.startswith("__"):
                continue
            if name in names and not _same(names[name], value):
                raise DeclarationError(
                    f"{file}: {name} is defined differently in {home[name].name}, and the text reads both; "
                    f"another name was expected, or `from .{home[name].stem} import {name}`"
                )
            names.setdefault(name, value)
            home.setdefault(name, file)
    return names


def _same(left: Any, right: Any) -> bool:
    return left is right or (type(left) is type(right) and isinstance(left, (bool, int, float, str)) and left == right)


def _loaded(name: str) -> dict[str, types.ModuleType]:
    """A bank's modules, the package first."""
    return {key: sys.modules[key] for key in sorted(sys.modules) if key == name or key.startswith(f"{name}.")}


def _forget(name: str) -> dict[str, types.ModuleType]:
    """Take a bank's modules out of sys.modules; they are returned."""
    return {key: sys.modules.pop(key) for key in _loaded(name)}


def _failed(error: Exception, files: Sequence[Path], loading: Path) -> DeclarationError:
    """What went wrong while a file was loaded, at the innermost line of the bank's own that led there."""
    own, place, trace = {str(file) for file in files}, str(loading), error.__traceback__
    names: dict[str, Any] = {}
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in own:
            place, names = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_frame.f_globals
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename in own and error.lineno:
        place = f"{error.filename}:{error.lineno}"
    return DeclarationError(f"{place}: {advice(error, names) or f'{type(error).__name__}: {error}'}")

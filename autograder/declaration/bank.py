"""Banks: the exercises that a file declares, loaded by path."""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .exercise import Exercise
from .verdict import DeclarationError


class Bank(dict[str, Exercise]):
    """The exercises of one `exercises.py` by id, in order; `namespace` holds the module's names, `path` the
    file."""

    def __init__(
        self,
        exercises: Sequence[Exercise] = (),
        path: Path | None = None,
        namespace: dict[str, Any] | None = None,
    ):
        super().__init__({e.id: e for e in exercises})
        self.path, self.namespace = path, namespace or {}

    def public(self, variants: bool = False) -> dict[str, Any]:
        """The contents of the learner's `exercises.json`."""
        return {"variants": variants, "exercises": {name: e.public(variants) for name, e in self.items()}}


def load_bank(path: Path | str) -> Bank:
    """The exercises declared in `path` (a file, or a chapter's folder that holds `exercises.py`).

    The module is loaded by path under the name `gpubook_NN_topic`. DeclarationError names the file and what
    is wrong.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "exercises.py"
    if not path.is_file():
        raise DeclarationError(f"{path}: a file of exercises was expected here")
    name = "gpubook_" + re.sub(r"\W", "_", path.resolve().parent.name if path.name == "exercises.py" else path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise DeclarationError(f"{path}: a Python file was expected")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        where = _line_of(error, path)
        _restore(name, before)
        raise DeclarationError(f"{path}{where}: {type(error).__name__}: {error}") from error
    return Bank(_collect(module, path), path.resolve(), vars(module))


def _collect(module: types.ModuleType, path: Path) -> list[Exercise]:
    found: dict[str, Exercise] = {}
    for value in vars(module).values():
        for exercise in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(exercise, Exercise):
                continue
            if found.get(exercise.id, exercise) is not exercise:
                raise DeclarationError(f"{path}: the id {exercise.id!r} is declared twice; each exercise needs its own")
            found[exercise.id] = exercise
    return list(found.values())


def _restore(name: str, before: types.ModuleType | None) -> None:
    if before is None:
        sys.modules.pop(name, None)
    else:
        sys.modules[name] = before


def _line_of(error: BaseException, path: Path) -> str:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.lineno:
        line = error.lineno
    return f":{line}" if line else ""

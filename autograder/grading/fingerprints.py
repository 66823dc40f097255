"""Digests of everything that a verdict depends on: an earlier verdict still holds if they are equal."""

import ast
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..declaration.bank import Bank, declared_files
from ..values.digest import digest
from .restore import FULL_MARKS


@dataclass(frozen=True)
class Fingerprint:
    """What a verdict depends on, as digests: the submission, the release with all that holds for the run, and the key
    of each exercise. `wording`: the release's prompts and points, which follow without a run, see `reissue`."""

    submission: str
    release: str
    keys: Mapping[str, str]
    wording: str = ""

    def unchanged_keys(self, now: "Fingerprint") -> frozenset[str] | None:
        """The exercises whose key is the same now; None where the submission or the release is another."""
        if (self.submission, self.release) != (now.submission, now.release):
            return None
        return frozenset(name for name, key in now.keys.items() if self.keys.get(name) == key)

    def reasons(self, before: "Fingerprint", exercise: str) -> str:
        """Why a result may be another than before, beside another submission."""
        reasons = ["release or settings"] * (self.release != before.release)
        reasons += ["key"] * (self.keys.get(exercise) != before.keys.get(exercise))
        return ", ".join(reasons + ["points or wording"] * (self.wording != before.wording))


def of_run(
    release: Any, settings: Any, paths: Sequence[Path], bank: Bank, exercises: Collection[str]
) -> Callable[[str], Fingerprint]:
    """What takes the JSON of a submission's notebook to its fingerprint, in a run over `release` that is judged by the
    `exercises`, declared in `paths`; `settings` are what else holds for the run, as plain data."""
    held = digest(json.dumps([_program_of(release), settings], sort_keys=True), of_program())
    wording = digest(json.dumps(release, sort_keys=True))
    keys = {name: key for name, key in of_keys(paths, bank).items() if name in exercises}
    return lambda notebook: Fingerprint(digest(notebook), held, keys, wording)


def _program_of(release: Any) -> Any:
    """A release without the wording of its prompts and without points: what of it can change a run or a verdict."""
    cells = []
    for cell in release.cells:
        nbgrader = {k: v for k, v in cell.metadata.get("nbgrader", {}).items() if k not in ("points", "checksum")}
        own = {k: v for k, v in cell.metadata.get("gpubook", {}).items() if k != FULL_MARKS}
        source = "" if nbgrader and own.get("part") == "prompt" else cell.source
        cells.append({**cell, "source": source, "metadata": {**cell.metadata, "nbgrader": nbgrader, "gpubook": own}})
    return {**release, "cells": cells}


@cache
def of_program() -> str:
    """The digest of this package and of hwlib, whose formulas solve exercises: versions may judge differently."""
    root = Path(__file__).resolve().parent.parent.parent
    files = [p for name in ("autograder", "hwlib") for p in (root / name).rglob("*") if p.suffix in (".py", ".toml")]
    own = [p for p in files if "_book" not in p.relative_to(root).parts]
    return digest(*(part for p in sorted(own) for part in (str(p.relative_to(root)), p.read_bytes())))


def of_keys(paths: Sequence[Path], bank: Bank) -> dict[str, str]:
    """The digest of each exercise's key: what its file says of it and of the names it uses, and no other's key; of a
    file that it imports from, all."""
    folders = [{file.stem: file.read_text(encoding="utf-8") for file in declared_files(path)} for path in paths]
    every = digest(*(text for texts in folders for text in texts.values()))
    digests = dict.fromkeys(bank, every)  # of one that no statement names: whatever the files say
    for texts in folders:
        for name, text in texts.items():
            beside = [texts[other] for other in sorted(_imported(name, texts))]
            digests.update({one: digest(key, *beside) for one, key in _in_file(text, bank).items()})
    return digests


def _imported(name: str, texts: Mapping[str, str]) -> set[str]:
    """The other files of its folder that a file imports from, and those that these do."""
    imported: set[str] = set()
    waiting = [name]
    while waiting:
        for node in ast.walk(ast.parse(texts[waiting.pop()])):
            if isinstance(node, ast.ImportFrom) and node.level == 1:
                named = {node.module.partition(".")[0]} if node.module else {alias.name for alias in node.names}
                waiting += named & set(texts) - imported - {name}
                imported |= named & set(texts) - {name}
    return imported


def _in_file(text: str, ids: Iterable[str]) -> dict[str, str]:
    """The statements that declare one exercise count for it, and for those that name it; all others, for every one."""
    tree, known = ast.parse(text), set(ids)
    declared = [_declares(node) & known for node in tree.body]
    common = digest(*(ast.dump(node) for node, ids in zip(tree.body, declared, strict=True) if not ids))
    owner = {name: at for at, node in enumerate(tree.body) if declared[at] for name in _binds(node)}
    digests: dict[str, str] = {}
    for at, ids in enumerate(declared):
        for exercise in ids:
            digests[exercise] = digest(common, *(ast.dump(tree.body[i]) for i in sorted(_reached(tree, at, owner))))
    return digests


def _declares(node: ast.stmt) -> set[str]:
    """The ids in a statement: `id="..."` in a call."""
    words = [word for call in ast.walk(node) if isinstance(call, ast.Call) for word in call.keywords]
    return {
        word.value.value
        for word in words
        if word.arg == "id" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)
    }


def _binds(node: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _reached(tree: ast.Module, at: int, owner: Mapping[str, int]) -> set[int]:
    """The statement `at`, and the declarations of others that it names."""
    reached: set[int] = set()
    waiting = [at]
    while waiting:
        here = waiting.pop()
        if here in reached:
            continue
        reached.add(here)
        names = {n.id for n in ast.walk(tree.body[here]) if isinstance(n, ast.Name)}
        waiting += [owner[name] for name in names if name in owner]
    return reached

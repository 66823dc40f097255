"""Digests of what a verdict follows from: whether an earlier one still holds is whether these are the same."""

import ast
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from ..declaration.bank import Bank, declared_files


def digest(*parts: str | bytes) -> str:
    """One digest of several texts."""
    made = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "big") + data)
    return made.hexdigest()[:32]


@cache
def of_program() -> str:
    """Of this package and of hwlib, whose formulas solve exercises: another version may judge otherwise."""
    root = Path(__file__).resolve().parent.parent.parent
    files = [p for name in ("autograder", "hwlib") for p in (root / name).rglob("*") if p.suffix in (".py", ".toml")]
    own = [p for p in files if "_book" not in p.relative_to(root).parts]
    return digest(*(part for p in sorted(own) for part in (str(p.relative_to(root)), p.read_bytes())))


def of_keys(paths: Sequence[Path], bank: Bank) -> dict[str, str]:
    """Of the key of each exercise: what its file says of it and of what it names, and of nothing else's key; of a
    file that it imports from, all."""
    folders = [{file.stem: file.read_text(encoding="utf-8") for file in declared_files(path)} for path in paths]
    every = digest(*(text for texts in folders for text in texts.values()))
    found = dict.fromkeys(bank, every)  # of one that no statement names: whatever the files say
    for texts in folders:
        for name, text in texts.items():
            beside = [texts[other] for other in sorted(_imported(name, texts))]
            found.update({one: digest(key, *beside) for one, key in _in_file(text, bank).items()})
    return found


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
    found: dict[str, str] = {}
    for at, ids in enumerate(declared):
        for one in ids:
            found[one] = digest(common, *(ast.dump(tree.body[i]) for i in sorted(_reached(tree, at, owner))))
    return found


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

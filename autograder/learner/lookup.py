"""Where a notebook's exercises are declared, and whose notebook it is.

The key is `$GPUBOOK_SOLUTIONS`, or the `solutions/` beside the `chapters/` that the notebook is in, or what
the installed package brings. It is never looked for under nbgrader: stock nbgrader runs the tests beside the
learner's code, where a mark would prove nothing, so there everything is recorded and scores 0.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..declaration.answer import Answer
from ..declaration.bank import FILE, Bank, declared_below, declared_files, load_bank
from ..declaration.exercise import Exercise, draw
from ..declaration.verdict import DeclarationError
from ..values.own_file import json_of

ANEW = "get it anew with its notebook: `gpubook start`, or from your teacher"


class NotFound(LookupError):
    """No such exercise, or no owner for its numbers; the message says where was looked."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@dataclass(frozen=True)
class LocatedExercise:
    """An exercise as its notebook knows it: the public record, and the declaration where the key is at
    hand."""

    public: dict[str, Any]
    declared: Exercise | None
    chapter: Path | None = None  # the source that asks it, where the key is at hand: it need not exist

    @property
    def kind(self) -> Answer:
        """The answer kind, as far as it is known here."""
        from ..answers import answer_from

        return answer_from(self.public) if self.declared is None else self.declared.answer


def find(exercise_id: str) -> LocatedExercise:
    """The exercise of that id; NotFound names close ids and the places that were searched."""
    if type(exercise_id) is not str:
        raise NotFound(f"{exercise_id!r} is not an exercise id; a text such as 'rooflines-ridge' was expected")
    public, beside = published(), public_file()
    declared, chapter = _declared(exercise_id)
    if exercise_id in public:
        return LocatedExercise(public[exercise_id], declared, chapter)
    if declared is not None:
        return LocatedExercise(declared.public(), declared, chapter)
    known = list(dict.fromkeys([*public, *(name for bank in banks() for name in bank)]))
    ends = [name for name in known if name.endswith(f"-{exercise_id}")]
    close = ends[:3] or difflib.get_close_matches(exercise_id, known, n=3, cutoff=0.5)
    more = f"did you mean {' or '.join(close)}?" if close else f"{beside} was looked for, and solutions/"
    raise NotFound(f"there is no exercise {exercise_id!r} here; {more}")


def kind_for_learner(found: LocatedExercise) -> Answer:
    """The answer kind as the learner of this notebook is asked: the options of a choice in an order of their own, that
    of the exercise where nobody is known."""
    try:
        learner = owner()
    except NotFound:
        learner = ""
    return found.kind.arranged(found.public["id"], learner)


def numbers_of(found: LocatedExercise) -> dict[str, Any]:
    """The numbers of an exercise: the book's, or the learner's own where the course has variants."""
    public = found.public
    if public.get("variants"):
        return draw(public["id"], owner(), public["variants"])
    return dict(public["given"])


def public_file(here: Path | None = None) -> Path:
    """`$GPUBOOK_EXERCISES`, or `exercises.json` in the notebook's folder `here` (default: the current one)."""
    named = os.environ.get("GPUBOOK_EXERCISES")
    return Path(named) if named else (here or Path.cwd()) / "exercises.json"


def assignment(here: Path | None = None) -> dict[str, Any] | None:
    """What the release of a course says of its assignment: its `name`, when it is `due` ("" where it never is) and
    whether feedback `shows_solutions` after that; None in self-study."""
    data = _public_data(here)
    about = data.get("assignment") if isinstance(data, dict) else None
    return about if isinstance(about, dict) and isinstance(about.get("name"), str) else None


def published(here: Path | None = None) -> dict[str, dict[str, Any]]:
    """The public records by id; empty if there is no file. DeclarationError if it is not one of ours."""
    path, data = public_file(here), _public_data(here)
    if data is None:
        return {}
    exercises = data.get("exercises") if isinstance(data, dict) else None
    if not isinstance(exercises, dict) or not all(isinstance(e, dict) and "id" in e for e in exercises.values()):
        raise DeclarationError(
            f"{path}: {{'exercises': {{id: ...}}}} was expected; regenerate it with `gpubook chapters`"
        )
    return exercises


def _public_data(here: Path | None = None) -> Any:
    """What exercises.json holds; None if there is no such file."""
    path = public_file(here)
    try:
        return json_of(path, ANEW, error=DeclarationError)
    except FileNotFoundError:
        return None


def solutions_folders(here: Path | None = None) -> list[Path]:
    """The folders that may hold the declarations of a notebook in the folder `here` (default: the current one), the
    nearest first; none under nbgrader."""
    if os.environ.get("NBGRADER_EXECUTION"):
        return []
    if named := os.environ.get("GPUBOOK_SOLUTIONS"):
        return [Path(p) for p in named.split(os.pathsep) if Path(p).is_dir()]
    here = here or Path.cwd()
    for folder in (here, *here.parents):
        if folder.name in ("chapters", "solutions") and (folder.parent / "solutions").is_dir():
            return [folder.parent / "solutions"]
        if folder == here and (folder / "solutions").is_dir() and (folder / "chapters").is_dir():
            return [folder / "solutions"]
    from ..values.book_root import book_root

    try:
        return [book_root() / "solutions"]
    except FileNotFoundError:
        return []


def banks(here: Path | None = None, chapter: str = "") -> Iterator[Bank]:
    """The banks one by one, that of `chapter` first (default: the folder's name), so that one look-up seldom loads the
    others."""
    first = chapter or (here or Path.cwd()).name
    for folder in solutions_folders(here):
        chapters = sorted(declared_below(folder), key=lambda path: path.parent.name != first)
        for path in (*chapters, folder / FILE):
            if files := declared_files(path):
                yield _load(path, tuple((file, file.stat().st_mtime_ns) for file in files))


@lru_cache(maxsize=64)
def _load(path: Path, _changed: tuple[tuple[Path, int], ...]) -> Bank:
    return load_bank(path)


def _declared(exercise_id: str) -> tuple[Exercise | None, Path | None]:
    """The declaration, and the source of the chapter whose folder it is in."""
    for bank in banks():
        if exercise_id in bank:
            folder = bank.path.parent if bank.path else None
            return bank[exercise_id], folder and folder / f"{folder.name}.md"
    return None, None


def owner() -> str:
    """Whose numbers: `$GPUBOOK_OWNER`, `$JUPYTERHUB_USER`, or the id that `gpubook whoami` wrote into the
    notebook."""
    for name in ("GPUBOOK_OWNER", "JUPYTERHUB_USER"):
        if os.environ.get(name):
            return os.environ[name]
    running = os.environ.get("JPY_SESSION_NAME", "")
    here = (
        [Path(running)]
        if running.endswith(".ipynb") and Path(running).is_file()
        else sorted(Path.cwd().glob("*.ipynb"))
    )
    ids = {learner for path in here if (learner := _learner(path))}
    if len(ids) == 1:
        return ids.pop()
    raise NotFound(
        "your numbers depend on who you are: run `gpubook whoami YOUR-ID` in a terminal here, then reload the notebook"
        if not ids
        else f"the notebooks here belong to {', '.join(sorted(ids))}; one learner was expected"
    )


def _learner(path: Path) -> str:
    try:
        learner = json.loads(path.read_text(encoding="utf-8"))["metadata"]["gpubook"]["learner"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return learner if isinstance(learner, str) else ""

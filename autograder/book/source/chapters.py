"""solutions/NAME/NAME.md to chapters/NAME/: the learner's edition, generated, the same bytes every time.

The source's roles are resolved and its exercise cells expanded into the instructor's notebook, staged under
.build/source; nbgrader's own release step takes the solutions out. Only what is staged can be released: the
notebook, the public exercises.json, and the files of solutions/NAME/files/.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...values.digest import digest
from ..bibliography import Bibliography
from . import concept_order, notebook
from .captions import add_captions
from .contents import contents, numbered, renew_readme, site
from .drafts import drafts, is_draft
from .notebook import ChapterError, ChapterSource
from .roles import Roles
from .syllabus import renew_course

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ...declaration.bank import Bank


@dataclass(frozen=True)
class Chapter:
    """A chapter read and resolved: the instructor's notebook, the exercises, the page's text by cell id."""

    name: str
    source: ChapterSource
    bank: Bank
    instructor: NotebookNode
    page: Mapping[str, str]
    roles: Roles
    variants: bool = False

    @property
    def exercises(self) -> list[str]:
        """The ids of its exercises, in the order in which they are asked."""
        return notebook.used_exercises(self.instructor)

    @property
    def digest(self) -> str:
        """A digest of all that is released: the same text, the same digest."""
        import nbformat

        parts = [nbformat.writes(self.instructor), public_json(self)]
        files = _files(self.source.path.parent)
        return digest(*parts, *(part for p in files for part in (p.name, p.read_bytes())))


def chapter_names(root: Path, *, with_drafts: bool = False) -> list[str]:
    """The chapters that have a source, in the book's order; drafts only if asked."""
    sources = sorted(p for p in (root / "solutions").glob("*/*.md") if p.stem == p.parent.name)
    return [p.stem for p in sources if with_drafts or not is_draft(p)]


def check_names(root: Path, names: Sequence[str]) -> Sequence[str]:
    """The names, if each is a chapter's; ChapterError lists the known ones."""
    known = chapter_names(root, with_drafts=True)
    for name in names:
        if name not in known:
            missing = root / "solutions" / name / f"{name}.md"
            raise ChapterError(f"{missing} is missing; the chapters with a source are: {', '.join(known) or 'none'}")
    return names


def load(root: Path, name: str, *, variants: bool = False, course: bool = False) -> Chapter:
    """Read one chapter, as it is studied alone or for a `course`, where one with `variants` has letters in place of
    the book's numbers.

    ChapterError names the file, the line and what was expected.
    """
    from ...declaration.bank import Bank, declared_in, load_bank

    folder = root / "solutions" / name
    check_names(root, [name])
    source = ChapterSource.read(folder / f"{name}.md")
    bank = load_bank(folder) if declared_in(folder) else Bank()
    names = concept_order.imported(source.path) | bank.namespace
    roles = Roles(names, source, Bibliography(root / "docs" / "references.bib"), contents(root), not course)
    read = notebook.read(source)
    full = notebook.expand(read, bank, source=source, chapter=name, variants=variants, alone=not course)
    notebook.point_to_guide(full)
    if (published := site(root)) and not course:  # a course's learners are not led to solutions
        notebook.point_to_page(full, f"{published}/{name}.html")
    add_captions(full, source, name)
    _number_title(full, name)
    page = {}
    for cell in full.cells:
        if "alt" in cell.metadata:
            cell.metadata["alt"] = roles.learner(cell.metadata["alt"])
        if cell.cell_type == "markdown":
            page[cell.id] = roles.page(cell.source)
            cell.source = roles.learner(cell.source)
    full.metadata["gpubook"] = {"chapter": name}
    unused = [key for key in bank if key not in notebook.used_exercises(full)]
    if unused:
        raise ChapterError(
            f"{bank.where(unused[0])}: the exercise {unused[0]!r} is declared but "
            f"no cell of {source.path} asks it; a cell with `:exercise: {unused[0]}` was expected"
        )
    return Chapter(name, source, bank, full, page, roles, variants)


def _number_title(nb: NotebookNode, name: str) -> None:
    """Put the chapter's number before its heading."""
    for cell in nb.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("# "):
            title, _, rest = cell.source.partition("\n")
            cell.source = f"# {numbered(title[2:], name)}\n{rest}".rstrip("\n")
            return


def public_json(chapter: Chapter) -> str:
    """exercises.json: what a learner may know of each exercise, in the order in which they are asked."""
    from ...declaration.bank import Bank

    return as_json(Bank([chapter.bank[key] for key in chapter.exercises]), chapter.variants)


def as_json(bank: Bank, variants: bool = False, assignment: Mapping[str, Any] | None = None) -> str:
    """The text of an exercises.json; in a course with what the notebook may say of its `assignment`."""
    public = bank.public(variants) | ({"assignment": assignment} if assignment else {})
    return json.dumps(public, indent=1, ensure_ascii=False) + "\n"


def stage(chapter: Chapter, folder: Path) -> Path:
    """Rewrite folder/NAME/: the instructor's notebook (returned) and what else may be released."""
    import nbformat

    target = folder / chapter.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    path = target / f"{chapter.name}.ipynb"
    nbformat.write(chapter.instructor, path)
    (target / "exercises.json").write_text(public_json(chapter), encoding="utf-8")
    for file in _files(chapter.source.path.parent):
        (target / "files").mkdir(exist_ok=True)
        shutil.copyfile(file, target / "files" / file.name)
    return path


def release(chapter: Chapter, work: Path) -> Path:
    """The learner's folder of the chapter below `work`, by nbgrader; rebuilt if something changed."""
    done = work / "release" / chapter.name
    mark = work / "release" / f"{chapter.name}.digest"
    stage(chapter, work / "source")
    made_from = f"{chapter.digest} {_tool_digest()}"
    if not (mark.is_file() and mark.read_text() == made_from and (done / f"{chapter.name}.ipynb").is_file()):
        from . import release as releasing

        shutil.rmtree(done, ignore_errors=True)
        releasing.release(work / "source", work / "release", chapter.name)
        mark.write_text(made_from)
    return done


def prove(chapter: Chapter) -> None:
    """Have the exercises of a chapter test themselves; ChapterError says where each is declared, and what is wrong."""
    from ...answers.selftest import selftest

    problems = [(key, problem) for key in chapter.exercises for problem in selftest(chapter.bank[key])]
    if problems:
        lines = [f"{chapter.bank.where(key)}: {problem}" for key, problem in problems]
        head = f"{chapter.name}: the exercises do not pass their own test, which found {len(lines)} thing"
        raise ChapterError("\n  ".join([head + ("" if len(lines) == 1 else "s") + ":", *lines]))


def build(root: Path, names: Sequence[str] | None = None, check: bool = False) -> list[str]:
    """Write chapters/ from solutions/ (all, or those of `names`); return what was done, one line a file.

    Every chapter is built and its exercises test themselves; that of a draft then stays in .build/release/ and is
    kept out of chapters/. With `check` nothing is written below chapters/ and the lines say what would change.
    """
    lines = []
    every, kept_back = chapter_names(root, with_drafts=True), drafts(root / "solutions")
    with tempfile.TemporaryDirectory(prefix="gpubook-") as scratch:
        work = root / ".build" if not check else Path(scratch)
        for name in names or every:
            if (changed := _renew(root / "solutions" / name, write=not check)) is not None:
                shown = changed.relative_to(root)
                lines.append(f"{shown}: {'differs from what the library computes now' if check else 'computed anew'}")
            chapter = load(root, name)
            prove(chapter)
            made = release(chapter, work)
            if name not in kept_back:
                lines += _sync(made, root / "chapters" / name, root, write=not check)
    for stale in sorted(p for p in (root / "chapters").glob("*") if p.is_dir()):
        draft = stale.name in kept_back
        if (draft and stale.name in names) if names else (draft or stale.name not in every):
            reason = f"{'is a draft' if draft else 'has no source'} in solutions/"
            lines.append(f"{stale.relative_to(root)}: {reason if check else f'removed: it {reason}'}")
            if not check:
                shutil.rmtree(stale)
    return lines + renew_readme(root, write=not check) + renew_course(root, write=not check)


def _renew(folder: Path, *, write: bool) -> Path | None:
    """Compute again what is kept beside a chapter's exercises; the file that keeps it, if that has changed."""
    from ...declaration.bank import declared_in
    from ...declaration.renewal import renew

    return renew(folder, write=write) if declared_in(folder) else None


def _sync(made: Path, target: Path, root: Path, write: bool) -> list[str]:
    wanted = {p.relative_to(made) for p in made.rglob("*") if p.is_file()}
    here = (
        {p.relative_to(target) for p in target.rglob("*") if p.is_file() and ".ipynb_checkpoints" not in p.parts}
        if target.is_dir()
        else set()
    )
    lines = []
    for path in sorted(wanted | here):
        shown = (target / path).relative_to(root)
        if path not in wanted:
            lines.append(f"{shown}: {'removed: its source does not make it' if write else 'is not made by its source'}")
            if write:
                (target / path).unlink()
        elif path not in here:
            lines.append(f"{shown}: {'written' if write else 'is missing'}")
            if write:
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made / path, target / path)
        elif (made / path).read_bytes() != (target / path).read_bytes():
            lines.append(f"{shown}: {'written anew' if write else 'differs from its source'}")
            if write:
                shutil.copyfile(made / path, target / path)
    return lines


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in (folder / "files").glob("*") if p.is_file())


def _tool_digest() -> str:
    here = Path(__file__).parent
    return digest(*((here / f).read_bytes() for f in ("captions.py", "contents.py", "notebook.py", "release.py")))

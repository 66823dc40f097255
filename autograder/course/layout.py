"""The folder of a course: nbgrader's own layout, its configuration, and `exercises/` for the teacher's own."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from ..book.course_error import CourseError

MOST_TEXT = 1 << 20  # bytes of a file that cells may read where a submission is graded
FOLDERS = ("source", "release", "submitted", "autograded", "feedback", "exercises")
PRIVATE = 0o700  # the rights of a folder with keys, grades and learners' work
CONFIG_FILE = "nbgrader_config.py"
COURSE_ID = '# c.CourseDirectory.course_id = "..."'
DATABASE = '# c.CourseDirectory.db_url = "postgresql+psycopg://..."     # instead of gradebook.db'
CONFIG = f"""\
# Written by `gpubook course init`: nbgrader's own commands, run in this folder, grade as `gpubook grade`
# does.

from autograder.course import configure

c = get_config()  # noqa: F821
configure(c)
{COURSE_ID}
{DATABASE}
# c.GradeInSandbox.cell_limit = 30.0                        # seconds a cell may run
# c.GradeInSandbox.variants = True                          # each learner has numbers of their own
# c.AssignLatePenalties.plugin_class = "autograder.gradebook.LatePerDay"
# c.LatePerDay.fraction = 0.1                               # of the score, for each day begun
# c.LatePerDay.grace = 15.0                                 # minutes that cost nothing
# c.CriteriaInFeedback.hidden_too = True                    # also the text of criteria that learners do not see
# c.WorkedSolutions.after_due = True                        # feedback shows solutions when no work is taken any more
# c.WorkedSolutions.late_days = 7.0                         # for how long late work is taken
# c.RegradeRequests.offered = True                          # feedback says how to ask for another look at a grade
# c.CheckService.url = "https://..."                        # where notebooks have your own exercises checked
# c.CheckService.attempts = 5                               # verdicts for each learner and exercise
"""


def init(folder: Path | str, db_url: str | None = None) -> list[Path]:
    """Create a course: nbgrader's folders, its configuration, `exercises/` for your own; returns the new files.

    With `db_url` the gradebook is kept there instead of in gradebook.db; CourseError if it cannot be opened, or where
    the folder is a course already.
    """
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise CourseError(f"{folder} is a file; a folder for the course was expected")
    path = folder / CONFIG_FILE
    # the exchange's name for the course; nbgrader without one cannot add an assignment in PostgreSQL
    own_id = f"c.CourseDirectory.course_id = {folder.resolve().name.strip() or 'course'!r}"
    text = CONFIG.replace(COURSE_ID, own_id)
    if db_url is not None:
        if path.exists():
            raise CourseError(
                f"{path} already exists: set c.CourseDirectory.db_url in it to move the gradebook "
                "(`nbgrader db` copies nothing: grade again to fill the new one)"
            )
        from .gradebook_url import driver, opened

        with opened(driver(db_url)):
            text = text.replace(DATABASE, f"c.CourseDirectory.db_url = {driver(db_url)!r}")
    new = [folder / name for name in FOLDERS if not (folder / name).is_dir()]
    folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)  # one that was there keeps the teacher's rights
    for made in new:
        made.mkdir(mode=PRIVATE)
    if not path.exists():
        path.touch(mode=0o600 if db_url is not None else 0o666)  # a URL may hold a password
        path.write_text(text, encoding="utf-8")
        new.append(path)
    return new


def read_config(folder: Path) -> Any:
    """nbgrader's configuration of the course in `folder`; CourseError if it is not a course."""
    from traitlets.config import PyFileConfigLoader

    if not (folder / CONFIG_FILE).is_file():
        raise CourseError(
            f"{folder} is not a course: {CONFIG_FILE} was expected in it; `gpubook course init {folder}` creates one"
        )
    config = PyFileConfigLoader(CONFIG_FILE, path=str(folder)).load_config()
    config.CourseDirectory.root = str(folder)
    return config


def released(folder: Path, name: str) -> Path:
    """The released notebook of an assignment; CourseError lists the known assignments."""
    path = folder / "release" / name / f"{name}.ipynb"
    if not path.is_file():
        have = ", ".join(sorted(p.name for p in (folder / "release").glob("*") if p.is_dir())) or "none"
        raise CourseError(f"{path} is missing: {name!r} was never released in this course (assignments: {have})")
    return path


def texts_beside(release: Path) -> dict[str, str]:
    """The texts that are released beside a notebook, which its cells may read, by their path from there: those in UTF-8
    of at most 1 MiB. What is public of its exercises the grader knows itself."""
    texts = {}
    for path in sorted(release.parent.rglob("*")):
        inside = path.relative_to(release.parent)
        hidden = any(part.startswith(".") for part in inside.parts)
        ours = path.suffix == ".ipynb" or inside == Path("exercises.json")
        if path.is_file() and not ours and not hidden and path.stat().st_size <= MOST_TEXT:
            with suppress(UnicodeDecodeError):
                texts[inside.as_posix()] = path.read_text(encoding="utf-8")
    return texts

"""A course in nbgrader's layout: release, a class with every kind of bad submission, gradebook, feedback,
stock nbgrader."""

import contextlib
import copy
import errno
import json
import os
import re
import subprocess
import sys
import warnings
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeReleaseFeedback
from rich.console import Console

from autograder import course, sandbox
from autograder.cli import commands
from autograder.course import gradebook
from autograder.course.agreements import extensions
from autograder.course.class_results import class_result, results_table
from autograder.course.layout import MOST_TEXT, read_config, texts_beside
from autograder.course.report import explanation, of_class
from autograder.course.run.journal import Journal
from autograder.course.terms.agreed_terms import Extension
from autograder.declaration import load_bank
from autograder.grading import restore, worker
from autograder.sandbox import NoSandbox, Zygote
from autograder.values.book_root import book_root
from tests.autograder import tiny

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
NAME = tiny.NAME


def hand_in(folder: Path, who: str, nb, name: str = NAME, file: str | None = None) -> None:
    path = folder / "submitted" / who / name / (file or f"{name}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nb if isinstance(nb, str) else nbformat.v4.writes(nb), encoding="utf-8")


def make_course(root: Path):
    """A course whose one assignment draws on the teacher's own declarations."""
    folder = root / "course"
    course.init(folder)
    bank = tiny.write_bank(root)
    (folder / "exercises" / "tiny.py").write_text(tiny.EXERCISES)
    (folder / "source" / NAME).mkdir()
    nbformat.write(tiny.instructor(bank), folder / "source" / NAME / f"{NAME}.ipynb")
    released = course.release(folder / "source", folder / "release", NAME, f"sqlite:///{folder}/gradebook.db")
    return folder, nbformat.read(released, as_version=4)


@pytest.fixture(scope="module", autouse=True)
def one_zygote(zygotes):
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        yield zygotes()


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course, its release and the results of a class in which much is wrong."""
    folder, release = make_course(tmp_path_factory.mktemp("class"))
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    hand_in(folder, "bob", release)
    hand_in(
        folder,
        "cy",
        tiny.fill(release, tiny.RIGHT | {"tiny-steps": "import os; os._exit(3)", "tiny-time": "answer = 0.5"}),
    )
    hand_in(folder, "dan", "{not json")
    hand_in(folder, "eve", release, name="99-nowhere")
    hand_in(folder, "fay", release, file="copy.ipynb")
    hand_in(folder, "gus", '{"nbformat": 4, "cells": [{"cell_type": "code"}]}')
    (folder / "submitted" / "hal" / NAME).mkdir(parents=True)
    (folder / "submitted" / "hal" / NAME / f"{NAME}.ipynb").symlink_to(folder / "gradebook.db")
    done: list[str] = []
    result = course.grade(folder, NAME, progress=done.append, cell_limit=2.0)
    assert sorted(done) == ["ann", "bob", "cy", "dan", "fay", "gus", "hal"]
    return folder, release, result


def test_the_release_has_stubs_that_run_and_no_solution(tmp_path):
    bank = tiny.write_bank(tmp_path)
    nb = tiny.released(tmp_path, bank)
    answers = [c for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "answer"]
    assert [c.source for c in answers] == [bank[name].stub() for name in tiny.IDS]
    assert not any("stub" in c.metadata["gpubook"] for c in answers)
    text = (tmp_path / "release" / NAME / f"{NAME}.ipynb").read_text()
    assert "SOLUTION" not in text
    assert "4e9/2e9" not in text
    exec("\n".join(c.source for c in answers), {})


def test_a_release_is_the_same_bytes_every_time(tmp_path):
    bank = tiny.write_bank(tmp_path)
    tiny.released(tmp_path, bank)
    first = (tmp_path / "release" / NAME / f"{NAME}.ipynb").read_bytes()
    again = course.release(tmp_path / "source", tmp_path / "elsewhere", NAME)
    assert again.read_bytes() == first


def test_a_release_copies_no_text_or_code_beside_the_notebook(tmp_path):
    bank = tiny.write_bank(tmp_path)
    folder = tmp_path / "source" / NAME
    folder.mkdir(parents=True)
    for name in ("key.md", "exercises.py", "picture.svg"):
        (folder / name).write_text("x")
    nbformat.write(tiny.instructor(bank), folder / f"{NAME}.ipynb")
    made = course.release(tmp_path / "source", tmp_path / "release", NAME)
    assert sorted(p.name for p in made.parent.iterdir()) == [f"{NAME}.ipynb", "picture.svg"]
    with pytest.raises(course.CourseError, match=r"02-none\.ipynb "):
        course.release(tmp_path / "source", tmp_path / "release", "02-none")


def test_a_notebooks_cells_may_read_the_texts_that_are_released_beside_it(tmp_path):
    release = tmp_path / "hw.ipynb"
    (tmp_path / "files").mkdir()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    inside = ("hw.ipynb", "exercises.json", "files/log.txt", "data.csv", ".ipynb_checkpoints/data.csv")
    for name in inside:
        (tmp_path / name).write_text("x")
    (tmp_path / "files" / "plot.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "files" / "long.txt").write_text("x" * (MOST_TEXT + 1))
    assert texts_beside(release) == {"data.csv": "x", "files/log.txt": "x"}


def test_a_course_is_laid_out_once(tmp_path):
    made = course.init(tmp_path / "c")
    assert len(made) == len(course.FOLDERS) + 1
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "c", *made) if path.is_dir()} == {0o700}
    (tmp_path / "c" / "nbgrader_config.py").write_text("# mine\n")
    assert course.init(tmp_path / "c") == []
    assert (tmp_path / "c" / "nbgrader_config.py").read_text() == "# mine\n"
    (tmp_path / "file").write_text("")
    with pytest.raises(course.CourseError, match=f"{tmp_path / 'file'} .*file;"):
        course.init(tmp_path / "file")
    with pytest.raises(course.CourseError, match=r"nbgrader_config\.py "):
        course.grade(tmp_path, NAME)
    with pytest.raises(course.CourseError, match=f"{NAME}.ipynb .*'{NAME}' .*none"):
        course.grade(tmp_path / "c", NAME)


def test_the_gradebook_has_the_points(graded):
    folder, _, result = graded
    expected = {"ann": 10.0, "bob": 0.0, "cy": 5.0}  # cy: 1 predicted, 2 and 2; a mistake and a dead kernel
    assert {learner.name: learner.points for learner in result.learners if learner.results} == expected
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        assert {s.student.id: s.score for s in gradebook.assignment_submissions(NAME)} == expected
        assert not any(s.needs_manual_grade for s in gradebook.assignment_submissions(NAME))


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ("dan", rf"submitted/dan/{NAME}/{NAME}\.ipynb: not JSON .* notebook .* expected"),
        (
            "eve",
            rf"submitted/eve/99-nowhere: .*'99-nowhere'; .*{NAME}",
        ),
        ("fay", rf"submitted/fay/{NAME}/{NAME}\.ipynb: missing, .*copy\.ipynb; "),
        ("gus", rf"submitted/gus/{NAME}/{NAME}\.ipynb: cell 1 .*cell_type"),
        ("hal", r"submitted/hal/.*: a link; "),
    ],
)
def test_a_bad_submission_is_named_and_the_rest_is_graded(graded, who, said):
    learner = graded[2].learner(who)
    assert re.search(said, learner.problem)
    assert learner.results == []


def test_the_class_table_shows_all_of_it(graded):
    _, _, result = graded
    console = Console(width=110, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    results_table.print_class(result, console)
    console.file.close()
    shown = console.export_text()
    assert re.search(r"ann +3 +2 +1 +2 +2 +10", shown)
    assert re.search(r"cy +0 +0 +1 +2 +2 +5", shown)
    assert re.search(r"of +3 +2 +1 +2 +2 +10", shown)
    for learner in result.learners:
        assert learner.name in shown
        assert learner.problem in shown
    assert "gradebook.db" in shown
    assert "--show" in shown


def test_sentences_are_there_on_demand(graded):
    folder, _, _ = graded
    kept = course.results(folder, NAME)
    console = Console(width=200, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    results_table.show(kept, "cy", console)
    results_table.show(kept, "cy/tiny-steps", console)
    console.file.close()
    shown = console.export_text()
    assert "Turn the quotient over." in shown
    assert shown.count("exit status 3") == 2
    with pytest.raises(KeyError, match=r"unknown learner 'zed'.*ann"):
        results_table.show(kept, "zed")
    with pytest.raises(KeyError, match=r"'tiny-x'.*tiny-time"):
        results_table.show(kept, "cy/tiny-x")
    with pytest.raises(FileNotFoundError, match=r"02-other.*gpubook grade"):
        course.results(folder, "02-other")


def test_one_exercise_over_the_class_is_shown_with_what_was_answered(graded):
    done = CliRunner().invoke(commands.main, ["grade", str(graded[0]), NAME, "--show", "/tiny-time"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "ann: 10 points 3/3 tiny-time [2 s] Right." in said
    assert "bob: 0 points 0/3 tiny-time No answer yet." in said
    assert "0/3 tiny-time [500 ms] Turn the quotient over." in said


def test_the_class_is_reported_without_a_run(graded, tmp_path, monkeypatch):
    folder, _, _ = graded
    monkeypatch.setattr(worker, "Zygote", None)  # which a run would start
    page, tables = tmp_path / "week.html", tmp_path / "tables"
    for options in ([], ["--html", str(page), "--csv", str(tables)]):
        done = CliRunner().invoke(commands.main, ["report", str(folder), NAME, *options])
        assert done.exit_code == 0, (done.output, done.exception)
        if not options:
            assert re.search(r"1 of 3 time +Turn the quotient over\.|and 1 that one learner", done.output)
            assert re.search(r"2 steps +2 +33 +33", done.output)
    assert "Turn the quotient over." in page.read_text()
    assert "tiny-time#1" in (tables / "mistakes.csv").read_text()
    term = CliRunner().invoke(commands.main, ["report", str(folder)])
    assert term.exit_code == 0, (term.output, term.exception)
    assert f"{NAME}/tiny-steps" in term.output
    none = CliRunner().invoke(commands.main, ["report", str(folder), "02-other"])
    assert none.exit_code == 1
    assert "02-other" in none.output


def test_a_verdict_is_explained(graded):
    def explained(what):
        done = CliRunner().invoke(commands.main, ["explain", str(graded[0]), NAME, what])
        return done.exit_code, done.output

    code, said = explained("cy/tiny-time")
    assert code == 0, said
    for words in ("S = 4 GB, W = 2 GB/s", "the book's", "answer     500 ms", "1/4 of the right answer",
                  "expected   2 s  [lambda S, W: S/W, tiny.py:", "within 1 %: 1.98 s to 2.02 s",
                  "matched    lambda S, W: W/S = 500 ms", "mistake    lambda S, W: S*W", "[mistake]",
                  "is the same since it was judged", "judged now the same"):  # fmt: skip
        assert words in said
    steps = said.partition("How the grade came about:")[2]
    assert "tiny-time 0 of 3 (mistake)" in steps
    assert "tiny-guess" not in steps
    code, said = explained("ann/4")
    assert code == 0, said
    assert "return 2*x" in said
    assert "has to be called" in said
    for what, known in (("ann", "LEARNER/EXERCISE"), ("zed/1", "ann"), ("ann/9", "tiny-time"), ("dan/1", "JSON")):
        code, said = explained(what)
        assert (code, known in said) == (1, True), said


@pytest.mark.parametrize(("came", "says"), [(False, "submitted nothing for"), (True, "still to be graded")])
def test_who_has_no_result_is_told_why(graded, monkeypatch, came, says):
    folder = graded[0]
    monkeypatch.setattr(gradebook, "learners", lambda _: ["zoe"])
    monkeypatch.setattr(explanation, "has_submitted", lambda *_: came)
    done = CliRunner().invoke(commands.main, ["explain", str(folder), NAME, "zoe/1"])
    assert (done.exit_code, says in done.output) == (1, True), done.output


def test_results_are_read_back_as_written(tmp_path, graded):
    class_result.save(graded[2], tmp_path / "r.json")
    assert class_result.load(tmp_path / "r.json") == graded[2]


def test_feedback_has_the_sentences_and_neither_answers_nor_other_hosts(graded):
    folder, _, result = graded
    page = Path(result.learner("cy").feedback).read_text()
    assert "Turn the quotient over." in page
    assert "0 of 3 points" in page
    assert "BEGIN SOLUTION" not in page
    assert "4e9/2e9" not in page
    assert "Divide, do not multiply" not in page
    assert not re.search(r"""(src|href)\s*=\s*["']?\s*(https?:)?//""", page)
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert (folder / "autograded" / "cy" / NAME / f"{NAME}.ipynb").is_file()


def test_release_feedback_does_not_stop_at_what_no_exchange_took(graded, tmp_path):
    folder, _, result = graded
    pages = [Path(learner.feedback) for learner in result.learners if learner.feedback]
    secrets = {page.with_name("submission_secret.txt").read_text() for page in pages}
    config = read_config(folder)
    config.Exchange.root = str(tmp_path)
    config.CourseDirectory.update(course_id="c", assignment_id=NAME)
    tmp_path.chmod(0o777)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # nbgrader leaves each timestamp open
        ExchangeReleaseFeedback(coursedir=CourseDirectory(config=config), config=config).start()
    assert len(list((tmp_path / "c" / "feedback").glob("*.html"))) == len(pages) == len(secrets) == 3
    course.show_feedback(folder, NAME)
    assert {page.with_name("submission_secret.txt").read_text() for page in pages} == secrets


def test_a_learners_html_is_shown_not_obeyed(tmp_path):
    folder, release = make_course(tmp_path)
    evil = copy.deepcopy(release)
    raw = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    evil.cells.insert(0, nbformat.v4.new_markdown_cell(raw))
    evil.cells.insert(0, nbformat.v4.new_raw_cell(raw))
    evil.cells.insert(
        0,
        nbformat.v4.new_code_cell(
            f"from IPython.display import *\ndisplay(HTML({raw!r}), Markdown({raw!r}))\nprint('\\ud800')"
        ),
    )
    hand_in(folder, "mal", evil)
    result = course.grade(folder, NAME)
    page = Path(result.learner("mal").feedback).read_text()
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script" in page


def test_asking_for_one_learner_leaves_the_others(graded):
    folder, _, _ = graded
    only = course.grade(folder, NAME, students=["bob", "zed"])
    assert [learner.name for learner in only.learners] == ["bob", "zed"]
    assert ": ann, bob" in only.learner("zed").problem
    assert course.results(folder, NAME).learner("ann").points == 10.0
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        assert gradebook.find_submission(NAME, "ann").score == 10.0


def test_odd_names_of_folders_cost_their_own_learners_only(tmp_path):
    folder, release = make_course(tmp_path)
    for name in ("ann", "e\x1b[31mve", "zo\udceb"):  # the last as zip files of another encoding make them
        hand_in(folder, name, tiny.fill(release, tiny.RIGHT))
    course.grade(folder, NAME)
    result = course.results(folder, NAME)
    assert {learner.name: learner.points for learner in result.learners} == {
        "ann": 10.0,
        "e\x1b[31mve": 10.0,
        "zo\\xeb": 0.0,
    }
    assert "UTF-8" in result.learner("zo\\xeb").problem
    assert result.learner("zo\\xeb").problem.isprintable()
    with open(tmp_path / "shown.txt", "w", encoding="utf-8") as file:
        console = Console(width=110, file=file)
        results_table.print_class(result, console)
        results_table.show(result, "e\x1b[31mve", console)
        results_table.show(result, "zo\\xeb", console)
    shown = (tmp_path / "shown.txt").read_text()
    assert "\x1b" not in shown
    assert "ann" in shown


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_are_no_learners_fault(tmp_path, monkeypatch, error):
    folder, release = make_course(tmp_path)
    hand_in(folder, "ann", release)

    def out_of_files(*_given, **_more):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(worker.submission, "grade_notebook", out_of_files)
    with pytest.raises(course.CourseError, match=rf"{os.strerror(error)}.*ulimit -n.*--resume"):
        course.grade(folder, NAME)


def test_a_disk_that_is_full_from_the_beginning_is_named(tmp_path, monkeypatch):
    folder, _ = make_course(tmp_path)

    def no_room(*_given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Journal, "_add", no_room)
    with pytest.raises(course.CourseError, match=rf"{NAME}\.journal: {os.strerror(errno.ENOSPC)}.*--resume"):
        course.grade(folder, NAME)


def test_a_run_in_which_nobody_could_be_graded_fails(tmp_path, monkeypatch):
    folder, _ = make_course(tmp_path)
    hand_in(folder, "dan", "{not json")
    monkeypatch.setattr(sandbox, "zygote_ahead", contextlib.nullcontext)
    done = CliRunner().invoke(commands.main, ["grade", str(folder), NAME])
    assert done.exit_code == 1
    assert "0 of 1 graded" in done.output


@pytest.mark.parametrize("lacks", ["unconfined", "unmeasured"])
def test_what_unsafe_leaves_out_is_said_once_and_asked_for(tmp_path, monkeypatch, lacks):
    folder, release = make_course(tmp_path)
    for name in ("ann", "bob"):
        hand_in(folder, name, release)
    monkeypatch.setattr(Zygote, lacks, property(lambda self: "no such thing here"))
    with pytest.raises(NoSandbox, match=r"no such thing here.*--unsafe"):
        course.grade(folder, NAME)
    (said,) = course.grade(folder, NAME, unsafe=True).problems
    assert "--unsafe" in said
    assert "no such thing here" in said


@pytest.mark.slow
def test_an_undeclared_exercise_is_named_for_the_teacher_and_the_class_is_graded(tmp_path):
    folder, release = make_course(tmp_path)
    gone = tiny.EXERCISES.replace("tiny-steps", "tiny-renamed")
    (folder / "exercises" / "tiny.py").write_text(gone)
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    result = course.grade(folder, NAME)
    assert result.learner("ann").points == 8.0
    assert len(result.problems) == 1
    assert re.search(
        rf"release/{NAME}/{NAME}\.ipynb: cell 'tiny-steps-grade' "
        r".*'tiny-steps'.*: .*tiny\.py .*tiny-renamed",
        result.problems[0],
    )


@pytest.mark.slow
def test_without_a_sandbox_it_refuses(tmp_path, monkeypatch):
    folder, release = make_course(tmp_path)
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    monkeypatch.setattr(Zygote, "unconfined", property(lambda self: "unshare: Operation not permitted"))
    with pytest.raises(NoSandbox, match="--unsafe"):
        course.grade(folder, NAME)
    assert course.grade(folder, NAME, unsafe=True).learner("ann").points == 10.0


def test_restoring_twice_changes_nothing(graded):
    _, release, _ = graded
    broken = copy.deepcopy(release)
    del broken.cells[4:9]
    broken.cells += [copy.deepcopy(release.cells[5]), nbformat.v4.new_code_cell("mine")]
    broken.cells[-1]["id"] = "x y"
    once = restore.restore(broken, release)
    assert nbformat.v4.writes(restore.restore(once, release)) == nbformat.v4.writes(once)
    assert [c.source for c in once.cells if c.source == "mine"] == ["mine"]


@pytest.mark.slow
def test_assign_takes_a_chapter_or_some_of_its_exercises(tmp_path, root):
    if not (root / "solutions" / "03-rooflines" / "exercises.py").is_file():
        pytest.skip("the chapter is not there")
    folder = tmp_path / "c"
    course.init(folder)
    nb = nbformat.read(
        course.assign(
            folder,
            "ps1",
            chapter="03-rooflines",
            exercises=["rooflines-vector-add"],
            due=datetime(2030, 1, 2),
        ),
        as_version=4,
    )
    asked = {c.metadata["gpubook"]["exercise"] for c in nb.cells if "exercise" in c.metadata.get("gpubook", {})}
    assert asked == {"rooflines-vector-add"}
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        assert gradebook.find_assignment("ps1").duedate == datetime(2030, 1, 2)
    for _ in range(2):
        told = json.loads((folder / "release" / "ps1" / "exercises.json").read_text())["assignment"]
        assert told == {"name": "ps1", "due": "2030-01-02 00:00 UTC", "shows_solutions": False}
        course.assign(folder, "ps1", chapter="03-rooflines", exercises=["rooflines-vector-add"])  # the deadline stays
    with pytest.raises(course.CourseError, match=r"rooflines-none; .*rooflines-vector-add"):
        course.assign(folder, "ps2", chapter="03-rooflines", exercises=["rooflines-none"])


def run_nbgrader(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    root = Path(course.__file__).resolve().parent.parent.parent
    environment = os.environ | {
        "PYTHONPATH": str(root),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "JUPYTER_PLATFORM_DIRS": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=folder,
        env=environment,
        timeout=200,
        capture_output=True,
        text=True,
        check=False,
    )


def scores(folder: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(NAME)}


@pytest.mark.slow
def test_nbgraders_own_command_gives_the_same_grades_with_our_configuration(tmp_path):
    folder, release = make_course(tmp_path)
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    hand_in(
        folder,
        "cy",
        tiny.fill(release, tiny.RIGHT | {"tiny-steps": "import os; os._exit(3)", "tiny-time": "answer = 0.5"}),
    )
    course.grade(folder, NAME, cell_limit=5.0)
    ours = scores(folder)
    (folder / "gradebook.db").unlink()
    course.release(folder / "source", folder / "release", NAME, f"sqlite:///{folder}/gradebook.db")
    gradebook.set_due(f"sqlite:///{folder}/gradebook.db", NAME, datetime(2030, 1, 1))
    extensions.extend(folder, NAME, ["cy"], Extension(days=2))
    done = run_nbgrader(folder, "autograde", NAME, "--create", "--force")
    assert done.returncode == 0, done.stderr
    assert scores(folder) == ours == {"ann": 10.0, "cy": 5.0}
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as book:
        assert book.find_submission(NAME, "cy").extension == timedelta(days=2)
        assert not book.find_submission(NAME, "ann").extension


@pytest.mark.slow
def test_stock_nbgrader_by_mistake_gives_zeros(tmp_path):
    folder, release = make_course(tmp_path)
    hand_in(folder, "ann", tiny.fill(release, tiny.RIGHT))
    (folder / "release" / NAME / "exercises.json").write_text("{}")
    (folder / "nbgrader_config.py").write_text("")
    done = run_nbgrader(folder, "autograde", NAME, "--create", "--force")
    assert done.returncode == 0, done.stderr
    assert scores(folder) == {"ann": 0.0}


@pytest.mark.slow
def test_with_variants_each_learner_has_numbers_of_their_own(tmp_path):
    folder, chosen = tmp_path / "course", ["rooflines-matmul-time", "rooflines-quantised-crossover"]
    course.init(folder)
    config = folder / "nbgrader_config.py"
    config.write_text(config.read_text().replace("# c.GradeInSandbox.variants", "c.GradeInSandbox.variants"))
    released = course.assign(folder, "week1", chapter="03-rooflines", exercises=chosen)
    release = nbformat.read(released, as_version=4)
    bank = load_bank(book_root() / "solutions" / "03-rooflines")
    prompts = {c.metadata.gpubook.exercise: c.source for c in release.cells if c.id.endswith("-prompt")}
    assert list(prompts) == chosen
    assert "your numbers" in prompts["rooflines-quantised-crossover"]
    assert str(bank["rooflines-quantised-crossover"].variant()["name"]) not in prompts["rooflines-quantised-crossover"]

    exercise = bank["rooflines-matmul-time"]
    ann, *others = (f"learner{i}" for i in range(20))
    own = exercise.expected(exercise.variant(ann))
    bob, copycat = [o for o in others if exercise.judge(own, exercise.variant(o)).kind == "variant"][:2]
    right = {name: f"answer = {bank[name].expected(bank[name].variant(ann))!r}" for name in chosen}
    reading = "g = given('rooflines-matmul-time')\nanswer = matmul_time(g['B'], g['D'], g['F'], g['C'], g['W'])"
    hand_in(folder, ann, tiny.fill(release, right), name="week1")
    hand_in(folder, bob, tiny.fill(release, {exercise.id: reading}), name="week1")
    hand_in(folder, copycat, tiny.fill(release, right), name="week1")
    result = course.grade(folder, "week1", cell_limit=20.0)
    assert result.learner(ann).points == result.max_points
    shown = nbformat.read(folder / "autograded" / ann / "week1" / "week1.ipynb", as_version=4)
    numbers = [c.outputs[0] for c in shown.cells if c.id.endswith("-numbers")]
    assert [output.output_type for output in numbers] == ["execute_result"] * len(chosen)
    assert [r.points for r in result.learner(bob).results] == [exercise.points, 0]
    copied = result.learner(copycat).results[0]
    assert (copied.points, copied.kind) == (0, "variant")
    borrowed = of_class.of_assignment(folder, "week1").borrowed
    assert [one.learner for one in borrowed if ann in one.owners and one.exercise == exercise.id] == [copycat]


def test_assigning_again_keeps_what_the_teacher_added(tmp_path):
    course.init(tmp_path / "course")
    for _ in range(2):
        released = course.assign(tmp_path / "course", "w1", chapter="03-rooflines", exercises=["rooflines-ridge"])
        (tmp_path / "course" / "source" / "w1" / "notes.txt").write_text("mine")
    assert released.is_file()
    assert not (tmp_path / "course" / "source" / "w1" / "03-rooflines.ipynb").exists()
    assert (tmp_path / "course" / "source" / "w1" / "notes.txt").read_text() == "mine"
    with pytest.raises(course.CourseError, match=r"'\.\.' "):
        course.assign(tmp_path / "course", "..", chapter="03-rooflines")
    assert (tmp_path / "course" / "nbgrader_config.py").is_file()

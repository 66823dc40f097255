"""No solution, mistake's sentence or key is in what a course's learners get; the open edition has them all.

The same search runs over chapters/, over the course edition of the pages, and over the open edition, where it
has to find everything: so a search that finds nothing because it cannot is noticed.
"""

import base64
import functools
import gzip
import html
import json
import re
import zipfile
from collections import defaultdict
from pathlib import Path

import nbformat
import numpy as np
import pytest

from autograder.book.outputs import executed, prerun_outputs
from autograder.book.site.misconceptions import misconceptions
from autograder.book.source import chapters
from autograder.declaration import call_with
from autograder.declaration.worked import solution_of
from tests.kept import built, loaded

pytestmark = pytest.mark.slow
TEXT = {".html", ".js", ".json", ".ipynb", ".txt", ".md", ".csv", ".svg", ".inv"}
LONG = 16  # letters, from which on a secret is looked for without markup
BASE = np.uint64(0x9E3779B97F4A7C15)


def letters(text):
    """Letters and digits alone: neither markup, line breaks nor quoting hide a sentence."""
    return re.sub(r"[\W_]+", "", text)


letters_of = functools.cache(letters)  # of a secret, which is looked for again and again


@functools.cache
def secrets(root):
    """(what, text) of all that only the key holds, for every chapter: a model answer line by line."""
    found = []
    for name in chapters.chapter_names(root):
        chapter = loaded(root, name)
        cells = {c.id: c.source for c in chapter.instructor.cells}
        for key in chapter.exercises:
            exercise = chapter.bank[key]
            given = exercise.variant()
            found += [(f"{key}: a mistake's sentence", exercise.fill(m.say, given)) for m in exercise.mistakes]
            found.append((f"{key}: its explanation", exercise.fill(exercise.explain, given)))
            table = exercise.answer.compared(exercise, None, given).splitlines()[2:]
            found += [(f"{key}: what came out", line) for line in table if len(letters(line)) > LONG]
            if exercise.kind == "Written":
                # neither where a link leads nor the number of an item is in a page's text
                text = re.sub(r"\]\([^)]*\)|^\s*\d+\. ", "]", cells[key], flags=re.M)
                found += [(f"{key}: its model answer", line) for line in text.splitlines() if len(letters(line)) > 15]
            else:
                found.append((f"{key}: its solution", solution_of(cells[key])))
    return [(what, text) for what, text in found if text]


def misconception_phrases(root):
    """What is said of a reader who has a misconception: it would say what is wrong with an answer."""
    return [(f"misconception {name}", one.did) for name, one in misconceptions(root).items()]


def read(folder):
    """All text below a folder, with and without markup, and inside of archives."""
    parts = []
    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if Path(name).suffix in TEXT | {".py"}]
            parts += [archive.read(name).decode("utf-8", errors="ignore") for name in inside]
    for path in sorted(folder.rglob("*.gz")):  # the memory of a Python: what it holds as text
        parts += [run.decode("ascii") for run in re.findall(rb"[ -~\n]{8,}", gzip.decompress(path.read_bytes()))]
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in TEXT and not {"vendor", "disk"} & set(path.parts):  # disk: in base64
            text = path.read_text(encoding="utf-8", errors="ignore")
            parts.append(text)
            if path.suffix == ".ipynb":
                parts += [c.source for c in notebook_cells(text)]
            if path.suffix == ".json":
                parts += strings(json.loads(text))
            if path.suffix == ".html":
                parts.append(html.unescape(re.sub(r"<[^>]+>", "", text)))
    return "\n".join(parts)


def notebook_cells(text):
    return nbformat.reads(text, as_version=4).cells


def strings(data):
    if isinstance(data, dict):
        return [s for k, v in data.items() for s in (str(k), *strings(v))]
    if isinstance(data, list):
        return [s for v in data for s in strings(v)]
    return [str(data)]


def leaks(root, folder):
    return held(read(folder), secrets(root))


def held(text, secrets):
    """What of all secrets a text holds; one of few letters (`answer = 8`) has to stand there as it is.

    However many there are, the text is read once: where the first letters of some secret are, it is looked for.
    """
    found = set()
    long = [(what, letters_of(secret)) for what, secret in secrets if len(letters_of(secret)) >= LONG]
    short = [(what, secret) for what, secret in secrets if len(letters_of(secret)) < LONG]
    bare, begin = letters(text), defaultdict(list)
    for what, secret in long:
        begin[secret[:LONG]].append((what, secret))
    for at in places(bare, begin):
        found |= {what for what, secret in begin[bare[at : at + LONG]] if bare.startswith(secret, at)}
    for what, secret in short:
        edges = re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
        found |= {what for at in positions(text, secret) if edges.match(text, at)}
    return [what for what, _ in secrets if what in found]


def places(text, words):
    """Where one of the words, all of `LONG` letters, stands in a text: a sum over each window tells most others."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    if len(codes) < LONG:
        return
    sums = np.zeros(len(codes) - LONG + 1, np.uint64)
    for k in range(LONG):
        sums = sums * BASE + codes[k : len(codes) - LONG + 1 + k]
    wanted = np.array([window(word) for word in words], np.uint64)
    for at in np.flatnonzero(np.isin(sums, wanted)):
        if text[at : at + LONG] in words:
            yield int(at)


@functools.cache
def window(word):
    """The sum of `places` over one word."""
    total = 0
    for letter in word:
        total = (total * int(BASE) + ord(letter)) % 2**64
    return total


def positions(text, word):
    """Where a word begins in a text, also inside of others."""
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def test_there_are_secrets_to_look_for(root):
    found = secrets(root)
    assert len(found) > 20
    text = "a Mistake, with $x/2$ and `code`;\nanswer = 24"
    for secret, there in (
        ("mistake, with $x / 2$ and code"[1:], True),
        ("mistake, with $x / 2$ and codes"[1:], False),
        ("answer = 2", False),
        ("answer = 24", True),
    ):
        assert bool(held(text, [("it", secret)])) is there


def test_a_secret_is_found_wherever_it_is_planted(root):
    """Each of them alone, in a text that holds none of them, between markup and line breaks; and all in one text."""
    plain = letters((root / "README.md").read_text(encoding="utf-8"))
    known = [(str(number), secret) for number, (_, secret) in enumerate(secrets(root))]
    assert held(plain, known) == []
    hidden = {what: secret.replace(" ", "\n* ") if len(letters(secret)) >= LONG else secret for what, secret in known}
    for what, secret in known[::7]:
        assert what in held(f"{plain}<p>{hidden[what]}</p>{plain}", known), secret
    assert held(" . ".join(hidden.values()), known) == [what for what, _ in known]


def test_chapters_hold_none(root):
    assert leaks(root, root / "chapters") == []
    assert held(read(root / "chapters"), misconception_phrases(root)) == []
    for path in (root / "chapters").glob("*/exercises.json"):
        for record in json.loads(path.read_text())["exercises"].values():
            assert not {"solution", "mistakes", "explain", "digest", "expected"} & set(record), path


def test_a_public_record_does_not_hold_the_answer(root):
    for name in chapters.chapter_names(root):
        chapter = loaded(root, name)
        for key in chapter.exercises:
            exercise = chapter.bank[key]
            if exercise.kind in ("Quantity", "Count"):
                numbers = [v for row in [exercise.public()["given"]] for v in row.values()]
                want = call_with(exercise.solution, exercise.variant())
                assert repr(want) not in strings(exercise.public()) or want in numbers, key


def test_the_course_edition_holds_none(root):
    folder = built(root, course=True)
    assert leaks(root, folder) == []
    pages = "".join(p.read_text(encoding="utf-8") for p in folder.glob("*.html"))
    for trace in ('class="answer-box"', 'class="solution"', 'class="reveal"', '"digest"', "Common mistakes"):
        assert trace not in pages
    assert "data-chapter-end" not in pages
    assert (folder / "_static" / "misconceptions.js").read_text() == ""
    assert held(read(folder), misconception_phrases(root)) == []


@pytest.mark.slow
def test_what_a_fresh_notebook_shows_holds_none(root):
    """The archives of the outputs that depend on no answer, by the runs that a build of the book keeps."""
    work, text = root / ".build", []
    for name in chapters.chapter_names(root):
        chapter = loaded(root, name)
        learner = nbformat.read(root / "chapters" / name / f"{name}.ipynb", as_version=4)
        path = prerun_outputs.keep(work / "shown", chapter, learner, executed.run(chapter, root, work))
        data = json.loads(gzip.decompress(path.read_bytes()))
        text += strings(data)
        exercises = {cell.id for cell in learner.cells if cell.metadata.get("gpubook", {}).get("part")}
        assert not exercises & data["outputs"].keys()
        assert len(data["outputs"]) > 10, "and there is something to look through"
    assert held("\n".join(text), secrets(root)) == []
    assert held("\n".join(text), misconception_phrases(root)) == []


def test_a_secret_is_found_inside_an_archive_and_a_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "book.zip", "w") as archive:
        archive.writestr("solutions/x/exercises.py", "say = 'a sentence that nobody is to read'")
    (tmp_path / "snapshot.gz").write_bytes(gzip.compress(b"\0\xff\0a model answer for teachers alone\0\1"))
    secrets = [("it", "sentence that nobody is to read"), ("that", "a model answer for teachers alone")]
    assert held(read(tmp_path), secrets) == ["it", "that"]


def test_the_course_edition_ships_the_library_for_its_planners_and_nothing_of_a_chapter(root):
    folder = built(root, course=True) / "_static" / "python"
    assert [path.name for path in folder.glob("*.zip")] == ["library.zip"]
    with zipfile.ZipFile(folder / "library.zip") as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {"autograder", "hwlib", "site"}
    shipped = {path.relative_to(folder).as_posix().replace("/", "."): path for path in folder.rglob("*.*")}
    for script in (folder / "disk").glob("*.js"):
        if (name := script.name.removesuffix(".js")) != "worker":  # the others are these files again
            assert base64.b64decode(script.read_text().split('"')[-2]) == shipped[name].read_bytes()
    assert (built(root) / "_static" / "python" / "book.zip").is_file()


def test_the_open_edition_holds_them_all(root):
    missing = {what for what, _ in secrets(root)} - set(leaks(root, built(root)))
    assert not missing
    phrases = misconception_phrases(root)
    assert held(read(built(root)), phrases) == [what for what, _ in phrases]

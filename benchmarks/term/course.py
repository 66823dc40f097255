"""The course of the simulated term: the teacher's commands, and how work arrives from learners and platforms."""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from click.testing import CliRunner

from autograder.book.source.release import programs_on_path
from autograder.cli import commands
from benchmarks.term import importers
from benchmarks.term.checks import GUEST, Tally
from benchmarks.term.classroom import (
    BANK,
    COPIED,
    RENAMED,
    TEXT,
    WRONG_KEY,
    Assignment,
    RosterLearner,
    Said,
    answer,
    bank_of,
    drawn,
    filled,
    solutions,
)
from benchmarks.term.ledger import AssignmentLedger, LedgerSubmission, in_utc

BEGAN = time.perf_counter()
ZONE = "Europe/Berlin"  # the teacher's, in Moodle
MISSING, LATE = 0.07, 0.2  # of the class
SECOND_TWO = datetime(2026, 10, 25, 1)  # UTC: two o'clock in Berlin for the second time, which no worksheet tells
SETTINGS = {
    "# c.GradeInSandbox.variants": "c.GradeInSandbox.variants",
    "# c.GradeInSandbox.cell_limit = 30.0": "c.GradeInSandbox.cell_limit = {limit}",
    "# c.AssignLatePenalties": "c.AssignLatePenalties",
    "# c.LatePerDay": "c.LatePerDay",
}
SAME_TEXT = (
    "I would first time the collectives of one step alone on the same ranks, then run the step with each of them "
    "replaced by nothing, and hold the difference against that time: if both agree within the noise of ten runs, the "
    "job waits for its network."
)


class Unexpected(RuntimeError):
    """A command ended otherwise than the story expects; its output."""


@dataclass
class Course:
    """The folder, the people, the ledgers by assignment, and what was compared so far."""

    folder: Path
    people: Sequence[RosterLearner]
    seed: int
    cell_limit: float = 10.0  # seconds
    tally: Tally = field(default_factory=Tally)
    books: dict[str, AssignmentLedger] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    copied: tuple[str, ...] = ()  # who share a function
    same_text: tuple[str, ...] = ()  # and who a text

    @property
    def own(self) -> Path:
        """The file of the teacher's declarations."""
        return self.folder / "exercises" / "mine.py"

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.people]

    def gpubook(self, *args: object, code: int = 0) -> str:
        """Run a command of the product as a teacher does, and return what it prints."""
        words = [str(one) for one in args]
        self.said.append("gpubook " + " ".join(words))
        self.tally.tell(f"{time.perf_counter() - BEGAN:5.0f} s  {self.said[-1].replace(str(self.folder), 'COURSE')}")
        done = CliRunner().invoke(commands.main, words)
        if done.exit_code != code:
            raise Unexpected(f"{self.said[-1]} ended with {done.exit_code}: {done.output[-2000:]}{done.exception!r}")
        return done.output

    def open(self) -> None:
        """Make the course, with its rule for late work, everybody's own numbers and the roster."""
        self.gpubook("course", "init", self.folder)
        config = self.folder / "nbgrader_config.py"
        text = config.read_text(encoding="utf-8")
        for before, after in SETTINGS.items():
            if before not in text:
                raise Unexpected(f"{config} has no line {before!r}")
            text = text.replace(before, after.format(limit=self.cell_limit))
        config.write_text(f"{text}\nc.Exchange.root = {str(self.folder / 'exchange')!r}\n", encoding="utf-8")
        self.write_key(WRONG_KEY)
        roster = self.folder / "roster.csv"
        with roster.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "first_name", "last_name", "email", "lms_user_id"])
            rows.writerows([one.id, one.first, one.last, one.email, one.number] for one in self.people)
        command = [sys.executable, "-m", "nbgrader", "db", "student", "import", roster.name]
        with programs_on_path():  # nbgrader starts alembic
            done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unexpected(f"{' '.join(command[1:])}: {done.stderr[-2000:]}")

    def write_key(self, changes: Mapping[str, str]) -> None:
        """The declarations, with these texts in place of others."""
        text = BANK.read_text(encoding="utf-8")
        for before, after in changes.items():
            if text.count(before) != 1:
                raise Unexpected(f"{BANK.name} has {text.count(before)} times {before!r}; once was expected")
            text = text.replace(before, after)
        self.own.write_text(text, encoding="utf-8")

    def assign(self, one: Assignment) -> AssignmentLedger:
        """Release it; again, nothing changes in the ledger."""
        options: list[object] = []
        if one.chapter:
            options += ["--chapter", one.chapter]
        if one.text:
            text = self.folder / f"{one.name}.md"
            text.write_text(TEXT, encoding="utf-8")
            options += ["--text", text]
        else:
            options += ["--exercises", ",".join(one.exercises)]
        for name, points in one.points.items():
            options += ["--points", f"{name}={points:g}"]
        told = self.gpubook("course", "assign", self.folder, one.name, *options, "--due", one.due)
        due = in_utc(one.due)
        self.tally.same("deadlines", one.name, "all", True, f"Due {due:%Y-%m-%d %H:%M} UTC" in told)
        if (book := self.books.get(one.name)) is None:
            book = self.books[one.name] = AssignmentLedger(one, bank_of(one, self.own), due, self.people)
        return book

    def extend(self, book: AssignmentLedger, who: Sequence[str], *, days: float = 0, until: str = "") -> None:
        """Give more time."""
        option = ("--days", days) if days else ("--until", until)
        self.gpubook("course", "extend", self.folder, book.about.name, *who, *option)
        more = timedelta(days=days) if days else in_utc(until) - book.due
        book.extensions |= dict.fromkeys(who, more)

    def group(self, book: AssignmentLedger) -> None:
        """Have learners submit in groups; the last few stay alone."""
        size, ids = book.about.groups, self.ids
        alone = len(ids) % size or size
        named = {f"G{at}": ids[at : at + size] for at in range(0, len(ids) - alone, size)}
        path = self.folder / f"{book.about.name}-groups.csv"
        rows = [f"{group},{who}" for group, members in named.items() for who in members]
        path.write_text("\n".join(["group,learner", *rows]) + "\n", encoding="utf-8")
        self.gpubook("course", "groups", self.folder, book.about.name, path)
        book.groups = named

    def draw(self, book: AssignmentLedger) -> None:
        """Who submits when, and what each answers."""
        name, rng = book.about.name, random.Random(f"{self.seed} {book.about.name}")
        taught = solutions(self.folder / "source" / name / f"{name}.ipynb")
        of_groups = [rng.choice(members) for members in book.groups.values()]
        grouped = {who for members in book.groups.values() for who in members}
        able = of_groups + [who for who in self.ids if who not in grouped]
        stay = max(1, round(MISSING * len(able))) if len(able) > 3 else 0
        for who in sorted(set(able) - set(rng.sample(able, stay))):
            own = random.Random(f"{self.seed} {name} {who}")
            said = {
                key: answer(one, drawn(own), who, self.ids, taught.get(key, ""), own) for key, one in book.bank.items()
            }
            book.work[who] = LedgerSubmission(said, None if book.about.by == "canvas" else self._when(book, own))
        if book.about.faults:
            self._faults(book)
        if book.about.text:
            self.same_text = tuple(list(book.work)[1:3])
            for who in self.same_text:
                book.work[who].said["mine-plan"] = Said("text", SAME_TEXT)

    @staticmethod
    def _when(book: AssignmentLedger, rng: random.Random) -> datetime:
        """In time, within the minutes that cost nothing, or some days late; to the minute, as Moodle has it."""
        lot = rng.random()
        if lot > LATE:
            return book.due - timedelta(minutes=rng.randrange(5, 5000))
        if lot > LATE * 0.75:
            return book.due + timedelta(minutes=rng.randrange(1, 15))
        minutes = rng.randrange(16, 3 * 1440)
        if SECOND_TWO <= book.due + timedelta(minutes=minutes) < SECOND_TWO + timedelta(hours=1):
            minutes += 60
        return book.due + timedelta(minutes=minutes)

    def _faults(self, book: AssignmentLedger) -> None:
        """A crash, an endless loop, nothing at all, a file that is none, and two with one function."""
        crash, loop, nothing, broken, one, other = list(book.work)[:6]
        book.work[crash].said["mine-steps"] = Said("crash", "import os\nos._exit(3)")
        book.work[loop].said["mine-ring"] = Said("loop", "while True:\n    pass")
        book.work[nothing].said = {name: Said("empty") for name in book.bank}
        book.work[broken].broken = True
        book.work[one].said["mine-bubble"] = Said("right", COPIED)
        book.work[other].said["mine-bubble"] = Said("right", RENAMED)
        self.copied = (one, other)

    def submit(self, book: AssignmentLedger) -> None:
        """Let the work arrive."""
        if book.about.by == "exchange":
            for who, work in book.work.items():
                self._by_exchange(book, who, work)
        elif book.about.by == "canvas":
            self._by_canvas(book)
        else:
            self._by_moodle(book)

    def notebook(self, book: AssignmentLedger, work: LedgerSubmission) -> str:
        """What a learner submits."""
        name = book.about.name
        released = (self.folder / "release" / name / f"{name}.ipynb").read_text(encoding="utf-8")
        return "{not a notebook" if work.broken else filled(released, work.said)

    def _by_exchange(self, book: AssignmentLedger, who: str, work: LedgerSubmission) -> None:
        """As `nbgrader collect` leaves it, with what the exchange keeps."""
        name, when = book.about.name, f"{work.when:%Y-%m-%d %H:%M:%S.%f} UTC"
        home = self.folder / "submitted" / who / name
        home.mkdir(parents=True, exist_ok=True)
        (home / f"{name}.ipynb").write_text(self.notebook(book, work), encoding="utf-8")
        (home / "timestamp.txt").write_text(when, encoding="utf-8")
        inbound = self.folder / "exchange" / self.folder.name / "inbound"
        (inbound / f"{who}+{name}+{when}+x7Qa").mkdir(parents=True)

    def _by_canvas(self, book: AssignmentLedger) -> None:
        """A zip of Canvas, in which two are called late and a file of nobody lies."""
        name, late, archive = book.about.name, list(book.work)[1:3], self.folder / f"{book.about.name}-canvas.zip"
        people = {one.id: one for one in self.people}
        with zipfile.ZipFile(archive, "w") as members:
            for at, (who, work) in enumerate(book.work.items()):
                one = people[who]
                plain = "".join(c for c in f"{one.last}{one.first}".lower() if c.isalnum())
                parts = [plain, *["LATE"] * (who in late), str(one.number), str(90000 + at)]
                file = f"{name}-1.ipynb" if at % 3 == 0 else f"{name}.ipynb"
                members.writestr("_".join([*parts, file]), self.notebook(book, work))
            members.writestr(f"ghostcasper_999999_1_{name}.ipynb", "{}")
        told = self.gpubook("collect", self.folder, name, archive)
        self.tally.same("collect", f"{name} taken", "all", True, f"{len(book.work)} new." in told)
        self.tally.same("collect", f"{name} refused", "ghost", 1, told.count("refused: "))
        self.tally.same("collect", f"{name} late", "all", True, f"since when: {', '.join(sorted(late))}\n" in told)

    def _by_moodle(self, book: AssignmentLedger) -> None:
        """Two downloads of Moodle with its worksheets, of which the later has two learners' later work."""
        name, work = book.about.name, dict(book.work)
        again = [who for who in list(work)[:2] if work[who].when is not None]
        for who in again:
            first = {key: Said("empty") for key in book.bank}
            earlier = (work[who].when or book.due) - timedelta(hours=5)
            self._download(book, {who: LedgerSubmission(first, earlier)}, f"{name}-first")
        told = self._download(book, work, name)
        new, updated = len(work) - len(again), len(again)
        self.tally.same("collect", f"{name} taken", "all", True, f"{new} new, {updated} updated." in told)
        self.tally.same("collect", f"{name} refused", "guest", 1, told.count("refused: "))

    def numbers(self, book: AssignmentLedger) -> dict[str, RosterLearner]:
        """Moodle's numbers of the participants of an assignment, which are others in each."""
        rng = random.Random(f"participants {book.about.name}")
        mixed = rng.sample(list(self.people), len(self.people))
        start = rng.randrange(300, 4000)  # among them numbers that are somebody else's lms_user_id
        return {str(start + 11 * at): one for at, one in enumerate(mixed)}

    def worksheet(self, book: AssignmentLedger, times: Mapping[str, datetime | None]) -> Path:
        """Moodle's worksheet of an assignment, with a guest whom the roster does not know."""
        people = {number: (one.name, one.email) for number, one in self.numbers(book).items()} | {
            GUEST: ("Guest", "g@x")
        }
        words = {
            number: f"{local:%A}, {local.day} {local:%B %Y}, {local:%I:%M %p}"
            for number, one in self.numbers(book).items()
            if (when := times.get(one.id)) is not None
            for local in [when.replace(tzinfo=UTC).astimezone(ZoneInfo(ZONE))]
        }
        path = self.folder / f"{book.about.name}-worksheet.csv"
        path.write_text(importers.worksheet(people, book.max_score, words), encoding="utf-8", newline="")
        return path

    def _download(self, book: AssignmentLedger, work: Mapping[str, LedgerSubmission], title: str) -> str:
        """Collect a zip of Moodle with what these have submitted."""
        name, archive = book.about.name, self.folder / f"{title}-moodle.zip"
        of = {one.id: (number, one.name) for number, one in self.numbers(book).items()}
        with zipfile.ZipFile(archive, "w") as members:
            for at, (who, theirs) in enumerate(work.items()):
                number, called = of[who]
                file = f"{name} ({at}).ipynb" if at % 4 == 1 else f"{name}.ipynb"
                members.writestr(f"{called}_{number}_assignsubmission_file/{file}", self.notebook(book, theirs))
            members.writestr(f"Guest_{GUEST}_assignsubmission_file/{name}.ipynb", json.dumps({}))
        sheet = self.worksheet(book, {who: theirs.when for who, theirs in work.items()})
        options = ("--worksheet", sheet, "--time-zone", ZONE)
        return self.gpubook("collect", self.folder, name, archive, *options)

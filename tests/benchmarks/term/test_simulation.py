"""A term of a small class, with every number twice; and that the ledger sees what is wrong."""

import sys
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from autograder.answers.selftest import selftest
from autograder.declaration import load_bank
from benchmarks.term.checks import Tally, in_csv
from benchmarks.term.classroom import BANK, TERM, Said, bank_of, roster
from benchmarks.term.ledger import AssignmentLedger, LedgerSubmission, in_utc
from benchmarks.term.simulation import simulate
from tests.autograder import tiny

ARRIVE = {"week2": {}, "week5": {"groups": 2, "by": "canvas"}, "week6": {"by": "moodle"}}
OWN = tuple(replace(one, **ARRIVE[one.name]) for one in TERM if not one.chapter)


@pytest.mark.parametrize("name", list(load_bank(BANK)))
def test_the_exercises_test_themselves(name):
    assert selftest(load_bank(BANK)[name]) == []


def test_a_class_has_names_that_trip_programs_and_two_who_share_one():
    people = roster(60)
    names = [one.name for one in people]
    assert len({one.id for one in people}) == 60
    assert [name for name in set(names) if names.count(name) > 1] == ["Kim Lee"]
    assert any("," in name for name in names)
    assert any("'" in name for name in names)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-10-05 22:00 Europe/Berlin", datetime(2026, 10, 5, 20)),
        ("2026-11-02T22:00+01:00", datetime(2026, 11, 2, 21)),
        ("2026-10-19T20:00", datetime(2026, 10, 19, 20)),
        ("2026-11-09 18:30 America/New_York", datetime(2026, 11, 9, 23, 30)),
    ],
)
def test_deadlines_are_read_in_utc(text, utc):
    assert in_utc(text) == utc


def ledger(late: timedelta, **said: Said) -> AssignmentLedger:
    """One learner's work on week5, of whom another has submitted nothing."""
    week5 = next(one for one in TERM if one.name == "week5")
    book = AssignmentLedger(week5, bank_of(week5, BANK), datetime(2026, 11, 2, 21), roster(2))
    answers = {name: said.get(name.replace("-", "_"), Said("empty")) for name in book.bank}
    book.work["l00"] = LedgerSubmission(answers, book.due + late)
    return book


def rate(book_of_learner: str = "l00") -> float:
    given = load_bank(BANK)["mine-rate"].variant(book_of_learner)
    return 1.5 * given["N"] / given["t"]


@pytest.mark.parametrize(
    ("late", "days"),
    [(-60, 0), (0, 0), (15, 0), (16, 1), (15 + 1440, 1), (16 + 1440, 2), (15 * 1440, 10)],
)
def test_the_ledger_counts_the_days_begun_after_a_quarter_of_an_hour(late, days):
    book = ledger(timedelta(minutes=late), mine_rate=Said("right", value=rate()))
    assert book.raw("l00") == 2
    assert book.penalty("l00") == pytest.approx(0.2 * days)
    book.extensions["l00"] = timedelta(days=20)
    assert book.penalty("l00") == 0


def test_the_ledger_judges_by_its_own_arithmetic():
    given = load_bank(BANK)["mine-rate"].variant("l00")
    half = Said("mistake", value=given["N"] / given["t"])
    book = ledger(timedelta(), mine_rate=half, mine_where=Said("right", value="next"))
    assert book.points("mine-rate", "l00") == 0
    assert book.beliefs() == {("mine-rate", "mine-rate#1"): {"l00"}}
    assert (book.score("l00"), book.max_score, book.missing) == (1, 8.5, ["l01"])
    book.full.add("mine-rate")
    book.dropped.add("mine-where")
    assert (book.score("l00"), book.max_score) == (2, 7.5)


def test_a_cell_that_differs_is_told():
    book, tally = ledger(timedelta(), mine_rate=Said("right", value=rate())), Tally()
    titles = "mine-rate (2 points),mine-stages (2.5 points),mine-where (1 point),mine-share (2 points)"
    who = "assignment,learner,last_name,first_name,email"
    rows = [
        f"{who},submitted,due,raw_score,extra_credit,late_penalty,score,max_score,"
        f"needs_manual_grade,answers_waiting,{titles},mine-sectors (1 point)",
        "week5,l00,Lee,Kim,l00@uni.example.org,2026-11-02T21:00:00Z,2026-11-02T21:00:00Z,2,0,0,1.9,8.5,no,0,2,0,0,0,0",
        'week5,l01,"Müller, née Ōta",Zoë,l01@uni.example.org,,2026-11-02T21:00:00Z,,,,,8.5,,,,,,,',
    ]
    in_csv("\n".join(rows) + "\n", [book], tally)
    assert tally.lines == ["csv: week5 score, l00: ledger 2.0, product 1.9"]
    in_csv("\n".join(rows[:2]) + "\n", [book], tally)
    assert [line for line in tally.lines if line.startswith("csv: rows")]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
def test_a_term_of_a_small_class_is_reconciled(tmp_path, zygotes, monkeypatch):
    monkeypatch.setenv("GPUBOOK_PRELOAD", "core")
    tiny.lend(monkeypatch, zygotes())
    made = simulate(tmp_path / "course", learners=9, seed=1, plan=OWN, explained=2, cell_limit=2.0)
    assert made.tally.lines == []
    kinds = {"gradebook", "gradebook by question", "results", "feedback", "csv", "canvas", "canvas questions", "moodle",
             "moodle comments", "report", "report mistakes", "report points", "report of the term", "changed key",
             "by hand", "explain", "collect"}  # fmt: skip
    assert kinds <= set(made.tally.counts)

"""A progress.json from a stranger, imported into the page: later visits are as quick as before, and no answer is lost.

What each did before: 45,000 exercises, 5 s for each card of a page; 40,000 mistakes of one exercise, minutes at each
visit; a macro that repeats itself in a verdict's formula, 75 s and 2.5 GB; 10,000 signs that begin a formula, 0.4 s for
each look at one card; a file that is readable by itself, but not together with the reader's own, all of their progress
set aside as unreadable.
"""

import json
import time

import pytest

from autograder.declaration.verdict import Verdict
from autograder.learner import record
from autograder.learner.progress import Progress
from autograder.learner.recording import told
from autograder.values.inline_html import LONGEST, harmless
from tests.conftest import ROOT
from tests.node import from_node

STATIC = ROOT / "docs" / "_static"
SECONDS = 2.0  # of processor time, on a loaded machine
TIME = "2026-03-01T12:00:00.000Z"
VERDICT = {"say": "", "kind": "wrong", "score": 0, "points": 0}
ANSWER = {"source": "1", "time": TIME, "verdict": VERDICT}


def timed(index):
    return f"2026-03-01T12:{index // 60000:02}:{index // 1000 % 60:02}.{index % 1000:03}Z"


def attempt(**more):
    return {"kind": "wrong", "score": 0, **more}


ENTRIES = {
    "answer": [{**ANSWER, "source": "1" * size} for size in (record.LONGEST, 2 * record.LONGEST + 1)],
    "prediction": [
        {"answer": 1, "source": "1" * size, "time": TIME} for size in (record.LONGEST, 2 * record.LONGEST + 1)
    ],
    "attempts": [{TIME: attempt(mistakes=["a"] * count)} for count in (record.MOST_MISTAKES, record.MOST_MISTAKES + 1)],
    "attempts with long names": [
        {TIME: attempt(mistakes=["a" * size])} for size in (record.LONGEST_NAME, record.LONGEST_NAME + 1)
    ],
}
RECORDS = {
    **{name: [{"x": {name.split()[0]: value}} for value in values] for name, values in ENTRIES.items()},
    "exercises": [{str(n): {} for n in range(count)} for count in (record.MOST_EXERCISES, record.MOST_EXERCISES + 1)],
}
READS = """
const data = JSON.parse(require('fs').readFileSync(0, 'utf8')), { read } = require(data.file);
const reads = (text) => { try { read(text); return true; } catch { return false; } };
process.stdout.write(JSON.stringify(data.texts.map(reads)));
"""


def test_a_notebook_records_no_more_mistakes_than_are_read():
    names = tuple(str(n) for n in range(2 * record.MOST_MISTAKES))
    assert told(Verdict(0.0, "", "wrong", mistakes=names), 1.0)["mistakes"] == list(names[: record.MOST_MISTAKES])


def test_a_page_and_a_notebook_have_the_same_bounds():
    texts = [json.dumps({"format": 2, "exercises": one}) for pair in RECORDS.values() for one in pair]
    in_page = from_node(READS, {"file": str(STATIC / "progress.js"), "texts": texts})
    assert in_page == [True, False] * len(RECORDS)
    for text, fits in zip(texts, in_page, strict=True):
        if fits:
            record.read(text)
        else:
            with pytest.raises(record.BadRecord):
                record.read(text)


def test_what_cannot_be_read_again_is_not_added_to_the_readers_own(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "MAX_SIZE", 1 << 20)
    own = Progress(tmp_path / "progress.json")
    own.record_solution("mine")
    large = {"x": {"new": "a" * (record.MAX_SIZE // 2)}}
    own.merge({"format": 2, "exercises": large})
    before = own.path.read_bytes()
    many = {str(n): {} for n in range(record.MOST_EXERCISES)}
    for exercises in (many, {"y": large["x"]}):
        with pytest.raises(record.BadRecord, match=r"progress\.json with what is added"):
            own.merge({"format": 2, "exercises": exercises})
        assert own.path.read_bytes() == before
    own.merge({"format": 2, "exercises": dict(list(many.items())[2:])})
    assert own.data()["exercises"]["mine"] == {"solution": own.solution_seen("mine")}


FORGED = """
const data = JSON.parse(require('fs').readFileSync(0, 'utf8')), kept = {};
const localStorage = { getItem: (name) => kept[name] ?? null, setItem(name, text) { kept[name] = text; } };
Object.assign(globalThis, { localStorage, window: globalThis, document: {}, addEventListener() {} });
require(data.file);
const { progress } = window.gpubook;
progress.solution("mine");
for (const verdict of data.verdicts) progress.attempt("x", { source: "1", verdict });
process.stdout.write(JSON.stringify([progress.record().exercises, kept["gpubook-progress.unreadable-1"] ?? null]));
"""
NO_VERDICTS = [{"points": 1e9}, {"points": -1}, {"kind": 1}, {"kind": {}}, {"mistakes": ["a" * 201]}, {"mistakes": [1]}]


def test_a_forged_verdict_in_the_page_is_not_recorded():
    """As code of a stranger makes one in the page's Python."""
    some = [{**VERDICT, "mistakes": [str(n) for n in range(2 * record.MOST_MISTAKES)]}]
    data = {"file": str(STATIC / "progress.js"), "verdicts": [{**VERDICT, **one} for one in NO_VERDICTS]}
    exercises, unreadable = from_node(FORGED, data)
    assert (exercises.keys(), unreadable) == ({"mine"}, None)
    exercises, unreadable = from_node(FORGED, {**data, "verdicts": some})
    (attempted,) = exercises["x"]["attempts"].values()
    assert (attempted["mistakes"], unreadable) == (some[0]["mistakes"][: record.MOST_MISTAKES], None)


FORMULAS = """
const data = JSON.parse(require('fs').readFileSync(0, 'utf8')), { formulas } = require(data.file);
const timed = data.texts.map((text) => {
  const start = process.cpuUsage(), found = formulas(text).map(({ tex, display }) => [tex, display]);
  return [found, process.cpuUsage(start).user / 1e6];
});
process.stdout.write(JSON.stringify(timed));
"""
MACROS = ["def", "gdef", "edef", "xdef", "let", "newcommand", "renewcommand", "providecommand", "global\\def"]
NO_FORMULAS = ["\\(" * 10_000, "\\[" * 10_000, "\\(\\[" * 5_000, "\\)\\]", "\\(\\)", f"\\({'x' * 2001}\\)"]
NO_FORMULAS += ["\\(\\" + name + "\\a{" + "x" * 1000 + "}" + "\\a" * 400 + "\\)" for name in MACROS]
SOME = {
    "a \\(x\\) b \\[\\frac{1}{2}\\] c": [["x", False], ["\\frac{1}{2}", True]],
    f"\\({'x' * 2000}\\)": [["x" * 2000, False]],
    "\\(\\begin{matrix}a\\\\[1ex]b\\end{matrix}\\)": [["\\begin{matrix}a\\\\[1ex]b\\end{matrix}", False]],
    "\\[ \\(a\\)": [["a", False]],
    "\\(\\left(a\\right)\\)": [["\\left(a\\right)", False]],
}


def test_a_formula_defines_nothing_and_is_looked_for_once():
    texts = [*NO_FORMULAS, *SOME]
    timed_texts = from_node(FORMULAS, {"file": str(STATIC / "math.js"), "texts": texts})
    assert [found for found, _ in timed_texts] == [[]] * len(NO_FORMULAS) + list(SOME.values())
    assert max(seconds for _, seconds in timed_texts) < 0.5


MISTAKES = """
const data = JSON.parse(require('fs').readFileSync(0, 'utf8')), exercises = new Map(data.ids.map((id) => [id, { id }]));
globalThis.window = globalThis;
globalThis.document = { querySelectorAll: () => [], addEventListener() {}, readyState: "complete" };
window.gpubook = {
  progress: { subscribe() {} }, memory: { exercises, here: null, base: "", made() {} },
  misconceptions: { names: { known: { exercises: ["b"], did: "", section: "" } }, variants: {} },
};
require(data.file);
const start = process.cpuUsage(), all = window.gpubook.mistakes.of(data.record, 3);
const seconds = process.cpuUsage(start).user / 1e6;
process.stdout.write(JSON.stringify({ all: all.slice(0, 9), count: all.length, seconds }));
"""


def mistakes(exercises, ids):
    data = {"file": str(STATIC / "mistakes.js"), "ids": ids, "record": {"exercises": exercises}}
    return from_node(MISTAKES, data)


def test_a_right_answer_is_compared_with_the_mistakes_of_its_exercise():
    names = [[f"{e}:{n}:{m}" for m in range(record.MOST_MISTAKES)] for e in range(60) for n in range(20)]
    exercises = {
        f"x{e}": {
            "attempts": {timed(40 * e + n): attempt(score=n % 2, mistakes=names[20 * e + n // 2]) for n in range(40)}
        }
        for e in range(60)
    }
    found = mistakes(exercises, list(exercises))
    assert found["count"] == 60 * 20 * record.MOST_MISTAKES
    assert found["seconds"] < SECONDS


def test_a_mistake_is_mastered_by_what_catches_it():
    wrong = {timed(0): attempt(mistakes=["known", "a#0"])}
    exercises = {"a": {"attempts": wrong}, "b": {"attempts": {timed(1): attempt(score=1)}}}
    found = mistakes(exercises, ["a", "b"])["all"]
    assert [(one["key"], one["count"], one["in"], one["mastered"]) for one in found] == [
        ("known", 1, ["a"], True),
        ("a#0", 1, ["a"], False),
    ]
    assert not any(one["mastered"] for one in mistakes(exercises, ["a"])["all"])  # another book's exercise catches none


@pytest.mark.parametrize("sign", ["<a", "&#"])
def test_a_sentence_is_read_up_to_a_length(sign):
    start = time.process_time()
    assert len(harmless(sign * LONGEST)) <= 8 * LONGEST
    assert time.process_time() - start < SECONDS
    assert harmless("a" * LONGEST + "b") == "a" * LONGEST

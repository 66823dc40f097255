"""Copies are found behind new names, comments and layout; what two write alike by themselves is not one."""

import pytest

from autograder.course.report import likeness
from autograder.course.report.copies import copies, pairs
from autograder.grading.results import Result
from tests.autograder.course.report.made import MEAN, STEPS, WHY, Class

LONG = """
def mean(xs):
    total = 0.0
    count = 0
    for x in xs:
        if x is None:
            continue
        total += x
        count += 1
    if count == 0:
        return 0.0
    return total / count
"""
RENAMED = '''
# all my own work
def mean(values: list) -> float:
    """The mean."""
    s, = [0.0],
    s = 0.0
    how_many = 0   # so far
    for value in values:
        if value is None: continue
        s += value
        how_many += 1
    if how_many == 0: return 0.0
    return (s / how_many)
'''.replace("    s, = [0.0],\n", "")
CHANGED = LONG.replace("return 0.0", "return -1.0").replace("continue", "pass")
OTHER = """
def mean(xs):
    numbers = sorted(filter(None.__ne__, xs))
    if numbers:
        import statistics
        halves = [numbers[::2], numbers[1::2]]
        weights = [len(half) / len(numbers) for half in halves]
        return sum(weight * statistics.fmean(half) for weight, half in zip(weights, halves) if half)
    raise ValueError("no numbers are there, so no mean is")
"""
SHORT = "def mean(xs):\n    return sum(xs)/len(xs)"
TEXT = (
    "The all-reduce moves twice the bytes of the gradients over the slowest link, and each step of the ring waits for "
    "the step before, so that with twice the GPUs the latency of the steps adds up while the batch on each GPU shrinks."
)


def found(**sources: str) -> Class:
    made = Class(asked=(MEAN.id,), solutions={MEAN.id: OTHER})
    for who, source in sources.items():
        made.wrote(who, MEAN, source, Result(MEAN.id, 3.0, 3.0, "Right.", kind="right"))
    return made


def alike(made: Class) -> list[tuple[tuple[str, ...], bool, bool]]:
    return [(one.learners, one.share == 1.0, one.book) for one in copies(made.gathered())]


def test_names_comments_annotations_and_layout_hide_nothing():
    assert alike(found(ann=LONG, bob=RENAMED, cy=LONG.replace("xs", "cs"))) == [(("ann", "bob", "cy"), True, False)]


def test_a_few_changes_leave_it_nearly_the_same():
    (one,) = copies(found(ann=LONG, bob=CHANGED).gathered())
    assert one.learners == ("ann", "bob")
    assert likeness.CODE_ALIKE <= one.share < 1


def test_another_way_of_writing_it_is_another():
    made = found(ann=LONG, bob=OTHER)
    made.solutions = {}
    assert alike(made) == []


def test_stubs_short_functions_and_what_cannot_be_parsed_count_for_nothing():
    stub = MEAN.stub()
    assert alike(found(a=stub, b=stub, c=SHORT, d=SHORT, e="def mean(", f="def mean(", g="(" * 5000)) == []


def test_the_solutions_own_is_told_apart_from_each_others():
    made = found(ann=OTHER, bob=OTHER.replace("half", "part"), cy=LONG, dee=RENAMED)
    assert alike(made) == [(("ann", "bob"), True, True), (("cy", "dee"), True, False)]


def test_what_most_have_is_said_to_be_usual_and_makes_no_pairs():
    made = found(**{f"l{number}": LONG for number in range(6)})
    (one,) = copies(made.gathered())
    assert one.usual
    assert pairs([one, one]) == []


def test_pairs_count_the_pieces_that_two_have_in_common():
    (one,) = copies(found(ann=LONG, bob=RENAMED).gathered())
    assert pairs([one]) == []
    assert pairs([one, one]) == [("ann", "bob", 2)]


def test_texts_are_compared_by_runs_of_words():
    made = Class(asked=(WHY.id,), solutions={WHY.id: WHY.solution})
    half = " ".join(TEXT.split()[:30]) + " and then I wrote something of my own about other things that I have seen"
    texts = {"ann": TEXT, "bob": f"**{TEXT.upper()}**", "cy": half, "dee": "Because. " * 40}
    for who, text in {**texts, "g": "I agree.", "h": "I agree.", "e": "*Your answer*", "f": "*Your answer*"}.items():
        made.wrote(who, WHY, text, Result(WHY.id, 0.0, 4.0, "", kind="waiting"))
    (one,) = copies(made.gathered())
    assert one.learners == ("ann", "bob", "cy")
    assert not one.usual


def test_numbers_are_never_compared():
    made = Class(asked=(STEPS.id,))
    for who in "abc":
        made.wrote(who, STEPS, LONG, Result(STEPS.id, 1.0, 1.0, "Right.", kind="right"))
    assert copies(made.gathered()) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "-" * 9000 + "1",
        "x = " + "[" * 80 + "]" * 80,
        f"x = 0x{'f' * 19000}",
        "x = 1\0",
        "é = '\ud800'",
        "x = " + "+".join(["1"] * 9000),
    ],
    ids=["unary", "brackets", "hexadecimal", "nul", "surrogate", "sum"],
)
def test_hostile_code_is_looked_at_and_never_run(source):
    trace = likeness.code_trace(source)
    assert trace is None or trace.size > 0
    likeness.text_trace(source)

"""Copies are found behind new names, comments and layout; what two write alike by themselves is not one."""

import ast

import pytest

from autograder.course.report import copies as module
from autograder.course.report import likeness
from autograder.course.report.copies import Copy, copies, pairs
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


@pytest.mark.parametrize(("count", "usual"), [(4, False), (5, True)])
def test_what_more_than_four_share_may_be_usual(count, usual):
    (one,) = copies(found(**dict.fromkeys("abcdefgh"[:count], LONG)).gathered())
    assert (one.usual, len(one.learners)) == (usual, count)


@pytest.mark.parametrize(("writers", "usual"), [(23, True), (24, False), (25, False)])
def test_usual_is_more_than_a_quarter_of_those_who_wrote(monkeypatch, writers, usual):
    traces = {
        f"l{number}": likeness.WorkTrace(str(max(0, number - 5)), frozenset({number}), 1) for number in range(writers)
    }
    monkeypatch.setattr(module, "_traces", lambda *_: traces)
    made = Class(asked=(MEAN.id,))
    (one,) = copies(made.gathered())
    assert (len(one.learners), one.usual) == (6, usual)
    assert module.USUAL == 0.25


def test_the_share_of_a_group_with_the_solution_is_that_of_the_least_alike(monkeypatch):
    trace = likeness.WorkTrace
    traces = {"ann": trace("a", frozenset(range(10)), 10), "bob": trace("b", frozenset(range(6)), 6)}
    monkeypatch.setattr(module, "_traces", lambda *_: traces)
    monkeypatch.setattr(module, "code_trace", lambda *_: trace("a", frozenset(range(10)), 10))
    (one,) = copies(Class(asked=(MEAN.id,)).gathered())
    assert (one.learners, one.share, one.book) == (("ann", "bob"), 0.6, True)


def test_words_that_were_not_begun_are_nobodys_work():
    made = Class(asked=(WHY.id,))
    for who in ("ann", "bob"):
        made.wrote(who, WHY, "*Your answer*", Result(WHY.id, 0.0, 4.0, "", kind="empty"))
    assert copies(made.gathered()) == []


def test_pairs_are_told_from_two_pieces_on_the_most_first_and_twenty_at_most():
    def copy(*learners, **about):
        return Copy("e", learners, 1.0, **about)

    made = [copy("a", "b"), copy("a", "b"), copy("a", "c"), copy("a", "c"), copy("a", "c"), copy("b", "c")]
    assert pairs(made) == [("a", "c", 3), ("a", "b", 2)]
    assert pairs([copy("a", "b"), copy("a", "b", book=True), copy("a", "b", usual=True)]) == []
    made = [copy("b", "c"), copy("b", "c"), copy("a", "z"), copy("a", "z")]
    assert pairs(made) == [("a", "z", 2), ("b", "c", 2)]
    many = [copy(*(f"l{number}" for number in range(8)))] * 2
    assert len(pairs(many)) == 20


def test_the_tree_of_code_tells_what_is_written_from_how_it_is_called():
    def words(source):
        return likeness._nodes(ast.parse(source))

    assert words("a = b") != words("b = a")
    assert words("total = x") == words("t = x")
    assert words("len = x") != words("t = x")  # a builtin keeps its name
    assert words("def f(a, *, k=1): return a") == words("def g(b, *, k=1): return b")
    assert words("def f(): pass") == words("async def f(): pass".replace("async ", ""))
    assert words("import numpy as np\nnp.sum") == words("import numpy as n\nn.sum")
    assert words("import numpy as np") != words("import scipy as np")
    assert words("x = 1") == words("x = 1.0")
    assert words("x = 1") != words("x = True")
    assert words("x = 1") != words("x = 2")
    assert words("x = 1e300") != words("x = 2e300")
    assert words("try: pass\nexcept E as e: e") == words("try: pass\nexcept E as f: f")
    assert words('def f():\n    "doc"\n    return 1') == words("def f():\n    ...\n    return 1")
    assert words('def f():\n    return "doc"') != words("def f():\n    return 1")
    assert words("def f():\n    1\n    return 1") != words("def f():\n    return 1")
    assert words("def f(a: int) -> int: return a") == words("def f(a): return a")
    assert words(f"x = {'a' * 300!r}") == words(f"x = {'a' * 299 + 'b'!r}")  # as far as letters are compared


def test_code_is_compared_from_forty_eight_nodes_beyond_the_stub():
    nodes = [str(number) for number in range(60)]
    assert (likeness.LEAST_NODES, likeness.RUN_OF_NODES, likeness.RUN_OF_WORDS) == (48, 6, 4)
    assert likeness._trace(nodes[:48], 6, None, 48).size == 48
    assert likeness._trace(nodes[:47], 6, None, 48) is None
    stub = likeness._trace(nodes[:3], 6, None, 0)
    assert likeness._trace(nodes[:51], 6, stub, 48).size == 48
    assert likeness._trace(nodes[:50], 6, stub, 48) is None
    assert len(likeness._trace(nodes[:6], 6, None, 0).runs) == 1
    assert len(likeness._trace(nodes[:7], 6, None, 0).runs) == 2
    assert len(likeness._trace(nodes[:3], 6, None, 0).runs) == 1
    assert (likeness.CODE_ALIKE, likeness.TEXT_ALIKE) == (0.55, 0.45)


def test_a_text_is_compared_up_to_its_most_letters():
    assert likeness.MOST_TEXT == 50_000
    text = "word " * 10_000
    assert likeness.text_trace(text + "more").digest == likeness.text_trace(text).digest
    assert likeness.text_trace(text[:-1] + "s").digest != likeness.text_trace(text).digest


def test_names_that_are_declared_and_long_numbers_are_told_apart():
    def words(source):
        return likeness._nodes(ast.parse(source))

    assert words("def f():\n    global a") != words("def f():\n    global a, b")
    assert words("def f(*, k): 1") != words("def f(*, k=None): 1")
    assert words(f"x = {11 * 10**299}") != words(f"x = {11 * 10**299 + 10**200}")
    assert words(f"x = {10**299}") == words(f"x = {10**299 + 10**200}")


@pytest.mark.parametrize(("letters", "same"), [(198, False), (199, True), (300, True)])
def test_texts_in_code_are_compared_by_two_hundred_letters_with_their_mark(letters, same):
    first, second = (likeness._nodes(ast.parse(f"x = {'a' * letters + end!r}")) for end in "bc")
    assert (first == second) == same

import copy
import hashlib

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.learner.edition_cells import similarity, text
from autograder.learner.notebook_merge import merge


def book_id(kind, source):
    return hashlib.sha256(f"{kind}\0{source}".encode()).hexdigest()[:12]


def cell(name, source, kind="markdown", **more):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, "source": [source], **code, **more}


def plain(source, kind="code", **more):
    return cell(book_id(kind, source), source, kind, **more)


def exercise(name, question, stub="answer = ...", number="3.1", kind="code"):
    """The cells of one exercise: prompt, answer, and a grade where a machine judges it."""
    cells = [
        (
            f"{name}-prompt",
            f"**Exercise {number}** · A title · 1 point\n\n{question}\n\n*A number.*",
            "markdown",
            {"part": "prompt", "number": number},
        ),
        (name, stub, kind, {"part": "answer", "stub": stub}),
        (f"{name}-grade", f'grade("{name}", answer)', "code", {"part": "grade"}),
    ]
    made = []
    for one, source, what, mark in cells:
        made.append(cell(one, source, what))
        made[-1]["metadata"] = {"gpubook": {"exercise": name, **mark}}
    return made


def notebook(*cells, **metadata):
    gpubook = {"gpubook": {"chapter": "03-rooflines"}}
    return {"cells": [*cells], "metadata": {**gpubook, **metadata}, "nbformat": 4, "nbformat_minor": 5}


def edited(nb, **sources):
    """The notebook with other sources in the cells of these ids, `_` for `-`."""
    out = copy.deepcopy(nb)
    for one in out["cells"]:
        if one["id"].replace("-", "_") in sources:
            one["source"] = [sources[one["id"].replace("-", "_")]]
    return out


def ids(nb):
    return [one["id"] for one in nb["cells"]]


def of(nb, name):
    return next(one for one in nb["cells"] if one["id"] == name)


def sources(nb):
    return [text(one) for one in nb["cells"]]


Q = "How long does a ring of eight ranks take for one gigabyte, exactly, if a step costs two microseconds?"
OTHER = "Which of the two networks carries more from one half to the other, and by what factor is that more?"


def test_an_answer_and_an_own_cell_stay_and_the_rest_becomes_the_new_edition():
    base = notebook(plain("a"), *exercise("x-ring", Q), plain("b"))
    mine = edited(base, x_ring="answer = 1")
    mine["cells"].insert(2, cell("own", "my note"))
    of(mine, "x-ring-grade")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["Right."]}]
    mine["metadata"]["gpubook"]["learner"] = "ada"
    new = notebook(plain("new"), plain("a"), *exercise("x-ring", Q, number="3.2"), plain("c"))

    merged = merge(base, mine, new)
    assert ids(merged.notebook) == [*ids(new)[:3], "own", *ids(new)[3:]]
    assert text(of(merged.notebook, "x-ring")) == "answer = 1"
    assert "3.2" in text(of(merged.notebook, "x-ring-prompt"))
    assert of(merged.notebook, "x-ring-grade")["outputs"]
    assert merged.notebook["metadata"]["gpubook"] == {"chapter": "03-rooflines", "learner": "ada"}
    changes = merged.changes
    assert (changes.new, changes.gone, changes.changed) == (2, 1, 1)
    assert (changes.renamed, changes.left_out, changes.asked_anew) == ({}, [], [])


def test_a_moved_exercise_moves_with_its_answer_and_the_learners_note():
    one, two = exercise("x-one", Q), exercise("x-two", OTHER, number="3.2")
    base = notebook(*one, *two)
    mine = edited(base, x_two="answer = 2")
    mine["cells"].append(cell("own", "my note on two"))
    merged = merge(base, mine, notebook(*two, *one)).notebook
    assert ids(merged) == ["x-two-prompt", "x-two", "x-two-grade", "own", "x-one-prompt", "x-one", "x-one-grade"]
    assert text(of(merged, "x-two")) == "answer = 2"


def test_a_renamed_exercise_is_told_and_its_answer_is_kept_below_the_new_one():
    base = notebook(*exercise("x-ring", Q), plain("b"))
    mine = edited(base, x_ring="answer = 1/0")
    new = notebook(plain("a"), *exercise("x-ring-time", Q.replace("eight", "four"), number="3.4"), plain("b"))
    merged = merge(base, mine, new)
    assert merged.changes.renamed == {"x-ring": "x-ring-time"}
    note, kept = merged.notebook["cells"][4:6]
    assert "`x-ring-time`" in text(note)
    assert (text(kept), kept["cell_type"], kept["metadata"]) == ("answer = 1/0", "raw", {})
    assert text(of(merged.notebook, "x-ring-time")) == "answer = ..."
    nbformat.validate(merged.notebook)


def test_an_exercise_that_is_gone_leaves_its_answer_marked_and_none_where_it_was_not_answered():
    base = notebook(*exercise("x-ring", Q), *exercise("x-other", OTHER))
    mine = edited(base, x_ring="answer = 1")
    merged = merge(base, mine, notebook(plain("a")))
    assert merged.changes.left_out == ["x-ring"]
    assert merged.changes.renamed == {}
    note, kept, *rest = merged.notebook["cells"]
    assert "(3.1), *A title*," in text(note)
    assert text(kept) == "answer = 1"
    assert len(rest) == 1
    moved = merge(base, mine, notebook(plain("a")), {"x-ring": "07-far"}).notebook["cells"][0]
    assert "07-far" in text(moved)


def test_an_answered_exercise_that_asks_for_something_else_is_told():
    base = notebook(*exercise("x-ring", Q))
    mine = edited(base, x_ring="answer = 1")
    for new in (exercise("x-ring", OTHER), exercise("x-ring", Q, stub="def f(): ...")):
        merged = merge(base, mine, notebook(*new))
        assert merged.changes.asked_anew == ["x-ring"]
        assert text(of(merged.notebook, "x-ring")) == "answer = 1"
    assert merge(base, base, notebook(*exercise("x-ring", OTHER))).changes.asked_anew == []


def test_an_answer_of_another_kind_is_kept_beside_the_new_cell():
    base = notebook(*exercise("x-ring", Q))
    mine = edited(base, x_ring="answer = 1")
    new = notebook(*exercise("x-ring", Q, stub="Your text.", kind="markdown"))
    merged = merge(base, mine, new)
    assert of(merged.notebook, "x-ring") == of(new, "x-ring")
    assert "answer = 1" in sources(merged.notebook)
    assert merged.changes.asked_anew == ["x-ring"]


def test_a_changed_cell_of_the_book_that_is_gone_is_kept_and_one_that_was_only_run_goes():
    base = notebook(plain("n = 1"), plain("m = 1"))
    mine = edited(base, **{ids(base)[0]: "n = 2"})
    for one in mine["cells"]:
        one["outputs"], one["execution_count"] = [{"output_type": "stream", "name": "stdout", "text": ["1"]}], 3
    merged = merge(base, mine, notebook(plain("k = 1")))
    assert sources(merged.notebook)[1:] == ["n = 2", "k = 1"]
    assert (merged.changes.kept, merged.changes.gone) == (1, 1)


def test_what_the_learner_deleted_stays_deleted_but_an_exercise_comes_back():
    base = notebook(plain("a"), *exercise("x-ring", Q), plain("b"))
    mine = notebook(plain("b"))
    new = notebook(plain("a"), *exercise("x-ring", OTHER), plain("b"), plain("c"))
    assert ids(merge(base, mine, new).notebook) == ids(new)[1:]


def test_a_locked_cell_is_the_editions_and_what_was_written_into_it_is_told():
    base = notebook(*exercise("x-ring", Q))
    mine = edited(base, x_ring_prompt="mine", x_ring_grade="grade = 1")
    merged = merge(base, mine, base)
    assert merged.notebook == base
    assert merged.changes.retaken == ["x-ring-prompt", "x-ring-grade"]


def test_attachments_and_metadata_of_the_learner_stay():
    base = notebook(*exercise("x-why", Q, stub="Text.", kind="markdown"), plain("a"), kernelspec={"name": "python3"})
    mine = edited(base, x_why="See ![](attachment:a.png)")
    of(mine, "x-why")["attachments"] = {"a.png": {"image/png": "AAAA"}}
    mine["cells"][-1]["metadata"] = {"jupyter": {"source_hidden": True}}
    mine["metadata"]["language_info"] = {"name": "python", "version": "3.12"}
    new = notebook(*exercise("x-why", OTHER, stub="Text.", kind="markdown"), plain("a"), kernelspec={"name": "other"})
    merged = merge(base, mine, new).notebook
    assert of(merged, "x-why")["attachments"] == {"a.png": {"image/png": "AAAA"}}
    assert merged["cells"][-1]["metadata"] == {"jupyter": {"source_hidden": True}}
    assert merged["metadata"]["language_info"]["version"] == "3.12"
    assert merged["metadata"]["kernelspec"] == {"name": "other"}


def test_ids_that_an_editor_lost_are_found_again():
    base = notebook(plain("a"), *exercise("x-ring", Q), plain("b"))
    mine = edited(base, x_ring="answer = 1")
    for one in mine["cells"]:
        del one["id"]
    mine["nbformat_minor"] = 4
    new = notebook(plain("a"), *exercise("x-ring", OTHER), plain("c"))
    assert merge(base, mine, new).notebook == edited(new, x_ring="answer = 1")


def test_a_second_cell_of_one_id_is_the_learners():
    base = notebook(plain("a"))
    mine = notebook(plain("a"), {**plain("a"), "source": ["mine"]})
    merged = merge(base, mine, notebook(plain("a"), plain("b"))).notebook
    assert sources(merged) == ["a", "mine", "b"]
    assert len(set(ids(merged))) == 3


def test_without_the_edition_that_it_came_from_only_what_proves_to_be_the_books_is_replaced():
    prose = cell("0123456789ab", "Seven numbers.")  # with roles in its source: the id does not prove its text
    gone = cell("ba9876543210", "Old prose, or a note?")
    base = notebook(prose, gone, plain("old"), plain("code"), *exercise("x-ring", Q), *exercise("x-two", OTHER))
    mine = edited(base, x_ring="answer = 1", **{ids(base)[3]: "code + 1"})
    mine["cells"].append(cell("11111111-2222-3333-4444-555555555555", "my own"))
    new = notebook(
        cell("0123456789ab", "Eight numbers."),
        plain("new"),
        *exercise("x-ring", Q, number="3.9"),
        *exercise("x-two", OTHER, stub="answer = ...  # 2 lines"),
    )
    merged = merge(None, mine, new)
    found = sources(merged.notebook)
    assert {"Seven numbers.", "Old prose, or a note?", "code + 1", "answer = 1", "my own", "new"} <= set(found)
    assert "old" not in found
    assert "Eight numbers." not in found
    assert text(of(merged.notebook, "x-two")) == "answer = ...  # 2 lines"
    assert "3.9" in text(of(merged.notebook, "x-ring-prompt"))
    assert found[-1] == "Old prose, or a note?"
    assert (merged.changes.unsure, merged.changes.kept) == (2, 1)
    nbformat.validate(merged.notebook)
    assert merge(new, merged.notebook, new).notebook == merged.notebook


@pytest.mark.parametrize("known", [True, False])
def test_what_is_kept_once_is_not_kept_twice(known):
    base, new = notebook(*exercise("x-ring", Q)), notebook(plain("a"))
    mine = edited(base, x_ring="answer = 1")
    once = merge(base if known else None, mine, new).notebook
    again = merge(new, once, base).notebook  # the exercise is back, is answered in the same way, and goes again
    of(again, "x-ring")["source"] = ["answer = 1"]
    twice = merge(base, again, new).notebook
    assert sources(twice).count("answer = 1") == 1
    kept = next(one for one in again["cells"] if one["cell_type"] == "raw")
    kept["source"] = ["answer = 1, I think"]
    both = sources(merge(base, again, new).notebook)
    assert {"answer = 1", "answer = 1, I think"} <= set(both)


def test_two_questions_are_alike_by_their_words_and_a_little_by_their_number():
    one, other = exercise("x-a", Q)[0], exercise("x-b", OTHER)[0]
    assert similarity(one, one) > 1
    assert similarity(one, other) < 0.5 < similarity(one, exercise("x-c", Q + " And why?", number="3.9")[0]) < 1


# What anybody may do to a notebook, and an author to an edition.

WORDS = st.text("ab\n`", max_size=3)
KINDS = st.sampled_from(["code", "markdown"])
NAMES = st.sampled_from("abcdefgh")


@st.composite
def editions(draw):
    """A small edition: cells of the book by their names, exercises among them."""
    cells = []
    for name in draw(st.lists(NAMES, unique=True, max_size=5)):
        if draw(st.booleans()):
            cells += exercise(f"x-{name}", draw(WORDS), draw(st.sampled_from(["...", "f = ..."])), name, draw(KINDS))
        else:
            cells.append(cell(book_id("", name), draw(WORDS), draw(KINDS)))
    return notebook(*cells)


@st.composite
def learners(draw, base):
    """What a learner made of an edition: answers, outputs, attachments, own cells, cells taken out."""
    out = copy.deepcopy(base)
    cells = []
    for number, one in enumerate(out["cells"]):
        locked = one["metadata"].get("gpubook", {}).get("part") in ("prompt", "grade")
        change = draw(st.sampled_from(["", "", "write", "run", "attach", "take out", "own", "lose the id"]))
        if change == "write" and not locked:
            one["source"] = [draw(WORDS) + f"mine {number}"]
        if change == "run" and one["cell_type"] == "code":
            one["outputs"], one["execution_count"] = [{"output_type": "stream", "name": "stdout", "text": ["1"]}], 1
        if change == "attach" and one["cell_type"] == "markdown" and not locked:
            one["attachments"] = {"a.png": {"image/png": f"{number}"}}
        if change == "lose the id":
            del one["id"]
        if change != "take out":
            cells.append(one)
        if change == "own":
            cells.append(cell(f"own{number}", draw(WORDS) + f"own {number}", draw(KINDS)))
    out["cells"] = cells
    return out


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_nothing_that_a_learner_wrote_is_lost(data):
    base, new = data.draw(editions()), data.draw(editions())
    mine = data.draw(learners(base))
    known = data.draw(st.booleans())
    if not known and not all("id" in one for one in mine["cells"]):
        return  # neither an id nor an edition: nobody can tell what the cell was
    merged = merge(base if known else None, mine, new)
    found, attached = sources(merged.notebook), [one.get("attachments") for one in merged.notebook["cells"]]
    for one in mine["cells"]:
        if "mine" in text(one) or "own" in text(one):
            assert text(one) in found
        if "attachments" in one:
            assert one["attachments"] in attached
        surviving = [other for other in merged.notebook["cells"] if other["id"] == one.get("id")]
        if one.get("outputs") and surviving and surviving[0]["cell_type"] == "code":
            assert surviving[0]["outputs"] == one["outputs"] or of(base, one["id"])["cell_type"] != "code"
    assert len(set(ids(merged.notebook))) == len(merged.notebook["cells"])
    assert merge(new, merged.notebook, new).notebook == merged.notebook


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_the_book_is_the_new_edition_in_its_order(data):
    base, new = data.draw(editions()), data.draw(editions())
    mine = data.draw(learners(base))
    merged = merge(base, mine, new).notebook
    here = {one["id"]: one for one in merged["cells"]}
    assert [name for name in ids(merged) if name in ids(new)] == [name for name in ids(new) if name in here]
    for one in new["cells"]:
        part = one["metadata"].get("gpubook", {}).get("part")
        if part in ("prompt", "grade"):
            assert text(here[one["id"]]) == text(one)
    assert merge(base, copy.deepcopy(base), new).notebook == new


@pytest.mark.slow
@settings(deadline=None)
@given(st.data())
def test_done_again_after_a_crash_it_comes_out_the_same(data):
    """The notebook is written and the edition is not noted yet."""
    base, new = data.draw(editions()), data.draw(editions())
    merged = merge(base, data.draw(learners(base)), new).notebook
    assert sorted(sources(merge(base, merged, new).notebook)) == sorted(sources(merged))

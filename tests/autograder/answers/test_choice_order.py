"""The order of a choice's options: by exercise and learner, never by where the author wrote the right one."""

import itertools
import json
from collections import Counter

import pytest

from autograder.answers import Choice, answer_from
from autograder.declaration import Exercise, Mistake
from autograder.declaration.answer_form import form
from autograder.learner.exercise_widget import ExerciseDesk
from autograder.learner.lookup import LocatedExercise
from autograder.learner.verbs import exercise as verb
from autograder.values import encoding

TEXTS = {"ring": "a ring", "tree": "a tree", "mesh": "a mesh", "star": "a star"}


def choice(options, name="t-order", **more):
    wrong = tuple(Mistake(key, f"Not {key}.") for key in ("tree", "mesh", "star"))
    return Exercise(id=name, prompt="Which?", answer=Choice(options, **more), solution="ring", mistakes=wrong)


def keys_in(text, keys=TEXTS):
    return sorted(keys, key=lambda key: text.index(f'"{key}"'))


def page_of(exercise):
    return str(form(exercise.answer.box(exercise), exercise=exercise.id))


def test_nothing_that_a_learner_gets_tells_how_the_options_were_declared():
    made = [choice(dict(order)) for order in itertools.permutations(TEXTS.items())]
    for read in (
        lambda one: json.dumps(one.public()),
        lambda one: one.stub(),
        lambda one: one.answer.asked_with(),
        page_of,
        lambda one: one.judge("other").say,
        lambda one: one.answer.arranged(one.id, "ann").asked_with(),
    ):
        assert len({read(one) for one in made}) == 1


def test_page_notebook_public_record_and_stub_have_one_order_without_a_learner():
    one = choice(TEXTS)
    order = list(one.public()["options"])
    assert keys_in(page_of(one)) == keys_in(one.answer.asked_with()) == keys_in(one.stub()) == order
    assert keys_in(one.judge("other").say) == order


def test_other_exercises_and_learners_have_other_orders_the_same_each_time():
    def of_learners(one):
        return [tuple(one.answer.arranged(one.id, f"l{number}").options) for number in range(200)]

    first = of_learners(choice(TEXTS))
    assert len(set(first)) == 24
    assert min(Counter(order.index("ring") for order in first).values()) > 30
    assert of_learners(choice(TEXTS)) == first
    assert of_learners(choice(TEXTS, "t-other")) != first
    assert len({tuple(choice(TEXTS, f"t-n{number}").answer.options) for number in range(100)}) > 20


def test_an_order_that_is_the_point_stays_and_the_public_record_says_so():
    one = choice(TEXTS, ordered=True)
    assert list(one.answer.options) == list(one.answer.arranged(one.id, "ann").options) == list(TEXTS)
    public = one.public()
    assert public["ordered"] is True
    assert list(answer_from(public).arranged(one.id, "ann").options) == list(TEXTS)
    assert "ordered" not in choice(TEXTS).public()
    assert " data-ordered" in page_of(one)
    assert " data-ordered" not in page_of(choice(TEXTS))


@pytest.mark.parametrize("learner", ["", "ann", "bob"])
def test_an_answer_is_what_it_was_whoever_gives_it(learner):
    for key, text in TEXTS.items():
        kind = choice(TEXTS).answer.arranged("t-order", learner)
        assert kind.read(key) == kind.read(text) == key


def test_a_letter_is_a_place_only_where_the_places_are_those_that_were_declared():
    shuffled, ordered = choice(TEXTS), choice(TEXTS, ordered=True)
    message = encoding.encode("a")
    assert shuffled.judge_message(message).kind == "unreadable"
    assert ordered.judge_message(message).kind == "right"
    letters = Exercise(id="t-abc", prompt="?", answer=Choice(("x", "y", "z")), solution="b")
    assert letters.judge("b").kind == letters.judge("y").kind == "right"
    assert sorted(letters.answer.asked_with().splitlines()) == ['- `"a"`: x', '- `"b"`: y', '- `"c"`: z']


def test_a_notebook_asks_its_learner_in_one_order_and_nobody_in_that_of_the_exercise(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    one = choice(TEXTS)
    public = json.loads(json.dumps(one.public()))
    located = LocatedExercise(public, None)
    monkeypatch.setattr("autograder.learner.verbs.find", lambda _: located)
    orders = {}
    for learner in ("", "ann", "bob", "cid"):
        monkeypatch.setenv("GPUBOOK_OWNER", learner)
        card = ExerciseDesk(located).html()
        orders[learner] = keys_in(card)
        assert keys_in(verb(one.id).text) == orders[learner]
    assert orders[""] == list(one.answer.options)
    assert len({tuple(order) for order in orders.values()}) > 2

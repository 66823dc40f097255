"""A learner's function is cut off at its time limit, wherever it happens to be."""

import time
import weakref

import pytest

from autograder.declaration.calling import TimeUp, limited


class Held:
    pass


def test_a_time_limit_that_a_callback_swallows_ends_what_comes_after():
    """Python prints what a weak reference's callback raises, and goes on: pytest would fail on that."""

    def callback(_):
        end = time.thread_time() + 0.3
        while time.thread_time() < end:
            pass
        reached.append("callback")

    reached, held = [], Held()
    kept = weakref.ref(held, callback)

    def endless():
        nonlocal held
        held = None
        while True:
            pass

    with pytest.raises(TimeUp), limited(0.1):
        endless()
    assert reached == []
    assert kept() is None


def test_what_other_callbacks_raise_is_told_as_ever(monkeypatch):
    told = []
    monkeypatch.setattr("sys.unraisablehook", lambda unraisable: told.append(unraisable.exc_type))

    def callback(_):
        raise LookupError("not the limit")

    held = Held()
    kept = weakref.ref(held, callback)
    with limited(5):
        del held
    assert told == [LookupError]
    assert kept() is None


def test_what_waits_for_a_processor_has_longer_and_what_sleeps_ends_too():
    with limited(0.5):
        time.sleep(0.6)
    with pytest.raises(TimeUp), limited(0.02):
        time.sleep(60)

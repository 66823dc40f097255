"""How often one may ask, on a clock of the test's own."""

import pytest

from autograder.course.service import limits
from autograder.course.service.limits import Later, OneAtATime, Queue, Rate


def test_a_burst_passes_and_then_one_in_each_interval():
    now = [0.0]
    rate = Rate(3, 2.0, clock=lambda: now[0])
    for _ in range(3):
        rate.take("ann")
    with pytest.raises(Later) as later:
        rate.take("ann")
    assert (later.value.status, later.value.seconds) == (429, 2)
    rate.take("bob")  # has a bucket of his own
    now[0] = 2.0
    rate.take("ann")
    with pytest.raises(Later):
        rate.take("ann")
    now[0] = 1000.0
    for _ in range(3):
        rate.take("ann")
    with pytest.raises(Later):
        rate.take("ann")


def test_no_more_learners_are_remembered_than_fit(monkeypatch):
    monkeypatch.setattr(limits, "MANY", 10)
    rate = Rate(1, 1.0, clock=lambda: 0.0)
    for number in range(100):
        rate.take(str(number))
    assert len(rate._left) == 10


def test_one_answer_of_a_learner_is_judged_at_a_time():
    one = OneAtATime()
    one.begin("ann")
    one.begin("bob")
    with pytest.raises(Later):
        one.begin("ann")
    one.end("ann")
    one.begin("ann")


def test_a_full_queue_says_when_to_come_back():
    queue = Queue(1, 4.2)
    queue.begin()
    with pytest.raises(Later) as later:
        queue.begin()
    assert (later.value.status, later.value.seconds) == (503, 5)
    queue.end()
    queue.begin()


@pytest.mark.parametrize(("seconds", "after"), [(0.0, 1), (0.4, 1), (1.0, 1), (1.1, 2), (7.0, 7)])
def test_one_waits_whole_seconds_and_at_least_one(seconds, after):
    assert Later(429, "wait", seconds).seconds == after


def test_a_bucket_refills_in_part_and_says_what_is_missing():
    now = [0.0]
    rate = Rate(1, 10.0, clock=lambda: now[0])
    rate.take("ann")
    now[0] = 4.0
    with pytest.raises(Later) as later:
        rate.take("ann")
    assert later.value.seconds == 6
    now[0] = 9.0  # a refused request costs nothing
    with pytest.raises(Later) as later:
        rate.take("ann")
    assert later.value.seconds == 1
    now[0] = 10.0
    rate.take("ann")


def test_a_queue_takes_as_many_as_it_may_and_counts_them():
    queue = Queue(2, 1.0)
    queue.begin()
    queue.begin()
    with pytest.raises(Later):
        queue.begin()
    assert queue.count == 2
    queue.end()
    assert queue.count == 1


def test_a_second_answer_says_to_come_back_in_a_second():
    one = OneAtATime()
    one.begin("ann")
    with pytest.raises(Later) as later:
        one.begin("ann")
    assert (later.value.status, later.value.seconds) == (429, 1)


def test_ten_thousand_learners_are_remembered_and_the_last_ones(monkeypatch):
    assert limits.MANY == 10_000
    monkeypatch.setattr(limits, "MANY", 2)
    rate = Rate(1, 10.0, clock=lambda: 0.0)
    for who in ("ann", "bob", "cy"):
        rate.take(who)
    assert list(rate._left) == ["bob", "cy"]
    rate.take("ann")  # of whom nothing is remembered
    with pytest.raises(Later):
        rate.take("cy")

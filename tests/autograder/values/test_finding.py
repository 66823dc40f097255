"""An error for the learner has a reason: its own, or that of its class."""

from autograder.values.finding import Explained, Finding


class Refused(Explained):
    reason = "refused"


def test_a_reason_is_the_errors_own_or_that_of_its_class():
    assert (str(Refused("a sentence")), Refused("a sentence").reason) == ("a sentence", "refused")
    assert Refused("a sentence", "too-large").reason == "too-large"
    assert Explained("a sentence").reason == ""
    assert Finding("a sentence", "refused").reason == "refused"

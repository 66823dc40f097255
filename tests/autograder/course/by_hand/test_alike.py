"""Which answers are equal, which nearly so, and which are not, however few letters they differ by."""

import pytest

from autograder.course.by_hand import alike
from autograder.course.by_hand.answers import HandGradedAnswer, LearnerText

LONG = "the all-reduce of 16 GPUs takes more steps than that of 8 so each message is smaller and latency counts"


def answer(number, source, pictures=()):
    text = LearnerText(source, pictures, f"digest of {source} {pictures}")
    return HandGradedAnswer(f"l{number}", "", "", number, text, None, True, "", None)


def pair(mine, theirs):
    pairs = alike.alike(answer(1, mine), [answer(1, mine), answer(2, theirs)])
    return pairs[0] if pairs else None


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("Latency counts.", "latency  counts"),
        ("S/W, since it is copied", "S/W since it is copied!"),
        ("a\n\nb", "a b"),
        (LONG, LONG.replace(" so ", ", so ")),
    ],
)
def test_blanks_punctuation_and_a_first_capital_make_no_difference(mine, theirs):
    assert pair(mine, theirs).equal


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("S/W", "S*W"),
        ("3.9 ms", "39 ms"),
        ("8 Gb", "8 GB"),
        ("it is", "it is not"),
        (LONG, LONG.replace("16", "32")),
        (LONG, LONG.replace("latency counts", "latency counts not")),
        (LONG, LONG.replace("is smaller", "isn't smaller")),
        ("", ""),
        ("", "a"),
    ],
)
def test_signs_numbers_units_and_negations_are_never_passed_over(mine, theirs):
    assert pair(mine, theirs) is None


def test_nine_words_of_ten_are_nearly_the_same_and_the_difference_is_shown():
    words = [chr(ord("a") + number) * 2 for number in range(20)]
    near = pair(" ".join(words), " ".join(["zz", "yy", *words[2:]]))
    assert (near.equal, near.share, near.differs) == (False, 0.9, ("aa bb → zz yy",))
    assert pair(" ".join(words), " ".join(["zz", "yy", "xx", *words[3:]])) is None
    assert pair(" ".join(words), " ".join([*words[10:], *words[:10]])) is None  # the same words in another order


def test_an_answer_with_pictures_is_like_those_with_the_same_ones_alone():
    every = [answer(1, "See.", ("a",)), answer(2, "See.", ("a",)), answer(3, "See.", ("b",)), answer(4, "See.")]
    assert [one.answer.number for one in alike.alike(every[0], every)] == [2]
    assert alike.equal_counts(every) == {"l1": 1, "l2": 1, "l3": 0, "l4": 0}


def test_the_most_alike_come_first_and_the_longest_are_compared_as_a_whole_only(monkeypatch):
    texts = [LONG, LONG.replace("takes", "needs"), LONG, "Something else."]
    every = [answer(number, text) for number, text in enumerate(texts, start=1)]
    assert [one.answer.number for one in alike.alike(every[0], every)] == [3, 2]
    assert alike.equal_counts(every) == {"l1": 1, "l2": 0, "l3": 1, "l4": 0}
    monkeypatch.setattr(alike, "MOST_WORDS", len(alike.words(LONG)) - 1)
    assert [one.answer.number for one in alike.alike(every[0], every)] == [3]


def test_a_word_is_lowered_from_three_letters_on():
    assert alike.words("The It Gb GPU") == ("the", "It", "Gb", "GPU")

"""The numbers of a prompt, as they stand there and in SI."""

import pytest

from autograder.answers import Quantity
from autograder.answers.prompt_numbers import MANY, numbers_of
from autograder.declaration import Exercise


def numbers(prompt, **given):
    exercise = Exercise(id="t-numbers", prompt=prompt, answer=Quantity("s"), solution=1.0)
    return [tuple(number) for number in numbers_of(exercise, given)]


@pytest.mark.parametrize(
    ("prompt", "given", "expected"),
    [
        ("no number", {}, []),
        ("{n} ranks", {"n": 8}, [("8", 8.0, "1", "n")]),
        ("{S:B} each", {"S": 1e8}, [("100 MB", 1e8, "B", "S")]),
        ("{n} ranks", {}, []),
        ("{n} ranks", {"n": 0}, []),
        ("{n} ranks", {"n": True}, []),
        ("{n} ranks", {"n": "8"}, []),
        ("a copy of 4 GB", {}, [("4 GB", 4e9, "B", "")]),
        ("of 1,024 GPUs", {}, [("1,024 GPUs", 1024.0, "GPU", "")]),
        ("in 2.5 ms", {}, [("2.5 ms", 0.0025, "s", "")]),
        ("0 of them", {}, []),
        ("H100 has none", {}, []),
        ("an 8-way split", {}, []),
        ("over NVLink 5", {}, []),
        ("NVLink 450 GB/s", {}, [("450 GB/s", 450e9, "B/s", "")]),
        ("of Llama 3", {}, []),
        ("The 8 of them", {}, [("8", 8.0, "1", "")]),
        ("{n} of 8", {"n": 8}, [("8", 8.0, "1", "n")]),  # the same number once
        ("4 and 4 and 5", {}, [("4", 4.0, "1", ""), ("5", 5.0, "1", "")]),
    ],
)
def test_each_number_of_a_prompt_stands_once_with_its_unit(prompt, given, expected):
    assert [(shown.split(" and")[0].split(" of")[0], *rest) for shown, *rest in numbers(prompt, **given)] == expected


def test_the_first_eight_are_kept():
    prompt = "; ".join(str(n) for n in range(2, 2 + MANY + 1))
    assert [number[1] for number in numbers(prompt)] == [float(n) for n in range(2, 2 + 8)]

"""The search for numbers in prose that do not come from the code; the chapters are searched by their rules."""

import pytest

from autograder.book.rules.chapter_rules import typed_numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It moves 450 GB/s.", ["It moves 450 GB/s"]),
        ("It takes 3.5us, or 20 % more.", ["It takes 3.5us", "It takes 3.5us, or 20 %"]),
        ("Eight nodes, 64 GPUs.", ["Eight nodes, 64 GPUs"]),
        ("Up to 1,024 ranks", ["Up to 1,024 ranks"]),
        ('It moves {n}`show(450*GB, "B/s")`, or `450 GB/s` in code.', []),
        ("*“NVLink is 900 GB/s”*, they write.", []),
        ("A 70B model with 16-bit weights, chapter 3, $64 s$, H100 SXM5.", []),
        ("```python\nx = 5  # 5 GB\n```", []),
        ("```{code-cell} ipython3\nx = 5  # 5 GB\n```", []),
    ],
)
def test_the_search_finds_what_is_typed_and_nothing_else(text: str, found: list[str]):
    assert [words for _, words in typed_numbers(text)] == found

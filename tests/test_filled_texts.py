"""Nothing of a template reaches a reader: no field, no source of an expression, no backtick without its pair."""

import json
import re
from itertools import islice

import pytest

from tests.banks import banks
from tests.conftest import ROOT

VARIANTS = 6  # of an exercise, from the first on
FENCED = re.compile(r"(?ms)^(`{3,}).*?^\1")
CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
MATHS = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
LEFT = re.compile(
    r"\{\w[\w.]*(?:![rs])?(?::[^{}\s]*)?\}"  # a field
    r"|\{\w+\}`|\blambda\b|<(?:function|bound method|[\w.]+ object)|\bNone\b|Fraction\(|np\.float64\("
    r"|\b(?:inf|nan) [kMGTPmuµ]?(?:s|B|FLOP)\b"
)


def bare(text):
    """A Markdown text without its code and mathematics."""
    return MATHS.sub(" ", CODE.sub(" ", FENCED.sub(" ", text)))


def leftover(text):
    """What of a template is left in a text that a reader sees; "" where nothing is."""
    text = bare(text)
    match = LEFT.search(text)
    at = match.start() if match else text.find("`")
    return "" if at < 0 else text[max(0, at - 30) : at + 30]


def texts(exercise):
    """The templates of an exercise, each of which is filled with the numbers of a variant."""
    yield from (exercise.prompt, exercise.explain, *exercise.hints)
    yield from (mistake.say for mistake in exercise.mistakes)
    yield from (text for text in getattr(exercise.answer, "options", {}).values() if isinstance(text, str))


EXERCISES = [exercise for bank in banks().values() for exercise in bank.values()]


def test_prompts_hints_verdicts_and_explanations_are_filled_in_each_variant():
    left = {
        f"{exercise.id}: {problem}"
        for exercise in EXERCISES
        for given in islice(exercise.variants(), VARIANTS)
        for text in texts(exercise)
        if (problem := leftover(exercise.fill(text, given)))
    }
    assert sorted(left) == []


def test_captions_and_their_alternatives_are_filled():
    left, seen = [], 0
    for path in sorted((ROOT / "chapters").glob("*/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            alt = cell["metadata"].get("alt", "")
            caption = "".join(cell["source"]) if cell["metadata"].get("gpubook", {}).get("part") == "caption" else ""
            seen += bool(alt) + bool(caption)
            if "`" in alt or leftover(alt) or leftover(caption):
                left.append(f"{path.name}: {(leftover(alt) or leftover(caption) or alt)[:60]}")
    assert seen > 200
    assert left == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It moves {S:B} a step.", True),
        ("It moves {n}`show(S)` a step.", True),
        ("The call `f(x) takes one.", True),
        ("It takes <function f at 0x7f> s.", True),
        ("It takes nan s.", True),
        ("It takes None.", True),
        ("The rest is nan, and never read.", False),
        ("It takes 3 s, `{n}` in `lambda` and $\\frac{a}{b}$.", False),
        ("```\n{n} `\n```\nA set {1, 2}.", False),
    ],
)
def test_what_is_left_of_a_template_is_seen(text, left):
    assert bool(leftover(text)) is left

"""Which answers to a question are equal, or nearly so, by a measure that can be said in a sentence.

Two answers are *equal* where they have the same words, numbers and signs in the same order: blanks, punctuation marks
and a capital at the beginning of a word play no part. They are *nearly equal* where at least nine words of ten are the
same in the same order, and all numbers and negations are the same: "3.9 ms" is not nearly "39 ms", nor "it is" nearly
"it is not".
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from .answers import HandGradedAnswer

NEARLY = 0.9  # of the words of both answers
MOST_WORDS = 2000  # of an answer that is compared by words: it takes quadratic time
WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")
PUNCTUATION = frozenset(".,;:!?…")
NEGATIONS = frozenset(("not", "no", "never", "nor", "neither", "none", "nothing", "without", "cannot"))
CAPITAL = 3  # letters from which on a capital is only the beginning of a sentence: "It" is, "B" and "Gb" are not
MOST_SHOWN = 12  # differences that are listed


@dataclass(frozen=True)
class AlikeAnswer:
    """An answer beside the one that is looked at; `share` of the words is the same, `differs` says where it is not."""

    answer: HandGradedAnswer
    share: float
    differs: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.differs


@lru_cache(2048)
def words(text: str) -> tuple[str, ...]:
    """What of a text is compared."""
    parts = (part for part in WORD.findall(unicodedata.normalize("NFKC", text)) if part not in PUNCTUATION)
    return tuple(map(_without_capital, parts))


def _without_capital(part: str) -> str:
    return part.lower() if part.istitle() and len(part) >= CAPITAL else part


def alike(of: HandGradedAnswer, every: Sequence[HandGradedAnswer]) -> list[AlikeAnswer]:
    """The other answers that are equal to one, and those that are nearly so, the most alike first.

    Of answers with pictures only those with the same text and the same pictures are.
    """
    pairs = (_pair(of, other) for other in every if other.learner != of.learner)
    alike_ones = [pair for pair in pairs if pair is not None]
    return sorted(alike_ones, key=lambda pair: (not pair.equal, -pair.share, pair.answer.number))


def equal_counts(every: Sequence[HandGradedAnswer]) -> dict[str, int]:
    """By learner, how many others have written the same."""
    keys = {answer.learner: _key(answer) for answer in every}
    counts = Counter(keys.values())
    counts[()] = 1  # who has written nothing has not written the same
    return {learner: counts[key] - 1 for learner, key in keys.items()}


def _key(answer: HandGradedAnswer) -> tuple[str, ...]:
    """The same for answers that are equal; empty where nothing is written."""
    return (answer.text.digest,) if answer.text.pictures else words(answer.text.source)


def _pair(of: HandGradedAnswer, other: HandGradedAnswer) -> AlikeAnswer | None:
    mine, theirs = _key(of), _key(other)
    if not mine or not theirs:
        return None
    if mine == theirs:
        return AlikeAnswer(other, 1.0)
    if of.text.pictures or other.text.pictures or max(len(mine), len(theirs)) > MOST_WORDS:
        return None
    if _decisive(mine) != _decisive(theirs) or _bound(mine, theirs) < NEARLY:
        return None
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    share = matcher.ratio()
    if share < NEARLY:
        return None
    changes = (code for code in matcher.get_opcodes() if code[0] != "equal")
    differs = tuple(_difference(mine[a:b], theirs[c:d]) for _, a, b, c, d in changes)
    return AlikeAnswer(other, share, differs[:MOST_SHOWN])


def _decisive(parts: Sequence[str]) -> list[str]:
    """The numbers and negations of an answer, in their order."""
    return [part for part in parts if part[0].isdigit() or _negates(part.lower())]


def _negates(part: str) -> bool:
    return part in NEGATIONS or part.endswith(("n't", "n’t"))


def _bound(mine: Sequence[str], theirs: Sequence[str]) -> float:
    """The share of words in common in any order, which that in the same order cannot exceed."""
    common = sum((Counter(mine) & Counter(theirs)).values())
    return 2 * common / (len(mine) + len(theirs))


def _difference(mine: Sequence[str], theirs: Sequence[str]) -> str:
    return f"{' '.join(mine) or '–'} → {' '.join(theirs) or '–'}"

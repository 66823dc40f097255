"""Answer kinds: what a learner gives, how it is read, and when it is right. One file a kind.

What a kind is says `autograder.declaration.answer`; everything particular to one stands in its file, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..declaration.answer import Answer, Box, BoxField, JudgedBy, named
from ..ranks.buffers import Case
from ..values.numbers import Unreadable
from .algorithm import Algorithm
from .choice import Choice
from .count import Count
from .design import Design
from .distributed import Distributed
from .domains import Domain, domains_from, integers, multiples, positive, powers_of_two
from .estimates import Estimates
from .expression import Expression
from .fields import Field
from .function import Function
from .goals import Breakdown, Condition, Known, Par
from .kernel import Kernel, Launch
from .limits import Limit, at_most, exactly
from .quantity import Quantity
from .unread import Unread
from .written import Written


def answer_from(public: Mapping[str, Any]) -> Answer:
    """The answer kind of a public record: enough to read an answer, not to judge it.

    A course's own kind stands in its file of exercises, which learners have not: then one that records what it is
    given, as with a record of another version of this package.
    """
    kind = named(str(public.get("kind"))) or Unread
    try:
        return kind.from_public(public)
    except (LookupError, TypeError, ValueError, AttributeError):
        return Unread()


__all__ = [
    "Algorithm",
    "Answer",
    "Box",
    "BoxField",
    "Breakdown",
    "Case",
    "Choice",
    "Condition",
    "Count",
    "Design",
    "Distributed",
    "Domain",
    "Estimates",
    "Expression",
    "Field",
    "Function",
    "JudgedBy",
    "Kernel",
    "Known",
    "Launch",
    "Limit",
    "Par",
    "Quantity",
    "Unreadable",
    "Written",
    "answer_from",
    "at_most",
    "domains_from",
    "exactly",
    "integers",
    "multiples",
    "positive",
    "powers_of_two",
]

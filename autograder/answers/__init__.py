"""Answer kinds: what a learner gives, how it is read, and when it is right. One file a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..declaration.answer import Answer
from ..declaration.verdict import DeclarationError
from ..ranks.buffers import Case
from ..values.numbers import Unreadable
from .algorithm import Algorithm, Limit, at_most, exactly
from .choice import Choice
from .count import Count
from .distributed import Distributed
from .domains import Domain, domains_from, integers, positive, powers_of_two
from .expression import Expression
from .function import Function
from .quantity import Quantity
from .written import Written


def answer_from(public: Mapping[str, Any]) -> Answer:
    """The answer kind of a public record: enough to read an answer, not to judge it."""
    kind = public["kind"]
    if kind == "Quantity":
        return Quantity(public["unit"], public["rtol"])
    if kind == "Count":
        return Count()
    if kind == "Choice":
        return Choice(public["options"])
    if kind == "Expression":
        return Expression(domains_from(public["symbols"]), public["unit"])
    if kind == "Function":
        return Function(public["answer_name"], public["signature"])
    if kind == "Algorithm":
        return Algorithm(public["answer_name"], public["signature"], collective=public["collective"])
    if kind == "Distributed":
        return Distributed(
            public["answer_name"], public["signature"], collective=public["collective"], calls=public["calls"]
        )
    if kind == "Written":
        return Written(public["rubric"], public["words"])
    raise DeclarationError(f"{public.get('id')}: the answer kind {kind!r} is not known")


__all__ = [
    "Algorithm", "Answer", "Case", "Choice", "Count", "Distributed", "Domain", "Expression", "Function", "Limit",
    "Quantity", "Unreadable", "Written", "answer_from", "at_most", "domains_from", "exactly", "integers", "positive",
    "powers_of_two",
]  # fmt: skip

"""What an exercise is: its declaration, its banks, the base class of its answer kinds, and the verdicts on them."""

from ..values.texts import fill, quoted
from .bank import Bank, load_bank
from .exercise import Exercise, Mistake, draw
from .given import call_with
from .verdict import AnswerError, DeclarationError, Verdict, unreadable

__all__ = [
    "AnswerError",
    "Bank",
    "DeclarationError",
    "Exercise",
    "Mistake",
    "Verdict",
    "call_with",
    "draw",
    "fill",
    "load_bank",
    "quoted",
    "unreadable",
]

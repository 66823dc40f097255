"""How a learner who is stuck is led on: to the hints, one by one and only when asked for."""

from __future__ import annotations

from collections.abc import Sequence

from ..declaration.verdict import Verdict
from .card import Card
from .lookup import Found
from .progress import Progress

NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def led_on(found: Found, verdict: Verdict) -> Verdict:
    """The verdict; where little is known of what is wrong, with the call that gives the next hint."""
    offer = _offer(found) if verdict.wants_hint else ""
    return verdict.with_more(offer)


def next_hint(found: Found) -> Card:
    """One hint more than the last time."""
    hints = hints_of(found)
    if not hints:
        return Card("There is no hint for this one.")
    try:
        shown = Progress.here().next_hint(found.public["id"], len(hints))
    except OSError:
        shown = len(hints)
    lines = [f"{i}. {text}" for i, text in enumerate(hints[:shown], start=1)]
    left = len(hints) - shown
    tail = f"{_counted(left).capitalize()} more: run the cell again." if left else "That was the last hint."
    return Card("\n".join(lines) + f"\n\n*{tail}*")


def hints_of(found: Found) -> Sequence[str]:
    """The hints of an exercise, the first one first."""
    return found.public.get("hints") or []


def hints_shown(found: Found) -> int:
    """How many of them were asked for; 0 where nothing could be written down."""
    try:
        return Progress.here().hints_shown(found.public["id"])
    except OSError:
        return 0


def _offer(found: Found) -> str:
    hints, shown = len(hints_of(found)), hints_shown(found)
    left = hints - shown
    if left <= 0:
        return ""
    more = "" if not shown else " more"
    return f'`hint("{found.public["id"]}")` has {_counted(left)}{more}{"" if more else " hint" + "s" * (left > 1)}.'


def _counted(number: int) -> str:
    return NUMBERS[number] if number < len(NUMBERS) else str(number)

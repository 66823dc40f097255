"""What the judge says, and the errors of declarations and of learners' functions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..values.finding import Explained

EMPTY = "No answer yet."
NOT_YET = "Not yet."
CELL_FAILED = "cell-failed"  # of an empty one: its cell ended in an error, so that it has no answer
AS_PREDICTED = "as-predicted"
SAID = "var(--jp-content-font-color0, currentcolor)"
# Halfway from a hue of JupyterLab's theme to the colour of its text, so that it reads on a light and on a dark ground.
GREEN, RED, AMBER = (
    f"color-mix(in srgb, var(--jp-{name}-color1, {hue}) 60%, {SAID})"
    for name, hue in (("success", "#388e3c"), ("error", "#d32f2f"), ("warn", "#f57c00"))
)
COLOURS = {"right": GREEN, "predicted": SAID}
COLOURS |= dict.fromkeys(("recorded", "partial", "waiting", "empty", "unreadable", "unit"), AMBER)  # as in card.js


class DeclarationError(ValueError):
    """An exercise, or a file of exercises, is not declared as it should be; the message names it."""


class AnswerError(Explained):
    """A learner's function failed on an input. Reasons: time-limit, exits-python, no-plain-data, bad-message,
    cannot-be-sent, process-ended, forged-reply, withheld; or raises."""

    reason = "raises"


@dataclass(frozen=True)
class Verdict:
    """What the judge says: a score between 0 and 1, a sentence in Markdown, the kind of the verdict, and the `reason`.

    Kinds: right, predicted; partial (some of the points); empty, unreadable, unit, mistake, slip, variant, wrong;
    waiting (for a teacher); recorded (no key at hand); lost (a notebook without a cell for the answer). The reason
    names what exactly was found (see
    `values.finding`); "" where the kind says all, and where the sentence is the exercise's own; of a prediction that
    came true, "as-predicted". `wants_hint`: little is
    known of what is wrong, so where the exercise has hints, the learner is told how to ask for one. `mistakes` are the
    names of those that the answer makes, see `Mistake.key`.
    """

    score: float
    say: str
    kind: str = "wrong"
    reason: str = ""
    wants_hint: bool = False
    mistakes: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """✓, ✗, ◐ for a part of the points, → for a prediction that did not come true, … where nothing was judged."""
        if 0 < self.score < 1:
            return "◐"
        if self.reason == AS_PREDICTED:
            return "✓"
        return {"right": "✓", "predicted": "→", "recorded": "…", "empty": "…", "waiting": "…"}.get(self.kind, "✗")

    @property
    def colour(self) -> str:
        """Its colour in a notebook, which is that of a page's card, as CSS."""
        return GREEN if self.reason == AS_PREDICTED else COLOURS.get(self.kind, RED)

    def with_more(self, more: str) -> Verdict:
        """The same verdict with a sentence more."""
        return replace(self, say=f"{self.say} {more}") if more else self

    def _repr_markdown_(self) -> str:
        return f"{self.sign} {self.say}"

    def _repr_html_(self) -> str:
        """For a notebook, which typesets its formulas; the sign says in black and white what the colour says."""
        from ..values.inline_html import inline_html

        return (
            f'<div class="gpubook-verdict" role="status" style="color: {self.colour}; margin: 0.3em 0; '
            f'padding: 0.15em 0 0.15em 0.75em; border-left: 3px solid currentcolor"><strong>{self.sign}</strong> '
            f"{inline_html(self.say)}</div>"
        )

    def __str__(self) -> str:
        return f"{self.sign} {self.say}"

    __repr__ = __str__


def no_answer() -> Verdict:
    """The verdict on what is not an answer yet."""
    return Verdict(0.0, EMPTY, "empty")


def not_yet(difference: str = "", reason: str = "") -> Verdict:
    """The verdict on a wrong answer of which nothing more is known than what `difference` says."""
    return Verdict(0.0, f"{difference} {NOT_YET}".lstrip(), "wrong", reason, wants_hint=True)


def unreadable(why: str, reason: str = "") -> Verdict:
    """The verdict on an answer that could not be read."""
    end = "" if why.endswith("?") else "."
    return Verdict(0.0, f"The answer could not be read: {why}{end}", "unreadable", reason)

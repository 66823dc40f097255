"""The front page: what docs/index.md marks as generated, from the chapters, the plan of a course and the package.

A card a chapter has its opening question, which each chapter's first lines are, between quotes and in italics; its
exercises and points are those that the chapter asks, its times those of docs/course.toml. The open edition has places
for the reader's progress, which the page's scripts fill; without scripts all of it is text and links.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ...declaration.answer import JudgedBy
from ...values.inline_html import inline_html
from ..render import render, script_json
from ..source.contents import WRITTEN, ContentsEntry, contents, find
from ..source.notebook import ChapterError
from ..source.syllabus import Amount, BookCounts
from .glyphs import glyph
from .page import live_data

if TYPE_CHECKING:
    from ..source.chapters import Chapter

PART = re.compile(r"^<!-- front: (\w+) -->$", re.M)
QUESTION = re.compile(r"\*(“[^”]+”)\*")  # the paragraph below a chapter's title


@dataclass(frozen=True)
class Card:
    """A chapter as the front page shows it; one that is not written has its title, what it is about, and its state."""

    entry: ContentsEntry
    question: Markup
    about: str
    reading: Amount
    exercises: Amount
    judged: float = 0
    link: str = ""

    @property
    def state(self) -> str:
        """ "" for a chapter that is written."""
        return "" if self.entry.state == WRITTEN else self.entry.state

    @property
    def glyph(self) -> Markup:
        """Its drawing."""
        return glyph(self.entry.topic)

    @property
    def times(self) -> str:
        """How long it takes to read and to solve."""
        return f"{spent(self.reading)} to read, {spent(self.exercises)} to solve"

    @property
    def asked(self) -> str:
        """How many exercises, for how many points."""
        return f"{counted(self.exercises.count, 'exercise')}, {counted(self.exercises.points, 'point')}"


@dataclass(frozen=True)
class Front:
    """What the front page says of a book: its cards, and what they come to."""

    root: Path
    chapters: Sequence[Chapter]
    course: bool

    @cached_property
    def book(self) -> BookCounts:
        """The plan, with its paces."""
        return BookCounts(self.root)

    @cached_property
    def cards(self) -> list[Card]:
        """A card for each chapter that the book has or plans."""
        written = {chapter.name: chapter for chapter in self.chapters}
        return [self._card(entry, written.get(entry.name)) for entry in contents(self.root)]

    def _card(self, entry: ContentsEntry, chapter: Chapter | None) -> Card:
        if chapter is None:
            return Card(entry, Markup(""), entry.about, Amount(open=True), Amount(open=True))
        return Card(
            entry,
            inline_html(question(chapter)),
            entry.about,
            self.book.reading_of(entry.name),
            self.amount(chapter),
            judged(chapter),
            f"{entry.name}.html",
        )

    def amount(self, chapter: Chapter) -> Amount:
        """What the exercises of a chapter come to."""
        return sum(map(self.book.priced, records(chapter)), Amount())

    @cached_property
    def reading(self) -> Amount:
        """All that there is to read."""
        return sum((card.reading for card in self.cards if card.link), Amount())

    @cached_property
    def exercises(self) -> Amount:
        """All that there is to solve."""
        return sum((card.exercises for card in self.cards if card.link), Amount())

    @property
    def judged(self) -> float:
        """The points that a page or a notebook gives."""
        return sum(card.judged for card in self.cards)

    def link(self, topic: str) -> str:
        """A chapter as Markdown: a link, if it is written."""
        entry = find(contents(self.root), topic)
        written = any(chapter.name == entry.name for chapter in self.chapters)
        return f"[{entry.label}]({entry.name}.html)" if written else entry.label

    def head(self, chapter: Chapter) -> str:
        """The line below a chapter's title."""
        card = next(card for card in self.cards if card.entry.name == chapter.name)
        return f'<p class="chapter-amount">About {card.times}: {card.asked}.</p>'


def question(chapter: Chapter) -> str:
    """The question that a chapter opens with, as its learner reads it; ChapterError if it does not open with one."""
    first = next((cell.source for cell in chapter.instructor.cells if cell.cell_type == "markdown"), "")
    paragraphs = [part.strip() for part in re.split(r"\n\s*\n", first)]
    match = QUESTION.fullmatch(paragraphs[1]) if len(paragraphs) > 1 and paragraphs[0].startswith("# ") else None
    if match is None:
        raise ChapterError(
            f"{chapter.source.at('# ')}: below a chapter's title its opening question was expected, a paragraph "
            "*“between quotes and in italics”*, which the front page shows"
        )
    return match[1]


def records(chapter: Chapter) -> list[dict[str, Any]]:
    """The public records of the exercises that a chapter asks."""
    from ..source.chapters import public_json

    return list(json.loads(public_json(chapter))["exercises"].values())


def judged(chapter: Chapter) -> float:
    """The points that the page can give: a text is judged by a teacher."""
    exercises = [chapter.bank[key] for key in chapter.exercises]
    return float(sum(one.points for one in exercises if one.answer.judged_by is not JudgedBy.TEACHER))


def spent(amount: Amount) -> str:
    """A time as one plans with it: "70 min", "3.6 h", "105 h"."""
    minutes = amount.minutes
    if minutes < 95:
        return f"{max(5, 5 * round(minutes / 5))} min"
    return f"{minutes / 60:.1f} h" if minutes < 600 else f"{minutes / 60:.0f} h"


def counted(number: float, noun: str) -> str:
    """ "1 point", "741 points"."""
    return f"{number:,g} {noun}{'' if number == 1 else 's'}"


def write(pages: Path, front: Front) -> None:
    """Fill the marks of the front page in `pages`, the source of Sphinx; ChapterError for one that is not known."""
    path = pages / "index.md"
    licences = any(pages.glob("licences.*"))
    path.write_text(filled(path.read_text(encoding="utf-8"), front, licences=licences), encoding="utf-8")


def filled(text: str, front: Front, *, licences: bool = False) -> str:
    """The page with its generated parts. `licences`: the book has a page of the licences of others."""
    makers: dict[str, Callable[[], Markup]] = {
        "facts": lambda: render("front_facts.html.j2", front=front, counted=counted, spent=spent),
        "figure": lambda: _figure(front),
        "cards": lambda: render("front_cards.html.j2", front=front),
        "times": lambda: _times(front),
        "paths": lambda: _paths(front),
        "repeat": lambda: Markup("") if front.course else render("front_repeat.html.j2"),
        "colophon": lambda: render("front_colophon.html.j2", version=version("gpubook"), licences=licences),
    }

    def made(found: re.Match[str]) -> str:
        if found[1] not in makers:
            raise ChapterError(f"docs/index.md has a part {found[1]!r}; {', '.join(makers)} were expected")
        html = makers[found[1]]()
        return f"````{{raw}} html\n{html}\n````" if html else ""

    return PART.sub(made, text)


def _times(front: Front) -> Markup:
    """How long the whole takes, and how much of it a course and a workshop choose."""
    plan = front.book.plan
    weeks = {key for week in plan["week"] for key in (*week["class"], *week["home"])}
    days = {key for day in plan["day"] for slot in day["slots"] for key in slot["exercises"]}
    return render("front_times.html.j2", front=front, spent=spent, plan=plan, weeks=weeks, days=days)


def _paths(front: Front) -> Markup:
    """The readers of the plan, with what their paths come to."""
    readers = []
    for reader in front.book.plan["reader"]:
        work, whole = Amount(), Amount()
        for step in reader["steps"]:
            solved = front.book.amount(step["exercises"])
            work += solved
            whole += solved + front.book.reading(step["chapter"], step.get("sections", ()))
        anchor = re.sub(r"\W+", "-", reader["title"].casefold()).strip("-")
        steps = [str(step["chapter"]) for step in reader["steps"]]
        readers.append({**reader, "anchor": anchor, "whole": whole, "work": work, "chapters": steps})
    return render("front_paths.html.j2", readers=readers)


def _figure(front: Front) -> Markup:
    """The ring that a visitor breaks."""
    from hwlib.collectives import ring_allgather_time
    from hwlib.widgets import ring_breaker

    shown = ring_breaker()
    shown.time = ring_allgather_time(shown.n, shown.S, shown.alpha, shown.W) / (shown.n - 1) / 2  # half a round is over
    return render(
        "live_figure.html.j2",
        kind="anywidget",
        data=script_json(live_data(shown.get_state())),
        label="A ring of GPUs that pass messages, played message by message",
        caption=inline_html(CAPTION.format(ring=front.link("collectives"), hang=front.link("measuring"))),
    )


CAPTION = (
    "Each GPU starts with one block and passes on the block that came last, until all have all of them. "
    "A send waits until its receive is posted, as in NCCL. Click a rank, and it skips a turn; click a link, and it is "
    "slow. What the figure says of a ring that hangs, the book says when your own program does: you write the ring in "
    "{ring}, and find the rank to blame in {hang}."
)

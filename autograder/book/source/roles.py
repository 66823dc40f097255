"""The roles of a chapter's text: `{n}` a computed number, `{drag}` a quantity that a reader of the page drags, `{f}` a
formula's equation, `{cite}` a source, `{chapter}` another chapter.

Each reads in three places. The learner's notebook gets plain Markdown that any viewer shows: the number, the
equation, "(Williams et al., 2009)" and "chapter 6" with a link. The page gets the number in a span that says where it
comes from, the same equation, and a citation that Sphinx resolves. Anything that would read only with MyST's
extensions is refused here, with its line, except the admonitions, which become quotations.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..bibliography import Bibliography
from ..numbers.dragged import DragError
from ..numbers.live_numbers import LiveNumbers, NotCompiled
from .contents import WRITTEN, ContentsEntry, find
from .notebook import ChapterError, ChapterSource

# In this order: what stands in a fence is code; a role is tried before the code span that it looks like.
TOKEN = re.compile(
    r"(?P<fence>^(?P<ticks>`{3,}+|~{3,}+)(?P<info>[^\n]*)\n(?:.*?\n)??(?P=ticks)[ \t]*$)"
    r"|\{(?P<role>[A-Za-z:_-]+)\}(?P<tick>`+)(?P<body>.+?)(?<!`)(?P=tick)(?!`)"
    r"|(?P<code>(?<!`)(?P<span>`+)(?!`).+?(?<!`)(?P=span)(?!`))"
    r"|(?P<math>\$\$.*?\$\$|(?<!\\)\$(?! )[^$\n]+?(?<!\\)\$)"
    r"|(?P<heading>^#{1,6} )"
    r"|(?P<target>^\([A-Za-z][\w-]*\)=[ \t]*$\n?)",
    re.MULTILINE | re.DOTALL,
)
ADMONITION = re.compile(
    r"^(:{3,})\{(?P<kind>[a-z-]+)\}[ \t]*(?P<title>[^\n]*)\n(?P<body>.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL
)
ADMONITIONS = ("note", "tip", "hint", "important", "warning", "caution", "admonition")


@dataclass(frozen=True)
class Roles:
    """Resolves the roles of one chapter, so a number needs no kernel: `namespace` is that of its exercises.py, and what
    its cells import from the library."""

    namespace: Mapping[str, Any]
    source: ChapterSource
    bibliography: Bibliography
    contents: Sequence[ContentsEntry] = ()
    linked: bool = True  # a chapter that a course assigns has no other one beside it
    # The letters that the section has explained so far, on the page and in the notebook: none is explained twice.
    said: Mapping[bool, set[str]] = field(default_factory=lambda: {True: set(), False: set()}, compare=False)

    def learner(self, text: str) -> str:
        """Markdown for the learner's notebook, which reads without any extension."""
        return self._resolve(ADMONITION.sub(self._quotation, text), page=False)

    def page(self, text: str) -> str:
        """Markdown for the page: numbers in spans, citations for Sphinx."""
        return self._resolve(ADMONITION.sub(self._titled, text), page=True, live=True)

    def quoted(self, text: str) -> str:
        """Markdown for a page that quotes the chapter: citations for Sphinx, and the numbers as plain text."""
        return self._resolve(text, page=True)

    @cached_property
    def live(self) -> LiveNumbers:
        """The chapter's numbers that can be dragged, that follow, or that have an origin."""
        try:
            return LiveNumbers(self.namespace, _outside_fences(self.source.text))
        except DragError as error:
            raise self._error(error.drag, str(error)) from error

    def number(self, expression: str) -> str:
        """The text of one `{n}`: a string as it is, an integer with separators, a float with four digits."""
        try:
            value = eval(expression, {**self.live.names})
        except ChapterError:
            raise
        except Exception as error:
            raise self._error(expression, f"{{n}}`{expression}` fails with {type(error).__name__}: {error}") from error
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return f"{value:,}"
        if isinstance(value, float):
            return f"{value:.4g}"
        raise self._error(
            expression, f"{{n}}`{expression}` gives {type(value).__name__}; text or a number was expected"
        )

    def equation(self, name: str, page: bool = False, known: Container[str] = ()) -> str:
        """The equation of the formula `name`, its letters and its source, as paragraphs of Markdown."""
        try:
            formula = eval(name, {**self.namespace})
            return formula.equation_citing(self._bare(formula.cite, page), known).strip()
        except Exception as error:
            raise self._error(
                name,
                f"{{f}}`{name}` does not name a formula with an equation "
                f"({type(error).__name__}: {error}); import it in a cell of the chapter, or in exercises.py",
            ) from error

    def source_of(self, formula: Any) -> str:
        """The source of a formula, as a citation of the page."""
        return self._bare(formula.cite, page=True)

    def cited(self, output: str) -> str:
        """A formula that a cell shows, for the page: the key of its source, at the end, as a citation."""
        match = re.search(r"\(([\w:-]+)\)\.\s*$", output)
        return output if match is None else f"{output[: match.start()]}({self._bare(match[1], page=True)})."

    def _bare(self, key: str, page: bool) -> str:
        if key not in self.bibliography:
            return key
        return f"{{cite:alp}}`{key}`" if page else self.bibliography.cite(key)

    def _number(self, expression: str, live: bool) -> str:
        """The text of a number; on its own page in a span, if there is something to say of it."""
        text = _escape(self.number(expression))
        try:
            id_of = self.live.number(expression) if live else None
        except NotCompiled as error:
            raise self._error(expression, f"{{n}}`{expression}` cannot follow what is dragged: {error}") from error
        return text if id_of is None else f'<span class="n" data-n="{id_of}">{text}</span>'

    def _resolve(self, text: str, page: bool, live: bool = False) -> str:
        def one(match: re.Match) -> str:
            role, body = match["role"], match["body"]
            if match["fence"] is not None and match["info"].strip().startswith("{"):
                raise self._error(
                    match["fence"].split("\n")[0],
                    f"the directive {match['info'].strip()} would show as it "
                    "is in the learner's notebook; plain Markdown, or ::: with an admonition, was expected",
                )
            if match["heading"] is not None:
                self.said[page].clear()
                return match[0]
            if match["target"] is not None:
                return match[0] if page else ""
            if match["math"] is not None:
                return re.sub(r"\{n\}`([^`]+)`", lambda m: self.number(m[1]).replace("%", r"\%"), match[0])
            if role is None:
                return match[0]
            if role == "n":
                return self._number(body, live)
            if role == "drag":
                one = self.live.quantity(body)
                text = _escape(one.text)
                return f'<span class="drag" data-drag="{one.name}">{text}</span>' if live else text
            if role == "f":
                made = self.equation(body, page, self.said[page])
                self.said[page].update(eval(body, {**self.namespace}).letters)
                return made
            if role == "cite":
                return match[0] if page and self._known(body) else self._citation(body)
            if role in ("chapter", "Chapter"):
                return self._chapter(body, page, capital=role == "Chapter")
            raise self._error(
                match[0],
                f"the role {{{role}}} would show as it is in the learner's notebook; "
                "{n}, {drag}, {f}, {cite} or {chapter} was expected",
            )

        return TOKEN.sub(one, text)

    def _quotation(self, match: re.Match) -> str:
        kind, title = match["kind"], match["title"].strip()
        if kind not in ADMONITIONS:
            raise self._error(
                match[0].split("\n")[0],
                f"the directive {{{kind}}} would show as it is in the learner's "
                f"notebook; an admonition was expected ({', '.join(ADMONITIONS)})",
            )
        lines = [line for line in match["body"].strip("\n").split("\n") if not re.match(r":[a-z-]+:", line)]
        head = f"**{title or kind.capitalize()}.** "
        return "\n".join(("> " + line).rstrip() for line in (head + lines[0], *lines[1:]))

    def _titled(self, match: re.Match) -> str:
        # Sphinx reads what follows {note} as text; a title of one's own takes {admonition}.
        if not match["title"].strip() or match["kind"] == "admonition":
            return match[0]
        return (
            match[0].replace(f"{{{match['kind']}}}", "{admonition}", 1).replace("\n", f"\n:class: {match['kind']}\n", 1)
        )

    def _chapter(self, key: str, page: bool, capital: bool) -> str:
        """A link to another chapter, or what it will be about as long as there is none."""
        try:
            entry = find(list(self.contents), key.strip())
        except ChapterError as error:
            raise self._error(key, str(error)) from None
        label = entry.label[0].upper() + entry.label[1:] if capital else entry.label
        if entry.state != WRITTEN:
            return f"{label} (*{entry.title}*, {entry.state})"
        if not self.linked:
            return f"{label} (*{entry.title}*)"
        target = f"{entry.name}.ipynb"
        return f'[{label}]({target if page else f"../{entry.name}/{target}"} "{entry.title}")'

    def _known(self, keys: str) -> bool:
        return all(self._entry(key.strip()) for key in keys.split(","))

    def _citation(self, keys: str) -> str:
        return "(" + "; ".join(self._entry(key.strip()) for key in keys.split(",")) + ")"

    def _entry(self, key: str) -> str:
        try:
            return self.bibliography.cite(key)
        except KeyError as error:
            raise self._error(key, str(error.args[0])) from None

    def _error(self, needle: str, say: str) -> ChapterError:
        return ChapterError(f"{self.source.at(needle)}: {say}")


def _outside_fences(text: str) -> str:
    return TOKEN.sub(lambda match: match[0] if match["role"] else " ", text)


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_$<>\[\]|])", r"\\\1", text)

"""The rules of a chapter on the order of the book: nothing is used before it is introduced."""

from __future__ import annotations

from collections.abc import Iterator

from ..source import concept_order
from ..source.contents import ContentsEntry, contents, find
from ..source.notebook import ChapterError
from .source_cells import ChapterReading


def the_head_says_what_is_needed(chapter: ChapterReading) -> Iterator[str]:
    """The head has a line `*Needs:*` with the earlier chapters that it builds on: those whose formulas it uses."""
    text = concept_order.text_of(chapter.source.path)
    if text.needs is None:
        yield f"{chapter.at()}: no line “*Needs:* …” before the first section; one was expected"
        return
    named, entries = [], contents(chapter.root)
    for key in concept_order.CHAPTER.findall(text.needs.text):
        try:
            named.append(find(entries, key).name)
        except ChapterError as error:
            yield f"{chapter.at(text.needs.line)}: {error}"
    for name in named:
        if name >= chapter.name:
            yield f"{chapter.at(text.needs.line)}: {name} is needed, and comes later; an earlier chapter was expected"
    before, _ = concept_order.earlier_and_later(chapter.source.path)
    for name, place in _formulas(chapter, text):
        home = next((other.name for other in before if name in other.names), "")
        if home and name not in text.names and home not in named:
            problem = f"uses {name}, which {home} introduces"
            yield f"{chapter.at(place.line)}: {problem}; {home} was expected in the line “*Needs:*”"


def formulas_are_introduced(chapter: ChapterReading) -> Iterator[str]:
    """A formula that a cell calls is introduced there or earlier: shown, named as code in the text, or asked for."""
    text = concept_order.text_of(chapter.source.path)
    before, after = concept_order.earlier_and_later(chapter.source.path)
    known = set(text.names).union(*(other.names for other in before))
    for name, place in _formulas(chapter, text):
        later = next((other.name for other in after if name in other.names), "")
        if name not in known and (later or name in text.calls):
            problem = f"only {later} introduces" if later else "no chapter up to here introduces"
            expected = f"{{f}}`{name}`, or a sentence with `{name}` in it,"
            yield f"{chapter.at(place.line)}: uses {name}, which {problem}; {expected} was expected"


def terms_are_introduced(chapter: ChapterReading) -> Iterator[str]:
    """A term that a later chapter introduces in bold is first used in a line that links to that chapter."""
    text = concept_order.text_of(chapter.source.path)
    before, after = concept_order.earlier_and_later(chapter.source.path)
    known = {
        *concept_order.EVERYDAY,
        *(concept_order.key_of(term) for other in (*before, text) for term in other.terms),
    }
    entries = contents(chapter.root)
    for other in after:
        for term in other.terms:
            if concept_order.key_of(term) in known:
                continue
            known.add(concept_order.key_of(term))
            pattern = concept_order.uses(term)
            place = next((place for place in text.prose if pattern.search(concept_order.bare(place.text))), None)
            if place and not _leads_to(other.name, concept_order.CHAPTER.findall(place.text), entries):
                expected = f"{{chapter}}`{_number(other.name)}` in this line, where it is first used, or another word"
                yield f"{chapter.at(place.line)}: “{term}” is introduced in {other.name}; {expected}, was expected"


def _formulas(chapter: ChapterReading, text: concept_order.OrderedText) -> Iterator[tuple[str, concept_order.Place]]:
    """The registered formulas that a chapter's visible code and its numbers use, by their own name."""
    from hwlib.formula import Formula

    seen, imported = set(), concept_order.imported(chapter.source.path)
    for name, place in (*text.calls.items(), *text.numbers.items()):
        value = imported.get(name) if name in text.imports else chapter.bank.namespace.get(name)
        if isinstance(value, Formula) and value.name not in seen:
            seen.add(value.name)
            yield value.name, place


def _leads_to(name: str, keys: list[str], entries: list[ContentsEntry]) -> bool:
    try:
        return name in [find(entries, key).name for key in keys]
    except ChapterError:
        return False


def _number(name: str) -> str:
    return name.partition("-")[0].lstrip("0")

"""The rules of a chapter that a machine can check, one function each.

The first line of a rule's docstring is the requirement, as it stands with its reason in docs/authors/chapter.md. A rule
yields a sentence for each place that breaks it: where it is, what was found and what was expected.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from ...declaration.answer import kinds
from ...values.error_advice import EXTRAS
from ..numbers.live_numbers import DRAG
from ..source.captions import FIGURE
from ..source.concept_order import NUMBER
from .order_rules import formulas_are_introduced, terms_are_introduced, the_head_says_what_is_needed
from .source_cells import ChapterReading
from .table_claims import of_a_sample_only_what_is_computed

EXERCISES = 8, 18
KINDS = 4
LIVE = 2
WORDS = 6  # of a caption, and of the text in place of a figure
MEDIAN, LONGEST = 8, 25  # lines of a code cell
PROSE = 8, 20  # words for each line of code
DRAGGED = 3
OURS = "autograder", "hwlib"
TO_DO = "TODO"

YOURS = re.compile(r"(?i)\byours?\b(?! choice)(?: \w+)?")
REVEAL = re.compile(r'^reveal\("([\w-]+)"', re.M)
SET_APART = re.compile(r"\{\w+\}`[^`]*`|`[^`]*`|\*“.*”\*")
SECOND_SENTENCE = re.compile(r"[a-z)]{2}[.?] [A-Z]")
PHYSICAL = (
    r"[kKMGTPE]i?(?:B|bit|b)(?:/s)?|\sB(?:/s)?|bits?|bytes?|[kKMGTPE]?FLOPs?(?:/s|/B)?|[kMG]?Hz|[munµ]?s|GT/s"
    r"|seconds?|minutes?|hours?|days?|years?|[kM]?W|watts?|%|percent|°C|dollars?"
)
COUNTED = (
    "GPUs?|ranks?|nodes?|SMs?|threads?|warps?|lanes?|switches|links?|ports?|tokens?|cores?|chips?|cycles?|users?"
    "|registers?|hosts?|racks?|cables?|experts?|rounds?|steps?|layers?|stages?|parameters?"
)
TYPED = re.compile(rf"(?<![\w.])\d[\d,.]*[ \u00a0]?(?:{PHYSICAL}|{COUNTED})(?!\w)")


Rule = Callable[[ChapterReading], Iterator[str]]


def number_of_exercises(chapter: ChapterReading) -> Iterator[str]:
    """A chapter has 8 to 18 exercises."""
    least, most = EXERCISES
    if not least <= len(chapter.bank) <= most:
        yield f"{chapter.at()}: {_count(len(chapter.bank), 'exercise')}; {least} to {most} were expected"


def kinds_of_answer(chapter: ChapterReading) -> Iterator[str]:
    """Its exercises are of at least 4 kinds of answer."""
    used = sorted({exercise.kind for exercise in chapter.bank.values()})
    if len(used) < KINDS:
        kinds = f"{_count(len(used), 'kind')} of answer ({', '.join(used) or 'there is no exercise'})"
        yield f"{chapter.at()}: {kinds}; at least {KINDS} were expected"


def kinds_that_every_chapter_asks(chapter: ChapterReading) -> Iterator[str]:
    """Among them are an Expression, a Choice that is not a prediction, and one or two Written."""
    counts = Counter(exercise.kind for exercise in chapter.bank.values() if not exercise.predict)
    for name, kind in kinds().items():
        least, most = kind.in_a_chapter
        if counts[name] < least or (most is not None and counts[name] > most):
            expected = f"at least {least} was" if counts[name] < least else f"at most {most} were"
            yield f"{chapter.at()}: {_count(counts[name], f'{name} exercise')}, predictions aside; {expected} expected"


def a_prediction(chapter: ChapterReading) -> Iterator[str]:
    """At least one exercise is a prediction (`predict=True`)."""
    if not any(exercise.predict for exercise in chapter.bank.values()):
        yield f"{chapter.at()}: no exercise has predict=True; at least one prediction was expected"


def ids_begin_with_the_topic(chapter: ChapterReading) -> Iterator[str]:
    """The id of an exercise begins with the chapter's topic: `rooflines-ridge` in 03-rooflines."""
    topic = chapter.name.partition("-")[2]
    for name in chapter.bank:
        if not name.startswith(topic):
            yield f"{chapter.where(name)}: the id is {name!r}; one that begins with '{topic}-' was expected"


def each_exercise_is_asked_once(chapter: ChapterReading) -> Iterator[str]:
    """Every declared exercise is asked by one cell of the text."""
    counts = Counter(str(cell.options["exercise"]) for cell in chapter.cells if "exercise" in cell.options)
    for name in chapter.bank:
        if counts[name] != 1:
            yield f"{chapter.where(name)}: {name!r} is asked by {_count(counts[name], 'cell')}; one was expected"
    for name in counts:
        if name not in chapter.bank:
            line = next(cell.line for cell in chapter.cells if cell.options.get("exercise") == name)
            yield f"{chapter.at(line)}: {name!r} is asked and declared nowhere; an exercise of that id was expected"


def every_prompt_says_how_exact(chapter: ChapterReading) -> Iterator[str]:
    """Every prompt says *exact* or *to first order*; one that asks for words need not."""
    for name, exercise in _judged(chapter):
        text = exercise.prompt.lower()
        if "exact" not in text and "first order" not in text:
            yield f"{chapter.where(name)}: the prompt of {name!r} says neither 'exact' nor 'first order'"


def every_exercise_hints(chapter: ChapterReading) -> Iterator[str]:
    """Every exercise has a hint; one that asks for words need not."""
    for name, exercise in _judged(chapter):
        if not exercise.hints:
            yield f"{chapter.where(name)}: {name!r} has no hints; at least one was expected"


def a_reveal_follows_each_prediction(chapter: ChapterReading) -> Iterator[str]:
    """The cell after a prediction reveals it: `reveal("rooflines-guess")`."""
    revealed = set()
    for before, cell in zip(chapter.cells, chapter.cells[1:], strict=False):
        if not (match := REVEAL.search(cell.text)):
            continue
        name, before_id = match[1], before.options.get("exercise")
        revealed.add(name)
        if name not in chapter.bank or not chapter.bank[name].predict:
            yield f"{chapter.at(cell.line)}: {name!r} is revealed, and is not a prediction; predict=True was expected"
        elif before_id != name:
            match = f"the cell before asks {repr(before_id) if before_id else 'nothing'}"
            yield f"{chapter.at(cell.line)}: {name!r} is revealed, and {match}; that prediction was expected"
    for name, exercise in chapter.bank.items():
        if exercise.predict and name not in revealed:
            yield f'{chapter.where(name)}: {name!r} is never revealed; reveal("{name}") was expected after it'


def live_figures(chapter: ChapterReading) -> Iterator[str]:
    """At least 2 different figures are live (`widgets.…`)."""
    live = {match[0] for cell in chapter.figures if "widgets." in cell.text and (match := FIGURE.search(cell.text))}
    if len(live) < LIVE:
        found_there = _count(len(live), "live figure") + (f" ({', '.join(sorted(live))})" if live else "")
        yield f"{chapter.at()}: {found_there}; at least {LIVE} different ones were expected"


def every_figure_is_described(chapter: ChapterReading) -> Iterator[str]:
    """Every figure has a `:caption:` and an `:alt:` of at least 6 words each."""
    for cell in chapter.figures:
        for option in ("caption", "alt"):
            count = len(str(cell.options.get(option, "")).split())
            if count < WORDS:
                problem = f"a :{option}: of {_count(count, 'word')}" if count else f"no :{option}:"
                yield f"{chapter.at(cell.line)}: the figure has {problem}; at least {WORDS} words were expected"


def captions_are_true_on_a_page(chapter: ChapterReading) -> Iterator[str]:
    """No caption or alternative text speaks of *your* function or machine; one of your choice may."""
    for cell in chapter.figures:
        for option in ("caption", "alt"):
            if match := YOURS.search(str(cell.options.get(option, ""))):
                yield f"{chapter.at(cell.line)}: the :{option}: says “{match[0]}”, and a page shows the book's own run"


def code_cells_are_short(chapter: ChapterReading) -> Iterator[str]:
    """Code cells have 8 lines at the median, 25 at most."""
    lines = sorted(len(cell.text.splitlines()) for cell in chapter.code)
    median = lines[len(lines) // 2] if lines else 0
    if median > MEDIAN:
        yield f"{chapter.at()}: code cells of {median} lines at the median; at most {MEDIAN} were expected"
    for cell in chapter.code:
        if (count := len(cell.text.splitlines())) > LONGEST:
            yield f"{chapter.at(cell.line)}: a code cell of {count} lines; at most {LONGEST} were expected"


def the_first_cell_needs_no_torch(chapter: ChapterReading) -> Iterator[str]:
    """The first cell imports nothing of an extra, such as torch, and no package comes before `autograder`."""
    for cell in chapter.code:
        ready = False
        for line, package in _imported(cell.text):
            at = chapter.at(cell.line + line - 1)
            ready = ready or package == "autograder"
            if package in EXTRAS and cell is chapter.code[0]:
                yield f"{at}: {package} is imported in the first cell; next to its lab was expected"
            elif not ready and package not in OURS:
                yield f"{at}: {package} is imported before autograder; after it was expected"
        if ready:
            return


def a_line_is_a_sentence(chapter: ChapterReading) -> Iterator[str]:
    """A line of the source is one sentence."""
    for cell in chapter.prose:
        for number, line in enumerate(_bare(cell.text).split("\n")):
            if match := SECOND_SENTENCE.search(line):
                around = line[max(0, match.start() - 20) : match.end() + 20]
                yield f"{chapter.at(cell.line + number)}: two sentences in a line, at “{around}”; one was expected"


def prose_for_each_line_of_code(chapter: ChapterReading) -> Iterator[str]:
    """There are 8 to 20 words of prose for each line of code."""
    lines = sum(len(cell.text.splitlines()) for cell in chapter.code)
    words = sum(len(_bare(cell.text).split()) for cell in chapter.prose)
    if lines and not PROSE[0] <= words / lines <= PROSE[1]:
        problem = f"{words} words of prose for {lines} lines of code, {words / lines:.1f} for each"
        yield f"{chapter.at()}: {problem}; {PROSE[0]} to {PROSE[1]} were expected"


def numbers_come_from_the_code(chapter: ChapterReading) -> Iterator[str]:
    """A number with a unit is computed where it stands; quotations, code and mathematics aside."""
    for cell in chapter.prose:
        for line, number in typed_numbers(cell.text):
            yield f"{chapter.at(cell.line + line)}: “{number}” is typed by hand; {{n}}`…` was expected"


def numbers_can_be_dragged(chapter: ChapterReading) -> Iterator[str]:
    """At least 3 numbers can be dragged (`{drag}`), and a number of the text follows each."""
    text = "\n".join(cell.text for cell in chapter.prose)
    names = [body.partition("=")[0].strip() for _, body in DRAG.findall(text)]
    if len(names) < DRAGGED:
        yield f"{chapter.at()}: {_count(len(names), '{drag}')}; at least {DRAGGED} were expected"
    followed = set(re.findall(r"[A-Za-z_]\w*", " ".join(body for _, body in NUMBER.findall(text))))
    for name in names:
        if name not in followed:
            where = chapter.shown(chapter.source.at(f"{name} = "))
            yield f"{where}: no number follows {name!r}; {{n}}`…` with it was expected"


def nothing_is_left_to_write(chapter: ChapterReading) -> Iterator[str]:
    """No TODO of the skeleton is left."""
    from ...declaration.bank import declared_files

    for path in (chapter.source.path, *(declared_files(chapter.bank.path) if chapter.bank.path else ())):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if (at := line.find(TO_DO)) >= 0:
                yield f"{chapter.shown(str(path))}:{number}: “{line[at : at + 40]}” is left; your text was expected"


RULES: tuple[Rule, ...] = (
    number_of_exercises, kinds_of_answer, kinds_that_every_chapter_asks, a_prediction, ids_begin_with_the_topic,
    each_exercise_is_asked_once, every_prompt_says_how_exact, every_exercise_hints, a_reveal_follows_each_prediction,
    live_figures, every_figure_is_described, captions_are_true_on_a_page, code_cells_are_short,
    the_first_cell_needs_no_torch, a_line_is_a_sentence, prose_for_each_line_of_code,
    numbers_come_from_the_code, of_a_sample_only_what_is_computed, numbers_can_be_dragged,
    the_head_says_what_is_needed, formulas_are_introduced,
    terms_are_introduced, nothing_is_left_to_write,
)  # fmt: skip


def broken(chapter: ChapterReading) -> Iterator[str]:
    """Every place at which a chapter breaks a rule, and the exercises whose answer the library hands over."""
    from ...answers.library_overlap import library_overlap

    for rule in RULES:
        yield from rule(chapter)
    for name, exercise in chapter.bank.items():
        yield from (f"{chapter.where(name)}: {problem}" for problem in library_overlap(exercise))


def typed_numbers(text: str) -> list[tuple[int, str]]:
    """Each number with a unit in a Markdown text, with the words before it, and how many lines stand above it.

    What the text sets apart is not looked at: code, roles, mathematics and quotations.
    """
    for apart in (r"(?ms)^(`{3,}).*?^\1", r"\{[\w:-]+\}(`+).+?\1", r"`[^`]+`|\$[^$]+\$", r"“[^“”]*”"):
        text = re.sub(apart, _lines_only, text)
    return [
        (text.count("\n", 0, m.start()), " ".join(text[max(0, m.start() - 30) : m.end()].split()))
        for m in TYPED.finditer(text)
    ]


def _judged(chapter: ChapterReading) -> Iterator[tuple[str, Any]]:
    """The exercises that a program judges: those without a rubric."""
    return ((name, e) for name, e in chapter.bank.items() if not hasattr(e.answer, "rubric"))


def _imported(code: str) -> Iterator[tuple[int, str]]:
    """The packages that a cell imports as it runs, and not when a function of it is called, each with its line; those
    of Python itself are left out."""
    try:
        statements: list[ast.stmt] = ast.parse(code).body
    except SyntaxError:  # a magic: the book runs no such cell
        return
    while statements:
        statement = statements.pop(0)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        statements[:0] = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
        for module in _modules(statement):
            package = module.partition(".")[0]
            if package not in sys.stdlib_module_names:
                yield statement.lineno, package


def _modules(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    return [statement.module] if isinstance(statement, ast.ImportFrom) and statement.module else []


def _bare(text: str) -> str:
    """The text with roles, code and quotations as one word each."""
    return SET_APART.sub(lambda m: "x" + _lines_only(m), text)


def _lines_only(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _count(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"

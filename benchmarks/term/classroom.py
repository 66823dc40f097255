"""The class of the simulated term: who is in it, what is asked, and what each learner is made to answer.

An answer is made from the declarations: the solution's for the learner's numbers, that of a declared mistake, another
that is neither, somebody else's, nothing, what cannot be read, an error. What it is worth, `benchmarks.term.ledger`
says.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.answers import Choice, Count, Expression, Function, Written
from autograder.declaration import Bank, Exercise, call_with, load_bank
from autograder.declaration.worked import solution_of
from autograder.values.book_root import book_root

BANK = Path(__file__).with_name("bank.py")
RIGHT_KEY = "solution=lambda S, W: S / W,"
WRONG_KEY = {  # of mine-copy, as the teacher first declared it
    RIGHT_KEY: "solution=lambda S, W: 2 * S / W,",
    'Mistake(lambda S, W: 2 * S / W, "Each': 'Mistake(lambda S, W: S / W, "Each',
}
FIRST = ("Ada", "Björn", "Chloé", "D'Arcy", "Émile", "Fatma", "Gül", "Hans", "Ińigo", "Jörg", "Kim", "Łucja")
LAST = ("Müller", "O'Neil", "Ōta", "Şahin", "Lee", "García Márquez", "von der Aue", "Nguyễn", "Öztürk", "Smith-Jones")
LOTS = {"right": 0.5, "mistake": 0.22, "other": 0.07, "borrowed": 0.03, "empty": 0.07, "malformed": 0.06, "error": 0.05}
FACTORS = (math.pi**3, 1 / math.pi**3, math.e**7)  # far from every ratio with a name
RATIOS = (2, 4, 8, 1000, 10**6, 10**9, 1024, 2**30 / 1e9, 2**20 / 1e6, 60, 3600, 100)
WORDS = """profile the step compare latency bandwidth rings grow chunks shrink launch overhead batch kernel exposed
overlap straggler timeout switch cable trace rank stream copy engine bucket gradient shard gather reduce wait clock"""


@dataclass(frozen=True)
class RosterLearner:
    """A learner of the roster; `number` is the learning platform's."""

    id: str
    first: str
    last: str
    email: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"


def roster(size: int) -> list[RosterLearner]:
    """Learners, some of whom have names that trip programs: a comma, an apostrophe, two who have the same."""
    rng = random.Random("roster")
    pairs = [(first, last) for last in LAST for first in FIRST]
    rng.shuffle(pairs)
    names = [("Kim", "Lee"), ("Zoë", "Müller, née Ōta"), ("Kim", "Lee"), ("D'Arcy", "O'Neil"), *pairs]
    names = [one for at, one in enumerate(names) if at < 4 or one not in names[:4]]  # only the first two share one
    return [
        RosterLearner(f"l{at:02}", *names[at % len(names)], f"l{at:02}@uni.example.org", 4000 + 37 * at)
        for at in range(size)
    ]


@dataclass(frozen=True)
class Assignment:
    """One assignment of the term: of which chapter, which exercises, when it is due, and how work arrives.

    `points`: of exercises that are to have others than they declare. `groups`: the size of those who submit together.
    `by`: "exchange", "canvas" or "moodle". `faults`: whether it has those who crash, loop, answer nothing at all, and
    break their file. `text`: the teacher's own, as a MyST file.
    """

    name: str
    exercises: tuple[str, ...]
    due: str
    chapter: str = ""
    points: Mapping[str, float] = field(default_factory=dict)
    groups: int = 1
    by: str = "exchange"
    faults: bool = False
    text: bool = False


TERM = (
    Assignment(
        "week1",
        ("rooflines-vector-add", "rooflines-double-buffer", "rooflines-ridge", "rooflines-erratum-link",
         "rooflines-predict-batch", "rooflines-block-scales"),
        "2026-10-05 22:00 Europe/Berlin", "03-rooflines", {"rooflines-ridge": 2.5},
    ),
    Assignment(
        "week2", ("mine-copy", "mine-steps", "mine-bound", "mine-ring", "mine-bubble", "mine-slower"),
        "2026-10-12 22:00 Europe/Berlin", points={"mine-bound": 3}, faults=True,
    ),
    Assignment(
        "week3",
        ("collectives-erratum-allgather", "collectives-predict-eight", "collectives-whole-ring",
         "collectives-what-grows"),
        "2026-10-19T20:00", "06-collectives", groups=3, by="canvas",
    ),
    Assignment(
        "week4",
        ("transformer-math-count", "transformer-math-erratum-vocabulary", "transformer-math-predict-attention",
         "transformer-math-six-nd", "mine-feed"),
        "2026-10-24 22:00 Europe/Berlin", "09-transformer-math", by="moodle",  # and the clocks change on the 25th
    ),
    Assignment(
        "week5", ("mine-rate", "mine-stages", "mine-where", "mine-share", "mine-sectors"), "2026-11-02T22:00+01:00",
    ),
    Assignment("week6", ("mine-wire", "mine-plan"), "2026-11-09 18:30 America/New_York", text=True),
)  # fmt: skip
TEXT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
---

# The last week

```{code-cell} ipython3
from autograder import check, given, grade, hint, how_to_answer
```

```{code-cell} ipython3
:exercise: mine-wire

### BEGIN SOLUTION
g = given("mine-wire")
answer = (g["n"] - 1)*g["S"]
### END SOLUTION
```

And now in words.

```{code-cell} ipython3
:exercise: mine-plan

# written
```
"""


@dataclass(frozen=True)
class Said:
    """What a learner is made to answer: by which lot, the text of the cell, and the value where it is one; `mistake` is
    the place of the declared one that a formula or a function makes, -1 for none."""

    lot: str
    source: str = ""
    value: Any = None
    mistake: int = -1


def bank_of(one: Assignment, own: Path) -> Bank:
    """The exercises of an assignment, the teacher's own from the file `own`."""
    known = dict(load_bank(book_root() / "solutions" / one.chapter)) if one.chapter else {}
    known |= load_bank(own)
    return Bank([known[name] for name in one.exercises])


def answer(exercise: Exercise, lot: str, who: str, everyone: Sequence[str], solution: str, rng: random.Random) -> Said:
    """An answer of that lot, for the numbers of `who`; `solution` is the instructor's cell, of which a function is
    right. Where an exercise has no answer of that lot, another one."""
    kind, given = exercise.answer, exercise.variant(who)
    if lot == "empty":
        return Said("empty")
    if isinstance(kind, Written):
        return Said("text", " ".join(rng.choices(WORDS.split(), k=rng.randint(8, 20))).capitalize() + ".")
    if lot in ("error", "crash", "loop"):
        broken = {"error": "answer = undefined_name + 1", "crash": "import os\nos._exit(3)", "loop": "while True: pass"}
        return Said(lot, broken[lot])
    if lot == "malformed":
        junk = f"{exercise.answer_name} = 5" if isinstance(kind, Function) else "answer = 'three apples'"
        return Said("malformed", junk)
    if isinstance(kind, Function):
        return _function(exercise, lot, solution, rng)
    if isinstance(kind, Expression):
        return _formula(exercise, lot, rng)
    return _value(exercise, lot, given, who, everyone, rng)


def _value(exercise: Exercise, lot: str, given: Any, who: str, everyone: Sequence[str], rng: random.Random) -> Said:
    """A number, or the key of an option."""
    kind = exercise.answer
    want = kind.expected(exercise, given)
    wrong = [call_with(one.value, given) for one in exercise.mistakes]
    if lot == "borrowed" and not isinstance(kind, Choice) and not exercise.predict:
        for other in rng.sample(list(everyone), len(everyone)):
            value = kind.expected(exercise, exercise.variant(other))
            if other != who and apart(exercise, value, given) and _no_slip(value, want):
                return Said("borrowed", f"answer = {value!r}", value)
    if lot == "other" and not isinstance(kind, Choice):
        for factor in FACTORS:
            value = round(want * factor) + 3 if isinstance(kind, Count) else want * factor
            rows = exercise.variants()
            away = all(abs(value / kind.expected(exercise, row) - 1) > 0.05 for row in rows)
            if away and apart(exercise, value, given) and _no_slip(value, want):
                return Said("other", f"answer = {value!r}", value)
    if lot != "right":
        value = rng.choice([one for one in wrong if isinstance(one, str) or math.isfinite(one)])
        return Said("mistake", f"answer = {value!r}", value)
    return Said("right", f"answer = {want!r}", want)


def apart(exercise: Exercise, value: float, given: Any) -> bool:
    """Whether a number is neither the solution's nor that of a mistake, by far."""
    values = [exercise.answer.expected(exercise, given), *(call_with(one.value, given) for one in exercise.mistakes)]
    return all(abs(value - one) > 0.1 * abs(one) + 1 * isinstance(exercise.answer, Count) for one in values)


def _no_slip(value: float, want: float) -> bool:
    ratio = max(value / want, want / value) if value and want else math.inf
    return all(abs(ratio / one - 1) > 0.15 for one in RATIOS)


def _formula(exercise: Exercise, lot: str, rng: random.Random) -> Said:
    """An expression as text."""
    at = rng.randrange(len(exercise.mistakes)) if lot == "mistake" and exercise.mistakes else -1
    function = exercise.solution if at < 0 else exercise.mistakes[at].value
    kind: Any = exercise.answer
    letters = ", ".join(kind.symbols)
    made = kind.as_learner(exercise, function, {})
    made = f"({made})*17/7" if lot in ("other", "borrowed") else f"{made}"
    lot = "other" if lot == "borrowed" else lot
    lines = [f'{letters}{"," if "," not in letters else ""} = symbols("{exercise.id}")', f"answer = {made}"]
    if "Max(" in made or "Min(" in made:
        lines.insert(0, "from sympy import Max, Min")
    return Said(lot, "\n".join(lines), mistake=at)


RIGHT_WAYS = {
    "bubble": (
        "def bubble(p, m):\n    return (p - 1)/(m + p - 1)",
        "def bubble(p, m):\n    idle = p - 1\n    return idle/(m + idle)",
    ),
    "sectors": ("def sectors(n, s):\n    return -(-n//s)", "def sectors(n, s):\n    return (n + s - 1)//s"),
}
WRONG_WAYS = {
    "bubble": ("def bubble(p, m):\n    return (p - 1)/m", "def bubble(p, m):\n    return p/(m + p)"),
    "sectors": ("def sectors(n, s):\n    return n//s", "def sectors(n, s):\n    return n//s + 1"),
}
COPIED = """def bubble(p, m):
    busy = 0
    for step in range(m):
        busy = busy + 1
    idle = 0
    for stage in range(1, p):
        idle = idle + 1
    whole = busy + idle
    if whole == 0:
        return 0
    share = idle / whole
    return share"""
RENAMED = """def bubble(p, m):
    # all my own work
    b = 0
    for i in range(m):
        b = b + 1
    w = 0
    for j in range(1, p):
        w = w + 1
    total = b + w
    if total == 0:
        return 0
    r = w / total
    return r"""


def _function(exercise: Exercise, lot: str, solution: str, rng: random.Random) -> Said:
    """A function: a right one, a declared mistake's, one that is neither."""
    name = exercise.answer_name
    if lot == "mistake" and name in WRONG_WAYS:
        at = rng.randrange(len(WRONG_WAYS[name]))
        return Said("mistake", WRONG_WAYS[name][at], mistake=at)
    if lot == "right":
        return Said("right", rng.choice(RIGHT_WAYS.get(name, (solution,))))
    return Said("other", f"def {name}(*arguments):\n    return 'nothing like it'")


def solutions(path: Path) -> dict[str, str]:
    """What the instructor's notebook has between the marks, by exercise."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {key: solution_of(text) for key, text in answer_cells(cells)}


def answer_cells(cells: Sequence[Any]) -> list[tuple[str, str]]:
    """The exercise and the text of each answer cell."""
    own = [(cell["metadata"].get("gpubook", {}), "".join(cell["source"])) for cell in cells]
    return [(about["exercise"], text) for about, text in own if about.get("part") == "answer"]


def filled(release: str, said: Mapping[str, Said]) -> str:
    """The released notebook with these answers, as JSON."""
    nb = json.loads(release)
    for cell in nb["cells"]:
        own = cell["metadata"].get("gpubook", {})
        if own.get("part") == "answer" and (one := said.get(own["exercise"])) is not None and one.source:
            cell["source"] = one.source
    return json.dumps(nb, ensure_ascii=False)


def drawn(rng: random.Random) -> str:
    """The lot of an answer."""
    return rng.choices(list(LOTS), list(LOTS.values()))[0]

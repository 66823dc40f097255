"""A chapter of a few cells, with exercises of several kinds, in a root of its own, for the book's tests."""

import re
import shutil
from pathlib import Path

from filelock import FileLock
from pybtex.database import BibliographyData, parse_file

from autograder.book.in_page import archives, python_folder
from autograder.book.site import html, vendor
from tests.kept import ROOT, kept, makes_pages

MADE_BY = ("tests/autograder/small_book.py", "tests/autograder/small_widget.py")
SOURCE = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# Links

*“It carries {n}`show(W, "B/s")`, and I wait. For what?”*

A link of {n}`show(W, "B/s")` carries {n}`show(W*2, "B")` in {n}`2` s.
Or $S = {n}`7` W$; see {cite}`hill1990`.

{f}`memory_time`

:::{note} By the way
The `{n}` in code stays.
:::

```{code-cell} ipython3
from autograder import check, given, grade, reveal, symbols
from tests.autograder.small_widget import Doubler
```

```{code-cell} ipython3
from hwlib.roofline import memory_time
memory_time
```

```{code-cell} ipython3
:tags: [measured]

from hwlib import table
table({"a": 31e-6}, ["case", ("time", "us")])
```

```{code-cell} ipython3
import matplotlib.pyplot as plt
figure, axes = plt.subplots(figsize=(4, 2))
axes.plot([1, 2, 3])
figure.suptitle("A line");
```

(later)=
## Exercises

```{code-cell} ipython3
:exercise: links-time

### BEGIN SOLUTION
hushed = given("links-time")
answer = hushed["S"] / hushed["W"]
### END SOLUTION
```

```{code-cell} ipython3
:exercise: links-count

### BEGIN SOLUTION
answer = 24
### END SOLUTION
```

Predict before you look.

```{code-cell} ipython3
:exercise: links-guess

### BEGIN SOLUTION
answer = "twice"
### END SOLUTION
```

```{code-cell} ipython3
reveal("links-guess")
```

```{code-cell} ipython3
:exercise: links-half

### BEGIN SOLUTION
def half(x):
    return x / 2
### END SOLUTION
```

```{code-cell} ipython3
:exercise: links-why

# written
```

```{code-cell} ipython3
:caption: '{n}`3` points on a *line*, as $x$ has it.'
:alt: "A line that rises: from {n}`1` to \\"three\\" & on."

plt.plot([1, 2, 3]);
```

```{code-cell} ipython3
:caption: Move it, and it doubles {n}`21`; see {cite}`hill1990`.
:alt: A number and its <double>.

Doubler(x=21)
```

```{code-cell} ipython3
from IPython.display import display
display({"application/vnd.vegalite.v6+json": {
    "description": "A line that you can turn", "width": 300, "height": 120,
    "params": [{"name": "k", "value": 2, "bind": {"input": "range", "min": 1, "max": 9, "step": 1}}],
    "data": {"sequence": {"start": 0, "stop": 9, "as": "x"}},
    "transform": [{"calculate": "datum.x*k", "as": "y"}], "mark": "line",
    "encoding": {axis: {"field": axis, "type": "quantitative"} for axis in "xy"}}}, raw=True)
```
"""

EXERCISES = """\
from autograder.answers import Choice, Count, Function, Quantity, Written
from autograder.declaration import Exercise, Mistake
from hwlib.formula import formula
from hwlib.roofline import memory_time
from hwlib.units import GB, MB, show

W = 50*GB

TIME = Exercise(
    id="links-time", points=2, title="One buffer",
    prompt="A buffer of {S:B} crosses a link of {W:B/s}. How long, exactly?",
    given=dict(S=[100*MB, 300*MB], W=[50*GB]), answer=Quantity("s"), solution=lambda S, W: S/W,
    mistakes=(Mistake(lambda S, W: 3*S/W, "Three crossings are counted: mistake-sentence-one."),
              Mistake(lambda S, W: W/S, "That is upside down, $W/S$: mistake-sentence-two.")),
    hints=("Bytes over bytes per second.",), explain="The explanation-of-time.")
COUNT = Exercise(
    id="links-count", prompt="How many messages do {n} ranks send, each to each of {m}?",
    given=dict(n=[4], m=[6]),
    answer=Count(of="link"), solution=lambda n, m: n*m,
    mistakes=(Mistake(lambda n, m: n*(m - 1), "Each to each, itself too: mistake-sentence-three."),
              Mistake(lambda n, m: n + m, "Added, not multiplied: mistake-sentence-four.")))
GUESS = Exercise(
    id="links-guess", prompt="How does the time of a buffer change when the link is half as fast?",
    predict=True,
    answer=Choice({"half": "It halves.", "same": "It stays.", "twice": "It doubles."}), solution="twice",
    mistakes=(Mistake("half", "A slower link is not faster: mistake-sentence-five."),
              Mistake("same", "Only the latency stays: mistake-sentence-six.")),
    explain="The explanation-of-guess.")
HALF = Exercise(
    id="links-half", prompt="Write `half(x)`.",
    answer=Function("half", "half(x)", lambda rng: [(2.0,), (rng.random(),)]),
    solution=lambda x: x/2, mistakes=(Mistake(lambda x: 2*x, "Doubled: mistake-sentence-seven."),
                                      Mistake(lambda x: x, "Left as it is: mistake-sentence-eight.")))
WHY = Exercise(
    id="links-why", title="In words", prompt="Why does a longer link not halve the time?", hints=("Latency.",),
    answer=Written(rubric=(("Names what a longer link changes.", 2), ("Gives *one* number.", 1)), words=40),
    solution="The **model-answer-of-why**: latency grows, {n}`show(W, 'B/s')` stay.")
"""

# The same exercises in a folder, a file a section: the second needs a number of the first.
FIRST = EXERCISES[: EXERCISES.index("HALF = ")]
SECOND = """\
from autograder.answers import Function, Written
from autograder.declaration import Exercise, Mistake
from hwlib.units import GB

from .a_times import W

assert W == 50*GB

""" + EXERCISES[EXERCISES.index("HALF = ") :]

BIBLIOGRAPHY = """\
@misc{scaling-book,
  author = {A. Writer and B. Reader}, title = {Scaling}, year = {2025}, url = {https://example.org/scaling}
}
@article{hill1990,
  author = {Mark D. Hill and Alan Jay Smith and One Third},
  title = {Links}, journal = {Journal of Links}, year = {1990}, doi = {10.1000/182}
}
"""


def write_folder(chapter: Path) -> Path:
    """Declare the exercises in chapter/exercises/, instead of in exercises.py; returns the chapter's folder."""
    (chapter / "exercises").mkdir(parents=True)
    (chapter / "exercises.py").unlink(missing_ok=True)
    (chapter / "exercises" / "a_times.py").write_text(FIRST)
    (chapter / "exercises" / "b_halves.py").write_text(SECOND)
    return chapter


def lay_out(root: Path, repository: Path, source: str = SOURCE, exercises: str = EXERCISES) -> Path:
    """Write the book of the one chapter 07-links into `root` and return it."""
    folder = root / "solutions" / "07-links"
    folder.mkdir(parents=True)
    (folder / "07-links.md").write_text(source)
    (folder / "exercises.py").write_text(exercises)
    shutil.copytree(repository / "docs", root / "docs")
    (root / "docs" / "references.bib").write_text(BIBLIOGRAPHY + _cited_by_pages(repository))
    return root


def lay_out_site(root: Path, repository: Path, source: str = SOURCE, exercises: str = EXERCISES) -> Path:
    """The same, with what a build of its pages fetches or compiles at hand, which the repository keeps."""
    work, book = repository / ".build", lay_out(root, repository, source, exercises)
    work.mkdir(exist_ok=True)
    with FileLock(work / "packages.lock"):
        scripts = vendor.fetch(repository / "docs" / "vendor.json", work / "vendor")
        for name in archives.ON_DEMAND:
            python_folder.compiled(name, scripts / "pyodide", work)
        python_folder.library(scripts / "pyodide", work)
    for name in ("vendor", "compiled", "in_page"):
        shutil.copytree(work / name, book / ".build" / name)
    return book


def built(course: bool = False) -> Path:
    """The folder of its pages, built once for all files that change nothing in it."""

    def make(folder: Path) -> None:
        html.build(lay_out_site(folder / "book", ROOT), folder / "html", course=course)

    return kept(f"small-{'course' if course else 'open'}", (*makes_pages(), *MADE_BY), make) / "html"


def _cited_by_pages(repository: Path) -> str:
    """What the pages beside the chapters cite and the small book does not, of the repository's bibliography."""
    entries = parse_file(repository / "docs" / "references.bib", "bibtex").entries
    text = "".join(page.read_text() for page in (repository / "docs").rglob("*.md"))
    keys = sorted({key.strip() for keys in re.findall(r"{cite:?[pt]?}`([^`]+)`", text) for key in keys.split(",")})
    keys = [key for key in keys if f"{{{key}," not in BIBLIOGRAPHY]
    return BibliographyData({key: entries[key] for key in keys}).to_string("bibtex")

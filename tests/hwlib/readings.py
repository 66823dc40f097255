"""The readings of a formula, evaluated: JavaScript and vega under node, LaTeX by rewriting it."""

import linecache
import re
from itertools import count
from math import ceil, floor, log, log2, sqrt
from typing import Any

from hwlib.formula import Formula, formula, ops
from tests.node import from_node

# Vega's functions that our expressions may use, and no others; a JavaScript reading gets nothing at all.
NODE = """
const {ceil, floor, sqrt, pow, min, max, log, round} = Math
const vega = {ceil, floor, sqrt, pow, min, max, log, round, LN2: Math.LN2}
const vm = require("node:vm")
const cases = JSON.parse(require("node:fs").readFileSync(0, "utf8"))
const answers = cases.map(({args, js, vega: text, points}) => {
  const f = vm.runInNewContext(js, {})
  const g = text && new Function(...Object.keys(vega), "datum", `"use strict"; return ${text}`)
  const row = p => Object.fromEntries(args.map((a, i) => [a, p[i]]))
  return {js: points.map(p => f(...p)), vega: g && points.map(p => g(...Object.values(vega), row(p)))}
})
process.stdout.write(JSON.stringify(answers))
"""
VEGA_WORDS = {"ceil", "floor", "sqrt", "pow", "min", "max", "log", "round", "LN2", "datum", "1e12"}


def under_node(cases: list[tuple[Formula, list[tuple]]]) -> list[dict[str, Any]]:
    """The values of each formula's JavaScript and vega readings at its points, from one node process."""
    sent = [
        {
            "args": f.args,
            "js": f.js,
            "vega": f.vega_with({a: f"datum.{a}" for a in f.args}) if "vega" in f.readings else None,
            "points": points,
        }
        for f, points in cases
    ]
    return from_node(NODE, sent)


_NUMBERS = count()


def define(body: str, args: str = "n, S, alpha, W", result: str = "t", **scope: Any) -> Formula:
    """A formula written as text, as a notebook's cell is: Python keeps its source in linecache."""
    text = f'@formula("{result}", cite="williams2009")\ndef made({args}):\n    """Why."""\n    {body}\n'
    name = f"<cell {next(_NUMBERS)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {"formula": formula, **ops.OPS, **scope, "__name__": "__main__"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["made"]


def value_of_tex(tex: str, values: dict[str, float]) -> float:
    """What a reader would compute from LaTeX whose letters are these."""
    text = tex
    for start, end in (("ceil", "ceil"), ("floor", "floor")):
        text = text.replace(rf"\left\l{start} ", f"{start}(").replace(rf" \right\r{end}", ")")
    text = text.replace(r"\left(", "(").replace(r"\right)", ")").replace(r"\,", "*").replace(r"\cdot", "*")
    while match := re.search(r"\\frac\{([^{}]*)\}\{([^{}]*)\}|\\sqrt\{([^{}]*)\}|\^\{([^{}]*)\}", text):
        over, under, root, power = match.groups()
        if over is not None:
            new = f"(({over})/({under}))"
        else:
            new = f"sqrt({root})" if root is not None else f"**({power})"
        text = text[: match.start()] + new + text[match.end() :]
    text = text.replace(r"\log_2", "log2").replace(r"\min", "min").replace(r"\max", "max").replace(r"\ln", "ln")
    text = text.replace("\\", "")
    functions = {"ceil": ceil, "floor": floor, "log2": log2, "ln": log, "min": min, "max": max, "sqrt": sqrt}
    return eval(text, {"__builtins__": {}}, {**functions, **values})

"""LaTeX as MathML, which browsers draw by themselves."""

from __future__ import annotations

import html
import re
from xml.etree import ElementTree

# The converter passes the text of \text{} and the address of \href{} on as they are: neither comes this far.
PLAIN_LATEX = re.compile(r"(?!.*\\(?:href|url|style|class|id|data|includegraphics)\b)[^<>\"`]{1,2000}", re.DOTALL)
IN_HTML = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
SIGNS = {"<": r"\lt ", ">": r"\gt "}
ALIGNED = re.compile(r"(\\(?:begin|end)\{)aligned\}")  # which the converter does not know


def mathml(latex: str, display: str) -> str | None:
    """LaTeX as MathML (`display`: "inline" or "block"); None where it cannot be converted, or not safely."""
    from latex2mathml.converter import convert

    latex = ALIGNED.sub(r"\1align*}", re.sub("[<>]", lambda sign: SIGNS[sign[0]], latex))
    if not PLAIN_LATEX.fullmatch(latex):
        return None
    try:
        made = convert(latex, display=display)
        ElementTree.fromstring(made)  # an & that separates no columns is passed on as it is
    except Exception:  # whatever a learner typed between two dollars
        return None
    return made


def with_mathml(text: str) -> str:
    """HTML of `inline_html` with the formulas drawn that it has in TeX, but for those that cannot be."""

    def drawn(match: re.Match[str]) -> str:
        return mathml(html.unescape(match[1] or match[2]), "inline" if match[1] else "block") or match[0]

    return IN_HTML.sub(drawn, text)

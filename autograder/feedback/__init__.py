"""nbgrader's feedback page, made fit to be opened by others: it runs no script, asks no host, and obeys no HTML of a
learner. Equations are MathML, which browsers draw by themselves; the head lists each exercise with its verdict.
"""

import re
from html import escape
from pathlib import Path

from nbconvert.exporters.html import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

HERE = Path(__file__).parent
# The converter passes the text of \text{} and the address of \href{} on as they are: neither comes this far.
PLAIN_LATEX = re.compile(r"(?!.*\\(?:href|url|style|class|id|data|includegraphics)\b)[^<>&\"`]{1,2000}", re.DOTALL)

MAX_MARKDOWN = 10_000  # characters: Markdown's own patterns take quadratic time


def mathml(latex: str, display: str) -> str | None:
    """LaTeX as MathML (`display`: "inline" or "block"); None where it cannot be converted, or not safely."""
    from latex2mathml.converter import convert

    if not PLAIN_LATEX.fullmatch(latex):
        return None
    try:
        return convert(latex, display=display)
    except Exception:  # whatever a learner typed between two dollars
        return None


class Renderer(IPythonRenderer):
    """Markdown in which HTML is shown, not obeyed, mathematics is drawn, and no picture is fetched."""

    def __init__(self):
        super().__init__(escape=True, allow_harmful_protocols=False)

    def block_math(self, body: str) -> str:
        """An equation on lines of its own."""
        return mathml(body, "block") or super().block_math(body)

    def inline_math(self, body: str) -> str:
        """An equation within a line."""
        return mathml(body, "inline") or super().inline_math(body)

    def block_code(self, code: str, info: str | None = None) -> str:  # noqa: ARG002
        """As it is typed: a learner's choice of a language would choose a lexer, or mermaid, which escapes nothing."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the text itself holds; of any other, a link to it."""
        return super().image(text, url, title) if url.startswith("data:image/") else self.link(text, url, title)


def inert_markdown(source: str) -> str:
    """Markdown as HTML for pages that show learners' work to others; a very long one as it is typed."""
    if len(source) > MAX_MARKDOWN:
        return f"<pre>{escape(source)}</pre>"
    return MarkdownWithMath(renderer=Renderer()).render(source)


class FeedbackPage(HTMLExporter):
    """nbgrader's page in our template, `gpubook/index.html.j2`; `course.configure` says where it lies."""

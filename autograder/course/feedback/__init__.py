"""nbgrader's feedback page, made safe to open: it runs no script, contacts no host and renders no HTML of a learner.
Equations are MathML, which browsers draw by themselves; the head lists each exercise with its verdict.
"""

import re
from collections.abc import Mapping
from functools import lru_cache, partial
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from nbconvert.exporters.html import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter

from ...grading import attachments
from ...grading.attachments import SCHEME

HERE = Path(__file__).parent
# The converter passes the text of \text{} and the address of \href{} on as they are: neither comes this far.
PLAIN_LATEX = re.compile(r"(?!.*\\(?:href|url|style|class|id|data|includegraphics)\b)[^<>&\"`]{1,2000}", re.DOTALL)

LEFT_OUT, SHOWN = "<em>[A picture was left out here.]</em>", "<em>[The picture above, once more.]</em>"
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

    def __init__(self, attached: Mapping[str, Mapping[str, str]]):
        super().__init__(escape=True, allow_harmful_protocols=False)
        self.names, self.attached = set(attached), dict(attached)  # all pictures, and those not shown yet

    def block_math(self, body: str) -> str:
        return mathml(body, "block") or super().block_math(body)

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline") or super().inline_math(body)

    def block_code(self, code: str, info: str | None = None) -> str:  # noqa: ARG002
        """As it is typed: a learner's choice of a language would choose a lexer, or mermaid, which escapes nothing."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def picture(self, text: str, name: str, title: str | None = None) -> str:
        """One of those not shown yet, which is then: a page has each once, however often it is named."""
        ((mime, data),) = self.attached.pop(name).items()
        return super().image(text, f"data:{mime};base64,{data}", title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that the text itself holds, or its cell, once; of any other, a link to it."""
        if url.startswith(SCHEME):
            name = attachments.find_picture(url.removeprefix(SCHEME), self.names)
            if name in self.attached:
                return self.picture(text, name, title)
            return LEFT_OUT if name is None else SHOWN
        return super().image(text, url, title) if url.startswith("data:image/") else self.link(text, url, title)


@lru_cache(1024)  # a class has most cells in common
def inert_markdown(source: str) -> str:
    """Markdown as HTML for pages that show learners' work to others; a very long one as it is typed."""
    return illustrated(source, {})


def illustrated(source: str, attached: Mapping[str, Mapping[str, str]]) -> str:
    """The same with the pictures of its cell (`attachments.accepted`): below it those that the text does not show."""
    renderer = Renderer(attached)
    if len(source) > MAX_MARKDOWN:
        text = f"<pre>{escape(source)}</pre>"
    else:
        text = MarkdownWithMath(renderer=renderer).render(source)
    rest = [f"<p>{renderer.picture(escape(name), name)}</p>" for name in list(renderer.attached)]
    return "\n".join([text, *rest])


@pass_context
def cell_markdown(context: Any, source: str) -> str:
    """The filter of a page's template: a cell's Markdown, with its pictures."""
    cell = context.get("cell")
    attached = attachments.accepted(cell.get("attachments")) if isinstance(cell, dict) else {}
    own = bool(attached) and source == cell.get("source")
    return illustrated(source, attached) if own else inert_markdown(source)


def _highlighted(source: str, metadata: Any = None, lexer: str | None = None) -> str:
    colour = _coloured if len(source) <= MAX_MARKDOWN else _coloured.__wrapped__
    return colour(source, (metadata or {}).get("magics_language") or lexer)


@lru_cache(1024)
def _coloured(source: str, lexer: str | None) -> str:
    return Highlight2HTML(pygments_lexer=lexer or "ipython3")(source)


class FeedbackPage(HTMLExporter):
    """nbgrader's page in our template, `gpubook/index.html.j2`; `course.configure` says where it lies."""

    def from_notebook_node(self, nb, resources=None, **kw):
        """The page as the template makes it. HTMLExporter parses it once more, for marks that JupyterLab's templates
        need and this one has not; that would take two thirds of the time."""
        info = nb.metadata.get("language_info", {})
        lexer = info.get("pygments_lexer", info.get("name"))
        resources = self._init_resources(resources)
        types = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        self.register_filter("highlight_code", partial(_highlighted, lexer=lexer))
        self.register_filter("filter_data_type", types)
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)

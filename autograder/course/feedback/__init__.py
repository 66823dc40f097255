"""nbgrader's feedback page, made safe to open: it runs no script, contacts no host and renders no HTML of a learner.
Equations are MathML, which browsers draw by themselves; the head lists each exercise with its verdict.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import pass_context
from markupsafe import Markup
from nbconvert.exporters.html import HTMLExporter
from nbconvert.exporters.templateexporter import TemplateExporter
from nbconvert.filters.ansi import ansi2html, strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter

from ...grading import attachments
from ...grading.attachments import SCHEME
from ...values.mathml import mathml

HERE = Path(__file__).parent
LEFT_OUT, SHOWN = "<em>[A picture was left out here.]</em>", "<em>[The picture above, once more.]</em>"
FONT = re.compile(r"@font-face\s*\{[^{}]*\}")
SAFE_LINK = re.compile(r"https?://|mailto:|#", re.IGNORECASE)
MAX_MARKDOWN = 10_000  # characters of a text: Markdown's own patterns take quadratic time
PAGE_MARKDOWN = 3 * MAX_MARKDOWN**2  # of a page, the squares of its texts together; a chapter has a tenth of it
MAX_CODE, PAGE_CODE = 10_000, 100_000  # characters of a cell and of a page; a chapter has 8,000
MAX_CODES = 20_000_000  # codes of colour in an output, times its characters: each is cut off the rest
BLANK = re.compile(r"\s{101}")  # IPython's lexer takes quadratic time for each run of blank lines
ODD_CODE = re.compile(r"\x1b\[[^@-~]{40,}[@-~]?")  # as long as no code of a colour is


class Renderer(IPythonRenderer):
    """Markdown in which HTML is shown, not obeyed, mathematics is drawn, and no picture is fetched."""

    def __init__(self, attached: Mapping[str, Mapping[str, str]]):
        super().__init__(escape=True, allow_harmful_protocols=False)
        self.names, self.attached = set(attached), dict(attached)  # all pictures, and those not shown yet

    def block_math(self, body: str) -> str:
        return mathml(body, "block") or super().block_math(body)

    def inline_math(self, body: str) -> str:
        return mathml(body, "inline") or super().inline_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        return mathml(rf"\begin{{{name}}}{body}\end{{{name}}}", "block") or super().latex_environment(name, body)

    def block_code(self, code: str, info: str | None = None) -> str:  # noqa: ARG002
        """As it is typed: a learner's choice of a language would choose a lexer, or mermaid, which escapes nothing."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link to another host or within the page. Any other would lead into the server that shows the page, to what
        a learner has submitted there, or to what the server does when it is asked: its address alone is shown."""
        return super().link(text, url, title) if SAFE_LINK.match(url) else f"{text or url} ({escape(url)})"

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


def illustrated(
    source: str, attached: Mapping[str, Mapping[str, str]], typed: bool = False, made: type[Renderer] = Renderer
) -> str:
    """The same with the pictures of its cell (`attachments.accepted`): below it those that the text does not show.
    `typed`: also a short one as it is typed. `made`: what renders it."""
    renderer = made(attached)
    if typed or len(source) > MAX_MARKDOWN:
        text = f"<pre>{escape(source)}</pre>"
    else:
        text = MarkdownWithMath(renderer=renderer).render(source)
    rest = [f"<p>{renderer.picture(escape(name), name)}</p>" for name in list(renderer.attached)]
    return "\n".join([text, *rest])


def _affords(context: Any, kind: str, cost: int, most: int) -> bool:
    """Whether a page has this cost of a kind left, and from now on less. It ends where a page ends: with the
    `resources` that all its templates share."""
    resources = context.get("resources")
    spent = resources.setdefault("spent", {}) if isinstance(resources, dict) else {}
    spent[kind] = spent.get(kind, 0) + cost
    return spent[kind] <= most


@pass_context
def cell_markdown(context: Any, source: str) -> str:
    """The filter of a page's template: a cell's Markdown, with its pictures; as it is typed once a page has had enough
    of it."""
    cell = context.get("cell")
    attached = attachments.accepted(cell.get("attachments")) if isinstance(cell, dict) else {}
    own = attached if attached and source == cell.get("source") else {}
    if len(source) > MAX_MARKDOWN or not _affords(context, "markdown", len(source) ** 2, PAGE_MARKDOWN):
        return illustrated(source, own, typed=True)
    return illustrated(source, own) if own else inert_markdown(source)


@pass_context
def cell_code(context: Any, source: str, metadata: Any = None) -> str:
    """The filter of a page's template: a cell's code, coloured where that is sure to be quick."""
    if len(source) > MAX_CODE or BLANK.search(source) or not _affords(context, "code", len(source), PAGE_CODE):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    nb = context.get("nb")
    info = nb.metadata.get("language_info", {}) if nb is not None else {}
    lexer = info.get("pygments_lexer", info.get("name"))
    return _coloured(source, (metadata or {}).get("magics_language") or lexer)


@lru_cache(1024)
def _coloured(source: str, lexer: str | None) -> str:
    return Highlight2HTML(pygments_lexer=lexer or "ipython3")(source)


def cell_output(text: str) -> str:
    """The filter of a page's template: an output with its colours; without them where they are odd or too many."""
    text = ODD_CODE.sub("", text)
    return ansi2html(strip_ansi(text) if text.count("\x1b") * len(text) > MAX_CODES else text)


def as_it_is(text: str) -> str:
    """In place of nbconvert's filter for the addresses of IPython's first notebooks, which takes quadratic time."""
    return text


FILTERS = {
    "markdown2html": cell_markdown,
    "highlight_code": cell_code,
    "ansi2html": cell_output,
    "strip_files_prefix": as_it_is,
}
"""For every page that shows a learner's notebook, nbgrader's formgrader among them: in place of nbconvert's own, whose
time has no bound."""


class FeedbackPage(HTMLExporter):
    """nbgrader's page in our template, `gpubook/index.html.j2`; `course.configure` says where it lies."""

    def from_notebook_node(self, nb, resources=None, **kw):
        """The page as the template makes it. HTMLExporter parses it once more, for marks that JupyterLab's templates
        need and this one has not; that would take two thirds of the time."""
        resources = self._init_resources(resources)
        types = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=resources)
        for name, own in FILTERS.items():
            self.register_filter(name, own)
        self.register_filter("filter_data_type", types)
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)

    def _init_resources(self, resources):
        """Without the fonts that nbconvert's styles name for their icons: the page's own policy refuses them."""
        resources = super()._init_resources(resources)
        include = resources["include_css"]
        resources["include_css"] = lambda name: Markup(FONT.sub("", include(name)))
        return resources

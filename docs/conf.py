"""Sphinx settings of the book. Scripts, styles and fonts lie in the book; no page asks another host."""

from dataclasses import dataclass, field

from docutils.nodes import SkipNode
from pybtex.richtext import Text
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle, PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle
from sphinxcontrib.bibtex.style.template import author_or_editor_or_title, node

project = "GPUs, networks and parallelism"
author = ""
project_copyright = ""
language = "en"

extensions = ["myst_nb", "sphinxcontrib.bibtex"]
exclude_patterns = ["_static", "vendor", "**.ipynb_checkpoints"]
nitpicky = True

# The pages come executed (autograder.book); nothing runs twice.
nb_execution_mode = "off"
nb_ipywidgets_js = {}
nb_render_markdown_format = "myst"
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
myst_links_external_new_tab = False


@node
def _author(_children, data, **separators):
    """Who wrote it: "A and others" are A et al., as in the learner's notebook."""
    people = data["entry"].persons.get("author", [])
    if len(people) == 2 and str(people[1]) == "others":
        person = data["style"].person
        return Text(person.style_plugin.format(people[0], person.abbreviate).format(), person.other)
    return author_or_editor_or_title(**separators).format_data(data)


class EtAl(PersonStyle):
    """One author and others, as three authors are written."""

    def author_or_editor_or_title(self, full):
        """What a reference begins with."""
        return _author(sep=self.sep, sep2=self.sep2, last_sep=self.last_sep, other=None if full else self.other)


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")")


@dataclass
class RoundBrackets(AuthorYearReferenceStyle):
    """(Williams et al., 2009): as in the learner's notebook."""

    bracket_parenthetical: BracketStyle = field(default_factory=_round)
    bracket_textual: BracketStyle = field(default_factory=_round)
    person: PersonStyle = field(default_factory=EtAl)


register_plugin("sphinxcontrib.bibtex.style.referencing", "author_year_round", RoundBrackets)
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year_round"
bibtex_default_style = "plain"
bibtex_cite_id = "cite-{key}"

html_math_renderer = "tex"

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["_static"]
templates_path = ["_templates"]
html_extra_path = ["extra"]
html_css_files = [
    "vendor/@webcoder49/code-input/code-input.min.css",
    "book.css",
    "exercise.css",
    "memory.css",
    "front.css",
    "drag.css",
    "reference.css",
    "cells.css",
    "search.css",
    "math.css",
    "planned.css",
    "reading.css",
    "print.css",
]
html_js_files = [
    ("markup.js", {"defer": "defer"}),
    ("math.js", {"defer": "defer"}),
    ("book-data.js", {"defer": "defer"}),
    ("progress.js", {"defer": "defer"}),
    ("vendor/prismjs/prism-core.min.js", {"defer": "defer", "data-manual": ""}),
    ("vendor/prismjs/prism-python.min.js", {"defer": "defer"}),
    ("vendor/@webcoder49/code-input/code-input.min.js", {"defer": "defer"}),
    ("vendor/@webcoder49/code-input/indent.min.js", {"defer": "defer"}),
    ("editor.js", {"defer": "defer"}),
    ("python.js", {"defer": "defer"}),
    ("card.js", {"defer": "defer"}),
    ("exercise.js", {"defer": "defer"}),
    ("live.js", {"defer": "defer"}),
    ("scroll.js", {"defer": "defer"}),
    ("contents.js", {"defer": "defer"}),
    ("reference.js", {"defer": "defer"}),
    ("search.js", {"defer": "defer"}),
    ("lab-link.js", {"defer": "defer"}),
    ("memory.js", {"defer": "defer"}),
    ("locks.js", {"defer": "defer"}),
    ("misconceptions.js", {"defer": "defer"}),
    ("mistakes.js", {"defer": "defer"}),
    ("numbers.js", {"defer": "defer"}),
    ("drag.js", {"defer": "defer"}),
    ("provenance.js", {"defer": "defer"}),
    ("planned.js", {"defer": "defer"}),
    ("reading.js", {"defer": "defer"}),
    ("cells-data.js", {"defer": "defer"}),
    ("cells.js", {"defer": "defer"}),
    ("print.js", {"defer": "defer"}),
]
html_favicon = "_static/mark.svg"
html_context = {"default_mode": "auto"}
html_logo = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {
    "home_page_in_toc": False,
    "logo": {"text": project},
    "use_download_button": False,
    "use_fullscreen_button": False,
    "use_repository_button": False,
    "navbar_persistent": [],
    "show_navbar_depth": 1,
    "show_toc_level": 2,
    "footer_content_items": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def _entries_are_list_items(_app, _page, _template, context, _doctree):
    """ARIA 1.3 drops doc-biblioentry, and a list is to hold items."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def _inline_tex(writer, node):
    r"""A formula in a line, as TeX between \( and \), which autograder.book.finishing.mathml converts in the end."""
    writer.body.append(rf'<span class="math">\({writer.encode(node.astext()).strip()}\)</span>')
    raise SkipNode


def _displayed_tex(writer, node):
    """A formula on a line of its own."""
    writer.body.append(rf'<div class="math">\[{writer.encode(node.astext()).strip()}\]</div>')
    raise SkipNode


def _only_where_used(_app, _page, _template, context, _doctree):
    """A page without answer boxes and cells loads no editor; one without a planner, a table that is explored, or
    numbers that tell where they come from, not its script."""
    for marks, names in USED:
        if not any(mark in context.get("body", "") for mark in marks):
            for kind in ("script_files", "css_files"):
                files = context[kind]
                files[:] = [one for one in files if not any(name in str(one.filename) for name in names)]


USED = (
    (("answer-box", "scratch-here"), ("vendor/prismjs/", "vendor/@webcoder49/", "editor.js")),
    (('class="planned"',), ("planned.js",)),
    (('class="planned"', 'class="reading"'), ("planned.css",)),
    (('class="reading"',), ("reading.js", "reading.css")),
    (("data-explore",), ("reference.js",)),
    (('id="origins"', ".sentences="), ("numbers.js", "drag.js", "drag.css", "provenance.js")),
    (('class="cell-rows"',), ("cells-data.js", "cells.js", "cells.css")),
)


def setup(app):
    """Called by Sphinx."""
    app.add_html_math_renderer("tex", (_inline_tex, None), (_displayed_tex, None))
    app.connect("html-page-context", _entries_are_list_items)
    app.connect("html-page-context", _only_where_used)

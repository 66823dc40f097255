"""What a site that Sphinx has written still needs: formulas as MathML, policies, and nothing that no page uses."""

from __future__ import annotations

import re
from pathlib import Path

from . import fonts, icons
from .mathml import with_mathml
from .page_files import pages_of
from .policy import with_policy

# Each page loads the search's index, which only the page of the search reads.
SEARCH_SCRIPT = re.compile(
    r"(?:(?<!\s)\s+)?<script src=\"(?:\.\./)*(?:_static/searchtools|_static/language_data|searchindex)\.js\"></script>"
)
TOGGLE = re.compile(
    r'(<a class="[\w -]*reference internal"[^>]*>)([^<]*)(</a><details[^>]*>)<summary>(?=<span class="toctree-toggle")'
)


def finish(site: Path, scripts: Path) -> None:
    """Finish the site; `scripts` holds the vendored packages. MathError for a formula that cannot be converted, with
    all others of that kind."""
    static = site / "_static"
    fonts.write_part(
        scripts / "@fontsource" / "stix-two-math" / "whole.woff",
        fonts.MATHEMATICS,
        static / "vendor" / "stix-two-math" / "math.woff",
    )
    texts = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in pages_of(site)}
    pages = with_mathml(texts, static)
    for name, text in pages.items():
        text = icons.SCRIPT.sub("", text)
        text = with_named_toggles(without_search_index(name, text))
        (site / name).write_text(with_policy(text), encoding="utf-8")
    icons.keep_used(static, pages.values(), scripts / "@fortawesome" / "fontawesome-free" / "whole.ttf")
    for path in static.rglob("*.map"):
        path.unlink()


def without_search_index(name: str, text: str) -> str:
    """A page that loads Sphinx's index only where it reads it: on the search's page, or to search as one types."""
    if name == "search.html" or "search_as_you_type = false" not in text:
        return text
    return SEARCH_SCRIPT.sub("", text)


def with_named_toggles(text: str) -> str:
    """A page whose buttons that unfold a part of the contents say of which; the theme gives them an icon alone."""
    return TOGGLE.sub(r'\1\2\3<summary aria-label="Pages below \2">', text)

"""The theme's icons, of which the pages keep what they use.

The theme ships all of Font Awesome twice, as a script of 1.6 MB and as a font, and a style for each icon. The styles
alone draw the icons from the font, so what stays is a part of the font and the styles of its glyphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from . import fonts

SCRIPT = re.compile(
    r"(?:(?<!\s)\s+)?<!-- So that users can add custom icons -->\s*<script [^>]*fontawesome\.js[^>]*></script>"
)
STYLE = re.compile(r'((?:\.fa-[\w-]+,?)+)\{--fa:"\\?([^"]*)"\}')
NAME = re.compile(r"fa-[a-z0-9-]+")
PRIVATE = re.compile("[\ue000-\uf8ff]")  # where the font has its icons, written out in the theme's variables
THEME_FONT = re.compile(r"@font-face\{[^}]*vendor/fontawesome/[^}]*\}")
FONT = (
    '@font-face{font-family:"Font Awesome 7 Free";font-style:normal;font-weight:900;'
    'src:url(../vendor/icons.woff) format("woff")}'
)


def keep_used(static: Path, pages: Iterable[str], whole: Path) -> None:
    """Leave in the folder `static` of a site the icons that `pages` and scripts name, and those that the theme's styles
    draw; `whole` is the font to take them from."""
    used = {name for text in pages for name in NAME.findall(text)}
    for script in [*static.glob("*.js"), *(static / "scripts").glob("[!f]*.js")]:
        used |= set(NAME.findall(script.read_text(encoding="utf-8")))
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    text, points = sheet.read_text(encoding="utf-8"), set[int]()

    def kept(found: re.Match[str]) -> str:
        if used.isdisjoint(found[1].replace(".", "").split(",")):
            return ""
        points.add(int(found[2], 16) if len(found[2]) > 1 else ord(found[2]))
        return found[0]

    text = STYLE.sub(kept, text)
    points |= {ord(icon) for icon in PRIVATE.findall(text)}
    fonts.write_part(whole, points, static / "vendor" / "icons.woff")
    sheet.write_text(THEME_FONT.sub("", text).rstrip() + "\n" + FONT + "\n", encoding="utf-8")
    for unused in [*(static / "vendor" / "fontawesome").rglob("*.woff2"), static / "scripts" / "fontawesome.js"]:
        unused.unlink(missing_ok=True)

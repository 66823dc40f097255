"""A site keeps the icons that it uses."""

from autograder.book.finishing import icons
from autograder.book.site import vendor
from tests.conftest import ROOT

SHEET = (
    '@font-face{src:url(../vendor/fontawesome/webfonts/fa-solid-900.woff2)}.fa-sun{--fa:"\\f185"}'
    '.fa-house,.fa-home{--fa:"\\f015"}.fa-moon{--fa:"\\f186"}.fa-plus{--fa:"\\+"}html{--pst-icon-bell:"\uf0f3"}'
)


def test_an_icon_that_is_used_stays_with_its_style_and_its_glyph(tmp_path):
    from fontTools.ttLib import TTFont

    scripts = vendor.fetch(ROOT / "docs" / "vendor.json", ROOT / ".build" / "vendor", ["@fortawesome/fontawesome-free"])
    for folder in ("styles", "scripts", "vendor/fontawesome/webfonts"):
        (tmp_path / folder).mkdir(parents=True)
    sheet, whole = tmp_path / "styles" / "pydata-sphinx-theme.css", tmp_path / "scripts" / "fontawesome.js"
    sheet.write_text(SHEET, encoding="utf-8")
    whole.write_text('"fa-moon"')
    (tmp_path / "scripts" / "theme.js").write_text('"fa-home"')
    icons.keep_used(
        tmp_path, ['<i class="fa-sun"><i class="fa-plus">'], scripts / "@fortawesome" / "fontawesome-free" / "whole.ttf"
    )
    text = sheet.read_text(encoding="utf-8")
    kept = [name in text for name in ("fa-sun", "fa-home", "fa-plus", "fa-moon", "fontawesome/")]
    assert kept == [True, True, True, False, False]
    assert not whole.exists()
    with TTFont(tmp_path / "vendor" / "icons.woff") as font:
        assert {0xF185, 0xF015, 0xF0F3, ord("+")} <= set(font.getBestCmap())
        assert 0xF186 not in font.getBestCmap()

"""Pictures in answers in words: which are kept, how they are shown, and that nothing else comes through with them."""

import base64
import json
import re
import struct
import zlib

import bs4
import pytest
from nbformat.v4 import new_markdown_cell

from autograder.course import feedback
from autograder.grading import attachments
from autograder.grading.attachments import MAX_BYTES, MAX_PIXELS, MOST, accepted, missing_pictures, text_with_pictures


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(wide=2, high=1, colour=b"\xff\x00\x00"):
    rows = zlib.compress((b"\x00" + colour * 2) * 1)
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(wide=2, high=1):
    """As far as its size: two segments before it."""
    before = b"\xff\xe0" + struct.pack(">H", 16) + bytes(14) + b"\xff\xdb" + struct.pack(">H", 67) + bytes(65)
    return b"\xff\xd8" + before + b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, high, wide, 3) + bytes(9)


def base(data):
    return base64.b64encode(data).decode()


PNG, JPEG = base(png()), base(jpeg())
KEPT = {
    "a PNG": {"image/png": PNG},
    "a JPEG": {"image/jpeg": JPEG},
    "lines": {"image/png": [PNG[:20] + "\n", PNG[20:] + "\n"]},
    "with others": {"image/svg+xml": "<svg/>", "image/png": PNG, "text/html": "<script>"},
    "as large as may be": {"image/png": base(png() + bytes(MAX_BYTES - len(png())))},
}
LEFT_OUT = {
    "an SVG": {"image/svg+xml": "<svg onload='alert(1)'/>"},
    "an SVG that says PNG": {"image/png": base(b"<svg onload='alert(1)'/>")},
    "an HTML page": {"text/html": "<script>alert(1)</script>"},
    "a GIF": {"image/gif": base(b"GIF89a" + bytes(40))},
    "a JPEG that says PNG": {"image/png": JPEG},
    "no base64": {"image/png": PNG + '" onerror="alert(1)'},
    "letters outside ASCII": {"image/png": PNG + "\u00e9"},
    "a surrogate": {"image/png": PNG + "\ud800"},
    "the beginning of a PNG": {"image/png": base(png()[:20])},
    "nothing": {"image/png": ""},
    "a number": {"image/png": 1},
    "a list of numbers": {"image/png": [1, 2]},
    "no forms": PNG,
    "too many bytes": {"image/png": base(png() + bytes(MAX_BYTES))},
    "too many characters": {"image/png": PNG + " " * 2 * MAX_BYTES},
    "too many pixels": {"image/png": base(png(MAX_PIXELS, 2))},
    "a JPEG of too many pixels": {"image/jpeg": base(jpeg(65535, 65535))},
    "no pixels": {"image/png": base(png(0, 5))},
    "a JPEG without an end": {"image/jpeg": base(b"\xff\xd8" + b"\xff\xe0\x00\x02" * 100_000)},
    "a JPEG that stands still": {"image/jpeg": base(b"\xff\xd8\xff\xe0" + bytes(100))},
}


@pytest.mark.parametrize("what", KEPT, ids=lambda name: name.replace(" ", "-"))
def test_a_raster_picture_is_kept_in_one_form(what):
    found = accepted({"x.png": KEPT[what]})
    ((mime, text),) = found["x.png"].items()
    assert mime in ("image/png", "image/jpeg")
    assert base64.b64decode(text, validate=True)[:2] in (b"\x89P", b"\xff\xd8")
    assert accepted(found) == found


@pytest.mark.parametrize("what", LEFT_OUT, ids=lambda name: name.replace(" ", "-"))
def test_whatever_else_is_attached_is_left_out(what):
    assert accepted({"x.png": LEFT_OUT[what], "good": {"image/png": PNG}}) == {"good": {"image/png": PNG}}


def test_names_and_numbers_are_bounded():
    assert accepted({name: {"image/png": PNG} for name in ("", "x" * 201, "a\nb", "\ud800")}) == {}
    assert len(accepted({f"{i}.png": {"image/png": PNG} for i in range(3 * MOST)})) == MOST
    for nothing in (None, [], "x", {"x": None}, 3):
        assert accepted(nothing) == {}


def wide(make, pixels):
    """A picture of so many pixels in rows of 10,000."""
    return {"image/png" if make is png else "image/jpeg": base(make(10_000, pixels // 10_000))}


@pytest.mark.parametrize(("most", "beyond"), [(20_000, 30_000), (10_000, 20_000)])
@pytest.mark.parametrize("make", [png, jpeg])
def test_a_picture_has_so_many_pixels_and_one_at_least(monkeypatch, make, most, beyond):
    monkeypatch.setattr(attachments, "MAX_PIXELS", most)
    assert accepted({"x": wide(make, most)})
    assert not accepted({"x": wide(make, beyond)})
    assert not accepted({"x": wide(make, 0)})


def test_a_jpeg_is_read_as_far_as_its_size(monkeypatch):
    data, segments = jpeg(), 2  # before its size
    end = 2 + 18 + 69 + 9
    assert accepted({"x": {"image/jpeg": base(data[:end])}})
    assert not accepted({"x": {"image/jpeg": base(data[: end - 1])}})
    monkeypatch.setattr(attachments, "SEGMENTS", segments + 1)
    assert accepted({"x": {"image/jpeg": base(data)}})
    monkeypatch.setattr(attachments, "SEGMENTS", segments)
    assert not accepted({"x": {"image/jpeg": base(data)}})


def test_a_png_is_read_as_far_as_its_size():
    assert accepted({"x": {"image/png": base(png()[:33])}})
    assert not accepted({"x": {"image/png": base(png()[:32])}})


def test_a_text_is_asked_for_the_pictures_that_it_lacks():
    def said(text, *names):
        return missing_pictures(new_markdown_cell(text, attachments={name: {"image/png": PNG} for name in names}))

    assert said("![a](attachment:a.png) and ![b](attachment:my%20b.png)", "a.png", "my b.png") == ""
    assert said("No picture: an attachment: none.") == ""
    assert re.search("`a.svg`; PNG or JPEG .* 4 MiB.* 8 ", said("![a](attachment:a.svg)"))
    assert said("![a](attachment:a.svg) ![a](attachment:a.svg)") == said("![a](attachment:a.svg)")
    assert said('<img src="attachment:a&lt;b.png">').startswith("A picture left out: `a‹b.png`")
    assert said("".join(f"![](attachment:{i})" for i in range(9))).startswith("Pictures left out: `0`, `1`, `2`, …; ")
    assert said("![" * 200_000 + "](attachment:" * 100_000)  # and is quick


def page(text, attached):
    return bs4.BeautifulSoup(feedback.illustrated(text, accepted(attached)), "html.parser")


def test_a_picture_of_the_cell_is_shown_once_and_below_where_the_text_does_not():
    shown = page("![one](attachment:a%20b.png) **x** ![two](attachment:a%20b.png)", {"a b.png": {"image/png": PNG}})
    assert [(i["src"], i["alt"]) for i in shown.find_all("img")] == [(f"data:image/png;base64,{PNG}", "one")]
    assert "[The picture above, once more.]" in shown.get_text()
    for text in ('<img src="attachment:a.jpg" onerror="alert(1)">', "x" * (feedback.MAX_MARKDOWN + 1)):
        shown = page(text, {'a.jpg" onerror="alert(1)': {"image/jpeg": JPEG}})
        assert [(i["src"], sorted(i.attrs)) for i in shown.find_all("img")] == [
            (f"data:image/jpeg;base64,{JPEG}", ["alt", "src"])
        ]
    shown = page("![x](attachment:x.svg)", {"x.svg": {"image/svg+xml": "<svg/>"}})
    assert shown.find_all(["img", "svg", "a"]) == []
    assert shown.get_text().strip() == "[A picture was left out here.]"


@pytest.mark.parametrize("text", ["# {}", "- {}", "> {}", "| a |\n|---|\n| {} |", "[{}](https://host)", "**{}**"])
def test_wherever_it_stands_it_is_shown(text):
    shown = page(text.format("![x](attachment:x.png)"), {"x.png": {"image/png": PNG}})
    assert [i["alt"] for i in shown.find_all("img")] == ["x"]


def test_a_text_is_another_with_another_picture():
    one, other = ({"x.png": {"image/png": base(png(colour=c))}} for c in (b"\xff\x00\x00", b"\x00\xff\x00"))
    assert text_with_pictures("Text.", None) == text_with_pictures("Text.", {}) == "Text."
    assert text_with_pictures("Text.", one) == text_with_pictures("Text.", json.loads(json.dumps(one)))
    assert text_with_pictures("Text.", one) != text_with_pictures("Text.", other)


@pytest.mark.parametrize(("length", "kept"), [(1, True), (200, True), (201, False)])
def test_a_pictures_name_has_a_length(length, kept):
    assert bool(accepted({"n" * length: {"image/png": PNG}})) == kept


@pytest.mark.parametrize(("more", "kept"), [(0, True), (1, False)])
def test_a_picture_has_four_mebibytes_at_most(more, kept):
    data = png()
    whole = data + bytes((4 << 20) - len(data) + more)
    assert bool(accepted({"x": {"image/png": base(whole)}})) == kept
    spaces = PNG.ljust((6 << 20) + more)  # white space between its characters counts for half as much
    assert bool(accepted({"x": {"image/png": spaces}})) == kept


def test_a_cell_has_eight_pictures_and_each_fifty_million_pixels():
    names = [f"{number}.png" for number in range(9)]
    assert list(accepted({name: {"image/png": PNG} for name in names})) == names[:8]
    assert accepted({"x": {"image/png": base(png(50_000_000, 1))}})
    assert not accepted({"x": {"image/png": base(png(50_000_001, 1))}})
    assert attachments.SEGMENTS == 1000


@pytest.mark.parametrize(
    ("marker", "size"), [(0xBF, 0), (0xC0, 2), (0xC4, 0), (0xC8, 0), (0xCC, 0), (0xCF, 2), (0xD0, 0)]
)
def test_a_jpegs_size_follows_the_markers_of_its_frames(marker, size):
    assert attachments._jpeg(jpeg().replace(b"\xff\xc2", bytes([0xFF, marker]))) == size


@pytest.mark.parametrize(
    ("count", "begins", "ends"), [(1, "A picture left out", "a0`"), (3, "Pictures", "a2`"), (4, "Pictures", "a2`, …")]
)
def test_three_pictures_that_are_missing_are_named(count, begins, ends):
    text = " ".join(f"![x](attachment:a{number})" for number in range(count))
    sentence = missing_pictures(new_markdown_cell(text))
    assert sentence.startswith(begins)
    assert sentence.partition("; PNG or JPEG of at most 4 MiB, and at most 8")[0].endswith(ends)
    assert missing_pictures(new_markdown_cell("none")) == ""

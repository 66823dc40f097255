"""Every number in the prose of a chapter comes from the code: a digit with a unit typed by hand is found."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path for path in ROOT.glob("solutions/*/*.md") if path.stem == path.parent.name)
PHYSICAL = (
    r"[kKMGTPE]i?(?:B|bit|b)(?:/s)?|\sB(?:/s)?|bits?|bytes?|[kKMGTPE]?FLOPs?(?:/s|/B)?|[kMG]?Hz|[munµ]?s|GT/s"
    r"|seconds?|minutes?|hours?|days?|years?|[kM]?W|watts?|%|percent|°C|dollars?"
)
COUNTED = (
    "GPUs?|ranks?|nodes?|SMs?|threads?|warps?|lanes?|switches|links?|ports?|tokens?|cores?|chips?|cycles?|users?"
    "|registers?|hosts?|racks?|cables?|experts?|rounds?|steps?|layers?|stages?|parameters?"
)
TYPED = re.compile(rf"(?<![\w.])\d[\d,.]*[ \u00a0]?(?:{PHYSICAL}|{COUNTED})(?!\w)")


def prose(text: str) -> str:
    """The text of a chapter without its code, roles, mathematics and quotes."""
    import jupytext

    nb = jupytext.reads(text, fmt="md:myst")
    text = "\n\n".join(c.source for c in nb.cells if c.cell_type == "markdown")
    text = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.S | re.M)
    text = re.sub(r"\{[\w:-]+\}(`+).+?\1", "", text)
    text = re.sub(r"`[^`]+`|\$[^$]+\$", "", text)
    return re.sub(r"“[^”]*”", "", text)


def typed_numbers(text: str) -> list[str]:
    """Each number with a unit in `text`, with the words before it."""
    plain = prose(text)
    return [plain[max(0, m.start() - 30) : m.end()].strip() for m in TYPED.finditer(plain)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_no_number_is_typed_by_hand(path: Path):
    assert typed_numbers(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It moves 450 GB/s.", ["It moves 450 GB/s"]),
        ("It takes 3.5us, or 20 % more.", ["It takes 3.5us", "It takes 3.5us, or 20 %"]),
        ("Eight nodes, 64 GPUs.", ["Eight nodes, 64 GPUs"]),
        ("Up to 1,024 ranks", ["Up to 1,024 ranks"]),
        ('It moves {n}`show(450*GB, "B/s")`, or `450 GB/s` in code.', []),
        ("*“NVLink is 900 GB/s”*, they write.", []),
        ("A 70B model with 16-bit weights, chapter 3, $64 s$, H100 SXM5.", []),
        ("```python\nx = 5  # 5 GB\n```", []),
        ("```{code-cell} ipython3\nx = 5  # 5 GB\n```", []),
    ],
)
def test_the_search_finds_what_is_typed_and_nothing_else(text: str, found: list[str]):
    assert typed_numbers(text) == found

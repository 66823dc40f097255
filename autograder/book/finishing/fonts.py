"""The two fonts that the pages bring along, each a part of a larger one: of mathematics, and of the theme's icons."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

# What formulas are made of, also those that come at runtime. STIX Two Math has 5,200 glyphs, the book needs a fifth.
_LETTERS = "°±×÷·µħıȷℎℓℝℕℤℂℚℬℰℱℋℐℒℳℛ–—‖†‡…′″‴⁄"
_INVISIBLE = "\u2061\u2062\u2063\u2064"
_ARROWS = "←↑→↓↔⇐⇒⇔↦⟵⟶⟷⟸⟹⟺"
_OPERATORS = "∀∂∃∅∇∈∉∋∏∑−∓∗∘∙√∝∞∠∣∥∧∨∨∩∪∫∴∼≃≅≈≔≠≡≤≥≪≫⊂⊃⊆⊇⊕⊗⊙⊤⊥⋀⋁⋂⋃⋅⋆⋮⋯⋱⩽⩾"
_BRACKETS = "⌈⌉⌊⌋⟨⟩⏞⏟⎴⎵⏜⏝"
_RANGES = (
    (0x20, 0x7E),
    (0x300, 0x338),  # accents
    (0x391, 0x3F6),  # Greek
    (0x1D400, 0x1D467),  # bold, italic, bold italic
    (0x1D49C, 0x1D4E9),  # script
    (0x1D538, 0x1D56B),  # double-struck
    (0x1D6A8, 0x1D755),  # Greek, bold and italic
)
MATHEMATICS = frozenset(
    {*map(ord, _LETTERS + _INVISIBLE + _ARROWS + _OPERATORS + _BRACKETS)}
    | {point for first, last in _RANGES for point in range(first, last + 1)}
)
# Forms for indices, letters without their dots, and what joins marks to letters; stylistic sets are left out.
FEATURES = ("ssty", "dtls", "flac", "kern", "mark", "mkmk", "ccmp")


def write_part(whole: Path, points: Collection[int], target: Path) -> Path:
    """Write a WOFF of the font `whole` with these code points, and what they are built from; byte for byte the same
    for the same font. Code points that it has not are passed over."""
    from fontTools import subset

    options = subset.Options()
    options.flavor = "woff"
    options.layout_features = list(FEATURES)
    options.hinting = False
    options.glyph_names = False
    options.recalc_timestamp = False
    with subset.load_font(str(whole), options) as font:
        cut = subset.Subsetter(options)
        cut.populate(unicodes=points)
        cut.subset(font)
        target.parent.mkdir(parents=True, exist_ok=True)
        subset.save_font(font, str(target), options)
    return target

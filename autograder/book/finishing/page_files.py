"""Which files of a built site are pages."""

from __future__ import annotations

from pathlib import Path


def pages_of(site: Path) -> list[Path]:
    """The pages of a site, those in folders too, without what Sphinx (`_static`) and `html_extra_path` have copied."""
    copied = {site / "notebooks", *site.glob("_*")}
    return sorted(path for path in site.rglob("*.html") if copied.isdisjoint(path.parents))

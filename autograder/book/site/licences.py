"""The page of licences: what ships in the built book, by whom, and under which terms, with each text beside it."""

from __future__ import annotations

import html
import json
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import NamedTuple

TEXTS, TEXTS_HERE = "_static/licences", "licences"  # in the site, and in docs/
NAMES = ("LICENSE", "LICENCE", "COPYING")
INTRODUCTION = """\
# Licences

The text of this book is licensed under CC BY 4.0, its code under the MIT licence.
The pages bring along what they need, so that they ask no other host for anything.
This is all of it, and the text of each licence lies beside it.

"""


class LicenceError(ValueError):
    """A package that ships without the text of its licence, or without saying which it is."""


class Shipped(NamedTuple):
    """A package in the pages: its name, version, licence (SPDX) and the text of that, and what it is there for."""

    name: str
    version: str
    licence: str
    text: str
    use: str


def shipped(docs: Path, scripts: Path) -> Iterator[Shipped]:
    """Every package in the pages, those of docs/vendor.json, whose files are in `scripts`, and those of
    docs/licences.toml. LicenceError for one without its text."""
    listed = tomllib.loads((docs / "licences.toml").read_text(encoding="utf-8"))
    uses, texts = listed.get("use", {}), listed.get("text", {})
    for package in json.loads((docs / "vendor.json").read_text(encoding="utf-8")):
        if package.get("tests_only"):
            continue
        name = package["package"]
        if name in texts:
            paths = [docs / TEXTS_HERE / texts[name]]
        else:
            paths = [path for path in (scripts / name / kind for kind in NAMES) if path.is_file()]
        if not paths:
            raise LicenceError(f"docs/vendor.json: {name} ships without its LICENSE; list it in `files`")
        text = paths[0].read_text(encoding="utf-8", errors="replace")
        yield Shipped(name, package["version"], package["license"], text, uses.get(name, ""))
    for entry in listed.get("python", []):
        installed = distribution(entry["name"])
        licence = entry.get("license") or str(installed.metadata.json.get("license_expression", ""))
        if not licence:
            raise LicenceError(f"docs/licences.toml: {entry['name']} does not say its licence; add `license`")
        yield Shipped(entry["name"], installed.version, licence, _text(installed, entry["name"]), entry.get("use", ""))
    for entry in listed.get("other", []):
        text = (docs / TEXTS_HERE / entry["text"]).read_text(encoding="utf-8")
        yield Shipped(entry["name"], entry["version"], entry["license"], text, entry.get("use", ""))


def lay_out(docs: Path, scripts: Path, pages: Path) -> None:
    """Write licences.md and the texts that it links to into the folder of Sphinx's sources."""
    (pages / TEXTS).mkdir(parents=True)
    lines = ["| package | version | licence | used for |", "|---|---|---|---|"]
    for package in sorted(shipped(docs, scripts), key=lambda package: package.name.rpartition("/")[2].casefold()):
        file = f"{TEXTS}/{package.name.rpartition('/')[2]}.txt"
        (pages / file).write_text(package.text, encoding="utf-8")
        link = f'<a href="{file}">{html.escape(package.licence)}</a>'
        lines.append(f"| {package.name} | {package.version} | {link} | {package.use} |")
    (pages / "licences.md").write_text(INTRODUCTION + "\n".join(lines) + "\n", encoding="utf-8")


def _text(found: Distribution, name: str) -> str:
    """What the files of a Python package say of its licence."""
    texts = [path for path in found.files or () if Path(path.name).stem.upper() in NAMES and ".dist-info" in str(path)]
    if not texts:
        raise LicenceError(f"docs/licences.toml: {name} is installed without the text of its licence")
    return "\n\n".join(path.read_text(encoding="utf-8") for path in texts)

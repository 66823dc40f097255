"""Sphinx, run so that it writes again only the pages whose text has changed.

Its source, its site and its doctrees are kept from build to build. What pages know of one another - which there are,
their headings, labels and citations, the settings, scripts and styles - is the frame: where that has changed,
everything is written anew. So a page depends on its own text and on the frame, and on nothing else.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..build_cache import contents_of, files_below, key_of
from ..finishing.page_files import pages_of
from ..outputs.executed import BookError

PAGES = {".md", ".ipynb"}
ASIDE = "extra"  # the folder whose files Sphinx copies as they are
KNOWN_ELSEWHERE = re.compile(
    r"^#+ .*|^\([\w:.-]+\)=|^ *:(?:name|label|class|caption|maxdepth): .*|\{[\w:-]*(?:cite|ref|doc|toctree)[\w:]*\}"
    r"(?:`[^`]*`)?|\{#[^}]*\}|\bid=\\?\"[^\"]*\"|^\$\$ *\([^)]*\)|^[^\s`].*\n: ",
    re.MULTILINE,
)
"""What another page may depend on: headings, labels, ids, references and citations, figures, terms."""
NAMED_BY_DIGEST = re.compile(r"(_static/mystnb\.[0-9a-f]+\.css)\?v=\w+")
PACKAGES = ("sphinx", "myst-nb", "myst-parser", "sphinx-book-theme", "sphinxcontrib-bibtex")
COMMAND = ("-b", "html", "-W", "--keep-going", "-n", "-q")  # every warning is an error


def write_site(source: Path, kept: Path, out: Path) -> None:
    """The site of the Sphinx source in the folder `source`, written to `out`, which must not exist.

    `kept` is this function's own folder. BookError quotes Sphinx.
    """
    mark, own, raw = kept / "frame", kept / "source", kept / "site"
    frame = _frame(source, kept)
    if not mark.is_file() or mark.read_text() != frame:
        shutil.rmtree(kept, ignore_errors=True)
    mark.unlink(missing_ok=True)  # whatever fails, the next build begins anew
    _renew(source, own)
    _sphinx(own, raw, kept / "doctrees")
    mark.write_text(frame)
    shutil.copytree(raw, out)
    for unused in ("_sources", "jupyter_execute"):
        shutil.rmtree(out / unused, ignore_errors=True)
    (out / ".buildinfo").unlink(missing_ok=True)
    _finish(out)


def _frame(source: Path, kept: Path) -> str:
    pages = [path for path in files_below(source) if path.suffix in PAGES and ASIDE not in path.parts]
    others = [path for path in files_below(source) if path not in pages and ASIDE not in path.parts]
    aside = [path.relative_to(source).as_posix() for path in files_below(source / ASIDE)]
    parts = [sys.version, str(kept), *map(_version, PACKAGES), *aside]
    for path in pages:
        parts.append(path.relative_to(source).as_posix())
        parts += [found[0] for text in _texts(path) for found in KNOWN_ELSEWHERE.finditer(text)]
    return key_of(*parts, *(path.relative_to(source).as_posix() for path in others), *contents_of(others))


def _texts(path: Path) -> Iterator[str]:
    """The Markdown of a page."""
    if path.suffix != ".ipynb":
        yield path.read_text(encoding="utf-8")
        return
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            yield cell.source
        else:
            yield str(cell.metadata.get("mystnb", ""))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _renew(source: Path, own: Path) -> None:
    """Make the folder `own` equal to `source`, and leave alone what is equal: Sphinx goes by the time of a file."""
    wanted = {path.relative_to(source) for path in files_below(source)}
    for path in files_below(own):
        if path.relative_to(own) not in wanted:
            path.unlink()
    for place in sorted(wanted):
        target = own / place
        if not (target.is_file() and filecmp.cmp(source / place, target, shallow=False)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / place, target)


def _sphinx(source: Path, out: Path, doctrees: Path) -> None:
    command = [sys.executable, "-m", "sphinx", *COMMAND, "-d", str(doctrees), str(source), str(out)]
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise BookError(f"Sphinx rejects the pages in {source}:\n{(done.stderr or done.stdout).strip()}")


def _finish(site: Path) -> None:
    """Make the site the same, however much of it is kept: images of figures that have changed since go, and a style
    that MyST-NB writes, whose name has its digest, loses the mark that it has only once it is there."""
    used: set[str] = set()
    for path in pages_of(site):
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r"_images/([^\"?#]+)", text))
        path.write_text(NAMED_BY_DIGEST.sub(r"\1", text), encoding="utf-8")
    for path in files_below(site / "_images"):
        if path.name not in used:
            path.unlink()

"""Self-study: a learner's own copy of the book, and JupyterLab on it."""

import json
import os
import shutil
import sys
from pathlib import Path

from ..values.book_root import book_root
from . import progress


class StudyError(ValueError):
    """The learner's folder is not what it should be; the message says what was found and what was expected."""


def start(folder: Path) -> list[Path]:
    """Copy the chapters into `folder` and return the files written; what a learner already has is never touched."""
    if folder.exists() and not folder.is_dir():
        raise StudyError(f"{folder} is a file; a folder for the book was expected")
    written = []
    for source in sorted((book_root() / "chapters").rglob("*")):
        target = folder / source.relative_to(book_root() / "chapters")
        if source.is_file() and not target.exists() and ".ipynb_checkpoints" not in source.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            written.append(target)
    progress.mark(folder)
    return written


def whoami(folder: Path, learner: str) -> list[Path]:
    """Write the learner's gradebook id into the book's notebooks in `folder` and in the folders right below it;
    variants are drawn for this id. Every other notebook is left as it is."""
    if not learner.isprintable() or not learner.strip() or "/" in learner:
        raise StudyError(f"{learner!r} cannot be a gradebook id: printable characters without a slash were expected")
    notebooks = {
        path: notebook
        for pattern in ("*.ipynb", "*/*.ipynb")
        for path in sorted(folder.glob(pattern))
        if ".ipynb_checkpoints" not in path.parts and (notebook := _of_the_book(path))
    }
    if not notebooks:
        raise StudyError(
            f"no notebook of the book in {folder}, nor in a folder right below it; run this where yours "
            "are, or name the folder with --folder"
        )
    for path, notebook in notebooks.items():
        notebook["metadata"]["gpubook"]["learner"] = learner
        beside = path.with_suffix(".ipynb.new")
        beside.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(beside, path)
    return list(notebooks)


def _of_the_book(path: Path) -> dict | None:
    """The notebook at `path` where the book or a course made it; None for any other file."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        return notebook if isinstance(notebook["metadata"]["gpubook"], dict) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def lab(folder: Path, *, port: int | None = None, browser: bool = True, token: str | None = None) -> None:
    """Become a JupyterLab server on `folder`; the checks find the solutions of this installation.

    JupyterLab's news pop-up is switched off, since a book has no use for it and a closed network no answer; and so is
    what nbgrader adds for teachers, since its "Validate" would run a notebook's cells and know no verdict.
    """
    settings = folder / ".gpubook" / "lab"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(
        json.dumps({"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}})
    )
    (settings / "page_config.json").write_text(json.dumps({"disabledExtensions": {"@jupyter/nbgrader": True}}))
    os.environ.setdefault("GPUBOOK_SOLUTIONS", str(book_root() / "solutions"))
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "lab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.app_settings_dir={settings}",
    ]
    first = next(iter(sorted(p for p in folder.glob("*/*.ipynb"))), None)
    if first is not None:
        command.append(f"--LabApp.default_url=/lab/tree/{first.relative_to(folder)}")
    if port is not None:
        command += [f"--port={port}", "--ServerApp.port_retries=0"]
    if token is not None:
        command.append(f"--IdentityProvider.token={token}")
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    os.execv(command[0], command)

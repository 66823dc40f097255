"""JupyterLab on a learner's copy of the book: it opens where they were, and says nothing but where it is."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..values.atomic_write import write_whole
from ..values.book_root import book_root
from ..values.own_folder import own
from .progress import Progress
from .record import last_done
from .shown import START
from .study import StudyError

# Those of nbgrader are for teachers, are switched off in the page too, and take two seconds to load.
WITHOUT = ("assignment_list", "course_list", "formgrader", "validate_assignment")
# MyST renders every text of a notebook as often as there are texts, and shows the source until it is through; the
# chapters need nothing of it.
DISABLED = {"@jupyter/nbgrader": True, "jupyterlab-myst": True}
# The button that opens a chapter in Jupyter Notebook, where nbgrader's menu and "Validate" are back.
DISABLED |= {"@jupyter-notebook/lab-extension": True}
EXTENSIONS = Path(__file__).with_name("labextension")  # ours, which needs no installation
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    # What is out of sight is laid out in idle moments: a link to an exercise ends there, and not at a guess of where it
    # is; and a chapter is shown sooner.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
}


def serve(
    folder: Path, *, port: int | None = None, browser: bool = True, token: str | None = None, note: str = ""
) -> None:
    """Run a JupyterLab server on `folder` until Ctrl-C; the checks find the solutions of this installation.

    Where it runs is said, and the `note`.

    JupyterLab's news pop-up is switched off, since a book has no use for it and a closed network no answer; and so is
    what nbgrader adds for teachers, since its "Validate" would run a notebook's cells and know no verdict.
    """
    if find_spec("jupyterlab") is None:
        raise StudyError("JupyterLab is not installed here: pip install jupyterlab")
    if port is not None and not _is_free(port):
        raise StudyError(f"the port {port} is taken; name another with --port, or none, and a free one is found")
    warnings.simplefilter("ignore")  # of other packages: nobody who reads the book can do anything about them
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # the debugger's warning, in every kernel
    os.environ.setdefault("GPUBOOK_SOLUTIONS", str(book_root() / "solutions"))
    os.environ.setdefault("PYTHONSTARTUP", str(Path(__file__).with_name("kernel_startup.py")))  # for each kernel
    from jupyterlab.labapp import LabApp

    server = LabApp.initialize_server(_options(folder, port, browser, token))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: _end(server))
    server.io_loop.add_callback(_say, server.public_url.removesuffix("?token=..."), note)
    server.identity_provider.token_generated = False  # it is said now, and not once more in a notice of the server's
    server.start()


def first_shown(folder: Path) -> Path | None:
    """The notebook of the chapter in which the learner last did something; the start page for a beginner, or the first
    chapter where there is none."""
    start, notebooks = folder / START, sorted(folder.glob("*/*.ipynb"))
    with contextlib.suppress(OSError):
        times = {name: last_done(entry) for name, entry in Progress.below(folder).data()["exercises"].items()}
        last = {path: max(_known(times, path), default="") for path in notebooks}
        notebooks.sort(key=lambda notebook: last[notebook], reverse=True)
        if notebooks and last[notebooks[0]]:
            return notebooks[0]
    return next(iter([start] if start.is_file() else notebooks), None)


def _known(times: Mapping[str, str], notebook: Path) -> list[str]:
    """When something was done about the exercises of a notebook."""
    return [times[name] for name in _asked(notebook.with_name("exercises.json")) if name in times]


def _asked(path: Path) -> list[str]:
    """The exercises of a chapter, by its exercises.json; none where there is no such file."""
    try:
        return list(json.loads(path.read_text(encoding="utf-8"))["exercises"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _options(folder: Path, port: int | None, browser: bool, token: str | None) -> list[str]:
    """The server's command line."""
    settings = own(folder, "lab")
    settings.mkdir(parents=True, exist_ok=True)
    for name, content in {"overrides.json": SETTINGS, "page_config.json": {"disabledExtensions": DISABLED}}.items():
        write_whole(own(folder, "lab", name), json.dumps(content), mode=0o644)
    options = [
        "--Application.log_level=ERROR",
        "--KernelManager.transport_encryption=auto",  # without it, each kernel warns of other users of the machine
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.jpserver_extensions={ {f'nbgrader.server_extensions.{name}': False for name in WITHOUT}!r}",
        f"--LabApp.app_settings_dir={settings}",
        f"--LabApp.extra_labextensions_path={EXTENSIONS}",
    ]
    if (notebook := first_shown(folder)) is not None:
        options.append(f"--LabApp.default_url=/lab/tree/{notebook.relative_to(folder).as_posix()}")
    if port is not None:
        options += [f"--port={port}", "--ServerApp.port_retries=0"]
    if token is not None:
        options.append(f"--IdentityProvider.token={token}")
    if not browser:
        options.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    return options


def _is_free(port: int) -> bool:
    """Whether this machine lets a server listen on the port."""
    with contextlib.closing(socket.socket()) as here:
        here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            here.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _say(address: str, note: str) -> None:
    import click

    for line in filter(None, (f"Your book is at {address} (Ctrl-C ends it)", note)):
        click.echo(line)


def _end(server: Any) -> None:
    """End the server and its kernels; a second Ctrl-C ends at once."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    server.stop(from_signal=True)

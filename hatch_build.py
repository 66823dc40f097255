"""The wheel holds the solutions of the chapters that are released, and those of no draft; and of these chapters the
outputs that a build of the book has left, where there was one."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KEY = f"-{'?' * 20}.json.gz"  # how the name of a chapter's archive ends


class ReleasedSolutions(BuildHookInterface):
    """Adds solutions/NAME of each chapter without `draft: true`, and its outputs, to what the wheel holds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install reads the checkout, and takes nothing along."""
        if version == "editable":
            return
        solutions = Path(self.root, "solutions")
        drafts = runpy.run_path(str(Path(self.root, "autograder", "book", "source", "drafts.py")))["drafts"](solutions)
        for folder in sorted(path for path in solutions.iterdir() if path.is_dir() and path.name not in drafts):
            build_data["force_include"][str(folder)] = f"autograder/_book/solutions/{folder.name}"
        for archive in sorted(Path(self.root, ".build", "shown").glob(f"*{KEY}")):
            if Path(self.root, "chapters", archive.name[: -len(KEY)]).is_dir():
                build_data["force_include"][str(archive)] = f"autograder/_book/shown/{archive.name}"

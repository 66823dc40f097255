"""The wheel holds the solutions of the chapters that are released, and those of no draft."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ReleasedSolutions(BuildHookInterface):
    """Adds solutions/NAME of each chapter without `draft: true` to what the wheel holds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """An editable install reads the checkout, and takes nothing along."""
        if version == "editable":
            return
        solutions = Path(self.root, "solutions")
        drafts = runpy.run_path(str(Path(self.root, "autograder", "book", "drafts.py")))["drafts"](solutions)
        for folder in sorted(path for path in solutions.iterdir() if path.is_dir() and path.name not in drafts):
            build_data["force_include"][str(folder)] = f"autograder/_book/solutions/{folder.name}"

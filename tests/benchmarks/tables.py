"""Tables of published measurements, written for a test."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.rows.published import COLUMNS


def written(path: Path, *rows: Mapping[str, Any]) -> Path:
    """A table of these rows; a config that is no text yet becomes JSON."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            config = row["config"]
            writer.writerow({**row, "config": config if isinstance(config, str) else json.dumps(config)})
    return path

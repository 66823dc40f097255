"""`python -m tests.sample_class DIR`."""

import sys
from pathlib import Path

from .layout import CHAPTER, lay_out

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tests.sample_class DIR")
    folder = lay_out(Path(sys.argv[1]))
    submitted = sorted(p.name for p in (folder / "submitted").iterdir())
    sys.stdout.write(f"{CHAPTER}, submitted by {', '.join(submitted)}: {folder}\n")

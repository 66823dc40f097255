"""Where the benchmarks find the project's files."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "benchmarks" / "data"
DOCS = ROOT / "docs"
SPECS = ROOT / "hwlib" / "specs"

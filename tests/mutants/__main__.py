"""`python -m tests.mutants [--seed N] [--count N] [WHERE ...]`: see `tests.mutants`."""

import os
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue

import click

from tests.conftest import ROOT
from tests.mutants.closest import Imports
from tests.mutants.errors import Mutant, drawn
from tests.mutants.trial import CAUGHT, EQUIVALENT, SURVIVED, Outcome, Tree, outcome

MUTATED = (
    *(f"autograder/{room}" for room in ("values", "answers", "grading", "course", "sandbox")),
    *(f"hwlib/{part}" for part in ("planner", "footprint", "collectives", "simulate")),
    "hwlib/constraints.py",
    "hwlib/strategy.py",
)
RECORD = Path(__file__).with_name("record.toml")
LEAST = 0.77  # of those drawn anew, nine in ten are caught: fewer of 100 are once in a thousand runs; raise it


def equivalents(path: Path = RECORD) -> dict[tuple[str, str, str], str]:
    """The reason of each mutant that changes nothing."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", [])
    return {(entry["file"], entry["was"], entry["becomes"]): entry["reason"] for entry in listed}


def score(seed: int, counts: Mapping[str, int]) -> str:
    """An entry of the record for a run."""
    lines = [f'date = "{datetime.now(UTC):%Y-%m-%d}"', f"seed = {seed}", f"drawn = {sum(counts.values())}"]
    lines += [f"{word} = {counts.get(word, 0)}" for word in (CAUGHT, EQUIVALENT, SURVIVED)]
    return "\n".join(["", "[[score]]", *lines, ""])


def outcomes(chosen: Sequence[Mutant], workers: int, limit: float, minutes: float) -> list[Outcome]:
    """What becomes of each mutant that is begun in time, told at once; each worker has a copy of the project."""
    reasons, imports, end = equivalents(), Imports(ROOT), time.monotonic() + 60 * minutes
    idle: SimpleQueue[Tree] = SimpleQueue()

    def tried(mutant: Mutant) -> Outcome | None:
        if time.monotonic() > end:
            return None
        tree = idle.get()
        try:
            result = outcome(tree, mutant, imports, reasons, limit)
        finally:
            idle.put(tree)
        click.echo(str(result))
        return result

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(workers) as pool:
        for number in range(workers):
            idle.put(Tree.of(ROOT, Path(folder) / str(number)))
        return [result for result in pool.map(tried, chosen) if result is not None]


@click.command()
@click.option(
    "--seed", type=int, default=lambda: int(f"{datetime.now(UTC):%Y%m%d}"), help="Of the draw; by default the date."
)
@click.option("--count", default=100, help="Mutants to draw.")
@click.option("--limit", default=60.0, help="Seconds of the tests of one.")
@click.option("--minutes", default=60.0, help="None is begun later.")
@click.option("--workers", default=os.cpu_count(), help="Mutants that are tried at once.")
@click.option("--write", is_flag=True, help="Add the score to record.toml.")
@click.argument("where", nargs=-1)
def main(
    seed: int, count: int, limit: float, minutes: float, workers: int, write: bool, where: tuple[str, ...]
) -> None:
    """Draw mutants of the files and folders WHERE, and run the closest tests of each."""
    click.echo(f"seed {seed}")
    counts = Counter(one.word for one in outcomes(drawn(seed, count, ROOT, where or MUTATED), workers, limit, minutes))
    most = counts[CAUGHT] + counts[SURVIVED]
    click.echo(f"{counts[CAUGHT]} of {most} caught; {counts[EQUIVALENT]} more change nothing; seed {seed}")
    if write:
        RECORD.write_text(RECORD.read_text(encoding="utf-8") + score(seed, counts), encoding="utf-8")
    if counts[CAUGHT] < LEAST * most:
        raise click.ClickException(f"fewer than {LEAST:.0%} were caught")


if __name__ == "__main__":
    main()

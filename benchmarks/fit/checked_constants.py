"""Which typed constants published steps rest on: `python -m benchmarks.fit.checked_constants --data FILE [...]`.

A constant that was typed but moves many measured steps, whose error is known, is checked by them; one that moves none
could be anything. The first are written into `checked` of hwlib/specs/software.toml: those that, at half their value (a
latency at twice), would make at least LEAST steps slower by more than noise. The steps are those of the stack, and of
those that are like it and have the same value; of one GPU those of `benchmarks.fit.one_gpu`.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from benchmarks.fit.one_gpu import resting
from benchmarks.fit.toml_values import table_name
from benchmarks.paths import SPECS
from benchmarks.rows.published import case_of, rows_to_fit
from benchmarks.rows.training_step import TrainingStep
from hwlib.planner.advice import NOISE, worse
from hwlib.specs import stacks
from hwlib.specs.software_sections import FILE
from hwlib.specs.stack import CONSTANTS

SOFTWARE = SPECS / FILE
LEAST = 8


def steps_of(paths: Iterable[Path]) -> list[TrainingStep]:
    """The steps of tables that have constants of their own software."""
    found = [case_of(row, path) for path in paths for row in rows_to_fit(path)]
    return [case for case in found if isinstance(case, TrainingStep) and case.stack in stacks and not case.typical]


def counts(steps: Iterable[TrainingStep]) -> Mapping[str, Counter[str]]:
    """For each stack, how many of its steps rest on each constant that it did not fit."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in steps:
        stack = stacks[case.stack].replace(chip=case.chip)
        try:
            seconds = case.time(stack)
        except ValueError:
            continue
        for name in CONSTANTS:
            if name in stack.fitted or (other := worse(stack, name)) is None:
                continue
            if case.time(other) > (1 + NOISE) * seconds:
                for key in sharing(case.stack, name):
                    found[key][name] += 1
    return found


def sharing(key: str, name: str) -> Iterable[str]:
    """The stack, and those that it has a constant's value from."""
    yield key
    like = stacks[key].like
    if like and getattr(stacks[like], name) == getattr(stacks[key], name):
        yield from sharing(like, name)


def written(text: str, found: Mapping[str, Counter[str]]) -> str:
    """The text of software.toml with the lists anew."""
    for key, counted in found.items():
        fitted = stacks[key].fitted
        names = json.dumps([name for name in CONSTANTS if counted[name] >= LEAST and name not in fitted])
        line = "" if names == "[]" else f"checked = {names}\n"
        head, mark, rest = text.partition(f"[{table_name(stacks[key])}]\n")
        row, gap, after = rest.partition("\n\n")
        row = re.sub(r"^checked = .*\n", "", row, flags=re.M)
        after_line = "fitted" if re.search(r"^fitted = ", row, re.M) else "name"
        before, that, more = re.split(rf"^({after_line} = .*\n)", row + "\n", flags=re.M)
        row = (before + that + line + more).removesuffix("\n")
        text = head + mark + row + gap + after
    return text


@click.command()
@click.option("--data", type=click.Path(dir_okay=False, exists=True, path_type=Path), multiple=True, required=True)
def main(data: tuple[Path, ...]) -> None:
    """Write `checked` of every stack."""
    found = {**counts(steps_of(data)), **resting()}
    SOFTWARE.write_text(written(SOFTWARE.read_text("utf-8"), found), "utf-8")
    for key, counted in found.items():
        print(f"{key}: {', '.join(f'{name} {n}' for name, n in counted.most_common() if n)}")


if __name__ == "__main__":
    main()

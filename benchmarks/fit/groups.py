"""Fit constants anew and write them where they stand: `make fit`, or `python -m benchmarks.fit [GROUP ...]`.

A group is a part of a table of hwlib/specs: `GROUPS` has them. Whatever is not fitted stays as it is: texts, comments,
typed constants, the order of rows, the spelling of a number that has not changed, and the date of an entry whose
constants have not. So in a clean tree nothing changes. `--check` writes nothing, says what would change, and fails
where something would.
"""

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from benchmarks.fit.constants import HEAD, PARTS, fit_part, toml
from benchmarks.fit.memory import fit_memory, margins
from benchmarks.fit.one_gpu import kept_or_better as one_gpu_stacks
from benchmarks.fit.serving import fit_servings
from benchmarks.fit.stacks import kept_or_better
from benchmarks.fit.toml_values import changed_lines, table_name, with_more, with_rows, with_values
from benchmarks.paths import SPECS
from benchmarks.rows.published import ROWS, DataError, rows_to_fit, steps
from hwlib.specs import Framework, Stack, frameworks
from hwlib.specs.fitted import Fitted
from hwlib.specs.serving_stack import ServingStack
from hwlib.specs.software_sections import FILE

PASSING = re.compile(
    r'date = "[\d-]+"\n|(?:held_out|band_\w+|growth_\w+) = \S+\n'
)  # what two fits that agree may differ in


@dataclass(frozen=True)
class Group:
    """A part of a table: the file, and what makes its text anew from the rows of a folder or file. A fit that is not
    `folded` leaves out the errors of held-back rows, which takes a third to a sixth of the time.
    """

    file: str
    renewed: Callable[[str, Path, bool], str]


def with_entries(text: str, name: str, entries: Iterable[Fitted], folded: bool) -> str:
    """The text of fitted.toml with the entries of one name anew, and the head that tells what it is."""
    head, *kept = re.split(r"(?m)^(?=\[\[)", text)
    own = [one.strip() for one in kept if one.startswith(f"[[{name}]]")]
    others = [one.strip() for one in kept if not one.startswith(f"[[{name}]]")]
    made = [_standing(toml(entry), own, folded) for entry in entries]
    order = list(PARTS)
    blocks = sorted([*others, *made], key=lambda one: order.index(one[2 : one.index("]]")]))
    return HEAD + "\n" + "\n\n".join(blocks) + "\n" if blocks else head


def _standing(made: str, kept: Sequence[str], folded: bool) -> str:
    """The entry that stands, where the new one says the same but for its day, and for what was not computed."""
    ignored = PASSING if not folded else re.compile(r'date = "[\d-]+"\n')
    same = [one for one in kept if ignored.sub("", one) == ignored.sub("", made)]
    return same[0] if same else made


def _entries(text: str, data: Path, folded: bool, name: str) -> str:
    return with_entries(text, name, fit_part(name, rows_to_fit(data), data, folded), folded)


def _numbers(of: Stack | ServingStack | Framework) -> dict[str, str]:
    """The error and the fitted constants of a record, with three digits."""
    return {"error": f"{of.error:.3f}"} | {name: f"{getattr(of, name):.3g}" for name in of.fitted}


def _stacks(text: str, data: Path, _: bool, keys: Sequence[str] = ()) -> str:
    for stack in kept_or_better(steps(data), keys):
        text = with_values(text, table_name(stack), _numbers(stack))
    return text


def _one_gpu(text: str, _: Path, __: bool) -> str:
    """From the steps measured on one GPU, whatever rows the others are fitted to."""
    for stack in one_gpu_stacks():
        text = with_values(text, table_name(stack), _numbers(stack))
    return text


def _memory(text: str, data: Path, _: bool) -> str:
    fits = {fit.framework.key: fit.framework for fit in fit_memory(data)}
    for framework in fits.values():
        text = with_values(text, table_name(framework), _numbers(framework))
    for key, _count, share in margins(data, fits):
        text = with_more(text, table_name(frameworks[key]), "margin", f"{share:.3f}")
    return text


def _serving(text: str, data: Path, _: bool) -> str:
    for fit in fit_servings(data):
        text = with_values(text, table_name(fit.stack), _numbers(fit.stack))
        text = with_rows(text, table_name(fit.stack), fit.rows)
    return text


GROUPS = {
    **{name: Group("fitted.toml", partial(_entries, name=name)) for name in PARTS},
    "training": Group(FILE, _stacks),
    "one-gpu": Group(FILE, _one_gpu),
    "memory": Group(FILE, _memory),
    "serving": Group(FILE, _serving),
}


@click.command(help=__doc__)
@click.argument("groups", nargs=-1, type=click.Choice(list(GROUPS)))
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), default=ROWS, help="other rows than the project's"
)
@click.option("--check", is_flag=True, help="write nothing, and fail where something would change")
def main(groups: Sequence[str], data: Path, check: bool) -> None:
    """Write the tables, or say what would be written."""
    changed = 0
    for name in groups or GROUPS:
        path = SPECS / GROUPS[name].file
        text = path.read_text("utf-8")
        try:
            made = GROUPS[name].renewed(text, data, True)
        except DataError as error:
            sys.exit(str(error))
        lines = list(changed_lines(text, made))
        changed += len(lines)
        print("\n".join([f"{name}: {len(lines)} lines of {path.name} change", *lines]), flush=True)
        if not check:
            path.write_text(made, "utf-8")
    sys.exit(1 if check and changed else 0)

"""`gpubook course check`: a teacher's own exercises test themselves; what would make them better is said apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .parameters import FOLDER
from .terminal import echo

if TYPE_CHECKING:
    from ..course.banks import CourseBank

WRITTEN_SOONER = 2  # a formula of the library with fewer operations gives no answer away


@click.command("check")
@click.argument("folder", type=FOLDER)
@click.option("--strict", is_flag=True, help="Exit with 1 on advice, too.")
def course_check(folder: Path, strict: bool) -> None:
    """Run the self-tests of your own exercises, in FOLDER/exercises.

    A problem makes verdicts wrong, and the exit status 1. Advice is what the book asks of its own exercises.
    """
    from ..course.assigning.instructor_notebook import own_bank

    bank = own_bank(folder, ())
    for line in bank.left_out:
        echo(line)
    if not bank and not bank.left_out:
        raise click.ClickException(f"no exercises are declared in {folder / 'exercises'}/*.py")
    problems, advised = len(bank.left_out), 0
    for name in bank:
        errors, hints = _sorted(bank, name)
        problems, advised = problems + len(errors), advised + len(hints)
        for line in errors:
            echo(f"{bank.where(name)}: {line}")
        for line in hints:
            echo(f"{bank.where(name)}: advice: {line}")
        if not errors:
            echo(f"{name}: ok")
    if problems or (strict and advised):
        more = f" and {_counted(advised, 'piece')} of advice" if advised else ""
        raise click.ClickException(f"{_counted(problems, 'problem')}{more} in {folder / 'exercises'}")


def _sorted(bank: CourseBank, name: str) -> tuple[list[str], list[str]]:
    """What is wrong with an exercise, and what could be better."""
    from ..answers.library_overlap import library_overlap
    from ..answers.selftest import selftest
    from ..declaration.answer import Advice

    lines = selftest(bank[name])
    hints = [line for line in lines if isinstance(line, Advice)] + library_overlap(bank[name], WRITTEN_SOONER)
    return [line for line in lines if not isinstance(line, Advice)], hints


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")

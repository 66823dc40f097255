"""The arguments that each software takes: tables read from the projects, and the check of what is written with them."""

import csv
import re
from functools import cache
from io import StringIO
from typing import Any, NamedTuple

from hwlib.launch.launch import Argument, Launch
from hwlib.launch.origins import FOLDER

VARIABLE = re.compile(r"\$\{?\w+\}?|\$\(\(.+\)\)")


class LaunchArgument(NamedTuple):
    """One argument of a software: flag, int, float, text, json, section or function, or several ("ints", "texts"); its
    choices, if it has some.
    """

    kind: str
    choices: tuple[str, ...]

    def problem(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing is. The variable of a shell may stand for any."""
        if isinstance(value, str) and VARIABLE.fullmatch(value):
            return ""
        if self.kind in ("ints", "floats", "texts"):
            many = value if isinstance(value, tuple | list) else (value,)
            return next((bad for one in many if (bad := LaunchArgument(self.kind[:-1], self.choices).problem(one))), "")
        good = {
            "flag": value is None or isinstance(value, bool),
            "int": value is None or (isinstance(value, int) and not isinstance(value, bool)),
            "float": isinstance(value, int | float) and not isinstance(value, bool),
            "text": value is None or isinstance(value, str),
        }
        if not good.get(self.kind, True):
            return f"expected {self.kind}, got {value!r}"
        if self.choices and value is not None and str(value) not in self.choices:
            return f"expected one of {', '.join(self.choices)}, got {value!r}"
        return ""


@cache
def arguments_of(software: str) -> dict[str, LaunchArgument]:
    """The arguments of a software, by name.

    >>> arguments_of("megatron")["--recompute-granularity"].choices
    ('full', 'selective')
    """
    rows = csv.DictReader(StringIO((FOLDER / f"{software}.csv").read_text("utf-8")))
    return {
        row["name"]: LaunchArgument(row["kind"], tuple(row["choices"].split("|")) if row["choices"] else ())
        for row in rows
    }


def problems(launch: Launch) -> list[str]:
    """What a launch has that its software does not take: names that it does not know, values that it does not allow."""
    known = arguments_of(launch.software)
    every: list[Argument] = [one for command in launch.commands for one in command.arguments]
    every += [one for file in launch.files for one in file.settings]
    faults = []
    for name, value in every:
        if name not in known:
            faults.append(f"{name}: {launch.software} has no such argument")
        elif bad := known[name].problem(value):
            faults.append(f"{name}: {bad}")
    return faults

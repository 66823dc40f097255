"""The parameters that several commands take: folders, files, times, the name of an assignment."""

from pathlib import Path
from typing import Any

import click

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


class Time(click.ParamType):
    """A point in time, see `course.terms.deadline_time`."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The `Moment` that is written there."""
        from ..course.terms.deadline_time import read_time

        try:
            return read_time(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


TIME = Time()


def assignment_name(_ctx, _param, name: str) -> str:
    """An assignment's name, rejected if it would be a path in the course."""
    from ..course.banks import checked_name

    try:
        return checked_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None

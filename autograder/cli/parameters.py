"""The parameters that several commands take: folders, files, the name of an assignment."""

from pathlib import Path

import click

FOLDER = click.Path(file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, exists=True, path_type=Path)


def assignment_name(_ctx, _param, name: str) -> str:
    """An assignment's name, rejected if it would be a path in the course."""
    from ..course.banks import checked_name

    try:
        return checked_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None

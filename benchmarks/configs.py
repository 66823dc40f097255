"""`python -m benchmarks.configs FOLDER`: which configurations of a folder are read, and as what; or why not.

The folder holds `config.json` files, each in a folder of its own or under a name that ends in `config.json`, such as
`org--model_config.json`; a `hf_quant_config.json` of the same beginning belongs to it. Nothing is fetched.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from hwlib.specs import Model, SpecError
from hwlib.transformer import active_parameters, parameter_count
from hwlib.transformer.stored_weights import stored_weight_bytes

CONFIG, QUANTISER = "config.json", "hf_quant_config.json"


class ReadConfig(NamedTuple):
    """One file: the model, or the sentence of its refusal."""

    name: str
    model: Model | None
    refusal: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The file's row of the table."""
        if self.model is None:
            return self.name, "", "", "", "", self.refusal
        model, stored = self.model, self.model.quantisation
        known = stored is None or stored.known
        size = f"{stored_weight_bytes(model) / 1e9:,.1f}" if known else "?"
        precision = str(stored) if stored else stored.stored if stored is not None else ""
        beside = f"beside: {', '.join(model.beside)}" if model.beside else ""
        return self.name, f"{parameter_count(model):,}", f"{active_parameters(model):,}", precision, size, beside


def read_configs(folder: Path) -> Iterator[ReadConfig]:
    """Each configuration of a folder, in the order of their names."""
    for path in sorted(folder.rglob(f"*{CONFIG}")):
        if not path.name.endswith(QUANTISER):
            yield _read(path, folder)


def _read(path: Path, folder: Path) -> ReadConfig:
    begin = path.name.removesuffix(CONFIG)
    name = begin.rstrip("_-.") or path.parent.relative_to(folder).as_posix()
    try:
        content = _object_of(path)
        beside = path.with_name(f"{begin}{QUANTISER}")
        if beside.is_file():
            content[QUANTISER] = _object_of(beside)
        return ReadConfig(name, Model.of_config(content, name, path.name))
    except SpecError as error:
        return ReadConfig(name, None, str(error))


def _object_of(path: Path) -> dict[str, object]:
    """The object of a file. Raises SpecError for anything else."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"{path.name}: expected JSON: {error}") from None
    if not isinstance(content, dict):
        raise SpecError(f"{path.name}: expected an object of fields, got {type(content).__name__}")
    return content


HEAD = ("file", "parameters", "of a token", "precision", "GB", "not counted, or why it is refused")


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--refused", is_flag=True, help="List the refused ones alone.")
def main(folder: Path, refused: bool) -> None:
    """Print what is read of each configuration in FOLDER, or the sentence that refuses it."""
    every = list(read_configs(folder))
    click.echo("| " + " | ".join(HEAD) + " |\n|:--|--:|--:|:--|--:|:--|")
    for config in every:
        if config.model is None or not refused:
            click.echo("| " + " | ".join(cell.replace("|", "\\|") for cell in config.cells) + " |")
    count = sum(config.model is not None for config in every)
    click.echo(f"\n{count} of {len(every)} are read.")
    sys.exit(0 if every else 1)


if __name__ == "__main__":
    main()

"""The fields of each page that plans: their labels, how each is read, and what stands in them at first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hwlib.options import SERVING, SOFTWARE, TASK, TRAINING, Entry, Option
from hwlib.options.readers import word_of
from hwlib.planner import PlanError

Reader = Callable[[str], Any]


@dataclass(frozen=True)
class FormField:
    """One field: `options` are the values of a choice, or, where it is `free`, what a text may be among others.

    `about` says what it is, with its unit; an empty field means what `empty` says, and is not read.
    """

    name: str
    label: str
    read: Reader = word_of
    first: str = ""
    empty: str = ""
    about: str = ""
    options: tuple[tuple[str, str], ...] = ()
    free: bool = False
    fold: str = ""
    """It stands among those that are unfolded, below this title."""
    file: str = ""
    """It is the text of a file, which may be opened: one with such an ending."""

    @property
    def chosen(self) -> bool:
        """Whether it is a list to choose from."""
        return bool(self.options) and not self.free


@dataclass(frozen=True)
class Form:
    """The fields of a page."""

    page: str
    fields: tuple[FormField, ...]
    parts: tuple[tuple[str, str], ...] = ()
    """What the page computes only when it is unfolded: the name of each part of the answer, and its title."""
    live: bool = False
    """It is quick enough to answer while one types."""

    @property
    def folds(self) -> tuple[str, ...]:
        """The titles of the fields that are unfolded."""
        return tuple(dict.fromkeys(field.fold for field in self.fields if field.fold))

    @property
    def first(self) -> dict[str, str]:
        """What stands in the fields at first, without the empty ones."""
        return {field.name: field.first for field in self.fields if field.first}

    def read(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """The values of the fields that are not empty. Raises PlanError, which names the field."""
        values = {}
        for field in self.fields:
            text = str(asked.get(field.name, "")).strip()
            if not text:
                continue
            try:
                values[field.name] = field.read(text)
            except ValueError as error:
                raise PlanError(field.name, str(error)) from None
        for name, stands_for in OWN.items():
            if own := values.pop(name, None):
                values[stands_for] = own
        names = [field.name for field in self.fields]
        if odd := [name for name in asked if name not in names]:
            raise PlanError(odd[0], f"no field of this page has this name; it has {', '.join(names)}")
        return values


OWN = {"config": "model", "described": "cluster"}
"""Fields that stand for another one where they are not empty."""


def _model(text: str) -> Any:
    from hwlib.specs import Model

    try:
        content = json.loads(text)
    except RecursionError:
        raise ValueError("expected the text of a config.json, which is never nested as deep as this") from None
    except ValueError as error:
        raise ValueError(f"expected the text of a config.json: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"expected a config.json, an object of fields, got {type(content).__name__}")
    return Model.of_config(content, "your model")


def _cluster(text: str) -> Any:
    from hwlib.specs.own_cluster import cluster_of_text

    return cluster_of_text(text, "your cluster", "your cluster")


OF_ONES_OWN = (
    FormField(
        "config",
        "config.json",
        _model,
        empty="the model above",
        about="of a checkpoint on the Hugging Face Hub: its text, or the file; it stays in this page",
        fold="A model of your own",
        file=".json",
    ),
    FormField(
        "described",
        "Cluster's file",
        _cluster,
        empty="the cluster above",
        about="its nodes, chip and links, in TOML: the text, or the file; it stays in this page",
        fold="A cluster or a chip of your own",
        file=".toml",
    ),
)
"""Fields of files, which have no option: the command takes their paths as the model and the cluster."""


def _field(option: Option, entry: Entry, read: Reader) -> FormField:
    """The field of an option, as an entry asks for it."""
    return FormField(
        option.name,
        entry.label or option.name,
        read,
        entry.first,
        entry.empty,
        entry.about,
        entry.pairs,
        entry.free,
        entry.fold,
    )


def _searched(options: Iterable[Option]) -> tuple[FormField, ...]:
    """The page that searches: every option that has an entry there."""
    return _with_files(_field(option, option.search, option.reader.read) for option in options if option.search)


def _single() -> tuple[FormField, ...]:
    """The page of one plan: options that have an entry of their own there take one value, and what a task and its
    software are is asked as on the page that searches."""
    fields = []
    for option in TRAINING:
        if option.single:
            fields.append(_field(option, option.single, option.reader.read_single))
        elif option.search and option.group in (TASK, SOFTWARE):
            fields.append(_field(option, option.search, option.reader.read))
    return _with_files(fields)


def _with_files(fields: Iterable[FormField]) -> tuple[FormField, ...]:
    """Fields, with those of files before the first that is unfolded."""
    table = tuple(fields)
    shown = tuple(field for field in table if not field.fold)
    return (*shown, *OF_ONES_OWN, *(field for field in table if field.fold))


FORMS = {
    "plan": Form(
        "plan",
        _searched(TRAINING),
        (("why", "What other choices cost, and why the rest of the grid was rejected"),),
    ),
    "fill": Form("fill", _single(), live=True),
    "serve": Form(
        "serve",
        _searched(SERVING),
        (("why", "The front of latency and throughput, and why configurations were rejected"),),
    ),
}
"""Each page that plans, by its name."""

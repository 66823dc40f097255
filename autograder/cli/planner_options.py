"""Options of the planners as those of a command, made from their table."""

from collections.abc import Callable, Iterable
from math import inf
from typing import Any

import click

from hwlib.options import Option, Reader
from hwlib.options.readers import Kind


class Text(click.ParamType):
    """A text that a reader of `hwlib.options` makes a value of; its sentence is that of the option."""

    def __init__(self, reader: Reader):
        self.reader, self.name = reader, reader.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of a text, and any other value as it is."""
        if not isinstance(value, str):
            return value
        try:
            return self.reader.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def planner_options(options: Iterable[Option]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of a command: it takes these options, in their order, and None for each that is not given."""
    table = tuple(options)

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(table):
            command = _decorator(option)(command)
        return command

    return decorated


def _decorator(option: Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    if option.positional:
        return click.argument(option.name)
    words = (option.name, *option.all_flags)
    if option.reader.kind is Kind.FLAG:
        return click.option(*words, is_flag=True, help=option.help)
    if option.reader.kind is Kind.SWITCH:
        return click.option(*words, default=None, help=option.help)
    return click.option(*words, type=_type(option.reader), required=option.required, help=option.help)


def _type(reader: Reader) -> click.ParamType:
    low = None if reader.low == -inf else reader.low
    if reader.kind is Kind.NUMBER:
        return click.FloatRange(low, min_open=reader.above)
    if reader.kind is Kind.WHOLE:
        return click.IntRange(None if low is None else int(low))
    return click.Choice(reader.words) if reader.kind is Kind.CHOICE else Text(reader)

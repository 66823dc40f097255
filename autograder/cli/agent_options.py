"""Options of a planner as the arguments of an agents' tool, made from their table."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any

from hwlib.options import Option, named
from hwlib.options.readers import Kind

from .agent_answers import Answer, near

EMPTY: dict[Kind, Any] = {Kind.NUMBER: 0.0, Kind.SWITCH: False, Kind.FLAG: False}
"""What an argument that is not given is, by what it takes; a text is empty."""
YES, NO = ("true", "1", "yes"), ("false", "0", "no", "")
INDENT = "    "
Tool = Callable[..., Answer]


def planner_tool(options: Sequence[Option], fixed: str, *, head: str, answer: str) -> Callable[[Tool], Tool]:
    """A decorator of a function of keyword arguments: to who lists it, it takes the options that agents are told of,
    and `fixed` for all others by name; its documentation is `head`, the options' sentences, and what is answered.
    """
    table = [option for option in options if option.agent is not None]
    text = f"{_sentences(table)} fixed: {fixed} {answer}"
    about = "\n\n".join(
        fill(paragraph, 120, initial_indent=INDENT, subsequent_indent=INDENT) for paragraph in text.split("\n\n")
    )
    parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(option),
            annotation=type(_empty(option)),
        )
        for option in table
    ]
    kept = inspect.Parameter(
        "fixed", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=dict[str, str] | None
    )

    def decorated(tool: Tool) -> Tool:
        tool.__doc__ = f"{head}\n\n{about}\n{INDENT}"
        signature = inspect.Signature([*parameters, kept], return_annotation=Answer)
        tool.__signature__ = signature  # type: ignore[attr-defined]  # `inspect` and the protocol's server ask for it
        return tool

    return decorated


def values_of(options: Sequence[Option], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a tool's arguments and of what they fix, by name. Raises ValueError, which names the option."""
    table = named(options)
    given = {name: value for name, value in arguments.items() if name in table and _given(table[name], value)}
    values = {name: _value(table[name], value) for name, value in given.items()}
    for name, value in (arguments.get("fixed") or {}).items():
        option = table.get(name.replace("-", "_"))
        if option is None:
            raise ValueError(f"fixed: unknown {name!r}{near(name, table)}")
        values[option.name] = _value(option, value)
    return values


def _sentences(options: Sequence[Option]) -> str:
    """What is said of the options, those of which the same is said together."""
    names: dict[str, list[str]] = {}
    for option in options:
        if option.agent:
            names.setdefault(option.agent, []).append(option.name)
    return " ".join(f"{', '.join(alike)}: {sentence}." for sentence, alike in names.items())


def _empty(option: Option) -> Any:
    """What an argument is that is not given."""
    return EMPTY.get(option.reader.kind, "") if option.value is None else option.value


def _default(option: Option) -> Any:
    return inspect.Parameter.empty if option.required else _empty(option)


def _given(option: Option, value: Any) -> bool:
    return option.required or (value != "" if option.value is not None else bool(value))


def _yes_or_no(name: str, value: Any) -> bool:
    word = str(value).strip().lower()
    if word not in (*YES, *NO):
        raise ValueError(f"{name}: {value!r}: expected true or false")
    return word in YES


def _value(option: Option, value: Any) -> Any:
    if option.reader.kind in (Kind.SWITCH, Kind.FLAG):
        return _yes_or_no(option.name, value)
    try:
        return option.reader.read(str(value))
    except ValueError as error:
        raise ValueError(f"{option.name}: {error}") from None

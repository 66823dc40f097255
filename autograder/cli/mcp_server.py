"""The server behind `gpubook mcp`, over the functions of `agent_tools`; imported only where the extra is wanted."""

import re
from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import click
from mcp.server.fastmcp import FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations

from . import agent_tools
from .group import cut, error_text

ABOUT = (
    "Numbers on GPUs, networks, collectives, and the training and serving of language models: sourced tables, formulas "
    "with units, planners whose errors against published runs are known, and readers of logs and traces. Quantities "
    "are in SI, bandwidth is one direction, FLOP/s are dense, GB is 1e9 bytes. Cite the `sources` of an answer; before "
    "a decision rests on a prediction, ask `fidelity` and `limits`."
)


OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*) ([a-z]*[0-9][A-Za-z0-9@+]*)")
"""An option of a command with its value, as errors that lead on offer it; the next word of a sentence has no digit."""


class _Strict(FastMCP):
    """A server that refuses an argument that its tool does not have: the protocol's would answer without it."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        _check_names(name, arguments)
        return await super().call_tool(name, arguments)


def _check_names(name: str, arguments: dict[str, Any]) -> None:
    """Raises ToolError for an argument that the tool of this name does not have."""
    accepted = {tool.__name__: signature(tool).parameters for tool in agent_tools.TOOLS}.get(name, arguments)
    if odd := sorted(arguments.keys() - accepted.keys()):
        other = "; other options of the command are in fixed" if "fixed" in accepted else ""
        raise ToolError(f"{cut(odd[0])}: {cut(name)} has no such argument; expected {', '.join(accepted)}{other}")


def server() -> FastMCP:
    """A server with all tools."""
    made = _Strict("gpubook", instructions=ABOUT, log_level="WARNING")
    for tool in agent_tools.TOOLS:
        hints = ToolAnnotations(readOnlyHint=True, idempotentHint=True, openWorldHint=False)
        made.add_tool(_clear(tool), annotations=hints)
    return made


def _clear(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool with its errors as one clear text each."""

    @wraps(tool)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return tool(*args, **options)
        except click.ClickException as error:
            raise ToolError(as_arguments(tool, cut(error.format_message()))) from None
        except (ValueError, LookupError, TypeError, ArithmeticError, OSError, RuntimeError) as error:
            raise ToolError(as_arguments(tool, error_text(error))) from None

    return call


def as_arguments(tool: Callable[..., Any], text: str) -> str:
    """A text in which options of a command stand as the arguments of a tool.

    >>> as_arguments(agent_tools.plan, "With --states bf16 it fits; so it does with --gpus 8.")
    'With fixed {"states": "bf16"} it fits; so it does with gpus "8".'
    """
    accepted = signature(tool).parameters

    def argument(option: re.Match[str]) -> str:
        name, value = option[1], option[2]
        return f'{name} "{value}"' if name in accepted else f'fixed {{"{name}": "{value}"}}'

    return OPTION.sub(argument, text)

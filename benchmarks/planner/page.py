"""The generated parts of docs/planning.md, which are what its commands print: `python -m benchmarks.planner.page`."""

import shlex
import textwrap

import click
from click.testing import CliRunner

from autograder.cli.commands import main as gpubook
from benchmarks.paths import DOCS
from benchmarks.planner import expert_cases, goodput_cases
from hwlib.options import TRAINING, markdown

PAGE = DOCS / "planning.md"
BEGIN = "<!-- generated: python -m benchmarks.planner.page ({}) -->"
END = "<!-- end of {} -->"
COMMANDS = {
    "question": ["gpubook plan llama3-405b --cluster h100-superpod-16k --batch 16M"],
    "why": ["gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4M --count 3 --why"],
    "launch": ["gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4M --emit megatron"],
    "errors": [
        "gpubook plan llama3-405b --cluster dgx-h100 --batch 1M",
        "gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4000000",
        "gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4M --tp 3",
        "gpubook plan llama3-8b --cluster superpod-h100-1su --batch 4M --pp 64",
        "gpubook plan llama3-8b --cluster superpod-h100-1su --batch 7x8192 --tp 1 --pp 1 --cp 1",
    ],
    "front": ["gpubook plan llama3-70b --cluster superpod-h100-4su --batch 4M --gpus 256,1024 --price 2"],
    "run": [
        "gpubook plan llama3-405b --cluster h100-superpod-16k --batch 16M --gpus 8192,16384 --tokens 15T --price 2"
    ],
    "own": [
        'gpubook plan llama3-8b --cluster "4x8 a100-sxm-80gb, network 100 Gbit/s, price 1.8" --batch 1M --count 3',
        'gpubook plan llama3-8b --cluster "2x8 mi300x, network 8 x 400 Gbit/s" --batch 1M --count 1',
        'gpubook plan llama3-8b --cluster "1x512 tpu-v5e" --batch 1M',
    ],
    "meta": [
        f"gpubook plan llama3-405b --cluster h100-superpod-16k --batch 16M --tp 8 --pp 16 --cp 1{more}"
        for more in ("", " --features llama3")
    ],
}
TABLES = {"cases": expert_cases.table, "runs": goodput_cases.table, "options": lambda: markdown(TRAINING)}
WIDTH = 80


def printed(command: str) -> str:
    """What a command prints, long lines folded."""
    done = CliRunner().invoke(gpubook, shlex.split(command)[1:])
    lines = done.output.rstrip("\n").splitlines()
    return "\n".join(folded for line in lines for folded in _fold(line))


def _fold(line: str) -> list[str]:
    if line.strip().count("  ") > 2:  # a row of a table
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, drop_whitespace=True, break_long_words=False) or [""]


def block(name: str) -> str:
    """One generated part, with the marks around it. Commands that end in an error are shown with it."""
    if name in TABLES:
        return f"{BEGIN.format(name)}\n\n{TABLES[name]()}\n\n{END.format(name)}"
    shown = [
        f"$ {command}\n{printed(command)}" if len(COMMANDS[name]) > 1 else printed(command)
        for command in COMMANDS[name]
    ]
    body = "\n\n".join(shown)
    return f"{BEGIN.format(name)}\n\n```text\n{body}\n```\n\n{END.format(name)}"


def page(text: str) -> str:
    """The page with its generated parts made anew."""
    for name in (name for name in (*COMMANDS, *TABLES) if BEGIN.format(name) in text):
        begin, end = BEGIN.format(name), END.format(name)
        head, _, rest = text.partition(begin)
        text = head + block(name) + rest.partition(end)[2]
    return text


@click.command(help=__doc__)
def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

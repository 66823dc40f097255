"""The tables of docs/models.md: what `gpubook plan` and `gpubook serve` answer for models of today on four chips, and
beside it the nearest published run or recipe. `python -m benchmarks.planner.model_cases` writes them anew.
"""

import json
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import click
from click.testing import CliRunner

from autograder.cli.commands import main as gpubook
from benchmarks.paths import DATA, DOCS
from benchmarks.planner.generated_parts import made_anew
from hwlib.specs import models
from hwlib.units import show

PAGE = DOCS / "models.md"
CASES = DATA / "model_cases.toml"
BEGIN = "<!-- generated: python -m benchmarks.planner.model_cases ({}) -->"
END = "<!-- end of {} -->"
NODES = {"h100": ("dgx-h100", 8), "h200": ("dgx-h200", 8), "b200": ("dgx-b200", 8), "gb200": ("gb200-nvl72", 72)}
"""Of each chip the node that is asked for, and its GPUs."""
CHIPS = {"h100": "H100", "h200": "H200", "b200": "B200", "gb200": "GB200"}
TRAINING = "training"
SERVING = "serving"
HEAD = {
    TRAINING: "| model | asked | plan | tokens/s a GPU | memory | published |\n|:--|:--|:--|--:|--:|:--|",
    SERVING: "| model | asked | servers | tokens/s a GPU | first token, each | published |\n|:--|:--|:--|--:|--:|:--|",
}
SENTENCE = 90  # characters of a refusal that are shown


@dataclass(frozen=True)
class ModelCase:
    """A question about a model on one chip, and the nearest published run: `rate` are its tokens a second and GPU, 0
    where none is printed, `printed` says what it is of. `tpot` are milliseconds, 0 without a limit.
    """

    kind: str
    model: str
    on: str
    gpus: int
    sequences: int = 0
    length: int = 0
    dtype: str = ""
    prompt: int = 8192
    output: int = 1024
    tpot: float = 0
    rate: float = 0
    printed: str = ""
    source: str = ""
    month: str = ""

    @property
    def command(self) -> str:
        """What a reader types."""
        node, size = NODES[self.on]
        nodes = -(-self.gpus // size)
        words = ["gpubook", "plan" if self.kind == TRAINING else "serve", self.model]
        words += ["--cluster" if self.kind == TRAINING else "--on", f"{nodes}x{node}" if nodes > 1 else node]
        if self.gpus != nodes * size:
            words += ["--gpus", str(self.gpus)]
        if self.kind == TRAINING:
            words += ["--batch", f"{self.sequences}x{self.length}"]
        else:
            words += ["--prompt", str(self.prompt), "--output", str(self.output)]
            words += ["--tpot", f"{self.tpot:g}ms"] if self.tpot else []
        words += ["--dtype", self.dtype] if self.dtype else []
        return " ".join([*words, "--count", "1"])

    @property
    def asked(self) -> str:
        """The question in short."""
        dtype = self.dtype or "bf16"
        if self.kind == TRAINING:
            return f"{self.gpus} {CHIPS[self.on]}, {self.sequences:,} of {self.length:,} tokens, {dtype}"
        limit = f", {self.tpot:g} ms" if self.tpot else ""
        return f"{self.gpus} {CHIPS[self.on]}, {self.prompt:,} + {self.output:,}{limit}, {dtype}"

    @property
    def published(self) -> str:
        """The nearest published run or recipe, and who printed it."""
        if not self.printed:
            return "none found"
        rate = f"{self.rate:,.0f}: " if self.rate else ""
        return f"{rate}{self.printed} ({self.source}, {self.month})"


def cases(kind: str) -> Iterator[ModelCase]:
    """The questions of a kind, in the order of the file."""
    content = tomllib.loads(CASES.read_text("utf-8"))
    for row in content[kind]:
        same = {name: value for name, value in row.items() if name != "runs"}
        for run in row["runs"]:
            case = ModelCase(kind=kind, **same, **run)
            yield replace(case, source=content.get(case.source, case.source))


@cache
def ran(command: str) -> tuple[int, str]:
    """The exit status of a command and what it prints, a traceback where it ends in one."""
    done = CliRunner().invoke(gpubook, shlex.split(command)[1:])
    wrong = done.exception is not None and not isinstance(done.exception, SystemExit)
    return done.exit_code, repr(done.exception) if wrong else done.output


def answer(case: ModelCase) -> dict[str, Any] | str:
    """The best plan of a question as `--json` has it, with its expected error; or the sentence of its refusal."""
    status, output = ran(f"{case.command} --json")
    if status:
        return " ".join(output.removeprefix("Error: ").split())
    return json.loads(output)


def cells(case: ModelCase) -> tuple[str, ...]:
    """The row of a question."""
    content = answer(case)
    name = models[case.model].name.removesuffix(", its language model")
    if isinstance(content, str):
        shown = content if len(content) <= SENTENCE else f"{content[:SENTENCE].rsplit(' ', 1)[0]} ..."
        return name, case.asked, shown, "", "", case.published
    own = _trained(content) if case.kind == TRAINING else _served(content)
    return name, case.asked, *own, case.published


def _trained(content: dict[str, Any]) -> tuple[str, str, str]:
    plan = content["plans"][0]
    degrees = [f"{name} {plan[name]}" for name in ("tp", "cp", "ep", "pp", "dp") if plan[name] not in (1, None)]
    chunks = f" v{plan['v']}" if plan["v"] > 1 else ""
    again = "" if plan["recompute"] == "none" else f", {plan['recompute']} recomputed"
    fits = {"fits": "", "may": ", may not fit"}.get(plan["fit"], f", {plan['fit']}")
    rate = f"{plan['token_rate'] / plan['gpus']:,.0f} ±{plan['error']['most']:.0%}"
    return f"{' '.join(degrees)}{chunks}, ZeRO-{plan['zero']}{again}", rate, f"{_bytes(plan)}{fits}"


def _bytes(plan: dict[str, Any]) -> str:
    return show(plan["bytes"]["total"], "B", 3)


def _served(content: dict[str, Any]) -> tuple[str, str, str]:
    plan = content["plans"][0]
    together = _server(plan["decode"])
    servers = f"{_server(plan['prefill'])} read, {together} generate" if plan["prefill"] else together
    error = content["error"]["most"] if content["error"] else 0
    rate = f"{plan['tokens_per_second_gpu']:,.0f}" + f" ±{error:.0%}" * bool(error)
    return servers, rate, f"{show(plan['ttft'], 's', 2)}, {show(plan['tpot'], 's', 3)}"


def _server(server: dict[str, Any]) -> str:
    degrees = [f"{name.replace('_', '-')} {server[name]}" for name in ("attention_dp", "tp", "ep") if server[name] > 1]
    return f"{server['replicas']} x {' '.join(degrees) or 'tp 1'}, {server['batch']:,} requests"


def line(case: ModelCase) -> str:
    """The row of a question, in Markdown."""
    return f"| {' | '.join(cells(case))} |"


def table(kind: str) -> str:
    """All rows of a kind, in Markdown."""
    return "\n".join([HEAD[kind], *map(line, cases(kind))])


def block(kind: str) -> str:
    """A table with the marks around it."""
    return f"{BEGIN.format(kind)}\n\n{table(kind)}\n\n{END.format(kind)}"


def page(text: str) -> str:
    """The page with its tables made anew."""
    return made_anew(text, HEAD, block, BEGIN, END)


@click.command(help=__doc__)
def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

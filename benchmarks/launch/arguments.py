"""The names of the arguments that training and serving software takes, read from a checkout of each project.

    python -m benchmarks.launch.arguments megatron|torchtitan|nemo|vllm CHECKOUT [MEGATRON]

writes hwlib/launch/<software>.csv: a row an argument, with its kind and, where it has some, its choices; the revision
that was read is typed into hwlib/launch/sources.toml. Megatron-LM's own parser is asked (it needs torch); of the others
the source is read, nothing of it is run. NeMo is Megatron-Bridge, whose models have the fields of Megatron Core: the
checkout of Megatron-LM is given too. TensorRT-LLM keeps lists of its own, from which trtllm.csv was typed.
"""

import argparse
import ast
import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from benchmarks.paths import ROOT

TABLES = ROOT / "hwlib" / "launch"
KINDS = {"bool": "flag", "int": "int", "float": "float", "str": "text"}


class ArgumentRow(NamedTuple):
    """One argument: flag, int, float, text, json, or several of them ("ints", "texts"); and what it may be."""

    name: str
    kind: str
    choices: tuple[str, ...] = ()


class Sources:
    """Classes, and aliases of their annotations, of some files of a checkout, by name."""

    def __init__(self, *trees: Path):
        self.classes: dict[str, ast.ClassDef] = {}
        self.aliases: dict[str, ast.expr] = {}
        for path in (found for tree in trees for found in ([tree] if tree.is_file() else sorted(tree.rglob("*.py")))):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, node)
                elif (
                    isinstance(node, ast.Assign)
                    and isinstance(node.targets[0], ast.Name)
                    and ("Literal" in ast.unparse(node.value))
                ):
                    self.aliases.setdefault(node.targets[0].id, node.value)

    def fields(self, name: str) -> dict[str, ArgumentRow]:
        """The fields of a dataclass and of those it is made from."""
        found: dict[str, ArgumentRow] = {}
        node = self.classes[name]
        for base in node.bases:
            parent = ast.unparse(base).split("[")[0].rpartition(".")[2].removeprefix("MCore")
            if parent in self.classes and parent != name:
                found |= self.fields(parent)
        for one in node.body:
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.target.id[0] != "_":
                found[one.target.id] = self.row(one.target.id, one.annotation)
        return found

    def row(self, name: str, annotation: ast.expr) -> ArgumentRow:
        """A row, of an annotation."""
        words, choices = self._words(annotation)
        if any(word in ("list", "List", "tuple", "Tuple", "Sequence", "set") for word in words):
            return ArgumentRow(name, "ints" if "int" in words and "str" not in words else "texts", choices)
        for word in ("bool", "int", "float", "str"):
            if word in words and not (choices and word != "bool"):
                return ArgumentRow(name, KINDS[word], choices)
        return ArgumentRow(name, "text" if choices else "json", choices)

    def _words(self, annotation: ast.expr) -> tuple[list[str], tuple[str, ...]]:
        """The names in an annotation, and the values of its Literals."""
        words, choices = [], []
        stack: list[ast.expr | ast.AST] = [annotation]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                choices += [str(one.value) for one in inner if isinstance(one, ast.Constant)]
                stack += [one for one in inner if not isinstance(one, ast.Constant)]
            elif isinstance(node, ast.Name) and node.id in self.aliases and node.id not in words:
                words.append(node.id)
                stack.append(self.aliases[node.id])
            elif isinstance(node, ast.Name | ast.Attribute):
                words.append(node.id if isinstance(node, ast.Name) else node.attr)
            else:
                stack += list(ast.iter_child_nodes(node))
        return words, tuple(dict.fromkeys(choices))


def of_parser(parser: argparse.ArgumentParser) -> Iterator[ArgumentRow]:
    """The arguments of a parser, each by its first spelling and by all others."""
    for action in parser._actions:
        plural = "s" if action.nargs in ("+", "*") or (isinstance(action.nargs, int) and action.nargs > 1) else ""
        kind = "flag" if action.nargs == 0 else KINDS.get(getattr(action.type, "__name__", "str"), "text") + plural
        for name in action.option_strings:
            yield ArgumentRow(name, kind, tuple(getattr(one, "name", str(one)) for one in action.choices or ()))


def megatron(checkout: Path) -> Iterator[ArgumentRow]:
    """What Megatron-LM's own parser takes."""
    import typing

    import typing_extensions

    typing.override = typing_extensions.override  # type: ignore[attr-defined]  # its code is for Python 3.12
    sys.path.insert(0, str(checkout))
    arguments: Any = __import__("megatron.training.arguments", fromlist=["add_megatron_arguments"])
    rows = [row for row in of_parser(arguments.add_megatron_arguments(argparse.ArgumentParser())) if row.name[1] == "-"]
    modules = ("core_attn", "moe_act", "layernorm", "mla_up_proj", "mlp", "moe", "shared_experts")  # named in its help
    core = (checkout / "megatron" / "core" / "transformer" / "transformer_config.py").read_text("utf-8")
    assert all(f'"{word}"' in core for word in modules)
    for row in rows:
        yield row._replace(choices=modules) if row.name == "--recompute-modules" else row


def torchtitan(checkout: Path) -> Iterator[ArgumentRow]:
    """The sections and fields of torchtitan's configuration, and the functions that make one for each model."""
    from torch.distributed.pipelining import schedules

    code = checkout / "torchtitan"
    trainer = Sources(code / "trainer.py").classes["Trainer"]
    config = next(node for node in trainer.body if isinstance(node, ast.ClassDef))
    sources = Sources(code / "config" / "configs.py", code / "distributed" / "activation_checkpoint.py")
    manager = (code / "config" / "manager.py").read_text("utf-8")
    yield from (ArgumentRow(word, "text") for word in ("--module", "--config") if f'"{word}"' in manager)
    for one in config.body:
        if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
            continue
        name, kind = one.target.id, ast.unparse(one.annotation)
        yield ArgumentRow(name, "section")
        for row in sources.fields(kind).values() if kind in sources.classes else ():
            known = _schedules(schedules) if row.name == "pipeline_parallel_schedule" else row.choices
            yield ArgumentRow(f"{name}.{row.name}", row.kind, tuple(known))
    policies = [name for name in sources.classes if name.endswith("AC")]
    yield ArgumentRow("activation_checkpoint.policy", "text", tuple(policies))
    for registry in sorted((code / "models").glob("*/config_registry.py")):
        made = [node.name for node in ast.parse(registry.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        name = registry.parent.name
        yield ArgumentRow(f"models.{name}", "function", tuple(one for one in made if one[0] != "_"))
        for node in ast.parse((registry.parent / "__init__.py").read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == "model_registry":
                yield ArgumentRow(f"model_registry.{name}", "function", tuple(one.arg for one in node.args.args))
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Dict)
                and "configs" in ast.unparse(node.targets[0])
            ):
                keys = (one.value for one in node.value.keys if isinstance(one, ast.Constant))
                yield ArgumentRow(f"flavors.{name}", "text", tuple(map(str, keys)))


def _schedules(schedules: Any) -> Iterator[str]:
    """The names of torch's pipeline schedules: those of its classes that it looks up."""
    for word in (
        "1F1B",
        "Interleaved1F1B",
        "GPipe",
        "LoopedBFS",
        "InterleavedZeroBubble",
        "ZBVZeroBubble",
        "DualPipeV",
    ):
        schedules.get_schedule_class(word)  # raises ValueError for a word that it does not know
        yield word


NEMO = {
    "train": ["TrainingConfig"],
    "ddp": ["DistributedDataParallelConfig"],
    "optimizer": ["OptimizerConfig"],
    "dataset": ["GPTDatasetConfig"],
    "scheduler": ["SchedulerConfig"],
    "checkpoint": ["CheckpointConfig"],
    "tokenizer": ["TokenizerConfig"],
    "dist": ["DistributedInitConfig"],
    "model": ["ModelParallelConfig", "TransformerConfig", "MLATransformerConfig", "GPTModelProvider"],
}


def nemo(checkout: Path, core: Path) -> Iterator[ArgumentRow]:
    """What overrides of a recipe of Megatron-Bridge may set, and the recipes."""
    bridge = checkout / "src" / "megatron" / "bridge"
    ours, theirs = Sources(bridge), Sources(core / "megatron" / "core", core / "megatron" / "training")
    for section, names in NEMO.items():
        found: dict[str, ArgumentRow] = {}
        for sources in (theirs, ours):
            for name in names:
                found |= sources.fields(name) if name in sources.classes else {}
        yield from (row._replace(name=f"{section}.{row.name}") for row in found.values())
    mixed = ast.parse((bridge / "training" / "mixed_precision.py").read_text("utf-8"))
    kinds = [n.name for n in mixed.body if isinstance(n, ast.FunctionDef) and n.decorator_list]
    yield ArgumentRow("mixed_precision", "text", tuple(kinds))
    recipes = set()
    for path in (bridge / "recipes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                recipes |= {one.asname or one.name for one in node.names}
    yield ArgumentRow("--recipe", "text", tuple(sorted(name for name in recipes if name.endswith("_pretrain_config"))))
    runner = ast.parse((checkout / "scripts" / "training" / "run_recipe.py").read_text("utf-8"))
    yield from (row for row in _added(runner, {}, ours) if row.name != "--recipe")


def _added(tree: ast.AST, keywords: dict[str, str], sources: Sources) -> Iterator[ArgumentRow]:
    """The arguments that code adds to a parser; `keywords` are names of keyword arguments, with their classes."""
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
        ):
            continue
        names = [one.value for one in node.args if isinstance(one, ast.Constant) and str(one.value).startswith("--")]
        given = {one.arg: one.value for one in node.keywords}
        row = ArgumentRow("", KINDS.get(ast.unparse(given["type"]), "text") if "type" in given else "text")
        if "action" in given:
            row = row._replace(kind="flag")
        if isinstance(choices := given.get("choices"), ast.List):
            row = row._replace(choices=tuple(str(one.value) for one in choices.elts if isinstance(one, ast.Constant)))
        for more in ast.walk(given[None]) if None in given else ():  # **keywords["field"], or a dict that adds to it
            if isinstance(more, ast.Subscript) and isinstance(more.slice, ast.Constant):
                kept = keywords.get(ast.unparse(more.value), "")
                row = sources.fields(kept).get(str(more.slice.value), row) if kept in sources.classes else row
        for name in names:
            yield row._replace(name=str(name))
            if row.kind == "flag" and None in given:
                yield ArgumentRow(f"--no-{str(name).removeprefix('--')}", "flag")


def vllm(checkout: Path) -> Iterator[ArgumentRow]:
    """The options of `vllm serve`, and the fields of its configuration of cache transfers."""
    code = checkout / "vllm"
    sources = Sources(code / "config", code / "model_executor" / "layers" / "quantization" / "__init__.py")
    for path in (code / "engine" / "arg_utils.py", code / "entrypoints" / "common" / "cli_args.py"):
        tree = ast.parse(path.read_text("utf-8"))
        keywords = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.value.args:
                keywords[ast.unparse(node.targets[0])] = ast.unparse(node.value.args[0])
        yield from _added(tree, keywords, sources)
    factory = ast.parse((code / "distributed" / "kv_transfer" / "kv_connector" / "factory.py").read_text("utf-8"))
    calls = (
        node for node in ast.walk(factory) if isinstance(node, ast.Call) and "register_connector" in ast.unparse(node)
    )
    names = tuple(str(one.args[0].value) for one in calls if isinstance(one.args[0], ast.Constant))
    for row in sources.fields("KVTransferConfig").values():
        yield ArgumentRow(
            f"kv-transfer-config.{row.name}", row.kind, names if row.name == "kv_connector" else row.choices
        )


def write(software: str, rows: Iterable[ArgumentRow]) -> int:
    """Write the table of a software; the number of its arguments."""
    found = {row.name: row for row in rows}
    with (TABLES / f"{software}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(ArgumentRow._fields)
        writer.writerows((row.name, row.kind, "|".join(row.choices)) for _, row in sorted(found.items()))
    return len(found)


READERS: dict[str, Callable[..., Iterator[ArgumentRow]]] = {
    "megatron": megatron,
    "torchtitan": torchtitan,
    "nemo": nemo,
    "vllm": vllm,
}
CHECKOUT = click.Path(file_okay=False, exists=True, path_type=Path)


@click.command(help=__doc__)
@click.argument("software", type=click.Choice(list(READERS)))
@click.argument("checkout", type=CHECKOUT)
@click.argument("megatron_checkout", metavar="[MEGATRON]", required=False, type=CHECKOUT)
def main(software: str, checkout: Path, megatron_checkout: Path | None) -> None:
    """Read the project in a checkout."""
    if (megatron_checkout is not None) != (software == "nemo"):
        raise click.UsageError("the checkout of Megatron-LM is given with nemo, and with nothing else")
    checkouts = [path for path in (checkout, megatron_checkout) if path]
    click.echo(f"{write(software, READERS[software](*checkouts))} arguments")


if __name__ == "__main__":
    main()

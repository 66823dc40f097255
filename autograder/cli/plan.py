"""`gpubook plan`: how to train a model on a cluster."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import click

from hwlib.options import TRAINING, named

from .planner_options import planner_options
from .terminal import echo

if TYPE_CHECKING:
    from hwlib.launch import Launch
    from hwlib.planner.run_query import RunQuery

COUNT: int = named(TRAINING)["count"].value  # plans that are listed


class CannotBe(click.ClickException):
    """Invalid input; one line says why."""

    exit_code = 2


class PlanCommand(click.Command):
    """A command that says, given nothing, what can be asked."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What click makes of the words; without any the models and clusters are listed, and the exit status is 2."""
        if not args:
            echo(_what_is_known())
            ctx.exit(2)
        return super().parse_args(ctx, args)


def _what_is_known() -> str:
    from hwlib.specs import clusters, models, nodes
    from hwlib.specs.own_cluster import LINE

    several = {"Models": [*models], "Clusters": [*clusters], "Nodes, which are clusters too": [*nodes]}
    listed = [f"{what}: {', '.join(sorted(keys))}." for what, keys in several.items()]
    example = "gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4M"
    own = [
        "A model of your own: the path of a Hugging Face config.json, or of its folder: gpubook plan ./Qwen3-8B ...",
        f'A cluster of your own: a line, --cluster "{LINE}", or a file, --cluster lab.toml '
        "(its fields: docs/planning.md, A cluster of your own).",
    ]
    return "\n\n".join(
        [
            *(click.wrap_text(line, 100, subsequent_indent="  ") for line in (*listed, *own)),
            f"For example: {example}\nEvery option: gpubook plan --help",
        ]
    )


@click.command(cls=PlanCommand)
@planner_options(TRAINING)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, in SI units.")
def plan(as_json: bool, **options: Any) -> None:
    """List the fastest ways to train a model on a cluster.

    MODEL is a key such as llama3-405b, or the path of a Hugging Face config.json or of the folder that holds one. The
    output explains the choice.
    """
    try:
        query = PlanQuery.of(**options)
        found, runs = query.answer()
        told = query.launch(found).text if query.emit and not as_json else ""
        echo(json.dumps(query.data(found, runs), indent=2) if as_json else told or query.text(found, runs))
        if query.several:
            from hwlib.units import plural

            for n, why in found.skipped.items():
                echo(f"No plan on {plural(n, 'GPU')}: {why}.", err=True)
    except ValueError as error:  # PlanError, and values that the formulas reject
        raise CannotBe(str(error)) from None


def own_words(cluster: str, asked: Any, uses_host: bool = False) -> list[str]:
    """What is known of a model, and of a cluster of one's own, to be compared with what one knows of them; `asked` has
    what became of both, and the precision, in which a quantised checkpoint need not be. The link to the host is told
    where it counts, for what is offloaded.
    """
    from hwlib.specs import described
    from hwlib.transformer.checkpoint_words import model_words

    lines = [model_words(asked.model, asked.dtype, asked.counts_mtp)]
    if described(cluster):
        link = f"; {asked.machine.to_host}" if uses_host else ""
        lines.append(f"{asked.machine.name}: {asked.machine.joined}{link}")
    return lines


def _check_several(values: Mapping[str, Any]) -> None:
    """Raise CannotBe for what is asked of one number of GPUs where several are given, and of no launch."""
    one_number = {
        "why": "choices are compared for one number of GPUs only, and {} are given",
        "count": "plans are listed for one number of GPUs only, and {} are given",
        "emit": "a plan is started on one number of GPUs, and {} are given",
    }
    gpus = values.get("gpus") or ()
    for name, problem in one_number.items():
        if values.get(name) and len(gpus) > 1:
            raise CannotBe(f"{name}: {problem.format(len(gpus))}")
    if values.get("pick") and not values.get("emit"):
        raise CannotBe("pick: it names the plan that is written for a software, and --emit names none")


@dataclass(frozen=True)
class PlanQuery:
    """What is asked: the arguments of `planner.plan`, or of `planner.pareto` where it is asked for several numbers of
    GPUs; `why` asks for the choices and the rejections too, `run` for the whole run, `emit` for what starts a plan,
    number `pick`, with a software."""

    model: str
    cluster: str
    asked: dict[str, Any]
    why: bool = False
    run: "RunQuery | None" = None
    emit: str | None = None
    pick: int = 1

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Values of options by name, None for each that is not given. Raises ValueError, and CannotBe where two exclude
        each other."""
        from hwlib.planner.arguments import allowed_of, task_arguments
        from hwlib.planner.run_query import RunQuery

        _check_several(values)
        asked = task_arguments(values) | {"allowed": allowed_of(values)}
        pick = values.get("pick") or 1
        if not isinstance(asked["gpus"], tuple):
            asked["count"] = max(values.get("count") or COUNT, pick)
        run = RunQuery.of(values, lambda name: named(TRAINING)[name].flag)
        return cls(values["model"], values["cluster"], asked, bool(values.get("why")), run, values.get("emit"), pick)

    @property
    def several(self) -> bool:
        """Whether several numbers of GPUs are compared."""
        return isinstance(self.asked["gpus"], tuple)

    def search(self) -> Any:
        """The plans, best first, or the Pareto-optimal ones over the numbers of GPUs. Raises ValueError."""
        from hwlib import planner

        if self.several:
            return planner.pareto(self.model, self.cluster, of=("time", "gpus", "cost"), **self.asked)
        return planner.plan(self.model, self.cluster, **self.asked)

    def answer(self) -> tuple[Any, Any]:
        """What was found, and the whole run of each plan, in the order of the runs, if these are asked for."""
        if not self.run:
            return self.search(), ()
        from hwlib.planner.run import CANDIDATES

        count = self.asked.get("count")
        more = replace(self, asked=self.asked | {"count": max(count, CANDIDATES)}) if count else self
        return self.run.answered(more.search(), count or 0)

    def data(self, found: Any, runs: Any = ()) -> Any:
        """What was found, as JSON data in SI."""
        data = found.json()
        data = _with_runs(data, runs, found.task) if runs else data
        if self.emit and isinstance(data, dict):
            data["launch"] = self.launch(found).data
        return data

    def launch(self, found: Any) -> "Launch":
        """What starts the plan that is picked. Raises CannotBe where there are fewer plans, and ValueError where the
        software does not run on these chips."""
        from hwlib.launch import emit_training

        assert self.emit
        if self.pick > len(found):
            raise CannotBe(f"pick: expected a row of the table, 1 to {len(found)}, got {self.pick}")
        return emit_training(found.task, found[self.pick - 1], self.emit)

    def text(self, found: Any, runs: Any = ()) -> str:
        """What was found, to be read: the table, and of one number of GPUs the explanation."""
        from hwlib import planner
        from hwlib.planner.explain import explanation
        from hwlib.planner.guide import rule_of_thumb
        from hwlib.planner.run_words import columns, run_text
        from hwlib.planner.tables import rejected

        more, told = columns(runs, found.task, self.run.days is not None) if self.run else (), []
        own = own_words(self.cluster, found.task, found.task.software.uses_host)
        title, _, table = found.table(more).partition("\n")
        head = [title, *own, table]
        if runs:
            words, constants = run_text(runs[0], found.task, planner.machine_of(self.cluster).gpus)
            told = ["", *words, "Its constants:", *(f"  {line}" for line in constants)]
        if self.several:
            return "\n".join([*head, "", found.explain(), *told]).rstrip()
        lines = [*head, *told, "", explanation(found, choices=self.why)]
        if self.why:
            lines += ["Rejected configurations:", *rejected(found)]
        if quicker := self._on_fewer(found):
            lines += ["", quicker]
        if thumb := rule_of_thumb(found.task, self.asked["allowed"]):
            lines += ["", f"Rule of thumb: {thumb}"]
        return "\n".join(lines)

    def _on_fewer(self, found: Any) -> str:
        """Says so if a power of two of the GPUs is faster than all of them, because it divides more dimensions
        evenly."""
        from hwlib import planner
        from hwlib.units import show

        gpus = found.task.gpus
        few = 2 ** (gpus.bit_length() - 1)
        with suppress(planner.PlanError):
            fewer = self.asked | {"gpus": few, "count": 1}
            best = planner.plan(self.model, self.cluster, **fewer)[0] if few < gpus else found[0]
            if best.seconds < found[0].seconds:
                return f"On {few:,} of the {gpus:,} GPUs a step is faster, {show(best.seconds, 's')}: {best}."
        return ""


def _with_runs(data: Any, runs: Any, task: Any) -> Any:
    """The JSON data of plans, each with its run."""
    from hwlib.planner.run_words import run_record

    for plan_data, run in zip(data if isinstance(data, list) else data["plans"], runs, strict=True):
        plan_data["run"] = run_record(run, task)
    return data

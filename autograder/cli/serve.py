"""`gpubook serve`: how to serve a model on GPUs, at a limit of latency."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import click

from hwlib.options import SERVING

from .plan import COUNT, CannotBe, own_words
from .planner_options import planner_options
from .terminal import echo

if TYPE_CHECKING:
    from hwlib.launch.launch import Launch
    from hwlib.serving_planner import ServingPlans


class ServeCommand(click.Command):
    """A command that says, given nothing, what can be asked."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What click makes of the words; without any an example is shown, and the exit status is 2."""
        if not args:
            echo(
                "For example: gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tpot 50ms\n"
                "Models, clusters and nodes: gpubook plan\nEvery option: gpubook serve --help"
            )
            ctx.exit(2)
        return super().parse_args(ctx, args)


@click.command(cls=ServeCommand)
@planner_options(SERVING)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, in SI units.")
def serve(as_json: bool, **options: Any) -> None:
    """List the best ways to serve a model within limits of latency.

    MODEL is a key such as llama3-70b, or the path of a Hugging Face config.json or of the folder that holds one. The
    output explains the choice.
    """
    try:
        query = ServeQuery.of(**options)
        found = query.answer()
        told = query.launch(found).text if query.emit and not as_json else ""
        echo(json.dumps(query.data(found), indent=2) if as_json else told or query.text(found))
    except ValueError as error:  # PlanError, and values that the formulas reject
        raise CannotBe(str(error)) from None


@dataclass(frozen=True)
class ServeQuery:
    """What is asked: the arguments of `plan_serving`; `front` asks for the Pareto front too, `why` for the reasons of
    rejections, `emit` for what starts a plan, number `pick`, with a software."""

    model: str
    cluster: str
    asked: dict[str, Any]
    front: bool = False
    why: bool = False
    emit: str | None = None
    pick: int = 1

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Values of options by name, None for each that is not given. Raises ValueError, and CannotBe where lengths are
        missing, or two options exclude each other."""
        from hwlib.serving_planner.arguments import serving_arguments

        if values.get("pick") and not values.get("emit"):
            raise CannotBe("pick: it names the plan that is written for a software, and --emit names none")
        if values.get("trace") is None and None in (values.get("prompt"), values.get("output")):
            raise CannotBe("the lengths of requests are missing: expected --prompt and --output, or --trace")
        pick = values.get("pick") or 1
        asked = serving_arguments(values) | {"count": max(values.get("count") or COUNT, pick)}
        front, why = bool(values.get("front")), bool(values.get("why"))
        return cls(values["model"], values["cluster"], asked, front, why, values.get("emit"), pick)

    def answer(self) -> "ServingPlans":
        """The plans, best first. Raises ValueError."""
        from hwlib.serving_planner import plan_serving

        return plan_serving(self.model, self.cluster, **self.asked)

    def data(self, found: "ServingPlans") -> dict[str, Any]:
        """What was found, as JSON data in SI."""
        return found.json() | ({"launch": self.launch(found).data} if self.emit else {})

    def launch(self, found: "ServingPlans") -> "Launch":
        """What starts the plan that is picked. Raises CannotBe where there are fewer plans, and ValueError where the
        software does not run on these chips."""
        from hwlib.launch import emit
        from hwlib.serving_planner.words import plan_words
        from hwlib.units import plural

        assert self.emit
        if self.pick > len(found):
            raise CannotBe(f"pick: expected a row of the table, 1 to {len(found)}, got {self.pick}")
        plan, caveat = found[self.pick - 1].plan, found.question.caveat
        name = plan.model.planned_name(found.question.dtype)
        title = f"{name} on {plural(plan.gpus, 'GPU')}: {plan_words(found[self.pick - 1])}"
        return emit(plan, self.emit)._replace(title=f"{title}. {caveat}" if caveat else title)

    def text(self, found: "ServingPlans") -> str:
        """What was found, to be read: the table, the front where it is asked for, the explanation."""
        lines = [*own_words(self.cluster, found.question), found.table(), ""]
        if self.front:
            lines += [found.front_table(), ""]
        lines.append(found.explain())
        if self.why:
            lines += ["Rejected configurations:", *found.rejected()]
        return "\n".join(lines)

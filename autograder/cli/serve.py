"""`gpubook serve`: how to serve a model on GPUs, at a limit of latency."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import click

from hwlib.options.readers import BATCH, BYTES, NUMBERS, SECONDS

from .plan import CannotBe, own_words
from .planner_options import Text

if TYPE_CHECKING:
    from hwlib.launch.launch import Launch
    from hwlib.serving_planner import ServingPlans

SERVERS = ("vllm", "trtllm")  # the keys of hwlib.launch.SERVING, which is not loaded for a list


class Question(click.Command):
    """A command that says, given nothing, what can be asked."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What click makes of the words; without any an example is shown, and the exit status is 2."""
        if not args:
            click.echo(
                "For example: gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tpot 50ms\n"
                "Models, clusters and nodes: gpubook plan\nEvery option: gpubook serve --help"
            )
            ctx.exit(2)
        return super().parse_args(ctx, args)


@click.command(cls=Question)
@click.argument("model")
@click.option("--on", "--cluster", "cluster", required=True, help="Key or name of a cluster or node, or so many nodes: "
              'dgx-h100, 4xdgx-h200; a line: "4x8 a100-80gb-sxm, network 100 Gbit/s"; or a file that says more: '
              "lab.toml, as for gpubook plan.")  # fmt: skip
@click.option("--prompt", type=Text(BATCH), help="Tokens of a prompt: 2048, 2K (K, M and G are powers of 1024).")
@click.option("--output", type=Text(BATCH), help="Tokens of an answer.")
@click.option("--trace", help="Measured lengths instead: azure-conversation, azure-code or mooncake-conversation.")
@click.option("--gpus", type=click.IntRange(1), help="GPUs to use.  [default: all]")
@click.option(
    "--ttft", type=Text(SECONDS), help="Limit of the time to the first token, its queue included: 2s (a mean)."
)
@click.option("--tpot", type=Text(SECONDS), help="Limit of the time of each further token: 50ms (a mean).")
@click.option("--gap", type=Text(SECONDS), help="Limit of the longest step, which a token may have to wait for: 200ms.")
@click.option("--tp", type=Text(NUMBERS), help="GPUs that share a layer's attention.  [default: within a node]")
@click.option("--ep", type=Text(NUMBERS), help="GPUs that the experts are divided over whole.")
@click.option("--attention-dp", type=Text(NUMBERS), help="Groups of GPUs of a server with sequences of their own.")
@click.option("--apart/--together", default=None, help="Prefill and decode on servers of their own, or not.  "
              "[default: both are tried]")  # fmt: skip
@click.option("--dtype", help="Of weights and products: bf16, fp16, fp8, fp4, mxfp4 (experts alone), int8w, int4w.  "
              "[default: as the model is published; for a quantised checkpoint it may have to be given]")  # fmt: skip
@click.option("--kv-dtype", help="Of the cache: bf16, fp16 or fp8.  [default: fp8 beside products of at most 8 bits]")
@click.option("--stack", help="Software whose fitted constants to use, e.g. sglang.  [default: a TensorRT-LLM]")
@click.option("--memory", type=Text(BYTES), help="Memory budget per GPU, e.g. 72GB.  [default: the chip's]")
@click.option("--price", type=click.FloatRange(0), help="Dollars per GPU hour.  [default: the cluster file's]")
@click.option("--count", type=click.IntRange(1), default=5, show_default=True, help="Number of plans to list.")
@click.option("--front", is_flag=True, help="Also list the Pareto front of latency and throughput.")
@click.option("--why", is_flag=True, help="Also say why configurations were rejected.")
@click.option("--emit", type=click.Choice(SERVERS), help="Print what starts the best plan with this software, and "
              "what of the plan it cannot say.")  # fmt: skip
@click.option("--pick", type=click.IntRange(1), help="With --emit: the plan of this row of the table.  [default: 1]")
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
        click.echo(json.dumps(query.data(found), indent=2) if as_json else told or query.text(found))
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
    def of(
        cls, *, model: str, cluster: str, front: bool, why: bool, price: float | None, emit: str | None,
        pick: int | None, count: int, prompt: tuple[int, int | None] | None, output: tuple[int, int | None] | None,
        trace: str | None, **others: Any,
    ) -> Self:  # fmt: skip
        """The options of the command, converted by click. Raises CannotBe where lengths are missing, or two options
        exclude each other."""
        from hwlib.units import hour

        if pick and not emit:
            raise CannotBe("pick: it names the plan that is written for a software, and --emit names none")
        if trace is None and (prompt is None or output is None):
            raise CannotBe("the lengths of requests are missing: expected --prompt and --output, or --trace")
        for name, tokens in (("prompt", prompt), ("output", output)):
            if tokens and tokens[1]:
                raise CannotBe(f"{name}: {tokens[0] // tokens[1]}x{tokens[1]} is a batch, not a length")
        fixed = {name: others.pop(name) for name in ("tp", "ep", "attention_dp")}
        asked: dict[str, Any] = {
            "prompt": prompt and prompt[0], "output": output and output[0], "trace": trace,
            "count": max(count, pick or 1), "price": None if price is None else price / hour,
            "fixed": {name: values for name, values in fixed.items() if values},
        }  # fmt: skip
        asked |= {name: value for name, value in others.items() if value is not None}
        return cls(model, cluster, asked, front, why, emit, pick or 1)

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
        lines = [*own_words(self.model, self.cluster, found.question), found.table(), ""]
        if self.front:
            lines += [found.front_table(), ""]
        lines.append(found.explain())
        if self.why:
            lines += ["Rejected configurations:", *found.rejected()]
        return "\n".join(lines)

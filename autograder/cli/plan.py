"""`gpubook plan`: how to train a model on a cluster."""

import json
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import click

from .plan_run import option_name, read_as, run_options, with_runs

if TYPE_CHECKING:
    from hwlib.launch import Launch
    from hwlib.planner.run_query import RunQuery

SECONDS_AN_HOUR = 3600.0
TRAINERS = ("megatron", "torchtitan", "nemo")  # the keys of hwlib.launch.TRAINING, which is not loaded for a list


class CannotBe(click.ClickException):
    """Invalid input; one line says why."""

    exit_code = 2


class Tokens(click.ParamType):
    """A number of tokens: 4194304, 4M (K, M and G are powers of 1024, as batches are), or 2048x8192."""

    name = "tokens"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int | None]:
        """The tokens, and of a sequence, if the text says so."""
        if isinstance(value, tuple):
            return value
        from hwlib.options.amounts import tokens_of

        return read_as(self, tokens_of, value, param, ctx)


class Several(click.ParamType):
    """Whole numbers, separated by commas."""

    name = "n[,n...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        """The numbers."""
        if isinstance(value, tuple):
            return value
        from hwlib.options.amounts import whole_numbers_of

        return read_as(self, whole_numbers_of, value, param, ctx)


class Words(click.ParamType):
    """Words, separated by commas."""

    name = "word[,word...]"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """The words."""
        if isinstance(value, tuple):
            return value
        from hwlib.options.amounts import words_of

        return read_as(self, words_of, value, param, ctx)


def _bytes(_ctx: Any, _param: Any, value: str | None) -> float | None:
    """Bytes of a text such as "72 GB"."""
    from hwlib.options.amounts import bytes_of

    if value is None:
        return None
    try:
        return bytes_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


class Question(click.Command):
    """A command that says, given nothing, what can be asked."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What click makes of the words; without any the models and clusters are listed, and the exit status is 2."""
        if not args:
            click.echo(_what_is_known())
            ctx.exit(2)
        return super().parse_args(ctx, args)


def _what_is_known() -> str:
    from hwlib.specs import clusters, models, nodes
    from hwlib.specs.own_cluster import LINE

    several = {"Models": [*models], "Clusters": [*clusters], "Nodes, which are clusters too": [*nodes]}
    listed = [f"{what}: {', '.join(sorted(keys))}." for what, keys in several.items()]
    example = "gpubook plan llama3-70b --cluster superpod-h100-1su --batch 4M"
    own = ["A model of your own: the path of a Hugging Face config.json, or of its folder: gpubook plan ./Qwen3-8B ...",
           f'A cluster of your own: a line, --cluster "{LINE}", or a file, --cluster lab.toml '
           "(its fields: docs/planning.md, A cluster of your own)."]  # fmt: skip
    return "\n\n".join([*(click.wrap_text(line, 100, subsequent_indent="  ") for line in (*listed, *own)),
                        f"For example: {example}\nEvery option: gpubook plan --help"])  # fmt: skip


@click.command(cls=Question)
@click.argument("model")
@click.option(
    "--cluster",
    required=True,
    help="Key or name of a cluster or node: h100-superpod-16k, dgx-h100; so many nodes: 128xdgx-a100; nodes x GPUs of "
    'a chip: "4x8 a100-80gb-sxm, node 300 GB/s, network 100 Gbit/s" (what a GPU sends within its node, and a node into '
    "the network, one direction; also host, oversubscription, price); or a file that says more: lab.toml.",
)
@click.option("--batch", type=Tokens(), required=True, help="Tokens per step: 16M (K, M, G are powers of 1024), "
              "16777216, or sequences x length, 2048x8192.")  # fmt: skip
@click.option("--sequence", type=Tokens(), help="Tokens per sequence.  [default: the model's context, at most 8K]")
@click.option(
    "--gpus", "--chips", "gpus", type=Several(),
    help="GPUs to use. Several values: the Pareto-optimal plans over them.  [default: all]",
)  # fmt: skip
@click.option("--tp", type=Several(), help="Tensor-parallel degree.  [default: within a node]")
@click.option("--pp", type=Several(), help="Pipeline stages.")
@click.option("--cp", type=Several(), help="Context-parallel degree.")
@click.option("--ep", type=Several(), help="Expert-parallel degree.")
@click.option("--etp", type=Several(), help="Tensor-parallel degree of experts.  [default: that of other matrices]")
@click.option("--v", type=Several(), help="Chunks of layers per pipeline rank (interleaving).")
@click.option("--micro", type=Several(), help="Sequences per microbatch.  [default: 1, 2, 4, 8 or 16]")
@click.option("--zero", type=Several(), help="ZeRO stage, 0 to 3.  [default: those the software has]")
@click.option(
    "--shards", type=Several(), help="Ranks that ZeRO divides states among (HSDP).  [default: all, or those of a node]"
)
@click.option(
    "--sp/--no-sp", default=None, help="Sequence parallelism, together with tensor parallelism.  [default: on]"
)
@click.option(
    "--schedule",
    type=Words(),
    help="One or more of gpipe, 1f1b, zb_h1, zbv, dualpipe.  [default: those the software has]",
)
@click.option("--recompute", type=Words(), help="One or more of none, selective, full, op, or modules: moe_act+mlp.")
@click.option("--fused/--no-fused", default=True, show_default=True, help="Attention that keeps no scores.")
@click.option(
    "--dedup-dispatch/--no-dedup-dispatch", "--merge/--no-merge", default=None,
    help="Send a token only once to each node that has any of its experts.  [default: as the software's recipe]",
)  # fmt: skip
@click.option(
    "--mtp/--no-mtp", default=None,
    help="Train the model's modules for multi-token prediction too.  [default: as the software does]",
)  # fmt: skip
@click.option(
    "--offload", type=Words(), help="What the host keeps: activations, optimizer, or both.  [default: nothing]"
)
@click.option("--dtype", default="bf16", show_default=True, help="Precision of the layers' matrix products.")
@click.option("--stack", help="Software whose fitted constants to use, e.g. megatron-core-h100.  [default: the chip's]")
@click.option(
    "--states",
    help="What a parameter costs: megatron (18 bytes, gradients in 32 bits), mixed (16, as in NVIDIA's recipes), half, "
    "full, bfloat16, 8bit, fp8-moments, deepseek, muon, sgd.  [default: as the software's]",
)
@click.option("--release", help="Release of the software, e.g. 26.04.  [default: the newest fitted one]")
@click.option("--features", help="What the software can do: a key of software.toml, or any.  [default: the stack's]")
@click.option("--memory", callback=_bytes, help="Memory budget per GPU, e.g. 72GB.  [default: 95 % of the chip's]")
@click.option("--price", type=click.FloatRange(0), help="Dollars per GPU hour.  [default: the cluster file's]")
@run_options
@click.option("--count", type=click.IntRange(1), help="Number of plans to list.  [default: 5]")
@click.option("--why", is_flag=True, help="Also show what other choices cost, and why configurations were rejected.")
@click.option("--emit", type=click.Choice(TRAINERS), help="Print what starts the best plan with this software, "
              "and what of the plan it cannot say.")  # fmt: skip
@click.option("--pick", type=click.IntRange(1), help="With --emit: the plan of this row of the table.  [default: 1]")
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
        click.echo(json.dumps(query.data(found, runs), indent=2) if as_json else told or query.text(found, runs))
        if query.several:
            from hwlib.units import plural

            for n, why in found.skipped.items():
                click.echo(f"No plan on {plural(n, 'GPU')}: {why}.", err=True)
    except ValueError as error:  # PlanError, and values that the formulas reject
        raise CannotBe(str(error)) from None


def own_words(model: str, cluster: str, asked: Any, offload: bool = False) -> list[str]:
    """What was read of a model and a cluster of one's own, to be compared with what one knows of them; `asked` has what
    became of both, and the precision, in which a quantised checkpoint need not be. The link to the host is told where
    it counts, for what is offloaded.
    """
    from hwlib.specs import described, models
    from hwlib.transformer import active_parameters, parameter_count

    lines = []
    if not models.find(model):
        count, taken = parameter_count(asked.model), active_parameters(asked.model)
        a_token = f", of which a token takes {taken:,}" if taken < count else ""
        replaced = asked.model.replaced_precision(asked.dtype)
        stored = f"; the checkpoint is quantised ({replaced})" if replaced else ""
        lines.append(f"{asked.model.name}: {count:,} parameters{a_token}{stored}; read from {asked.model.source}")
    if described(cluster):
        link = f"; {asked.machine.to_host}" if offload else ""
        lines.append(f"{asked.machine.name}: {asked.machine.joined}{link}")
    return lines


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
    def of(
        cls, *, model: str, cluster: str, batch: tuple[int, int | None], sequence: tuple[int, int | None] | None,
        gpus: tuple[int, ...] | None, why: bool, price: float | None, count: int | None, memory: float | None,
        stack: str | None, features: str | None, dtype: str, dedup_dispatch: bool | None, mtp: bool | None,
        offload: tuple[str, ...] | None, release: str | None = None, states: str | None = None,
        fused: bool = True, emit: str | None = None, pick: int | None = None, **degrees: Any,
    ) -> Self:  # fmt: skip
        """The options of the command, converted by click. Raises ValueError, and CannotBe where two exclude each
        other."""
        from hwlib import planner
        from hwlib.planner.run_query import RunQuery

        if sequence and sequence[1]:
            raise CannotBe(f"sequence: {sequence[0] // sequence[1]}x{sequence[1]} is a batch, not a length")
        if sequence and batch[1] and sequence[0] != batch[1]:
            raise CannotBe(f"sequence: the batch has sequences of {batch[1]:,} tokens, not {sequence[0]:,}")
        T = sequence[0] if sequence else batch[1]
        if why and gpus and len(gpus) > 1:
            raise CannotBe(f"why: choices are compared for one number of GPUs only, and {len(gpus)} are given")
        if count and gpus and len(gpus) > 1:
            raise CannotBe(f"count: plans are listed for one number of GPUs only, and {len(gpus)} are given")
        if emit and gpus and len(gpus) > 1:
            raise CannotBe(f"emit: a plan is started on one number of GPUs, and {len(gpus)} are given")
        if pick and not emit:
            raise CannotBe("pick: it names the plan that is written for a software, and --emit names none")
        asked: dict[str, Any] = {
            "B": batch[0], "T": T, "memory": memory,
            "price": None if price is None else price / SECONDS_AN_HOUR,
            "allowed": planner.Allowed(**{f.name: degrees[f.name] for f in fields(planner.Allowed)}),
            "software": planner.SoftwareSettings(
                stack=stack, dtype=dtype, dedup_dispatch=dedup_dispatch, features=features, mtp=mtp,
                offload=offload or (), release=release, states=states, fused=fused,
            ),
        }  # fmt: skip
        if gpus and len(gpus) > 1:
            asked |= {"gpus": gpus}
        else:
            asked |= {"gpus": gpus[0] if gpus else None, "count": max(count or 5, pick or 1)}
        return cls(model, cluster, asked, why, RunQuery.of(degrees, option_name), emit, pick or 1)

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
        from hwlib.planner.tables import plan_record

        data = [plan_record(one) for one in found] if self.several else found.json()
        data = with_runs(data, runs, found.task) if runs else data
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
        own = own_words(self.model, self.cluster, found.task, bool(found.task.software.offload))
        title, _, table = found.table(more).partition("\n")
        head = [title, *own, table]
        if runs:
            words, constants = run_text(runs[0], found.task, planner.machine_of(self.cluster).gpus)
            told = ["", *words, "Its constants:", *(f"  {line}" for line in constants)]
        if self.several:
            return "\n".join([*head, *told])
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

"""Plans that experts published, beside those that the planner advises: `python -m benchmarks.planner.expert_cases`.

For each case: the advised plan, the published one with the time that the same model gives it, the time that was
measured, where one was, and the parts of a step in which the two plans differ, so that a reader sees on what the
advice rests. The table is Markdown, for docs/planning.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from hwlib.planner import Plan, Plans, SoftwareSettings, plan
from hwlib.planner.advice import rests
from hwlib.planner.costs import costed_plan
from hwlib.planner.explain import difference
from hwlib.strategy import Strategy
from hwlib.transformer import gpt_recompute_training_flops, step_flops
from hwlib.units import show


@dataclass(frozen=True)
class ExpertCase:
    """A question, and the published answer: its degrees, and the measured seconds of a step, where there are.

    `note` says what the source gives, and `source` is its key in docs/references.bib; without one nobody published a
    run of just this.
    """

    title: str
    model: str
    cluster: str
    B: int
    T: int
    degrees: Mapping[str, Any]
    note: str
    source: str
    measured: float | None = None
    gpus: int | None = None
    software: SoftwareSettings = field(default_factory=SoftwareSettings)

    def found(self) -> Plans:
        """What the planner says."""
        return plan(self.model, self.cluster, B=self.B, T=self.T, gpus=self.gpus, software=self.software)

    def published(self, found: Plans) -> Plan:
        """The published plan, costed like the others, whether or not it fits."""
        strategy = Strategy.of(gpus=found.task.gpus, **self.degrees)
        return costed_plan(found.task, strategy, strategy.microbatches(self.B, self.T))


def from_token_rate(sequences: int, T: int, gpus: int, rate: float) -> float:
    """Seconds of a step from the tokens a second and GPU that a source prints."""
    return sequences * T / (gpus * rate)


def from_flops(model: str, B: int, T: int, gpus: int, rate: float) -> float:
    """Seconds of a step from the operations a second and GPU that a source prints, by our count of them."""
    return float(step_flops(model, B, T)) / (gpus * rate)


FP8 = SoftwareSettings(dtype="fp8", states="mixed")  # NVIDIA's recipes sum gradients in 16 bits
GPT3_FLOPS = float(gpt_recompute_training_flops(1536 * 2048, 2048, 96, 12288, 51200))
LLAMA = {"tp": 4, "pp": 8, "v": 5, "zero": 1}  # NVIDIA's plan for 70B on H100
CASES = (
    ExpertCase(
        "8B on 8 H100, FP8", "llama3-8b", "dgx-h100", 128 * 8192, 8192, {"zero": 3},
        "FSDP over the node", "megatron-bridge", from_token_rate(128, 8192, 8, 14451), software=FP8,
    ),
    ExpertCase(
        "70B on 64 H100, FP8", "llama3-70b", "8 x dgx-h100", 128 * 8192, 8192, LLAMA,
        "25.11", "megatron-bridge", from_token_rate(128, 8192, 64, 1602), software=FP8,
    ),
    ExpertCase(
        "70B on 512 H100", "llama3-70b", "superpod-h100-4su", 2**22, 8192, LLAMA,
        "the plan of 64 GPUs with more replicas; nobody printed its time", "", gpus=512,
    ),
    ExpertCase(
        "70B on 1,024 H100", "llama3-70b", "superpod-h100-4su", 2**23, 8192, LLAMA,
        "the plan of 64 GPUs with more replicas; nobody printed its time", "", gpus=1024,
    ),
    ExpertCase(
        "405B on 1,024 H100, FP8", "llama3-405b", "superpod-h100-4su", 512 * 8192, 8192,
        {"tp": 8, "cp": 2, "pp": 8, "v": 8, "zero": 1}, "25.11", "megatron-bridge",
        from_token_rate(512, 8192, 1024, 292), software=FP8,
    ),
    ExpertCase(
        "405B on 16,384 H100", "llama3-405b", "h100-superpod-16k", 2**24, 8192,
        {"tp": 8, "pp": 16, "v": 8, "zero": 2}, "400 TFLOP/s a GPU, 41 % MFU; the number of chunks is not printed",
        "llama3", from_flops("llama3-405b", 2**24, 8192, 16384, 400e12), software=SoftwareSettings(features="llama3"),
    ),
    ExpertCase(
        "GPT-3 on 1,024 A100", "gpt3-175b", "128 x dgx-a100", 1536 * 2048, 2048,
        {"tp": 8, "pp": 8, "v": 2, "recompute": "full", "sp": False},
        "140 TFLOP/s a GPU, recomputation counted; its plan is not printed, this is that of the 145B model beside it",
        "narayanan2021", GPT3_FLOPS / (1024 * 140e12),
        software=SoftwareSettings(stack="megatron-2021-a100", fused=False, dtype="fp16"),
    ),
    ExpertCase(
        "DeepSeek-V3 on 2,048 H800, FP8", "deepseek-v3", "256 x hgx-h800", 15360 * 4096, 4096,
        {"pp": 16, "v": 2, "ep": 64, "zero": 1, "schedule": "dualpipe", "recompute": "layernorm+mla_up_proj"},
        "180,000 GPU hours for 10^12 tokens; it recomputes norms and MLA's up-projections alone, and overlaps "
        "all-to-alls", "deepseek-v3", 15360 * 4096 / 1e12 * 180e3 * 3600 / 2048,
        software=SoftwareSettings(dtype="fp8", features="hai-llm"),
    ),
    ExpertCase(
        "Mixtral 8x7B on 64 H100", "mixtral-8x7b", "8 x dgx-h100", 256 * 4096, 4096,
        {"ep": 8, "pp": 4, "v": 8, "zero": 1}, "468 TFLOP/s a GPU", "megatron-core-moe",
        from_flops("mixtral-8x7b", 256 * 4096, 4096, 64, 468e12),
    ),
    ExpertCase(
        "8B at 128k on 64 H100, FP8", "llama3-8b", "8 x dgx-h100", 32 * 2**17, 2**17,
        {"tp": 4, "cp": 4, "zero": 1},
        "for 7B on 128 GPUs: 555 TFLOP/s with this, 424 with the best plan without context parallelism",
        "nemo-performance", software=FP8,
    ),
    ExpertCase(
        "405B on 256 GB200 of NVL72, FP8", "llama3-405b", "nvl72-pod", 1536 * 8192, 8192,
        {"tp": 4, "pp": 16, "v": 4, "zero": 1}, "26.04", "megatron-bridge",
        from_token_rate(1536, 8192, 256, 864), gpus=256, software=FP8,
    ),
    ExpertCase(
        "7B on 1,024 H100", "llama2-7b", "superpod-h100-4su", 2**22, 4096, {"zero": 1},
        "data parallelism alone; nobody printed its time", "", gpus=1024,
    ),
)  # fmt: skip


def row(case: ExpertCase) -> list[str]:
    """One line of the table."""
    found = case.found()
    advised, published = found.advised, case.published(found)
    task = found.task
    said = [case.title, f"{advised}: {_time(advised)}"]
    typed = ", ".join(one.constant for one in rests(task, advised.strategy)) or "-"
    room = "" if published.memory.total <= task.memory else f"; {show(float(published.memory.total), 'B', 3)} a GPU"
    key = f" {{cite:p}}`{case.source}`" if case.source else ""
    measured = show(case.measured, "s", 3) if case.measured else "-"
    why = difference(published, advised)
    return [*said, typed, f"{published} ({case.note}{key}): {_time(published)}{room}", measured, why]


def _time(one: Plan) -> str:
    return f"{show(one.seconds, 's', 3)}, MFU {one.mfu:.0%}"


def table() -> str:
    """All cases as a Markdown table."""
    head = [
        "",
        "advised",
        "rests on (typed)",
        "published, as the model times it",
        "measured",
        "advised against published",
    ]
    rows = [head, ["---"] * len(head), *map(row, CASES)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


@click.command(help=__doc__)
def main() -> None:
    """Print the table."""
    click.echo(table())


if __name__ == "__main__":
    main()

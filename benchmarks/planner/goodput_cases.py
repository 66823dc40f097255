"""Published shares of effective training time beside those expected: `python -m benchmarks.planner.goodput_cases`.

Each case takes what its source prints of the run, and the constants of `hwlib.goodput.published` for what it does not
print. No constant was fitted to any of these shares. The table is Markdown, for docs/planning.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from hwlib.goodput import VARIATION, WHISKERS, ExpectedRun, Job, expected_run, published, saved_state_bytes, slowest_of
from hwlib.specs import measured_checkpoint, measured_failures, measured_run, models
from hwlib.transformer import gpt_recompute_training_flops, parameter_count
from hwlib.units import TB, day, minute, show

STEPS = 100_000


@dataclass(frozen=True)
class GoodputCase:
    """A published run: its GPUs, parameters and step; the row whose rate of interruptions it has; what else its source
    prints (`given`); the published share, as a number and as words; and what was taken, with the source's key.
    """

    title: str
    gpus: int
    params: float
    t_step: float
    rate: str
    share: float
    printed: str
    taken: str
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def run(self) -> ExpectedRun:
        """The run as expected. Its measured step has its slow GPUs in it."""
        job = Job(STEPS, self.t_step, self.gpus, 8, float(saved_state_bytes(self.params)), fitted=self.gpus)
        return expected_run(job, published(self.rate).given(**self.given))


def _told(value: Any) -> Any:
    """A number that its source prints."""
    assert value is not None
    return value


def _bloom_step() -> float:
    """Seconds of BLOOM's step of 2,048 sequences, by its rate, which counts recomputation."""
    run, model = measured_run("bloom-176b"), models["bloom-176b"]
    shape = run.length, model.layers, model.width, model.vocab
    return float(gpt_recompute_training_flops(2048 * run.length, *shape)) / (_told(run.rate) * _told(run.n))


def bloom_goodput() -> float:
    """BLOOM's share by its tokens, GPU hours and rate: nobody printed it."""
    run = measured_run("bloom-176b")
    return _told(run.tokens) / (2048 * run.length) * _bloom_step() / run.wall_time


def cases() -> tuple[GoodputCase, ...]:
    """The published runs."""
    bloom, step = measured_checkpoint("bloom-176b"), _bloom_step()
    state = float(saved_state_bytes(bloom.params))
    llama, robust, mega, opt = (measured_failures(k) for k in ("llama3-405b", "byterobust", "megascale", "opt-175b"))
    return (
        GoodputCase(
            "Llama 3 405B",
            _told(llama.gpus),
            parameter_count(models["llama3-405b"]),
            6.46,
            "llama3-405b",
            _told(llama.goodput),
            "above 90 %",
            "its own rate, and its storage of 2 TB/s {cite:p}`llama3`",
            {"storage": 2 * TB},
        ),
        GoodputCase(
            "MegaScale",
            _told(mega.gpus),
            175e9,
            6.34,
            "llama3-405b",
            _told(mega.goodput),
            "above 90 %",
            "Llama 3's rate: it prints over 100 restarts in several weeks on more than 10,000 GPUs {cite:p}`megascale`",
        ),
        GoodputCase(
            "ByteRobust, three months",
            _told(robust.gpus),
            175e9,
            6.34,
            "llama3-405b",
            _told(robust.goodput),
            "97 %",
            "Llama 3's rate, and MegaScale's model of 175B {cite:p}`byterobust`",
        ),
        GoodputCase(
            "RSC-1, as its paper estimates",
            12288,
            70e9,
            5.0,
            "rsc-1",
            0.9,
            "about 90 %, with a rate of 6.5 and checkpoints of some 10 s",
            "its rate, a blocking checkpoint of 10 s, a restart of 5 min {cite:p}`kokolis2024`",
            {"blocking": True, "storage": 70e9 * 14 / 10, "t_back": 5 * minute, "t_repair": 0.0},
        ),
        GoodputCase(
            "the same with a quieter cluster",
            12288,
            70e9,
            5.0,
            "rsc-1",
            0.9,
            "about 90 %, with a rate of 1 and checkpoints of 5 min",
            "the same, a rate of 1 in a thousand node-days, a blocking checkpoint of 5 min",
            {
                "t_gpu": 1000 * day * 8,
                "blocking": True,
                "storage": 70e9 * 14 / (5 * minute),
                "t_back": 5 * minute,
                "t_repair": 0.0,
            },
        ),
        GoodputCase(
            "BLOOM 176B",
            384,
            bloom.params,
            step,
            "bloom-176b",
            bloom_goodput(),
            f"{bloom_goodput():.0%}, by its hours, tokens and rate",
            "a failure a week, a blocking checkpoint of 40 s every 100 steps, four spare nodes {cite:p}`bloom-log`",
            {"blocking": True, "storage": state / bloom.blocked, "interval": 100 * step, "spares": 4},
        ),
        GoodputCase(
            "OPT-175B",
            _told(opt.gpus),
            175e9,
            20.0,
            "opt-175b",
            _told(opt.goodput),
            "59 %",
            "its 105 restarts in two months {cite:p}`opt`; the share is {cite:t}`lockwood-reliability`'s",
        ),
    )


def scaling() -> tuple[float, float, float]:
    """By which share a step of 530B is longer on 11,200 GPUs than on 2,240, with the batch in proportion: by the
    slowest of so many GPUs, and as Megatron-LM and MegaScale were measured (megascale, figure 9)."""
    expected = VARIATION / WHISKERS * (slowest_of(11200) - slowest_of(2240))
    return expected, 49.2 / 48.2 - 1, 54.3 / 54.3 - 1


def table() -> str:
    """All cases as a Markdown table."""
    head = ["run", "GPUs", "interrupted every", "expected", "published", "taken from the source"]
    rows = [head, ["---", "--:", "--:", "--:", "---", "---"]]
    for case in cases():
        run = case.run
        rows.append(
            [case.title, f"{case.gpus:,}", show(run.mtbf, "s", 2), f"{run.goodput:.1%}", case.printed, case.taken]
        )
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


@click.command(help=__doc__)
def main() -> None:
    """Print the table, and how far a larger run scales."""
    click.echo(table())
    click.echo(
        "530B from 2,240 to 11,200 GPUs: {:.1%} expected, {:.1%} Megatron-LM, {:.1%} MegaScale".format(*scaling())
    )


if __name__ == "__main__":
    main()

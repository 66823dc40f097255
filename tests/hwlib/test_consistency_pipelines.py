"""The closed form of a step equals the virtual clock of torch's pipelines, alone and with other parallelism in stages.

Small layers and a fast network: the shares of time are those of large models on real ones.
"""

from functools import partial
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from hwlib.specs import Level, Model, Stack, accelerators
from hwlib.steptime import step_time
from hwlib.strategy import Strategy
from hwlib.virtual import device_mesh, play_ranks
from tests.hwlib.decoders import Decoder, bf16, tensor_parallel

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
RATE = accelerators["h100-sxm"].flops("bf16")
T = 64
nightly = partial(pytest.param, marks=pytest.mark.nightly)


def played(layers, m, *, pp, tp=1, dp=1, v=1, width=128, schedule="Schedule1F1B", W=40e12):
    """A step of m sequences a replica on ranks of threads, and what the closed form says of it."""
    from torch.distributed import pipelining
    from torch.distributed.tensor import DTensor

    model = Model.small(layers=layers, width=width, heads=width // 64, ffn=4 * width, vocab=2 * width)
    strategy = Strategy.of(dp=dp, tp=tp, pp=pp, v=v, sp=False)
    parts, levels = pp * v, (Level("node", pp * dp * tp, W),)

    def stage(i: int, mesh: Any) -> Any:
        decoder: Any = Decoder(model, i * layers // parts, (i + 1) * layers // parts)
        if tp > 1:
            tensor_parallel(decoder, mesh["tp"])
        if dp > 1 and tp == 1:
            group = mesh["dp"].get_group()
            decoder = nn.parallel.DistributedDataParallel(decoder, process_group=group, bucket_cap_mb=0.25)
        hidden = torch.zeros(1, T, width, dtype=bf16, requires_grad=True)
        given = hidden if i else torch.zeros(1, T, dtype=torch.int64)
        logits = torch.zeros(1, T, model.vocab // tp, dtype=bf16, requires_grad=True)
        return pipelining.PipelineStage(
            decoder,
            i,
            parts,
            torch.device("cpu"),
            input_args=(given,),
            output_args=(hidden if i < parts - 1 else logits,),
            group=mesh["pp"].get_group(),
        )

    def program(rank: int) -> Any:
        mesh = device_mesh(strategy)
        at = mesh["pp"].get_local_rank()
        stages = [stage(i, mesh) for i in range(at, parts, pp)]
        ours = getattr(pipelining, schedule)
        pipeline = ours(stages if v > 1 else stages[0], m, loss_fn=lambda y, _: y.sum(), scale_grads=False)
        tokens = (torch.zeros(m, T, dtype=torch.int64),) if at == 0 else ()
        target = {"target": torch.zeros(m, 1)} if at == pp - 1 else {}

        def step() -> None:
            pipeline.step(*tokens, **target)
            if dp > 1 and tp > 1:  # where DDP does not go: by hand, when all is computed
                for one in stages:
                    for p in one.submod.parameters():
                        gradient = p.grad.to_local() if isinstance(p.grad, DTensor) else p.grad
                        dist.all_reduce(gradient, group=mesh["dp"].get_group())

        return step

    run = play_ranks(program, levels, latency=0.0, kernel_time=lambda _name, flops, _bytes: flops / RATE)
    stack = Stack.ideal("h100-sxm").replace(hide_dp=float(tp == 1))
    return run, step_time(model, stack, levels, strategy, B=m * T * dp, T=T, fused=False)


@pytest.mark.parametrize(
    ("layers", "m", "plan"),
    [
        (4, 8, {"pp": 4}),
        (4, 4, {"pp": 2, "width": 256}),
        (4, 4, {"pp": 4, "schedule": "ScheduleGPipe"}),
        (8, 8, {"pp": 4, "v": 2, "schedule": "ScheduleInterleaved1F1B"}),
        (4, 4, {"pp": 2, "tp": 2}),
        (4, 4, {"pp": 2, "dp": 2}),
        (4, 4, {"pp": 2, "tp": 2, "dp": 2, "W": 120e12}),
        nightly(4, 8, {"pp": 4, "tp": 2, "W": 120e12}),
        nightly(4, 8, {"pp": 4, "dp": 2}),
        nightly(8, 4, {"pp": 2, "v": 4, "schedule": "ScheduleInterleaved1F1B"}),
        nightly(8, 16, {"pp": 4}),
        nightly(8, 16, {"pp": 4, "v": 2, "schedule": "ScheduleInterleaved1F1B"}),
        nightly(8, 8, {"pp": 4, "tp": 2, "W": 120e12}),
        nightly(8, 8, {"pp": 4, "dp": 2}),
    ],
    ids=lambda value: "-".join(f"{key}{x}" for key, x in value.items()) if isinstance(value, dict) else None,
)
def test_the_closed_form_is_the_virtual_clock_of_pipelines_within_one_percent(layers, m, plan):
    run, closed = played(layers, m, **plan)
    assert max(step.compute for step in run.steps) == pytest.approx(closed.compute)
    assert run.step_time == pytest.approx(closed.total, rel=0.01)

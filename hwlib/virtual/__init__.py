"""Simulated clusters: unchanged programs of torch.distributed, timed by a virtual clock.

    with virtual.cluster("superpod-h100-4su") as world:
        with world.shapes():
            model, x = ..., ...
        fully_shard(model, mesh=init_device_mesh("cuda", (world.ranks,)))
        step = world.step(lambda: model(x).sum().backward())
    step.step_time, step.exposed, step.of("all_gather").bytes

One process plays one rank, for programs in which all ranks do the same: FSDP2, DTensor, DDP. What is left out: memory
that fragments, the share of the chip that the network's own kernels take, and that groups share a cable (each group's
collectives queue, those of two groups do not). A functional collective is waited for when its result is used.

For programs whose ranks differ, `play_ranks(program, n)` gives every rank a thread and a clock: torch's own pipelines,
with DDP, FSDP2 or DTensor in their stages, and collectives written by hand. A thousand ranks are no more than seconds
of set-up; each rank's own program runs in turn, so a long one takes a thousand times as long.

`device_mesh(strategy)` makes torch's mesh of a `hwlib.strategy.Strategy`: the program and the closed forms of
`hwlib.steptime` then speak of the same degrees.

`run("train.py", where="superpod-h100-4su", n=256, stack="megatron-core-h100")` runs a script that was written for
GPUs as it is, and so does `python -m hwlib.virtual`.

    run = virtual.play_ranks(program, "superpod-h100-4su", 64)
    run.step_time, run.idle_fraction, run.steps[0].exposed
    run.chrome_trace("run.json")
"""

from hwlib.virtual.mesh import device_mesh
from hwlib.virtual.network import Network
from hwlib.virtual.record import CallTotals, StepTiming
from hwlib.virtual.script import ScriptRun, run
from hwlib.virtual.threads import ThreadedRun, play_ranks
from hwlib.virtual.world import World, cluster

__all__ = [
    "CallTotals",
    "Network",
    "ScriptRun",
    "StepTiming",
    "ThreadedRun",
    "World",
    "cluster",
    "device_mesh",
    "play_ranks",
    "run",
]

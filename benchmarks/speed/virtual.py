"""How fast virtual clusters are: `python -m benchmarks.speed.virtual`.

One process for 1,024 ranks: FSDP2 over tensor parallelism of a decoder without data; its set-up, its first step, the
steps after that, and what these take where nobody counts; all of it once more by torch's own mode for tensors without
data, whose answers `hwlib.virtual.shapes` keeps in a table. Threads for 1,024 ranks: a collective, a mesh of two axes
with a sum on each, and a 1F1B pipeline of 16 stages in 64 copies. Each line has the minimum, the median and the maximum
of the repeats, in seconds of processor time, whatever else runs here, and in seconds of wall-clock time.
"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import click

from hwlib import virtual
from hwlib.specs import models
from hwlib.units import show

CLUSTER, RANKS, TP, T = "superpod-h100-4su", 1024, 8, 4096


class Taken(NamedTuple):
    """Seconds of processor time and of wall-clock time, and what a call gave."""

    processor: float
    wall: float
    value: Any


def seconds(call: Callable[[], Any]) -> Taken:
    """How long a call takes."""
    wall, processor = time.perf_counter(), time.process_time()
    value = call()
    return Taken(time.process_time() - processor, time.perf_counter() - wall, value)


def spread(name: str, taken: list[Taken]) -> str:
    """A line: minimum, median and maximum, of processor time and of wall-clock time."""
    columns = [one.processor for one in taken], [one.wall for one in taken]
    both = (" / ".join(f"{value:.3f}" for value in (min(c), median(c), max(c))) for c in columns)
    return "  {:22} processor {}, wall {}".format(name, *both)


def one_process(key: str, layers: int | None, repeats: int, own: bool = False) -> None:
    """Print the lines of FSDP2 over tensor parallelism; with `own`, by torch's own mode for tensors without data."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed.device_mesh import init_device_mesh

    from tests.hwlib.decoders import Decoder, fully_sharded, tensor_parallel

    model = models[key].replace(layers=layers) if layers else models[key]
    with virtual.cluster(CLUSTER) as world:
        if own:
            world._shapes = FakeTensorMode(allow_non_fake_inputs=True)

        def ready() -> Callable[[], Any]:
            mesh = init_device_mesh("cpu", (RANKS // TP, TP), mesh_dim_names=("dp", "tp"))
            with world.shapes():
                decoder, x = Decoder(model), torch.zeros(1, T, dtype=torch.int64)
            fully_sharded(tensor_parallel(decoder, mesh["tp"]), mesh["dp"])
            return lambda: decoder(x).sum().backward()

        def bare() -> None:
            with world.shapes():
                program()

        setup = seconds(ready)
        program = setup.value
        first = seconds(lambda: world.step(program, warm=0))
        steps = [seconds(lambda: world.step(program, warm=0)) for _ in range(repeats)]
        alone = [seconds(bare) for _ in range(repeats)]
    step = steps[-1].value
    if own:
        print(" by torch's own mode")
    else:
        print(f"\n{model}\nFSDP2 of {RANKS // TP} x TP of {TP} = {RANKS} ranks, {T} tokens a replica")
    print(
        f"  virtual step {show(step.step_time, 's')}, {step.kernels} kernels, {sum(c.number for c in step.calls)} calls"
    )
    for name, taken in (
        ("set-up", [setup]),
        ("first step", [first]),
        ("a step", steps),
        ("where nobody counts", alone),
    ):
        print(spread(name, taken))


def sum_of_all(rank: int) -> float:
    """A program: a sum over all ranks."""
    import torch
    import torch.distributed as dist

    x = torch.full((1000,), float(rank))
    dist.all_reduce(x)
    return x[0].item()


def mesh_of_two(rank: int) -> float:
    """A program: a mesh of two axes, and a sum along each."""
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh

    mesh = init_device_mesh("cpu", (RANKS // TP, TP), mesh_dim_names=("dp", "tp"))
    x = torch.full((1000,), float(rank))
    for axis in ("tp", "dp"):
        dist.all_reduce(x, group=mesh[axis].get_group())
    return x[0].item()


def pipelines(_rank: int, stages: int = 16, m: int = 16, D: int = 16) -> None:
    """A program: 1F1B in as many copies as fit, and the sum of their gradients."""
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.distributed import pipelining
    from torch.distributed.device_mesh import init_device_mesh

    mesh = init_device_mesh("cpu", (stages, RANKS // stages), mesh_dim_names=("pp", "dp"))
    at, layer = mesh["pp"].get_local_rank(), nn.Linear(D, D, bias=False)
    stage = pipelining.PipelineStage(
        layer,
        at,
        stages,
        torch.device("cpu"),
        input_args=(torch.zeros(2, D, requires_grad=at > 0),),
        output_args=(torch.zeros(2, D, requires_grad=True),),
        group=mesh["pp"].get_group(),
    )
    schedule = pipelining.Schedule1F1B(stage, m, loss_fn=lambda y, _: y.sum())
    given = (torch.ones(2 * m, D, requires_grad=True),) if at == 0 else ()
    target: Any = {"target": torch.zeros(2 * m)} if at == stages - 1 else {}
    schedule.step(*given, **target)
    assert layer.weight.grad is not None
    dist.all_reduce(layer.weight.grad, group=mesh["dp"].get_group())


def threads(repeats: int) -> None:
    """Print the lines of programs with a thread for each rank."""
    virtual.play_ranks(sum_of_all, 2)  # torch is there
    print(f"\n{RANKS} ranks, each a thread")
    for program in (sum_of_all, mesh_of_two, pipelines):
        run = partial(virtual.play_ranks, program, CLUSTER, timeout=600)
        print(spread(program.__name__, [seconds(run) for _ in range(repeats)]))


@click.command(help=__doc__)
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(1), help="Runs of each case.")
@click.option("--only", default="", help="one_process or threads.")
def main(repeats: int, only: str) -> None:
    """Run every case."""
    warnings.simplefilter("ignore")
    print("minimum / median / maximum of", repeats, "in seconds")
    if only in "one_process":
        for key, layers in ("llama3-70b", 8), ("llama3-8b", None):
            for own in (False, True):
                one_process(key, layers, repeats, own)
    if only in "threads":
        threads(repeats)


if __name__ == "__main__":
    main()

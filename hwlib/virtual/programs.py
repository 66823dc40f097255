"""What programs for several GPUs do beside computing: name devices, start ranks, save, profile, gather objects.

Each entry replaces a name of torch while a cluster is simulated. What cannot be simulated raises NotImplementedError,
with what to do instead; what only looks at a GPU does nothing.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from errno import ENOENT
from os import PathLike, fspath
from os.path import exists
from types import SimpleNamespace
from typing import Any

from hwlib.virtual.devices import on_cpu, without_modes

Replaced = tuple[Any, str, Any]
NOT_SAVED = "nothing is written on a simulated cluster: torch.load of the same file gives the object back"
NOT_THERE = "No such file; what torch.save keeps on a simulated cluster is gone when the program has ended"
NO_CHECKPOINT = "a distributed checkpoint is neither written nor read on a simulated cluster"
NO_GRAPH = (
    "CUDA graphs do not run on a simulated cluster, where a launch costs nothing: run the step as it is, without "
    "capture and replay"
)
NO_RPC = "torch.distributed.rpc does not run on a simulated cluster: use collectives, or play_ranks with messages"
NO_FLEX = (
    "flex_attention does not run on a simulated cluster, where a mask has no values: use scaled_dot_product_attention, "
    "with is_causal=True where it is causal"
)
NO_OBJECT = (
    "one rank stands for all here, so there is nobody to send an object to: a program whose ranks differ runs with "
    "virtual.play_ranks"
)
NO_SPLITS = "split_group: {} of the groups have rank {}, which is played; one was expected, in {}"
NO_SPAWN = (
    "spawn: {} processes on a simulated cluster of {} ranks, {} on a node: give nprocs=torch.cuda.device_count(), or "
    "play as many ranks with --ranks"
)
CUDA_RELEASE, NCCL_RELEASE = "12.8", (2, 27, 5)  # as torch 2.9 has them: what programs compare releases with
OLD_TYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
MEMORY_RECORDS = ("_record_memory_history", "_dump_snapshot", "_save_segment_usage", "_save_memory_usage")


def said(sentence: str) -> None:
    """Say something once, where the program asked for it."""
    warnings.warn(sentence, UserWarning, stacklevel=3)


def nothing(*_: Any, **__: Any) -> None:
    """What a program asks of a GPU that is not there."""


def refused(sentence: str) -> Callable[..., Any]:
    """A function that raises NotImplementedError."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(sentence)

    return refuse


def words_of_programs(world: Any) -> Iterator[Replaced]:
    """All that is replaced while this world is played."""
    yield from _devices(world)
    yield from _old_types()
    yield from _looks_at_gpus(world)
    yield from _objects(world)
    yield from _groups(world)
    yield from _started(world)
    if not world.data:
        yield from _saving()
        yield from _graphs()
        yield from _joining()
        yield from _batch_norm()


class StandIn(type):
    """A class in place of one of torch's: it makes the real thing, in the words of a program for GPUs."""

    real: type
    make: Callable[..., Any]

    def __call__(cls, *args: Any, **more: Any) -> Any:
        return cls.make(*args, **more)

    def __instancecheck__(cls, thing: Any) -> bool:
        return isinstance(thing, cls.real)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, cls.real)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.real, name)


def _stand_in(real: type, make: Callable[..., Any]) -> Any:
    return StandIn(real.__name__, (), {"real": real, "make": staticmethod(make), "__doc__": real.__doc__})


def _is_number(thing: Any) -> bool:
    return isinstance(thing, int) and not isinstance(thing, bool)


def _devices(world: Any) -> Iterator[Replaced]:
    """Numbers as devices, generators of a GPU, and the old types of tensors."""
    import torch
    from torch import nn

    device: Any
    move: Any
    device, generator, move = torch.device, torch.Generator, nn.Module.to

    def device_of(*args: Any, **more: Any) -> Any:
        number: Any = args[0] if args else more.get("device", more.get("type"))
        return device("cuda", number) if _is_number(number) else device(*args, **more)

    def moved(self: Any, *args: Any, **more: Any) -> Any:
        if "device" in more:
            more["device"] = on_cpu(more["device"])
        return move(self, *map(on_cpu, args), **more)

    yield torch, "device", _stand_in(device, device_of)
    yield torch, "Generator", _stand_in(generator, lambda *_, **__: generator())
    yield nn.Module, "to", moved
    for place, name in ((torch.cuda, "device"), (torch.cuda, "device_of"), (torch.accelerator, "device_index")):
        yield place, name, lambda *_, **__: nullcontext()
    if not world.chip.vendor.lower().startswith("amd"):
        yield torch.version, "cuda", CUDA_RELEASE
    yield torch.cuda.nccl, "version", lambda *_: NCCL_RELEASE


def _old_types() -> Iterator[Replaced]:
    """torch.cuda.FloatTensor and its like."""
    import torch

    def old_tensor(dtype: Any) -> Callable[..., Any]:
        def make(*values: Any) -> Any:
            if len(values) == 1 and not _is_number(values[0]):
                return torch.as_tensor(values[0], dtype=dtype)
            return torch.empty(values, dtype=dtype)

        return make

    for name, dtype in OLD_TYPES.items():
        yield torch.cuda, name, old_tensor(getattr(torch, dtype))


def _looks_at_gpus(world: Any) -> Iterator[Replaced]:
    """Ranges for a profiler, its start and end, records of memory: nothing of them is simulated."""
    import torch
    from torch.cuda import nvtx, profiler

    memory: Any = torch.cuda.memory
    begin = torch.profiler.profile.__init__

    def profile(self: Any, *_: Any, **more: Any) -> None:
        begin(self, **more | {"activities": [torch.profiler.ProfilerActivity.CPU]})

    yield torch.profiler.profile, "__init__", profile
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        yield nvtx, name, lambda *_, **__: 0
    for name in ("start", "stop", "init"):
        yield profiler, name, nothing
    yield profiler, "profile", nullcontext
    runtime = {"cudaProfilerStart": nothing, "cudaProfilerStop": nothing, "cudaMemGetInfo": torch.cuda.mem_get_info}
    yield torch.cuda, "cudart", lambda: SimpleNamespace(**runtime)
    for name in MEMORY_RECORDS:
        yield memory, name, nothing
    yield memory, "_snapshot", lambda *_, **__: {"segments": [], "device_traces": []}
    for place in (torch.accelerator, torch.accelerator.memory):
        for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
            yield place, name, lambda *_, **__: 0
        for name in ("empty_cache", "reset_peak_memory_stats", "reset_accumulated_memory_stats"):
            yield place, name, nothing
        yield place, "memory_stats", lambda *_, **__: {}
        yield place, "get_memory_info", lambda *_: (int(world.chip.hbm_bytes or 0),) * 2
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"):
        yield memory, name, lambda *_, **__: 0


def _objects(world: Any) -> Iterator[Replaced]:
    """Collectives of Python objects: what peers have is what this rank has."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    def broadcast_object_list(*_: Any, **__: Any) -> None:
        """Every rank has what the source has."""

    def all_gather_object(object_list: list[Any], obj: Any, *_: Any, **__: Any) -> None:
        object_list[:] = [obj] * len(object_list)

    def gather_object(obj: Any, object_gather_list: list[Any] | None = None, *_: Any, **__: Any) -> None:
        if object_gather_list is not None:
            all_gather_object(object_gather_list, obj)

    def scatter_object_list(
        scatter_object_output_list: list[Any],
        scatter_object_input_list: Sequence[Any] | None = None,
        src: int | None = None,  # noqa: ARG001  (the names are torch's)
        group: Any = None,
        **_: Any,
    ) -> None:
        if scatter_object_input_list is None:
            raise NotImplementedError(NO_OBJECT)
        place = dist.get_rank(group) if group is not None else world.rank
        scatter_object_output_list[0] = scatter_object_input_list[place]

    every: list[Any] = [broadcast_object_list, all_gather_object, gather_object, scatter_object_list]
    for place in (dist, c10d):
        yield from ((place, function.__name__, function) for function in every)
        for name in ("send_object_list", "recv_object_list"):
            if name in vars(place):
                yield place, name, refused(NO_OBJECT)


def _groups(world: Any) -> Iterator[Replaced]:
    """Groups that are split off, and barriers that are watched."""
    import torch.distributed as dist
    from torch.distributed import distributed_c10d as c10d

    def split_group(parent_pg: Any = None, split_ranks: Any = None, **_: Any) -> Any:
        members = dist.get_process_group_ranks(parent_pg) if parent_pg is not None else list(range(world.ranks))
        lists = [list(map(members.__getitem__, places)) for places in split_ranks or []]
        mine = [ranks for ranks in lists if world.rank in ranks]
        if len(mine) > 1:
            raise ValueError(NO_SPLITS.format(len(mine), world.rank, split_ranks))
        groups = [dist.new_group(ranks) for ranks in lists]
        return groups[lists.index(mine[0])] if mine else None

    def monitored_barrier(group: Any = None, *_: Any, **__: Any) -> None:
        dist.barrier(group=group)

    for place in (dist, c10d):
        yield place, "split_group", split_group
        yield place, "monitored_barrier", monitored_barrier


def _started(world: Any) -> Iterator[Replaced]:
    """Programs that start their own ranks: this process is one of them already."""
    import torch.multiprocessing as mp
    from torch.distributed import rpc

    node = world.network.levels[0].size

    def spawn(fn: Callable[..., Any], args: Sequence[Any] = (), nprocs: int = 1, *_: Any, **__: Any) -> None:
        if nprocs not in (node, world.ranks):
            raise ValueError(NO_SPAWN.format(nprocs, world.ranks, node))
        fn(world.rank % nprocs, *args)

    yield mp, "spawn", spawn
    yield mp, "start_processes", spawn
    yield rpc, "init_rpc", refused(NO_RPC)


def _saving() -> Iterator[Replaced]:
    """torch.save keeps the object, and torch.load gives it back; distributed checkpoints are left out."""
    import torch
    import torch.distributed.checkpoint as checkpoint
    from torch.futures import Future

    there: dict[Any, Any] = {}
    load = torch.load

    def place_of(file: Any) -> Any:
        return fspath(file) if isinstance(file, (str, PathLike)) else id(file)

    def save(obj: Any, f: Any = None, *_: Any, **__: Any) -> None:
        said(NOT_SAVED)
        there[place_of(f)] = obj

    def loaded(f: Any, *args: Any, **more: Any) -> Any:
        if place_of(f) in there:
            return there[place_of(f)]
        if isinstance(f, (str, PathLike)) and not exists(f):
            raise FileNotFoundError(ENOENT, NOT_THERE, fspath(f))
        if "map_location" in more:
            more["map_location"] = "cpu"
        with without_modes():
            return load(f, *args, **more)

    def left_out(*_: Any, **__: Any) -> None:
        said(NO_CHECKPOINT)

    def in_the_background(*_: Any, **__: Any) -> Any:
        said(NO_CHECKPOINT)
        future: Any = Future()
        future.set_result(None)
        return future

    yield torch, "save", save
    yield torch, "load", loaded
    yield checkpoint, "save", left_out
    yield checkpoint, "load", left_out
    yield checkpoint, "async_save", in_the_background


def _graphs() -> Iterator[Replaced]:
    """Kernels that are captured or compiled from a program."""
    import torch
    from torch.nn.attention import flex_attention

    class Graph:
        def __init__(self, *_: Any, **__: Any) -> None:
            raise NotImplementedError(NO_GRAPH)

    def as_they_are(callables: Any, *_: Any, **__: Any) -> Any:
        said("make_graphed_callables does nothing on a simulated cluster, where a launch costs nothing")
        return callables

    yield flex_attention, "flex_attention", refused(NO_FLEX)
    yield flex_attention, "create_block_mask", refused(NO_FLEX)
    yield torch.cuda, "CUDAGraph", Graph
    yield torch.cuda, "graph", refused(NO_GRAPH)
    yield torch.cuda, "make_graphed_callables", as_they_are


def _joining() -> Iterator[Replaced]:
    """Contexts for ranks with inputs of unequal number: here all have as many."""
    from torch.distributed.algorithms.join import Join
    from torch.nn.parallel import DistributedDataParallel as Ddp

    @contextmanager
    def join(*_: Any, **__: Any) -> Iterator[None]:
        yield

    yield Join, "__init__", nothing
    yield Join, "__enter__", nothing
    yield Join, "__exit__", nothing
    yield Join, "notify_join_context", staticmethod(nothing)
    yield Ddp, "join", join


def _batch_norm() -> Iterator[Replaced]:
    """Batch norm over ranks: sums of each channel are gathered on the way there, and summed on the way back."""
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn import functional as F

    class Shared(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, group: Any) -> Any:
            ctx.group, ctx.channels = group, x.shape[1]
            mine = x.new_empty(1, 2 * ctx.channels + 1, dtype=torch.float32)  # mean, 1/deviation, count
            dist.all_gather_into_tensor(mine.new_empty(dist.get_world_size(group), mine.shape[1]), mine, group=group)
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            dist.all_reduce(gradient.new_empty(2 * ctx.channels, dtype=torch.float32), group=ctx.group)
            return gradient, None

    def forward(self: Any, x: Any) -> Any:
        if self.training and self.affine:
            x = Shared.apply(x, self.process_group)
        training = self.training or self.running_mean is None
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, training, self.momentum or 0.0, self.eps
        )

    yield nn.SyncBatchNorm, "forward", forward

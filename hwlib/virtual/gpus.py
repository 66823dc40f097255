"""What a program that was written for GPUs finds on a simulated cluster.

Its tensors are the CPU's, with shapes alone or with data, wherever it asks for "cuda": in `device=`, `.to`, `.cuda()`,
a mesh, a default device. `torch.cuda` answers as the simulated chip: streams and events are those of the virtual clock,
an event's `elapsed_time` is the clock's, statistics of memory are 0. The process group is there already, so the
program's own `init_process_group` joins it, and the variables of torchrun name the rank that is played.

Where there are no data, a number out of a tensor is nan, `isfinite` is true and any other truth false; the first is
said once. So logging, clipping and loss scaling go on, and a program that would go another way by its data does not.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from hwlib.virtual.devices import NO_LIST, NO_RING, on_cpu, words_of_devices
from hwlib.virtual.playing import Playing
from hwlib.virtual.programs import refused, said, words_of_programs

NO_COMPILER = "torch.compile does nothing on a simulated cluster: a stack's kernels are fused, without a stack none are"
NO_TABLE = "a mesh from a tensor of ranks without data must be of all ranks in order: give a list"
OLD = "FullyShardedDataParallel does not run on a simulated cluster without data: use fully_shard, or data=True"
PLAIN = "cuda"
CAPABILITIES = {"v100": (7, 0), "a100": (8, 0), "b200": (10, 0), "gb200": (10, 0), "b300": (10, 3), "gb300": (10, 3)}


@contextmanager
def as_on_gpus(world: Any) -> Iterator[None]:
    """Let torch answer as on the world's GPUs."""
    with ExitStack() as stack:
        for place, name, value in [*_cuda(world), *_distributed(world), *_rest(world), *words_of_programs(world)]:
            stack.callback(_restore, place, name, vars(place).get(name, _restore))
            setattr(place, name, value)
        stack.enter_context(_environment(world))
        stack.enter_context(_optimizers())
        stack.enter_context(words_of_devices()())
        yield


def _restore(place: Any, name: str, value: Any) -> None:
    if value is _restore:
        delattr(place, name)
    else:
        setattr(place, name, value)


def _const(value: Any) -> Callable[..., Any]:
    return lambda *_, **__: value


def _cuda(world: Any) -> Iterator[tuple[Any, str, Any]]:
    """torch.cuda and torch.accelerator, as a chip of the world."""
    import torch

    cuda, cpu, chip = torch.cuda, torch.cpu, world.chip
    node = world.network.levels[0].size
    here, memory = world.rank % node, int(chip.hbm_bytes or 0)

    class Properties:
        name, total_memory, multi_processor_count = chip.name, memory, chip.sms or 0
        major, minor, warp_size, gcnArchName = *_capability(chip), 32, ""

    class Stream(cpu.Stream):
        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__()

        def synchronize(self) -> None:
            pass

        def is_capturing(self) -> bool:
            return False

    class Event(cpu.Event):
        moment = 0.0

        def __init__(self, *_: Any, **__: Any) -> None:
            super().__init__()

        def elapsed_time(self, later: Any) -> float:
            return 1e3 * (later.moment - self.moment)

    none: dict[str, Callable[..., Any]] = {
        name: _const(None)
        for name in (
            "set_device",
            "synchronize",
            "empty_cache",
            "reset_peak_memory_stats",
            "reset_max_memory_allocated",
            "reset_accumulated_memory_stats",
            "manual_seed",
            "manual_seed_all",
            "init",
            "_lazy_init",
            "ipc_collect",
            "set_per_process_memory_fraction",
            "set_stream",
        )
    }
    zero = {
        name: _const(0)
        for name in (
            "memory_allocated",
            "max_memory_allocated",
            "memory_reserved",
            "max_memory_reserved",
            "utilization",
        )
    }
    answers: dict[str, Any] = (
        {
            "is_available": _const(True),
            "is_initialized": _const(True),
            "device_count": _const(node),
            "current_device": _const(here),
            "get_device_name": _const(chip.name),
            "is_bf16_supported": _const(True),
            "get_device_properties": _const(Properties()),
            "get_device_capability": _const(_capability(chip)),
            "mem_get_info": _const((memory, memory)),
            "memory_stats": lambda *_, **__: _Zeros(),
            "memory_summary": _const("a simulated cluster counts no memory"),
            "Stream": Stream,
            "Event": Event,
            "current_stream": lambda *_: cpu.current_stream(),
            "default_stream": lambda *_: cpu._default_cpu_stream,
            "stream": lambda given: cpu.stream(given),
            "is_current_stream_capturing": _const(False),
            "get_rng_state": lambda *_: torch.get_rng_state(),
            "set_rng_state": _const(None),
            "get_rng_state_all": lambda: [torch.get_rng_state()],
            "set_rng_state_all": _const(None),
        }
        | none
        | zero
    )
    yield from ((cuda, name, value) for name, value in answers.items())
    device = torch.device(PLAIN)  # as torch has it, without a number
    for name, value in (
        ("is_available", True),
        ("current_accelerator", device),
        ("device_count", node),
        ("current_device_index", here),
        ("set_device_index", None),
        ("synchronize", None),
        ("current_stream", Stream()),
    ):
        yield torch.accelerator, name, _const(value)


class _Zeros(dict[str, int]):
    def __missing__(self, key: str) -> int:
        return 0


def _capability(chip: Any) -> tuple[int, int]:
    """The compute capability by which programs choose kernels: by the name of NVIDIA's chip, else that of Hopper."""
    return next((pair for start, pair in CAPABILITIES.items() if chip.key.startswith(start)), (9, 0))


def _distributed(world: Any) -> Iterator[tuple[Any, str, Any]]:
    import torch
    import torch.distributed as dist
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.distributed import distributed_c10d as c10d
    from torch.distributed.device_mesh import DeviceMesh
    from torch.nn.parallel import DistributedDataParallel as Ddp

    from hwlib.virtual.data_parallel import shapes_ddp
    from hwlib.virtual.devices import without_modes

    def joined(*_: Any, rank: int = -1, world_size: int = -1, **__: Any) -> None:
        for name, typed, there in (("rank", rank, world.rank), ("world_size", world_size, world.ranks)):
            if typed not in (-1, there):
                raise ValueError(f"init_process_group: {name} is {there} on this simulated cluster, got {typed}")

    new_group = c10d.new_group

    def part(*args: Any, backend: Any = None, device_id: Any = None, **more: Any) -> Any:  # noqa: ARG001
        return new_group(*(args[:2]), **more)

    ours = {
        "init_process_group": joined,
        "destroy_process_group": _const(None),
        "new_group": part,
        "is_nccl_available": _const(True),
        "get_backend": _const("nccl"),
    }
    for place in (dist, c10d):
        yield from ((place, name, value) for name, value in ours.items() if name in vars(place))
    make = DeviceMesh.__init__

    def mesh(self: Any, device_type: str, mesh: Any = None, *args: Any, **more: Any) -> None:
        with without_modes():
            if "_rank_map" in more:
                more["_rank_map"] = numbered(more["_rank_map"])
            make(self, on_cpu(device_type), numbered(mesh), *args, **more)

    def numbered(ranks: Any) -> Any:
        """The table of a mesh that was made among shapes: all ranks in their order."""
        if not isinstance(ranks, FakeTensor):
            return ranks
        if ranks.numel() != world.ranks:
            raise NotImplementedError(f"{NO_TABLE}, got one of {ranks.numel()} ranks")
        return torch.arange(world.ranks, dtype=torch.int).view(ranks.shape)

    yield DeviceMesh, "__init__", mesh
    for name in ("__getitem__", "_flatten", "_unflatten", "_concatenate", "get_all_groups", "_create_flatten_mesh"):
        if name in vars(DeviceMesh):
            yield DeviceMesh, name, _apart(vars(DeviceMesh)[name])
    if world.data:
        start = Ddp.__init__

        def on_any(self: Any, module: Any, *_: Any, **more: Any) -> None:
            start(self, module, **{k: v for k, v in more.items() if k not in ("device_ids", "output_device")})

        yield Ddp, "__init__", on_any
    else:
        yield from ((Ddp, name, value) for name, value in shapes_ddp().items())
    yield torch.Tensor, "record_stream", _const(None)


def _apart(method: Callable[..., Any]) -> Callable[..., Any]:
    from hwlib.virtual.devices import without_modes

    def real(*args: Any, **more: Any) -> Any:
        with without_modes():
            return method(*args, **more)

    return real


def _rest(world: Any) -> Iterator[tuple[Any, str, Any]]:
    """Compilation, saving, loading data, and what else speaks of devices."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.amp import autocast_mode
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.tensor import experimental
    from torch.optim import optimizer
    from torch.utils import data
    from torch.utils._device import DeviceContext

    def compiled(model: Any = None, **_: Any) -> Any:
        said(NO_COMPILER)
        return model if model is not None else lambda given: given

    yield torch, "compile", compiled
    start, enter = autocast_mode.autocast.__init__, DeviceContext.__init__
    load = data.DataLoader.__init__
    scale = torch.amp.GradScaler.__init__
    enabled, dtype = torch.is_autocast_enabled, torch.get_autocast_dtype
    default = torch.set_default_device

    def autocast(self: Any, device_type: str, *args: Any, **more: Any) -> None:
        start(self, on_cpu(device_type), *args, **more)

    def context(self: Any, device: Any) -> None:
        meta = not world.data and str(device) == "meta"  # shapes cost nothing on any device
        enter(self, "cpu" if meta else on_cpu(device))

    def loader(self: Any, *args: Any, **more: Any) -> None:
        load(
            self,
            *args,
            **more
            | {
                "num_workers": 0,
                "pin_memory": False,
                "prefetch_factor": None,
                "persistent_workers": False,
                "timeout": 0,
                "multiprocessing_context": None,
            },
        )

    def scaler(self: Any, device: str = "cuda", *args: Any, **more: Any) -> None:
        scale(self, on_cpu(device), *args, **more)

    yield autocast_mode.autocast, "__init__", autocast
    yield DeviceContext, "__init__", context
    yield data.DataLoader, "__init__", loader
    yield torch.amp.GradScaler, "__init__", scaler
    yield torch, "is_autocast_enabled", lambda *of: enabled(*map(on_cpu, of))
    yield torch, "get_autocast_dtype", lambda of: dtype(on_cpu(of))
    yield torch, "set_default_device", lambda device: default(on_cpu(device))
    yield optimizer, "_get_foreach_kernels_supported_devices", _const(["cpu", PLAIN])
    if not world.data:
        from torch.amp.grad_scaler import GradScaler

        def without_overflow(_self: Any, optimizer: Any, _state: Any, *args: Any, **more: Any) -> Any:
            return optimizer.step(*args, **more)

        swap = torch.utils.swap_tensors

        def swapped(one: Any, other: Any) -> None:
            if one is not other:
                swap(one, other)

        yield FakeTensor, "tolist", refused(NO_LIST)
        yield FullyShardedDataParallel, "__init__", refused(OLD)
        for place in (experimental, experimental._attention):
            yield place, "context_parallel", refused(NO_RING)
        yield torch.utils, "swap_tensors", swapped
        yield torch.utils, "weakref", SimpleNamespace(getweakrefs=lambda _: [])  # those of a cache that needs no care
        yield GradScaler, "_maybe_opt_step", without_overflow
        yield torch.nn.Module, "to_empty", lambda self, **_: self


@contextmanager
def _environment(world: Any) -> Iterator[None]:
    """What torchrun tells each rank."""
    node = world.network.levels[0].size
    names = {
        "RANK": world.rank,
        "WORLD_SIZE": world.ranks,
        "LOCAL_RANK": world.rank % node,
        "LOCAL_WORLD_SIZE": node,
        "GROUP_RANK": world.rank // node,
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": 29500,
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(value) for name, value in names.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def _optimizers() -> Iterator[None]:
    """Tell the world when an optimizer works, and when it has."""
    from torch.optim import optimizer

    def begin(*_: Any) -> None:
        if Playing.world is not None:
            Playing.world.updating(True)

    def end(*_: Any) -> None:
        if Playing.world is not None:
            Playing.world.updating(False)

    hooks = optimizer.register_optimizer_step_pre_hook(begin), optimizer.register_optimizer_step_post_hook(end)
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

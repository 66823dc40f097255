"""Observes a program for the clock: kernels and DTensor's collectives in torch's dispatcher, and streams.

FSDP2 uses streams and events as on a GPU; those of `torch.cpu`, which do nothing by themselves, are put on the clock.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from typing import Any

from hwlib.virtual.kernel_times import Cost
from hwlib.virtual.playing import Playing, nbytes

NOTHING = (  # that allocate or rename, and run no kernel; views are known by their schema
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "_unsafe_view",
    "lift_fresh",
    "detach",
    "resize_",
    "set_",
    "sym_size",
    "is_same_size",
    "_local_scalar_dense",
    "record_stream",
)
OVERWRITING = ("copy_", "fill_", "zero_", "_foreach_copy_", "_foreach_zero_")  # others that end in _ read too
RATES_OF = {  # torch's names of what the tables of chips have under others; of a product in 64 bits they have no rate
    "float8_e4m3fn": "float8",
    "float8_e5m2": "float8",
    "float8_e4m3fnuz": "float8",
    "float8_e5m2fnuz": "float8",
    "float4_e2m1fn_x2": "float4",
    "float64": "float32",
    "complex64": "float32",
}
LOOKUPS = ("embedding", "index", "index_select", "gather")  # that read as many rows as they write, not the whole table


def tensors_of(value: Any) -> list[Any]:
    """All tensors in nested lists and tuples."""
    import torch

    if isinstance(value, (list, tuple)):
        return [tensor for one in value for tensor in tensors_of(one)]
    return [value] if isinstance(value, torch.Tensor) else []


def traffic(func: Any, args: tuple, kwargs: dict[str, Any], out: Any) -> int:
    """Least memory traffic of a kernel in bytes: every input read once, every output written once."""
    name = func._schema.name.split("::")[1]
    if name == "all_gather_copy_in":  # FSDP2's: into its part of the buffer, which the schema does not say
        return 2 * nbytes(tensors_of(args[0]))
    written: list[Any] = []
    read: list[Any] = []
    for position, argument in enumerate(func._schema.arguments):
        value = args[position] if position < len(args) else kwargs.get(argument.name)
        writes = argument.alias_info is not None and argument.alias_info.is_write
        (written if writes else read).extend(tensors_of(value))
    if name.startswith("_fused_") and kwargs.get("grad_scale") is None:  # optimizers write gradients to unscale them
        read += tensors_of(args[1])
        written = [tensor for tensor in written if all(tensor is not gradient for gradient in tensors_of(args[1]))]
    results = nbytes(written or tensors_of(out))
    if name in LOOKUPS:
        return 2 * results
    if written and name.endswith("_") and name not in OVERWRITING:
        results *= 2
    return nbytes(read) + results


@cache
def runs_a_kernel(func: Any) -> bool:
    """Whether an operator of torch does anything on a GPU: views and allocations do not."""
    if func.namespace not in ("aten", "fsdp"):
        return False
    returns = func._schema.returns
    view = bool(returns) and all(r.alias_info is not None and not r.alias_info.is_write for r in returns)
    return not view and func._schema.name.split("::")[1] not in NOTHING


@cache
def is_call(func: Any) -> bool:
    """Whether an operator is a functional collective."""
    return bool(func.namespace == "_c10d_functional")


@cache
def is_composed(func: Any) -> bool:
    """Whether an operator is made of others: below autograd, as in inference mode, it comes whole."""
    import torch

    implicit = torch._C.DispatchKey.CompositeImplicitAutograd
    return func.namespace == "aten" and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), implicit)


@cache
def flop_counts() -> dict[Any, Any]:
    """Torch's own FLOP counts, and those of attention on a CPU and of grouped products, which torch does not count."""
    import torch
    from torch.utils.flop_counter import flop_registry, sdpa_backward_flop_count, sdpa_flop_count

    aten = torch.ops.aten

    def forward(q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return sdpa_flop_count(q.shape, k.shape, v.shape)

    def backward(grad: Any, q: Any, k: Any, v: Any, *_: Any, **__: Any) -> int:
        return sdpa_backward_flop_count(grad.shape, q.shape, k.shape, v.shape)

    def grouped(rows: Any, weights: Any, *_: Any, **__: Any) -> int:
        """A row meets the matrix of its group, or a column is summed within its own."""
        groups = rows.shape[0] if rows.dim() == weights.dim() == 3 else 1
        return 2 * groups * rows.shape[-2] * rows.shape[-1] * weights.shape[-1]

    return flop_registry | {
        aten._grouped_mm: grouped,
        aten._scaled_grouped_mm: grouped,
        aten._scaled_dot_product_flash_attention_for_cpu: forward,
        aten._scaled_dot_product_flash_attention_for_cpu_backward: backward,
    }


@cache
def watcher() -> type:
    """The class of the observing mode, created once torch is loaded."""
    import torch
    import torch.distributed as dist
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.distributed._functional_collectives import AsyncCollectiveTensor
    from torch.distributed.tensor import DTensor
    from torch.multiprocessing.reductions import StorageWeakRef
    from torch.utils._python_dispatch import TorchDispatchMode

    from hwlib.labs.ranks.calls import FUNCTIONAL

    counts = flop_counts()
    device_of = torch.ops.prim.device.default

    @cache
    def ask_again(types: tuple[type, ...]) -> bool:
        return any(issubclass(kind, (DTensor, AsyncCollectiveTensor)) for kind in types)

    class Watcher(TorchDispatchMode):
        def __init__(self, shapes: Any = None) -> None:
            super().__init__()
            self.answered = getattr(shapes, "answered", None)  # in a world without data
            self.coming: dict[int, tuple[Any, float]] = {}  # by storage: what keeps its address, and when it is there

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # as in `shapes_mode`

        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            if func is device_of and type(args[0]) is FakeTensor:
                return args[0].device  # which autograd asks for twice as often as for all else
            kwargs = kwargs or {}
            world = Playing.world
            if ask_again(types):
                return NotImplemented  # for what this rank does on its part, or when it is there
            if world is None or (world.rendezvous and is_call(func)):
                return func(*args, **kwargs)  # the backend of threads counts them, where the ranks meet
            if is_call(func):
                return self.collective(world, func, args, kwargs)
            if is_composed(func):
                with self:
                    return func.decompose(*args, **kwargs)
            answer, tensors, out = None, None, NotImplemented
            if self.answered:
                out, answer, tensors = self.answered(func, args, kwargs)
            if out is NotImplemented:
                out = func(*args, **kwargs)
            if runs_a_kernel(func):
                if self.coming:
                    self.wait(world.clock, tensors if answer else (args, tuple(kwargs.values())))
                cost = answer.cost if answer else None
                if cost is None:
                    cost = self.cost(func, args, kwargs, out)
                    if answer:
                        answer.cost = cost
                world.kernel(cost, args, kwargs, out)
            return out

        def cost(self, func: Any, args: tuple, kwargs: dict[str, Any], out: Any) -> Cost:
            """Name, operations, bytes and dtype of a kernel: by its schema and the metadata of tensors alone."""
            packet = func._overloadpacket
            flops = counts[packet](*args, **kwargs, out_val=out) if packet in counts else 0
            dtypes = [tensor.dtype for tensor in tensors_of([args, out])]
            dtype = str(dtypes[0]).split(".")[1] if dtypes else "float32"
            return Cost(packet.__name__, flops, traffic(func, args, kwargs, out), RATES_OF.get(dtype, dtype))

        def collective(self, world: Any, func: Any, args: tuple, kwargs: Any) -> Any:
            name = func._schema.name.split("::")[1]
            if name == "wait_tensor" or name in FUNCTIONAL:
                self.wait(world.clock, args)
            Playing.world = None  # with data, this ends in the backend, which would count it again
            try:
                out = func(*args, **kwargs)
            finally:
                Playing.world = world
            if name in FUNCTIONAL:
                call, at, size, _ = FUNCTIONAL[name]
                group = args[at]
                of: Any = torch._C._distributed_c10d._resolve_process_group(group)
                ranks = tuple(dist.get_process_group_ranks(of))
                if (n := len(ranks)) > 1:
                    inputs = size(args, n)
                    S = n * sum(inputs) if call == "all_to_all" else prod(inputs)
                    end = world.call(call, S, group, ranks)
                    if world.kernel_times:
                        for one, given in zip(tensors_of(out), tensors_of(args), strict=False):
                            world.kernel_times.sent(call, one, given, n)
                    for tensor in tensors_of(out):
                        storage = tensor.untyped_storage()
                        self.coming[storage._cdata] = (StorageWeakRef(storage), end)
            return out

        def wait(self, clock: Any, used: Any) -> None:
            for tensor in tensors_of(used):
                if arrival := self.coming.pop(tensor.untyped_storage()._cdata, None):
                    clock.wait(arrival[1], clock.current)

    return Watcher


@contextmanager
def awaited_when_used() -> Iterator[None]:
    """Let functional collectives without data, DTensor's among them, wait when their result is used, as with data.

    With fake tensors torch assumes a compiler, and waits as soon as it has started a collective.
    """
    import torch.distributed._functional_collectives as functional

    calls: Any = functional
    wrap = calls._maybe_wrap_tensor
    calls._maybe_wrap_tensor = lambda tensor: tensor  # the watcher knows what is on its way
    try:
        yield
    finally:
        calls._maybe_wrap_tensor = wrap


@contextmanager
def streams_on_clocks() -> Iterator[None]:
    """Put the streams and events of `torch.cpu` on the clock of the rank that uses them."""
    import torch

    cpu: Any = torch.cpu
    stream, event, context = cpu.Stream, cpu.Event, cpu.StreamContext
    default = cpu._default_cpu_stream

    def row(given: Any) -> Any:
        return None if given is default else given

    def current_stream(_device: Any = None) -> Any:
        clock = Playing.clock
        return default if clock is None or clock.current is None else clock.current

    def wait_stream(self: Any, other: Any) -> None:
        Playing.clock.wait(Playing.clock.at[row(other)], row(self))

    def wait_event(self: Any, event: Any) -> None:
        Playing.clock.wait(getattr(event, "time", 0.0), row(self))

    def record_event(self: Any, given: Any = None) -> Any:
        return record(given or event(), self)

    def record(self: Any, given: Any = None) -> Any:
        clock = Playing.clock
        self.time = clock.at[row(given or current_stream())]
        self.moment = clock.real(self.time)  # for its elapsed_time
        return self

    def wait(self: Any, given: Any = None) -> None:
        wait_event(given or current_stream(), self)

    def enter(self: Any) -> None:
        if self.stream is not None:
            self.prev_stream, Playing.clock.current = current_stream(), row(self.stream)

    def leave(self: Any, *_: Any) -> None:
        if self.stream is not None:
            Playing.clock.current = row(self.prev_stream)

    ours: tuple[tuple[Any, str, Any], ...] = (
        (stream, "wait_stream", wait_stream),
        (stream, "wait_event", wait_event),
        (stream, "record_event", record_event),
        (event, "record", record),
        (event, "wait", wait),
        (context, "__enter__", enter),
        (context, "__exit__", leave),
        (cpu, "current_stream", current_stream),
    )
    before = [(place, name, getattr(place, name)) for place, name, _ in ours]
    try:
        for place, name, method in ours:
            setattr(place, name, method)
        yield
    finally:
        for place, name, method in before:
            setattr(place, name, method)

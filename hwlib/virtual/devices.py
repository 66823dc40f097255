"""Devices and values in the words of a program for GPUs: "cuda" is the CPU, and a number out of a shape is nan."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from math import nan
from typing import Any

from hwlib.virtual.playing import Playing

NO_VALUE = "a tensor has a shape and no value on a simulated cluster: its number is nan"
NO_LIST = (
    "the program reads numbers out of a tensor's data, and tensors have shapes alone: give sizes that do not depend on "
    "data (as with a fixed capacity of experts), make the samples of a data set by numpy, or play it with data=True"
)
NO_RING = (
    "attention over a sequence that ranks share (context_parallel) does not run on a simulated cluster: ask "
    "hwlib.steptime.step_time with Strategy(cp=...) for its time"
)
TRUE, FALSE = ("isfinite",), ("isnan", "isinf")
BOTH, EITHER, NOT = (
    ("all", "logical_and", "__and__", "bitwise_and", "__iand__", "__rand__"),
    ("any", "logical_or", "__or__", "bitwise_or", "__ior__", "__ror__"),
    ("logical_not", "__invert__", "bitwise_not"),
)


def on_cpu(device: Any) -> Any:
    """A device, its name or number; the CPU where that is a GPU, or a CPU with a number."""
    if isinstance(device, str):
        return "cpu" if device.split(":")[0] in ("cuda", "cpu") else device
    if isinstance(device, int) and not isinstance(device, bool):
        return "cpu"
    kind = getattr(device, "type", None)
    return "cpu" if kind in ("cuda", "cpu") and hasattr(device, "index") else device


def without_modes() -> AbstractContextManager[Any]:
    """Real tensors for a while."""
    from torch.utils._python_dispatch import _disable_current_modes

    return _disable_current_modes()


@cache
def words_of_devices() -> type:
    """The class of the mode, created once torch is loaded."""
    import torch
    import torch.nn.functional as F
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.overrides import TorchFunctionMode

    Tensor: Any = torch.Tensor

    def shape_only(tensor: Any) -> bool:
        tensor = getattr(tensor, "_local_tensor", tensor)
        return isinstance(tensor, FakeTensor) and tensor.constant is None

    def to(func: Any, args: Any, kwargs: Any) -> Any:
        return func(args[0], *[on_cpu(a) if not isinstance(a, bool) else a for a in args[1:]], **kwargs)

    def same(_func: Any, args: Any, _kwargs: Any) -> Any:
        return args[0]

    def number(func: Any, args: Any, kwargs: Any) -> Any:
        tensor = args[0]
        if type(tensor) is Tensor:  # made of what a loader drew on the CPU: it has a value
            with without_modes():
                return func(*args, **kwargs)
        if not shape_only(tensor) or tensor.numel() != 1:
            return func(*args, **kwargs)
        if tensor.dtype == torch.bool:
            return getattr(tensor, "truth", False)
        warnings.warn(NO_VALUE, UserWarning, stacklevel=3)
        return nan

    def formatted(func: Any, args: Any, kwargs: Any) -> Any:
        if isinstance(args[0], FakeTensor) and args[0].dim() == 0:
            return format(number(Tensor.item, args[:1], {}), args[1])
        return func(*args, **kwargs)

    def counted(func: Any, args: Any, kwargs: Any) -> Any:
        """As many counts as are asked for at least: values above that would need data."""
        least = kwargs.get("minlength", args[2] if len(args) > 2 else 0)
        if not shape_only(args[0]) or not least:
            return func(*args, **kwargs)
        return args[0].new_empty(least, dtype=torch.int64).zero_()

    def truth(func: Any, args: Any, kwargs: Any) -> Any:
        return getattr(args[0], "truth", False) if shape_only(args[0]) else func(*args, **kwargs)

    def refused(func: Any, args: Any, kwargs: Any) -> Any:
        if shape_only(args[0]):
            raise NotImplementedError(NO_LIST)
        return func(*args, **kwargs)

    def loss(func: Any, args: Any, kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        world = Playing.world
        if world is not None and world.kernel_times is not None:
            logits = args[0] if args else kwargs["input"]
            world.kernel_times.loss(world.clock, getattr(logits, "_local_tensor", logits).numel())
        return out

    def attention(func: Any, args: Any, kwargs: Any) -> Any:
        """Without dropout, with which the CPU has no fused kernel; of DTensors each rank's own heads."""
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        arguments = dict(zip(names, args, strict=False)) | kwargs | {"dropout_p": 0.0}
        q = arguments["query"]
        if not hasattr(q, "_local_tensor"):
            return func(**arguments)
        if any(place.is_shard(2) or place.is_shard(-2) for place in q.placements):
            raise NotImplementedError(NO_RING)
        arguments |= {name: arguments[name].to_local() for name in names[:3]}
        return type(q).from_local(func(**arguments), q.device_mesh, q.placements, run_check=False)

    def on_a_gpu(func: Any, args: Any, kwargs: Any) -> Any:
        return True if shape_only(args[0]) else func(*args, **kwargs)

    def numbered(func: Any, args: Any, kwargs: Any) -> Any:
        return torch.accelerator.current_device_index() if shape_only(args[0]) else func(*args, **kwargs)

    def copied(func: Any, args: Any, kwargs: Any) -> Any:
        """A copy for `copy.deepcopy`: torch's own would read a storage that has no data."""
        tensor, memo = args
        if not isinstance(tensor, FakeTensor):
            return func(*args, **kwargs)
        if id(tensor) not in memo:
            if not tensor.is_leaf:
                raise RuntimeError("deepcopy: a tensor that is computed from others cannot be copied, detach it")
            copy = memo[id(tensor)] = tensor.detach().clone().requires_grad_(tensor.requires_grad)
            own = {name: value for name, value in vars(tensor).items() if name == "_is_param" or name not in vars(copy)}
            vars(copy).update(own)
            if tensor.grad is not None:
                copy.grad = copied(func, (tensor.grad, memo), kwargs)
        return memo[id(tensor)]

    handlers: dict[Any, Callable[[Any, Any, Any], Any]] = {
        Tensor.to: to,
        Tensor.cuda: same,
        Tensor.pin_memory: same,
        Tensor.item: number,
        Tensor.__float__: number,
        Tensor.__bool__: truth,
        Tensor.__int__: refused,
        Tensor.__index__: refused,
        Tensor.tolist: refused,
        Tensor.numpy: refused,
        Tensor.__format__: formatted,
        Tensor.__deepcopy__: copied,
        Tensor.is_cuda.__get__: on_a_gpu,
        Tensor.get_device: numbered,
        Tensor.bincount: counted,
        torch.bincount: counted,
        F.cross_entropy: loss,
        F.scaled_dot_product_attention: attention,
    }

    def judged(name: str, args: Any, out: Any) -> None:
        if name in TRUE or name in FALSE:
            out.truth = name in TRUE
            return
        truths = [getattr(arg, "truth", False) for arg in args if isinstance(arg, torch.Tensor)]
        if name in BOTH or name in EITHER:
            out.truth = all(truths) if name in BOTH else any(truths)
        elif name in NOT:
            out.truth = not truths[0]

    judges = {*TRUE, *FALSE, *BOTH, *EITHER, *NOT}

    drawn = {torch.randint, torch.randperm}
    factories = drawn | {torch.empty, torch.zeros, torch.ones, torch.full, torch.arange, torch.tensor}

    def of_numbers(func: Any, kwargs: Any) -> bool:
        """Whether a tensor is of integers of the CPU, which loaders draw batches by."""
        device, dtype = kwargs.get("device"), kwargs.get("dtype")
        if device is not None and getattr(device, "type", device) != "cpu":
            return False
        return (func in drawn) if dtype is None else not (dtype.is_floating_point or dtype.is_complex)

    class OnGpus(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if Playing.numbers and func in factories and of_numbers(func, kwargs):
                with without_modes():
                    return func(*args, **kwargs)
            if "device" in kwargs:
                kwargs = kwargs | {"device": on_cpu(kwargs["device"])}
            handler = handlers.get(func)
            if handler is not None:
                return handler(func, args, kwargs)
            out = func(*args, **kwargs)
            if isinstance(out, FakeTensor) and out.dtype == torch.bool and func.__name__ in judges:
                judged(func.__name__, args, out)
            return out

    return OnGpus

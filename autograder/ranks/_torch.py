"""The mode of torch that measures memory (see `memory_meter`); it loads torch."""

import functools
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .memory_meter import SMALL, Metered, Storages, begins, file_of, line_in

PLAIN = {int, float, bool, str, type(None)}  # sizes and axes, which hold no numbers of a tensor


class MemoryMeter(TorchDispatchMode):
    """Adds up what is alive after each operation."""

    def __init__(self, found: Metered, given: Any, line: Callable[[], str]):
        super().__init__()
        self.found, self.line, self.paused = found, line, 0
        self.storages = Storages([tensor.untyped_storage() for tensor in given])

    def see(self, value: Any) -> None:
        """The tensors among an operation's arguments or results."""
        if isinstance(value, torch.Tensor):
            if value.layout is not torch.strided:
                raise RuntimeError(f"this exercise counts the memory of dense tensors, and not of {value.layout} ones")
            if value.device.type == "cpu":
                try:  # a block of `suppress` for each argument of each operation takes as long as the rest
                    self.storages.see(value.untyped_storage())
                except (RuntimeError, NotImplementedError):  # a wrapper of other tensors has none
                    return
        elif isinstance(value, (list, tuple)):
            for item in value:
                if type(item) not in PLAIN:
                    self.see(item)

    def look(self) -> None:
        """Whether this is a new peak, without what only garbage holds."""
        if self.storages.bytes() > self.found.bytes:
            gc.collect()
            if (now := self.storages.bytes()) > self.found.bytes:
                self.found.bytes, self.found.line = now, self.line()


def _dispatch(self: MemoryMeter, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
    made = func(*args, **(kwargs or {}))
    if not self.paused:
        self.see(args)
        if kwargs:
            self.see(tuple(kwargs.values()))
        self.see(made)
        self.look()
    return made


# Set after the class was made: torch would wrap a method of the class so that its first operation loads the compiler,
# a second and a half.
MemoryMeter.__torch_dispatch__ = _dispatch  # type: ignore[assignment]


@contextmanager
def metered(function: Callable[..., Any], given: Any) -> Iterator[Metered]:
    """Measure the peak of this block, in this thread; `given` are tensors that do not count. Its lines are those of
    the file of `function`. A peak collects garbage: freeze what was there before (`gc.freeze`), which takes long.
    """
    measured, file = Metered(), file_of(function)
    meter = MemoryMeter(measured, given, lambda: line_in(file))
    begins(meter)
    try:
        with meter:
            yield measured
    finally:
        begins(None)


@contextmanager
def numbers_stay_in_tensors(paused: Callable[[], bool]) -> Iterator[None]:
    """In this block numpy() and its like raise, of a tensor of many numbers, but while `paused()`; and so does a thread
    that starts, whose operations the meter does not see."""
    tensor: Any = torch.Tensor
    names = ("numpy", "tolist", "__array__", "__dlpack__", "__reduce_ex__")
    originals = {name: getattr(tensor, name) for name in names}
    thread: Any = threading.Thread
    start = thread.start

    def refuse_to_start(_thread: Any) -> None:
        raise RuntimeError("this exercise counts the memory of one thread, and does not start another")

    def refusing(name: str) -> Callable[..., Any]:
        @functools.wraps(originals[name])
        def refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self.numel() > SMALL and not paused():
                raise RuntimeError(
                    f"{name}() takes numbers out of their tensor, and this exercise counts the memory of tensors"
                )
            return originals[name](self, *args, **kwargs)

        return refuse

    for name in names:
        setattr(tensor, name, refusing(name))
    thread.start = refuse_to_start
    try:
        yield
    finally:
        thread.start = start
        for name in names:
            setattr(tensor, name, originals[name])

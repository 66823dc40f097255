"""Backends of torch.distributed written in Python: a `Transport` says how ranks exchange data, and this package does
the rest.

torch calls process groups by undocumented names that change between releases. Only `_torch` uses them, those of torch
2.13; it loads torch, so it is imported inside the functions that need it. A backend is a subclass of `Transport` with a
method for collectives, one for sends and one for receives, and is used by its name:

    register(SpmdTransport)
    torch.distributed.init_process_group(SpmdTransport.backend, rank=0, world_size=1024, store=...)
"""

from hwlib.torch_groups.transport import ANY, Pending, Transport

__all__ = ["ANY", "Pending", "Transport", "register"]


def register(transport: type[Transport]) -> None:
    """Make a backend known to torch under the transport's name, once in a process."""
    from hwlib.torch_groups import _torch

    _torch.register(transport)

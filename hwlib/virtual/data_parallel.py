"""DistributedDataParallel without data: torch's own looks into its buckets from C++, where there is nothing to see.

As there, gradients are summed in buckets of parameters, the last ones first: a bucket's sum starts when its last
gradient is there, and all are waited for when the pass ends. The first bucket is small.
"""

from collections.abc import Callable
from typing import Any

MIB = 2**20
CAP = 25  # MiB of a bucket, torch's default
HOOKS = {"bf16_compress_hook": "bfloat16", "fp16_compress_hook": "float16", "allreduce_hook": None}


def shapes_ddp() -> dict[str, Callable[..., Any]]:
    """The methods that replace torch's."""
    import torch
    import torch.distributed as dist

    def start(
        self: Any,
        module: Any,
        *_: Any,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        device_mesh: Any = None,
        gradient_as_bucket_view: bool = False,
        **__: Any,
    ) -> None:
        torch.nn.Module.__init__(self)
        self.module, self.require_backward_grad_sync = module, True
        self.process_group = process_group or (device_mesh.get_group() if device_mesh else dist.group.WORLD)
        self.gradient_as_bucket_view, self.hook_dtype = gradient_as_bucket_view, None
        ignored = getattr(module, "_ddp_params_and_buffers_to_ignore", ())
        parameters = [p for name, p in module.named_parameters() if p.requires_grad and name not in ignored]
        if not parameters:
            raise RuntimeError("DistributedDataParallel: the module has no parameter that requires a gradient")
        self._cap = MIB * (bucket_cap_mb or CAP)
        self._waiting = []
        self._place = {}
        self._buckets = buckets_of(parameters[::-1], dist._DEFAULT_FIRST_BUCKET_BYTES, self._cap)
        for i, bucket in enumerate(self._buckets):
            for parameter in bucket:
                self._place[parameter] = i
                parameter.register_post_accumulate_grad_hook(self._came)
        self._left = [len(bucket) for bucket in self._buckets]

    def came(self: Any, parameter: Any) -> None:
        if not self.require_backward_grad_sync:
            return
        i = self._place[parameter]
        self._left[i] -= 1
        if self._left[i]:
            return
        bucket = self._buckets[i]
        if not self._waiting:
            torch.autograd.Variable._execution_engine.queue_callback(self._end)
        flat = torch.cat([p.grad.reshape(-1) for p in bucket])
        flat = flat if self.hook_dtype is None else flat.to(self.hook_dtype)
        self._waiting.append((bucket, flat, dist.all_reduce(flat, group=self.process_group, async_op=True)))

    def end(self: Any) -> None:
        for bucket, flat, work in self._waiting:
            work.wait()
            for parameter, part in zip(bucket, flat.split([p.numel() for p in bucket]), strict=True):
                if not self.gradient_as_bucket_view:
                    parameter.grad.copy_(part.view_as(parameter))
        self._waiting = []
        self._left = [len(bucket) for bucket in self._buckets]

    def forward(self: Any, *args: Any, **more: Any) -> Any:
        return self.module(*args, **more)

    def comm_hook(self: Any, _state: Any, hook: Any) -> None:
        name = getattr(hook, "__name__", str(hook))
        if name not in HOOKS:
            raise NotImplementedError(
                f"a simulated cluster without data has DDP's hooks {', '.join(HOOKS)}, got {name}: "
                "play others with data=True"
            )
        dtype = HOOKS[name]
        self.hook_dtype = getattr(torch, dtype) if dtype else None

    return {
        "__init__": start,
        "forward": forward,
        "register_comm_hook": comm_hook,
        "_came": came,
        "_end": end,
        "_set_static_graph": lambda _self: None,
    }


def buckets_of(parameters: list[Any], first: float, cap: float) -> list[list[Any]]:
    """Parameters in buckets that are full once they have `cap` bytes, the first with `first`; each of one dtype."""
    buckets: list[list[Any]] = []
    held: dict[Any, tuple[list[Any], float]] = {}
    for parameter in parameters:
        bucket, size = held.get(parameter.dtype, ([], 0.0))
        if not bucket:
            buckets.append(bucket)
        bucket.append(parameter)
        size += parameter.numel() * parameter.element_size()
        full = size >= (first if bucket is buckets[0] else cap)
        held[parameter.dtype] = ([], 0.0) if full else (bucket, size)
    return buckets

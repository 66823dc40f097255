"""Tensors without data, from a cache: an operator's result for known shapes is not computed again.

Every layer of a model, and every step, asks torch the same few hundred questions. Torch's `FakeTensorMode` has a cache
as well, but its keys cost more than most operators, and it caches neither lists nor operators outside of aten. Here a
key is an operator with everything that determines its results: the metadata of each tensor, the type and value of each
other argument, and torch's defaults. Unusual calls go to torch's own mode, which also computes each result the first
time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from hwlib.virtual.playing import Playing

KEPT = 100_000  # answers, after which all are forgotten: a number among the arguments may differ in every step
BY_DATA = (
    "{} gives what depends on a tensor's data, and on a simulated cluster tensors have shapes alone: use sizes that do "
    "not depend on data (a mask in place of a selection, a fixed capacity of experts), or data=True"
)
UNKNOWN = (
    "{} does not say what shapes it gives, as kernels of one's own often do not: register its shapes with "
    "torch.library.register_fake, or use torch's own operator in its place"
)
SPACES = ("aten", "fsdp", "_c10d_functional")  # whose operators are functions of what is in a key


class Odd(Exception):
    """A call without a key, or results that cannot be cached."""


class Freed(Odd):
    """A view of storage that is currently freed, as FSDP2 does between its uses."""


class Made(NamedTuple):
    """A result that is a new tensor: its metadata; if it is a view, the position of the tensor that it is one of, and
    the bytes of storage that it reaches to; and what a fake tensor has as attributes.
    """

    shape: Sequence[int]
    stride: Sequence[int]
    dtype: Any
    offset: int
    base: int | None
    reach: int
    state: dict[str, Any]


class Same(NamedTuple):
    """A result that is one of the arguments: its position among their tensors."""

    position: int


class ScalarResult(NamedTuple):
    """A result that is not a tensor."""

    value: Any


@dataclass(slots=True)
class CachedResults:
    """An operator's results for a key: a list, a tuple or a single one; and a place for its cost."""

    results: list[Made | Same | ScalarResult]
    many: type | None
    cost: Any = None


@contextmanager
def told_in_a_sentence() -> Iterator[None]:
    """Raise NotImplementedError, with what to do instead, for what shapes do not determine."""
    from torch._subclasses import fake_tensor as fake

    try:
        yield
    except (fake.DataDependentOutputException, fake.DynamicOutputShapeException) as error:
        raise NotImplementedError(BY_DATA.format(error.func)) from None
    except fake.UnsupportedOperatorException as error:
        raise NotImplementedError(UNKNOWN.format(error.func)) from None


@cache
def shapes_mode() -> type:
    """The class of the mode, created once torch is loaded."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
    from torch.utils import _pytree as pytree
    from torch.utils._python_dispatch import _disable_current_modes

    c: Any = torch._C
    meta, FAKE = torch.device("meta"), c._TorchDispatchModeKey.FAKE
    device_of = torch.ops.prim.device.default
    lifts = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default)
    plain = {int, float, bool, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format}
    lists = {list, tuple, torch.Size}

    def note(mode: Any, values: Any, key: list[Any], tensors: list[Any]) -> None:
        for value in values:
            kind = type(value)
            if kind is FakeTensor:
                if value.layout is not torch.strided or value.constant is not None or value.fake_mode is not mode:
                    raise Odd
                tensors.append(value)
                key += metadata(value)
            elif kind in plain:
                key += (kind, value)
            elif kind in lists:
                key += (kind, len(value))
                note(mode, value, key, tensors)
            else:
                raise Odd

    def metadata(t: Any) -> tuple[Any, ...]:
        return (
            t.shape,
            t.stride(),
            t.storage_offset(),
            t.dtype,
            t._fake_device,
            t.requires_grad,
            t.is_conj(),
            t.is_neg(),
            t.is_inference(),
        )

    def made(mode: Any, result: Made, tensors: list[Any]) -> Any:
        with c._DisableTorchDispatch():
            t = torch.empty_strided(result.shape, result.stride, dtype=result.dtype, device=meta)
            if result.base is not None:
                storage = tensors[result.base].untyped_storage()
                if storage.nbytes() < result.reach:
                    raise Freed  # setting it would resize it
                t.set_(storage, result.offset, result.shape, result.stride)
            device = result.state["_fake_device"]
            t = torch.Tensor._make_subclass(FakeTensor, t, False, dispatch_device=True, device_for_backend_keys=device)
        mode.warn(t)
        t.__dict__.update(result.state)
        t.fake_mode = mode
        return t

    def described(mode: Any, t: Any, tensors: list[Any]) -> Made | Same:
        """How one result follows from the arguments."""
        if type(t) is not FakeTensor or t.fake_mode is not mode or t.layout is not torch.strided:
            raise Odd
        same = [i for i, item in enumerate(tensors) if item is t]
        if len(same) == 1:
            return Same(same[0])
        storage = t.untyped_storage()
        bases = [i for i, item in enumerate(tensors) if item.untyped_storage()._cdata == storage._cdata]
        state = {name: value for name, value in vars(t).items() if name != "fake_mode"}
        strange = [name for name, value in state.items() if value is not None and name != "_fake_device"]
        if len(same) > 1 or len(bases) > 1 or t.requires_grad or strange:
            raise Odd
        shape, stride, offset = tuple(t.shape), t.stride(), int(t.storage_offset())
        last = offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
        reach = (last + 1) * t.element_size() if t.numel() else 0
        if not bases and (offset or storage.nbytes() != reach):
            raise Odd
        return Made(shape, stride, t.dtype, offset, bases[0] if bases else None, reach, state)

    def answer_of(mode: Any, out: Any, tensors: list[Any]) -> CachedResults:
        many = type(out) if type(out) in (list, tuple) else None
        results: list[Any] = []
        fresh = set()
        for item in out if many else (out,):
            if item is None or (many and type(item) in (int, float, bool)):
                results.append(ScalarResult(item))
                continue
            result = described(mode, item, tensors)
            if isinstance(result, Made):
                again = made(mode, result, tensors)
                if metadata(again) != metadata(item) or c._dispatch_key_set(again) != c._dispatch_key_set(item):
                    raise Odd
                if result.base is None:
                    fresh.add(item.untyped_storage()._cdata)
            results.append(result)
        if len(fresh) < sum(isinstance(result, Made) and result.base is None for result in results):
            raise Odd  # results that share their storage with each other
        return CachedResults(results, many)

    @cache
    def has_answers(func: Any) -> bool:
        """Whether an operator is a function of its key: those that move a tensor to other storage are not, nor are
        compositions, which may ask for more than their arguments.
        """
        return (
            isinstance(func, torch._ops.OpOverload)
            and func.namespace in SPACES
            and func not in lifts
            and torch.Tag.inplace_view not in func.tags
            and not c._dispatch_has_kernel_for_dispatch_key(func.name(), c.DispatchKey.CompositeImplicitAutograd)
        )

    @cache
    def is_mark(func: Any) -> bool:
        """Whether an operator only marks a place for a profiler, as FSDP2 does; its arguments are not tensors."""
        return bool(func.namespace == "profiler")

    def on_numbers(args: Any, kwargs: Any) -> bool:
        """Whether a call is of integers of the CPU alone, and stays so."""
        inputs = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        wanted = kwargs.get("dtype")
        return (
            bool(inputs)
            and all(type(x) is torch.Tensor and not x.is_floating_point() and x.device.type == "cpu" for x in inputs)
            and (wanted is None or not wanted.is_floating_point)
        )

    class Shapes(FakeTensorMode):
        def __init__(self) -> None:
            super().__init__(allow_non_fake_inputs=True)  # a DeviceMesh keeps a real table of ranks
            allowed = self._allow_unsafe_data_ptr_access
            self.warn = c._set_warn_deprecated_on_mutable_data_ptr if allowed else c._set_throw_on_mutable_data_ptr
            self.known: dict[tuple[Any, ...], CachedResults | None] = {}

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # torch would wrap the dispatcher in what keeps compilers out, and nobody compiles it

        def key(self, func: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, ...], list[Any]]:
            """The key of a call, and its tensors. Raises Odd if there is no key."""
            if not has_answers(func) or torch.is_inference_mode_enabled():
                raise Odd
            key = [func, torch.get_default_dtype(), c._get_default_device()]
            tensors: list[Any] = []
            note(self, args, key, tensors)
            for name, value in kwargs.items():
                key.append(name)
                note(self, (value,), key, tensors)
            return tuple(key), tensors

        def made(self, answer: CachedResults, tensors: list[Any]) -> Any:
            """The results of an answer. Raises Odd if they cannot be reproduced this time."""
            results: list[Any] = []
            for item in answer.results:
                if type(item) is Made:
                    results.append(made(self, item, tensors))
                else:
                    results.append(tensors[item[0]] if type(item) is Same else item[0])
            return results[0] if answer.many is None else results if answer.many is list else tuple(results)

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func is device_of and type(args[0]) is FakeTensor:
                return args[0].device
            if is_mark(func):
                return func(*args, **kwargs)
            try:
                key, tensors = self.key(func, args, kwargs)
                answer = self.known.get(key)
                if answer is not None:
                    return self.made(answer, tensors)
            except Odd:
                if Playing.numbers and on_numbers(args, kwargs):
                    with _disable_current_modes():
                        return func(*args, **kwargs)
                return self.dispatch(func, types, args, kwargs)
            out = self.dispatch(func, types, args, kwargs)
            if key not in self.known and out is not NotImplemented:
                self.learn(key, tensors, out, (func, args, kwargs))
            return out

        def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            with told_in_a_sentence():
                return super().dispatch(func, types, args, kwargs)

        def learn(self, key: tuple[Any, ...], tensors: list[Any], out: Any, call: Any) -> None:
            """Cache an answer, or that there is none, for instance because a call changed its arguments' shapes."""
            if len(self.known) >= KEPT:
                self.known.clear()
            try:
                self.known[key] = answer_of(self, out, tensors) if self.key(*call)[0] == key else None
            except Freed:
                pass
            except Odd:
                self.known[key] = None

        def answered(self, func: Any, args: Any, kwargs: Any) -> tuple[Any, CachedResults | None, list[Any]]:
            """For a mode above this one: the cached results of a call, or NotImplemented."""
            if c._len_torch_dispatch_stack() != 1 or c._get_dispatch_mode(FAKE) is not self:
                return NotImplemented, None, []  # torch is at real tensors, or there are modes between
            try:
                key, tensors = self.key(func, args, kwargs)
                answer = self.known.get(key)
                return (NotImplemented if answer is None else self.made(answer, tensors)), answer, tensors
            except Odd:
                return NotImplemented, None, []

    return Shapes

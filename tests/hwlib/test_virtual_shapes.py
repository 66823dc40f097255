"""Answers of the table of shapes, against torch's own mode: in random programs, in models, and in whole steps."""

import gc
import logging
import weakref
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.distributed._functional_collectives import all_reduce
from torch.distributed.device_mesh import init_device_mesh
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from hwlib import virtual
from hwlib.specs import models
from hwlib.virtual import shapes
from hwlib.virtual.shapes import shapes_mode
from hwlib.virtual.watch import tensors_of
from tests.hwlib.decoders import Decoder, fully_sharded, tensor_parallel

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
F, f16, f64 = nn.functional, torch.bfloat16, torch.float64
Call = Any
MAKES: tuple[Call, ...] = (
    lambda: torch.zeros(2, 3),
    lambda: torch.ones(3, 2, dtype=f16).t(),
    lambda: torch.zeros(6, dtype=torch.int64),
    lambda: torch.zeros(2, 3, 4, requires_grad=True),
    lambda: torch.full((3,), 2),
    lambda: torch.full((3,), 2.0),
    lambda: torch.full((3,), True),
    lambda: torch.zeros(4, 4, dtype=torch.complex64),
    lambda: torch.zeros(()),
    lambda: torch.tensor(3.0),
    lambda: torch.empty(4, 6)[1:3, ::2],
    lambda: torch.empty(0, 3),
    lambda: torch.rand(8, 8),
)
VIEWS: tuple[Call, ...] = (
    lambda a, b, k: a.view(-1), lambda a, b, k: a.transpose(0, -1), lambda a, b, k: a.select(0, k),
    lambda a, b, k: a[k:], lambda a, b, k: a[..., :: k + 1], lambda a, b, k: a.unsqueeze(k), lambda a, b, k: a[None],
    lambda a, b, k: a.expand(2, *a.shape), lambda a, b, k: a.split(k + 1), lambda a, b, k: a.chunk(2, -1),
    lambda a, b, k: a.unbind(k), lambda a, b, k: a.split([k, a.shape[0] - k]), lambda a, b, k: a.diagonal(),
    lambda a, b, k: a.as_strided(a.shape[:1], a.stride()[:1]), lambda a, b, k: a.detach(), lambda a, b, k: a.flatten(),
    lambda a, b, k: a.unfold(0, 2, 1), lambda a, b, k: a.view(torch.int32), lambda a, b, k: a.view(torch.int16),
    lambda a, b, k: a.real, lambda a, b, k: a.imag, lambda a, b, k: a.conj(), lambda a, b, k: a.conj().imag,
    lambda a, b, k: a.reshape(-1, k + 1), lambda a, b, k: a.squeeze(), lambda a, b, k: a.permute(1, 0),
    lambda a, b, k: torch.view_as_real(a), lambda a, b, k: a.view_as(b), lambda a, b, k: a.mT, lambda a, b, k: a.data,
)  # fmt: skip
IN_PLACE: tuple[Call, ...] = (
    lambda a, b, k: a.add_(b), lambda a, b, k: a.mul_(a), lambda a, b, k: a.mul_(k), lambda a, b, k: a.mul_(float(k)),
    lambda a, b, k: a.copy_(b), lambda a, b, k: a.zero_(), lambda a, b, k: a.detach_(), lambda a, b, k: a.t_(),
    lambda a, b, k: a.resize_(k, 2), lambda a, b, k: a.unsqueeze_(0), lambda a, b, k: a.requires_grad_(),
    lambda a, b, k: a.set_(b), lambda a, b, k: torch.add(a, b, out=b), lambda a, b, k: torch.mul(a, b, out=a),
    lambda a, b, k: torch.add(a, k, out=b), lambda a, b, k: a.normal_(), lambda a, b, k: a.squeeze_(),
    lambda a, b, k: a.index_fill_(0, torch.zeros(1, dtype=torch.int64), k), lambda a, b, k: a.masked_fill_(b > 0, k),
    lambda a, b, k: torch._foreach_add_([a, b], k), lambda a, b, k: torch._foreach_copy_([a], [b]),
    lambda a, b, k: a.data.resize_(k + 5), lambda a, b, k: torch._foreach_mul_([a, a], [k, float(k)]),
)  # fmt: skip
NEW: tuple[Call, ...] = (
    lambda a, b, k: a + b, lambda a, b, k: a * k, lambda a, b, k: a * float(k), lambda a, b, k: a * bool(k),
    lambda a, b, k: a / b, lambda a, b, k: a / k, lambda a, b, k: a**k, lambda a, b, k: a @ b, lambda a, b, k: a > b,
    lambda a, b, k: torch.cat([a, b], k), lambda a, b, k: torch.cat([a, a]), lambda a, b, k: torch.stack([a, b]),
    lambda a, b, k: a.to(f16), lambda a, b, k: a.to(f64), lambda a, b, k: a.float(), lambda a, b, k: a.long(),
    lambda a, b, k: a.clone(), lambda a, b, k: a.contiguous(), lambda a, b, k: a.sum(), lambda a, b, k: a.sum(k),
    lambda a, b, k: a.mean(k, keepdim=True), lambda a, b, k: a.amax(0), lambda a, b, k: a.argmax(k),
    lambda a, b, k: a.sort(k), lambda a, b, k: a.topk(k), lambda a, b, k: a.max(0), lambda a, b, k: a.cumsum(k),
    lambda a, b, k: torch.var_mean(a), lambda a, b, k: torch.where(a > 0, a, b), lambda a, b, k: a[b],
    lambda a, b, k: a[b.long()], lambda a, b, k: a.index_select(k, b), lambda a, b, k: a.gather(0, b),
    lambda a, b, k: a.index_put((b.long(),), a), lambda a, b, k: a.masked_fill(a > 0, k), lambda a, b, k: a.nonzero(),
    lambda a, b, k: F.embedding(b, a), lambda a, b, k: F.softmax(a, k), lambda a, b, k: F.dropout(a, 0.5),
    lambda a, b, k: F.dropout(a, 0.0), lambda a, b, k: F.rms_norm(a, a.shape[-1:]), lambda a, b, k: F.gelu(a),
    lambda a, b, k: F.layer_norm(a, a.shape[-1:]), lambda a, b, k: F.linear(a, b), lambda a, b, k: F.one_hot(a),
    lambda a, b, k: F.cross_entropy(a, b), lambda a, b, k: F.pad(a, (k, 1)), lambda a, b, k: a.repeat(k, 1),
    lambda a, b, k: torch.zeros_like(a), lambda a, b, k: torch.empty_like(a, dtype=f64), lambda a, b, k: a.new_zeros(k),
    lambda a, b, k: torch.rand_like(a), lambda a, b, k: torch.arange(k), lambda a, b, k: torch.arange(float(k)),
    lambda a, b, k: torch.arange(k, k + 3, 2), lambda a, b, k: torch.randperm(k), lambda a, b, k: a.bernoulli(),
    lambda a, b, k: torch.randint(k + 1, (2,)), lambda a, b, k: torch.full_like(a, k), lambda a, b, k: a.item(),
    lambda a, b, k: torch._foreach_mul([a, b], 2.0), lambda a, b, k: torch._foreach_norm([a, b], k),
    lambda a, b, k: F.scaled_dot_product_attention(*[a.unsqueeze(0)] * 3), lambda a, b, k: torch.bmm(a, b),
    lambda a, b, k: torch.addmm(a, a, b), lambda a, b, k: a.tril(k), lambda a, b, k: a.roll(k), lambda a, b, k: a.abs(),
    lambda a, b, k: torch.tensor(k), lambda a, b, k: torch.tensor([1.0, k]), lambda a, b, k: a.equal(b),
    lambda a, b, k: torch.autograd.grad(a.sum(), a), lambda a, b, k: (a * b).sum().backward(), lambda a, b, k: a.grad,
    lambda a, b, k: nn.Parameter(a), lambda a, b, k: a.to_sparse(), lambda a, b, k: a.to("meta"),
    lambda a, b, k: a.type(), lambda a, b, k: F.normalize(a), lambda a, b, k: torch.einsum("ij,kj->ik", a, b),
)  # fmt: skip
CALLS = MAKES + VIEWS + IN_PLACE + NEW


def about(t: torch.Tensor, before: list[torch.Tensor]) -> tuple[Any, ...]:
    """All of a tensor that a program can see, and which tensors share its storage, or are the same."""
    if t.layout is not torch.strided:
        return t.layout, t.shape
    with torch._C._DisableTorchDispatch():
        storage = t.untyped_storage()
        some = storage.nbytes() > 0  # of views of nothing torch's first has storage of its own, its second not
        dense = [one.layout is torch.strided for one in before]
        shared = [
            some and is_dense and one.untyped_storage()._cdata == storage._cdata
            for one, is_dense in zip(before, dense, strict=True)
        ]
        keys = str(torch._C._dispatch_key_set(t))
    same, bits = [one is t for one in before], (t.is_conj(), t.is_neg(), t.is_leaf, t.requires_grad, t._is_view())
    kind = (type(t), t.dtype, t.device, keys, type(t.grad_fn).__name__, getattr(t, "constant", None) is None)
    return (t.shape, t.stride(), t.storage_offset(), storage.nbytes(), shared, same, bits, kind)


def run(mode: Any, program: list[tuple[int, int, int, int, bool]]) -> list[Any]:
    """What a program makes in a mode, step by step, and what becomes of all tensors; or which error it raises."""
    with mode:
        pool = [make() for make in MAKES[:3]]
        seen: list[Any] = []
        for number, i, j, k, wide in program:
            call, a, b = CALLS[number], pool[i % len(pool)], pool[j % len(pool)]
            torch.set_default_dtype(f64 if wide else torch.float32)
            try:
                with torch.set_grad_enabled(not wide):
                    out = call() if number < len(MAKES) else call(a, b, k)
                pool = [*pool, *tensors_of(out)][-8:]
                seen.append([type(out), *(about(t, pool[:n]) for n, t in enumerate(pool))])
            except (fake_tensor.DataDependentOutputException, fake_tensor.DynamicOutputShapeException):
                seen.append(NotImplementedError)  # what ours makes a sentence of
            except Exception as error:
                seen.append(type(error))
            finally:
                torch.set_default_dtype(torch.float32)
    return seen


LINES = st.tuples(
    st.integers(0, len(CALLS) - 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), st.booleans()
)
OURS = shapes_mode()()  # for all programs, so that each meets what others have left in the table


@pytest.fixture(autouse=True)
def no_log():
    """Torch logs every error of an operator, at length."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


class Plain(FakeTensorMode):
    """Torch's own mode, as a world would have it."""

    def __init__(self):
        super().__init__(allow_non_fake_inputs=True)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(LINES, min_size=1, max_size=12))
def test_random_programs_make_what_they_make_by_torchs_own_mode(program):
    expected = run(Plain(), program)
    assert run(OURS, program) == expected
    assert run(OURS, program) == expected


@pytest.mark.parametrize("number", range(len(MAKES), len(CALLS)))
def test_an_operator_makes_of_all_tensors_what_it_makes_by_torchs_own_mode(number):
    plain = Plain()
    for make in range(len(MAKES)):
        for other, k in (make, 1), (8, 0), (2, 2):
            program = [(make, 0, 0, 0, False), (other, 0, 0, 0, False), (number, 3, 4, k, False)]
            expected = run(plain, program)
            assert run(OURS, program) == expected
            assert run(OURS, program) == expected


class Noting(TorchDispatchMode):
    """Notes all results of all operators."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        given = tensors_of([*args, *(kwargs or {}).values()])
        self.seen.append((str(func), type(out), [about(t, given) for t in tensors_of(out)]))
        return out


def trained(mode, steps=2):
    """What the operators of steps of training give: attention, foreach and fused optimizers, mixed precision."""
    with mode, Noting() as noting:
        model = nn.Sequential(nn.Embedding(50, 32), nn.TransformerEncoderLayer(32, 4, 64, 0.1, batch_first=True))
        head, x = nn.Linear(32, 50), torch.zeros(2, 7, dtype=torch.int64)
        ways = [torch.optim.AdamW(model.parameters(), fused=True), torch.optim.SGD(head.parameters(), momentum=0.9)]
        for _ in range(steps):
            with torch.autocast("cpu"):
                loss = nn.functional.cross_entropy(head(model(x)).flatten(0, 1), x.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            for way in ways:
                way.step()
                way.zero_grad()
    return noting.seen


def test_training_makes_the_same_at_every_operator():
    ours, plain = shapes_mode()(), trained(Plain())
    assert trained(ours) == plain
    kept = len(ours.known)
    assert trained(ours) == plain
    assert len(ours.known) == kept
    assert len(plain) > 300


def sharded(mesh_shape, sp):
    """A decoder under FSDP2 and tensor parallelism, and its optimizer."""

    def program(world):
        mesh = init_device_mesh("cpu", mesh_shape, mesh_dim_names=("dp", "tp"))
        with world.shapes():
            decoder = Decoder(models["llama3-8b"].replace(layers=3))
            x = torch.zeros(1, 256, dtype=torch.int64)
        fully_sharded(tensor_parallel(decoder, mesh["tp"], sp), mesh["dp"])
        adam = torch.optim.AdamW(decoder.parameters(), lr=1e-3, foreach=True)

        def train():
            decoder(x).sum().backward()
            adam.step()
            adam.zero_grad()

        return train

    return program


def attending(world):
    """Attention as torch fuses it, dropout, and a functional collective that something hides."""
    with world.shapes():
        layer, x = nn.TransformerEncoderLayer(64, 4, 128), torch.zeros(5, 3, 64)

    def train():
        summed = all_reduce(layer(x), "sum", list(range(world.ranks)))
        hidden = x * 2 + x
        (summed + hidden).mean().backward()

    return train


@pytest.mark.parametrize(
    ("ranks", "program"),
    [(1024, sharded((128, 8), False)), (64, sharded((8, 8), True)), (8, attending)],
    ids=["FSDP and TP", "with sequences cut", "attention"],
)
def test_a_step_is_to_the_last_span_what_it_is_by_torchs_own_mode(ranks, program):
    def steps(mode):
        with virtual.cluster("superpod-h100-4su", ranks) as world:
            world._shapes = mode
            train = program(world)
            return [world.step(train) for _ in range(2)]  # in the first of all, DTensor tries its operators

    assert steps(shapes_mode()()) == steps(Plain())


def test_a_view_of_storage_that_is_freed_is_left_to_torch():
    """As FSDP2 frees what it has gathered. Where torch keeps the answer too, its view makes the storage again."""

    def freed(mode):
        with mode:
            x = torch.zeros(4, 6)
            views = [x[1:], *x.split(2)]
            x.untyped_storage().resize_(0)
            return [about(t, [x]) for t in (*views, *x.split(2), x[1:])]

    ours = shapes_mode()()
    assert freed(ours) == freed(ours) == freed(Plain())


@pytest.mark.parametrize("inference", [False, True])
def test_conjugated_and_negated_views_are_known_as_such(inference):
    def parts(mode):
        with mode, torch.inference_mode(inference):
            z = torch.zeros(3, dtype=torch.complex64)
            return [about(t.detach(), [z]) for t in (z.imag, z.conj().imag, z.real, z, z.conj(), z + 1)]

    ours = shapes_mode()()
    assert parts(ours) == parts(ours) == parts(Plain())


def test_views_of_what_inference_made_are_of_inference_too():
    def views(mode):
        with mode, torch.inference_mode():
            made = torch.zeros(4, 6)
        with mode:
            plain = torch.zeros(4, 6)
            return [about(view(x), [x]) for x in (plain, made) for view in (torch.t, torch.ravel, torch.abs)]

    ours = shapes_mode()()
    assert views(ours) == views(ours) == views(Plain())


@pytest.mark.parametrize("data", [False, True])
def test_inference_runs_the_kernels_of_a_forward_pass(data):
    """In inference mode torch hands over matmul and attention whole, not the kernels that they are made of."""
    with virtual.cluster(2, data=data) as world:
        with world.shapes():
            layer, x, q = nn.Linear(8, 8), torch.zeros(2, 8, 8), torch.zeros(1, 2, 8, 8)

        def forward():
            nn.functional.scaled_dot_product_attention(q, q, q) @ layer(x)

        def spans(mode):
            with mode:
                return [(span.name, span.flops, span.end) for span in world.step(forward).spans]

        inference = spans(torch.inference_mode())
        assert inference == spans(torch.no_grad())
        assert sum(flops for _, flops, _ in inference) == (2 * 2 + 2 + 2) * 2 * 8**3


def test_modes_of_a_program_and_around_a_step_see_every_operator():
    def program():
        with FlopCounterMode(display=False) as inside:
            y = x @ x
        inner.append(inside.get_total_flops())
        return y @ y

    inner: list[int] = []
    with virtual.cluster(2) as world:
        with world.shapes():
            x = torch.zeros(8, 8)
        world.step(program, warm=2)
        with FlopCounterMode(display=False) as around:
            step = world.step(program, warm=0)
    assert (inner[-1], around.get_total_flops(), step.flops) == (2 * 8**3, 4 * 8**3, 4 * 8**3)


def test_where_torch_turns_to_real_tensors_they_are_real():
    def program():
        torch.zeros(3) + 1
        with unset_fake_temporarily():
            found.append((torch.zeros(3) + 1).tolist())

    found: list[list[float]] = []
    with virtual.cluster(2) as world:
        world.step(program)
    assert found == [[1.0] * 3] * 2


def test_other_kernel_times_are_asked_for_every_kernel():
    asked: list[float] = []

    def growing(_name, _flops, _bytes):
        asked.append(len(asked) * 1.0)
        return asked[-1]

    with virtual.cluster(2, kernel_time=growing) as world:
        with world.shapes():
            x = torch.zeros(3)
        step = world.step(lambda: [x + 1 for _ in range(4)])
    assert step.step_time == sum(range(4))


def test_the_table_holds_no_tensors_and_lets_none_live():
    mode = shapes_mode()()
    with mode:
        x = torch.zeros(64, 64, requires_grad=True)
        y = nn.functional.dropout(x @ x, 0.5).split(8)
        y[0].sum().backward()
    alive = [weakref.ref(t) for t in (x, *y, x.grad)]
    assert len(mode.known) > 5
    del x, y
    gc.collect()
    assert [ref() for ref in alive] == [None] * len(alive)
    gone = weakref.ref(mode)
    del mode
    gc.collect()
    assert gone() is None


def test_the_table_does_not_grow_for_ever(monkeypatch):
    monkeypatch.setattr(shapes, "KEPT", 10)
    with shapes_mode()() as mode:
        x = torch.zeros(3)
        for k in range(100):
            x * (k + 0.5)
        x * float("nan")
    assert len(mode.known) <= 10

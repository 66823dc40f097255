"""Kernel times of a stack, so that a program's step and `hwlib.steptime.step_time` are of the same software.

A stack states rates of products and attention, and a memory bandwidth that holds if each byte that a layer keeps moves
twice. What a layer with fused kernels keeps is what goes into its products and what comes out of them, each once:
norms, activations and sums read and write the same tensors. So a product takes its operations and the traffic of what
it keeps, and its backward passes twice that; kernels between products are in this traffic, and take no time of their
own unless a step has no products.
"""

from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from hwlib.parallel import exposed_time
from hwlib.specs import Stack
from hwlib.steptime.compute_times import GRADIENT_BYTES, KEPT_MOVES, LOGIT_BYTES, USUAL_HEAD, reached_share
from hwlib.steptime.job import Rates, rates_of
from hwlib.virtual.clock import COMPUTE, VirtualClock
from hwlib.virtual.playing import nbytes

GROUPED = ("_grouped_mm", "_scaled_grouped_mm")  # products of experts, each of its own tokens
PRODUCTS = {"mm": 0, "addmm": 1, "_scaled_mm": 0, **dict.fromkeys(GROUPED, 0)}  # the position of their first factor
ROWS_READ = ("index", "index_select", "gather")  # tokens on their way to experts and back
ROWS_PUT = {"index_put": 2, "index_put_": 2, "index_copy": 3, "index_copy_": 3}  # with the position of the rows
ROWS_ADDED = {"index_add": 3, "index_add_": 3, "scatter_add": 3, "scatter_add_": 3}
SCORES = ("bmm", "baddbmm")  # products of activations: attention that is written out
ATTENTION = {
    "_scaled_dot_product_flash_attention_for_cpu": 0,
    "_scaled_dot_product_flash_attention_for_cpu_backward": 1,
}  # with the position of their queries
IS_CAUSAL = (4, 7)
LAYERS = (*ATTENTION, "_softmax", "_softmax_backward_data")  # once in each pass through a layer


class Cost(NamedTuple):
    """A kernel: its name, operations, least bytes, and the dtype of its first tensor."""

    name: str
    flops: float
    bytes: float
    dtype: str


@dataclass
class _Kept:
    """Products of one shape in the forward pass: how many, their rows, and the bytes that they move."""

    rows: int
    number: int = 0
    moved: float = 0.0


@dataclass
class KernelTimes:
    """One step's kernels with the rates of a stack, put on a clock."""

    stack: Stack
    slow: float = 1.0
    updating: bool = False  # while an optimizer works
    _between_products: float = 0.0  # seconds that other kernels would take one by one
    _kept: dict[tuple[int, ...], _Kept] = field(default_factory=dict)
    _out: dict[int, tuple[Any, tuple[int, ...], float]] = field(default_factory=dict)  # outputs, not yet charged
    _parts: dict[int, tuple[Any, int]] = field(default_factory=dict)  # what was gathered, from so many parts
    _last: tuple[Any, int] | None = None  # the storage that the last product read
    _owed: float = 0.0  # of the loss, in the backward pass
    _layer: float | None = None  # when the last pass through a layer began
    _experts: bool = False  # since then
    widths: dict[tuple[int, int], int] = field(default_factory=dict)  # of experts, by the sides of a matrix of theirs

    def clock(self) -> VirtualClock:
        """A clock on which transfers hide as with this software."""
        return VirtualClock(hide=self.stack.hide_dp, hide_blocking=self.stack.hide_tp)

    def kernel(self, clock: VirtualClock, cost: Cost, args: tuple[Any, ...], more: dict[str, Any], out: Any) -> None:
        """Put a kernel on the clock."""
        name = cost.name
        if name in LAYERS:
            self._begin_layer(clock)
        if name in PRODUCTS and cost.flops:
            at = PRODUCTS[name]
            time = self._product(cost, args[at], args[at + 1], out)
        elif name in ATTENTION:
            time = self._attention(cost, args, more)
        elif name in SCORES:
            time = self._scores(cost, args, out)
        elif moved := _rows_moved(name, args, out):
            time = moved / self.rates("bfloat16").W
        else:
            time = self._between(clock, cost)
            if name == "cat":
                self._joined(args[0], out)
        clock.kernel(name, self.slow * time, cost.flops, cost.bytes, name not in ATTENTION)

    def loss(self, clock: VirtualClock, logits: float) -> None:
        """The loss of so many logits: they are moved in 16 bits and in 32, instead of what a product gives."""
        self._out.clear()
        time = KEPT_MOVES * LOGIT_BYTES * logits / self.rates("bfloat16").W_logits
        self._owed += 2 * time
        clock.kernel("loss", self.slow * (time + self.stack.t_loss), 0.0, LOGIT_BYTES * logits)

    def update(self, now: bool) -> None:
        """An optimizer works now, or no more: it moves bytes of its own."""
        self.updating = now

    def end(self, clock: VirtualClock) -> None:
        """What is left of a step: the part that depends on nothing, and all of it where it has no products."""
        if not self._kept:
            clock.kernel("kernels without products", self.slow * self._between_products, 0.0, 0.0)
        if self.stack.t_step:
            clock.kernel("rest of the step", self.stack.t_step, 0.0, 0.0)

    def sent(self, call: str, outputs: Any, inputs: Any, n: int) -> None:
        """What is gathered counts as kept in parts, and what is scattered too."""
        if call == "all_gather" and hasattr(outputs, "untyped_storage"):
            self._parts[_place(outputs)] = _alive(outputs), n
        elif call == "reduce_scatter" and hasattr(inputs, "untyped_storage"):
            part = self._out.get(place := _place(inputs))
            if part:
                self._out[place] = (*part[:2], part[2] / n)

    def rates(self, dtype: str) -> Rates:
        """Rates of products in a dtype of torch."""
        return rates_of(self.stack, dtype)

    def _joined(self, parts: Any, out: Any) -> None:
        """DTensor puts the parts of a tensor in another order where they are not rows."""
        places = {_place(part) for part in parts}
        if len(places) == 1:
            (place,) = places
            if place in self._parts and not self._parts[place][0].expired():
                self._parts[_place(out)] = _alive(out), self._parts[place][1]
            if place in self._out:
                self._out[_place(out)] = (_alive(out), *self._out.pop(place)[1:])

    def _product(self, cost: Cost, rows: Any, weights: Any, out: Any) -> float:
        from torch._C import _current_graph_task_id

        rates, b, E = self.rates(cost.dtype), rows.element_size(), 1
        M, K, N = rows.shape[-2], rows.shape[-1], out.shape[-1]
        shape = tuple(sorted((M, K, N)))
        backward, known = _current_graph_task_id() != -1, self._kept.get(shape)
        share = 1.0
        if cost.name in GROUPED:
            E, share = self._expert_share(rows, weights, out, backward)
        time = cost.flops / (share * rates.C)
        moved = self._flushed()
        if backward and known:
            moved += known.moved / known.number
            if known.rows == K and rows.stride(-1) != 1:  # over the tokens: the gradient of weights
                time += exposed_time.function(GRADIENT_BYTES * E * M * N / rates.W, time, self.stack.hide_sum)
        else:
            known = self._kept.setdefault(shape, _Kept(M))
            known.number += 1
            place = _place(rows)
            if self._last is None or self._last[1] != place or self._last[0].expired():
                part = self._parts.get(place)
                read = KEPT_MOVES * b * M * K / (part[1] if part and not part[0].expired() else 1)
                known.moved += read
                moved += read
            self._last = _alive(rows), place
            self._out[_place(out)] = _alive(out), shape, KEPT_MOVES * float(b * M * N)
        if not backward:
            time = max(time, b * E * K * N / rates.W)  # the weights
        moved = moved / rates.W
        if backward:
            moved += self._owed
            self._owed = 0.0
        return time + moved

    def _expert_share(self, rows: Any, weights: Any, out: Any, backward: bool) -> tuple[int, float]:
        """The number of experts, and the share of the rate of dense products that their product reaches, by the tokens
        that each sees and the width of its hidden vectors, as in `hwlib.steptime.compute_times`.

        Which side of a matrix is hidden shows with the second one, which takes in as many elements as the first one
        gives, or half as many where gate and up are one matrix: until then it is the side that comes out.
        """
        stack, self._experts = self.stack, True
        over_tokens = rows.dim() == weights.dim() == 2 or (backward and rows.stride(-1) != 1)
        E = max(tensor.shape[0] for tensor in (rows, weights, out) if tensor.dim() == 3)
        tokens = rows.shape[-1 if over_tokens else -2] / (1 if rows.dim() == 3 else E)
        K, N = (out if over_tokens else weights).shape[-2:]
        if not backward:
            for up in [sides for sides in self.widths if sides[0] == N and sides[1] in (K, 2 * K)]:
                self.widths[up] = self.widths[K, N] = K
            self.widths.setdefault((K, N), N)
        width = self.widths.get((K, N)) or self.widths.get((N, K), N)
        return E, stack.eta_E * reached_share(tokens, stack.n_E) * reached_share(width, stack.w_E)

    def _flushed(self) -> float:
        """Bytes of the outputs of earlier products: whether they are kept whole shows after them."""
        moved = 0.0
        for _, shape, size in self._out.values():
            self._kept[shape].moved += size
            moved += size
        self._out.clear()
        return moved

    def _attention(self, cost: Cost, args: tuple[Any, ...], more: dict[str, Any]) -> float:
        """What a causal mask hides is not computed. The backward pass takes twice as long as the forward pass."""
        stack, backward = self.stack, ATTENTION[cost.name]
        q, k, v = args[backward : backward + 3]
        masked = more.get("is_causal", args[IS_CAUSAL[backward]] if len(args) > IS_CAUSAL[backward] else False)
        (*groups, T, key), T_kv, value = q.shape, k.shape[-2], v.shape[-1]
        flops = 2 * prod(groups) * T * T_kv * (key + value) * ((T + 1) / (2 * T) if masked else 1.0)
        head = (key + value) / 2
        share = reached_share(T_kv, stack.T_A) * reached_share(head, stack.d_A) / reached_share(USUAL_HEAD, stack.d_A)
        return float((1 + backward) * flops / (self.rates(cost.dtype).C_attention * share))

    def _scores(self, cost: Cost, args: tuple[Any, ...], out: Any) -> float:
        """Attention that is written out: its scores are written by one product and read by the next."""
        rates = self.rates(cost.dtype)
        T, moved = max(out.shape[-2:]), max(nbytes(tensor) for tensor in (*args[-2:], out)) / rates.W
        return cost.flops / (rates.C_attention * reached_share(T, self.stack.T_A)) + moved

    def _between(self, clock: VirtualClock, cost: Cost) -> float:
        sheet, W = self.stack.accelerator.hbm_bandwidth or 0.0, self.rates("bfloat16").W
        if sheet < W:  # an ideal machine, whose memory takes no time
            return 0.0
        if cost.name.startswith("_fused_"):
            return cost.bytes / W
        time = cost.bytes / sheet
        if clock.current is not COMPUTE or self.updating:
            return time
        self._between_products += time
        return 0.0

    def _begin_layer(self, clock: VirtualClock) -> None:
        """The host launches the kernels of a pass through a layer in no less than `t_layer`."""
        stack, now = self.stack, clock.at[COMPUTE] + clock.lag
        if self._layer is not None:
            least = stack.t_layer + (stack.t_moe if self._experts else 0.0)
            wait = max(least - (now - self._layer), 0.0) + stack.t_gap
            if wait:
                clock.kernel("launch", wait, 0.0, 0.0)
        self._layer, self._experts = clock.at[COMPUTE] + clock.lag, False


def _rows_moved(name: str, args: tuple[Any, ...], out: Any) -> int:
    """Bytes of the rows that a kernel picks or puts, each read and written, and read before it is added to. What it
    copies beside them a kernel that works in place would not.
    """
    if name in ROWS_READ:
        return 2 * nbytes(out)
    times, at = (2, ROWS_PUT[name]) if name in ROWS_PUT else (3, ROWS_ADDED.get(name, len(args)))
    return times * nbytes(args[at : at + 1])


def _place(tensor: Any) -> int:
    return int(tensor.untyped_storage()._cdata)


def _alive(tensor: Any) -> Any:
    from torch.multiprocessing.reductions import StorageWeakRef

    return StorageWeakRef(tensor.untyped_storage())

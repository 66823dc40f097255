"""Bounds of parallel training: each registered one derived again, and those of a course's exercises from scratch."""

import pytest
import sympy

from hwlib import parallel
from hwlib.collectives import destination_fraction
from hwlib.parallel import bounds


def letters(names):
    return sympy.symbols(names, positive=True)


def only(comm, math, letter):
    """The bound of times that have one regime."""
    [bound] = bounds(comm, math, letter)
    return bound


def same(a, b):
    return sympy.simplify(sympy.sympify(a) - sympy.sympify(b)) == 0


B, C, D, F, W, N = letters("B C D F W n")
dp, tp, n_in, n_out, k, W_in, W_out = letters("dp tp n_in n_out k W_in W_out")


# CS336, spring 2026, assignment 2, section 8: SwiGLU, bf16, egress W, bound as a number of ranks N


def test_course_data_parallel_backward():
    """12BDF/N operations against an all-reduce of three matrices: N <= BW/C."""
    bound = only(2 * 2 * 3 * D * F / W, 12 * B * D * F / (N * C), "n")
    assert bound.side == "<="
    assert same(bound.value, B * W / C)
    assert same(bound.value, parallel.dp_max_ranks(B, C, W))


@pytest.mark.parametrize(("gathers", "scatters", "operations"), [(1, 0, 6), (1, 1, 12)], ids=["forward", "backward"])
def test_course_fsdp_has_the_same_bound_in_both_passes(gathers, scatters, operations):
    bound = only((gathers + scatters) * 2 * 3 * D * F / W, operations * B * D * F / (N * C), "n")
    assert same(bound.value, B * W / C)


@pytest.mark.parametrize(("operations", "limit"), [(6, sympy.Rational(3, 2)), (12, 3)], ids=["forward", "backward"])
def test_course_tensor_parallel(operations, limit):
    bound = only(2 * 2 * B * D / W, operations * B * D * F / (N * C), "n")
    assert bound.side == "<="
    assert same(bound.value, limit * F * W / C)
    ours = parallel.tp_limit if operations == 6 else parallel.tp_backward_limit
    assert same(bound.value, ours(F, C, W, 2, 3))


def course_mix():
    """Forward pass of a SwiGLU on X by N/X ranks: gathered weights, summed activations, arithmetic."""
    X = sympy.Symbol("X", positive=True)
    return X, 6 * D * F / (N / X) / W, 4 * B * D / X / W, 6 * B * D * F / (N * C)


def test_course_mix_of_both_overlapped():
    """At the best X both take equally long; N <= 3BFW^2/(2C^2)."""
    X, fsdp, tensor, math = course_mix()
    [best] = sympy.solve(sympy.Eq(fsdp, tensor), X)
    assert same(best, parallel.best_dp(B, F, N, W, W, 3))
    bound = only(fsdp.subs(X, best), math, "n")
    assert bound.side == "<="
    assert same(bound.value, 3 * B * F * W**2 / (2 * C**2))
    assert same(bound.value, parallel.mixed_max_ranks(B, F, C, W, W, 2, 3))


def test_course_mix_of_both_one_after_the_other():
    """The least sum is at the same X, twice as large: N <= 3BFW^2/(8C^2)."""
    X, fsdp, tensor, math = course_mix()
    [best] = sympy.solve(sympy.diff(fsdp + tensor, X), X)
    assert same(best, parallel.best_dp(B, F, N, W, W, 3))
    bound = only((fsdp + tensor).subs(X, best), math, "n")
    assert same(bound.value, 3 * B * F * W**2 / (8 * C**2))
    assert same(B / bound.value, parallel.mixed_serial_critical_batch(F, C, W, W, 2, 3))


# The registered bounds


def test_data_parallel():
    """For a rank's B/dp tokens, with its (dp - 1)/dp."""
    bound = only(parallel.dp_comm_time.expr, parallel.dp_backward_time.expr, "B")
    assert bound.side == ">="
    assert same(bound.value / dp, parallel.dp_exact_critical_batch.expr)


def test_zero3_over_the_whole_step():
    """Two gathers and a scatter against six operations a token: the bound of data parallelism again."""
    P = sympy.Symbol("P", positive=True)
    bound = only(parallel.zero3_comm_time(P, dp, W), 6 * P * B / (dp * C), "B")
    assert same(bound.value / dp, parallel.dp_exact_critical_batch(dp, C, W))


def test_hsdp_outside():
    P = sympy.Symbol("P", positive=True)
    math = 4 * P * B / (n_in * n_out * C)
    bound = only(parallel.hsdp_out_bytes(P, n_in, n_out) / W_out, math, "B")
    many = sympy.limit(bound.value / (n_in * n_out), n_out, sympy.oo)
    assert same(many, parallel.hsdp_critical_batch(n_in, C, W_out))


def test_tensor_parallel_in_a_node_and_over_nodes():
    bound = only(parallel.tp_block_time.expr, parallel.tp_math_time.expr, "tp")
    assert bound.side == "<="
    assert same(bound.value, parallel.tp_exact_limit.expr)
    across = parallel.tp_block_time(B, D, tp / n_in, n_in * W_out)
    bound = only(across, parallel.tp_math_time(B, D, F, tp, C), "tp")
    assert same(bound.value, parallel.tp_nodes_limit(F, n_in, C, W_out))
    width = only(parallel.tp_block_time(B, D, tp, W), parallel.tp_math_time(B, D, F, tp, C), "F")
    assert width.side == ">="
    assert same(sympy.limit(width.value / tp, tp, sympy.oo), parallel.tp_critical_width(tp, C, W) / tp)


def test_sequence_parallelism_gathers_once_more_in_the_backward_pass():
    """Two thirds of the backward limit without it."""
    comm = (parallel.sp_layer_bytes(B, D, tp) - parallel.tp_layer_bytes(B, D, tp) / 2) / 2 / W
    bound = only(comm, 2 * parallel.tp_math_time(B, D, F, tp, C), "tp")
    assert same(bound.value - 1, sympy.Rational(2, 3) * parallel.tp_backward_limit(F, C, W))


def test_the_two_regimes_of_experts():
    """A token goes to every node, or to k nodes: two bounds, and each is the formula in its case."""
    math = parallel.ep_math_time.expr.subs(letters("ep"), n_in * n_out)
    found = bounds(parallel.ep_nodes_limit.expr, math, "F")
    assert len(found) == 2
    assert all(bound.side == ">=" for bound in found)
    for nodes, experts in ((8, 32), (32, 8), (16, 16)):
        numbers = {"k": experts, "n_out": nodes, "C": 990.0, "W_out": 0.05, "b_disp": 1, "b_comb": 2, "matrices": 3}
        ours = parallel.ep_critical_width(experts, nodes, 990.0, 0.05, 1)
        values = {bound.at(**numbers) for bound in found if bound.holds(**numbers)}
        assert values
        assert all(value == pytest.approx(ours) for value in values)


def test_expected_copies_of_experts():
    p = letters("p_dst")
    math = parallel.ep_math_time.expr.subs(letters("ep"), n_in * n_out)
    bound = only(parallel.ep_nodes_time.expr, math, "F")
    assert same(bound.value, parallel.ep_exact_critical_width.expr)
    assert p in bound.value.free_symbols
    assert parallel.ep_exact_critical_width(8, 8, 1, 1, destination_fraction(8, 8)) < parallel.ep_critical_width(
        8, 8, 1, 1
    )


def test_node_limited_routing_over_many_nodes():
    E = {"b_disp": 1, "b_comb": 2}
    comm = parallel.ep_limited_time(B, D, 8, 4, n_in, n_out, W_out, **E).subs(sympy.Min(4, n_out), 4)
    bound = only(comm, parallel.ep_math_time(B, D, F, 8, n_in * n_out, C), "F")
    far = sympy.limit(bound.value, n_out, sympy.oo)
    assert same(far, parallel.ep_limited_critical_width(8, 4, C, W_out, **E))


def test_ring_attention_needs_a_block_of_c_over_w_tokens():
    """The paper's condition, multi-head attention in bf16, and grouped heads; a causal mask halves the work."""
    K, G, H, T, cp = letters("K G H T cp")
    comm, math = parallel.ring_step_comm_time(T, K, H, cp, W), parallel.ring_step_math_time(T, K * G, H, cp, C)
    bound = only(comm, math, "T")
    assert bound.side == ">="
    assert same(bound.value / cp, parallel.ring_critical_tokens(G, C, W))
    assert same((bound.value / cp).subs(G, 1), C / W)
    causal = only(comm, math / 2, "T")
    assert same(causal.value / cp, parallel.ring_causal_critical_tokens(G, C, W))


def test_the_best_mix_on_axes_of_unlike_width():
    W_dp, W_tp = letters("W_dp W_tp")
    first = parallel.mixed_dp_time(D, F, N / dp, W_dp)
    second = parallel.mixed_tp_time(B, D, dp, W_tp)
    [best] = sympy.solve(sympy.diff(first + second, dp), dp)
    assert same(best, parallel.best_dp(B, F, N, W_dp, W_tp))
    assert same(N / best, parallel.best_tp(B, F, N, W_dp, W_tp))
    for one in (first, second):
        assert same(one.subs(dp, best), parallel.mixed_comm_time(B, D, F, N, W_dp, W_tp))
    bound = only(first.subs(dp, best), parallel.mixed_math_time(B, D, F, N, C), "B")
    assert same(bound.value / N, parallel.mixed_critical_batch(F, C, W_dp, W_tp))
    assert same(B / bound.value * N, parallel.mixed_max_ranks(B, F, C, W_dp, W_tp))


def test_a_bound_of_the_slower_of_two_levels():
    """Max on the side of communication: each level gives a bound where it is the slower one."""
    comm = sympy.Max(2 * D * F / W_in, 2 * D * F / W_out)
    found = bounds(comm, B * D * F / C, "B")
    assert {(str(bound.value), len(bound.when)) for bound in found} == {("2*C/W_in", 1), ("2*C/W_out", 1)}
    numbers = {"C": 10, "W_in": 5, "W_out": 2, "D": 1, "F": 1}
    assert [bound.at(**numbers) for bound in found if bound.holds(**numbers)] == [10]
    assert "B >= 2*C/W_" in repr(found[0])
    assert " where " in repr(found[0])


def test_errors_name_the_letter():
    with pytest.raises(ValueError, match=r"letter .*\bB\b.*'Q'"):
        bounds(B / W, B / C, "Q")
    with pytest.raises(ValueError, match=r"\bB .* 2 "):
        bounds(B**2 + 6, 5 * B, "B")
    assert bounds(D * F / W, D * F / C, "F") == ()

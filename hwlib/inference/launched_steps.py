"""What a decode step takes beside its bytes: a fixed time of each layer, launches by the host, drafts to check.

The roofline of a step is in `hwlib.inference.decode`.
"""

from hwlib.formula import formula, maximum
from hwlib.inference.server_steps import speculative_tokens


@formula("t", cite="gpt-fast")
def reached_step_time(P, n, W, eta_W, L, t_layer, b_w=2, P_whole=0):
    """A step of one sequence: weights at the share of the bandwidth that is reached, and what each layer adds.

    P are cut among the ranks; P_whole, in gpt-fast the output matrix, every rank reads whole. t_layer is for norms,
    the starts of kernels and the two sums: it does not shrink with the ranks.
    """
    return (P / n + P_whole) * b_w / (eta_W * W) + L * t_layer


@formula("t_host", cite="sglang-omni-379")
def host_step_time(L, n_k, t_launch):
    """The host launches the kernels of a step one after the other."""
    return L * n_k * t_launch


@formula("t", cite="gpt-fast-blog")
def launched_step_time(t_dev, t_host):
    """The host runs ahead of the device until its queue is empty, so that the slower of the two decides."""
    return maximum(t_dev, t_host)


@formula("speedup", cite="leviathan2023")
def drafted_speedup(accept, drafts, c_draft, B, B_crit):
    """Tokens of a step that checks drafts, over the time of the drafts and of checking, in units of a plain step.

    Below the critical batch a step costs the same for any number of tokens, and beyond it in proportion to them; the
    caches are left out.
    """
    return speculative_tokens(accept, drafts) / (
        drafts * c_draft + maximum(1, B * (drafts + 1) / B_crit) / maximum(1, B / B_crit)
    )

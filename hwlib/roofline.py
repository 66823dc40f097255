"""Rooflines: how fast a chip can run a kernel, given its operations, its bytes and two rates of the chip.

Arguments come in one order: shapes, then the rates C and W, then bytes per element, by default 2 (bfloat16).
A matmul is [B, D] x [D, F] -> [B, F]. Attention has T queries and T_kv keys of K
heads, each shared by G query heads of width H. The fit of the kernel model's three constants is in
`hwlib.calibrated.kernel`.
"""

from hwlib.formula import formula, maximum, minimum

__all__ = [
    "attainable_flops",
    "attention_bytes",
    "attention_decode_intensity",
    "attention_flops",
    "attention_intensity",
    "attention_prefill_intensity",
    "batched_matmul_intensity",
    "compute_time",
    "critical_batch",
    "cycle_flops",
    "exact_critical_batch",
    "kernel_time",
    "matmul_bytes",
    "matmul_flops",
    "matmul_intensity",
    "matmul_intensity_ceiling",
    "matmul_intensity_limit",
    "matmul_time",
    "memory_time",
    "mixed_matmul_bytes",
    "mixed_matmul_intensity",
    "moe_critical_batch",
    "moe_intensity_limit",
    "norm_intensity",
    "overlap_speedup",
    "peak_flops",
    "pointwise_intensity",
    "ridge",
    "roofline_time",
    "serial_time",
    "split_critical_width",
    "systolic_flops",
    "tensor_cycle_flops",
    "tensor_flops",
    "vector_add_time",
    "vector_clock",
    "vector_flops",
    "vector_lanes",
]


# The two rates of a chip, and where they meet


@formula("n_ALU", cite="scaling-book")
def vector_lanes(n_SM, lanes):
    """What data sheets call CUDA cores: float32 lanes, which work in warps of 32 and are not independent cores."""
    return n_SM * lanes


@formula("f_clk", cite="scaling-book")
def vector_clock(C, n_SM, lanes, ops_cycle=2):
    """The clock at which a printed float32 rate is reached: the boost clock, which a heavy load does not sustain."""
    return C / (n_SM * lanes * ops_cycle)


@formula("C", cite="scaling-book")
def vector_flops(n_SM, lanes, f_clk, ops_cycle=2):
    """Peak rate of the vector units: every lane works every cycle; a fused multiply-add is two operations.

    A multiprocessor has 128 float32 lanes since Hopper and in AMD's compute units, 64 on Volta and Ampere.
    """
    return n_SM * lanes * ops_cycle * f_clk


@formula("C", cite="scaling-book")
def tensor_flops(n_SM, f_clk, ops_cycle):
    """Peak matrix rate since Ampere: four tensor cores per multiprocessor; on Hopper, each 1024 bf16 FLOP per cycle."""
    return 4 * n_SM * ops_cycle * f_clk


@formula("ops_cycle", cite="scaling-book")
def tensor_cycle_flops(C, n_SM, f_clk):
    """Operations of one tensor core per cycle, from a printed rate. If not a power of two, the clock is another one."""
    return C / (4 * n_SM * f_clk)


@formula("ops_cycle", cite="nvidia-hopper")
def cycle_flops(C, n_SM, f_clk):
    """Operations of one multiprocessor per cycle, all its units together: the number that a generation doubles."""
    return C / (n_SM * f_clk)


@formula("C", cite="nvidia-hopper")
def peak_flops(n_SM, ops_cycle, f_clk):
    """A peak is a product: multiprocessors, operations of each per cycle, and the clock at which it is quoted."""
    return n_SM * ops_cycle * f_clk


@formula("C", cite="scaling-book")
def systolic_flops(n_SM, n_MXU, side, f_clk):
    """Peak of a TPU: each of the side x side cells of a matrix unit does one multiply-add per cycle."""
    return 2 * n_SM * n_MXU * side**2 * f_clk


@formula("I", cite="williams2009")
def ridge(C, W):
    """The intensity at which arithmetic and memory take the same time; below it, a kernel is memory-bound."""
    return C / W


@formula("R", cite="williams2009")
def attainable_flops(I, C, W):
    """The roofline itself: the slope is what memory can feed, the flat roof is what the chip can compute."""
    return minimum(C, I * W)


# Time from work and traffic


@formula("t", cite="scaling-book")
def compute_time(flops, C):
    """Time of the arithmetic alone, at the peak rate."""
    return flops / C


@formula("t", cite="scaling-book")
def memory_time(bytes, W):
    """Time of the memory traffic alone, at the full bandwidth."""
    return bytes / W


@formula("t", cite="scaling-book")
def roofline_time(flops, bytes, C, W):
    """Lower bound of the time: arithmetic and traffic overlap perfectly, so the slower of the two decides."""
    return maximum(flops / C, bytes / W)


@formula("t", cite="scaling-book")
def serial_time(flops, bytes, C, W):
    """Time at full rates without any overlap: first one, then the other. At most twice the roofline time."""
    return flops / C + bytes / W


@formula("speedup", cite="scaling-book")
def overlap_speedup(flops, bytes, C, W):
    """Speedup of perfect overlap: 2 where arithmetic and traffic take equally long, near 1 far from there."""
    return (flops / C + bytes / W) / maximum(flops / C, bytes / W)


# Matrix products


@formula("flops", cite="scaling-book")
def matmul_flops(B, D, F):
    """Each of the B*F outputs is a sum of D products: D multiplications and (strictly) D - 1 additions."""
    return 2 * B * D * F


@formula("bytes", cite="scaling-book")
def matmul_bytes(B, D, F, b=2):
    """Read both operands once and write the result once: the minimal traffic."""
    return b * (B * D + D * F + B * F)


@formula("I", cite="scaling-book")
def matmul_intensity(B, D, F, b=2):
    """FLOPs per byte of a matmul: cubic work over quadratic traffic, so intensity grows with the shortest side."""
    return 2 * B * D * F / (b * (B * D + D * F + B * F))


@formula("I", cite="scaling-book")
def matmul_intensity_limit(B, b_w=2):
    """Intensity when B is far below D and F: only weights are read, and each serves 2B operations."""
    return 2 * B / b_w


@formula("I", cite="scaling-book")
def matmul_intensity_ceiling(D, F, b=2):
    """Intensity as B grows without bound: the weights are free, inputs and outputs remain."""
    return 2 * D * F / (b * (D + F))


@formula("bytes", cite="scaling-book")
def mixed_matmul_bytes(B, D, F, b=2, b_w=2, b_out=2):
    """Traffic when input, weights and output differ in width: weights quantised to 8 bits have b_w = 1."""
    return b * B * D + b_w * D * F + b_out * B * F


@formula("I", cite="scaling-book")
def mixed_matmul_intensity(B, D, F, b=2, b_w=2, b_out=2):
    """Operations per byte when input, weights and output differ in width."""
    return 2 * B * D * F / (b * B * D + b_w * D * F + b_out * B * F)


@formula("I", cite="scaling-book")
def batched_matmul_intensity(B, D, F, b=2):
    """Intensity with a separate matrix for every example: no weight is reused, so intensity stays below 2/b."""
    return 2 * B * D * F / (b * (B * D + B * D * F + B * F))


@formula("t", cite="scaling-book")
def matmul_time(B, D, F, C, W, b=2):
    """Roofline time of a matmul."""
    return roofline_time(matmul_flops(B, D, F), matmul_bytes(B, D, F, b), C, W)


# Other operations


@formula("I", cite="williams2009")
def pointwise_intensity(ops, reads, b=2):
    """`ops` operations per element, `reads` arrays read and one written; the arrays' size cancels."""
    return ops / ((reads + 1) * b)


@formula("t", cite="scaling-book")
def vector_add_time(N, W, b=4):
    """Two arrays are read and one is written; on every chip in the tables, that takes longer than adding."""
    return 3 * b * N / W


@formula("I", cite="zhang2019")
def norm_intensity(B, D, b=2):
    """RMSNorm of B rows: an element is squared, added, scaled by the root and by its gain: four operations.

    A row is read and written once and the D gains are read once; the root, one per row, is neglected.
    """
    return 4 * B * D / (b * (2 * B * D + D))


@formula("flops", cite="scaling-book")
def attention_flops(B, T, T_kv, K, G, H):
    """Two matmuls, scores and weighted values, of 2*T*T_kv*H for each of the K*G heads; softmax is neglected."""
    return 4 * B * T * T_kv * K * G * H


@formula("bytes", cite="dao2022")
def attention_bytes(B, T, T_kv, K, G, H, b=2):
    """Fused attention moves queries and outputs (K*G heads), keys and values (K heads), and no scores."""
    return 2 * b * B * K * H * (T * G + T_kv)


@formula("I", cite="scaling-book")
def attention_intensity(T, T_kv, G, b=2):
    """Operations per byte of fused attention; batch, heads and head width cancel."""
    return 2 * T * T_kv * G / (b * (T * G + T_kv))


@formula("I", cite="scaling-book")
def attention_prefill_intensity(T, G, b=2):
    """Prefill: as many queries as keys, so intensity grows with the length of the prompt."""
    return 2 * T * G / (b * (G + 1))


@formula("I", cite="scaling-book")
def attention_decode_intensity(T_kv, G, b=2):
    """Decode: one query. Every key is read for the G heads that share it, so intensity stays below 2G/b."""
    return 2 * G * T_kv / (b * (G + T_kv))


# The batch from which on a matmul is compute-bound


@formula("B_crit", cite="scaling-book")
def critical_batch(C, W, b_w=2):
    """Tokens from which a matmul with large D and F is compute-bound.

    While the b_w bytes of a weight arrive, the chip can do C/W * b_w operations; each token asks for two.
    """
    return b_w * C / (2 * W)


@formula("B_crit", cite="scaling-book")
def exact_critical_batch(D, F, C, W, b=2, b_w=2, b_out=2):
    """The critical batch for finite D and F, where inputs and outputs take bandwidth too.

    A negative result, or a division by zero, means that no batch is large enough: the ceiling is below the ridge.
    """
    return b_w / (2 * W / C - b / F - b_out / D)


@formula("B_crit", cite="scaling-book")
def moe_critical_batch(E, k, C, W, b_w=2):
    """All E experts are read, but each processes k/E of the tokens: the critical batch is larger by E/k."""
    return E / k * critical_batch(C, W, b_w)


@formula("I", cite="scaling-book")
def moe_intensity_limit(B, E, k, b_w=2):
    """Intensity of balanced experts with few tokens compared to D and F: 2*B*k/E operations per weight."""
    return 2 * B * k / (b_w * E)


@formula("D_crit", cite="scaling-book")
def split_critical_width(C, W, b=2):
    """Width from which on two chips that split the contracted axis D are bound by arithmetic, not by the network.

    Each computes B*D*F operations and sends b*B*F bytes of partial sums at bandwidth W: B and F cancel.
    """
    return b * C / W


# Beyond the roofline: efficiency and launch overhead


@formula("t", cite="scaling-book")
def kernel_time(flops, bytes, C, W, eta_C, eta_W, t0):
    """A roofline with three measured constants: the efficiencies of arithmetic and memory, and the launch time."""
    return t0 + maximum(flops / (eta_C * C), bytes / (eta_W * W))

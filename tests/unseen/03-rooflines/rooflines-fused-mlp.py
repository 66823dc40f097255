# %% right: products over five arrays
B, D, F = symbols("rooflines-fused-mlp")
answer = 3*2*B*D*F/(2*(B*D + D*F + D*F + F*D + B*D))
# %% right: simplified by hand
B, D, F = symbols("rooflines-fused-mlp")
answer = 3*B*F/(2*B + 3*F)
# %% right: harmonic form
B, D, F = symbols("rooflines-fused-mlp")
answer = 1/(1/B + 2/(3*F))
# %% right: the library counts, less what stays
B, D, F = symbols("rooflines-fused-mlp")
up = matmul_flops(B, D, F)
down = matmul_flops(B, F, D)
moved = 2*matmul_bytes(B, D, F) + matmul_bytes(B, F, D) - 3*2*B*F - 2*B*D
answer = (2*up + down)/moved
# %% right: sympy sum over the arrays
import sympy
B, D, F = symbols("rooflines-fused-mlp")
arrays = {"x": B*D, "W_g": D*F, "W_u": D*F, "W_d": F*D, "y": B*D}
answer = sympy.Integer(6)*B*D*F/sum(2*n for n in arrays.values())
# %% right: batch, times the share that is weights
B, D, F = symbols("rooflines-fused-mlp")
answer = B*(6*D*F)/(6*D*F + 4*B*D)
# %% wrong: the product of size [B x F] leaves the chip
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*(2*B*D + 3*D*F + 2*B*F))
# %% wrong: two of the three weights
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*(2*B*D + 2*D*F))
# %% wrong: forgets the output
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*(B*D + 3*D*F))
# %% wrong: reads x twice
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*(3*B*D + 3*D*F))
# %% wrong: elements instead of bytes
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*B*D + 3*D*F)
# %% wrong: two products
B, D, F = symbols("rooflines-fused-mlp")
answer = 4*B*D*F/(2*(2*B*D + 3*D*F))
# %% wrong: one FLOP a multiply-add
B, D, F = symbols("rooflines-fused-mlp")
answer = 3*B*D*F/(2*(2*B*D + 3*D*F))
# %% wrong: the batch, as for wide layers
B, D, F = symbols("rooflines-fused-mlp")
answer = B
# %% wrong: the intensity of one product
B, D, F = symbols("rooflines-fused-mlp")
answer = matmul_intensity(B, D, F)
# %% wrong: three kernels, each with its own traffic
B, D, F = symbols("rooflines-fused-mlp")
answer = 6*B*D*F/(2*matmul_bytes(B, D, F) + matmul_bytes(B, F, D))
# %% wrong: the ratio turned round
B, D, F = symbols("rooflines-fused-mlp")
answer = (2*B + 3*F)/(3*B*F)
# %% wrong: the ceiling of a large batch
B, D, F = symbols("rooflines-fused-mlp")
answer = 3*F/2

# %% right: product twice, multiplication once
def predict_time(B, D, F, b, C, W, t0):
    product = t0 + max(2*B*D*F/C, b*(B*D + D*F + B*F)/W)
    multiply = t0 + max(B*F/C, 3*b*B*F/W)
    return 2*product + multiply
# %% right: the library's roofs
def predict_time(B, D, F, b, C, W, t0):
    product = matmul_time(B, D, F, C, W, b)
    multiply = roofline_time(B*F, 3*B*F*b, C, W)
    return 3*t0 + product + product + multiply
# %% right: a list of kernels
def predict_time(B, D, F, b, C, W, t0):
    x, w, h = B*D, D*F, B*F
    kernels = [(2*B*D*F, (x, w, h)), (2*B*D*F, (x, w, h)), (h, (h, h, h))]
    return sum(t0 + max(flops/C, b*sum(arrays)/W) for flops, arrays in kernels)
# %% right: numpy
import numpy as np
def predict_time(B, D, F, b, C, W, t0):
    flops = np.array([2*D, 2*D, 1])*float(B*F)
    elements = np.array([B*D + D*F + B*F]*2 + [3*B*F], dtype=float)
    return np.sum(t0 + np.maximum(flops/C, b*elements/W))
# %% right: a lambda and the kernel model
predict_time = lambda B, D, F, b, C, W, t0: (
    2*KernelModel(1, 1, t0, C, W).time(matmul_flops(B, D, F), matmul_bytes(B, D, F, b))
    + KernelModel(1, 1, t0, C, W).time(B*F, 3*b*B*F))
# %% right: an inner function, branches instead of max
def predict_time(B, D, F, b, C, W, t0=0.0):
    def kernel(flops, read, written):
        t_C, t_W = flops/C, (read + written)*b/W
        if t_C >= t_W:
            return t0 + t_C
        return t0 + t_W
    h = B*F
    first = kernel(2*D*h, B*D + D*F, h)
    second = kernel(2*D*h, B*D + D*F, h)
    return first + second + kernel(h, 2*h, h)
# %% wrong: forgets the multiplication
def predict_time(B, D, F, b, C, W, t0):
    return 2*(t0 + matmul_time(B, D, F, C, W, b))
# %% wrong: one launch for all
def predict_time(B, D, F, b, C, W, t0):
    return t0 + 2*matmul_time(B, D, F, C, W, b) + max(B*F/C, 3*b*B*F/W)
# %% wrong: one product
def predict_time(B, D, F, b, C, W, t0):
    return 2*t0 + matmul_time(B, D, F, C, W, b) + max(B*F/C, 3*b*B*F/W)
# %% wrong: adds the two clocks of each kernel
def predict_time(B, D, F, b, C, W, t0):
    product = 2*B*D*F/C + matmul_bytes(B, D, F, b)/W
    return 3*t0 + 2*product + B*F/C + 3*b*B*F/W
# %% wrong: one roof over all three
def predict_time(B, D, F, b, C, W, t0):
    flops = 2*matmul_flops(B, D, F) + B*F
    traffic = 2*matmul_bytes(B, D, F, b) + 3*b*B*F
    return 3*t0 + max(flops/C, traffic/W)
# %% wrong: the multiplication reads one array
def predict_time(B, D, F, b, C, W, t0):
    return 3*t0 + 2*matmul_time(B, D, F, C, W, b) + max(B*F/C, 2*b*B*F/W)
# %% wrong: launches forgotten
def predict_time(B, D, F, b, C, W, t0):
    return 2*matmul_time(B, D, F, C, W, b) + max(B*F/C, 3*b*B*F/W)
# %% wrong: bf16 for any b
def predict_time(B, D, F, b, C, W, t0):
    return 3*t0 + 2*matmul_time(B, D, F, C, W) + max(B*F/C, 3*2*B*F/W)
# %% wrong: the launch overlaps as a third clock
def predict_time(B, D, F, b, C, W, t0):
    product = max(t0, matmul_time(B, D, F, C, W, b))
    return 2*product + max(t0, B*F/C, 3*b*B*F/W)
# %% wrong: fused, so the halves never leave the chip
def predict_time(B, D, F, b, C, W, t0):
    return t0 + max((4*B*D*F + B*F)/C, b*(B*D + 2*D*F + B*F)/W)
# %% wrong: x is read once for both products
def predict_time(B, D, F, b, C, W, t0):
    flops = 2*B*D*F
    first = t0 + max(flops/C, b*(B*D + D*F + B*F)/W)
    second = t0 + max(flops/C, b*(D*F + B*F)/W)
    return first + second + t0 + max(B*F/C, 3*b*B*F/W)
# %% wrong: one FLOP a multiply-add
def predict_time(B, D, F, b, C, W, t0):
    product = t0 + max(B*D*F/C, b*(B*D + D*F + B*F)/W)
    return 2*product + t0 + max(B*F/C, 3*b*B*F/W)
# %% wrong: products never write
def predict_time(B, D, F, b, C, W, t0):
    product = t0 + max(2*B*D*F/C, b*(B*D + D*F)/W)
    return 2*product + t0 + max(B*F/C, 3*b*B*F/W)
# %% wrong: elements of the multiplication without their bytes
def predict_time(B, D, F, b, C, W, t0):
    return 3*t0 + 2*matmul_time(B, D, F, C, W, b) + max(B*F/C, 3*B*F/W)

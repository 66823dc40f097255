"""The functions of single elements under the names `tl.math.exp2` and the like, as published kernels call them."""

from hwlib.tl.language import abs, exp, exp2, log, log2, maximum, minimum, rsqrt, sqrt

max, min = maximum, minimum

__all__ = ["abs", "exp", "exp2", "log", "log2", "max", "min", "rsqrt", "sqrt"]

"""A small numpy in plain Python, for a page whose Python has none: its names, its semantics, its types of results.

Arrays have any number of dimensions; slices, transposes and reshapes are views. Not here: complex numbers, objects,
dates, masked arrays, linear algebra, Fourier transforms, files, warnings; of texts there is little more than equality.
A sum of float32 is rounded once. Random numbers are Python's: for the same seed, they differ from numpy's.
"""

from __future__ import annotations

import math
from typing import Any

from hwlib.plain import creation, dtypes, elementwise, joining, methods, products, queries, reductions, sorting, strided
from hwlib.plain import random_numbers as random
from hwlib.plain.arrays import asarray, broadcast_to, ndarray
from hwlib.plain.ufuncs import ufunc

NAMES = {
    dtypes: """
        bool_ dtype float16 float32 float64 floating double generic half inexact int8 int16 int32 int64 int_ integer
        intp number signedinteger single str_ uint uint8 uint16 uint32 uint64 unsignedinteger""",
    creation: """
        arange array ascontiguousarray copy empty empty_like eye frombuffer fromfunction fromiter full full_like
        geomspace identity indices linspace logspace meshgrid ones ones_like tri zeros zeros_like""",
    elementwise: """
        abs absolute add allclose arccos arccosh arcsin arcsinh arctan arctan2 arctanh around bitwise_and bitwise_not
        bitwise_or bitwise_xor cbrt ceil clip copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs
        floor floor_divide fmax fmin fmod gcd greater greater_equal hypot inf invert isclose isfinite isinf isnan lcm
        left_shift less less_equal log log10 log1p log2 logical_and logical_not logical_or logical_xor maximum minimum
        mod multiply nan nan_to_num negative nonzero not_equal positive pow power rad2deg radians reciprocal remainder
        right_shift rint round sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc where""",
    reductions: """
        all amax amin any argmax argmin average count_nonzero cumprod cumsum diff max mean median min nanmax nanmean
        nanmin nanprod nansum percentile prod ptp quantile std sum var""",
    joining: """
        append apply_along_axis array_split atleast_1d atleast_2d broadcast_arrays c_ column_stack concatenate delete
        diag expand_dims flip fliplr flipud hstack insert moveaxis pad r_ repeat roll rot90 split stack take
        take_along_axis tile trace tril tril_indices triu triu_indices vectorize vstack""",
    sorting: """
        argpartition argsort argwhere array_equal bincount can_cast digitize flatnonzero histogram in1d interp
        intersect1d isin lexsort may_share_memory partition searchsorted setdiff1d shares_memory sort union1d
        unique unravel_index""",
    products: "convolve dot einsum inner kron matmul outer vdot",
    queries: """
        copyto errstate finfo iinfo iscomplex isscalar issubdtype ndenumerate ndim ndindex printoptions promote_types
        ravel reshape result_type set_printoptions seterr shape size squeeze swapaxes transpose""",
    strided: "broadcast_shapes",
}
globals().update({name: getattr(module, name) for module, names in NAMES.items() for name in names.split()})
globals()["bool"] = dtypes.bool_
True_, False_ = dtypes.bool_(True), dtypes.bool_(False)
pi, e, newaxis = math.pi, math.e, None
concat, bitwise_invert, permute_dims = joining.concatenate, elementwise.invert, queries.transpose
__all__ = [
    *(name for names in NAMES.values() for name in names.split()),
    "False_",
    "True_",
    "asarray",
    "bitwise_invert",
    "bool",
    "broadcast_to",
    "concat",
    "e",
    "methods",
    "ndarray",
    "newaxis",
    "permute_dims",
    "pi",
    "random",
    "ufunc",
]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(f"the page's small numpy has no {name}; open the notebook for it")

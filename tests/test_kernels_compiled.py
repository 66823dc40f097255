"""The declared solutions of Kernel exercises are kernels of Triton as they stand: it compiles them for a GPU."""

import importlib.util
from functools import cache

import numpy as np
import pytest

from benchmarks.gpu.kernels import kernels
from tests.each import each
from tests.hwlib.under_triton import jitted

pytestmark = [
    pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="Triton is for Linux only"),
    pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION"),
]


@cache
def launched():
    """Source and launches of each kernel, by its name."""
    return {name: (source, launches) for name, source, _, launches in kernels()}


def kind(value):
    if isinstance(value, np.ndarray):
        return f"*{ {'float32': 'fp32', 'int32': 'i32'}[str(value.dtype)] }"
    return {tuple: "*fp32", float: "fp32", int: "i32"}[type(value)]


@each("name", launched)
def test_it_compiles_for_hopper(name, tmp_path):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source, launches = launched()[name]
    kernel = jitted(source, tmp_path, name)
    _, given = launches[-1]
    typed = {one.name: given[one.name] for one in kernel.params if one.is_constexpr}
    signature = {one.name: "constexpr" if one.is_constexpr else kind(given[one.name]) for one in kernel.params}
    made = triton.compile(ASTSource(kernel, signature, typed), target=GPUTarget("cuda", 90, 32))
    assert ".target sm_90" in made.asm["ptx"]
    assert "ld.global" in made.asm["ptx"] or "cp.async" in made.asm["ptx"]


def test_what_only_python_can_do_is_not_compiled(tmp_path):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = (
        "def both(x_ptr, y_ptr):\n    x, y = (tl.load(one) for one in (x_ptr, y_ptr))\n    tl.store(x_ptr, x + y)\n"
    )
    kernel = jitted(source, tmp_path, "both")
    with pytest.raises(triton.CompilationError, match="GeneratorExp"):
        triton.compile(ASTSource(kernel, {"x_ptr": "*fp32", "y_ptr": "*fp32"}, {}), target=GPUTarget("cuda", 90, 32))

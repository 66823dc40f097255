"""Run the kernels under Triton's interpreter, counting what it loads and stores:
`TRITON_INTERPRET=1 python -m tests.hwlib.under_triton FOLDER` writes an .npz for each kernel. A process of its own, for
Triton decides when it is imported whether it interprets."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

from tests.hwlib import kernels

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


X = draw(37, 50)
CASES = {
    "add": ((4,), {"x_ptr": draw(1000), "y_ptr": draw(1000), "out_ptr": (1000,), "n": 1000, "BLOCK": 256}),
    "transpose": ((3, 4), {"x_ptr": X, "out_ptr": (50, 37), "M": 37, "N": 50, "BM": 16, "BN": 16}),
    "softmax": ((37,), {"x_ptr": X, "out_ptr": (37, 50), "N": 50, "BLOCK": 64}),
    "online_softmax": ((37,), {"x_ptr": X, "out_ptr": (37, 50), "N": 50, "BLOCK": 16}),
    "matmul": (
        (3, 4),
        {"a_ptr": draw(40, 50), "b_ptr": draw(50, 60), "c_ptr": (40, 60), "M": 40, "N": 60, "K": 50, "BM": 16, "BN": 16,
         "BK": 16},
    ),
    "grouped_matmul": (
        (9,),
        {"a_ptr": draw(48, 32), "b_ptr": draw(32, 48), "c_ptr": (48, 48), "M": 48, "N": 48, "K": 32, "BM": 16,
         "BN": 16, "BK": 16, "GROUP": 2},
    ),
    "attention": (
        (5,),
        {"q_ptr": draw(70, 32), "k_ptr": draw(70, 32), "v_ptr": draw(70, 32), "out_ptr": (70, 32), "T": 70,
         "scale": 32**-0.5, "D": 32, "BM": 16, "BN": 16},
    ),
}  # fmt: skip
"""Grid and arguments of each; a shape stands for an array to write."""


def theirs(folder: Path):
    """The kernels as those of Triton."""
    path = folder / "their_kernels.py"
    source = Path(kernels.__file__).read_text(encoding="utf-8")
    source = source.replace("from hwlib import tl", "import triton\nimport triton.language as tl")
    path.write_text(source.replace("\ndef ", "\n@triton.jit\ndef "), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("their_kernels", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def jitted(source: str, folder: Path, name: str):
    """The kernel of a source in the language of `hwlib.tl`, as Triton's."""
    path = folder / f"{name.replace('-', '_')}_.py"
    path.write_text(f"import triton\nimport triton.language as tl\n\n\n@triton.jit\n{source}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(one for one in vars(module).values() if type(one).__name__ == "JITFunction")


def tensors(given):
    """The arrays among the arguments, as torch's."""
    import torch

    arrays = {key: value for key, value in given.items() if type(value) is tuple or isinstance(value, np.ndarray)}
    return {
        key: torch.empty(value) if type(value) is tuple else torch.from_numpy(value.copy())
        for key, value in arrays.items()
    }


def main(folder: Path) -> None:
    from triton.runtime.interpreter import _get_np_dtype, interpreter_builder

    counted = {"loaded": 0, "stored": 0}
    load, store = interpreter_builder.create_masked_load, interpreter_builder.create_masked_store

    def loading(ptrs, mask, other, *more):
        counted["loaded"] += int(mask.data.sum()) * np.dtype(_get_np_dtype(ptrs.get_element_ty())).itemsize
        return load(ptrs, mask, other, *more)

    def storing(ptrs, value, mask, *more):
        counted["stored"] += int(mask.data.sum()) * value.data.itemsize
        return store(ptrs, value, mask, *more)

    interpreter_builder.create_masked_load, interpreter_builder.create_masked_store = loading, storing
    module = theirs(folder)
    for name, (grid, given) in CASES.items():
        arrays = tensors(given)
        counted.update(loaded=0, stored=0)
        getattr(module, name)[grid](**{**given, **arrays})
        np.savez(folder / f"{name}.npz", **counted, **{key: array.numpy() for key, array in arrays.items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]))

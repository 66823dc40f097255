"""The small numpy does what numpy does: the same values, shapes, types and classes of errors, on random programs."""

import copy
import itertools
import random

import numpy as np
import pytest

from hwlib import plain

TYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]
DIGITS = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-12}
ERRORS = (IndexError, ValueError, OverflowError, ZeroDivisionError, TypeError, AttributeError)
OPERATIONS = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "fmax", "fmin",
    "fmod", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "bitwise_and", "bitwise_or",
    "bitwise_xor", "logical_and", "logical_or", "logical_xor", "isclose",
]  # fmt: skip
FUNCTIONS = [
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "arctan",
    "tanh", "floor", "ceil", "trunc", "rint", "round", "abs", "negative", "sign", "square", "isnan", "isfinite",
    "isinf", "signbit", "logical_not", "invert",
]  # fmt: skip
REDUCTIONS = [
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "mean",
    "var",
    "std",
    "median",
    "argmax",
    "argmin",
    "ptp",
    "count_nonzero",
]
LINES = ["sort", "argsort", "cumsum", "cumprod", "flip", "diff"]


def shape_of(rng, least=0):
    return tuple(rng.randint(0 if rng.random() < 0.05 else 1, 4) for _ in range(rng.randint(least, 3)))


def array_of(of, rng, kind, shape, most=9):
    count = int(np.prod(shape))
    odd = lambda: rng.choice([0.0, -0.0, float("inf"), -float("inf"), float("nan")])
    draw = {
        "b": lambda: rng.random() < 0.5,
        "i": lambda: rng.randint(-most, most),
        "u": lambda: rng.randint(0, most),
        "f": lambda: rng.gauss(0, 3) if rng.random() < 0.9 else odd(),
    }[kind[0]]
    return of.array([draw() for _ in range(count)], dtype=kind).reshape(shape)


def outcome(program, of, seed):
    """What a program makes with numpy or with the small one; its class where it is an error."""
    try:
        return program(of, random.Random(seed))
    except ERRORS as error:
        return next(one for one in ERRORS if isinstance(error, one))


def assert_alike(program, seeds):
    with np.errstate(all="ignore"):
        for seed in seeds:
            want, found = outcome(program, np, seed), outcome(program, plain, seed)
            assert_same(found, want, f"seed {seed}")


def assert_same(found, want, told):
    if isinstance(want, (tuple, list)) and not isinstance(found, type):
        assert len(found) == len(want), told
        for one, other in zip(found, want, strict=True):
            assert_same(one, other, told)
        return
    if not isinstance(want, (np.ndarray, np.generic)):
        assert found == want, told
        return
    assert isinstance(found, plain.ndarray if isinstance(want, np.ndarray) else plain.generic), (told, found, want)
    assert (found.dtype.name, found.shape) == (want.dtype.name, want.shape), told
    if want.dtype.kind == "f":
        exact = DIGITS[want.dtype.name]
        np.testing.assert_allclose(found.tolist(), want.tolist(), rtol=exact, atol=exact, err_msg=told)
    else:
        assert found.tolist() == want.tolist(), told


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_on_arrays_of_any_two_types_that_stretch(name):
    def program(of, rng, kinds):
        shape = shape_of(rng)
        cut = lambda: tuple(1 if rng.random() < 0.3 else size for size in shape)[rng.choice([0, 0, 1]) :]
        one, other = cut(), cut()
        if rng.random() < 0.05:
            other = tuple(size + 1 for size in other)
        return getattr(of, name)(*(array_of(of, rng, kind, at) for kind, at in zip(kinds, (one, other), strict=True)))

    for number, kinds in enumerate(itertools.product(TYPES, TYPES)):
        assert_alike(lambda of, rng, kinds=kinds: program(of, rng, kinds), [number])


@pytest.mark.parametrize("name", [*OPERATIONS, "power"])
def test_a_number_of_pythons_does_not_widen_an_array(name):
    for kind, number in itertools.product(TYPES, (2, 2.5, True, -1, 300)):
        for order in (1, -1):
            assert_alike(
                lambda of, rng, kind=kind, number=number, order=order: getattr(of, name)(
                    *(array_of(of, rng, kind, (3,)), number)[::order]
                ),
                [1],
            )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_arrays_of_any_type(name):
    for kind in TYPES:
        assert_alike(lambda of, rng, kind=kind: getattr(of, name)(array_of(of, rng, kind, shape_of(rng))), range(4))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_over_some_axes(name):
    def program(of, rng):
        x = array_of(of, rng, rng.choice(TYPES), shape_of(rng, 1))
        some = [None, *range(-x.ndim, x.ndim + 1), *([(0, 1)] if x.ndim > 1 and "arg" not in name else [])]
        return getattr(of, name)(x, axis=rng.choice(some), keepdims=rng.random() < 0.3)

    assert_alike(program, [seed for seed in range(120) if 0 not in shape_of(random.Random(seed), 1)])


@pytest.mark.parametrize("name", LINES)
def test_a_function_along_an_axis(name):
    def program(of, rng):
        shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 3)))
        x = array_of(of, rng, rng.choice(TYPES), shape)
        stable = {"kind": "stable"} if name == "argsort" else {}
        return getattr(of, name)(x, axis=rng.randrange(-x.ndim, x.ndim), **stable)

    assert_alike(program, range(100))


def part_of(of, rng, size):
    kind = rng.choice(["number", "slice", "list", "mask", "column"])
    if kind == "number":
        return rng.randint(-size - (rng.random() < 0.1), size - 1)
    if kind == "slice":
        start, stop = (rng.choice([None, rng.randint(-size - 1, size + 1)]) for _ in range(2))
        return slice(start, stop, rng.choice([None, 1, 2, -1, -2]))
    if kind == "mask":
        return of.array([rng.random() < 0.5 for _ in range(size)])
    places = [rng.randrange(-size, size) for _ in range(2)]
    return places if kind == "list" else of.array([[one] for one in places])


def index_of(of, rng, shape):
    parts = [part_of(of, rng, size) for size in shape[: rng.randint(0, len(shape))]]
    if rng.random() < 0.2:
        parts.insert(rng.randint(0, len(parts)), None)
    if rng.random() < 0.2:
        parts.insert(rng.choice([0, len(parts)]), ...)
    return parts[0] if len(parts) == 1 else tuple(parts)


def seen(of, rng):
    """An array, or a view of one that is turned or runs backwards."""
    shape = tuple(rng.randint(1, 5) for _ in range(rng.randint(1, 4)))
    x = of.arange(int(np.prod(shape))).reshape(shape)
    x = x.transpose(rng.sample(range(x.ndim), x.ndim)) if rng.random() < 0.5 else x
    return x[::-1] if rng.random() < 0.3 else x


def test_an_index_picks_what_it_does_of_an_array_of_numpys():
    def program(of, rng):
        x = seen(of, rng)
        return x[index_of(of, rng, x.shape)]

    assert_alike(program, range(1500))


@pytest.mark.parametrize("write", ["number", "array", "in-place"])
def test_what_is_written_through_an_index_stands_in_the_array_and_its_views(write):
    def program(of, rng):
        x = seen(of, rng)
        views = [x.T, x[::2], x.reshape(-1)]
        at = index_of(of, rng, x.shape)
        if write == "number":
            x[at] = 99
        elif write == "in-place":
            x[at] += 5
        else:
            x[at] = of.asarray(x[at]) * 2.5
        return [x, *views]

    assert_alike(program, range(700))


@pytest.mark.parametrize("at", [slice(1, 3), [0, 1], slice(None, None, -2), (slice(None), 1), ..., 0])
def test_what_has_another_shape_is_not_written(at):
    def program(of, rng):
        x = of.zeros((4, 5))
        x[at] = of.ones((*of.shape(x[at]), 7))

    assert_alike(program, [0])
    assert outcome(program, plain, 0) is ValueError


def test_a_ring_writes_into_blocks_of_its_array():
    def program(of, rng):
        x, got = array_of(of, rng, "float32", (12,)), array_of(of, rng, "float64", (12,))
        x[3:6] = got[3:6]
        x[6:9] += got[0:3]
        x[x != x] = 0
        part = x[8:2:-2]
        part *= 2
        x[[0, 0, 1]] = [1, 2, 3]
        return x, part, x[3:6].tobytes() if of is np else np.array(x[3:6].tolist(), "float32").tobytes()

    assert_alike(program, range(20))


@pytest.mark.parametrize(("kind", "other"), list(itertools.product(["int32", "uint8", "float32", "bool"], TYPES)))
def test_an_array_keeps_its_type_in_place_or_refuses(kind, other):
    def program(of, rng):
        x, y = array_of(of, rng, kind, (2, 3)), array_of(of, rng, other, rng.choice([(3,), (2, 1), (4, 2, 3)]))
        sign = rng.choice(["__iadd__", "__imul__"])
        return getattr(x, sign)(y)

    assert_alike(program, range(4))


def two(of, rng):
    return of.arange(12).reshape(3, 4) * 1.5, of.arange(8).reshape(4, 2) - 3


CALLS = {
    "matmul": lambda of, x, y: (x @ y, y.T @ x.T, x[0] @ y, x @ y[:, 0], x[0] @ x[1], of.stack([x, x]) @ y),
    "mismatch": lambda of, x, y: x @ x,
    "joined": lambda of, x, y: (of.concatenate([x, x[:1]]), of.stack([x, x], 1), of.vstack([x, x]), of.hstack([y, y])),
    "unequal": lambda of, x, y: of.concatenate([x, y]),
    "split": lambda of, x, y: (*of.split(x, 2, axis=1), *of.array_split(x, 2), *of.split(y, [1, 3])),
    "uneven": lambda of, x, y: of.split(x, 2),
    "repeated": lambda of, x, y: (of.tile(y, (2, 2)), of.repeat(y, 2, axis=0), of.repeat(y, [1, 0, 2, 1], axis=0)),
    "turned": lambda of, x, y: (of.roll(x, 3), of.roll(x, -1, axis=1), of.flip(x), of.rot90(x), of.moveaxis(x, 0, 1)),
    "chosen": lambda of, x, y: (of.where(x > 4, x, 0), of.where(x > 4, x, y[0, 0]), of.clip(x, 2, 5), x.round(0)),
    "sets": lambda of, x, y: (*of.unique([3, 1, 3, 2], return_counts=True, return_index=True, return_inverse=True),
                              of.setdiff1d([1, 2, 3], [2]), of.isin([1, 5], [5]), of.union1d([2, 1], [1])),
    "unique rows": lambda of, x, y: of.unique(of.array([[1, 2], [1, 2], [0, 2]]), axis=0, return_index=True),
    "counted": lambda of, x, y: (of.bincount([1, 1, 3]), of.bincount([0, 2], [0.5, 1.5]), *of.histogram(x, 3)),
    "ordered": lambda of, x, y: (of.lexsort(([1, 0, 1], [2, 1, 2])), of.searchsorted([1, 3, 5], [0, 3, 6])),
    "places": lambda of, x, y: (*of.nonzero(y), of.flatnonzero(y), of.argwhere(y > 0), *of.unravel_index(5, (2, 3))),
    "steps": lambda of, x, y: (of.arange(5), of.arange(2, 9, 3), of.arange(0, 1, 0.25), of.linspace(0, 1, 5),
                               of.geomspace(1, 8, 4), of.linspace(1, 2, 4, endpoint=False)),
    "filled": lambda of, x, y: (of.zeros((2, 3)), of.ones(3, "int32"), of.full(2, 1.5), of.eye(3), of.full_like(y, 7)),
    "triangles": lambda of, x, y: (of.triu(x), of.tril(x, 1), *of.triu_indices(3, 1), of.diag(y), of.diag([1, 2])),
    "products": lambda of, x, y: (of.outer([1, 2], [3.0]), of.dot(x, y), of.convolve([1, 2, 3], [0, 1, 0.5]),
                                  of.einsum("ij,jk->ik", x, y), of.einsum("ij->j", x), of.kron(y, y)),
    "shares": lambda of, x, y: (of.quantile(x, 0.3), of.percentile(x, [25, 50], axis=0),
                                of.average([1, 2], weights=[3, 1])),
    "without nan": lambda of, x, y: (of.nanmin([1, of.nan]), of.nansum([1, of.nan]), of.nanmean([1, of.nan, 3])),
    "folded": lambda of, x, y: (of.add.reduce(x), of.minimum.accumulate([3, 1, 2]), of.multiply.outer([1, 2], [3, 4]),
                                of.logical_and.reduce([[True, False], [True, True]])),
    "between": lambda of, x, y: (of.interp([0, 1.5, 9], [1, 2, 3], [10, 20, 40]), of.digitize([0.5, 1], [0, 1, 2])),
    "grid": lambda of, x, y: (*of.meshgrid([1, 2], [3, 4, 5]), of.r_[1, [2, 3]], of.c_[[1, 2], [3, 4]]),
    "padded": lambda of, x, y: (of.pad([1, 2], 1), of.append([1], [2.5]), of.delete([1, 2, 3], 1),
                                of.expand_dims(y, 1)),
    "buffer": lambda of, x, y: of.frombuffer(np.arange(3, dtype="<f4").tobytes(), dtype="<f4"),
    "read-only": lambda of, x, y: of.broadcast_to(y, (2, 4, 2)).__setitem__(0, 1),
    "axis": lambda of, x, y: x.sum(axis=2),
    "shape": lambda of, x, y: x.reshape(5, -1),
    "truth": lambda of, x, y: bool(x),
    "number": lambda of, x, y: (x[1, 2] + 1, of.float32(0.1) + 1, of.int8(100) // 7, -x[0, 1], x[0, 1] < 3, x.item(3)),
    "too large": lambda of, x, y: of.array([1], "int8") + 300,
    "along": lambda of, x, y: (of.take_along_axis(x, of.argsort(-x, axis=1), 1), of.apply_along_axis(sum, 1, x)),
    "nested": lambda of, x, y: of.array([[1, 2], [3]]),
    "equal": lambda of, x, y: (of.array_equal(x, x + 0), of.allclose(x, x + 1e-12), of.isclose(x, x + 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_numpys_gives(name):
    assert_alike(lambda of, rng: CALLS[name](of, *two(of, rng)), [0])


SHOWN = [
    [1, 2, 30],
    [1.0, 2.5, 3.25],
    [[1, -2], [3, 4]],
    [True, False],
    [0.1, 1e10],
    [float("nan"), 1.5],
    [],
    [[1.0]],
    [[[1, 2]], [[3, 4]]],
    list(range(40)),
    [1e-5, 2.0],
    [100000.5],
    [1 / 3, 2 / 3],
]


@pytest.mark.parametrize("given", SHOWN, ids=str)
def test_an_array_is_printed_as_numpy_prints_it(given):
    assert repr(plain.array(given)) == repr(np.array(given))
    assert str(plain.array(given)) == str(np.array(given))
    if given and isinstance(given[0], float):
        assert repr(plain.array(given, "float32")) == repr(np.array(given, "float32"))


def test_a_long_array_is_cut_and_a_number_names_its_type():
    assert repr(plain.arange(2000)) == repr(np.arange(2000)).replace(", shape=(2000,)", "")
    assert (
        repr(plain.arange(12000).reshape(100, 120)).splitlines()[:4]
        == repr(np.arange(12000).reshape(100, 120)).splitlines()[:4]
    )
    for name, value in (("float64", 0.1), ("float32", 0.1), ("int32", 3), ("bool", True)):
        of = plain.array([value], name)[0], np.array([value], name)[0]
        assert repr(of[0]) == repr(of[1])
        assert str(of[0]) == str(of[1])
        assert f"{float(of[0]):.3g}" == f"{float(of[1]):.3g}"


def test_random_numbers_have_the_shapes_and_bounds_of_numpys_and_repeat_by_seed():
    def program(of, rng):
        draw = of.random.default_rng(5)
        return (
            draw.uniform(2, 3, (2, 3)),
            draw.normal(size=4),
            draw.standard_normal((2, 2)),
            draw.random(3),
            draw.integers(1, 5, 10),
            draw.permutation(5),
            draw.choice([1, 2, 3], 4),
            draw.exponential(2.0, 3),
            draw.integers(3, size=(2, 2), dtype="int32"),
        )

    for found, want in zip(program(plain, None), program(np, None), strict=True):
        assert (found.shape, found.dtype.name) == (want.shape, want.dtype.name)
    draws = [plain.random.default_rng(7).normal(size=500) for _ in range(2)]
    assert draws[0].tolist() == draws[1].tolist()
    assert abs(draws[0].mean()) < 0.2
    assert 0.8 < draws[0].std() < 1.2
    assert sorted(plain.random.default_rng(1).permutation(20).tolist()) == list(range(20))
    whole = plain.random.default_rng(1).integers(1, 4, 200)
    assert (whole.min(), whole.max()) == (1, 3)


def test_what_is_missing_says_where_it_is():
    with pytest.raises(AttributeError, match="has no linalg; open the notebook"):
        _ = plain.linalg
    with pytest.raises(TypeError, match="truth values, numbers and texts only"):
        plain.array([1j])


def test_copies_share_nothing_and_classes_are_numpys_by_name():
    x = plain.arange(3)
    y = copy.deepcopy(x)
    y[0] = 9
    assert x.tolist() == [0, 1, 2]
    assert {type(x).__module__, type(x[0]).__module__} == {"numpy"}
    assert isinstance(x[0], plain.integer)
    assert isinstance(x.mean(), plain.floating)
    assert isinstance(x[0], int)
    assert plain.shares_memory(x, x[1:])
    assert not plain.shares_memory(x[:1], x[1:])


def test_it_stands_in_for_numpy_only_where_there_is_none():
    from hwlib.plain import as_numpy

    assert not as_numpy.install()

import numpy as np
import pytest

from hwlib.simulate.size_only_array import Phantom

SLICES = [
    slice(None),
    slice(2, 5),
    slice(5, 2),
    slice(-3, None),
    slice(0, 99),
    slice(1, 10, 3),
    slice(0, 9, 2),
    slice(None, None, -2),
]


@pytest.mark.parametrize("part", SLICES, ids=str)
@pytest.mark.parametrize("count", [0, 1, 10])
def test_a_view_is_as_long_as_numpy_says(count, part):
    assert len(Phantom(count, 4)[part]) == len(np.empty(count)[part])


def test_bytes_follow_the_length_of_a_view():
    x = Phantom(10**12, itemsize=2)
    assert x.nbytes == 2 * 10**12
    assert x[: 10**9].nbytes == 2 * 10**9
    assert Phantom(9, 0.5).nbytes == 4.5


def test_it_is_written_and_added_to_as_an_array_of_its_length():
    x, y = Phantom(10, 4), Phantom(3, 4)
    x[2:5] = y
    x[2:5] += y
    x += x.copy()
    assert len(x + x) == len(x.joined([x[:4], x[4:]])) == 10
    for write in (lambda: x.__setitem__(slice(0, 4), y), lambda: x.__iadd__(y), lambda: x + y):
        with pytest.raises(ValueError, match=r"\b3 elements .*\b(4|10)$"):
            write()


def test_it_has_no_elements():
    with pytest.raises(TypeError, match=r"x\[3\]"):
        Phantom(10)[3]


@pytest.mark.parametrize("count", [-1, 2.0, True, None, "3"])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(ValueError, match=r"^count: "):
        Phantom(count)


@pytest.mark.parametrize("itemsize", [0, -4, float("nan"), float("inf"), "4", True])
def test_an_element_has_a_size(itemsize):
    with pytest.raises(ValueError, match=r"^itemsize: "):
        Phantom(3, itemsize)

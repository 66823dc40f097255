import pytest

from tests.each import each

seen = []


@pytest.mark.parametrize("factor", [1, 10])
@each("n", [1, 2, 3])
def test_every_value_is_tried_for_every_parameter(factor, n):
    seen.append(factor * n)
    assert n == 3 or len(seen) % 3
    assert factor == 1 or seen[:3] == [1, 2, 3]


def test_all_values_that_fail_are_named():
    @each("n", [1, 2, 3, 4])
    def even(n):
        assert n % 2 == 0

    with pytest.raises(ExceptionGroup) as caught:
        even()
    assert [error.__notes__ for error in caught.value.exceptions] == [["n = 1"], ["n = 3"]]


def test_one_value_that_fails_fails_as_it_is():
    @each("n", [2, 4, 5])
    def even(n):
        assert n % 2 == 0

    with pytest.raises(AssertionError) as caught:
        even()
    assert caught.value.__notes__ == ["n = 5"]

"""Small floats: the numbers that a format has stay, and torch rounds as we do."""

import random

import pytest

from hwlib.number_formats import E2M1, round_e2m1, round_e4m3


def test_the_numbers_of_four_bits_stay_and_ties_go_to_the_even_mantissa():
    assert [round_e2m1(x) for x in E2M1] == [*E2M1]
    assert [round_e2m1(x) for x in (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)] == [0, 1, 1, 2, 2, 4, 4]
    assert [round_e2m1(x) for x in (-5.1, 6.9, 100, -0.1)] == [-6, 6, 6, 0]


def test_eight_bits_round_as_torch_does():
    torch = pytest.importorskip("torch")
    rng = random.Random(9)
    numbers = [rng.choice((-1, 1)) * 10 ** rng.uniform(-4, 2.6) for _ in range(4000)]
    numbers = [x for x in numbers if abs(x) <= 448] + [0.0, 2**-9, 2**-10, 3 * 2**-10, 448.0, 17.0, 19.0]
    rounded = torch.tensor(numbers, dtype=torch.float64).float().to(torch.float8_e4m3fn).double().tolist()
    assert [round_e4m3(float(torch.tensor(x).float())) for x in numbers] == rounded
    assert round_e4m3(1e6) == 448

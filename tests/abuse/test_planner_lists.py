"""Lists and digits that a planner or a reader is given: as many as anybody means."""

import pytest

from autograder.cli import agent_tools
from autograder.cli.group import LONGEST, cut, error_text
from hwlib.options.amounts import MOST_NUMBERS, whole_numbers_of
from hwlib.topology.smi import read_topo

MATRIX = "\tGPU0\tGPU1\nGPU0\t X \t{0}\nGPU1\t{0}\t X \n"


def test_a_list_has_most_numbers():
    assert whole_numbers_of(",".join(["8"] * MOST_NUMBERS)) == (8,) * MOST_NUMBERS
    with pytest.raises(ValueError, match=f"at most {MOST_NUMBERS}"):
        whole_numbers_of(",".join(["8"] * (MOST_NUMBERS + 1)))


@pytest.mark.parametrize("text", ["x" * 100_000, "9" * 5_000, "\x1b[31m"])
def test_what_is_no_number_is_repeated_in_part(text):
    with pytest.raises(ValueError, match="whole numbers separated by commas") as raised:
        whole_numbers_of(text)
    assert len(str(raised.value)) < 200
    assert str(raised.value).isprintable()


def test_nobody_has_ten_thousand_links():
    assert read_topo(MATRIX.format("NV9999")).nvlinks("GPU0", "GPU1") == 9999
    for links in ("NV10000", "NV" + "9" * 5_000):
        with pytest.raises(ValueError, match="GPU0") as raised:
            read_topo(MATRIX.format(links))
        assert len(str(raised.value)) < 500


LONG = "llama3-" * 20_000


@pytest.mark.parametrize("asked", [{"sequence": LONG}, {"memory": LONG}, {"batch": "9" * 4000}, {"fixed": {LONG: "1"}}])
def test_an_error_is_no_longer_than_anybody_reads(asked):
    with pytest.raises(ValueError, match=r"llama3-|expected") as raised:
        agent_tools.plan(**{"model": "llama3-8b", "cluster": "dgx-h100", "batch": "4M", **asked})
    text = error_text(raised.value)
    assert len(text) <= LONGEST
    assert text.startswith(str(raised.value)[:100])
    assert text.endswith(str(raised.value)[-100:])


@pytest.mark.parametrize(("length", "cuts"), [(LONGEST, False), (LONGEST + 1, True)])
def test_an_error_loses_its_middle_alone(length, cuts):
    text = "".join(chr(0x4E00 + number) for number in range(length))
    shown = cut(text)
    assert len(shown) == LONGEST
    assert (" ... " in shown) is cuts
    assert all(text.startswith(part) or text.endswith(part) for part in shown.split(" ... "))

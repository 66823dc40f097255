"""Software: one row a software and release, and what its sections are."""

import pytest

from hwlib.specs import SpecError, features, framework_of, frameworks, recipes, software, software_of, stacks
from hwlib.specs.serving_stack import serving_stacks
from hwlib.specs.software_sections import software_rows
from hwlib.specs.stack import read_stacks

TIME = "software = 's'\nsource = 's'\n"


def test_every_section_is_of_one_row():
    rows = software.values()
    assert [stack.key for row in rows for stack in row.time.values()] == [*stacks]
    assert [row.key for row in rows if row.memory and row.memory.key == row.key] == [*frameworks]
    assert [row.key for row in rows if row.features and row.features.key == row.key] == [*features]
    assert [row.key for row in rows if row.serving] == [*serving_stacks]
    assert [recipe.key for row in rows for recipe in row.recipes] == [*recipes]


@pytest.mark.parametrize("key", software)
def test_a_row_has_a_name_and_what_is_timed_has_memory_and_features(key):
    row = software[key]
    assert row.name != key or key in ("sglang", "torchtitan", "gpt-fast")
    assert row.time or row.memory or row.features or row.serving
    assert all(stack.chip == chip and stack.row == key for chip, stack in row.time.items())
    if row.time:
        assert row.memory
        assert row.features
        assert {stack.features for stack in row.time.values()} == {row.features.key}


@pytest.mark.parametrize(
    ("key", "base"),
    [("vtrain", "megatron-deepspeed"), ("megatron-core-2606", "megatron-core"), ("torchtitan-eager", "torchtitan")],
)
def test_a_row_has_memory_and_features_of_its_base(key, base):
    assert software[key].memory is software[base].memory is frameworks[base]
    assert software[key].features is software[base].features is features[base]
    assert software[key].time != software[base].time


def test_a_row_has_its_own_sections_rather_than_those_of_its_base():
    assert software["nemo-2024"].features.key == "nemo-2024"
    assert software["nemo-2024"].memory.key == "nemo-2024"
    assert software["megatron-core-2606"].memory.key == "megatron-core"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("torchtitan-async-h100", "torchtitan-async"),
        ("torchtitan-2024-h100", "torchtitan-2024"),
        ("torchtitan", "torchtitan"),
        ("torchtitan-h100 on h200-sxm", "torchtitan"),
        ("torchtitans-h100", None),
        ("typical-h200-sxm", None),
    ],
)
def test_the_software_of_a_stack_is_the_longest_key_that_its_own_begins_with(name, key):
    assert getattr(software_of(name), "key", None) == key


def test_memory_is_that_of_the_features_where_no_stack_can_name_it():
    assert framework_of("megatron-core-h100", "hai-llm").key == "hai-llm"
    assert framework_of("megatron-core-h100", "torchtitan").key == "megatron-core"
    assert framework_of("torchtitan-h100", "llama3").key == "torchtitan"


def test_what_a_row_says_holds_for_its_sections_but_where_they_say_it():
    text = f"[a]\nname = 'A'\nreleased = '26.02'\n{TIME}[a.time.h100-sxm]\neta_C = 0.5\n[a.time.b200-sxm]\nname = 'B'\n"
    one, other = read_stacks("f", text)
    assert (one.key, one.name, one.source, str(one.release)) == ("a-h100", "A", "s", "26.02")
    assert (other.key, other.name, other.source, str(other.release)) == ("a-b200", "B", "s", "26.02")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[a]\nspeed = 1\n", r"f, a: .*'speed'"),
        ("[a]\nmemory = 1\n", r"f, a\.memory: .* 1$"),
        ("[a]\ntime = 1\n", r"f, a\.time: .* 1$"),
        ("[a.time]\nh100-sxm = 1\n", r"f, a\.time\.h100-sxm: .* 1$"),
        ("[a]\nbase = 'b'\n", r"f, a\.base: .*'b'"),
        ("[a]\nbase = 'a'\n", r"f, a\.base: .*'a'"),
        ("[a]\n[b]\nbase = 'a'\n[c]\nbase = 'b'\n", r"f, c\.base: .*'b'; known: a$"),
    ],
)
def test_what_no_row_can_be_is_refused(text, place):
    with pytest.raises(SpecError, match=place):
        software_rows("f", text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"[a.time.h100-sxm]\nname = 'A'\nchip = 'h100-sxm'\n{TIME}", r"f, a\.time\.h100-sxm\.chip: "),
        (f"[a.time.h100-sxm]\nname = 'A'\nfeatures = 'a'\n{TIME}", r"f, a\.time\.h100-sxm\.features: "),
        (
            f"[a]\nname = 'A'\n{TIME}[a.time.h100-sxm]\nerror = 0.1\n[a.time.h100-pcie]\nerror = 0.1\n",
            r"f, a\.time\.h100-pcie: .*a\.time\.h100-sxm .*a-h100",
        ),
    ],
)
def test_what_follows_from_where_a_section_stands_is_not_said_again(text, place):
    with pytest.raises(SpecError, match=place):
        list(read_stacks("f", text))

"""All tables of measurements at once: each row has its source, names what the other tables have, and adds up."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from autograder.book.indexes.sources import source_of
from autograder.book.indexes.specs import measurements
from hwlib import specs
from hwlib.specs import accelerators, models, stacks
from hwlib.specs.measured import Measurements
from hwlib.strategy import RECOMPUTED
from tests.conftest import ROOT
from tests.each import each

NAMED = {"chip": accelerators, "model": models, "draft": models, "stack": stacks}
NOT_ALWAYS = {  # a row may leave it empty
    ("measured_decode.csv", "chip"),
    ("measured_decode.csv", "draft"),
    ("measured_drafts.csv", "system"),
    ("measured_failures.csv", "chip"),
    ("measured_machines.csv", "model"),
    ("measured_plans.csv", "model"),
}
OF_ITS_OWN = {("measured_serving.csv", "model"), ("measured_training.csv", "model")}  # some are in no other table
POSITIVE = ("time", "value", "reached", "bus_bandwidth", "cap")
WITHOUT_DEGREES = {"measured_splits.csv"}  # where a row may print no plan, only GPUs
WITHOUT_SHAPES = {"measured_plans.csv"}  # where a row prints a shape only for a model that has no name
KEY_ALONE = {  # whose source is a key of the bibliography, and no page of it
    *("measured_decode.csv", "measured_decode_attention.csv", "measured_loads.csv"),
    *("measured_mixtures.csv", "measured_pipelines.csv"),
}


def has(row: Any, *fields: str) -> bool:
    return all(hasattr(row, field) for field in fields)


def names(file: str, row: Any) -> Iterator[str]:
    """What a row names that the other tables do not have."""
    for field, table in NAMED.items():
        name = getattr(row, field, None)
        if name is None or name in table or (file, field) in OF_ITS_OWN:
            continue
        if name or (file, field) not in NOT_ALWAYS:
            yield f"{field} {name!r}"


def degrees(file: str, row: Any) -> Iterator[str]:
    """Where the degrees of a plan do not make its GPUs, or its batch does not divide."""
    if has(row, "gpus", "tp", "pp", "dp"):
        product = row.tp * row.pp * row.dp * getattr(row, "cp", 1)
        if product != row.gpus and (product or file not in WITHOUT_DEGREES):
            yield f"{product} ranks on {row.gpus} GPUs"
    if has(row, "sequences", "dp", "micro"):
        if row.sequences % (row.dp * row.micro):
            yield f"{row.sequences} sequences"
        if has(row, "m") and row.m * row.micro * row.dp != row.sequences:
            yield f"{row.m} microbatches"


def shapes(file: str, row: Any) -> Iterator[str]:
    """Where the parts of a model or of a machine do not divide the whole."""
    if has(row, "heads", "kv_heads") and row.heads % row.kv_heads:
        yield f"{row.heads} heads"
    if has(row, "chips", "parts") and row.chips % row.parts:
        yield f"{row.chips} chips"
    layers = models[row.model].layers if has(row, "model", "layers") and row.model in models else None
    if layers is not None and row.layers != layers and file not in WITHOUT_SHAPES:
        yield f"{row.layers} layers"


def values(_: str, row: Any) -> Iterator[str]:
    """Numbers below zero, or zero where something was measured, and settings that no software has."""
    for field in row._fields:
        value = getattr(row, field)
        if isinstance(value, int | float) and (value < 0 or (value == 0 and field in POSITIVE)):
            yield f"{field} {value}"
    if has(row, "zero") and row.zero not in range(4):
        yield f"zero {row.zero}"
    if has(row, "recompute") and row.recompute not in RECOMPUTED:
        yield f"recompute {row.recompute!r}"


def broken(table: Measurements, *rules: Callable[[str, Any], Iterator[str]]) -> list[tuple[int, str]]:
    return [(k, fault) for k, row in enumerate(table.rows, 1) for rule in rules for fault in rule(table.file, row)]


def test_every_table_is_one_of_these():
    assert [table.file for table in measurements()] == sorted(
        path.name for path in (ROOT / "hwlib" / "specs").glob("measured_*.csv")
    )


@each("table", measurements())
def test_every_row_has_a_source_and_is_there_once(table, sources):
    found = [source_of(None, row.source) for row in table.rows]
    assert {source.key for source in found} <= sources, table.file
    assert table.file not in KEY_ALONE or not any(source.rest for source in found), table.file
    assert len(set(table.rows)) == len(table.rows) > 0, table.file


@each("table", measurements())
def test_every_row_names_chips_models_and_software_of_the_other_tables(table):
    assert broken(table, names) == [], table.file


@each("table", measurements())
def test_rows_divide_and_their_numbers_are_possible(table):
    assert broken(table, degrees, shapes, values) == [], table.file


class Row:
    """One of a table that is wrong."""

    def __init__(self, **fields: Any):
        self._fields = tuple(fields)
        vars(self).update(fields)


@pytest.mark.parametrize(
    ("rule", "row", "faults"),
    [
        (names, Row(chip="h100-sxm", model="llama3-8b", draft="", stack="other"), ["draft ''", "stack 'other'"]),
        (names, Row(chip="v100x"), ["chip 'v100x'"]),
        (degrees, Row(gpus=16, tp=2, pp=2, dp=4), []),
        (degrees, Row(gpus=16, tp=2, pp=2, dp=4, cp=2), ["32 ranks on 16 GPUs"]),
        (degrees, Row(gpus=16, tp=0, pp=0, dp=0), ["0 ranks on 16 GPUs"]),
        (degrees, Row(sequences=12, dp=2, micro=2, m=3), []),
        (degrees, Row(sequences=12, dp=2, micro=2, m=4), ["4 microbatches"]),
        (degrees, Row(sequences=10, dp=2, micro=2), ["10 sequences"]),
        (shapes, Row(heads=32, kv_heads=8, chips=8, parts=2, model="llama3-8b", layers=32), []),
        (shapes, Row(heads=32, kv_heads=7), ["32 heads"]),
        (shapes, Row(chips=8, parts=3), ["8 chips"]),
        (shapes, Row(model="llama3-8b", layers=33), ["33 layers"]),
        (values, Row(time=1e-9, rate=0.0, memory=None, zero=3, recompute="full"), []),
        (values, Row(time=0.0, rate=-1e-9), ["time 0.0", "rate -1e-09"]),
        (values, Row(zero=4), ["zero 4"]),
        (values, Row(recompute="half"), ["recompute 'half'"]),
    ],
)
def test_a_row_that_breaks_a_rule_is_found(rule, row, faults):
    assert list(rule("measured_other.csv", row)) == faults


@pytest.mark.parametrize(
    ("asked", "arguments", "options", "error", "known"),
    [
        ("allreduces", ("v100", 8), {}, ValueError, r"v100 8 None; .*a100-80gb-sxm 8 ring, "),
        (
            *("decodes", ("gpt-5",), {}, ValueError),
            r"no measured decoding of model gpt-5, how graph, drafts 0; known.*llama2-7b",
        ),
        ("exchanges", ("normal", "reduce"), {}, ValueError, "normal combine"),
        ("loads", (512,), {}, ValueError, "known: 256, 288"),
        ("link", ("h100",), {}, KeyError, r"'h100'; .*h100-copy, h100-both"),
        ("machines", ("h200-sxm",), {}, ValueError, "h100-sxm"),
        ("memory", ("h200-sxm", "latency"), {}, ValueError, r"latency of h200-sxm; .*read bandwidth of a100-80gb-sxm"),
        ("mixtures", ("megascale",), {}, ValueError, "'megascale'; known: vtrain, bloom-chronicles"),
        ("pipelines", ("nanotron",), {}, ValueError, "'nanotron'; known: Megatron-DeepSpeed, torchtitan"),
        ("plans", (), {"source": "rumour"}, ValueError, r"known: .*vtrain"),
        ("powers", ("chess",), {}, ValueError, "'chess'; known: Llama 3 8B pre-training, ViT-L/16 training"),
        ("run", ("llama4",), {}, KeyError, "'llama4'; known: llama3-405b"),
        ("requests", (), {"tp": 3}, ValueError, "of 3 and None; known: 1 and 1, 4 and 1"),
        ("splits", ("tp", "b200-sxm"), {}, ValueError, "known: tp of h100-sxm, async tp"),
        ("steps", ("mosaic",), {}, ValueError, r"mosaic None; .*internevo internlm-7b, "),
    ],
)
def test_what_no_row_has_is_answered_with_what_there_is(asked, arguments, options, error, known):
    with pytest.raises(error, match=known):
        getattr(specs, f"measured_{asked}")(*arguments, **options)

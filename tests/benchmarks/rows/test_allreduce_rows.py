"""Published all-reduces on several nodes: which machine a row is of, what is refused, and the errors fold by fold."""

import json
import math

import pytest

from benchmarks.fit.trees import MOST, ROWS_EACH, TREES, folds_report, growth_report, rows_of
from benchmarks.rows.allreduce_rows import LARGE, NodesAllReduce, allreduce_case
from benchmarks.rows.kept_rows import KEPT as DATA
from benchmarks.rows.published import Collective, case_of, read_rows
from benchmarks.rows.published_row import PublishedRow
from benchmarks.rows.reader_names import reader_of
from benchmarks.rows.training_step import Unmodelled
from benchmarks.score.predictions import predict
from benchmarks.score.scores import report
from hwlib.specs.fitted import tree_constants

P5 = {
    "id": "ar2-p5-2x8-67108864",
    "kind": "allreduce",
    "system": "2x p5.48xlarge (16 H100, EFA 32x100Gb)",
    "gpus": 16,
    "config": {"op": "all_reduce", "bytes": 2**26, "nodes": 2, "time_us": 601.5},
    "value": 209.19,
}


def row(**changes):
    cells = P5 | changes
    return PublishedRow(
        1, cells["id"].rpartition("-")[0], cells["kind"], cells["system"], cells["gpus"], cells["config"],
        cells["value"], cells.get("unit", "GB/s busbw"), "s", {"confidence": "seen verbatim", **cells},
        reader=reader_of(cells["kind"], cells["id"], cells["config"]),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("system", "gpus", "config", "machine"),
    [
        (P5["system"], 16, {"nodes": 2}, ("h100-sxm", "EFA")),
        ("4 nodes x 8 B200 p6-b200, EFA 50GB/s/GPU", 32, {"nodes": 4}, ("b200-sxm", "EFA")),
        ("GB200 NVL72 + Quantum IB SHARP (CoreWeave)", 1440, {"racks": 20}, ("gb200-nvl72", "InfiniBand SHARP")),
        ("GB200 NVL72", 72, {"racks": 1, "network": "400Gb InfiniBand, SHARP"}, ("gb200-nvl72", "InfiniBand SHARP")),
        ("16 x p5en.48xlarge", 128, {"network": "EFA v3"}, ("h200-sxm", "EFA")),
        ("4 x p6-b200.48xlarge", 32, {}, ("b200-sxm", "EFA")),
        ("DGX H100, Quantum-2 InfiniBand", 64, {}, ("h100-sxm", "NVLSTree")),
        ("8 nodes x 8 H100, InfiniBand NDR with SHARP", 64, {"nodes": 8}, ("h100-sxm", "InfiniBand SHARP")),
        ("2x p4de.24xlarge (16 A100-80GB, EFA 4x100Gb)", 16, {"nodes": 2}, ("a100-80gb-sxm", "EFA")),
    ],
)
def test_the_machine_is_named_in_words(system, gpus, config, machine):
    case = allreduce_case(row(system=system, gpus=gpus, config={"bytes": 2**30, **config}))
    assert (case.chip, case.network) == machine
    assert predict(case).time > 0


def test_time_is_as_printed_or_follows_from_the_bus_bandwidth():
    printed, by_rate = (allreduce_case(row(config=P5["config"] | extra)) for extra in ({}, {"time_us": 601.5}))
    assert printed == by_rate == NodesAllReduce("h100-sxm", "EFA", (2**26, 16, pytest.approx(601.5e-6)))
    config = {"bytes": 2**26, "nodes": 2}
    assert allreduce_case(row(config=config)).timed.time == pytest.approx(2 * 15 / 16 * 2**26 / 209.19e9)
    assert allreduce_case(row(config=config, unit="us", value=600.0)).timed.time == pytest.approx(600e-6)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"config": {"op": "broadcast", "bytes": 8}}, "broadcast on several nodes"),
        ({"system": "8x MI250X, Slingshot"}, "an unknown chip over an unknown network"),
        ({"system": "H100, Slingshot"}, "h100-sxm over an unknown network"),
        ({"system": "H100, RoCE"}, "h100-sxm over Ethernet"),
        ({"system": "A100, InfiniBand"}, "a100-80gb-sxm over NVLSTree"),
        ({"gpus": 8}, "8 GPUs in 2 nodes, .* of 8"),
        ({"gpus": 20}, "20 GPUs in 2 nodes, .* of 8"),
        ({"config": {"bytes": 8, "nodes": 4, "ranks_per_node": 4}}, "16 GPUs in 4 nodes, .* of 8"),
        ({"config": {"nodes": 2}}, "give bytes"),
        ({"config": {"bytes": "1 GB", "nodes": 2}}, "give bytes"),
        ({"config": {"bytes": 8, "nodes": 2, "time_us": 0}}, "time_us .* 0"),
        ({"config": {"bytes": 8, "nodes": 2}, "unit": "GB/s algbw"}, "us or GB/s busbw, not 'GB/s algbw'"),
    ],
)
def test_what_no_model_speaks_about_is_listed_with_the_reason(changes, reason):
    case = allreduce_case(row(**changes))
    assert isinstance(case, Unmodelled)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(case.reason)


def test_four_nodes_do_not_take_the_constants_of_one():
    config = {"op": "all_reduce", "bytes": 2**30}
    four = row(id="ar-b200x32-1073741824", kind="collective", system="32 GPUs", gpus=32, config=config, value=362)
    one = row(id="ar-b200x8-1073741824", kind="collective", system="8x B200", gpus=8, config=config, value=723.34)
    case = case_of(four, DATA)
    assert isinstance(case, NodesAllReduce)
    assert (case.chip, case.network) == ("b200-sxm", "EFA")
    assert predict(case).error < 0.05
    assert isinstance(case_of(one, DATA), Collective)


def allreduce_row(n):
    """A row of racks of GB200, and what it measured."""
    config = {"op": "all_reduce", "bytes": 2**30, "racks": n // 72}
    one = row(id=f"ar2-gb200-{n}", system="GB200 NVL72 + Quantum IB SHARP", gpus=n, config=config)
    return one, allreduce_case(one)


def test_an_entry_rests_on_eight_rows_a_constant_and_on_none_that_it_extrapolates_to():
    kept = tree_constants()
    for tree in TREES:
        entry = kept[tree.chip, tree.network]
        assert entry.count >= ROWS_EACH * len(tree.free)
        assert set(tree.free) | set(entry.typed) == set(entry.constants)
        assert {name: getattr(entry, name) for name in tree.typed} == pytest.approx(dict(tree.typed), rel=1e-3)
        assert entry.note
    large = row(id="nvlstree-1024-1", kind="collective", gpus=2 * MOST, system="NVLSTree", config={"bytes": 8})
    inferred = row()
    inferred.cells["confidence"] = "time inferred from a plot"
    cases = [(one, allreduce_case(one)) for one in (row(), inferred, large)]
    assert [len(list(rows_of(tree, cases))) for tree in TREES] == [0, 1, 0, 0, 0]
    racks = [allreduce_row(n) for n in (72, 144, 576, 1440)]
    assert [len(list(rows_of(tree, racks))) for tree in TREES] == [0, 0, 0, 2, 2]


def test_the_kept_rows_have_the_errors_that_the_page_states():
    found = {s.set: s for s in report(DATA).trees}
    assert found["ar2-p5-2x8, 64 MiB and more"].mean_abs_error < 0.12
    assert found["ar2-b200-4x8, 64 MiB and more"].mean_abs_error < 0.12
    assert found["ar2-gb200, 64 MiB and more"].mean_abs_error < 0.05
    assert found["nvlstree, 64 MiB and more"].mean_abs_error < 0.03
    assert found["nvlstree, below 64 MiB"].mean_abs_error < 0.10
    rows = [one for one in read_rows(DATA)[0] if one.kind == "allreduce"]
    assert min(json.loads(one.cells["config"])["bytes"] for one in rows) < LARGE


def test_folds_are_scored_on_what_the_other_was_fitted_to():
    held = list(folds_report(DATA))
    whole = {one.name: one for one in held if "MiB" not in one.name}
    assert whole["nvlstree"].n0 + whole["nvlstree"].n1 == 15
    assert max(whole["nvlstree"].error0, whole["nvlstree"].error1) < 0.10
    assert all(one.constants == 3 for one in held)
    [growth] = [one for one in growth_report(DATA) if "256 or fewer" in one.name] or [None]
    assert growth is None or math.isnan(growth.error0)

"""The page on serving is what its commands print, and its example in Python runs."""

import pytest

from benchmarks.planner.serving_page import COMMANDS, PAGE, PUBLISHED, SHORTER, TABLES, block, page
from benchmarks.rows.published import read_rows
from benchmarks.rows.serving_rows import Serving, serving_case
from hwlib.serving_planner import Point, question_of
from hwlib.serving_planner.layouts import Layout, server_of
from hwlib.serving_planner.points import together
from hwlib.specs import nodes

NODES = {node.chip.key: key for key, node in nodes.items()}


@pytest.mark.parametrize("name", [*COMMANDS, *TABLES])
def test_the_page_is_what_is_generated(name):
    assert block(name) in PAGE.read_text("utf-8"), "run python -m benchmarks.planner.serving_page"


def test_the_commands_of_the_page_stand_on_it():
    text = PAGE.read_text("utf-8")
    for commands in COMMANDS.values():
        for command in commands:
            assert f"$ {command}" in text


def servers():
    """The published rows whose chip stands in a node of the tables: what was measured, as the page on fidelity reads
    it, and the planner's question and division of the same.
    """
    for row in read_rows(PUBLISHED)[0]:
        case = serving_case(row)
        if isinstance(case, Serving) and case.server.chip.key in NODES and case.server.pp == 1:
            server, config = case.server, row.config
            dtype = "mxfp4" if "mxfp4" in server.expert_dtype else server.dtype.removesuffix("_block")
            lengths = {name: round(SHORTER * config.get(name, 100)) for name in ("input", "output")}
            q = question_of(
                server.model,
                NODES[server.chip.key],
                prompt=lengths["input"],
                output=lengths["output"],
                dtype=dtype,
                kv_dtype=server.kv_dtype,
                stack=case.stack,
            )
            own = server.attention_dp
            yield row, case, q, Layout(1 if own else server.tp, server.ep, server.tp if own else 1)


def test_a_published_server_is_the_planners():
    """Its precisions, kernels and division: so one prediction stands on the page on fidelity and in a plan."""
    found = list(servers())
    assert len(found) > 20
    assert [row.cells["id"] for row, case, q, layout in found if server_of(q, layout) != case.server] == []


def test_what_a_plan_gives_is_what_the_page_on_fidelity_predicts():
    checked = set()
    for row, case, q, layout in servers():
        if row.config["load"] == "closed loop" and not case.typical and not row.unit.endswith("first token"):
            batch = row.config["concurrency"]
            one = together(q, server_of(q, layout), batch // layout.attention_dp, 8192)
            seconds = one.tpot * (1 if row.unit == "ms per output token" else q.workload.output)
            assert seconds == pytest.approx(case.time(), rel=0.01)  # lengths are whole tokens here
            checked.add(row.unit)
    assert checked == {"ms per output token", "output tokens/s/GPU"}


@pytest.mark.slow
def test_making_the_page_anew_changes_nothing():
    text = PAGE.read_text("utf-8")
    assert page(text) == text


@pytest.mark.slow
def test_the_python_of_the_page_runs():
    head, _, rest = PAGE.read_text("utf-8").partition("```python\n")
    assert "## From Python" in head
    names = {}
    exec(rest.partition("```")[0], names)
    assert isinstance(names["best"], Point)
    assert names["run"].ttft(0.99) > names["best"].ttft / 4

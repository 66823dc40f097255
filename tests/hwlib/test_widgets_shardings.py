"""The numbers of the live figures of sharded products, computed by their own scripts, against the library's plans."""

import itertools
import json

import pytest

from hwlib import widgets
from hwlib.collectives import axis_levels, level_time, ring_reduce_scatter_time
from hwlib.sharding import Mesh, Sharded, matmul_plans
from hwlib.specs import Level, accelerators, nodes
from hwlib.units import GB
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of
from tests.hwlib.test_widgets_collectives import evaluated

H100 = nodes["dgx-h100"]
LEVELS = (Level("node", 8, H100.scaleup_bandwidth), Level("leaf", 4, H100.network_bandwidth))
SLOTS = ("AI", "AJ", "BJ", "BK")


def explorer(body, given):
    source = module_source("sharding_explorer", ())
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", given)


def seconds(move):
    """The time of a move on four nodes of eight H100s, by the library's levels."""
    axes = "".join(move.axes)
    inner = 8 if axes == "X" else 1
    return level_time(move.op, inner * move.bytes, axis_levels(LEVELS, move.n, inner))


def placements():
    """All places of X and Y on the four dimensions, an axis on one dimension of each array at most."""
    of_a, of_b = (itertools.product(("", *slots), repeat=2) for slots in (("AI", "AJ"), ("BJ", "BK")))
    for a, b in itertools.product(of_a, of_b):
        yield {slot: "".join(axis for axis, *on in zip("XY", a, b, strict=True) if slot in on) for slot in SLOTS}


def test_the_fastest_way_is_that_of_the_librarys_plans():
    state = state_of(widgets.sharding_explorer(I=65536, J=4096, K=24576))
    shape, mesh = {label: state[label] for label in "IJK"}, Mesh(X=4, Y=8)
    given = [{**state, **places, "ends": "open"} for places in placements()]
    assert len(given) == 81
    for places, now in zip(placements(), explorer("given.map(compute)", given), strict=True):
        A = Sharded("A", (("I", tuple(places["AI"])), ("J", tuple(places["AJ"]))))
        B = Sharded("B", (("J", tuple(places["BJ"])), ("K", tuple(places["BK"]))))
        least, flops = float("inf"), None
        busy = [axis in "".join(places.values()) for axis in "XY"]
        for x, y in itertools.product("IJK", repeat=2):
            split = [letter if at_work else "" for letter, at_work in zip((x, y), busy, strict=True)]
            on = {label: tuple(axis for axis, l in zip("XY", split, strict=True) if l == label) for label in "IJK"}
            C = Sharded("C", (("I", on["I"]), ("K", on["K"])), on["J"])
            plan = next(p for p in matmul_plans(A, B, C, mesh, shape) if [*p.split.values()] == split)
            assert not plan.after
            if (took := sum(map(seconds, plan.moves))) < least:
                least, flops = took, plan.flops
        assert now["network"] == pytest.approx(least), places
        assert now["arithmetic"] == pytest.approx(flops / accelerators["h100-sxm"].bf16_flops), places


def test_the_result_is_taken_as_it_comes_or_finished():
    state = state_of(widgets.sharding_explorer("", "Y", "Y", "", I=4096, J=8192, K=8192))
    open_, scattered, everywhere = explorer(
        "given.map(compute)", [{**state, "ends": ends} for ends in ("open", "scatter", "everywhere")]
    )
    assert [now["C"] for now in (open_, scattered, everywhere)] == ["C[I, K]{U_Y}", "C[I_Y, K]", "C[I, K]"]
    swapped = explorer("compute(given)", {**state, "AI": "Y", "AJ": "X", "BJ": "X"})
    assert swapped["C"] == "C[I_YX, K]", "the scattered axis cuts the parts of the other"
    assert open_["network"] == 0
    assert scattered["network"] == pytest.approx(7 / 8 * 2 * 4096 * 8192 / (450 * GB))
    assert everywhere["network"] == pytest.approx(2 * scattered["network"])


def test_a_letter_is_on_one_dimension_of_an_array_and_a_second_drop_removes_it():
    state = state_of(widgets.sharding_explorer("X", "Y", "Y", ""))
    moved, taken, both = explorer('[drop(given, "AJ", "X"), drop(given, "AI", "X"), drop(given, "BK", "X")]', state)
    assert moved == {"AI": "", "AJ": "XY", "BJ": "Y", "BK": ""}
    assert taken == {"AI": "", "AJ": "Y", "BJ": "Y", "BK": ""}
    assert both == {"AI": "X", "AJ": "Y", "BJ": "Y", "BK": "X"}


def test_it_says_cases_moves_and_which_clock_decides():
    state = state_of(widgets.sharding_explorer("X", "", "X", "Y"))
    said = explorer("tell(compute(given))", state)
    assert "X: case 4; Y: case 1" in said[0]
    assert said[1].startswith("all-gather of B over X")
    assert "decides" in said[2]
    idle = explorer("tell(compute(given))", {**state, "AI": "", "BJ": ""})
    assert "X does nothing here" in idle[0]
    assert idle[1] == "Nothing has to move."


def test_the_state_is_json_and_wrong_letters_are_named():
    widget = widgets.sharding_explorer()
    assert json.loads(json.dumps(state_of(widget)))["clusters"]["dgx-b200"]["W_in"] == 900 * GB
    with pytest.raises(KeyError, match=r"'dgx-1' .*dgx-h100"):
        widgets.sharding_explorer(node="dgx-1")
    with pytest.raises(ValueError, match="'X' and 'X'"):
        widgets.sharding_explorer("X", "X")
    with pytest.raises(ValueError, match="'Z'"):
        widgets.sharding_explorer("Z", "")
    with pytest.raises(Exception, match=r"node 'rope'; .*dgx-h100"):
        widget.cluster = "rope"


@pytest.mark.parametrize("n", [2, 8])
def test_the_chart_of_a_split_sum_is_the_formulas(n):
    spec = widgets.contracting_explorer(n=n).spec
    rows, _ = evaluated(spec, spec["transform"])
    assert {row["what"] for row in rows} == {"arithmetic", "reduce-scatter"}
    for row in rows[::7]:
        if row["what"] == "arithmetic":
            want = 2 * 8192 * row["D"] * 8192 / n / accelerators["h100-sxm"].bf16_flops
        else:
            want = ring_reduce_scatter_time(n, 2 * 8192 * 8192, 0, 450 * GB)
        assert row["time"] == pytest.approx(want, rel=1e-9)
    with pytest.raises(KeyError, match=r"'dgx-1' .*dgx-h100"):
        widgets.contracting_explorer("dgx-1")
    with pytest.raises(ValueError, match="power of two"):
        widgets.contracting_explorer(n=3)

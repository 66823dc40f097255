"""Staged kernels, one warp's requests, and the clock under a power limit: limits, numbers by hand, bad input."""

import json

import pytest
from matplotlib.figure import Figure

from hwlib import plots, widgets
from hwlib.hierarchy import bank_cycles, feed_bytes, kernel_timeline, stage_interval, warp_sectors
from hwlib.power import Phase, chip_power, clock_series
from hwlib.widgets.stages import SHOWN
from tests.hwlib.test_widgets import VEGA, node


@pytest.mark.parametrize("stages", range(1, 10))
def test_a_long_kernel_takes_the_interval_for_each_step(stages):
    run = kernel_timeline(1, 9 * stages, stages, 800, 128)
    starts = [step.start for step in run.steps]
    assert starts[-1] - starts[stages - 1] == pytest.approx(8 * stages * stage_interval(800, 128, stages))


def rows_of(layer, spec):
    """What a layer of the chart draws: its transforms, run as JavaScript."""
    script = VEGA + "".join(
        f"const {param['name']} = {param.get('expr', json.dumps(param.get('value')))};\n" for param in spec["params"]
    )
    script += "let rows = given;\n"
    for step in layer["transform"]:
        if "calculate" in step:
            script += f"rows = rows.map((datum) => ({{...datum, {step['as']}: {step['calculate']}}}));\n"
        elif "flatten" in step:
            script += f"rows = rows.flatMap((r) => r.{step['flatten'][0]}.map((k) => ({{...r, k}})));\n"
        else:
            script += f"rows = rows.filter((datum) => {step['filter']});\n"
    return node(script + "process.stdout.write(JSON.stringify(rows));", spec["data"]["values"])


@pytest.mark.parametrize(("stages", "t_copy", "t_mma"), [(1, 900, 560), (2, 700, 90), (5, 400, 130), (8, 100, 500)])
def test_the_chart_draws_the_kernels_steps(stages, t_copy, t_mma):
    spec = widgets.stages_explorer(stages, t_copy, t_mma).spec
    copies, products = (rows_of(layer, spec) for layer in spec["layer"])
    steps = kernel_timeline(1, 24, stages, t_copy, t_mma).steps
    want = [(step.start, step.end) for step in steps if step.start < SHOWN]
    assert [(row["from"], row["to"]) for row in products] == want
    want = [(f"slot {step.slot + 1}", step.asked, step.arrived) for step in steps if step.asked < SHOWN]
    assert [(row["row"], row["from"], row["to"]) for row in copies] == want


def test_a_step_waits_for_its_slot_its_operands_and_the_tensor_core():
    one, two, three = kernel_timeline(1, 3, 2, 10, 4).steps
    assert (one.asked, one.arrived, one.start, one.end) == (0, 10, 10, 14)
    assert (two.asked, two.start) == (0, 14)
    assert (three.asked, three.arrived, three.start, three.slot) == (14, 24, 24, 0)


def test_a_second_accumulator_hides_the_epilogue():
    alone, both = (kernel_timeline(5, 8, 8, 700, 100, 300, sums=sums) for sums in (1, 2))
    assert alone.time == pytest.approx(700 + 5 * (800 + 300))
    assert both.time == pytest.approx(700 + 5 * 800 + 300)
    assert both.busy == pytest.approx(4000 / 5000)


def test_a_slow_copy_is_waited_for_once():
    steps = kernel_timeline(1, 4, 2, [10, 10, 50, 10], 4).steps
    assert [step.start for step in steps] == [10, 14, 64, 68]


def test_counts_and_times_of_a_kernel_are_checked():
    with pytest.raises(ValueError, match="4 steps, and 3 times"):
        kernel_timeline(2, 2, 1, [1, 1, 1], 1)
    with pytest.raises(ValueError, match="stages"):
        kernel_timeline(1, 1, 0, 1, 1)
    with pytest.raises(ValueError, match="times"):
        kernel_timeline(1, 1, 1, -1, 1)


@pytest.mark.parametrize(
    ("step", "sectors", "cycles"), [(4, 4, 1), (8, 8, 2), (128, 32, 32), (132, 32, 1), (0, 1, 1), (64, 32, 16)]
)
def test_a_warp_that_steps_through_memory(step, sectors, cycles):
    addresses = [step * thread for thread in range(32)]
    assert (warp_sectors(addresses), bank_cycles(addresses)) == (sectors, cycles)


def test_a_request_that_begins_inside_a_sector_touches_one_more():
    assert warp_sectors(range(16, 16 + 128, 4)) == 5
    assert bank_cycles(range(16, 16 + 128, 4)) == 1
    assert warp_sectors([]) == bank_cycles([]) == 0


def test_what_shared_memory_feeds():
    """64 x 256 x 16 takes 128 cycles at 4,096 FLOP each and reads (64 + 256)*16*2 bytes."""
    assert feed_bytes(64, 256, 4096) == pytest.approx((64 + 256) * 16 * 2 / 128)
    assert feed_bytes(128, 256, 8192) == pytest.approx(96)


def test_power_is_a_cube_of_the_clock():
    assert chip_power(100, 800, 2e9, 2e9) == 900
    assert chip_power(100, 800, 1e9, 2e9) == 200


def test_the_governor_holds_the_limit_and_comes_back():
    series = clock_series([Phase("work", 3, 1000), Phase("rest", 3, 50)], 700, 2e9, 100)
    working = [sample for sample in series if sample.phase == "work"]
    assert working[0].power == 1100
    assert working[-1].power <= 700 < chip_power(100, 1000, working[-1].clock + 15e6, 2e9)
    assert series[-1].clock == pytest.approx(2e9)
    with pytest.raises(ValueError, match="limit"):
        clock_series([Phase("work", 1, 1000)], 90, 2e9, 100)


FIGURES = {
    "issuers": plots.issuers,
    "kernel_timeline": lambda: plots.kernel_timeline({"a": kernel_timeline(2, 3, 2, 50, 10, 20)}),
    "clock_series": lambda: plots.clock_series(clock_series([Phase("a", 1, 900)], 700, 2e9, 100), 700),
    "power_caps": lambda: plots.power_caps({"a": {200: 0.3, 700: 1.0}}, {"cube": {200: 0.5, 700: 1.0}}),
    "banks": lambda: plots.banks({"32": 32, "33": 33}),
    "cta_pair": plots.cta_pair,
    "rasters": lambda: plots.rasters({"rows": [(0, 0), (0, 1), (1, 0), (1, 1)]}, 2),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_figure_shows_itself_the_same_way_twice(draw):
    figure = draw()
    assert isinstance(figure, Figure)
    assert figure._repr_svg_() == draw()._repr_svg_()


def test_figures_say_the_numbers():
    titles = [axes.get_title(loc="left") for axes in FIGURES["banks"]().axes[:2]]
    assert titles == ["32:\na column takes 32 cycles", "33:\na column takes 1 cycle"]
    assert FIGURES["rasters"]().axes[0].get_title(loc="left") == "rows:\n1 + 2 = 3 panels"
    for empty in (plots.banks, plots.kernel_timeline):
        with pytest.raises(ValueError, match="at least one"):
            empty({})
    with pytest.raises(ValueError, match="at least one"):
        plots.rasters({}, 1)
    with pytest.raises(ValueError, match="at least one"):
        plots.clock_series([], 1)
    with pytest.raises(ValueError, match="at least one"):
        plots.power_caps({}, {"cube": {700: 1.0}})


def test_the_chart_has_as_many_stages_as_it_can_draw():
    assert "t_copy" in str(widgets.stages_explorer(4).spec)
    with pytest.raises(ValueError, match="stages"):
        widgets.stages_explorer(9)

"""The numbers of the memory figures, computed by their own scripts under node, against the Python library."""

import json
import random

import pytest

from hwlib import widgets
from hwlib.hierarchy import largest_tile, occupancy, tile_bytes, tile_intensity
from hwlib.specs import accelerators
from hwlib.widgets.live import module_source
from hwlib.widgets.occupancy import FORMULAS
from hwlib.widgets.tiles import SUMS
from tests.hwlib.test_widgets import VEGA, node, state_of


def explorer(body, given):
    print_it = f"\nprocess.stdout.write(JSON.stringify({body}));"
    return node(module_source("occupancy_explorer", FORMULAS) + print_it, given)


def test_the_explorer_counts_as_the_library_does():
    rng = random.Random(2)
    chips = list(state_of(widgets.occupancy_explorer())["chips"])
    assert {"v100-sxm2", "a100-80gb-sxm", "h100-sxm", "b200-sxm"} <= set(chips)
    cases = [
        (rng.choice(chips), rng.randrange(1, 1025), rng.randrange(1, 256), rng.randrange(0, 96) * 1000)
        for _ in range(300)
    ]
    states = [state_of(widgets.occupancy_explorer(*case)) for case in cases]
    for case, now in zip(cases, explorer("given.map(compute)", states), strict=True):
        want = occupancy(*case)
        assert (now["blocks"], now["warps"], now["share"]) == (want.blocks, want.warps, want.fraction), case
        assert tuple(now["limited"]) == want.limited_by


def test_the_explorer_says_what_limits():
    states = [
        state_of(widgets.occupancy_explorer(*case))
        for case in (("h100-sxm", 384, 168, 200 * 1024), ("h100-sxm", 1024, 128, 0), ("h100-sxm", 32, 8, 12 * 1024))
    ]
    said = explorer("given.map(compute).map(tell)", states)
    assert said[0][0] == "1 block of 12 warps: 12 of 64 warps, occupancy 19 %."
    assert "The limit is registers and shared memory." in said[0][1]
    assert said[1][0] == "Not one block fits: this kernel does not launch."
    assert said[2][0] == "17 blocks of 1 warp: 17 of 64 warps, occupancy 27 %."


def test_shared_memory_past_the_end_of_its_slider_is_cut():
    now = explorer("given.map(compute)", [state_of(widgets.occupancy_explorer("v100-sxm2", 32, 8, 228 * 1024))])[0]
    assert (now["asked"], now["blocks"]) == (96 * 1024, 1)


def test_python_and_the_reader_share_the_state():
    widget = widgets.occupancy_explorer()
    widget.set_state({"registers": 128})
    assert widget.registers == 128
    with pytest.raises(Exception, match=r"chip 'h1000'; .*h100-sxm"):
        widget.chip = "h1000"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: widgets.occupancy_explorer("mi300x"), "'mi300x' .*limits; .*h100-sxm"),
        (lambda: widgets.tile_explorer("mi300x"), "'mi300x' .*h100-sxm"),
        (lambda: widgets.tile_explorer(sums="hbm"), "sums .*regs, tmem, smem, .*'hbm'"),
    ],
)
def test_what_there_is_not_is_named(call, words):
    with pytest.raises(KeyError, match=words):
        call()


def chart(**choice):
    """The chart's title, its tiles and the ringed one, computed as vega does: parameters, then transforms."""
    spec = widgets.tile_explorer(**choice).spec
    params = [(p["name"], p.get("expr", json.dumps(p.get("value")))) for p in spec["params"]]
    script = VEGA + "const {abs} = Math;\n" + "".join(f"const {name} = {value};\n" for name, value in params)
    steps = ["let rows = given.map((row) => ({...row}));"]
    for step in spec["transform"] + spec["layer"][1]["transform"]:
        if "calculate" in step:
            steps.append(f"rows.forEach((datum) => {{ datum.{step['as']} = {step['calculate']}; }});")
        elif "flatten" in step:
            steps.append(
                f"rows = rows.flatMap((r) => r.{step['flatten'][0]}.map((v) => ({{...r, {step['flatten'][0]}: v}})));"
            )
        elif "joinaggregate" in step:
            steps.append("const all = rows, top = Math.max(...rows.map((r) => r.intensity));")
            steps.append("rows = rows.map((r) => ({...r, most: top}));")
        elif "window" in step:
            steps.append("const least = Math.min(...rows.map((r) => r.oblong));")
            steps.append("rows = rows.map((r) => ({...r, place: r.oblong === least ? 1 : 2}));")
        else:
            steps.append(f"rows = rows.filter((datum) => {step['filter']});")
    script += "\n".join(steps) + "\nprocess.stdout.write(JSON.stringify(["
    return node(
        script
        + spec["layer"][1]["layer"][1]["mark"]["text"]["expr"].join(["rows.map((datum) => ", ")"])
        + ", all, rows]));",
        spec["data"]["values"],
    )


@pytest.mark.parametrize("sums", SUMS)
@pytest.mark.parametrize(("chip", "b", "b_k", "stages"), [("h100-sxm", 2, 64, 4), ("a100-80gb-sxm", 1, 128, 3)])
def test_the_map_holds_the_tiles_that_fit_and_rings_the_best(chip, b, b_k, stages, sums):
    said, tiles, best = chart(chip=chip, b=b, b_k=b_k, stages=stages, sums=sums)
    room = accelerators[chip].smem_bytes - 1024
    b_acc = 4 if sums == "smem" else 0
    limit = {"regs": 128 * 1024, "tmem": 256 * 1024, "smem": float("inf")}[sums]
    found = {(t["b_m"], t["b_n"]) for t in tiles}
    sides = range(16, 513, 16)
    assert found == {
        (m, n) for m in sides for n in sides if tile_bytes(m, n, b_k, b, stages, b_acc) <= room and 4 * m * n <= limit
    }
    assert all(t["intensity"] == pytest.approx(tile_intensity(t["b_m"], t["b_n"], b)) for t in tiles)
    assert len(best) == len(said) == 1
    assert best[0]["intensity"] == max(t["intensity"] for t in tiles)
    if sums == "smem":
        want = largest_tile(room, b_k, b, stages, b_acc=4)
        assert {best[0]["b_m"], best[0]["b_n"]} == {want.b_m, want.b_n}
    assert said[0].startswith(f"{best[0]['b_m']} x {best[0]['b_n']}: ")


def test_the_figures_need_nothing_from_elsewhere():
    source = module_source("occupancy_explorer", FORMULAS) + json.dumps(widgets.tile_explorer().spec)
    assert "eval(" not in source
    assert {part.split('"')[0] for part in source.split("http")[1:]} == {"://www.w3.org/2000/svg"}

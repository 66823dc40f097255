"""The numbers of the chip figures, computed by their own scripts under node, against the tables and the formulas."""

import json

import pytest

from hwlib import widgets
from hwlib.roofline import cycle_flops, vector_flops
from hwlib.specs import accelerators
from hwlib.widgets.chips import DERIVED, LABELS, PEAK_FORMULAS
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of

H100 = accelerators["h100-sxm"]


def script(name, body, given):
    return node(module_source(name, PEAK_FORMULAS) + f"\nprocess.stdout.write(JSON.stringify({body}));", given)


@pytest.mark.parametrize(
    ("x", "y", "vendor"),
    [
        ("clock", "cycle_flops", "all"),
        ("tdp", "matmul_bf16_flops", "all"),
        ("hbm_bandwidth", "fp8_flops", "AMD"),
        ("l2_bytes", "scaleup_bandwidth", "NVIDIA"),
        ("tdp", "fp8_flops", "Google"),
    ],
)
def test_the_explorer_shows_what_the_tables_have(x, y, vendor):
    state = state_of(widgets.chip_explorer(x, y, vendor))
    found = script("chip_explorer", "compute(given)", json.loads(json.dumps(state)))
    chips = [c for c in accelerators.values() if vendor in ("all", c.vendor)]
    expected = {c.key: (value(c, x), value(c, y)) for c in chips if value(c, x) and value(c, y)}
    for at, axis in enumerate("xy"):
        assert {p["key"]: p[axis] for p in found["points"]} == pytest.approx({k: v[at] for k, v in expected.items()})
    assert set(found["lack"]) == {c.name for c in chips if c.key not in expected}


def value(chip, name):
    if name == "cycle_flops":
        C = chip.bf16_flops or chip.fp16_flops
        return cycle_flops(C, chip.sms, chip.clock) if C and chip.sms and chip.clock else None
    return getattr(chip, name)


def test_every_quantity_can_be_chosen_and_some_chip_has_it():
    state = state_of(widgets.chip_explorer())
    assert [field["name"] for field in state["fields"]] == [*LABELS, *DERIVED]
    body = "given.fields.map(({name}) => compute({...given, x: name, y: name}).points.length)"
    counted = script("chip_explorer", body, state)
    assert min(counted) >= 2


def test_the_explorer_says_who_printed_what():
    state = state_of(widgets.chip_explorer())
    said = script("chip_explorer", "tell(given.chips['h100-sxm'], ['bf16_flops', 'cycle_flops'], given.fields)", state)
    assert said[0] == "H100 SXM5, Hopper (NVIDIA)"
    assert said[1].startswith("16-bit matrix peak: 989.4 TFLOP/s. Printed “989.4 TFLOPS” (lockwood-garden; ")
    assert "Others print 1979 TFLOPS (data sheet, with sparsity)" in said[1]
    assert said[2].startswith("16-bit FLOP of one SM a cycle: 4,096 FLOP, from 16-bit matrix peak, ")
    lacks = script("chip_explorer", "tell(given.chips['b100-sxm'], ['sms', 'sms'], given.fields)", state)
    assert lacks[1:] == ["multiprocessors: no source confirms one."]


def test_an_axis_holds_its_values_and_has_ticks_between_them():
    for values in ([1.05e9, 2.4e9], [1.0, 9216.0], [132.0]):
        body = "(({at, ticks}) => [ticks, given.map(at)])(axis(given, 0, 100))"
        ticks, places = script("chip_explorer", body, values)
        assert all(0 < place < 100 for place in places)
        assert min(values) / 1.25 <= min(ticks) <= max(ticks) <= max(values) * 1.25 if len(values) > 1 else True


def test_a_peak_is_the_product_of_its_sliders():
    state = state_of(widgets.peak_explorer())
    now = script("peak_explorer", "compute(given)", state)
    assert now["dense"] == 132 * 4096 * 1.83e9 == pytest.approx(H100.bf16_flops, rel=1e-4)
    rates = {bar["format"]: bar["rate"] for bar in now["bars"]}
    assert rates["fp32"] == vector_flops(132, 128, 1.83e9)
    assert (rates["fp8"], rates["fp4"]) == (2 * now["dense"], 4 * now["dense"])
    sparse = script("peak_explorer", "compute(given)", state | {"sparsity": "2:4"})
    assert {b["format"]: b["rate"] / rates[b["format"]] for b in sparse["bars"]} == {
        "fp32": 1,
        "bf16": 2,
        "fp8": 2,
        "fp4": 2,
    }
    said = script("peak_explorer", "tell(compute(given))", state)
    assert said[0] == "16 bits: 132 x 4,096 FLOP x 1.83 GHz = 989.4 TFLOP/s, 100 % of the sheet's dense 989.4 TFLOP/s."
    assert said[2].endswith("as many multiprocessors at full work would need 1.469 GHz.")


def test_chips_start_with_the_factors_of_their_sheets():
    chips = state_of(widgets.peak_explorer())["chips"]
    assert {key: chips[key]["ops"] for key in ("v100-sxm2", "a100-80gb-sxm", "b200-sxm", "mi300x", "tpu-v5p")} == {
        "v100-sxm2": 1024,
        "a100-80gb-sxm": 2048,
        "b200-sxm": 8192,
        "mi300x": 2048,
        "tpu-v5p": 131072,
    }
    assert (chips["mi300x"]["lanes"], chips["h100-pcie"]["lanes"], chips["tpu-v5p"]["lanes"]) == (128, 128, 0)
    assert "b100-sxm" not in chips  # nobody confirms how many multiprocessors it has


def test_the_state_is_json_and_python_and_the_reader_share_it():
    widget = widgets.peak_explorer("a100-80gb-sxm")
    assert json.loads(json.dumps(state_of(widget)))["n_SM"] == 108
    widget.set_state({"clock": 1.2e9, "sparsity": "2:4"})
    assert (widget.clock, widget.sparsity) == (1.2e9, "2:4")
    explorer = widgets.chip_explorer()
    explorer.set_state({"x": "tdp", "chip": "mi300x"})
    assert (explorer.x, explorer.chip) == ("tdp", "mi300x")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: widgets.chip_explorer("weight"), "quantity 'weight' .*tdp"),
        (lambda: widgets.chip_explorer(vendor="Intel"), "vendor 'Intel'.*NVIDIA"),
        (lambda: widgets.chip_explorer(chip="h1000"), "'h1000'.*h100-sxm"),
        (lambda: widgets.peak_explorer("b100-sxm"), "'b100-sxm' .*multiprocessors"),
    ],
)
def test_what_there_is_not_is_named(call, words):
    with pytest.raises(KeyError, match=words):
        call()


def test_scripts_need_nothing_from_elsewhere():
    for name in ("chip_explorer", "peak_explorer"):
        source = module_source(name, PEAK_FORMULAS)
        assert "import" not in source
        assert {part.split('"')[0] for part in source.split("http")[1:]} == {"://www.w3.org/2000/svg"}

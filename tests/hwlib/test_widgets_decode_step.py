"""The live figure of a decode step, computed by its own script, against the Python models and published steps."""

import json

import pytest

from hwlib import widgets
from hwlib.calibrated import decode_parts
from hwlib.inference import batch_limit, decode_time, step_bytes, weight_bytes
from hwlib.specs import accelerators, models
from hwlib.transformer import kv_bytes_per_token
from hwlib.widgets.decode_step import GPT, STEP_FORMULAS, published
from hwlib.widgets.live import module_source
from tests.hwlib.test_widgets import node, state_of


def explored(body, *given):
    source = module_source("decode_explorer", STEP_FORMULAS)
    return node(f"{source}\nprocess.stdout.write(JSON.stringify({body}));", [state_of(one) for one in given])


CASES = [
    {},
    {"graph": False},
    {"graph": False, "launch": 4.0, "tp": 2},
    {"tp": 1, "weights": 4, "kv": 8, "B": 512, "T": 512},
    {"model": "llama3-8b", "chip": "b200-sxm", "tp": 1, "B": 1024, "T": 128},
    {"model": "gpt-20b", "chip": "a100-80gb-sxm", "tp": 4, "B": 64, "T": 180},
    {"chip": "h200-sxm", "weights": 8},
]


def test_the_parts_are_those_of_python():
    drawn = [widgets.decode_explorer(**case) for case in CASES]
    for widget, now in zip(drawn, explored("given.map(compute)", *drawn), strict=True):
        model = GPT if widget.model == GPT.key else models[widget.model]
        b_w, b_kv = widget.bytes[widget.weights], int(widget.kv) / 8
        told = decode_parts(
            model,
            widget.chip,
            tp=widget.tp,
            B=widget.B,
            T_kv=widget.T,
            b_w=b_w,
            b_kv=b_kv,
            t_launch=0.0 if widget.host == "graph" else widget.launch * 1e-6,
        )
        assert now["found"] == pytest.approx(told._asdict(), rel=1e-12, abs=1e-15)
        assert now["step"] == pytest.approx(told.total, rel=1e-12)
        sheet, token = accelerators[widget.chip], kv_bytes_per_token(model, b_kv)
        roofline = decode_time(
            step_bytes(model, 1, 1.0), widget.B, widget.T, token, widget.tp, sheet.bf16_flops, sheet.hbm_bandwidth, b_w
        )
        assert now["sheet"] == pytest.approx(roofline, rel=1e-12)
        fits = batch_limit(weight_bytes(model, 1.0), widget.T, token, widget.tp, sheet.hbm_bytes, b_w)
        assert now["fits"] == fits


def test_the_opening_of_the_chapter():
    slow, good = explored(
        "given.map((one) => ({...compute(one), said: tell(compute(one), one)}))",
        widgets.decode_explorer(graph=False),
        widgets.decode_explorer(),
    )
    assert 1 / slow["sheet"] == pytest.approx(190, abs=1)
    assert 1 / slow["step"] == pytest.approx(38, abs=1.5)
    assert good["found"]["waiting"] == 0
    assert good["step"] < slow["step"] / 2
    assert "The roofline allows 189" in slow["said"][0]
    assert "% waiting for the host" in slow["said"][1]
    assert "longer than the GPUs need" in slow["said"][2]
    assert not any("launches" in line for line in good["said"])


def test_published_steps_appear_where_their_settings_are():
    rows = published()
    assert {(row["who"], row["B"]) for row in rows} >= {("gpt-fast", 1), ("FasterTransformer", 64)}
    row = next(r for r in rows if (r["model"], r["tp"], r["weights"]) == ("llama3-70b", 8, "16"))
    assert 1 / row["time"] == pytest.approx(58.78)
    same = {key: row[key] for key in ("model", "chip", "tp", "B", "T")}
    at, beside, far = explored(
        "given.map((one) => ({...compute(one), said: tell(compute(one), one)}))",
        widgets.decode_explorer(**same),
        widgets.decode_explorer(**same | {"B": 8}),
        widgets.decode_explorer(**same | {"T": 8192}),
    )
    assert at["here"] == row
    assert "58.8" not in at["said"][-1]
    assert "59 tokens/s" in at["said"][-1]
    assert "Published at other batches: 1" in beside["said"][-1]
    assert (far["near"], far["others"]) == ([], 1)


def test_the_caches_end_somewhere_and_a_small_gpu_holds_nothing():
    full, none = explored(
        "given.map((one) => ({...compute(one), said: tell(compute(one), one)}))",
        widgets.decode_explorer(B=256),
        widgets.decode_explorer(tp=1),
    )
    assert 180 < full["fits"] < 190
    assert any("256 do not" in line for line in full["said"])
    assert none["fits"] == 0
    assert any("do not hold" in line or "does not hold" in line for line in none["said"])


def test_state_is_json_and_what_there_is_not_is_named():
    widget = widgets.decode_explorer()
    assert json.loads(json.dumps(state_of(widget)))["tp"] == 8
    for wrong, error in (
        ({"model": "abacus"}, KeyError),
        ({"chip": "abacus"}, KeyError),
        ({"tp": 3}, ValueError),
        ({"weights": 5}, ValueError),
        ({"kv": 4}, ValueError),
    ):
        with pytest.raises(error, match=r"known: |one of "):
            widgets.decode_explorer(**wrong)
    with pytest.raises(Exception, match="unknown chip 'rope'"):
        widget.chip = "rope"

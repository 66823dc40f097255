"""The charts of decoding, evaluated as vega does, against the Python library."""

import json

import pytest

from hwlib import widgets
from hwlib.inference import batch_limit, drafted_speedup
from hwlib.specs import accelerators, models
from hwlib.transformer import kv_bytes_per_token, parameter_count
from hwlib.widgets.decoding import REACHED
from tests.hwlib.test_widgets_collectives import evaluated


def chosen(chart, **values):
    spec = json.loads(json.dumps(chart.spec))
    for param in spec["params"]:
        param["value"] = values.get(param["name"], param.get("value"))
    return spec


@pytest.mark.parametrize(("key", "chip", "log_n"), [("llama3-70b", "h100-sxm", 3), ("deepseek-v3", "b200-sxm", 4)])
def test_the_sequences_that_fit_are_batch_limit(key, chip, log_n):
    spec = chosen(widgets.fit_explorer(), model=key, chip=chip, log_n=log_n, weights="8 bits")
    rows, title = evaluated(spec, spec["transform"])
    model, room = models[key], REACHED * accelerators[chip].hbm_bytes
    assert len(rows) > 100
    for row in rows[::7]:
        S_kv = kv_bytes_per_token(model, row["b_kv"])
        want = batch_limit(parameter_count(model), row["T_kv"], S_kv, 2**log_n, room, 1)
        assert row["fit"] == pytest.approx(want)
    weights, unit, *_ = title.split(" ")
    assert float(weights) == pytest.approx(parameter_count(model) / 1e9, rel=1e-2)
    assert unit == "GB"


def test_weights_that_do_not_fit_are_said_so():
    spec = chosen(widgets.fit_explorer("llama3-405b"), log_n=2)
    rows, title = evaluated(spec, spec["transform"])
    assert (rows, title) == ([], "the weights do not fit")
    with pytest.raises(KeyError, match=r"'gpt-5' .*llama3-8b"):
        widgets.fit_explorer("gpt-5")


@pytest.mark.parametrize("accept", [0.3, 0.9])
def test_the_gain_of_drafts_is_the_formula(accept):
    spec = chosen(widgets.drafts_explorer(), accept=accept, c_draft=0.1, B_crit=150)
    line = spec["layer"][0]
    rows, title = evaluated({**spec, "data": line["data"]}, line["transform"])
    for row in rows[::11]:
        want = drafted_speedup(accept, row["drafts"], 0.1, row["B"], 150)
        assert row["gain"] == pytest.approx(want, rel=1e-12)
    assert " accepted, a draft costs 0.1" in title

"""Published decoding: keys, and what the sources print beside the rates."""

import pytest

from hwlib.inference import step_bytes
from hwlib.specs import accelerators, measured_decode_attention, measured_decodes, models
from hwlib.transformer import parameter_count

PRINTED = {  # GB/s of a GPU, the README's own column: rate times the bytes of its share of the model
    ("llama2-7b", 1): 1397.31,
    ("llama2-7b", 8): 704.10,
    ("llama2-70b", 2): 1481.87,
    ("llama2-70b", 8): 1135.29,
}


@pytest.mark.parametrize(("key", "tp"), PRINTED)
def test_the_readme_prints_the_bandwidth_that_the_rows_give(key, tp):
    """Its column counts what a GPU holds: of the layers a tp-th, and both tables whole."""
    row, model = measured_decodes(key, tp=tp, dtype="bf16")[0], models[key]
    tables = 2 * 2 * model.vocab * model.width
    held = (2 * parameter_count(model) - tables) / tp + tables
    assert held / row.time / 1e9 == pytest.approx(PRINTED[key, tp], rel=0.015)


def test_no_row_beats_the_data_sheet():
    for row in measured_decode_attention():
        assert row.bytes / row.time < accelerators["h100-sxm"].hbm_bandwidth
    for row in measured_decodes(dtype="bf16"):
        if row.chip:
            read = step_bytes(models[row.model], 1) / row.tp
            assert read / row.time < accelerators[row.chip].hbm_bandwidth


def test_a_graph_is_faster_and_drafts_are_too():
    for row in measured_decodes(how="eager"):
        assert row.time > 1.5 * measured_decodes(row.model, tp=1, dtype="bf16")[0].time
    (with_drafts,) = measured_decodes(drafts=4)
    assert with_drafts.time < 0.6 * measured_decodes("llama2-70b", tp=1, dtype="int4w")[0].time


def test_one_layer_of_a_lone_sequence_is_mostly_latency():
    rows = measured_decode_attention()
    lone = next(r for r in rows if (r.kv_heads, r.batch, r.cached) == (1, 1, 8191))
    assert lone.time == pytest.approx(17.1307e-6)
    assert lone.bytes == 2 * 8191 * 128 * 2

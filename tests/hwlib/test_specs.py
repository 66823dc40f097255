"""Every value of the tables has a unit and a source, and the values agree with one another by arithmetic."""

import pickle
from dataclasses import FrozenInstanceError

import pytest

from hwlib.calibrated import gemm_samples
from hwlib.roofline import ridge, tensor_flops, vector_flops
from hwlib.specs import Accelerator, accelerators, clusters, links, measured_gemms, models, nodes, switches
from hwlib.specs.reader import quantities
from hwlib.units import GB, MiB, parse

SETS = sorted({(row.chip, row.dtype) for row in measured_gemms()})
TABLES = (accelerators, links, switches, nodes, clusters)
NONE = ("switches", "scaleup_switches", "nics")  # of which a machine may have none
ADDS = {"Volta": 64, "Ampere": 256, "Hopper": 512}  # multiply-adds of a tensor core a cycle, in float16


def data():
    """Every value of the tables of hardware, by where it stands."""
    for rows in TABLES:
        for key, row in rows.items():
            for name, datum in row.data.items():
                yield f"{key}.{name}", row, name, datum


def test_every_chip_has_a_name_and_a_family():
    assert [key for key, chip in accelerators.items() if not (chip.key == key and chip.name and chip.arch)] == []
    assert {chip.vendor for chip in accelerators.values()} >= {"NVIDIA", "AMD", "Google"}


def test_every_value_is_that_of_its_field_and_names_its_source(sources):
    offenders = []
    for place, row, name, datum in data():
        good = (datum.unit, datum.meaning) == quantities(type(row))[name] and getattr(row, name) == datum.value
        if not good or datum.source not in sources or not (datum.value > 0 or name in NONE):
            offenders.append((place, datum))
    assert offenders == []


def test_every_value_is_what_was_printed():
    """Read here in another way than in the tables' reader: as a learner's answer, times the factor."""
    offenders = []
    for place, _, _, datum in data():
        printed = parse(datum.printed.replace("GT/s", "Gbit/s"))  # a transfer of one lane carries one bit
        same = printed.value * datum.factor == pytest.approx(datum.value, rel=1e-9, abs=0)
        if not same or printed.unit != parse(f"1 {datum.unit}").unit:
            offenders.append((place, datum))
    assert offenders == []


def test_a_factor_says_what_was_printed():
    """Both directions or sparsity, a KB or MB that is binary, or what the note says."""
    usual = (1, 0.5, 1.024, 1.048576)
    odd = [place for place, row, _, datum in data() if datum.factor not in usual and isinstance(row, Accelerator)]
    silent = [place for place, _, _, datum in data() if datum.factor not in (1, 1.048576) and not datum.note]
    assert (odd, silent) == ([], [])


def test_links_add_up():
    chips = [chip for chip in accelerators.values() if chip.scaleup_links]
    assert {c.key: c.scaleup_links * c.scaleup_link_bandwidth for c in chips} == pytest.approx(
        {c.key: c.scaleup_bandwidth for c in chips}
    )


def test_two_way_figures_are_halved():
    assert accelerators["h100-sxm"].datum("scaleup_bandwidth").printed == "900 GB/s"
    assert accelerators["h100-sxm"].scaleup_bandwidth == 450 * GB
    assert accelerators["h800-sxm"].scaleup_bandwidth == 200 * GB


@pytest.mark.parametrize(
    ("key", "lanes", "rel"),
    [("v100-sxm2", 64, 0.005), ("a100-40gb-sxm", 64, 0.005), ("a100-80gb-sxm", 64, 0.005),
     ("h100-sxm", 128, 0.001),
     ("h100-pcie", 128, 0.006), ("h200-sxm", 128, 0.001), ("h800-sxm", 128, 0.001), ("mi300x", 128, 0.001),
     ("mi325x", 128, 0.001), ("mi355x", 128, 0.001), ("b200-sxm", 128, 0.08),
     ("mi350x", 128, 0.001), ("a10", 128, 0.001), ("a40", 128, 0.001), ("l4", 128, 0.001),
     ("rtx-4090", 128, 0.001), ("rtx-5090", 128, 0.001)],
)  # fmt: skip
def test_vector_rate_from_the_clock(key, lanes, rel):
    # The B200's printed 80 TFLOP/s is 7.5 % above what the clock that devices report gives.
    chip = accelerators[key]
    assert vector_flops(chip.sms, lanes, chip.vector_clock) == pytest.approx(chip.fp32_flops, rel=rel)


@pytest.mark.parametrize(
    ("key", "dtype", "per_core", "rel"),
    [("v100-sxm2", "fp16", 256, 0.003), ("a100-40gb-sxm", "bf16", 512, 0.001),
     ("a100-80gb-sxm", "bf16", 512, 0.001),
     ("h100-sxm", "bf16", 1024, 1e-4), ("h200-sxm", "bf16", 1024, 1e-4), ("h800-sxm", "bf16", 1024, 1e-4),
     ("mi300x", "bf16", 512, 0.001), ("mi325x", "bf16", 512, 0.006), ("mi355x", "bf16", 1024, 0.007),
     ("mi350x", "bf16", 1024, 1e-4), ("a100-40gb-pcie", "bf16", 512, 0.001), ("a800-80gb-sxm", "bf16", 512, 1e-4),
     ("a10", "bf16", 256, 0.001), ("a40", "bf16", 256, 0.001), ("l4", "bf16", 256, 0.002),
     ("gh200", "bf16", 1024, 0.001), ("h100-nvl", "bf16", 1024, 0.001),
     ("h200-nvl", "bf16", 1024, 0.001), ("rtx-4090", "bf16", 128, 0.001), ("rtx-5090", "bf16", 128, 0.001),
     ("tpu-v4", "bf16", 2 * 128**2, 0.002), ("tpu-v5p", "bf16", 2 * 128**2, 0.002),
     ("tpu-v5e", "bf16", 2 * 128**2, 0.003)],
)  # fmt: skip
def test_matrix_rate_from_the_clock(key, dtype, per_core, rel):
    # Four units everywhere: tensor cores of an SM (Volta's eight as four), of a CU, MXUs of a TensorCore. Those of a
    # GeForce sum in float32 at half their rate.
    chip = accelerators[key]
    assert tensor_flops(chip.sms, chip.clock, per_core) == pytest.approx(chip.flops(dtype), rel=rel)


@pytest.mark.parametrize("key", accelerators)
def test_halving_the_width_doubles_the_rate(key):
    chip = accelerators[key]
    halved = 2 if "GeForce" in chip.name else 1  # with sums in float32; integers and 4 bits are not
    unlike = "tpu-v5p", "tpu-v6e", "trainium3"  # two run fp8 as bfloat16; the third's 8 bits are four times as fast
    if chip.bf16_flops and chip.fp8_flops and key not in unlike:
        assert chip.fp8_flops == pytest.approx(2 * chip.bf16_flops, rel=0.03 if key == "trainium2" else 0.005)
    if chip.fp8_flops and chip.fp4_flops and key != "trainium3" and chip.arch != "Blackwell Ultra":  # which adds more
        assert chip.fp4_flops == pytest.approx(2 * halved * chip.fp8_flops, rel=0.015)
    if chip.int8_ops and chip.fp8_flops and chip.vendor != "Google":
        assert chip.int8_ops == pytest.approx(halved * chip.fp8_flops, rel=0.005)


@pytest.mark.parametrize("key", accelerators)
def test_measured_rates_are_below_the_peak(key):
    chip = accelerators[key]
    for measured, peak in (("stream_bandwidth", "hbm_bandwidth"), ("matmul_bf16_flops", "bf16_flops")):
        if getattr(chip, measured):
            assert 0.5 < getattr(chip, measured) / getattr(chip, peak) < 1
    if chip.allreduce_bandwidth:
        assert 0.6 < chip.allreduce_bandwidth / chip.scaleup_bandwidth < 1


@pytest.mark.parametrize(
    ("key", "lanes"), [("v100-sxm2", 5120), ("a100-80gb-sxm", 6912), ("h100-sxm", 16_896), ("b200-sxm", 18_944)]
)
def test_lanes_are_what_a_data_sheet_calls_cores(key, lanes):
    assert accelerators[key].sms * accelerators[key].lanes == lanes


@pytest.mark.parametrize("key", [key for key, chip in accelerators.items() if chip.lanes and chip.sms])
def test_lanes_make_the_printed_vector_rate(key):
    chip = accelerators[key]
    if chip.vector_clock and chip.fp32_flops:  # the B200's clocks are not those of its printed rates
        rel = 0.08 if key == "b200-sxm" else 0.005
        assert vector_flops(chip.sms, chip.lanes, chip.vector_clock) == pytest.approx(chip.fp32_flops, rel=rel)


@pytest.mark.parametrize("key", [key for key, chip in accelerators.items() if chip.tensor_cores and chip.arch in ADDS])
def test_tensor_cores_make_the_printed_matrix_rate(key):
    chip = accelerators[key]
    rate = chip.sms * chip.tensor_cores * 2 * ADDS[chip.arch] * chip.clock
    assert rate == pytest.approx(chip.flops("fp16"), rel=0.005)


def test_memories_of_the_chip():
    h100 = accelerators["h100-sxm"]
    assert h100.sms * h100.l1_bytes == 33 * MiB  # the "33 MB" of the book, which are MiB
    assert h100.smem_bytes < h100.l1_bytes
    assert accelerators["a100-40gb-sxm"].l2_bytes == 41_943_040  # what the device reports
    assert accelerators["b200-sxm"].tmem_bytes == 128 * 512 * 4


def test_what_nobody_confirms_is_absent():
    assert accelerators["gb200-nvl72"].sms is None
    assert accelerators["a100-80gb-sxm"].fp8_flops is None
    with pytest.raises(KeyError, match=r"gb300-nvl72 .* sms; "):
        accelerators["gb300-nvl72"].datum("sms")


def test_flops_by_dtype():
    h100 = accelerators["h100-sxm"]
    assert h100.flops("bfloat16") == h100.flops("fp16") == h100.bf16_flops
    assert h100.flops("fp8") == h100.fp8_flops
    with pytest.raises(ValueError, match=r"A100 80GB SXM .* fp8 .*; .*bf16"):
        accelerators["a100-80gb-sxm"].flops("fp8")
    with pytest.raises(ValueError, match=r"V100 SXM2 32GB .* bf16"):
        accelerators["v100-sxm2"].flops("bf16")
    with pytest.raises(ValueError, match=r"'bf17'; .*bf16"):
        h100.flops("bf17")


def test_unknown_names_get_close_ones():
    with pytest.raises(KeyError, match=r"accelerator 'h100'; .*h100-sxm"):
        accelerators["h100"]
    with pytest.raises(KeyError, match=r"'hbm_bw'; .*hbm_b"):
        accelerators["h100-sxm"].datum("hbm_bw")


def test_records_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        accelerators["h100-sxm"].hbm_bandwidth = 1.0
    with pytest.raises(TypeError):
        accelerators["h100-sxm"].data["sms"] = None


def test_records_travel_to_other_processes_and_stay_read_only():
    tables = (accelerators, clusters, links, models, nodes, switches)
    rows = [row for table in tables for row in table.values()]
    sent = pickle.loads(pickle.dumps(rows))
    assert sent == rows
    with pytest.raises(TypeError):
        sent[0].data["sms"] = None


# The small table of measured matrix products


def test_measured_gemms(sources):
    rows = measured_gemms()
    assert 60 <= len(rows) <= 80
    assert len(set(rows)) == len(rows)
    for row in rows:
        assert row.source.split()[0] in sources
        assert 0 < row.time < 1
        assert 2 * row.M * row.N * row.K / row.time < accelerators[row.chip].flops(row.dtype)


@pytest.mark.parametrize(("chip", "dtype"), SETS)
def test_measured_gemms_span_both_sides_of_the_ridge(chip, dtype):
    rows = measured_gemms(chip, dtype)
    assert {(r.chip, r.dtype) for r in rows} == {(chip, dtype)}
    intensities = [s.flops / s.bytes for s in gemm_samples(rows)]
    here = ridge(accelerators[chip].flops(dtype), accelerators[chip].hbm_bandwidth)
    assert min(intensities) < here / 20
    assert max(intensities) > 2 * here


def test_measured_gemms_of_an_unknown_chip():
    with pytest.raises(ValueError, match=r"v100 bf16; .*a100-80gb-sxm bf16"):
        measured_gemms("v100", "bf16")


def test_a_row_says_whether_its_chip_is_announced_shipping_or_measured():
    states = {key: chip.state for key, chip in accelerators.items()}
    assert set(states.values()) == {"announced", "shipping", "measured"}
    assert [states[key] for key in ("b100-sxm", "rubin", "trainium2", "h100-sxm", "mi355x")] == [
        "announced",
        "announced",
        "shipping",
        "measured",
        "measured",
    ]
    assert [links[key].state for key in ("xgmi-mi355x", "xgmi3", "nvlink5")] == ["shipping", "measured", "shipping"]


def test_the_mesh_of_an_mi355x_is_made_of_its_links():
    chip = accelerators["mi355x"]
    assert chip.scaleup_link_bandwidth == links["xgmi-mi355x"].bandwidth
    assert chip.scaleup_links * links["xgmi-mi355x"].bandwidth == pytest.approx(chip.scaleup_bandwidth)


def test_a_trainium_machine_has_as_many_cores_as_its_published_plans_count():
    chip = accelerators["trainium1"]
    assert 32 * chip.scaleup_domain * chip.sms == 1024  # 32 machines; tensor parallel 32 by data parallel 32

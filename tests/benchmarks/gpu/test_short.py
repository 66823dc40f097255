"""Half a minute on a card: a card of the tests obeys a data sheet, at clocks and with faults that a test chooses."""

import json
import math
from dataclasses import dataclass, field, replace

import pytest
from click.testing import CliRunner

from benchmarks.gpu import labs, short
from benchmarks.gpu.this_card import QUERY, DriverReading, MissingError, NoCardError, Properties, TorchCard, read_driver
from hwlib.calibrated import prefill_attention_time
from hwlib.calibrated.gemm import product_model
from hwlib.labs import measure
from hwlib.specs import accelerators
from hwlib.specs.card import CARDS
from hwlib.units import GB, MiB

SOUND = DriverReading(1830, 1980, 2619, 2619, 600, 700, 700, "Enabled", "Disabled", 60, 0)


@dataclass
class SimulatedCard:
    """A card that takes the models' times for `chip`, slower by the shares of its faults."""

    name: str
    chip: str = "h100-sxm"
    memory: float = 1.0
    arithmetic: float = 1.0
    before: DriverReading | None = SOUND
    loaded: DriverReading | None = SOUND
    sms: int = 132
    lacks: tuple[str, ...] = ()
    asked: list = field(default_factory=list)

    @property
    def properties(self):
        return Properties(self.name, 80 * GB, 50 * MiB, self.sms, "2.13.0")

    def idle(self):
        return self.before

    def under_load(self):
        return self.loaded

    def copy_time(self, size):
        return 2 * size / (0.9 * self.memory * accelerators[self.chip].hbm_bandwidth)

    def product_time(self, M, N, K, dtype):
        self.asked.append(dtype)
        if dtype in self.lacks:
            raise MissingError(f"no {dtype}")
        model = product_model(accelerators[self.chip], dtype)
        alone = replace(model, constants=replace(model.constants, quantises=False))  # inputs in fp8 already
        return alone.time(M, N, K) / self.arithmetic

    def attention_time(self, heads, kv_heads, D, B, T):
        shape = {"heads": heads, "kv_heads": kv_heads, "head_dim": D, "batch": B, "seq": T}
        return prefill_attention_time(self.chip, "bf16", software="sglang", **shape) / self.arithmetic

    def launch_time(self):
        return 5e-6

    def graph_time(self, side):
        return product_model(accelerators[self.chip], "bf16").time(side, side, side)


H100 = "NVIDIA H100 80GB HBM3"


def measured(card):
    return {finding.name: finding for finding in short.findings(card)[1]}


def test_a_sound_card_needs_no_explanation():
    card = SimulatedCard(H100)
    rows = measured(card)
    assert not any(row.causes for row in rows.values())
    assert rows["memory"].of_sheet == pytest.approx(0.9)
    assert rows["attention"].of_predicted == pytest.approx(1)
    assert card.asked == ["bf16", "fp8"]
    assert "as the models predict" in list(short.lines(card.properties, *short.findings(card)))[-1]


@pytest.mark.parametrize(("share", "explained"), [(0.92, True), (0.94, False)])
def test_a_product_is_short_beyond_the_models_own_error(share, explained):
    rows = measured(SimulatedCard(H100, arithmetic=share))
    assert bool(rows["product, bf16"].causes) is explained
    assert not rows["memory"].causes


FAULTS = {
    "clock": ({"clock": 1200.0}, "1200 of 1830 MHz", "clock"),
    "power": ({"power": 695.0}, "power limit is 700 W", "power limit"),
    "cap": ({"power_limit": 400.0, "power": 300.0}, "below the usual 700 W", "below the usual"),
    "heat": ({"temperature": 85.0}, "85 °C", "°C"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_cause_is_named_where_the_driver_shows_it_and_not_where_it_does_not(fault):
    change, words, without = FAULTS[fault]
    slow = SimulatedCard(H100, arithmetic=0.6, loaded=SOUND._replace(**change))
    assert words in " ".join(measured(slow)["product, bf16"].causes)
    sound = " ".join(measured(SimulatedCard(H100, arithmetic=0.6))["product, bf16"].causes)
    assert "candidates" in sound
    assert without not in sound.replace("Clocks, power", "")


def test_memory_is_slow_by_its_clock_another_program_or_error_correction():
    slow = {"memory": 0.5}
    by_clock = measured(SimulatedCard(H100, **slow, loaded=SOUND._replace(memory_clock=1313.0)))["memory"]
    assert "1313 of 2619" in by_clock.causes[0]
    shared = measured(SimulatedCard(H100, **slow, before=SOUND._replace(utilization=40.0)))["memory"]
    assert "40 % busy" in shared.causes[0]
    assert not any("ECC" in text for text in shared.causes), "HBM has places of its own for the bits"
    card = SimulatedCard("NVIDIA L40S", chip="l40s", memory=0.5, sms=142)
    card.attention_time = lambda *_: 1e-3
    assert any("ECC" in text for text in measured(card)["memory"].causes)


def test_a_slice_is_held_against_its_share():
    card = SimulatedCard(f"{H100} MIG 3g.40gb", sms=66)
    reference = short.reference_of(card.properties)
    whole = accelerators["h100-sxm"]
    assert reference.slice
    assert reference.sheet.bf16_flops == pytest.approx(whole.bf16_flops / 2)
    assert whole.hbm_bandwidth * 0.9 < reference.sheet.hbm_bandwidth < whole.hbm_bandwidth
    row = measured(SimulatedCard(f"{H100} MIG 3g.40gb", sms=66, arithmetic=0.2))["product, bf16"]
    assert any("MIG" in text for text in row.causes)


def test_a_card_that_the_tables_lack_has_numbers_and_no_shares():
    card = SimulatedCard("NVIDIA Wonder 9000")
    reference, rows = short.findings(card)
    assert reference.sheet is None
    assert all(math.isnan(row.of_sheet) and not row.causes for row in rows)
    assert "do not have this card" in list(short.lines(card.properties, reference, rows))[1]


def test_a_card_without_8_bits_or_with_an_old_torch_leaves_that_out():
    assert "product, fp8" not in measured(SimulatedCard(H100, lacks=("fp8",)))
    a100 = SimulatedCard("NVIDIA A100-SXM4-80GB", chip="a100-80gb-sxm", sms=108)
    assert "product, fp8" not in measured(a100)
    assert a100.asked == ["bf16"], "the data sheet has none, so none is tried"
    old = SimulatedCard("Tesla V100-SXM2-32GB", sms=80)
    assert measured(old)["product, fp16"].sheet == accelerators["v100-sxm2"].fp16_flops


def test_without_a_driver_the_candidates_are_listed_as_such():
    row = measured(SimulatedCard("AMD Instinct MI300X", before=None, loaded=None, arithmetic=0.3))["product, bf16"]
    assert "candidates" in row.causes[0]
    assert "amd-smi" in row.causes[0]


def test_every_card_of_the_tables_is_held_against_its_sheet():
    for name, chip in {chip: name for name, chip in CARDS.items()}.items():
        card = SimulatedCard(chip, chip=name)
        row = short.memory(card, short.reference_of(card.properties))
        assert row.of_sheet == pytest.approx(0.9), name
        assert row.of_predicted > row.near, name


def test_the_object_is_json_without_nan(monkeypatch):
    for name in (H100, "NVIDIA Wonder 9000"):
        monkeypatch.setattr(labs, "TorchCard", lambda name=name: SimulatedCard(name))
        done = CliRunner().invoke(labs.main, ["--short", "--json"])
        assert done.exit_code == 0, done.output
        assert "NaN" not in done.output
        record = json.loads(done.output)
        assert record["chip"] == (None if "Wonder" in name else "h100-sxm")
        assert {row["name"] for row in record["findings"]} > {"memory", "attention"}
    printed = CliRunner().invoke(labs.main, ["--short"])
    assert printed.exit_code == 0
    assert "launch by the host" in printed.output


def test_without_a_gpu_it_is_one_sentence(monkeypatch):
    def none():
        raise NoCardError("no GPU that torch 2.13.0 can use here: this torch was built without CUDA and ROCm")

    monkeypatch.setattr(labs, "TorchCard", none)
    done = CliRunner().invoke(labs.main, ["--short"])
    assert done.exit_code == 1
    assert done.output.startswith("Error: no GPU that torch")
    assert done.output.count("\n") == 1
    assert CliRunner().invoke(labs.main, []).exit_code == 2, "the long run says where its rows go"
    assert CliRunner().invoke(labs.main, ["--json", "--out", "x.csv"]).exit_code == 2


def test_the_drivers_line_is_read_and_what_it_lacks_is_unknown():
    commands = []

    def answer(command):
        commands.append(command)
        return "1410, 1980, 2619, 2619, 301.25, 700.00, [N/A], Enabled, Disabled, 41, 3\n"

    reading = read_driver("abc", answer)
    assert reading.clock == 1410
    assert reading.power == 301.25
    assert math.isnan(reading.default_limit)
    assert (reading.ecc, reading.mig) == ("Enabled", "Disabled")
    assert commands[0][1:3] == ["-i", "GPU-abc"]
    assert f"--query-gpu={','.join(QUERY)}" in commands[0]
    assert read_driver("", lambda command: "Field is not a valid field to query") is None

    def fails(command):
        raise FileNotFoundError(command[0])

    assert read_driver("", fails) is None


@pytest.mark.nightly  # loads torch
def test_the_same_code_measures_on_the_processor(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(measure, "SECONDS", 0.01)
    monkeypatch.setattr(measure, "MAX_CACHE", 2**20)
    card = TorchCard("cpu")
    assert card.idle() is None
    assert card.under_load() is None
    assert 0 < card.copy_time(2**20) < 1
    assert 0 < card.product_time(64, 32, 16, "fp32") < 1
    assert 0 < card.attention_time(2, 1, 16, 1, 32) < 1
    assert 0 < card.launch_time() < 1
    with pytest.raises(MissingError):
        card.graph_time(16)

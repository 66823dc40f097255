"""Half a minute on your own card: `python -m benchmarks.gpu --short`.

Memory, a large product in 16 and in 8 bits, attention, and what a launch costs, each beside the card's data sheet and
what the library's models predict. Where a number falls short, what the driver reports is held against it: a clock below
the sheet's, a power limit that is reached, error correction, a slice of a card, other work on it. A cause is named only
where a reading shows it; otherwise the candidates are listed as such.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from benchmarks.gpu.this_card import AnyCard, DriverReading, MissingError, Properties, copied_bytes
from hwlib.calibrated import prefill_attention_time
from hwlib.calibrated.gemm import product_model
from hwlib.roofline import matmul_flops
from hwlib.specs import Accelerator
from hwlib.specs.accelerator import GDDR6
from hwlib.specs.card import card_of
from hwlib.units import show

SIDE = 8192  # of a large product: it takes a millisecond, and no start counts
SMALL = 64  # of a small one: it takes what a kernel takes to start
HEADS, KV_HEADS, HEAD_DIM, BATCH, TOKENS = 32, 8, 128, 2, 4096
NEAR = 0.93  # of what is predicted, at least: the models' error on large products is some 7 %
NEAR_SMALL = 0.8  # of attention by another kernel and of small kernels, on an H100 of our own
TYPED = 0.8  # of that again, where the constants are another chip's
SLOWER_CLOCK, AT_LIMIT, HOT, BUSY = 0.97, 0.97, 85.0, 5.0  # shares; degrees Celsius; per cent before anything ran
SLICE = " MIG "


class Reference(NamedTuple):
    """The data sheet that holds for this card: of a slice, the whole card's by its share; None: not in the tables."""

    sheet: Accelerator | None
    slice: bool = False

    @property
    def dtype(self) -> str:
        """What the matrix units multiply in 16 bits: fp16 on a card before Ampere."""
        return "fp16" if self.sheet is not None and self.sheet.bf16_flops is None else "bf16"


class CardFinding(NamedTuple):
    """One measurement: a rate or a time, what the data sheet and the models say (NaN: nothing), and why it falls short.

    `near` is the share of the prediction from which on nothing is to be explained, `basis` what was assumed for a chip
    that no product was measured on, `causes` are sentences.
    """

    name: str
    measured: float
    unit: str
    sheet: float
    predicted: float
    near: float = NEAR
    basis: str = ""
    causes: tuple[str, ...] = ()

    @property
    def of_sheet(self) -> float:
        """Share of the data sheet's rate."""
        return self.measured / self.sheet

    @property
    def of_predicted(self) -> float:
        """Share of the predicted rate; of a time, how many times shorter it is than predicted."""
        share = self.measured / self.predicted
        return 1 / share if self.unit == "s" else share

    @property
    def short(self) -> bool:
        """Whether it is lower than the models' own error explains."""
        return self.of_predicted < self.near * (TYPED if self.basis else 1.0)


def reference_of(card: Properties) -> Reference:
    """The tables' row for a card by its name; of a MIG slice, that of the card by its share of multiprocessors and of
    memory.
    """
    whole, cut, _ = card.name.partition(SLICE)
    sheet = card_of(whole)
    if sheet is None or not cut:
        return Reference(sheet, bool(cut))
    arithmetic = card.sms / sheet.sms if sheet.sms else 1.0
    memory = min(card.memory / sheet.seen_bytes, 1.0) if sheet.seen_bytes else 1.0
    scaled = {
        name: getattr(sheet, name) * share
        for name, share in (
            ("bf16_flops", arithmetic),
            ("fp16_flops", arithmetic),
            ("fp8_flops", arithmetic),
            ("hbm_bandwidth", memory),
        )
        if getattr(sheet, name) is not None
    }
    return Reference(replace(sheet, sms=card.sms, **scaled), True)


def findings(card: AnyCard) -> tuple[Reference, list[CardFinding]]:
    """Measure a card: what it reaches, and why not more. What it cannot do is left out."""
    reference = reference_of(card.properties)
    before = card.idle()
    raw = []
    for part in (memory, product, small_product, attention, launch, start):
        try:
            raw.append(part(card, reference))
        except MissingError:
            continue
    readings = before, card.under_load()
    return reference, [_explained(finding, reference, *readings) for finding in raw]


def _explained(
    finding: CardFinding, reference: Reference, before: DriverReading | None, loaded: DriverReading | None
) -> CardFinding:
    return finding._replace(causes=tuple(causes(finding, reference, before, loaded))) if finding.short else finding


def memory(card: AnyCard, reference: Reference) -> CardFinding:
    """Bytes read and written by a copy that no cache holds."""
    size = copied_bytes(card.properties)
    model = _model(reference, reference.dtype)
    sheet = _of(reference, "hbm_bandwidth")
    predicted = model.constants.eta_W * model.W if model else math.nan
    return CardFinding("memory", 2 * size / card.copy_time(size), "B/s", sheet, predicted, NEAR, _basis(model))


def product(card: AnyCard, reference: Reference) -> CardFinding:
    """A large product in 16 bits."""
    return _product(card, reference, reference.dtype)


def small_product(card: AnyCard, reference: Reference) -> CardFinding:
    """The same in 8 bits."""
    if reference.sheet is not None and reference.sheet.fp8_flops is None:
        raise MissingError(f"{reference.sheet.name} has no fp8")
    return _product(card, reference, "fp8")


def _product(card: AnyCard, reference: Reference, dtype: str) -> CardFinding:
    rate = matmul_flops(SIDE, SIDE, SIDE) / card.product_time(SIDE, SIDE, SIDE, dtype)
    model = _model(reference, dtype)
    predicted = matmul_flops(SIDE, SIDE, SIDE) / model.time(SIDE, SIDE, SIDE) if model else math.nan
    sheet = reference.sheet.flops(dtype) if reference.sheet else math.nan
    return CardFinding(f"product, {dtype}", rate, "FLOP/s", sheet, predicted, NEAR, _basis(model))


def attention(card: AnyCard, reference: Reference) -> CardFinding:
    """One causal attention layer over two prompts."""
    flops = 2 * BATCH * HEADS * HEAD_DIM * TOKENS**2  # half of the pairs of 4 · D each
    rate = flops / card.attention_time(HEADS, KV_HEADS, HEAD_DIM, BATCH, TOKENS)
    sheet, predicted = math.nan, math.nan
    if reference.sheet is not None:
        sheet = reference.sheet.flops(reference.dtype)
        predicted = flops / _attention_time(reference)
    return CardFinding("attention", rate, "FLOP/s", sheet, predicted, NEAR_SMALL)


def _attention_time(reference: Reference) -> float:
    """As the fitted constants have it; NaN for a slice and for a chip without them."""
    if reference.sheet is None or reference.slice:
        return math.nan
    shape = {"heads": HEADS, "kv_heads": KV_HEADS, "head_dim": HEAD_DIM, "batch": BATCH, "seq": TOKENS}
    try:
        return float(prefill_attention_time(reference.sheet.key, "bf16", software="sglang", **shape))
    except KeyError:
        return math.nan


def launch(card: AnyCard, _reference: Reference) -> CardFinding:
    """What the host takes to start an operation: it is the host's time, so no data sheet of a card has it."""
    return CardFinding("launch by the host", card.launch_time(), "s", math.nan, math.nan)


def start(card: AnyCard, reference: Reference) -> CardFinding:
    """What a small kernel takes on the device."""
    model = _model(reference, reference.dtype)
    predicted = model.time(SMALL, SMALL, SMALL) if model else math.nan
    return CardFinding("small kernel", card.graph_time(SMALL), "s", math.nan, predicted, NEAR_SMALL, _basis(model))


def _model(reference: Reference, dtype: str) -> Any:
    """The library's model of a product whose inputs have this type already; None where it cannot be stated."""
    if reference.sheet is None:
        return None
    model = product_model(reference.sheet, dtype)
    return replace(model, constants=replace(model.constants, quantises=False))


def _basis(model: Any) -> str:
    return str(model.typed) if model else ""


def _of(reference: Reference, name: str) -> float:
    value = getattr(reference.sheet, name) if reference.sheet else None
    return math.nan if value is None else value


# Why


def causes(
    finding: CardFinding, reference: Reference, before: DriverReading | None, loaded: DriverReading | None
) -> Iterator[str]:
    """What the readings show that explains it, or the candidates where they show nothing."""
    if before is None or loaded is None:
        yield (
            "No driver could be asked here; candidates: a lower clock or power limit, other work on the card"
            f"{', error correction' if finding.name == 'memory' else ''}, a slice of a card "
            "(nvidia-smi -q, or amd-smi metric, shows them)."
        )
        return
    shown = list(_general(reference, before))
    shown += _of_memory(reference, loaded) if finding.name == "memory" else _of_clock(reference, loaded)
    if shown:
        yield from shown
    elif finding.unit == "s":
        yield (
            "Clocks and power are as they should be; candidates: the host's processor, a profiler, "
            "this version of torch."
        )
    else:
        yield (
            "Clocks, power and load are as they should be; candidates: this version of torch and its libraries, "
            "a virtual machine's share, and the model's own error."
        )


def _general(reference: Reference, before: DriverReading) -> Iterator[str]:
    if before.utilization > BUSY:
        yield f"The card was {before.utilization:.0f} % busy before anything ran here: another program works on it."
    if reference.slice or before.mig == "Enabled":
        yield "This is a slice of a card (MIG): it has a share of the multiprocessors and of the memory's channels."


def _of_clock(reference: Reference, loaded: DriverReading) -> Iterator[str]:
    sheet = reference.sheet
    nominal = sheet.clock / 1e6 if sheet is not None and sheet.clock else loaded.most_clock
    if loaded.clock < SLOWER_CLOCK * nominal:
        share = loaded.clock / nominal
        yield f"Under load the clock is {loaded.clock:.0f} of {nominal:.0f} MHz, {share:.0%} of the rate."
    if loaded.power > AT_LIMIT * loaded.power_limit:
        yield f"It draws {loaded.power:.0f} W, its power limit is {loaded.power_limit:.0f} W: so its clock is lowered."
    if loaded.power_limit < loaded.default_limit:
        yield f"Its power limit is set to {loaded.power_limit:.0f} W, below the usual {loaded.default_limit:.0f} W."
    if loaded.temperature >= HOT:
        yield f"It is {loaded.temperature:.0f} °C hot: from about there on a card lowers its clock."


def _of_memory(reference: Reference, loaded: DriverReading) -> Iterator[str]:
    if loaded.memory_clock < SLOWER_CLOCK * loaded.most_memory_clock:
        yield f"The memory's clock is {loaded.memory_clock:.0f} of {loaded.most_memory_clock:.0f} MHz."
    if loaded.ecc == "Enabled" and _gddr(reference):
        yield "Error correction (ECC) is on, which in GDDR memory takes a share of the bandwidth for its own bits."


def _gddr(reference: Reference) -> bool:
    """Whether error correction takes a share of the memory: HBM has places of its own for it."""
    sheet = reference.sheet
    return sheet is not None and (sheet.arch in GDDR6 or sheet.key.startswith("rtx"))


# What is printed


def report(card: AnyCard, echo: Callable[[str], Any], as_json: bool = False) -> None:
    """Measure it, and print lines or one JSON object."""
    reference, measured = findings(card)
    if as_json:
        echo(json.dumps(record(card.properties, reference, measured), indent=2))
        return
    for line in lines(card.properties, reference, measured):
        echo(line)


def lines(card: Properties, reference: Reference, measured: list[CardFinding]) -> Iterator[str]:
    """The card, a table, and a sentence for each gap."""
    sms = f"{card.sms} multiprocessors, " if card.sms else ""
    held = "" if math.isnan(card.memory) else f"{show(card.memory, 'GiB', 3)}, "
    yield f"{card.name}: {sms}{held}torch {card.torch}"
    yield _about(reference)
    yield ""
    yield f"{'':20}{'measured':>14}{'data sheet':>14}{'share':>7}{'predicted':>14}{'share':>7}"
    for finding in measured:
        yield (
            f"{finding.name:20}{show(finding.measured, finding.unit, 3):>14}"
            f"{_shown(finding.sheet, finding.unit):>14}{_share(finding.of_sheet):>7}"
            f"{_shown(finding.predicted, finding.unit):>14}{_share(finding.of_predicted):>7}"
        )
    yield ""
    yield from _gaps(measured)
    for basis, names in _grouped((finding.basis, finding.name) for finding in measured):
        yield f"The prediction of {names} rests on {basis}: no product of this kind was measured on this chip."


def _about(reference: Reference) -> str:
    sheet = reference.sheet
    if sheet is None:
        return "The tables do not have this card, so there is nothing to hold it against: its numbers stand alone."
    rates = (
        ("of memory", sheet.hbm_bandwidth, "B/s"),
        ("in bf16", sheet.bf16_flops, "FLOP/s"),
        ("in fp16", sheet.fp16_flops, "FLOP/s"),
        ("in fp8", sheet.fp8_flops, "FLOP/s"),
    )
    listed = ", ".join(f"{show(rate, unit, 3)} {what}" for what, rate, unit in rates if rate)
    return f"{'A slice of' if reference.slice else 'In the tables:'} {sheet.name} ({sheet.key}), {listed}."


def _gaps(measured: list[CardFinding]) -> Iterator[str]:
    gaps = list(_grouped((" ".join(finding.causes), finding.name) for finding in measured))
    for causes, names in gaps:
        yield f"{names}: {causes}"
    if not gaps and any(not math.isnan(finding.predicted) for finding in measured):
        yield "Everything is as the models predict, within their error."


def _grouped(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Each text that is not empty, once, with the names that it is of."""
    names: dict[str, list[str]] = {}
    for text, name in pairs:
        names.setdefault(text, []).append(name)
    for text, of in names.items():
        if text:
            yield text, "; ".join(of)


def record(card: Properties, reference: Reference, measured: list[CardFinding]) -> dict[str, Any]:
    """The same as an object: SI units, null where nothing is known."""
    return {
        "card": {name: _known(value) for name, value in card._asdict().items()},
        "chip": reference.sheet.key if reference.sheet else None,
        "slice": reference.slice,
        "findings": list(map(_as_record, measured)),
    }


def _as_record(finding: CardFinding) -> dict[str, Any]:
    shares = {"of_sheet": finding.of_sheet, "of_predicted": finding.of_predicted}
    return {name: _known(value) for name, value in {**finding._asdict(), **shares}.items()}


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def _shown(value: float, unit: str) -> str:
    return "" if math.isnan(value) else show(value, unit, 3)


def _share(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.0%}"

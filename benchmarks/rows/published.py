"""Published measurements: a table of them read row by row, and each row in the words of the models.

The table is a CSV with the columns of `COLUMNS`; `config` is a JSON object. A folder of such tables is read as one.
The project's own tables, in `ROWS`, have a further column, `reader`: a name of `READERS`. A table from elsewhere needs
none (`benchmarks.rows.reader_names`). A row that is "context only" is never scored. A row of a kind or a system that no
model here speaks about is `unmodelled`, and is listed by the report, not dropped.
"""

import csv
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.paths import DATA
from benchmarks.rows.allreduce_rows import LARGE, NO_CONSTANTS, NodesAllReduce, allreduce_case
from benchmarks.rows.collective_rows import KEYS as WIRED
from benchmarks.rows.collective_rows import PLATEAU, WireBound, wire_case, wires_of
from benchmarks.rows.kernel_rows import LENGTHS, TimedKernel, kernel_case, kernel_set
from benchmarks.rows.memory_rows import ONE_GPU_MEMORY, SOURCES, Peak, memory_rows_of, peak_case
from benchmarks.rows.published_row import COLUMNS, HELD_OUT, DataError, PublishedRow
from benchmarks.rows.read_keys import ALLREDUCE, PRODUCT, unread
from benchmarks.rows.reader_names import NONE, reader_of, set_of
from benchmarks.rows.row_chips import chip_of_words
from benchmarks.rows.serving_rows import Serving, inference_case, serving_case, serving_group
from benchmarks.rows.training_memory import MemoryUse, memory_case, memory_group
from benchmarks.rows.training_rows import TABLES, training_case, training_group
from benchmarks.rows.training_step import TrainingStep, Unmodelled
from hwlib.arguments import as_int
from hwlib.calibrated import Shape, Timed
from hwlib.calibrated.nccl import holds_among
from hwlib.calibrated.nccl_expected import RCCL, RCCL_PAIR
from hwlib.collectives import bus_factor
from hwlib.specs import accelerators
from hwlib.specs.accelerator import DTYPES as DATA_SHEET
from hwlib.specs.fitted import collective_constants

ROWS = DATA / "rows"
# "fp8->bf16" is DeepGEMM's: it scales each 128 elements of an activation's row, and each 128 x 128 weights.
DTYPES = {
    "bfloat16": "bf16",
    "bf16": "bf16",
    "fp8": "fp8",
    "fp8->bf16": "fp8_block",
    "fp8_block": "fp8_block",
    "nvfp4": "fp4",
    "mxfp4": "fp4",
}
CHIPS = {
    "a100_sxm": "a100-80gb-sxm", "h100_sxm": "h100-sxm", "h200_sxm": "h200-sxm", "b200_sxm": "b200-sxm",
    "gb200": "gb200-nvl72", "gb200_sxm": "gb200-nvl72", "b300_sxm": "b300-sxm", "gb300": "gb300-nvl72",
    "gb300_sxm": "gb300-nvl72", "H800": "h800-sxm",
    "A100 SXM": "a100-80gb-sxm", "H100 SXM": "h100-sxm", "H200 SXM": "h200-sxm", "B200 SXM": "b200-sxm",
    "GB200 SXM": "gb200-nvl72", "B300 SXM": "b300-sxm", "GH200 SXM": "h100-sxm",
    "V100": "v100-sxm2", "A100-40": "a100-40gb-sxm", "A100-80": "a100-80gb-sxm", "H100 PCIe": "h100-pcie",
    "H200": "h200-sxm", "MI300X": "mi300x", "MI325X": "mi325x", "MI355X": "mi355x",
    "gfx942, 304 compute units (MI300X or MI325X)": "mi300x",
    "gfx950, 256 compute units (MI350X or MI355X)": "mi355x",
}  # fmt: skip
TRAINING = ("train-step", "memory", "train-memory")
NO_ID = "rows without an id"
OPERATIONS = ("all_gather", "reduce_scatter", "all_reduce", "all_to_all")  # that constants are kept of


@dataclass(frozen=True)
class Product:
    """A timed matrix product."""

    chip: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class ReachedShare:
    """A kernel that is to reach a share of a data sheet's rate: its kind, that rate, and the measured one.

    `typical`: of a chip that no share was fitted on.
    """

    chip: str
    op: str
    sheet: float
    rate: float
    typical: bool = False


@dataclass(frozen=True)
class Collective:
    """A timed collective, the software whose constants apply, and whether the switch may reduce; `typical` where the
    row is of another software, or says nothing of it.
    """

    chip: str
    op: str
    software: str
    timed: Timed
    switch: bool
    typical: bool = False


Case = (
    Product
    | ReachedShare
    | Collective
    | WireBound
    | NodesAllReduce
    | TimedKernel
    | TrainingStep
    | MemoryUse
    | Peak
    | Serving
    | Unmodelled
    | None
)


def read_rows(path: Path) -> tuple[list[PublishedRow], int]:
    """The rows to score, and how many are context only; a line that is no row has a `fault`. Raises DataError, naming
    the file, for one that is no table.
    """
    if not path.is_dir():
        return _read_table(path)
    tables = [(table, *_read_table(table)) for table in sorted(path.glob("*.csv"))]
    if not tables:
        raise DataError(f"{path} has no tables")
    rows = [replace(row, file=table.name) for table, found, _ in tables for row in found]
    return rows, sum(context for _, _, context in tables)


def rows_to_fit(path: Path) -> list[PublishedRow]:
    """The rows that constants may be fitted to. Raises DataError, as `read_rows` does, and for a line of kernels or
    messages that is no row: no fit goes on without it.
    """
    rows = [row for row in read_rows(path)[0] if row.cells["use"] != HELD_OUT]
    for row in rows:
        if row.fault and row.kind not in TRAINING:
            raise DataError(f"{path / row.file if row.file else path}, {row.fault}")
    return rows


def _read_table(path: Path) -> tuple[list[PublishedRow], int]:
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    skipped = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.DictReader(lines[skipped:], strict=True)
    rows: list[PublishedRow] = []
    context = 0
    try:
        if missing := [c for c in COLUMNS if c not in (reader.fieldnames or ())]:
            raise DataError(f"{path} has no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
        for cells in reader:
            line = reader.line_num + skipped
            if any(cells[c] is None for c in COLUMNS) or None in cells:
                rows.append(_faulty(cells, line, f"expected {len(reader.fieldnames or ())} cells"))
            elif cells["use"].startswith("context only"):
                context += 1
            else:
                rows.append(_row(cells, line))
                rows.extend(memory_rows_of(rows[-1]))
    except csv.Error as error:  # a quote without an end: what follows it is no row
        rows.append(_faulty({}, reader.line_num + skipped + 1, str(error)))
    if not rows and not context:
        raise DataError(f"{path} has no rows")
    return rows, context


def _row(cells: dict[str, str], line: int) -> PublishedRow:
    try:
        return _read(cells, line)
    except (ValueError, RecursionError) as error:
        return _faulty(cells, line, str(error))


def _faulty(cells: dict[str, Any], line: int, why: str) -> PublishedRow:
    """A line that is no row, with the reason."""
    texts = {name: cells.get(name) or "" for name in COLUMNS}
    reader = cells.get("reader") or reader_of(texts["kind"], texts["id"], {})
    name = (training_group(reader, texts["system"], {}) if texts["kind"] in TRAINING else "") or texts["id"]
    kind, system, unit, fault = texts["kind"] or "unknown", texts["system"], texts["unit"], f"line {line}: {why}"
    return PublishedRow(line, name or NO_ID, kind, system, 0, {}, math.nan, unit, "", texts, fault, reader)


def _read(cells: dict[str, str], line: int) -> PublishedRow:
    config = json.loads(cells["config"])
    if not isinstance(config, dict):
        raise ValueError(f"config is a JSON object, not {cells['config'][:40]!r}")
    value = _positive("measured_value", cells["measured_value"])
    gpus = as_int("gpus", _positive("gpus", cells["gpus"] or 1))
    if not cells["id"]:
        raise ValueError("the id is empty")
    reader = cells.get("reader") or reader_of(cells["kind"], cells["id"], config)
    if reader not in READERS:
        raise ValueError(f"reader is {reader!r}, none of {', '.join(READERS)}")
    name = _set_of(reader, cells, config) or set_of(cells["id"])
    return PublishedRow(
        line,
        name,
        cells["kind"],
        cells["system"],
        gpus,
        config,
        value,
        cells["unit"],
        cells["source"],
        cells,
        reader=reader,
    )


def _set_of(reader: str, cells: dict[str, str], config: dict[str, Any]) -> str:
    """The set of a row, where that is not its id without the numbers at its end."""
    match cells["kind"]:
        case "train-step":
            return training_group(reader, cells["system"], config)
        case "train-memory" if reader == ONE_GPU_MEMORY:  # whose rows are of many tables
            return f"memory-{cells['id'].partition('-')[0]}"
        case "train-memory":
            return reader if reader in SOURCES else ""
        case "memory":
            return memory_group(cells["id"], config)
        case "inference-serving":
            return serving_group(cells["system"], config)
        case kind:
            return kernel_set(kind, cells["system"], config) if kind in LENGTHS else ""


def _positive(what: str, text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(text, bool) or not 0 < value < math.inf:
        raise ValueError(f"{what} is a number above 0, got {text!r}")
    return value


def case_of(row: PublishedRow, path: Path) -> Case:
    """What a row measured, in a model's words; None where no model speaks about it.

    A row that cannot be modelled is `Unmodelled`, with the reason. Raises DataError where a model speaks about a row of
    kernels, messages or servers, but it lacks what is needed or has another unit: a fit must not go on without it.
    """
    if row.fault:
        return Unmodelled(row.fault)
    try:
        return READERS[row.reader](row)
    except (KeyError, ValueError) as error:
        reason = f"config has no {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(f"{path / row.file if row.file else path}, line {row.line}: {reason}") from None


def _without_constants(row: PublishedRow, chip: str | None) -> Unmodelled:
    """The cell that names what there are no constants of."""
    if chip is None:
        return Unmodelled(f"system is {row.system!r}, a chip without constants")
    return Unmodelled(f"dtype is {row.config.get('dtype')!r}, without constants on {chip}")


def _product(row: PublishedRow) -> Case:
    dtype = DTYPES.get(str(row.config["dtype"]))
    chip = CHIPS.get(row.system)
    if dtype is None or chip is None:
        return _without_constants(row, chip)
    M, N, K = (as_int(letter, _positive(letter, row.config[letter])) for letter in "MNK")
    if row.unit == "us":
        time = row.value * 1e-6
    elif row.unit == "TFLOP/s":
        time = 2 * M * N * K / (row.value * 1e12)
    else:
        raise ValueError(f"the unit of a product is us or TFLOP/s, not {row.unit!r}")
    return Product(chip, dtype, Shape(M, N, K, time))


def _best(row: PublishedRow) -> Case:
    """The best of a search over shapes; which shape it was says little where other products of the chip were timed, and
    is all that is known of AMD's products in 16 bits on the chips of a generation that differ in power alone.
    """
    dtype = DTYPES.get(str(row.config["dtype"]))
    chip, typical = CHIPS.get(row.system), row.system not in CHIPS
    if typical and (sheet := chip_of_words(row.system)).key in accelerators:
        chip = sheet.key
    if not row.unit.startswith("TFLOP/s"):
        raise ValueError(f"the unit of the best product is TFLOP/s, not {row.unit!r}")
    if dtype not in DATA_SHEET or chip is None or getattr(accelerators[chip], DATA_SHEET[dtype]) is None:
        return _without_constants(row, chip)
    if accelerators[chip].vendor == "AMD":
        M, N, K = (int(x) for x in str(row.config["MxNxK"]).split("x"))
        return Product(chip, dtype, Shape(M, N, K, 2 * M * N * K / (row.value * 1e12)))
    return ReachedShare(chip, f"best {dtype}", accelerators[chip].flops(dtype), row.value * 1e12, typical)


def _stream(row: PublishedRow) -> Case:
    if row.unit != "GB/s":
        raise ValueError(f"the unit of a stream is GB/s, not {row.unit!r}")
    op = "stream read" if row.set.startswith("dram") else str(row.config["op"])
    chip = CHIPS.get(row.system)
    W = accelerators[chip].hbm_bandwidth if chip else None
    return ReachedShare(chip, op, W, row.value * 1e9) if chip and W else _without_constants(row, chip)


def _collective(chip: str, software: str, switch: bool = True) -> Callable[[PublishedRow], Case]:
    def read(row: PublishedRow) -> Case:
        op = str(row.config["op"]).replace("alltoall", "all_to_all")
        if op not in OPERATIONS:
            return Unmodelled(f"op is {op!r}, none of {', '.join(OPERATIONS)}")
        S = _positive("bytes", row.config["bytes"]) if "bytes" in row.config else PLATEAU
        share = bus_factor(op, row.gpus)
        if "time_us" in row.config:
            time = _positive("time_us", row.config["time_us"]) * 1e-6
        elif row.unit == "us":
            time = row.value * 1e-6
        elif row.unit == "GB/s busbw" and share:
            time = share * S / (row.value * 1e9)
        else:
            raise ValueError(f"the unit of {op} on {row.gpus} GPUs is us or GB/s busbw, not {row.unit!r}")
        off = row.config.get("nvls") in (0, "off") or row.config.get("algo") == "Ring"
        return Collective(chip, op, software, Timed(S, row.gpus, time), switch and not off)

    return read


def _kernel(row: PublishedRow) -> Case:
    """A kernel that no reader was written for: a product, the best of many, or a stream."""
    op = str(row.config.get("op", ""))
    if op == "gemm":
        return _best(row) if "MxNxK" in row.config else _product(row)
    if op in ("init", "read", "scale", "triad", "copy"):
        return _stream(row)
    return Unmodelled(f"op is {op!r}: no data sheet has a rate of it")


def _collective_by_content(row: PublishedRow) -> Case:
    """A collective that no reader was written for: by the constants of nccl-tests in a node of its chip where there are
    any, else by the rate of its wires. One over NVLink that does not name SHARP is a ring.
    """
    wires = wires_of(row)
    op = str(row.config.get("op")).replace("alltoall", "all_to_all")
    chip = wires.chip.key if wires.chip else ""
    known = (name for name in ("nccl-tests", RCCL) if (chip, op, name) in collective_constants())
    software = next(known, "")
    if wires.node or not software or not holds_among(collective_constants()[chip, op, software], row.gpus):
        return wire_case(row)
    ring = "NVLink" in row.system and not wires.in_switch
    case = _collective(chip, software, switch=not ring)(row)
    return replace(case, typical=True) if isinstance(case, Collective) else case


def _nodes(row: PublishedRow) -> Case:
    """An all-reduce on several nodes: by the constants of its chip and network, or else, of bytes that bandwidth counts
    for more than latency, by the rate of its wires.
    """
    case = allreduce_case(row)
    if not isinstance(case, Unmodelled) or not case.reason.startswith(NO_CONSTANTS):
        return case
    S = row.config.get("bytes")
    bound = wire_case(row) if isinstance(S, int | float) and S >= LARGE else case
    return bound if isinstance(bound, WireBound) else case


def _tests_of(software: str) -> Callable[[PublishedRow], Case]:
    """A reader of sweeps by some software, which name their chip. Among as many chips of a mesh as no row of a fit has,
    the time of many bytes is that of the wires, and that of few is not known.
    """

    def read(row: PublishedRow) -> Case:
        chip = CHIPS.get(row.system)
        if chip is None:
            return _without_constants(row, chip)
        c = collective_constants().get((chip, str(row.config.get("op")), software))
        if c is None or holds_among(c, row.gpus):
            return _collective(chip, software)(row)
        S = row.config.get("bytes")
        few = Unmodelled(f"system is {row.gpus} GPUs of a mesh, whose constants are of {', '.join(map(str, c.ranks))}")
        return wire_case(row) if isinstance(S, int | float) and S >= LARGE else few

    return read


def _without_stopping(read: Callable[[PublishedRow], Case]) -> Callable[[PublishedRow], Case]:
    """A reader of rows that none was written for: what such a row lacks is told of it alone, and stops no table."""

    def listed(row: PublishedRow) -> Case:
        try:
            return read(row)
        except KeyError as error:
            return Unmodelled(f"the row does not give {error.args[0]}")
        except ValueError as error:
            return Unmodelled(str(error))

    return listed


def _only(keys: Iterable[str], read: Callable[[PublishedRow], Case]) -> Callable[[PublishedRow], Case]:
    """A reader that refuses rows with cells that are not among `keys`."""

    def checked(row: PublishedRow) -> Case:
        odd = unread(row.config, keys)
        return Unmodelled(odd) if odd else read(row)

    return checked


READERS: dict[str, Callable[[PublishedRow], Case]] = {
    **dict.fromkeys((*TABLES, "unknown"), training_case),
    **dict.fromkeys((*SOURCES, "memory-unknown"), peak_case),
    "memory-figures": memory_case,
    **dict.fromkeys(LENGTHS, kernel_case),
    "serving": serving_case,
    "product": _only(PRODUCT, _product),
    "best-product": _only(PRODUCT, _best),
    "stream": _only(PRODUCT, _stream),
    "nodes": _nodes,
    "nodes-efa": partial(allreduce_case, network="EFA"),
    "nccl-tests": _only(ALLREDUCE, _tests_of("nccl-tests")),
    "rccl-tests": _only(ALLREDUCE | {"nodes"}, _tests_of(RCCL)),
    "rccl-tests-two-nodes": _only(ALLREDUCE | {"nodes"}, _tests_of(RCCL_PAIR)),
    "torch-rccl": _only(ALLREDUCE, _tests_of("torch")),
    "nccl-tests-a100": _only(ALLREDUCE, _collective("a100-80gb-sxm", "nccl-tests")),
    "nccl-tests-h100": _only(ALLREDUCE, _collective("h100-sxm", "nccl-tests")),
    "nccl-tests-h100-ring": _only(ALLREDUCE, _collective("h100-sxm", "nccl-tests", switch=False)),
    "nccl-tests-h200": _only(ALLREDUCE, _collective("h200-sxm", "nccl-tests")),
    "nccl-tests-b200": _only(ALLREDUCE, _collective("b200-sxm", "nccl-tests")),
    "one-process-a100": _only(ALLREDUCE, _collective("a100-80gb-sxm", "nccl-tests, one process")),
    "two-nodes-a100": _only(ALLREDUCE, _collective("a100-80gb-sxm", "nccl-tests, two nodes")),
    "torch-h200": _only(ALLREDUCE, _collective("h200-sxm", "torch")),
    "torch-b200": _only(ALLREDUCE, _collective("b200-sxm", "torch")),
    "torch-b200-ring": _only(ALLREDUCE, _collective("b200-sxm", "torch", switch=False)),
    "nvlstree": _only(ALLREDUCE, _collective("h100-sxm", "NVLSTree")),
    "sharp-gb200": _only(ALLREDUCE, _collective("gb200-nvl72", "InfiniBand SHARP")),
    "kernel": _without_stopping(_only(PRODUCT, _kernel)),
    "collective": _without_stopping(_only(WIRED, _collective_by_content)),
    "inference": inference_case,
    NONE: lambda _: None,
}
"""Who reads a row, by the name in its column `reader`. A single figure ("peak bus bandwidth") goes by the constants of
a sweep on the same chip; a ring is an all-reduce that the switch has no part in.
"""


def sets(rows: list[PublishedRow]) -> Iterator[tuple[str, list[PublishedRow]]]:
    """The rows by their set, in the order of the file."""
    found: dict[str, list[PublishedRow]] = {}
    for row in rows:
        found.setdefault(row.set, []).append(row)
    yield from found.items()


def steps(path: Path, every: bool = False) -> list[tuple[PublishedRow, TrainingStep]]:
    """The rows of a file that are timed training steps, and their cases: those that constants are fitted to, or `every`
    one.

    Raises DataError, as `read_rows` does.
    """
    rows = read_rows(path)[0] if every else rows_to_fit(path)
    cases = ((row, training_case(row)) for row in rows if row.kind == "train-step" and not row.fault)
    return [(row, case) for row, case in cases if isinstance(case, TrainingStep)]

"""Published measurements: a table of them read row by row, and each row in the words of the models.

The table is a CSV with the columns of `COLUMNS`; `config` is a JSON object. A row that is "context only" is
never scored. A row of a kind or a system that no model here speaks about is `unmodelled`, and is listed by
the report, not dropped.
"""

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.allreduce_rows import NodesAllReduce, allreduce_case
from benchmarks.kernel_rows import LENGTHS, Kernel, kernel_case, kernel_set
from benchmarks.memory_rows import Peak, memory_rows_of, memory_set, peak_case
from benchmarks.published_row import COLUMNS, DataError, Row
from benchmarks.read_keys import ALLREDUCE, PRODUCT, unread
from benchmarks.serving_rows import Serving, serving_case, serving_group
from benchmarks.training_memory import Memory, memory_case, memory_group
from benchmarks.training_rows import training_case, training_group
from benchmarks.training_step import Step, Unmodelled
from hwlib.arguments import as_int
from hwlib.calibrated import Shape, Timed
from hwlib.collectives import bus_factor
from hwlib.specs import accelerators
from hwlib.specs.accelerator import DTYPES as DATA_SHEET

# "fp8->bf16" is DeepGEMM's: it scales each 128 elements of an activation's row, and each 128 x 128 weights.
DTYPES = {
    "bfloat16": "bf16", "bf16": "bf16", "fp8": "fp8", "fp8->bf16": "fp8_block", "fp8_block": "fp8_block",
    "nvfp4": "fp4",
}  # fmt: skip
CHIPS = {
    "a100_sxm": "a100-80gb-sxm", "h100_sxm": "h100-sxm", "h200_sxm": "h200-sxm", "b200_sxm": "b200-sxm",
    "gb200": "gb200-nvl72", "gb200_sxm": "gb200-nvl72", "b300_sxm": "b300-sxm", "gb300": "gb300-nvl72",
    "gb300_sxm": "gb300-nvl72", "H800": "h800-sxm",
    "A100 SXM": "a100-80gb-sxm", "H100 SXM": "h100-sxm", "H200 SXM": "h200-sxm", "B200 SXM": "b200-sxm",
    "GB200 SXM": "gb200-nvl72", "B300 SXM": "b300-sxm", "GH200 SXM": "h100-sxm",
    "V100": "v100-sxm2", "A100-40": "a100-40gb-sxm", "A100-80": "a100-80gb-sxm", "H100 PCIe": "h100-pcie",
    "H200": "h200-sxm",
}  # fmt: skip
TRAINING = ("train-step", "memory", "train-memory")
OPERATIONS = ("all_gather", "reduce_scatter", "all_reduce", "all_to_all")  # that constants are kept of
MANY_BYTES = 2.0**34  # a bus bandwidth printed without a size is a plateau: 16 GiB, as its neighbours


@dataclass(frozen=True)
class Product:
    """A timed matrix product."""

    chip: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Share:
    """A kernel that is to reach a share of a data sheet's rate: its kind, that rate, and the measured one."""

    chip: str
    op: str
    sheet: float
    rate: float


@dataclass(frozen=True)
class Collective:
    """A timed collective, the software whose constants apply, and whether the switch may reduce."""

    chip: str
    op: str
    software: str
    timed: Timed
    switch: bool


Case = Product | Share | Collective | NodesAllReduce | Kernel | Step | Memory | Peak | Serving | Unmodelled | None
# How the rows of a kind are read, where it is not by the name of their set.
BY_KIND: dict[str, Callable[[Row], Case]] = {
    "train-step": training_case,
    "memory": memory_case,
    "train-memory": peak_case,
    "allreduce": allreduce_case,
    "inference-serving": serving_case,
    **dict.fromkeys(LENGTHS, kernel_case),
}


def read_rows(path: Path) -> tuple[list[Row], int]:
    """The rows to score, and how many are context only. Raises DataError, naming the file and the line."""
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {path}: {error}") from None
    skipped = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.DictReader(lines[skipped:], strict=True)
    rows: list[Row] = []
    context = 0
    try:
        if missing := [c for c in COLUMNS if c not in (reader.fieldnames or ())]:
            raise DataError(f"{path} has no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
        for cells in reader:
            line = reader.line_num + skipped
            if any(cells[c] is None for c in COLUMNS) or None in cells:
                raise DataError(f"{path}, line {line}: expected {len(reader.fieldnames or ())} cells")
            if cells["use"].startswith("context only"):
                context += 1
            else:
                rows.append(_row(cells, line))
                rows.extend(memory_rows_of(rows[-1]))
    except DataError:
        raise
    except (csv.Error, ValueError) as error:
        raise DataError(f"{path}, line {reader.line_num + skipped}: {error}") from None
    if not rows and not context:
        raise DataError(f"{path} has no rows")
    return rows, context


def _row(cells: dict[str, str], line: int) -> Row:
    try:
        return _read(cells, line)
    except (ValueError, RecursionError) as error:
        if cells["kind"] not in TRAINING or not cells["id"]:
            raise ValueError(str(error)) from None
        name, fault = training_group(cells["id"], cells["system"], {}) or cells["id"], f"line {line}: {error}"
        return Row(line, name, cells["kind"], cells["system"], 0, {}, math.nan, cells["unit"], "", cells, fault)


def _read(cells: dict[str, str], line: int) -> Row:
    config = json.loads(cells["config"])
    if not isinstance(config, dict):
        raise ValueError(f"config is a JSON object, not {cells['config'][:40]!r}")
    value = _positive("measured_value", cells["measured_value"])
    gpus = as_int("gpus", _positive("gpus", cells["gpus"] or 1))
    if not cells["id"]:
        raise ValueError("the id is empty")
    name = re.sub(r"(-\d+)+$", "", cells["id"])
    if cells["kind"] == "train-step":
        name = training_group(cells["id"], cells["system"], config) or name
    if cells["kind"] == "train-memory":
        name = memory_set(cells["id"], config) or name
    if cells["kind"] in LENGTHS:
        name = kernel_set(cells["kind"], cells["system"], config)
    if cells["kind"] == "memory":
        name = memory_group(cells["id"], config) or name
    if cells["kind"] == "inference-serving":
        name = serving_group(cells["system"], config)
    return Row(
        line, name, cells["kind"], cells["system"], gpus, config, value, cells["unit"], cells["source"], cells,
    )  # fmt: skip


def _positive(what: str, text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(text, bool) or not 0 < value < math.inf:
        raise ValueError(f"{what} is a number above 0, got {text!r}")
    return value


def case_of(row: Row, path: Path) -> Case:
    """What a row measured, in a model's words; None where no model speaks about it.

    A row of training or its memory that cannot be modelled is `Unmodelled`, with the reason. Raises DataError where
    a model speaks about the row, but it lacks what is needed or has another unit.
    """
    if row.fault:
        return Unmodelled(row.fault)
    try:
        if read := BY_KIND.get(row.kind):
            return read(row)
        for pattern, keys, read in READERS:
            if re.match(pattern, row.set):
                odd = unread(row.config, keys)
                return Unmodelled(odd) if odd else read(row)
    except (KeyError, ValueError) as error:
        reason = f"config has no {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(f"{path}, line {row.line}: {reason}") from None
    return None


def _product(row: Row) -> Case:
    dtype = DTYPES.get(str(row.config["dtype"]))
    chip = CHIPS.get(row.system)
    if dtype is None or chip is None:
        return None
    M, N, K = (as_int(letter, _positive(letter, row.config[letter])) for letter in "MNK")
    if row.unit == "us":
        time = row.value * 1e-6
    elif row.unit == "TFLOP/s":
        time = 2 * M * N * K / (row.value * 1e12)
    else:
        raise ValueError(f"the unit of a product is us or TFLOP/s, not {row.unit!r}")
    return Product(chip, dtype, Shape(M, N, K, time))


def _best(row: Row) -> Case:
    """The best of a search over shapes; which shape it was says little."""
    dtype = DTYPES.get(str(row.config["dtype"]))
    chip = CHIPS.get(row.system)
    if not row.unit.startswith("TFLOP/s"):
        raise ValueError(f"the unit of the best product is TFLOP/s, not {row.unit!r}")
    if dtype not in DATA_SHEET or chip is None or getattr(accelerators[chip], DATA_SHEET[dtype]) is None:
        return None
    return Share(chip, f"best {dtype}", accelerators[chip].flops(dtype), row.value * 1e12)


def _stream(row: Row) -> Case:
    if row.unit != "GB/s":
        raise ValueError(f"the unit of a stream is GB/s, not {row.unit!r}")
    op = "stream read" if row.set.startswith("dram") else str(row.config["op"])
    chip = CHIPS.get(row.system)
    W = accelerators[chip].hbm_bandwidth if chip else None
    return Share(chip, op, W, row.value * 1e9) if chip and W else None


def _collective(chip: str, software: str, switch: bool = True) -> Callable[[Row], Case]:
    def read(row: Row) -> Case:
        op = str(row.config["op"]).replace("alltoall", "all_to_all")
        if op not in OPERATIONS:
            return None
        S = _positive("bytes", row.config["bytes"]) if "bytes" in row.config else MANY_BYTES
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


def _nccl_tests(row: Row) -> Case:
    chip = CHIPS.get(row.system)
    return _collective(chip, "nccl-tests")(row) if chip else None


# By the set's name, the first that fits. A single figure ("peak bus bandwidth") goes by the constants of a sweep
# on the same chip.
BY_SET: tuple[tuple[str, Callable[[Row], Case]], ...] = (
    (r"aic-nccl-", _nccl_tests),
    (r"nvlstree$", _collective("h100-sxm", "NVLSTree")),
    (r"ar-a100x8", _collective("a100-80gb-sxm", "nccl-tests, one process")),
    (r"ar-b200x\d\d", partial(allreduce_case, network="EFA")),  # ten GPUs or more: several nodes
    (r"ar-[a-z]+\d+x\d\d", allreduce_case),
    (r"(ar|all_reduce)-h200", _collective("h200-sxm", "torch")),
    (r"ar-b200", _collective("b200-sxm", "torch")),
    (r"ar-aws-p4de", _collective("a100-80gb-sxm", "nccl-tests, two nodes")),
    (r"(all_gather|reduce_scatter)-h200", _collective("h200-sxm", "nccl-tests")),
    (r"mbook-h100-ag", _collective("h100-sxm", "nccl-tests")),
    (r"nccl2140-H100", _collective("h100-sxm", "nccl-tests")),
    (r"gtc24-NVLink3-A100", _collective("a100-80gb-sxm", "nccl-tests, one process")),
    (r"gtc24-NVLink4-H100", _collective("h100-sxm", "nccl-tests", switch=False)),
    (r"gtc24-NVLink4-SHARP-H100", _collective("h100-sxm", "nccl-tests")),
    (r"gtc25-ar-DGX-H100$", _collective("h100-sxm", "NVLSTree")),
    (r"gtc25-ar-GB200-NVL72-SHARP", _collective("gb200-nvl72", "InfiniBand SHARP")),
    (r"gtc25-ar-NVLink5-B200", _collective("b200-sxm", "torch", switch=False)),
    (r"gtc25-ar-NVLink5-SHARP-B200", _collective("b200-sxm", "torch")),
    (r"gtc25-a2a-NVLink3-A100", _collective("a100-80gb-sxm", "nccl-tests")),
    (r"gtc25-a2a-NVLink4-H100", _collective("h100-sxm", "nccl-tests")),
    (r"gtc25-a2a-NVLink5-B200", _collective("b200-sxm", "nccl-tests")),
)

# Beside the pattern and the reader, the cells that it reads.
READERS = (
    (r"(aic-gemm|deepgemm)\b", PRODUCT, _product),
    (r"mamf-", PRODUCT, _best),
    (r"(stream|dram)-", PRODUCT, _stream),
    *((pattern, ALLREDUCE, read) for pattern, read in BY_SET),
)


def sets(rows: list[Row]) -> Iterator[tuple[str, list[Row]]]:
    """The rows by their set, in the order of the file."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.set, []).append(row)
    yield from found.items()


def steps(path: Path) -> list[tuple[Row, Step]]:
    """The rows of a file that are timed training steps, and their cases: what constants are fitted to.

    Raises DataError, as `read_rows` does.
    """
    cases = ((row, training_case(row)) for row in read_rows(path)[0] if row.kind == "train-step" and not row.fault)
    return [(row, case) for row, case in cases if isinstance(case, Step)]

"""Files that nccl-tests and rccl-tests write beside their table, as the table: `-J` (JSON), `-Z json`, `-Z csv`."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hwlib.calibrated.nccl_table import LogError
from hwlib.pasted_text import without_container, without_markdown

__all__ = ["as_tables"]

HEADER = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"
CSV_HEADER = "size,type,redop,inplace,time,algbw,busbw,#wrong"
"""How the columns of a CSV file end; before them a row may have one more than the header names."""
BYTES = {"half": 2, "bfloat16": 2, "float": 4, "double": 8, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8}
NAMES = {"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter"}
PERF = re.compile(r"([a-z_]{1,40}_perf)\b")
LIMIT = 100_000  # rows of a file
WORD = 200  # characters of a name


def as_tables(text: str) -> str:
    """The text, without what a container's log or Markdown has around its lines, or the tables of a file in JSON or CSV
    as nccl-tests prints them. Raises LogError for such a file that has no results.
    """
    text = without_container(text)
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith("{") or start.startswith("[{") or start.startswith("[\n"):
        return _of_json(start)
    head = start[:400].splitlines()
    if head and head[0].replace(" ", "").endswith(CSV_HEADER):
        return "\n".join(_lines_of_halves(_csv_records(start.splitlines())))
    return "\n".join(without_markdown(text.splitlines()))


def _of_json(text: str) -> str:
    try:
        content = json.loads(text)
    except RecursionError:
        raise LogError("JSON: lists within lists were not expected so deep") from None
    except ValueError as error:
        raise LogError(f"JSON: {error}; the output of nccl-tests -J or of rccl-tests -Z json was expected") from None
    if isinstance(content, Mapping):
        return "\n".join(_lines_of_run(content))
    return "\n".join(_lines_of_halves(content))


def _lines_of_run(content: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a file of nccl-tests -J."""
    results = content.get("results")
    if not isinstance(results, list):
        raise LogError(f"JSON: results: a list was expected, got {_word(results)}; is it a file of nccl-tests -J?")
    words = content.get("args")
    perf = PERF.search(_word(words[0])) if isinstance(words, list) and words else None
    yield f"# nccl-tests nccl-library={_word(content.get('nccl_version'))}"
    yield f"# Collective test starting: {perf[1] if perf else ''}"
    config = content.get("config")
    yield from _config(config if isinstance(config, Mapping) else {})
    yield HEADER
    for row in results[:LIMIT]:
        if isinstance(row, Mapping):
            yield _row(row, _half(row.get("out_of_place")), _half(row.get("in_place")))
    ended = content.get("out_of_bounds")
    if isinstance(ended, Mapping):
        count = _word(ended.get("count"))
        yield f"# Out of bounds values : {count} {'OK' if count == '0' else 'FAILED'}"


def _config(config: Mapping[str, Any]) -> Iterator[str]:
    """The header's lines; of a process with several GPUs the file lists the first alone."""
    devices = config.get("devices")
    threads, gpus = _whole(config.get("nthreads")), _whole(config.get("ngpus"))
    yield f"# nThread {threads} nGpus {gpus}"
    for device in devices[:LIMIT] if isinstance(devices, list) else ():
        if not isinstance(device, Mapping):
            continue
        first, card = _whole(device.get("rank"), 0), _word(device.get("device_info"), glued=False)
        for i in range(min(threads * gpus, 1024)):
            yield (
                f"# Rank {first + i} Group {_whole(device.get('group'), 0)} Pid {_whole(device.get('pid'), 0)} on "
                f"{_word(device.get('hostname'))} device {_whole(device.get('device'), 0) + i} [0x0] {card}"
            )


def _csv_records(lines: list[str]) -> Iterator[dict[str, str]]:
    names = CSV_HEADER.split(",")
    try:
        for cells in csv.reader(lines[1:]):
            if len(cells) >= len(names):
                record = dict(zip(names, cells[-len(names) :], strict=True))
                named = next((cell for cell in cells[: -len(names)] if not cell.strip().isdecimal()), "")
                yield {**record, "name": named, "inPlace": record["inplace"], "wrong": record["#wrong"]}
    except csv.Error as error:
        raise LogError(f"CSV: {error}") from None


def _lines_of_halves(records: Any) -> Iterator[str]:
    """The lines of a file of rccl-tests, which has the two halves of a row one after the other."""
    halves = [_lower(record) for record in records if isinstance(record, Mapping)]
    halves = [record for record in halves if {"size", "time", "algbw", "busbw"}.issubset(record)]
    if not halves:
        raise LogError("results: a list of size, type, redop, time, algbw and busbw was expected, as rccl-tests -Z has")
    name = re.sub(r"[^a-z]", "", _word(halves[0].get("name")).lower())
    yield f"# Collective test starting: {NAMES.get(name, name)}_perf"
    if ranks := _ranks(halves[0]):
        yield f"# NCCL INFO nranks {ranks}"
    yield HEADER.partition(" time")[0] + " time algbw busbw #wrong"
    for record in halves[:LIMIT]:
        yield _row(record, _half({**record, "nwrong": record.get("wrong")}), "")


def _lower(record: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name).lower(): value for name, value in record.items()}


def _ranks(record: Mapping[str, Any]) -> int:
    ranks, gpus = _whole(record.get("ranks"), 0), _whole(record.get("gpusperrank", record.get("gpus")), 0)
    return ranks * gpus if ranks else gpus


def _row(row: Mapping[str, Any], *halves: str) -> str:
    kind = _word(row.get("type")) or "float"
    size = _word(row.get("size"))
    count = int(size) // BYTES.get(kind, 1) if size.isdecimal() and len(size) < WORD / 10 else 0
    redop = _word(row.get("redop")) or "none"
    return " ".join((size, str(count), kind, redop, _word(row.get("root")) or "-1", *halves))


def _half(half: Any) -> str:
    """The columns of a half; N/A where it was not timed."""
    if not isinstance(half, Mapping):
        return "N/A N/A N/A N/A"
    time = half.get("time", half.get("cpu_time"))
    rates = (half.get(name, half.get(name.replace("_", ""))) for name in ("alg_bw", "bus_bw"))
    wrong = half.get("nwrong")
    return " ".join((*(_word(value) or "N/A" for value in (time, *rates)), "N/A" if wrong is None else _word(wrong)))


def _whole(value: Any, least: int = 1) -> int:
    """A whole number of a file, or the least where it is none."""
    return min(max(value, least), 2**31) if isinstance(value, int) else _whole_text(value, least)


def _whole_text(value: Any, least: int) -> int:
    word = _word(value)
    return max(int(word), least) if word.isascii() and word.isdecimal() and len(word) < WORD / 20 else least


def _word(value: Any, glued: bool = True) -> str:
    """A value of a file as a word of a line."""
    words: Iterable[str] = str("" if value is None else value)[:WORD].split()
    return ("_" if glued else " ").join(words)

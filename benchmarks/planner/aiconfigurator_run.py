"""AIConfigurator on the rows of servers: `python -m benchmarks.planner.aiconfigurator_run [--python PYTHON]`.

PYTHON is one of an environment of its own with `pip install aiconfigurator`; without it a new environment is made and
thrown away. Of each software and chip at most `--most` rows, at even steps in the order of the tables, are estimated of
those whose chip, model and software it has data of: with the row's plan, precisions, lengths and number of requests; a
static batch in its mode "static", all else in "agg". An estimate takes seconds. Of a queue that fills the cache
no source prints the batch, so both take the one that is computed here. Its data are of one or two releases of each
software, newer than most rows; ours were fitted to some of these rows, which it has never seen: both kinds are counted
apart. Printed is the table of docs/fidelity.md.
"""

import json
import math
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import click

from benchmarks.planner.peers import NoPeer, environment, said_by
from benchmarks.rows.published import ROWS, case_of, read_rows
from benchmarks.rows.published_row import HELD_OUT, PublishedRow
from benchmarks.rows.serving_rows import Serving

SYSTEMS = {
    "A100": "a100_sxm",
    "H100": "h100_sxm",
    "H200": "h200_sxm",
    "L40S": "l40s",
    "B200": "b200_sxm",
    "B300": "b300_sxm",
    "GB200": "gb200",
    "GB300": "gb300",
    "RTXPRO6000": "rtx_pro_6000_server",
}
MODELS = {
    "llama3-8b": "meta-llama/Meta-Llama-3.1-8B",
    "llama3-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama3-405b": "meta-llama/Meta-Llama-3.1-405B",
    "deepseek-r1": "deepseek-ai/DeepSeek-R1",
    "qwen3-30b-a3b": "Qwen/Qwen3-30B-A3B",
    "qwen3-235b-a22b": "Qwen/Qwen3-235B-A22B",
    "llama4-scout": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "llama4-maverick": "meta-llama/Llama-4-Maverick-17B-128E-Instruct",
    "minimax-m2.5": "MiniMaxAI/MiniMax-M2.5",
}
"""Models whose configuration its package has, so that nothing is fetched."""
BACKENDS = (("TensorRT-LLM", "trtllm"), ("SGLang", "sglang"), ("vLLM", "vllm"))
PRECISIONS = {
    "bf16": "bfloat16",
    "fp8": "fp8",
    "fp8_block": "fp8_block",
    "fp4": "nvfp4",
    "int8w": "int8_wo",
    "int4w": "int4_wo",
}
STATIC = ("static batch", "one request")
PROGRAM = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")
from aiconfigurator.cli.api import cli_estimate
logging.disable(logging.CRITICAL)
found = []
for case in json.load(open(sys.argv[1])):
    try:
        result = cli_estimate(**case)
        rate = result.raw.get("tokens/s/gpu") if isinstance(result.raw, dict) else None
        found.append([float(result.ttft), float(result.tpot), float(rate or 0), result.backend_version])
    except Exception as error:
        found.append(str(error)[:200])
with open(sys.argv[2], "w") as file:
    json.dump(found, file)
"""


class Estimate(NamedTuple):
    """What it says of a row: ms to the first token and for each further one, tokens/s of a GPU, and whose data."""

    ttft: float
    tpot: float
    rate: float
    release: str


class ComparedServer(NamedTuple):
    """A row and the times of both over the measured one."""

    row: PublishedRow
    ours: float
    theirs: float

    @property
    def fitted(self) -> bool:
        """Whether constants of ours were fitted to it."""
        return self.row.cells["use"] != HELD_OUT


def question(row: PublishedRow, case: Serving) -> dict[str, Any] | None:
    """A row in its words; None where it has no data of the chip, the model or the software."""
    c, server = row.config, case.server
    backend = next((name for word, name in BACKENDS if word in str(c.get("software"))), "")
    known = row.system in SYSTEMS and c.get("model") in MODELS and backend
    if not known or c.get("disaggregated") or not {server.dtype, server.kv_dtype} <= set(PRECISIONS):
        return None
    groups = server.groups
    experts: dict[str, Any] = {"moe_tp_size": server.tp // server.ep, "moe_ep_size": server.ep}
    experts |= {"moe_quant_mode": PRECISIONS[server.expert_dtype or server.dtype]}
    return {
        "model_path": MODELS[c["model"]],
        "system_name": SYSTEMS[row.system],
        "backend_name": backend,
        "mode": "static" if c["load"] in STATIC else "agg",
        "isl": round(c["input"]),
        "osl": round(c["output"]),
        "batch_size": max(1, round(case.requests / groups / server.pp)),
        "tp_size": server.tp // groups,
        "pp_size": server.pp,
        "attention_dp_size": groups,
        "gemm_quant_mode": PRECISIONS[server.dtype],
        "kvcache_quant_mode": PRECISIONS[server.kv_dtype],
        **(experts if server.model.moe else {}),
    }


def seconds_of(row: PublishedRow, case: Serving, estimate: Estimate) -> float:
    """Its seconds for what our time is of: a first token, a token, or all tokens of the run. NaN without a figure."""
    c = row.config
    if row.unit == "ms first token":
        return estimate.ttft / 1e3
    if row.unit == "ms per output token":
        return estimate.tpot / 1e3
    whole = (estimate.ttft + estimate.tpot * (c["output"] - 1)) / 1e3
    if row.unit == "ms whole request":
        return whole
    rate = re.fullmatch(r"(input\+)?output tokens/s(/GPU)?", row.unit)
    if not rate:
        return math.nan
    if c["load"] in STATIC:
        return whole
    measured = (row.value if rate[2] else row.value / row.gpus) / (1 + c["input"] / c["output"] if rate[1] else 1.0)
    return case.seconds * measured / estimate.rate if estimate.rate else math.nan


def asked_rows(path: Path) -> list[tuple[PublishedRow, Serving, dict[str, Any]]]:
    """The rows of a folder that it has data of. Raises DataError."""
    rows = []
    for row in read_rows(path)[0]:
        case = case_of(row, path) if row.kind == "inference-serving" else None
        if isinstance(case, Serving) and (words := question(row, case)):
            rows.append((row, case, words))
    return rows


def drawn(rows: Sequence[Any], most: int) -> list[Any]:
    """Of each software and chip at most so many rows, at even steps in their order."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        groups.setdefault((row[2]["backend_name"], row[2]["system_name"]), []).append(row)
    steps = [(group, min(len(group), most)) for group in groups.values()]
    return [group[i * len(group) // count] for group, count in steps for i in range(count)]


def estimates(questions: Sequence[dict[str, Any]], python: Path | None = None) -> list[Estimate | str]:
    """What it says of each question, or why nothing. Raises NoPeer."""
    with tempfile.TemporaryDirectory() as folder:
        python = python or installed(Path(folder) / "environment")
        questions_file, answers = Path(folder) / "questions.json", Path(folder) / "answers.json"
        questions_file.write_text(json.dumps(list(questions)), "utf-8")
        said_by([str(python), "-c", PROGRAM, str(questions_file), str(answers)], "it did not run")
        return [_estimate(answer) for answer in json.loads(answers.read_text("utf-8"))]


def _estimate(answer: Any) -> Estimate | str:
    return answer if isinstance(answer, str) else Estimate(*answer)


def installed(folder: Path) -> Path:
    """The Python of a new environment that has it. Raises NoPeer."""
    python = environment(folder)
    said_by([str(python), "-m", "pip", "install", "-q", "aiconfigurator"], "pip could not install it")
    return python


def compared(
    rows: Sequence[tuple[PublishedRow, Serving, Any]], answers: Sequence[Estimate | str]
) -> tuple[list[ComparedServer], list[str]]:
    """The rows that both predict, and the reasons for those that it does not."""
    both, refused = [], []
    for (row, case, _), answer in zip(rows, answers, strict=True):
        theirs = math.nan if isinstance(answer, str) else seconds_of(row, case, answer)
        if theirs > 0:
            both.append(ComparedServer(row, case.time() / case.seconds, theirs / case.seconds))
        else:
            reason = answer if isinstance(answer, str) else f"no figure of {row.unit}"
            refused.append(f"{row.cells['id']}: {reason}")
    return both, refused


def table(both: Iterable[ComparedServer]) -> list[str]:
    """Mean errors, and biases in brackets, by software and chip, of rows that ours were fitted to and others."""
    groups: dict[tuple[str, str, bool], list[ComparedServer]] = {}
    for pair in both:
        software = next(word for word, _ in BACKENDS if word in str(pair.row.config["software"]))
        groups.setdefault((software, pair.row.system, pair.fitted), []).append(pair)
    lines = ["| software | chip | rows | ours fitted to them | ours | AIConfigurator |", "|:--|:--|--:|:--|--:|--:|"]
    for (software, chip, fitted), pairs in sorted(groups.items()):
        lines.append(_line(software, chip, pairs, "yes" if fitted else "no"))
    every = [pair for pairs in groups.values() for pair in pairs]
    for fitted, words in ((True, "yes"), (False, "no")):
        if some := [pair for pair in every if pair.fitted is fitted]:
            lines.append(_line("all", "", some, words))
    return lines


def _line(software: str, chip: str, pairs: Sequence[ComparedServer], fitted: str) -> str:
    errors = map(_error, ([pair.ours - 1 for pair in pairs], [pair.theirs - 1 for pair in pairs]))
    return f"| {software} | {chip} | {len(pairs)} | {fitted} | {' | '.join(errors)} |"


def _error(errors: Sequence[float]) -> str:
    return f"{fmean(map(abs, errors)):.1%} ({fmean(errors):+.1%})"


@click.command(help=__doc__)
@click.option("--python", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--most", type=click.IntRange(1), default=8, show_default=True, help="rows of a software and chip")
@click.option("--refused", is_flag=True, help="also name the rows that it does not predict, with its reasons")
def main(python: Path | None, most: int, refused: bool) -> None:
    """Print the table."""
    every = asked_rows(ROWS)
    rows = drawn(every, most)
    try:
        answers = estimates([words for _, _, words in rows], python)
    except NoPeer as error:
        raise click.ClickException(str(error)) from None
    both, reasons = compared(rows, answers)
    print("\n".join(table(both)))
    releases = sorted({answer.release for answer in answers if isinstance(answer, Estimate)})
    print(f"\nIts data are of {', '.join(releases)}; {len(every)} rows have its words, {len(rows)} of them were drawn,")
    print(f"and {len(both)} of these are predicted.")
    if refused:
        print("\n".join(reasons))


if __name__ == "__main__":
    main()

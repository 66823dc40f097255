"""Calculon on the rows of a table: `python -m benchmarks.planner.calculon_run --calculon DIR --data FILE`.

DIR is a checkout of its repository. It runs in a Python of its own, with its file for an A100 of 80 GB, once for all
steps of GPT models on A100 that it accepts: no experts, no context parallelism, whole layers on each stage. Memory it
does not limit, for the runs were made. Printed is its mean error in each set, and the same after one factor for each
set, taken from one fold of its groups and scored on the other: what a fit of one constant would make of it.
"""

import json
import math
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import click

from benchmarks.fit.folds import fold_of
from benchmarks.planner.peers import calculon_python, said_by
from benchmarks.rows.published import case_of, read_rows
from benchmarks.rows.training_step import TrainingStep

NODE = 8
PROGRAM = """
import json, logging, sys
from calculon.llm.llm import Llm
from calculon.system import System
root, file = sys.argv[1:]
log = logging.getLogger()
log.setLevel(logging.CRITICAL)
sheet = json.load(open(f"{root}/systems/a100_80g.json"))
sheet["mem1"]["GiB"] = 1e9
for network in sheet["networks"]:
    network["must_be_filled"] = False
found = []
for case in json.load(open(file)):
    sheet["networks"][1]["bandwidth"] = case["network"]
    try:
        model = Llm(Llm.Application(case["model"]), log)
        model.compile(System(sheet), Llm.Execution.from_json(case["plan"]))
        model.run(System(sheet))
        found.append(model.get_total_time())
    except (AssertionError, ArithmeticError, Llm.Error):
        found.append(None)
print(json.dumps(found))
"""


def question(case: TrainingStep) -> dict[str, Any] | None:
    """A step in Calculon's words; None for what it has no words for."""
    model, plan = case.model, case.plan
    tp, pp, dp = (int(plan.get(name, 1)) for name in ("tp", "pp", "dp"))
    if case.chip != "a100-80gb-sxm" or model.moe or plan.get("cp", 1) > 1 or model.kv_heads != model.heads:
        return None
    zero, recompute, sp = plan.get("zero", 0), plan.get("recompute", "none"), bool(plan.get("sp")) and tp > 1
    if zero > 1 or model.matrices != 2 or plan["micro"] != int(plan["micro"]):
        return None
    return {
        "network": case.levels[-1].bandwidth / case.levels[0].size / 1e9,
        "model": {
            "hidden": model.width,
            "feedforward": model.ffn,
            "seq_size": int(plan["T"]),
            "attn_heads": model.heads,
            "attn_size": model.head_dim,
            "num_blocks": model.layers,
        },
        "plan": {
            "num_procs": tp * pp * dp,
            "tensor_par": tp,
            "pipeline_par": pp,
            "data_par": dp,
            "tensor_par_net": int(tp > NODE),
            "pipeline_par_net": int(tp * pp * dp > NODE),
            "data_par_net": int(tp * dp > NODE),
            "batch_size": int(plan["B"] / plan["T"]),
            "microbatch_size": int(plan["micro"]),
            "datatype": "float16",
            "fused_activation": False,
            "attention_type": "multihead",
            "activation_recompute": {"selective": "attn_only"}.get(recompute, recompute),
            "pipeline_interleaving": int(plan.get("v", 1)),
            "optimizer_sharding": bool(zero) and dp > 1,
            "tensor_par_comm_type": "rs_ag" if sp else "ar",
            "tensor_par_overlap": "none",
            "seq_par_ag_redo": sp and recompute != "full",
            "data_par_overlap": False,
            "weight_offload": False,
            "activations_offload": False,
            "optimizer_offload": False,
            "training": True,
        },
    }


def seconds_of(cases: Sequence[TrainingStep], checkout: Path, python: Path | None = None) -> list[float]:
    """Calculon's seconds for each step; NaN for what it refuses. Raises NoPeer."""
    asked = [question(case) for case in cases]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "questions.json"
        file.write_text(json.dumps([one for one in asked if one]), "utf-8")
        python = python or calculon_python(Path(folder))
        answers = iter(
            json.loads(said_by([str(python), "-c", PROGRAM, str(checkout), str(file)], "it did not run", checkout))
        )
    found = [next(answers) if one else None for one in asked]
    return [math.nan if x is None else float(x) for x in found]


def group_of(case: TrainingStep) -> str:
    """A model and machine: the same for all plans of a step."""
    model = case.model
    return repr((model.layers, model.width, model.heads, case.gpus, case.plan["B"]))


def scored(cases: Sequence[TrainingStep], seconds: Sequence[float]) -> dict[str, tuple[int, float, float, float]]:
    """For each set: rows, mean and median error, and the mean with one factor of the other fold."""
    sets: dict[str, list[tuple[TrainingStep, float]]] = defaultdict(list)
    for case, t in zip(cases, seconds, strict=True):
        if not math.isnan(t):
            sets[case.group].append((case, t / case.seconds))
    result = {}
    for name, pairs in sets.items():
        errors = [abs(share - 1) for _, share in pairs]
        folds = [[share for case, share in pairs if fold_of(group_of(case)) == fold] for fold in (0, 1)]
        after = [abs(share / median(folds[1 - i]) - 1) for i in (0, 1) if folds[1 - i] for share in folds[i]]
        result[name] = len(pairs), fmean(errors), median(errors), fmean(after) if after else math.nan
    return result


def steps_of(paths: Iterable[Path]) -> list[TrainingStep]:
    """The training steps of tables."""
    return [
        case for path in paths for row in read_rows(path)[0] if isinstance(case := case_of(row, path), TrainingStep)
    ]


@click.command()
@click.option("--calculon", type=click.Path(file_okay=False, exists=True, path_type=Path), required=True)
@click.option("--calculon-python", type=click.Path(dir_okay=False, exists=True, path_type=Path))
@click.option("--data", type=click.Path(dir_okay=False, exists=True, path_type=Path), multiple=True, required=True)
def main(calculon: Path, calculon_python: Path | None, data: tuple[Path, ...]) -> None:
    """Print Calculon's errors by set."""
    cases = steps_of(data)
    print(f"{'set':<16}{'rows':>6}{'mean':>9}{'median':>9}{'one factor':>12}")
    for name, (rows, mean, middle, after) in scored(cases, seconds_of(cases, calculon, calculon_python)).items():
        print(f"{name:<16}{rows:>6}{mean:>9.1%}{middle:>9.1%}{after:>12.1%}")


if __name__ == "__main__":
    main()

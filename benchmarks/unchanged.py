"""Public programs as they are on a simulated cluster: `python -m benchmarks.unchanged FOLDER`.

FOLDER holds `examples` (github.com/pytorch/examples) and, where it is there, `nanoGPT` (github.com/karpathy/nanoGPT).
Each program runs in a copy of its folder, by `python -m hwlib.virtual`, without a change to its text; a program that
reads tokens from a file gets random ones. What it prints is a table: what works, what ends in a sentence and what in a
traceback, and the time of the last step. What a program imports beside torch (hydra-core and boto3 for minGPT,
torchvision for ImageNet) has to be installed, or the sentence says that it is missing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

CLUSTER = "dgx-h100"
SECONDS = 300  # of a program
TOKENS = 200_000
TINY = "kernels shorter than a launch: GPUs would take longer"
STEP = re.compile(r"^step (\d+): ([\d.]+ \w+), of that", re.MULTILINE)
REFUSAL = re.compile(r"^hwlib\.virtual: (.+)$", re.MULTILINE)
ERROR = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception)\b.*)$", re.MULTILINE)


@dataclass(frozen=True)
class PublicProgram:
    """A script of a repository, the folder that it runs in, its arguments, and a folder for tokens if it reads some."""

    folder: str
    script: str
    args: tuple[str, ...] = ()
    tokens: str = ""

    @property
    def name(self) -> str:
        return " ".join((f"{self.folder}/{self.script}", *self.args)).replace("./", "")


@dataclass(frozen=True)
class RunOutcome:
    """How a program ended: "works", "sentence" or "traceback"; its number of steps, the time of the last, and words."""

    kind: str
    steps: int = 0
    step_time: str = ""
    words: str = ""


SERIES = "examples/distributed/ddp-tutorial-series"
PARALLEL = "examples/distributed/tensor_parallelism"
FSDP = "examples/distributed/FSDP2"
PROGRAMS = (
    *(PublicProgram(SERIES, f"{script}.py", ("2", "1")) for script in ("single_gpu", "multigpu", "multigpu_torchrun")),
    PublicProgram(SERIES, "multinode.py", ("2", "1")),
    PublicProgram("examples/distributed/ddp", "example.py"),
    PublicProgram(FSDP, "example.py"),
    PublicProgram(FSDP, "example.py", ("--explicit-prefetching",)),
    PublicProgram(FSDP, "example.py", ("--mixed-precision",)),
    PublicProgram(FSDP, "example.py", ("--dcp-api",)),
    *(
        PublicProgram(PARALLEL, f"{script}_example.py")
        for script in ("tensor_parallel", "sequence_parallel", "fsdp_tp")
    ),
    PublicProgram(
        "examples/distributed/minGPT-ddp/mingpt",
        "main.py",
        ("data_config.path=data/input.txt", "trainer_config.max_epochs=1"),
    ),
    PublicProgram("examples/imagenet", "main.py", ("--dummy", "-a", "resnet18", "--epochs", "1")),
    PublicProgram("examples/distributed/rpc/ddp_rpc", "main.py"),
    PublicProgram("nanoGPT", "train.py", ("--max_iters=3", "--eval_iters=2", "--n_layer=4"), "data/openwebtext"),
    PublicProgram("nanoGPT", "bench.py", ("--real_data=False", "--compile=False")),
)


def outcome_of(status: int, output: str) -> RunOutcome:
    """What a run shows: its steps where it ended well, else the sentence, else the last line of a traceback."""
    steps = STEP.findall(output)
    if status == 0 and steps:
        return RunOutcome("works", int(steps[-1][0]), steps[-1][1], TINY if "to launch one" in output else "")
    if refusal := REFUSAL.findall(output):
        return RunOutcome("sentence", len(steps), words=refusal[-1])
    errors = ERROR.findall(output)
    return RunOutcome("traceback", len(steps), words=errors[-1] if errors else f"exit status {status}")


def run_unchanged(program: PublicProgram, folder: Path, cluster: str = CLUSTER) -> RunOutcome:
    """Run a program in a copy of its folder."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "program"
        shutil.copytree(folder / program.folder, copy)
        if program.tokens:
            write_tokens(copy / program.tokens)
        command = [sys.executable, "-m", "hwlib.virtual", "--on", cluster, program.script, *program.args]
        try:
            done = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return RunOutcome("traceback", words=f"no end after {SECONDS} s")
    return outcome_of(done.returncode, f"{done.stdout}\n{done.stderr}")


def write_tokens(folder: Path) -> None:
    """Random tokens to train and to evaluate on."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        np.random.default_rng(0).integers(0, 50_000, TOKENS, dtype=np.uint16).tofile(folder / f"{name}.bin")


def table(outcomes: Sequence[tuple[PublicProgram, RunOutcome]]) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| program | ends | steps | last step | words |"
    yield "|:--|:--|--:|--:|:--|"
    for program, outcome in outcomes:
        steps = str(outcome.steps) if outcome.steps else ""
        yield f"| `{program.name}` | {outcome.kind} | {steps} | {outcome.step_time} | {outcome.words} |"


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--on", "cluster", default=CLUSTER, help="The simulated cluster.", show_default=True)
def main(folder: Path, cluster: str) -> None:
    """Run what is there of PROGRAMS, and print the table."""
    present = [program for program in PROGRAMS if (folder / program.folder / program.script).is_file()]
    if not present:
        raise click.UsageError(f"{folder}: neither examples nor nanoGPT is in it")
    outcomes = []
    for program in present:
        outcomes.append((program, run_unchanged(program, folder, cluster)))
        click.echo(f"{program.name}: {outcomes[-1][1].kind}", err=True)
    click.echo("\n".join(table(outcomes)))


if __name__ == "__main__":
    main()

"""`python -m hwlib.virtual --on CLUSTER [--ranks N] script.py ARGS`: a script for GPUs, run as it is, and its steps."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

from hwlib.specs import Stack, described, stack_for, stacks
from hwlib.specs.own_cluster import LINE
from hwlib.units import show
from hwlib.virtual.record import StepTiming

LAUNCH = 1e-6  # s, less than any GPU and driver take to launch a kernel
ENDS = (KeyError, ValueError, NotImplementedError, FileNotFoundError, ModuleNotFoundError)


def main(given: Sequence[str] | None = None) -> int:
    """Run a script and print its steps; returns what the shell is told."""
    options = _parser().parse_args(given)
    from hwlib.virtual.script import run
    from hwlib.virtual.world import chip_of

    def told(number: int, step: StepTiming) -> None:
        print(f"step {number}: {show(step.step_time, 's')}, of that {show(step.exposed, 's')} waiting", flush=True)

    warnings.filterwarnings("default", category=UserWarning, module="hwlib")
    try:
        stack = None
        if options.stack != "none":
            stack = stacks.of(options.stack) if options.stack else stack_for(chip_of(options.on, None))
        for line in _said(options.on, stack):
            print(line)
        done = run(options.script, options.args, where=options.on, n=options.ranks, stack=stack, told=told)
    except ENDS as error:
        print(f"hwlib.virtual: {_place(error, options.script)}{_sentence(error)}", file=sys.stderr)
        return 1
    if note := _on_launches(done.step):
        print(note)
    print(done.step)
    if options.trace:
        done.step.chrome_trace(options.trace)
        print(f"the last step's timeline is in {options.trace}")
    return 0


def _sentence(error: Exception) -> str:
    """What an error says; the first of an OSError's arguments is a number."""
    if isinstance(error, OSError) or not error.args:
        return str(error) or type(error).__name__
    sentence = str(error.args[0])
    bare = isinstance(error, KeyError) and len(sentence.split()) < 2
    return f"no such key: {sentence!r}" if bare else sentence


def _place(error: Exception, script: str) -> str:
    """The line of the program, or of a module beside it, that an error comes from; empty if no line of it ran."""
    folder = Path(script).resolve().parent
    for frame in reversed(extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if path.is_relative_to(folder) and not {"site-packages", "hwlib"} & set(path.relative_to(folder).parts):
            return f"{path.name} line {frame.lineno}: "
    return ""


def _on_launches(step: StepTiming) -> str:
    """That a step of tiny kernels is bound by launches, which no kernel time has; empty for other steps."""
    mean = step.compute / step.kernels if step.kernels else LAUNCH
    if mean >= LAUNCH:
        return ""
    return (
        f"the {step.kernels} kernels of this step take {show(mean, 's')} in the mean: to launch one takes a host some "
        "microseconds, which these times leave out, so that GPUs would take longer"
    )


def _said(on: str, stack: Stack | None) -> list[str]:
    """What was read of a cluster that is described, and the constants that its times rest on."""
    from hwlib.planner import machine_of

    lines = []
    if described(on):
        machine, rates = machine_of(on), f"stack {stack.key}" if stack else "rates of the data sheet"
        lines.append(f"{machine.name}: {machine.joined}; {rates}")
    return [*lines, stack.caveat] if stack and stack.caveat else lines


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hwlib.virtual", description=__doc__.split(": ", 1)[1])
    named = f"as for gpubook plan: a key, such as superpod-h100-4su; a line, such as {LINE!r}; or a file, lab.toml"
    parser.add_argument("--on", required=True, metavar="CLUSTER", help=named)
    parser.add_argument("--ranks", type=int, metavar="N", help="the first N of its ranks; all by default")
    parser.add_argument("--stack", help="software whose kernel times count: a stack's key; 'none' for the data sheet")
    parser.add_argument("--trace", metavar="FILE", help="write the last step's timeline, for Perfetto")
    parser.add_argument("script", help="a script as torchrun would start it")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


if __name__ == "__main__":
    sys.exit(main())

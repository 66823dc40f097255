"""Real gloo ranks for tests: one start of n processes runs every case there is.

    python -m tests.hwlib.ranks 4 RESULTS

The program that forks has imported torch and computed nothing, since a fork after OpenMP has started threads
hangs. The test's own process may have, so it starts this one.
"""

import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hwlib.algorithms import ALGORITHMS
from hwlib.simulate import group_run
from tests.hwlib.inputs import inputs_of

SIZES = (0, 1, 7, 53)
TIMEOUT = 120


class Case(NamedTuple):
    """An algorithm with its options on arrays of `count` elements, among all ranks or a group of them.

    `eager` says whether sends need not wait for their receivers.
    """

    name: str
    count: int
    options: dict[str, Any]
    eager: bool = True
    group: tuple[int, ...] | None = None


class Rank(NamedTuple):
    """What one rank of a case gave, as plain data."""

    output: Any
    rounds: int
    sent_bytes: int
    received_bytes: int


def cases(n: int) -> list[Case]:
    """Every algorithm that real ranks can run, with every root at one size; and some with sends that wait."""
    out = []
    for name, record in ALGORITHMS.items():
        if record.switch:
            continue
        out += [Case(name, count, {}) for count in SIZES]
        if "root" in record.options:
            out += [Case(name, 53, {"root": root}) for root in range(1, n)]
        if "m" in record.options:
            out += [Case(name, 53, {"m": m}) for m in (1, 3)]
        if "inner" in record.options:
            out += [Case(name, 53, {"inner": inner}) for inner in (1, n)]
        out.append(Case(name, 53, {}, eager=False))
    counts = [[(3 * i + j) % 4 for j in range(n)] for i in range(n)]  # with zeros; all rows have their own sum
    out.append(Case("ragged_alltoall", 0, {"counts": counts}))
    if n == 4:
        out += [Case(name, 53, {}, group=(3, 0, 1)) for name in ("ring_allreduce", "binomial_gather")]
    return out


def results(n: int) -> list[tuple[Case, list[Rank]]]:
    """What each rank gave, case by case. Raises RuntimeError with what a failed rank printed."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.hwlib.ranks", str(n), folder],
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr)
        ranks = [pickle.loads(Path(folder, f"rank{rank}").read_bytes()) for rank in range(n)]
    return [(case, [Rank(*ranks[r][i]) for r in case.group or range(n)]) for i, case in enumerate(cases(n))]


def play(rank: int, n: int, folder: str) -> None:
    """One rank: all cases, one after another, in one process group."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    store = dist.FileStore(os.path.join(folder, "store"), n)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=n, timeout=timedelta(seconds=TIMEOUT / 2))
    mail, out = group_run._Mail, []
    for case in cases(n):
        group_run._Mail = mail if case.eager else partial(mail, eager=False)
        members = case.group or tuple(range(n))
        group = dist.new_group(members, sort_ranks=False) if case.group else None
        if rank not in members:
            out.append(())
            continue
        xs = inputs_of(case.name, len(members), case.count, **case.options)
        run = group_run.run_on_group(case.name, torch.from_numpy(xs[members.index(rank)]), group, **case.options)
        output = None if run.output is None else run.output.numpy().copy()
        out.append(Rank(output, run.rounds, run.sent_bytes, run.received_bytes))
    Path(folder, f"rank{rank}").write_bytes(pickle.dumps([tuple(one) for one in out]))
    dist.destroy_process_group()


def main(n: int, folder: str) -> int:
    import torch.distributed  # noqa: F401  (once, for all ranks)

    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=play, args=(rank, n, folder)) for rank in range(n)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    return max(abs(rank.exitcode or 0) for rank in ranks)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2]))

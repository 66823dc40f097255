"""The same generators on real ranks: each process plays one of them, over torch.distributed.

    torch.distributed.init_process_group("gloo")
    run = run_on_group(ring_allreduce, x)
    run.output, run.sent_bytes, run.rounds

A receiver cannot know how much will come, nor when it left by the logical clock: a header of two numbers goes
before each message and tells both. Headers are not counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hwlib.algorithms.protocol import RegisteredAlgorithm, Step, copied, found
from hwlib.simulate.mailbox import checked_steps, start_programs

HEADER, BODY = 0, 1  # tags of the two kinds of message


@dataclass(frozen=True)
class RankRun:
    """One rank's part of a run; the rounds of the whole are the most of any rank's."""

    output: Any
    rounds: int
    sent_bytes: int
    received_bytes: int


def run_on_group(
    algorithm: Callable[..., Any] | RegisteredAlgorithm | str, x: Any, group: Any = None, **options: Any
) -> RankRun:
    """Runs this rank's part of an algorithm on a copy of the tensor x, together with the group's other ranks.

    All call it alike, as a collective. Messages have the dtype of x, and its shape but for the length. With
    gloo sends do not wait, as in the simulators. With NCCL they are kernels of one stream, and a step's send
    waits for the receiver to get to its step: an algorithm in which two ranks first both send and then both
    receive, in two steps, stops there. Raises ValueError for an algorithm that needs a switch that computes,
    and for an x that is not a tensor, and SimulationError for an invalid step.
    """
    import torch.distributed as dist

    if not hasattr(x, "device"):
        raise ValueError(f"x: this rank's tensor, got a {type(x).__name__}")
    record, function = found(algorithm)
    if record and record.switch:
        raise ValueError(f"{record.name} needs a switch that computes, which no process group has")
    rank, n = dist.get_rank(group), dist.get_world_size(group)
    (program,) = start_programs(function, [(rank, n, copied(x))], **options)
    mail = _Mail(x, group)
    clock, number, value = 0, 0, None
    while True:
        try:
            yielded = program.send(value)
        except StopIteration as end:
            mail.finish()
            return RankRun(end.value, clock, mail.sent, mail.received)
        steps = checked_steps(yielded, partial("rank {}, step {}".format, rank, number), rank, n)
        arrived, left = mail.exchange(steps, clock)
        if any(step.to is not None or step.frm is not None for step in steps):
            clock = 1 + max([clock, *left])
        value = arrived[0] if isinstance(yielded, Step) else arrived
        number += 1


class _Mail:
    """This rank's messages: what is on its way, and how much it was."""

    def __init__(self, like: Any, group: Any, eager: bool | None = None):
        import torch.distributed as dist

        self.like, self.group, self.headers = like, group, group
        self.sent = self.received = 0
        self.pending: list[Any] = []  # sends, with their tensors, which must live as long
        self.eager = dist.get_backend(group) == "gloo" if eager is None else eager
        self.made = None
        if like.device.type != "cpu":
            ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
            self.headers = self.made = dist.new_group(ranks, backend="gloo", use_local_synchronization=True)

    def exchange(self, steps: list[Step], clock: int) -> tuple[list[Any], list[int]]:
        """What each step receives (None where nothing), and in which rounds those messages left."""
        import torch
        import torch.distributed as dist

        sends = [(step.to, copied(step.send)) for step in steps if step.to is not None]
        self.sent += sum(data.nbytes for _, data in sends)
        heads = [(to, torch.tensor([clock, len(data)])) for to, data in sends]
        self.start(dist.isend, heads, self.headers, HEADER)
        if self.eager:
            self.start(dist.isend, sends, self.group, BODY)
        frm = [step.frm for step in steps if step.frm is not None]
        coming = [(peer, torch.empty(2, dtype=torch.int64)) for peer in frm]
        self.start(dist.irecv, coming, self.headers, HEADER)
        shape = self.like.shape[1:]
        bodies = [(peer, self.like.new_empty((int(head[1]), *shape))) for peer, head in coming]
        if self.eager:
            self.start(dist.irecv, bodies, self.group, BODY)
        else:
            self.start_together(sends, bodies)
        self.received += sum(body.nbytes for _, body in bodies)
        arrived = iter(body for _, body in bodies)
        return [None if step.frm is None else next(arrived) for step in steps], [int(h[0]) for _, h in coming]

    def operations(self, do: Callable[..., Any], messages: list[tuple[int, Any]], group: Any, tag: int) -> list[Any]:
        import torch.distributed as dist

        return [dist.P2POp(do, data, group=group, tag=tag, group_peer=peer) for peer, data in messages if len(data)]

    def start(self, do: Callable[..., Any], messages: list[tuple[int, Any]], group: Any, tag: int) -> None:
        """Starts sends, or receives and waits for them."""
        import torch.distributed as dist

        if not (operations := self.operations(do, messages, group, tag)):
            return
        works = dist.batch_isend_irecv(operations)
        if do is dist.isend:
            self.pending.append((works, messages))
        else:
            for work in works:
                work.wait()

    def start_together(self, sends: list[tuple[int, Any]], bodies: list[tuple[int, Any]]) -> None:
        """Both directions as one batch, for a backend whose sends wait for their receivers."""
        import torch.distributed as dist

        out = self.operations(dist.isend, sends, self.group, BODY)
        into = self.operations(dist.irecv, bodies, self.group, BODY)
        if out or into:
            for work in dist.batch_isend_irecv(out + into):
                work.wait()

    def finish(self) -> None:
        """Waits until all sends have been received."""
        import torch.distributed as dist

        for works, _ in self.pending:
            for work in works:
                work.wait()
        if self.made is not None:
            dist.destroy_process_group(self.made)

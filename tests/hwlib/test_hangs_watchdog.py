"""Lines of PyTorch's watchdog: what they prove of a hang, and what they do not."""

import pytest

from hwlib.traces.hangs.answers import answer
from hwlib.traces.hangs.watchdog import read_watchdog, watchdog_verdict


def timed(rank, number, operation="ALLREDUCE", elements=4096, group=""):
    head = f"[{group} Rank {rank}]" if group else f"[Rank {rank}]"
    return (
        f"[rank{rank}]:[E626 06:24:44.903881913 ProcessGroupNCCL.cpp:616] {head} Watchdog caught collective operation "
        f"timeout: WorkNCCL(SeqNum={number}, OpType={operation}, NumelIn={elements}, NumelOut={elements}, "
        "Timeout(ms)=600000) ran for 600020 milliseconds before timing out."
    )


def came(rank, enqueued, completed, group="PG ID 0 PG GUID 0(default_pg)"):
    return (
        f"[rank{rank}]:[E626 06:24:44.906457629 ProcessGroupNCCL.cpp:1785] [{group} Rank {rank}] Exception (either an "
        f"error or timeout) detected by watchdog at work: {completed + 1}, last enqueued NCCL work: {enqueued}, last "
        f"completed NCCL work: {completed}."
    )


def verdict(*lines):
    return watchdog_verdict(read_watchdog("\n".join(lines)))


FORMS = {
    "2.0": "[E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=64088, "
    "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 25625251 milliseconds before timing out.",
    "2.2": "[PG 0 Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=64088, OpType=ALLREDUCE, "
    "NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600083 milliseconds before timing out.",
    "2.4": "[rank7]:[E321 02:07:08 ProcessGroupNCCL.cpp:607] [Rank 7] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=64088, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600004 milliseconds",
    "wrapped": "[rank7]:[E ProcessGroupNCCL.cpp:629] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(Se"
    "\nqNum=64088, OpTy\npe=ALLREDUCE, NumelIn=112, Numel\nOut=112, Timeout(ms)=1800000) ran for 1800010 milliseconds",
    "a progress bar before": "Epoch 0: 6%|# | 32040/500150, loss=2.6][E ProcessGroupNCCL.cpp:458] [Rank 7] Watchdog "
    "caught collective operation timeout: WorkNCCL(SeqNum=64088, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 2 mill",
    "cut": "[Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=64088, OpType=ALLREDUCE)",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_line_alone_of_any_version_is_read_and_proves_nothing(form):
    report = read_watchdog(FORMS[form])
    [call] = report.timeouts
    assert (call.rank, call.number, call.operation) == (7, 64088, "ALLREDUCE")
    told = answer({"": FORMS[form]})
    assert told.hangs
    assert told.record["culprits"] == []
    assert told.record["reason"] in ("silent", "unknown")


def test_the_rank_of_the_job_is_its_mark_and_else_that_of_the_group():
    inside = timed(3, 8).replace("[rank3]:", "[rank11]:")
    assert read_watchdog(inside).timeouts[0].rank == 11
    assert read_watchdog(inside.replace("[rank11]:", "")).timeouts[0].rank == 3


def test_a_rank_that_has_not_called_it_is_to_blame_and_one_that_has_is_not():
    waiting = [timed(rank, 808) for rank in (0, 1)] + [came(rank, 811, 807) for rank in (0, 1)]
    assert verdict(*waiting, came(2, 807, 807))[:2] == ("missing", (2,))
    assert verdict(*waiting, came(2, 808, 807))[0] != "missing"


def test_a_name_that_several_groups_may_have_blames_nobody():
    waiting = [timed(rank, 808) for rank in (0, 1)] + [came(rank, 811, 807, "PG 1") for rank in (0, 1)]
    seen = verdict(*waiting, came(2, 807, 807, "PG 1"))
    assert seen.reason == "missing"
    assert not seen.culprits
    assert seen.suspects == (2,)


def test_the_fewer_that_called_something_else_are_to_blame_and_of_two_halves_neither():
    many = [timed(rank, 5) for rank in (0, 1, 3)]
    assert verdict(*many, timed(2, 5, "BROADCAST"))[:2] == ("operation", (2,))
    assert verdict(*many, timed(2, 5, elements=4095))[:2] == ("size", (2,))
    assert verdict(many[0], timed(2, 5, "BROADCAST"))[:3] == ("operation", (), (0, 2))


def test_sizes_may_differ_where_the_call_lets_them():
    for operation, reason in (("ALLTOALL_BASE", "unknown"), ("GATHER", "unknown"), ("_ALLGATHER_BASE", "size")):
        lines = [timed(rank, 5, operation, elements=10 + (rank == 1)) for rank in range(3)]
        assert verdict(*lines).reason == reason


def test_ranks_without_a_line_are_suspects_only_where_all_others_agree():
    assert verdict(timed(0, 5), timed(3, 5))[:3] == ("silent", (), (1, 2))
    assert verdict(timed(0, 5), timed(1, 5)).reason == "unknown"
    apart = verdict(timed(0, 5), timed(3, 6))
    assert apart.reason == "apart"
    assert not apart.culprits
    assert apart.suspects == (0,)


def test_calls_of_groups_that_are_not_told_apart_prove_nothing():
    assert verdict(timed(0, 96120), timed(0, 96117), timed(7, 64088)).reason == "unknown"


def test_other_checks_of_calls_are_read():
    barrier = "[Rank 0]: Ranks 2, 5 failed to pass monitoredBarrier in 1800000 ms"
    assert verdict(barrier)[:2] == ("missing", (2, 5))
    first = "Rank 3 is running collective: CollectiveFingerPrint(SequenceNumber=18, OpType=ALLREDUCE, TensorShape=[4]"
    other = ", Tensor), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber={}, OpType={}"
    told = "RuntimeError: Detected mismatch between collectives on ranks. " + first + other
    assert verdict(told.format(18, "BROADCAST"))[:3] == ("operation", (), (0, 3))
    assert verdict(told.format(18, "ALLREDUCE")).reason == "size"
    assert verdict(told.format(22, "ALLREDUCE")).reason == "apart"


def test_a_log_beside_dumps_is_refused_and_one_without_such_lines_too():
    with pytest.raises(ValueError, match="one kind"):
        answer({"a": FORMS["2.4"], "b": '{"communicators": [], "nccl_version": "2.28"}'})
    with pytest.raises(ValueError, match="dump"):
        answer({"a": "step 1 loss 2.3"})


def test_a_call_without_its_group_is_of_the_group_in_which_its_number_is_open():
    lines = [timed(0, 8), came(0, 9, 8, "PG 1"), came(0, 9, 7, "PG 2")]
    assert read_watchdog("\n".join(lines)).timeouts[0].group == "2"
    assert read_watchdog("\n".join([timed(0, 9), *lines[1:]])).timeouts[0].group == ""

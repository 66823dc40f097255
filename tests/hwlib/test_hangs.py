"""Dumps of the flight recorder and RAS reports: who hangs a job, whatever wrote the file; hostile files end in a
sentence.
"""

import copy
import json
import os
import pickle
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwlib.traces import HANGS, draw_flight, find_hang
from hwlib.traces.hangs import pickles
from hwlib.traces.hangs.answers import answer
from hwlib.traces.hangs.dumps import load_dumps
from hwlib.traces.hangs.pickles import PickleError, read_pickle
from hwlib.traces.hangs.ras import read_ras
from tests.hostile import damaged, reads

DATA = Path(__file__).parent / "data" / "hangs"
GLOO = {f"gloo_rank_{rank}": (DATA / f"gloo_rank_{rank}").read_bytes() for rank in range(3)}
"""Of three processes of PyTorch 2.13 over gloo, as it dumps them; rank 2 left its fourth all-reduce out."""
RAS = (DATA / "ras.txt").read_text("utf-8")
RAS_JSON = (DATA / "ras.json").read_text("utf-8")
SHARED = {"t": "2", "d": "1"}


def shared_names(dumps):
    """The same job, with one name for all groups of a dimension, as PyTorch's `split_group` may give them."""

    def name(old):
        return old if old == "0" else SHARED[old[0]]

    dumps = copy.deepcopy(dumps)
    for dump in dumps.values():
        for entry in dump["entries"]:
            entry["process_group"][0] = name(entry["process_group"][0])
        dump["pg_config"] = {name(old): group for old, group in dump["pg_config"].items()}
        dump["pg_status"] = {name(old): status for old, status in dump["pg_status"].items()}
    return dumps


def drawn(hang, rank, at):
    try:
        return draw_flight(hang, rank, at)
    except ValueError:  # nothing is left to exchange the call with
        return None


@pytest.mark.parametrize("hang", HANGS)
def test_groups_of_one_name_are_told_apart_by_their_ranks(hang):
    for rank in (0, 10):
        for dumps in filter(None, (drawn(hang, rank, at) for at in (3, 8, 20, 27))):
            expected, read = find_hang(dumps), find_hang(shared_names(dumps))
            assert (expected and (expected.ranks, expected.reason)) == (read and (read.ranks, read.reason))


def test_a_job_of_pytorch_names_who_stayed_away_and_from_which_line():
    answered = answer(GLOO)
    record = answered.record
    assert (answered.hangs, record["reason"], record["culprits"]) == (True, "missing", [2])
    assert (record["call"]["number"], record["entered"]) == (4, [0, 1])
    assert record["call"]["line"].endswith("train.py:11 main")
    json.dumps(record)


def test_json_of_the_same_dumps_is_read_too():
    """As PyTorch's C++ writes it: numbers as texts, the whole job's ranks under an empty name, no frames."""
    config = {"": {"desc": "", "name": "", "ranks": "[0, 1, 2]"}}
    files = {
        f"{name}.json": json.dumps(
            pickle.loads(data)
            | {"pg_config": config, "pg_status": {"0": {"last_enqueued_collective": "3"}}, "nccl_comm_state": {}}
        )
        for name, data in GLOO.items()
    }
    record = answer(files).record
    assert (record["reason"], record["culprits"], record["call"]["members"]) == ("missing", [2], [0, 1, 2])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_are_read_as_python_reads_them(protocol):
    more = [1.5, -(2**62), True, (), {"a": ("b", "c", "d")}, "é" * 300, *([b"x"] if protocol > 2 else [])]
    value = draw_flight("size", 3, 18)[3] | {"more": more}
    data = pickle.dumps(value, protocol)
    assert read_pickle(data) == value
    assert load_dumps(data, "rank_3")[0].calls[-1].number == value["entries"][-1]["collective_seq_id"]


def test_pickles_of_pytorch_are_read_as_python_reads_them():
    for data in GLOO.values():
        assert read_pickle(data) == pickle.loads(data)


def older(dump, version):
    """A dump as former versions write it."""
    dump = copy.deepcopy(dump)
    dump["version"] = version
    minor = int(version.partition(".")[2])
    for entry in dump["entries"]:
        if minor < 2:
            entry["seq_id"] = entry.pop("collective_seq_id")
            entry.pop("p2p_seq_id")
            entry.pop("op_id")
        if minor < 1:
            entry.pop("input_dtypes")
            entry.pop("output_dtypes")
        if minor < 4:
            entry.pop("timeout_ms")
            entry.pop("is_p2p")
    if minor < 3:
        dump.pop("pg_status")
    return dump


@pytest.mark.parametrize("version", ["2.0", "2.1", "2.2", "2.3", "2.4", "2.9", "2.10"])
@pytest.mark.parametrize(("hang", "at"), [("absent", 20), ("order", 13), ("size", 18)])
def test_every_version_of_the_dump_has_the_same_culprit(version, hang, at):
    dumps = draw_flight(hang, 5, at)
    files = {f"trace_rank_{rank}": pickle.dumps(older(dump, version), 2) for rank, dump in dumps.items()}
    assert answer(files).record["culprits"] == [5]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("dumps/nccl_trace_rank_3", 3),
        ("C:\\job2\\nccl_trace_rank_3", 3),
        ("rank-3.attempt-1.json", 3),
        ("fr_3", 3),
        ("fr_3.pickle", 3),
        ("node7/dump", None),
    ],
)
def test_the_rank_is_in_the_files_name(name, rank):
    data = json.dumps({"version": "2.10", "entries": []}).encode()
    if rank is None:
        with pytest.raises(ValueError, match="rank"):
            load_dumps(data, name)
    else:
        assert load_dumps(data, name)[0].rank == rank
    assert load_dumps(data[:-1] + b', "rank": "5"}', name)[0].rank == 5


def test_keys_may_be_numbers():
    dumps = draw_flight("absent", 5, 20)
    names = {name: number for number, name in enumerate(sorted({n for d in dumps.values() for n in d["pg_config"]}))}
    for dump in dumps.values():
        dump["pg_config"] = {names[name]: about for name, about in dump["pg_config"].items()}
        dump["pg_status"] = {names[name]: status for name, status in dump["pg_status"].items()}
        for entry in dump["entries"]:
            entry["process_group"] = (names[entry["process_group"][0]], "undefined")
    assert find_hang(dumps).ranks == (5,)
    assert find_hang({str(rank): dump for rank, dump in dumps.items()}).ranks == (5,)


def test_a_rank_without_a_dump_is_named_and_blamed_only_for_lack_of_another():
    dumps = draw_flight("absent", 5, 20)
    gone = {rank: dump for rank, dump in dumps.items() if rank != 9}
    record = answer({"job.json": json.dumps(gone)}).record
    assert (record["without_dump"], record["culprits"]) == ([9], [5])
    gone = {rank: dump for rank, dump in dumps.items() if rank != 5}
    record = answer({"job.json": json.dumps(gone)}).record
    assert (record["without_dump"], record["culprits"]) == ([5], [5])
    record = answer({"job.json": json.dumps({0: dumps[0]})}).record
    assert (record["reason"], record["culprits"]) == ("unknown", [])


def test_elements_of_another_type_are_told():
    dumps = draw_flight("absent", 5, 20)
    met = next(e for e in dumps[6]["entries"] if e["state"] != "completed")
    met["input_dtypes"] = met["output_dtypes"] = ["Float"]
    record = answer({"job.json": json.dumps(dumps)}).record
    assert (record["reason"], record["culprits"]) == ("dtype", [6])


def test_a_call_that_all_have_entered_is_stuck():
    dumps = draw_flight("none")
    for dump in dumps.values():
        dump["entries"][-1] |= {"state": "started", "retired": False}
    record = answer({"job.json": json.dumps(dumps)}).record
    assert (record["reason"], record["culprits"]) == ("stuck", [])


def test_a_call_left_out_among_equal_ones_is_seen_by_its_line():
    record = answer({"job.json": json.dumps(draw_flight("skip", 5, 1))}).record
    assert (record["reason"], record["culprits"], record["suspects"]) == ("circle", [], [5])


def entry(operation, number, state, sizes, p2p=True, at=0):
    return {
        "process_group": ("0", "default_pg"),
        "profiling_name": f"nccl:{operation}",
        "collective_seq_id": 0,
        "p2p_seq_id": number,
        "is_p2p": p2p,
        "input_sizes": sizes,
        "output_sizes": sizes,
        "state": state,
        "retired": state == "completed",
        "time_created_ns": at,
        "record_id": number,
    }


def pipeline(*programs):
    config = {"0": {"desc": "default_pg", "ranks": str(list(range(len(programs))))}}
    return {rank: {"version": "2.10", "pg_config": config, "entries": list(own)} for rank, own in enumerate(programs)}


def test_a_receive_waits_for_its_send():
    done = entry("send 0->1", 1, "completed", [[4]])
    got = entry("recv 1<-0", 1, "completed", [[4]])
    waits = entry("recv 1<-0", 2, "started", [[4]])
    dumps = pipeline([done], [got, waits])
    read = find_hang(dumps)
    assert (read.reason, read.ranks) == ("missing", (0,))
    dumps[0]["entries"].append(entry("send 0->1", 2, "started", [[8]]))
    assert find_hang(dumps).reason == "size"
    assert find_hang(pipeline([done], [got])) is None


def test_what_the_ring_holds_no_more_was_entered():
    """A rank that is far ahead has lost the call that another is still in: it did not stay away."""
    dumps = draw_flight("absent", 5, 20)
    ahead = copy.deepcopy(dumps)
    for number, call in enumerate(ahead[6]["entries"]):
        call |= {"record_id": 5000 + number, "collective_seq_id": call["collective_seq_id"] + 2000}
        call |= {"state": "completed", "retired": True}
    assert 6 not in answer({"job.json": json.dumps(ahead)}).record["culprits"]


def test_ras_names_who_is_behind_missing_or_dead():
    report = read_ras(RAS)
    by_kind = {(problem.kind, problem.communicator, problem.subject): problem for problem in report.problems}
    assert report.version == "2.27.3+cuda12.9"
    behind = by_kind["MISMATCH", "#0-0 (27a079b828ff1a75)", "AllReduce"]
    assert [(share.value, share.total) for share in behind.shares] == [("6650", 26), ("6649", 6)]
    assert [rank.rank for rank in behind.culprits] == [0, 2, 3, 4, 5, 7]
    assert behind.culprits[0].node == "172.16.64.210"
    lone = by_kind["MISMATCH", "#0-0 (27a079b828ff1a75)", "Broadcast"]
    assert [(rank.rank, rank.gpu) for rank in lone.culprits] == [(9, "1 (NVML 5)")]
    assert [r.rank for r in by_kind["MISMATCH", "#0-1 (9e17999afaa87dbb)", "status"].culprits] == [4, 20]
    assert [r.rank for r in by_kind["INCOMPLETE", "#0-1 (9e17999afaa87dbb)", ""].culprits] == [21]
    assert by_kind["DEAD", "", ""].culprits[0].process == 3487984
    assert [r.rank for r in by_kind["ERROR", "#1-0 (1f)", ""].culprits] == [3]
    record = answer({"ras.txt": RAS}).record
    assert (record["kind"], record["hangs"]) == ("RAS", True)
    assert record["culprits"] == [0, 2, 3, 4, 5, 7, 9, 20, 21]


def test_ras_as_json_counts_by_itself():
    report = read_ras(RAS_JSON)
    assert [(p.kind, p.subject, [r.rank for r in p.culprits]) for p in report.problems] == [
        ("INCOMPLETE", "", [3]),
        ("MISMATCH", "AllReduce", [1]),
    ]
    whole = json.loads(RAS_JSON)
    whole["communicators"] = []
    assert answer({"ras.json": json.dumps(whole)}).hangs is False


def test_a_healthy_ras_report_is_fine():
    healthy = RAS.partition("Errors\n")[0].replace("INCOMPLETE,MISMATCH", "OK")
    assert answer({"": healthy}).hangs is False


class _Harm:
    def __reduce__(self):
        return os.system, ("touch harmed",)


HOSTILE = [
    pickle.dumps(_Harm()),
    pickle.dumps(_Harm(), 4),
    b"\x80\x02cposix\nsystem\n.",
    b"\x80\x04\x8c\x02os\x8c\x06system\x93.",
    b"\x80\x02i__main__\nx\n.",
    b"\x80\x02]r\xff\xff\xff\x7f.",  # a place in the memo that would take gigabytes
    b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.",
    b"\x80\x02\x8b\xff\xff\xff\x7f.",
    b"\x80\x02" + b"]" * 20_000 + b"a" * 19_999 + b".",
    b"\x80\x02" + b"(" * 100_000,
    b"\x80\x02]q\x00h\x00a.",  # a list that holds itself
    b"\x80\x02e.",
    b"\x80\x02.",
    b"\x80\x02}(]K\x01u.",
    b"\x80\x02}X\x07\x00\x00\x00entriesh\x05s.",
    b"\x80\x02" + b"\x8a\xff" + b"\x7f" * 255 + b".",
    b"\x80\x02\x82\x01.",
    b"\x80\x02X\x01\x00\x00\x00aQ.",
    b"",
    b"\x80",
    b"[" * 100_000,
    b'{"entries": ' + b"[" * 100_000,
    b'{"entries": 5}',
    b'{"entries": [5, null, {}]}',
    b"9" * 5000,
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_dumps_end_in_a_sentence(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reads(answer, {"trace_rank_0": data}, memory=True)
    assert not list(tmp_path.iterdir())


def test_a_pickle_that_would_run_code_is_refused_by_name():
    with pytest.raises(PickleError, match="import"):
        read_pickle(pickle.dumps(_Harm(), 2))


def test_a_pickle_of_too_many_opcodes_is_refused(monkeypatch):
    monkeypatch.setattr(pickles, "STEPS", 100)
    assert read_pickle(b"\x80\x02" + b"N0" * 48 + b"N.") is None
    with pytest.raises(PickleError, match="100 opcodes"):
        read_pickle(b"\x80\x02" + b"N0" * 49 + b"N.")


@st.composite
def damaged_bytes(draw):
    """A sound pickle with bytes replaced, cut and added, lengths among them."""
    data = bytearray(draw(st.sampled_from(SOUND)))
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 9))] = draw(
            st.one_of(
                st.binary(max_size=12), st.sampled_from([b"\x8e" + struct.pack("<Q", 2**60), b"((((", b"r\xff\xff"])
            )
        )
    return bytes(data)


SOUND = [*GLOO.values(), pickle.dumps(draw_flight("size", 1, 5, tp=2, dp=2, layers=1, steps=2)[1], 4)]
WATCHDOG = (DATA / "watchdog.txt").read_text("utf-8")
TEXTS = [RAS, RAS_JSON, WATCHDOG, json.dumps(draw_flight("order", 1, 3, tp=2, dp=2, layers=1, steps=2))]


def hostile_dump(data):
    reads(answer, {"trace_rank_0": data})


@settings(max_examples=30, deadline=None)
@given(damaged_bytes())
def test_damaged_pickles_end_in_a_sentence(data):
    hostile_dump(data)


@settings(max_examples=30, deadline=None)
@given(damaged(TEXTS))
def test_damaged_texts_end_in_a_sentence(text):
    hostile_dump(text)


@pytest.mark.nightly
@settings(max_examples=10_000, deadline=None)
@given(st.one_of(damaged_bytes(), damaged(TEXTS)))
def test_many_damaged_dumps_end_in_a_sentence(data):
    hostile_dump(data)


def finished(ranks, calls=2):
    """A dump of calls that have all ended, of a group of so many ranks."""
    entries = [entry("all_reduce", 0, "completed", [[4]], p2p=False) | {"collective_seq_id": i} for i in range(calls)]
    group = {"name": "0", "desc": "default_pg", "ranks": str(list(range(ranks)))}
    return json.dumps({"version": "2.5", "pg_config": {"0": group}, "entries": entries})


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"nccl_trace_rank_0": finished(2), "nccl_trace_rank_1": finished(2)}, "none"),
        ({"nccl_trace_rank_0": finished(2)}, "unknown"),  # rank 1 may wait
        ({"nccl_trace_rank_0": finished(2, 0), "nccl_trace_rank_1": finished(2, 0)}, "unknown"),
        ({"nccl_trace_rank_0": finished(1)}, "none"),
    ],
)
def test_that_nothing_hangs_is_said_of_all_ranks_and_their_calls_alone(files, reason):
    answered = answer(files)
    assert answered.hangs is False
    assert answered.record["reason"] == reason
    assert ("nothing hangs" in answered.text) == (reason == "none")


@pytest.mark.parametrize(("calls", "words"), [(1, "1 call."), (2, "2 calls.")])
def test_a_call_is_counted_in_words(calls, words):
    assert words in answer({"nccl_trace_rank_0": finished(1, calls)}).text

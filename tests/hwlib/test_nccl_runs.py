"""Ranks by the best of four sources, several tables in one text, and the files that the tests write beside it."""

import json

import pytest

from hwlib.calibrated.nccl_answer import answer
from hwlib.calibrated.nccl_log import LogError, read_log, read_logs
from hwlib.collectives import bus_factor

TITLES = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong"


def row(n, collective="all_reduce", S=2**30, time=8190.2, redop="sum"):
    rate = S / time / 1e3
    half = f"{time} {rate:.2f} {bus_factor(collective, n) * rate:.2f} 0"
    return f"{S} {S // 4} float {redop} -1 {half} {half}"


def devices(ranks, per_host=8, group=0):
    return "\n".join(
        f"#  Rank {r:2} Group {group:2} Pid {100 + r} on node{r // per_host} device {r % per_host} [0x1b] NVIDIA H100"
        for r in ranks
    )


INFO = "node0:7:9 [0] NCCL INFO comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0"
OLD_INFO = "node0:7:9 [0] NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 busId 10 - Init COMPLETE"
MPI = "$ mpirun -x A=1 -np 16 -H a:8,b:8 ./all_reduce_perf -b 8 -g 1\n# nThread 1 nGpus 1 minBytes 8"


@pytest.mark.parametrize(
    ("before", "n", "of", "source"),
    [
        (devices(range(8)), 8, 8, "list"),
        (devices(range(16)), 16, 16, "list"),
        (devices([15]), 16, 16, "list"),
        (devices(range(4)), 16, 16, "bandwidths"),
        ("", 16, 16, "bandwidths"),
        ("", 24, 24, "bandwidths"),
        (INFO, 16, 16, "NCCL"),
        (f"{OLD_INFO}\n{devices(range(4))}", 16, 16, "NCCL"),
        (f"{OLD_INFO}\n{devices(range(16))}", 16, 16, "list"),
        (f"{MPI}\n{devices(range(4))}", 96, 16, "command"),
        ("srun --ntasks=12 all_reduce_perf -g 8\n# nThread 1 nGpus 8", 96, 96, "command"),
        ("# nThread 1 nGpus 96", 96, 96, "command"),
        (devices(range(96)), 96, 96, "list"),
        (devices(range(8)) + "\n" + devices(range(8, 16), group=1), 8, 8, "list"),
        (devices(range(8)), 4, 8, "list"),
    ],
)
def test_ranks_are_known_by_the_best_source(before, n, of, source):
    log = read_log(f"{before}\n{row(n)}")
    assert log.n == of
    assert source in log.ranks_by


def test_a_list_that_is_cut_tells_no_hosts_and_nccl_does():
    assert read_log(f"{devices(range(16))}\n{row(16)}").hosts == 2
    assert read_log(f"{devices(range(4))}\n{row(16)}").hosts is None
    assert read_log(f"{devices([15])}\n{row(16)}").hosts is None
    assert read_log(f"{INFO}\n{row(16)}").hosts == 2


def test_gathers_tell_their_ranks_as_well():
    log = read_log(f"# all_gather_perf\n{row(8, 'all_gather', redop='none')}")
    assert (log.collective, log.n) == ("all_gather", 8)


@pytest.mark.parametrize(
    ("before", "alone"),
    [(devices([0, 0]), 2), (devices([0]), 1), ("", 1), (devices(range(2)), 0)],
)
def test_processes_that_ran_alone_put_nothing_on_a_bus(before, alone):
    half = "3537.7 370.50 0.00 0e+00"
    log = read_log(f"{before}\n1310720000 327680000 float sum -1 {half} {half}")
    assert log.alone == alone
    assert (log.n == 1) == bool(alone)


def test_processes_with_several_ranks_each_may_run_apart():
    """Two nodes, each of which runs its own test of two GPUs, because nobody built the tests with MPI."""
    lines = [
        f"#  Rank  {rank} Group  0 Pid {pid} on {host} device  {rank} [0x03] NVIDIA A100-SXM4-80GB"
        for host, pid in (("a", 3591), ("b", 2451))
        for rank in (0, 1)
    ]
    log = read_log("\n".join([*lines, row(2), row(2)]))
    assert (log.n, log.hosts, log.apart, log.alone) == (2, 1, 2, 0)
    assert "no-mpi" in {cause["kind"] for cause in answer("\n".join([*lines, row(2), row(2)])).record["causes"]}
    assert read_log("\n".join([*lines[:2], row(2)])).apart == 1
    for listed, certified in ((lines, False), (lines[:2], True)):
        eight = "\n".join([*listed, row(2, time=2**30 / 230e3)])
        verdict = answer(eight)
        assert (verdict.certified, verdict.record["rows"][0]["verdict"]) == (certified, "ok")


def test_devices_are_listed_without_a_number_sign_as_well():
    """A page that renders Markdown takes it for a heading."""
    log = read_log("\n".join([devices(range(8)).replace("#  ", " "), row(8)]))
    assert (log.n, log.hosts, log.gpu) == (8, 1, "NVIDIA H100")


END = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 120\n#\n# Collective test concluded: {}\n"


def run(test, n, **more):
    collective = {"alltoall": "all_to_all"}.get(test, test)
    table = f"{TITLES}\n{row(n, collective, **more)}"
    start = f"# Collective test starting: {test}_perf\n# nThread 1 nGpus {n} minBytes 8\n# Using devices\n"
    return f"{start}{devices(range(n))}\n#\n{table}\n{END.format(f'{test}_perf')}"


def test_several_runs_of_one_text_are_read_apart():
    text = run("all_reduce", 8) + "some words\n" + run("alltoall", 4, redop="none") + run("all_gather", 8)
    logs = read_logs(text)
    assert [(log.test, log.collective, log.n, len(log.rows)) for log in logs] == [
        ("all_reduce", "all_reduce", 8, 1),
        ("alltoall", "all_to_all", 4, 1),
        ("all_gather", "all_gather", 8, 1),
    ]
    assert [log.average for log in logs] == [120e9] * 3
    with pytest.raises(LogError, match="several"):
        read_log(text)


def test_the_end_of_a_run_belongs_to_it():
    failed = run("all_reduce", 8).replace("0 OK", "1 FAILED")
    logs = read_logs(failed + run("all_reduce", 8))
    assert [[row.check for row in log.rows] for log in logs] == [["failed"], ["passed"]]


def test_a_header_alone_begins_a_run_and_cycles_do_not():
    assert len(read_logs(f"{TITLES}\n{row(8)}\n{TITLES}\n{row(8)}")) == 2
    assert len(read_logs(f"{TITLES}\n{row(8)}\n# Testing 2 cycle.\n{row(8)}")) == 1
    (log,) = read_logs(f"{TITLES}\n{row(8)}\n$ ./all_reduce_perf -b 8\nbash: not found")
    assert len(log.rows) == 1


def test_a_list_of_devices_belongs_to_the_table_behind_it():
    """A page shows only the last rank of each of its runs, and no other line before a header."""
    last = "#  Rank {} Group  0 Pid 7 on gpu-{} device  3 [0x03] NVIDIA GB200"
    runs = [f"{last.format(n - 1, n)}\n#\n{TITLES}\n{row(n)}\n{END.format('all_reduce_perf')}" for n in (8, 72, 144)]
    logs = read_logs("Some words.\n" + "\nMore words.\n".join(runs))
    assert [(log.n, log.gpu) for log in logs] == [(8, "NVIDIA GB200"), (72, "NVIDIA GB200"), (144, "NVIDIA GB200")]


def test_rows_alone_behind_an_end_are_another_processs():
    ended = f"{TITLES}\n{row(8)}\n{END.format('all_reduce_perf')}{row(8)}\n{END.format('all_reduce_perf')}"
    assert [len(log.rows) for log in read_logs(ended)] == [2]


def test_a_table_without_a_name_costs_the_others_nothing():
    nameless = row(8, "all_gather", redop="none")
    end = "# Out of bounds values : 0 OK"
    record = answer(f"{TITLES}\n{row(8)}\n{end}\nwords\n{TITLES}\n{nameless}\n{end}", "dgx-a100").record
    assert [table["collective"] for table in record["tables"]] == ["all_reduce", ""]
    assert [table["judged"] for table in record["tables"]] == [True, False]


@pytest.mark.parametrize(
    ("algbw", "busbw", "n"),
    [
        ("1.24", "1.20", None),
        ("3.20", "3.10", 32),
        ("1.60", "3.00", 16),
        ("9.99", "11.00", None),
        ("131.10", "229.43", 8),
    ],
)
def test_few_digits_tell_whole_nodes_alone(algbw, busbw, n):
    test = "all_gather" if busbw < algbw else "all_reduce"
    time = 2**30 / float(algbw) / 1e3
    half = f"{time:.1f} {algbw} {busbw} 0"
    assert read_log(f"# {test}_perf\n1073741824 268435456 float sum -1 {half} {half}").n == n


def test_the_command_of_slurm_tells_its_ranks():
    log = read_log(f"srun --nodes=4 --ntasks-per-node=8 -- all_reduce_perf -b 8 -g 2\n{row(64)}")
    assert (log.n, log.ranks_by) == (64, "its command")


def test_lines_are_counted_in_the_whole_text():
    text = f"{TITLES}\n{row(8)}\n{TITLES}\n{row(8)[:30]}\n{row(8)}"
    assert [log.unread for log in read_logs(text)] == [(), (4,)]
    with pytest.raises(LogError, match="line 4"):
        read_logs(f"{TITLES}\n{row(8)}\n{TITLES}\n{row(8).replace('131.10', 'nan')}")


HALF = {"time": 8190.2, "alg_bw": 131.10, "bus_bw": 229.43, "nwrong": 0.0}


def written(rows, **more):
    listed = [
        {"rank": r, "group": 0, "pid": 7, "hostname": "node-a", "device": r, "device_info": "NVIDIA A100-SXM4-80GB"}
        for r in range(8)
    ]
    return {
        "version": 1,
        "args": ["./build/all_reduce_perf", "-J", "out.json"],
        "env": ["SECRET=1"],
        "nccl_version": 22902,
        "config": {"nthreads": 1, "ngpus": 1, "devices": listed, "graph": 0, "parallel_init": "false"},
        "results": rows,
        "out_of_bounds": {"count": 0, "okay": "true"},
        **more,
    }


def result(out_of_place=HALF, in_place=HALF):
    lead = {"size": 2**30, "count": 2**28, "type": "float", "redop": "sum", "root": "    -1"}
    return {**lead, "out_of_place": out_of_place, "in_place": in_place, "actual_iterations": 20}


def test_the_json_of_nccl_tests_is_read():
    (log,) = read_logs(json.dumps(written([result()]), indent=1))
    assert (log.test, log.n, log.hosts, log.gpu) == ("all_reduce", 8, 1, "NVIDIA A100-SXM4-80GB")
    assert (log.rows[0].S, log.rows[0].time, log.rows[0].check) == (2**30, pytest.approx(8190.2e-6), "passed")
    assert "SECRET" not in log.text


@pytest.mark.parametrize(
    ("rows", "more", "check"),
    [
        ([result(in_place={**HALF, "nwrong": 3.0})], {}, "failed"),
        ([result(HALF, {**HALF, "nwrong": None})], {}, "passed"),
        ([result({**HALF, "nwrong": None}, {**HALF, "nwrong": None})], {}, "none"),
        ([result(None)], {}, "passed"),
        ([result()], {"out_of_bounds": {"count": 2, "okay": "false"}}, "failed"),
        ([result({**HALF, "cpu_time": 8190.2}, HALF)], {}, "passed"),
    ],
)
def test_results_of_a_json_file_count_as_those_of_a_table(rows, more, check):
    (log,) = read_logs(json.dumps(written(rows, **more)))
    assert [read.check for read in log.rows] == [check]


def test_the_first_device_stands_for_a_process_with_several():
    content = written([result()])
    content["config"] |= {"ngpus": 8, "devices": content["config"]["devices"][:1]}
    assert read_logs(json.dumps(content))[0].n == 8


AMD = {"numCycle": 0, "name": "AllReduce", "nodes": 1, "ranks": 8, "ranksPerNode": 8, "gpusPerRank": 1, "size": 2**30}
AMD |= {"type": "float", "redop": "sum", "time": 8190.2, "algBw": 131.1, "busBw": 229.43}


@pytest.mark.parametrize(("wrong", "check"), [("0", "passed"), ("N/A", "none"), ("5", "failed")])
def test_the_json_of_rccl_tests_is_read(wrong, check):
    (log,) = read_logs(json.dumps([{**AMD, "inPlace": place, "wrong": wrong} for place in (0, 1)]))
    assert (log.test, log.n, len(log.rows)) == ("all_reduce", 8, 2)
    assert {read.check for read in log.rows} == {check}


@pytest.mark.parametrize("mpi", [True, False])
def test_the_csv_of_rccl_tests_is_read(mpi):
    """Its header names a column less than rows have, where it was built with MPI."""
    lead = "ranks,rankspernode,gpusperrank," if mpi else "gpus,"
    cells = '0,"AllReduce",1,8,8,1' if mpi else "0,AllReduce,8"
    titles = f"numCycle,collective,{lead}size,type,redop,inplace,time,algbw,busbw,#wrong"
    rows = "\n".join(f"{cells},1073741824,float,sum,{place},8190.2,131.10,229.43,0" for place in (0, 1))
    (log,) = read_logs(f"{titles}\n{rows}\n")
    assert (log.test, log.n, len(log.rows)) == ("all_reduce", 8, 2)


@pytest.mark.parametrize(
    "text", ["{", '{"a": 1}', "[\n]", '{"results": [1]}', "[\n" + "[" * 100_000, '{"results": []}']
)
def test_files_without_results_are_refused(text):
    with pytest.raises(LogError):
        read_logs(text)

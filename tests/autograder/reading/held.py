"""A small text of each kind that is read, as people paste it."""

import json

RING = """# nThread 1 nGpus 8 minBytes 1073741824 maxBytes 4294967296 step: 2(factor) warmup iters: 5 iters: 20
#  Rank  0 Group  0 Pid   1 on   host device  0 [0x07] NVIDIA A100-SXM4-80GB
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
  1073741824     268435456     float     sum      -1   8190.2  131.10  229.43      0   8187.9  131.14  229.49      0
  4294967296    1073741824     float     sum      -1    32410  132.52  231.91      0    32405  132.54  231.94      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 230.69
"""
MATRIX = """\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV4\tNV4\t0-31\t0
GPU1\tNV4\t X \tNV4\t0-31\t0
GPU2\tNV4\tNV4\t X \t0-31\t0
"""
TRAINING = "\n".join(f"iter {i}: loss {4 - i / 100:.4f}, time {890 + i % 3:.2f}ms, mfu 16.68%" for i in range(40))
CONFIG = json.dumps(
    {
        "model_type": "gpt2",
        "n_layer": 12,
        "n_embd": 768,
        "n_head": 12,
        "n_positions": 1024,
        "vocab_size": 50257,
    }
)
KERNEL = {
    "ph": "X",
    "cat": "kernel",
    "name": "sm90_gemm",
    "ts": 5,
    "dur": 30,
    "pid": 0,
    "tid": 7,
    "args": {"device": 0},
}
TRACE = json.dumps({"schemaVersion": 1, "distributedInfo": {"rank": 0, "pg_config": []}, "traceEvents": [KERNEL]})
CALL = {
    "collective_seq_id": 1,
    "profiling_name": "nccl:all_reduce",
    "state": "scheduled",
    "input_sizes": [[8]],
    "output_sizes": [[8]],
    "input_dtypes": ["Float"],
    "process_group": ["0", "default_pg"],
    "frames": [{"name": "step", "filename": "train.py", "line": 12}],
    "time_created_ns": 1,
    "record_id": 0,
    "pg_id": 0,
}
DUMP = json.dumps(
    {
        "version": "2.4",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
        "pg_status": {"0": {"last_enqueued_collective": 1, "last_started_collective": 0}},
        "entries": [CALL],
        "rank": 0,
    }
)
RAS = "Job summary\n===========\nCommunicators... (0.00s)\n=============\n\nErrors\n======\n\nNo errors\n"
HELD = {
    "bandwidth": RING,
    "topo": MATRIX,
    "explain-run": TRAINING,
    "trace": TRACE,
    "hang": DUMP,
    "config": CONFIG,
}
"""By kind."""
OPTIONS = {"bandwidth": {"on": "dgx-a100"}, "explain-run": {"on": "h100-sxm", "model": "llama3-8b"}}
"""What is typed beside them."""

"""The program of one rank: join the group, run the function, and send back the result.

A result is sent as a head (JSON: how it ended, when, and the log of its calls) and a body (the pickled result).
"""

import ctypes
import faulthandler
import io
import json
import mmap
import os
import pickle
import random
import signal
import socket
import struct
import sys
import time
import traceback
from datetime import timedelta
from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any

HEAD = struct.Struct(">QQ")  # lengths of the head and of the body
PR_SET_PDEATHSIG = 1
PATIENCE = 3600.0  # seconds; a group's own limit, which is not to be met: the caller's is


def play(rank: int, n: int, task: int, channel: int, output: int, folder: str) -> None:
    """Play rank `rank` of n, in a group of torch.distributed; ends when the caller has hung up."""
    _end_with_server()
    link = socket.socket(fileno=channel)
    stacks = open(os.path.join(folder, f"stack{rank}"), "w")  # noqa: SIM115  as long as the process
    faulthandler.register(signal.SIGUSR1, file=stacks, all_threads=True)
    faulthandler.enable(stacks)
    head, body = _outcome(rank, n, task, output, folder)
    text = json.dumps(head).encode()
    try:
        link.sendall(HEAD.pack(len(text), len(body)) + text)
        link.sendall(body)
        link.recv(1)
    except OSError:
        pass
    os._exit(0)


def converse(rank: int, n: int, task: int, channel: int, output: int, folder: str) -> None:  # noqa: ARG001
    """Hand this rank's socket to the function that the caller has shipped: there is no group, the two talk as they
    like. Ends when the function does."""
    _end_with_server()
    _seed(rank)
    _capture(output)
    status = 1
    try:
        function, args, kwargs, _ = _task(task)
        function(socket.socket(fileno=channel), *args, **kwargs)
        status = 0
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(status)


def _end_with_server() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _outcome(rank: int, n: int, task: int, output: int, folder: str) -> tuple[dict[str, Any], memoryview]:
    from hwlib.labs.ranks import calls

    head: dict[str, Any] = {}
    body = memoryview(b"")
    try:
        function, args, kwargs, about = _task(task)
        head["backend"] = join(rank, n, folder, about["backend"])
        calls.LOG.clear()
        _capture(output)
        head["begun"] = time.monotonic()
        result = function(rank, n, *args, **kwargs)
        head["ended"] = time.monotonic()
        sys.stdout.flush()
        body = packed(result, f"what it returns, a {type(result).__name__}, ")
    except BaseException as error:
        head.setdefault("ended", time.monotonic())
        head["failed"] = _described(error)
    head["log"] = calls.LOG
    return head, body


def join(rank: int, n: int, folder: str, backend: str | None) -> str:
    """Make the default group, with NCCL where there is a GPU for each rank, unless told; returns the backend."""
    import torch
    import torch.distributed as dist

    _seed(rank)
    gpus = 0 if backend == "gloo" else torch.cuda.device_count()
    backend = backend or ("nccl" if n <= gpus and dist.is_nccl_available() else "gloo")
    options: dict[str, Any] = {}
    if backend == "gloo":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # so that the same cell computes where the group communicates
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo0" if sys.platform == "darwin" else "lo")
    else:
        torch.cuda.set_device(rank)
        options["device_id"] = torch.device("cuda", rank)
    store = dist.FileStore(os.path.join(folder, "store"), n)
    dist.init_process_group(
        backend, store=store, rank=rank, world_size=n, timeout=timedelta(seconds=PATIENCE), **options
    )
    return backend


def _task(fd: int) -> tuple[Any, tuple, dict[str, Any], dict[str, Any]]:
    """What the caller has shipped: read by every rank from one file, each from its beginning."""
    with os.fdopen(os.dup(fd), "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    about, shipped = pickle.loads(data)
    os.environ.clear()
    os.environ.update(about["environment"])
    sys.path[:] = about["path"]
    os.chdir(about["folder"])
    function, args, kwargs = pickle.loads(shipped)
    return function, args, kwargs, about


def _seed(rank: int) -> None:
    """Forks draw the same numbers: each rank begins at its own seed, the same in every run."""
    import numpy as np
    import torch

    random.seed(rank)
    np.random.seed(rank)
    torch.manual_seed(rank)


def _capture(output: int) -> None:
    """From now on what this process prints, in Python or not, goes to the caller."""
    for fd in (1, 2):
        os.dup2(output, fd)
    os.close(output)
    sys.stdout = sys.stderr = open(1, "w", buffering=1, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def packed(value: Any, what: str = "") -> memoryview:
    """A value as bytes. Tensors go by way of the CPU, each with its own numbers only, and modules of a
    class of their own, as `torch.ops` is, by their names.
    """
    import cloudpickle
    import torch

    class Packer(cloudpickle.Pickler):
        def reducer_override(self, item: Any) -> Any:
            if type(item) is torch.Tensor and item.layout is torch.strided and not item.is_quantized:
                lean = item.detach().cpu().resolve_conj().resolve_neg().contiguous()
                data: Any = lean.flatten().view(torch.uint8).numpy()
                return unpacked, (pickle.PickleBuffer(data), item.dtype, tuple(item.shape), item.requires_grad)
            if isinstance(item, ModuleType) and type(item) is not ModuleType:
                return _attribute, tuple(item.__name__.split("."))
            return super().reducer_override(item)

    buffer = io.BytesIO()
    try:
        Packer(buffer, protocol=5).dump(value)
    except Exception as error:
        raise TypeError(f"{what}cannot be sent to another process: {error}") from None
    return buffer.getbuffer()


def _attribute(package: str, *names: str) -> Any:
    """What lies below a package by these names: a module that is made by another is not always to be imported."""
    return reduce(getattr, names, import_module(package))


def unpacked(data: Any, dtype: Any, shape: tuple[int, ...], requires_grad: bool) -> Any:
    """The tensor whose numbers these bytes are."""
    import torch

    data = data if isinstance(data, bytearray) else bytearray(data)
    flat = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
    return flat.reshape(shape).requires_grad_(requires_grad)


def _described(error: BaseException) -> dict[str, Any]:
    """An exception without its objects; its frames are those below this module."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    try:
        text = "".join(traceback.format_exception_only(error)).strip()
    except Exception:
        text = type(error).__name__
    return {"type": type(error).__name__, "text": text, "frames": [[f.filename, f.lineno, f.name] for f in frames]}

"""The card of this machine: what torch measures on it, and what its driver reports while it works.

`short` asks an `AnyCard` for times and for two readings of the driver; a test has a card of its own.
"""

import math
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from benchmarks.gpu.measurement import timed
from hwlib.labs import bandwidth, measure
from hwlib.units import GiB, MiB

QUERY = (
    *("clocks.sm", "clocks.max.sm", "clocks.mem", "clocks.max.mem"),
    *("power.draw", "power.limit", "power.default_limit"),
    *("ecc.mode.current", "mig.mode.current", "temperature.gpu", "utilization.gpu"),
)
LIMIT = 10.0  # seconds for nvidia-smi, which loads the driver where none is resident
UNDER_WAY = 1.5  # seconds of products that are queued while the driver is asked
CALLS = 100  # kernels one behind the other, of which a launch is the hundredth part


class NoCardError(Exception):
    """There is no GPU that torch can use; the message says why."""


class MissingError(Exception):
    """The card, or this torch, cannot do that: the message says what is missing."""


class Properties(NamedTuple):
    """What torch reports of a card: name, bytes of memory and of the L2, multiprocessors, and torch's own version."""

    name: str
    memory: float
    cache: float
    sms: int
    torch: str


class DriverReading(NamedTuple):
    """What nvidia-smi prints at one moment: MHz, W, degrees Celsius and per cent; NaN or "" where it says nothing."""

    clock: float = math.nan
    most_clock: float = math.nan
    memory_clock: float = math.nan
    most_memory_clock: float = math.nan
    power: float = math.nan
    power_limit: float = math.nan
    default_limit: float = math.nan
    ecc: str = ""
    mig: str = ""
    temperature: float = math.nan
    utilization: float = math.nan


class AnyCard(Protocol):
    """A card that can be measured. Times are in seconds; each method raises MissingError for what it cannot do."""

    properties: Properties

    def idle(self) -> DriverReading | None:
        """The driver's reading before anything runs; None where nothing can be asked."""

    def under_load(self) -> DriverReading | None:
        """The driver's reading while large products run."""

    def copy_time(self, size: int) -> float:
        """Of a copy of `size` bytes, which reads and writes each."""

    def product_time(self, M: int, N: int, K: int, dtype: str) -> float:
        """Of [M, K] x [K, N] in "bf16", "fp16" or "fp8"."""

    def attention_time(self, heads: int, kv_heads: int, D: int, B: int, T: int) -> float:
        """Of causal attention over B prompts of T tokens, in 16 bits."""

    def launch_time(self) -> float:
        """Of a small operation, as the host starts one behind the other."""

    def graph_time(self, side: int) -> float:
        """Of a small product of square matrices, in a graph, without the host."""


class TorchCard:
    """A device of torch: a GPU of CUDA or ROCm, or the CPU, on which a test runs the same code."""

    def __init__(self, device: str = "cuda"):
        import torch

        self.device = torch.device(device)
        if self.device.type == "cuda" and not torch.cuda.is_available():
            built = torch.version.cuda or torch.version.hip
            why = "its driver or the device is missing" if built else "this torch was built without CUDA and ROCm"
            raise NoCardError(f"no GPU that torch {torch.__version__} can use here: {why}")
        self.dtype = "bf16"
        if self.device.type == "cuda":
            card = torch.cuda.get_device_properties(self.device)
            name, cache = card.name, float(getattr(card, "L2_cache_size", 0))
            self.properties = Properties(
                name, float(card.total_memory), cache, card.multi_processor_count, torch.__version__
            )
            self.uuid = str(getattr(card, "uuid", ""))
        else:
            self.properties, self.uuid = Properties("CPU", math.nan, math.nan, 0, torch.__version__), ""

    def idle(self) -> DriverReading | None:
        """As nvidia-smi has it; None without it, as on AMD's cards."""
        return read_driver(self.uuid) if self.device.type == "cuda" else None

    def under_load(self) -> DriverReading | None:
        """Queue products for a second and a half, ask, and wait for them."""
        import torch

        if self.device.type != "cuda" or shutil.which("nvidia-smi") is None:
            return None
        x = torch.randn(8192, 8192, device=self.device, dtype=self._dtype("bf16"))
        out = torch.empty_like(x)
        run = lambda: torch.mm(x, x, out=out)
        for _ in range(max(1, int(UNDER_WAY / measure.time_kernel(run, self.device)))):
            run()
        reading = read_driver(self.uuid)
        torch.cuda.synchronize()
        return reading

    def copy_time(self, size: int) -> float:
        """The median, on a buffer that no cache holds."""
        (point,) = bandwidth.measure_copies([size], self.device)
        return 2 * size / point.bandwidth

    def product_time(self, M: int, N: int, K: int, dtype: str) -> float:
        """cuBLAS, hipBLASLt or what torch has; in fp8 with one scale a tensor, its inputs in fp8 already."""
        if dtype == "fp8":
            return self._small_product_time(M, N, K)
        return 2 * M * N * K / measure.measure_matmul(self.device, self._dtype(dtype), [(M, K, N)])

    def _small_product_time(self, M: int, N: int, K: int) -> float:
        import torch

        kind = torch.float8_e4m3fn
        if torch.version.hip and "gfx94" in torch.cuda.get_device_properties(self.device).gcnArchName:
            kind = torch.float8_e4m3fnuz  # the MI300's own format
        scale = torch.ones((), device=self.device)
        try:
            x, w = (torch.randn(rows, K, device=self.device).to(kind) for rows in (M, N))
            run = lambda: torch._scaled_mm(x, w.t(), scale, scale, out_dtype=torch.bfloat16)
            return measure.time_kernel(run, self.device)
        except (RuntimeError, ValueError, AttributeError, NotImplementedError) as error:
            raise MissingError(_first_line(error)) from None

    def attention_time(self, heads: int, kv_heads: int, D: int, B: int, T: int) -> float:
        """torch's scaled_dot_product_attention, by the kernel that it chooses."""
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        kind: Any = {"device": self.device, "dtype": self._dtype("bf16")}
        q, k, v = (torch.randn(B, n, T, D, **kind) for n in (heads, kv_heads, kv_heads))
        run = lambda: scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != kv_heads)
        try:
            return measure.time_kernel(run, self.device)
        except (RuntimeError, TypeError) as error:
            raise MissingError(_first_line(error)) from None

    def launch_time(self) -> float:
        """A hundred additions to a number each in its own kernel: what is timed is starting them."""
        import torch

        x = torch.zeros(1, device=self.device)

        def run() -> None:
            for _ in range(CALLS):
                x.add_(1.0)

        return measure.time_kernel(run, self.device) / CALLS

    def graph_time(self, side: int) -> float:
        """The median of many in one CUDA graph."""
        import torch

        if self.device.type != "cuda":
            raise MissingError("a CPU has no graphs")
        kind: Any = {"device": self.device, "dtype": self._dtype("bf16")}
        arrays = lambda: [torch.randn(side, side, **kind) for _ in range(3)]
        return timed(arrays, lambda x, w, out: torch.mm(x, w, out=out))[1]

    def _dtype(self, name: str) -> Any:
        import torch

        if name == "bf16" and self.device.type == "cuda" and not torch.cuda.is_bf16_supported(False):
            return torch.float16
        return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[name]


def copied_bytes(card: Properties) -> int:
    """A buffer that no cache holds, and that fits twice: 1 GiB, less on a card of little memory."""
    least = 4 * max(card.cache, 16 * MiB)
    room = card.memory / 16 if card.memory == card.memory else GiB
    return int(max(min(GiB, room), least)) // 4 * 4


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _run(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True).stdout


def read_driver(uuid: str, run: Callable[[Sequence[str]], str] = _run) -> DriverReading | None:
    """The reading of the card of this identity, or of the first; None where nvidia-smi is missing or fails."""
    which = ["-i", uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"] if uuid else []
    try:
        text = run(["nvidia-smi", *which, f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader,nounits"])
    except (OSError, subprocess.SubprocessError):
        return None
    cells = [cell.strip() for cell in (text.strip().splitlines() or [""])[0].split(",")]
    if len(cells) != len(QUERY):
        return None
    texts = dict(zip(DriverReading._fields, cells, strict=True))
    words = {name: texts.pop(name) for name in ("ecc", "mig")}
    return DriverReading(**{name: _number(cell) for name, cell in texts.items()}, **words)  # type: ignore[arg-type]


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return math.nan

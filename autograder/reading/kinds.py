"""The registry of readers: for each kind of text its title, what recognises it, the library's module, and its options.

A new reader is one row here, and a function in `readers`.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hwlib.options import RUN_LOG

from . import readers
from .held_file import HeldFile
from .readers import ReaderAnswer

Read = Callable[[Any, Sequence[HeldFile], Mapping[str, Any]], ReaderAnswer]


class TextMark(NamedTuple):
    """A pattern of a line, or of the beginning of a JSON text, and what it shows. In linear time."""

    pattern: re.Pattern[str]
    shows: str


def _marks(*pairs: tuple[str, str]) -> tuple[TextMark, ...]:
    return tuple(TextMark(re.compile(pattern), shows) for pattern, shows in pairs)


@dataclass(frozen=True)
class ReaderKind:
    """A kind of text: `lines` recognise it in a log, `keys` where the text is JSON, `begins` by its first bytes."""

    name: str
    title: str
    command: str
    module: str
    read: Read
    lines: tuple[TextMark, ...] = ()
    keys: tuple[TextMark, ...] = ()
    begins: tuple[bytes, ...] = ()
    options: tuple[str, ...] = ()
    one_text: bool = True
    """Its reader takes the text of a single file: it may be tried on a text that nothing recognises."""

    def answer(self, files: Sequence[HeldFile], options: Mapping[str, Any]) -> ReaderAnswer:
        """What the reader says, of the options those that it takes. Raises ValueError."""
        mine = {name: value for name, value in options.items() if name in self.options}
        return self.read(importlib.import_module(self.module), files, mine)


CODE = r"(?:X|NV\d{1,3}|SYS|NODE|PHB|PXB|PIX|SOC)"
TYPES = r"(?:float|half|bfloat16|double|u?int(?:8|32|64)|fp8_\w{1,10}|f8\w{1,10})"

TABLE = (
    ReaderKind(
        "trace",
        "a trace of torch.profiler",
        "trace",
        "hwlib.traces.profiles.answers",
        readers.trace,
        keys=_marks(
            (r'"traceEvents"\s{0,99}:', "traceEvents"),
            (r'"schemaVersion"\s{0,99}:|"deviceProperties"\s{0,99}:', "the head of a trace"),
            (r'\A\s{0,99}\[\s{0,99}\{[^{}]{0,999}"ph"\s{0,99}:', "a list of events with a phase"),
        ),
        one_text=False,
    ),
    ReaderKind(
        "hang",
        "a dump of PyTorch's flight recorder, a report of NCCL's RAS, or lines of a watchdog",
        "hang",
        "hwlib.traces.hangs.answers",
        readers.hang,
        lines=_marks(
            (r"Communicators\.\.\.|Communicator ranks have different", "communicators as ncclras lists them"),
            (r"Missing communicator data|via the RAS network|\bNCCL RAS\b", "an error as ncclras reports it"),
            (r"Watchdog caught collective operation timeout", "a call that timed out, as PyTorch's watchdog prints it"),
            (r"failed to pass monitoredBarrier|is running collective: CollectiveF", "calls that differ"),
        ),
        keys=_marks(
            (r'"(?:collective_seq_id|pg_status|pg_config|comm_lib_version)"\s{0,99}:', "calls of a flight recorder"),
            (r'"(?:communicators_count|missing_ranks_count)"\s{0,99}:', "communicators as ncclras writes them"),
        ),
        begins=tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6)),
        one_text=False,
    ),
    ReaderKind(
        "bandwidth",
        "a table of nccl-tests or rccl-tests",
        "bandwidth",
        "hwlib.calibrated.nccl_answer",
        readers.bandwidth,
        lines=_marks(
            (r"\balgbw\b.{0,40}\bbusbw\b", "columns algbw and busbw"),
            (rf"\b\d{{1,20}}\s{{1,40}}\d{{1,20}}\s{{1,40}}{TYPES}\b", "a row of size, count and type"),
            (r"\bAvg bus bandwidth\b|\bnThread \d{1,9} nGpus\b|\b(?:all|reduce)_\w{1,20}_perf\b", "nccl-tests' words"),
        ),
        keys=_marks((r'"(?:out_of_place|bus_?bw|busBw)"\s{0,99}:', "bandwidths of nccl-tests")),
        options=("on", "gpus", "collective", "network"),
    ),
    ReaderKind(
        "topo",
        "a matrix of links by nvidia-smi topo -m, rocm-smi or amd-smi",
        "topo",
        "hwlib.topology.machine_report",
        readers.topo,
        lines=_marks(
            (r"\bGPU0\s{1,40}(?:GPU1|NIC0|mlx5_0|CPU Affinity)\b", "a header with GPU0"),
            (rf"\b(?:GPU|NIC)\d{{1,3}}\s{{1,40}}{CODE}(?:\s|$)", "a device with its relation to another"),
            (r"Link Type between two GPUs|LINK TYPE TABLE", "a table of link types"),
        ),
        keys=_marks((r'"link_type"\s{0,99}:|[Ll]ink type between DRM devices', "the types of links")),
        options=("link",),
    ),
    ReaderKind(
        "explain-run",
        "a log of training, or the output of a serving benchmark",
        "explain-run",
        "hwlib.run_logs.explain",
        readers.explain_run,
        lines=_marks(
            (r"\biteration:?\s{1,20}\d{1,12}\s?/\s{0,20}\d{1,12}", "a step as Megatron-LM and NeMo print it"),
            (r"\bstep:?\s{1,20}\d{1,12}\b.{0,60}\bloss\b", "a step with its loss"),
            (r"\biter \d{1,12}: loss", "a step as nanoGPT prints it"),
            (r"\{'\w{1,40}': .{0,400}'epoch':|\{'(?:loss|train_loss)':", "a step of the Hugging Face Trainer"),
            (r"\bStep \d{1,12} \| loss:", "a step as torchtune prints it"),
            (r"\bSamplesPerSec\b|\bCurrSamplesPerSec\b|\bglobal_step=|\bsteps: \d{1,12} loss:", "a step of DeepSpeed"),
            (r"\bTrain (?:throughput|time|loss|LanguageCrossEntropy|memory)\b.{0,9}[/:]", "a step of Composer"),
            (r"\b(?:throughput|time|loss)/\w{1,40}(?:/\w{1,40})?:", "a step of Composer"),
            (
                r"Serving Benchmark Result|\b(?:Request|Output token|Total [Tt]oken) throughput\b|^Throughput: ",
                "a serving benchmark",
            ),
            (r"\btps: [\d,]{1,20}|\btokens?[_/ ](?:per_)?s(?:ec(?:ond)?)?\b|\bmfu\b", "tokens a second or MFU"),
        ),
        options=tuple(option.name for option in RUN_LOG),
    ),
    ReaderKind(
        "config",
        "the config.json of a checkpoint",
        "plan",
        "autograder.reading.checkpoint",
        readers.config,
        keys=_marks(
            (r'"(?:model_type|architectures)"\s{0,99}:', "the type of a model"),
            (r'"(?:hidden_size|num_hidden_layers|n_embd|text_config|d_model)"\s{0,99}:', "the sizes of a model"),
        ),
    ),
)
"""In the order in which keys of a JSON text decide: a trace's head has a flight recorder's words too."""

KINDS: Mapping[str, ReaderKind] = {row.name: row for row in TABLE}
"""The kinds that can be read, by name."""

"""Each reader as the registry calls it: its module, the files and the options, to one record of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .held_file import HeldFile
from .reading_error import ReadingError

OPTION_OF = {"on": "machine"}  # options that the library's function has under another name


class ReaderAnswer(NamedTuple):
    """Whether nothing is to be looked at, the record that the command prints as JSON, and its text."""

    fine: bool
    record: dict[str, Any]
    text: str


def only_text(files: Sequence[HeldFile]) -> str:
    """The text of the one file that there is. Raises ReadingError for several."""
    if len(files) > 1:
        raise ReadingError(f"one file was expected, got {len(files)}; only traces and dumps come as several")
    return files[0].text()


def bandwidth(module: Any, files: Sequence[HeldFile], options: Mapping[str, Any]) -> ReaderAnswer:
    """A log of nccl-tests or rccl-tests."""
    verdict = module.answer(only_text(files), **{OPTION_OF.get(name, name): value for name, value in options.items()})
    return ReaderAnswer(verdict.certified, verdict.record, verdict.text)


def topo(module: Any, files: Sequence[HeldFile], options: Mapping[str, Any]) -> ReaderAnswer:
    """A matrix of links."""
    report = module.answer(only_text(files), **options)
    return ReaderAnswer(report.fine, report.record, report.text)


def trace(module: Any, files: Sequence[HeldFile], _options: Mapping[str, Any]) -> ReaderAnswer:
    """Traces of a job, a file a rank, each read in pieces."""
    job = module.TraceJob()
    for file in files:
        job.add(file.name, file.texts())
    answer = job.answer()
    return ReaderAnswer(not answer.findings, answer.record, answer.text)


def hang(module: Any, files: Sequence[HeldFile], _options: Mapping[str, Any]) -> ReaderAnswer:
    """Dumps of a job that hangs, a file a rank, or a report of RAS."""
    job = module.HangFiles()
    for file in files:
        job.add(file.name, file.data())
    answer = job.answer()
    return ReaderAnswer(not answer.hangs, answer.record, answer.text)


def explain_run(module: Any, files: Sequence[HeldFile], options: Mapping[str, Any]) -> ReaderAnswer:
    """A log of training, or the output of a serving benchmark."""
    from importlib import import_module

    options_of_run = import_module("hwlib.run_logs.options").run_options(options)
    explained = module.explain_run(only_text(files), **options_of_run)
    text = import_module("hwlib.run_logs.run_text").run_log_text(explained)
    return ReaderAnswer(explained.fine, module.run_log_record(explained), text)


def config(module: Any, files: Sequence[HeldFile], _options: Mapping[str, Any]) -> ReaderAnswer:
    """The config.json of a checkpoint."""
    record, text = module.checkpoint_answer(only_text(files))
    return ReaderAnswer(True, record, text)

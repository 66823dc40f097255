"""What agents ask the readers by `gpubook mcp`: a text that somebody holds, read as the commands read it."""

from .agent_answers import Answer, page


def read(text: str, kind: str = "", options: dict[str, str] | None = None) -> Answer:
    """What a log, a matrix, a trace or a configuration says, and whether something is wrong: the text of an nccl-tests
    or rccl-tests table, of `nvidia-smi topo -m`, `rocm-smi --showtopo` or `amd-smi topology`, of a training log, of a
    serving benchmark, of a torch.profiler trace, of a flight recorder's JSON dump or ncclras, or of a config.json.

    text: the content itself, not a path. kind: bandwidth, topo, explain-run, trace, hang or config; without it the
    contents tell, and `why` says by what. options: what the text does not say, such as {"on": "dgx-h100", "gpus": "8",
    "model": "llama3-8b", "batch": "4M"}; others are collective, network, link, and every option of
    `gpubook explain-run`: tp, pp, zero, lora, prompt, output, concurrency, rate, kv_dtype, ... `fine` is false where
    there is something to look at; `answer` is what the kind's command prints with --json, `text` what it prints
    without; `unused` are options that this kind does not take, `also` are other kinds that the text may be.
    """
    from ..reading import HeldFile
    from ..reading import read as answer_of

    answer = answer_of([HeldFile.of_text(text)], kind, options)
    return {**answer.record, "sources": [page("read.md"), page("fidelity.md"), page("limits.md")]}

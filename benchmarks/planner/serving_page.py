"""The generated parts of docs/serving.md: what its commands print, and published servers beside the planner's words.

`python -m benchmarks.planner.serving_page` makes them anew.
"""

from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import click

from benchmarks.paths import DATA, DOCS
from benchmarks.planner.generated_parts import made_anew
from benchmarks.planner.page import printed
from benchmarks.rows.published import PublishedRow, read_rows
from benchmarks.rows.serving_rows import unfitted_case
from hwlib.calibrated.serving import step_time
from hwlib.options import SERVING, markdown
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.points import together
from hwlib.serving_planner.question import question_of
from hwlib.specs import measured_users
from hwlib.specs.serving_stack import USUAL, serving_stacks

PAGE = DOCS / "serving.md"
PUBLISHED = DATA / "serving.csv"
BEGIN = "<!-- generated: python -m benchmarks.planner.serving_page ({}) -->"
END = "<!-- end of {} -->"
UNFITTED = PUBLISHED.with_name("unfitted.csv")
FILE = "mine.toml"
MINE = """\
name = "two servers of mine"
nodes = 2
chips = 8
node_bandwidth = "400 GB/s"
network = "8 x 400 Gbit/s"
price = 2.0

[chip]
name = "Mine"
memory = "128 GB"
memory_bandwidth = "4 TB/s"
bf16 = "800 TFLOP/s"
"""
QUESTION = "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --ttft 2s --tpot 50ms --price 2.5"
OTHER = "gpubook serve llama3-70b --on mi300x-node --prompt 2048 --output 512 --tpot 50ms --count 2"
OWN = f"gpubook serve llama3-70b --on {FILE} --prompt 2048 --output 512 --tpot 50ms --count 2 --together"
COMMANDS = {
    "question": [QUESTION],
    "experts": [
        "gpubook serve deepseek-v3 --on 8xdgx-h200 --prompt 2048 --output 512 --ttft 2s --tpot 50ms --count 3 --front"
    ],
    "errors": [
        "gpubook serve llama3-405b --on dgx-h100 --prompt 2048 --output 512",
        "gpubook serve deepseek-v3 --on dgx-h100 --prompt 2048 --output 512",
        "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tpot 5ms",
        "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tp 3",
        "gpubook serve llama3-70b --on mi300x-node --prompt 2048 --output 512 --dtype fp4",
    ],
    "other": [OTHER],
    "own": [OWN, f"{OWN} --dtype fp8"],
}
COMPARED = (USUAL, "vllm-0.6", "sglang")
USERS = "users"
APART = "apart"
CHUNK = 8192
WIDE = {
    "ix-dsr1-gb200-dynamo-sglang-fp8-p16-d32-1024-1024-c2048-tpot": ("fp8", Layout(1, 32, 32), "1 x attention-dp 32"),
    "ix-dsr1-gb200-dynamo-trt-fp4-p4-d32-8192-1024-c76-tpot": ("fp4", Layout(8, 8, 1), "4 x tp 8 ep 8"),
}
SHORTER = 0.9  # InferenceX draws lengths evenly between 0.8 and 1.0 of those that it prints


def users_table() -> str:
    """NVIDIA's server of Llama 3.3 70B on two H100 with so many users at once, beside the planner's point."""
    q = question_of("llama3-70b", "dgx-h100", gpus=2, prompt=5000, output=500, dtype="fp8")
    server = server_of(q, Layout(2, 1, 1))
    held = int(room(q, server))
    lines = [
        "| users | ms a token, measured | predicted | tokens/s, measured | predicted | first token, measured | "
        "predicted |",
        "|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in measured_users("llama3-70b"):
        if row.users > held:
            break
        one = together(q, server, row.users, CHUNK)
        assert one
        rate = one.requests * row.output
        lines.append(
            f"| {row.users} | {row.tbt * 1e3:.1f} | {one.tpot * 1e3:.1f} | {row.rate:,.0f} | {rate:,.0f} | "
            f"{row.ttft * 1e3:,.0f} ms | {one.ttft * 1e3:,.0f} ms |"
        )
    return "\n".join(lines)


def apart_table() -> str:
    """Two published decoders of DeepSeek-R1 on GB200 whose prompts are read elsewhere, beside the planner's steps."""
    rows = {row.cells["id"]: row for row in read_rows(PUBLISHED)[0]}
    lines = ["| decode | requests at once | ms a token, measured | predicted |", "|:--|--:|--:|--:|"]
    for key, (dtype, layout, said) in WIDE.items():
        config, measured = rows[key].config, rows[key].value
        lengths = {name: round(SHORTER * config[name]) for name in ("input", "output")}
        q = question_of(
            "deepseek-v3",
            "gb200-nvl72",
            prompt=lengths["input"],
            output=lengths["output"],
            dtype=dtype,
            kv_dtype="fp8" if dtype == "fp4" else "bf16",
        )
        each = config["concurrency"] * layout.gpus // (32 * layout.attention_dp)
        step = step_time(q.stack, server_of(q, layout).step(each, q.workload.context))
        lines.append(f"| {said}, {dtype} | {config['concurrency']:,} | {measured:.1f} | {step * 1e3:.1f} |")
    return "\n".join(lines)


def unfitted_table() -> str:
    """Published servers on chips that nothing was fitted to, beside the typical constants of several stacks: by model,
    the mean error of the rows and its sign.
    """
    cases: dict[tuple[str, str, str], list[PublishedRow]] = {}
    for row in read_rows(UNFITTED)[0]:
        said = row.config["dtype"]
        cases.setdefault((row.system, row.config["software"], f"{row.config['model']}, {said}"), []).append(row)
    heads = [f"by {key}" for key in COMPARED]
    lines = [f"| chip | software | model | rows | {' | '.join(heads)} |", f"|:--|:--|:--|--:|{'--:|' * len(heads)}"]
    for (system, software, model), rows in cases.items():
        found = []
        for stack in (serving_stacks[key] for key in COMPARED):
            served = [unfitted_case(row, stack) for row in rows]
            errors = [case.time(stack.typical(case.server.chip)) / case.seconds - 1 for case in served]
            found.append(f"{fmean(map(abs, errors)):.0%} ({fmean(errors):+.0%})")
        lines.append(f"| {system} | {software} | {model} | {len(rows)} | {' | '.join(found)} |")
    return "\n".join(lines)


def mine() -> str:
    """The file of the cluster of one's own."""
    return f"```toml\n{MINE}```"


TABLES = {
    USERS: users_table,
    APART: apart_table,
    "unfitted": unfitted_table,
    "mine": mine,
    "options": lambda: markdown(SERVING),
}


def block(name: str) -> str:
    """One generated part, with the marks around it. Commands that end in an error are shown with it."""
    if name in TABLES:
        return f"{BEGIN.format(name)}\n\n{TABLES[name]()}\n\n{END.format(name)}"
    with TemporaryDirectory() as folder:
        (file := Path(folder) / FILE).write_text(MINE, "utf-8")
        said = [printed(command.replace(FILE, str(file))) for command in COMMANDS[name]]
    shown = (
        said if len(said) == 1 else [f"$ {command}\n{out}" for command, out in zip(COMMANDS[name], said, strict=True)]
    )
    body = "\n\n".join(shown)
    return f"{BEGIN.format(name)}\n\n```text\n{body}\n```\n\n{END.format(name)}"


def page(text: str) -> str:
    """The page with its generated parts made anew."""
    return made_anew(text, (*COMMANDS, *TABLES), block, BEGIN, END)


@click.command(help=__doc__)
def main() -> None:
    """Write the page."""
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

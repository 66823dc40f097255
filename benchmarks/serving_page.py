"""The generated parts of docs/serving.md: what its commands print, and published servers beside the planner's words.

`python -m benchmarks.serving_page` makes them anew.
"""

from pathlib import Path

from benchmarks.planner_page import printed
from benchmarks.published import read_rows
from hwlib.calibrated.serving import step_time
from hwlib.serving_planner.layouts import Layout, room, server_of
from hwlib.serving_planner.points import together
from hwlib.serving_planner.question import question_of
from hwlib.specs import measured_users

PAGE = Path(__file__).resolve().parent.parent / "docs" / "serving.md"
PUBLISHED = Path(__file__).resolve().parent / "data" / "serving.csv"
BEGIN = "<!-- generated: python -m benchmarks.serving_page ({}) -->"
END = "<!-- end of {} -->"
QUESTION = "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --ttft 2s --tpot 50ms --price 2.5"
COMMANDS = {
    "question": [QUESTION],
    "experts": ["gpubook serve deepseek-v3 --on 8xdgx-h200 --prompt 2048 --output 512 --ttft 2s --tpot 50ms --count 3 "
                "--front"],
    "errors": [
        "gpubook serve llama3-405b --on dgx-h100 --prompt 2048 --output 512",
        "gpubook serve deepseek-v3 --on dgx-h100 --prompt 2048 --output 512",
        "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tpot 5ms",
        "gpubook serve llama3-70b --on dgx-h100 --prompt 2048 --output 512 --tp 3",
        "gpubook serve llama3-70b --on mi300x-node --prompt 2048 --output 512",
    ],
}  # fmt: skip
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
    lines = ["| users | ms a token, measured | predicted | tokens/s, measured | predicted | first token, measured | "
             "predicted |", "|--:|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for row in measured_users("llama3-70b"):
        if row.users > held:
            break
        one = together(q, server, row.users, CHUNK)
        assert one
        rate = one.requests * row.output
        lines.append(f"| {row.users} | {row.tbt * 1e3:.1f} | {one.tpot * 1e3:.1f} | {row.rate:,.0f} | {rate:,.0f} | "
                     f"{row.ttft * 1e3:,.0f} ms | {one.ttft * 1e3:,.0f} ms |")  # fmt: skip
    return "\n".join(lines)


def apart_table() -> str:
    """Two published decoders of DeepSeek-R1 on GB200 whose prompts are read elsewhere, beside the planner's steps."""
    rows = {row.cells["id"]: row for row in read_rows(PUBLISHED)[0]}
    lines = ["| decode | requests at once | ms a token, measured | predicted |", "|:--|--:|--:|--:|"]
    for key, (dtype, layout, said) in WIDE.items():
        config, measured = rows[key].config, rows[key].value
        lengths = {name: round(SHORTER * config[name]) for name in ("input", "output")}
        q = question_of("deepseek-v3", "gb200-nvl72", prompt=lengths["input"], output=lengths["output"], dtype=dtype,
                        kv_dtype="fp8" if dtype == "fp4" else "bf16")  # fmt: skip
        each = config["concurrency"] * layout.gpus // (32 * layout.attention_dp)
        step = step_time(q.stack, server_of(q, layout).step(each, q.workload.context))
        lines.append(f"| {said}, {dtype} | {config['concurrency']:,} | {measured:.1f} | {step * 1e3:.1f} |")
    return "\n".join(lines)


TABLES = {USERS: users_table, APART: apart_table}


def block(name: str) -> str:
    """One generated part, with the marks around it. Commands that end in an error are shown with it."""
    if name in TABLES:
        return f"{BEGIN.format(name)}\n\n{TABLES[name]()}\n\n{END.format(name)}"
    shown = [f"$ {command}\n{printed(command)}" if len(COMMANDS[name]) > 1 else printed(command)
             for command in COMMANDS[name]]  # fmt: skip
    body = "\n\n".join(shown)
    return f"{BEGIN.format(name)}\n\n```text\n{body}\n```\n\n{END.format(name)}"


def page(text: str) -> str:
    """The page with its generated parts made anew."""
    for name in (*COMMANDS, *TABLES):
        head, _, rest = text.partition(BEGIN.format(name))
        text = head + block(name) + rest.partition(END.format(name))[2]
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")

"""The generated parts of docs/fidelity.md and docs/limits.md: the errors of each table and of each fit."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.fit.memory import margins
from benchmarks.rows.published import ROWS
from benchmarks.score.kept_scores import HeldOut, kept_held_out, kept_repeats, kept_scores
from benchmarks.score.scores import UNSEEN, ReadRows, Report, Score
from hwlib.specs import accelerators, frameworks
from hwlib.specs.fitted import Fitted, all_fitted

BEGIN, END = "<!-- generated: python -m benchmarks.fidelity --markdown -->", "<!-- end of the generated part -->"
LIMITS = "<!-- generated: python -m benchmarks.fidelity --limits -->"

# The name that a reader sees of each table of training, by the beginning of its set.
TABLES = (
    ("kor-abs", "Korthikanti 2022, abstract: 530B on 2240 A100"),
    ("kor-f1-activations", "Korthikanti 2022, Figure 1: activations"),
    ("kor-f1-states", "Korthikanti 2022, Figure 1: weights, gradients and optimizer"),
    ("kor-f7", "Korthikanti 2022, Figure 7: activations as a share"),
    ("kor-t5", "Korthikanti 2022, Table 5: Megatron-LM on A100"),
    ("meg20", "Megatron-LM of 2020, A100 40 GB"),
    ("meg21", "Narayanan 2021, Table 1: Megatron-LM on A100"),
    ("meg24", "Megatron-Core of 2024, H100, bfloat16"),
    ("nemo2407", "NeMo 24.07, H100, FP8"),
    ("nemo-long", "NeMo 24.07, H100, FP8, 4k to 1M tokens a sequence"),
    ("bloom", "BLOOM's trials, Megatron-DeepSpeed on A100"),
    ("mosaic, all", "llm-foundry, all"),
    ("mosaic-a100", "llm-foundry (FSDP), A100"),
    ("mosaic-h100", "llm-foundry (FSDP), H100"),
    ("vtrain-multi", "vTrain, 64 A100 and more"),
    ("vtrain-single", "vTrain, 1 to 8 A100"),
    ("vtrain, all", "vTrain, all"),
    ("mbridge, Blackwell, Llama 3", "Megatron-Bridge, Blackwell, Llama 3, all"),
    ("mbridge, Blackwell, others", "Megatron-Bridge, Blackwell, experts, all"),
)


def title(name: str) -> str:
    """The name that a reader sees of a table of training."""
    if name.endswith(UNSEEN):
        return title(name.removesuffix(UNSEEN))
    if found := next((text for key, text in TABLES if name == key), ""):
        return found
    if name.startswith("mbridge-"):
        _, chip, kind = name.split("-")
        return f"Megatron-Bridge, {chip.upper()}, {'Llama 3' if kind == 'llama3' else 'experts'}"
    return name


def page(result: Report) -> list[str]:
    """The tables of docs/fidelity.md in Markdown, with the marks that the page has around them."""
    kernels, runs = result.scores + result.trees, result.training + result.together
    return [
        BEGIN,
        "",
        *read_rows(result.read),
        "",
        "## Rows that constants were fitted to",
        "",
        *table(KERNELS, _of(kernels, unseen=False)),
        "",
        *table(RUNS, _of(runs, unseen=False), training=True),
        "",
        *stack_fits(kept_held_out()),
        "",
        *memory_margins(ROWS),
        "",
        *fits(all_fitted()),
        "",
        "## Rows that no constant was fitted to",
        "",
        *table(KERNELS, _of(kernels, unseen=True)),
        "",
        *table(RUNS, _of(runs, unseen=True), training=True),
        "",
        "## Rows with typical constants, or bounds",
        "",
        *typical_table(result.typical),
        "",
        END,
    ]


def read_rows(counted: Mapping[str, ReadRows]) -> list[str]:
    """How many rows of each kind have a prediction, and of all."""
    lines = ["| rows of kind | rows | read | share |", "|:--|--:|--:|--:|"]
    every = {**dict(sorted(counted.items())), "all": sum(counted.values(), ReadRows(0, 0))}
    return lines + [f"| {kind} | {n.rows:,} | {n.read:,} | {share(n.share)} |" for kind, n in every.items()]


def _of(scores: Iterable[Score], unseen: bool) -> list[Score]:
    return [s for s in scores if (UNSEEN in s.set) is unseen]


KERNELS = "| set | rows | read | mean | median | max | constants | simple model |"
RUNS = "| training and its memory | rows | read | mean | median | max | constants | simple model | Calculon |"


def limits() -> list[str]:
    """The tables of docs/limits.md: the worst prediction and the repeatability of each table of training."""
    head = "| table | rows | read | mean error | worst row | predicted / measured | too large |"
    rows = [head, "|:--|--:|--:|--:|:--|--:|--:|"]
    for s in kept_scores():
        if not s.set.endswith((", all", ", Llama 3", ", others")):
            found = f"{s.mean_abs_error:.1%} | {s.worst} | {1 + s.worst_error:.0%} | {s.too_large or ''}"
            rows.append(f"| {title(s.set)} | {s.rows} | {share(s.read)} | {found} |")
    again = ["| table | repeated plans | spread (slowest / fastest − 1), median | largest |", "|:--|--:|--:|--:|"]
    again += [f"| {title(r.set)} | {r.plans} | {r.median_spread:.1%} | {r.max_spread:.1%} |" for r in kept_repeats()]
    return [LIMITS, "", *rows, "", *again, "", END]


def typical_table(scores: Sequence[Score]) -> list[str]:
    """Rows of a software or a chip that nothing was fitted to, by kind and by the constants that stand for theirs: they
    are among no other error of the page.
    """
    groups: dict[tuple[str, str], list[Score]] = {}
    for s in scores:
        groups.setdefault((s.kind, s.set.partition(": ")[2]), []).append(s)
    lines = ["| rows of kind | constants of | sets | rows | mean | max |", "|:--|:--|--:|--:|--:|--:|"]
    for (kind, constants), some in sorted(groups.items()):
        rows = sum(s.rows for s in some)
        mean = sum(s.rows * s.mean_abs_error for s in some) / rows
        most = max(s.max_abs_error for s in some)
        lines.append(f"| {kind} | {constants} | {len(some)} | {rows} | {mean:.1%} | {most:.1%} |")
    return lines


def share(read: float) -> str:
    """The share of a set's rows that are read; nothing where it was not counted."""
    if math.isnan(read):
        return ""
    return f"{read:.1%}" if read < 1 else "100%"


def table(head: str, scores: Iterable[Score], training: bool = False) -> list[str]:
    """Scores, one per line."""
    lines = [head, "|:--" + "|--:" * (head.count("|") - 2) + "|"]
    for s in scores:
        errors = (s.mean_abs_error, s.median_abs_error, s.max_abs_error)
        head_cells = [s.set.replace(UNSEEN, ""), s.rows, share(s.read)]
        cells = [*head_cells, *(f"{e:.1%}" for e in errors), s.constants, f"{s.plain_mean:.1%}"]
        if training:
            cells[0] = title(s.set)
            cells.append("" if math.isnan(s.peer_mean) else f"{'~ ' * s.peer_all}{s.peer_mean:.1%}")
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines


def stack_fits(found: Sequence[HeldOut]) -> list[str]:
    """The stacks: rows, fitted constants, errors."""
    lines = ["| stack | rows | fitted constants | mean | held out |", "|:--|--:|--:|--:|--:|"]
    for x in found:
        held = "" if math.isnan(x.held_out) else f"{x.held_out:.1%}"
        lines.append(f"| {x.stack} | {x.rows} | {x.constants} | {x.error:.1%} | {held} |")
    return lines


def memory_margins(path: Path) -> list[str]:
    """The margins of memory: of how many peaks nine of ten are at most so far above the predicted bytes."""
    lines = ["| memory of | peaks | nine of ten are above the predicted bytes by at most |", "|:--|--:|--:|"]
    return lines + [f"| {frameworks[key].name} | {count} | {share:.1%} |" for key, count, share in margins(path)]


def fits(entries: Iterable[Fitted]) -> list[str]:
    """The fits of kernels and collectives: rows, fitted constants, errors, also on held-out rows."""
    lines = [
        "| chip | what | software | rows | constants | mean | held out |",
        "|:--|:--|:--|--:|--:|--:|--:|",
    ]
    for e in entries:
        chip = accelerators[e.chip].name if e.chip in accelerators else e.chip
        what: str = getattr(e, "dtype", "") or getattr(e, "op", "")
        held = "" if math.isnan(e.held_out) else f"{e.held_out:.1%}"
        software = ", ".join(filter(None, (e.software, getattr(e, "kernel", ""))))
        cells = [chip, what.replace("_", " "), software, e.count, len(e.constants), f"{e.error:.1%}", held]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines

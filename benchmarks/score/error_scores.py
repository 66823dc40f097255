"""Do as many measurements lie within the planners' intervals as these say? `python -m benchmarks.score.error_scores`.

Each row that no constant was fitted to is asked of `hwlib.expected_error` with the rows of the table that the constants
were fitted to and, of the others, those of other documents: neither the row nor any unfitted one of its source is among
them. `SHARE` of them should lie within the interval. Kinds that have no row of their software at all are scored beside:
steps of one software by the constants that are usual on the chip, with all of its documents left out, and chips and
software that constants are typical of.

Prints the table of docs/fidelity.md; `--write` puts it there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import click

from benchmarks.paths import DOCS
from benchmarks.rows.published import ROWS, steps
from benchmarks.rows.training_step import TrainingStep, parted
from benchmarks.score.error_rows import chosen, errors, record
from benchmarks.score.predictions import Prediction, predict_step
from hwlib.expected_error import HALF, SHARE, TYPED, ExpectedError, Situation, expected_error
from hwlib.planner.situation import kin_of, situation
from hwlib.serving_planner import situation as serving
from hwlib.specs import accelerators, stack_for, stacks
from hwlib.specs.prediction_errors import TRAINING, Basis, PredictionError
from hwlib.specs.serving_stack import serving_stacks

BEGIN, END = "<!-- generated: python -m benchmarks.score.error_scores -->", "<!-- end of the intervals -->"
PAGE = DOCS / "fidelity.md"
EVERY = 8  # of a document with more rows than MANY, so many-th are scored: they are of one sweep
MANY = 500
MIXED = "layers with states or sparse attention"
UNMEASURED, TYPICAL_CHIP = "software without a row", "chips and software without a fit"


class ScoredError(NamedTuple):
    """A measured row, the document that it is from, its kind, and the error that was expected of it."""

    kind: str
    document: str
    row: PredictionError
    expected: ExpectedError

    @property
    def within(self) -> bool:
        """Whether it lies in its interval."""
        return abs(self.row.error) <= HALF * self.expected.size


class IntervalScore(NamedTuple):
    """A kind's rows and documents, their mean |ln(measured / predicted)| and what was expected, the share of them in
    their intervals, and the mean half width of these, as a share of what is predicted.
    """

    kind: str
    rows: int
    documents: int
    error: float
    expected: float
    within: float
    width: float


def situation_of(row: PredictionError) -> Situation:
    """What a row of the table would be asked as."""
    if row.work == TRAINING:
        kin = kin_of(stacks[row.stack]) if row.stack in stacks else ()
    else:
        kin = serving.kin_of(serving_stacks[row.stack]) if row.stack in serving_stacks else ()
    return Situation(row.work, row.stack, row.chip, row.words, row.amounts, kin)


def evidence(pairs: Sequence[tuple[str, PredictionError]], document: str, work: str) -> list[PredictionError]:
    """The rows that may speak of an unfitted row of a document."""
    documents = {row.key: name for name, row in pairs}
    table = chosen(row for _, row in pairs if row.work == work)
    return [row for row in table if row.basis == Basis.FITTED or documents[row.key] != document]


def unseen_errors(pairs: Sequence[tuple[str, PredictionError]]) -> Iterator[ScoredError]:
    """Every unfitted row, with the error that the others let expect."""
    known: dict[tuple[str, str], list[PredictionError]] = {}
    for document, row in thinned(pairs):
        if row.basis == Basis.FITTED:
            continue
        if (document, row.work) not in known:
            known[document, row.work] = evidence(pairs, document, row.work)
        yield ScoredError(kind_of(row), document, row, expected_error(situation_of(row), known[document, row.work]))


def thinned(pairs: Sequence[tuple[str, PredictionError]]) -> Iterator[tuple[str, PredictionError]]:
    """All rows, but of documents with very many some."""
    counts: dict[str, int] = {}
    for document, _ in pairs:
        counts[document] = counts.get(document, 0) + 1
    places: dict[str, int] = {}
    for document, row in pairs:
        place = places[document] = places.get(document, -1) + 1
        if counts[document] <= MANY or place % EVERY == 0:
            yield document, row


def kind_of(row: PredictionError) -> str:
    """What a row is scored with."""
    if row.basis == Basis.TYPICAL:
        return f"{row.work}, {TYPICAL_CHIP}"
    layers = "experts" if "experts" in row.words else "dense"
    layers = MIXED if row.words & TYPED else layers
    place = ", one GPU" if row.work == TRAINING and "one-gpu" in row.words else ""
    return f"{row.work}, {layers}{place}"


def unmeasured_errors(path: Path) -> Iterator[ScoredError]:
    """The steps of a software by the constants usual on the chip, of which no row is of it. Raises DataError."""
    pairs = [(row, case) for row, case in steps(path, every=True) if not case.typical and not case.plan.get("frozen")]
    counts: dict[str, int] = {}
    for row, case in pairs:
        place = counts[row.source] = counts.get(row.source, -1) + 1
        usual = _usual(case) if place % EVERY == 0 or not case.stack.startswith("vtrain") else None
        predicted = usual and predict_step(usual)
        if usual and isinstance(predicted, Prediction):
            there = situation(usual.task(), parted(case.plan)[0])
            ratio = predicted.measured / predicted.time
            error = record(row.cells["id"], there, Basis.TYPICAL, ratio, row.source)
            yield ScoredError(f"training, {UNMEASURED}", row.source, error, expected_error(situation_of(error), ()))


def _usual(case: TrainingStep) -> TrainingStep | None:
    """The step by the constants that are usual on its chip; None where these are its own software's."""
    stack = stack_for(accelerators[case.chip], moe=case.model.moe, dtype=case.plan["dtype"])
    if stack.features == case.task().stack.features:
        return None
    return replace(case, stack=stack.key, software=replace(case.software, stack=stack), typical=stack)


def scores(results: Sequence[ScoredError]) -> list[IntervalScore]:
    """The scores by kind."""
    kinds: dict[str, list[ScoredError]] = {}
    for result in results:
        kinds.setdefault(result.kind, []).append(result)
    return [_score(kind, rows) for kind, rows in sorted(kinds.items())]


def _score(kind: str, rows: Sequence[ScoredError]) -> IntervalScore:
    return IntervalScore(
        kind,
        len(rows),
        len({row.document for row in rows}),
        fmean(abs(row.row.error) for row in rows),
        fmean(row.expected.size for row in rows),
        fmean(row.within for row in rows),
        fmean(row.expected.most for row in rows),
    )


def scored(path: Path) -> list[IntervalScore]:
    """The scores of a folder's rows. Raises DataError."""
    pairs = errors(path)
    return scores([*unseen_errors(pairs), *unmeasured_errors(path)])


def table(results: Sequence[IntervalScore]) -> str:
    """The scores as Markdown, with the marks that the page has around them."""
    lines = [
        f"| unfitted rows of | rows | documents | mean error | expected | within ({SHARE:.0%}) | ± |",
        "|:--|--:|--:|--:|--:|--:|--:|",
    ]
    for x in results:
        shares = (f"{value:.1%}" for value in (x.error, x.expected, x.within, x.width))
        lines.append(f"| {x.kind} | {x.rows} | {x.documents} | {' | '.join(shares)} |")
    return "\n".join([BEGIN, "", *lines, "", END])


def written(page: str, block: str) -> str:
    """The page with its block anew."""
    head, rest = page.split(BEGIN, 1)
    return head + block + rest.split(END, 1)[1]


@click.command(help=__doc__)
@click.option("--write", is_flag=True, help="put the table into docs/fidelity.md")
def main(write: bool) -> None:
    """Print the table, or write it."""
    block = table(scored(ROWS))
    if write:
        PAGE.write_text(written(PAGE.read_text("utf-8"), block), "utf-8")
    else:
        click.echo(block)


if __name__ == "__main__":
    main()

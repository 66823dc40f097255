"""Judge again without a second run: where only keys have changed, the answers that an earlier run saved are enough.

`to_save` says what a run keeps of an answer, `reuse` what of an earlier run still counts, and `judge_again` gives the
new verdicts. Only a value is saved. A function, a generator or a rank is called again for each case that judges it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..declaration.answer import JudgedBy
from ..declaration.bank import Bank
from ..declaration.exercise import Exercise
from ..declaration.verdict import Verdict
from ..values.digest import digest
from .fingerprints import Fingerprint
from .found_cells import variable_of
from .judge import Judge, JudgeFailed, JudgeRequest
from .restore import grade_cell
from .results import FAILED, GradedNotebook, Result, result_of, settled, verdict_outputs, with_cell, written_result

MAX_TEXT = 20_000  # characters of an answer's JSON; a longer one is collected again
MAX_DEPTH = 200  # and one that is nested deeper: `encoding.encode` stays below, and a journal cannot write a thousand
TEXTS = {"prompt", "title", "hints", "lines", "points", "template"}  # what of a question no answer depends on


def to_save(exercise: Exercise, variants: bool, message: Any) -> dict[str, Any] | None:
    """What to save of an answer, `message` being as `encoding.encode` wrote it; None if it must be collected again."""
    if exercise.answer.judged_by is not JudgedBy.VALUE or _deep(message) or len(json.dumps(message)) > MAX_TEXT:
        return None
    return {"message": message, "fingerprint": _fingerprint(exercise, variants)}


def still_valid(answer: Mapping[str, Any] | None, exercise: Exercise, variants: bool) -> bool:
    """Whether a run would give the same answer again: the question still hands out and asks for the same."""
    if answer is None or exercise.answer.judged_by is not JudgedBy.VALUE:
        return False
    return answer.get("fingerprint") == _fingerprint(exercise, variants)


def _fingerprint(exercise: Exercise, variants: bool) -> str:
    """Of all that a learner's code can see of an exercise, and of what it is to give."""
    seen = {key: value for key, value in exercise.public(variants).items() if key not in TEXTS}
    return digest(json.dumps(seen, sort_keys=True, default=str))


def _deep(message: Any) -> bool:
    """Whether JSON data is nested too deep to be kept; a learner's process may send what no encoder wrote."""
    level = [message]
    for _ in range(MAX_DEPTH):
        inner = [value for value in level if isinstance(value, (dict, list))]
        if not inner:
            return False
        level = [part for value in inner for part in (value.values() if isinstance(value, dict) else value)]
    return True


class Earlier(Protocol):
    """What an earlier run has left of one submission: what its verdicts depend on, the verdicts, what was at fault with
    the exercises themselves, and by exercise what `to_save` made."""

    @property
    def fingerprint(self) -> Fingerprint: ...

    @property
    def results(self) -> Sequence[Result]: ...

    @property
    def problems(self) -> Sequence[str]: ...

    @property
    def answers(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Reuse:
    """What still counts of an earlier run: the results that stay, whether that is `all`, and whether the saved answers
    are enough for the others (`saved`): then no cell runs."""

    kept: tuple[Result, ...]
    all: bool
    saved: bool


def reuse(earlier: Earlier, now: Fingerprint, exercises: Collection[str], bank: Bank, variants: bool) -> Reuse | None:
    """What still counts of an earlier run over a submission whose fingerprint is `now` and which has these
    `exercises`; None where the submission or the release is another, or an exercise failed."""
    unchanged = earlier.fingerprint.unchanged_keys(now)
    if unchanged is None or earlier.problems:
        return None
    reused = tuple(result for result in earlier.results if result.exercise in unchanged)
    changed = set(exercises) - {result.exercise for result in reused}
    return Reuse(reused, not changed, _can_judge(changed, earlier.answers, bank, variants))


def _can_judge(names: set[str], answers: Mapping[str, Any], bank: Bank, variants: bool) -> bool:
    """Whether the answers to these exercises are at hand, as a run would give them again."""
    known = {name for name in names if name in bank}
    by_hand = {name for name in known if bank[name].answer.judged_by is JudgedBy.TEACHER}
    return names == known and all(still_valid(answers.get(name), bank[name], variants) for name in known - by_hand)


def judge_again(
    executed: Any,
    owner: str,
    variants: bool,
    judge: Judge,
    reused: Sequence[Result],
    answers: Mapping[str, Any],
    notes: Mapping[str, str],
) -> GradedNotebook:
    """An executed notebook with the verdicts of `reused`, and new ones on the `answers` to all its other exercises.

    `notes` are what the run said of the cells of each.
    """
    done = GradedNotebook(executed, answers=dict(answers))
    stands = {result.exercise: result for result in reused}
    with judge.session() as session:
        for cell in executed.cells:
            role = grade_cell(cell)
            if role is None or role.part not in ("grade", "written"):
                continue
            if role.part == "written":
                done.results.append(written_result(cell, role, done.cells))
                continue
            result = stands.get(role.exercise)
            if result is None:
                question = JudgeRequest(role.exercise, owner if variants else None, answers[role.exercise]["message"])
                try:
                    verdict = session.ask(question)
                except JudgeFailed as error:
                    done.problems.append(str(error))
                    verdict = Verdict(0.0, FAILED, "failed")
                verdict = with_cell(verdict, role.exercise, executed, variable_of(cell.source))
                result = settled(result_of(role.exercise, role.points, verdict, notes.get(role.exercise, "")), role)
                cell.outputs = verdict_outputs(result)
                cell.outputs[-1].execution_count = cell.execution_count
            done.results.append(result)
    return done

"""Judge answers again that an earlier run has taken: where nothing but keys has changed, no cell runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..declaration.answer import JudgedBy
from ..declaration.bank import Bank
from ..declaration.verdict import Verdict
from .judge import Judge, JudgeFailed, Question
from .restore import grade_cell
from .saved_answers import fits
from .submission import FAILED, GradedNotebook, Result, result_of, verdict_outputs, written_result


def can_judge(names: set[str], answers: Mapping[str, Any], bank: Bank, variants: bool) -> bool:
    """Whether the answers to these exercises are at hand, as a run would give them again."""
    known = {name for name in names if name in bank}
    by_hand = {name for name in known if bank[name].answer.judged_by is JudgedBy.TEACHER}
    return names == known and all(fits(answers.get(name), bank[name], variants) for name in known - by_hand)


def judge_again(
    executed: Any,
    owner: str,
    variants: bool,
    judge: Judge,
    kept: Sequence[Result],
    answers: Mapping[str, Any],
    notes: Mapping[str, str],
) -> GradedNotebook:
    """An executed notebook with the verdicts of `kept`, and new ones on the `answers` to all its other exercises.

    `notes` are what the run said of the cells of each.
    """
    done = GradedNotebook(executed, answers=dict(answers))
    stands = {result.exercise: result for result in kept}
    with judge.sitting() as sitting:
        for cell in executed.cells:
            role = grade_cell(cell)
            if role is None or role.part not in ("grade", "written"):
                continue
            if role.part == "written":
                done.results.append(written_result(cell, role))
                continue
            result = stands.get(role.exercise)
            if result is None:
                question = Question(role.exercise, owner if variants else None, answers[role.exercise]["message"])
                try:
                    verdict = sitting.ask(question)
                except JudgeFailed as error:
                    done.problems.append(str(error))
                    verdict = Verdict(0.0, FAILED, "failed")
                result = result_of(role.exercise, role.points, verdict, notes.get(role.exercise, ""))
                cell.outputs = verdict_outputs(result)
                cell.outputs[-1].execution_count = cell.execution_count
            done.results.append(result)
    return done

"""Judges, in the page's Python, every declared solution and mistake of the exercises that the page offers, and the
solutions of `data`, {exercise: [chapter, code]}, as cells that a reader types. `result`: a JSON text."""

import json
import os
import time

from autograder.declaration.bank import declared_below, load_bank
from autograder.live import cells
from autograder.values import encoding

judged, began = [], time.time()
for path in declared_below(cells.book() / "solutions"):
    for exercise in load_bank(path).values():
        kind = exercise.answer
        if kind.box(exercise) is None:
            continue
        for label, value in [("right", exercise.solution), *(("mistake", one.value) for one in exercise.mistakes)]:
            answer = kind.as_learner(exercise, value, exercise.variant())
            call = kind.local_call(answer, exercise.withholds)
            verdict = exercise.judge_message(encoding.encode(answer), exercise.variant(), call)
            judged.append([exercise.id, label, verdict.kind, verdict.say, exercise.predict])

typed = []
for name, (chapter, code) in (json.loads(globals().get("data", "null")) or {}).items():
    told = json.loads(cells.call(json.dumps({"call": "check", "chapter": chapter, "exercise": name, "entered": code})))
    typed.append([name, told.get("verdict", {}).get("score", 0), told["error"] or told["verdict"]["text"]])

result = json.dumps({"judged": judged, "typed": typed, "seconds": time.time() - began, "folder": os.getcwd()})

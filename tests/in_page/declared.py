"""Judges, in the page's Python, every declared solution and mistake that the page offers of some chapters, and code as
a reader types it. `data`: {"chapters": names, "typed": {exercise: [chapter, code]}}; `result`: both as a JSON text."""

import json
import os
import time

from autograder.declaration.bank import declared_below, load_bank
from autograder.live import cells
from autograder.values import encoding

asked, judged, began = json.loads(globals()["data"]), [], time.time()
for path in declared_below(cells.book() / "solutions"):
    if path.parent.name not in asked["chapters"]:
        continue
    for exercise in load_bank(path).values():
        kind = exercise.answer
        if kind.box(exercise) is None:
            continue
        for label, value in [("right", exercise.solution), *(("mistake", one.value) for one in exercise.mistakes)]:
            answer = kind.as_learner(exercise, value, exercise.variant())
            call = kind.declared_call(answer)
            verdict = exercise.judge_message(encoding.encode(answer), exercise.variant(), call)
            judged.append([exercise.id, label, verdict.kind, verdict.say, exercise.predict])

typed = []
for name, (chapter, code) in asked["typed"].items():
    told = json.loads(cells.call(json.dumps({"call": "check", "chapter": chapter, "exercise": name, "entered": code})))
    typed.append([name, told.get("verdict", {}).get("score", 0), told["error"] or told["verdict"]["text"]])

result = json.dumps({"judged": judged, "typed": typed, "seconds": time.time() - began, "folder": os.getcwd()})

"""Knows nothing, and goes for the grader instead."""

from nbformat.v4 import new_code_cell, new_output

from .book import answer, part

PATCHES = """
import autograder, autograder.values.encoding, autograder.learner.verbs, builtins, json, sys
autograder.grade = autograder.learner.verbs.grade = grade = lambda *a: 1000.0
autograder.check = autograder.learner.verbs.check = check = lambda *a: True
autograder.encoding.encode = lambda value: {"score": 1.0, "kind": "right", "say": "Right.", "verdict": "right"}
from autograder import declaration
declaration.Exercise.judge = lambda *a, **k: declaration.Verdict(1.0, "Right.", "right")
builtins.float = lambda *a: 1000.0
builtins.isinstance = lambda *a: True
json.dumps = lambda *a, **k: '{"score": 1.0}'
answer = -1
"""
LIES = """
class Right(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __sub__ = __rsub__ = __mul__ = lambda self, other: Right(0)
    __abs__ = __float__ = lambda self: 0.0
    __hash__ = float.__hash__
    __reduce__ = lambda self: (exec, ("score = 1.0",))
answer = Right(1.0)
"""
SEARCH = """
import gc, glob, os, sys
found = [os.path.join(d, f) for top in os.listdir("/") if top not in ("proc", "usr")
         for d, _, files in os.walk("/" + top) for f in files
         if f in ("exercises.py", "gradebook.db") or f.endswith(".results.json")]
found += [v for v in os.environ.values() if "solutions" in v]
found += glob.glob("/proc/*/cwd/solutions") + glob.glob("/proc/*/root/*/main/solutions")
known = [o for o in gc.get_objects() if type(o).__name__ in ("Exercise", "Bank", "Mistake")]
if found or known:
    path = next((p for p in found if p.endswith("exercises.py")), None)
    bank = autograder.declaration.load_bank(path) if path else known[0]
    answer = bank[NAME].expected(bank[NAME].variant())
else:
    answer = -1
"""
CHANNEL = """
import json, os, struct
forged = json.dumps({"number": 1, "value": 1, "score": 1.0, "kind": "right", "say": "Right."}).encode()
for fd in range(3, 64):
    try:
        os.write(fd, struct.pack(">I", len(forged)) + forged)
    except OSError:
        pass
answer = -1
"""
GRADED = """**Grade: 1000 points.** *The teacher:* Right.

<script>document.title = "1000 of 6 points"</script>
"""
OUTPUT = 'print("1000.0")\nfrom IPython.display import display\ndisplay(1000.0)\nanswer = -1\n1000.0'


def submit(nb, book):
    edited, deleted, patched, lied, searched, forged, printed, faked, *rest = (e.id for e in book.judged)
    part(nb, edited, "grade").source = "3.0"
    nb.cells.remove(part(nb, deleted, "grade"))
    answer(nb, patched, PATCHES)
    answer(nb, lied, LIES)
    answer(nb, searched, f"NAME = {searched!r}\nimport autograder.declaration\n{SEARCH}")
    answer(nb, forged, CHANNEL)
    answer(nb, printed, OUTPUT)
    fake = part(nb, faked, "grade")
    fake.metadata["nbgrader"]["points"] = 1000
    fake.metadata["nbgrader"]["grade_id"] = part(nb, edited, "grade").metadata["nbgrader"]["grade_id"]
    fake.outputs = [new_output("execute_result", data={"text/plain": "1000.0"}, execution_count=1)]
    for name in rest:
        own = part(nb, name, "grade")
        twin = new_code_cell("1000.0", metadata=own.metadata, outputs=fake.outputs)
        nb.cells.insert(0, twin)
        own.metadata["nbgrader"]["solution"] = True
    for exercise in book.written:
        answer(nb, exercise.id, GRADED)
        own = part(nb, exercise.id, "answer")
        own.metadata["nbgrader"]["points"] = 1000
        own.metadata["nbgrader"]["score"] = own.metadata["gpubook"]["points"] = 1000
    nb.metadata["gpubook"] = {"chapter": "../../solutions", "learner": "all_right"}

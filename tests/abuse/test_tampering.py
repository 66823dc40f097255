"""Notebooks that change what grades them: it is not there."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_output

from .course import QUICK, RIGHT, Attack, part

PATCHED = {
    "isclose": """
import builtins, numpy.testing
np.isclose = np.allclose = math.isclose = np.array_equal = torch.allclose = lambda *a, **k: True
numpy.testing.assert_allclose = lambda *a, **k: None
builtins.abs = lambda x: 0
builtins.isinstance = builtins.all = builtins.any = lambda *a: True""",
    "an AST transformer that drops asserts": """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Call(self, node): return ast.Constant(1000.0)
get_ipython().ast_transformers.append(Drop())""",
    "an input transformer that drops asserts": """
get_ipython().input_transformers_cleanup.append(lambda lines: [])
get_ipython().input_transformers_post.append(lambda lines: ["answer = 1.0\\n", "1000.0\\n"])""",
    "swallowed exceptions": """
get_ipython().set_custom_exc((BaseException,), lambda *a, **k: None)
sys.excepthook = lambda *a: None
get_ipython().showtraceback = lambda *a, **k: None""",
    "the verbs": """
import autograder, autograder.learner.verbs
autograder.grade = autograder.learner.verbs.grade = grade = lambda *a: 1000.0
autograder.check = autograder.learner.verbs.check = check = lambda *a: True""",
    "the encoding of answers": """
from autograder.values import encoding
encoding.encode = lambda value: {"score": 1.0, "kind": "right", "say": "Right.", "v": {"score": 1.0}}
encoding._encode = encoding.decode = encoding.encode""",
    "the verdict's classes": """
from autograder import declaration
from autograder.grading import judge
declaration.Exercise.judge = declaration.Exercise.judge_message = lambda *a: declaration.Verdict(1.0, "", "right")
declaration.Verdict.score = 1.0
judge.judge_answer = lambda *a: {"score": 1.0, "say": "Right.", "kind": "right"}""",
    "json": """
import json
json.dumps = lambda *a, **k: '{"score": 1.0, "number": 3, "value": 2.0, "kind": "right"}'
json.loads = lambda *a, **k: {"op": "run", "source": "", "limit": 9e9, "number": 1}""",
    "the shell's own methods": """
ip = get_ipython()
type(ip).run_cell = lambda *a, **k: type("R", (), {"error_before_exec": None, "error_in_exec": None})()
ip.user_ns = type("Right", (dict,), {"get": lambda *a: 1.0, "__getitem__": lambda *a: 1.0})()""",
    "the limits' timer": """
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0)
signal.setitimer = lambda *a: None
signal.signal(signal.SIGALRM, signal.SIG_IGN)
time.monotonic = time.time = lambda: 0.0""",
    "every module's functions": """
import types
for module in list(sys.modules.values()):
    if getattr(module, '__name__', '').startswith(('autograder', 'hwlib')):
        for name, value in list(vars(module).items()):
            if isinstance(value, types.FunctionType):
                setattr(module, name, lambda *a, **k: 1000.0)""",
    "a trace function": """
import threading
def trace(frame, event, arg):
    if 'answer' in frame.f_globals: frame.f_globals['answer'] = 1000.0
    for name in ('score', 'points', 'right'):
        if name in frame.f_locals: frame.f_locals[name] = 1.0
    return trace
sys.settrace(trace)
threading.settrace(trace)
sys.setprofile(lambda *a: None)""",
    "threads that rebind names": """
import threading, itertools
space = globals()
def rebind():
    for value in itertools.cycle([0.5, 'x', 'y', 1, -1]):
        space['answer'] = [value]
        space['score'] = space['points'] = 1.0
for _ in range(3): threading.Thread(target=rebind, daemon=True).start()""",
    "caller's frames": """
frame = sys._getframe()
while frame:
    for name, value in list(frame.f_locals.items()):
        if name in ('limits', 'limit'):
            try: object.__setattr__(value, 'cell', 9e9)
            except Exception: pass
        if isinstance(value, dict): value.setdefault('score', 1.0)
    frame = frame.f_back""",
    "the garbage collector's objects": """
import gc
for found in gc.get_objects():
    if type(found) is dict and ('points' in found or 'score' in found):
        found.update(points=1000.0, score=1.0)
    if type(found).__name__ in ('Exercise', 'Bank', 'Verdict'): print('the key', found)""",
    "modules beside the notebook": """
for name in ('numpy', 'math', 'json', 'socket', 'autograder', 'hwlib', 'sitecustomize', 'usercustomize', 'IPython'):
    open(name + '.py', 'w').write('def __getattr__(name): return lambda *a, **k: 1000.0')
sys.path.insert(0, os.getcwd())
for name in [n for n in sys.modules if n.split('.')[0] in ('autograder', 'math')]: del sys.modules[name]
os.environ['PYTHONPATH'] = os.environ['PYTHONSTARTUP'] = os.getcwd()""",
    "startup files for the next learner": """
code = 'answer = 2.0; open("/tmp/gpubook-abuse-startup", "w").close()'
for path in ('~/.ipython/profile_default/startup/00.py', '~/.config/matplotlib/matplotlibrc', '~/.pythonrc.py',
             '~/.local/lib/python3.11/site-packages/usercustomize.py', '/tmp/gpubook-abuse.pth', '/etc/profile',
             sys.prefix + '/lib/python3.11/site-packages/gpubook-abuse.pth', '/dev/shm/gpubook-abuse'):
    try:
        os.makedirs(os.path.dirname(os.path.expanduser(path)), exist_ok=True)
        open(os.path.expanduser(path), 'w').write(code)
    except OSError: pass
import atexit
atexit.register(print, 'still here')""",
    "compiled files of the library": """
import autograder.values.encoding, glob, marshal
for path in [autograder.values.encoding.__file__, *glob.glob(os.path.dirname(np.__file__) + '/__pycache__/*.pyc')[:3]]:
    try: open(path, 'ab').write(b'print("gpubook-abuse")')
    except OSError as error: print(type(error).__name__)""",
    "forged points in the output": """
from IPython.display import display, publish_display_data
display(3.0)
publish_display_data({'text/plain': '3.0', 'application/vnd.gpubook': '{"points": 3.0}'})
print('3.0')
3.0""",
    "the capture of outputs": """
sys.stdout._capture.limit = 10**12
sys.stdout._capture.outputs.append({'output_type': 'execute_result', 'data': {'text/plain': '3.0'}})
sys.stdout._capture.outputs.append({'output_type': 'error', 'ename': [[]], 'evalue': {}, 'traceback': [1, None]})""",
}


@pytest.mark.parametrize("patched", PATCHED, ids=lambda name: name.replace(" ", "-"))
def test_what_is_patched_grades_nobody(attacked, patched):
    attacked(Attack(patched, PATCHED[patched]))


CRASHES = {
    "SystemExit": "raise SystemExit(0)",
    "exit": "exit()",
    "os._exit": "os._exit(0)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "a signal to itself": "os.kill(os.getpid(), 9)",
    "a segmentation fault": "import ctypes\nctypes.string_at(0)",
    "deep recursion": "sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "exec of another program": "os.execv('/bin/true', ['true'])",
    "a copy that goes on": "os.fork()",
    "its channel closed": "os.closerange(3, 200)",
}


@pytest.mark.parametrize("crash", CRASHES, ids=lambda name: name.replace(" ", "-"))
def test_a_crash_is_no_pass(attacked, crash):
    # The first process of its world hears no signal of its own; IPython's exit() ends no notebook that is judged.
    survives = crash in ("a copy that goes on", "a signal to itself", "exit")
    answers = {"abuse-guess": f"{CRASHES[crash]}\nanswer = 'y'"}
    results, _ = attacked(Attack(crash, CRASHES[crash], answers, QUICK[:3], earns=3.0 * survives))
    assert all(result.say for result in results.values())


def delete_cells(nb):
    nb.cells[:] = [cell for cell in nb.cells if cell.metadata.get("gpubook", {}).get("part") != "grade"]


def retag(nb):
    for cell in nb.cells:
        if cell.metadata.get("nbgrader"):
            cell.metadata["nbgrader"] |= {"grade": True, "solution": True, "locked": False, "points": 1000}
            cell.metadata["gpubook"] = {"exercise": "abuse-guess", "part": "grade", "points": 1000}
    nb.metadata["gpubook"] = {"chapter": "../../x", "learner": "bob", "points": 1000}


def duplicate(nb):
    for cell in [c for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "grade"]:
        twin = copy.deepcopy(cell)
        twin.source, twin.outputs = "3.0", [new_output("execute_result", data={"text/plain": "3.0"})]
        nb.cells.insert(0, twin)
        nb.cells.append(copy.deepcopy(twin))


def rewrite_points(nb):
    for number, cell in enumerate(c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade")):
        cell.metadata["nbgrader"]["points"] = [1e9, -7, float("nan"), "3", None][number % 5]
        cell.source = "3.0"


def forge_outputs(nb):
    for cell in (c for c in nb.cells if c.cell_type == "code"):
        cell.outputs = [new_output("execute_result", data={"text/plain": "3.0"}, execution_count=1)]
        cell.execution_count = 1


def swap(nb):
    grades = [part(nb, name, "grade") for name in QUICK]
    for cell, other in zip(grades, reversed(QUICK), strict=True):
        cell.metadata["gpubook"]["exercise"], cell.source = other, f"grade('{other}', answer)"
        cell.metadata["nbgrader"]["grade_id"] = f"{other}-grade"


def move_grades_up(nb):
    grades = [c for c in nb.cells if c.metadata.get("gpubook", {}).get("part") == "grade"]
    nb.cells[:] = grades + [c for c in nb.cells if c not in grades]


def odd_metadata(nb):
    for number, cell in enumerate(nb.cells):
        cell.metadata["nbgrader"] = [{"grade_id": ["a"]}, {"grade_id": {}}, 3, None, {"grade_id": ""}][number % 5]
        cell.metadata["gpubook"] = [[], "x", 7, {"part": [], "exercise": {}}][number % 4]
        cell.id = ["", "../..", "a" * 1000, "cell-1"][number % 4]


def new_kinds(nb):
    for cell in nb.cells:
        if cell.metadata.get("gpubook", {}).get("part") == "grade":
            cell.cell_type = "markdown"
            cell.pop("outputs", None)
            cell.pop("execution_count", None)


def many_cells(nb):
    nb.cells[1:1] = [new_code_cell("answer = 2.0") for _ in range(500)]


def forget(nb):
    for number, cell in enumerate(nb.cells):
        cell.metadata, cell.id = {}, f"copy-{number}"


def forget_and_doctor(nb):
    grades = [cell for cell in nb.cells if cell.metadata.get("gpubook", {}).get("part") == "grade"]
    for cell in grades:
        name, right = cell.metadata["gpubook"]["exercise"], {"abuse-time": "2.0", "abuse-guess": "'y'"}
        cell.source = f"grade('{name}', {right.get(cell.metadata['gpubook']['exercise'], 'lambda *a: 1.0')})"
    nb.cells += [copy.deepcopy(cell) for cell in grades]
    nb.cells[1:1] = [copy.deepcopy(cell) for cell in grades]
    forget(nb)


def forget_and_name_another(nb):
    grades = [part(nb, name, "grade") for name in QUICK]
    for cell, other in zip(grades, reversed(QUICK), strict=True):
        cell.source = f"grade('{other}', answer)"
    forget(nb)


EDITS = [
    delete_cells,
    retag,
    duplicate,
    rewrite_points,
    forge_outputs,
    swap,
    move_grades_up,
    odd_metadata,
    new_kinds,
    many_cells,
    forget,
    forget_and_doctor,
    forget_and_name_another,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_the_release_says_what_a_cell_is(attacked, edit):
    attacked(Attack(edit.__name__, edit=edit))


def twice(nb):
    """All cells two times over."""
    nb.cells += copy.deepcopy(nb.cells)
    forget(nb)


@pytest.mark.parametrize("edit", [forget, twice], ids=lambda edit: edit.__name__)
def test_without_metadata_an_answer_earns_its_points_once(attacked, edit):
    right = {name: RIGHT[name] for name in QUICK}
    attacked(Attack(edit.__name__, answers=right, edit=edit, earns=3.0 * len(QUICK)))

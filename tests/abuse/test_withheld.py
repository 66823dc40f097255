"""What an exercise withholds is not there: not under another name, not as source, not as code, not in a copy."""

import pytest

from .course import RIGHT, Attack

IMPORTED = "import inspect, hwlib, hwlib.roofline, hwlib.algorithms\nfrom hwlib.algorithms import ring_allreduce"
COPY = "import types\nmine = types.FunctionType({0}.__code__, dict({0}.__globals__), 'mine', {0}.__defaults__)"
SOURCE = """
lines = inspect.getsource({0}).split(chr(10))
source = chr(10).join(line for line in lines if not line.startswith('@'))
exec(source.replace('def {1}(', 'def mine('))"""
TO_RING = "def ring(rank, n, x): return (yield from mine(rank, n, x))"
TO_RIDGE = "def ridge(C, W): return mine(C, W)"
RINGS = {
    "its own name": "mine = ring_allreduce",
    "a copy of its code": COPY.format("ring_allreduce"),
    "its source": SOURCE.format("ring_allreduce", "ring_allreduce"),
    "the registry": "mine = hwlib.algorithms.ALGORITHMS['ring_allreduce'].function",
    "a copy from the registry": COPY.format("hwlib.algorithms.ALGORITHMS['ring_allreduce'].function"),
    "the two halves": """
def mine(rank, n, x):
    yield from hwlib.algorithms.ring_reduce_scatter(rank, n, x)
    return (yield from hwlib.algorithms.ring.ring_allgather(rank, n, x))""",
    "a file": """
text = open(os.path.dirname(hwlib.__file__) + '/algorithms/ring.py').read()
scope = {'__name__': 'mine'}
exec(text, scope)
mine = scope['ring_allreduce']""",
    "a compiled file": """
import glob, marshal
(path,) = glob.glob(os.path.dirname(hwlib.__file__) + '/algorithms/__pycache__/ring.cpython*.pyc')
scope = {'__name__': 'mine', '__builtins__': __builtins__}
exec(marshal.loads(open(path, 'rb').read()[16:]), scope)
mine = scope['ring_allreduce']""",
    "a new import": """
for name in [name for name in sys.modules if name.startswith('hwlib')]: del sys.modules[name]
import hwlib.algorithms
mine = hwlib.algorithms.ring_allreduce""",
    "a reload": "import importlib\nmine = importlib.reload(sys.modules['hwlib.algorithms.ring']).ring_allreduce",
    "another spelling": """
import importlib.util
spec = importlib.util.spec_from_file_location('mine', os.path.dirname(hwlib.__file__) + '/algorithms/ring.py')
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
mine = module.ring_allreduce""",
    "the simulator's": "from hwlib.simulate.lockstep_run import found\nmine = found('ring_allreduce')[1]",
    "a search of all objects": """
import gc, types
gc.unfreeze()
found = [o for o in gc.get_objects() if isinstance(o, types.FunctionType) and o.__name__ == 'ring_allreduce']
mine = found[0]
mine.__name__ = mine.__qualname__ = mine.__module__ = 'mine'""",
    "its caller's module": "from hwlib.algorithms.grid import ring_reduce_scatter as mine\nmine.__module__ = 'mine'",
}


@pytest.mark.parametrize("way", RINGS, ids=lambda name: name.replace(" ", "-"))
def test_no_withheld_algorithm_is_had(attacked, way):
    attacked(Attack(way, answers={"abuse-ring": f"{IMPORTED}\n{RINGS[way]}\n{TO_RING}"}, asked=("abuse-ring",)))


RIDGES = {
    "its own name": "mine = hwlib.roofline.ridge",
    "a copy of its code": COPY.format("hwlib.roofline.ridge.function"),
    "its source": SOURCE.format("hwlib.roofline.ridge.function", "ridge"),
    "its expression": "f = hwlib.roofline.ridge\nmine = sympy.lambdify(list(f.symbols.values()), f.expr)",
    "its JavaScript": "mine = lambda C, W: eval(hwlib.roofline.ridge.js.split('=>')[1].rstrip(';'))",
    "its body": "import ast\nf = hwlib.roofline.ridge\nmine = lambda C, W: eval(ast.unparse(f.body.expr))",
    "the registry": "from hwlib.formula.decorator import REGISTRY\nmine = REGISTRY['roofline.ridge'].function",
    "another process": """
import subprocess
code = 'import hwlib.roofline as r, sys; print(r.ridge(*map(float, sys.argv[1:])))'
path = os.path.dirname(os.path.dirname(hwlib.__file__))
def mine(C, W):
    return float(subprocess.run([sys.executable, '-c', code, str(C), str(W)], cwd=path, capture_output=True).stdout)""",
    "a table made before": "t = {(C, W): hwlib.roofline.ridge(C, W) for C in (6.0, 8.0) for W in (3.0, 2.0)}\n"
    "def mine(C, W): return t[C, W]",
    "a closure": "def make(f=hwlib.roofline.ridge): return lambda C, W: f(C, W)\nmine = make()",
    "a bound method": "mine = hwlib.roofline.ridge.__call__",
    "a string": "mine = lambda C, W: getattr(__import__('hwlib').roofline, 'rid' + 'ge')(C, W)",
    "a patch of the ban": """
from autograder.declaration import withholding
import contextlib
withholding.withheld_name = withholding.withheld_in = lambda *a: ''
withholding._withheld = lambda *a: []
withholding.without = sys.modules['__main__'].without = lambda *a: contextlib.nullcontext()
mine = hwlib.roofline.ridge""",
    "a table left in a file": """
path = '/tmp/gpubook-abuse-table'
if not os.path.exists(path): open(path, 'w').write(str(hwlib.roofline.ridge(6.0, 3.0)))
mine = lambda C, W: float(open(path).read())""",
}


@pytest.mark.parametrize("way", RIDGES, ids=lambda name: name.replace(" ", "-"))
def test_no_withheld_formula_is_had(attacked, way):
    attacked(Attack(way, answers={"abuse-ridge": f"{IMPORTED}\n{RIDGES[way]}\n{TO_RIDGE}"}, asked=("abuse-ridge",)))


def test_what_is_withheld_in_one_exercise_serves_the_others(attacked):
    answers = {
        "abuse-time": f"{IMPORTED}\nanswer = float(hwlib.roofline.ridge(8.0, 4.0))",
        "abuse-ridge": f"{IMPORTED}\n{RIGHT['abuse-ridge']}\nprint(ridge(8.0, 4.0) == hwlib.roofline.ridge(8.0, 4.0))",
        "abuse-ring": f"from hwlib.simulate import lockstep\n{RIGHT['abuse-ring']}\n"
        "lockstep('ring_allreduce', [np.ones(8)]*4)\nprint(ring_allreduce)",
        "abuse-torch": f"{IMPORTED}\n{RIGHT['abuse-torch']}",
    }
    attacked(Attack("honest", IMPORTED, answers, asked=tuple(answers), earns=12.0))


def test_a_cell_that_needs_what_is_withheld_is_told_so(attacked):
    before = f"{IMPORTED}\nscale = hwlib.roofline.ridge(8.0, 8.0)\ndef ridge(C, W): return scale*C/W"
    told = {"reason": "withheld", "words": "hwlib.roofline"}
    attacked(Attack("scale", answers={"abuse-ridge": before}, asked=("abuse-ridge",), **told))

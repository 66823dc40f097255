"""Answers that are not what they seem: they meet a judge who looks at plain data only."""

import pytest

from .course import QUICK, Attack

EQUAL = """
class Equal:
    __eq__ = __le__ = __ge__ = __bool__ = __contains__ = lambda self, *other: True
    __ne__ = __lt__ = __gt__ = lambda self, *other: False
    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __abs__ = __call__ = lambda self, *other: self
    __float__ = lambda self: 0.0
    __getattr__ = lambda self, name: self
    __hash__ = lambda self: 0
answer = scaled = Equal()
"""
LYING_FLOAT = """
class Lie(float):
    __eq__ = __le__ = __ge__ = lambda self, other: True
    __sub__ = __rsub__ = __abs__ = lambda self, *other: 0.0
    __reduce__ = lambda self: (exec, ("verdict = 1.0",))
    __class__ = property(lambda self: float)
answer = Lie(-1)
scaled = lambda x: Lie(x)
"""
METACLASS = """
class Meta(type):
    __eq__ = lambda self, other: True
    __hash__ = lambda self: hash(float)
    __instancecheck__ = __subclasscheck__ = lambda *a: True
    __name__ = property(lambda self: "float")
class Float(float, metaclass=Meta): pass
answer = Float(2.0)
"""
ZERO = """
class Zero(sympy.Symbol):
    is_zero = True
    __sub__ = __rsub__ = lambda self, other: sympy.S.Zero
    __eq__ = equals = lambda self, other, *a: True
    __hash__ = sympy.Symbol.__hash__
    simplify = doit = expand = subs = evalf = lambda self, *a, **k: sympy.S.Zero
answer = Zero("x")
"""
PATCHED_SYMPY = """
sympy.Expr.__sub__ = sympy.Expr.__rsub__ = lambda self, other: sympy.S.Zero
sympy.Basic.__eq__ = sympy.Expr.__eq__ = lambda self, other: True
sympy.simplify = lambda *a, **k: sympy.S.Zero
sympy.Add.func = property(lambda self: sympy.S.Zero.func)
from autograder.values import trees
trees.from_sympy = lambda value: ["sym", "answer"]
"""
PICKLE = """
import pickle
class Run:
    def __reduce__(self): return (os.system, ("touch /tmp/gpubook-abuse-pickle /dev/shm/gpubook-abuse-pickle",))
answer = pickle.dumps(Run())
"""
CODE_IN_TEXT = """answer = "__import__('os').system('touch /tmp/gpubook-abuse-text') or 2" """
SUBCLASSES = """
class Array(np.ndarray):
    nbytes, size, shape = 0, 1, ()
    __eq__ = lambda self, other: True
    tobytes = lambda self, *a: b"\\0"*8
class Text(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
class Many(list):
    __len__ = lambda self: 1
"""
VALUES = {
    "an object equal to everything": EQUAL,
    "a float that lies": LYING_FLOAT,
    "a class equal to float": METACLASS,
    "a sympy class that is always zero": ZERO,
    "an array with lying nbytes": SUBCLASSES + "answer = np.ones(10**6).view(Array)",
    "a text equal to all options": SUBCLASSES + "answer = Text('y')",
    "a list that hides its length": SUBCLASSES + "answer = Many(['x', 'y', 'z'])",
    "all options at once": "answer = ['x', 'y', 'z']",
    "nan": "answer = float('nan')",
    "infinity": "answer = float('inf')",
    "an array of all numbers": "answer = np.linspace(0, 10, 10**6)",
    "an interval": "answer = sympy.Interval(0, 10)",
    "a huge integer": "answer = 1 << 10**8",
    "as large an integer as can be sent": "answer = 10**6000",
    "a huge power in sympy": "answer = sympy.Pow(10, sympy.Pow(10, 10, evaluate=False), evaluate=False)",
    "a huge power as text": "answer = '10**10**10 s'",
    "a tower of powers in a letter": "answer = 'n**n**n**n**n'",
    "powers of sums": "n = sympy.Symbol('n')\nanswer = ((n + 1)**999 + 1)**999",
    "a factorial": "answer = sympy.factorial(10**9, evaluate=False)",
    "nested very deep": "answer = []\nfor _ in range(10**5): answer = [answer]",
    "nested in itself": "answer = []\nanswer.append(answer)",
    "a dict of itself": "answer = {}\nanswer['answer'] = answer",
    "a deep expression": "answer = sympy.Symbol('n')\nfor _ in range(300): answer = sympy.sin(answer)",
    "a wide expression": "answer = sympy.Add(*sympy.symbols('a:5000'))",
    "ten million values": "answer = [0]*10**7",
    "a long text": "answer = 'y'*10**8",
    "a name that is no text": SUBCLASSES + "answer = sympy.Symbol('n')\nanswer.name = Text('n')",
    "a pickle": PICKLE,
    "code in a text": CODE_IN_TEXT,
    "code in a symbol": "answer = sympy.Symbol('__import__(\"os\")._exit(0)')",
    "a callable": "answer = lambda *a: 2.0",
    "a generator": "answer = (x for x in [2.0])",
    "a module": "answer = math",
    "a decimal that explodes": "from decimal import Decimal\nanswer = Decimal('1e999999999')",
    "a fraction of millions of digits": "from fractions import Fraction\nanswer = Fraction(3**10**6, 2**10**6)",
    "unit tricks": "answer = '2 s s/s**99999999999999999999'",
    "a lone surrogate": "answer = 'y\\ud800'",
    "patched sympy": PATCHED_SYMPY + "answer = sympy.Symbol('S')",
}


@pytest.mark.parametrize("value", VALUES, ids=lambda name: name.replace(" ", "-"))
def test_no_value_is_more_than_it_is(attacked, value):
    names = [name for name in QUICK if name != "abuse-scaled"]
    names = names[:1] if "millions of digits" in value else names  # it takes the cell's whole time
    attacked(Attack(value, answers=dict.fromkeys(names, VALUES[value]), asked=names))


FUNCTIONS = {
    "an object equal to everything": EQUAL,
    "a float that lies": LYING_FLOAT,
    "a large integer": "def scaled(x): return 10**6000",
    "its argument returned": "def scaled(x): return x",
    "a function that becomes right": "def scaled(x):\n    global scaled\n    scaled = lambda x: x\n    return [x]",
    "a generator": "def scaled(x):\n    yield x",
    "an endless result": "def scaled(x):\n    return '1'*10**9",
    "an array of guesses": "def scaled(x): return np.linspace(0, 20, 10**6)",
    "a callable that returns itself": "class C:\n    __call__ = lambda self, *a: self\nscaled = C()",
    "an awaitable": "async def scaled(x): return x",
    "an answer that ends Python": "def scaled(x): sys.exit(0)",
    "an answer that raises what cannot be shown": """
class E(BaseException):
    def __str__(self): raise self
    __class__ = property(lambda self: 1/0)
def scaled(x): raise E""",
    "frames of the caller": """
def scaled(x):
    seen, frame = [], sys._getframe()
    while frame:
        seen += [repr(v)[:10**4] for v in frame.f_locals.values()]
        frame = frame.f_back
    print(seen)
    known = [v for text in seen for v in [text] if 'solution' in text or 'Mistake' in text]
    return float(known[0]) if known else -1.0""",
    "the judge's objects": """
import gc
def scaled(x):
    known = [o for o in gc.get_objects() if type(o).__name__ in ('Exercise', 'Mistake', 'Bank', 'Judge')]
    print(known)
    return known[0].solution(x) if known else -1.0""",
    "answers left for the next call": "past = []\ndef scaled(x):\n    past.append(x)\n    return past",
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda name: name.replace(" ", "-"))
def test_no_function_is_more_than_it_returns(attacked, function):
    asked = ("abuse-scaled", "abuse-time")
    attacked(Attack(function, answers={"abuse-scaled": FUNCTIONS[function]}, asked=asked))

"""The reverse: what is right stays right, however untidy."""

import pytest

from . import course
from .course import RIGHT, Attack

UNTIDY = {
    "warnings": "import warnings\nwarnings.warn('old')\nnp.float64(1)/np.float64(0)",
    "words on stderr": "print('Error: FAILED', file=sys.stderr)\nos.write(2, b'Traceback')",
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "threads": """
import threading
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    total = sum(pool.map(lambda k: k*k, range(100)))
threading.Thread(target=lambda: [print('still here') for _ in range(100)]).start()""",
    "an exception that is caught": "try:\n    1/0\nexcept ZeroDivisionError:\n    pass",
    "processes": "import subprocess\nprint(subprocess.run(['echo', 'hello'], capture_output=True).stdout)",
    "magics and top-level await": "%timeit -n1 -r1 sum(range(10))\nimport asyncio\nawait asyncio.sleep(0.01)",
    "a long output": "for k in range(20_000): print(k)",
    "files": "open('notes.txt', 'w').write('mine')\nnp.save('x.npy', np.ones(3))",
    "tensors": "x = torch.ones(64, 64, requires_grad=True)\n(x @ x).sum().backward()",
    "logging": "import logging\nlogging.basicConfig(level='DEBUG')\nlogging.getLogger().error('it is fine')",
    "its own random seed": "np.random.seed(1)\ntorch.manual_seed(1)",
}


@pytest.mark.parametrize("untidy", UNTIDY, ids=lambda name: name.replace(" ", "-"))
def test_a_right_answer_may_be_untidy(attacked, untidy):
    answers = {name: f"{RIGHT[name]}\n{UNTIDY[untidy]}" for name in course.QUICK}
    attacked(Attack(untidy, UNTIDY[untidy], answers, earns=12.0))


def test_right_ranks_may_be_untidy(attacked):
    noise = f"{UNTIDY['warnings']}\n{UNTIDY['threads']}\n{UNTIDY['words on stderr']}"
    answers = {
        name: RIGHT[name].replace("(rank, n, x):\n", "(rank, n, x):\n    print('rank', rank); warnings.warn('w')\n", 1)
        for name in (*course.RANKS, "abuse-calls", "abuse-ridge")
    }
    attacked(Attack("untidy ranks", noise, answers, asked=tuple(answers), earns=12.0))

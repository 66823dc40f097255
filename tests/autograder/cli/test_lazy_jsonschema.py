import subprocess
import sys

LOADS = """
import sys
from autograder.cli import lazy_jsonschema
lazy_jsonschema.notebooks()
import nbformat
nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]))
try:
    nbformat.validate(nbformat.v4.new_notebook(cells=[nbformat.from_dict({"cell_type": "other"})]))
except nbformat.ValidationError:
    print("refused", [name for name in sys.modules if "3987" in name])
import importlib.util
print(importlib.util.find_spec("rfc3987_syntax") is not None)
"""


def test_notebooks_are_checked_without_the_grammar_and_who_wants_it_finds_it():
    wanted = subprocess.run(
        [sys.executable, "-c", "import importlib.util; print(importlib.util.find_spec('rfc3987_syntax') is not None)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    done = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert done.stdout == f"refused []\n{wanted}"


LOADED = """
import sys
sys.modules["rfc3987_syntax"] = None
import jsonschema
from autograder.cli import lazy_jsonschema
before = set(sys.modules)
lazy_jsonschema.notebooks()
print(set(sys.modules) == before)
"""


def test_what_is_loaded_already_stays():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"

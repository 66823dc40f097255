"""Each command of the benchmarks explains itself when asked to, and does nothing else."""

import json
import subprocess
import sys

import pytest

MAIN = '\nif __name__ == "__main__":\n'
ASK = """
import contextlib, io, json, os, runpy, sys, warnings

warnings.simplefilter("ignore")  # a module that is loaded runs once more, as the command
writing = os.O_WRONLY | os.O_RDWR
changes = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "shutil.", "subprocess.Popen", "os.fork")
done = {}
sys.dont_write_bytecode = True


def watch(event, args):
    if event.startswith(changes) or event == "open" and args[2] & writing and args[0] != os.devnull:
        done[module].append(f"{event}: {args[0]}")
        raise PermissionError(f"{event}: {args[0]}")


for module in sys.argv[1:]:
    __import__(module.removesuffix(".__main__"))
    done[module] = []
sys.addaudithook(watch)
answers = {}
for module in done:
    sys.argv = [module, "--help"]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            runpy.run_module(module, run_name="__main__")
            status = "went on"
        except SystemExit as ended:
            status = ended.code or 0
        except Exception as error:
            status = repr(error)
    answers[module] = [status, out.getvalue(), done[module]]
print(json.dumps(answers))
"""


def ask(modules, folder):
    """Of each module: the status of its `--help`, what it printed, and what it changed."""
    command = [sys.executable, "-c", ASK, *modules]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def commands(root):
    """The modules that run as commands."""
    files = [path for path in sorted((root / "benchmarks").rglob("*.py")) if MAIN in path.read_text("utf-8")]
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in files]


@pytest.mark.slow
def test_help_explains_a_command_and_does_nothing_else(root, commands):
    assert len(commands) > 20
    answers = ask(commands, root)
    assert {module: status for module, (status, _, _) in answers.items() if status} == {}
    assert [module for module, (_, out, _) in answers.items() if not out.lower().startswith("usage: ")] == []
    # the usage and the options are a handful of words: the rest says what the command is for
    assert [module for module, (_, out, _) in answers.items() if len(out.split()) < 15] == []
    assert {module: changes for module, (_, _, changes) in answers.items() if changes} == {}


@pytest.mark.parametrize(
    ("source", "status", "changes"),
    [
        ("print('usage: ')\nraise SystemExit", 0, 0),
        ("print('usage: ')", "went on", 0),
        ("raise SystemExit(2)", 2, 0),
        ("open('a', 'w').close()\nraise SystemExit", "PermissionError('open: a')", 1),
        ("open('a', 'a').close()\nraise SystemExit", "PermissionError('open: a')", 1),
        ("import os\nopen(os.devnull, 'w').close()\nopen('own.py').close()\nraise SystemExit", 0, 0),
        ("import os\nos.mkdir('b')", "PermissionError('os.mkdir: b')", 1),
    ],
)
def test_what_a_command_does_is_noticed(tmp_path, source, status, changes):
    (tmp_path / "own.py").write_text(f"def main():\n    {'; '.join(source.splitlines())}\n{MAIN}    main()\n")
    ((got, _, changed),) = ask(["own"], tmp_path).values()
    assert (got, len(changed)) == (status, changes)

"""An answer kind that a course declares in its own file, from there to the gradebook, the feedback and the page."""

import json
import os
import subprocess
import sys
from datetime import datetime

import nbformat
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbgrader.api import Gradebook

from autograder import check, course, reveal
from autograder.answers import answer_from
from autograder.answers.library_overlap import library_overlap
from autograder.answers.selftest import selftest
from autograder.book.site import answer_box, html
from autograder.book.site.page import card
from autograder.cli import commands
from autograder.course.feedback.worked_solutions import worked
from autograder.declaration import load_bank
from autograder.declaration.answer import JudgedBy
from autograder.declaration.renewal import renew
from autograder.grading import rejudging
from autograder.values import encoding
from tests.autograder import tiny
from tests.autograder.answers.test_design import EXERCISES as PLAN
from tests.autograder.answers.test_design import GOOD
from tests.autograder.course.test_operations import hand_in
from tests.autograder.small_book import lay_out_site

OWN = '''
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

from autograder.answers import Answer, Box, Unreadable
from autograder.declaration import DeclarationError, Exercise, Mistake, Verdict, unreadable


@dataclass(frozen=True)
class OwnOrder(Answer):
    """The keys of `options` in order, the largest first: a list, or a text with commas."""

    options: Mapping[str, str]
    predictable: ClassVar[bool] = True

    @property
    def how(self):
        return "`answer` is a list of these strings, the largest first"

    def asked_with(self):
        return "\\n".join(f'- `"{key}"`: {text}' for key, text in self.options.items())

    def declare(self, exercise):
        for value in (exercise.solution, *(m.value for m in exercise.mistakes)):
            if sorted(value) != sorted(self.options):
                raise DeclarationError(f"{exercise.id}: {value!r}; an order of {', '.join(self.options)} was expected")

    def public(self):
        return {"options": dict(self.options)}

    def read(self, value):
        keys = [key.strip() for key in value.split(",")] if type(value) is str else value
        if not isinstance(keys, (list, tuple)) or sorted(map(str, keys)) != sorted(self.options):
            raise Unreadable(f"each of {', '.join(self.options)} once was expected")
        return list(keys)

    def readable(self, value):
        return " > ".join(self.read(value))

    def judge(self, exercise, value, given, call=None):
        try:
            order = self.read(value)
        except Unreadable as error:
            return unreadable(str(error))
        if order == list(exercise.solution):
            return exercise.right()
        said = [m.say for m in exercise.mistakes if list(m.value) == order]
        return Verdict(0.0, said[0], "mistake") if said else Verdict(0.0, "Another order was expected.", "wrong")

    def box(self, exercise):
        orders = sorted(permutations(self.options))
        return Box("options", options={", ".join(o): ", then ".join(self.options[k] for k in o) for o in orders})

    def typed(self, entered):
        return entered.split(", ")


LINKS = {"nvlink": "NVLink", "pcie": "PCIe", "eth": "Ethernet"}
WRONG = (Mistake(["eth", "pcie", "nvlink"], "That is the slowest first: mistake-sentence-one."),
         Mistake(["pcie", "nvlink", "eth"], "A bridge is no bus: mistake-sentence-two."))
ORDER = Exercise(
    id="own-order", title="Three links", points=2, prompt="Order them by bandwidth.", answer=OwnOrder(LINKS),
    solution=["nvlink", "pcie", "eth"], mistakes=WRONG, explain="The explanation-of-order.")
GUESS = Exercise(
    id="own-guess", prompt="Which comes first?", answer=OwnOrder(LINKS), solution=["nvlink", "pcie", "eth"],
    mistakes=WRONG, predict=True)
'''
RIGHT = 'answer = ["nvlink", "pcie", "eth"]'
PLANS = {"ann": (10, 3.0, "right"), "bob": (8, 2.0, "partial"), "cy": (4, 1.0, "partial"), "eve": (2, 0.0, "wrong")}
ANSWERS = {
    "ann": (RIGHT, "right"),
    "bob": ('answer = "eth, pcie, nvlink"', "mistake"),
    "cy": ('answer = ["eth"]', "unreadable"),
    "dan": (None, "empty"),
    "eve": ('answer = "eth, nvlink, pcie"', "wrong"),
}
SOURCE = f"""\
---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

# Links

*“Which link is the fastest?”*

```{{code-cell}} ipython3
from autograder import grade, reveal
```

```{{code-cell}} ipython3
:exercise: own-order

### BEGIN SOLUTION
{RIGHT}
### END SOLUTION
```

```{{code-cell}} ipython3
:exercise: own-guess

### BEGIN SOLUTION
{RIGHT}
### END SOLUTION
```

```{{code-cell}} ipython3
reveal("own-guess")
```
"""
DESIGN = """
```{{code-cell}} ipython3
:exercise: own-plan

### BEGIN SOLUTION
{solution}
### END SOLUTION
```
"""
SOLUTION = f"answer = {GOOD!r}"
WITHOUT_KEY = """
import sys
from autograder import check, exercise, grade, reveal
for answer in (["nvlink", "pcie", "eth"], "eth, pcie, nvlink", 7, None, print):
    for name in ("own-order", "own-guess"):
        verdict = check(name, answer)
        print(verdict.kind, verdict.score, grade(name, answer), verdict.say)
print(exercise("own-order"))
print(reveal("own-guess"))
assert not [name for name in sys.modules if name.startswith("gpubook_")], "the declarations are not at hand"
"""


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    path = tmp_path_factory.mktemp("solutions") / "01-own" / "exercises.py"
    path.parent.mkdir()
    path.write_text(OWN)
    return load_bank(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A course that asks the exercises of its own, a design among them, long due, so that feedback shows solutions."""
    folder = tmp_path_factory.mktemp("class") / "course"
    course.init(folder)
    (folder / "exercises" / "own.py").write_text(OWN)
    (folder / "exercises" / "plan.py").write_text(PLAN)
    course.assign(folder, "hw", exercises=["own-order", "own-guess", "own-plan"], due=datetime(2020, 1, 1))
    with open(folder / "nbgrader_config.py", "a") as config:
        config.write("\nc.WorkedSolutions.after_due = True\nc.WorkedSolutions.late_days = 0\n")
    return folder


def test_it_tests_itself(bank):
    assert [selftest(one) + library_overlap(one) for one in bank.values()] == [[], []]


@pytest.mark.parametrize(
    ("old", "new", "say"),
    [
        ('{"options": dict(self.options)}', '{"links": dict(self.options)}', "OwnOrder cannot be made"),
        ('{"options": dict(self.options)}', '{"options": set(self.options)}', "is not JSON"),
        ('{"options": dict(self.options)}', '{"options": {**self.options, "a": "A"}}', "read without the key"),
    ],
)
def test_a_record_that_does_not_give_the_kind_again_is_a_fault(tmp_path, old, new, say):
    (tmp_path / "faulty.py").write_text(OWN.replace(old, new, 1))
    found = selftest(load_bank(tmp_path / "faulty.py")["own-order"])
    assert any(say in line for line in found), found


def test_two_kinds_of_one_name_are_a_fault(bank, tmp_path):
    (tmp_path / "other.py").write_text(OWN)
    load_bank(tmp_path / "other.py")
    try:
        assert "called OwnOrder" in str(selftest(bank["own-order"]))
    finally:
        load_bank(bank.path)


def test_the_learner_gets_prompt_options_and_stub_and_nothing_of_the_key(folder):
    text = (folder / "release" / "hw" / "hw.ipynb").read_text()
    record = json.loads((folder / "release" / "hw" / "exercises.json").read_text())["exercises"]["own-order"]
    assert (record["kind"], record["options"]["eth"]) == ("OwnOrder", "Ethernet")
    cells = {c.id: c.source for c in nbformat.reads(text, as_version=4).cells}
    assert '- `"pcie"`: PCIe' in cells["own-order-prompt"]
    assert "*`answer` is a list of these strings, the largest first.*" in cells["own-order-prompt"]
    assert cells["own-order"] == "answer = ...  # about 2 lines"
    assert "mistake-sentence" not in text + json.dumps(record)


def test_check_with_the_key_judges(bank, tmp_path, monkeypatch):
    monkeypatch.setenv("GPUBOOK_SOLUTIONS", str(bank.path.parent.parent))
    monkeypatch.setenv("GPUBOOK_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.chdir(tmp_path)
    assert check("own-order", ["nvlink", "pcie", "eth"]).kind == "right"
    assert check("own-order", "eth, pcie, nvlink").say.endswith("mistake-sentence-one.")
    assert check("own-order", 3).kind == "unreadable"
    assert check("own-guess", "pcie, nvlink, eth").say.startswith("Predicted: pcie > nvlink > eth.")
    assert "**nvlink > pcie > eth**" in str(reveal("own-guess"))


@pytest.mark.parametrize("under", ["", "NBGRADER_EXECUTION"])
def test_check_without_the_key_records_and_never_fails(folder, tmp_path, under):
    (tmp_path / "none").mkdir()
    env = os.environ | {
        "GPUBOOK_SOLUTIONS": str(tmp_path / "none"),
        "GPUBOOK_PROGRESS": str(tmp_path / "progress.json"),
        "GPUBOOK_EXERCISES": str(folder / "release" / "hw" / "exercises.json"),
    }
    if under:
        env[under] = "autograde"
    command = [sys.executable, "-c", WITHOUT_KEY]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:3] for line in lines[:10]] == [
        *([["recorded", "0.0", "0.0"]] * 6),
        *([["empty", "0.0", "0.0"]] * 2),
        *([["recorded", "0.0", "0.0"]] * 2),
    ]
    assert "Order them by bandwidth." in done.stdout
    assert "You predicted" in lines[-1]


def test_its_value_is_kept_and_judged_again_without_a_run(bank):
    message = encoding.encode(["nvlink", "pcie", "eth"])
    kept = rejudging.to_save(bank["own-order"], False, message)
    assert rejudging.still_valid(kept, bank["own-order"], False)
    assert bank["own-order"].answer.judged_by is JudgedBy.VALUE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="grading others' work needs Linux")
def test_a_class_is_graded_and_gets_feedback(folder, zygotes):
    said = CliRunner().invoke(commands.main, ["course", "check", str(folder)]).output
    assert said.splitlines() == ["own-order: ok", "own-guess: ok", "own-plan: ok"]
    release = nbformat.read(folder / "release" / "hw" / "hw.ipynb", as_version=4)
    for who, (source, _) in ANSWERS.items():
        answers = {} if source is None else {"own-order": source, "own-guess": source}
        if who in PLANS:
            answers["own-plan"] = (
                f'answer = {{"ranks": {PLANS[who][0]}, "chunk": "1 GB", "order": "ring", "splits": [1]}}'
            )
        hand_in(folder, who, tiny.fill(release, answers), name="hw")
    with pytest.MonkeyPatch.context() as patch:
        tiny.lend(patch, zygotes())
        done = CliRunner().invoke(commands.main, ["grade", str(folder), "hw"])
    assert done.exit_code == 0, done.output
    result = course.results(folder, "hw")
    orders = {learner.name: learner.results[0] for learner in result.learners}
    assert {who: (r.points, r.kind) for who, r in orders.items()} == {
        who: (2.0 if kind == "right" else 0.0, kind) for who, (_, kind) in ANSWERS.items()
    }
    guesses = {learner.name: learner.results[1].points for learner in result.learners}
    assert guesses == {"ann": 1.0, "bob": 1.0, "cy": 0.0, "dan": 0.0, "eve": 1.0}
    plans = {learner.name: learner.results[2] for learner in result.learners}
    assert {who: (r.points, r.kind) for who, r in plans.items()} == {
        "dan": (0.0, "empty"),
        **{who: (points, kind) for who, (_, points, kind) in PLANS.items()},
    }
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        scores = {s.student.id: s.score for s in gradebook.assignment_submissions("hw")}
    assert scores == {learner.name: learner.points for learner in result.learners}
    assert (scores["bob"], scores["cy"]) == (3.0, 1.0)
    feedback = BeautifulSoup((folder / "feedback" / "bob" / "hw" / "hw.html").read_text(), "html.parser")
    said = " ".join(feedback.get_text(" ").split())
    assert "mistake-sentence-one." in said
    assert "Answer: nvlink > pcie > eth" in said
    for part in ("◐ 2 of 3 points: 19.5 us", "Best known: 19 us", "ranks = 10, chunk = 1 GB"):
        assert part in said


def test_feedback_shows_the_order(bank):
    text = worked(bank["own-order"], f"### BEGIN SOLUTION\n{RIGHT}\n### END SOLUTION")
    assert f"```python\n{RIGHT}\n```" in text
    assert text.endswith("**Answer:** nvlink > pcie > eth\n\nThe explanation-of-order.")


def test_the_page_offers_and_judges_it(bank, root):
    one = bank["own-order"]
    fields = BeautifulSoup(answer_box.form(one, "07-links"), "html.parser").select("input[type=radio]")
    values = [field["value"] for field in fields]
    assert len(values) == 6
    kinds = [one.judge(one.answer.typed(value)).kind for value in values]
    assert sorted(kinds) == ["mistake", "mistake", "right", "wrong", "wrong", "wrong"]
    text = card(one, "1.1", RIGHT, "07-links", course=True)
    assert "In the notebook, `answer` is a list of these strings" in text
    assert '- `"eth"`: Ethernet' in text
    assert "mistake-sentence" not in text


@pytest.mark.nightly
def test_a_book_is_built_with_it(tmp_path, root):
    source = SOURCE + DESIGN.format(solution=SOLUTION)
    book = lay_out_site(tmp_path / "book", root, source, OWN + PLAN)
    renew(book / "solutions" / "07-links")
    page = BeautifulSoup((html.build(book, tmp_path / "out") / "07-links.html").read_text(), "html.parser")
    order, guess, plan = page.select(".exercise")
    assert len(order.select("form.answer-box input[type=radio]")) == 6
    assert "nvlink > pcie > eth" in order.select_one("details.solution").get_text()
    assert "mistake-sentence-two" in order.select_one("details.solution").get_text()
    assert guess.select_one("legend").get_text() == "Your prediction"
    assert "nvlink > pcie > eth" in page.select_one("details.reveal").get_text()
    (pars,) = plan.select("table")
    assert [label.code.get_text() for label in plan.select("form.answer-box label.field")] == list(GOOD)
    assert [row.get_text(" ", strip=True) for row in pars.select("tbody tr")] == [
        "1 40 us a report",
        "2 22.8 us",
        "3 19 us",
    ]
    assert [field["name"] for field in plan.select("form.answer-box [name]")] == list(GOOD)
    assert "mistake-sentence-three" in plan.select_one("details.solution").get_text()


def test_a_kind_of_a_file_that_is_at_hand_is_read_as_it_reads(bank):
    assert answer_from(bank["own-order"].public()).readable("eth, pcie, nvlink") == "eth > pcie > nvlink"

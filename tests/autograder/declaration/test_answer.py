"""What a kind of answer is: found by its name, asked for nothing that it has not, and compared nowhere else."""

import ast
import re
from dataclasses import dataclass

import pytest

from autograder import answers
from autograder.answers import Answer, Choice, Quantity, Written, answer_from
from autograder.answers.unread import Unread
from autograder.declaration import DeclarationError, Exercise, Verdict
from autograder.declaration.answer import REQUIRED, JudgedBy, kinds
from autograder.values import encoding

NAMES = {name for name, kind in kinds().items() if kind.__module__.startswith("autograder.")}
AT_HOME = ("answers", "declaration/answer.py", "written.py")  # where a kind may be called by its name


def comparisons(source: str) -> list[str]:
    """Where a module decides by the kind of an answer: by its name, by its class, or by a private mark of it."""
    nodes = [node for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno")]
    return [f"{node.lineno}: {ast.unparse(node)}" for node in nodes if any(rule(node) for rule in RULES)]


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in NAMES


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(one.name in NAMES for one in node.names)


def _is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in NAMES and ast.unparse(node.value).endswith("answers")


def _is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "in_ranks"


def _asks_class(node: ast.AST) -> bool:
    """`isinstance(exercise.answer, ...)`; an exercise itself may say what its own is called."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("isinstance", "type"):
        return False
    return isinstance(node.args[0], ast.Attribute) and ast.unparse(node.args[0]).removeprefix("self.").endswith(
        ".answer"
    )


def _compares(node: ast.AST) -> bool:
    return isinstance(node, ast.Compare) and _is_exercise_kind(node.left)


def _is_exercise_kind(node: ast.expr) -> bool:
    """`exercise.kind`, `bank[name].kind`, `public["kind"]`; other things have a kind, too."""
    if isinstance(node, ast.Attribute) and node.attr == "kind":
        return ast.unparse(node.value) == "exercise" or ast.unparse(node.value).startswith("bank[")
    return isinstance(node, ast.Subscript) and ast.unparse(node) in ("public['kind']", "found.public['kind']")


RULES = (_is_name, _is_import, _is_class, _is_mark, _asks_class, _compares)


@pytest.mark.parametrize(
    "source",
    [
        "if exercise.kind == 'Count': pass",
        "if exercise.kind in KINDS: pass",
        "if bank[name].kind != mine: pass",
        "if public['kind'] == wanted: pass",
        "say = {'Choice': 'one of these'}[exercise.kind]",
        "if isinstance(exercise.answer, Mine): pass",
        "if type(exercise.answer) is mine: pass",
        "from ..answers.written import Written",
        "if issubclass(kind, answers.Algorithm): pass",
        "alone = exercise.answer.in_ranks",
        "match exercise.kind:\n    case 'Function': pass",
    ],
)
def test_a_comparison_of_kinds_is_found(source):
    assert len(comparisons(source)) >= 1


def test_no_module_compares_answer_kinds_but_the_kinds(root):
    home = root / "autograder"
    files = [path for path in home.rglob("*.py") if not str(path.relative_to(home)).startswith(AT_HOME)]
    assert len(files) > 80
    offenders = [f"{path.relative_to(root)}:{found}" for path in files for found in comparisons(path.read_text())]
    assert offenders == []


def test_the_pages_script_is_told_by_data(root):
    script = (root / "docs" / "_static" / "card.js").read_text()
    names = "|".join(sorted(NAMES))
    assert re.findall(rf"""["'](?:{names})["']|\b(?:{names})\s*:|box\.kind""", script, re.IGNORECASE) == []
    assert "dataset.input" in script


def test_the_kinds_of_the_book_are_known_by_their_names():
    exported = {
        name
        for name in answers.__all__
        if isinstance(one := getattr(answers, name), type) and issubclass(one, Answer) and one is not Answer
    }
    assert exported == NAMES >= {"Choice", "Written"}


@dataclass(frozen=True)
class Parity(Answer):
    """Whether a number is even: the smallest kind there is."""

    how = "`answer` is True or False"

    def readable(self, value):
        return "even" if value else "odd"

    def judge(self, exercise, value, given, call=None):
        return exercise.right() if value is exercise.solution else Verdict(0.0, "No.", "wrong")


def test_three_methods_make_a_kind():
    even = Exercise(id="own-even", prompt="Is 4 even?", answer=Parity(), solution=True)
    assert "Parity" in kinds()
    assert even.judge(True).kind == "right"
    assert answer_from(even.public()) == Parity()
    assert even.answer.box(even) is None


@pytest.mark.parametrize("missing", REQUIRED)
def test_a_kind_that_lacks_a_method_is_named(missing):
    own = {name: getattr(Parity, name) for name in REQUIRED if name != missing}
    half = type("Half", (Answer,), own)
    with pytest.raises(DeclarationError, match=rf"own-half: .* Half lacks {missing};"):
        Exercise(id="own-half", prompt="?", answer=half(), solution=1)


@pytest.mark.parametrize("answer", [None, 3, "Quantity", Quantity, object()])
def test_what_is_not_a_kind_is_told_which_there_are(answer):
    with pytest.raises(DeclarationError, match=r"own-no: answer is .*Algorithm, Choice, Count"):
        Exercise(id="own-no", prompt="?", answer=answer, solution=1)


def test_who_judges_is_one_of_four():
    odd = type("Odd", (Parity,), {"judged_by": "value"})
    with pytest.raises(DeclarationError, match=r"judged_by of Odd is 'value'; one of JudgedBy.VALUE"):
        Exercise(id="own-odd", prompt="?", answer=odd(), solution=True)


def test_the_name_of_a_kind_of_the_book_is_taken():
    with pytest.raises(DeclarationError, match=r"Choice is in autograder\.answers\.choice"):
        type("Choice", (Answer,), {})
    assert type(answer_from({"kind": "Choice", "options": {"a": "A", "b": "B"}})) is Choice


def test_a_public_record_keeps_the_fields_of_every_exercise():
    greedy = type("Greedy", (Parity,), {"public": lambda self: {"points": 9}})
    with pytest.raises(DeclarationError, match=r"Greedy .*points"):
        Exercise(id="own-greedy", prompt="?", answer=greedy(), solution=True).public()


def test_a_prediction_is_of_a_kind_that_can_be_one():
    able = " or a ".join(name for name, kind in kinds().items() if kind.predictable)  # a course's own among them
    with pytest.raises(DeclarationError, match=f"prediction.* {able}, not Parity"):
        Exercise(id="own-guess", prompt="?", answer=Parity(), solution=True, predict=True)


@pytest.mark.parametrize(
    "public", [{"kind": "Ranks of old"}, {}, {"kind": None}, {"kind": "Choice"}, {"kind": "Expression", "unit": "1"}]
)
def test_a_record_that_cannot_be_read_here_still_records_an_answer(public):
    answer = answer_from(public)
    assert type(answer) is Unread
    assert answer.asked_with() == ""
    verdict = answer.recorded(encoding.encode(["b", "a"]))
    assert (verdict.kind, verdict.score) == ("recorded", 0.0)
    assert answer.recorded(encoding.encode(None)).kind == "empty"


def test_points_of_a_written_exercise_come_from_its_rubric():
    rubric = (("One.", 1), ("Another.", 2.5))
    assert Exercise(id="own-why", prompt="Why?", answer=Written(rubric), solution="So.").points == 3.5
    assert Written(rubric).judged_by is JudgedBy.TEACHER

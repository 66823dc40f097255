import json
import re
import subprocess
import sys

import pytest

from autograder.answers import Choice, Count, Expression, Quantity, positive
from autograder.declaration import DeclarationError, Exercise, Mistake, load_bank
from autograder.declaration.verdict import Verdict
from hwlib.units import GB, MB, us


def ring(n, S, alpha, W):
    return 2 * (n - 1) * alpha + 2 * (n - 1) / n * (S / W)


def make(**changes):
    fields = {
        "id": "collectives-ring-time",
        "points": 3,
        "prompt": "{n} GPUs all-reduce {S:B}; a link carries {W:B/s} and a step costs {alpha:s}.",
        "given": {"n": [4, 8, 16], "S": [100 * MB, 1 * GB], "alpha": [2 * us], "W": [50 * GB, 450 * GB]},
        "answer": Quantity("s"),
        "solution": ring,
        "hints": ("How many steps?",),
        "mistakes": (
            Mistake(lambda S, W: S / W, "Each byte crosses a link about twice."),
            Mistake(lambda n, S, alpha, W: 2 * (n - 1) * (alpha + S / W), "A step moves S/n bytes."),
        ),
    }
    return Exercise(**(fields | changes))


def test_the_books_numbers_are_the_first_and_the_prompt_shows_them():
    e = make()
    assert e.variant() == {"n": 4, "S": 1e8, "alpha": 2e-6, "W": 5e10}
    assert e.prompt_text() == "4 GPUs all-reduce 100 MB; a link carries 50 GB/s and a step costs 2 us."
    assert e.prompt_text(letters=True) == r"$n$ GPUs all-reduce $S$; a link carries $W$ and a step costs $\alpha$."
    assert e.prompt_text(e.variants()[-1]).startswith("16 GPUs all-reduce 1 GB")


def test_rows_belong_together():
    e = make(given=[{"n": 4, "S": 1e8, "alpha": 1e-6, "W": 5e10}, {"n": 8, "S": 1e9, "alpha": 2e-6, "W": 4.5e11}])
    assert e.variant_count == 2
    assert e.variant("any") in e.variants()


def test_a_draw_depends_on_id_and_owner_only_and_is_the_same_in_another_python():
    e = make()
    owners = [f"learner{i}" for i in range(40)]
    drawn = [e.variant(o) for o in owners]
    assert drawn == [make().variant(o) for o in owners]
    assert len({json.dumps(d) for d in drawn}) > 5
    code = (
        "from tests.autograder.declaration.test_declaration import make; import json; "
        f"print(json.dumps([make().variant(o) for o in {owners!r}]))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "77", "PYTHONPATH": "."},
    )
    assert json.loads(out.stdout) == drawn


def test_a_variant_in_which_two_wrong_answers_look_alike_is_not_drawn():
    # With two ranks and no latency the time is S/W, which is the first mistake.
    e = make(given={"n": [16, 2], "S": [1e9], "alpha": [0.0], "W": [5e10]})
    assert [row["n"] for row in e.drawn()] == [16]
    assert e.answer.collisions(e, e.variants()[1])
    assert {e.variant(f"o{i}")["n"] for i in range(20)} == {16}


def test_where_all_collide_the_verdict_gives_both_sentences():
    half = Mistake(lambda n, S, alpha, W: ring(n, S, alpha, W) / 2, "That is one of the two phases.")
    e = make(mistakes=(half, Mistake(lambda n, S, alpha, W: ring(n, S, alpha, W) / 1.999, "Another.")))
    assert len(e.drawn()) == e.variant_count
    verdict = e.judge(e.expected(e.variant()) / 2)
    assert verdict.score == 0
    assert all(text in verdict.say for text in ("one of the two phases", "Another."))
    assert "factor of 2" not in verdict.say  # a mistake knows the exercise, the slip of the same ratio does not


def test_public_holds_what_a_learner_may_know_and_no_more():
    text = json.dumps(make().public())
    assert "100 MB" in text
    assert "How many steps?" in text
    assert "crosses" not in text
    assert make().public()["given"] == make().variant()
    varied = make().public(variants=True)
    assert "given" not in varied
    assert "100 MB" not in varied["prompt"]
    assert varied["variants"] == make().drawn()


@pytest.mark.parametrize(
    ("changes", "say"),
    [
        ({"id": "Ring"}, "id 'Ring'.* 'rooflines-ridge'"),
        ({"id": 3}, "id 3.* 'rooflines-ridge'"),
        ({"points": 0}, "points .* 0;"),
        ({"points": float("nan")}, "points .* nan;"),
        ({"mistakes": Mistake(1, "x")}, "mistakes .*tuple"),
        ({"hints": "one"}, "hints .*tuple"),
        ({"answer": "s"}, "Quantity"),
        ({"given": []}, "given .*dicts"),
        ({"given": [{"n": 1}, {"m": 1}]}, "rows of given "),
        ({"given": {"n": list(range(20_000))}}, "20000 .* 10000"),
        ({"answer": Quantity("s", rtol=2)}, "rtol .* 2;"),
        ({"answer": Count(), "predict": True}, "Choice .* Quantity, not Count"),
        ({"answer": Expression({})}, "symbols"),
        ({"answer": Expression({"n": positive()}), "solution": 3}, "solution .* Expression"),
        ({"answer": Choice(("x", "y")), "solution": "z", "mistakes": ()}, "`z`"),
    ],
)
def test_a_wrong_declaration_says_what_was_expected(changes, say):
    with pytest.raises(DeclarationError, match=say):
        make(**changes)


GOOD = """
from autograder.answers import Count
from autograder.declaration import Exercise
ONE = Exercise(id="t-one", prompt="One?", answer=Count(), solution=lambda: 1)
ALIAS = ONE
MORE = [Exercise(id="t-two", prompt="Two?", answer=Count(), solution=lambda: 2)]
helper = 3
"""


def test_a_bank_is_loaded_by_path_in_order(tmp_path):
    folder = tmp_path / "03-things"
    folder.mkdir()
    (folder / "exercises.py").write_text(GOOD)
    bank = load_bank(folder)
    assert list(bank) == ["t-one", "t-two"]
    assert bank.namespace["helper"] == 3
    assert bank.path == (folder / "exercises.py").resolve()
    assert bank["t-one"].solution.__module__ == "gpubook_03_things"
    assert bank.public()["exercises"]["t-two"]["kind"] == "Count"


@pytest.mark.parametrize(
    ("source", "say"),
    [
        (
            GOOD + 'TWICE = Exercise(id="t-one", prompt="?", answer=Count(), solution=lambda: 1)',
            "'t-one' .*twice",
        ),
        ("x = 1\n1/0\n", "exercises.py:2: ZeroDivisionError"),
        ("def (:\n", "SyntaxError"),
        ("import nowhere_at_all", "nowhere_at_all"),
    ],
)
def test_a_broken_file_is_named(tmp_path, source, say):
    (tmp_path / "exercises.py").write_text(source)
    with pytest.raises(DeclarationError, match=say) as raised:
        load_bank(tmp_path / "exercises.py")
    assert str(tmp_path) in str(raised.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DeclarationError, match=r"none\.py"):
        load_bank(tmp_path / "none.py")


def test_stubs_run_and_mean_no_answer_yet():
    for answer, solution in ((Quantity("s"), ring), (Choice({"x": "X", "y": "Y"}), "x")):
        e = make(answer=answer, solution=solution, mistakes=())
        scope = {}
        exec(e.stub(), scope)
        assert e.judge(scope["answer"]).kind == "empty"


def test_a_prediction_scores_for_being_made_and_explains_the_gap():
    e = make(
        answer=Choice({"up": "It rises", "down": "It falls"}),
        solution="down",
        predict=True,
        explain="See why.",
        mistakes=(Mistake("up", "It would rise if links were free."),),
    )
    up, down = e.judge("up"), e.judge("down")
    assert [(verdict.score, verdict.kind) for verdict in (up, down)] == [(1.0, "predicted")] * 2
    assert up.say.endswith("It would rise if links were free. See why.")
    assert down.say == "You predicted right. See why."
    assert [(verdict.reason, verdict.sign) for verdict in (up, down)] == [("", "→"), ("as-predicted", "✓")]
    assert e.judge("sideways").score == 0
    assert e.judge(...).kind == "empty"


def test_an_explanation_has_the_numbers_of_the_learner():
    e = make(explain="{n} ranks pass on {S:B}.")
    given = {"n": 16, "S": 1 * GB, "alpha": 2 * us, "W": 50 * GB}
    assert e.judge(ring(**given), given).say.endswith("16 ranks pass on 1 GB.")
    guess = make(predict=True, answer=Choice(("up", "down")), solution="a", mistakes=(), explain="{n} ranks.")
    assert guess.judge("a", given).say.endswith("16 ranks.")


def test_a_prediction_is_not_told_to_go_on():
    asked = Exercise(
        id="a-guess",
        prompt="?",
        answer=Quantity("s"),
        solution=2.0,
        predict=True,
        hints=("Halve.",),
        explain="Because.",
    )
    verdict = asked.judge(3.1)
    assert (verdict.kind, verdict.wants_hint) == ("predicted", False)
    assert "Not yet" not in verdict.say
    assert verdict.say.endswith("Because.")


@pytest.mark.parametrize(
    ("verdict", "hue"),
    [
        (Verdict(1.0, "Right.", "right"), "success"),
        (Verdict(0.0, "No.", "mistake"), "error"),
        (Verdict(0.5, "Half.", "partial"), "warn"),
        (Verdict(0.0, "Recorded.", "recorded"), "warn"),
        (Verdict(1.0, "It came true.", "predicted", "as-predicted"), "success"),
    ],
)
def test_a_notebook_shows_a_verdict_in_its_colour_with_its_sign_and_a_status(verdict, hue):
    shown = verdict._repr_html_()
    assert f"var(--jp-{hue}-color1, " in shown
    assert 'role="status"' in shown
    assert f"<strong>{verdict.sign}</strong> {verdict.say}</div>" in shown


def test_a_verdict_in_a_notebook_has_its_formulas_in_tex():
    assert r"<code>x</code> is \(S/n\)" in re.sub("</?span[^>]*>", "", Verdict(0.0, "`x` is $S/n$")._repr_html_())

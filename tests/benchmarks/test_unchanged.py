"""How runs of public programs are told apart, on a program of a few lines."""

import pytest

from benchmarks.unchanged import TINY, PublicProgram, RunOutcome, outcome_of, run_unchanged, table

STEPS = "step 1: 15.01 us, of that 15 us waiting\nstep 2: 1.2 ms, of that 0 s waiting\n"


@pytest.mark.parametrize(
    ("status", "output", "outcome"),
    [
        (0, STEPS, RunOutcome("works", 2, "1.2 ms")),
        (0, STEPS + "to launch one takes a host", RunOutcome("works", 2, "1.2 ms", TINY)),
        (1, STEPS + "hwlib.virtual: a.py line 3: no", RunOutcome("sentence", 2, words="a.py line 3: no")),
        (1, "Traceback\nTypeError: no", RunOutcome("traceback", words="TypeError: no")),
        (0, "", RunOutcome("traceback", words="exit status 0")),
        (137, "", RunOutcome("traceback", words="exit status 137")),
    ],
)
def test_a_run_works_or_ends_in_a_sentence_or_a_traceback(status, output, outcome):
    assert outcome_of(status, output) == outcome


@pytest.mark.nightly
def test_a_program_runs_in_a_copy_of_its_folder(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "train.py").write_text("import os, sys\nos.mkdir(sys.argv[1])\nopen('left.bin')\n")
    program = PublicProgram("repository", "train.py", ("made",))
    outcome = run_unchanged(program, tmp_path)
    assert outcome.kind == "sentence"
    assert "train.py line 3" in outcome.words
    assert [path.name for path in folder.iterdir()] == ["train.py"]
    assert len(list(table([(program, outcome)]))) == 3

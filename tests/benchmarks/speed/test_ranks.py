import pytest
from click.testing import CliRunner

from benchmarks.speed.ranks import main


@pytest.mark.nightly
@pytest.mark.slow
def test_each_launcher_is_timed():
    done = CliRunner().invoke(main, ["--repeats", "1", "--ranks", "2"])
    assert done.exit_code == 0, done.output
    assert [line.split(":")[0].split() for line in done.output.splitlines()[1:]] == [
        ["2", "ranks,", name] for name in ("run_ranks", "torchrun", "mp.spawn")
    ]

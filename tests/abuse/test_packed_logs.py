"""What a small compressed file may unpack to, of the logs and traces that readers take."""

import bz2
import gzip
import lzma

import pytest

from autograder.cli.input_files import RATIO, SMALL, input_bytes
from autograder.cli.plan import CannotBe

PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
PIECE = b"\n" * (1 << 20)


@pytest.mark.parametrize("packer", PACKERS)
def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path, packer):
    path = tmp_path / "log"
    path.write_bytes(PACKERS[packer](PIECE) * 300)  # pieces behind one another are one stream
    with pytest.raises(CannotBe, match=r"log: .* unpack to more than"):
        input_bytes(path)


def test_what_is_small_once_unpacked_may_be_of_one_line(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(PIECE) * (int(SMALL) >> 20))
    assert len(path.read_bytes()) * RATIO < SMALL
    assert len(input_bytes(path)) == SMALL
    path.write_bytes(gzip.compress(PIECE) * (int(SMALL) >> 20) + gzip.compress(b"\n"))
    with pytest.raises(CannotBe):
        input_bytes(path)

"""The same generators on real gloo ranks: values, bytes and rounds are those of the simulator."""

import numpy as np
import pytest

from hwlib.simulate import lockstep
from tests.hwlib.inputs import expected, inputs_of
from tests.hwlib.ranks import cases, results


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 4])
def test_real_ranks_do_what_the_simulator_does(n):
    got = results(n)
    assert len(got) > 150
    for i, case in enumerate(cases(n)):
        xs = inputs_of(case.name, n, case.count, **case.options)
        run = lockstep(case.name, xs, **case.options)
        known = {key: value for key, value in case.options.items() if key in ("root", "counts")}
        for rank, want in enumerate(expected(case.name, xs, **known)):
            real, where = got[i][rank], f"rank {rank} of {case}"
            if want is None:
                assert real.output is None, where
            else:
                np.testing.assert_array_equal(real.output, want, err_msg=where)
                np.testing.assert_array_equal(run.outputs[rank], want, err_msg=where)
            assert real.sent_bytes == run.sent_bytes[rank], where
            assert real.received_bytes == run.received_bytes[rank], where
        assert max(real.rounds for real in got[i]) == run.rounds, case

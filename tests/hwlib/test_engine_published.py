"""The engine against a server that NVIDIA measured: nothing in it was fitted to a server."""

import pytest

from hwlib.engine import Request, cache_room, run_engine, step_cost
from hwlib.specs import measured_users

ROWS = {row.users: row for row in measured_users("llama3-70b")}
COST = step_cost("llama3-70b", "h100-sxm", tp=2, b_w=1, b_kv=1, dtype="fp8")
ROOM = cache_room("llama3-70b", "h100-sxm", tp=2, b_w=1, b_kv=1)


@pytest.mark.parametrize(("users", "late"), [(1, 0.15), (50, 0.35), (150, 0.05)])
def test_a_closed_load_waits_and_generates_as_measured(users, late):
    """The means of all but the first and the last requests of each user, which begin and end together here."""
    row = ROWS[users]
    run = run_engine(
        [Request(0, row.input, row.output)] * 4 * users, COST, room=ROOM, users=users, reserve=True, gpus=2
    )
    kept = run.outcomes[users:-users] if users > 1 else run.outcomes
    ttft, tbt = (sum(values) / len(kept) for values in ([one.ttft for one in kept], [one.tpot for one in kept]))
    assert ttft == pytest.approx(row.ttft, rel=late)
    assert 0.8 < tbt / row.tbt < 0.95  # software between the steps is not in the model
    assert 1.03 < run.tokens_per_second / row.rate < 1.2


def test_the_cache_is_full_where_the_wait_jumps():
    most = ROOM // 5500
    assert 50 < most < 100
    assert ROWS[100].ttft > 9 * ROWS[50].ttft
    assert ROWS[250].rate * ROWS[250].tbt == pytest.approx(most, rel=0.06)  # Little's law: those who generate

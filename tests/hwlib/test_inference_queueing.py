"""Queues: what lecture notes print, limits, and a queue that is played request by request."""

import math
from random import Random

import pytest

from hwlib.inference import (
    kingman_wait,
    mg1_wait,
    mm1_load,
    mm1_quantile,
    poisson_arrivals,
    pooled_wait,
    queue_stays,
    requests_at_once,
    residual_time,
    server_load,
    shared_stays,
    squared_variation,
)
from hwlib.specs import SpecError, measured_lengths, measured_services

COUNT = 40_000


def mean(values):
    return sum(values) / len(values)


@pytest.mark.parametrize(("n_srv", "wait"), [(1, 9.00), (2, 4.26), (5, 1.53), (10, 0.67), (20, 0.28)])
def test_servers_that_share_a_queue_wait_as_adan_and_resing_print(n_srv, wait):
    """Their table 5.1: M/M/c at a load of 0.9 and a mean service of 1. Sakasegawa's form is an approximation."""
    assert pooled_wait(0.9, 1, 1, 1, n_srv) == pytest.approx(wait, rel=0.035)


def test_one_server_is_a_special_case_of_every_form():
    assert (
        pooled_wait(0.7, 2, 1, 3, 1) == pytest.approx(mg1_wait(0.7, 2, 3)) == pytest.approx(kingman_wait(0.7, 2, 1, 3))
    )


def test_what_is_left_of_equal_requests_is_half_of_one():
    assert residual_time(3, 0) == 1.5
    assert residual_time(3, 1) == 3  # an exponential time has no memory


@pytest.mark.parametrize("cv2", [0.0, 1.0, 3.0])
def test_a_played_queue_waits_as_pollaczek_and_khinchine_say(cv2):
    rng = Random(3)
    draw = {
        0.0: lambda: 1.0,
        1.0: lambda: rng.expovariate(1),
        3.0: lambda: rng.choices([0.5, 6.5], [11, 1])[0] / 1.0,  # mean 1, and a variance of 3
    }[cv2]
    services = [draw() for _ in range(COUNT)]
    stays = queue_stays(poisson_arrivals(0.6, COUNT, seed=4), services)
    wait = mean(stays) - mean(services)
    assert wait == pytest.approx(mg1_wait(0.6, 1.0, cv2), rel=0.1)


def test_the_played_queue_obeys_little():
    arrivals = poisson_arrivals(0.5, COUNT)
    stays = queue_stays(arrivals, [1.0] * COUNT)
    inside = sum(stays) / (arrivals[-1] + stays[-1])
    assert inside == pytest.approx(requests_at_once(0.5, mean(stays)), rel=0.02)
    assert server_load(0.5, 1.0) == 0.5


def test_99_per_cent_of_a_played_mm1_stay_below_its_quantile():
    rng = Random(1)
    stays = sorted(queue_stays(poisson_arrivals(0.5, COUNT, 2), [rng.expovariate(1) for _ in range(COUNT)]))
    assert stays[int(0.99 * COUNT)] == pytest.approx(mm1_quantile(0.5, 1, 0.99), rel=0.1)
    assert mm1_quantile(mm1_load(0.4, 0.99, 6), 0.4, 0.99) == pytest.approx(6)


def test_shared_service_forgets_how_times_vary():
    """Processor sharing stays t/(1 - load) on average, whatever the distribution of the service (Adan and Resing)."""
    rng = Random(5)
    services = [rng.choices([0.5, 6.5], [11, 1])[0] for _ in range(20_000)]
    stays = shared_stays(poisson_arrivals(0.5, 20_000, 6), services, 0.25)
    assert mean(stays) == pytest.approx(2.0, rel=0.15)


def test_a_slice_that_holds_every_request_is_first_come_first_served():
    arrivals, services = [0.0, 0.1, 5.0], [1.0, 2.0, 1.0]
    assert shared_stays(arrivals, services, 10) == pytest.approx(queue_stays(arrivals, services))


def test_the_shortest_goes_first_and_nobody_is_interrupted():
    assert queue_stays([0.0, 0.1, 0.2], [5.0, 3.0, 1.0], order="shortest") == pytest.approx([5.0, 8.9, 5.8])
    assert queue_stays([0.0, 0.1, 0.2], [5.0, 3.0, 1.0], servers=2) == pytest.approx([5.0, 3.0, 3.9])


def test_what_cannot_be_asked():
    with pytest.raises(ValueError, match="below 1"):
        mm1_quantile(1.0, 1, 0.99)
    with pytest.raises(ValueError, match="longest"):
        queue_stays([0.0], [1.0], order="longest")


def test_published_traces_keep_their_means_and_variations():
    """Azure's conversations: 19,366 requests of 1,154.7 tokens; a squared variation of 0.92 before slicing."""
    inputs = [row.input for row in measured_lengths("azure-conversation")]
    assert mean(inputs) == pytest.approx(1154.7, rel=0.002)
    assert squared_variation(inputs) == pytest.approx(0.922, abs=0.01)
    with pytest.raises((ValueError, SpecError), match="mooncake"):
        measured_lengths("nobody")


def test_one_machine_serves_faster_with_a_promise():
    """Of the rows: Llama 3 8B on four H200-NVL, whose two entries are of one submitter and one release."""
    shares = {row.key: row.server / row.offline for row in measured_services()}
    assert len(shares) == 42
    assert [key for key, share in shares.items() if share >= 1] == ["mlperf51-llama3-8b-h200-nvl-x4"]
    assert min(shares.values()) > 0.45
    assert max(shares.values()) < 1.03
    assert math.isclose(next(r for r in measured_services("llama3-405b")).ttft, 6.0)

"""Requests that come and go: how many are there at once, how long they wait, and which load an objective allows.

Formulas of a queue at the mean, and a queue played request by request, which gives the whole distribution.
"""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import log
from random import Random

from hwlib.formula import formula, sqrt


@formula("N_req", cite="little1961")
def requests_at_once(R_req, t_stay):
    """Whatever is inside a boundary, at the mean: those who come in a second, times the seconds that each stays."""
    return R_req * t_stay


@formula("load", cite="adan2015")
def server_load(R_req, t_srv, n_srv=1):
    """The share of the time in which a server works: what comes in a second takes so many seconds of n servers."""
    return R_req * t_srv / n_srv


@formula("t_resid", cite="adan2015")
def residual_time(t_srv, cv2):
    """What is left of the request that an arrival finds in service: half of it if all are alike, and more where
    they are not, since an arrival meets a long one more often than a short one.
    """
    return t_srv * (1 + cv2) / 2


@formula("t_wait", cite="adan2015")
def mg1_wait(load, t_srv, cv2):
    """Pollaczek and Khinchine: with arrivals at random, one server and any times of service.

    An arrival waits for the rest of the request in service and for all that stand before it. cv2 = 0 is M/D/1, and
    cv2 = 1 is M/M/1.
    """
    return load / (1 - load) * residual_time(t_srv, cv2)


@formula("t_wait", cite="kingman1961")
def kingman_wait(load, t_srv, cv2_gap, cv2):
    """Kingman's approximation for arrivals that are not at random: exact for cv2_gap = 1, good near a load of 1."""
    return load / (1 - load) * ((cv2_gap + cv2) / 2) * t_srv


@formula("t_wait", cite="sakasegawa1977")
def pooled_wait(load, t_srv, cv2_gap, cv2, n_srv):
    """Sakasegawa's approximation for n servers with one queue: an arrival waits only where all of them are busy."""
    return load ** (sqrt(2 * (n_srv + 1)) - 1) / (n_srv * (1 - load)) * ((cv2_gap + cv2) / 2) * t_srv


def mm1_quantile(load: float, t_srv: float, share: float) -> float:
    """Seconds that the given share of all requests stays below in M/M/1, waiting and service together.

    That time is distributed exponentially with the mean t_srv/(1 - load), so that 99 % stay below 4.6 times the mean
    (Adan and Resing, section 4). Raises ValueError for a load or a share that is not below 1.

    >>> round(mm1_quantile(load=0.5, t_srv=1.0, share=0.99), 2)
    9.21
    """
    if not (0 <= load < 1 and 0 <= share < 1):
        raise ValueError(f"load and share are at least 0 and below 1, got {load} and {share}")
    return -t_srv / (1 - load) * log(1 - share)


def mm1_load(t_srv: float, share: float, limit: float) -> float:
    """The load at which the given share of all requests stays below `limit` seconds in M/M/1; 0 where none does.

    The inverse of `mm1_quantile`.

    >>> round(mm1_load(t_srv=0.4, share=0.99, limit=6), 2)
    0.69
    """
    return max(0.0, 1 + t_srv * log(1 - share) / limit)


def poisson_arrivals(rate: float, count: int, seed: int = 0) -> list[float]:
    """Times of arrivals at random: the gaps between them are exponential, with the mean 1/rate."""
    rng, now, times = Random(seed), 0.0, []
    for _ in range(count):
        now += rng.expovariate(rate)
        times.append(now)
    return times


def queue_stays(
    arrivals: Sequence[float], services: Sequence[float], servers: int = 1, order: str = "first"
) -> list[float]:
    """Seconds that each request stays, waiting and service together, at some servers with one queue.

    `order` says who is next: "first" the one that came first, "shortest" the one with the shortest service. A request
    in service is not interrupted. Raises ValueError for another order.
    """
    if order not in ("first", "shortest"):
        raise ValueError(f'order is "first" or "shortest", got {order!r}')
    free = [0.0] * servers
    waiting: list[tuple[float, int]] = []
    stays = [0.0] * len(arrivals)
    coming = 0
    while coming < len(arrivals) or waiting:
        start = heappop(free)
        if not waiting:
            start = max(start, arrivals[coming])
        while coming < len(arrivals) and arrivals[coming] <= start:
            heappush(waiting, (services[coming] if order == "shortest" else coming, coming))
            coming += 1
        _, request = heappop(waiting)
        stays[request] = start + services[request] - arrivals[request]
        heappush(free, start + services[request])
    return stays


def shared_stays(arrivals: Sequence[float], services: Sequence[float], slice_time: float) -> list[float]:
    """Seconds that each request stays at one server that serves all who are there in turn, `slice_time` at a time.

    A new one stands behind those who are there. The smaller the slice, the nearer to what is called processor
    sharing.
    """
    stays = [0.0] * len(arrivals)
    turn: list[tuple[int, float]] = []
    now, coming, head = 0.0, 0, 0
    while coming < len(arrivals) or head < len(turn):
        if head == len(turn):
            now = max(now, arrivals[coming])
        while coming < len(arrivals) and arrivals[coming] <= now:
            turn.append((coming, services[coming]))
            coming += 1
        request, left = turn[head]
        head += 1
        done = min(left, slice_time)
        now += done
        while coming < len(arrivals) and arrivals[coming] <= now:
            turn.append((coming, services[coming]))
            coming += 1
        if left > done:
            turn.append((request, left - done))
        else:
            stays[request] = now - arrivals[request]
        if head > 10000:
            del turn[:head]
            head = 0
    return stays


def squared_variation(times: Iterable[float]) -> float:
    """Variance over the mean squared, the C^2 of the formulas: 0 if all are alike, 1 for an exponential distribution.

    >>> squared_variation([1, 1, 4])
    0.5
    """
    times = list(times)
    mean = sum(times) / len(times)
    return sum((t / mean - 1) ** 2 for t in times) / len(times)

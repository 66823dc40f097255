"""The peak of a rank's memory, by hand."""

import copy
import gc
import io
import threading

import pytest

torch = pytest.importorskip("torch")

from autograder.ranks._torch import metered, numbers_stay_in_tensors  # noqa: E402
from autograder.ranks.memory_meter import paused, unmetered  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def little_to_collect():
    """As in a rank's process: a peak collects garbage, which takes long where torch is part of it."""
    gc.freeze()
    yield
    gc.unfreeze()


KIB = 1024  # a tensor of 128 float64 numbers


def tensor(kib=1):
    return torch.ones(128 * kib, dtype=torch.float64)


def peak(function, *given):
    with metered(function, given) as found:
        function(*given)
    return found.bytes / KIB


def test_what_was_given_does_not_count_and_a_view_neither():
    assert peak(lambda x: x.view(2, -1)[0].mul_(2), tensor()) == 0
    assert peak(lambda x: x + 1, tensor()) == 1


def test_what_is_gone_does_not_count():
    def passes(x):
        for _ in range(5):
            x = x + 1

    assert peak(passes, tensor()) == 2  # the new one and the one before


def test_all_that_is_kept_counts():
    def keeps(x):
        return [x + number for number in range(5)]

    assert peak(keeps, tensor()) == 5


def test_what_autograd_keeps_counts_and_is_gone_after_the_backward_pass():
    def trains(x):
        x.requires_grad_()
        y = x
        for _ in range(4):
            y = y.tanh()  # each keeps its result
        y.backward(x.detach())
        return tensor(after)

    after = 20
    assert peak(trains, tensor()) == 22  # that, y and x.grad
    after = 0
    assert 5 <= peak(trains, tensor()) <= 6  # four results, and what the backward pass makes


def test_cycles_do_not_count():
    def circles(x):
        for _ in range(20):
            ring = [x + 1]
            ring.append(ring)

    assert peak(circles, tensor()) <= 2


def test_a_storage_that_is_freed_and_grows():
    def resizes(x):
        y = x + 1
        y.untyped_storage().resize_(0)
        z = x + 2
        return y, z

    assert peak(resizes, tensor()) == 1
    assert peak(lambda x: (x.untyped_storage().resize_(4 * KIB), x.add_(1)), tensor()) == 3


def test_hooks_and_no_grad_count():
    def hook(_):
        tensor(8)

    def hooked(x):
        x.requires_grad_().register_post_accumulate_grad_hook(hook)
        x.sum().backward()

    assert 9 <= peak(hooked, tensor()) < 10  # and x.grad
    with torch.no_grad():
        assert peak(lambda x: x + 1, tensor()) == 1


def test_what_is_not_of_this_machine_does_not_count():
    assert peak(lambda x: torch.empty(10**6, device="meta") + 1, tensor()) == 0


def test_the_networks_own_tensors_do_not_count():
    def sends(x):
        with unmetered():
            (x + 1).numpy()

    assert peak(sends, tensor()) == 0


def test_the_line_of_the_peak():
    with metered(test_the_line_of_the_peak, ()) as found:
        small = tensor()
        large = small.repeat(4)
        small = small + large[:1]
    assert found.line == "small = small + large[:1]"


def test_numbers_stay_in_tensors():
    x = tensor()
    with metered(tensor, ()), numbers_stay_in_tensors(paused):
        assert x[:3].tolist() == [1.0] * 3
        with pytest.raises(RuntimeError, match="numpy"):
            x.numpy()
        with pytest.raises(RuntimeError, match="tolist"):
            x.tolist()
        with pytest.raises(RuntimeError, match="__reduce_ex__"):
            torch.save(x, io.BytesIO())
        with pytest.raises(RuntimeError, match="another"):
            threading.Thread(target=tensor).start()
        with pytest.raises(RuntimeError, match="sparse_coo"):
            x.to_sparse()
        with unmetered():
            assert x.numpy()[0] == 1
    assert x.numpy()[0] == 1
    assert copy.deepcopy(x).equal(x)

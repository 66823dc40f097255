"""The labs of experts: their solutions are the dense layer's, and one copy a node leaves fewer bytes."""

import inspect
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from autograder.answers import Case
from autograder.declaration import load_bank
from autograder.ranks.generators import Budget

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch")
BANK = Path(__file__).resolve().parent.parent / "solutions" / "13-expert-parallelism"


@pytest.fixture(scope="module")
def labs():
    bank = load_bank(BANK)
    return {name: bank[f"expert-parallelism-lab-{name}"] for name in ("router", "nodes")}


def ran(lab, function, case, seed=1):
    inputs = lab.answer.begin(case, np.random.default_rng(seed))
    outcome = lab.answer.declared(function, case, inputs, Budget(10**6, 1 << 30))
    assert outcome.ended, outcome
    return inputs, outcome, [result[""] for result in outcome.outputs]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_router_is_the_dense_layer(labs, number):
    case = labs["router"].answer.cases[number]
    inputs, _, outputs = ran(labs["router"], labs["router"].solution, case)
    w_in, w_out = (np.concatenate([given[name] for given in inputs]) for name in ("w_in", "w_out"))
    assert len({len(given["x"]) for given in inputs}) == case.n
    for given, got in zip(inputs, outputs, strict=True):
        for token, result in zip(given["x"], got, strict=True):
            logits = token @ given["router"]
            best = np.argsort(-logits)[: case.options["k"]]
            gates = np.exp(logits[best]) / np.exp(logits[best]).sum()
            parts = [g * np.maximum(token @ w_in[e], 0) @ w_out[e] for g, e in zip(gates, best, strict=True)]
            assert result == pytest.approx(sum(parts), rel=1e-9, abs=1e-12)


def routed(scores, k, n_lim, nodes):
    """By hand, a token at a time: {expert: weight}."""
    by_node = scores.reshape(nodes, -1)
    liking = [sum(sorted(row)[-(k // n_lim) :]) for row in by_node]
    allowed = sorted(range(nodes), key=lambda node: -liking[node])[:n_lim]
    experts = [e for e in range(len(scores)) if e // by_node.shape[1] in allowed]
    best = sorted(experts, key=lambda e: -scores[e])[:k]
    return {e: scores[e] / sum(scores[b] for b in best) for e in best}


@pytest.mark.parametrize("number", [0, 1])
def test_one_copy_for_each_node_is_the_dense_layer(labs, number):
    lab = labs["nodes"]
    case = lab.answer.cases[number]
    k, n_lim, inner = (case.options[name] for name in ("k", "n_lim", "inner"))
    nodes = case.n // inner
    inputs, outcome, outputs = ran(lab, lab.solution, case)
    w = np.concatenate([given["w"] for given in inputs])
    leaving = [0.0] * case.n
    for rank, (given, got) in enumerate(zip(inputs, outputs, strict=True)):
        for token, scores, result in zip(given["x"], given["scores"], got, strict=True):
            gates = routed(scores, k, n_lim, nodes)
            assert result == pytest.approx(sum(g * np.tanh(token @ w[e]) for e, g in gates.items()), rel=1e-9)
            others = {e // case["m"] // inner for e in gates} - {rank // inner}
            assert len(others) <= n_lim
            leaving[rank] += len(others) * (case["d"] + case["m"] * inner) * 8  # there, with its weights
            for node in others:
                leaving[node * inner + rank % inner] += case["d"] * 8  # and back
    counts = 2 * (case.n - inner) * 8
    assert list(outcome.leaving_bytes(inner)) == [bytes + counts for bytes in leaving]


def test_one_copy_for_each_node_leaves_fewer_bytes(labs):
    lab = labs["nodes"]
    case = next(case for case in lab.answer.cases if case.n == 16)
    found = {}
    for copies in ("node", "rank", "expert"):
        _, outcome, outputs = ran(lab, partial(lab.mistakes[0].value.func, cross=copies), case)
        found[copies] = max(outcome.leaving_bytes(case.options["inner"])), outputs
    leaving = {copies: most for copies, (most, _) in found.items()}
    assert 1.1 * leaving["node"] < leaving["rank"] < leaving["expert"]
    assert leaving["expert"] > 1.6 * leaving["node"]
    for _, outputs in found.values():
        for got, want in zip(outputs, found["node"][1], strict=True):
            assert got == pytest.approx(want, rel=1e-9)


def test_the_labs_are_drawn_so_that_every_way_shows(labs):
    """Whatever is drawn: no rank is without rows, and a limit of nodes changes where tokens go."""
    module = inspect.getmodule(labs["nodes"].solution)
    for seed in range(20):
        for case in labs["nodes"].answer.cases:
            k, n_lim, inner = (case.options[name] for name in ("k", "n_lim", "inner"))
            inputs = module.scored_inputs(case, np.random.default_rng(seed))
            gates = [module.limited(torch.tensor(one["scores"]), k, n_lim, case.n // inner) for one in inputs]
            free = [torch.tensor(one["scores"]).topk(k).indices.sort(1).values for one in inputs]
            taken = [one.topk(k).indices.sort(1).values for one in gates]
            assert any((a != b).any() for a, b in zip(free, taken, strict=True))
            for place in range(inner):
                here = torch.stack(gates[place::inner]).view(-1, case.n // inner, case["m"] * inner)
                assert int(here.any(2).sum(0).min()) > 0


def test_a_case_is_of_whole_experts(labs):
    for case in labs["router"].answer.cases:
        assert isinstance(case, Case)
        assert case["E"] % case.n == 0
        assert case["T"] > 3 * case.n

"""Lines that public programs have work on a simulated cluster, or end in a sentence that says what to do instead."""

import json
import tomllib
from pathlib import Path

import pytest
import torch

from hwlib import virtual
from hwlib.virtual.programs import NO_SPAWN
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]
HERE = Path(__file__).parent
IDIOMS = tomllib.loads((HERE / "data" / "idioms.toml").read_text())["idiom"]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    out = tmp_path_factory.mktemp("idioms") / "outcomes.json"
    virtual.run(HERE / "scripts" / "idioms.py", [str(out)], where="dgx-h100")
    return json.loads(out.read_text())


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom["name"])
def test_an_idiom_works_or_ends_in_a_sentence(outcomes, idiom):
    outcome = outcomes[idiom["name"]]
    if idiom["expected"] == "works":
        assert outcome == "works"
    else:
        error, _, sentence = outcome.partition(": ")
        assert error == "NotImplementedError"
        assert 40 < len(sentence) < 400


def test_there_are_many_and_each_stands_on_the_page():
    assert len({idiom["name"] for idiom in IDIOMS}) == len(IDIOMS) > 150
    page = (ROOT / "docs" / "virtual.md").read_text()
    for area in dict.fromkeys(idiom["area"] for idiom in IDIOMS):
        here = [idiom for idiom in IDIOMS if idiom["area"] == area]
        works = sum(idiom["expected"] == "works" for idiom in here)
        assert f"| {area} | {len(here)} | {works} | {len(here) - works} | 0 |" in page


def test_everything_is_torchs_own_again_afterwards():
    before = torch.device, torch.Generator, torch.save, torch.cuda.nccl.version, torch.version.cuda
    with virtual.cluster("dgx-h100"):
        assert isinstance(torch.device(3), torch.device)
        assert (torch.device(3).type, torch.device(3).index) == ("cuda", 3)
        assert torch.device("cpu").type == "cpu"
        assert not isinstance("cuda", torch.device)
        assert torch.device is not before[0]
    assert (torch.device, torch.Generator, torch.save, torch.cuda.nccl.version, torch.version.cuda) == before


@pytest.mark.parametrize("processes", [8, 16])
def test_a_program_that_starts_its_ranks_is_one_of_them(processes):
    ranks = []
    with virtual.cluster("superpod-h100-1su", 16, rank=9):
        torch.multiprocessing.spawn(lambda rank, word: ranks.append((rank, word)), ("a",), nprocs=processes)
    assert ranks == [(9 % processes, "a")]


def test_ranks_that_the_cluster_does_not_have_are_refused():
    with virtual.cluster("dgx-h100"), pytest.raises(ValueError, match=NO_SPAWN[:5]):
        torch.multiprocessing.spawn(print, nprocs=4)


def test_what_is_saved_is_there_to_load(tmp_path):
    with virtual.cluster("dgx-h100") as world, world.shapes():
        state = {"step": 3}
        torch.save(state, tmp_path / "a.pt")
        assert torch.load(tmp_path / "a.pt", map_location="cuda:0") is state
        assert not (tmp_path / "a.pt").exists()
        with pytest.raises(FileNotFoundError):
            torch.load(tmp_path / "b.pt")


def test_a_copy_of_a_model_has_its_own_gradients():
    import copy

    with virtual.cluster("dgx-h100") as world, world.shapes():
        model = torch.nn.Linear(4, 4, device="cuda")
        model(torch.ones(2, 4, device="cuda")).sum().backward()
        twin = copy.deepcopy(model)
        assert twin.weight is not model.weight
        assert twin.weight.grad.shape == (4, 4)
        assert twin.weight.grad is not model.weight.grad
        assert twin.weight.requires_grad
        assert isinstance(twin.weight, torch.nn.Parameter)
        with pytest.raises(RuntimeError, match="detach"):
            copy.deepcopy(model.weight * 2)

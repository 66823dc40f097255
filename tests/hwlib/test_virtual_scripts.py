"""Scripts that are written for GPUs run as they are on virtual clusters, and take what `step_time` says."""

from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn import functional as F

from hwlib import virtual
from hwlib.specs import Stack, models, stacks
from hwlib.steptime import step_time
from hwlib.steptime.transfer_times import call_seconds
from hwlib.strategy import Strategy
from hwlib.virtual.__main__ import main
from hwlib.virtual.record import StepTiming
from tests.hwlib.decoders import Decoder, ExpertBlock, fully_sharded, tensor_parallel

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
SCRIPTS = Path(__file__).parent / "scripts"
CLUSTER = "superpod-h100-4su"
NANO = models["megatron-1.7b"].replace(
    width=1600, heads=25, head_dim=64, kv_heads=25, ffn=6400, vocab=50304, dropout=False, layers=2
)


def fsdp_tp(n):
    told = Strategy.of(dp=n // 8, tp=8, zero=3, sp=False, micro=8)
    return ["2", "8"], models["llama2-7b"].replace(layers=2), told, {"B": n // 8 * 8 * 4096, "T": 4096}


def nano_ddp(n):
    args = ["--width", "1600", "--heads", "25", "--layers", "2", "--batch", "8", "--accumulate", "2"]
    told = Strategy.of(dp=n, zero=0, micro=8)
    return args, NANO, told, {"B": n * 8 * 1024 * 2, "T": 1024, "gradient_bytes": 4}


def titan_trainer(n):
    args, told = ["--layers", "2", "--batch", "2"], Strategy.of(dp=n, zero=3, micro=2)
    return args, models["llama3-8b"].replace(layers=2), told, {"B": n * 2 * 8192, "T": 8192, "gradient_bytes": 4}


@pytest.mark.parametrize("n", [256, 1024])
@pytest.mark.parametrize(
    ("script", "stack"),
    [(fsdp_tp, "megatron-core-h100"), (nano_ddp, "megatron-core-h100"), (titan_trainer, "torchtitan-h100")],
    ids=["fsdp_tp", "nano_ddp", "titan_trainer"],
)
def test_a_script_for_gpus_takes_what_step_time_says_of_its_stack(script, stack, n):
    args, model, strategy, job = script(n)
    run = virtual.run(SCRIPTS / f"{script.__name__}.py", args, where=CLUSTER, n=n, stack=stack)
    closed = step_time(model, stack, CLUSTER, strategy, **job)
    fixed = closed.other  # which is the same by definition
    assert run.step_time - fixed == pytest.approx(closed.total - fixed, rel=0.05)
    assert run.step.ranks == n


@pytest.mark.nightly
@pytest.mark.parametrize("offload", [(), ("--offload",)], ids=["", "offload"])
def test_a_recipe_of_fine_tuning_runs_as_it_is(offload, capsys):
    args = ["--layers", "2", "--accumulate", "2", *offload]
    run = virtual.run(SCRIPTS / "tune_recipe.py", args, where=CLUSTER, n=64, stack="torchtitan-h100")
    assert [line.split(" | ")[0] for line in capsys.readouterr().out.splitlines()] == ["Step 1", "Step 2"]
    gathers, sums = 2 * (2 + 2 + 1), 2 * 3  # of two batches: layers, again for the backward pass, and the rest
    assert (run.step.of("all_gather").number, run.step.of("reduce_scatter").number) == (gathers, sums)
    assert run.step.of("all_reduce").number == 3  # tokens, loss, norm


def test_a_number_out_of_what_a_loader_drew_has_its_value(tmp_path, capsys):
    lines = [
        "import torch, torch.distributed as dist",
        "from torch.utils.data import DataLoader",
        "dist.init_process_group('nccl')",
        "layer = torch.nn.Linear(8, 8, device='cuda')",
        "adam = torch.optim.AdamW(layer.parameters())",
        "for batch in DataLoader([torch.tensor([1, 2, -100])], batch_size=1):",
        "    tokens = (batch != -100).sum()",
        "    dist.all_reduce(tokens)",
        "    layer(torch.randn(4, 8, device='cuda')).sum().backward()",
        "    adam.step()",
        "    print(tokens.item(), (tokens / 4).item())",
    ]
    script = tmp_path / "loader.py"
    script.write_text("\n".join(lines))
    virtual.run(script, [], where="dgx-h100")
    assert capsys.readouterr().out.split() == ["16", "4.0"]  # eight ranks have as many


@pytest.mark.parametrize("stack", ["megatron-core-h100", "torchtitan-h100"])
def test_products_and_attention_of_a_stack_are_those_of_step_time(stack):
    """A layer alone, without the network: to the last digits."""
    H, T = 128, 4096
    model = models["llama2-7b"].replace(layers=1)

    with virtual.cluster(1, stack=stacks[stack].replace(t_step=0.0)) as world:
        with world.shapes():
            D, ffn = model.width, model.ffn
            shapes = {"qkv": (D, 3 * D), "out": (D, D), "up": (D, 2 * ffn), "down": (ffn, D), "head": (D, model.vocab)}
            layers = {
                name: nn.Linear(*shape, bias=False, dtype=torch.bfloat16, device="cuda")
                for name, shape in shapes.items()
            }
            x = torch.zeros(1, T, D, dtype=torch.bfloat16, device="cuda", requires_grad=True)
            y = torch.zeros(T, dtype=torch.int64, device="cuda")

        def step():
            q, k, v = layers["qkv"](x).unflatten(-1, (3, -1, H)).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            h = x + layers["out"](a.transpose(1, 2).flatten(2))
            gate, up = layers["up"](h).chunk(2, -1)
            h = h + layers["down"](F.silu(gate) * up)
            F.cross_entropy(layers["head"](h)[0].float(), y).backward()

        played = world.step(step)
    closed = step_time(model, stack, "dgx-h100", Strategy.of(), B=T, T=T)
    head = 3 * 2 * 2 * T * model.width / (stacks[stack].eta_W * world.chip.hbm_bandwidth)  # the output layer's input
    assert played.step_time == pytest.approx(closed.compute + head, rel=3e-3)


def second_layer(build, n, stack):
    """What a second layer of `build(world, layers)`, a program and its closed form, adds: to kernels, to waits, to the
    parts of the closed form; and the step with both.
    """
    found = []
    for layers in (1, 2):
        with virtual.cluster(CLUSTER, n, stack=stack) as world:
            program, closed = build(world, layers)
            found.append((world.step(program), closed))
    (one, closed_one), (step, closed) = found
    more = {name: getattr(closed, name) - getattr(closed_one, name) for name in ("compute", "tp", "ep")}
    return step.compute - one.compute, step.exposed - one.exposed, more, step


@pytest.mark.parametrize(
    ("stack", "error"),
    [(Stack.ideal("h100-sxm"), 1e-9), (stacks["megatron-core-h100"], 0.03)],
    ids=["ideal", "megatron-core-h100"],
)
def test_a_layer_with_experts_takes_what_step_time_says(stack, error):
    """Narrow experts that a rank has several of. Tokens are sorted four times, and torch's backward pass of that moves
    three quarters of what `step_time` counts.
    """
    stack, T, ranks = stack.replace(hide_ep=0.0), 4096, 8
    base = models["mixtral-8x7b"].replace(experts=32, expert_ffn=3584, experts_per_token=4)

    def build(world, layers):
        model = base.replace(layers=layers)
        with world.shapes():
            blocks = nn.Sequential(*[ExpertBlock(model, ranks) for _ in range(layers)])
            x = torch.zeros(1, T, model.width, dtype=torch.bfloat16, requires_grad=True)
        told = Strategy.of(dp=ranks, ep=ranks)
        return lambda: blocks(x).sum().backward(), step_time(model, stack, CLUSTER, told, B=ranks * T, T=T)

    compute, waits, closed, step = second_layer(build, ranks, stack)
    assert compute == pytest.approx(closed["compute"], rel=error)
    assert waits == pytest.approx(closed["ep"], rel=1e-6)
    assert step.of("all_to_all").number == 4 * 2


def test_sequence_parallelism_of_a_stack_differs_by_two_gathers_a_layer_alone():
    """Which Megatron sends again for the gradients of weights, and torch keeps; all else is as in `step_time`."""
    stack, T, tp = stacks["torchtitan-h100"], 4096, 8

    def build(world, layers):
        model, told = models["llama3-8b"].replace(layers=layers), Strategy.of(tp=tp)
        mesh = virtual.device_mesh(told)
        with world.shapes():
            decoder, x = Decoder(model), torch.zeros(1, T, dtype=torch.int64)
        tensor_parallel(decoder, mesh["tp"], sp=True)
        return lambda: decoder(x).sum().backward(), step_time(model, stack, CLUSTER, told, B=T, T=T, fused=False)

    compute, waits, closed, step = second_layer(build, tp, stack)
    gathers = step.of("all_gather")
    assert compute == pytest.approx(closed["compute"], rel=1e-6)
    assert waits == pytest.approx(closed["tp"] - 2 * gathers.time / gathers.number, rel=1e-6)


def test_fsdp_has_a_latency_in_each_call_where_step_time_has_one_in_a_pass():
    """A network that nothing hides. Embedding, layers and output layer are gathered, and again for the backward pass
    but for the last, and summed. `step_time` has a latency in each of these three.
    """
    stack, layers, T, n = Stack.ideal("h100-sxm").replace(alpha_in=3e-5, alpha_out=3e-5), 2, 128, 64
    model, told = models["llama3-8b"].replace(layers=layers, vocab=8192), Strategy.of(dp=n, zero=3)
    with virtual.cluster(CLUSTER, n, stack=stack) as world:
        with world.shapes():
            decoder, x = Decoder(model), torch.zeros(1, T, dtype=torch.int64)
        fully_sharded(decoder, virtual.device_mesh(told)["dp"])
        step = world.step(lambda: decoder(x).sum().backward())
    asked = {"B": n * T, "T": T, "fused": False}
    with_, without = (step_time(model, of, CLUSTER, told, **asked) for of in (stack, Stack.ideal("h100-sxm")))
    one = call_seconds(stack, 8, "all_gather", n)
    sent = sum(call.time for call in step.calls)
    assert [call.number for call in step.calls] == [(layers + 2) + (layers + 1), layers + 2]
    assert step.exposed > 0.8 * sent > 0.8 * (3 * layers + 5) * one
    assert (with_.dp - without.dp) / one == pytest.approx(3, rel=0.1)


def test_a_call_has_the_latency_of_step_time_by_default():
    with virtual.cluster(CLUSTER) as world:
        with world.shapes():
            x = torch.empty(1, device="cuda")
        step = world.step(lambda: dist.all_reduce(x))
    usual = stacks["megatron-core-h100"]
    assert step.step_time == pytest.approx(call_seconds(usual, 8, "all_reduce", 1024), rel=1e-3)
    assert step.step_time > 200e-6
    assert call_seconds(usual, 8, "send", 2, 1) == usual.alpha_in


def test_a_program_finds_the_cluster_it_is_on():
    with virtual.cluster(CLUSTER, 64, rank=9) as world:
        with world.shapes():
            dist.init_process_group("nccl")
            mesh = init_device_mesh("cuda", (8, 8), mesh_dim_names=("dp", "tp"))
            where = torch.device("cuda", torch.cuda.current_device())
            x = torch.ones(3).to(where)
            dist.destroy_process_group()
        found = torch.cuda.device_count(), torch.cuda.current_device(), torch.cuda.get_device_name(), dist.get_rank()
        assert found == (8, 1, world.chip.name, 9)
        assert dist.get_process_group_ranks(mesh["tp"].get_group()) == list(range(8, 16))
        assert x.shape == (3,)
        with pytest.raises(ValueError, match=r"world_size is 64.*8"):
            dist.init_process_group("nccl", world_size=8, rank=9)
    assert not torch.cuda.is_available()
    assert not dist.is_initialized()


def test_a_number_out_of_a_shape_is_nan_and_what_is_finite_goes_on():
    def program():
        x = torch.randn(4, 4, device="cuda").cuda()
        assert torch.isfinite(x).all()
        assert not torch.isnan(x).any()
        assert not (~torch.isfinite(x.sum()))
        found.append((x.sum().item(), f"{x.mean():.2f}"))

    found = []
    with virtual.cluster(2) as world, pytest.warns(UserWarning, match="nan"):
        world.step(program, warm=0)
    (number, text), *_ = found
    assert number != number
    assert text == "nan"


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda x: x[x > 0], "depends on a tensor's data"),
        (lambda x: x.sum(0).tolist(), "fixed capacity"),
        (lambda x: int(x.sum()), "shapes alone"),
        (lambda x: dist.send(x, 1), "nobody to send to"),
    ],
    ids=["a selection", "a list", "an integer", "a message"],
)
def test_what_shapes_do_not_tell_is_refused_in_a_sentence(refused, why):
    with virtual.cluster(2) as world, pytest.raises(NotImplementedError, match=why):
        world.step(lambda: refused(torch.randn(4, 4, device="cuda")), warm=0)


def test_transfers_hide_as_much_as_the_stack_says():
    """Beside a product of a second, a stack that hides a third of it sends a third of a second."""
    stack = stacks["megatron-core-h100"].replace(hide_dp=0.3, hide_tp=0.0)
    with virtual.cluster(8, stack=stack) as world:
        with world.shapes():
            a, x = torch.empty(8192, 8192, device="cuda", dtype=torch.bfloat16), torch.empty(2**28, device="cuda")

        def step(wait):
            work = dist.all_reduce(x, async_op=True)
            a @ a
            if wait:
                work.wait()

        alone, both = world.step(lambda: step(False)), world.step(lambda: step(True))
    sum_time = both.of("all_reduce").time
    assert sum_time > alone.compute
    assert both.step_time == pytest.approx(sum_time + (1 - 0.3) * both.compute)
    assert max(span.end for span in both.spans) == pytest.approx(both.step_time)


@pytest.mark.parametrize("more", [{"kernel_time": lambda *_: 0.0}, {"chip": "a100-80gb-sxm"}], ids=["times", "chip"])
def test_a_stack_that_does_not_fit_is_refused(more):
    with pytest.raises(ValueError, match="cluster: "), virtual.cluster(8, stack="megatron-core-h100", **more):
        pass


def test_the_command_prints_each_step_and_the_last_in_full(capsys, tmp_path):
    script = tmp_path / "tiny.py"
    script.write_text(
        "import sys, torch\n"
        "model = torch.compile(torch.nn.Linear(64, 64, device='cuda'))\n"
        "adam = torch.optim.AdamW(model.parameters())\n"
        "for _ in range(int(sys.argv[1])):\n"
        "    model(torch.randn(8, 64, device='cuda')).sum().backward()\n"
        "    adam.step(), adam.zero_grad()\n"
        "    if torch.cuda.current_device() == 0: print(torch.cuda.memory_allocated())\n"
    )
    assert main(["--on", "superpod-h100-1su", "--ranks", "16", str(script), "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines if line.startswith("step")] == ["step 1", "step 2"]
    assert lines[-1].startswith("rank 0 of 16: ")
    assert main(["--on", "2x4 h800-sxm, network 100 Gbit/s", "--ranks", "4", str(script), "1"]) == 0
    read, caveat, *_, step = capsys.readouterr().out.splitlines()
    assert read == "2x4 h800-sxm: 4 a node, 200 GB/s each; 2 a network, 12.5 GB/s each; stack typical-h800-sxm"
    assert "not fitted to H800" in caveat
    assert step.startswith("rank 0 of 4: ")
    assert main(["--on", "2x4 mi300x", str(script), "1"]) == 1
    assert "network missing" in capsys.readouterr().err
    assert main(["--on", "superpod-h300", str(script), "2"]) == 1
    assert "superpod-h300" in capsys.readouterr().err
    assert main(["--on", "superpod-h100-1su", str(tmp_path / "none.py")]) == 1


def played(tmp_path, capsys, *lines):
    """What the command prints of a program of these lines, behind an import of torch: its status, output and errors."""
    script = tmp_path / "program.py"
    script.write_text("import torch\n" + "\n".join(lines))
    status = main(["--on", "dgx-h100", str(script)])
    return status, *capsys.readouterr()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("torch.load('left.pt')", "torch.save"),
        ("open('left.txt')", "No such file or directory: 'left.txt'"),
        ("import a_library_that_is_not_there", "a_library_that_is_not_there"),
        ("torch.ones(3, device='cuda').tolist()", "shapes"),
        ("{}['left']", "left"),
    ],
)
def test_what_ends_a_program_is_named_with_its_line(tmp_path, capsys, line, words):
    status, _, errors = played(tmp_path, capsys, "", line)
    assert status == 1
    assert "program.py line 3: " in errors.splitlines()[-1]
    assert words in errors.splitlines()[-1]


def test_the_line_is_that_of_the_program_in_a_module_beside_it(tmp_path, capsys):
    (tmp_path / "beside.py").write_text("import torch\n\ndef count(x):\n    return x.tolist()\n")
    _, _, errors = played(tmp_path, capsys, "import beside", "beside.count(torch.ones(3, device='cuda'))")
    assert "beside.py line 4: " in errors
    main(["--on", "no-such-cluster", str(tmp_path / "program.py")])
    assert "py line " not in capsys.readouterr().err


TRAINED = (
    "model = torch.nn.Linear({0}, {0}, device='cuda', dtype=torch.bfloat16)",
    "model(torch.ones({1}, {0}, device='cuda', dtype=torch.bfloat16)).sum().backward()",
    "torch.optim.SGD(model.parameters()).step()",
)


@pytest.mark.parametrize(("width", "rows", "small"), [(8, 8, True), (8192, 8192, False)])
def test_a_step_of_kernels_shorter_than_a_launch_says_so(tmp_path, capsys, width, rows, small):
    status, output, _ = played(tmp_path, capsys, *(line.format(width, rows) for line in TRAINED))
    assert status == 0
    assert ("launch" in output) == small
    assert output.splitlines()[-1].startswith("rank 0 of 8")


@pytest.mark.parametrize(("share", "waits"), [(1 + 1e-12, False), (1.0, False), (1 - 1e-12, False), (1 - 1e-6, True)])
def test_what_two_sums_differ_by_is_not_a_wait(share, waits):
    """A step's time and that of its kernels are summed in two orders, and neither sum is exact."""
    step = StepTiming(0, 8, 7.7e-9, 7.7e-9 * share, 0.0, (), ())
    assert (step.exposed > 0) == waits
    assert step.exposed >= 0

"""What a server is to the table of measured ones: its features and its amounts, as its error depends on them."""

from hwlib.calibrated.serving_step import Server
from hwlib.expected_error import Situation, model_features
from hwlib.serving_planner.layouts import Layout, server_of
from hwlib.serving_planner.points import Point
from hwlib.serving_planner.question import Question
from hwlib.specs.prediction_errors import SERVING
from hwlib.specs.serving_stack import ServingStack, program_of, serving_stacks
from hwlib.transformer import parameter_count

NARROW = ("int8w", "int4w", "mxfp4")
LOW = {"fp8": "fp8", "fp8_block": "fp8", "fp4": "fp4", "mxfp4_fp8": "fp8"}


def server_situation(
    server: Server, stack: ServingStack, tokens: float, requests: float, steady: bool = True, apart: bool = False
) -> Situation:
    """A server of requests of so many tokens each, of which so many are there at once."""
    model = server.model
    dtypes = (server.dtype, server.expert_dtype or server.dtype)
    has = {
        "narrow": any(dtype in NARROW for dtype in dtypes),
        "kv8": server.kv_dtype != "bf16",
        "tp": server.attention_tp > 1,
        "adp": server.attention_dp,
        "ep": server.ep > 1,
        "pp": server.pp > 1,
        "nodes": server.nodes is not None,
        "apart": apart,
    }
    always = model_features(model) | {LOW.get(server.dtype, "16bit"), "steady" if steady else "static"}
    amounts = (server.gpus, tokens, parameter_count(model), max(requests, 1))
    features = frozenset(always | {name for name, holds in has.items() if holds})
    return Situation(SERVING, stack.key, server.chip.key, features, amounts, kin_of(stack))


def kin_of(stack: ServingStack) -> tuple[str, ...]:
    """The stacks of the same software of other releases; none of typical constants, whose errors say nothing of another
    chip.
    """
    if stack.key not in serving_stacks:
        return ()
    return tuple(key for key in serving_stacks if program_of(key) == program_of(stack.key) and key != stack.key)


def situation(question: Question, point: Point) -> Situation:
    """The servers of a point that generate."""
    pool = point.plan.decode
    server = server_of(question, Layout(*pool[:3]))
    workload = point.workload
    tokens = workload.prompt + workload.output
    return server_situation(server, question.stack, tokens, pool.batch, apart=point.plan.prefill is not None)

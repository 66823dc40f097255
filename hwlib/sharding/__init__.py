"""Sharded arrays in the notation A[I_X, J_Y]{U_Z}, what changing a sharding costs, and sharded matmuls.

A mesh names its axes: `Mesh(X=4, Y=2)` is eight devices. In A[I_X, J] the dimension I is split over the axis
X, J is not split, and every device along Y holds the same part. {U_Z} says that the array is an unreduced sum
over the axis Z: each device along Z holds a partial sum.

    from hwlib.sharding import Mesh, matmul_plans, sharded

    mesh = Mesh(X=4, Y=2)
    A, B, C = sharded("A[I_X, J]"), sharded("B[J, K_Y]"), sharded("C[I_X, K_Y]")
    best = matmul_plans(A, B, C, mesh, {"I": 1024, "J": 4096, "K": 8192})[0]
"""

from hwlib.sharding.array import Mesh, Sharded, ShardingError, sharded
from hwlib.sharding.choices import gather_multiply_time, multiply_reduce_time
from hwlib.sharding.matmul import MatmulPlan, gradient_plans, matmul_case, matmul_plans
from hwlib.sharding.moves import Move, moves_between

__all__ = [
    "MatmulPlan",
    "Mesh",
    "Move",
    "Sharded",
    "ShardingError",
    "gather_multiply_time",
    "gradient_plans",
    "matmul_case",
    "matmul_plans",
    "moves_between",
    "multiply_reduce_time",
    "sharded",
]

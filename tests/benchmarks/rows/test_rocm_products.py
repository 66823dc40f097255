"""Products of AMD's GPUs: their models are bound by what was published."""

from benchmarks.rows.published import ROWS, Product, case_of, read_rows
from hwlib.calibrated import gemm_model
from hwlib.calibrated.serving_kernels import kernel_chip, product_time
from hwlib.specs import accelerators


def test_no_product_of_amds_chips_is_quicker_than_the_best_published():
    """The best of a search over shapes, whatever the shape that is asked."""
    for row in read_rows(ROWS / "products.csv")[0]:
        case = case_of(row, ROWS) if "mamf-MI" in row.cells["id"] else None
        if isinstance(case, Product) and case.chip != "mi355x":  # whose products were timed by the hundred
            model = gemm_model(case.chip, "bf16")
            best = max(2 * M * N * 8192 / model.time(M, N, 8192) for M in (4096, 8192, 16384) for N in (8192, 16384))
            assert 0.9 * row.value * 1e12 < best <= row.value * 1e12


def test_servers_take_the_products_of_their_own_chip():
    """An H100's share of an MI300X's peak would be 1,040 TFLOP/s in 16 bits, and more in 8."""
    for key in ("mi300x", "mi325x", "mi350x", "mi355x"):
        sheet = accelerators[key]
        for dtype, share in (("bf16", 0.61), ("fp8", 0.51)):
            time = product_time(kernel_chip(sheet), dtype, 8192, 8192, 8192)
            assert 0.2 < 2 * 8192**3 / time / sheet.flops(dtype) < share, (key, dtype)

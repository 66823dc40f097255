"""What the models predict for a published measurement, with the constants that the project keeps."""

from typing import NamedTuple

from benchmarks.published import Case, Collective, Product, Share
from hwlib.collective_fit import collective_time, plain_time, tree_time
from hwlib.gemm_model import gemm_model
from hwlib.roofline import roofline_time
from hwlib.specs.fitted import collective_constants, gemm_constants, share_constants, tree_constants


class Prediction(NamedTuple):
    """Times in seconds: predicted, by the simple model, and measured; and how many constants were fitted."""

    time: float
    plain: float
    measured: float
    constants: int

    @property
    def error(self) -> float:
        """|predicted - measured|/measured."""
        return abs(self.time - self.measured) / self.measured

    @property
    def plain_error(self) -> float:
        """The same of the simple model: the data sheet's roofline, or one alpha-beta line."""
        return abs(self.plain - self.measured) / self.measured


def predict(case: Case) -> Prediction | None:
    """The prediction for one measurement, or None where the project has no constants for it."""
    match case:
        case Product():
            return _product(case)
        case Share():
            return _share(case)
        case Collective():
            return _collective(case)
    return None


def _product(case: Product) -> Prediction | None:
    if (case.chip, case.dtype) not in gemm_constants():
        return None
    model = gemm_model(case.chip, case.dtype)
    M, N, K, measured = case.shape
    flops, traffic, *_ = case.shape.sample(case.dtype)
    plain = roofline_time(flops, traffic, model.C, model.W)
    return Prediction(model.time(M, N, K), plain, measured, len(model.constants.constants))


def _share(case: Share) -> Prediction | None:
    if case.op not in share_constants():
        return None
    return Prediction(1 / (share_constants()[case.op].eta * case.sheet), 1 / case.sheet, 1 / case.rate, 1)


def _collective(case: Collective) -> Prediction | None:
    S, n, measured = case.timed
    if tree := tree_constants().get((case.chip, case.software)):
        return Prediction(tree_time(tree, n, S), plain_time(tree, n, S), measured, len(tree.constants))
    if c := collective_constants().get((case.chip, case.op, case.software)):
        time = collective_time(c, n, S, case.switch)
        return Prediction(time, plain_time(c, n, S), measured, len(c.constants))
    return None

"""Smooth objectives f(x) = phi(Mx)."""

from condal.smooth.function import Function
from condal.smooth.likelihoods import Logistic, Poisson
from condal.smooth.linear import Linear
from condal.smooth.quadratic import FactoredQuadratic, Quadratic
from condal.smooth.residuals import Huber, LeastSquares

__all__ = [
    "FactoredQuadratic",
    "Function",
    "Huber",
    "LeastSquares",
    "Linear",
    "Logistic",
    "Poisson",
    "Quadratic",
]

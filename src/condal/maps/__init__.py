"""Linear maps A: from symmetric matrices or vectors to images, with their adjoints.

On symmetric matrices <V, x> = tr(V x); an entry (i, j) off the diagonal stands for both triangles.
"""

from condal.maps.checks import check_adjoint
from condal.maps.combined import Across, Scaled, Stack
from condal.maps.differences import FiniteDifferences
from condal.maps.entries import Diagonal, Entries, RowSums
from condal.maps.inner import Cost, Inner
from condal.maps.operator import Operator
from condal.maps.products import LeftProduct
from condal.maps.quadratics import Quadratics
from condal.maps.triangle import Triangle
from condal.maps.vectors import Identity, Matrix, Sampling

__all__ = [
    "Across",
    "Cost",
    "Diagonal",
    "Entries",
    "FiniteDifferences",
    "Identity",
    "Inner",
    "LeftProduct",
    "Matrix",
    "Operator",
    "Quadratics",
    "RowSums",
    "Sampling",
    "Scaled",
    "Stack",
    "Triangle",
    "check_adjoint",
]

"""condal: convex problems too large for everything else, solved with a certificate.

    minimise f(x) subject to x in X, Ax in K

with a linear minimisation oracle over X, projections onto K, and a few vectors.
"""

from condal import eigen, methods, problems, storage
from condal.certify import Certificate, certify
from condal.domains import L1Ball, Product, Simplex, Spectrahedron
from condal.errors import CondalError, FormatError, ProblemError
from condal.formats import read_graph
from condal.maps import (
    Across,
    Diagonal,
    Entries,
    Inner,
    Matrix,
    Quadratics,
    RowSums,
    Stack,
    Triangle,
    check_adjoint,
)
from condal.methods import CGAL, hcgm
from condal.nonsmooth import L1
from condal.points import LowRank, dense
from condal.problem import Problem
from condal.result import History, Result, Row, Status
from condal.sets import Box, Equal, NonNegative, NonPositive, Separable
from condal.smooth import LeastSquares, Linear
from condal.solve import solve

__version__ = "0.1.0"

__all__ = [
    "CGAL",
    "L1",
    "Across",
    "Box",
    "Certificate",
    "CondalError",
    "Diagonal",
    "Entries",
    "Equal",
    "FormatError",
    "History",
    "Inner",
    "L1Ball",
    "LeastSquares",
    "Linear",
    "LowRank",
    "Matrix",
    "NonNegative",
    "NonPositive",
    "Problem",
    "ProblemError",
    "Product",
    "Quadratics",
    "Result",
    "Row",
    "RowSums",
    "Separable",
    "Simplex",
    "Spectrahedron",
    "Stack",
    "Status",
    "Triangle",
    "__version__",
    "certify",
    "check_adjoint",
    "dense",
    "eigen",
    "hcgm",
    "methods",
    "problems",
    "read_graph",
    "solve",
    "storage",
]

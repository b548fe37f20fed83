"""The smooth objectives that the laws are tried on."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from condal.linalg.lifting import lifted
from condal.maps import Across, Entries, Matrix, Quadratics, RowSums
from condal.smooth import (
    FactoredQuadratic,
    Function,
    Huber,
    LeastSquares,
    Linear,
    Logistic,
    Poisson,
    Quadratic,
)
from laws.case import SIGNS, TALL, C, Case, N, b
from spaces import (
    Hermitians,
    Matrices,
    Rectangles,
    Tuples,
    Vectors,
    random_hermitian,
    random_symmetric,
)


def _smooth() -> Iterator[Case]:
    rng = np.random.default_rng(2)
    given = {"sparse": ("M",), "space": Vectors(N)}
    fitted = {"M": TALL, "c": b}
    yield Case("LeastSquares", LeastSquares, fitted, **given)
    yield Case("Huber", Huber, fitted, **given)
    yield Case("Logistic", Logistic, {"M": TALL}, labels={"labels": SIGNS}, **given)
    rates = {"M": np.abs(TALL), "counts": b, "background": b}
    yield Case("Poisson", Poisson, rates, **given)
    matrix = {"sparse": ("Q",), "symmetric": ("Q",), "space": Vectors(N)}
    yield Case("Quadratic", Quadratic, {"Q": C, "c": b[:N]}, **matrix)
    factors = {"F": TALL, "d": b[:N], "c": b[:N]}
    yield Case("FactoredQuadratic", FactoredQuadratic, factors, sparse=("F",), space=Vectors(N))
    matrix = {"sparse": ("C",), "symmetric": ("C",), "space": Matrices(N)}
    yield Case("Linear", Linear, waves={"C": C}, **matrix)
    yield Case("Linear of vectors", Linear, {"C": b}, space=Vectors(b.size))
    both = Tuples((Vectors(b.size), Matrices(N)))
    joined = {"waves": {"C": C}, "space": both}
    yield Case("Linear of blocks", lambda c, C: Linear((c, C)), {"c": b}, **joined)
    S = sp.random(5, 5, 0.5, random_state=3)
    c = rng.standard_normal(6)
    a = rng.standard_normal((6, 4))
    blocks = Tuples((Matrices(3), Vectors(4)))
    yield Case.of("Linear, sparse", Linear(S + S.T), Matrices(5))
    yield Case.of("Linear, gradient", Linear(Matrices(4).gradient(rng)), Matrices(4))
    operator = aslinearoperator(random_symmetric(6, rng))
    yield Case.of("Linear, matrix-free", Linear(operator), Matrices(6), False)
    H, z = random_hermitian(3, rng), rng.standard_normal((6, 3)) + 1j * rng.standard_normal((6, 3))
    yield Case.of("Linear, complex", Linear(H), Hermitians(3))
    yield Case.of("Linear, complex list", Linear([[1, 1j], [-1j, 0]]), Hermitians(2))
    yield Case.of("Linear, complex and sparse", Linear(sp.csr_array(H)), Hermitians(3))
    hidden = Linear(aslinearoperator(H))
    yield Case.of("Linear, complex, matrix-free", hidden, Hermitians(3), False)
    yield Case.of("Linear, lifted", Linear(lifted(a[:2])), Rectangles(2, 4))
    both = Tuples((Hermitians(2), Vectors(3)))
    yield Case.of("Linear, complex block", Linear((np.eye(2) + 0j, np.ones(3))), both)
    intensities = LeastSquares(Quadratics(z), c)
    yield Case.of("LeastSquares, intensities", intensities, Hermitians(3))
    seen = Entries.rectangular((2, 3), [0, 1, 1], [2, 0, 2])
    yield Case.of("LeastSquares, rectangular", LeastSquares(seen, c[:3]), Rectangles(2, 3))
    yield Case.of("LeastSquares, weighted", LeastSquares(a, c, 0.3), Vectors(4))
    yield Case.of("LeastSquares, far", LeastSquares(sp.csr_array(a), 1e3 * c), Vectors(4))
    yield Case.of("LeastSquares, entries", LeastSquares(Entries(3), np.arange(9)), Matrices(3))
    rows = Across(RowSums(3), Matrix(np.ones((3, 4))))
    yield Case.of("LeastSquares, blocks", LeastSquares(rows, [1, 2, 3]), blocks)
    Q, signs = a.T @ a, np.where(c > 0, 1.0, -1.0)
    yield Case.of("Quadratic, sparse", Quadratic(sp.diags([0.0, 1.0, 2.0])), Vectors(3))
    free = Quadratic(aslinearoperator(Q), 5 * a[1], weight=0.1)
    yield Case.of("Quadratic, matrix-free", free, Vectors(4))
    yield Case.of("FactoredQuadratic, F alone", FactoredQuadratic(a), Vectors(4))
    entries = FactoredQuadratic(Entries(3), c=np.eye(3))
    yield Case.of("FactoredQuadratic, entries", entries, Matrices(3))
    yield Case.of("Huber, entries", Huber(Entries(3), np.arange(9), 2.0, 0.3), Matrices(3))
    yield Case.of("Logistic, weighted", Logistic(sp.csr_array(a), signs, 3.0), Vectors(4))
    counts = np.array([3, 0, 1, 7, 2, 0])
    yield Case.of("Poisson, weighted", Poisson(a, counts, np.abs(c) + 0.1, 2.0), Vectors(4))
    square = Function(_half_square, lambda u: u - 1, L=1.0, size=3)
    yield Case.of("Function", square, Vectors(3))
    softened = Function(_soft, _soft_slope, L=np.linalg.norm(a, 2) ** 2, M=a)
    yield Case.of("Function, of a map", softened, Vectors(4))


def _half_square(u: np.ndarray) -> float:
    return 0.5 * float((u - 1) @ (u - 1))


def _soft(u: np.ndarray) -> float:
    return float(np.sqrt(1 + u * u).sum())


def _soft_slope(u: np.ndarray) -> np.ndarray:
    return u / np.sqrt(1 + u * u)


SMOOTH = list(_smooth())

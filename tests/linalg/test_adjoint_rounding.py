"""What A'y may be off: never less than it is, in fractions, and sharp where A is small."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.certificates.bound import adjoint_rounding
from condal.linalg.gradients import SquareRows
from condal.linalg.rounding import gamma
from condal.maps import Across, Matrix, Quadratics


def symmetric_rows(rng, n, p):
    rows = rng.standard_normal((p, n, n)) * 10.0 ** rng.uniform(-6, 6, (p, 1, 1))
    return condal.Inner([row + row.T for row in rows])


MAPS = {
    "Inner": lambda rng: symmetric_rows(rng, 4, 6),
    "Matrix": lambda rng: Matrix(rng.standard_normal((7, 5)) * 10.0 ** rng.uniform(-6, 6, (7, 1))),
    "Across": lambda rng: Across(symmetric_rows(rng, 3, 5), Matrix(rng.standard_normal((5, 4)))),
    "Diagonal": lambda rng: condal.Diagonal(5).scaled(rng.standard_normal(5)),
}


def flat(v):
    if isinstance(v, tuple):
        return np.concatenate([flat(part) for part in v])
    return np.ravel(v.to_dense() if hasattr(v, "to_dense") else v)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("seed", range(5))
def test_rounding_is_bounded(name, seed):
    rng = np.random.default_rng(seed)
    A = MAPS[name](rng)
    y = rng.standard_normal(A.size) * 10.0 ** rng.uniform(-6, 6, A.size)
    columns = sp.csc_array(A.as_matrix())
    off = Fraction(0)
    for j, computed in enumerate(flat(A.adjoint(y))):
        here = slice(columns.indptr[j], columns.indptr[j + 1])
        pairs = zip(columns.data[here], y[columns.indices[here]], strict=True)
        exact = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in pairs), Fraction(0))
        off += (Fraction(float(computed)) - exact) ** 2
    bound = adjoint_rounding(A, y)
    assert off <= Fraction(bound) ** 2
    assert bound <= adjoint_rounding(A, y, np.inf)


def test_small_duals_of_large_rows_are_seen():
    # The rows have norms of 1e6 and 1, the dual 1 and 1e6: no product is larger than 1e6.
    A = Matrix(np.diag([1e6, 1.0]))
    y = np.array([1.0, 1e6])
    assert adjoint_rounding(A, y) < 1e-5 * adjoint_rounding(A, y, np.inf)


def test_large_maps_are_not_written_down(monkeypatch):
    A = condal.Diagonal(5000)
    monkeypatch.setattr(condal.Diagonal, "as_matrix", lambda self: pytest.fail("written down"))
    assert adjoint_rounding(A, np.ones(5000)) > 0


def test_squares_of_vectors_are_bounded_without_their_entries():
    """The norms of the rows add up to no less than the norm of |A|'|y|."""
    rng = np.random.default_rng(0)
    dense = Quadratics(rng.standard_normal((2, 40)), np.array([1e6, 1.0]))
    A = condal.Stack(condal.Diagonal(40), dense)
    y = np.append(rng.standard_normal(40), [1.0, 1e6])
    assert SquareRows.of(A).squares.size == 2
    entries = np.linalg.norm(abs(A.as_matrix()).T @ np.abs(y))
    bound = adjoint_rounding(A, y)
    assert gamma(A.terms) * entries <= bound < 1e-4 * adjoint_rounding(A, y, np.inf)

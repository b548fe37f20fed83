"""The spectrum through small matrices is that of the whole matrix."""

import numpy as np
import pytest

from condal.linalg.points import LowRank, Outer
from condal.report.figures import spectra

RNG = np.random.default_rng(0)
REAL = LowRank(RNG.standard_normal((30, 4)), np.array([2.0, 1.0, 0.5, 3.0]))
COMPLEX = LowRank(RNG.standard_normal((9, 3)) + 1j * RNG.standard_normal((9, 3)), np.ones(3))
WIDE = LowRank(RNG.standard_normal((3, 8)), np.ones(8))  # more columns than rows
OUTER = Outer(RNG.standard_normal((7, 2)), np.ones(2), RNG.standard_normal((5, 2)))


@pytest.mark.parametrize("x", [REAL, COMPLEX, WIDE])
def test_eigenvalues_of_a_factor(x):
    (found,) = spectra(x)
    whole = np.linalg.eigvalsh(np.asarray(x))[::-1]
    assert found.what == "eigenvalues"
    np.testing.assert_allclose(found.values, whole[: found.values.size], atol=1e-12 * whole[0])
    assert found.rank == np.linalg.matrix_rank(np.asarray(x))


def test_singular_values_of_a_rectangle():
    (found,) = spectra(OUTER)
    whole = np.linalg.svd(np.asarray(OUTER), compute_uv=False)
    np.testing.assert_allclose(found.values, whole[:2])
    assert (found.what, found.shape, found.rank) == ("singular values", (7, 5), 2)


def test_arrays_symmetric_or_not_and_vectors():
    square, other = np.diag([1.0, 3.0, 2.0]), np.arange(6.0).reshape(2, 3)
    first, second, third = spectra((square, other, np.array([1.0, -4.0])))
    np.testing.assert_allclose(first.values, [3.0, 2.0, 1.0])
    np.testing.assert_allclose(second.values, np.linalg.svd(other, compute_uv=False))
    assert third.values.tolist() == [4.0, 1.0]
    assert [one.what for one in (first, second, third)] == [
        "eigenvalues",
        "singular values",
        "absolute values of the entries",
    ]


@pytest.mark.parametrize("x", [None, np.full((2, 2), np.nan), np.zeros((2, 2, 2)), np.zeros(0)])
def test_points_that_have_none(x):
    assert spectra(x) == []


def test_a_point_of_no_columns():
    (found,) = spectra(LowRank(np.zeros((4, 0)), np.zeros(0)))
    assert found.values.size == found.rank == 0

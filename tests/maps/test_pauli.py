"""Probabilities in Pauli bases against the dense definition, and refused bases."""

from functools import reduce
from itertools import product

import numpy as np
import pytest

from condal.errors import ProblemError
from condal.linalg.lifting import real_matrix, real_point, real_vectors
from condal.linalg.points import LowRank
from condal.maps import PauliProbabilities, check_adjoint

EIGENVECTORS = {  # of the eigenvalues 1 and -1, as rows, conjugated
    "X": np.array([[1, 1], [1, -1]]) / np.sqrt(2),
    "Y": np.array([[1, -1j], [1, 1j]]) / np.sqrt(2),
    "Z": np.eye(2),
}
SETS = [["Y"], ["XZ", "YY"], ["ZYX", "XYX", "XYZ"], ["".join(w) for w in product("XYZ", repeat=3)]]


def outcomes(bases):
    """The states of all outcomes, as rows, conjugated."""
    return np.vstack([reduce(np.kron, [EIGENVECTORS[c] for c in word]) for word in bases])


def hermitian(d, seed=0):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((d, d)) + 1j * rng.standard_normal((d, d))
    return G @ G.conj().T


@pytest.mark.parametrize("bases", SETS, ids=len)
def test_probabilities_are_those_of_the_definition(bases):
    A, rows = PauliProbabilities(bases), outcomes(bases)
    rho = hermitian(A.side)
    wanted = np.einsum("ij,jk,ik->i", rows, rho, rows.conj()).real
    assert np.allclose(A.probabilities(rho), wanted, rtol=1e-13, atol=0)
    assert np.allclose(A(real_point(rho, A.side)), wanted, rtol=1e-13, atol=0)
    U = rows[:3].conj().T
    low = A(LowRank(real_vectors(U), np.array([0.5, 0.25, 0.25])[: U.shape[1]]))
    assert np.allclose(low.reshape(len(bases), -1).sum(axis=1), low[: A.side].sum())
    assert np.allclose(low, (np.abs(rows @ U) ** 2) @ np.array([0.5, 0.25, 0.25])[: U.shape[1]])


@pytest.mark.parametrize("bases", SETS, ids=len)
def test_the_adjoint_is_that_of_the_definition(bases):
    A, rows = PauliProbabilities(bases), outcomes(bases)
    y = np.random.default_rng(1).standard_normal(A.size)
    V = rows.conj().T @ (y[:, None] * rows)
    assert np.allclose(A.adjoint(y).dense, real_matrix(V), rtol=0, atol=1e-13 * np.abs(y).sum())
    check_adjoint(A, [real_point(hermitian(A.side), A.side)])


@pytest.mark.parametrize("bases", SETS, ids=len)
def test_the_compressed_map_has_the_inner_products_of_the_probabilities(bases):
    A = PauliProbabilities(bases)
    C = A.compressed
    x, z = (real_point(hermitian(A.side, seed), A.side) for seed in (0, 1))
    assert C.size == np.count_nonzero(A.measured)
    assert C(x) @ C(z) == pytest.approx(A(x) @ A(z), rel=1e-13)
    check_adjoint(C, [x, z])
    assert pytest.approx(A.norm) == C.norm


@pytest.mark.parametrize("bases", SETS, ids=len)
def test_compressed_data_change_the_distances_by_a_constant(bases):
    A = PauliProbabilities(bases)
    y = np.random.default_rng(1).standard_normal(A.size)
    C, c = A.compressed, A.compress(y)
    rows = np.array([A.adjoint(e).dense.ravel() for e in np.eye(A.size)])
    beside = y - rows @ np.linalg.lstsq(rows, y, rcond=None)[0]
    for seed in range(2):
        x = real_point(hermitian(A.side, seed), A.side)
        apart = np.sum((A(x) - y) ** 2) - np.sum((C(x) - c) ** 2)
        assert apart == pytest.approx(beside @ beside, abs=1e-11)


def test_products_are_counted_by_the_bases_that_measure_them():
    A = PauliProbabilities(["XX", "XZ"])
    counts = A.measured.reshape(4, 4)  # by the letters I, X, Y, Z of both qubits
    assert counts.tolist() == [[2, 1, 0, 1], [2, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("bases", "message"),
    [
        ([], "no basis"),
        (["XQ"], "one letter X, Y or Z per qubit; got 'XQ'"),
        ([""], "one letter X, Y or Z per qubit"),
        (["X", "XX"], "'X' and 'XX'"),
        (["XX", "YY", "XX"], "XX is given twice"),
        (["Z" * 12], "at most 11 qubits"),
        ([3], "got 3"),
    ],
)
def test_bases_that_are_none_are_refused(bases, message):
    with pytest.raises(ProblemError, match=message):
        PauliProbabilities(bases)

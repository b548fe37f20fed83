"""Exact points on faces: what they prove is true, and planted rational faces are found."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.conic import proves_feasible
from condal.certificates.faces import exact_value
from condal.certificates.proposals import proved_value

N = 4
COLS, ROWS = np.triu_indices(N)
TWICE = np.where(ROWS == COLS, 1.0, 2.0)


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_planted_face_of_the_psd_cone_is_found(seed, doubled):
    """X = W S W' with integers in W; <F, X> = 0 for a psd F keeps all feasible X on the face."""
    rng = np.random.default_rng(seed)
    rank = 1 + seed % 3
    W = np.vstack([np.eye(rank), rng.integers(-3, 4, (N - rank, rank))]).astype(float)
    null = np.hstack([-W[rank:], np.eye(N - rank)])  # null W = 0
    G = rng.integers(-2, 3, (rank, rank)).astype(float)
    X = W @ (G @ G.T + np.eye(rank)) @ W.T
    factor = np.where(ROWS == COLS, 1.0, 0.5) if doubled else np.ones(ROWS.size)
    functionals = [null.T @ null, rng.integers(-2, 3, (N, N)) * 1.0]
    A = np.array([factor * TWICE * (0.5 * (F + F.T))[ROWS, COLS] for F in functionals])
    x = X[ROWS, COLS] / factor
    c = rng.integers(-2, 3, x.size).astype(float)
    form = ConicForm(c, sp.csr_array(A), A @ x, (Cone("psd", N, packed=True, doubled=doubled),))
    near = x + 1e-8 * rng.standard_normal(x.size)
    assert not proves_feasible(form, near)
    value, w = exact_value(form, near)
    assert value == pytest.approx(float(c @ x), abs=1e-5)
    assert np.abs(w - x).max() < 1e-5
    assert proved_value(form, near)[0] <= value


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_ray_of_a_second_order_cone_is_found(seed):
    """Rational points of the sphere: (2t, 1 - |t|^2) / (1 + |t|^2)."""
    rng = np.random.default_rng(seed)
    t = rng.integers(-3, 4, 3)
    square = int(t @ t)
    u = np.array([1 + square, *(2 * t), 1 - square], dtype=float)  # on the boundary
    A = np.concatenate([u[:1], -u[1:]])[None]  # <A, v> >= 0 on the cone, and 0 on the ray alone
    form = ConicForm(-u, sp.csr_array(A), np.zeros(1), (Cone("second-order", u.size),))
    value, _ = exact_value(form, u * (1 + 1e-9 * rng.standard_normal(u.size)))
    assert value < 0


def test_an_exact_point_is_not_claimed_where_there_is_none():
    """<F, X> = 0 for F = ee' and X_00 = 1, X_01 = -1 + 2^-40: no X is psd with X_11 = 1."""
    cone = Cone("psd", 2, packed=True)
    A = sp.csr_array(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]))
    for entry, feasible in ((-1.0, True), (-1 - 2.0**-40, False), (-1 + 2.0**-40, True)):
        form = ConicForm(np.zeros(3), A, np.array([1.0, entry, 1.0]), (cone,))
        value = proved_value(form, np.array([1.0, -1.0, 1.0]))[0]
        assert (value < np.inf) is feasible
    assert Fraction(-1 - 2.0**-40) ** 2 > 1

"""Proofs inside the cones: true of every form, and silent where nothing is proved."""

from fractions import Fraction
from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

from condal.certificates.cones import Cone, ConicForm
from condal.certificates.inner import inner_value, lifted, objective_above
from condal.certificates.row_space import RowSpace
from sparse_matrices import random_sparse

CONES = (
    Cone("free", 2),
    Cone("orthant", 3),
    Cone("second-order", 4),
    Cone("psd", 3, packed=True),
    Cone("psd", 3, packed=True, doubled=True),
    Cone("psd", 2),
)


def _inside(cone: Cone, rng: np.random.Generator) -> np.ndarray:
    if cone.kind == "free":
        return rng.standard_normal(cone.n)
    if cone.kind == "orthant":
        return 0.1 + rng.random(cone.n)
    if cone.kind == "second-order":
        tail = rng.standard_normal(cone.n - 1)
        return np.concatenate([[np.linalg.norm(tail) + 0.1], tail])
    root = rng.standard_normal((cone.n, cone.n))
    return cone.vector(root @ root.T + 0.1 * np.eye(cone.n))


def _planted(seed: int, rows: int = 6) -> tuple[ConicForm, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.concatenate([_inside(cone, rng) for cone in CONES])
    A = random_sparse(rng, (rows, x.size), 0.6)
    return ConicForm(rng.standard_normal(x.size), A, A @ x, CONES), x


@pytest.mark.parametrize("seed", range(8))
def test_a_point_near_the_rows_and_inside_has_about_its_own_value(seed):
    form, x = _planted(seed)
    rng = np.random.default_rng(seed + 100)
    value, moved = inner_value(form, x + 1e-6 * rng.standard_normal(x.size))
    assert value < inf
    assert np.abs(form.A @ moved - form.b).max() < 1e-12
    assert value >= form.c @ moved - 1e-12
    assert value == pytest.approx(form.c @ x, abs=1e-3)


def test_points_outside_or_far_from_the_rows_prove_nothing():
    form, x = _planted(1)
    outside = x.copy()
    outside[2] = -1.0  # the orthant
    assert inner_value(form, outside)[0] == inf
    far = ConicForm(np.zeros(1), sp.csr_array([[1.0]]), np.array([-1.0]), (Cone("orthant", 1),))
    assert inner_value(far, np.ones(1))[0] == inf


def test_rows_that_contradict_each_other_prove_nothing():
    """x = 1 and x = 1 + 2^-40: any reach would be a false proof."""
    A = sp.csr_array([[1.0], [1.0]])
    form = ConicForm(np.zeros(1), A, np.array([1.0, 1.0 + 2.0**-40]), (Cone("orthant", 1),))
    assert inner_value(form, np.ones(1))[0] == inf


def test_an_empty_row_must_hold_exactly():
    A = sp.csr_array(([1.0], ([0], [0])), (2, 1))
    for right, proved in ((0.0, True), (2.0**-1000, False)):
        form = ConicForm(np.zeros(1), A, np.array([1.0, right]), (Cone("orthant", 1),))
        assert (inner_value(form, np.ones(1))[0] < inf) == proved


@pytest.mark.parametrize("seed", range(6))
def test_the_reach_bounds_a_solution_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    A = random_sparse(rng, (8, 14), 0.25)
    A.data *= 10.0 ** rng.uniform(-3, 3, A.nnz)
    r = rng.standard_normal(8) * (np.diff(A.indptr) > 0)
    reach = RowSpace(A).reach(np.abs(r))
    u = np.linalg.lstsq(A.toarray(), r, rcond=None)[0]
    if reach < inf:
        assert np.allclose(A @ u, r)
        assert reach >= np.linalg.norm(u) * (1 - 1e-9)


def test_triangular_rows_are_solved_without_a_factorisation():
    A = sp.csr_array(np.array([[2.0, 1.0, 0.0], [0.0, 4.0, 1.0], [0.0, 0.0, 8.0]]))
    rows = RowSpace(A)
    assert rows.triangular
    assert np.allclose(A @ rows.step(np.array([1.0, 2.0, 3.0])), [1.0, 2.0, 3.0])
    assert not RowSpace(sp.csr_array(np.ones((2, 2)))).triangular


def test_wide_residuals_bound_their_error():
    rng = np.random.default_rng(0)
    A = sp.csr_array(rng.standard_normal((5, 7)) * 10.0 ** rng.uniform(-8, 8, (5, 7)))
    v, t = rng.standard_normal(7), rng.standard_normal(5)
    r, error = RowSpace(A).residual(t, v)
    for i in range(5):
        row = A.toarray()[i]
        pairs = zip(row.tolist(), v.tolist(), strict=True)
        exact = Fraction(float(t[i])) - sum(Fraction(a) * Fraction(x) for a, x in pairs)
        assert abs(Fraction(float(r[i])) - exact) <= Fraction(float(error[i]))


def test_a_quadratic_objective_is_bounded_along_every_move():
    rng = np.random.default_rng(3)
    root = rng.standard_normal((4, 4))
    P = root @ root.T
    form = ConicForm(
        rng.standard_normal(4),
        sp.csr_array((0, 4)),
        np.zeros(0),
        (Cone("free", 4),),
        sp.csr_array(P),
    )
    x, weight, reach = rng.standard_normal(4), np.array([1.0, 0.5, 2.0, 0.0]), 0.3
    above = objective_above(form, x, weight, reach)
    for _ in range(200):
        u = rng.standard_normal(4)
        y = x + weight * u * (reach * rng.random() / np.linalg.norm(u))
        assert form.c @ y + 0.5 * y @ P @ y <= above
    here = form.c @ x + 0.5 * x @ P @ x
    assert objective_above(form, x, weight, 0.0) == pytest.approx(here)


def test_a_lifted_point_is_near_the_central_one():
    """z of a point on the boundary gets mu / s where s > 0, and stays where s = 0."""
    form = ConicForm(np.zeros(2), sp.csr_array((0, 2)), np.zeros(0), (Cone("orthant", 2),))
    z = lifted(form, np.array([1.0, 0.0]), np.array([0.0, 1.0]), 1e-8)
    assert z == pytest.approx([1.0, 1e-8], rel=1e-3)

"""Nonsmooth functions: the identities of Moreau and Fenchel, scaling by its definition."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal import nonsmooth
from condal.nonsmooth import L1
from condal.passes import PIECE
from condal.sets import Equal, Separable
from laws import multipliers_obey_their_law, pieces_obey_their_law, public_classes

FUNCTIONS = {"L1": L1(4, 0.7), "L1 weighted": L1(3, [0.5, 1.0, 20.0])}
cases = pytest.mark.parametrize("g", FUNCTIONS.values(), ids=FUNCTIONS)


def vectors(g, rng):
    for _ in range(30):
        z = rng.standard_normal((2, g.size)) * 10.0 ** rng.uniform(-3, 3)
        yield np.where(rng.random((2, g.size)) < 0.2, 0.0, z)


def test_every_function_is_listed():
    assert public_classes(nonsmooth, "prox") == {type(g) for g in FUNCTIONS.values()}


@cases
def test_prox_minimises(g):
    rng = np.random.default_rng(0)
    for z, other in vectors(g, rng):
        t = float(np.exp(rng.standard_normal()))
        p = g.prox(z, t)
        least = g.value(p) + float((p - z) @ (p - z)) / (2 * t)
        for q in (other, p + 1e-3 * other, z, np.zeros_like(z)):
            assert least <= g.value(q) + float((q - z) @ (q - z)) / (2 * t) + 1e-9 * (1 + least)


@cases
def test_moreau(g):
    """z = prox_{t g}(z) + t prox_{g*/t}(z/t), and the second is a point of dom g*."""
    rng = np.random.default_rng(1)
    for z, _ in vectors(g, rng):
        w = g.dual_point(z - g.prox(z, 1.0))
        assert g.conjugate(w) == 0.0
        np.testing.assert_allclose(w, g.dual_point(z), atol=1e-12 * (1 + np.abs(z).max()))
        # Fenchel: g(p) + g*(w) = <w, p> at p = prox(z)
        p = g.prox(z, 1.0)
        assert g.value(p) + g.conjugate(w) == pytest.approx(float(w @ p), rel=1e-9, abs=1e-9)


@cases
def test_multipliers_are_what_the_prox_leaves_and_stay_where_the_conjugate_is_finite(g):
    for z, _ in vectors(g, np.random.default_rng(4)):
        multipliers_obey_their_law(g, z)


@pytest.mark.parametrize("g", [*FUNCTIONS.values(), L1(PIECE + 3, np.arange(1.0, PIECE + 4))])
def test_a_function_is_the_sum_of_its_pieces(g):
    pieces_obey_their_law(g, np.random.default_rng(5))


@cases
def test_the_lipschitz_constant_is_one_and_is_reached(g):
    rng = np.random.default_rng(2)
    for z, q in vectors(g, rng):
        assert abs(g.value(z) - g.value(q)) <= g.lipschitz * np.linalg.norm(z - q) * (1 + 1e-12)
    steepest = g.dual_point(np.full(g.size, 1e9))
    assert g.value(steepest) == pytest.approx(g.lipschitz * np.linalg.norm(steepest))
    assert g.conjugate(1.001 * steepest) == np.inf
    assert g.distance(steepest) == g.conjugate_size(steepest) == 0.0


@cases
def test_scaled_is_c_g_of_z_over_rows(g):
    rng = np.random.default_rng(3)
    rows, c = rng.uniform(0.1, 3.0, g.size), 2.5
    for z, _ in vectors(g, rng):
        assert g.scaled(rows, c).value(z) == pytest.approx(c * g.value(z / rows))


def test_a_sum_over_blocks_is_lipschitz_as_its_parts_are():
    g = L1(4)
    assert Separable(g, g).lipschitz == pytest.approx(np.sqrt(8.0))
    assert Separable().lipschitz == 0.0
    assert Separable(g, Equal([1.0])).lipschitz == np.inf


@pytest.mark.parametrize("t", [0.0, -1.0, [1.0, 2.0], [[1.0, 1.0, 1.0]]])
def test_weights_are_checked(t):
    with pytest.raises(condal.ProblemError, match="t must be a positive number, or 3 of them"):
        L1(3, t)


def test_a_nonsmooth_problem_is_solved_and_proved():
    """min sum_i (a_i |x_i| - x_i) over the simplex: all of it on the smallest a_i."""
    a = np.array([0.2, 0.3, 0.9])
    problem = condal.Problem.of(
        f=condal.Linear(-np.ones(3)),
        X=condal.Simplex(3),
        A=condal.Matrix(np.diag(a)),
        K=L1(3),
        name="weighted",
    )
    result = condal.solve(problem, tol=1e-4)
    assert result.status is condal.Status.SOLVED
    assert result.objective == pytest.approx(a.min() - 1.0, abs=1e-4)
    assert result.bound <= result.objective + 1e-12

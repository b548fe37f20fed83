"""Bugs that the random problems found, reduced to small tests."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.methods.projection.composite import _Trial
from condal.problems import max_k_cut
from condal.problems.conic import Block, Program, conic_model
from condal.result import Status
from condal.saved import verify
from truth.families import FAMILIES

POINTS = {
    "Permutahedron": lambda: condal.Permutahedron([0.0, 0.0]),
    "Hull": lambda: condal.Hull([[0.0, 0.0]]),
    "Box": lambda: condal.domains.Box([0.0, 0.0], [0.0, 0.0]),
    "Polytope": lambda: condal.Polytope(low=[0.0, 0.0], high=[0.0, 0.0]),
}


METHODS = {"default": None, "CGAL": condal.CGAL(), "PrimalDual": condal.methods.PrimalDual()}
PROJECTED = ("Permutahedron", "Box")  # which PrimalDual needs


@pytest.mark.parametrize("b", [0.0, 1.0])
@pytest.mark.parametrize(
    ("domain", "method"),
    [pair for pair in product(POINTS, METHODS) if pair[1] != "PrimalDual" or pair[0] in PROJECTED],
)
def test_a_domain_that_is_the_origin(domain, method, b):
    """The domain has size 0, by which nothing can be divided."""
    problem = condal.Problem.of(
        f=condal.LeastSquares(np.eye(2), [1.0, 2.0]),
        X=POINTS[domain](),
        A=condal.Matrix([[1.0, 1.0]]),
        K=condal.Equal([b]),
    )
    result = condal.solve(problem, METHODS[method], max_iters=200)
    assert result.status is (Status.INFEASIBLE if b else Status.SOLVED)
    assert result.objective == 2.5


def test_two_vertices_that_are_one_point():
    """The repair of x = J divided by 1 - min x_ij = 0."""
    model = max_k_cut([[0.0, 1.0], [1.0, 0.0]], 3, pairs="edges")
    ones = np.ones((2, 2))
    assert np.array_equal(np.asarray(model.problem.repair(ones)), ones)


@pytest.mark.parametrize("missed", [1e-2, 1e-4, 1e-6])
def test_a_problem_infeasible_by_less_than_the_tolerance_ends(missed):
    """The bounds pass every objective: the method used to run without end."""
    problem = condal.Problem.of(
        f=condal.Linear([1.0]),
        X=condal.L2Ball(1),
        A=condal.Matrix([[1.0]]),
        K=condal.Equal([1.0 + missed]),
    )
    result = condal.solve(problem, tol=1e-1, max_iters=20_000)
    assert result.status in (Status.INFEASIBLE, Status.SOLVED)
    tight = condal.solve(problem, tol=1e-3 * missed, max_iters=20_000)
    assert tight.status is Status.INFEASIBLE


@pytest.mark.parametrize("s", [1e-8, 1.0, 1e8])
def test_bounds_of_factored_quadratics_do_not_depend_on_the_unit_of_x(s):
    """min x^2 / 2 - 4 x over |x| <= 1, with x in units of s; what the roots of d lose to rounding
    was counted as if Mx were x."""
    problem = condal.Problem.of(
        f=condal.FactoredQuadratic([[0.0]], [0.9 / s**2], [-4.0 / s]),
        X=condal.L2Ball(1, s),
    )
    result = condal.solve(problem, tol=1e-10)
    assert result.status is Status.SOLVED
    assert result.bound == pytest.approx(-3.55, abs=1e-9)
    assert result.bound <= -3.55 + 1e-15


@pytest.mark.parametrize("s", [2.0**-38, 1.0, 2.0**30, 2.0**38])
def test_a_polytope_in_other_units(s):
    """HiGHS takes large numbers for infinity: it called a bounded polytope unbounded."""
    for seed in (186, 248, 267):
        rng = np.random.default_rng(seed)
        G, h = rng.integers(-3, 4, (3, 4)).astype(float), rng.integers(1, 5, 3).astype(float)
        low, high = -rng.integers(0, 4, 4).astype(float), rng.integers(1, 4, 4).astype(float)
        v = rng.standard_normal(4) * 2.0 ** rng.integers(-24, 25, 4)
        plain = condal.Polytope(G, h, low=low, high=high)
        scaled = condal.Polytope(G, s * h, low=s * low, high=s * high)
        least = float(v @ plain.lmo(v))
        assert float(v @ scaled.lmo(v)) / s == pytest.approx(least, abs=1e-6 * np.abs(v).max())
        proof = scaled.bound(v, slack=0.0, failure=0.0, seed=0)
        assert proof.value / s <= least + 1e-6 * np.abs(v).max()


def test_the_derivative_of_a_multiplier_at_zero():
    """For a small rho the step of the difference underflowed: 0 / 0."""
    zero = np.zeros(3)
    trial = _Trial(condal.L1(1.0, 3), zero, 1e-16, zero, zero, zero, zero, zero)
    assert np.allclose(trial.bends, 1.0)


def test_a_second_order_cone_of_which_rounding_leaves_no_inside():
    """The computed determinant of lam = N z was 0, and a step divided by it."""
    rows = [[0.0, -4.0], [0.0, -2.0], [-1.0, 1.0], [0.0, -2.0], [-2.0, 1.0]]
    b = [3.00000762939453125, 2.0, -2.0, -3.0, -3.0]
    program = Program(np.ones(2), sp.csr_array(rows), np.array(b), (Block("second-order", 2),))
    assert conic_model(program).solve().status is Status.INFEASIBLE


@pytest.mark.parametrize("seed", [20261199, 20261220])
def test_a_gap_below_the_slack_of_a_first_proof_is_proved_again(seed):
    """A proof that may lose 1e-8 of the unit does not show a bound that lost less."""
    model = FAMILIES["bisection"](seed).model
    result = condal.solve(model, tol=1e-8, max_iters=500)
    assert [claim.text for claim in verify(model, result).unproved] == []

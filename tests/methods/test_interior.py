"""The interior-point method: known optima, other solvers' values, proofs, and what it refuses."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.domains import CutCone, CutOrthant, Simplices
from condal.driver.scaling import normalise
from condal.linalg.cone_slices import sections
from condal.methods import InteriorPoint
from condal.methods.choice import Estimate
from condal.methods.interior import method
from condal.methods.interior.schur import Schur
from condal.smooth import Linear
from condal.storage import Factor
from known import planted_sdp
from laws.domains import DOMAINS

SOLVED, INFEASIBLE = condal.Status.SOLVED, condal.Status.INFEASIBLE
SECTIONED = [case for case in DOMAINS if sections(case.X) is not None]


def symmetric(rng, n, count):
    each = rng.standard_normal((count, n, n))
    return each + each.transpose(0, 2, 1)


def solved(problem, tol=1e-7):
    result = condal.solve(problem, InteriorPoint(), tol=tol, max_iters=60)
    assert result.status is SOLVED
    assert result.infeasibility <= tol
    return result


@pytest.mark.parametrize("case", SECTIONED, ids=lambda case: case.name)
def test_the_sections_of_a_domain_are_the_domain(case):
    """min <v, .> over the sections is that over X."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        v = case.space.gradient(rng)
        result = solved(condal.Problem.of(Linear(v), case.X), tol=1e-6)
        assert result.objective == pytest.approx(case.minimum(v), rel=2e-6, abs=2e-6)


def test_a_domain_that_is_no_section_says_nothing():
    assert sections(condal.L1Ball(3)) is None
    assert sections(condal.Product(condal.Simplex(3), condal.L1Ball(3))) is None
    face = condal.problems.quadratic_assignment(np.ones((3, 3)), np.ones((3, 3))).problem.X
    assert sections(face) is None  # a spectral domain, but a smaller one than its trace says
    nested = condal.Product(condal.Simplex(3), condal.Product(Simplices([2, 1]), CutCone(4)))
    assert [part.n for part in sections(nested)] == [3, 2, 1, 4]


def blocks_of_every_kind():
    """Two blocks of matrices, a cut orthant and a cut cone, joined by rows."""
    rng = np.random.default_rng(0)
    m, n, k = 6, 4, 3
    a, b = symmetric(rng, n, m), symmetric(rng, k, m)
    u, q = rng.standard_normal((m, 5)), rng.standard_normal((m, 3))
    C, D = symmetric(rng, n, 1)[0], symmetric(rng, k, 1)[0]
    A = condal.Across(condal.Inner(a), condal.Inner(b), condal.Matrix(u), condal.Matrix(q))
    image = A((np.eye(n) / n, np.eye(k) / k, np.full(5, 0.1), np.array([1.0, 0.1, 0.2])))
    low = np.where(np.arange(m) % 3 == 1, -np.inf, image - 0.1)
    high = np.where(np.arange(m) % 3 == 2, np.inf, image + 0.2)
    return condal.Problem.of(
        f=Linear((C, D, rng.standard_normal(5), rng.standard_normal(3))),
        X=condal.Product(
            condal.Spectrahedron(n),
            condal.Spectrahedron(k, 2.0, True),
            CutOrthant(5),
            CutCone(3, 2.0),
        ),
        A=A,
        K=condal.Box(low, high),
    )


def test_max_cut_whose_diagonal_is_its_trace():
    """One row is made up of the others: it is left out, and kept all the same."""
    rng = np.random.default_rng(0)
    C = symmetric(rng, 9, 1)[0]
    problem = condal.Problem.of(
        Linear(C), condal.Spectrahedron(9, 9.0), condal.Diagonal(9), condal.Equal(np.ones(9))
    )
    result = solved(problem, tol=1e-8)
    np.testing.assert_allclose(np.diagonal(condal.dense(result.x)), 1.0, atol=1e-8)


def test_rows_that_others_make_up():
    rng = np.random.default_rng(1)
    three = symmetric(rng, 6, 3)
    each = np.tensordot(rng.standard_normal((8, 3)), three, axes=1)
    b = np.tensordot(each, np.eye(6) / 6)
    C = symmetric(rng, 6, 1)[0]
    X = condal.Spectrahedron(6)
    few = condal.Problem.of(
        Linear(C), X, condal.Inner(three), condal.Equal(np.tensordot(three, np.eye(6) / 6))
    )
    many = condal.Problem.of(Linear(C), X, condal.Inner(each), condal.Equal(b))
    assert solved(many).objective == pytest.approx(solved(few).objective, rel=1e-6)


def unit(n, i, j):
    return sp.csr_array(([0.5, 0.5], ([i, j], [j, i])), (n, n))


INFEASIBLE_ROWS = {
    "a diagonal of another trace": (condal.Diagonal(4), condal.Equal(np.ones(4))),
    "a row of zeros": (
        condal.Inner([sp.csr_array((4, 4)), unit(4, 0, 0)]),
        condal.Equal([1.0, 1.0]),
    ),
    "rows that contradict": (condal.Entries(4, [0, 0], [1, 1]), condal.Equal([0.0, 1.0])),
    "not psd": (condal.Entries(4, [0, 0], [0, 1]), condal.Equal([0.1, 4.0])),
    "above the trace": (condal.Inner([np.ones((4, 4))]), condal.Box([21.0], [np.inf])),
    "below zero": (condal.Diagonal(4), condal.NonPositive(4)),
}


@pytest.mark.parametrize("name", INFEASIBLE_ROWS)
def test_an_infeasible_problem_is_proved_so(name):
    A, K = INFEASIBLE_ROWS[name]
    problem = condal.Problem.of(Linear(np.diag([1.0, 2, 3, 4])), condal.Spectrahedron(4, 5.0), A, K)
    result = condal.solve(problem, InteriorPoint(), tol=1e-4, max_iters=60)
    assert result.status is INFEASIBLE
    assert result.infeasible.value > 0


def test_a_contradiction_within_the_tolerance_is_none():
    problem = condal.Problem.of(
        Linear(np.diag([1.0, 2.0])),
        condal.Spectrahedron(2),
        condal.Entries(2, [0, 0], [1, 1]),
        condal.Equal([0.1, 0.1 + 1e-6]),
    )
    assert solved(problem, tol=1e-4).objective == pytest.approx(1.0101, rel=1e-3)


def test_without_an_interior_nothing_false_is_said():
    """x_00 = 0 leaves a face of X: the optimum is that of the face."""
    C = np.array([[1.0, 2, 0], [2, 0, 1], [0, 1, 3]])
    face = float(np.linalg.eigvalsh(C[1:, 1:])[0])
    problem = condal.Problem.of(
        Linear(C), condal.Spectrahedron(3), condal.Entries(3, [0], [0]), condal.Equal([0.0])
    )
    result = condal.solve(problem, InteriorPoint(), tol=1e-9, max_iters=80)
    assert result.bound <= face + 1e-9
    assert result.gap <= 1e-4
    assert result.infeasibility <= 1e-4


def test_a_maximisation_and_complex_matrices():
    H = np.array([[2, 1j], [-1j, 1.0]])
    problem = condal.Problem.of(Linear(H), condal.Hermitian(2, 3.0), maximise=True)
    assert solved(problem).objective == pytest.approx(3.0 * np.linalg.eigvalsh(H)[1], rel=1e-6)


def test_it_ends_by_itself_at_an_exact_bound():
    known = planted_sdp(n=15, kind="box", seed=5)
    problem, scaling = normalise(known.problem)
    states = list(islice(InteriorPoint().iterates(problem, Factor()), 60))
    assert len(states) < 60
    assert states[-1].lower == pytest.approx(scaling.c * known.optimum, abs=1e-9)


def test_rows_are_taken_by_entries_or_by_products():
    diagonal = sp.csr_array((np.ones(40), (np.arange(40), np.arange(40) * 41)), (40, 1600))
    whole = sp.vstack([diagonal, np.ones((1, 1600))], format="csr")
    made = Schur.of(whole, 40)
    assert (made.p.size, len(made.products)) == (40, 1)


def test_it_is_a_choice_for_small_linear_problems(monkeypatch):
    def is_choice(problem):
        return isinstance(InteriorPoint().estimate(problem, 1e-6), Estimate)

    small = planted_sdp().problem
    assert is_choice(small)
    for name, most in (
        ("MAX_ROWS", 11),
        ("MAX_ENTRIES", 3),
        ("MAX_MATRIX_SIDE", 11),
        ("MAX_STEP_SECONDS", 0.0),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(method, name, most)
            assert not is_choice(small)


def test_more_rows_take_longer():
    def seconds(m):
        A = condal.Entries(60, *(part[:m] for part in np.triu_indices(60)))
        return InteriorPoint().seconds(
            condal.Problem.of(
                Linear(np.eye(60)), condal.Spectrahedron(60), A, condal.Equal(np.zeros(m))
            )
        )

    assert 0 < seconds(10) < seconds(300) < seconds(1500)


def test_it_ends_where_its_system_has_no_factor(monkeypatch):
    monkeypatch.setattr("condal.methods.interior.newton_system.dpotrf", lambda M, **_: (M, 1))
    result = condal.solve(planted_sdp().problem, InteriorPoint())
    assert result.status is condal.Status.STALLED
    assert result.x is None


def test_an_infeasible_row_drives_a_second_order_cone_to_its_edge_without_an_error():
    """0 = 1: z grows until its scaling is singular in doubles."""
    problem = condal.Problem.of(
        f=Linear(2.0**-20 * np.array([-1.0, 3.0, 2.0])),
        X=CutCone(3, 4.0),
        A=condal.Matrix(np.array([[0.0, -2.0, 0.0], [0.0, 0.0, 0.0]])),
        K=condal.Equal([-3.0, -1.0]),
    )
    assert condal.solve(problem, tol=1e-4).status is INFEASIBLE

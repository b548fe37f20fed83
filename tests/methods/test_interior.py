"""The interior-point method: known optima, other solvers' values, proofs, and what it refuses."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import condal
from condal.domains import CutCone, Simplices
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


def test_a_contradiction_within_the_tolerance_is_none():
    problem = condal.Problem.of(
        Linear(np.diag([1.0, 2.0])),
        condal.Spectrahedron(2),
        condal.Entries(2, [0, 0], [1, 1]),
        condal.Equal([0.1, 0.1 + 1e-6]),
    )
    assert solved(problem, tol=1e-4).objective == pytest.approx(1.0101, rel=1e-3)


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

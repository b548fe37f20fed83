"""Problems as methods see them: the same solutions in other units, and a counted oracle."""

from itertools import islice

import numpy as np
import pytest

import condal
from condal.driver.scaling import counted, normalise
from condal.storage import Dense
from condal.types import projects, spectral_parts
from known import PLANTED, random_graph


@pytest.mark.parametrize("name", PLANTED)
def test_solutions_and_bounds_carry_over(name):
    known = PLANTED[name]()
    scaled, scaling = normalise(known.problem)
    y = scaling.normalised_dual(known.y)
    assert np.allclose(scaling.dual(y), known.y)
    assert np.allclose(scaling.image(scaled.A(known.x)), known.problem.A(known.x))
    assert scaled.f.value(scaled.f.M(known.x)) == pytest.approx(scaling.c * known.optimum)
    assert scaled.h.distance(scaled.A(known.x)) <= 1e-12
    far, objective = 3.0 * known.problem.A(known.x) + 1.0, known.optimum
    given = known.problem.equivalent_gap(far, objective)
    scaled_far = scaled.equivalent_gap(far * scaling.rows, scaling.c * objective)
    assert scaled_far == pytest.approx(scaling.c * given)
    infeasibility = known.problem.h.distance(far) / known.problem.infeasibility_unit
    assert given in (0.0, pytest.approx(infeasibility * known.problem.gap_unit(objective)))
    assert condal.certify(scaled, known.x, y).bound == pytest.approx(
        scaling.c * known.optimum, rel=1e-5, abs=1e-7
    )


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
def test_normalised_problems_are_of_size_one(name, factor):
    known = PLANTED[name]()
    problem = known.problem
    rows = np.geomspace(1.0, 1e6, problem.A.size)
    odd = condal.Problem.of(
        f=problem.f.scaled(factor),
        X=problem.X,
        A=problem.A.scaled(rows),
        K=problem.h.scaled(rows, factor),
    )
    scaled, _ = normalise(odd)
    assert scaled.f.variation(scaled.X.max_norm) == pytest.approx(1.0)
    assert scaled.A.norm * scaled.X.max_norm == pytest.approx(1.0)
    norms = scaled.A.row_norms()
    assert np.allclose(norms, norms[0])


def test_nothing_to_scale_is_left_alone():
    problem = condal.Problem.of(f=condal.Linear(np.zeros((3, 3))), X=condal.Spectrahedron(3))
    scaled, scaling = normalise(problem)
    assert scaling.c == 1.0
    assert scaling.rows.size == scaled.A.size == 0
    zero_row = condal.Inner([np.zeros((3, 3)), np.eye(3)])
    problem = condal.Problem.of(
        f=condal.Linear(np.eye(3)), X=condal.Spectrahedron(3), A=zero_row, K=condal.Equal([0, 1.0])
    )
    assert np.all(np.isfinite(normalise(problem)[1].rows))


def test_counts_are_those_of_the_oracle():
    problem = condal.problems.max_cut(random_graph(80, 6.0)).problem
    wrapped, counts = counted(problem)
    with_counts = list(islice(condal.CGAL(1e-3).iterates(wrapped, Dense()), 12))
    without = list(islice(condal.CGAL(1e-3).iterates(problem, Dense()), 12))
    assert np.array_equal(with_counts[-1].y, without[-1].y)
    assert counts.oracle_calls == 12
    assert counts.matvecs >= 12 * 6
    assert counts.oracle_cpu_seconds > 0


def test_products_are_counted_one_by_one_and_in_blocks():
    problem = condal.problems.max_cut(random_graph(80, 6.0)).problem
    asked = []

    class Engine:
        def smallest(self, V, tol=0.0, guess=None):
            V @ np.ones(80)
            V @ np.ones((80, 5))
            asked.append(1)
            return condal.eigen.Eigenpair(0.0, np.ones(80) / np.sqrt(80), 0.0, 0.0)

    X = condal.Spectrahedron(80, trace=80.0, engine=Engine())
    wrapped, counts = counted(condal.Problem.of(f=problem.f, X=X))
    list(islice(condal.CGAL(1.0).iterates(wrapped, Dense()), 3))
    assert (counts.oracle_calls, counts.matvecs) == (3, 18) == (len(asked), 6 * len(asked))


def test_projections_and_the_oracles_of_blocks_are_counted_too():
    X = condal.Product(condal.Spectrahedron(3), condal.Spectrahedron(2, 2.0, at_most=True))
    f = condal.Linear((np.diag([1.0, 2.0, 3.0]), np.eye(2)))
    wrapped, counts = counted(condal.Problem.of(f=f, X=X))
    assert projects(wrapped.X)
    wrapped.X.project((np.eye(3), np.eye(2)))
    assert counts.oracle_calls == 1
    first, second = spectral_parts(wrapped.X)
    assert (first.n, first.at_most, second.trace, second.at_most) == (3, False, 2.0, True)
    first.lowest(f.C[0], 1, 1e-6)
    assert counts.oracle_calls == 2


def test_only_what_has_a_projection_has_one_when_it_is_counted():
    hull = condal.Problem.of(f=condal.Linear(np.ones(2)), X=condal.Hull(np.eye(2)))
    assert not projects(counted(hull)[0].X)
    simplex = condal.Problem.of(f=condal.Linear(np.ones(2)), X=condal.Simplex(2))
    wrapped, counts = counted(simplex)
    np.testing.assert_array_equal(wrapped.X.project(np.array([3.0, 0.0])), [1.0, 0.0])
    assert counts.oracle_calls == 1
    mixed = condal.Product(condal.Simplex(2), condal.Spectrahedron(2))
    both = condal.Problem.of(f=condal.Linear((np.ones(2), np.eye(2))), X=mixed)
    assert projects(counted(both)[0].X)
    assert spectral_parts(counted(both)[0].X) is None

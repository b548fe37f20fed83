"""Normalised problems have the same solutions in other units."""

from __future__ import annotations

import numpy as np
import pytest

import condal
from condal.driver.scaling import normalise
from known import PLANTED


@pytest.mark.parametrize("name", PLANTED)
def test_solutions_and_bounds_carry_over(name):
    known = PLANTED[name]()
    scaled, scaling = normalise(known.problem)
    y = scaling.normalised_dual(known.y)
    assert np.allclose(scaling.dual(y), known.y)
    assert np.allclose(scaling.image(scaled.A(known.x)), known.problem.A(known.x))
    assert scaled.f.value(scaled.f.M(known.x)) == pytest.approx(scaling.c * known.optimum)
    assert scaled.h.distance(scaled.A(known.x)) <= 1e-12
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

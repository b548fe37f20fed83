"""Results of every kind that a page must show."""

from dataclasses import replace

import numpy as np
import pytest

import condal
from condal.certificates.history import History, Row
from condal.io.results import Saved
from condal.report import pictures
from hostile import HOSTILE
from known import torus


@pytest.fixture(scope="session")
def model():
    return condal.problems.max_cut(torus(4, 5))


@pytest.fixture(scope="session")
def solved(model):
    return condal.solve(model, tol=1e-3)


@pytest.fixture(scope="session")
def limited(model):
    return condal.solve(model, condal.CGAL(), tol=1e-9, max_iters=1)


@pytest.fixture(scope="session")
def infeasible():
    problem = condal.Problem.of(
        f=condal.Linear(np.eye(3)),
        X=condal.Spectrahedron(3, trace=1.0),
        A=condal.Diagonal(3),
        K=condal.Equal(np.full(3, 2.0)),
    )
    return condal.solve(problem, tol=1e-3)


@pytest.fixture(scope="session")
def blocks():
    """Two semidefinite blocks and a vector."""
    X = condal.Product(condal.Spectrahedron(3), condal.Spectrahedron(2), condal.Simplex(4))
    c = (np.diag([1.0, 2.0, 3.0]), np.diag([1.0, -1.0]), np.arange(4.0))
    return condal.solve(condal.Problem.of(f=condal.Linear(c), X=X))


@pytest.fixture(scope="session")
def long(solved):
    """A hundred thousand iterations."""
    history = History()
    for k in range(1, 100_001):
        errors = 2 / k, 1 / k, 0.5 / k, 2 / k
        row = Row(k, 1 + 1 / k, 1 - 1 / k, *errors, 1.0, 1 / k, 0.1, k, 9 * k, k / 1e3)
        history.append(row)
    return replace(solved, history=history)


@pytest.fixture(scope="session")
def hostile(solved):
    """Names that would be markup, if they were let."""
    bad = " ".join(["\u2713 &", *HOSTILE.values()])
    return Saved(
        replace(solved, problem_name=bad, method=bad, why=bad, reason=bad),
        file="<b>file</b>",
        settings={bad: bad},
        answer=[(bad, bad)],
        versions={"condal": "<i>1</i>"},
        picture=pictures.curves([(bad, np.arange(3.0))], bad),
    )

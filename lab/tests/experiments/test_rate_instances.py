"""The planted pairs of the study of rates: optimal, unique, strictly complementary or not."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import null_space

from condal_lab.experiments.rate_instances import KINDS, SIDES, rate_instances

INSTANCES = rate_instances()
MATRICES = [instance for instance in INSTANCES if instance.face is not None]
VECTORS = [instance for instance in INSTANCES if instance.face is None]
WELL_ABOVE_ROUNDING = 1e-3  # for singular values relative to the largest


def ids(instance):
    return f"{instance.name}, {'strict' if instance.strict else 'not strict'}"


def injective(columns):
    values = np.linalg.svd(np.array(columns).T, compute_uv=False)
    return len(columns) <= len(columns[0]) and values[-1] > WELL_ABOVE_ROUNDING * values[0]


def strong(instance):
    """The rows of A whose multipliers hold them in place."""
    if instance.kind != "box":
        return np.ones(instance.truth.y.size, dtype=bool)
    return instance.truth.y > 0


def active(instance):
    x, problem = instance.truth.x, instance.truth.problem
    return np.isclose(problem.A(x), 1.0) if instance.kind == "box" else strong(instance)


def test_there_are_fifteen_pairs():
    assert len(INSTANCES) == 2 * len(KINDS) * len(SIDES) == 30
    assert len({ids(instance) for instance in INSTANCES}) == 30


@pytest.mark.parametrize(("first", "second"), list(pairwise(INSTANCES))[::2])
def test_twins_share_the_solution_and_the_constraint(first, second):
    assert (first.name, first.strict, second.strict) == (second.name, True, False)
    assert np.array_equal(first.truth.x, second.truth.x)
    A, twin = first.truth.problem.A, second.truth.problem.A
    assert np.array_equal(A(first.truth.x), twin(first.truth.x))
    if first.kind != "box":
        assert np.array_equal(first.truth.y, second.truth.y)


@pytest.mark.parametrize("instance", INSTANCES, ids=ids)
def test_the_solution_is_feasible_and_attains_the_optimum(instance):
    truth, problem = instance.truth, instance.truth.problem
    assert problem.objective(truth.x) == pytest.approx(truth.optimum, abs=1e-12)
    assert problem.h.distance(problem.A(truth.x)) < 1e-12
    assert problem.X.distance(truth.x) < 1e-7


@pytest.mark.parametrize("instance", INSTANCES, ids=ids)
def test_the_multiplier_proves_the_optimum(instance):
    """f* is the dual bound: f(x*) + <grad f(x*), s - x*> + <y*, As> - h*(y*) at its minimum s."""
    truth, problem = instance.truth, instance.truth.problem
    u = problem.f.M(truth.x)
    v = problem.f.M.adjoint(problem.f.gradient(u)) + problem.A.adjoint(truth.y)
    s = problem.X.lmo(v, 0.0)
    linear = problem.f.gradient(u) @ (problem.f.M(s) - u)
    bound = truth.optimum + linear + truth.y @ problem.A(s) - problem.h.conjugate(truth.y)
    assert bound == pytest.approx(truth.optimum, abs=1e-10)


@pytest.mark.parametrize("instance", INSTANCES, ids=ids)
def test_the_slack_is_complementary(instance):
    x, Z = instance.truth.x, instance.slack
    values = np.linalg.eigvalsh(Z) if Z.ndim == 2 else Z
    assert values.min() > -1e-12
    assert np.abs(Z @ x).max() < 1e-12
    problem = instance.truth.problem
    v = problem.f.M.adjoint(problem.f.gradient(problem.f.M(x))) + problem.A.adjoint(
        instance.truth.y
    )
    rest = v - Z if Z.ndim == 1 else v.to_dense() - Z
    shift = np.eye(len(Z)) * rest[0, 0] if Z.ndim == 2 else 0.0
    assert np.abs(rest - shift).max() < 1e-12


@pytest.mark.parametrize("instance", INSTANCES, ids=ids)
def test_complementarity_is_strict_where_it_is_planted(instance):
    x, Z = instance.truth.x, instance.slack
    ranks = [
        np.linalg.matrix_rank(m, tol=1e-9) if m.ndim == 2 else np.count_nonzero(m) for m in (x, Z)
    ]
    strict = sum(ranks) == len(Z) and np.array_equal(strong(instance), active(instance))
    assert strict == instance.strict


@pytest.mark.parametrize("instance", MATRICES, ids=ids)
def test_the_solution_is_unique(instance):
    """On the face of X that Z exposes, the constraints that y* holds determine x."""
    problem, N = instance.truth.problem, null_space(instance.slack, rcond=1e-9)
    q = N.shape[1]
    images = []
    for i in range(q):
        for j in range(i + 1):
            E = np.outer(N[:, i], N[:, j])
            E = 0.5 * (E + E.T)
            images.append(np.append(problem.A(E)[strong(instance)], np.trace(E)))
    assert injective(images)


@pytest.mark.parametrize("instance", MATRICES, ids=ids)
def test_the_multiplier_is_unique(instance):
    """No other y and mu make Z x* = 0, up to the multiples of 1 for a diagonal of fixed trace."""
    problem, face = instance.truth.problem, instance.face
    images = [
        (problem.A.adjoint(e).to_dense() @ face).ravel()
        for e in np.eye(problem.A.size)[active(instance)]
    ]
    if instance.kind == "diagonal":
        assert abs(instance.truth.y.sum()) < 1e-12
        images = images[1:]
    assert injective([*images, face.ravel()])


@pytest.mark.parametrize("instance", VECTORS, ids=ids)
def test_the_pair_is_unique_over_a_simplex(instance):
    problem, x = instance.truth.problem, instance.truth.x
    assert np.linalg.eigvalsh(problem.f.Q @ np.eye(x.size))[0] > WELL_ABOVE_ROUNDING
    rows = [problem.A.adjoint(e)[x > 0] for e in np.eye(problem.A.size)]
    assert injective([*rows, np.ones(np.count_nonzero(x))])

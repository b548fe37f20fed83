"""Reference optima: certified, feasible, and equal to known optima."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from condal.errors import ProblemError
from condal.problems import generalised_eigenvector, k_means, max_cut
from condal_lab.experiments.instances import QUICK, Instance, build
from condal_lab.experiments.reference import Reference, reference
from known import DATA, needs_data, torus


def instance(model):
    return Instance("here", "here", model.problem)


@pytest.mark.parametrize("name", QUICK)
def test_the_optima_of_the_stand_ins_are_certified(name):
    stand_in = build(name, quick=True)
    known = reference(stand_in)
    assert known.gap <= 1e-9
    assert known.infeasibility <= 1e-9
    assert known.distance_to_X <= 1e-12
    assert known.failure == 0.0
    # The optimum lies between the values of the point and of the dual, but for an infeasibility.
    unit = abs(known.objective)
    assert stand_in.problem.sense * (known.objective - known.bound) >= -1e-9 * unit
    assert reference(stand_in).objective == known.objective


def test_a_reference_is_plain_json():
    known = reference(build("g1", quick=True))
    assert Reference(**json.loads(json.dumps(asdict(known)))) == known


CYCLE = np.eye(5)[[1, 2, 3, 4, 0]] + np.eye(5)[[4, 0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("W", "optimum", "rel"),
    [
        # Every edge of a bipartite graph can be cut.
        (abs(torus(6, 8)), abs(torus(6, 8)).sum() / 2, 1e-8),
        # The five-cycle is Goemans and Williamson's example.
        (CYCLE, 2.5 * (1 + np.cos(np.pi / 5)), 1e-10),
    ],
    ids=["bipartite", "five-cycle"],
)
def test_the_optimum_of_a_graph_is_the_known_one(W, optimum, rel):
    assert reference(instance(max_cut(W))).objective == pytest.approx(optimum, rel=rel)


def test_well_separated_clusters_are_the_optimum():
    rng = np.random.default_rng(0)
    points = np.repeat(10 * np.eye(3), 8, axis=0) + 0.3 * rng.standard_normal((24, 3))
    cost = sum(((c - c.mean(axis=0)) ** 2).sum() for c in np.split(points, 3))
    assert reference(instance(k_means(points, 3))).objective == pytest.approx(cost, rel=2e-8)


def test_the_optimum_of_a_definite_pencil_is_its_eigenvalue():
    """Psi positive definite and alpha large: the largest lambda with Phi u = lambda Psi u."""
    rng = np.random.default_rng(2)
    A, B = rng.standard_normal((2, 12, 12))
    Phi, Psi = A @ A.T, B @ B.T + np.eye(12)
    largest = np.linalg.eigvals(np.linalg.solve(Psi, Phi)).real.max()
    known = reference(instance(generalised_eigenvector(Phi, Psi, 5.0)))
    assert known.objective == pytest.approx(largest, rel=1e-8)


def test_the_optimum_of_a_diagonal_pencil_by_hand():
    """x = diag(a, b): max 3a + b with a - b = 1, a + b <= 2 is 3 (1.5) + 0.5."""
    model = generalised_eigenvector(np.diag([3.0, 1.0]), np.diag([1.0, -1.0]), 2.0)
    assert reference(instance(model)).objective == pytest.approx(5.0, rel=1e-9)


def test_an_optimum_that_is_not_known_is_an_error():
    infeasible = instance(generalised_eigenvector(np.eye(2), np.diag([1.0, -1.0]), 0.5))
    with pytest.raises(ProblemError, match=r"the optimum of here is not known: .* ended with inf"):
        reference(infeasible)
    with pytest.raises(ProblemError, match=r"the optimum of mnist-like is not known: .*max_sec"):
        reference(build("mnist", quick=True), max_seconds=1e-9)


@needs_data
@pytest.mark.parametrize(("name", "optimum"), [("gd97b", 15340.053925), ("g1", 12083.197655)])
def test_published_graphs_have_their_known_optima(name, optimum):
    known = reference(build(name, DATA))
    assert known.objective == pytest.approx(optimum, rel=1e-9)
    assert known.gap <= 1e-8

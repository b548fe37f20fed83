"""Pose graphs and rotation synchronisation: known answers, rounding, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condal
from condal.linalg.points import LowRank
from condal.problems import RelativePoses, pose_graph, rotation_synchronisation


def turns(angles):
    """Rotations of the plane."""
    cos, sin = np.cos(angles), np.sin(angles)
    return np.array([[cos, -sin], [sin, cos]]).transpose(2, 0, 1)


def random_rotations(n, d, rng, size=np.pi):
    """Rotations by random angles, of this size about random axes in space."""
    if d == 2:
        return turns(size * rng.uniform(-1, 1, n))
    return Rotation.from_rotvec(size / np.sqrt(3) * rng.uniform(-1, 1, (n, 3))).as_matrix()


def planted(n, d, *, noise=0.0, extra=None, seed=0):
    """Poses, and measurements of them along a path and across it."""
    rng = np.random.default_rng(seed)
    extra = n if extra is None else extra
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    across = np.array([rng.choice(n, 2, replace=False) for _ in range(extra)]).reshape(-1, 2)
    edges = np.vstack([path, across])
    R, t = random_rotations(n, d, rng), rng.uniform(-3, 3, (n, d))
    i, j = edges.T
    between = R[i].transpose(0, 2, 1) @ R[j] @ random_rotations(len(edges), d, rng, noise)
    moved = np.einsum("kba,kb->ka", R[i], t[j] - t[i])
    moved += noise * rng.standard_normal(moved.shape)
    kappa, tau = rng.uniform(0.5, 2.0, (2, len(edges)))
    return R, t, RelativePoses(edges, between, moved, kappa, tau)


def dense_cost(model):
    """The cost matrix by its definition: the quadratic form of the cost, minimised over t."""
    measured, n, d = model.measurements, model.n, model.d
    rows, lever, steps = [], [], []
    for (i, j), R, kappa in zip(measured.edges, measured.rotations, measured.kappa, strict=True):
        row = np.zeros((d, n * d))
        row[:, d * j : d * j + d] += np.eye(d)
        row[:, d * i : d * i + d] -= R.T
        rows.append(np.sqrt(kappa) * row)
    total = np.vstack(rows)
    C = total.T @ total
    if measured.translations is None:
        return C
    for (i, j), t, tau in zip(measured.edges, measured.translations, measured.tau, strict=True):
        row, step = np.zeros(n * d), np.zeros(n)
        row[d * i : d * i + d] = np.sqrt(tau) * t
        step[j], step[i] = np.sqrt(tau), -np.sqrt(tau)
        lever.append(row)
        steps.append(step)
    lever, steps = np.array(lever), np.array(steps)
    beside = np.eye(len(steps)) - steps @ np.linalg.pinv(steps)
    return C + lever.T @ beside @ lever


@pytest.mark.parametrize("d", [2, 3])
def test_the_cost_matrix_is_the_cost_with_the_best_translations(d):
    model = pose_graph(planted(7, d, noise=0.4)[2])
    np.testing.assert_allclose(model.problem.f.C.to_dense(), dense_cost(model), atol=1e-10)
    R = random_rotations(7, d, np.random.default_rng(5))
    rows = R.transpose(0, 2, 1).reshape(-1, d)
    value = model.problem.objective(rows @ rows.T)
    best = model.translations(R)
    cost = model.measurements.cost
    assert value == pytest.approx(cost(R, best), rel=1e-10)
    for step in np.random.default_rng(6).standard_normal((5, 7, d)):
        assert cost(R, best + 0.1 * step) > cost(R, best)


@pytest.mark.parametrize("d", [2, 3])
def test_poses_without_noise_are_recovered_at_no_cost(d):
    R, t, measured = planted(30, d)
    model = pose_graph(measured)
    result = condal.solve(model, tol=1e-6)
    poses = model.round(result)
    assert result.status.name == "SOLVED"
    assert -1e-6 <= result.bound <= 1e-9
    assert poses.cost <= 1e-9
    assert poses.rotation_error(R) <= 1e-6
    np.testing.assert_allclose(poses.translations, (t - t[0]) @ R[0], atol=1e-6)


@pytest.mark.parametrize("d", [2, 3])
def test_rotations_without_noise_are_recovered(d):
    R, _, measured = planted(30, d)
    model = rotation_synchronisation(measured.edges, measured.rotations, measured.kappa)
    poses = model.round(condal.solve(model, tol=1e-6))
    assert poses.translations is None
    assert poses.cost <= 1e-9
    assert poses.rotation_error(R) <= 1e-6
    np.testing.assert_allclose(poses.rotations[0], np.eye(d), atol=1e-12)


def test_no_poses_of_a_tight_relaxation_cost_less():
    _, _, measured = planted(12, 3, noise=0.2, seed=2)
    model = pose_graph(measured)
    poses = model.round(condal.solve(model, tol=1e-8))
    assert poses.optimality_gap <= 1e-8
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        R = poses.rotations @ random_rotations(12, 3, rng, size)
        assert measured.cost(R, model.translations(R)) >= poses.bound


def test_a_ring_with_a_winding_local_minimum_is_solved_to_the_global_one():
    """Each vertex turned by k times 2 pi / n against the one before is stationary for any k."""
    n = 12
    edges = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    model = rotation_synchronisation(edges, np.tile(np.eye(2), (n, 1, 1)))
    wound = turns(2 * np.pi / n * np.arange(n))
    assert model.measurements.cost(wound) > 1.0
    rows = wound.transpose(0, 2, 1).reshape(-1, 2)
    start = replace(condal.solve(model, tol=0.5), x=LowRank(rows, np.ones(2)))
    result = condal.solve(model, tol=1e-6, warm_start=start)
    assert result.history[0].objective > 1.0
    assert result.status.name == "SOLVED"
    assert result.objective <= 1e-6


def test_weights_scale_the_cost():
    _, _, measured = planted(10, 2, noise=0.3)
    values = []
    for c in (1.0, 1e6, 1e-6):
        kappa, tau = c * measured.kappa, c * measured.tau
        scaled = RelativePoses(
            measured.edges, measured.rotations, measured.translations, kappa, tau
        )
        model = pose_graph(scaled)
        values.append(model.round(condal.solve(model, tol=1e-7)).cost / c)
    np.testing.assert_allclose(values, values[0], rtol=1e-5)


def test_a_repaired_point_has_identities_on_its_diagonal():
    model = pose_graph(planted(6, 3, noise=0.3)[2])
    x = np.random.default_rng(0).standard_normal((18, 4))
    repaired = model.problem.repair(x @ x.T)
    assert model.problem.infeasibility(repaired) <= 1e-14


SQUARE = {
    "edges": [(0, 1), (1, 2), (2, 0)],
    "rotations": np.tile(np.eye(2), (3, 1, 1)),
    "translations": np.ones((3, 2)),
}


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"edges": [(0, 1), (1, 2), (2, 2)]}, "measurement 2 is of vertex 2 relative to itself"),
        ({"edges": [(0, 1), (1, 0), (2, 3)]}, "must connect all vertices; got 2 connected"),
        ({"edges": [0, 1, 2]}, r"edges must be pairs \(i, j\) of vertices"),
        ({"edges": [(0, 1), (1, -2), (2, 0)]}, r"edges must be pairs \(i, j\) of vertices"),
        ({"rotations": np.ones((3, 2, 2))}, r"rotations\[0\] is not a rotation"),
        ({"rotations": -np.tile(np.diag([1.0, -1.0]), (3, 1, 1))}, "determinant 1"),
        ({"rotations": np.tile(np.eye(4), (3, 1, 1))}, r"must have the shape \(3, 2, 2\)"),
        ({"rotations": np.tile(np.eye(2), (2, 1, 1))}, r"must have the shape \(3, 2, 2\)"),
        ({"translations": np.ones((3, 3))}, r"translations must have the shape \(3, 2\)"),
        ({"translations": np.full((3, 2), np.nan)}, "translations"),
        ({"kappa": [1.0, 0.0, 1.0]}, "kappa must be a positive number"),
        ({"tau": -1.0}, "tau must be a positive number"),
        ({"tau": [1.0, 1.0]}, "one for each of the 3 measurements"),
    ],
)
def test_bad_measurements_are_refused(changed, text):
    with pytest.raises(condal.ProblemError, match=text):
        RelativePoses(**{**SQUARE, **changed})


def test_what_is_no_measurement_is_refused():
    with pytest.raises(condal.ProblemError, match="wanted RelativePoses; got"):
        pose_graph(np.eye(3))
    only = RelativePoses(SQUARE["edges"], SQUARE["rotations"])
    with pytest.raises(condal.ProblemError, match="call rotation_synchronisation"):
        pose_graph(only)

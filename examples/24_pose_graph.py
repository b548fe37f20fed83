"""Pose graphs: where a robot has been, certified globally optimal.

A robot drives around a multi-storey car park. Odometry measures each step relative to the pose
before, with noise that adds up: dead reckoning drifts away. Loop closures measure the pose relative
to one of an earlier round, wherever the robot recognises a place. The poses that agree best with
all measurements solve a problem over rotations with many local minima, in which local solvers may
end. Its semidefinite relaxation (SE-Sync) needs no starting point, and proves that its poses are
the best of all.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

import condal

rounds, steps = 7, 100
n = rounds * steps
rng = np.random.default_rng(0)

# The true poses: a helix, along which the robot looks ahead.
angle = 2 * np.pi * np.arange(n) / steps
positions = np.column_stack([20 * np.cos(angle), 12 * np.sin(angle), 0.05 * np.arange(n)])
truth = Rotation.from_euler("z", angle[:, None]).as_matrix()

# Odometry, and loop closures to the pose one round below.
odometry = np.column_stack([np.arange(n - 1), np.arange(1, n)])
recognised = np.flatnonzero(rng.random(n - steps) < 0.3)
closures = np.column_stack([recognised, recognised + steps])
edges = np.vstack([odometry, closures])
i, j = edges.T
noise = Rotation.from_rotvec(0.03 * rng.standard_normal((len(edges), 3))).as_matrix()
rotations = truth[i].transpose(0, 2, 1) @ truth[j] @ noise
moves = np.einsum("kba,kb->ka", truth[i], positions[j] - positions[i])
moves += 0.1 * rng.standard_normal(moves.shape)

measurements = condal.problems.RelativePoses(
    edges, rotations, moves, kappa=0.5 / 0.03**2, tau=1 / 0.1**2
)
model = condal.problems.pose_graph(measurements, name="car park")
result = condal.solve(model, tol=1e-6)
poses = model.round(result)
print(result)
print(f"{poses}, within {poses.optimality_gap:.1e} of the global optimum")
assert result.status is condal.Status.SOLVED
assert poses.optimality_gap <= 1e-6

# Dead reckoning: one measured step after the other.
reckoned, turn = [np.zeros(3)], np.eye(3)
for k in range(n - 1):
    reckoned.append(reckoned[-1] + turn @ moves[k])
    turn = turn @ rotations[k]
true_positions = (positions - positions[0]) @ truth[0]
assert measurements.cost(truth, positions) >= poses.bound


def distance(estimate):
    """Return the root mean square distance from the true positions."""
    return np.sqrt(np.mean(np.sum((estimate - true_positions) ** 2, axis=1)))


drift, left = distance(np.array(reckoned)), distance(poses.translations)
print(f"root mean square error: dead reckoning {drift:.2f} m, certified poses {left:.2f} m")
assert left < 0.5 * drift

figure = Figure(figsize=(8, 3.6), layout="constrained")
panels = figure.subplots(1, 2, subplot_kw={"projection": "3d"}, sharex=True, sharey=True)
for axes, path, title in (
    (panels[0], np.array(reckoned), f"dead reckoning: {drift:.1f} m off"),
    (panels[1], poses.translations, f"certified optimal poses: {left:.1f} m off"),
):
    axes.plot(*true_positions.T, color="#999999", lw=0.8, label="truth")
    axes.plot(*path.T, color="#0072B2", lw=1.2, label="estimate")
    axes.set_title(title)
for a, b in closures[::5]:
    panels[1].plot(*poses.translations[[a, b]].T, color="#D55E00", lw=0.6)
panels[1].plot([], [], color="#D55E00", lw=0.6, label="loop closures")
panels[1].legend(frameon=False, fontsize=8)
figure.savefig("pose_graph.png", dpi=75)

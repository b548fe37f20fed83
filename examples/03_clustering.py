"""Clustering: k-means with a proof of how good the clusters are.

Lloyd's method finds clusters and cannot say whether there are better ones. A semidefinite program
bounds the cost of every clustering from below: for clusters well apart, by the cost of the best.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import condal

quick = "--quick" in sys.argv

# Customers about three centres, by two of their habits.
rng = np.random.default_rng(0)
each = 12 if quick else 30
centres = np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 8.0]])
points = np.repeat(centres, each, axis=0) + rng.standard_normal((3 * each, 2))
model = condal.problems.k_means(points, 3, name="customers")

# The relaxation, solved until its value is proved to within 0.1%.
result = condal.solve(model, tol=1e-3)
print(result)

# The clusters that it rounds to, and what is known of them.
clustering = model.round(result)
print(clustering)
print(f"at most {100 * model.excess(clustering.labels, result):.2f}% above the best possible")

# The same bound judges any other clustering: one by the first habit alone, for example.
other = np.digitize(points[:, 0], [1.5, 6.0])
print(f"by the first habit alone: at most {100 * model.excess(other, result):.0f}% above the best")

assert result.status is condal.Status.SOLVED
assert result.bound <= clustering.cost <= 1.001 * result.bound
assert clustering.cost <= model.cost(other)

# The picture: both clusterings, and how far each can be from the best.
figure = Figure(figsize=(10, 4.5), layout="constrained")
pairs = (("k-means", clustering.labels), ("by the first habit alone", other))
for axes, (name, labels) in zip(figure.subplots(1, 2, sharey=True), pairs, strict=True):
    excess = 100 * max(0.0, model.excess(labels, result))
    for k, (colour, mark) in enumerate(zip(("#0072b2", "#e69f00", "#009e73"), "os^", strict=True)):
        axes.scatter(*points[labels == k].T, c=colour, marker=mark, s=30, edgecolors="white")
        axes.plot(*points[labels == k].mean(axis=0), "kx", ms=10, mew=2)
    axes.set(xlabel="first habit", title=f"{name}: at most {excess:.2f}% above the best")
    axes.set_aspect("equal")
figure.axes[0].set_ylabel("second habit")
figure.savefig("clustering.png", dpi=110)

"""Clustering: k-means with a proof of how good the clusters are.

Lloyd's method finds clusters but cannot say whether better ones exist. A semidefinite program
bounds the cost of every clustering from below. For well-separated clusters the bound is tight.
"""

import numpy as np
from matplotlib.figure import Figure

import condal

# Customers around three centres, described by two habits.
rng = np.random.default_rng(0)
each = 30
centres = np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 8.0]])
points = np.repeat(centres, each, axis=0) + rng.standard_normal((3 * each, 2))
model = condal.problems.k_means(points, 3, name="customers")

# Solve the relaxation until its value is proved to within 0.1%.
result = condal.solve(model, tol=1e-3)
print(result)

# Round to clusters, and bound their excess over the optimum.
clustering = model.round(result)
print(clustering)
print(f"at most {100 * model.excess(clustering.labels, result):.2f}% above the optimum")

# The same bound judges any other clustering, for example one by the first habit alone.
other = np.digitize(points[:, 0], [1.5, 6.0])
print(f"by the first habit: at most {100 * model.excess(other, result):.0f}% above the optimum")

assert result.status is condal.Status.SOLVED
assert result.bound <= clustering.cost <= 1.001 * result.bound
assert clustering.cost <= model.cost(other)

# Draw both clusterings, with the largest possible excess of each.
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

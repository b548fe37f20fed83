"""Clustering: k-means with a proof of how good the clusters are.

Lloyd's method finds clusters and cannot say whether there are better ones. A semidefinite program
bounds the cost of every clustering from below: for clusters well apart, by the cost of the best.
"""

import numpy as np

import condal

# 90 customers about three centres, by two of their habits.
rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [9.0, 1.0], [3.0, 8.0]])
points = np.repeat(centres, 30, axis=0) + rng.standard_normal((90, 2))
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

"""Communities: find groups in a network from its links alone.

The network is drawn from the stochastic block model: links within a community are more likely than
links between communities. A semidefinite program recovers the communities and bounds the quality of
every other grouping, so you know how much better any grouping could be.
"""

import numpy as np
import scipy.sparse as sp
from matplotlib.figure import Figure

import condal

n, k = 6000, 3
inside, outside = 16.0 / n, 3.0 / n  # the probability of a link

# Assign each vertex to a community, and draw links pair by pair, in blocks of vertices.
rng = np.random.default_rng(0)
planted = rng.integers(0, k, n)
blocks = []
for rows in np.array_split(np.arange(n), 20):
    probability = np.where(planted[rows, None] == planted, inside, outside)
    i, j = np.nonzero(rng.random((rows.size, n)) < probability)
    blocks.append(np.stack([rows[i], j])[:, rows[i] < j])
i, j = np.concatenate(blocks, axis=1)
half = sp.coo_array((np.ones(i.size), (i, j)), shape=(n, n)).tocsr()
model = condal.problems.communities(half + half.T, k, null="uniform", name="block model")

# The objective is a sparse matrix minus one of rank one; diag x = 1 is the only constraint.
result = condal.solve(model, tol=1e-3)
print(result)

# Round to communities, and compare their quality with the bound.
grouping = model.round(result)
agreement = grouping.agreement(planted)
print(grouping)
print(f"quality {grouping.value:.4f}; no grouping into {k} has more than", end=" ")
print(f"{model.quality_bound(result):.4f}, the planted one has {model.quality(planted):.4f}")
print(f"{100 * agreement:.1f}% of the vertices are in their planted community")

assert result.status is condal.Status.SOLVED
assert model.quality(planted) <= model.quality_bound(result)
assert grouping.value <= model.quality_bound(result)
assert agreement > 0.8

# Draw the links in the original order and sorted by community.
figure = Figure(figsize=(9, 4.4), layout="constrained")
places = [np.arange(n), np.argsort(np.argsort(grouping.labels, kind="stable"))]
titles = [f"{i.size:,} links of {n:,} vertices", "the same, sorted by community found"]
for axes, place, title in zip(figure.subplots(1, 2), places, titles, strict=True):
    x, y = np.concatenate([place[i], place[j]]), np.concatenate([place[j], place[i]])
    axes.plot(x, y, ",", color="#0072B2", alpha=0.35 if n > 1000 else 1.0)
    axes.set(title=title, xlabel="vertex", xlim=(0, n), ylim=(n, 0), aspect="equal")
for edge in np.cumsum(grouping.sizes)[:-1]:
    axes.axhline(edge, color="#D55E00", lw=1)
    axes.axvline(edge, color="#D55E00", lw=1)
figure.axes[0].set_ylabel("vertex")
figure.suptitle(f"Communities: {100 * agreement:.1f}% of the vertices placed as planted")
figure.savefig("community_detection.png", dpi=95)

"""k-means in scikit-learn with a proof: which of many runs can be trusted?

scikit-learn's KMeans starts somewhere and stops at a local minimum. It cannot say how far that is
from the optimum. SDPKMeans is a similar estimator, works in pipelines, and proves a lower bound on
the inertia of every clustering. Here a single random start usually misses some of the groups. The
bound separates good runs from bad ones, and shows that the best runs leave almost nothing to gain.
"""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from condal.sklearn import SDPKMeans

n, k = 300, 15
side = np.arange(4.0)
centres = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)[:k]
points, _ = make_blobs(n, centers=centres, cluster_std=0.13, random_state=0)

# An estimator like any other, here after a scaler.
pipeline = make_pipeline(StandardScaler(), SDPKMeans(k, random_state=0)).fit(points)
scaled, proved = pipeline[0].transform(points), pipeline[-1]
print(proved.result_)
print(f"\ninertia {proved.inertia_:.4f}; no clustering is below {proved.lower_bound_:.4f}:")
print(f"at most {100 * proved.certified_gap_:.2f}% above the optimum")

# Single random starts of scikit-learn's KMeans, each compared with the bound.
starts = 40
runs = [KMeans(k, init="random", n_init=1, random_state=s).fit(scaled) for s in range(starts)]
excess = np.array([100 * (run.inertia_ / proved.lower_bound_ - 1) for run in runs])
middling = runs[int(np.argsort(excess)[starts // 2])]
print(f"{np.sum(excess < 1)} of {starts} random starts of KMeans are within 1% of the bound")
assert proved.certified_gap_ < 0.01
assert (excess > -1e-6).all()

# Draw each point joined to its centre, and all starts relative to the bound.
figure = Figure(figsize=(10, 3.6), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.15])
for axes, clusters, title in (
    (left, proved, f"SDPKMeans: at most {100 * proved.certified_gap_:.1f}% above the best"),
    (middle, middling, "a middling random start of KMeans"),
):
    ends = np.stack([scaled, clusters.cluster_centers_[clusters.labels_]], axis=1)
    axes.add_collection(LineCollection(ends, colors="#0072b2", linewidths=0.6))
    axes.scatter(*scaled.T, s=7, color="#0072b2")
    axes.scatter(*clusters.cluster_centers_.T, marker="X", s=60, color="#d55e00", zorder=3)
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.set_title(title, fontsize=10)
right.plot(np.arange(1, starts + 1), np.sort(excess), "o", ms=4, color="#0072b2")
right.axhline(0.0, color="#d55e00")
right.annotate("the proved bound", (starts, 0.0), (0, 4), ha="right", textcoords="offset points")
right.set(xlabel="random starts of KMeans, sorted", ylabel="inertia, % above the bound")
right.set_title("how good is a single start?", fontsize=10)
figure.savefig("sklearn.png", dpi=110)

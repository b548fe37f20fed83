"""Theta: how large can a stable set of a graph be, a set of vertices of which no two are joined?

Consider words of n letters sent over a channel that confuses some pairs of them. A set of words of
which no two can be confused is an error-free code. The largest such set is hard to find. Lovasz's
theta, a semidefinite program, bounds its size, and a greedy rounding of its solution gives a set.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import condal

# A famous case: a stable set of the pentagon has two vertices, and theta is the square root of 5.
pentagon = condal.solve(condal.problems.theta(nx.cycle_graph(5)), tol=1e-5)
print(f"theta of the pentagon: {pentagon.bound:.6f}, sqrt(5) = {np.sqrt(5):.6f}")
assert abs(pentagon.bound - np.sqrt(5)) < 1e-4

# Random graphs of increasing density: theta, theta with x >= 0, and the best set found.
n = 100
shares = np.linspace(0.1, 0.9, 9)
bounds, tighter, sizes = [], [], []
for share in shares:
    graph = nx.gnp_random_graph(n, share, seed=1)
    model = condal.problems.theta(graph, name=f"theta, {share:.0%} of all edges")
    result = condal.solve(model, tol=1e-3)
    plus = condal.solve(condal.problems.theta(graph, theta_plus=True), tol=1e-3)
    chosen = model.round(result)
    assert result.status is plus.status is condal.Status.SOLVED
    assert model.is_stable(chosen.vertices)
    assert chosen.size <= plus.bound + 1e-9
    bounds.append(result.bound)
    tighter.append(plus.bound)
    sizes.append(chosen.size)
print(result)
print("edges  set found  theta+   theta")
for row in zip(shares, sizes, tighter, bounds, strict=True):
    print("{:5.0%}  {:9d}  {:6.3f}  {:6.3f}".format(*row))

# Draw a small graph with its stable set, and the bounds for all random graphs.
shown = nx.gnp_random_graph(24, 0.2, seed=3)
model = condal.problems.theta(shown)
result = condal.solve(model)
chosen = model.round(result)
figure = Figure(figsize=(9.5, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
place = nx.spring_layout(shown, seed=2)
for i, j in shown.edges:
    left.plot(*np.array([place[i], place[j]]).T, color="#BBBBBB", lw=0.8, zorder=1)
xy = np.array([place[v] for v in shown])
in_set = np.isin(np.arange(len(xy)), chosen.vertices)
left.scatter(*xy[~in_set].T, s=60, color="#999999", zorder=2, label="the others")
left.scatter(*xy[in_set].T, s=90, color="#D55E00", zorder=2, label=f"stable set of {chosen.size}")
left.set_axis_off()
left.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, frameon=False)
left.set_title(f"no set is larger than theta = {result.bound:.2f}")
right.plot(100 * shares, bounds, "o-", color="#0072B2", label="theta (bound, proved)")
right.plot(100 * shares, tighter, "s--", color="#009E73", label="theta+ (bound, proved)")
right.plot(100 * shares, sizes, "^", color="#D55E00", label="set found")
right.set(xlabel="edges, % of all pairs", ylabel="vertices", ylim=(0, None))
right.set_title(f"random graphs of {n} vertices")
right.legend(frameon=False)
figure.savefig("theta.png", dpi=110)

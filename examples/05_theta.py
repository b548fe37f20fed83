"""Theta: how many vertices of a graph can there be, no two of them joined?

Think of words of n letters sent over a line that confuses some pairs of them: a set of words of
which no two can be confused is a code without errors. The largest is hard to find; Lovasz's theta,
a semidefinite program, bounds its size, and a greedy rounding of the solution gives a set.
"""

import sys

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import condal

quick = "--quick" in sys.argv

# A famous case: on a pentagon no three are free of edges, and theta is the square root of 5.
pentagon = condal.solve(condal.problems.theta(nx.cycle_graph(5)), tol=1e-5)
print(f"theta of the pentagon: {pentagon.bound:.6f}, sqrt(5) = {np.sqrt(5):.6f}")
assert abs(pentagon.bound - np.sqrt(5)) < 1e-4

# Random graphs of more and more edges: theta, theta with x >= 0, and the best set found.
n = 40 if quick else 100
shares = np.linspace(0.1, 0.9, 5 if quick else 9)
bounds, tighter, sizes = [], [], []
for share in shares:
    graph = nx.gnp_random_graph(n, share, seed=1)
    model = condal.problems.theta(graph, name=f"theta, {share:.0%} of all edges")
    result = condal.solve(model, tol=1e-3)
    plus = condal.solve(condal.problems.theta(graph, theta_plus=True), tol=1e-3)
    found = model.round(result)
    assert result.status is plus.status is condal.Status.SOLVED
    assert model.is_stable(found.vertices)
    assert found.size <= plus.bound + 1e-9
    bounds.append(result.bound)
    tighter.append(plus.bound)
    sizes.append(found.size)
print(result)
print("edges  set found  theta+   theta")
for row in zip(shares, sizes, tighter, bounds, strict=True):
    print("{:5.0%}  {:9d}  {:6.3f}  {:6.3f}".format(*row))

# One of the graphs with its set, and the bounds over all of them.
shown = nx.gnp_random_graph(24, 0.2, seed=3)
model = condal.problems.theta(shown)
result = condal.solve(model)
found = model.round(result)
figure = Figure(figsize=(9.5, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
place = nx.spring_layout(shown, seed=2)
for i, j in shown.edges:
    left.plot(*np.array([place[i], place[j]]).T, color="#BBBBBB", lw=0.8, zorder=1)
xy = np.array([place[v] for v in shown])
stable = np.isin(np.arange(len(xy)), found.vertices)
left.scatter(*xy[~stable].T, s=60, color="#999999", zorder=2, label="the others")
left.scatter(*xy[stable].T, s=90, color="#D55E00", zorder=2, label=f"stable set of {found.size}")
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

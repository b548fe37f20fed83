"""Max-cut: split a network in two so that as many links as possible run between the halves.

The best split is hard to find. A semidefinite program bounds its weight from above, and a random
hyperplane through the solution of that program gives a split that is provably good.
"""

import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

import condal

# Radio stations in a square, with a link between any two that interfere. Each gets one of two
# channels.
graph = nx.random_geometric_graph(80, 0.2, seed=3)
model = condal.problems.max_cut(graph, name="two channels")

# Solve the relaxation until its value is proved to within 0.1%.
result = condal.solve(model, tol=1e-3)
print(result)

# Round to a cut. No cut can be heavier than the bound.
cut = model.round(result, trials=100, seed=0)
print(cut)
print(f"at least {100 * cut.weight / result.bound:.1f}% of the optimum")

assert result.status is condal.Status.SOLVED
assert cut.weight <= result.bound

# Draw the links that are cut and those that stay within a half.
places = np.array([graph.nodes[i]["pos"] for i in graph])
links = np.array(graph.edges)
between = cut.signs[links[:, 0]] != cut.signs[links[:, 1]]

figure = Figure(figsize=(7, 6.2), layout="constrained")
axes = figure.subplots()
axes.add_collection(LineCollection(places[links[between]], colors="0.75", linewidths=0.8))
axes.add_collection(LineCollection(places[links[~between]], colors="#d55e00", linewidths=1.6))
axes.plot([], [], color="0.75", label=f"{between.sum()} links between the halves")
axes.plot([], [], color="#d55e00", label=f"{(~between).sum()} links within a half")
for sign, colour, mark in ((1, "#0072b2", "o"), (-1, "#f0e442", "s")):
    half = places[cut.signs == sign]
    axes.scatter(*half.T, s=45, c=colour, marker=mark, edgecolors="black", zorder=3)
axes.set_title(f"A cut of {cut.weight:.0f} links; none has more than {result.bound:.1f}")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
axes.set_aspect("equal")
axes.set_axis_off()
figure.savefig("max_cut.png", dpi=85)

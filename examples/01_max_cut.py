"""Max-cut: split a network in two so that as many links as possible run between the halves.

The best split is hard to find, but a semidefinite program bounds it from above, and a random
hyperplane through the solution of that program gives a split that is provably good.
"""

import networkx as nx

import condal

# A social network of 34 people, who all know some of the others.
graph = nx.karate_club_graph()
model = condal.problems.max_cut(graph, name="karate club")

# The relaxation, solved until its value is proved to within 0.1%.
result = condal.solve(model, tol=1e-3)
print(result)

# A cut, and what is now known of it: no cut can be heavier than the bound.
cut = model.round(result, trials=100, seed=0)
print(cut)
print(f"at least {100 * cut.weight / result.bound:.1f}% of the best possible")

assert result.status is condal.Status.SOLVED
assert cut.weight <= result.bound

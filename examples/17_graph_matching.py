"""Graph matching: match the vertices of two copies of a network.

A network is compared with a renumbered copy of itself. Among all doubly stochastic matrices, the
convex hull of the permutations, one makes the two agree best. For a network without symmetry it is
the lost permutation. Here some links of the copy are wrong, and yet every vertex is matched.
"""

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator

import condal

n, faults = 60, 10

# A random network, a renumbered copy, and some pairs that are linked in only one of them.
rng = np.random.default_rng(2)
A = np.triu(rng.random((n, n)) < 0.25, 1).astype(float)
A = A + A.T
order = rng.permutation(n)
B = A[order][:, order].copy()
for _ in range(faults):
    i, j = rng.choice(n, 2, replace=False)
    B[i, j] = B[j, i] = 1 - B[i, j]
wrong = np.count_nonzero(A[order][:, order] != B)


def difference(x):
    P = x.reshape(n, n)
    return (A @ P - P @ B).ravel()


def adjoint(y):
    Y = y.reshape(n, n)
    return (A.T @ Y - Y @ B.T).ravel()


# |A P - P B|^2, for a permutation the number of entries in which the networks differ.
M = condal.Operator(
    LinearOperator((n * n, n * n), matvec=difference, rmatvec=adjoint, dtype=float),
    norm=np.linalg.norm(A, 2) + np.linalg.norm(B, 2),
)
problem = condal.Problem.of(
    f=condal.LeastSquares(M, np.zeros(n * n), weight=2.0),
    X=condal.domains.Birkhoff(n),
    name="network",
)
result = condal.solve(problem, tol=1e-3)
print(result)

# Vertex i of A is vertex p[i] of B.
P = result.x.reshape(n, n)
p = linear_sum_assignment(-P)[1]
disagreement = np.sum((A - B[p][:, p]) ** 2)
right = np.mean(order[p] == np.arange(n))
print(f"disagreement {disagreement:.0f}, proved to be at least {max(0.0, result.bound):.2f}")
print(f"{100 * right:.0f}% of the vertices are matched correctly")

assert result.status is condal.Status.SOLVED
assert right == 1.0
assert result.bound <= disagreement == wrong

figure = Figure(figsize=(10, 4.0), layout="constrained")
back = B[p][:, p]
panels = figure.subplots(1, 3)
shown = panels[0].imshow(P, cmap="cividis", vmin=0.0)
panels[0].set(title="P, doubly stochastic", xlabel="vertex of B", ylabel="vertex of A")
figure.colorbar(shown, ax=panels[0], shrink=0.8)
for axes, graph, title in ((panels[1], B, "B as given"), (panels[2], back, "B in the order of A")):
    i, j = np.nonzero(A * graph)
    axes.plot(j, i, "s", color="#0072B2", ms=120 / n, label="in both")
    i, j = np.nonzero(graph != A)
    axes.plot(j, i, "s", color="#D55E00", ms=120 / n, label="in one only")
    axes.set(title=title, xlabel="vertex", xlim=(-1, n), ylim=(n, -1), aspect="equal")
handles, labels = panels[1].get_legend_handles_labels()
figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
figure.suptitle(
    f"{100 * right:.0f}% of {n} vertices recognised in spite of {wrong // 2} wrong pairs"
)
figure.savefig("graph_matching.png", dpi=110)

"""Every public function and class that takes arrays, with valid arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import condal
from condal import problems
from condal.problems import conic

rng = np.random.default_rng(11)
N = 4
FULL = rng.integers(-3, 4, (N, N)).astype(float)
C = FULL + FULL.T + 16.0 * np.eye(N)  # integers, positive definite
TALL = np.round(4 * rng.standard_normal((6, N)))
b = np.arange(1.0, 7.0)
SIGNS = np.array([1.0, -1, 1, 1, -1, -1])
GRAPH = np.ones((5, 5)) - np.eye(5)
GRAPH[0, 2] = GRAPH[2, 0] = 0.0
POINTS = np.array([[0.0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]])
HERMITIAN = C + 1j * (FULL - FULL.T)
WAVES = TALL + 1j * np.roll(TALL, 1, axis=0)


@dataclass(frozen=True)
class Builder:
    """A maker and what it takes: `numbers`, finite and real; `bounds`, which may be infinite;
    `places`, whole numbers that count; `labels`, which are one of a few; `waves`, which may be
    complex."""

    make: Callable[..., Any]
    numbers: dict[str, Any] = field(default_factory=dict)
    bounds: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)
    waves: dict[str, Any] = field(default_factory=dict)
    sparse: tuple[str, ...] = ()  # those that may be SciPy sparse matrices
    symmetric: tuple[str, ...] = ()

    @property
    def arrays(self) -> dict[str, Any]:
        return self.numbers | self.bounds | self.places | self.labels | self.waves

    def __call__(self, **changed: Any) -> Any:
        return self.make(**(self.arrays | changed))


PIECES = {
    "Linear": Builder(condal.Linear, waves={"C": C}, sparse=("C",), symmetric=("C",)),
    "Linear of vectors": Builder(condal.Linear, {"C": b}),
    "Linear of blocks": Builder(lambda c, C: condal.Linear((c, C)), {"c": b}, waves={"C": C}),
    "LeastSquares": Builder(condal.LeastSquares, {"M": TALL, "c": b}, sparse=("M",)),
    "Huber": Builder(condal.Huber, {"M": TALL, "c": b}, sparse=("M",)),
    "Logistic": Builder(condal.Logistic, {"M": TALL}, labels={"labels": SIGNS}, sparse=("M",)),
    "Poisson": Builder(
        condal.Poisson, {"M": np.abs(TALL), "counts": b, "background": b}, sparse=("M",)
    ),
    "Quadratic": Builder(condal.Quadratic, {"Q": C, "c": b[:N]}, sparse=("Q",), symmetric=("Q",)),
    "FactoredQuadratic": Builder(
        condal.FactoredQuadratic, {"F": TALL, "d": b[:N], "c": b[:N]}, sparse=("F",)
    ),
    "Matrix": Builder(condal.Matrix, {"a": TALL}, sparse=("a",)),
    "Inner": Builder(
        lambda A0, A1: condal.Inner([A0, A1]),
        waves={"A0": C, "A1": np.eye(N)},
        sparse=("A0", "A1"),
        symmetric=("A0", "A1"),
    ),
    "Inner.from_triplets": Builder(
        lambda owner, rows, cols, values: condal.Inner.from_triplets(
            N, owner, rows=rows, cols=cols, values=values
        ),
        {"values": b[:3]},
        places={"owner": np.array([0, 1, 1]), "rows": np.array([0, 1, 2]), "cols": np.arange(3)},
    ),
    "Entries": Builder(
        lambda rows, cols: condal.Entries(N, rows, cols),
        places={"rows": np.array([0, 1, 3]), "cols": np.array([1, 1, 2])},
    ),
    "Sampling": Builder(
        lambda indices: condal.Sampling(N, indices), places={"indices": np.array([3, 0, 2])}
    ),
    "Quadratics": Builder(condal.Quadratics, {"scale": b}, waves={"a": TALL}, sparse=("a",)),
    "LeftProduct": Builder(lambda a: condal.LeftProduct(a, 2), {"a": TALL}, sparse=("a",)),
    "lifted": Builder(condal.lifted, {"C": TALL}, sparse=("C",)),
    "CodedDiffraction": Builder(
        condal.CodedDiffraction, waves={"masks": WAVES.real.reshape(2, 3, 4)}
    ),
    "Equal": Builder(condal.Equal, {"b": b}),
    "Ball": Builder(lambda centre: condal.Ball(centre, 2.0), {"centre": b}),
    "Affine": Builder(condal.Affine, {"C": TALL[:2], "d": b[:2]}, sparse=("C",)),
    "Box": Builder(condal.Box, bounds={"low": -b, "high": b}),
    "L1": Builder(condal.L1, {"t": b}),
    "AbsoluteLoss": Builder(condal.AbsoluteLoss, {"c": b, "t": b}),
    "EpsilonInsensitive": Builder(condal.EpsilonInsensitive, {"c": b, "epsilon": b, "t": b}),
    "Quantile": Builder(lambda c, t: condal.Quantile(c, 0.3, t), {"c": b, "t": b}),
    "Hinge": Builder(condal.Hinge, {"t": b}, labels={"labels": SIGNS}),
    "GroupL1": Builder(
        condal.GroupL1, {"t": b[:2]}, labels={"groups": np.array([0, 0, 1, 1, 1, 0])}
    ),
    "GroupL1Ball": Builder(condal.GroupL1Ball, labels={"groups": np.array([0, 0, 1, 1, 1, 0])}),
    "L2Ball": Builder(lambda centre: condal.L2Ball(6, 2.0, centre=centre), {"centre": b}),
    "Hull": Builder(condal.Hull, {"vertices": POINTS}),
    "Permutahedron": Builder(condal.Permutahedron, {"vector": b}),
    "Polytope": Builder(
        condal.Polytope,
        {"G": np.ones((1, 3)), "h": np.array([2.0]), "E": np.eye(1, 3), "e": np.array([0.5])},
        {"low": np.zeros(3), "high": np.ones(3)},
        sparse=("G", "E"),
    ),
    "Simplices": Builder(condal.Simplices, places={"sizes": np.array([2, 3])}),
    "FlowPolytope": Builder(
        lambda tails, heads: condal.FlowPolytope(tails, heads, source=0, sink=2),
        places={"tails": np.array([0, 0, 1]), "heads": np.array([1, 2, 2])},
    ),
    "Program": Builder(
        lambda c, A, b: conic.Program(c, A, b, (conic.Block("orthant", N),)),
        {"c": b[None, :N], "A": TALL[:2], "b": b[:2]},
        sparse=("c", "A"),
    ),
}

TURNS = np.array([[[0.0, -1.0], [1.0, 0.0]]] * 3)
MODELS = {
    "max_cut": Builder(problems.max_cut, {"W": GRAPH}, sparse=("W",), symmetric=("W",)),
    "max_k_cut": Builder(
        lambda W: problems.max_k_cut(W, 3), {"W": GRAPH}, sparse=("W",), symmetric=("W",)
    ),
    "bisection": Builder(problems.bisection, {"W": GRAPH}, sparse=("W",), symmetric=("W",)),
    "communities": Builder(
        problems.communities, {"graph": GRAPH}, sparse=("graph",), symmetric=("graph",)
    ),
    "theta": Builder(problems.theta, {"graph": GRAPH}, sparse=("graph",), symmetric=("graph",)),
    "k_means": Builder(lambda points: problems.k_means(points, 2), {"points": POINTS}),
    "k_means by distances": Builder(
        lambda distances: problems.k_means(k=2, distances=distances),
        {"distances": GRAPH},
        symmetric=("distances",),
    ),
    "generalised_eigenvector": Builder(
        lambda Phi, Psi: problems.generalised_eigenvector(Phi, Psi, 3.0),
        {"Phi": C, "Psi": np.eye(N)},
        sparse=("Phi", "Psi"),
        symmetric=("Phi", "Psi"),
    ),
    "sign_synchronisation": Builder(
        problems.sign_synchronisation, {"C": C}, sparse=("C",), symmetric=("C",)
    ),
    "angular_synchronisation": Builder(
        problems.angular_synchronisation, waves={"C": HERMITIAN}, sparse=("C",), symmetric=("C",)
    ),
    "rotation_synchronisation": Builder(
        lambda edges, weights: problems.rotation_synchronisation(edges, TURNS, weights),
        {"weights": np.abs(b[:3]) + 0.5},
        places={"edges": np.array([[0, 1], [1, 2], [2, 0]])},
    ),
    "pose_graph": Builder(
        lambda translations, kappa: problems.pose_graph(
            problems.RelativePoses([[0, 1], [1, 2], [2, 0]], TURNS, translations, kappa)
        ),
        {"translations": TALL[:3, :2], "kappa": np.abs(b[:3]) + 0.5},
    ),
    "sparse_pca": Builder(
        lambda covariance: problems.sparse_pca(covariance, 0.5),
        {"covariance": C},
        symmetric=("covariance",),
    ),
    "sparse_pca of data": Builder(
        lambda data: problems.sparse_pca(rho=0.5, data=data), {"data": TALL}
    ),
    "matrix_completion": Builder(
        lambda rows, cols, values: problems.matrix_completion(
            rows, cols, values, shape=(3, 3), radius=5.0
        ),
        {"values": b},
        places={"rows": np.array([0, 0, 1, 1, 2, 2]), "cols": np.array([0, 1, 1, 2, 0, 2])},
    ),
    "phase_retrieval": Builder(
        problems.phase_retrieval, {"intensities": b}, waves={"a": WAVES}, sparse=("a",)
    ),
    "state_tomography": Builder(
        lambda counts: problems.state_tomography(counts, ["X", "Y", "Z"]),
        {"counts": np.arange(1.0, 7.0).reshape(3, 2)},
    ),
    "quadratic_assignment": Builder(
        lambda A, B: problems.quadratic_assignment(A, B, nonnegative="costs"),
        {"A": GRAPH[:3, :3], "B": np.abs(np.subtract.outer(np.arange(3.0), np.arange(3)))},
    ),
    "trace_regression": Builder(
        lambda a, Y: problems.trace_regression(a, Y, radius=2.0),
        {"a": TALL, "Y": np.c_[b, -b]},
    ),
    "map_inference": Builder(
        problems.map_inference,
        {"unary": np.abs(TALL[:3, :2]), "pairwise": 1.0 - np.eye(2)},
        places={"edges": np.array([[0, 1], [1, 2]])},
    ),
}
BUILDERS = PIECES | MODELS


def gradients(n: int) -> Any:
    return np.linspace(-1.0, 2.0, n)


def probe(made: Any) -> list[Any]:
    """Return numbers that distinguish objects of the same kind."""
    if hasattr(made, "problem"):
        problem = made.problem
        return [*probe(problem.f), *probe(problem.A), *probe(problem.h)]
    if isinstance(made, conic.Program):
        return [made.c.toarray(), made.A.toarray(), made.b]
    if hasattr(made, "gradient"):
        u = 0.1 * gradients(made.M.size)
        return [made.value(u), made.gradient(u), *probe(made.M)]
    if hasattr(made, "prox"):
        return [made.prox(gradients(made.size), 0.7), made.conjugate(0.01 * gradients(made.size))]
    if hasattr(made, "lmo"):
        n = getattr(made, "n", None) or made.centre.size
        return [made.lmo(np.roll(gradients(n), 1)), made.diameter]
    if hasattr(made, "adjoint") and hasattr(made, "size"):
        return [_flat(made.adjoint(gradients(made.size))), made.norm]
    if hasattr(made, "to_dense"):
        return [made.to_dense()]
    return [made @ np.ones(made.shape[1])]  # a LinearOperator


def _flat(v: Any) -> Any:
    if isinstance(v, tuple):
        return np.concatenate([_flat(part) for part in v])
    return np.ravel(v.to_dense() if hasattr(v, "to_dense") else v) if v is not None else np.zeros(0)


def same(made: Any, other: Any, rtol: float = 1e-9) -> bool:
    pairs = zip(probe(made), probe(other), strict=True)
    return all(np.allclose(p, q, rtol=rtol, atol=1e-9) for p, q in pairs)

"""All that is made of arrays: the cases of the parts that take some, and the models."""

from typing import Any

import numpy as np

import condal
from condal import problems
from condal.problems import conic
from laws.case import FULL, POINTS, TALL, WAVES, C, Case, N, b
from laws.domains import DOMAINS
from laws.functions import FUNCTIONS
from laws.maps import MAPS
from laws.sets import SETS
from laws.smooth import SMOOTH

GRAPH = np.ones((5, 5)) - np.eye(5)
GRAPH[0, 2] = GRAPH[2, 0] = 0.0
HERMITIAN = C + 1j * (FULL - FULL.T)
OTHERS = (  # which are no parts of the template
    Case("lifted", condal.lifted, {"C": TALL}, sparse=("C",)),
    Case("CodedDiffraction", condal.CodedDiffraction, waves={"masks": WAVES.real.reshape(2, 3, 4)}),
    Case(
        "Program",
        lambda c, A, b: conic.Program(c, A, b, (conic.Block("orthant", N),)),
        {"c": b[None, :N], "A": TALL[:2], "b": b[:2]},
        sparse=("c", "A"),
    ),
)
PARTS = (*DOMAINS, *SETS, *FUNCTIONS, *SMOOTH, *MAPS, *OTHERS)
PIECES = {case.name: case for case in PARTS if case.arrays}
TURNS = np.array([[[0.0, -1.0], [1.0, 0.0]]] * 3)
OF_W, OF_GRAPH = (
    {"numbers": {name: GRAPH}, "sparse": (name,), "symmetric": (name,)} for name in ("W", "graph")
)
OF_C = {"sparse": ("C",), "symmetric": ("C",)}
MODELS_LISTED = (
    Case("max_cut", problems.max_cut, **OF_W),
    Case("max_k_cut", lambda W: problems.max_k_cut(W, 3), **OF_W),
    Case("bisection", problems.bisection, **OF_W),
    Case("communities", problems.communities, **OF_GRAPH),
    Case("theta", problems.theta, **OF_GRAPH),
    Case("k_means", lambda points: problems.k_means(points, 2), {"points": POINTS}),
    Case(
        "k_means by distances",
        lambda distances: problems.k_means(k=2, distances=distances),
        {"distances": GRAPH},
        symmetric=("distances",),
    ),
    Case(
        "generalised_eigenvector",
        lambda Phi, Psi: problems.generalised_eigenvector(Phi, Psi, 3.0),
        {"Phi": C, "Psi": np.eye(N)},
        sparse=("Phi", "Psi"),
        symmetric=("Phi", "Psi"),
        answer="vector",
    ),
    Case("sign_synchronisation", problems.sign_synchronisation, {"C": C}, **OF_C),
    Case(
        "angular_synchronisation", problems.angular_synchronisation, waves={"C": HERMITIAN}, **OF_C
    ),
    Case(
        "rotation_synchronisation",
        lambda edges, weights: problems.rotation_synchronisation(edges, TURNS, weights),
        {"weights": np.abs(b[:3]) + 0.5},
        places={"edges": np.array([[0, 1], [1, 2], [2, 0]])},
    ),
    Case(
        "pose_graph",
        lambda translations, kappa: problems.pose_graph(
            problems.RelativePoses([[0, 1], [1, 2], [2, 0]], TURNS, translations, kappa)
        ),
        {"translations": TALL[:3, :2], "kappa": np.abs(b[:3]) + 0.5},
    ),
    Case(
        "sparse_pca",
        lambda covariance: problems.sparse_pca(covariance, 0.5),
        {"covariance": C},
        symmetric=("covariance",),
        answer="component",
    ),
    Case(
        "sparse_pca of data",
        lambda data: problems.sparse_pca(rho=0.5, data=data),
        {"data": TALL},
        answer="component",
    ),
    Case(
        "matrix_completion",
        lambda rows, cols, values: problems.matrix_completion(
            rows, cols, values, shape=(3, 3), radius=5.0
        ),
        {"values": b},
        places={"rows": np.array([0, 0, 1, 1, 2, 2]), "cols": np.array([0, 1, 1, 2, 0, 2])},
        answer="complete",
    ),
    Case(
        "phase_retrieval",
        problems.phase_retrieval,
        {"intensities": b},
        waves={"a": WAVES},
        sparse=("a",),
        answer="signal",
    ),
    Case(
        "state_tomography",
        lambda counts: problems.state_tomography(counts, ["X", "Y", "Z"]),
        {"counts": np.arange(1.0, 7.0).reshape(3, 2)},
        answer="state",
    ),
    Case(
        "quadratic_assignment",
        lambda A, B: problems.quadratic_assignment(A, B, nonnegative="costs"),
        {"A": GRAPH[:3, :3], "B": np.abs(np.subtract.outer(np.arange(3.0), np.arange(3)))},
    ),
    Case(
        "trace_regression",
        lambda a, Y: problems.trace_regression(a, Y, radius=2.0),
        {"a": TALL, "Y": np.c_[b, -b]},
        answer="fit",
    ),
    Case(
        "map_inference",
        problems.map_inference,
        {"unary": np.abs(TALL[:3, :2]), "pairwise": 1.0 - np.eye(2)},
        places={"edges": np.array([[0, 1], [1, 2]])},
    ),
)
MODELS = {case.name: case for case in MODELS_LISTED}
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

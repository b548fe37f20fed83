"""The applications: seeded random data, condal's model, and the rivals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.transform import Rotation

import condal
from condal.problem import Problem
from condal.problems import (
    RelativePoses,
    communities,
    map_inference,
    pose_graph,
    sparse_pca,
    theta,
)
from condal.problems.angles import angular_synchronisation
from condal.problems.completion import matrix_completion
from condal.problems.trace_norm import trace_regression
from condal_lab.bench.generated import random_edges, sparse_graph
from condal_lab.bench.recovery import star_ratings
from condal_lab.benchmarks import programs
from condal_lab.benchmarks.instance import Instance, modelled
from condal_lab.benchmarks.nonnegative import assignment, random_assignment, theta_plus
from condal_lab.benchmarks.programs import engines
from condal_lab.benchmarks.recovery import completion, movielens, phase
from condal_lab.benchmarks.states import GRAPHS, fidelity, recorded_poses, state
from condal_lab.experiments.stand_ins import adjacency


def small_completion(m: int, n: int, known: int) -> Instance:
    """Rank 3 plus noise, with the radius of the truth, so that CVXPY has the same problem."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((m, 3)) @ (5 * rng.standard_normal((3, n)))
    i, j = np.divmod(rng.choice(m * n, known, replace=False), n)
    v = truth[i, j] + 3 * rng.standard_normal(known)
    radius = 0.8 * float(np.linalg.norm(truth, "nuc"))
    return modelled(
        f"matrix completion, {m} x {n}",
        lambda: matrix_completion(i, j, v, shape=(m, n), radius=radius, effects=False),
        engines(programs.nuclear_fit((m, n), i, j, v, radius), "SCS"),
    )


def lovasz(n: int, edges: int) -> Instance:
    i, j = random_edges(n, edges)
    W = adjacency(n, (i, j), np.ones(edges))
    title = f"theta, n = {n}, {edges:,} edges"
    return modelled(title, lambda: theta(W), engines(programs.theta(W), "SCS", "Clarabel"))


def regression(rows: int, n: int, loss: Literal["squares", "absolute"]) -> Instance:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((rows, n))
    truth = np.zeros(n)
    truth[: min(20, n)] = np.tile([2.0, -2.0], n)[: min(20, n)]
    b = M @ truth + rng.standard_normal(rows)
    if loss == "absolute":
        b[::10] += 20 * rng.standard_normal(b[::10].size)
    radius = float(np.abs(truth).sum())
    centred = condal.Matrix(M - M.mean(axis=1, keepdims=True))  # the same loss, as sum x = 0
    parts: dict[str, Any] = {"f": condal.LeastSquares(centred, b)}
    if loss == "absolute":
        parts = {"B": centred, "g": condal.AbsoluteLoss(b)}
    sums = condal.Matrix(np.ones((1, n)))
    X, K = condal.L1Ball(n, radius), condal.Equal([0.0])
    return modelled(
        f"l1 regression, {loss}, {rows} x {n}",
        lambda: Problem.of(X=X, A=sums, K=K, **parts),
        engines(programs.l1_fit(M, b, radius, loss), "Clarabel", "SCS"),
    )


def assets(n: int, factors: int) -> Instance:
    """Returns in percent, market factors, ten sectors of at most a fifth, and trading costs."""
    rng = np.random.default_rng(0)
    data = {
        "expected": 8 + 6 * rng.standard_normal(n),
        "F": 20 * rng.standard_normal((factors, n)) / np.sqrt(factors),
        "d": rng.uniform(10, 30, n) ** 2,
        "aversion": 0.05,
        "exposures": (np.arange(n) % 10 == np.arange(10)[:, None]).astype(float),
        "high": np.full(10, 0.2),
        "holdings": rng.dirichlet(np.full(n, 0.1)),
        "cost": 1.0,
    }
    title = f"portfolio, {n:,} assets"
    aversion, rows = data["aversion"], data["exposures"]
    linear = -data["expected"] / aversion
    return modelled(
        title,
        lambda: Problem.of(
            f=condal.FactoredQuadratic(data["F"], data["d"], linear, aversion),
            X=condal.Simplex(n),
            A=condal.Matrix(rows),
            K=condal.Box(np.full(len(rows), -np.inf), data["high"]),
            g=condal.AbsoluteLoss(data["holdings"], data["cost"]),
        ),
        engines(programs.portfolio(data), "Clarabel", "SCS"),
    )


def graphs(n: int) -> Instance:
    """A random graph, and a renumbered copy with a twentieth of its edges replaced."""
    A = sparse_graph(n, degree=0.2 * n, seed=1).toarray()
    rng = np.random.default_rng(2)
    flip = np.triu(rng.random((n, n)) < 0.01, 1)
    p = rng.permutation(n)
    B = np.abs(A - (flip | flip.T))[p][:, p]

    def difference(x: Any) -> Any:
        P = x.reshape(n, n)
        return (A @ P - P @ B).ravel()

    def adjoint(y: Any) -> Any:
        Y = y.reshape(n, n)
        return (A.T @ Y - Y @ B.T).ravel()

    M = condal.Operator(
        LinearOperator((n * n, n * n), matvec=difference, rmatvec=adjoint, dtype=np.float64),
        norm=float(np.linalg.norm(A, 2) + np.linalg.norm(B, 2)),
    )
    f = condal.LeastSquares(M, np.zeros(n * n), weight=2.0)
    return modelled(
        f"graph matching, n = {n}",
        lambda: Problem.of(f, condal.domains.Birkhoff(n)),
        engines(programs.matching(A, B), "Clarabel", "SCS"),
    )


def field_of(side: int, states: int) -> Instance:
    """A grid with normally distributed costs on nodes and edges: its relaxation is not integral."""
    rng = np.random.default_rng(0)
    node = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [
            np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()]),
            np.column_stack([node[:-1].ravel(), node[1:].ravel()]),
        ]
    )
    unary = rng.standard_normal((side * side, states))
    pairwise = 0.5 * rng.standard_normal((len(edges), states, states))
    model = map_inference(unary, edges, pairwise)
    return modelled(
        f"MAP inference, {side} x {side}, {states} states",
        lambda: map_inference(unary, edges, pairwise),
        engines(programs.local_polytope(model.problem, model.sizes), "Clarabel", "HiGHS"),
    )


def angles(n: int, degree: float) -> Instance:
    """Differences of random angles with normal errors of half a radian, for some pairs."""
    rng = np.random.default_rng(0)
    i, j = random_edges(n, round(n * degree / 2))
    t = rng.uniform(0, 2 * np.pi, n)
    values = np.exp(1j * (t[i] - t[j] + 0.5 * rng.standard_normal(i.size)))
    C = sp.csr_array((np.r_[values, values.conj()], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    return modelled(
        f"angular synchronisation, n = {n}",
        lambda: angular_synchronisation(C),
        engines(programs.phases(C), "SCS"),
    )


def poses(n: int) -> Instance:
    """A path in space with as many loop closures as steps."""
    rng = np.random.default_rng(0)
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    edges = np.vstack([path, np.column_stack(random_edges(n, n))])
    i, j = edges.T
    t = np.cumsum(rng.standard_normal((n, 3)), axis=0)
    turns = Rotation.from_rotvec(rng.standard_normal((n, 3))).as_matrix()
    noise = Rotation.from_rotvec(0.1 * rng.standard_normal((len(edges), 3))).as_matrix()
    moves = np.einsum("kba,kb->ka", turns[i], t[j] - t[i])
    moves += 0.1 * rng.standard_normal(moves.shape)
    measured = RelativePoses(edges, turns[i].transpose(0, 2, 1) @ turns[j] @ noise, moves, 50, 100)
    cost: Any = pose_graph(measured).problem.f
    C = cost.C.to_dense()
    return modelled(
        f"pose graph, {n} poses in space",
        lambda: pose_graph(measured),
        engines(programs.identity_blocks(C, 3), "SCS", "Clarabel"),
    )


def trace_norm(rows: int, m: int, n: int) -> Instance:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, m))
    truth = rng.standard_normal((m, 4)) @ rng.standard_normal((4, n))
    Y = a @ truth + 5 * rng.standard_normal((rows, n))
    radius = 0.8 * float(np.linalg.norm(truth, "nuc"))
    return modelled(
        f"trace-norm regression, {m} x {n}",
        lambda: trace_regression(a, Y, radius=radius),
        engines(programs.responses(a, Y, radius), "SCS"),
    )


def component(n: int) -> Instance:
    """Three hidden factors, each on a tenth of the variables, plus noise: 2 n observations."""
    rng = np.random.default_rng(0)
    group = max(1, n // 10)
    hidden = (np.arange(n) // group == np.arange(3)[:, None]) * np.array([[4.0], [3.0], [2.0]])
    data = rng.standard_normal((2 * n, 3)) @ hidden + 3 * rng.standard_normal((2 * n, n))
    S = np.cov(data.T)
    title = f"sparse PCA, n = {n}"
    return modelled(
        title,
        lambda: sparse_pca(S, 3.0),
        engines(programs.sparse_component(S, 3.0), "SCS"),
    )


def blocks(n: int) -> Instance:
    """The stochastic block model: three groups, edge probability 0.15 within and 0.05 between."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    chance = np.where(labels[:, None] == labels, 0.15, 0.05)
    W = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    W = sp.csr_array(W + W.T)
    c = communities(W, 3, null="uniform").c
    return modelled(
        f"communities, n = {n}",
        lambda: communities(W, 3, null="uniform"),
        engines(programs.unit_diagonal(W.toarray() - np.outer(c, c)), "SCS"),
    )


Build = Callable[[], Instance]


def _ratings(m: int, n: int, known: int) -> Build:
    return partial(completion, partial(star_ratings, m, n, known), f"ratings, {m:,} x {n:,}")


INSTANCES: dict[str, Build] = {
    "phase-64": partial(phase, 8),
    "phase-256": partial(phase, 16),
    "phase-10000": partial(phase, 100),
    "ratings": _ratings(1000, 1700, 100_000),
    "movielens": partial(completion, movielens, "ml-latest-small, 610 x 9,724"),
    "completion": partial(small_completion, 60, 80, 1500),
    "theta": partial(lovasz, 200, 5000),
    "theta-plus": partial(theta_plus, "G11"),
    "nug12": partial(assignment, "nug12", "SCS"),
    "nug20": partial(assignment, "nug20"),
    "nug30": partial(assignment, "nug30"),
    "tai30a": partial(assignment, "tai30a"),
    "regression": partial(regression, 400, 1500, "squares"),
    "regression-absolute": partial(regression, 200, 500, "absolute"),
    "portfolio": partial(assets, 2000, 40),
    "matching": partial(graphs, 50),
    "map": partial(field_of, 20, 4),
    "angles": partial(angles, 150, 30.0),
    "poses": partial(poses, 20),
    **{name: partial(recorded_poses, name) for name in GRAPHS},
    "state": partial(state, 4, 500, "squares"),
    "state-likelihood": partial(state, 4, 500, "likelihood"),
    "state-8": partial(fidelity, 8, 100, 0),
    "state-8-random": partial(fidelity, 8, 100, 1000),
    "state-8-likelihood": partial(fidelity, 8, 100, 1000, "likelihood"),
    "state-10": partial(fidelity, 10, 100, 2000, seconds=600.0),
    "trace": partial(trace_norm, 300, 60, 40),
    "sparse-pca": partial(component, 80),
    "communities": partial(blocks, 200),
    "quick-phase": partial(phase, 4),
    "quick-ratings": _ratings(30, 40, 400),
    "quick-completion": partial(small_completion, 8, 10, 50),
    "quick-theta": partial(lovasz, 15, 30),
    "quick-assignment": partial(random_assignment, 4, "SCS"),
    "quick-regression": partial(regression, 40, 10, "squares"),
    "quick-portfolio": partial(assets, 40, 4),
    "quick-matching": partial(graphs, 6),
    "quick-map": partial(field_of, 3, 2),
    "quick-angles": partial(angles, 10, 5.0),
    "quick-poses": partial(poses, 5),
    "quick-state": partial(state, 2, 100, "squares"),
    "quick-state-likelihood": partial(state, 2, 100, "likelihood"),
    "quick-fidelity": partial(fidelity, 3, 100, 20),
    "quick-fidelity-likelihood": partial(fidelity, 3, 100, 20, "likelihood"),
    "quick-trace": partial(trace_norm, 20, 5, 4),
    "quick-sparse-pca": partial(component, 10),
    "quick-communities": partial(blocks, 15),
}

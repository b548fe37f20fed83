"""The set `applications`: models of condal on seeded random data or public files, against CVXPY
with a conic solver or against a method written for the application."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from scipy.spatial.transform import Rotation

import condal
from condal.io.formats import read_graph, read_qaplib
from condal.problem import Problem
from condal.problems import (
    RelativePoses,
    communities,
    map_inference,
    pose_graph,
    quadratic_assignment,
    sparse_pca,
    theta,
)
from condal.problems.angles import angular_synchronisation
from condal.problems.completion import matrix_completion
from condal.problems.trace_norm import trace_regression
from condal_lab.bench import truths, written
from condal_lab.bench.cases import BenchCase, Set, Written
from condal_lab.bench.written import engines
from condal_lab.generated import adjacency, random_edges, sparse_graph

TOL, TIGHT = 1e-3, 1e-4


def small_completion(m: int, n: int, known: int) -> Written:
    """Rank 3 plus noise, with the radius of the truth, so that CVXPY has the same problem."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((m, 3)) @ (5 * rng.standard_normal((3, n)))
    i, j = np.divmod(rng.choice(m * n, known, replace=False), n)
    v = truth[i, j] + 3 * rng.standard_normal(known)
    radius = 0.8 * float(np.linalg.norm(truth, "nuc"))
    return Written(
        matrix_completion(i, j, v, shape=(m, n), radius=radius, effects=False),
        engines(("SCS",), written.nuclear_fit, (m, n), i, j, v, radius),
    )


def lovasz(n: int, edges: int) -> Written:
    """Lovasz theta of a random graph."""
    i, j = random_edges(n, edges)
    W = adjacency(n, (i, j), np.ones(edges))
    return Written(theta(W), engines(("SCS", "Clarabel"), written.theta, W))


def regression(rows: int, n: int, loss: Literal["squares", "absolute"]) -> Written:
    """Twenty coefficients of size 2; for the absolute loss, a tenth of the data are wild."""
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
    sums, K = condal.Matrix(np.ones((1, n))), condal.Equal([0.0])
    problem = Problem.of(X=condal.L1Ball(n, radius), A=sums, K=K, **parts)
    return Written(problem, engines(("Clarabel", "SCS"), written.l1_fit, M, b, radius, loss))


def assets(n: int, factors: int) -> Written:
    """Returns in percent, market factors, ten sectors of at most a fifth, and trading costs."""
    rng = np.random.default_rng(0)
    data: dict[str, Any] = {
        "expected": 8 + 6 * rng.standard_normal(n),
        "F": 20 * rng.standard_normal((factors, n)) / np.sqrt(factors),
        "d": rng.uniform(10, 30, n) ** 2,
        "aversion": 0.05,
        "exposures": (np.arange(n) % 10 == np.arange(10)[:, None]).astype(float),
        "high": np.full(10, 0.2),
        "holdings": rng.dirichlet(np.full(n, 0.1)),
        "cost": 1.0,
    }
    aversion, rows = data["aversion"], data["exposures"]
    linear = -data["expected"] / aversion
    problem = Problem.of(
        f=condal.FactoredQuadratic(data["F"], data["d"], linear, aversion),
        X=condal.Simplex(n),
        A=condal.Matrix(rows),
        K=condal.Box(np.full(len(rows), -np.inf), data["high"]),
        g=condal.AbsoluteLoss(data["holdings"], data["cost"]),
    )
    return Written(problem, engines(("Clarabel", "SCS"), written.portfolio, data))


def graphs(n: int) -> Written:
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
    problem = Problem.of(f, condal.domains.Birkhoff(n))
    return Written(problem, engines(("Clarabel", "SCS"), written.matching, A, B))


def field_of(side: int, states: int) -> Written:
    """A grid with normally distributed costs on nodes and edges: its relaxation is not integral."""
    rng = np.random.default_rng(0)
    node = np.arange(side * side).reshape(side, side)
    across = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    edges = np.concatenate([across, np.column_stack([node[:-1].ravel(), node[1:].ravel()])])
    unary = rng.standard_normal((side * side, states))
    model = map_inference(unary, edges, 0.5 * rng.standard_normal((len(edges), states, states)))
    rivals = engines(("Clarabel", "HiGHS"), written.local_polytope, model.problem, model.sizes)
    return Written(model, rivals)


def angles(n: int, degree: float) -> Written:
    """Differences of random angles with normal errors of half a radian, for some pairs."""
    rng = np.random.default_rng(0)
    i, j = random_edges(n, round(n * degree / 2))
    t = rng.uniform(0, 2 * np.pi, n)
    values = np.exp(1j * (t[i] - t[j] + 0.5 * rng.standard_normal(i.size)))
    C = sp.csr_array((np.r_[values, values.conj()], (np.r_[i, j], np.r_[j, i])), shape=(n, n))
    return Written(angular_synchronisation(C), engines(("SCS",), written.phases, C))


def poses(n: int) -> Written:
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
    model = pose_graph(measured)
    cost: Any = model.problem.f
    return Written(
        model, engines(("SCS", "Clarabel"), written.identity_blocks, cost.C.to_dense(), 3)
    )


def trace_norm(rows: int, m: int, n: int) -> Written:
    """Responses to Gaussian inputs by a matrix of rank 4, plus noise."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, m))
    truth = rng.standard_normal((m, 4)) @ rng.standard_normal((4, n))
    Y = a @ truth + 5 * rng.standard_normal((rows, n))
    radius = 0.8 * float(np.linalg.norm(truth, "nuc"))
    model = trace_regression(a, Y, radius=radius)
    return Written(model, engines(("SCS",), written.responses, a, Y, radius))


def component(n: int) -> Written:
    """Three hidden factors, each on a tenth of the variables, plus noise: 2 n observations."""
    rng = np.random.default_rng(0)
    group = max(1, n // 10)
    hidden = (np.arange(n) // group == np.arange(3)[:, None]) * np.array([[4.0], [3.0], [2.0]])
    data = rng.standard_normal((2 * n, 3)) @ hidden + 3 * rng.standard_normal((2 * n, n))
    S = np.cov(data.T)
    return Written(sparse_pca(S, 3.0), engines(("SCS",), written.sparse_component, S, 3.0))


def blocks(n: int) -> Written:
    """The stochastic block model: three groups, edge probability 0.15 within and 0.05 between."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 3
    chance = np.where(labels[:, None] == labels, 0.15, 0.05)
    W = np.triu(rng.random((n, n)) < chance, 1).astype(float)
    W = sp.csr_array(W + W.T)
    model = communities(W, 3, null="uniform")
    B = W.toarray() - np.outer(model.c, model.c)
    return Written(model, engines(("SCS",), written.unit_diagonal, B))


def state(qubits: int, shots: int, loss: Any) -> Written:
    """All Pauli bases of a few qubits."""
    model = truths.simulated(qubits, shots, 0, loss).model
    rivals = engines(("SCS",), written.state, model)
    if loss == "likelihood":
        rivals = {"R rho R": lambda _, tol: truths.iterated(model, tol), **rivals}
    return Written(model, rivals)


def assignment(A: Any, B: Any, *solvers: str) -> Written:
    """The relaxation of a quadratic assignment."""
    model = quadratic_assignment(A, B)
    return Written(model, engines(solvers, written.relaxation, model))


def random_assignment(n: int) -> Written:
    """Whole numbers below 9."""
    A, B = np.random.default_rng(0).integers(0, 9, (2, n, n)).astype(float)
    return assignment(A, B, "SCS")


def _from_qaplib(name: str, solvers: tuple[str, ...], path: Path) -> Written:
    with tarfile.open(path) as archive, TemporaryDirectory() as folder:
        file = archive.extractfile(f"./{name}.dat")
        assert file is not None
        unpacked = Path(folder, f"{name}.dat")
        unpacked.write_bytes(file.read())
        data = read_qaplib(unpacked)
    return assignment(data.A, data.B, *solvers)


def _theta_plus(path: Path) -> Any:
    return theta(read_graph(path), theta_plus=True)


WRITTEN = "against conic solvers, through CVXPY"
HOW = (
    "Times are CPU seconds. Those of SCS, Clarabel and HiGHS include CVXPY's own work, and those "
    "of programs their reading of a file. x is condal's time over that of the fastest other solver "
    "whose answer is right, below 1 if condal is faster. Right: by condal's certificate, or, for "
    "an answer without a dual, by its constraints and its distance from the known optimum, the "
    "error is at most the tolerance. No verdict: nothing is proved. Short: the error is larger; a "
    "solver is then run again at a smaller tolerance. What else is known of an answer is in the "
    "notes. SE-Sync is built from its own sources."
)


def _case(
    name: str, title: str, solvers: str, optimum: float, build: Callable[..., Written], *data: Any
) -> BenchCase:
    """Return the instance that is built of the data, with its solvers, by commas."""
    made, names = partial(build, *data), solvers.split(", ")
    return truths.case(name, title, TOL, *names, group=WRITTEN, build=made, optimum=optimum)


def _assignment(name: str, optimum: float | None = None, *solvers: str) -> BenchCase:
    title, read = f"quadratic assignment, {name}", partial(_from_qaplib, name, solvers)
    facts = {"needs": "QAPLIB", "read": read, "optimum": optimum}
    return truths.case(name, title, TOL, *solvers, group=WRITTEN, **facts)


CASES = (
    *truths.CASES,
    _case(
        "completion", "matrix completion, 60 x 80", "SCS", 4.30757, small_completion, 60, 80, 1500
    ),
    _case("theta", "theta, n = 200, 5,000 edges", "SCS, Clarabel", 27.62477, lovasz, 200, 5000),
    truths.case(
        "theta-plus",
        "theta+ of G11, n = 800",
        TIGHT,
        group=WRITTEN,
        needs="G11",
        read=_theta_plus,
        n=800,
    ),
    _assignment("nug12", 567.99, "SCS"),
    _assignment("nug20"),
    _assignment("nug30"),
    _assignment("tai30a"),
    _case(
        "regression",
        "l1 regression, squares, 400 x 1500",
        "Clarabel, SCS",
        119.50521,
        regression,
        400,
        1500,
        "squares",
    ),
    _case(
        "regression-absolute",
        "l1 regression, absolute, 200 x 500",
        "Clarabel, SCS",
        319.11298,
        regression,
        200,
        500,
        "absolute",
    ),
    _case("portfolio", "portfolio, 2,000 assets", "Clarabel, SCS", -20.80929, assets, 2000, 40),
    _case("matching", "graph matching, n = 50", "Clarabel, SCS", 2.881497, graphs, 50),
    _case(
        "map", "MAP inference, 20 x 20, 4 states", "Clarabel, HiGHS", -556.58743, field_of, 20, 4
    ),
    _case("angles", "angular synchronisation, n = 150", "SCS", 4000.7394, angles, 150, 30.0),
    _case("poses", "pose graph, 20 poses in space", "SCS, Clarabel", 127.1348, poses, 20),
    _case("state", "tomography, 4 qubits, squares", "SCS", 63.94691, state, 4, 500, "squares"),
    _case(
        "state-likelihood",
        "tomography, 4 qubits, likelihood",
        "R rho R, SCS",
        573.3801,
        state,
        4,
        500,
        "likelihood",
    ),
    _case("trace", "trace-norm regression, 60 x 40", "SCS", 197044.25, trace_norm, 300, 60, 40),
    _case("sparse-pca", "sparse PCA, n = 80", "SCS", 130.49727, component, 80),
    _case("communities", "communities, n = 200", "SCS", 1522.925, blocks, 200),
)
APPLICATIONS = Set(
    "applications",
    "applications of condal against the usual alternative to each",
    CASES,
    compact=HOW,
)

"""The applications that are instances of the template, and those over permutations."""

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.linalg import eigh

from condal import problems
from spaces import Hermitians, Matrices, numbers
from truth import flats
from truth.applications import LOST, of_square
from truth.case import Case
from truth.constraints import Box
from truth.costs import Cost, huber, linear, squares
from truth.images import Image
from truth.regions import Nuclear, Region, Spectral
from truth.templates import Scale, Template
from truth.terms import Term, absolute

UNIT = Scale(1.0, 1.0, 1.0)


def nothing(region: Region) -> Cost:
    return linear(region.space, np.zeros(region.space.dimension), "0")


def completion(seed: int) -> Case:
    rng = np.random.default_rng([seed, 11])
    m, n, count = int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(1, 12))
    i, j = rng.integers(0, m, count), rng.integers(0, n, count)
    v = rng.standard_normal(count) * float(rng.choice([1e-3, 1.0, 1e3]))
    radius = float(rng.choice([0.1, 1.0, 10.0])) * (float(np.abs(v).max()) or 1.0)
    loss = str(rng.choice(["squares", "huber", "absolute"]))
    delta = 0.3 * float(np.abs(v).mean())
    more = {"loss": loss, "delta": delta, "effects": False, "shape": (m, n), "radius": radius}
    model, region = problems.matrix_completion(i, j, v, **more), Nuclear(m, n, radius)
    F = np.zeros((count, m * n))
    F[np.arange(count), i * n + j] = 1.0
    f, B, g = squares(None, F, v, 1 / count), None, None
    if loss == "absolute":
        f, B, g = nothing(region), Image(F), absolute(v, 1 / count)
    elif loss == "huber":
        f = huber(None, F, v, delta, 1 / count)
    template = Template(region, f, B=B, g=g)
    return template.case("completion", UNIT, kind=loss, model=model, margin=0.0)


def trace_regression(seed: int) -> Case:
    rng = np.random.default_rng([seed, 12])
    p, m, n = int(rng.integers(1, 9)), int(rng.integers(1, 5)), int(rng.integers(1, 4))
    a, Y = rng.standard_normal((p, m)), rng.standard_normal((p, n))
    radius = float(rng.choice([0.1, 1.0, 10.0]))
    template = Template(Nuclear(m, n, radius), squares(None, np.kron(a, np.eye(n)), Y.ravel(), 1.0))
    model = problems.trace_regression(a, Y, radius=radius)
    return template.case("trace-regression", UNIT, kind="squares", model=model, margin=0.0)


def phase_retrieval(seed: int) -> Case:
    rng = np.random.default_rng([seed, 13])
    n, p, hermitian = int(rng.integers(1, 5)), int(rng.integers(1, 12)), bool(rng.integers(2))
    a = rng.standard_normal((p, n)) + 0.0
    a = a + 1j * rng.standard_normal((p, n)) if hermitian else a
    u = rng.standard_normal(n)
    b = np.abs(a @ u) ** 2 if rng.integers(2) else rng.exponential(2.0, p)
    trace = float(rng.choice([0.5, 1.0, 3.0])) * float(u @ u)
    space = Hermitians(n) if hermitian else Matrices(n)
    F = np.array([space.flat(np.outer(row.conj(), row)) for row in a])
    region = Spectral(n, trace, True, hermitian)
    template = Template(region, squares(None, F, b, 1 / float(b @ b)))
    model = problems.phase_retrieval(b, a, trace=trace)
    return template.case("phase-retrieval", UNIT, kind="squares", model=model, margin=0.0)


def tomography(seed: int) -> Case:
    rng = np.random.default_rng([seed, 21])
    d, settings, outcomes = (
        int(rng.integers(1, 5)),
        int(rng.integers(1, 4)),
        int(rng.integers(1, 4)),
    )
    V = rng.standard_normal((2, settings, outcomes, d, d))
    E = V[0] + 1j * V[1]
    E = E @ E.conj().transpose(0, 1, 3, 2)
    values, vectors = np.linalg.eigh(E.sum(axis=1))
    root = vectors @ (values[..., None] ** -0.5 * vectors.conj().transpose(0, 2, 1))
    E = root[:, None] @ E @ root[:, None]  # the effects of a setting now add up to I
    E = 0.5 * (E + E.conj().transpose(0, 1, 3, 2))
    counts = rng.integers(1, 50, (settings, outcomes)).astype(np.float64)
    b = (counts / counts.sum(axis=1, keepdims=True)).ravel()
    F = np.array([Hermitians(d).flat(effect) for effect in E.reshape(-1, d, d)])
    b = F @ np.linalg.lstsq(F, b, rcond=None)[0]
    share = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 0.5 * (outcomes + 1))
    variance = float(np.mean(share * (1 - share) / counts.sum(axis=1, keepdims=True)))
    template = Template(Spectral(d, 1.0, False, True), squares(None, F, b, 1 / variance))
    model = problems.state_tomography(counts, E)
    return template.case("tomography", UNIT, kind="squares", model=model, margin=0.0)


def relative_poses(seed: int) -> Case:
    """Rotations or poses of 2 to 4 bodies; the cost is that of the model, with its constant."""
    rng = np.random.default_rng([seed, 22])
    n, d, moving = int(rng.integers(2, 5)), int(rng.integers(2, 4)), bool(rng.integers(2))
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    edges = np.vstack([pairs[pairs[:, 1] == pairs[:, 0] + 1], pairs[rng.random(len(pairs)) < 0.5]])
    turns = np.linalg.qr(rng.standard_normal((len(edges), d, d)))[0]
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, None]
    weights = rng.uniform(0.1, 3.0, len(edges))
    if moving:
        moves = rng.standard_normal((len(edges), d))
        measured = problems.RelativePoses(edges, turns, moves, weights, weights[::-1])
        model: Any = problems.pose_graph(measured)
    else:
        model = problems.rotation_synchronisation(edges, turns, weights)
    problem = model.problem
    cost = problem.f.C.to_dense()
    region, rows = Spectral(n * d, float(n * d), False), problem.A.as_matrix().toarray()
    kept = Box(problem.h.fixed, problem.h.fixed)
    template = Template(region, linear(region.space, cost.ravel()), Image(rows), kept)
    kind = f"{'poses' if moving else 'rotations'}, {d}"
    return template.case("relative-poses", UNIT, kind=kind, model=model, margin=0.0)


def sparse_pca(seed: int) -> Case:
    rng = np.random.default_rng([seed, 16])
    n, rho = int(rng.integers(1, 7)), float(rng.choice([0.01, 0.3, 3.0]))
    G = rng.standard_normal((int(rng.integers(1, 9)), n))
    S, region = G.T @ G, Spectral(n, 1.0, False)
    g = Term(
        "L1", lambda c: None, lambda z: rho * float(np.abs(z).sum()), lambda z: rho * cp.norm1(z)
    )
    template = Template(
        region, linear(region.space, S.ravel()), B=Image(np.eye(n * n)), g=g, maximise=True
    )
    best = max(float(S[i, i]) - rho for i in range(n))
    upper, model = best - LOST * float(np.abs(S).sum()), problems.sparse_pca(S, rho)
    return template.case("sparse-pca", UNIT, kind="L1", model=model, upper=upper, margin=0.0)


def geneig(seed: int) -> Case:
    """Feasible if and only if alpha lambda_max(Psi) >= 1."""
    rng = np.random.default_rng([seed, 17])
    n = int(rng.integers(1, 7))
    space = Matrices(n)
    Phi, Psi = (row.reshape(n, n) for row in space.rows(rng, 2, bool(rng.integers(2))))
    top = float(np.linalg.eigvalsh(Psi)[-1])
    ratio = float(rng.choice([0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0]))
    alpha = ratio / top if top > 0.1 else 1.0
    region = Spectral(n, alpha, True)
    template = Template(
        region,
        linear(space, Phi.ravel()),
        Image(Psi.reshape(1, -1)),
        Box(np.ones(1), np.ones(1)),
        maximise=True,
    )
    margin = max(0.0, 1.0 - alpha * max(top, 0.0))
    model = problems.generalised_eigenvector(Phi, Psi, alpha)
    return template.case("geneig", UNIT, kind=f"{ratio:g}", model=model, margin=margin)


def pencil(seed: int) -> Case:
    """The generalised eigenvector for positive definite Psi: an eigenvalue of the pencil."""
    rng = np.random.default_rng([seed, 21])
    n = int(rng.integers(1, 7))
    Phi = Matrices(n).rows(rng, 1, False)[0].reshape(n, n)
    G = rng.standard_normal((n, n))
    Psi = G @ G.T + 0.5 * np.eye(n)
    values, vectors = eigh(Phi, Psi)
    size = float(np.sum(vectors[:, -1] ** 2))
    region = Spectral(n, 2 * size, True)
    template = Template(
        region,
        linear(region.space, Phi.ravel()),
        Image(Psi.reshape(1, -1)),
        Box(np.ones(1), np.ones(1)),
        maximise=True,
    )
    model = problems.generalised_eigenvector(Phi, Psi, 2 * size)
    upper = float(values[-1]) - 1e-10 * float(np.abs(values).max())
    return template.case("pencil", UNIT, kind="definite", model=model, upper=upper, margin=0.0)


def map_inference(seed: int) -> Case:
    rng = np.random.default_rng([seed, 18])
    nodes = int(rng.integers(1, 5))
    states = rng.integers(1, 4, nodes)
    pairs = [(i, j) for i in range(nodes) for j in range(i + 1, nodes)]
    edges = [pair for pair in pairs if rng.random() < 0.7] or pairs[:1]
    if not edges:  # a single node: join it to another with one state
        states, edges = np.append(states, 1), [(0, 1)]
    unary = [rng.standard_normal(k) for k in states]
    tables = [numbers(rng, (states[i], states[j]), bool(rng.integers(2))) for i, j in edges]
    sizes = [*states.tolist(), *(int(states[i] * states[j]) for i, j in edges)]
    begins = np.cumsum([0, *sizes])
    rows = []
    for e, ends in enumerate(edges):
        place = begins[len(states) + e] + np.arange(sizes[len(states) + e])
        place = place.reshape(states[ends[0]], states[ends[1]])
        for axis in (0, 1):
            for a in range(states[ends[axis]]):
                row = np.zeros(begins[-1])
                row[np.take(place, a, axis=axis)] = 1.0
                row[begins[ends[axis]] + a] -= 1.0
                rows.append(row)
    cost = np.concatenate([part.ravel() for part in (*unary, *tables)])
    energies = [
        sum(unary[i][p[i]] for i in range(len(states)))
        + sum(table[p[i], p[j]] for table, (i, j) in zip(tables, edges, strict=True))
        for p in product(*(range(k) for k in states))
    ]
    region, zero = flats.Simplices(sizes), np.zeros(len(rows))
    template = Template(region, linear(region.space, cost), Image(np.array(rows)), Box(zero, zero))
    upper = float(min(energies)) + LOST * float(np.abs(cost).sum())
    model = problems.map_inference(unary, np.array(edges), tables)
    return template.case("map", UNIT, kind=f"{nodes}", model=model, upper=upper, margin=0.0)


def qap(seed: int) -> Case:
    """The formulation of de Klerk and Sotirov (2010), without facial reduction."""
    rng = np.random.default_rng([seed, 20])
    n = int(rng.integers(2, 4))
    A, B = rng.integers(-2, 5, (2, n, n)).astype(float)
    C = np.kron(A, B)
    i, p = np.divmod(np.arange(n * n), n)
    apart = (i[:, None] == i) != (p[:, None] == p)
    costs = [float(np.sum(A * B[np.ix_(q, q)])) for q in permutations(range(n))]
    C = np.where(apart, 0.0, 0.5 * (C + C.T))
    sums = np.array([*(i == k for k in range(n)), *(p == k for k in range(n))], dtype=float)

    def rules(x: Any) -> list[Any]:
        d = cp.diag(x)
        return [cp.sum(x) == n * n, cp.multiply(x, apart) == 0, x >= 0, sums @ d == 1]

    def missed(x: np.ndarray) -> float:
        return float(np.linalg.norm(np.where(apart, x, np.minimum(x, 0.0))))

    return of_square(
        "qap",
        f"n = {n}",
        problems.quadratic_assignment(A, B),
        C=C,
        trace=float(n),
        rules=rules,
        missed=missed,
        upper=min(costs) + LOST * float(np.abs(C).sum()),
    )


MODELS: dict[str, Callable[[int], Case]] = {
    "completion": completion,
    "trace-regression": trace_regression,
    "phase-retrieval": phase_retrieval,
    "tomography": tomography,
    "relative-poses": relative_poses,
    "sparse-pca": sparse_pca,
    "geneig": geneig,
    "pencil": pencil,
    "map": map_inference,
    "qap": qap,
}

"""The applications over matrices of unit diagonal or trace, by their definitions."""

from collections.abc import Callable
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from condal import problems
from truth.case import Asked, Case

LOST = 1e-12  # relative rounding error of a known optimum


def weights(rng, n: int, *, signed: bool = True) -> np.ndarray:
    """Weights of a random graph with at least one edge: integers times a power of 2, or any."""
    W = np.triu(rng.random((n, n)) < rng.choice([0.3, 0.6, 1.0]), 1).astype(float)
    W[0, 1] = 1.0
    kind = rng.integers(4)
    if kind == 1:
        W *= rng.integers(1, 6, (n, n))
    elif kind == 2:
        W *= rng.random((n, n))
    if signed and rng.random() < 0.4:
        W *= rng.choice([-1.0, 1.0], (n, n))
    if rng.random() < 0.3:
        W *= 2.0 ** rng.integers(-40, 41)
    return W + W.T


def above(value: float, size: float) -> float:
    """Return a little less than the value of a known point, to allow for its rounding."""
    return value - LOST * size


def of_square(
    family: str,
    story: str,
    model: Any,
    *,
    C: np.ndarray,
    trace: float,
    rules: Callable[[Any], list[Any]],
    missed: Callable[[np.ndarray], float],
    factor: float = 1.0,
    **more: Any,
) -> Case:
    """Of an n x n psd x, real or Hermitian: <C, x>, its trace, and rules that are Ax in K and that
    some x keeps."""
    n, hermitian = len(C), np.iscomplexobj(C)
    maximise = bool(more.get("maximise"))
    unit = float(np.abs(C).max()) or 1.0  # scales the rival's objective to an ordinary size

    def asked() -> Asked:
        x = cp.Variable((n, n), hermitian=True) if hermitian else cp.Variable((n, n), PSD=True)
        objective = real(cp.sum(cp.multiply(C.conj() / unit, x)))
        tied = rules(x)
        goal = cp.Maximize(objective) if maximise else cp.Minimize(objective)
        more_rules = [x >> 0] if hermitian else []
        problem = cp.Problem(goal, [*more_rules, real(cp.trace(x)) == trace, *tied])
        return Asked(problem, factor * unit, [(tie, factor * unit) for tie in tied])

    def off(x: Any) -> float:
        full = np.asarray(x)
        values = np.linalg.eigvalsh(0.5 * (full + full.conj().T))
        return max(-values[0], abs(values.sum() - trace), 0.0) / trace

    return Case(
        family,
        story,
        model,
        asked,
        lambda x: factor * float(np.sum(C.conj() * np.asarray(x)).real),
        off,
        lambda x: missed(np.asarray(x)),
        margin=0.0,
        **more,
    )


def real(x: Any) -> Any:
    return cp.real(x) if x.is_complex() else x


def _unit_diagonal(x: Any) -> list[Any]:
    return [real(cp.diag(x)) == 1]


def _off_diagonal(x: np.ndarray) -> float:
    return float(np.linalg.norm(np.diag(x).real - 1.0))


def of_unit_diagonal(family: str, model: Any, C: np.ndarray, known: float) -> Case:
    """max <C, x>, diag x = 1, with the known value of some point."""
    n = len(C)
    return of_square(
        family,
        f"n = {n}",
        model,
        C=C,
        trace=float(n),
        rules=_unit_diagonal,
        missed=_off_diagonal,
        maximise=True,
        upper=above(known, float(np.abs(C).sum())),
    )


def _best_signs(C: np.ndarray) -> float:
    """max s'Cs over s in {-1, 1}^n."""
    return max(float(s @ C @ s) for s in map(np.array, product([-1.0, 1.0], repeat=len(C))))


def max_cut(seed: int) -> Case:
    rng = np.random.default_rng([seed, 1])
    W = weights(rng, int(rng.integers(2, 9)))
    L = 0.25 * (np.diag(W.sum(axis=1)) - W)
    model = problems.max_cut(sp.csr_array(W) if rng.integers(2) else W)
    return of_unit_diagonal("max-cut", model, L, _best_signs(L))


def sign_sync(seed: int) -> Case:
    rng = np.random.default_rng([seed, 2])
    C = weights(rng, int(rng.integers(2, 9)))
    return of_unit_diagonal("sign-sync", problems.sign_synchronisation(C), C, _best_signs(C))


def angular_sync(seed: int) -> Case:
    rng = np.random.default_rng([seed, 3])
    n = int(rng.integers(2, 6))
    z = np.exp(2j * np.pi * rng.random(n))
    noise = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    C = np.triu(np.outer(z, z.conj()) + rng.choice([0.0, 0.3, 2.0]) * noise, 1)
    C = (C + C.conj().T) * 2.0 ** rng.integers(-3, 4)
    known = float((z.conj() @ C @ z).real)
    return of_unit_diagonal("angular-sync", problems.angular_synchronisation(C), C, known)


def theta(seed: int) -> Case:
    rng = np.random.default_rng([seed, 4])
    n, plus = int(rng.integers(1, 9)), bool(rng.integers(2))
    W = np.triu(rng.random((n, n)) < rng.choice([0.0, 0.3, 0.6, 1.0]), 1).astype(float)
    W = W + W.T
    edges = W > 0
    sets = [np.array(s, dtype=bool) for s in product([False, True], repeat=n)]
    largest = max(int(s.sum()) for s in sets if not edges[np.ix_(s, s)].any())
    i, j = np.nonzero(np.triu(edges))

    def rules(x: Any) -> list[Any]:
        constraints = [x[i, j] == 0] if i.size else []
        return constraints + ([x >= 0] if plus else [])

    def missed(x: np.ndarray) -> float:
        if not plus:
            return float(np.linalg.norm(x[i, j]))
        apart = np.where(edges, x, np.minimum(x, 0.0))
        return float(np.linalg.norm(apart))

    return of_square(
        "theta",
        f"n = {n}, plus = {plus}, {i.size} edges",
        problems.theta(W, theta_plus=plus),
        C=np.ones((n, n)),
        trace=1.0,
        rules=rules,
        missed=missed,
        maximise=True,
        upper=above(largest, n),
    )


def k_cut(seed: int) -> Case:
    """Max-k-cut, or the communities of a graph."""
    rng = np.random.default_rng([seed, 5])
    n, k, cut = int(rng.integers(2, 7)), int(rng.integers(2, 5)), bool(rng.integers(2))
    pairs = str(rng.choice(["none", "edges", "all"]))
    W = weights(rng, n, signed=cut)
    low, null = -1.0 / (k - 1), str(rng.choice(["uniform", "degrees"]))
    if cut:
        model: Any = problems.max_k_cut(W, k, pairs=pairs)
        C = (k - 1) / (2 * k) * (np.diag(W.sum(axis=1)) - W)
    else:
        model = problems.communities(W, k, null=null, resolution=1.2, pairs=pairs)
        degrees = W.sum(axis=1)
        share = degrees if null == "degrees" else np.full(n, degrees.mean())
        C = W - 1.2 * np.outer(share, share) / degrees.sum()
    bounded = (W != 0) if pairs == "edges" else np.full((n, n), pairs == "all")
    i, j = np.nonzero(np.triu(bounded, 1)) if k > 2 else (np.zeros(0, int), np.zeros(0, int))
    root = np.sqrt(2.0) if pairs == "all" else 1.0  # the factor of the triangle's entries
    labels = map(np.array, product(range(k), repeat=n))
    best = max(float(np.sum(C * np.where(p[:, None] == p, 1.0, low))) for p in labels)

    def rules(x: Any) -> list[Any]:
        return [*_unit_diagonal(x), *([x[i, j] >= low] if i.size else [])]

    def missed(x: np.ndarray) -> float:
        below = root * np.minimum(x[i, j] - low, 0.0)
        return float(np.linalg.norm([_off_diagonal(x), np.linalg.norm(below)]))

    return of_square(
        "k-cut",
        f"n = {n}, k = {k}, pairs {pairs}, cut {cut}",
        model,
        C=C,
        trace=float(n),
        rules=rules,
        missed=missed,
        maximise=True,
        upper=above(best, float(np.abs(C).sum())),
    )


def bisection(seed: int) -> Case:
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(2, 9))
    W, most = weights(rng, n), int(rng.integers(n % 2, n))
    L = 0.25 * (np.diag(W.sum(axis=1)) - W)
    model = problems.bisection(W, imbalance=None if rng.random() < 0.5 else most)
    low, high = float(n % 2), float(model.imbalance) ** 2
    signs = map(np.array, product([-1.0, 1.0], repeat=n))
    best = min(float(s @ L @ s) for s in signs if s.sum() ** 2 <= high)

    def missed(x: np.ndarray) -> float:
        total = float(x.sum())
        return float(np.hypot(_off_diagonal(x), max(low - total, total - high, 0.0)))

    return of_square(
        "bisection",
        f"n = {n}, imbalance {model.imbalance}",
        model,
        C=L,
        trace=float(n),
        rules=lambda x: [*_unit_diagonal(x), cp.sum(x) >= low, cp.sum(x) <= high],
        missed=missed,
        upper=best + LOST * float(np.abs(L).sum()),
    )


def k_means(seed: int) -> Case:
    rng = np.random.default_rng([seed, 6])
    n = int(rng.integers(2, 7))
    k = int(rng.integers(1, n + 1))
    points = rng.standard_normal((n, 2)) if rng.integers(2) else rng.integers(0, 3, (n, 2)) + 0.0
    points *= 2.0 ** (rng.integers(-20, 21) if rng.random() < 0.2 else 0)
    D = np.sum((points[:, None] - points) ** 2, axis=2)
    costs = []
    for labels in map(np.array, product(range(k), repeat=n)):
        sizes = np.bincount(labels, minlength=k)
        if sizes.min() > 0:
            costs.append(0.5 * float(np.sum(D * (labels[:, None] == labels) / sizes[labels])))

    def missed(x: np.ndarray) -> float:
        negative = np.minimum(x, 0.0)
        return float(np.linalg.norm([*(x.sum(axis=1) - 1.0), np.linalg.norm(negative)]))

    return of_square(
        "k-means",
        f"n = {n}, k = {k}",
        problems.k_means(points, k),
        C=D,
        trace=float(k),
        rules=lambda x: [cp.sum(x, axis=1) == 1, x >= 0],
        missed=missed,
        factor=0.5,
        upper=min(costs) + LOST * float(D.sum()),
    )


MATRICES: dict[str, Callable[[int], Case]] = {
    "max-cut": max_cut,
    "sign-sync": sign_sync,
    "angular-sync": angular_sync,
    "theta": theta,
    "k-cut": k_cut,
    "bisection": bisection,
    "k-means": k_means,
}

"""Smooth f in NumPy: values and CVXPY expressions."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.sparse.linalg import aslinearoperator

import condal
from spaces import Hermitians, Matrices, Vectors
from truth.images import Image, random_image, spread, structured


@dataclass(frozen=True)
class Cost:
    """f: `made(c, s)` is condal's c f(x / s), `value` NumPy's of a flat x, `rival` CVXPY's."""

    name: str
    made: Callable[[float, float], Any]
    value: Callable[[np.ndarray], float]
    rival: Callable[[Any], Any]
    linear: np.ndarray | None = None


def linear(space: Any, row: np.ndarray, name: str = "Linear") -> Cost:
    return Cost(
        name,
        lambda c, s: condal.Linear(space.cost(c / s * row)),
        lambda z: float(row @ z),
        lambda x: row @ x,
        row,
    )


def random_linear(space: Any, rng, whole: bool) -> Cost:
    """<C, x>, C = 0 and ties among them."""
    trouble = rng.integers(10)
    if trouble == 0:
        return linear(space, np.zeros(space.dimension), "Linear, C = 0")
    row = space.rows(rng, 1, whole)[0]
    if trouble == 1:
        return linear(space, np.sign(row), "Linear, with ties")
    if trouble == 2:
        return linear(space, 1e-9 * row, "Linear, tiny")
    if trouble == 3:
        return _moved(space, row, float(rng.choice([1e3, 1e6, -1e8])))
    if trouble == 4 and isinstance(space, Matrices | Hermitians):
        return _matrix_free(space, row)
    if trouble == 5:
        return linear(space, spread(space, row[None], rng)[0], "Linear, spread")
    return linear(space, row)


def _moved(space: Any, row: np.ndarray, far: float) -> Cost:
    """C + far I, or c + far 1 for vectors: on many domains just a large offset."""
    if isinstance(space, Matrices):
        return linear(space, row + far * np.eye(space.n).ravel(), "Linear, moved")
    if isinstance(space, Vectors):
        return linear(space, row + far, "Linear, moved")
    return linear(space, row)


def _matrix_free(space: Any, row: np.ndarray) -> Cost:
    """C known only by its products."""
    known = linear(space, row, "Linear, matrix-free")
    return replace(
        known, made=lambda c, s: condal.Linear(aslinearoperator(space.cost(c / s * row)))
    )


def random_smooth(space: Any, size: float, rng, positive: bool) -> Cost:
    """Another smooth function; the Poisson likelihood only if all points are `positive`."""
    kinds = ["LeastSquares", "Huber", "Logistic"]
    kinds += ["Quadratic", "FactoredQuadratic", "Function"] if isinstance(space, Vectors) else []
    kinds += ["Poisson"] if positive else []
    kind = str(rng.choice(kinds))
    M = structured(space, rng) if rng.random() < 0.4 else None
    if M is None or kind == "Poisson":
        M = random_image(space, int(rng.integers(1, 7)), rng, bool(rng.integers(2)))
    if kind == "Poisson":
        M = Image(np.abs(M.rows))
    if kind.endswith("Quadratic"):
        return _quadratic(kind, M.rows, rng)
    return _of_images(kind, space, M, size, rng)


def squares(made: Any, F: np.ndarray, c0: np.ndarray, weight: float) -> Cost:
    return Cost(
        "LeastSquares",
        made,
        lambda z: 0.5 * weight * float(np.sum((F @ z - c0) ** 2)),
        lambda x: 0.5 * weight * cp.sum_squares(F @ x - c0),
    )


def huber(made: Any, F: np.ndarray, c0: np.ndarray, delta: float, weight: float) -> Cost:
    def value(z: np.ndarray) -> float:
        r = np.abs(F @ z - c0)
        return weight * float(np.where(r <= delta, 0.5 * r**2, delta * (r - 0.5 * delta)).sum())

    return Cost("Huber", made, value, lambda x: 0.5 * weight * cp.sum(cp.huber(F @ x - c0, delta)))


def _of_images(kind: str, space: Any, M: Image, size: float, rng) -> Cost:
    F, m = M.rows, len(M.rows)
    weight = float(rng.choice([1.0, 0.1, 20.0]))
    c0 = rng.standard_normal(m) * size * float(rng.choice([0.3, 3.0]))

    def made_by(loss: Any, *data: Any) -> Callable[[float, float], Any]:
        return lambda c, s: loss(
            M.made(space, None if s == 1.0 else np.full(m, 1 / s)), *data, c * weight
        )

    if kind == "LeastSquares":
        return squares(made_by(condal.LeastSquares, c0), F, c0, weight)
    if kind == "Huber":
        delta = float(rng.choice([0.1, 1.0]))
        return huber(made_by(condal.Huber, c0, delta), F, c0, delta, weight)
    if kind == "Logistic":
        labels = rng.choice([-1.0, 1.0], m)
        return Cost(
            kind,
            made_by(condal.Logistic, labels),
            lambda z: weight * float(np.logaddexp(0.0, -labels * (F @ z)).sum()),
            lambda x: weight * cp.sum(cp.logistic(cp.multiply(-labels, F @ x))),
        )
    if kind == "Poisson":
        counts, back = rng.integers(0, 5, m).astype(float), float(rng.choice([0.1, 1.0]))

        def poisson(u: np.ndarray) -> float:
            rate = np.maximum(u, -0.5 * back) + back
            return float((u + back - counts - counts * np.log(rate)).sum() + logs)

        some = counts > 0
        logs = float(counts[some] @ np.log(counts[some]))
        return Cost(
            kind,
            made_by(condal.Poisson, counts, back),
            lambda z: weight * poisson(F @ z),
            lambda x: (
                weight
                * (
                    cp.sum(F @ x + back - counts)
                    + logs
                    - (counts[some] @ cp.log(F[some] @ x + back) if some.any() else 0)
                )
            ),
        )

    def made(c: float, s: float) -> Any:
        """log sum exp of the images."""
        L = c * weight * np.linalg.norm(F / s, 2) ** 2

        def gradient(u: np.ndarray) -> np.ndarray:
            e = np.exp(u - u.max())
            return c * weight * e / e.sum()

        def value(u: np.ndarray) -> float:
            return c * weight * (float(u.max()) + float(np.log(np.exp(u - u.max()).sum())))

        return condal.Function(value, gradient, L=L, M=F / s)

    return Cost(
        kind,
        made,
        lambda z: weight * float(np.logaddexp.reduce(F @ z)),
        lambda x: weight * cp.log_sum_exp(F @ x),
    )


def _quadratic(kind: str, F: np.ndarray, rng) -> Cost:
    n = F.shape[1]
    c0 = rng.standard_normal(n) * float(rng.choice([0.0, 1.0, 5.0]))
    d = rng.random(n) * float(rng.choice([0.0, 1.0]))
    Q = F.T @ F + np.diag(d)

    def value(z: np.ndarray) -> float:
        return 0.5 * float(np.sum((F @ z) ** 2) + d @ z**2) + float(c0 @ z)

    def rival(x: Any) -> Any:
        weighted = cp.multiply(np.sqrt(d), x)
        return 0.5 * (cp.sum_squares(F @ x) + cp.sum_squares(weighted)) + c0 @ x

    if kind == "Quadratic":
        return Cost(kind, lambda c, s: condal.Quadratic(Q / s**2, c0 / s, c), value, rival)
    return Cost(
        kind, lambda c, s: condal.FactoredQuadratic(F / s, d / s**2, c0 / s, c), value, rival
    )

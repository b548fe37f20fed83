"""Planted problems in pairs, one with and one without strict complementarity.

A pair shares x*, A and K. x* solves the problem with the multiplier y* if the slack
Z = grad f(x*) + A'y* - mu I is psd (nonnegative, for vectors) and Z x* = 0. Complementarity is
strict if rank x* + rank Z = n, and y* is not 0 at any active bound. The twin lacks it: `DEFICIT`
eigenvalues of Z are 0, or a third of the active bounds have multipliers 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import null_space

from condal.domains import NuclearBall, Simplex, Spectrahedron
from condal.linalg.points import Array
from condal.maps import Diagonal, Inner, Matrix
from condal.problem import Problem
from condal.sets import Box, Equal
from condal.smooth import Linear, Quadratic
from condal_lab.experiments.guarantees import PlantedProblem

SIDES = {1: 12, 2: 18, 3: 24}  # by rank of x*
DEFICIT = 2
SEED = 2019


@dataclass(frozen=True, eq=False)
class RateInstance:
    """A planted problem, its slack Z, and an orthonormal basis of the range of a matrix x*.

    The matrices of a nuclear ball are lifted to psd ones, and so are x* and Z.
    """

    kind: str
    rank: int
    strict: bool
    truth: PlantedProblem
    slack: Array
    face: Array | None

    @property
    def name(self) -> str:
        """The name of the pair."""
        return f"{self.kind} {SIDES[self.rank]}"


def rate_instances(ranks: tuple[int, ...] = tuple(SIDES)) -> list[RateInstance]:
    """Build the pairs: every kind for every rank, with and without strict complementarity."""
    return [
        build(rank, strict, np.random.default_rng([SEED, number, rank]))
        for (number, build), rank, strict in product(enumerate(KINDS), ranks, (True, False))
    ]


def _diagonal(rank: int, strict: bool, rng: np.random.Generator) -> RateInstance:
    """Fix the diagonal, as max-cut does; the multiples of 1 in y act on nothing but the trace."""
    R = _unit_rows(rng, rank)
    n = len(R)
    y = rng.standard_normal(n)
    Z = _slack(R, strict, rng)
    return _psd("diagonal", strict, R, Z, Diagonal(n), Equal(np.ones(n)), y - y.mean())


def _box(rank: int, strict: bool, rng: np.random.Generator) -> RateInstance:
    """Bound the diagonal from above; every second bound is active."""
    R = _unit_rows(rng, rank)
    n = len(R)
    R[::2] *= 0.7
    y = rng.uniform(0.5, 2.0, n)
    y[::2] = 0.0
    if not strict:
        y[1::6] = 0.0
    Z = _slack(R, True, rng)
    return _psd("box", strict, R, Z, Diagonal(n), Box(np.zeros(n), np.ones(n)), y)


def _inner(rank: int, strict: bool, rng: np.random.Generator) -> RateInstance:
    """Fix inner products with random symmetric matrices."""
    R = _unit_rows(rng, rank)
    n = len(R)
    Z = _slack(R, strict, rng)
    rows = [B + B.T for B in rng.standard_normal((2 * n // 3, n, n))]
    return _psd("inner", strict, R, Z, *_fixed(rows, R @ R.T), rng.standard_normal(len(rows)))


def _nuclear(rank: int, strict: bool, rng: np.random.Generator) -> RateInstance:
    """Fix inner products of a rectangular matrix of bounded nuclear norm."""
    side = SIDES[rank] // 2
    U, V = _orthogonal(rng, side), _orthogonal(rng, side)
    weights = rng.uniform(0.5, 1.5, rank)
    values = np.concatenate([np.ones(rank), rng.uniform(0.0, 0.75, side - rank)])
    if not strict:
        values[rank : rank + DEFICIT] = 1.0
    R = np.vstack([U[:, :rank], V[:, :rank]]) * np.sqrt(weights)
    Z = 0.5 * np.eye(2 * side) - _lifted((U * values) @ V.T)
    rows = [_lifted(B) for B in rng.standard_normal((4 * side // 3, side, side))]
    y = rng.standard_normal(len(rows))
    X = NuclearBall(side, side, float(weights.sum()))
    return _psd("nuclear", strict, R, Z, *_fixed(rows, R @ R.T), y, X, mu=-0.5)


def _simplex(rank: int, strict: bool, rng: np.random.Generator) -> RateInstance:
    """Minimise a strongly convex quadratic over a simplex with equations; half of x* is 0."""
    n = SIDES[rank]
    support = n // 2
    x = np.concatenate([rng.uniform(0.5, 1.5, support), np.zeros(n - support)])
    x /= x.sum()
    z = np.concatenate([np.zeros(support), rng.uniform(0.5, 2.0, n - support)])
    if not strict:
        z[support : support + DEFICIT] = 0.0
    B = rng.standard_normal((2 * n, n))
    Q = B.T @ B / n
    rows = rng.standard_normal((n // 4, n))
    y = rng.standard_normal(len(rows))
    c = z - rows.T @ y - Q @ x
    problem = Problem.of(f=Quadratic(Q, c), X=Simplex(n), A=Matrix(rows), K=Equal(rows @ x))
    optimum = float(x @ (0.5 * (Q @ x) + c))
    return RateInstance(
        "simplex", rank, strict, PlantedProblem(problem, optimum, x, y), z, face=None
    )


KINDS: tuple[Callable[[int, bool, np.random.Generator], RateInstance], ...] = (
    _diagonal,
    _box,
    _inner,
    _nuclear,
    _simplex,
)


def _psd(
    kind: str,
    strict: bool,
    R: Array,
    Z: Array,
    A: Any,
    K: Any,
    y: Array,
    X: Any = None,
    *,
    mu: float = 0.0,
) -> RateInstance:
    """Plant x* = R R' and the slack Z: the cost is C = Z + mu I - A'y*."""
    n, rank = R.shape
    x = R @ R.T
    C = Z + mu * np.eye(n) - A.adjoint(y).to_dense()
    C = 0.5 * (C + C.T)
    problem = Problem.of(
        f=Linear(C), X=Spectrahedron(n, trace=float(np.trace(x))) if X is None else X, A=A, K=K
    )
    truth = PlantedProblem(problem, float(np.sum(C * x)), x, y)
    return RateInstance(kind, rank, strict, truth, Z, np.linalg.qr(R)[0])


def _slack(R: Array, strict: bool, rng: np.random.Generator) -> Array:
    """Return a psd Z with Z R = 0, of the largest rank if complementarity is strict."""
    N = null_space(R.T)
    # The basis of SciPy is sparse for an R of signs, and x* of the twin would not be unique.
    N = N @ _orthogonal(rng, N.shape[1])
    values = rng.uniform(0.5, 2.0, N.shape[1])
    if not strict:
        values[:DEFICIT] = 0.0
    return np.asarray((N * values) @ N.T)


def _orthogonal(rng: np.random.Generator, n: int) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((n, n)))[0])


def _unit_rows(rng: np.random.Generator, rank: int) -> Array:
    R = rng.standard_normal((SIDES[rank], rank))
    return np.asarray(R / np.linalg.norm(R, axis=1)[:, None])


def _fixed(rows: list[Array], x: Array) -> tuple[Inner, Equal]:
    """Return the inner products with the rows, scaled to norm 1, and their values at x."""
    A = Inner([row / np.linalg.norm(row) for row in rows])
    return A, Equal(A(x))


def _lifted(B: Array) -> Array:
    """Return the symmetric matrix of <B, x>."""
    return 0.5 * np.block([[np.zeros((B.shape[0],) * 2), B], [B.T, np.zeros((B.shape[1],) * 2)]])

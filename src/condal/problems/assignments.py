"""X = {x psd, n^2 x n^2 : tr x = n, x u = 0 for u in N}, a face of the spectrahedron.

N holds the vectors e_i (x) 1 - e_j (x) 1 and 1 (x) e_p - 1 (x) e_q. Every permutation matrix,
written as a vector z with n^2 entries (i, p), is orthogonal to N, and so is every mean x of the
z z'. The program over the face has interior points; over all x it has none (Zhao, Karisch, Rendl
and Wolkowicz 1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from condal.domains.spectral import Spectrahedron
from condal.linalg.gradients import Gradient
from condal.linalg.points import Array, LowRank, Point, dense
from condal.linalg.rounding import Proof, gamma
from condal.linalg.symmetric import Symmetric

MAX_DENSE_SIDE = 2000  # n^2 up to which V'v V is formed explicitly


@dataclass(frozen=True)
class Assignments:
    """The face for permutations of n: x = V R V' with R psd of side (n - 1)^2 + 1, V'V = I.

    V consists of columns of Q (x) Q, Q orthogonal with Q e_1 = 1/sqrt(n): the first, and those with
    neither factor e_1. It is applied by products with Q.
    """

    side: int

    at_most = False

    @property
    def n(self) -> int:
        """The side n^2 of x."""
        return self.side**2

    @property
    def trace(self) -> float:
        return float(self.side)

    @cached_property
    def _inner(self) -> Spectrahedron:
        return Spectrahedron((self.side - 1) ** 2 + 1, self.trace)

    @property
    def diameter(self) -> float:
        return self._inner.diameter

    @property
    def max_norm(self) -> float:
        return self.trace

    @cached_property
    def _Q(self) -> Array:
        """The reflection that maps e_1 to 1/sqrt(n)."""
        w = np.full(self.side, self.side**-0.5)
        w[0] -= 1.0
        length = float(w @ w)
        return np.eye(self.side) - (np.multiply.outer(w, w) * (2 / length) if length > 0 else 0.0)

    @cached_property
    def _in_face(self) -> Any:
        """Which columns of Q (x) Q belong to V."""
        first = np.arange(self.side) == 0
        return (first[:, None] == first).ravel()

    def _turned(self, U: Array) -> Array:
        """(Q (x) Q) U; Q is symmetric."""
        n, columns = self.side, U.shape[1]
        half = self._Q @ U.reshape(n, n * columns)
        return np.asarray((self._Q @ half.reshape(n, n, columns)).reshape(n * n, columns))

    def lifted(self, U: Array) -> Array:
        """V U."""
        whole = np.zeros((self.n, U.shape[1]))
        whole[self._in_face] = U
        return self._turned(whole)

    def lowered(self, U: Array) -> Array:
        """V'U."""
        return self._turned(U)[self._in_face]

    def on_face(self, v: Gradient) -> Symmetric:
        """V'v V: formed explicitly where it is small, else applied by products."""
        assert isinstance(v, Symmetric)
        r = self._inner.n
        if self.n > MAX_DENSE_SIDE:
            return Symmetric(r, operators=(_OnFace(self, v),))
        W = self.lowered(self.lowered(v.to_dense()).T)
        return Symmetric(r, dense=0.5 * (W + W.T))

    def lmo(self, v: Gradient, tol: float = 0.0, guess: Point | None = None) -> LowRank:
        """n V u u' V', u an eigenvector of the smallest eigenvalue of V'v V."""
        return self._out(self._inner.lmo(self.on_face(v), tol, self._in(guess)))

    def lowest(
        self, v: Gradient, count: int, tol: float, *, beside: Array | None = None
    ) -> tuple[Array, Array]:
        near = None if beside is None else self.lowered(beside)
        values, vectors = self._inner.lowest(self.on_face(v), count, tol, beside=near)
        return values, self.lifted(vectors)

    def project(self, v: Array, guess: Point | None = None, *, tol: float = 0.0) -> LowRank:
        W = self.lowered(self.lowered(v).T)
        return self._out(self._inner.project(0.5 * (W + W.T), self._in(guess), tol=tol))

    def bound(
        self, v: Gradient, *, slack: float, failure: float, seed: int, enough: float = inf
    ) -> Proof:
        """The proof for V'v V, lowered by a bound on the rounding errors of V'v V."""
        assert isinstance(v, Symmetric)
        inner = self.on_face(v)
        lost = 0.0
        if not inner.operators:
            # Rounding in the sum of the terms of v, and in four products with Q, whose entries
            # have a few roundings each: below gamma(64 n^2) |v|_F in total.
            size = 2.0 * float(np.linalg.norm(v.to_dense()))
            lost = self.trace * (v.assembly_error() + gamma(64 * self.n) * size)
        proof = self._inner.bound(
            inner, slack=slack, failure=failure, seed=seed, enough=enough + lost
        )
        return Proof(proof.value - lost, proof.how, proof.failure)

    def distance(self, x: Point) -> float:
        """The distance to the spectrahedron, plus a bound on the part off the face."""
        assert not isinstance(x, tuple)
        outer = Spectrahedron(self.n, self.trace).distance(x)
        U = x.factor() if isinstance(x, LowRank) else dense(x)
        lost = float(np.linalg.norm(self._turned(U)[~self._in_face]))
        # Let R have a part of norm `lost` off the face. Removing it changes R R' by at most
        # 2 |R| lost + lost^2, and the trace by lost^2. For x itself the changes are 2 lost, and
        # at most n lost for the trace.
        share = 4 * float(np.linalg.norm(U)) if isinstance(x, LowRank) else 2.0 + self.side
        return outer + share * lost

    def check(self, v: Gradient, name: str) -> None:
        Spectrahedron(self.n, self.trace).check(v, name)

    def _in(self, x: Point | None) -> Point | None:
        return LowRank(self.lowered(x.U), x.weights) if isinstance(x, LowRank) else None

    def _out(self, x: LowRank) -> LowRank:
        return LowRank(self.lifted(x.U), x.weights)


class _OnFace(LinearOperator):
    """V'v V by products."""

    def __init__(self, X: Assignments, v: Symmetric) -> None:
        r = (X.side - 1) ** 2 + 1
        super().__init__(np.float64, (r, r))
        self.X, self.v = X, v

    def _matmat(self, U: Array) -> Array:
        return self.X.lowered(self.v @ self.X.lifted(U))

    def _matvec(self, u: Array) -> Array:
        return self._matmat(np.reshape(u, (-1, 1)))[:, 0]

"""The face of the psd cone that holds all feasible x: rows <v v', x> = 0 say that x v = 0.

With such a row no feasible x is positive definite, and its multiplier grows without limit. On the
face it is satisfied exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from condal.linalg.gradients import Gradient, SquareRows, dot
from condal.linalg.points import Array, Indices, LowRank, Point
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.types import Domain, Lifted, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

SQUARE = 1e-12  # relative error of a row v v'
DEPENDENT = 1e-8  # of the largest singular value of the v: smaller ones belong to dependent v
MAX_NULL_VECTORS = 20  # each is a dense vector that x is orthogonal to
LEAST_COST = 3e-8  # of |S v|: the cost of an equation <v v', x> = 0


@dataclass(frozen=True, eq=False)
class Face:
    """{x psd : x v = 0 for all v}.

    `rows` are the rows <v v', .> of A, `basis` has orthonormal columns that span the v, and
    `spanned` is the smallest eigenvalue of the sum of the v v' on their span.
    """

    rows: Indices
    basis: Array
    spanned: float

    @classmethod
    def of(cls, problem: Problem) -> Face | None:
        """Return the face of the feasible points of a problem; None if no row tells one."""
        from condal.methods.surface.equations import coordinate_bounds

        X = problem.X
        if not isinstance(X, Spectral) or isinstance(X, Lifted):
            return None
        A = SquareRows.of(problem.A)
        if A is None or A.matrix.shape[1] != X.n**2:  # as where the rows are on many ranks
            return None
        bounds = coordinate_bounds(problem.h)
        if bounds is None:
            return None
        zero = np.flatnonzero((bounds[0] == 0) & (bounds[1] == 0))
        return cls.in_rows(A, zero, X.n) if zero.size else None

    @classmethod
    def in_rows(cls, A: SquareRows, rows: Indices, n: int) -> Face | None:
        """Return the face of equations <A_i, x> = 0, for the i of which A_i is a square v v'."""
        squares, vectors = _squares_in(A.matrix, rows, n)
        positive = np.isin(A.squares, rows) & (A.c > 0)
        squares += A.squares[positive].tolist()
        vectors += list((A.vectors[:, positive] * np.sqrt(A.c[positive])).T)
        if not squares or len(squares) > MAX_NULL_VECTORS:
            return None
        axes, sizes, _ = np.linalg.svd(np.array(vectors).T, full_matrices=False)
        large = sizes > DEPENDENT * sizes[0]
        return cls(np.array(squares), axes[:, large], float(sizes[large].min() ** 2))

    def lmo(
        self, X: Domain, v: Gradient, tol: float, guess: Point | None
    ) -> tuple[LowRank, float, float]:
        """Return the vertex of X on the face that minimises <v, .>, within tol.

        With it come the multiplier of the rows for which the minimum over all of X is lower by at
        most a cost, and that cost.
        """
        S, Q = v, self.basis
        assert isinstance(X, Spectral)
        assert isinstance(S, Symmetric)
        near = guess.U[:, 0] if isinstance(guess, LowRank) and guess.rank else np.ones(X.n)
        near = near - Q @ (Q.T @ near)
        above = abs(float(near @ (S @ near))) / max(float(near @ near), TINY)
        s = X.lmo(lifted(S, Q, 2 * above), tol, guess)
        assert isinstance(s, LowRank)
        U = s.U - Q @ (Q.T @ s.U)
        s = LowRank(U / np.maximum(np.linalg.norm(U, axis=0), TINY), s.weights)
        multiplier, cost = self.multiplier(S, dot(S, s) / X.trace, tol / X.trace)
        return s, multiplier, X.trace * cost

    def multiplier(self, S: Symmetric, least: float, tol: float) -> tuple[float, float]:
        """Return the multiplier of the rows, and what it costs.

        Orthogonal to the v, S has the smallest eigenvalue `least`. A multiple of Q Q', with Q the
        basis, of |S Q|^2 / cost + |S Q| + |least| lowers it by at most the cost. A larger multiple
        is no better, because the rounding of S grows with it.
        """
        size = float(np.linalg.norm(S @ self.basis))
        cost = max(tol, LEAST_COST * size, TINY)
        return (size**2 / cost + size + abs(least)) / self.spanned, cost


def lifted(S: Symmetric, axes: Array, lift: float) -> Symmetric:
    """Return P S P + t (I - P), P the projection off orthonormal axes, t above S on them by lift.

    It is symmetric also along the axes. Rounding leads Lanczos there, and a product that is right
    on the complement alone would be amplified. For axes q with q'Sq = m that S does not couple, and
    e = P S q, the change of S is the sum of c (q - e/c)(q - e/c)' - ee'/c with c = t - m.
    """
    images = S @ axes
    inside = axes.T @ images
    m, turned = np.linalg.eigh(0.5 * (inside + inside.T))
    axes, images = axes @ turned, images @ turned
    outside = images - axes * m
    t = m.max(initial=0.0) + np.linalg.norm(outside) + lift
    c = np.maximum(t - m, TINY)
    vectors = np.ascontiguousarray(np.hstack([axes - outside / c, outside]).T)
    return S + Symmetric(S.n, grams=[(vectors, np.concatenate([c, -1.0 / c]))])


def _squares_in(A: Any, rows: Indices, n: int) -> tuple[list[int], list[Array]]:
    """The rows of a sparse A among the given ones that are squares v v', and the v."""
    squares, vectors = [], []
    diagonal = A.indices % (n + 1) == 0
    owner = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    width = np.bincount(owner[diagonal], minlength=A.shape[0])
    square = (width > 0) & (np.diff(A.indptr) == width.astype(np.int64) ** 2)
    for i in rows[square[rows]]:
        entries = slice(A.indptr[i], A.indptr[i + 1])
        a, b = np.divmod(A.indices[entries].astype(np.int64), n)
        first, data = int(a.min()), A.data[entries]
        corner = float(data[(a == first) & (b == first)].sum())
        v = np.zeros(n)
        if corner <= 0:
            continue
        v[b[a == first]] = data[a == first] / np.sqrt(corner)
        if np.abs(v[a] * v[b] - data).max() <= SQUARE * np.abs(data).max():
            squares.append(int(i))
            vectors.append(v)
    return squares, vectors

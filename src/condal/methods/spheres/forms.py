"""Semidefinite programs as programs over vectors on spheres, and the way back for x and y.

Two kinds of program have such a form:

* `FixedDiagonal`: diag x = d and bounds on single entries, for a sparse C. Then x_ij = <r_i, r_j>
  with |r_i|^2 = d_i.
* `ZeroEntries`: min -g <c c', x>, tr x = t, and entries of x that are 0, such as Lovasz's theta.
  Nothing but the trace fixes the scale of a vector here, so each may be scaled by itself:

      max sum_i c_i^2 |r_i|^2,   |r_i|^2 = <e, r_i>,   <r_i, r_j> = 0 for the entries,

  with a unit vector e, has the same optimum (Groetschel, Lovasz and Schrijver 1986). x is made of
  the vectors c_i r_i, scaled to the trace: |sum_i c_i^2 r_i|^2 >= (sum_i c_i^2 |r_i|^2)^2, so the
  objective of x is not smaller. The dual has multipliers mu_i, z_ij and a bound s with

      [ s, -q' ; -q, Diag(mu) + Z ] psd,   q_i = (mu_i + c_i^2) / 2.

  By its Schur complement s (Diag(mu) + Z) - q q' is psd. Scaled by D = Diag(c_i / q_i) on both
  sides, and because mu_i c_i^2 <= q_i^2, so is s I + s D Z D - c c'. This is the dual of the
  original program, with the same bound s: y is s D Z D, entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from condal.linalg.gradients import SquareRows
from condal.linalg.points import Array, Indices, LowRank, principal_axes, total_rows
from condal.linalg.rounding import TINY
from condal.linalg.symmetric import Symmetric
from condal.methods.spheres.program import EntryMap, Pairs, VectorProgram, WholePairs
from condal.methods.surface.equations import coordinate_bounds
from condal.types import Lifted, Spectral

if TYPE_CHECKING:
    from condal.problem import Problem

PARALLEL = 1e-14  # relative difference of the two vectors of a term c c'
LEAST_MULTIPLIER = 1e-3  # of c_i^2: mu_i counts as this at least


class SphereForm(Protocol):
    """A problem as a program over vectors on spheres."""

    @property
    def program(self) -> VectorProgram:
        """The program."""

    def point(self, R: Array) -> LowRank:
        """Return the x of vectors R, which it may overwrite."""

    def dual(self, R: Array, w: Array, mu: Array) -> Array:
        """Return the dual of multipliers w of the pairs and mu of the spheres."""

    def vectors(self, x: Any) -> Array:
        """Return vectors whose point is near x."""

    def pair_multipliers(self, x: Any, y: Array) -> Array:
        """Return the multipliers of the pairs of a dual y, near an optimal x."""


@runtime_checkable
class RankOneTerm(Protocol):
    """A term g c c' of a symmetric operator."""

    def rank_one(self) -> tuple[float, Array]:
        """Return g and c."""


def form_of(problem: Problem) -> SphereForm | None:
    """Return the form of a problem; None if it has none."""
    X = problem.X
    spectral = isinstance(X, Spectral) and not isinstance(X, Lifted)
    if not spectral or problem.f.L > 0 or problem.A.size == 0:
        return None
    C = problem.f.M.adjoint(problem.f.gradient(np.zeros(problem.f.M.size)))
    if not isinstance(C, Symmetric):
        return None
    vector = _rank_one(C)
    if vector is None and not C.factorable:
        return None
    bounds = coordinate_bounds(problem.h)
    if bounds is None:
        return None
    if isinstance(problem.A, EntryMap):
        return ZeroEntries.of(problem, vector, *problem.A.entry_pairs(), bounds)
    entries = _Entries.of(problem)
    if entries is None:
        return None
    if vector is None:
        return FixedDiagonal.of(problem, C, entries, bounds)
    if (entries.rows == entries.cols).any():
        return None
    pairs = WholePairs(vector[1].size, entries.rows, entries.cols)
    return ZeroEntries.of(problem, vector, pairs, entries.factors, bounds)


@dataclass(frozen=True, eq=False)
class _Entries:
    """A x = factors * x[rows, cols], rows <= cols."""

    rows: Indices
    cols: Indices
    factors: Array

    @classmethod
    def of(cls, problem: Problem) -> _Entries | None:
        """Return the entries that A reads; None if a row reads several."""
        X, split = problem.X, SquareRows.of(problem.A)
        assert isinstance(X, Spectral)
        if split is None or split.squares.size or split.matrix.shape[1] != X.n**2:
            return None
        A = split.matrix
        counts = np.diff(A.indptr)
        if not np.isin(counts, (1, 2)).all():
            return None
        first, last = A.indices[A.indptr[:-1]], A.indices[A.indptr[1:] - 1]
        rows, cols = np.divmod(np.minimum(first, last), X.n)
        single = counts == 1
        mirrored = (first == last) == single
        mirrored &= np.where(single, rows == cols, np.maximum(first, last) == cols * X.n + rows)
        if not mirrored.all():
            return None
        factors = np.add.reduceat(A.data, A.indptr[:-1])
        return None if not factors.all() else cls(rows, cols, factors)


@dataclass(frozen=True, eq=False)
class ZeroEntries:
    """min -gain <c c', x>, tr x = trace, x_ij = 0 for some pairs."""

    c: Array
    gain: float
    trace: float
    pairs: Pairs
    factors: Array

    @classmethod
    def of(
        cls,
        problem: Problem,
        vector: tuple[float, Array] | None,
        pairs: Pairs,
        factors: Array,
        bounds: tuple[Array, Array],
    ) -> ZeroEntries | None:
        """Return the form; None if C is not -g c c', an entry is bounded otherwise, or the trace is
        not fixed."""
        X = problem.X
        assert isinstance(X, Spectral)
        nonzero = bounds[0].any() or bounds[1].any()
        if vector is None or vector[0] >= 0 or nonzero or X.at_most:
            return None
        return cls(vector[1], -vector[0], X.trace, pairs, factors)

    @cached_property
    def _mean(self) -> float:
        """The mean of the c_i^2, the unit of the program."""
        return float(self.c @ self.c) / total_rows(self.c)

    @cached_property
    def _squares(self) -> Array:
        return self.c**2 / self._mean

    @cached_property
    def program(self) -> VectorProgram:
        zeros, half = np.zeros_like(self.factors), np.full_like(self.c, 0.5)
        n, linear = total_rows(self.c), -self._squares
        return VectorProgram(n, self.pairs, zeros, zeros, zeros, linear, half, 0.5)

    def point(self, R: Array) -> LowRank:
        U = R
        U *= self.c[:, None]  # in place: R may take most of the memory
        U /= max(float(np.linalg.norm(U)), TINY)
        return LowRank(U, np.full(U.shape[1], self.trace))

    def dual(self, R: Array, w: Array, mu: Array) -> Array:
        optimum = float(self.c**2 @ R[:, 0].astype(np.float64))  # <e, r_i> = |r_i|^2
        squares = self._squares
        mu = np.maximum(mu, LEAST_MULTIPLIER * squares)
        q = 0.5 * self._mean * (mu + squares)
        scale = np.where(q > 0, self.c / np.where(q > 0, q, 1.0), 0.0)
        (mu_a, mu_b), (scale_a, scale_b) = self.pairs.ends(mu), self.pairs.ends(scale)
        most = np.sqrt(mu_a * mu_b)  # or a block of two rows has a negative eigenvalue
        w = np.minimum(np.maximum(w, -most), most)
        slack: Array = 2 * self.gain * optimum * self._mean * w * scale_a * scale_b
        return slack / self.factors

    def vectors(self, x: Any) -> Array:
        U = _factor(x)
        axis = self.c @ U
        size = float(np.linalg.norm(axis))
        U = _turned(U, axis / size) if size > 0 else U
        lengths = np.einsum("ij,ij->i", U, U)
        scale = np.divide(U[:, 0], lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return np.asarray(scale[:, None] * U)

    def pair_multipliers(self, x: Any, y: Array) -> Array:
        axis = self.c @ _factor(x)
        optimum = max(float(axis @ axis) / self.trace, TINY)
        c_a, c_b = self.pairs.ends(self.c)
        scale = c_a * c_b / (2 * self.gain * optimum * self._mean)
        z: Array = y * self.factors * scale
        return z


@dataclass(frozen=True, eq=False)
class FixedDiagonal:
    """min <C, x>, diag x = d, and bounds on some entries of x."""

    diagonal: Array  # of C
    d: Array
    on_diagonal: Indices  # the row of A that fixes each x_ii
    bounded: Indices  # the other rows of A,
    places: Indices  # and their pairs
    factors: Array
    program: VectorProgram

    @classmethod
    def of(
        cls, problem: Problem, C: Symmetric, entries: _Entries, bounds: tuple[Array, Array]
    ) -> FixedDiagonal | None:
        """Return the form; None unless the whole diagonal is fixed and no entry is read twice."""
        X, (low, high) = problem.X, bounds
        assert isinstance(X, Spectral)
        n, fixes = X.n, entries.rows == entries.cols
        if np.count_nonzero(fixes) != n or np.unique(entries.rows[fixes]).size != n:
            return None
        on_diagonal = np.flatnonzero(fixes)[np.argsort(entries.rows[fixes])]
        d = low[on_diagonal] / entries.factors[on_diagonal]
        if not (low[on_diagonal] == high[on_diagonal]).all() or not (d > 0).all():
            return None
        if abs(float(d.sum()) / X.trace - 1.0) > 1e-9:
            return None
        stored = sp.coo_array(C.to_sparse())
        above = stored.row < stored.col
        keys = stored.row[above].astype(np.int64) * n + stored.col[above]
        bounded = np.flatnonzero(~fixes)
        read = entries.rows[bounded] * n + entries.cols[bounded]
        if np.unique(read).size != read.size:
            return None
        every = np.unique(np.concatenate([keys, read]))
        places, factors = np.searchsorted(every, read), entries.factors
        cost = np.zeros(every.size)
        cost += np.bincount(np.searchsorted(every, keys), stored.data[above], every.size)
        limits = low[bounded] / factors[bounded], high[bounded] / factors[bounded]
        lower, upper = np.full(every.size, -np.inf), np.full(every.size, np.inf)
        lower[places], upper[places] = np.minimum(*limits), np.maximum(*limits)
        pairs, zeros = WholePairs(n, every // n, every % n), np.zeros(n)
        program = VectorProgram(n, pairs, cost, lower, upper, zeros, np.sqrt(d), 0.0)
        return cls(C.diag(), d, on_diagonal, bounded, places, factors, program)

    def point(self, R: Array) -> LowRank:
        return LowRank(R, np.ones(R.shape[1]))

    def dual(self, R: Array, w: Array, mu: Array) -> Array:
        y = np.empty(self.factors.size)
        y[self.on_diagonal] = (mu - self.diagonal) / self.factors[self.on_diagonal]
        y[self.bounded] = 2 * w[self.places] / self.factors[self.bounded]
        return y

    def vectors(self, x: Any) -> Array:
        U = _factor(x)
        lengths = np.sqrt(np.einsum("ij,ij->i", U, U))
        return np.asarray(U * (self.program.radius / np.where(lengths > 0, lengths, 1.0))[:, None])

    def pair_multipliers(self, x: Any, y: Array) -> Array:
        z = np.zeros(self.program.cost.size)
        z[self.places] = 0.5 * y[self.bounded] * self.factors[self.bounded]
        return z


def _rank_one(C: Symmetric) -> tuple[float, Array] | None:
    """Return g and c with C = g c c'; None if C is stored as anything else."""
    if len(C.terms) == 1 and isinstance(C.terms[0], RankOneTerm):
        return C.terms[0].rank_one()
    if len(C.terms) != 1 or len(C.pairs) != 1:
        return None
    a, b = C.pairs[0]
    place = int(np.argmax(np.abs(b)))
    weight = float(a[place] / b[place]) if b[place] else 0.0
    parallel = np.abs(a - weight * b).max() <= PARALLEL * abs(weight) * np.abs(b).max()
    return (weight, b) if parallel and weight else None


def _factor(x: Any) -> Array:
    """Return U with x = U U', the leading column first."""
    if isinstance(x, LowRank):
        return np.asarray(x.factor())
    axes, roots = principal_axes(x)
    return axes * roots


def _turned(U: Array, axis: Array) -> Array:
    """Return U, turned such that a unit vector becomes the first axis: a reflection."""
    v = axis.copy()
    v[0] -= 1.0
    square = float(v @ v)
    return U if square == 0.0 else np.asarray(U - np.outer(U @ v, (2.0 / square) * v))

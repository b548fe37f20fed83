"""Affine subspaces."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular

from condal.errors import ProblemError
from condal.linalg.norms import stable_norm
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import NEAR, norm_above, one_factor, written
from condal.linalg.roundoff import UNIT_ROUNDOFF, gamma
from condal.linalg.sparse import require_sound
from condal.runtime.arguments import finite_array
from condal.sets.projected import Projected
from condal.types import Proximable

ROUNDINGS = 16  # for each row and column: what a row is known to, and a row that others make up


class Affine(Projected):
    """K = {z : C z = d}, by one QR factorisation of C', dense; dependent rows are left out.

    A row is left out if the others make it up to within rounding, and K is empty if its d is then
    farther from theirs than that. `C` and `d` are what is kept, each row scaled by a power of 2 to
    a length near 1: it is no less of a row for being small.
    h* is finite on the range of C' alone: h*(C'u) = <d, u>.
    """

    separable = False
    fixed: Array | None = None
    lipschitz = inf

    def __init__(self, C: Any, d: Any) -> None:
        if sp.issparse(C):
            require_sound(C, "C")
            C = C.toarray()
        full = np.atleast_2d(finite_array(C, "C")).copy()
        if full.ndim != 2 or full.size == 0:
            raise ProblemError(f"C must be a matrix, at least 1 x 1; got shape {full.shape}")
        right = np.atleast_1d(finite_array(d, "d")).copy()
        if right.shape != (full.shape[0],):
            raise ProblemError(
                f"Affine: C has {full.shape[0]} rows, but d has shape {right.shape}: C z = d needs "
                "a number for each row"
            )
        places = _asking(full, right)
        exponents = _exponents(full[places])
        with np.errstate(over="ignore"):
            rows, goals = np.ldexp(full[places], -exponents[:, None]), right[places]
            goals = np.ldexp(goals, -exponents)
        if not np.all(np.isfinite(goals)):
            i = int(places[np.argmin(np.isfinite(goals))])
            raise ProblemError(
                f"Affine: row {i} of C is too small for d[{i}] = {right[i]:g}: z would be larger "
                "than any double"
            )
        Q, R, order = qr(rows.T, mode="economic", pivoting=True)
        rounding = ROUNDINGS * sum(rows.shape) * UNIT_ROUNDOFF
        rank = int(np.count_nonzero(np.abs(np.diagonal(R)) > rounding))
        kept, left = order[:rank], order[rank:]
        self.C: Array = rows[kept]
        self.d: Array = goals[kept]
        self._Q, self._R = Q[:, :rank], R[:rank, :rank]
        z = self.prox(np.zeros(rows.shape[1]), 1.0)
        # The rows that are left out are combinations of those that are kept.
        shares = np.abs(solve_triangular(self._R, R[:rank, rank:]))
        size = stable_norm(z)
        sizes = size + np.abs(goals[left]) + (size + np.abs(self.d)) @ shares
        wrong = np.abs(rows[left] @ z - goals[left]) > rounding * sizes
        if np.any(wrong):
            i = int(places[left[np.argmax(wrong)]])
            raise ProblemError(
                f"the subspace is empty: row {i} of C is a combination of others, which ask for "
                f"{full[i] @ z:g} where d[{i}] = {right[i]:g}"
            )

    @property
    def size(self) -> int:
        """The length of z."""
        return int(self.C.shape[1])

    @cached_property
    def pieces(self) -> Sequence[tuple[slice, Proximable]]:
        """The subspace as a whole."""
        return [(slice(0, self.size), self)]

    @cached_property
    def _place(self) -> Array:
        """Q'z, which is the same for all z in K."""
        return np.asarray(solve_triangular(self._R, self.d, trans="T"))

    def _normal(self, z: Array) -> Array:
        """z less its projection, in the basis Q of the range of C'."""
        return np.asarray(self._Q.T @ z - self._place)

    def prox(self, z: Array, t: float) -> Array:
        """z - Q (Q'z - R^-T d)."""
        return np.asarray(z - self._Q @ self._normal(z))

    def _coefficients(self, y: Array) -> Array:
        """u with C'u nearest to y."""
        return np.asarray(solve_triangular(self._R, self._Q.T @ y))

    def conjugate(self, y: Array) -> float:
        """<d, u> for y = C'u, up to rounding, else inf."""
        u = self._coefficients(y)
        near = NEAR * self._terms(y, u)
        return float(self.d @ u) if float(np.linalg.norm(y - u @ self.C)) <= near else inf

    def _terms(self, y: Array, u: Array) -> float:
        """The size of the terms of y - C'u: what its rounding is part of."""
        return float(np.linalg.norm(np.abs(u) @ np.abs(self.C) + np.abs(y)))

    def conjugate_abs_sum(self, y: Array) -> float:
        """<|d|, |u|>."""
        return float(np.abs(self.d) @ np.abs(self._coefficients(y)))

    def dual_error(self, y: Array) -> float:
        """|y - C'u|: no vector of doubles need be in the range of C', but C'u is."""
        u = self._coefficients(y)
        return norm_above(y - u @ self.C) + gamma(u.size + 2) * self._terms(y, u)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam Q (Q'z - R^-T d)."""
        return written(self.dual_point(lam * (self._Q @ self._normal(z))), out)

    def dual_point(self, y: Array) -> Array:
        """Q Q'y; y itself where that is no more than rounding away."""
        nearest = np.asarray(self._Q @ (self._Q.T @ y))
        rounding = gamma(2 * self.size + 16) * float(np.linalg.norm(y))
        return y if float(np.linalg.norm(y - nearest)) <= rounding else nearest

    def scaled(self, rows: Array, c: float) -> Affine:
        """C z = factor d, with the factorisation that there is."""
        found = copy(self)
        for known in ("pieces", "_place"):
            found.__dict__.pop(known, None)
        found.d = one_factor(rows, "Affine") * self.d
        return found


def _asking(C: Array, d: Array) -> Indices:
    """The rows of C that are not 0."""
    nothing = ~C.any(axis=1)
    if np.any(d[nothing]):
        i = int(np.argmax(nothing & (d != 0)))
        raise ProblemError(f"the subspace is empty: row {i} of C is 0, but d[{i}] = {d[i]:g}")
    if nothing.all():
        raise ProblemError("C is 0: it asks nothing of z, and needs no Affine")
    return np.flatnonzero(~nothing)


def _exponents(C: Array) -> Any:
    """e, with lengths of the rows between 2^(e - 1) and 2^e; their squares may overflow."""
    largest = np.frexp(np.abs(C).max(axis=1))[1]
    scaled = np.ldexp(C, -largest[:, None])
    return largest + np.frexp(np.sqrt(np.sum(scaled * scaled, axis=1)))[1]

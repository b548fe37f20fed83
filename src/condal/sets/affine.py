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
from condal.operators import gamma
from condal.points import Array, finite_array
from condal.rounding import NEAR, norm_above, one_factor, written
from condal.sets.projected import Projected
from condal.types import Proximable

DEPENDENT = 1e-10  # of the largest row: what is left of one that the others make up
CONSISTENT = 1e-9  # of the sizes of its terms: how far a dependent equation may be off


class Affine(Projected):
    """K = {z : C z = d}, by one QR factorisation of C', dense; dependent rows are left out.

    h* is finite on the range of C' alone: h*(C'u) = <d, u>.
    """

    separable = False
    fixed: Array | None = None
    lipschitz = inf

    def __init__(self, C: Any, d: Any) -> None:
        rows = C.toarray() if sp.issparse(C) else C
        full = np.atleast_2d(finite_array(rows, "C")).copy()
        if full.ndim != 2 or full.size == 0:
            raise ProblemError(f"C must be a matrix, at least 1 x 1; got shape {full.shape}")
        right = np.atleast_1d(finite_array(d, "d")).copy()
        if right.shape != (full.shape[0],):
            raise ProblemError(
                f"Affine: C has {full.shape[0]} rows, but d has shape {right.shape}: C z = d needs "
                "a number for each row"
            )
        Q, R, order = qr(full.T, mode="economic", pivoting=True)
        pivots = np.abs(np.diagonal(R))
        rank = int(np.count_nonzero(pivots > DEPENDENT * pivots[0]))
        if rank == 0:
            raise ProblemError("C is 0: it asks nothing of z, and needs no Affine")
        kept = order[:rank]
        self.C: Array = full[kept]
        self.d: Array = right[kept]
        self._Q, self._R = Q[:, :rank], R[:rank, :rank]
        self._refuse_contradictions(full, right)

    def _refuse_contradictions(self, C: Array, d: Array) -> None:
        z = self.prox(np.zeros(C.shape[1]), 1.0)
        missed = np.abs(C @ z - d)
        sizes = np.abs(C) @ np.abs(z) + np.abs(d)
        if np.any(missed > CONSISTENT * sizes):
            i = int(np.argmax(missed - CONSISTENT * sizes))
            raise ProblemError(
                f"the subspace is empty: row {i} of C is a combination of others, which ask for "
                f"{C[i] @ z:g} where d[{i}] = {d[i]:g}"
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

    def conjugate_size(self, y: Array) -> float:
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

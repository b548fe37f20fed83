"""Affine subspaces."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr, solve_triangular

from condal.errors import ProblemError
from condal.linalg.points import Array, Indices
from condal.linalg.rounding import (
    NEAR,
    UNIT_ROUNDOFF,
    gamma,
    norm_above,
    one_factor,
    stable_norm,
    written,
)
from condal.linalg.sparse import require_sound
from condal.runtime.arguments import finite_array
from condal.sets.defaults import Projected

ROUNDINGS = 16  # units of roundoff per row and column: below that, a row counts as dependent


class Affine(Projected):
    r"""The affine subspace :math:`K = \{z : C z = d\}`.

    The set is stored by one dense QR factorisation of :math:`C^\top`. A row is dropped if the
    others generate it up to rounding; K is empty if its :math:`d_i` then differs from theirs by
    more. The attributes `C` and `d` hold the remaining rows, each scaled by a power of 2 to a
    length near 1. The conjugate is finite only on the range of :math:`C^\top`, where
    :math:`h^*(C^\top u) = \langle d, u \rangle`.

    Parameters
    ----------
    C : array_like or sparse array of shape (r, m)
        The rows.
    d : array_like of shape (r,)
        The right-hand sides.

    Raises
    ------
    ProblemError
        If no z satisfies C z = d, or if C is 0.
    """

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
                "one number per row"
            )
        places = _nonzero_rows(full, right)
        with np.errstate(over="ignore", under="ignore"):
            exponents = _exponents(full[places])
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
        independent, dependent = order[:rank], order[rank:]
        self.C: Array = rows[independent]
        self.d: Array = goals[independent]
        self.size = int(self.C.shape[1])
        self._Q, self._R = Q[:, :rank], R[:rank, :rank]
        z = self.prox(np.zeros(rows.shape[1]), 1.0)
        # The dependent rows are combinations of the independent ones.
        shares = np.abs(solve_triangular(self._R, R[:rank, rank:]))
        size = stable_norm(z)
        sizes = size + np.abs(goals[dependent]) + (size + np.abs(self.d)) @ shares
        wrong = np.abs(rows[dependent] @ z - goals[dependent]) > rounding * sizes
        if np.any(wrong):
            i = int(places[dependent[np.argmax(wrong)]])
            raise ProblemError(
                f"the subspace is empty: row {i} of C is a combination of others, which ask for "
                f"{full[i] @ z:g} where d[{i}] = {right[i]:g}"
            )

    @cached_property
    def _coordinates(self) -> Array:
        """Q'z, which is the same for all z in K."""
        return np.asarray(solve_triangular(self._R, self.d, trans="T"))

    def _normal(self, z: Array) -> Array:
        """Return z minus its projection, in the basis Q of the range of C'."""
        return np.asarray(self._Q.T @ z - self._coordinates)

    def prox(self, z: Array, t: float) -> Array:
        """z - Q (Q'z - R^-T d)."""
        return np.asarray(z - self._Q @ self._normal(z))

    def _coefficients(self, y: Array) -> Array:
        """Return u with C'u nearest to y."""
        return np.asarray(solve_triangular(self._R, self._Q.T @ y))

    def conjugate(self, y: Array) -> float:
        """<d, u> for y = C'u, up to rounding, else inf."""
        u = self._coefficients(y)
        near = NEAR * self._terms(y, u)
        return float(self.d @ u) if stable_norm(y - u @ self.C) <= near else inf

    def _terms(self, y: Array, u: Array) -> float:
        """Return the size of the terms of y - C'u, which bounds its rounding."""
        return stable_norm(np.abs(u) @ np.abs(self.C) + np.abs(y))

    def conjugate_abs_sum(self, y: Array) -> float:
        return float(np.abs(self.d) @ np.abs(self._coefficients(y)))

    def dual_error(self, y: Array) -> float:
        """|y - C'u|: C'u is in the range of C', which may hold no vector of doubles."""
        u = self._coefficients(y)
        return norm_above(y - u @ self.C) + gamma(u.size + 2) * self._terms(y, u)

    def multiplier(self, z: Array, lam: float, out: Array | None = None) -> Array:
        """lam Q (Q'z - R^-T d)."""
        return written(self.dual_point(lam * (self._Q @ self._normal(z))), out)

    def dual_point(self, y: Array) -> Array:
        """Q Q'y; y itself if that is only rounding away."""
        nearest = np.asarray(self._Q @ (self._Q.T @ y))
        rounding = gamma(2 * self.size + 16) * stable_norm(y)
        return y if stable_norm(y - nearest) <= rounding else nearest

    def scaled(self, rows: Array, c: float) -> Affine:
        """C z = factor d, by the same factorisation."""
        twin = copy(self)
        for cached in ("pieces", "_coordinates"):
            twin.__dict__.pop(cached, None)
        twin.d = one_factor(rows, "Affine") * self.d
        return twin


def _nonzero_rows(C: Array, d: Array) -> Indices:
    """Return the indices of the rows of C that are not 0."""
    zero = ~C.any(axis=1)
    if np.any(d[zero]):
        i = int(np.argmax(zero & (d != 0)))
        raise ProblemError(f"the subspace is empty: row {i} of C is 0, but d[{i}] = {d[i]:g}")
    if zero.all():
        raise ProblemError("C is 0: it does not restrict z; leave the constraint out")
    return np.flatnonzero(~zero)


def _exponents(C: Array) -> Any:
    """Return e with row lengths between 2^(e - 1) and 2^e, although their squares may overflow."""
    largest = np.frexp(np.abs(C).max(axis=1))[1]
    scaled = np.ldexp(C, -largest[:, None])
    return largest + np.frexp(np.sqrt(np.sum(scaled * scaled, axis=1)))[1]

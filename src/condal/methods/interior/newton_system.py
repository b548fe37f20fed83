"""The equations of a Newton step: M dy + F dw = p and F'dy = q, with M = A H A' dense.

F are the columns of free variables. M gains a multiple of F F', which changes nothing where F'dy is
known, and makes M definite on rows that only free variables enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from condal.linalg.points import Array
from condal.methods.interior.cone_point import ConePoint

RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)  # on the unit diagonal, until the system has a factor


@dataclass(frozen=True, eq=False)
class NewtonSystem:
    """The Cholesky factor of M, scaled to a unit diagonal, and that of F'M^-1 F."""

    scale: Array
    factor: Array
    free: Any = None
    weight: float = 0.0
    reduced: Array | None = None

    @classmethod
    def of(cls, places: Sequence[ConePoint], m: int, free: Any = None) -> NewtonSystem | None:
        """Factor the system; None if it has no factor."""
        M = np.zeros((m, m))
        for place in places:
            place.add_to(M)
        weight = 0.0
        if free is not None:
            squares = (free @ free.T).toarray()
            weight = (float(np.trace(M)) or 1.0) / (float(np.trace(squares)) or 1.0)
            M += weight * squares
        diagonal = np.diagonal(M)
        scale = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        M *= scale[:, None] * scale
        factor = _cholesky(M)
        if factor is None:
            return None
        if free is None:
            return cls(scale, factor)
        half = scale[:, None] * free.toarray()
        if half.size:  # SciPy 1.10 refuses an empty system
            half = solve_triangular(factor, half, lower=True)
        reduced = _cholesky(half.T @ half)
        return None if reduced is None else cls(scale, factor, free, weight, reduced)

    def solved(self, p: Array) -> Array:
        """Return M^-1 p."""
        return self.scale * _solved(self.factor, self.scale * p)

    def solved_with_free(self, p: Array, q: Array) -> tuple[Array, Array]:
        """Return dy and dw."""
        if self.free is None or self.reduced is None:
            return self.solved(p), q
        p = p + self.weight * (self.free @ q)
        dy = self.solved(p)
        right = self.free.T @ dy - q
        dw = _solved(self.reduced, right)
        return self.solved(p - self.free @ dw), dw


def _solved(factor: Array, p: Array) -> Array:
    """M^-1 p, given the lower factor of M."""
    return np.asarray(dpotrs(factor, p, lower=1)[0]) if p.size else p  # LAPACK takes no empty p


def _cholesky(M: Array) -> Array | None:
    """The lower factor of M, whose diagonal gains a ridge where it needs one.

    A row or a free column without entries leaves a 0 there, and 1 in its place leaves it alone.
    """
    if not np.isfinite(M).all():
        return None
    diagonal = np.diagonal(M)
    diagonal = np.where(diagonal > 0, diagonal, 1.0)
    for ridge in RIDGES:
        M[np.diag_indices(len(M))] = (1.0 + ridge) * diagonal
        factor, failed = dpotrf(M.T, lower=1, clean=0)  # M is symmetric: no copy in its order
        if not failed:
            return np.asarray(factor)
    return None

"""The equations of a Newton step: M dy + F dw = p and F'dy = q, with M = A H A' dense.

F are the columns of free variables. M gains a multiple of F F', which changes nothing where F'dy is
known, and makes M definite on rows that only free variables enter. `Newton` gives the directions of
the embedding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from condal.linalg.points import Array
from condal.linalg.rounding import stable_norm
from condal.methods.interior.standard import ConePoint, Step

if TYPE_CHECKING:
    from condal.methods.interior.embedding import Embedded

MAX_REFINEMENTS = 3  # of a direction
DIRECTION_ERROR = 1e-2  # of the residual: the accepted error of a direction
DIRECTION_ROUNDING = 1e-15
RIDGES = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)  # on the unit diagonal, until the system has a factor


@dataclass(frozen=True, eq=False)
class NewtonSystem:
    """The Cholesky factor of M, scaled to a unit diagonal, and that of F'M^-1 F.

    The last rows, whose part of M is diagonal, are eliminated: `beside` joins them to the others.
    """

    scale: Array
    factor: Array
    beside: Array
    free: Any = None
    weight: float = 0.0
    reduced: Array | None = None

    @classmethod
    def of(
        cls, places: Sequence[ConePoint], m: int, free: Any = None, diagonal_rows: int = 0
    ) -> NewtonSystem | None:
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
        coupled = m - diagonal_rows
        M = M[:coupled]
        M *= scale[:coupled, None] * scale
        M, beside = M[:, :coupled], M[:, coupled:]
        factor = _cholesky(M - beside @ beside.T if diagonal_rows else M)
        if factor is None:
            return None
        if free is None:
            return cls(scale, factor, beside)
        half = scale[:, None] * free.toarray()
        if half.size:  # SciPy 1.10 refuses an empty system
            half = solve_triangular(factor, half, lower=True)
        reduced = _cholesky(half.T @ half)
        return None if reduced is None else cls(scale, factor, beside, free, weight, reduced)

    def solved(self, p: Array) -> Array:
        """Return M^-1 p."""
        p, coupled = self.scale * p, len(self.beside)
        if coupled == p.size:
            return self.scale * _solved(self.factor, p)
        y = _solved(self.factor, p[:coupled] - self.beside @ p[coupled:])
        return self.scale * np.concatenate([y, p[coupled:] - self.beside.T @ y])

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


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction from a point of the embedding."""

    steps: tuple[Step, ...]
    w: Array
    y: Array
    tau: float
    kappa: float


@dataclass(frozen=True, eq=False)
class Newton:
    r"""Directions from one point, all with the same factor.

    With q = r - H rd, each direction solves M dy + F dw = rp - A q + (b + A H c) dtau and
    F'dy = rf + d dtau; the last equation then gives dtau.
    """

    at: Embedded
    system: NewtonSystem
    Hc: Array
    AHc: Array
    H_residual: Array
    tau_y: Array
    tau_w: Array
    slope: float

    @classmethod
    def of(cls, at: Embedded) -> Newton | None:
        """Factor the system of a point; None if it has no factor."""
        program = at.program
        system = NewtonSystem.of(at.pairs, program.b.size, program.free, program.diagonal_rows)
        if system is None:
            return None
        Hc, H_residual = (_scaled(at, v) for v in (program.c, at._residuals[1]))
        AHc = program.A @ Hc
        y, w = system.solved_with_free(program.b + AHc, program.d)
        slope = float((program.b - AHc) @ y + program.c @ Hc - program.d @ w)
        slope += at.kappa / at.tau
        return cls(at, system, Hc, AHc, H_residual, y, w, slope)

    def direction(
        self, eta: float, mu: float, past: Direction | None, *, fixed: bool = False
    ) -> Direction:
        """Return the direction that leaves 1 - eta of the residuals and aims at u z = mu.

        It leaves tau and kappa as they are if they are `fixed`.
        """
        at, program = self.at, self.at.program
        rows, duals, free = (eta * residual for residual in at._residuals[:3])
        gap = eta * at._residuals[3]
        before: Sequence[Step | None] = (None,) * len(at.pairs) if past is None else past.steps
        aims = [pair.aim(mu, last) for pair, last in zip(at.pairs, before, strict=True)]
        r = np.concatenate([np.zeros(0), *aims])
        product = mu - at.tau * at.kappa - (0.0 if past is None else past.tau * past.kappa)
        q = r - eta * self.H_residual
        constant = gap + float(program.c @ q) + product / at.tau
        y, w = self.system.solved_with_free(rows - program.A @ q, free)
        accepted = max(
            DIRECTION_ERROR * stable_norm(rows), DIRECTION_ROUNDING * (1.0 + stable_norm(program.b))
        )
        best, error = None, inf
        for _ in range(1 + MAX_REFINEMENTS):
            rise = constant - float((program.b - self.AHc) @ y) + float(program.d @ w)
            tau = 0.0 if fixed else rise / self.slope
            dy, dw = y + tau * self.tau_y, w + tau * self.tau_w
            dz = duals - program.adjoint @ dy + tau * program.c
            du = r - _scaled(at, dz)
            missing = rows + tau * program.b - program.image(du, dw)
            missing_free = free + tau * program.d - program.free_adjoint(dy)
            size = max(stable_norm(missing), stable_norm(missing_free))
            if best is not None and not size < 0.5 * error:
                break
            steps = tuple(Step(du[place], dz[place]) for place in program.places)
            kappa = 0.0 if fixed else (product - at.kappa * tau) / at.tau
            best, error = Direction(steps, dw, dy, tau, kappa), size
            if error <= accepted:
                break
            more_y, more_w = self.system.solved_with_free(missing, missing_free)
            y, w = y + more_y, w + more_w
        assert best is not None
        return best


def _scaled(at: Embedded, v: Array) -> Array:
    """H v, cone by cone."""
    places = zip(at.pairs, at.program.places, strict=True)
    return np.concatenate([np.zeros(0), *(pair.scaled(v[place]) for pair, place in places)])

"""The proximal point of x -> h(Ax), by Newton's method on the multiplier.

    minimise over z    h(Az) + rho/2 |z - u|^2,    solved by  z = u - A'y/rho,  y in dh(Az).

Rows that are orthogonal to each other have their part of y in closed form, by the prox of h. The
other rows, L, need a system of equations: y_L maximises a concave function whose gradient is
A_L z - s, where z and s in dom h follow from y_L in closed form. The function is piecewise smooth,
and the semismooth Newton method (Qi and Sun 1993) ends in a few steps; in one, for equations alone.

Where h is more than equations on the rows L, s is a copy of their image with its own proximal term,
rho/2 |s - t|^2, which makes the function smooth. The copies t belong to the point u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from condal.linalg.points import Array, Indices
from condal.linalg.rounding import row_squares
from condal.methods.projection.splitting_rows import equations, gram_of, matrix_of, tied_rows
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_STEPS = 30
MAX_LINEAR_STEPS = 3  # one would be enough without rounding
MAX_TRIALS = 30  # along a step
MAX_STEP = 100.0  # multiple of a Newton step
SLOPE_LEFT = 0.5  # of the slope along a step: what its end may have
SLOPE_ACCEPTED = 0.9  # of the slope before: accept a step whose end is flatter
RIDGE = 1e-11  # for dependent equations
MAX_RIDGE = 1e-3  # for other dependent rows
DENSE_BELOW = 1500  # rows of a system that is factored as a full matrix,
FULL = 0.1  # or its share of nonzeros


@dataclass(frozen=True, eq=False)
class ProximalPoint:
    """The proximal point z with its copies, y in dom h*, and y_L for a warm start."""

    z: Array
    y: Array
    tied: Array


@dataclass(frozen=True, eq=False)
class Composite:
    """h(Bx), B = Diag(rows) A with rows of norm 1: `free` rows in closed form, `tied` rows not.

    Its points are the n^2 numbers of x followed by the copies. `gram` is B_L B_L', `cross` is
    B_L B_O', where L are the tied rows and O the free ones.
    """

    B: Any
    h: Proximable
    rows: Array
    free: Indices | slice
    tied: Indices | slice
    gram: Any
    cross: Any
    equations: bool

    @classmethod
    def of(cls, problem: Problem, n: int) -> Composite:
        """Sort the rows of a problem into free and tied ones."""
        A, h = matrix_of(problem, n), problem.h
        norms = np.sqrt(row_squares(A))
        rows = 1.0 / np.where(norms > 0, norms, 1.0)
        B = _scaled(A, rows)
        gram, equal = gram_of(B), equations(h)
        tied = tied_rows(gram, equal)
        tied_gram = sp.csr_array(gram[tied])
        return cls(
            B,
            h.scaled(rows, 1.0),
            rows,
            _places(~tied),
            _places(tied),
            sp.csr_array(tied_gram[:, tied]),
            sp.csr_array(tied_gram[:, ~tied]),
            bool(equal[tied].all()),
        )

    def start(self, x: Array, y: Array, rho: float) -> tuple[Array, Array]:
        """Return a point with proximal point near x and multiplier near y, and its y_L."""
        force = y / (self.rows * rho)
        s = self.h.prox(self.B @ x + force, 1 / rho)[self.tied]
        return np.concatenate([x + self.B.T @ force, s]), rho * force[self.tied]

    def prox(self, u: Array, rho: float, tied: Array, *, tol: float) -> ProximalPoint:
        """Return the proximal point of u, with |B_L z - s| <= tol; `tied` is a guess of y_L."""
        at = self._at(u, rho, tied)
        for _ in range(MAX_LINEAR_STEPS if self._linear else MAX_STEPS):
            if at.slope <= tol or not tied.size:
                break
            following = self._along(at, rho * self._newton(at))
            if following is None:
                break
            at = following
        return ProximalPoint(at.z, self.rows * at.y, at.tied)

    def images(self, x: Array) -> Array:
        """Ax."""
        return np.asarray((self.B @ x) / self.rows)

    def adjoint(self, y: Array) -> Array:
        """Return A'y as n^2 numbers."""
        return np.asarray(self.B.T @ (y / self.rows))

    def _at(self, u: Array, rho: float, tied: Array) -> _Trial:
        """z, s and the gradient for y_L = tied."""
        x, t = u[: self.B.shape[1]], u[self.B.shape[1] :]
        v = x - self._B_tied.T @ (tied / rho) if t.size else x
        c = np.empty(self.h.size)
        c[self.free] = self._B_free @ v
        c[self.tied] = t + tied / rho
        y = self.h.multiplier(c, rho)
        z = np.empty_like(u)
        z[: x.size] = v - self._B_free.T @ (y[self.free] / rho)
        z[x.size :] = c[self.tied] - y[self.tied] / rho
        gradient = self._B_tied @ z[: x.size] - z[x.size :]
        return _Trial(self.h, u, rho, tied, c, y, z, gradient)

    def _along(self, at: _Trial, step: Array) -> _Trial | None:
        """The trial where the slope along the step is about 0; None if nowhere. It decreases."""
        if self._linear:
            trial = self._at(at.u, at.rho, at.tied + step)
            return trial if trial.slope < at.slope else None
        flat = SLOPE_LEFT * float(step @ at.gradient)
        low, high, t = 0.0, inf, 1.0
        for _ in range(MAX_TRIALS):
            trial = self._at(at.u, at.rho, at.tied + t * step)
            slope = float(step @ trial.gradient)
            if slope > flat:
                low = t
            elif slope < -flat and trial.slope > SLOPE_ACCEPTED * at.slope:
                high = t
            else:
                return trial
            if low >= MAX_STEP:  # dom h(A .) is empty or far away
                return trial
            t = 0.5 * (low + high) if high < inf else 4 * t
        return None

    def _newton(self, at: _Trial) -> Array:
        """The Newton step over rho.

        More rows than are independent may be active. The slope along their common directions is
        constant until one of them leaves: the ridge gives the step there the size of z. It falls
        with the slope, so it does not slow the last steps.
        """
        if self._linear:
            return self._solve_equations(at.gradient)
        bends, gram = at.bends, self._gram
        if self.cross.nnz:
            lost = _scaled(self.cross, None, bends[self.free]) @ self._cross_T
            gram = gram - (lost if sp.issparse(gram) else lost.toarray())
        size = max(float(np.linalg.norm(at.z)), np.finfo(float).tiny)
        ridge = min(MAX_RIDGE, at.slope / size)
        return _solver(gram, 1.0 - bends[self.tied] + ridge)(at.gradient)

    @property
    def _linear(self) -> bool:
        return self.equations and self.cross.nnz == 0

    @cached_property
    def _solve_equations(self) -> Callable[[Array], Array]:
        return _solver(self._gram, np.zeros(self.gram.shape[0]))

    @cached_property
    def _gram(self) -> Any:
        """The Gram matrix as it is factored: full if it is small or nearly full."""
        p = self.gram.shape[0]
        full = p < DENSE_BELOW or self.gram.nnz + self.cross.nnz > FULL * p * p
        return self.gram.toarray() if full else self.gram

    @cached_property
    def _B_free(self) -> Any:
        return sp.csr_array(self.B[self.free])

    @cached_property
    def _B_tied(self) -> Any:
        return sp.csr_array(self.B[self.tied])

    @cached_property
    def _cross_T(self) -> Any:
        return sp.csr_array(self.cross.T)


@dataclass(frozen=True, eq=False)
class _Trial:
    """The function at y_L = tied; the multiplier y is a function of c."""

    h: Proximable
    u: Array
    rho: float
    tied: Array
    c: Array
    y: Array
    z: Array
    gradient: Array

    @cached_property
    def slope(self) -> float:
        return float(np.linalg.norm(self.gradient))

    @property
    def bends(self) -> Array:
        """The derivative of y/rho in c, coordinate by coordinate: piecewise constant, so that a
        difference gives it."""
        e = 1e-9 * max(
            float(np.abs(self.c).max()), 1e-140
        )  # nonzero after a product with a small rho
        change = self.h.multiplier(self.c + e, self.rho) - self.y
        return np.asarray(np.clip(change / (self.rho * e), 0.0, 1.0))


def _solver(gram: Any, diagonal: Array) -> Callable[[Array], Array]:
    """Return b -> (gram + Diag(diagonal) + a ridge)^-1 b."""
    p = gram.shape[0]
    ridged = diagonal + RIDGE * float(gram.diagonal().max(initial=0.0))
    try:
        if not sp.issparse(gram):
            system = np.array(gram, order="F")
            system[np.arange(p), np.arange(p)] += ridged
            factor = cho_factor(system, overwrite_a=True, check_finite=False)
            return lambda b: np.asarray(cho_solve(factor, b, check_finite=False))
        from scipy.sparse.linalg import splu

        system = sp.csc_matrix(gram + sp.dia_array((ridged[None, :], [0]), shape=(p, p)))
        sparse = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        return lambda b: np.asarray(sparse.solve(b))
    except (LinAlgError, RuntimeError) as error:  # SuperLU raises RuntimeError if singular
        raise FloatingPointError(f"the system of {p} rows has no factors: {error}") from error


def _scaled(A: Any, rows: Array | None, columns: Array | None = None) -> Any:
    """Diag(rows) A Diag(columns)."""
    data = A.data if rows is None else np.repeat(rows, np.diff(A.indptr)) * A.data
    data = data if columns is None else data * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), A.shape)


def _places(chosen: Any) -> Indices | slice:
    """The indices of a mask, as a slice if they are consecutive."""
    places = np.flatnonzero(chosen)
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places

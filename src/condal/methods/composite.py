"""h(Ax) as one function of x: its proximal point, by Newton's method on the multiplier.

    minimise over z    h(Az) + rho/2 |z - u|^2,    solved by  z = u - A'y/rho,  y in dh(Az).

Rows that are orthogonal to each other have their part of y in closed form, by the prox of h. The
others, L, need a system of equations: y_L maximises a concave function whose gradient is A_L z - s,
where z, and s in dom h, are made of y_L in closed form. It is piecewise smooth, and Newton's method
for such functions (Qi and Sun 1993) ends in a few steps: in one, for equations alone.

Where h is more than equations on the rows L, s is a copy of their image with a proximal term of its
own, rho/2 |s - t|^2: it makes the function smooth. The copies t belong to the point u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import splu

from condal.errors import ProblemError
from condal.points import Array, Indices
from condal.problem import Problem
from condal.types import Proximable

MAX_STEPS = 30
MAX_LINEAR_STEPS = 3  # where one would do but for rounding
MAX_BYTES = 2**30  # of a full A
ORTHOGONAL = 1e-12  # cosine below which rows are
RIDGE = 1e-11  # for rows that depend on each other
DENSE_BELOW = 1500  # rows of a system that is factored as a full matrix,
FULL = 0.1  # or how much of it is not 0
SPARSE_COST = 500  # of a multiplication among sparse numbers, against one of a full product


@dataclass(frozen=True, eq=False)
class Near:
    """The proximal point z, with its copies; y in dom h*, of A; and y_L, to go on from."""

    z: Array
    y: Array
    tied: Array


@dataclass(frozen=True, eq=False)
class Composite:
    """h(Bx), B = Diag(rows) A with rows of norm 1: `free` ones in closed form, `tied` ones not.

    Its points are the n^2 numbers of x, and those of the copies behind them. `gram` is B_L B_L',
    `cross` is B_L B_O', where O are the free rows.
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
        """The rows of the problem, sorted."""
        A, h = matrix_of(problem, n), problem.h
        norms = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).ravel())
        rows = 1.0 / np.where(norms > 0, norms, 1.0)
        B = _scaled(A, rows)
        gram = _gram(B)
        equal = np.zeros(h.size, dtype=bool)
        for here, part in h.pieces:
            equal[here] = part.fixed is not None
        tied = _tied(gram, equal)
        ours = sp.csr_array(gram[tied])
        return cls(
            B,
            h.scaled(rows, 1.0),
            rows,
            _places(~tied),
            _places(tied),
            sp.csr_array(ours[:, tied]),
            sp.csr_array(ours[:, ~tied]),
            bool(equal[tied].all()),
        )

    def start(self, x: Array, y: Array, rho: float) -> tuple[Array, Array]:
        """A point with about x for its proximal point and y for its multiplier, and its y_L."""
        force = y / (self.rows * rho)
        s = self.h.prox(self.B @ x + force, 1 / rho)[self.tied]
        return np.concatenate([x + self.B.T @ force, s]), rho * force[self.tied]

    def prox(self, u: Array, rho: float, tied: Array, *, tol: float) -> Near:
        """The proximal point of u, with |B_L z - s| <= tol; `tied` is a guess of y_L."""
        at = self._at(u, rho, tied)
        for _ in range(MAX_LINEAR_STEPS if self._linear else MAX_STEPS):
            if at.slope <= tol or not tied.size:
                break
            step = rho * self._newton(at)
            promised, t = float(step @ at.gradient), 1.0
            while True:
                trial = self._at(u, rho, at.tied + t * step)
                # Near the end values differ by no more than rounding; the slope still tells.
                if trial.slope <= 0.9 * at.slope or trial.value >= at.value + 1e-4 * t * promised:
                    break
                t /= 2
                if t < 1e-3:
                    return self._near(at)
            at = trial
        return self._near(at)

    def images(self, x: Array) -> Array:
        """Ax."""
        return np.asarray((self.B @ x) / self.rows)

    def adjoint(self, y: Array) -> Array:
        """A'y, as n^2 numbers."""
        return np.asarray(self.B.T @ (y / self.rows))

    def _near(self, at: _Trial) -> Near:
        return Near(at.z, self.rows * at.y, at.tied)

    def _at(self, u: Array, rho: float, tied: Array) -> _Trial:
        """z, s and the slope for y_L = tied."""
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

    def _newton(self, at: _Trial) -> Array:
        """The step, over rho, to where the slope would vanish if nothing bent."""
        if self._linear:
            return self._solve_equations(at.gradient)
        bends, gram = at.bends, self._gram
        if self.cross.nnz:
            lost = _scaled(self.cross, None, bends[self.free]) @ self._cross_T
            gram = gram - (lost if sp.issparse(gram) else lost.toarray())
        return _solver(gram, 1.0 - bends[self.tied])(at.gradient)

    @property
    def _linear(self) -> bool:
        return self.equations and self.cross.nnz == 0

    @cached_property
    def _solve_equations(self) -> Callable[[Array], Array]:
        return _solver(self._gram, np.zeros(self.gram.shape[0]))

    @cached_property
    def _gram(self) -> Any:
        """The Gram matrix as it is factored: full, if it is small or nearly that."""
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
    """The function of y_L = tied at one place: c is what the multiplier y is made of."""

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

    @cached_property
    def value(self) -> float:
        """The least of h(s) + rho/2 |z - u|^2 + <y_L, B_L z - s>, copies among z and u."""
        move = self.z - self.u
        least = self.h.value(self.c - self.y / self.rho) + 0.5 * self.rho * float(move @ move)
        return least + float(self.tied @ self.gradient)

    @property
    def bends(self) -> Array:
        """The derivative of y/rho in c, each coordinate by itself: where it is constant but for
        jumps, a difference tells it."""
        e = 1e-9 * max(float(np.abs(self.c).max()), np.finfo(float).tiny)
        change = self.h.multiplier(self.c + e, self.rho) - self.y
        return np.asarray(np.clip(change / (self.rho * e), 0.0, 1.0))


def matrix_of(problem: Problem, n: int) -> Any:
    """A as a CSR array; ProblemError where h(A .) has no proximal point that can be computed."""
    A = problem.A.as_matrix() if problem.A.size else sp.csr_array((0, n * n))
    if A is None or not problem.h.separable:
        hidden = "an A that an operator hides" if A is None else "a set without coordinates"
        raise ProblemError(
            "the splitting method needs A as a matrix and K by coordinates: this problem has "
            f"{hidden}; use condal.CGAL()"
        )
    return A


def _tied(gram: Any, equal: Any) -> Any:
    """The rows to take out so that those that stay are orthogonal: first of all equations."""
    crowded = np.diff(gram.indptr) > 1
    tied = crowded & equal
    stay = np.flatnonzero(~tied)
    left = sp.csr_array(sp.csr_array(gram[stay])[:, stay])
    tied[stay[np.diff(left.indptr) > 1]] = True
    return tied


def _gram(B: Any) -> Any:
    """BB', without what is 0 but for rounding."""
    p, size = B.shape
    work = float((np.bincount(B.indices, minlength=1).astype(np.float64) ** 2).sum())
    if p * work and SPARSE_COST * work > p * p * size and 8 * p * size <= MAX_BYTES:
        full = B.toarray()
        gram = sp.csr_array(full @ full.T)
    else:
        gram = sp.csr_array(B @ B.T)
    gram.data[np.abs(gram.data) <= ORTHOGONAL] = 0.0
    gram.eliminate_zeros()
    return gram


def _solver(gram: Any, diagonal: Array) -> Callable[[Array], Array]:
    """b -> (gram + Diag(diagonal) + a ridge)^-1 b."""
    ridged = diagonal + RIDGE * float(gram.diagonal().max(initial=0.0))
    if not sp.issparse(gram):
        factor = cho_factor(gram + np.diag(ridged), overwrite_a=True, check_finite=False)
        return lambda b: np.asarray(cho_solve(factor, b, check_finite=False))
    system = sp.csc_matrix(gram + sp.dia_array((ridged[None, :], [0]), shape=gram.shape))
    sparse = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return lambda b: np.asarray(sparse.solve(b))


def _scaled(A: Any, rows: Array | None, columns: Array | None = None) -> Any:
    """Diag(rows) A Diag(columns)."""
    data = A.data if rows is None else np.repeat(rows, np.diff(A.indptr)) * A.data
    data = data if columns is None else data * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), A.shape)


def _places(chosen: Any) -> Indices | slice:
    """Where, as a slice if it is one."""
    places = np.flatnonzero(chosen)
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places

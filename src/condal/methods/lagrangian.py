"""The augmented Lagrangian in image space, where every evaluation costs O(p).

L_lam(x, y) = f(x) + min_r { h(r) + <y, Ax - r> + lam/2 |Ax - r|^2 },
its minimiser r = prox_{h/lam}(Ax + y/lam),  its gradient  grad f(x) + A'w,  w = y + lam (Ax - r).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from condal.errors import ProblemError
from condal.linalg.blocked import axpy
from condal.linalg.gradients import add, adjoint_onto, dot
from condal.linalg.points import Array, Point
from condal.runtime.arguments import require_positive
from condal.types import Proximable

if TYPE_CHECKING:
    from condal.problem import Problem

MAX_LAM = 1e50  # and 1 / MAX_LAM is the least: penalties are squared and divided by


def require_penalty(lam: Any, name: str) -> None:
    """Raise ProblemError unless lam is a positive number that does not over- or underflow."""
    require_positive(lam, name)
    if not 1 / MAX_LAM <= lam <= MAX_LAM:
        raise ProblemError(
            f"{name} must be a positive number, from {1 / MAX_LAM:g} to {MAX_LAM:g}; got {lam!r}: "
            "1 is a good start, as problems are normalised"
        )


def multiplier(h: Proximable, Ax: Array, y: Array, lam: float) -> Array:
    """w = y + lam (Ax - r), computed as lam (z - r), and kept in dom h* under rounding."""
    w = np.empty_like(Ax)
    for rows, piece in h.pieces:
        _multiplier(piece, Ax[rows], y[rows], lam, w[rows])
    return w


def _multiplier(h: Proximable, Ax: Array, y: Array, lam: float, w: Array) -> None:
    """`multiplier` of one piece, which fits into the cache."""
    np.multiply(y, 1 / lam, out=w)
    w += Ax
    h.multiplier(w, lam, out=w)


def residual(
    h: Proximable, Ax: Array, y: Array, lam: float, held: NDArray[np.bool_] | None = None
) -> Array:
    """d = Ax - r, the gradient of L_lam in y; 0 in the `held` rows."""
    d = np.empty_like(Ax)
    for rows, piece in h.pieces:
        z = np.multiply(y[rows], 1 / lam, out=d[rows])
        z += Ax[rows]
        np.subtract(Ax[rows], piece.prox(z, 1 / lam), out=z)
    if held is not None:
        d[held] = 0.0
    return d


def lagrangian(problem: Problem, Mx: Array, Ax: Array, y: Array, lam: float) -> float:
    """L_lam(x, y)."""
    r = problem.h.prox(Ax + y / lam, 1 / lam)
    d = Ax - r
    return problem.f.value(Mx) + problem.h.value(r) + float(y @ d) + 0.5 * lam * float(d @ d)


@dataclass(frozen=True)
class Curvature:
    """(L_f + lam |A|^2) D_X^2, the curvature of L_lam(., y) over X, as a function of lam."""

    smooth: float  # L_f D_X^2
    penalty: float  # |A|^2 D_X^2

    @classmethod
    def of(cls, problem: Problem) -> Curvature:
        """Return the curvature of a problem."""
        D_X = problem.X.diameter
        return cls(problem.f.L * D_X**2, (problem.A.norm * D_X) ** 2)

    def at(self, lam: float) -> float:
        """(L_f + lam |A|^2) D_X^2."""
        return self.smooth + lam * self.penalty

    def share(self, lam: float) -> float:
        """Return the share of the curvature that the penalty causes, in [0, 1]."""
        return lam * self.penalty / self.at(lam) if self.penalty else 0.0


@dataclass(frozen=True, eq=False)
class Atom:
    """s = lmo(v), v = grad L_lam(x, y) = grad f(x) + A'w, and the quantities that follow from it.

    `gap` is the Frank-Wolfe gap <v, x - s>, `price` = <w, Ax> - h*(w) is the price of
    infeasibility, and `lower` is a lower bound on the optimum if the oracle kept its tolerance.
    """

    s: Point
    w: Array
    gap: float
    price: float
    lower: float


def best_atom(
    problem: Problem,
    Mx: Array,
    Ax: Array,
    y: Array,
    lam: float,
    *,
    tol: float,
    guess: Point | None,
) -> Atom:
    """Return the atom of X towards which L_lam(., y) descends fastest at x: one oracle call."""
    if not lam <= MAX_LAM:
        raise FloatingPointError(f"the penalty lam has grown to {lam:g}; begin with a smaller lam0")
    f, A = problem.f, problem.A
    g = f.gradient(Mx)
    w, w_Ax, conjugate = _priced(problem.h, Ax, y, lam)  # w = y + lam (Ax - r)
    v = add(adjoint_onto(f.M.adjoint(g), A, w), None)  # add raises if f and A are both empty
    s = problem.X.lmo(v, tol, guess=guess)
    gap = float(g @ Mx) + w_Ax - dot(v, s)
    price = w_Ax - conjugate
    return Atom(s, w, gap, price, f.value(Mx) - gap + price - tol)


def _priced(h: Proximable, Ax: Array, y: Array, lam: float) -> tuple[Array, float, float]:
    """The multiplier w, <w, Ax> and h*(w), in one pass."""
    w, w_Ax, conjugate = np.empty_like(Ax), 0.0, 0.0
    for rows, piece in h.pieces:
        _multiplier(piece, Ax[rows], y[rows], lam, w[rows])
        w_Ax += float(w[rows] @ Ax[rows])
        conjugate += piece.conjugate(w[rows])
    return w, w_Ax, conjugate


def slope_along(
    problem: Problem, Mx: Array, dM: Array, Ax: Array, dA: Array, y: Array, lam: float
) -> Callable[[float], float]:
    """Return t -> d/dt L_lam(x + t d, y), which is non-decreasing because L is convex."""
    z = axpy(Ax, y, 1 / lam)

    def slope(t: float) -> float:
        total = float(problem.f.gradient(axpy(Mx, dM, t)) @ dM)
        for rows, piece in problem.h.pieces:
            d = dA[rows]
            z_t = t * d
            z_t += z[rows]
            total += float(piece.multiplier(z_t, lam, out=z_t) @ d)
        return total

    return slope


def zero_of(
    slope: Callable[[float], float], *, guess: float = 1.0, tol: float = 1e-12, steps: int = 60
) -> float:
    """Return the zero in [0, 1] of a non-decreasing function; 0 or 1 if it has constant sign.

    Regula falsi with the Illinois rule, from 0 and the guess: exact after one step for a linear
    slope. It stops where the slope is `tol` times that at 0.
    """
    low, high = 0.0, guess
    at_low, at_high = slope(low), slope(high)
    if at_low >= 0.0:
        return low
    flat = max(tol * -at_low, 1e-12 * at_high)
    if at_high < 0.0 and high < 1.0:
        low, at_low, high, at_high = high, at_high, 1.0, slope(1.0)
    if at_high <= 0.0:
        return high
    side, middle = 0, low
    for _ in range(steps):
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle = slope(middle)
        if abs(at_middle) <= flat or high - low <= 1e-15:
            break
        if at_middle < 0:
            low, at_low = middle, at_middle
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
        else:
            high, at_high = middle, at_middle
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
    return middle

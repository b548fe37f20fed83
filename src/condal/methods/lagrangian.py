"""The augmented Lagrangian in image space, where every evaluation costs O(p).

L_lam(x, y) = f(x) + min_r { h(r) + <y, Ax - r> + lam/2 |Ax - r|^2 },
its minimiser r = prox_{h/lam}(Ax + y/lam),  its gradient  grad f(x) + A'w,  w = y + lam (Ax - r).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from condal.linalg.blocked import axpy
from condal.linalg.gradients import add, adjoint_onto, difference, dot, step
from condal.linalg.points import Array, Point
from condal.methods.state import MAX_LAM
from condal.types import AtomStorage, Proximable, Storage

if TYPE_CHECKING:
    from condal.methods.faces import Face
    from condal.methods.hull import Hull
    from condal.methods.rules import PrimalRule
    from condal.problem import Problem

SEARCH_STEPS = 60  # of a line search


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

    `gap` is the Frank-Wolfe gap <v, x - s>, `lower` is a lower bound on the optimum if the oracle
    kept its tolerance, and `missed` is the rest of f(x) + h(Ax) - lower, with h = 0 for a set: less
    than 0 by the price of infeasibility, or what smoothing g loses.
    """

    s: Point
    w: Array
    gap: float
    missed: float
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
    face: Face | None = None,
) -> Atom:
    """Return the atom of X towards which L_lam(., y) descends fastest at x: one oracle call.

    If all feasible points lie on a `face`, it is the best atom there.
    """
    if not lam <= MAX_LAM:
        raise FloatingPointError(f"the penalty lam has grown to {lam:g}; begin with a smaller lam0")
    f, A = problem.f, problem.A
    g = f.gradient(Mx)
    w, w_Ax, conjugate, value = _priced(problem.h, Ax, y, lam)  # w = y + lam (Ax - r)
    v = add(adjoint_onto(f.M.adjoint(g), A, w), None)  # add raises if f and A are both empty
    if face is None:
        s = problem.X.lmo(v, tol, guess=guess)
    else:
        s, w[face.rows], cost = face.lmo(problem.X, v, tol, guess)
        tol += cost
    gap = float(g @ Mx) + w_Ax - dot(v, s)
    price = w_Ax - conjugate
    return Atom(s, w, gap, value - price, f.value(Mx) - gap + price - tol)


def _priced(h: Proximable, Ax: Array, y: Array, lam: float) -> tuple[Array, float, float, float]:
    """The multiplier w, <w, Ax>, h*(w) and h(Ax), in one pass."""
    w, w_Ax, conjugate, value = np.empty_like(Ax), 0.0, 0.0, 0.0
    for rows, piece in h.pieces:
        _multiplier(piece, Ax[rows], y[rows], lam, w[rows])
        w_Ax += float(w[rows] @ Ax[rows])
        conjugate += piece.conjugate(w[rows])
        value += piece.value(Ax[rows])
    return w, w_Ax, conjugate, value


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


def zero_of(slope: Callable[[float], float], *, guess: float = 1.0, tol: float = 1e-12) -> float:
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
    for _ in range(SEARCH_STEPS):
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


class Segment:
    """The segment x + t (s - x), t in [0, 1], from x to an atom s."""

    def __init__(
        self, problem: Problem, Mx: Array, Ax: Array, atom: Atom, y: Array, lam: float
    ) -> None:
        self.problem, self.Mx, self.Ax, self.atom, self.y, self.lam = problem, Mx, Ax, atom, y, lam
        self._direction: tuple[Array, Array] | None = None  # M(s - x), A(s - x), once needed
        self._slope: Callable[[float], float] | None = None

    def slope(self, t: float) -> float:
        """d/dt L_lam(x + t (s - x), y)."""
        if t == 0.0:
            return -self.atom.gap
        if self._direction is None or self._slope is None:
            f, A, s = self.problem.f, self.problem.A, self.atom.s
            dM, dA = self._direction = difference(f.M, self.Mx, s), difference(A, self.Ax, s)
            self._slope = slope_along(self.problem, self.Mx, dM, self.Ax, dA, self.y, self.lam)
        return self._slope(t)

    def images(self, t: float) -> tuple[Array, Array]:
        """Return M and A of x + t (s - x)."""
        if self._direction is None:
            f, A, s = self.problem.f, self.problem.A, self.atom.s
            return step(f.M, self.Mx, s, t), step(A, self.Ax, s, t)
        dM, dA = self._direction
        return axpy(self.Mx, dM, t), axpy(self.Ax, dA, t)


@dataclass(frozen=True, eq=False)
class PrimalStep:
    """The step from x_k to x_{k+1}: its images Mx and Ax, and how to move the storage.

    `u` is M x_k, None without an x_k. `theta` are the corrected weights of the atoms of `hull`.
    """

    s: Point
    eta: float
    Mx: Array
    Ax: Array
    u: Array | None
    hull: Hull | None = None
    theta: Array | None = None

    def move(self, x: Storage) -> None:
        """x_k -> x_{k+1}."""
        x.move(self.s, self.eta)
        if self.theta is not None:
            assert isinstance(x, AtomStorage)
            x.reweigh(self.theta)


def primal_step(
    rule: PrimalRule, k: int, segment: Segment, x: Storage, hull: Hull | None, *, first: bool
) -> PrimalStep:
    """Compute the step of length eta_k to s, then the correction over the hull, if there is one.

    The first step has no x to start from, and goes to s.
    """
    s = segment.atom.s
    if first:
        eta, u = 1.0, None
    else:
        eta, u = rule(k, segment.slope), segment.Mx
    if hull is None:
        return PrimalStep(s, eta, *segment.images(eta), u)
    assert isinstance(x, AtomStorage)
    theta, hull, Mx, Ax = hull.corrected(x, segment, eta)
    return PrimalStep(s, eta, Mx, Ax, u, hull, theta)

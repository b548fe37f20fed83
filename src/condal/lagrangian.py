"""The augmented Lagrangian in image space, where every evaluation costs O(p).

L_lam(x, y) = f(x) + min_r { h(r) + <y, Ax - r> + lam/2 |Ax - r|^2 },
its minimiser r = prox_{h/lam}(Ax + y/lam),  its gradient  grad f(x) + A'w,  w = y + lam (Ax - r).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from condal.operators import add
from condal.points import Array, Point
from condal.problem import Problem
from condal.types import Proximable


def multiplier(h: Proximable, Ax: Array, y: Array, lam: float) -> Array:
    """w = y + lam (Ax - r), in the form lam (z - r), and kept in dom h* under rounding."""
    z = Ax + y / lam
    return h.dual_point(lam * (z - h.prox(z, 1 / lam)))


def lagrangian(problem: Problem, Mx: Array, Ax: Array, y: Array, lam: float) -> float:
    """L_lam(x, y)."""
    r = problem.h.prox(Ax + y / lam, 1 / lam)
    d = Ax - r
    return problem.f.value(Mx) + problem.h.value(r) + float(y @ d) + 0.5 * lam * float(d @ d)


@dataclass(frozen=True, eq=False)
class Atom:
    """s = lmo(grad L_lam(x, y)), the way dM = M(s - x), dA = A(s - x) to it, and what it tells.

    `gap` is the Frank-Wolfe gap <grad L, x - s>, `price` = <w, Ax> - h*(w) that of infeasibility,
    `lower` a lower bound on the optimum, if the oracle kept its tolerance.
    """

    s: Point
    w: Array
    dM: Array
    dA: Array
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
    """The atom of X that L_lam(., y) falls towards fastest at x: one call of the oracle."""
    f, A, h = problem.f, problem.A, problem.h
    w, g = multiplier(h, Ax, y, lam), f.gradient(Mx)
    s = problem.X.lmo(add(f.M.adjoint(g), A.adjoint(w)), tol, guess=guess)
    dM, dA = f.M(s) - Mx, A(s) - Ax
    gap = -float(g @ dM) - float(w @ dA)
    price = float(w @ Ax) - h.conjugate(w)
    return Atom(s, w, dM, dA, gap, price, f.value(Mx) - gap + price - tol)


def slope_along(
    problem: Problem, Mx: Array, dM: Array, Ax: Array, dA: Array, y: Array, lam: float
) -> Callable[[float], float]:
    """t -> d/dt L_lam(x + t d, y): non-decreasing, since L is convex."""

    def slope(t: float) -> float:
        g = problem.f.gradient(Mx + t * dM)
        w = multiplier(problem.h, Ax + t * dA, y, lam)
        return float(g @ dM) + float(w @ dA)

    return slope


def zero_of(slope: Callable[[float], float], *, steps: int = 60) -> float:
    """The zero in [0, 1] of a non-decreasing function, or the end where it keeps its sign.

    Regula falsi with the Illinois rule: exact after one step for a linear slope.
    """
    low, high = 0.0, 1.0
    at_low, at_high = slope(low), slope(high)
    if at_low >= 0.0:
        return low
    if at_high <= 0.0:
        return high
    size, side = max(-at_low, at_high), 0
    middle = low
    for _ in range(steps):
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle = slope(middle)
        if abs(at_middle) <= 1e-12 * size or high - low <= 1e-15:
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

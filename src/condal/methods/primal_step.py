"""The primal step: from x towards an atom s, and on to the best point of the hull of the atoms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from condal.linalg.blocked import axpy
from condal.linalg.gradients import difference, step
from condal.linalg.points import Array, Point
from condal.methods.lagrangian import Atom, slope_along
from condal.types import AtomStorage, Storage

if TYPE_CHECKING:
    from condal.methods.hull import Hull
    from condal.methods.rules import PrimalRule
    from condal.problem import Problem


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
